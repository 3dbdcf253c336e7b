//! Files of the workspace.

use super::{Mistake, Way};

pub(crate) fn unlisted_file() -> Mistake {
    Mistake {
        name: "a file that no rule covers",
        files: &[("src/main.c", ""), ("notes.txt", "buy milk\n")],
        config: "[[tools.check.access.fs]]\npath = \"src\"\nread = true\n",
        way: Way::Tool("cat notes.txt"),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn new_file() -> Mistake {
    Mistake {
        name: "a new file where only reading is allowed",
        config: READ_ONLY,
        way: Way::Tool("echo done > out.txt && cat out.txt"),
        works: "done",
        ..Mistake::default()
    }
}

pub(crate) fn new_folder() -> Mistake {
    Mistake {
        name: "a new folder where only reading is allowed",
        files: &[("src/main.c", "")],
        config: READ_ONLY,
        way: Way::Tool("mkdir -p build/out && echo made"),
        works: "made",
        ..Mistake::default()
    }
}

pub(crate) fn changed_file() -> Mistake {
    Mistake {
        name: "a change to a file that may only be read",
        files: &[("notes.txt", "buy milk\n")],
        config: READ_ONLY,
        way: Way::Tool("echo buy bread >> notes.txt && cat notes.txt"),
        works: "buy bread",
        ..Mistake::default()
    }
}

pub(crate) fn deleted_file() -> Mistake {
    Mistake {
        name: "a file that may not be deleted",
        files: &[("old/notes.txt", "buy milk\n")],
        config: READ_ONLY,
        way: Way::Tool("rm old/notes.txt && echo gone"),
        works: "gone",
        ..Mistake::default()
    }
}

pub(crate) fn renamed_file() -> Mistake {
    Mistake {
        name: "a file that may not be renamed",
        files: &[("docs/a.txt", "buy milk\n")],
        config: READ_ONLY,
        way: Way::Tool("mv docs/a.txt docs/b.txt && cat docs/b.txt"),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn script() -> Mistake {
    Mistake {
        name: "a script of the workspace, without `execute`",
        files: &[("tools/hello", "#!/bin/sh\necho hello\n")],
        config: READ_ONLY,
        way: Way::Tool("tools/hello"),
        works: "hello",
        ..Mistake::default()
    }
}

pub(crate) fn sensitive_file() -> Mistake {
    Mistake {
        name: "a sensitive file of the workspace",
        files: &[(".env", "TOKEN=secret\n")],
        way: Way::Tool("cat .env"),
        works: "TOKEN=",
        ..Mistake::default()
    }
}

pub(crate) fn configuration_of_git() -> Mistake {
    Mistake {
        name: "the configuration of the repository",
        files: &[
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", "[core]\n\tbare = false\n"),
            (".git/objects/info/.keep", ""),
            (".git/refs/heads/.keep", ""),
        ],
        way: Way::Tool("git config user.name Me && git config user.name"),
        works: "Me",
        ..Mistake::default()
    }
}

const READ_ONLY: &str = "[[tools.check.access.fs]]\npath = \".\"\nread = true\n";
