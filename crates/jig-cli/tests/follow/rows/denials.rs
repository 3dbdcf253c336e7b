//! What is said of a refusal for which no rule is offered.

use crate::Row;

pub(crate) fn path_of_the_system() -> Row {
    Row {
        hint: "it belongs to the system: write into the workspace, or to the tool's own `/tmp`",
        wrong: "jig run touch /usr/local/new",
        right: "jig run touch new && jig run touch «/tmp»/new && ls new",
        works: "new",
        ..Row::default()
    }
}

pub(crate) fn key_of_the_user() -> Row {
    Row {
        hint: "whoever reads it may act as you, so no rule is offered; if that is meant, add \"{shown}\" to `sandbox.system`",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"cat {{tool.arguments.path}}\"\nrun = \"unattended\"\n\
                 parameters.path = { type = \"string\", required = true }\n",
        wrong: "mkdir ~/.ssh; echo key > ~/.ssh/id; jig call check path=\"$HOME/.ssh/id\"",
        right: "sed -i '/^run/a «sandbox.system» = [\"«~/.ssh/id»\"]' jig.toml\n\
                jig call check path=\"$HOME/.ssh/id\"",
        works: "key",
    }
}

pub(crate) fn file_that_does_not_exist() -> Row {
    Row {
        hint: "make it first: touch {folder}",
        wrong: "jig run --write .env sh -c 'echo a=b > .env'",
        right: "eval \"${HINT#make it first: }\" && jig run --write .env sh -c 'echo a=b > .env' && cat .env",
        works: "a=b",
        ..Row::default()
    }
}

pub(crate) fn file_in_a_folder_that_does_not_exist() -> Row {
    Row {
        hint: "make it first: mkdir -p {parent} && touch {folder}",
        wrong: "jig run --write 'my settings/.env' sh -c 'echo a=b > \"my settings/.env\"'",
        right: "eval \"${HINT#make it first: }\" && jig run --write 'my settings/.env' sh -c 'echo a=b > \"my settings/.env\"' && cat 'my settings/.env'",
        works: "a=b",
        ..Row::default()
    }
}

pub(crate) fn machine_without_namespaces() -> Row {
    Row {
        hint: "`jig doctor` says what this machine can enforce; with --best-effort the command runs with that",
        config: super::HELLO,
        wrong: "cat > poor <<'end'\nfor kind in user mnt pid net ipc uts; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done\n\
                \"$@\"\nend\nunshare -Ur sh ./poor jig run --net example.com echo hello",
        right: "unshare -Ur sh ./poor «jig doctor»; unshare -Ur sh ./poor jig run --net example.com «--best-effort» echo hello",
        works: "hello",
    }
}

