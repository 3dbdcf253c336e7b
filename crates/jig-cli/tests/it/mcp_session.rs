//! The scripted agent of `examples/mcp-session`, with the real `jig mcp`.

use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mcp-session");

/// What the script prints, with every time the same.
fn session(args: &[&str]) -> String {
    let output = Command::new("python3")
        .arg("-B")
        .arg(Path::new(EXAMPLE).join("session.py"))
        .args(["--jig", env!("CARGO_BIN_EXE_jig")])
        .args(args)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    timeless(&text)
}

/// A log begins its lines with the time: `2026-01-31 10:00:00`.
fn timeless(text: &str) -> String {
    let digits = |word: &str, shape: &str| {
        word.len() == shape.len()
            && word.bytes().zip(shape.bytes()).all(|(c, s)| match s {
                b'0' => c.is_ascii_digit(),
                s => c == s,
            })
    };
    let line = |line: &str| {
        let start = line.len() - line.trim_start().len();
        match line.get(start..start + 19) {
            Some(time) if digits(time, "0000-00-00 00:00:00") => {
                line.replacen(time, "2026-01-31 10:00:00", 1)
            }
            _ => line.to_owned(),
        }
    };
    text.lines().map(line).map(|line| line + "\n").collect()
}

/// The transcript in the repository, and in the README, is what happens.
#[test]
fn a_refusal_an_approval_and_the_log() {
    if !jig_testkit::has_program("python3") {
        return;
    }
    let text = session(&[]);
    let transcript = std::fs::read_to_string(Path::new(EXAMPLE).join("transcript.txt")).unwrap();
    assert_eq!(
        text,
        timeless(&transcript),
        "if that is meant: python3 examples/mcp-session/session.py > examples/mcp-session/transcript.txt"
    );
}

#[test]
fn a_client_that_can_ask_is_asked() {
    if !jig_testkit::has_program("python3") {
        return;
    }
    let text = session(&["--elicit"]);
    for part in [
        "asks, through the client:",
        "answer: allow once",
        "allow      fs_create_file    fs.write",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
    assert!(!text.contains("refuses"), "{text}");
}
