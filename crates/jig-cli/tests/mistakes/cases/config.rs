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

fn wrong(name: &'static str, config: &'static str) -> Mistake {
    Mistake {
        name,
        config,
        way: Way::Shell("jig config check"),
        works: "valid",
        ..Mistake::default()
    }
}