pub(crate) fn layer_without_namespaces() -> Row {
    Row {
        hint: "`jig doctor` says what this machine can enforce; without --overlay the command runs, and changes the files themselves",
        wrong: "cat > poor <<'end'\nfor kind in user mnt pid net ipc uts; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done\n\
                \"$@\"\nend\nunshare -Ur sh ./poor jig run --best-effort --overlay echo hello",
        right: "unshare -Ur sh ./poor jig run --best-effort echo hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn trial_without_namespaces() -> Row {
    Row {
        hint: "`jig doctor` says what this machine can enforce; write the rules by hand, and `jig run` says what a command is refused",
        config: super::HELLO,
        wrong: "cat > poor <<'end'\nfor kind in user mnt pid net ipc uts; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done\n\
                \"$@\"\nend\nmkdir ../beside; echo milk > ../beside/notes; unshare -Ur sh ./poor jig suggest check -- cat ../beside/notes",
        right: "«jig run» cat ../beside/notes 2>&1 | grep -- '--read' && jig run --read ../beside cat ../beside/notes",
        works: "milk",
    }
}

/// Goes to a workspace with the same `jig.toml` that lies in none of the folders of which a tool has its own.
macro_rules! elsewhere {
    () => {
        "[ -e elsewhere ] || mktemp -d \"$SHOWN/follow.XXXXXX\" > elsewhere\n\
         beside=$(cat elsewhere); trap 'rm -rf \"$beside\"' EXIT\n\
         mkdir -p \"$beside/ws\"; cp jig.toml \"$beside/ws\"; cd \"$beside/ws\"\n"
    };
}

pub(crate) fn name_for_once() -> Row {
    Row {
        hint: "it has a name for once, which no rule can tell beforehand, and `{}` holds too much to be opened: have the program write to the workspace, or to a folder of its own that `sandbox.system` names with `write = true`",
        config: SCRIPT,
        wrong: concat!(
            elsewhere!(),
            "echo 'echo milk > ../notes.tmp && cat ../notes.tmp' > tool.sh; jig call check"
        ),
        right: concat!(
            elsewhere!(),
            "set -e\necho 'echo milk > notes.tmp && cat notes.tmp' > tool.sh; jig call check\n\
             mkdir ../own; echo 'echo tea > ../own/notes.tmp && cat ../own/notes.tmp' > tool.sh\n\
             sed -i \"/^run/a «sandbox.system» = [{ path = \\\"${PWD%/*}/own\\\", «write = true» }]\" jig.toml; jig call check"
        ),
        works: "milk\ntea",
    }
}

pub(crate) fn folder_with_a_secret() -> Row {
    Row {
        hint: "the folder `{shown}` holds what no tool is meant to see, and an entry opens all of it, so no rule is offered; name only what is needed in `sandbox.system`, or put it elsewhere",
        config: SCRIPT,
        wrong: "mkdir ../data; echo milk > ../data/notes; echo key > ../data/.env; echo 'ls ../data && cat ../data/notes' > tool.sh; jig call check",
        right: "set -e\nsed -i \"/^run/a «sandbox.system» = [\\\"${PWD%/*}/data/notes\\\"]\" jig.toml; echo 'cat ../data/notes' > tool.sh; jig call check\n\
                mkdir ../other; mv ../data/notes ../other\n\
                sed -i 's,/data/notes,/other,' jig.toml; echo 'ls ../other && cat ../other/notes' > tool.sh; jig call check",
        works: "milk\nnotes\nmilk",
    }
}

pub(crate) fn program_among_files() -> Row {
    Row {
        hint: "its directory holds more than programs, so no rule is offered that opens it: put the program into the workspace, below a path whose rule has `execute = true`",
        config: SCRIPT,
        wrong: "printf '#!/bin/sh\\necho hello\\n' > ~/greets; chmod +x ~/greets; echo greets > tool.sh; PATH=\"$PATH:$HOME\" jig call check",
        right: "mkdir bin; cp ~/greets bin; echo ./bin/greets > tool.sh\n\
                printf '[[tools.check.access.fs]]\\npath = \"bin\"\\nread = true\\n«execute = true»\\n' >> jig.toml; jig call check",
        works: "hello",
    }
}

pub(crate) fn program_in_the_own_folder() -> Row {
    Row {
        hint: "put the program into the workspace, below a path whose rule has `execute = true`",
        config: READS,
        wrong: "sed -i '/^run/a sandbox.observe = true' jig.toml; echo \"printf '#!/bin/sh\\necho hello\\n' > /tmp/greets; chmod +x /tmp/greets; /tmp/greets\" > tool.sh; jig call check",
        right: "mkdir bin; sed -i 's,/tmp/,bin/,g' tool.sh\n\
                printf '[[tools.check.access.fs]]\\npath = \"bin\"\\nread = true\\nwrite = true\\n«execute = true»\\n' >> jig.toml; jig call check",
        works: "hello",
    }
}

pub(crate) fn new_file_elsewhere() -> Row {
    Row {
        hint: "make it first: what does not exist cannot be shown (`{shown}`)",
        config: SCRIPT,
        wrong: concat!(
            elsewhere!(),
            "echo 'echo milk > ../notes.txt && cat ../notes.txt' > tool.sh; jig call check"
        ),
        right: concat!(
            elsewhere!(),
            "echo 'echo milk > ../notes.txt && cat ../notes.txt' > tool.sh; touch ../notes.txt; jig call check 2>&1 | sed -n '/to allow it/,$ s/^    //p' > rule; cat rule >> jig.toml; jig call check"
        ),
        works: "milk",
    }
}

pub(crate) fn new_sensitive_file() -> Row {
    Row {
        hint: "a confined program cannot make what only a rule that names it covers: make it first, empty",
        config: READS,
        wrong: "echo 'echo milk > .env && cat .env' > tool.sh; jig call check",
        right: "jig call check 2>&1 | sed -n '/to allow it/,$ s/^    //p' > rule; cat rule >> jig.toml; touch .env; jig call check",
        works: "milk",
    }
}

pub(crate) fn host_that_is_not_named() -> Row {
    Row {
        hint: "name the host in `[[{}.access.net]]` with `allow = true`; with `sandbox.observe = true` the next call says which it is",
        config: SCRIPT,
        wrong: "echo \"python3 -c 'import socket; socket.getaddrinfo(\\\"api.test\\\", 443)' && echo found\" > tool.sh; jig call check",
        right: "sed -i '/^run/a «sandbox.observe = true»' jig.toml\n\
                jig call check 2>&1 | sed -n '/to allow it/,$ s/^    //p' > rule; cat rule; grep -A9 '«[[tools.check.access.net]]»' rule | grep api.test\n\
                cat rule >> jig.toml; jig call check",
        works: "found",
    }
}

pub(crate) fn rule_that_cannot_be_held() -> Row {
    Row {
        hint: "`jig doctor` says what this machine can enforce; with `sandbox.enforce = \"best-effort\"` the tool runs with that",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"echo hello\"\nrun = \"unattended\"\n\
                 [[tools.check.access.fs]]\npath = \".\"\nread = true\nwrite = true\n\
                 [[tools.check.access.fs]]\npath = \"src\"\nread = true\nupdate = true\n",
        wrong: "mkdir src; jig call check",
        right: "«jig doctor»; sed -i '/^run/a «sandbox.enforce = \"best-effort\"»' jig.toml; jig call check",
        works: "hello",
    }
}

/// A tool that does what a script says.
const SCRIPT: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"sh tool.sh\"\nrun = \"unattended\"\n";

/// The same, which may only read.
const READS: &str = "[tools.check]\nsource = \"local\"\ncommand = \"sh tool.sh\"\nrun = \"unattended\"\n\
                     [[tools.check.access.fs]]\npath = \".\"\nread = true\n";
