//! Git on a terminal, in the sandbox: what asks while it runs.

use jig_proto::vfs::ProcessStart;
use serde_json::json;

use crate::confined_git::{host_git, repository};
use crate::staying::{Running, on_terminal, start};
use crate::world::World;

fn world() -> World {
    repository().command("git", None, &[])
}

fn git<'a>(args: &[&'a str]) -> ProcessStart<'a> {
    on_terminal(start("git", args))
}

#[test]
fn s010_s013_hunks_are_staged_one_by_one() {
    let world = world();
    let ws = world.outside().join("ws");
    let lines = |first: &str, last: &str| {
        let between = "between\n".repeat(20);
        format!("{first}\n{between}{last}\n")
    };
    std::fs::write(ws.join("a.txt"), lines("first", "last")).unwrap();
    host_git(&ws, &["commit", "-q", "-am", "second"]);
    std::fs::write(ws.join("a.txt"), lines("FIRST", "LAST")).unwrap();
    let mut program = Running::new(&world, git(&["add", "--patch"]));
    let asked = program.until("(1/2) Stage this hunk");
    assert!(
        asked.running && program.seen.contains("+FIRST"),
        "{}",
        program.seen
    );
    program.write(json!({"line": "n"}));
    program.until("(2/2) Stage this hunk");
    program.write(json!({"line": "y"}));
    let end = program.until_end();
    assert_eq!(end.exit_code, Some(0), "{}", program.seen);
    assert_eq!(host_git(&ws, &["show", ":a.txt"]), lines("first", "LAST"));
}

fn three_commits(world: &World) -> std::path::PathBuf {
    let ws = world.outside().join("ws");
    for name in ["second", "third"] {
        std::fs::write(ws.join(name), name).unwrap();
        host_git(&ws, &["add", "."]);
        host_git(&ws, &["commit", "-q", "-m", name]);
    }
    ws
}

#[test]
fn a_rebase_asks_an_editor_that_asks_the_tool() {
    let world = world();
    let ws = three_commits(&world);
    // A tool names its editor on the command line: it can set no variables.
    let editor =
        "sequence.editor=sh -c 'printf \"which? \"; read line; sed -i \"${line}d\" \"$1\"' -";
    let mut program = Running::new(&world, git(&["-c", editor, "rebase", "-i", "HEAD~2"]));
    program.until("which?");
    program.write(json!({"line": "1"}));
    let end = program.until_end();
    assert_eq!(end.exit_code, Some(0), "{}", program.seen);
    assert_eq!(host_git(&ws, &["log", "--format=%s"]), "third\nfirst\n");
}

#[test]
fn a_rebase_is_edited_on_the_screen() {
    if !jig_testkit::has_program("vi") {
        return;
    }
    let world = world();
    let ws = three_commits(&world);
    let mut program = Running::new(
        &world,
        git(&["-c", "core.editor=vi", "rebase", "-i", "HEAD~2"]),
    );
    program.until_screen("pick");
    program.write(json!({"keys": ["d", "d"]}));
    program.write(json!([":wq", {"key": "enter"}]));
    let end = program.until_end();
    assert_eq!(end.exit_code, Some(0), "{}", program.seen);
    assert_eq!(host_git(&ws, &["log", "--format=%s"]), "third\nfirst\n");
}

#[test]
fn a_pager_is_left_by_its_key() {
    let world = world();
    let text = "line\n".repeat(200);
    let ws = world.outside().join("ws");
    std::fs::write(ws.join("a.txt"), text).unwrap();
    let mut program = Running::new(&world, git(&["-c", "core.pager=less", "diff"]));
    program.until_screen(":");
    program.write(json!("q"));
    let end = program.until_end();
    assert_eq!(end.exit_code, Some(0), "{}", program.seen);
}
