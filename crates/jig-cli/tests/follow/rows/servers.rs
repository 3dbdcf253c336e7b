//! MCP servers behind jig. One that `jig.toml` declares waits for a person; one of the user's own does not.

use crate::Row;

pub(crate) fn waits_to_be_accepted() -> Row {
    Row {
        hint: "a file of this workspace declares `{name}`, which is not started before you accept it: `jig servers accept {name}`",
        config: SMALL,
        wrong: "jig servers",
        right: "«jig servers accept small» --yes >/dev/null && jig servers",
        works: "ready",
    }
}

pub(crate) fn call_of_one_that_waits() -> Row {
    Row {
        hint: "`jig servers accept {name}` shows what it may do, and asks",
        config: SMALL,
        wrong: "jig call --yes small_echo text=hello",
        right: "«jig servers accept small» --yes >/dev/null && jig call --yes small_echo text=hello",
        works: "hello",
    }
}

pub(crate) fn accepted_without_a_terminal() -> Row {
    Row {
        hint: "`jig servers accept {} --yes` accepts what was shown",
        config: SMALL,
        wrong: "jig servers accept small",
        right: "«jig servers accept small --yes» >/dev/null && jig servers",
        works: "ready",
    }
}

pub(crate) fn asks_before_it_runs() -> Row {
    Row {
        hint: "call it with --yes, or set mcp.servers.{server}.run = \"unattended\"; for this tool alone, `run` beside source = \"mcp.{server}.{at}\" in a table [tools.NAME]",
        wrong: OWN,
        right: "set -e\njig call «--yes» small_echo text=hello\n\
                printf '[tools.alone]\\n«source = \"mcp.small.echo\"»\\nrun = \"unattended\"\\n' >> ~/.config/jig/config.toml\n\
                jig call alone text=hello\n\
                sed -i '/^command/a run = \"unattended\"' ~/.config/jig/config.toml\n\
                jig call small_pid",
        works: "hello\nhello",
        ..Row::default()
    }
}

pub(crate) fn not_asked_yet() -> Row {
    Row {
        hint: "`{name}` was not asked yet: `jig servers refresh {name}` starts it and tells",
        wrong: OWN_SHOWN,
        right: "«jig servers refresh small» && jig servers small",
        works: "ready",
        ..Row::default()
    }
}

