//! What jig and git obey is not changed by a guest that may write everything, by whichever way it comes.

use std::fs;

use serde_json::{Value, json};

use crate::common::{On, Tried};
use crate::fs::{check_raw, hostile, raw_answers};

/// A workspace with a repository, in which links lead to what is protected.
fn workspace(on: On) -> Tried {
    let tried = hostile(on)
        .rules("fs = [{ path = '.', read = true, write = true }]")
        .link("conf", "jig.toml")
        .link("repository", ".git")
        .link("vendor/up", "../.git/hooks");
    OBEYED
        .iter()
        .chain(&FORGED)
        .fold(tried, |tried, path| tried.file(path, "kept"))
}

/// What is obeyed.
const OBEYED: [&str; 6] = [
    "jig.toml",
    ".jig/jig.toml",
    ".git/config",
    ".git/hooks/post-commit",
    "vendor/lib/.git/config",
    "vendor/lib/.git/hooks/post-commit",
];

/// What would be obeyed under another name.
const FORGED: [&str; 3] = ["forged/config", "forged/hooks/post-commit", "forged.toml"];

/// Each way to change a file or to put something in its place.
fn ways(path: &str) -> Vec<Value> {
    let at = "/workspace";
    vec![
        json!(["open", at, path, "fw", "x"]),
        json!(["open", at, path, "frw", "x"]),
        json!(["open", at, path, "ft", "x"]),
        json!(["open", at, path, "fctw", "x"]),
        json!(["unlink", at, path]),
        json!(["rename", at, path, at, "away"]),
        json!(["rename", at, "forged.toml", at, path]),
    ]
}

#[test]
fn what_is_obeyed_is_neither_written_nor_replaced_nor_moved() {
    for on in On::ALL {
        let at = "/workspace";
        let mut steps: Vec<Value> = OBEYED.into_iter().flat_map(ways).collect();
        let by_links = [
            "repository/config",
            "repository/hooks/post-commit",
            "vendor/up/post-commit",
        ];
        steps.extend(by_links.into_iter().flat_map(ways));
        steps.extend([
            json!(["open", at, "conf", "fw", "x"]),
            json!(["open", at, "conf", "ft", "x"]),
            json!(["open", at, ".git/hooks/pre-push", "fcxw", "x"]),
            json!(["open", at, "vendor/up/pre-push", "fcxw", "x"]),
            json!(["open", at, ".jig/new", "fcxw", "x"]),
            // Whole directories take along, or bring in, what is obeyed.
            json!(["rename", at, ".git", at, "away"]),
            json!(["rename", at, ".jig", at, "away"]),
            json!(["rename", at, ".git/hooks", at, "away"]),
            json!(["rename", at, "vendor/lib/.git", at, "away"]),
            json!(["rename", at, "forged", at, "other/.git"]),
            json!(["rename", at, "forged", at, "vendor/.git"]),
            json!(["rename", at, "forged/hooks", at, ".git/hooks"]),
            json!(["mkdir", at, "vendor/.git"]),
        ]);
        let (answers, done) = raw_answers(workspace(on), &json!(steps));
        for (step, answer) in steps.iter().zip(&answers) {
            assert!(answer.starts_with("error: "), "{on:?} {step}: {answer}");
        }
        for path in OBEYED.into_iter().chain(FORGED) {
            assert_eq!(done.read(path).as_deref(), Some(&b"kept"[..]), "{path}");
        }
        assert!(done.audit.iter().all(|entry| {
            entry.decision.to_string() != "allow" || entry.outcome.as_deref() != Some("ok")
        }));
    }
}

/// Of a file with two names, the one that may be written gets a content of its own.
#[test]
fn a_second_name_of_what_is_obeyed_is_another_file_once_it_is_written() {
    let tried = workspace(On::Disk);
    let root = tried.folder().to_owned();
    fs::hard_link(root.join("jig.toml"), root.join("innocent")).unwrap();
    let done = check_raw(
        tried,
        &[
            (json!(["open", "/workspace", "innocent", "frw", "x"]), "ok"),
            (json!(["write", "x", "mine", 0]), "4"),
        ],
    );
    assert_eq!(done.read("innocent").unwrap(), b"mine");
    assert_eq!(done.read("jig.toml").unwrap(), b"kept");
}
