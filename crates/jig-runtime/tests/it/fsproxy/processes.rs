//! Clients that are processes: this test's own program once more, in some role, with the socket as its standard
//! input. (Descriptor 3 by number is for programs that may take raw numbers; a shell does that here.)
#![expect(
    clippy::exit,
    clippy::print_stderr,
    reason = "a process that just ends is what is tested, and one that fails says with which seed"
)]

use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use jig_runtime::fsproxy::{ClientEnd, ClientOptions, ManagerOptions};
use jig_testkit::until_it_rests;
use serde_json::json;

use crate::fsproxy::support::{Backend, Raw, World, frame, until};

const ROLE: &str = "JIG_TEST_ROLE";

/// Where this program ends up when it is started in a role; nothing otherwise.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    if role == "thousand" {
        thousand_clients();
        return;
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut raw = Raw::new(socket);
    let real = raw.open("out/process.txt", "w").unwrap();
    let virt = raw.open("process", "a").unwrap();
    raw.write(real, b"written so far").unwrap();
    raw.write(virt, b"written so far").unwrap();
    match role.as_str() {
        "exit" => exit(1),
        "leave" => {
            // It has the socket as well, and reads from it until that is shut down.
            let mut cat = Command::new("cat");
            cat.stdout(Stdio::null()).stderr(Stdio::null());
            cat.spawn().unwrap();
            exit(1)
        }
        "churn" => loop {
            let handle = raw.open("scratch", "rw").unwrap();
            raw.write(handle, b"more").unwrap();
            raw.send(&json!({ "id": "x", "op": "read", "params": { "h": handle } }));
            raw.receive();
            raw.open("in/a.txt", "r").unwrap();
            raw.close(handle).unwrap();
        },
        other => panic!("{other}"),
    }
}

/// This program in a role.
fn in_role(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "fsproxy::processes::role",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(ROLE, role);
    command
}

fn start(role: &str, socket: OwnedFd) -> Child {
    let mut command = in_role(role);
    command.stdin(socket);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // The command keeps the socket open as long as it lives, which is no longer than this.
    command.spawn().unwrap()
}

#[test]
fn f087_f088_a_process_that_exits_without_closing_leaks_nothing() {
    let world = World::new(Backend::Disk, ManagerOptions::default());
    let (client, socket) = world.manager.connect(ClientOptions::default()).unwrap();
    let mut child = start("exit", socket);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(client.wait(), ClientEnd::Eof);
    assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
    assert_eq!(world.content("out/process.txt").unwrap(), b"written so far");
    assert_eq!(world.raw().content("process").unwrap(), b"written so far");
}

/// The child is gone, but a process of its own has the socket: there is no end of the stream.
#[test]
fn f087_a_grandchild_that_keeps_the_socket_keeps_nothing_open() {
    let world = World::new(Backend::Disk, ManagerOptions::default());
    let (client, socket) = world.manager.connect(ClientOptions::default()).unwrap();
    let mut child = start("leave", socket);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    // The attack works as long as nobody says that the process has exited.
    assert_eq!(client.wait_timeout(Duration::from_millis(100)), None);
    assert_eq!(world.manager.files().len(), 2);
    client.end();
    assert_eq!(client.wait(), ClientEnd::Ended);
    assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
    assert_eq!(world.content("out/process.txt").unwrap(), b"written so far");
}

#[test]
fn f002_a_program_finds_its_connection_at_descriptor_3() {
    let world = World::new(Backend::Disk, ManagerOptions::default());
    let (client, socket) = world.manager.connect(ClientOptions::default()).unwrap();
    let open = json!({ "id": "1", "op": "open", "params": { "path": "out/sh.txt", "mode": "w" } });
    let write = json!({ "id": "2", "op": "write", "params": { "h": 3, "data": "ZnJvbSBzaA==" } });
    let bytes: Vec<u8> = [open, write].iter().flat_map(frame).collect();
    let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    // It waits for the first answer, of 46 bytes, and ends without closing anything.
    let script = format!("exec 3<&0 0</dev/null; printf '{octal}' >&3; head -c 46 <&3; exit 7");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .stdin(socket)
        .stdout(Stdio::piped());
    let output = shell.output().unwrap();
    drop(shell);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(
        &output.stdout[4..],
        br#"{"id":"1","ok":true,"result":{"handle":3}}"#,
    );
    client.wait();
    assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
    assert_eq!(world.content("out/sh.txt").unwrap(), b"from sh");
}

