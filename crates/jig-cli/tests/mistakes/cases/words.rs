//! Words of a command line, and programs that do not start.

use super::{Mistake, Way};

pub(crate) fn not_executable() -> Mistake {
    Mistake {
        name: "a script that may not be run",
        setup: "printf '#!/bin/sh\\necho hello\\n' > hello",
        way: Way::Shell("jig run ./hello"),
        works: "hello",
        follows: "make it a program: chmod +x {}",
        ..Mistake::default()
    }
}

pub(crate) fn windows_lines() -> Mistake {
    Mistake {
        name: "a script with the lines of Windows",
        setup: "printf '#!/bin/sh\\r\\necho hello\\r\\n' > hello && chmod +x hello",
        way: Way::Shell("jig run ./hello"),
        works: "hello",
        follows: "its lines end with CRLF, as on Windows; take the CR away: sed -i 's/\\r$//' {}",
        ..Mistake::default()
    }
}

pub(crate) fn no_first_line() -> Mistake {
    Mistake {
        name: "a script that does not say what runs it",
        setup: "echo 'echo hello' > hello && chmod +x hello",
        way: Way::Shell("jig run ./hello"),
        works: "hello",
        follows: "a script says in its first line what runs it: sed -i '1i #!/bin/sh' {}",
        ..Mistake::default()
    }
}

pub(crate) fn tool_not_executable() -> Mistake {
    Mistake {
        name: "a tool that may not be run",
        setup: "printf '#!/bin/sh\\necho hello\\n' > hello",
        config: SCRIPT,
        way: Way::Shell("jig call check"),
        works: "hello",
        follows: "make it a program: chmod +x {}",
        ..Mistake::default()
    }
}

pub(crate) fn tool_windows_lines() -> Mistake {
    Mistake {
        name: "a tool with the lines of Windows",
        setup: "printf '#!/bin/sh\\r\\necho hello\\r\\n' > hello && chmod +x hello",
        config: SCRIPT,
        way: Way::Shell("jig call check"),
        works: "hello",
        follows: "its lines end with CRLF, as on Windows; take the CR away: sed -i 's/\\r$//' {}",
        ..Mistake::default()
    }
}

pub(crate) fn served_or_started() -> Mistake {
    Mistake {
        name: "`jig proxy --stdio` with a command",
        way: Way::Shell("jig proxy --stdio -- true && echo done"),
        works: "done",
        follows: "leave one of them out: without --stdio the command is started, and asks over descriptor 3",
        ..Mistake::default()
    }
}

pub(crate) fn one_word() -> Mistake {
    Mistake {
        name: "a command in quotes",
        files: &[("notes.txt", "buy milk\n")],
        way: Way::Shell("jig run 'cat notes.txt'"),
        works: "buy milk",
        follows: "the words of a command are written apart, without quotes: {shown}",
        ..Mistake::default()
    }
}

pub(crate) fn shell_line() -> Mistake {
    Mistake {
        name: "a line of a shell in quotes",
        files: &[("notes.txt", "buy milk\n")],
        way: Way::Shell("jig run 'cat notes.txt | cat'"),
        works: "buy milk",
        follows: "no shell reads the command; have one read it: {line}",
        ..Mistake::default()
    }
}

pub(crate) fn unknown_option() -> Mistake {
    Mistake {
        name: "an option that does not exist",
        files: &[("notes.txt", "buy milk\n")],
        way: Way::Shell("jig run --raed notes.txt cat notes.txt"),
        works: "buy milk",
        follows: "did you mean `{near}`? `{ours} --help` lists the options; the command comes after `--`",
        ..Mistake::default()
    }
}

pub(crate) fn tool_name() -> Mistake {
    Mistake {
        name: "a mistyped name of a tool",
        config: HELLO,
        way: Way::Shell("jig call chekc"),
        works: "hello",
        follows: "did you mean `{other}`? `jig tools` lists all",
        ..Mistake::default()
    }
}

pub(crate) fn folder_of_configuration() -> Mistake {
    Mistake {
        name: "a `jig.toml` in a folder below",
        files: &[("app/jig.toml", HELLO)],
        way: Way::Shell("jig call check"),
        works: "hello",
        ..Mistake::default()
    }
}

pub(crate) fn missing_argument() -> Mistake {
    Mistake {
        name: "a call without an argument that is required",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"echo {{tool.arguments.name}}\"\n\
                 run = \"unattended\"\nparameters.name = { type = \"string\", required = true }\n",
        way: Way::Shell("jig call check"),
        works: "Ada",
        follows: "add {}; `jig tools {}` lists the parameters",
        fills: &[("…", "Ada")],
        ..Mistake::default()
    }
}

