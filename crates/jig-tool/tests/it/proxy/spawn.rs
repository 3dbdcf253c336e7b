//! Programs that a relay starts. They are shells, which speak the protocol by numbers.
#![expect(
    clippy::disallowed_methods,
    reason = "programs are started, and what they have open is looked up"
)]

use std::fs;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use jig_proto::fsproxy::{self, Op, OpenMode, OpenParams};
use jig_testkit::until;
use jig_tool::proxy::{ChildOptions, Client, Relay};

use crate::proxy::parent::{Memory, in_time};

/// A shell that runs a script.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// The shell's words for sending an open and for waiting for the answer.
fn opening() -> String {
    let mut request = Vec::new();
    let open = Op::Open(OpenParams {
        path: "f".into(),
        mode: OpenMode::Write,
        is_top_level: None,
    });
    fsproxy::write_request(&mut request, "1", &open);
    let octal: String = request.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let mut answer = Vec::new();
    fsproxy::write_handle(&mut answer, "1", 3);
    let length = answer.len();
    format!("printf '{octal}' >&3; head -c {length} <&3 >/dev/null; ")
}

/// F-002, F-074: one descriptor, and the variable that names it.
#[test]
fn a_program_has_its_connection_and_nothing_else_of_ours() {
    let (client, server) = Memory::start();
    let relay = Relay::new(client).unwrap();
    // Others that it could inherit: connections of siblings, and files that we have open.
    let _siblings: Vec<_> = (0..3)
        .map(|_| relay.attach(ChildOptions::default()).unwrap())
        .collect();
    let mut command = shell(
        "echo $JIG_PROXY_FD; for fd in /proc/$$/fd/*; do readlink -n $fd; echo \" $fd\"; done",
    );
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = relay.spawn(command, ChildOptions::default()).unwrap();
    let mut shown = String::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_string(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("3"));
    let sockets: Vec<_> = lines.filter(|line| line.starts_with("socket:")).collect();
    assert!(
        matches!(sockets[..], [only] if only.ends_with("/fd/3")),
        "{shown}"
    );
    drop((relay, child, _siblings));
    server.join().unwrap();
}

/// F-087: what a process of the child's own has inherited keeps nothing open.
#[test]
fn the_exit_of_a_program_closes_what_it_has_open() {
    let (client, server) = Memory::start();
    in_time(move || {
        let relay = Relay::new(client).unwrap();
        // `sleep` has descriptor 3 as well, so there is no end of the stream while it runs.
        let script = format!("sleep 1000 >/dev/null 2>&1 & echo $!; {} exit 7", opening());
        let mut command = shell(&script);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = relay.spawn(command, ChildOptions::default()).unwrap();
        let mut sleeper = String::new();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_to_string(&mut sleeper).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
        child.attached().wait();
        let left = relay.clients();
        let sleeper = sleeper.trim();
        let has_it = fs::exists(format!("/proc/{sleeper}/fd/3")).unwrap();
        let mut kill = Command::new("kill");
        assert!(kill.arg(sleeper).status().unwrap().success());
        assert!(has_it);
        assert_eq!(left, []);
    });
    let memory = server.join().unwrap();
    assert_eq!(memory.logged("open").len(), 1);
    assert_eq!(memory.open(), [""; 0]);
}

#[test]
fn a_killed_program_closes_what_it_has_open() {
    let (client, server) = Memory::start();
    in_time(move || {
        let relay = Relay::new(client).unwrap();
        let mut command = shell(&format!("{} echo open; exec sleep 1000", opening()));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = relay.spawn(command, ChildOptions::default()).unwrap();
        let mut said = [0; 5];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        assert_eq!(relay.files().len(), 1);
        assert_eq!(relay.clients()[0].pid, Some(child.id()));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        child.kill().unwrap();
        child.attached().wait();
        assert_eq!(relay.files(), []);
    });
    assert_eq!(server.join().unwrap().open(), [""; 0]);
}

/// A program that cannot be started is an error, and nothing is left of it. The connection of the
/// standard library between fork and exec must not be overwritten for that.
#[test]
fn a_program_that_does_not_exist_leaves_nothing() {
    let (client, server) = Memory::start();
    let relay = Relay::new(client).unwrap();
    let missing = Command::new("/nonexistent/program");
    let error = relay.spawn(missing, ChildOptions::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    until("the child is gone", || relay.clients().is_empty());
    drop(relay);
    server.join().unwrap();
}

/// Other threads start programs all the time. None of them gets a connection that is not its own.
#[test]
fn programs_of_other_threads_inherit_nothing() {
    let (client, server) = Memory::start();
    let relay = Relay::new(client).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let strangers = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (is_over, strangers) = (Arc::clone(&is_over), Arc::clone(&strangers));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    strangers.lock().unwrap().push(sockets_of_a_stranger());
                }
            })
        })
        .collect();
    for _ in 0..100 {
        let mut command = Command::new("true");
        command.stdin(Stdio::null());
        let mut child = relay.spawn(command, ChildOptions::default()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    let strangers = strangers.lock().unwrap();
    assert!(!strangers.is_empty());
    assert_eq!(strangers.iter().sum::<usize>(), 0, "{strangers:?}");
    // One that may be inherited would have been seen.
    let (_, theirs) = relay.attach(ChildOptions::default()).unwrap();
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).unwrap();
    assert_eq!(sockets_of_a_stranger(), 1);
    drop(theirs);
    drop(relay);
    server.join().unwrap();
}

/// How many sockets a program has that is started by the standard library alone.
fn sockets_of_a_stranger() -> usize {
    let mut command = Command::new("sleep");
    command.arg("1000").stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let sockets = links.filter(|link| link.to_string_lossy().starts_with("socket:"));
    let count = sockets.count();
    child.kill().unwrap();
    child.wait().unwrap();
    count
}

/// A child that closes its end has ended, though its process goes on.
#[test]
fn the_end_of_the_connection_is_seen_while_the_program_runs() {
    let (client, server) = Memory::start();
    in_time(move || {
        let relay = Relay::new(client).unwrap();
        let mut command = shell(&format!("{} exec 3>&-; exec sleep 1000", opening()));
        command.stdin(Stdio::null());
        let mut child = relay.spawn(command, ChildOptions::default()).unwrap();
        child.attached().wait();
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    });
    assert_eq!(server.join().unwrap().open(), [""; 0]);
}

/// This process has no connection of its own: there is nothing to take over, and nothing is closed.
#[test]
fn without_a_proxy_nothing_is_taken_over() {
    // Where descriptor 3 was inherited from whoever runs the tests, it is not a socket of a proxy.
    let before = fs::read_link("/proc/self/fd/3").ok();
    assert!(Client::inherited().is_err());
    assert_eq!(fs::read_link("/proc/self/fd/3").ok(), before);
}
