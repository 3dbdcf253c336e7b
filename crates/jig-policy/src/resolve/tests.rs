use super::MAX_RULE_PATH;
use crate::lookup::DiskLookup;
use std::collections::BTreeMap;
use std::io;

use jig_proto::ProjectPath;

use super::{ResolveReason, Workspace};
use crate::lookup::{Lookup, LookupEntry};

/// A tree written as text: `dir/`, `file`, `link -> target`. It answers only for what is listed.
struct Listed(BTreeMap<String, LookupEntry>);

impl Lookup for Listed {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        if path.as_str() == "closed/inner" {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let found = self.0.get(path.as_str()).cloned();
        Ok(found.unwrap_or(LookupEntry::Missing))
    }
}

fn workspace() -> Workspace<Listed> {
    let lines = [
        "src/",
        "src/main.rs",
        "other/",
        "other/deep/",
        "closed/",
        "to_other -> other",
        "to_deep -> to_other/deep",
        "to_file -> src/main.rs",
        "absolute -> /ws/other",
        "absolute_root -> /ws",
        "outside -> /etc",
        "near_outside -> /wsx",
        "up -> ../..",
        "out_and_back -> ../ws/src",
        "in_and_out -> src/../../x",
        "dangling -> nothing",
        "dangling_outside -> /outside/new",
        "through_file -> src/main.rs/x",
        "loop -> loop",
        "ping -> pong",
        "pong -> ping",
        "dots -> ./src/.././other//deep/",
        "other/back -> ../src",
        "other/absolute -> /ws/src",
    ];
    let entries = lines.into_iter().map(|line| match line.split_once(" -> ") {
        Some((name, target)) => (name.to_owned(), LookupEntry::Link(target.to_owned())),
        None => match line.strip_suffix('/') {
            Some(name) => (name.to_owned(), LookupEntry::Directory),
            None => (line.to_owned(), LookupEntry::File),
        },
    });
    Workspace::new("/ws", Listed(entries.collect()))
}

