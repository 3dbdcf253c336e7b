//! Starting and waiting for `/bin/true`: bare, by each way of ours, confined as tools are, and by
//! bubblewrap if it is installed. They are taken in turns, so that whatever else the machine does falls on
//! all alike; trust the minima more than the medians. A time ends when the program is known to have ended,
//! with all that it started; what is taken down after that is part of the second table.
//!
//! `cargo bench -p jig-sandbox --bench spawn`; a number as argument is the host's memory in megabytes,
//! which a fork copies the page tables of; another word leaves only the ways that have it in their name.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(unsafe_code, reason = "the bare start is a call of the C library")]
#![expect(
    clippy::disallowed_methods,
    reason = "the workspace is made, and the standard library is what is compared with"
)]

use std::hint::black_box;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_sandbox::{
    Child, Containment, GatewayProfile, Launch, Network, PathRule, Pool, PrivateContent,
    PrivateDirectory, PrivateFile, ProcessLimits, Profile, Program, Rights, RuleSource,
    SpawnRequest, Stdio as OurStdio, minimal_environment, spawn,
};

use rustix::pty::OpenptFlags;

const ROUNDS: usize = 400;

/// A way to run the program, by its name. What is left to clean up when its end is known is given back.
type Way = (&'static str, Box<dyn Fn() -> Option<Child>>);

fn main() {
    let megabytes = std::env::args().find_map(|argument| argument.parse().ok());
    let memory = black_box(vec![1_u8; megabytes.unwrap_or(0) << 20]);
    let workspace =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a place for it");
    std::fs::write(workspace.path().join("secret"), "hidden").expect("writable");
    std::fs::create_dir(workspace.path().join("kept")).expect("writable");
    let profile = profile(workspace.path());
    let with_gateway = Arc::new(with_gateway(profile.clone()));
    let profile = Arc::new(profile);
    let pool = Pool::new(4).expect("the launcher is built in");

    let confined_by = |profile: &Arc<Profile>, launch: Launch, has_terminal: bool| {
        let (profile, cwd) = (profile.clone(), workspace.path().to_owned());
        move || {
            let mut request = SpawnRequest::new(program(), &cwd);
            request.env = minimal_environment("/home/tool".as_ref());
            request.limits = ProcessLimits::ROOMY;
            request.profile = Some(profile.clone());
            let terminal = has_terminal.then(terminal);
            let (_host, tool) = terminal.unzip();
            request.terminal = tool;
            Some(run(request, launch.clone()))
        }
    };
    let confined = |launch: Launch| confined_by(&profile, launch, false);
    let connected = |launch: Launch| confined_by(&with_gateway, launch, false);
    let contained = |launch: Launch| {
        move || {
            let mut request = SpawnRequest::new(program(), "/");
            request.containment = Containment::Required;
            Some(run(request, launch.clone()))
        }
    };
    let mut ways: Vec<Way> = vec![
        ("posix_spawn", Box::new(bare)),
        ("std::process::Command", Box::new(by_std)),
        ("contained, direct", Box::new(contained(Launch::Direct))),
        (
            "contained, pool",
            Box::new(contained(Launch::Pool(Pool::new(4).expect("as above")))),
        ),
        ("confined, direct", Box::new(confined(Launch::Direct))),
        ("confined, launcher", Box::new(confined(Launch::Launcher))),
        (
            "confined, pool",
            Box::new(confined(Launch::Pool(pool.clone()))),
        ),
        (
            "confined, pool, terminal",
            Box::new(confined_by(&profile, Launch::Pool(pool.clone()), true)),
        ),
        (
            "confined, direct, gateway",
            Box::new(connected(Launch::Direct)),
        ),
        (
            "confined, pool, gateway",
            Box::new(connected(Launch::Pool(pool))),
        ),
    ];
    if bubblewrap(workspace.path())
        .status()
        .is_ok_and(|status| status.success())
    {
        let workspace = workspace.path().to_owned();
        ways.push((
            "bubblewrap",
            Box::new(move || {
                let status = bubblewrap(&workspace).status().expect("it is installed");
                assert!(status.success());
                None
            }),
        ));
    }
    let words = || {
        std::env::args()
            .skip(1)
            .filter(|word| word.parse::<usize>().is_err())
    };
    let mut words = words().filter(|word| word != "--bench");
    if let Some(word) = words.next() {
        ways.retain(|(name, _)| *name == "posix_spawn" || name.contains(&word));
        compare(&ways);
        return;
    }
    compare(&ways);

    // One after the other, so that the making of keepers is part of it.
    let together = |way: &dyn Fn() -> Option<Child>| {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            drop(way());
        }
        start.elapsed() / ROUNDS as u32
    };
    println!();
    for place in [0, 5, 6] {
        let (name, way) = &ways[place];
        println!(
            "{name:26}{:>9} µs each, {ROUNDS} in a row",
            together(way).as_micros()
        );
    }
    drop(black_box(memory));
}

