//! A guest gets what the policy decides, path by path (X-19).

use std::sync::Arc;

use jig_files::FilesLookup;
use jig_policy::{Capability, DefaultAccess, Guards, MovedEntry, Policy, ResolvedPath, Workspace};
use serde_json::{Value, json};

use crate::common::{On, Tried, access, project_path};
use crate::fs::{answers, check, hostile};

/// Sets of rules: a deny inside an allow, an allow inside a deny, each capability apart, none at all.
const RULES: [&str; 12] = [
    "",
    "fs = [{ path = '.', read = true }]",
    "fs = [{ path = '.', read = true, write = true }]",
    "fs = [{ path = '.', create = true }]",
    "fs = [{ path = '.', update = true }]",
    "fs = [{ path = '.', delete = true }]",
    "fs = [{ path = '.', read = true, create = true, update = true }]",
    "fs = [{ path = '.', read = true, write = true }, { path = 'a' }]",
    "fs = [{ path = '.' }, { path = 'a/b', read = true, write = true }]",
    "fs = [{ path = 'a', read = true, write = true }, { path = 'a/b' }, { path = 'a/b/c', read = true }]",
    "fs = [{ path = 'a', write = true, delete = false }, { path = 'a/b', read = true, delete = true }]",
    "fs = [{ path = 'a/b/c', read = true, update = true }]",
];

/// Directories, each of which has a file for every operation. Guards hold some of them.
const DIRECTORIES: [&str; 7] = ["top", "a", "a/b", "a/b/c", "ab", ".git", ".jig"];

/// An operation on `NAME.txt` of a directory, and what it takes.
struct Operation {
    name: &'static str,
    step: fn(&str) -> Value,
    takes: fn(&Policy, &str) -> bool,
}

fn may(policy: &Policy, capability: Capability, path: &str) -> bool {
    let path = ResolvedPath::from_handle(project_path(path));
    policy.decide_fs(capability, &path).is_allowed()
}

fn may_move(policy: &Policy, from: &str, to: &str, directory: bool) -> bool {
    let resolved = |path: &str| ResolvedPath::from_handle(project_path(path));
    let entry = match directory {
        true => MovedEntry::Directory,
        false => MovedEntry::File,
    };
    let decision = policy.decide_move(&resolved(from), &resolved(to), entry);
    decision.is_allowed()
}

const OPERATIONS: [Operation; 16] = [
    Operation {
        name: "read",
        step: |at| json!(["read", format!("{at}/read.txt")]),
        takes: |policy, at| may(policy, Capability::Read, &format!("{at}/read.txt")),
    },
    Operation {
        name: "stat",
        step: |at| json!(["stat", format!("{at}/stat.txt")]),
        takes: |policy, at| may(policy, Capability::Read, &format!("{at}/stat.txt")),
    },
    Operation {
        name: "list",
        step: |at| json!(["list", at]),
        takes: |policy, at| may(policy, Capability::Read, at),
    },
    Operation {
        name: "patch",
        step: |at| json!(["patch", format!("{at}/patch.txt"), 0, "x"]),
        takes: |policy, at| may(policy, Capability::Update, &format!("{at}/patch.txt")),
    },
    Operation {
        name: "append",
        step: |at| json!(["append", format!("{at}/append.txt"), "x"]),
        takes: |policy, at| may(policy, Capability::Update, &format!("{at}/append.txt")),
    },
    // To empty a file is to change it.
    Operation {
        name: "truncate",
        step: |at| json!(["open", format!("{at}/truncate.txt"), "wt", ""]),
        takes: |policy, at| may(policy, Capability::Update, &format!("{at}/truncate.txt")),
    },
    Operation {
        name: "set_len",
        step: |at| json!(["set_len", format!("{at}/set_len.txt"), 1]),
        takes: |policy, at| may(policy, Capability::Update, &format!("{at}/set_len.txt")),
    },
    // What is created only if it is missing, and is not missing, is changed.
    Operation {
        name: "create",
        step: |at| json!(["open", format!("{at}/create.txt"), "wc", "x"]),
        takes: |policy, at| may(policy, Capability::Update, &format!("{at}/create.txt")),
    },
    Operation {
        name: "both",
        step: |at| json!(["open", format!("{at}/both.txt"), "rw", "x"]),
        takes: |policy, at| {
            let path = format!("{at}/both.txt");
            may(policy, Capability::Read, &path) && may(policy, Capability::Update, &path)
        },
    },
    Operation {
        name: "new",
        step: |at| json!(["open", format!("{at}/missing.txt"), "wc", "x"]),
        takes: |policy, at| may(policy, Capability::Create, &format!("{at}/missing.txt")),
    },
    Operation {
        name: "exclusive",
        step: |at| json!(["open", format!("{at}/missing2.txt"), "wn", "x"]),
        takes: |policy, at| may(policy, Capability::Create, &format!("{at}/missing2.txt")),
    },
    Operation {
        name: "mkdir",
        step: |at| json!(["mkdir", format!("{at}/made")]),
        takes: |policy, at| may(policy, Capability::Create, &format!("{at}/made")),
    },
    Operation {
        name: "remove",
        step: |at| json!(["remove", format!("{at}/remove.txt")]),
        takes: |policy, at| may(policy, Capability::Delete, &format!("{at}/remove.txt")),
    },
    Operation {
        name: "rmdir",
        step: |at| json!(["rmdir", format!("{at}/empty")]),
        takes: |policy, at| may(policy, Capability::Delete, &format!("{at}/empty")),
    },
    Operation {
        name: "away",
        step: |at| {
            json!([
                "rename",
                format!("{at}/away.txt"),
                format!("mine-{}", flat(at))
            ])
        },
        takes: |policy, at| {
            may_move(
                policy,
                &format!("{at}/away.txt"),
                &format!("mine-{}", flat(at)),
                false,
            )
        },
    },
    Operation {
        name: "over",
        step: |at| {
            json!([
                "rename",
                format!("own-{}", flat(at)),
                format!("{at}/over.txt")
            ])
        },
        takes: |policy, at| {
            may_move(
                policy,
                &format!("own-{}", flat(at)),
                &format!("{at}/over.txt"),
                false,
            )
        },
    },
];

