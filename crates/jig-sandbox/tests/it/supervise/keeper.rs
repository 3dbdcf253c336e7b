//! That the supervisor cannot be taken over, and what a tool does to itself gives it nothing.

use std::io;

use rustix::fs::{Mode, OFlags};

use super::*;

/// Its memory, its descriptors and its threads are out of reach.
#[test]
fn nothing_of_the_supervisor_can_be_reached() {
    if !is_inside() {
        if is_elsewhere() {
            return;
        }
        let workspace = Workspace::new();
        let test = "supervise::keeper::nothing_of_the_supervisor_can_be_reached";
        run_inside(test, &workspace, true);
        return;
    }
    let open = |path: &str, create: bool| {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let flags = flags
            | if create {
                OFlags::CREATE
            } else {
                OFlags::empty()
            };
        rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))
    };
    for process in ["1", "1/task/2", "1/task/3", "2", "3"] {
        for file in [
            "mem",
            "fd/0",
            "fd/3",
            "fd/4",
            "fd/5",
            "fd/6",
            "environ",
            "maps",
            "clear_refs",
        ] {
            for create in [false, true] {
                let path = format!("/proc/{process}/{file}");
                let opened = open(&path, create);
                assert!(opened.is_err(), "{path} {create}: {opened:?}");
            }
        }
        for directory in ["cwd", "root", "fd"] {
            let path = format!("/proc/{process}/{directory}/new");
            let made = fs::write(&path, "");
            assert!(made.is_err(), "{path}");
        }
    }
    // The same by the names that stand for whoever asks: they are the tool's own.
    for path in [
        "/proc/self/../1/fd/3",
        "/proc/self//proc/1/mem",
        "/proc/self/fd/../../1/mem",
    ] {
        assert!(open(path, true).is_err(), "{path}");
    }
    assert_eq!(
        fs::read_to_string("/proc/1/comm").expect("its name can be seen"),
        "jig-keeper\n"
    );
    let keeper = rustix::process::Pid::from_raw(1).expect("it is a number");
    for signal in [rustix::process::Signal::KILL, rustix::process::Signal::STOP] {
        let _ = rustix::process::kill_process(keeper, signal);
        for thread in [1, 2, 3] {
            // SAFETY: the call takes no addresses.
            unsafe { libc::syscall(libc::SYS_tgkill, 1, thread, signal.as_raw()) };
        }
    }
    // It still answers.
    fs::write("afterwards", "").expect("it is allowed");
}

/// A process that binds itself further would not be bound in what is performed for it. So it hears that it cannot.
#[test]
fn nobody_binds_itself_and_is_freed_by_the_supervisor() {
    if !is_inside() {
        if is_elsewhere() {
            return;
        }
        let workspace = Workspace::new();
        let test = "supervise::keeper::nobody_binds_itself_and_is_freed_by_the_supervisor";
        run_inside(test, &workspace, true);
        return;
    }
    let attributes = [1_u64 << 8, 0, 0];
    // SAFETY: the attributes are a live local, of which as much is read as the size says.
    let ruleset = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            attributes.as_ptr(),
            size_of::<u64>(),
            0,
        )
    };
    assert_eq!(
        (ruleset, io::Error::last_os_error().raw_os_error()),
        (-1, Some(libc::EOPNOTSUPP))
    );
    // A filter of its own counts as ever: the call that it refuses is not performed.
    let filter = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, libc::SYS_mkdirat as u32),
        (0x06, 0, 0, 0x0005_0000 | libc::EXDEV as u32),
        (0x06, 0, 0, 0x7fff_0000),
    ]
    .map(|(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k });
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program and its instructions are live locals.
    let installed = unsafe { libc::syscall(libc::SYS_seccomp, 1, 0, &raw const program) };
    assert_eq!(installed, 0, "{}", io::Error::last_os_error());
    // SAFETY: the path is a live C string.
    let made = unsafe { libc::mkdirat(libc::AT_FDCWD, c"made".as_ptr(), 0o755) };
    assert_eq!(
        (made, io::Error::last_os_error().raw_os_error()),
        (-1, Some(libc::EXDEV))
    );
    assert!(!Path::new("made").exists());
}

/// A process that closed itself to others is served all the same.
#[test]
fn a_process_closed_to_inspection_is_served() {
    if !is_inside() {
        if is_elsewhere() {
            return;
        }
        let workspace = Workspace::new();
        let test = "supervise::keeper::a_process_closed_to_inspection_is_served";
        run_inside(test, &workspace, true);
        return;
    }
    // SAFETY: the call takes numbers.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0) };
    fs::write("closed", "content").expect("it is allowed");
    assert!(fs::write(".env", "").is_err());
    assert_eq!(
        fs::read_to_string("closed").expect("it is there"),
        "content"
    );
}

/// Programs that are killed in the middle of a call leave the supervisor as it was.
#[test]
fn callers_are_killed_in_the_middle() {
    if is_elsewhere() {
        return;
    }
    let script = "i=0; while [ $i -lt 60 ]; do (while :; do echo > f$i; mv f$i g; done) & p=$!; echo > x$i; kill -9 $p; \
        wait $p 2>/dev/null; i=$((i+1)); done; echo > last; ls x* | wc -l";
    let workspace = Workspace::new();
    let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
    assert_eq!(ran.output, "60\n", "{}", ran.errors);
    assert!(workspace.join("last").exists());
}
