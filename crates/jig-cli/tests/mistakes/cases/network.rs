//! Hosts, ports and paths. The servers stand on the loopback, so each tool has a rule on that address besides,
//! which a server elsewhere does not need.

use super::{Listens, Mistake, Way};

pub(crate) fn undeclared_host() -> Mistake {
    Mistake {
        name: "a host that no rule names",
        config: "[[tools.check.access.net]]\nhost = \"{address}\"\nallow = true\n",
        way: Way::Tool("curl -sS --fail http://api.test/hello"),
        works: "GET /hello",
        server: Listens::WebPort,
        ..Mistake::default()
    }
}

pub(crate) fn denied_host() -> Mistake {
    Mistake {
        name: "a host that a rule denies",
        config: "[[tools.check.access.net]]\nhost = \"{address}\"\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nallow = false\n",
        way: Way::Tool("curl -sS --fail http://api.test/hello"),
        works: "GET /hello",
        server: Listens::WebPort,
        ..Mistake::default()
    }
}

pub(crate) fn other_port() -> Mistake {
    Mistake {
        name: "another port of a host",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nallow = true\n",
        way: Way::Tool("curl -sS --fail http://api.test:{port}/hello"),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn other_path() -> Mistake {
    Mistake {
        name: "another path of a host",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\npath_prefix = \"/v1\"\nallow = true\n",
        way: Way::Tool("curl -sS --fail http://api.test:{port}/v2/hello"),
        works: "GET /v2/hello",
        ..Mistake::default()
    }
}

pub(crate) fn denied_path() -> Mistake {
    Mistake {
        name: "a path that a rule denies",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\npath_prefix = \"/admin\"\n",
        way: Way::Tool("curl -sS --fail http://api.test:{port}/admin/users"),
        works: "GET /admin/users",
        ..Mistake::default()
    }
}

pub(crate) fn redirect() -> Mistake {
    Mistake {
        name: "a redirect to another host",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"files.test\"\nallow = true\n",
        way: Way::Tool(
            "curl -sS --fail --location http://api.test:{port}/to/http://files.test:{port}/hello",
        ),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn own_service() -> Mistake {
    Mistake {
        name: "a service of the machine itself",
        way: Way::Tool("curl -sS --fail http://localhost:{port}/hello"),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn private_address() -> Mistake {
    Mistake {
        name: "a name that leads to an address of the machine",
        config: "[[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\nallow = true\n",
        way: Way::Tool("curl -sS --fail http://api.test:{port}/hello"),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn path_under_tls() -> Mistake {
    Mistake {
        name: "a path of a host, over TLS",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n\n\
                 [[tools.check.access.net]]\nhost = \"api.test\"\nport = {port}\npath_prefix = \"/v1\"\nallow = true\n",
        way: Way::Tool("curl -sS --fail --cacert ca.pem https://api.test:{port}/v1/hello"),
        works: "GET /v1/hello",
        server: Listens::Tls,
        ..Mistake::default()
    }
}
