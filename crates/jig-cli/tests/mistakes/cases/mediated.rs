//! Tools that ask jig for what they need, and jig's own.

use super::{Mistake, Way};

pub(crate) fn asked_read() -> Mistake {
    Mistake {
        name: "a mediated tool: a file that no rule covers",
        files: &[("src/main.c", ""), ("notes.txt", "buy milk\n")],
        config: "[[tools.check.access.fs]]\npath = \"src\"\nread = true\n\n\
                 [[tools.check.access.fs]]\npath = \"tool.py\"\nread = true\n",
        way: Way::Asks("fs.read", r#"{"path": "notes.txt"}"#),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn asked_write() -> Mistake {
    Mistake {
        name: "a mediated tool: a new file",
        way: Way::Asks("fs.write", r#"{"path": "out.txt", "content": "done"}"#),
        works: "got",
        ..Mistake::default()
    }
}

pub(crate) fn asked_url() -> Mistake {
    Mistake {
        name: "a mediated tool: a URL",
        config: "[[tools.check.access.net]]\nhost = \"127.0.0.1\"\nport = {port}\nallow = true\n",
        way: Way::Asks("http.get", r#"{"url": "http://api.test:{port}/hello"}"#),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn asked_program() -> Mistake {
    Mistake {
        name: "a mediated tool: a program",
        way: Way::Asks(
            "process.run",
            r#"{"program": "echo", "args": ["good morning"]}"#,
        ),
        works: "good morning",
        ..Mistake::default()
    }
}

pub(crate) fn asked_arguments() -> Mistake {
    Mistake {
        name: "a mediated tool: a program with other arguments",
        config: "[tools.check.access.commands.echo]\nargs = [[\"hello\"]]\n",
        way: Way::Asks(
            "process.run",
            r#"{"program": "echo", "args": ["good morning"]}"#,
        ),
        works: "good morning",
        ..Mistake::default()
    }
}

pub(crate) fn builtin_create() -> Mistake {
    Mistake {
        name: "a tool of jig: a new file where only reading is allowed",
        config: "[[tools.fs_create_file.access.fs]]\npath = \".\"\nread = true\n",
        way: Way::Builtin("fs_create_file path=out.txt content=done"),
        works: "",
        ..Mistake::default()
    }
}

pub(crate) fn builtin_read() -> Mistake {
    Mistake {
        name: "a tool of jig: a sensitive file",
        files: &[(".env", "TOKEN=secret\n")],
        way: Way::Builtin("fs_read_file path=.env"),
        works: "TOKEN=",
        ..Mistake::default()
    }
}
