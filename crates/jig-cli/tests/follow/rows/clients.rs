//! Clients of `jig mcp`, and people who answer for them.

use super::HELLO;
use crate::Row;

pub(crate) fn other_entry() -> Row {
    Row {
        hint: "see both without --write; replace it with --force, or take another --name",
        wrong: "printf '{ \"mcpServers\": { \"jig\": { \"command\": \"other\" } } }' > .mcp.json; jig setup claude-code --write",
        right: "set -e\njig setup claude-code\njig setup claude-code --write «--name» second\njig setup claude-code --write «--force»",
        works: "written",
        ..Row::default()
    }
}

pub(crate) fn link_out_of_the_project() -> Row {
    Row {
        hint: "a link that leaves the project, or leads nowhere, is not followed; take it away: rm {}",
        wrong: "ln -s ../elsewhere.json .mcp.json; jig setup claude-code --write",
        right: "eval \"${HINT##*: }\" && jig setup claude-code --write",
        works: "written",
        ..Row::default()
    }
}

pub(crate) fn zed_over_http() -> Row {
    Row {
        hint: "let Zed start jig itself: `jig setup zed`",
        wrong: "jig setup zed --http http://127.0.0.1:8000/mcp",
        right: "«jig setup zed»",
        works: "context_servers",
        ..Row::default()
    }
}

pub(crate) fn claude_for_the_user() -> Row {
    Row {
        hint: "run {command}",
        wrong: "jig setup claude-code --global --write",
        right: "mkdir programs; printf '#!/bin/sh\\necho \"added $*\"\\n' > programs/claude; chmod +x programs/claude\n\
                PATH=\"$PWD/programs:$PATH\"; eval \"${HINT#run }\"",
        works: "added mcp add --scope user jig -- ",
        ..Row::default()
    }
}

pub(crate) fn address_with_a_password() -> Row {
    Row {
        hint: "the token comes from the variable {TOKEN}",
        wrong: "jig setup cursor --http http://me:secret@127.0.0.1:8000/mcp",
        right: "jig setup cursor --http http://127.0.0.1:8000/mcp",
        works: "JIG_MCP_TOKEN",
        ..Row::default()
    }
}

pub(crate) fn nothing_to_import() -> Row {
    Row {
        hint: "--file names another file",
        wrong: DECLARED,
        right: "jig import cursor «--file» servers.json",
        works: "small",
        ..Row::default()
    }
}

pub(crate) fn nothing_of_that_name() -> Row {
    Row {
        hint: "there are {}",
        wrong: "printf '{ \"mcpServers\": { \"small\": { \"command\": \"cat\" } } }' > servers.json\n\
                jig import cursor --file servers.json --only other",
        right: "jig import cursor --file servers.json --only «small»",
        works: "small",
        ..Row::default()
    }
}

pub(crate) fn file_of_another_client() -> Row {
    Row {
        hint: "name the client that the file belongs to: claude, codex, cursor or vscode",
        wrong: "printf '[mcp_servers.small]\\ncommand = \"cat\"\\n' > servers.toml; printf '{ \"servers\": { \"small\": { \"command\": \"cat\" } } }' > servers.json\n\
                jig import cursor --file servers.json",
        right: "jig import «vscode» --file servers.json",
        works: "small",
        ..Row::default()
    }
}

pub(crate) fn listens_to_all() -> Row {
    Row {
        hint: "127.0.0.1:{} is for programs on this machine; --allow-remote lets others in, too",
        config: HELLO,
        wrong: "jig mcp --http 0.0.0.0:0",
        right: "serves() { rm -f out; jig mcp \"$@\" > out 2>&1 & until grep 'serves at' out || ! kill -0 $!; do :; done; kill $!; cat out; }\n\
                serves --http «127.0.0.1:0»; serves --http 0.0.0.0:0 «--allow-remote»",
        works: "can try",
    }
}

