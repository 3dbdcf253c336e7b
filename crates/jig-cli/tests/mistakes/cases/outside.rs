//! What lies outside the workspace: the home, other folders, programs, sockets, variables.

use super::{Listens, Mistake, Way};

pub(crate) fn home_file() -> Mistake {
    Mistake {
        name: "a file of the home directory",
        files: &[("~/notes.txt", "buy milk\n")],
        way: Way::Tool("cat ~/notes.txt"),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn key() -> Mistake {
    Mistake {
        name: "a key of the user",
        files: &[("~/.ssh/id_deploy", "the key\n")],
        way: Way::Tool("cat ~/.ssh/id_deploy"),
        works: "the key",
        ..Mistake::default()
    }
}

pub(crate) fn folder() -> Mistake {
    Mistake {
        name: "a file elsewhere on the machine",
        files: &[("../data/table.csv", "1,2,3\n")],
        way: Way::Tool("cat {beside}/data/table.csv"),
        works: "1,2,3",
        ..Mistake::default()
    }
}

pub(crate) fn cache() -> Mistake {
    Mistake {
        name: "a cache elsewhere that is written to",
        files: &[("../cache/index", "1\n")],
        way: Way::Tool("echo new > {beside}/cache/entry && cat {beside}/cache/entry"),
        works: "new",
        ..Mistake::default()
    }
}

pub(crate) fn toolchain() -> Mistake {
    Mistake {
        name: "a toolchain in the home directory",
        files: &[("~/.cargo/bin/cargo", "#!/bin/sh\necho cargo 1.0\n")],
        way: Way::Tool("cargo --version"),
        works: "cargo 1.0",
        ..Mistake::default()
    }
}

pub(crate) fn own_program() -> Mistake {
    Mistake {
        name: "a program of the user's own",
        files: &[("~/bin/greet", "#!/bin/sh\necho good morning\n")],
        way: Way::Tool("greet"),
        works: "good morning",
        ..Mistake::default()
    }
}

pub(crate) fn socket() -> Mistake {
    Mistake {
        name: "a socket of a service",
        way: Way::Tool("curl -sS --unix-socket {beside}/service.sock http://service/"),
        works: "hello from the service",
        server: Listens::Socket,
        follows: "whoever listens there does not act with the tool's rights but with its own, so no rule is offered; if that is meant, add \"{shown}\" to `sandbox.system`",
        ..Mistake::default()
    }
}

pub(crate) fn variable() -> Mistake {
    Mistake {
        name: "a variable of the environment",
        way: Way::Tool("echo \"token: ${API_TOKEN:?}\""),
        works: "token: ",
        ..Mistake::default()
    }
}
