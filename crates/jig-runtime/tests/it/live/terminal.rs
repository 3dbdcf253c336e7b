//! Programs on a terminal of their own.

use std::time::{Duration, Instant};

use jig_proto::{StateName, View};
use jig_pty::Size;
use jig_runtime::{Delivery, Runtime as _, StartError, StdioRuntime};
use serde_json::json;

use crate::live::support::Case;

/// S-005: an interactive shell on a terminal: prompt, state, ctrl-c, exit code.
#[test]
fn s005_bash_on_a_terminal() {
    let tool = Case::program("/bin/bash", &["--norc", "-i"])
        .on_terminal()
        .start();
    tool.apply(json!({"line": "PS1='ready> '"}));
    tool.until_shown("ready> ");
    tool.apply(json!({"line": "test -t 0 && test -t 1 && echo $TERM-$((6*7))"}));
    tool.until_shown("xterm-256color-42");
    // The foreground program ends, the shell does not. It speaks itself, so that it is in the foreground.
    tool.apply(json!({"line": "sh -c 'echo asleep; exec sleep 1000'"}));
    tool.until("the echo", |said| said.contains("\nasleep"));
    tool.apply(json!({"key": "ctrl-c"}));
    tool.apply(json!({"line": "echo back-$?"}));
    tool.until_shown("back-130");
    assert!(tool.session.is_terminal());
    let facts = tool.look(View::Screen, 0).terminal.unwrap();
    assert_eq!((facts.rows, facts.cols, facts.alternate), (24, 80, false));
    tool.apply(json!({"line": "exit 3"}));
    let error = tool.result().unwrap_err();
    assert_eq!(error.message, "`tool` exited with code 3");
    assert_eq!(tool.session.exit_code(), Some(3));
    // What it said stays to be looked at.
    assert!(tool.said().contains("back-130"));
}

/// S-005: the prompt of Python on a terminal, and what it says is there after settling.
#[test]
fn s005_python_on_a_terminal() {
    let tool = Case::program("python3", &["-q"]).on_terminal().start();
    tool.until_shown(">>>");
    let seq = tool.session.seq();
    tool.apply(json!({"line": "6 * 7"}));
    tool.until_shown("42");
    let new = tool.settled(seq);
    assert!(new.contains("42"), "{new}");
    tool.apply(json!({"key": "ctrl-d"}));
    assert_eq!(tool.result().unwrap(), "exited with code 0");
}

/// A new size reaches the screen and the program.
#[test]
fn a_terminal_can_be_resized() {
    let script = "trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done";
    let tool = Case::script(script).on_terminal().start();
    tool.until_shown("up");
    tool.apply(json!({"resize": {"rows": 30, "cols": 100}}));
    tool.until_shown("30 100");
    let facts = tool.look(View::Screen, 0).terminal.unwrap();
    assert_eq!((facts.rows, facts.cols), (30, 100));
    let painted = tool.session.painted().unwrap();
    assert_eq!(painted.size, Size::new(30, 100));
    assert_eq!(painted.lines.len(), 30);
}

/// Programs that ask the terminal for the place of its cursor get an answer.
#[test]
fn queries_are_answered() {
    let script = r#"
stty raw -echo min 1 time 0; printf 'ab\033[6n'
answer=$(dd bs=1 count=6 2>/dev/null | od -An -c | tr -d ' \n')
stty sane; printf '\ngot %s\n' "$answer"; cat"#;
    let tool = Case::script(script).on_terminal().start();
    tool.until_shown("got 033[1;3R");
}

/// S-083: what redraws the same line sixty times a second is one line, not a flood, and it settles.
#[test]
fn s083_redraws_are_no_flood() {
    let script = r#"
import sys, time
sys.stdout.write('begin\n')
for frame in range(90):
    sys.stdout.write('\r\x1b[2Kframe %d of a spinner' % frame)
    sys.stdout.flush()
    time.sleep(1 / 60)
sys.stdout.write('\ndone\n')
sys.stdout.flush()
sys.stdin.read()
"#;
    let tool = Case::program("python3", &["-c", script])
        .on_terminal()
        .start();
    tool.until_shown("frame");
    let seq = tool.session.seq();
    tool.until_shown("done");
    let new = tool.look(View::New, seq).text;
    let frames: Vec<&str> = new.lines().filter(|line| line.contains("frame")).collect();
    assert_eq!(frames, ["frame 89 of a spinner"], "{new}");
}