pub(crate) fn hidden_tool() -> Row {
    Row {
        hint: "`tools` and `hide` in `[mcp.servers.{name}]` say which are offered",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\nhide = [\"echo\"]\nend\n\
                jig servers refresh small; jig call --yes small_echo text=hello",
        right: "sed -i '/^«hide»/d' ~/.config/jig/config.toml; jig call --yes small_echo text=hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn renamed_tool() -> Row {
    Row {
        hint: "call `{}`",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\n[tools.again]\nsource = \"mcp.small.echo\"\nend\n\
                jig servers refresh small; jig call --yes small_echo text=hello",
        right: "jig call --yes «again» text=hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn server_elsewhere() -> Row {
    Row {
        hint: "`jig servers {}` shows how it is reached",
        wrong: "mkdir -p ~/.config/jig; printf '[mcp.servers.far]\\nurl = \"https://far.test/mcp\"\\n' > ~/.config/jig/config.toml\n\
                jig policy explain far read notes.txt",
        right: "«jig servers far»",
        works: "https://far.test/mcp",
        ..Row::default()
    }
}

pub(crate) fn no_server_at_all() -> Row {
    Row {
        hint: "it would be declared by `[mcp.servers.{}]`; none is",
        wrong: "jig servers small",
        right: "printf '«[mcp.servers.small]»\\ncommand = [\"python3\", \"server.py\"]\\n' > jig.toml; jig servers small",
        works: "small",
        ..Row::default()
    }
}

pub(crate) fn unknown_server() -> Row {
    Row {
        hint: "there is {}",
        config: SMALL,
        wrong: "jig servers other",
        right: "jig servers «small»",
        works: "python3 server.py",
    }
}

pub(crate) fn mistyped_tool_of_a_server() -> Row {
    Row {
        hint: "did you mean `{other}`? `jig servers {name}` lists all",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\n[tools.again]\nsource = \"mcp.small.ecko\"\nend\n\
                jig servers refresh small; jig call --yes again text=hello",
        right: "sed -i 's/ecko/«echo»/' ~/.config/jig/config.toml; jig call --yes again text=hello; «jig servers small»",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn unknown_tool_of_a_server() -> Row {
    Row {
        hint: "`jig servers {name}` lists those that it has",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\n[tools.again]\nsource = \"mcp.small.something_else\"\nend\n\
                jig servers refresh small; jig call --yes again text=hello",
        right: "«jig servers small» | grep -w echo && sed -i 's/something_else/echo/' ~/.config/jig/config.toml && jig call --yes again text=hello",
        works: "hello",
        ..Row::default()
    }
}

pub(crate) fn program_of_a_server() -> Row {
    Row {
        hint: "install it, or write its whole path in `command`",
        wrong: "mkdir -p ~/.config/jig programs; cp /bin/cat programs/none; printf '#!/bin/sh\\nexec python3 server.py\\n' > programs/serves\n\
                chmod +x programs/serves; printf '[mcp.servers.small]\\ncommand = [\"serves\"]\\n' > ~/.config/jig/config.toml\n\
                jig servers refresh small",
        right: "sed -i \"s,serves,$PWD/programs/serves,\" ~/.config/jig/config.toml; jig servers refresh small",
        works: "ready",
        ..Row::default()
    }
}

pub(crate) fn variable_of_a_server() -> Row {
    Row {
        hint: "set it in the environment in which jig, or the agent that starts jig, runs, or give a default: `${{{name}:-…}}`",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<'end'\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\nenv = { WHO = \"${THE_USER}\" }\nend\n\
                jig servers refresh small",
        right: "set -e\nTHE_USER=me jig servers refresh small\n\
                sed -i 's/${THE_USER}/«${THE_USER:-»nobody}/' ~/.config/jig/config.toml\njig servers refresh small\n\
                jig call --yes small_variable name=WHO",
        works: "nobody",
        ..Row::default()
    }
}

pub(crate) fn slow_call() -> Row {
    Row {
        hint: "if it needs more time, set `time` in `[mcp.servers.{name}]`",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"python3\", \"server.py\"]\ntime = \"1s\"\nend\n\
                jig call --yes small_wait path=go",
        right: "touch go; sed -i 's/^«time» = .*/time = \"5m\"/' ~/.config/jig/config.toml; jig call --yes small_wait path=go",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn slow_start() -> Row {
    Row {
        hint: "if it needs more time, set `start` in `[mcp.servers.{name}]`",
        wrong: "mkdir -p ~/.config/jig; cat > ~/.config/jig/config.toml <<end\n[mcp.servers.small]\n\
                command = [\"sh\", \"-c\", \"until [ -e go ]; do :; done; exec python3 server.py\"]\nstart = \"1s\"\nend\n\
                jig servers refresh small",
        right: "touch go; sed -i 's/^«start» = .*/start = \"5m\"/' ~/.config/jig/config.toml; jig servers refresh small",
        works: "ready",
        ..Row::default()
    }
}

const SMALL: &str = "[mcp.servers.small]\ncommand = [\"python3\", \"server.py\"]\n";

/// The user's own server, and a call.
const OWN: &str = "mkdir -p ~/.config/jig; printf '[mcp.servers.small]\\ncommand = [\"python3\", \"server.py\"]\\n' \
                   > ~/.config/jig/config.toml; jig servers refresh small; jig call small_echo text=hello";

/// The user's own server, looked at.
const OWN_SHOWN: &str = "mkdir -p ~/.config/jig; printf '[mcp.servers.small]\\ncommand = [\"python3\", \"server.py\"]\\n' \
                         > ~/.config/jig/config.toml; jig servers small";
