//! Many confined calls leave nothing behind: no process, no descriptor, no mount, no namespace, no file,
//! and no memory, neither in the host nor in the helper of a pool.
//!
//! `JIG_LEAK_CALLS` is how many calls each way of starting makes; a few hundred by default.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the test looks into /proc and runs itself again"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use jig_sandbox::{
    Exit, Launch, PathRule, Pool, PrivateDirectory, ProcessLimits, Profile, Program, Rights,
    RuleSource, SpawnRequest, Stdio, minimal_environment, spawn,
};
use jig_testkit::until;

const NOBODY: u32 = 65534;

/// As root it runs once more as nobody.
#[test]
fn nothing_is_left_behind() {
    let workspace = tempfile::tempdir_in("/var/tmp").expect("there is a place for it");
    fs::write(workspace.path().join("secret"), "hidden").expect("writable");
    fs::create_dir(workspace.path().join("kept")).expect("writable");
    let calls = std::env::var("JIG_LEAK_CALLS");
    let calls = calls.map_or(300, |calls| calls.parse().expect("it is a number"));

    let pool = Pool::new(3).expect("the launcher is built in");
    for launch in [Launch::Direct, Launch::Launcher, Launch::Pool(pool.clone())] {
        // What is opened once, and stays, is opened by the first few.
        make_calls(12, &launch, workspace.path());
        let before = Traces::of_this_process();
        let files = names(workspace.path());
        make_calls(calls / 3, &launch, workspace.path());
        let after = Traces::of_this_process();
        assert_eq!(after.mounts, before.mounts, "{launch:?}");
        assert_eq!(names(workspace.path()), files, "{launch:?}");
        // Of keepers that wait, two descriptors each, some more may be here at one moment than another.
        assert!(
            after.descriptors <= before.descriptors + 8,
            "{before:?} {after:?}"
        );
        for (name, kilobytes) in &after.memory {
            let then = before.memory.iter().find(|(other, _)| other == name);
            let then = then.map_or(0, |(_, kilobytes)| *kilobytes);
            assert!(
                *kilobytes <= then + GROWTH,
                "{name}: {then} KiB, then {kilobytes} KiB"
            );
        }
    }
    drop(pool);
    // Nothing of what was started is alive. A namespace lives as long as a process or a descriptor holds
    // it, so none of those is left either.
    until("all processes are gone", || living_descendants() == 0);

    if rustix::process::geteuid().is_root() {
        let output = Command::new("/proc/self/exe")
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .expect("the test can be run again");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}{errors}"
        );
    }
}

/// Most end by themselves; some fail to start, and some are dropped while they run.
fn make_calls(calls: usize, launch: &Launch, workspace: &Path) {
    let profile = Arc::new(profile(workspace));
    for number in 0..calls {
        let mut request = SpawnRequest::new(
            Program::parse("/bin/sh").expect("it is absolute"),
            workspace,
        );
        let script = match number % 10 {
            7 => "sleep 300 & exec sleep 300",
            _ => "echo x > /tmp/x; (exec sleep 300 &) ; exit 3",
        };
        request.args = vec!["-c".into(), script.into()];
        request.env = minimal_environment("/home/tool".as_ref());
        request.limits = ProcessLimits::ROOMY;
        request.profile = Some(profile.clone());
        request.stdin = Stdio::Piped;
        request.launch = launch.clone();
        if number % 10 == 4 {
            request.cwd = "/nonexistent".into();
            assert!(spawn(request).is_err());
            continue;
        }
        let child = spawn(request).expect("it starts");
        if number % 10 == 7 {
            drop(child);
        } else {
            let exit = child.wait().expect("waitable");
            assert_eq!(exit, Exit::Exited { code: 3 });
        }
    }
}

fn profile(workspace: &Path) -> Profile {
    let mut profile = Profile::closed();
    let mut rule = |path: &Path, rights, source| {
        profile.paths.push(PathRule {
            path: path.to_owned(),
            rights,
            source,
        });
    };
    let programs = Rights::READ.with(Rights::EXECUTE);
    rule("/usr".as_ref(), programs, RuleSource::System);
    rule("/etc".as_ref(), Rights::READ, RuleSource::System);
    rule(workspace, Rights::ALL, RuleSource::Declared);
    rule(
        &workspace.join("secret"),
        Rights::NONE,
        RuleSource::Declared,
    );
    rule(&workspace.join("kept"), Rights::READ, RuleSource::Declared);
    for path in ["/tmp", "/home/tool"] {
        profile.private.push(PrivateDirectory {
            path: path.into(),
            size: 1 << 20,
            executable: false,
        });
    }
    profile.door = Some("/tmp/door".into());
    profile
}

#[derive(Debug)]
struct Traces {
    descriptors: usize,
    mounts: usize,
    /// Resident memory in KiB, of this process and of the helpers of pools.
    memory: Vec<(String, usize)>,
}

impl Traces {
    fn of_this_process() -> Self {
        let mut memory = vec![("host".to_owned(), resident("self"))];
        for pid in descendants() {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            if name == "jig-zygote\n" {
                memory.push((format!("zygote {pid}"), resident(&pid.to_string())));
            }
        }
        let list = |path: &str| fs::read_to_string(path).expect("/proc is mounted");
        Self {
            descriptors: fs::read_dir("/proc/self/fd")
                .expect("/proc is mounted")
                .count(),
            mounts: list("/proc/self/mountinfo").lines().count(),
            memory,
        }
    }
}

fn resident(pid: &str) -> usize {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The processes below this one, by process id.
fn descendants() -> BTreeSet<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .expect("/proc is mounted")
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
            Some((pid, parent))
        })
        .collect();
    let mut found = BTreeSet::from([std::process::id()]);
    while let Some((pid, _)) = parents
        .iter()
        .find(|(pid, parent)| found.contains(parent) && !found.contains(pid))
    {
        found.insert(*pid);
    }
    found.remove(&std::process::id());
    found
}

fn living_descendants() -> usize {
    let is_alive = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    };
    descendants().iter().filter(|pid| is_alive(pid)).count()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is ours");
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// What an allocator may hold on to, in KiB. One leaked page a call would be far above it in a long run.
const GROWTH: usize = 4096;
