//! Programs on a terminal of their own: it controls their session, and is the only one they have.
#![expect(
    clippy::disallowed_types,
    reason = "the host's end of a terminal is read and written as a file"
)]

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use jig_sandbox::{
    Enforce, Interest, Layers, PathRule, Profile, Rights, RuleSource, SpawnError, Stdio, Tier, poll,
};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use super::*;

/// Every way to run a program that differs in what surrounds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Namespaces,
    Adoption,
    TierA,
    TierB,
}

const ALL: [Around; 4] = [
    Around::Namespaces,
    Around::Adoption,
    Around::TierA,
    Around::TierB,
];

impl Around {
    fn request(self, program: &str, args: &[&str]) -> SpawnRequest {
        let mut request = request(program, args);
        match self {
            Around::Namespaces => {}
            Around::Adoption => request.containment = Containment::WithoutNamespaces,
            Around::TierA => request.profile = Some(profile(Layers::ALL)),
            Around::TierB => request.profile = Some(profile(Layers::TIER_B)),
        }
        request
    }
}

/// The programs of the system, and nothing else.
fn profile(layers: Layers) -> Arc<Profile> {
    let mut profile = Profile::closed();
    for path in ["/usr", "/etc"] {
        profile.paths.push(PathRule {
            path: path.into(),
            rights: Rights::READ.with(Rights::EXECUTE),
            source: RuleSource::System,
        });
    }
    profile.layers = layers;
    profile.enforce = if layers.namespaces {
        Enforce::Required
    } else {
        Enforce::BestEffort
    };
    Arc::new(profile)
}

/// The host's end of a terminal, and what was read from it.
struct Terminal {
    end: File,
    text: String,
}

impl Terminal {
    /// With it comes the program's end.
    fn open() -> (Self, OwnedFd) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let end = rustix::pty::openpt(flags).expect("there are terminals");
        rustix::pty::unlockpt(&end).expect("it is ours");
        let theirs = rustix::pty::ioctl_tiocgptpeer(&end, flags).expect("it is unlocked");
        let terminal = Self {
            end: end.into(),
            text: String::new(),
        };
        terminal.resize(24, 80);
        (terminal, theirs)
    }

    /// Starts a program on a new terminal.
    fn start(around: Around, program: &str, args: &[&str]) -> (Self, Child) {
        let (terminal, theirs) = Self::open();
        let mut request = around.request(program, args);
        request.terminal = Some(theirs);
        let child = spawn(request).unwrap_or_else(|error| panic!("{around:?}: {error:?}"));
        (terminal, child)
    }

    /// An interactive shell that has said that it waits.
    fn shell(around: Around) -> (Self, Child) {
        let (terminal, theirs) = Self::open();
        let args = ["--norc", "--noprofile", "--noediting", "-i"];
        let mut request = around.request("/bin/bash", &args);
        request.env.insert("PS1".into(), "ready> ".into());
        request.terminal = Some(theirs);
        let child = spawn(request).unwrap_or_else(|error| panic!("{around:?}: {error:?}"));
        let mut terminal = terminal;
        terminal.expect("ready> ");
        (terminal, child)
    }

    fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.end, size).expect("it is ours");
    }

    fn send(&self, text: &str) {
        (&self.end).write_all(text.as_bytes()).expect("it is open");
    }

    /// Reads until the text comes; forgets it and all before it.
    #[track_caller]
    fn expect(&mut self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.text.find(wanted) {
                self.text.drain(..at + wanted.len());
                return;
            }
            let more = self.read(deadline);
            assert!(more, "`{wanted}` did not come, but {:?}", self.text);
        }
    }

    /// Reads once; false if nobody has the program's end any more, or the time is over.
    fn read(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let interests = [Interest::Readable(self.end.as_fd())];
        let ready = poll(&interests, Some(left)).expect("it can be waited for");
        let mut bytes = [0; 4096];
        if ready.is_empty() {
            return false;
        }
        match (&self.end).read(&mut bytes) {
            Ok(count) => {
                self.text
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
                true
            }
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(libc::EIO));
                false
            }
        }
    }

    /// Everything up to the end, which comes when nobody has the program's end any more.
    #[track_caller]
    fn rest(&mut self) -> String {
        let deadline = Instant::now() + PATIENCE;
        while self.read(deadline) {}
        assert!(Instant::now() < deadline, "somebody keeps the terminal");
        std::mem::take(&mut self.text).replace("\r\n", "\n")
    }
}