pub(crate) fn port_in_use() -> Row {
    Row {
        hint: "another program may use this port; port 0 is any that is free",
        config: HELLO,
        wrong: "jig mcp --http 127.0.0.1:0 > out 2>&1 & until grep -q 'serves at' out || ! kill -0 $!; do :; done\n\
                jig mcp --http 127.0.0.1:$(sed -n 's,.*serves at http://127.0.0.1:\\([0-9]*\\)/.*,\\1,p' out); kill $!",
        right: "jig mcp --http 127.0.0.1:0 > out 2>&1 & until grep 'serves at' out || ! kill -0 $!; do :; done; kill $!",
        works: "serves at",
    }
}

pub(crate) fn token_of_others() -> Row {
    Row {
        hint: "chmod 600 {}",
        config: HELLO,
        wrong: "printf '%064d' 7 > 'the token'; chmod 644 'the token'; jig mcp --http 127.0.0.1:0 --token-file 'the token'",
        right: "eval \"$HINT\"; jig mcp --http 127.0.0.1:0 --token-file 'the token' > out 2>&1 & \
                until grep 'serves at' out || ! kill -0 $!; do :; done; kill $!",
        works: "serves at",
    }
}

pub(crate) fn home_as_workspace() -> Row {
    Row {
        hint: "go to a project, or name one with -C DIR; with -C this folder is used all the same",
        config: HELLO,
        wrong: "project=$PWD; cd; jig mcp",
        right: "project=$PWD; jig mcp && cd && jig «-C» \"$project\" mcp && jig -C . mcp && echo served",
        works: "served",
    }
}

pub(crate) fn no_mcp_server() -> Row {
    Row {
        hint: "an agent's client starts one (`jig setup`), or you do: `jig mcp`; `jig approve --all` looks in all workspaces",
        config: HELLO,
        wrong: "jig approve",
        right: SERVED,
        works: "nothing waits",
    }
}

pub(crate) fn no_mcp_server_anywhere() -> Row {
    Row {
        hint: "an agent's client starts one (`jig setup`), or you do: `jig mcp`",
        config: HELLO,
        wrong: "jig approve --all",
        right: SERVED,
        works: "nothing waits",
    }
}

pub(crate) fn no_such_server() -> Row {
    Row {
        hint: "`jig approve --all` lists the questions of all servers",
        config: HELLO,
        wrong: "jig approve --server 1",
        right: SERVED,
        works: "nothing waits",
    }
}

pub(crate) fn no_question_of_that_name() -> Row {
    Row {
        hint: "`jig approve` lists the questions that there are",
        config: HELLO,
        wrong: "mkfifo in; exec 9<>in; jig mcp <in >out 2>&1 & until jig approve 2>/dev/null || ! kill -0 $!; do :; done; jig approve q_7; kill $!",
        right: SERVED,
        works: "nothing waits",
    }
}

pub(crate) fn not_a_question() -> Row {
    Row {
        hint: "`jig approve` lists them",
        config: HELLO,
        wrong: "jig approve nonsense",
        right: SERVED,
        works: "nothing waits",
    }
}

pub(crate) fn watch_without_a_terminal() -> Row {
    Row {
        hint: "`jig approve --watch --json` is for programs",
        config: HELLO,
        wrong: "jig approve --watch",
        right: "mkfifo news; «jig approve --watch --json» > news 2>&1 & exec 8<news; kill -0 $!; kill $!",
        works: "",
    }
}

/// Somebody's server runs, and the questions of all are listed.
const SERVED: &str = "rm -f in; mkfifo in; exec 9<>in; jig mcp <in >out 2>&1 & \
                      until jig approve 2>/dev/null || ! kill -0 $!; do :; done; jig approve && jig approve --all; kill $!";

const DECLARED: &str = "printf '{ \"mcpServers\": { \"small\": { \"command\": \"cat\" } } }' > servers.json; jig import cursor";
