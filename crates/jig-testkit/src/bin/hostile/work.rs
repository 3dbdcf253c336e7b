//! Ordinary work, which must go on working in confinement. Here "escaped" means that it worked.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("ok-pipeline", pipeline),
    ("ok-threads", threads),
    ("ok-loopback", loopback),
    ("ok-unix-socket", unix_socket),
    ("ok-socketpair", |_| {
        let (mut one, mut other) = UnixStream::pair()?;
        one.write_all(b"ping")?;
        let mut answer = [0; 4];
        other.read_exact(&mut answer)?;
        same("ping", &String::from_utf8_lossy(&answer))
    }),
    ("ok-semaphore", semaphore),
    ("ok-shell", |_| {
        output_is(
            Command::new("/bin/sh").args(["-c", "echo $((6 * 7)) | tr 4 5"]),
            "52",
        )
    }),
    ("ok-system-program", |_| {
        output_is(
            Command::new("/usr/bin/env").args(["-i", "/bin/echo", "hello"]),
            "hello",
        )
    }),
    ("ok-terminal", terminal),
    ("ok-write", |args| {
        let path = format!("{}/new.txt", args.text(0)?);
        fs::write(&path, "text")?;
        same("text", &fs::read_to_string(&path)?)
    }),
    ("ok-directories", directories),
    ("ok-rename", |args| {
        let (one, other) = two_names(args)?;
        fs::write(&one, "text")?;
        fs::rename(&one, &other)?;
        same("text", &fs::read_to_string(other)?)
    }),
    ("ok-rename-across", |args| {
        let directory = args.text(0)?;
        fs::create_dir_all(format!("{directory}/a/b"))?;
        fs::write(format!("{directory}/one"), "text")?;
        fs::rename(format!("{directory}/one"), format!("{directory}/a/b/two"))?;
        same("text", &fs::read_to_string(format!("{directory}/a/b/two"))?)
    }),
    ("ok-hard-link", |args| {
        let (one, other) = two_names(args)?;
        fs::write(&one, "text")?;
        fs::hard_link(&one, &other)?;
        same("text", &fs::read_to_string(other)?)
    }),
    ("ok-symlink", |args| {
        let (one, other) = two_names(args)?;
        fs::write(&one, "text")?;
        std::os::unix::fs::symlink("one", &other)?;
        same("text", &fs::read_to_string(other)?)
    }),
    ("ok-chmod", |args| {
        let (one, _) = two_names(args)?;
        fs::write(&one, "#!/bin/sh\necho ran\n")?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&one, mode)?;
        output_is(&mut Command::new(one), "ran")
    }),
    ("ok-read-only", |args| {
        same("locked", fs::read_to_string(args.text(0)?)?.trim())
    }),
    ("ok-mmap", mmap),
    ("ok-private-directory", |args| {
        let path = format!("{}/jig-ok-{}", args.text(0)?, std::process::id());
        fs::write(&path, "text")?;
        let text = fs::read_to_string(&path)?;
        fs::remove_file(path)?;
        same("text", &text)
    }),
    ("ok-home", |_| {
        let Some(home) = std::env::home_dir() else {
            return untried("there is no home");
        };
        let path = home.join(format!(".jig-ok-{}", std::process::id()));
        fs::write(&path, "text")?;
        fs::remove_file(path)?;
        Ok("worked".to_owned())
    }),
    ("ok-signals", |_| {
        let child = sys::fork(|| {
            sys::pause_for(10_000);
            0
        })?;
        call!(libc::SYS_kill, child, libc::SIGTERM)?;
        same(
            &(-libc::SIGTERM).to_string(),
            &sys::wait(child)?.to_string(),
        )
    }),
    ("ok-timers", timers),
    ("ok-random", |_| {
        let mut bytes = [0_u8; 32];
        call!(libc::SYS_getrandom, bytes.as_mut_slice(), 32, 0)?;
        let mut device = [0_u8; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut device)?;
        if bytes == device || bytes == [0; 32] {
            return held("it is not random");
        }
        Ok("worked".to_owned())
    }),
    ("ok-own-proc", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let program = fs::read_link("/proc/self/exe")?;
        fs::read("/proc/self/maps")?;
        if !status.starts_with("Name:\thostile") || !program.ends_with("hostile") {
            return held("it shows somebody else");
        }
        Ok("worked".to_owned())
    }),
    ("ok-devices", |_| {
        fs::write("/dev/null", "x")?;
        let mut zeros = [1_u8; 8];
        fs::File::open("/dev/zero")?.read_exact(&mut zeros)?;
        same("[0, 0, 0, 0, 0, 0, 0, 0]", &format!("{zeros:?}"))
    }),
    ("ok-event-loop", event_loop),
    ("ok-system-v", |_| {
        let id = call!(
            libc::SYS_shmget,
            libc::IPC_PRIVATE,
            4096,
            libc::IPC_CREAT | 0o600
        )?;
        let address = call!(libc::SYS_shmat, id, 0, 0)?;
        call!(libc::SYS_shmdt, address)?;
        call!(libc::SYS_shmctl, id, libc::IPC_RMID, 0)?;
        Ok("worked".to_owned())
    }),
    ("ok-user-name", |_| {
        let output = Command::new("/usr/bin/id").arg("-u").output()?;
        // SAFETY: it has no preconditions.
        let own = unsafe { libc::getuid() };
        same(
            &own.to_string(),
            String::from_utf8_lossy(&output.stdout).trim(),
        )
    }),
    ("ok-watch", |args| {
        let watcher = sys::open(libc::SYS_inotify_init1, &[0.into()])?;
        let here: CString = args.path(0)?;
        call!(
            libc::SYS_inotify_add_watch,
            &watcher,
            &here,
            libc::IN_CREATE
        )?;
        fs::write(format!("{}/watched", args.text(0)?), "")?;
        let mut events = [0_u8; 512];
        call!(libc::SYS_read, &watcher, events.as_mut_slice(), 512)?;
        Ok("worked".to_owned())
    }),
    ("ok-restrict-itself", |_| {
        // Programs that confine themselves further must be able to.
        call!(libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)?;
        const CREATE_VERSION: u32 = 1;
        match call!(libc::SYS_landlock_create_ruleset, 0, 0, CREATE_VERSION) {
            Err(error) if sys::is(&error, libc::EPERM) => Err(error.into()),
            _ => Ok("worked".to_owned()),
        }
    }),
    ("ok-lower-limits", |_| {
        let lower = libc::rlimit64 {
            rlim_cur: 64,
            rlim_max: 64,
        };
        let words = [
            0.into(),
            libc::RLIMIT_NOFILE.into(),
            sys::at(&lower),
            0.into(),
        ];
        sys::raw(libc::SYS_prlimit64, &words)?;
        Ok("worked".to_owned())
    }),
];