const PATIENCE: Duration = Duration::from_secs(30);

/// What a script prints on a terminal.
#[track_caller]
fn check(around: Around, script: &str, expected: &str) {
    let (mut terminal, child) = Terminal::start(around, "/bin/sh", &["-c", script]);
    assert_eq!(terminal.rest(), expected, "{around:?}: {script}");
    child.wait().expect("it can be waited for");
}

#[test]
fn it_is_all_three_streams_and_controls_the_session() {
    for around in ALL {
        check(
            around,
            "test -t 0 && test -t 1 && test -t 2 && echo all",
            "all\n",
        );
        check(around, "echo to it >/dev/tty", "to it\n");
        check(around, "stty size </dev/tty", "24 80\n");
        check(around, "echo by a stream >/dev/stderr", "by a stream\n");
        // The program leads the session, and is what keys on the terminal reach.
        let ids =
            "set -- $(cut -d')' -f2 /proc/self/stat); test $4 -gt 0 && echo same $(($5 != 0))";
        if around != Around::TierB {
            check(around, ids, "same 1\n");
        }
    }
}

/// Programs that want to know its name find one.
#[test]
fn it_has_a_name() {
    check(Around::TierA, "tty", "/dev/console\n");
    for around in ALL {
        check(around, "echo hello >$(tty)", "hello\n");
    }
}

/// without a terminal there is none, and the streams are pipes.
#[test]
fn without_one_there_is_none() {
    for around in ALL {
        let script = "exec 2>&1; test -t 0 || echo none; (: </dev/tty) || echo no tty";
        let (_, output, _) = run(around.request("/bin/sh", &["-c", script]));
        assert!(output.starts_with("none\n"), "{around:?}: {output}");
        assert!(output.ends_with("no tty\n"), "{around:?}: {output}");
    }
    let script = "ls /dev";
    let (_, output, _) = run(Around::TierA.request("/bin/sh", &["-c", script]));
    assert!(
        !output.contains("tty") && !output.contains("console"),
        "{output}"
    );
}

/// What the request says about the three streams does not count, and pipes are not made.
#[test]
fn the_streams_of_the_request_do_not_count() {
    let (mut terminal, theirs) = Terminal::open();
    let mut request = shell("echo here; echo and here >&2");
    let (reader, writer) = std::io::pipe().expect("pipes can be made");
    request.stdin = Stdio::Piped;
    request.stderr = Stdio::Given(writer.into());
    request.terminal = Some(theirs);
    let child = spawn(request).expect("it starts");
    assert!(child.stdin.is_none() && child.stdout.is_none() && child.stderr.is_none());
    assert_eq!(terminal.rest(), "here\nand here\n");
    let mut nothing = String::new();
    let mut reader = reader;
    reader.read_to_string(&mut nothing).expect("it is closed");
    assert_eq!(nothing, "");
}

#[test]
fn keys_reach_the_job_and_not_the_shell() {
    for around in ALL {
        let (mut terminal, child) = Terminal::shell(around);
        terminal.send("sleep 1000\n");
        terminal.expect("sleep 1000\r\n");
        await_program(&child, "sleep");
        terminal.send("\x03");
        terminal.expect("^C");
        terminal.expect("ready> ");
        terminal.send("echo status $?\n");
        terminal.expect("status 130\r\n");

        terminal.send("sleep 1001; echo slept $?\n");
        terminal.expect("slept $?\r\n");
        await_program(&child, "sleep");
        terminal.send("\x1a");
        terminal.expect("Stopped");
        terminal.expect("ready> ");
        terminal.send("jobs; fg\n");
        terminal.expect("Stopped");
        terminal.expect("sleep 1001\r\n");
        await_program(&child, "sleep");
        terminal.send("\x1c");
        terminal.expect("Quit");
        terminal.send("exit 7\n");
        let exit = child.wait_timeout(PATIENCE).expect("it can be waited for");
        assert_eq!(exit, Some(Exit::Exited { code: 7 }), "{around:?}");
    }
}

/// Waits until a program of that name runs in the foreground below the child's shell.
#[track_caller]
fn await_program(child: &Child, name: &str) {
    until("it runs in the foreground", || {
        below(child.id()).iter().any(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let Some((start, rest)) = stat.rsplit_once(") ") else {
                return false;
            };
            let fields: Vec<&str> = rest.split(' ').collect();
            // The state, the process group, and that in the foreground of the terminal.
            start.ends_with(&format!("({name}"))
                && fields[0] == "S"
                && fields.get(2) == fields.get(5)
        })
    });
}

