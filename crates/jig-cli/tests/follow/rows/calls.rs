//! Calls, and commands that are run.

use super::HELLO;
use crate::Row;

pub(crate) fn log_that_cannot_be_written() -> Row {
    Row {
        hint: "set XDG_STATE_HOME to a folder that can be written; to run tools without a log, use --optional-log, or set log.required = false in your own configuration",
        config: HELLO,
        wrong: "mkdir -p ~/.local/state/jig; touch ~/.local/state/jig/log; jig call check",
        right: "set -e\n«XDG_STATE_HOME»=\"$HOME/state\" jig call check\njig call «--optional-log» check\n\
                mkdir -p ~/.config/jig\necho '«log.required = false»' > ~/.config/jig/config.toml\njig call check",
        works: "hello",
    }
}

pub(crate) fn state_that_cannot_be_written() -> Row {
    Row {
        hint: "set XDG_STATE_HOME to a folder that can be written: jig notes there what the tool may not leave behind",
        config: HELLO,
        wrong: "XDG_STATE_HOME=/proc/none jig call --optional-log check",
        right: "«XDG_STATE_HOME»=\"$HOME/state\" jig call --optional-log check",
        works: "hello",
    }
}

pub(crate) fn words_that_are_no_arguments() -> Row {
    Row {
        hint: "write name=value, or all of them as one object with --args",
        config: GREET,
        wrong: "jig call check hello",
        right: "jig call check name=hello && jig call check «--args» '{\"name\": \"hello\"}'",
        works: "hello\nhello",
    }
}

pub(crate) fn call_about_a_handle() -> Row {
    Row {
        hint: "a call knows only what it spawned itself; `jig fetch`, `jig apply` and `jig abort` reach what `jig spawn` started",
        config: super::CAT,
        wrong: "jig call check action=fetch id=mine",
        right: "set -e\n«jig spawn» check --id mine\n«jig apply» mine --line hello\n«jig fetch» mine\n«jig abort» mine",
        works: "hello",
    }
}

pub(crate) fn unknown_tool() -> Row {
    Row {
        hint: "`jig tools` lists all",
        config: HELLO,
        wrong: "jig call something-else",
        right: "«jig tools»",
        works: "check",
    }
}

pub(crate) fn wasm_that_is_not_there() -> Row {
    Row {
        hint: "build it, or correct `wasm`, which is relative to the workspace",
        config: "[tools.check]\nsource = \"local\"\nwasm = \"tools/check.wasm\"\nrun = \"unattended\"\n",
        wrong: "jig call check",
        right: "cp \"$REPO/target/guests/noop.wasm\" check.wasm && sed -i 's,tools/,,' jig.toml && jig call check",
        works: "",
    }
}

pub(crate) fn no_topic() -> Row {
    Row {
        hint: "declare one: `[kb.topic.NAME]` with `subjects = \"docs/NAME\"`",
        config: HELLO,
        wrong: "jig call --yes learn topic=style",
        right: "mkdir -p docs/style && echo '# Rust' > docs/style/rust.md\n\
                echo \"$HINT\" | sed 's/^declare one: `\\(.*\\)` with `\\(.*\\)`$/\\1\\n\\2/; s/NAME/style/g' >> jig.toml\n\
                jig call --yes learn topic=style",
        works: "rust",
    }
}

pub(crate) fn learn_that_is_another_tool() -> Row {
    Row {
        hint: "`[tools.learn]` is another tool: declare one with `source = \"builtin.learn\"`",
        config: "[tools.learn]\nsource = \"local\"\ncommand = \"true\"\n[kb.topic.style]\nsubjects = \"docs/style\"\n",
        wrong: "mkdir -p docs/style && echo '# Rust' > docs/style/rust.md; jig knowledge style",
        right: "printf '[tools.study]\\n«source = \"builtin.learn\"»\\n' >> jig.toml; jig knowledge style",
        works: "`style`, 1 subject",
    }
}

pub(crate) fn reserved_name_of_run() -> Row {
    Row {
        hint: "rename it, or name it as the one that applies: --policy jig-run",
        config: "[tools.jig-run]\nsource = \"local\"\ncommand = \"true\"\n",
        wrong: "jig run echo hello",
        right: "jig run «--policy jig-run» echo hello && sed -i 's/jig-run/mine/' jig.toml && jig run echo hello",
        works: "hello\nhello",
    }
}

