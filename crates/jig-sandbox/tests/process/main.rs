//! Starting, watching and ending real programs, as root and as an ordinary user.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "limits, filters and poisoned descriptors are made by system calls"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests look into /proc, write programs and run themselves again"
)]

mod basics;
mod confined;
mod ending;
mod failing;
mod gateway;
mod pool;
mod refused;
mod replaced;
mod surroundings;
mod terminal;
mod tree;
mod usage;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jig_sandbox::{
    Child, Containment, Exit, Launch, Pool, Program, SpawnRequest, minimal_environment, spawn,
};
use jig_testkit::until;

const NOBODY: u32 = 65534;

/// Both ways to hold a tree together.
const BOTH: [Containment; 2] = [Containment::BestEffort, Containment::WithoutNamespaces];

/// Names the one test that a process was started for.
const ALONE: &str = "JIG_TEST_ALONE";

/// How many keepers wait in the tests' pool.
const READY: usize = 2;

/// Names the way by which children are started.
const LAUNCH: &str = "JIG_TEST_LAUNCH";

/// The way by which all tests of this process start children: [`Launch::Direct`] unless they run once
/// more for another.
fn launch() -> Launch {
    static POOL: OnceLock<Pool> = OnceLock::new();
    match std::env::var(LAUNCH).as_deref() {
        Ok("launcher") => Launch::Launcher,
        Ok("pool") => Launch::Pool(
            POOL.get_or_init(|| Pool::new(READY).expect("the launcher is built in"))
                .clone(),
        ),
        _ => Launch::Direct,
    }
}

/// Whether children are copies of this process.
fn launches_directly() -> bool {
    matches!(launch(), Launch::Direct)
}

/// Whether children are children of another process than this one.
fn launches_by_pool() -> bool {
    matches!(launch(), Launch::Pool(_))
}

/// Starts a first child, so that what is opened once, and stays open, is.
fn warm_up() {
    assert!(run(shell("exit")).0.is_success());
}

/// As root, every test here runs once more as nobody.
#[test]
fn an_ordinary_user_gets_the_same() {
    run_all_again("direct", true);
}

/// Every test here runs once more with the launcher, as root and as nobody.
#[test]
fn the_launcher_does_the_same() {
    run_all_again("launcher", false);
    run_all_again("launcher", true);
}

/// Every test here runs once more with a pool, as root and as nobody.
#[test]
fn a_pool_does_the_same() {
    run_all_again("pool", false);
    run_all_again("pool", true);
}

#[track_caller]
fn run_all_again(way: &str, as_nobody: bool) {
    let is_root = rustix::process::geteuid().is_root();
    if std::env::var_os(LAUNCH).is_some() || as_nobody && !is_root {
        return;
    }
    // The program is reached by its link in /proc, because the directories above it may be closed
    // to others.
    let mut command = Command::new("/proc/self/exe");
    command.current_dir("/").env(LAUNCH, way);
    if as_nobody {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().expect("the tests can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains(" passed; 0 failed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs the test `name` in a process of its own, where no other test opens descriptors or forks.
/// True in that process; false in the one that started it, when it has passed.
#[track_caller]
fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).as_deref() == Some(OsStr::new(name)) {
        return true;
    }
    let output = Command::new("/proc/self/exe")
        .args(["--exact", name, "--test-threads=1", "--nocapture"])
        .env(ALONE, name)
        .output()
        .expect("the test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

fn request(program: &str, args: &[&str]) -> SpawnRequest {
    let program = Program::parse(program).expect("tests name programs properly");
    let mut request = SpawnRequest::new(program, "/");
    request.args = args.iter().map(Into::into).collect();
    request.env = minimal_environment("/nonexistent".as_ref());
    request.launch = launch();
    request
}

fn shell(script: &str) -> SpawnRequest {
    request("/bin/sh", &["-c", script])
}

/// Runs to the end; how it ended, its output and its errors, which must be short.
fn run(request: SpawnRequest) -> (Exit, String, String) {
    let mut child = spawn(request).expect("it starts");
    let read = |pipe: Option<std::io::PipeReader>| {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).expect("pipes can be read");
        }
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (output, errors) = (read(child.stdout.take()), read(child.stderr.take()));
    (child.wait().expect("it can be waited for"), output, errors)
}

/// Reads standard output up to and including a line that says `ready`.
fn await_ready(child: &mut Child) {
    let output = child.stdout.as_mut().expect("output is piped");
    let mut lines = BufReader::with_capacity(1, output).lines();
    let found = lines.find(|line| line.as_ref().is_ok_and(|line| line == "ready"));
    assert!(found.is_some(), "it ended before it was ready");
}

const MARK: &str = "JIG_TEST_MARK";

/// A value that no other test has.
fn fresh_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// The living processes that have the mark in their environment.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    fs::read_dir("/proc")
        .expect("/proc is mounted")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|one| one == wanted.as_bytes())
        })
        .collect()
}

fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn descriptors() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/proc/self/fd")
        .expect("/proc is mounted")
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some(format!("{path:?} {:?}", fs::read_link(&path).ok()?))
        })
        .collect();
    names.sort();
    names
}

/// The descriptors but for those of keepers that wait in a pool: each has two, of which there is a bound.
fn settled_descriptors() -> Vec<String> {
    let mut all = descriptors();
    if launches_by_pool() {
        let before = all.len();
        all.retain(|one| !one.contains("socket:[") && !one.contains("[pidfd]"));
        assert!(before - all.len() <= 2 * (1 + READY), "{all:?}");
        // Nor does the number matter under which the list itself is read.
        all.retain(|one| !one.ends_with("/fd\""));
    }
    all
}

/// No child is left, running or dead, but the zygote of a pool.
#[track_caller]
fn assert_no_child_is_left() {
    if launches_by_pool() {
        let children = fs::read_to_string("/proc/thread-self/children").expect("/proc is mounted");
        let main = fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id()));
        let all = children + &main.expect("/proc is mounted");
        for child in all.split_whitespace() {
            let name = fs::read_to_string(format!("/proc/{child}/comm")).expect("it is ours");
            assert_eq!(name, "jig-zygote\n");
        }
    } else {
        assert!(!has_children());
    }
}

/// Whether this process has any child, running or dead, of whatever kind.
fn has_children() -> bool {
    // SAFETY: a null status is allowed.
    let result = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::__WALL | libc::WNOHANG) };
    let error = std::io::Error::last_os_error();
    !(result == -1 && error.raw_os_error() == Some(libc::ECHILD))
}
