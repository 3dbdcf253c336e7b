//! `jig proxy` and `jig sh`.

use crate::Row;

pub(crate) fn no_command() -> Row {
    Row {
        hint: "it comes after `--`: jig proxy -- ./agent; with --stdio a client is served that somebody else has started",
        wrong: "jig proxy",
        right: "«jig proxy -- »echo hello && jig proxy «--stdio» </dev/null",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn input_that_is_not_there() -> Row {
    Row {
        hint: "what may be read is there already; a file that is to be made is named with -o",
        wrong: "jig proxy -i new.txt -- echo hello",
        right: "jig proxy «-o» new.txt -- echo hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn folder_with_a_space() -> Row {
    Row {
        hint: "make it first: mkdir -p {folder}",
        wrong: "jig proxy -o 'to do/new.txt' -- echo hello",
        right: "eval \"${HINT#make it first: }\" && jig proxy -o 'to do/new.txt' -- echo hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn option_of_the_outermost() -> Row {
    Row {
        hint: "leave it out, or give it to the outermost `jig proxy`",
        wrong: "jig proxy -- jig proxy -i server.py -- echo hello",
        right: "jig proxy -i server.py -- jig proxy -- echo hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn shell_with_an_option() -> Row {
    Row {
        hint: "leave it out, or give it to the outermost `jig proxy`",
        wrong: "jig proxy -- jig sh -i server.py -c 'echo hello'",
        right: "jig proxy -i server.py -- jig sh -c 'echo hello'",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn nobody_answers() -> Row {
    Row {
        hint: "a program that uses its descriptor 3 itself has to hand on another one (`Relay` of the SDK); outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …",
        wrong: "export JIG_PROXY_FD=3; jig proxy -- echo hello 3</dev/null",
        right: "export JIG_PROXY_FD=3; «env -u JIG_PROXY_FD jig proxy »-- echo hello 3</dev/null",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn nobody_answers_the_shell() -> Row {
    Row {
        hint: "outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig sh …",
        wrong: "export JIG_PROXY_FD=3; jig sh -c 'echo hello' 3</dev/null",
        right: "export JIG_PROXY_FD=3; «env -u JIG_PROXY_FD jig sh »-c 'echo hello' 3</dev/null",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn policy_without_a_tool() -> Row {
    Row {
        hint: "it needs a [tools.NAME] with `access`; a tool that the workspace declares too is named with --tool",
        config: super::HELLO,
        wrong: "echo '[log]' > ../policy.toml; jig proxy --policy ../policy.toml -- echo hello",
        right: "jig proxy --policy ../policy.toml «--tool» check -- echo hello\n\
                printf '[tools.reads]\\nsource = \"local\"\\ncommand = \"true\"\\naccess.fs = [{ path = \".\", read = true }]\\n' \
                >> ../policy.toml; jig proxy --policy ../policy.toml -- echo hello",
        works: "hello\nhello",
    }
}

pub(crate) fn no_model() -> Row {
    Row {
        hint: "add it to your own configuration (~/.config/jig/config.toml): [llm] with model = \"…\"; the key stays in a variable, which `key_env` names",
        wrong: "jig proxy --llm -- echo hello",
        right: "mkdir -p ~/.config/jig; printf '«[llm]»\\n«model = \"»small\"\\n«key_env» = \"MY_KEY\"\\n' > «~/.config/jig/config.toml»\n\
                MY_KEY=secret jig proxy --llm -- echo hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn no_key() -> Row {
    Row {
        hint: "set `{variable}` where jig is started, or have `llm.key_env` name another variable; `key_env = \"\"` is for a provider that needs no key",
        wrong: "mkdir -p ~/.config/jig; printf '[llm]\\nmodel = \"small\"\\n' > ~/.config/jig/config.toml; jig proxy --llm -- echo hello",
        right: "set -e\n«OPENAI_API_KEY»=secret jig proxy --llm -- echo hello\n\
                echo 'key_env = \"OTHER\"' >> ~/.config/jig/config.toml\nOTHER=secret jig proxy --llm -- echo hello\n\
                sed -i 's/^key_env.*/«key_env = \"\"»/' ~/.config/jig/config.toml\njig proxy --llm -- echo hello",
        works: "hello\nhello\nhello",
        ..Row::default()
    }
}

pub(crate) fn not_a_key() -> Row {
    Row {
        hint: "set it to the key alone, on one line",
        wrong: "mkdir -p ~/.config/jig; printf '[llm]\\nmodel = \"small\"\\n' > ~/.config/jig/config.toml\n\
                OPENAI_API_KEY=\"$(printf 'one\\ntwo')\" jig proxy --llm -- echo hello",
        right: "OPENAI_API_KEY=one jig proxy --llm -- echo hello",
        works: "hello",
        ..Row::default()
    }
}