pub(crate) fn reserved_name_of_proxy() -> Row {
    Row {
        hint: "rename it, or name it as the one that applies: --tool jig-proxy",
        config: "[tools.jig-proxy]\nsource = \"local\"\ncommand = \"true\"\n",
        wrong: "jig proxy -- echo hello",
        right: "jig proxy «--tool jig-proxy» -- echo hello && sed -i 's/jig-proxy/mine/' jig.toml && jig proxy -- echo hello",
        works: "hello\nhello",
    }
}

pub(crate) fn host_that_is_none() -> Row {
    Row {
        hint: "write HOST, HOST:PORT or SCHEME://HOST",
        config: HELLO,
        wrong: "jig run --net 'api.test:http' echo hello",
        right: "for net in api.test api.test:80 http://api.test; do jig run --net $net echo hello || exit; done",
        works: "hello\nhello\nhello",
    }
}

pub(crate) fn program_that_is_not_there() -> Row {
    Row {
        hint: "install it, or write its whole path",
        config: HELLO,
        wrong: "mkdir programs && printf '#!/bin/sh\\necho hello\\n' > programs/greets && chmod +x programs/greets && jig run greets",
        right: "jig run \"$PWD/programs/greets\"",
        works: "hello",
    }
}

pub(crate) fn interpreter_that_is_not_there() -> Row {
    Row {
        hint: "install it, or correct the path; if the first line of a script names it, name another program there",
        config: HELLO,
        wrong: "printf '#!/usr/bin/none\\necho hello\\n' > greets && chmod +x greets && jig run ./greets",
        right: "sed -i '1s,«/usr/bin/none»,/bin/sh,' greets && jig run ./greets",
        works: "hello",
    }
}

pub(crate) fn folder_that_is_run() -> Row {
    Row {
        hint: "it is a folder: name the program in it",
        config: HELLO,
        wrong: "mkdir programs && printf '#!/bin/sh\\necho hello\\n' > programs/greets && chmod +x programs/greets && jig run ./programs",
        right: "jig run ./programs/greets",
        works: "hello",
    }
}

pub(crate) fn init_without_a_terminal() -> Row {
    Row {
        hint: "`jig init --yes` takes the defaults (--preset {presets} --changes ask --net none); with all three options nothing is asked",
        config: "",
        wrong: "touch setup.py; jig init",
        right: "set -e\n«jig init --yes»\nrm jig.toml\njig init $(echo \"$HINT\" | sed 's/.*(\\(.*\\)).*/\\1/')",
        works: "jig.toml",
    }
}

pub(crate) fn init_where_there_is_one() -> Row {
    Row {
        hint: "`jig config check` says whether it is right, `jig init --print` shows what a new one would be; a folder below gets one of its own by `jig -C FOLDER init`",
        config: HELLO,
        wrong: "jig init --yes",
        right: "set -e\n«jig config check»\n«jig init --print»\nmkdir below\njig -C below init --yes\ntest -e below/jig.toml",
        works: "valid",
    }
}

pub(crate) fn policy_of_two_tools() -> Row {
    Row {
        hint: "name one with --tool",
        config: "[tools.one]\nsource = \"local\"\ncommand = \"true\"\n[tools.two]\nsource = \"local\"\ncommand = \"true\"\n",
        wrong: "jig vfs-host --root . --policy jig.toml",
        right: "echo '{\"jsonrpc\":\"2.0\",\"method\":\"result\",\"params\":{\"content\":\"done\"}}' | jig vfs-host --root . --policy jig.toml «--tool» one",
        works: "",
    }
}

pub(crate) fn call_too_large_for_arguments() -> Row {
    Row {
        hint: "set `input = \"stdin\"` or `input = \"file\"` for the tool, and have it read the call there",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"echo {{tool.arguments.text}}\"\nrun = \"unattended\"\n\
                 input = \"argv\"\nparameters.text = { type = \"string\" }\n",
        wrong: "(printf '{ \"text\": \"'; head -c 200000 /dev/zero | tr '\\0' x; printf '\" }') > large; jig call check --args - < large",
        right: "sed -i 's/input = \"argv\"/«input = \"stdin\"»/; s/echo .*}}/wc -c/' jig.toml; jig call check --args - < large",
        works: "200",
    }
}