fn compare(ways: &[Way]) {
    let mut times = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for round in 0..ROUNDS {
        for turn in 0..ways.len() {
            // Each goes first equally often.
            let way = (turn + round) % ways.len();
            let start = Instant::now();
            let ended = (ways[way].1)();
            times[way].push(start.elapsed());
            drop(ended);
            // A pool is full again when the next one begins, as it would be between two calls.
            std::thread::sleep(Duration::from_millis(3));
        }
    }
    let figures: Vec<(Duration, Duration)> = times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            (times[ROUNDS / 2], times[0])
        })
        .collect();
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!(
        "{:26}{:>12}{:>12}{:>8}{:>8}",
        "", "median", "minimum", "ratio", "ratio"
    );
    for ((name, _), (median, minimum)) in ways.iter().zip(&figures) {
        println!(
            "{name:26}{:>12}{:>12}{:>8.2}{:>8.2}",
            format!("{} µs", median.as_micros()),
            format!("{} µs", minimum.as_micros()),
            ratio(*median, figures[0].0),
            ratio(*minimum, figures[0].1),
        );
    }
}

/// What an ordinary tool gets.
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
    for path in ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"] {
        rule(path.as_ref(), programs, RuleSource::System);
    }
    rule("/etc".as_ref(), Rights::READ, RuleSource::System);
    rule(workspace, Rights::ALL, RuleSource::Declared);
    rule(
        &workspace.join("secret"),
        Rights::NONE,
        RuleSource::Declared,
    );
    rule(&workspace.join("kept"), Rights::READ, RuleSource::Declared);
    for path in ["/tmp", "/var/tmp", "/home/tool"] {
        profile.private.push(PrivateDirectory {
            path: path.into(),
            size: 64 << 20,
            executable: true,
        });
    }
    profile.network = Network::None;
    profile
}

/// The same with rules about the network: what a tool that may talk to one host by https gets.
fn with_gateway(mut profile: Profile) -> Profile {
    profile.network = Network::Gateway(GatewayProfile {
        ports: vec![80, 443],
        ..GatewayProfile::default()
    });
    for (path, text) in [
        ("/etc/hosts", "127.0.0.1 localhost\n"),
        ("/etc/resolv.conf", "nameserver 198.18.0.1\n"),
    ] {
        profile.replaced.push(PrivateFile {
            path: path.into(),
            content: PrivateContent::Text(text.into()),
        });
    }
    profile
}

fn program() -> Program {
    Program::parse("/bin/true").expect("it is absolute")
}

fn run(mut request: SpawnRequest, launch: Launch) -> Child {
    request.stdout = OurStdio::Null;
    request.stderr = OurStdio::Null;
    request.launch = launch;
    let child = spawn(request).expect("it starts");
    assert!(child.wait().expect("it can be waited for").is_success());
    child
}

/// Both ends of a new terminal.
fn terminal() -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let host = rustix::pty::openpt(flags).expect("there are terminals");
    rustix::pty::unlockpt(&host).expect("it is ours");
    let tool = rustix::pty::ioctl_tiocgptpeer(&host, flags).expect("it is unlocked");
    (host, tool)
}

fn bare() -> Option<Child> {
    let path = c"/bin/true";
    let arguments = [path.as_ptr().cast_mut(), ptr::null_mut()];
    let environment = [ptr::null_mut()];
    let (mut pid, mut status) = (0, 0);
    // SAFETY: the strings are alive and the arrays end in null pointers; the results are live locals.
    unsafe {
        let started = libc::posix_spawn(
            &raw mut pid,
            path.as_ptr(),
            ptr::null(),
            ptr::null(),
            arguments.as_ptr(),
            environment.as_ptr(),
        );
        assert_eq!(started, 0);
        assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
    }
    assert_eq!(status, 0);
    None
}

fn by_std() -> Option<Child> {
    let status = Command::new("/bin/true")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("it starts").success());
    None
}

/// As agents use it, with the namespaces and the view that a profile here has.
fn bubblewrap(workspace: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command
        .args([
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--clearenv",
        ])
        .args(["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"])
        .args([
            "--symlink",
            "usr/bin",
            "/bin",
            "--symlink",
            "usr/sbin",
            "/sbin",
        ])
        .args([
            "--symlink",
            "usr/lib",
            "/lib",
            "--symlink",
            "usr/lib64",
            "/lib64",
        ])
        .args([
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
            "--tmpfs",
            "/home/tool",
        ])
        .arg("--bind")
        .args([workspace, workspace])
        .arg("--ro-bind")
        .args([workspace.join("kept"), workspace.join("kept")])
        .args(["--ro-bind", "/dev/null"])
        .arg(workspace.join("secret"))
        .arg("--chdir")
        .arg(workspace)
        .arg("/bin/true");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
