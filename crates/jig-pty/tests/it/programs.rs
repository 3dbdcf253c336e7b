//! Real programs on real pipes and real terminals.
#![expect(
    clippy::disallowed_methods,
    reason = "programs are started without a sandbox, to be looked at through a console"
)]

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jig_pty::{Console, CutSide, Input, Log, OutputSource, Pty, Screen, Size, Transcript};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

/// A running program and what it printed.
struct Run {
    child: Child,
    console: Console,
    transcript: Transcript,
    errors: String,
}

impl Run {
    fn piped(program: &str, args: &[&str]) -> Self {
        let (stdin, to_stdin) = io::pipe().expect("a pipe");
        let (from_stdout, stdout) = io::pipe().expect("a pipe");
        let (from_stderr, stderr) = io::pipe().expect("a pipe");
        let mut command = Command::new(program);
        command.args(args);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let child = command.spawn().expect("it starts");
        // The command holds the program's ends.
        drop(command);
        Self {
            child,
            console: Console::piped(Some(to_stdin), Some(from_stdout), Some(from_stderr))
                .expect("pipes"),
            transcript: Transcript::Log(Log::new(1 << 20)),
            errors: String::new(),
        }
    }

    /// In a terminal, though without it being the controlling one: that needs a new session.
    fn in_terminal(program: &str, args: &[&str]) -> Self {
        let size = Size::default();
        let (pty, end) = Pty::open(size).expect("a terminal");
        let stdio = |end: &OwnedFd| Stdio::from(end.try_clone().expect("a copy"));
        let mut command = Command::new(program);
        command.args(args).env("TERM", "xterm-256color");
        command.stdin(stdio(&end)).stdout(stdio(&end)).stderr(end);
        let child = command.spawn().expect("it starts");
        drop(command);
        Self {
            child,
            console: Console::terminal(pty),
            transcript: Transcript::Screen(Screen::new(size, 1_000)),
            errors: String::new(),
        }
    }

    fn send(&mut self, input: Value) {
        let input = Input::read(&input).expect("input");
        let screen = self.transcript.screen();
        let sent = self.console.send(&input, screen).expect("it is taken");
        if let (Some(size), Some(screen)) = (sent.resized, self.transcript.screen_mut()) {
            screen.resize(size);
        }
    }

    /// Serves the console until `is_done`.
    fn until(&mut self, what: &str, is_done: impl Fn(&Run) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut buffer = [0; 4096];
        while !is_done(self) {
            assert!(Instant::now() < deadline, "{what}: {:?}", self.transcript);
            let mut ends: Vec<_> = self
                .console
                .readers()
                .map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN))
                .collect();
            if let Some(end) = self.console.writer() {
                ends.push(PollFd::from_borrowed_fd(end, PollFlags::OUT));
            }
            let limit = Timespec {
                tv_sec: 0,
                tv_nsec: 100_000_000,
            };
            poll(&mut ends, Some(&limit)).expect("it polls");
            drop(ends);
            let (transcript, errors) = (&mut self.transcript, &mut self.errors);
            self.console
                .read(&mut buffer, &mut |source, bytes| match source {
                    OutputSource::Output => transcript.push(bytes),
                    OutputSource::Errors => errors.push_str(&String::from_utf8_lossy(bytes)),
                });
            if let Some(screen) = self.transcript.screen_mut() {
                let answers = screen.answers();
                self.console.write_answers(&answers);
            }
            self.console.flush();
        }
    }

    fn until_shown(&mut self, text: &str) {
        self.until(text, |run| run.all().contains(text));
    }

    fn until_ended(&mut self) {
        self.until("the end", |run| run.console.is_ended());
    }

    fn all(&self) -> String {
        self.transcript.all(usize::MAX).text
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // One that has ended is only waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn cat_on_pipes_gives_back_what_it_is_given() {
    let mut run = Run::piped("cat", &[]);
    run.send(json!({"line": "first"}));
    run.until_shown("first\n");
    let seen = run.transcript.seq();
    run.send(json!([{"text": "second "}, {"line": "界"}]));
    run.until_shown("界\n");
    let piece = run.transcript.since(seen, usize::MAX, CutSide::Front);
    assert_eq!(piece.text, "second 界\n");
    run.send(json!({"key": "ctrl-d"}));
    run.until_ended();
    assert!(run.child.wait().unwrap().success());
}

