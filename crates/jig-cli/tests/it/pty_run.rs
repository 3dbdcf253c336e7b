//! `jig run` at a terminal: the command has a terminal of its own, and the user's stays as it was.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// The command sees a terminal on all three streams, as large as the user's, and can open it by name.
#[test]
fn the_command_has_a_terminal_of_its_own() {
    for_each_user(|desk| {
        let script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo \"type $TERM\" && \
                      echo by name > /dev/tty; exit 7";
        let seat = Seat::new(desk, &["run", "--", "sh", "-c", script]);
        let (status, screen) = seat.ends();
        assert_eq!(screen, "24 80\ntype xterm-256color\nby name");
        assert_eq!(status.code(), Some(7));
    });
}

/// It is another one than the user's: what it is called, and what a program does to it, tells.
#[test]
fn the_users_terminal_is_out_of_reach() {
    for_each_user(|desk| {
        // Without jig, the settings of the terminal are changed for good.
        let mut plain = desk.command("stty");
        plain.args(["-echo", "raw"]);
        let mut seat = Seat::of(desk, &plain);
        until("the settings change", || !seat.is_as_before());
        seat.types("");
        drop(seat);

        let script = "stty -echo raw; stty -a | grep -c -- '-echo '; exec sleep 0.2";
        let mut seat = Seat::new(desk, &["run", "--", "sh", "-c", script]);
        seat.sees_text("1");
        let (status, _) = seat.ends();
        assert!(status.success(), "{status:?}");
    });
}

/// A host that is refused is told while the command still tries, once, with what would allow it.
#[test]
fn a_refused_host_is_told_at_once() {
    for_each_user(|desk| {
        let script = "getent hosts denied.example; getent hosts denied.example; read a; exit 3";
        let mut seat = Seat::new(desk, &["run", "--", "sh", "-c", script]);
        // The command waits for a key that was not typed yet.
        seat.sees("the way out", |screen| {
            screen.replace('\n', "").contains("--net denied.example")
        });
        seat.types("\r");
        let (status, screen) = seat.ends();
        assert_eq!(status.code(), Some(3));
        let line = "jig: refused: look up on `denied.example`: ";
        // At once, and among all that is told at the end.
        let told = screen.replace('\n', "").matches(line).count();
        assert_eq!(told, 2, "{screen}");
    });
}

/// Ctrl-C is a byte for jig, and a signal for the command, which may do with it what it likes.
#[test]
fn ctrl_c_reaches_the_command() {
    for_each_user(|desk| {
        let script = "trap 'echo caught' INT; echo ready; read a; read b; echo \"$a|$b\"; exit 3";
        let mut seat = Seat::new(desk, &["run", "--", "bash", "-c", script]);
        seat.sees_text("ready");
        seat.types("\x03");
        seat.sees_text("caught");
        seat.types("one\r");
        seat.types("two\r");
        let (status, screen) = seat.ends();
        assert!(
            screen.contains("|two") || screen.contains("one|two"),
            "{screen}"
        );
        assert_eq!(status.code(), Some(3));

        // One that does nothing about it ends by it, and so does jig.
        let mut seat = Seat::new(
            desk,
            &["run", "--", "sh", "-c", "echo ready; exec sleep 600"],
        );
        seat.sees_text("ready");
        seat.types("\x03");
        let (status, _) = seat.ends();
        assert_eq!(status.signal(), Some(2), "{status:?}");
    });
}

/// An interactive shell: prompt, line editing, the end of input by its key, and its exit code.
#[test]
fn a_shell_works() {
    for_each_user(|desk| {
        let mut seat = Seat::new(desk, &["run", "--", "bash", "--norc", "--noprofile", "-i"]);
        seat.sees("a prompt", |screen| screen.trim_end().ends_with(['$', '#']));
        seat.types("echo $((6*7))\r");
        seat.sees("the result", |screen| {
            screen.lines().any(|line| line == "42")
        });
        // The cursor key brings the line back.
        seat.types("\x1b[A\r");
        seat.sees("it again", |screen| {
            screen.lines().filter(|line| *line == "42").count() == 2
        });
        seat.types("(exit 5)\r");
        // While a command runs, the key would mean the end of its input.
        seat.sees("the next prompt", |screen| {
            let mut lines = screen.trim_end().lines().rev();
            let prompt = lines.next().is_some_and(|line| line.ends_with(['$', '#']));
            prompt && lines.next().is_some_and(|line| line.ends_with("(exit 5)"))
        });
        seat.types("\x04");
        let (status, _) = seat.ends();
        assert_eq!(status.code(), Some(5));
    });
}

/// The command hears of another size at once.
#[test]
fn another_size_is_passed_on() {
    for_each_user(|desk| {
        let script =
            "trap 'stty size' WINCH; trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done";
        let mut seat = Seat::new(desk, &["run", "--", "bash", "-c", script]);
        seat.sees_text("ready");
        seat.resize(40, 120);
        seat.sees_text("40 120");
        seat.types("\x03");
        let (status, _) = seat.ends();
        assert_eq!(status.code(), Some(9), "{status:?}");
    });
}