fn same(expected: &str, found: &str) -> Verdict {
    if expected == found {
        return Ok("worked".to_owned());
    }
    held(format!("`{found}` instead of `{expected}`"))
}

fn output_is(command: &mut Command, expected: &str) -> Verdict {
    let output = command.output()?;
    same(expected, String::from_utf8_lossy(&output.stdout).trim())
}

fn two_names(args: &Args) -> Result<(String, String), crate::verdict::Stopped> {
    let directory = args.text(0)?;
    Ok((format!("{directory}/one"), format!("{directory}/two")))
}

/// Fifty processes, each reading from the one before.
fn pipeline(_: &Args) -> Verdict {
    const LENGTH: usize = 50;
    let mut children = Vec::new();
    let mut input = Stdio::null();
    let mut first = None;
    for number in 0..LENGTH {
        if number == 0 {
            input = Stdio::piped();
        }
        let mut child = Command::new("/bin/cat")
            .stdin(input)
            .stdout(Stdio::piped())
            .spawn()?;
        first = first.or(child.stdin.take());
        input = match child.stdout.take() {
            Some(output) if number + 1 < LENGTH => Stdio::from(output),
            last => {
                children.push(child);
                drop(first.take().map(|mut pipe| pipe.write_all(b"through")));
                let mut text = String::new();
                last.map(|mut pipe| pipe.read_to_string(&mut text))
                    .transpose()?;
                for mut child in children {
                    child.wait()?;
                }
                return same("through", &text);
            }
        };
        children.push(child);
    }
    untried("no process at all")
}

fn threads(_: &Args) -> Verdict {
    let (sender, receiver) = mpsc::channel();
    let all: Vec<_> = (0..32)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number))
        })
        .collect();
    drop(sender);
    let sum: i32 = receiver.iter().sum();
    for thread in all {
        thread.join().or_else(|_| held("a thread died"))?.ok();
    }
    same("496", &sum.to_string())
}

fn loopback(_: &Args) -> Verdict {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.write_all(b"hello")?;
    let mut bytes = [0; 5];
    server.read_exact(&mut bytes)?;
    same("hello", &String::from_utf8_lossy(&bytes))
}

fn unix_socket(args: &Args) -> Verdict {
    let path = format!("{}/jig-ok-{}.sock", args.text(0)?, std::process::id());
    let listener = UnixListener::bind(&path)?;
    let mut client = UnixStream::connect(&path)?;
    let (mut server, _) = listener.accept()?;
    fs::remove_file(path)?;
    client.write_all(b"hello")?;
    let mut bytes = [0; 5];
    server.read_exact(&mut bytes)?;
    same("hello", &String::from_utf8_lossy(&bytes))
}

