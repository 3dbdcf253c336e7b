//! `jig attach`: a running tool on the user's own terminal.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::station::Hall;
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

fn shell(hall: &Hall<'_>) -> String {
    hall.spawn(&["screen", "--id", "sh"])
}

/// The screen is shown as it is and as it changes, with a line of ours below; ctrl-] leaves, and the tool
/// runs on.
#[test]
fn a_screen_is_watched() {
    for_each_user(|desk| {
        let hall = Hall::new(desk);
        let id = shell(&hall);
        hall.json(&["apply", &id, "--line", "echo $((40+2))"]);
        let mut seat = Seat::new(desk, &["attach", &id]);
        let screen = seat.sees("the result", |screen| {
            screen.lines().any(|line| line == "42")
        });
        assert!(
            screen.contains("sh screen: watching, ctrl-] leaves"),
            "{screen}"
        );
        // It changes while we look.
        hall.json(&["apply", &id, "--line", "echo $((70+7))"]);
        seat.sees("what is new", |screen| {
            screen.lines().any(|line| line == "77")
        });
        // Who watches does not type.
        seat.types("echo typed\r");
        hall.json(&["apply", &id, "--line", "echo $((90+9))"]);
        let screen = seat.sees("what is new", |screen| {
            screen.lines().any(|line| line == "99")
        });
        assert!(!screen.contains("typed"), "{screen}");
        seat.types("\x1d");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{status:?}");
        assert!(screen.contains("`sh` runs on"), "{screen}");
        assert_eq!(hall.ps()[0]["state"], "running");
    });
}

/// With --input every key goes to the tool, and it gets the size of the user's terminal, less our line.
#[test]
fn keys_reach_the_tool() {
    for_each_user(|desk| {
        let hall = Hall::new(desk);
        let id = shell(&hall);
        let mut seat = Seat::new(desk, &["attach", &id, "--input"]);
        seat.sees_text("ctrl-] leaves");
        seat.types("echo $((40+2))\r");
        seat.sees("the result", |screen| {
            screen.lines().any(|line| line == "42")
        });
        seat.types("stty size\r");
        seat.sees_text("23 80");
        seat.resize(31, 100);
        seat.types("until test \"$(stty size)\" = '30 100'; do sleep 0.05; done; echo $((60+6))\r");
        seat.sees("the other size", |screen| {
            screen.lines().any(|line| line == "66")
        });
        // Ctrl-C is for the tool, not for jig.
        seat.types("echo $((50+5)); sleep 600\r");
        seat.sees("that it sleeps", |screen| {
            screen.lines().any(|line| line == "55")
        });
        seat.types("\x03");
        seat.sees_text("^C");
        seat.types("echo $((70+7))\r");
        seat.sees("the shell again", |screen| {
            screen.lines().any(|line| line == "77")
        });
        seat.types("\x1d");
        assert!(seat.ends().0.success());
        assert_eq!(hall.ps()[0]["state"], "running");
    });
}

/// A program on the whole screen, with cursor keys in the form that it wants.
#[test]
fn a_full_screen_program_is_used() {
    let desk = Desk::new();
    if !desk.has(&["vim", "--version"]) {
        return;
    }
    let hall = Hall::new(&desk);
    desk.workspace.write("notes.txt", "first\nsecond\nthird\n");
    let id = shell(&hall);
    let mut seat = Seat::new(&desk, &["attach", &id, "--input"]);
    seat.sees_text("ctrl-] leaves");
    seat.types("vim -u NONE -i NONE notes.txt\r");
    seat.sees("vim", |screen| {
        screen.starts_with("first") && screen.contains('~')
    });
    seat.types("\x1bOB");
    seat.types("Onew\x1b:wq\r");
    until("it is written", || {
        desk.read("notes.txt") == "first\nnew\nsecond\nthird\n"
    });
    seat.types("\x1d");
    assert!(seat.ends().0.success());
}