#[test]
fn output_and_errors_are_told_apart_on_pipes() {
    let mut run = Run::piped("sh", &["-c", "echo out; echo err >&2; cat"]);
    run.send(json!({"end": true}));
    run.until_ended();
    assert_eq!(
        (run.all().as_str(), run.errors.as_str()),
        ("out\n", "err\n")
    );
}

#[test]
fn more_than_a_pipe_holds_goes_through_in_order() {
    let mut run = Run::piped("cat", &[]);
    let lines: String = (0..100_000).map(|line| format!("{line}\n")).collect();
    run.send(json!(lines));
    assert!(run.console.unwritten() > 0, "a pipe does not hold as much");
    run.send(json!({"end": true}));
    run.until_ended();
    assert_eq!(run.all(), lines);
}

#[test]
fn a_shell_in_a_terminal_believes_it_has_one() {
    let mut run = Run::in_terminal("sh", &["-c", "test -t 0 -a -t 1 -a -t 2 && stty size; cat"]);
    run.until_shown("24 80");
    run.send(json!([{"line": "typed"}]));
    // Once as the terminal shows it, once as `cat` prints it.
    run.until_shown("typed\ntyped");
    run.send(json!({"key": "ctrl-d"}));
    run.until_ended();
    assert!(run.child.wait().unwrap().success());
}

#[test]
fn a_program_reads_the_new_size() {
    let mut run = Run::in_terminal("sh", &["-c", "echo ready; read line; stty size"]);
    run.until_shown("ready");
    run.send(json!([{"resize": {"rows": 40, "cols": 132}}, {"line": ""}]));
    run.until_shown("40 132");
    let facts = run.transcript.terminal().unwrap();
    assert_eq!(facts.size, Size::new(40, 132));
    run.until_ended();
}

#[test]
fn a_program_that_asks_for_the_cursor_is_answered() {
    let script = r"stty raw -echo; printf 'ab\033[6n'; head -c 6 | od -An -c; stty sane; echo done";
    let mut run = Run::in_terminal("sh", &["-c", script]);
    run.until_shown("done");
    let all = run.all();
    assert!(all.contains(r"033   [   1   ;   3   R"), "{all}");
    run.until_ended();
}

#[test]
fn a_flood_does_not_keep_the_console_busy() {
    let mut run = Run::in_terminal("yes", &["a line of text"]);
    run.until("much output", |run| run.transcript.seq() > 20_000);
    let mut read = 0;
    let mut buffer = [0; 4096];
    run.console
        .read(&mut buffer, &mut |_, bytes| read += bytes.len());
    assert!(read <= (256 << 10) + buffer.len(), "{read}");
    let piece = run.transcript.since(0, 1_000, CutSide::Front);
    assert!(piece.text.len() <= 1_000 && piece.lost > 10_000);
    assert!(
        run.transcript
            .shown(10_000)
            .text
            .starts_with("a line of text\n")
    );
}

#[test]
fn the_end_of_a_terminal_comes_when_the_last_program_closes_it() {
    // The one in the background still has the terminal when the shell has ended.
    let mut run = Run::in_terminal(
        "sh",
        &["-c", "exec 3<&0; (read line <&3; echo late) & echo early"],
    );
    run.until_shown("early");
    assert!(!run.console.is_ended());
    run.send(json!({"line": ""}));
    run.until_ended();
    assert!(run.all().contains("late"), "{}", run.all());
}