fn flat(path: &str) -> String {
    path.replace('/', "-")
}

fn workspace(on: On, rules: &str) -> Tried {
    let mut tried = hostile(on).rules(rules);
    for at in DIRECTORIES {
        for operation in OPERATIONS {
            tried = tried.file(&format!("{at}/{}.txt", operation.name), "content");
        }
        tried = tried.file(&format!("own-{}", flat(at)), "own");
        let files = tried.files();
        let empty = files.locate(&project_path(&format!("{at}/empty")));
        files.make_dir(&empty.unwrap(), true).unwrap();
    }
    tried
}

#[test]
fn x19_a_guest_may_do_what_the_policy_allows_and_nothing_else() {
    for rules in RULES {
        for on in On::ALL {
            let tried = workspace(on, rules);
            let policy = {
                let files = tried.files();
                let lookup = FilesLookup(Arc::clone(&files));
                let workspace = Workspace::new(files.display_root(), lookup);
                let (access, guards) = (access(rules), Guards::of_workspace());
                Policy::compile(&access, DefaultAccess::WASM, &guards, &workspace).unwrap()
            };
            let cases = || {
                let pairs = DIRECTORIES.into_iter().flat_map(|at| {
                    let all = OPERATIONS.into_iter();
                    all.map(move |operation| (at, operation))
                });
                pairs.collect::<Vec<_>>()
            };
            let steps: Value = cases().iter().map(|(at, one)| (one.step)(at)).collect();
            let (answers, _done) = answers(tried, &steps);
            for ((at, operation), answer) in cases().iter().zip(answers) {
                let allowed = (operation.takes)(&policy, at);
                let denied = answer == "error: PermissionDenied";
                let what = format!("{on:?} {} in {at} by {rules}: {answer}", operation.name);
                assert_eq!(denied, !allowed, "{what}");
                // What is allowed is done, so that it is not for another reason that it was not denied.
                assert!(denied || !answer.starts_with("error"), "{what}");
            }
        }
    }
}

#[test]
fn what_is_denied_stays_as_it_is() {
    for on in On::ALL {
        let tried = hostile(on)
            .file("open/a.txt", "a")
            .file("closed/key.txt", "key")
            .rules("fs = [{ path = '.', read = true, write = true }, { path = 'closed' }]");
        let denied = "error: PermissionDenied";
        let done = check(
            tried,
            &[
                (json!(["rename", "open/a.txt", "closed/key.txt"]), denied),
                (json!(["rename", "closed/key.txt", "open/key.txt"]), denied),
                // With the directory would go what is in it.
                (json!(["rename", "closed", "mine"]), denied),
                (json!(["rename", "open", "closed"]), denied),
                (json!(["rmtree", "closed"]), denied),
                (json!(["copy", "closed/key.txt", "open/key.txt"]), denied),
                (json!(["copy", "open/a.txt", "closed/key.txt"]), denied),
                (json!(["open", "closed/key.txt", "wct", ""]), denied),
                (json!(["open", "closed/key.txt", "wn", ""]), denied),
                (json!(["exists", "closed/key.txt"]), denied),
                (json!(["exists", "closed/none.txt"]), denied),
                (json!(["list", "closed"]), denied),
                (json!(["list", "."]), "open/"),
                (json!(["read", "open/a.txt"]), "a"),
            ],
        );
        assert_eq!(done.read("closed/key.txt").unwrap(), b"key");
        assert_eq!(done.read("open/a.txt").unwrap(), b"a");
    }
}

#[test]
fn a_listing_shows_what_may_be_read() {
    for on in On::ALL {
        let tried = hostile(on)
            .file("a/one.txt", "")
            .file("a/two.txt", "")
            .file("a/.env", "")
            .file("a/sub/three.txt", "")
            .file("b/four.txt", "")
            .link("a/to-b", "../b/four.txt")
            .rules("fs = [{ path = 'a', read = true }, { path = 'a/two.txt' }]");
        check(
            tried,
            &[
                (json!(["list", "a"]), "one.txt sub/"),
                (json!(["list", "a/sub"]), "three.txt"),
                (json!(["list", "b"]), "error: PermissionDenied"),
            ],
        );
    }
}

#[test]
fn whoever_is_asked_decides_about_an_opening() {
    for on in On::ALL {
        let tried = || {
            hostile(on)
                .file("a/one.txt", "one")
                .file("b/two.txt", "two")
                .rules("fs = [{ path = 'a', read = true }]")
        };
        let read = |path: &str| json!({"action": "fs", "steps": [["read", path]]});
        let done = tried().arguments(read("b/two.txt")).answer("once").run();
        assert_eq!(done.text(), r#"["two"]"#);
        assert_eq!(done.asked.len(), 1, "{:?}", done.asked);
        let done = tried().arguments(read("b/two.txt")).run();
        assert_eq!(done.text(), r#"["error: PermissionDenied"]"#);
        assert_eq!(done.asked.len(), 1);
        let done = tried().arguments(read("a/one.txt")).run();
        assert_eq!(done.text(), r#"["one"]"#);
        assert_eq!(done.asked.len(), 0);
    }
}