pub(crate) fn nobody_to_ask() -> Mistake {
    Mistake {
        name: "a tool that asks first, where nobody can be asked",
        config: "[tools.check]\nsource = \"local\"\ncommand = \"echo hello\"\n",
        way: Way::Shell("jig call check"),
        works: "hello",
        follows: "call it with --yes, or set tools.{name}.run = \"unattended\"",
        ..Mistake::default()
    }
}

pub(crate) fn not_stateful() -> Mistake {
    Mistake {
        name: "a tool that is spawned, and is not stateful",
        config: HELLO,
        way: Way::Shell("jig spawn check && jig abort --all"),
        works: "hello",
        follows: "call it, or set `stateful = true` for it",
        ..Mistake::default()
    }
}

pub(crate) fn moment() -> Mistake {
    Mistake {
        name: "a moment that is none",
        config: HELLO,
        way: Way::Shell("jig log --since yesterday"),
        works: "",
        follows: "write how long ago: 10m, 2h, 3d; or a time in UTC: 2026-11-15, 2026-11-15T09:30:00Z",
        ..Mistake::default()
    }
}

pub(crate) fn bare_number() -> Mistake {
    Mistake {
        name: "a time without its unit",
        config: HELLO,
        way: Way::Shell("jig log --since 10"),
        works: "",
        follows: "write `{text}s`, `{text}m`, `{text}h` or `{text}d`",
        ..Mistake::default()
    }
}

pub(crate) fn server_name() -> Mistake {
    Mistake {
        name: "a mistyped name of a server",
        config: "[mcp.servers.notes]\ncommand = \"cat\"\n",
        way: Way::Shell("jig servers noets"),
        works: "notes",
        follows: "did you mean `{other}`? `jig servers` lists all",
        ..Mistake::default()
    }
}

pub(crate) fn folder_of_output() -> Mistake {
    Mistake {
        name: "`jig proxy`: a file to be made in a folder that does not exist",
        way: Way::Shell("jig proxy -o out/made.txt -- true && echo done"),
        works: "done",
        follows: "make it first: mkdir -p {folder}",
        ..Mistake::default()
    }
}

pub(crate) fn rules_of_many() -> Mistake {
    Mistake {
        name: "`jig proxy`: a policy with several tools",
        files: &[(
            "../policy.toml",
            "[tools.one]\nsource = \"local\"\ncommand = \"true\"\naccess.fs = [{ path = \".\", read = true }]\n\
             [tools.two]\nsource = \"local\"\ncommand = \"true\"\naccess.fs = [{ path = \".\", read = true }]\n",
        )],
        way: Way::Shell("jig proxy --policy {beside}/policy.toml -- true && echo done"),
        works: "done",
        follows: "name the one whose rules apply: --tool {}",
        ..Mistake::default()
    }
}

pub(crate) fn topic_name() -> Mistake {
    Mistake {
        name: "a mistyped topic",
        files: &[("docs/rust/style.md", "# Style\n\nuse rustfmt\n")],
        config: "[kb.topic.rust]\nsubjects = \"docs/rust\"\n",
        way: Way::Shell("jig call --yes learn topic=rsut"),
        works: "style",
        follows: "did you mean `{meant}`?",
        ..Mistake::default()
    }
}

pub(crate) fn background() -> Mistake {
    Mistake {
        name: "a process that goes to the background",
        files: &[
            (
                "tool.sh",
                "/usr/bin/python3 later.py > /dev/null 2>&1 &\n\
                 until grep -q python3 /proc/$!/comm; do :; done\n",
            ),
            (
                "later.py",
                "import time\ntime.sleep(2)\nopen('made.txt', 'w').write('finished')\n",
            ),
        ],
        setup: "/usr/bin/python3 --version",
        config: SH,
        way: Way::Shell("jig call check && cat made.txt"),
        works: "finished",
        follows: "to wait for {it}, end the script with `wait`{longer}",
        ..Mistake::default()
    }
}

pub(crate) fn empty_input() -> Mistake {
    Mistake {
        name: "a program that waits for input",
        files: &[
            ("tool.sh", "/usr/bin/python3 ask.py\n"),
            ("ask.py", "print('hello', input('Name: '))\n"),
        ],
        setup: "/usr/bin/python3 --version",
        config: SH,
        way: Way::Shell("jig call check"),
        works: "hello Ada",
        follows: "to answer it, set `stateful = true` for it, spawn it and send it input; where the answer is known, write it into the command: echo INPUT | PROGRAM",
        fills: &[("INPUT", "Ada")],
        ..Mistake::default()
    }
}

/// A tool that does one thing.
const HELLO: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"echo hello\"\nrun = \"unattended\"\n";

/// A tool that is a script of the workspace.
const SCRIPT: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"./hello\"\nrun = \"unattended\"\n";

/// A tool whose script no kernel has to start.
const SH: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"sh tool.sh\"\nrun = \"unattended\"\n";
