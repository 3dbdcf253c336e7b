//! `jig run`, which has flags in the place of rules.

use super::{Mistake, Way};

pub(crate) fn run_home() -> Mistake {
    Mistake {
        name: "`jig run`: a file of the home directory",
        files: &[("~/notes.txt", "buy milk\n")],
        way: Way::Run("sh -c 'cat ~/notes.txt'"),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn run_write() -> Mistake {
    Mistake {
        name: "`jig run`: a file elsewhere that is written to",
        files: &[("../cache/index", "1\n")],
        way: Way::Run("sh -c 'echo 2 > {beside}/cache/index && cat {beside}/cache/index'"),
        works: "2",
        ..Mistake::default()
    }
}

pub(crate) fn run_sensitive() -> Mistake {
    Mistake {
        name: "`jig run`: a sensitive file",
        files: &[(".env", "TOKEN=secret\n")],
        way: Way::Run("cat .env"),
        works: "TOKEN=",
        ..Mistake::default()
    }
}

pub(crate) fn run_service() -> Mistake {
    Mistake {
        name: "`jig run`: a service of the machine itself",
        way: Way::Run("curl -sS --fail http://localhost:{port}/hello"),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn run_toolchain() -> Mistake {
    Mistake {
        name: "`jig run`: a toolchain in the home directory",
        files: &[("~/.cargo/bin/cargo", "#!/bin/sh\necho cargo 1.0\n")],
        way: Way::Run("sh -c 'cargo --version'"),
        works: "cargo 1.0",
        ..Mistake::default()
    }
}

pub(crate) fn run_memory() -> Mistake {
    Mistake {
        name: "`jig run`: more memory than is allowed",
        way: Way::Run(
            "--memory 64MiB /usr/bin/python3 -c 'import time; x = b\"x\" * (80 << 20); time.sleep(3); print(len(x))'",
        ),
        works: "83886080",
        ..Mistake::default()
    }
}
