//! On whatever Unix the tests run: all but the sandbox, which a script stands in for.
#![expect(clippy::disallowed_methods, reason = "the tests write a script")]

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Mode, OFlags};

use super::*;
use crate::process::{Direction, Program, minimal_environment};
use crate::profile::Profile;
use crate::sys::macos::readiness::poll;

fn shell(script: &str) -> SpawnRequest {
    let mut request = SpawnRequest::new(Program::parse("sh").unwrap(), "/");
    request.args = vec!["-c".into(), script.into()];
    request.env = minimal_environment("/nonexistent".as_ref());
    request
}

fn start(request: SpawnRequest) -> LaunchedProcess {
    launch(request, Path::new("/nonexistent")).unwrap()
}

fn output(launched: &mut LaunchedProcess) -> String {
    let mut text = String::new();
    let mut pipe = PipeReader::from(launched.streams[1].take().unwrap());
    pipe.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_program_gets_what_the_request_names() {
    let mut request = shell("echo $0 $1; pwd; read line; echo $line; ulimit -n; exit 3");
    request.args.extend(["zero".into(), "one".into()]);
    request.stdin = Stdio::Piped;
    request.limits.descriptors = Some(77);
    let mut launched = start(request);
    let mut input = PipeWriter::from(launched.streams[0].take().unwrap());
    input.write_all(b"hello\n").unwrap();
    assert_eq!(output(&mut launched), "zero one\n/\nhello\n77\n");
    assert_eq!(
        launched.process.wait(None).unwrap(),
        Some(Exit::Exited { code: 3 })
    );
}

#[test]
fn descriptors_get_their_numbers() {
    let mut request = shell("cat <&3; cat <&9");
    for (number, text) in [(3, "three"), (9, "nine")] {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        request.descriptors.push((number, reader.into()));
    }
    assert_eq!(output(&mut start(request)), "threenine");
    let mut twice = shell("true");
    for _ in 0..2 {
        twice.descriptors.push((3, io::pipe().unwrap().0.into()));
    }
    assert!(matches!(
        launch(twice, Path::new("/nonexistent")),
        Err(SpawnError::Step { .. })
    ));
}

/// It controls the program's session: what is typed there interrupts.
#[test]
fn a_terminal_is_taken_on() {
    let flags = rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY;
    let host = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&host).unwrap();
    rustix::pty::unlockpt(&host).unwrap();
    let name = rustix::pty::ptsname(&host, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    let mut request = shell("test -t 0 && test -t 2 && echo ready >/dev/tty; exec sleep 1000");
    request.terminal = Some(theirs);
    let launched = start(request);
    assert!(launched.streams.iter().all(Option::is_none));
    let mut text = Vec::new();
    while !text.ends_with(b"ready\r\n") {
        let mut bytes = [0; 64];
        let count = rustix::io::read(&host, &mut bytes).unwrap();
        text.extend_from_slice(&bytes[..count]);
    }
    rustix::io::write(&host, b"\x03").unwrap();
    let interrupted = Exit::Killed {
        signal: 2,
        core: false,
    };
    assert_eq!(launched.process.wait(None).unwrap(), Some(interrupted));
}

#[test]
fn what_it_left_running_ends_with_it() {
    let mut launched = start(shell("sleep 1000 & echo started"));
    // The output comes to its end although the sleeper inherited it.
    assert_eq!(output(&mut launched), "started\n");
    assert_eq!(
        launched.process.wait(None).unwrap(),
        Some(Exit::Exited { code: 0 })
    );
}

#[test]
fn it_can_be_waited_for_and_ended() {
    let mut launched = start(shell("echo up; exec sleep 1000"));
    let process = &launched.process;
    assert_eq!(process.wait(Some(Duration::ZERO)).unwrap(), None);
    let ended = |limit| poll(&[(process.end_descriptor(), Direction::Read)], limit).unwrap();
    assert_eq!(ended(Some(Duration::from_millis(5))), 0);
    process.signal(0);
    process.signal(4711);
    process.signal(15);
    let killed = Some(Exit::Killed {
        signal: 15,
        core: false,
    });
    assert_eq!(process.wait(None).unwrap(), killed);
    assert_eq!(ended(None), 1);
    // It is known for good, and nobody else is signalled.
    process.kill();
    assert_eq!(process.wait(None).unwrap(), killed);
    assert!(process.reached().is_empty());
    assert_eq!(process.usage(), TreeUsage::default());
    assert!(process.left_behind().is_empty());
    drop(launched.streams[1].take());
    let launched = start(shell("exec sleep 1000"));
    launched.process.terminate();
    assert_eq!(launched.process.wait(None).unwrap(), killed);
}

/// Dropping it kills and reaps: its number is free again.
#[test]
fn a_dropped_one_is_gone() {
    let launched = start(shell("exec sleep 1000"));
    let pid = launched.process.group;
    assert_eq!(
        i64::from(launched.process.id()),
        i64::from(pid.as_raw_pid())
    );
    drop(launched);
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn what_cannot_be_started_says_so() {
    let mut missing = shell("");
    missing.program = Program::parse("no-such-program").unwrap();
    let error = |request| {
        launch(request, Path::new("/nonexistent"))
            .map(drop)
            .unwrap_err()
    };
    assert!(matches!(error(missing), SpawnError::NotFound { .. }));
    let mut elsewhere = shell("");
    elsewhere.cwd = "/nonexistent".into();
    assert!(matches!(
        error(elsewhere),
        SpawnError::WorkingDirectory { .. }
    ));
    let mut held = shell("");
    held.containment = Containment::Required;
    assert!(matches!(error(held), SpawnError::Containment { .. }));
    // Without the sandbox nothing starts that was to be confined.
    let mut confined = shell("");
    confined.profile = Some(Arc::new(Profile::closed()));
    assert!(matches!(error(confined), SpawnError::NotExecutable { .. }));
}

#[test]
fn a_profile_is_handed_to_the_sandbox() {
    let directory = tempfile::tempdir().unwrap();
    let sandbox = directory.path().join("sandbox");
    std::fs::write(
        &sandbox,
        "#!/bin/sh\nprintf '%s' \"$2\" >&2\nshift 2\nexec \"$@\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&sandbox, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut request = shell("echo inside");
    let profile = Profile::closed();
    let rules = seatbelt(&profile).unwrap();
    request.profile = Some(Arc::new(profile));
    let mut launched = launch(request, &sandbox).unwrap();
    assert_eq!(output(&mut launched), "inside\n");
    let mut text = String::new();
    let mut errors = PipeReader::from(launched.streams[2].take().unwrap());
    errors.read_to_string(&mut text).unwrap();
    assert_eq!(text, rules);
    assert_eq!(launched.status.tier, Tier::B);
}