/// A program that never stops drawing is shown when the time is over.
#[test]
fn s024_what_never_rests_is_shown_all_the_same() {
    let script = "while :; do printf '\\rtick'; sleep 0.01; done";
    let tool = Case::script(script).on_terminal().start();
    tool.until_shown("tick");
    let start = Instant::now();
    let mut settle = jig_pty::Settle::default();
    settle.limit = Duration::from_millis(600);
    let update = tool.session.settle(1, 0, &settle);
    assert_eq!(update.state.status(), StateName::Running);
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// A flood on a terminal keeps nobody from looking or from ending it.
#[test]
fn a_flood_on_a_terminal_keeps_nobody_waiting() {
    let tool = Case::program("/usr/bin/yes", &["coloured \u{1b}[32mtext\u{1b}[0m"])
        .on_terminal()
        .start();
    tool.until_shown("coloured text");
    for _ in 0..50 {
        let start = Instant::now();
        let painted = tool.session.painted().unwrap();
        assert_eq!(painted.lines.len(), 24);
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    tool.session.abort();
    tool.result().unwrap_err();
}

/// S-031: without looking at it, the whole text is the result; a failure is one as without a terminal.
#[test]
fn s031_one_shot_on_a_terminal() {
    let one_shot = |script: &str| Case {
        stateful: false,
        ..Case::script(script).on_terminal()
    };
    let script = "for i in $(seq 1 60); do echo line $i; done; test -t 1 && echo on a terminal";
    let text = one_shot(script).start().result().unwrap();
    assert!(text.starts_with("line 1\nline 2\n"), "{text}");
    assert!(
        text.trim_end().ends_with("line 60\non a terminal"),
        "{text}"
    );

    let error = one_shot("echo sorry; exit 4").start().result().unwrap_err();
    assert!(error.message.contains("execution failed"), "{error:?}");
    assert!(error.message.contains("sorry"), "{error:?}");
    assert!(error.trace[0].contains("code 4"), "{error:?}");

    let silent = one_shot("exit 0").start().result().unwrap();
    assert_eq!(silent, "(no output)");
    // Programs close their streams before they exit, and are not hung up on for that.
    let closes = one_shot("exec 0<&- 1>&- 2>&-; sleep 0.3; exit 0");
    assert_eq!(closes.start().result().unwrap(), "(no output)");

    let said = one_shot(r#"echo '{"type":"success","content":"told"}'"#);
    assert_eq!(said.start().result().unwrap(), "told");
}

/// A call does not fit through a terminal: that is said before anything starts.
#[test]
fn a_call_on_a_terminal_is_refused() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let case = Case {
        delivery: Delivery::Stdin,
        ..Case::script("cat").on_terminal()
    };
    let error = StdioRuntime.start(case.plan(folder.path())).unwrap_err();
    assert!(matches!(error, StartError::CallOnTerminal), "{error:?}");
}

/// A secret that is printed in two steps over the end of a row is not shown in two halves.
#[test]
fn a_secret_never_gets_on_the_screen() {
    let script = r#"
stty -echo; pad=$(printf '%070d' 0)
half=${TOKEN%????????????}
printf '%s%s' "$pad" "$half"; read -r go; printf '%s\n' "${TOKEN#$half}"; echo end; cat"#;
    let case = Case {
        token: Some("sk-abcdefgh-0123456789"),
        ..Case::script(script).on_terminal()
    };
    let tool = case.start();
    let first = tool.until_shown("0000000000").replace('\n', "");
    assert!(!first.contains("sk-abc"), "{first}");
    let seq = tool.session.seq();
    tool.apply(json!({"line": "go"}));
    tool.until_shown("end");
    for after in [0, seq] {
        let shown = tool.look(View::New, after).text.replace('\n', "");
        assert!(shown.contains("[REDACTED]"), "{shown}");
        assert!(
            !shown.contains("gh-0") && !shown.contains("6789"),
            "{shown}"
        );
    }
}
