//! `jig run`, which has flags in the place of rules.

use super::{Listens, Mistake, Way};

pub(crate) fn run_home() -> Mistake {
    Mistake {
        name: "`jig run`: a file of the home directory",
        files: &[("~/notes.txt", "buy milk\n")],
        way: Way::Run("sh -c 'cat ~/notes.txt'"),
        works: "buy milk",
        ..Mistake::default()
    }
}

pub(crate) fn run_write() -> Mistake {
    Mistake {
        name: "`jig run`: a file elsewhere that is written to",
        files: &[("../cache/index", "1\n")],
        way: Way::Run("sh -c 'echo 2 > {beside}/cache/index && cat {beside}/cache/index'"),
        works: "2",
        ..Mistake::default()
    }
}

pub(crate) fn run_sensitive() -> Mistake {
    Mistake {
        name: "`jig run`: a sensitive file",
        files: &[(".env", "TOKEN=secret\n")],
        way: Way::Run("cat .env"),
        works: "TOKEN=",
        ..Mistake::default()
    }
}

pub(crate) fn run_service() -> Mistake {
    Mistake {
        name: "`jig run`: a service of the machine itself",
        way: Way::Run("curl -sS --fail http://localhost:{port}/hello"),
        works: "GET /hello",
        ..Mistake::default()
    }
}

pub(crate) fn run_server() -> Mistake {
    Mistake {
        name: "`jig run`: a server that nobody can reach",
        files: &[("notes.txt", "buy milk\n")],
        way: Way::Run("timeout 5 /usr/bin/python3 -m http.server 8123"),
        works: "buy milk",
        follows: "to serve your browser, start it without jig; to serve a program, start both in one command: sh -c 'SERVER & CLIENT'",
        fills: &[(
            "CLIENT",
            "curl -sS --retry 9 --retry-connrefused --retry-delay 1 http://127.0.0.1:8123/notes.txt",
        )],
        ..Mistake::default()
    }
}

pub(crate) fn run_toolchain() -> Mistake {
    Mistake {
        name: "`jig run`: a toolchain in the home directory",
        files: &[("~/.cargo/bin/cargo", "#!/bin/sh\necho cargo 1.0\n")],
        way: Way::Run("sh -c 'cargo --version'"),
        works: "cargo 1.0",
        ..Mistake::default()
    }
}

pub(crate) fn run_memory() -> Mistake {
    Mistake {
        name: "`jig run`: more memory than is allowed",
        way: Way::Run(
            "--memory 64MiB /usr/bin/python3 -c 'import time; x = b\"x\" * (80 << 20); time.sleep(3); print(len(x))'",
        ),
        works: "83886080",
        ..Mistake::default()
    }
}

pub(crate) fn run_key() -> Mistake {
    Mistake {
        name: "`jig run`: a key of the user",
        files: &[("~/.ssh/id_deploy", "secret\n")],
        way: Way::Run("sh -c 'cat ~/.ssh/id_deploy'"),
        works: "secret",
        ..Mistake::default()
    }
}

pub(crate) fn run_program() -> Mistake {
    Mistake {
        name: "`jig run`: a program of the user's own",
        files: &[("~/bin/greet", "#!/bin/sh\necho good morning\n")],
        way: Way::Run("sh -c greet"),
        works: "good morning",
        ..Mistake::default()
    }
}

pub(crate) fn run_host() -> Mistake {
    Mistake {
        name: "`jig run`: a host",
        way: Way::Run("--net {address} curl -sS --fail http://api.test/hello"),
        works: "GET /hello",
        server: Listens::WebPort,
        ..Mistake::default()
    }
}

/// A flag that is there already is not offered again.
pub(crate) fn run_second_file() -> Mistake {
    Mistake {
        name: "`jig run`: one more file of the home directory",
        files: &[("~/one.txt", "buy milk\n"), ("~/two.txt", "buy bread\n")],
        way: Way::Run("--read ~/one.txt sh -c 'cat ~/one.txt ~/two.txt'"),
        works: "buy bread",
        ..Mistake::default()
    }
}

/// A flag is meant from where jig is called.
pub(crate) fn run_in_folder() -> Mistake {
    Mistake {
        name: "`jig run` in a folder of the workspace",
        files: &[(".env", "TOKEN=secret\n"), ("src/main.c", "")],
        way: Way::Shell("cd src && jig run cat ../.env"),
        works: "TOKEN=",
        ..Mistake::default()
    }
}

