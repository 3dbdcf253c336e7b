use jig_proto::ProjectPath;
use jig_proto::fsproxy::ProxyErrorCode;

use super::{ClientPath, ClientPaths};

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

fn check(names: &ClientPaths, text: &str, expected: Result<&str, &str>) {
    let name = names.resolve(text).unwrap();
    let found = match &name {
        ClientPath::Project(path) => Ok(path.as_str()),
        ClientPath::Elsewhere(text) => Err(text.as_str()),
    };
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn x25_paths_below_the_root_are_of_the_workspace_and_all_others_are_names() {
    let names = ClientPaths::new("/home/u/project", path("sub/dir"));
    check(&names, "a.txt", Ok("sub/dir/a.txt"));
    check(&names, "./a//b/", Ok("sub/dir/a/b"));
    check(&names, "..", Ok("sub"));
    check(&names, "../../a.txt", Ok("a.txt"));
    check(&names, "../../..", Err("/home/u"));
    check(&names, "../../../x", Err("/home/u/x"));
    check(&names, "../../../project/a", Ok("a"));
    check(&names, "/home/u/project/a.txt", Ok("a.txt"));
    check(&names, "/home/u/project", Ok(""));
    check(&names, "/home/u/project/../project/./a", Ok("a"));
    check(&names, "/home/u/project/../other", Err("/home/u/other"));
    check(&names, "/home/u/projects/a", Err("/home/u/projects/a"));
    check(&names, "/etc/passwd", Err("/etc/passwd"));
    check(&names, "/../../etc/passwd", Err("/etc/passwd"));
    check(&names, "../../../../../../../../etc", Err("/etc"));
    // Nothing is decoded, and only a slash separates.
    check(&names, "%2e%2e/x", Ok("sub/dir/%2e%2e/x"));
    check(&names, "..\\x", Ok("sub/dir/..\\x"));
    check(&names, "...", Ok("sub/dir/..."));
}

#[test]
fn with_the_root_of_the_machine_every_absolute_path_is_of_the_workspace() {
    let names = ClientPaths::new("/", path("home/u"));
    check(&names, "a", Ok("home/u/a"));
    check(&names, "/etc/passwd", Ok("etc/passwd"));
    check(&names, "../../../..", Ok(""));
    check(&names, "/", Ok(""));
}

#[test]
fn an_alias_is_another_spelling() {
    let names = ClientPaths::new("/private/tmp/w", ProjectPath::root())
        .with_alias("/tmp/w", ProjectPath::root())
        .with_alias("/tmp/w/data/", path("real/data"));
    check(&names, "/tmp/w/a", Ok("a"));
    check(&names, "/tmp/w", Ok(""));
    check(&names, "/tmp/w/data/x", Ok("real/data/x"));
    check(&names, "/tmp/w/database", Ok("database"));
    check(&names, "/tmp/wx", Err("/tmp/wx"));
    check(&names, "/private/tmp/w/data/x", Ok("data/x"));
}

#[test]
fn without_a_root_absolute_paths_are_names() {
    let names = ClientPaths::default();
    check(&names, "a/../b", Ok("b"));
    check(&names, ".", Ok(""));
    check(&names, "a/..", Ok(""));
    check(&names, "/a", Err("/a"));
    check(&names, "../a", Err("../a"));
    check(&names, "../../a/../b", Err("../../b"));
}

#[test]
fn what_is_no_path_is_refused() {
    let refused = |text: &str| {
        let error = ClientPaths::default().resolve(text).unwrap_err();
        (error.code, error.message)
    };
    assert_eq!(
        refused(""),
        (ProxyErrorCode::Arg, "missing path".to_owned())
    );
    let nul = "the path holds a NUL byte".to_owned();
    assert_eq!(refused("a\0b"), (ProxyErrorCode::Arg, nul));
}