/// `exists path`, `missing path`, or the reason's name.
fn outcome(input: &str) -> String {
    match workspace().resolve(input) {
        Ok(found) if found.exists() => format!("exists {}", found.path()),
        Ok(found) => format!("missing {}", found.path()),
        Err(error) => match error.reason {
            ResolveReason::Outside => "outside",
            ResolveReason::DotDot => "dotdot",
            ResolveReason::LinkLeaves => "leaves",
            ResolveReason::Dangling => "dangling",
            ResolveReason::Loop => "loop",
            ResolveReason::Syntax(_) => "syntax",
            ResolveReason::Lookup(_) => "lookup",
            ResolveReason::TooLong => "too long",
        }
        .to_owned(),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (input, expected) in cases {
        assert_eq!(outcome(input), *expected, "{input:?}");
    }
}

#[test]
fn relative_and_absolute_g_053_x_11() {
    check(&[
        ("src/main.rs", "exists src/main.rs"),
        ("/ws/src/main.rs", "exists src/main.rs"),
        ("/ws", "exists ."),
        ("/ws/", "exists ."),
        (".", "exists ."),
        ("//ws/src", "exists src"),
        ("/etc/passwd", "outside"),
        ("/wsx/src", "outside"),
        ("/", "outside"),
        ("/ws/../etc", "dotdot"),
    ]);
}

#[test]
fn lexical_normalisation_g_054() {
    check(&[
        ("src//main.rs", "exists src/main.rs"),
        ("./src/./main.rs", "exists src/main.rs"),
        ("src/../other", "exists other"),
        ("src/", "exists src"),
        ("..", "dotdot"),
        ("src/../..", "dotdot"),
        ("../ws/src", "dotdot"),
        // `..` is folded before the link is looked at.
        ("outside/../src", "exists src"),
        ("to_deep/..", "exists ."),
    ]);
}

/// G-130: links inside are followed, and those that leave are escapes.
#[test]
fn links_g_055() {
    check(&[
        ("to_other", "exists other"),
        ("to_deep", "exists other/deep"),
        ("to_other/deep", "exists other/deep"),
        ("to_file", "exists src/main.rs"),
        ("absolute/deep", "exists other/deep"),
        ("absolute_root/src", "exists src"),
        ("dots", "exists other/deep"),
        ("to_other/back/main.rs", "exists src/main.rs"),
        ("to_other/absolute/main.rs", "exists src/main.rs"),
        ("outside", "leaves"),
        ("outside/passwd", "leaves"),
        ("near_outside", "leaves"),
        ("up", "leaves"),
        ("in_and_out", "leaves"),
        // What left once could be moved where we do not look.
        ("out_and_back", "leaves"),
    ]);
}

#[test]
fn what_does_not_exist_yet_g_056() {
    check(&[
        ("new/dir/file.txt", "missing new/dir/file.txt"),
        ("src/new.rs", "missing src/new.rs"),
        ("to_other/new/file", "missing other/new/file"),
        ("src/main.rs/below", "missing src/main.rs/below"),
        ("to_file/below", "missing src/main.rs/below"),
    ]);
}

#[test]
fn dangling_links_are_escapes_x_12() {
    check(&[
        ("dangling", "dangling"),
        ("dangling/x", "dangling"),
        ("dangling_outside", "leaves"),
        ("dangling_outside/x", "leaves"),
        ("through_file", "dangling"),
    ]);
}

#[test]
fn loops_x_64() {
    check(&[("loop", "loop"), ("ping", "loop"), ("ping/x", "loop")]);
}

#[test]
fn no_text_for_a_path() {
    check(&[("", "syntax"), ("a\0b", "syntax"), ("/ws/a\0", "syntax")]);
}

#[test]
fn what_cannot_be_found_out_is_an_error() {
    check(&[
        ("closed", "exists closed"),
        ("closed/inner", "lookup"),
        ("closed/inner/x", "lookup"),
    ]);
}

#[test]
fn forty_links_and_not_one_more() {
    let chain = |count: usize| {
        let mut entries: BTreeMap<String, LookupEntry> = (0..count)
            .map(|n| (format!("l{n}"), LookupEntry::Link(format!("l{}", n + 1))))
            .collect();
        entries.insert(format!("l{count}"), LookupEntry::Directory);
        Workspace::new("/ws", Listed(entries)).resolve("l0")
    };
    assert!(chain(40).is_ok());
    assert!(matches!(
        chain(41).map_err(|error| error.reason),
        Err(ResolveReason::Loop)
    ));
}

#[test]
fn messages_g_104() {
    let message = |path: &str| workspace().resolve(path).map_err(|error| error.to_string());
    let check = |path: &str, expected: &str| assert_eq!(message(path), Err(expected.to_owned()));
    check("/etc", "path is outside the workspace: /etc");
    for path in ["../x", "up", "dangling", "loop"] {
        check(path, &format!("path escapes the workspace: {path}"));
    }
}

/// A rule's path is bounded: what it restricts is noted at every path above it.
#[test]
fn the_path_of_a_rule_is_bounded() {
    let workspace = Workspace::new("/ws", DiskLookup::new("/nonexistent"));
    let long = "a/".repeat(MAX_RULE_PATH);
    let error = workspace.resolve_rule(&long).expect_err("too long");
    assert!(matches!(error.reason, ResolveReason::TooLong), "{error:?}");
    assert!(error.path.len() < 100, "the message stays short");
    assert!(workspace.resolve_rule(&"a/".repeat(1000)).is_ok());
}

/// A root that is not absolute makes no absolute link a link inside.
#[test]
fn an_empty_root_is_not_every_root() {
    let workspace = Workspace::new("", DiskLookup::new("/nonexistent"));
    let error = workspace.resolve("/etc/passwd").expect_err("outside");
    assert!(error.is_outside(), "{error:?}");
}