fn below(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let children = children
        .split_whitespace()
        .filter_map(|one| one.parse().ok());
    children
        .flat_map(|child| [vec![child], below(child)].concat())
        .collect()
}

#[test]
fn a_new_size_is_told() {
    for around in ALL {
        let script = "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done";
        let (mut terminal, child) = Terminal::start(around, "/bin/sh", &["-c", script]);
        terminal.expect("ready\r\n");
        terminal.resize(33, 101);
        assert_eq!(terminal.rest(), "33 101\n", "{around:?}");
        assert!(child.wait().expect("waitable").is_success());
    }
}

/// Closing the host's end is told, and ends whoever does not mind.
#[test]
fn closing_the_hosts_end_hangs_up() {
    for around in ALL {
        let (terminal, child) = Terminal::shell(around);
        drop(terminal);
        let exit = child.wait_timeout(PATIENCE).expect("waitable");
        assert!(exit.is_some(), "{around:?}");
        let (mut terminal, child) =
            Terminal::start(around, "/bin/sh", &["-c", "echo ready; exec sleep 1000"]);
        terminal.expect("ready");
        drop(terminal);
        let exit = child.wait_timeout(PATIENCE).expect("waitable");
        let expected = Exit::Killed {
            signal: libc::SIGHUP,
            core: false,
        };
        assert_eq!(exit, Some(expected), "{around:?}");
    }
}

/// A program that has closed it has closed it: neither host nor keeper holds it open.
#[test]
fn nobody_else_holds_it_open() {
    for around in ALL {
        let script = "trap '' HUP; echo bye; exec </dev/null >/dev/null 2>&1; exec sleep 1000";
        let (mut terminal, child) = Terminal::start(around, "/bin/sh", &["-c", script]);
        assert_eq!(terminal.rest(), "bye\n", "{around:?}");
        assert_eq!(child.try_wait().expect("waitable"), None);
    }
}

/// One that controls another session stays there, root or not.
#[test]
fn it_is_not_taken_from_another_session() {
    for around in ALL {
        let (mut terminal, theirs) = Terminal::open();
        let mut first = around.request("/bin/sh", &["-c", "echo ready; exec sleep 1000"]);
        first.terminal = Some(theirs.try_clone().expect("it is open"));
        let _first = spawn(first).expect("it starts");
        terminal.expect("ready");
        let mut second = around.request("/bin/sh", &["-c", "echo second"]);
        second.terminal = Some(theirs);
        let refused = refusal(second);
        assert_eq!(refused, (SpawnStep("taking on its terminal"), libc::EPERM));
    }
}

#[test]
fn what_is_no_terminal_is_refused() {
    for around in ALL {
        let mut request = around.request("/bin/sh", &["-c", "true"]);
        let null = File::open("/dev/null").expect("it is there");
        request.terminal = Some(null.into());
        let refused = refusal(request);
        assert_eq!(refused, (SpawnStep("taking on its terminal"), libc::ENOTTY));
    }
}

#[derive(Debug, PartialEq, Eq)]
struct SpawnStep(&'static str);

#[track_caller]
fn refusal(request: SpawnRequest) -> (SpawnStep, i32) {
    match spawn(request) {
        Err(SpawnError::Step { step, source, .. }) => {
            (SpawnStep(step), source.raw_os_error().unwrap_or(0))
        }
        other => panic!("{other:?}"),
    }
}

/// A tool can make terminals of its own, in a place of its own: `script` and its like work.
#[test]
fn it_can_make_more_of_them_in_namespaces() {
    let (mut terminal, child) = Terminal::start(
        Around::TierA,
        "/bin/sh",
        &["-c", "script -qec tty /dev/null"],
    );
    assert_eq!(terminal.rest(), "/dev/pts/0\n");
    assert_eq!(child.status.tier, Tier::A);
}

/// S-063, J-019: nothing is left of a child that was ended, its terminal included.
#[test]
fn ending_the_child_ends_the_terminal() {
    for around in ALL {
        let (mut terminal, child) = Terminal::shell(around);
        terminal.send("sleep 1000 & setsid sleep 1000 &\n");
        terminal.expect("ready> ");
        child.kill();
        child.wait().expect("waitable");
        terminal.rest();
    }
}
