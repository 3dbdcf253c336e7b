//! Mistakes in `jig.toml`, which are underlined.

use super::{Mistake, Way};

pub(crate) fn mistyped_key() -> Mistake {
    wrong(
        "a mistyped key",
        "[tools.check]\nsource = \"local\"\ncomand = \"true\"\n",
    )
}

pub(crate) fn mistyped_value() -> Mistake {
    wrong(
        "a mistyped value",
        "[tools.check]\nsource = \"local\"\ncommand = \"true\"\nrun = \"unatended\"\n",
    )
}

pub(crate) fn mistyped_table() -> Mistake {
    wrong(
        "a table that is called otherwise",
        "[[tools.check.acess.fs]]\npath = \".\"\nread = true\n[tools.check]\nsource = \"local\"\ncommand = \"true\"\n",
    )
}

pub(crate) fn size_without_unit() -> Mistake {
    wrong(
        "a size without its unit",
        "[tools.check]\nsource = \"local\"\ncommand = \"true\"\nsandbox.limits.memory = 512\n",
    )
}

pub(crate) fn key_of_others() -> Mistake {
    wrong(
        "a key that other programs have",
        "[tools.check]\nsource = \"local\"\ncommand = \"true\"\nenabled = true\n",
    )
}

pub(crate) fn shell_syntax() -> Mistake {
    Mistake {
        files: &[("notes.txt", "milk\nbread\n")],
        config: "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\ncommand = \"cat notes.txt | tail -n 1\"\n",
        way: Way::Shell("jig call check"),
        works: "bread",
        ..wrong("syntax of a shell in `command`", "")
    }
}

pub(crate) fn glob() -> Mistake {
    wrong(
        "a pattern in the path of a rule",
        "[tools.check]\nsource = \"local\"\ncommand = \"true\"\naccess.fs = [{ path = \"src/**/*.rs\", read = true }]\n",
    )
}

pub(crate) fn port_as_host() -> Mistake {
    wrong(
        "a port in the place of a host",
        "[tools.check]\nsource = \"local\"\ncommand = \"true\"\naccess.net = [{ host = \"8080\", allow = true }]\n",
    )
}

pub(crate) fn unused_parameter() -> Mistake {
    Mistake {
        config: "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\ncommand = \"dirname\"\nparameters.path.type = \"string\"\n",
        way: Way::Shell("jig call check path=src/main.c"),
        works: "src",
        ..wrong("a parameter that never reaches the program", "")
    }
}

pub(crate) fn mistyped_template() -> Mistake {
    Mistake {
        config: "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\ncommand = \"dirname {{tool.arguments.paht}}\"\nparameters.path.type = \"string\"\n",
        way: Way::Shell("jig call check path=src/main.c"),
        works: "src",
        ..wrong("a mistyped name in a template", "")
    }
}

fn wrong(name: &'static str, config: &'static str) -> Mistake {
    Mistake {
        name,
        config,
        way: Way::Shell("jig config check"),
        works: "valid",
        ..Mistake::default()
    }
}
