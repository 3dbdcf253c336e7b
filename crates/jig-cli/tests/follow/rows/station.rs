//! Tools that stay.

use super::CAT;
use crate::Row;

pub(crate) fn nothing_to_apply() -> Row {
    Row {
        hint: "give TEXT, --line TEXT, --key KEY or --json-input JSON",
        config: CAT,
        wrong: "jig spawn check --id mine; jig apply mine",
        right: "jig apply mine «--line» hello --wait 10s && jig apply mine hello && jig apply mine «--key» enter",
        works: "hello",
    }
}

pub(crate) fn spawned_tool() -> Row {
    Row {
        hint: "`jig fetch {id}` shows what comes next, {input}`jig attach {id}` shows it live, `jig abort {id}` ends it",
        config: CAT,
        wrong: "jig spawn check --id mine",
        right: "set -e\n«jig apply mine --line» hello\n«jig fetch mine»\n«jig abort mine»",
        works: "hello",
    }
}

pub(crate) fn same_id_twice() -> Row {
    Row {
        hint: "choose another id, or leave `id` out",
        config: CAT,
        wrong: "jig spawn check --id mine; jig spawn check --id mine",
        right: "jig spawn check --id other --json && jig spawn check --json",
        works: "\"other\"",
    }
}

pub(crate) fn unknown_handle() -> Row {
    Row {
        hint: "live handles are {live}",
        config: CAT,
        wrong: "jig spawn check --id mine; jig fetch other",
        right: "jig fetch «mine»",
        works: "mine running",
    }
}

pub(crate) fn nothing_runs() -> Row {
    Row {
        hint: "nothing runs in this workspace; `jig spawn` starts a tool, `jig ps --all` lists what runs in others",
        config: CAT,
        wrong: "jig fetch mine",
        right: "«jig ps --all» && «jig spawn» check --id mine && jig fetch mine",
        works: "mine running",
    }
}

pub(crate) fn no_home() -> Row {
    Row {
        hint: "set HOME",
        config: CAT,
        wrong: "env -u HOME jig ps",
        right: "«HOME»=$HOME jig ps",
        works: "",
    }
}

pub(crate) fn open_folder() -> Row {
    Row {
        hint: "chmod 700 {}",
        config: CAT,
        wrong: "jig spawn check --id mine; chmod 755 ~/.local/state/jig/run; jig ps",
        right: "eval \"$(jig ps 2>&1 | sed -n 's/^hint: //p')\" && jig ps",
        works: "mine",
    }
}

pub(crate) fn large_request() -> Row {
    Row {
        hint: "arguments and environment together may take 1 MiB",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"cat\"\nrun = \"unattended\"\nstateful = true\n\
                 parameters.text = { type = \"string\" }\n",
        wrong: "x=$(head -c 120000 /dev/zero | tr '\\0' x)\n\
                A=$x B=$x C=$x D=$x E=$x F=$x G=$x H=$x I=$x J=$x; export A B C D E F G H I J\njig spawn check",
        right: "jig spawn check --id mine",
        works: "mine",
    }
}

pub(crate) fn screen_without_a_terminal() -> Row {
    Row {
        hint: "`jig fetch {} --view screen` prints the screen",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"sh -c 'echo hello; cat'\"\nrun = \"unattended\"\n\
                 stateful = true\nterminal = true\n",
        wrong: "jig spawn check --id mine; jig attach mine",
        right: "«jig fetch mine --view screen»",
        works: "mine running",
    }
}