/// The end of the tool is the end of the look.
#[test]
fn the_end_is_told() {
    for_each_user(|desk| {
        let hall = Hall::new(desk);
        let id = shell(&hall);
        let mut seat = Seat::new(desk, &["attach", &id, "--input"]);
        seat.sees_text("ctrl-] leaves");
        seat.types("exit 5\r");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{status:?}");
        assert!(screen.contains("`sh` has exited with code 5"), "{screen}");
        // Its result is still there for whoever fetches it.
        assert_eq!(hall.json(&["fetch", &id])["exit_code"], 5);
    });
}

/// The user's terminal comes back whatever ends jig or the station.
#[test]
fn the_terminal_is_restored() {
    for_each_user(|desk| {
        let hall = Hall::new(desk);
        let id = shell(&hall);
        for (name, number) in [("-TERM", 15), ("-HUP", 1), ("-INT", 2)] {
            let mut seat = Seat::new(desk, &["attach", &id]);
            seat.sees_text("ctrl-] leaves");
            let pid = seat.pid().to_string();
            Command::new("kill").args([name, &pid]).status().unwrap();
            let (status, _) = seat.ends();
            assert_eq!(status.signal(), Some(number), "{status:?}");
        }
        let mut seat = Seat::new(desk, &["attach", &id]);
        seat.sees_text("ctrl-] leaves");
        hall.json(&["abort", "--all"]);
        let (status, screen) = seat.ends();
        assert!(
            screen.contains("has ") || screen.contains("ended"),
            "{status:?} {screen}"
        );
    });
}

/// Nothing that a tool prints steers the user's terminal: no title, no clipboard, no question to it.
#[test]
fn nothing_raw_reaches_the_terminal() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let id = shell(&hall);
    desk.workspace.write(
        "evil.sh",
        "printf '\\033]0;title\\007\\033]52;c;ZXZpbA==\\007\\033[21t\\033P+q544e\\033\\\\\\033[5n\\033]8;;http://x\\007link\\033]8;;\\007'; echo; echo done $((40+2))\n",
    );
    let mut seat = Seat::new(&desk, &["attach", &id]);
    seat.sees_text("ctrl-] leaves");
    hall.json(&["apply", &id, "--line", "sh evil.sh"]);
    seat.sees_text("done 42");
    let printed = seat.printed.clone();
    for sequence in ["\x1b]", "\x1bP", "\x1b[21t", "\x1b[5n", "\x07", "ZXZpbA"] {
        let found = printed
            .windows(sequence.len())
            .any(|part| part == sequence.as_bytes());
        assert!(!found, "{sequence:?}");
    }
    seat.types("\x1d");
    seat.ends();
}

/// A tool without terminal: what it prints, as it comes, without control characters; lines go to it.
#[test]
fn output_without_a_screen_is_followed() {
    for_each_user(|desk| {
        let hall = Hall::new(desk);
        let id = hall.spawn(&["echo"]);
        let mut seat = Seat::new(desk, &["attach", &id, "--input"]);
        seat.types("one\r");
        seat.sees("the line twice", |screen| {
            screen.lines().filter(|line| *line == "one").count() == 2
        });
        hall.json(&["apply", &id, "--line", "\u{1b}[31mtwo"]);
        seat.sees_text("two");
        assert!(!seat.printed.windows(5).any(|part| part == b"\x1b[31m"));
        // Ctrl-C leaves, and the tool runs on.
        seat.types("\x03");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{status:?}");
        assert!(screen.contains("runs on"), "{screen}");
        assert_eq!(hall.ps()[0]["state"], "running");

        // In a pipe, too; the end of the input is the end of the tool's.
        let mut jig = desk.jig(&["attach", &id, "--input"]);
        let mut jig = jig
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut jig.stdin.take().unwrap(), b"three\n").unwrap();
        let output = jig.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("three\n"), "{text:?}");
    });
}

/// A screen needs a terminal.
#[test]
fn a_screen_is_not_shown_in_a_pipe() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let id = shell(&hall);
    let ran = desk.run(&["attach", &id]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("--view screen"), "{ran:?}");
}