/// The end of the stream and the news of the exit come at the same moment.
#[test]
fn f083_f087_the_end_of_the_stream_and_the_exit_race() {
    let world = World::new(Backend::Disk, ManagerOptions::default());
    for _ in 0..20 {
        let (client, socket) = world.manager.connect(ClientOptions::default()).unwrap();
        let mut child = start("exit", socket);
        let ending = {
            let client = client.clone();
            thread::spawn(move || {
                child.wait().unwrap();
                client.end();
            })
        };
        client.wait();
        ending.join().unwrap();
        assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
    }
}

/// In a process of its own, where nobody else opens descriptors.
#[test]
#[cfg(target_os = "linux")]
fn f083_f088_a_thousand_clients_that_die_at_random_leave_nothing() {
    let output = in_role("thousand").output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn thousand_clients() {
    let world = World::new(Backend::Disk, ManagerOptions::default());
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    eprintln!("seed {seed}");
    // What is opened once, and stays, is opened by the first few.
    many_clients(&world, &mut Random(seed | 1), 20);
    world.expect_empty();
    let before = until_it_rests("the threads of the first are gone", 0, || {
        descriptors() as u64
    });
    thread::scope(|scope| {
        for worker in 0..10 {
            let world = &world;
            scope.spawn(move || many_clients(world, &mut Random((seed ^ worker) | 1), 100));
        }
    });
    world.expect_empty();
    until("every descriptor is closed", || {
        descriptors() as u64 <= before
    });
    assert_eq!(world.raw().content("in/a.txt").unwrap(), b"hello");
    // The last number tells how many there were.
    assert_eq!(world.connect().0.id(), "c1022");
}

fn many_clients(world: &World, random: &mut Random, count: usize) {
    for _ in 0..count {
        if random.below(4) == 0 {
            let (client, socket) = world.manager.connect(ClientOptions::default()).unwrap();
            let mut child = start("churn", socket);
            // Somewhere between its start and the middle of its work.
            jig_testkit::let_pass(Duration::from_micros(random.below(30_000)));
            child.kill().unwrap();
            child.wait().unwrap();
            if random.below(2) == 0 {
                client.end();
            }
            continue;
        }
        let (client, raw) = world.connect();
        die_somewhere(raw, random);
        if random.below(8) == 0 {
            client.end();
        }
    }
}

/// A client that stops at any point of what it does.
fn die_somewhere(mut raw: Raw, random: &mut Random) {
    let open = |number: u64, path: &str, mode: &str| {
        let params = json!({ "path": path, "mode": mode });
        frame(&json!({ "id": number.to_string(), "op": "open", "params": params }))
    };
    for number in 0..random.below(12) {
        let (path, mode) = match random.below(4) {
            0 => ("in/a.txt", "r"),
            1 => ("out/many", "a"),
            2 => ("scratch", "rw"),
            _ => ("in/secret/key.txt", "r"),
        };
        let bytes = open(number, path, mode);
        let cut = match random.below(6) {
            0 => random.below(bytes.len() as u64) as usize,
            _ => bytes.len(),
        };
        // It may be answered with nobody there to read, and then the socket is closed.
        if raw.socket.write_all(&bytes[..cut]).is_err() || cut < bytes.len() {
            return;
        }
        if random.below(2) == 0 {
            raw.receive_text();
        }
    }
    if random.below(4) == 0 {
        let _ = raw.socket.shutdown(Shutdown::Write);
    }
}

/// How many descriptors this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
