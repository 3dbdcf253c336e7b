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
