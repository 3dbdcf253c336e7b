//! [`on_stage`]: runs a part of the suite in a process that has all that an attack could find.

use std::ffi::{CStr, OsStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::fchown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use jig_testkit::{MARK, Stage, TERMINAL, TERMINAL_PIXELS};

use crate::attacks::run::Suite;

/// Who runs the suite.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Current,
    /// The user nobody, if root runs the tests; otherwise there is nothing to run.
    Nobody,
}

const NOBODY: u32 = 65534;

/// Names the test that a process was started for.
const PART: &str = "JIG_TEST_PART";

/// Where `hostile` is.
const HOSTILE: &str = "JIG_TEST_HOSTILE";

/// Runs `part` on a stage, in a process of its own, and fails if it does.
#[track_caller]
pub(crate) fn on_stage(test: &str, user: User, part: impl FnOnce(&Suite)) {
    if std::env::var_os(PART).as_deref() == Some(OsStr::new(test)) {
        let hostile = std::env::var_os(HOSTILE).expect("the stage names the program");
        return part(&Suite::start(Path::new(&hostile)));
    }
    // SAFETY: it has no preconditions.
    let is_root = unsafe { libc::geteuid() } == 0;
    if user == User::Nobody && !is_root {
        println!("only root can become nobody");
        return;
    }
    let stage = Stage::set(Path::new(env!("CARGO_BIN_EXE_hostile"))).expect("a stage");
    let terminal = Terminal::of_user().expect("a terminal");
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .current_dir("/")
        .env(PART, test)
        .env(HOSTILE, stage.hostile())
        .env(TERMINAL, &terminal.path)
        .env("JIG_TEST_CANARY", format!("{MARK}environment"))
        .stdin(Stdio::null());
    if user == User::Nobody {
        fchown(&terminal.slave, Some(NOBODY), None).expect("root may give its terminal away");
        command.uid(NOBODY).gid(NOBODY);
    }
    let (slave, leak) = (terminal.slave.as_raw_fd(), stage_file(&stage));
    let leaked = leak.as_raw_fd();
    // SAFETY: the closure makes system calls only, on descriptors that stay open here meanwhile.
    unsafe {
        command.pre_exec(move || dress(slave, leaked));
    }
    let output = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn stage_file(stage: &Stage) -> File {
    File::open(stage.hostile()).expect("the program is there")
}

/// What a process is given that should not be passed on.
fn dress(terminal: c_int, leaked: c_int) -> io::Result<()> {
    const FAR: c_int = 77;
    // SAFETY: no call takes a pointer, and what they change is this child alone.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        check(libc::setsid())?;
        check(libc::ioctl(terminal, libc::TIOCSCTTY, 0))?;
        check(libc::dup2(leaked, FAR))?;
        libc::signal(libc::SIGUSR1, libc::SIG_IGN);
    }
    Ok(())
}

/// A pseudo-terminal of the host.
pub(crate) struct Terminal {
    path: String,
    pub(crate) slave: OwnedFd,
    pub(crate) master: OwnedFd,
}

impl Terminal {
    /// One that attacks know for the user's.
    fn of_user() -> io::Result<Self> {
        let terminal = Self::open()?;
        let [width, height] = TERMINAL_PIXELS;
        let size = libc::winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: width,
            ws_ypixel: height,
        };
        // SAFETY: the kernel reads the size from a live local.
        check(unsafe {
            libc::ioctl(
                terminal.slave.as_raw_fd(),
                libc::TIOCSWINSZ,
                &raw const size,
            )
        })?;
        Ok(terminal)
    }

    pub(crate) fn open() -> io::Result<Self> {
        let mut name = [0; 64];
        // SAFETY: each descriptor was made by the call before it and is owned by nobody else; the buffer is
        // a live local of the given length, and holds a C string after the call.
        unsafe {
            let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
            let master = check(libc::posix_openpt(flags))?;
            let owned = OwnedFd::from_raw_fd(master);
            check(libc::grantpt(master))?;
            check(libc::unlockpt(master))?;
            check(-libc::ptsname_r(master, name.as_mut_ptr(), name.len()))?;
            let path = CStr::from_ptr(name.as_ptr());
            let slave = check(libc::open(path.as_ptr(), flags))?;
            Ok(Self {
                path: path.to_string_lossy().into_owned(),
                slave: OwnedFd::from_raw_fd(slave),
                master: owned,
            })
        }
    }
}

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
