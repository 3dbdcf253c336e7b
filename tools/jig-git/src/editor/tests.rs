#![expect(
    clippy::disallowed_methods,
    reason = "the script is tried with a real shell on a file of the test"
)]

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

#[test]
fn the_script_edits_a_file_as_git_would_have_it() {
    let check = |before: &str, answer: &str, after: &str| {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("git-rebase-todo");
        std::fs::write(&file, before).unwrap();
        let editor = Editor::new();
        // As git does it.
        let mut child = Command::new("sh")
            .args(["-c", &format!("{} \"$@\"", editor.script()), "editor"])
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(editor.answer(answer).as_bytes()).unwrap();
        // What follows is git's to read.
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let printed = String::from_utf8(output.stdout).unwrap();
        let expected = GitEdit {
            before: "",
            name: "git-rebase-todo",
            text: before,
        };
        assert_eq!(editor.look(&printed), EditorOutput::Asks(expected));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    };
    check("pick a\npick b\n", "", "pick a\npick b\n");
    check("pick a\npick b\n", "drop a\npick b", "drop a\npick b\n");
    check(
        "pick a\n",
        "pick a\n\n.\n  two  \\n $x `y`\n",
        "pick a\n\n.\n  two  \\n $x `y`\n",
    );
    check("", "a message", "a message\n");
}

#[test]
fn a_text_counts_when_it_is_there_as_a_whole() {
    let editor = Editor {
        mark: "jig-1".to_owned(),
    };
    let whole = "hint\n\njig-1 edit TODO\npick a\n\njig-1 end\n";
    let asks = EditorOutput::Asks(GitEdit {
        before: "hint\n",
        name: "TODO",
        text: "pick a\n",
    });
    assert_eq!(editor.look(whole), asks);
    for end in "hint\n\njig-1".len()..whole.len() {
        assert_eq!(editor.look(&whole[..end]), EditorOutput::Partly, "{end}");
    }
    assert_eq!(
        editor.look("hint\n\njig-2 edit TODO\n"),
        EditorOutput::Plain
    );
}
