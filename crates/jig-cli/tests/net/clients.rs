//! Clients of HTTP, each in its own way: some with the C library's resolver and some with their own, with
//! several libraries for TLS, and none told of a proxy.
//!
//! Every client has to pass the same table.

use super::fixture::http::Server;
use super::fixture::site::{Site, for_each_user, net};

#[test]
fn curl() {
    check(&Client {
        probe: &["curl", "--version"],
        fetch: "curl --silent --show-error --fail-with-body --location --cacert ca.pem URL",
        ..Client::SCRIPT
    });
}

#[test]
fn wget() {
    check(&Client {
        probe: &["wget", "--version"],
        fetch: "wget --quiet --content-on-error --tries=1 --output-document=- \
                --ca-certificate=ca.pem URL",
        ..Client::SCRIPT
    });
}

#[test]
fn python_urllib() {
    check(&Client {
        probe: &["python3", "--version"],
        settings: PYTHON,
        file: ("fetch.py", include_str!("clients/urllib.py")),
        fetch: "python3 fetch.py URL",
    });
}

#[test]
fn python_requests() {
    check(&Client {
        probe: &["python3", "-c", "import requests"],
        settings: PYTHON,
        file: ("fetch.py", include_str!("clients/requests.py")),
        fetch: "python3 fetch.py URL",
    });
}

#[test]
fn node_fetch() {
    check(&Client {
        // Older ones have no `fetch`.
        probe: &["node", "-e", "if (!globalThis.fetch) process.exit(1)"],
        settings: "sandbox.presets = ['node']\n",
        file: ("fetch.mjs", include_str!("clients/fetch.mjs")),
        fetch: "NODE_EXTRA_CA_CERTS=ca.pem node fetch.mjs URL",
    });
}

#[test]
fn java_http_client() {
    check(&Client {
        probe: &["java", "-version"],
        settings: "",
        file: ("Fetch.java", include_str!("clients/Fetch.java")),
        fetch: "java Fetch.java URL",
    });
}

/// How a client fetches a URL: it prints the body, also that of an error, and fails if there was one.
struct Client {
    /// What runs only where the client is installed.
    probe: &'static [&'static str],
    /// Of the tool, besides its rules.
    settings: &'static str,
    /// A program in the workspace.
    file: (&'static str, &'static str),
    /// The words of a shell, with `URL`.
    fetch: &'static str,
}

impl Client {
    const SCRIPT: Self = Self {
        probe: &[],
        settings: "",
        file: ("unused", ""),
        fetch: "",
    };
}

const PYTHON: &str = "sandbox.presets = ['python']\n";

fn check(client: &Client) {
    for_each_user(|site| {
        if site.has(client.probe) {
            site.write(client.file.0, client.file.1);
            allowed_hosts_are_reached(client, site);
            a_denied_host_does_not_exist(client, site);
            a_denied_connection_is_refused(client, site);
            a_redirect_is_judged_as_any_other_request(client, site);
        }
    });
}

/// The servers of one case, and the names that lead to them: `allowed.test` and `other.test` are allowed, each
/// on the ports of its own servers; `denied.test` is not.
struct Servers {
    plain: Server,
    secured: Server,
    other: Server,
    other_secured: Server,
}

impl Servers {
    fn start(site: &Site) -> Self {
        for name in NAMES {
            site.names.put(name, &["127.0.0.1"]);
        }
        let tls = site.authority.server(&NAMES);
        Self {
            plain: Server::plain(),
            secured: Server::secured(&tls),
            other: Server::plain(),
            other_secured: Server::secured(&tls),
        }
    }

    fn settings(&self, client: &Client) -> String {
        let mut rules = Vec::new();
        for (name, servers) in [
            ("allowed.test", [&self.plain, &self.secured]),
            ("other.test", [&self.other, &self.other_secured]),
        ] {
            for server in servers {
                rules.extend([(name, server.port()), ("127.0.0.1", server.port())]);
            }
        }
        format!("{}{}", net(&rules), client.settings)
    }
}