/// A lock in shared memory between two processes, as `multiprocessing` has it.
fn semaphore(_: &Args) -> Verdict {
    let name = format!("/jig-ok-{}", std::process::id());
    let path = crate::verdict::c_string(name)?;
    let flags = libc::O_CREAT | libc::O_RDWR;
    // SAFETY: the name is a live C string, and the page is mapped before it is used; the atomic number in
    // it is valid for any bytes and used by both processes as such.
    unsafe {
        let file = libc::shm_open(path.as_ptr(), flags, 0o600);
        if file < 0 {
            return Err(io::Error::last_os_error().into());
        }
        libc::shm_unlink(path.as_ptr());
        libc::ftruncate(file, 4096);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let page = libc::mmap(ptr::null_mut(), 4096, protection, libc::MAP_SHARED, file, 0);
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error().into());
        }
        let number = &*page.cast::<AtomicU32>();
        sys::in_child(|| {
            number.store(7, Ordering::SeqCst);
            0
        })?;
        same("7", &number.load(Ordering::SeqCst).to_string())
    }
}

/// A terminal of its own, made inside.
fn terminal(_: &Args) -> Verdict {
    let own = sys::open_file(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY)?;
    let unlock = 0;
    let words = [(&own).into(), libc::TIOCSPTLCK.into(), sys::at(&unlock)];
    sys::raw(libc::SYS_ioctl, &words)?;
    let mut number = 0_u32;
    let words = [(&own).into(), libc::TIOCGPTN.into(), sys::into(&mut number)];
    sys::raw(libc::SYS_ioctl, &words)?;
    let path = crate::verdict::c_string(format!("/dev/pts/{number}"))?;
    let other: OwnedFd = sys::open_file(&path, libc::O_RDWR | libc::O_NOCTTY)?;
    fs::File::from(other.try_clone()?).write_all(b"hello")?;
    let mut bytes = [0; 5];
    fs::File::from(own).read_exact(&mut bytes)?;
    same("hello", &String::from_utf8_lossy(&bytes))
}

fn directories(args: &Args) -> Verdict {
    let root = format!("{}/tree", args.text(0)?);
    fs::create_dir_all(format!("{root}/a/b/c"))?;
    fs::write(format!("{root}/a/b/c/file"), "")?;
    fs::remove_dir_all(&root)?;
    match fs::metadata(root) {
        Err(_) => Ok("worked".to_owned()),
        Ok(_) => held("it is still there"),
    }
}

fn mmap(args: &Args) -> Verdict {
    let path = format!("{}/mapped", args.text(0)?);
    fs::write(&path, [b'a'; 4096])?;
    let file = OwnedFd::from(fs::OpenOptions::new().read(true).write(true).open(&path)?);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let address = call!(
        libc::SYS_mmap,
        0,
        4096,
        protection,
        libc::MAP_SHARED,
        &file,
        0
    )?;
    // SAFETY: a page of the file is mapped there for writing.
    unsafe { (address as *mut u8).write_volatile(b'b') };
    same("b", &fs::read_to_string(path)?[..1])
}

fn timers(_: &Args) -> Verdict {
    let start = Instant::now();
    let timer = sys::open(
        libc::SYS_timerfd_create,
        &[libc::CLOCK_MONOTONIC.into(), 0.into()],
    )?;
    // Every never, first after 5 ms.
    let when = [0_i64, 0, 0, 5_000_000];
    call!(libc::SYS_timerfd_settime, &timer, 0, when.as_slice(), 0)?;
    let mut count = [0_u64; 1];
    call!(libc::SYS_read, &timer, count.as_mut_slice(), 8)?;
    thread::sleep(Duration::from_millis(1));
    if start.elapsed() < Duration::from_millis(6) {
        return held("time did not pass");
    }
    Ok("worked".to_owned())
}

/// What asynchronous programs stand on.
fn event_loop(_: &Args) -> Verdict {
    let events = sys::open(libc::SYS_epoll_create1, &[0.into()])?;
    let signal = sys::open(libc::SYS_eventfd2, &[0.into(), 0.into()])?;
    let mut interest = libc::epoll_event {
        events: libc::EPOLLIN as u32,
        u64: 9,
    };
    let add = libc::EPOLL_CTL_ADD;
    let words = [
        (&events).into(),
        add.into(),
        signal.as_raw_fd().into(),
        sys::into(&mut interest),
    ];
    sys::raw(libc::SYS_epoll_ctl, &words)?;
    let one = [1_u64];
    call!(libc::SYS_write, &signal, one.as_slice(), 8)?;
    let mut found = libc::epoll_event { events: 0, u64: 0 };
    let words = [
        (&events).into(),
        sys::into(&mut found),
        1.into(),
        1000.into(),
        0.into(),
        8.into(),
    ];
    sys::raw(libc::SYS_epoll_pwait, &words)?;
    let data = found.u64;
    same("9", &data.to_string())
}