/// Five files are not the whole workspace.
pub(crate) fn run_top_files() -> Mistake {
    Mistake {
        name: "`jig run`: files at the top of the workspace",
        files: &[
            ("a.txt", "a\n"),
            ("b.txt", "b\n"),
            ("c.txt", "c\n"),
            ("d.txt", "d\n"),
            ("e.txt", "five\n"),
            ("src/main.c", ""),
        ],
        way: Way::Run("--read src cat a.txt b.txt c.txt d.txt e.txt"),
        works: "five",
        ..Mistake::default()
    }
}

pub(crate) fn run_link() -> Mistake {
    Mistake {
        name: "`jig run` where a link leads to the workspace",
        files: &[(".env", "TOKEN=secret\n"), ("notes.txt", "buy milk\n")],
        setup: "ln -s \"$PWD\" {beside}/link",
        way: Way::Shell("cd {beside}/link && jig run cat $PWD/notes.txt $PWD/.env"),
        works: "buy milk\nTOKEN=",
        ..Mistake::default()
    }
}

pub(crate) fn run_submodule() -> Mistake {
    Mistake {
        name: "`jig run`: the configuration of a submodule",
        setup: SUBMODULE,
        way: Way::Shell(
            "cd module && jig run --root . git config user.name Me && git config user.name",
        ),
        works: "Me",
        ..Mistake::default()
    }
}

pub(crate) fn run_worktree() -> Mistake {
    Mistake {
        name: "`jig run`: the configuration of the repository, in a worktree",
        setup: WORKTREE,
        way: Way::Shell(
            "cd {beside}/tree && jig run --root . git config user.name Me && git config user.name",
        ),
        works: "Me",
        ..Mistake::default()
    }
}

pub(crate) fn run_around_submodule() -> Mistake {
    Mistake {
        name: "`jig run`: git in a submodule, from the repository around",
        setup: SUBMODULE,
        way: Way::Shell("cd module && jig run --root .. git add new.txt && git status --short"),
        works: "A  new.txt",
        ..Mistake::default()
    }
}

pub(crate) fn run_new_folder() -> Mistake {
    Mistake {
        name: "`jig run`: a folder that does not exist yet",
        way: Way::Run(
            "--write {beside}/out sh -c 'echo done > {beside}/out/a && cat {beside}/out/a'",
        ),
        works: "done",
        follows: "make it first: mkdir -p {folder}",
        ..Mistake::default()
    }
}

pub(crate) fn run_time() -> Mistake {
    Mistake {
        name: "`jig run`: more time than is allowed",
        way: Way::Run("--time 3s sh -c 'sleep 4; echo awake'"),
        works: "awake",
        ..Mistake::default()
    }
}

pub(crate) fn run_file_size() -> Mistake {
    Mistake {
        name: "`jig run`: a larger file than is allowed",
        way: Way::Run("--file-size 1MiB sh -c 'head -c 1500000 /dev/zero > big && echo written'"),
        works: "written",
        ..Mistake::default()
    }
}

pub(crate) fn run_as_tool() -> Mistake {
    Mistake {
        name: "`jig run --policy`: a file that no rule of the tool covers",
        files: &[("src/main.c", ""), ("notes.txt", "buy milk\n")],
        config: "[tools.check]\nsource = \"local\"\ncommand = \"true\"\n\n\
                 [[tools.check.access.fs]]\npath = \"src\"\nread = true\n",
        way: Way::Run("--policy check cat notes.txt"),
        works: "buy milk",
        ..Mistake::default()
    }
}

/// A repository whose submodule has a new file.
const SUBMODULE: &str = "\
    git config --global user.name A && git config --global user.email a@b.test\n\
    git config --global protocol.file.allow always\n\
    git init -q {beside}/module && git -C {beside}/module commit -q --allow-empty -m start\n\
    git init -q . && git submodule --quiet add {beside}/module module\n\
    echo new > module/new.txt";

/// A repository with a worktree elsewhere.
const WORKTREE: &str = "\
    git config --global user.name A && git config --global user.email a@b.test\n\
    git init -q {beside}/main && git -C {beside}/main commit -q --allow-empty -m start\n\
    git -C {beside}/main worktree add -q {beside}/tree 2> /dev/null";