pub(crate) fn configuration_that_is_closed() -> Row {
    Row {
        hint: "make it readable for you, `chmod u+r {shown}`, or remove it",
        config: HELLO,
        wrong: "chmod 000 jig.toml; unshare -U --map-user=1000 jig config check",
        right: "«chmod u+r jig.toml»; unshare -U --map-user=1000 jig config check",
        works: "valid",
    }
}

pub(crate) fn suggest_without_state() -> Row {
    Row {
        hint: "set HOME or XDG_STATE_HOME",
        config: HELLO,
        wrong: "home=$HOME; unset HOME; jig suggest --optional-log check -- true",
        right: "home=$HOME; unset HOME; «XDG_STATE_HOME»=$home/state jig suggest check -- true && HOME=$home jig suggest check -- true",
        works: "",
    }
}

pub(crate) fn suggest_with_state_inside() -> Row {
    Row {
        hint: "the workspace must not hold the directory of jig's state: set XDG_STATE_HOME to one elsewhere; nothing was run",
        config: HELLO,
        wrong: "XDG_STATE_HOME=$PWD/state jig suggest check -- true",
        right: "«XDG_STATE_HOME»=$HOME/state jig suggest check -- true",
        works: "",
    }
}

/// A tool with a parameter.
const GREET: &str = "[tools.check]\nsource = \"local\"\ncommand = \"echo {{tool.arguments.name}}\"\n\
                     run = \"unattended\"\nparameters.name = { type = \"string\", required = true }\n";

pub(crate) fn terminal_that_waits_for_a_key() -> Row {
    Row {
        hint: "if it waits for a key, set `stateful = true` for it, spawn it and send it input",
        config: "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\nterminal = { rows = 24, cols = 80 }\n\
                 command = { program = \"stty -icanon && head -c 24 && echo thanks\", shell = true }\n\
                 sandbox.limits.time = \"2s\"\n",
        wrong: "jig call check",
        right: "sed -i '$a «stateful = true»\n/limits/d' jig.toml; jig spawn check --id h_1; \
                jig apply h_1 --line 'Ada Lovelace, of London, in Marylebone'",
        works: "thanks",
    }
}

pub(crate) fn unknown_option() -> Row {
    Row {
        hint: "`{ours} --help` lists the options; the command comes after `--`",
        config: "",
        wrong: "jig run --zzzzzzzz -- true",
        right: "«jig run --help»",
        works: "--read",
    }
}

pub(crate) fn argument_of_another_name() -> Row {
    Row {
        hint: "`jig tools {}` lists the parameters",
        config: GREET,
        wrong: "jig call check title=Ada",
        right: "«jig tools check» | grep name && jig call check name=Ada",
        works: "Ada",
    }
}

pub(crate) fn workspace_that_waits() -> Row {
    Row {
        hint: "not in force until you run `{}`: {}{more}",
        config: HELLO,
        wrong: "unset JIG_TRUST; jig call check",
        right: "unset JIG_TRUST; «jig trust» --yes && jig call check",
        works: "hello",
    }
}

pub(crate) fn trust_without_a_terminal() -> Row {
    Row {
        hint: "`{command} --yes` accepts what was shown",
        config: HELLO,
        wrong: "unset JIG_TRUST; jig trust",
        right: "unset JIG_TRUST; «jig trust --yes» && jig trust",
        works: "nothing waits",
    }
}

pub(crate) fn writing_beside_what_waits() -> Row {
    Row {
        hint: "`jig trust` shows what waits, and accepts it",
        config: HELLO,
        wrong: "unset JIG_TRUST; jig suggest check --write -- true",
        right: "unset JIG_TRUST; «jig trust» --yes && jig suggest check --write -- true",
        works: "accepted",
    }
}

pub(crate) fn trust_within_a_sandbox() -> Row {
    Row {
        hint: "run `jig trust` in a terminal of your own",
        config: HELLO,
        wrong: "unset JIG_TRUST; jig=$(command -v jig); jig run --read \"$jig\" -- \"$jig\" trust --yes",
        right: "unset JIG_TRUST; «jig trust» --yes",
        works: "accepted",
    }
}