/// Programs that use the whole screen: an editor and a pager.
#[test]
fn full_screen_programs_work() {
    for_each_user(|desk| {
        desk.workspace
            .write("notes.txt", "first line\nsecond line\n");
        if desk.has(&["vim", "--version"]) {
            let args = ["run", "--", "vim", "-u", "NONE", "-i", "NONE", "notes.txt"];
            let mut seat = Seat::new(desk, &args);
            seat.sees_text("second line");
            seat.types("Onew line\x1b");
            seat.sees_text("new line");
            seat.types(":wq\r");
            let (status, _) = seat.ends();
            assert!(status.success(), "{status:?}");
            assert_eq!(
                desk.read("notes.txt"),
                "new line\nfirst line\nsecond line\n"
            );
        }
        if desk.has(&["less", "--version"]) {
            let lines: String = (1..200).map(|line| format!("line {line}\n")).collect();
            desk.workspace.write("long.txt", lines);
            let mut seat = Seat::new(desk, &["run", "--", "less", "long.txt"]);
            seat.sees_text("line 10");
            seat.types("G");
            seat.sees_text("line 199");
            seat.types("q");
            let (status, _) = seat.ends();
            assert!(status.success(), "{status:?}");
        }
    });
}

/// Whatever ends jig, the terminal is as it was.
#[test]
fn the_terminal_is_restored_when_jig_is_ended() {
    for_each_user(|desk| {
        for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
            let script = "echo ready; exec sleep 600";
            let mut seat = Seat::new(desk, &["run", "--", "sh", "-c", script]);
            seat.sees_text("ready");
            until("it is raw", || !seat.is_as_before());
            let pid = seat.pid().to_string();
            assert!(
                Command::new("kill")
                    .args([name, &pid])
                    .status()
                    .unwrap()
                    .success()
            );
            let (status, _) = seat.ends();
            assert_eq!(status.signal(), Some(number), "{status:?}");
        }
    });
}

/// A jig that is stopped gives the terminal back, and takes it again when it goes on.
#[test]
fn a_stopped_jig_gives_the_terminal_back() {
    for_each_user(|desk| {
        let script = "echo ready; read line; echo \"got $line\"";
        let mut seat = Seat::new(desk, &["run", "--", "sh", "-c", script]);
        seat.sees_text("ready");
        until("it is raw", || !seat.is_as_before());
        let pid = seat.pid().to_string();
        let send = |signal: &str| {
            let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
            assert!(sent.success());
        };
        let is_stopped = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            stat.contains(") T ")
        };
        send("-TSTP");
        until("it has stopped", is_stopped);
        assert!(seat.is_as_before());
        send("-CONT");
        until("it is raw again", || !seat.is_as_before());
        seat.types("a line\r");
        seat.sees_text("got a line");
        assert!(seat.ends().0.success());
    });
}

/// A limit on time holds at a terminal too.
#[test]
fn a_limit_on_time_holds() {
    let desk = Desk::new();
    let seat = Seat::new(&desk, &["run", "--time", "300ms", "--", "sleep", "600"]);
    let (status, screen) = seat.ends();
    assert_eq!(status.code(), Some(124));
    assert!(screen.contains("ran longer than 300ms"), "{screen}");
}

/// What was printed last is not lost, however the command ends.
#[test]
fn the_last_output_arrives() {
    let desk = Desk::new();
    for _ in 0..10 {
        let script = "seq 1 5000; echo the end";
        let mut seat = Seat::new(&desk, &["run", "--", "sh", "-c", script]);
        seat.sees_text("the end");
        let printed = String::from_utf8(seat.printed.clone()).unwrap();
        assert_eq!(printed.lines().count(), 5001, "{}", printed.len());
        assert!(seat.ends().0.success());
    }
}

/// A command that could not be started leaves the terminal alone.
#[test]
fn a_command_that_is_not_there() {
    let desk = Desk::new();
    let (status, screen) = Seat::new(&desk, &["run", "--", "no-such-program"]).ends();
    assert_eq!(status.code(), Some(127));
    assert!(screen.contains("no-such-program"), "{screen}");
}

/// In a pipe nothing changes, unless somebody wants it.
#[test]
fn a_pipe_stays_a_pipe() {
    for_each_user(|desk| {
        let script = "test -t 1 && echo terminal || echo pipe";
        assert_eq!(desk.ok(&["run", "--", "sh", "-c", script]), "pipe\n");
        let always = ["run", "--pty", "always", "--", "sh", "-c", script];
        assert_eq!(desk.ok(&always), "terminal\r\n");
        let mut jig = desk.jig(&["run", "--pty", "always", "--", "cat"]);
        let mut jig = jig
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut jig.stdin.take().unwrap(), b"no line end").unwrap();
        // The end of the input is the end of the command's, in the middle of a line too.
        let output = jig.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.ends_with("no line end"), "{text:?}");
    });
}

/// At a terminal, too, the streams can be handed over as they are; and output that goes elsewhere does.
#[test]
fn never_means_never() {
    let desk = Desk::new();
    let seat = Seat::new(
        &desk,
        &["run", "--pty", "never", "--", "sh", "-c", "tty; stty size"],
    );
    let (_, screen) = seat.ends();
    assert!(screen.contains("24 80"), "{screen}");

    let mut program = desk.command("sh");
    let jig = desk.jig(&[]);
    let jig = jig.get_program().to_str().unwrap();
    program.args([
        "-c",
        "\"$0\" run -- sh -c 'test -t 1 || echo file' > out.txt",
        jig,
    ]);
    let (status, _) = Seat::of(&desk, &program).ends();
    assert!(status.success());
    assert_eq!(desk.read("out.txt"), "file\n");
}