fn allowed_hosts_are_reached(client: &Client, site: &Site) {
    let servers = Servers::start(site);
    for (scheme, server) in [("http", &servers.plain), ("https", &servers.secured)] {
        let host = format!("allowed.test:{}", server.port());
        let seen = format!("GET /some/path?q=1 on {host}");
        let url = format!("'{scheme}://{host}/some/path?q=1'");
        let called = site.does(
            &servers.settings(client),
            &client.fetch.replace("URL", &url),
        );
        assert_eq!(called.ok(), format!("{seen}\n"), "{url}");
        assert_eq!(server.seen(), [seen], "{url}");
        // The log has it: one connection of this tool, which was allowed.
        let logged = site.logged("allow", &host);
        assert!(
            logged
                .iter()
                .any(|line| line["operation"] == "net.connect" && line["tool"] == "tool"),
            "{logged:?}"
        );
    }
    // A body in pieces, and one that does not fit into any buffer.
    let base = format!("http://allowed.test:{}", servers.plain.port());
    for (path, length) in [("/chunked", 14), ("/large/3000000", 3_000_000)] {
        let fetch = client.fetch.replace("URL", &format!("{base}{path}"));
        let script = format!("{fetch} > body && wc --bytes < body");
        let called = site.does(&servers.settings(client), &script);
        assert_eq!(called.ok().trim(), length.to_string(), "{path}");
    }
}

/// A name that no rule speaks of is not even looked up, so nobody outside hears of it.
fn a_denied_host_does_not_exist(client: &Client, site: &Site) {
    let servers = Servers::start(site);
    for (scheme, server) in [("http", &servers.plain), ("https", &servers.secured)] {
        let url = format!("{scheme}://denied.test:{}/", server.port());
        let called = site.does(
            &servers.settings(client),
            &client.fetch.replace("URL", &url),
        );
        let hint = called.refused("look up", "denied.test");
        assert!(
            hint.contains("[[tools.tool.access.net]]") && hint.contains("\"denied.test\""),
            "{hint}"
        );
        assert_eq!(site.names.asked("denied.test"), 0, "{url}");
        assert_eq!(server.connections(), 0, "{url}");
    }
    let logged = site.log();
    let line = logged
        .iter()
        .find(|line| line["operation"] == "net.lookup" && line["target"] == "denied.test");
    let line = line.unwrap_or_else(|| panic!("{logged:#?}"));
    assert_ne!(line["decision"], "allow", "{line}");
    assert!(
        line["hint"].as_str().unwrap().contains("denied.test"),
        "{line}"
    );
}

/// A name that is allowed, on a port that is another's: plain HTTP gets words, TLS cannot be given any.
fn a_denied_connection_is_refused(client: &Client, site: &Site) {
    let servers = Servers::start(site);
    for (scheme, server) in [("http", &servers.other), ("https", &servers.other_secured)] {
        let port = server.port();
        let url = format!("{scheme}://allowed.test:{port}/");
        let called = site.does(
            &servers.settings(client),
            &client.fetch.replace("URL", &url),
        );
        let hint = called.refused("connect", "allowed.test");
        assert!(
            hint.contains("\"allowed.test\"") && hint.contains(&format!("port = {port}")),
            "{hint}"
        );
        assert_eq!(server.connections(), 0, "{url}");
        if scheme == "http" {
            // The client has printed it, as the body of an answer of status 403.
            let printed = called.0["error"]["message"].to_string()
                + &called.0["error"]["trace"].to_string()
                + &called.0["content"].to_string();
            assert!(printed.contains("[[tools.tool.access.net]]"), "{called}");
        }
    }
}

fn a_redirect_is_judged_as_any_other_request(client: &Client, site: &Site) {
    let servers = Servers::start(site);
    let (port, other) = (servers.plain.port(), servers.other.port());
    let redirected = |to: &str| {
        let url = format!("http://allowed.test:{port}/to/{to}");
        site.does(
            &servers.settings(client),
            &client.fetch.replace("URL", &url),
        )
    };
    let called = redirected(&format!("http://other.test:{other}/end"));
    assert_eq!(called.ok(), format!("GET /end on other.test:{other}\n"));
    let called = redirected(&format!("http://denied.test:{other}/end"));
    called.refused("look up", "denied.test");
    let called = redirected(&format!("http://allowed.test:{other}/end"));
    called.refused("connect", "allowed.test");
    let seen = servers.other.seen();
    assert_eq!(seen, [format!("GET /end on other.test:{other}")]);
}

const NAMES: [&str; 3] = ["allowed.test", "other.test", "denied.test"];
