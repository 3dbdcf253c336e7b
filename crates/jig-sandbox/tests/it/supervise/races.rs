//! What a tool changes while a call of it is performed: the memory with the path, the links and directories on the
//! way.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use super::*;

/// How long each attack lasts: as long as somebody says, or not long.
fn period() -> Duration {
    let said = std::env::var(RACE).ok();
    let said = said.and_then(|text| text.parse().ok());
    Duration::from_millis(said.unwrap_or(200))
}

/// How often each call is tried at least.
const FEWEST: usize = 100;

/// A path of eight bytes with its NUL, which another thread changes at any moment.
struct FlippedPath(AtomicU64);

impl FlippedPath {
    fn address(&self) -> *const libc::c_char {
        self.0.as_ptr().cast_const().cast()
    }
}

fn text(path: &[u8; 8]) -> u64 {
    u64::from_ne_bytes(*path)
}

/// Flips a path between two names while `make` makes what it names, over and over.
fn flip(names: [&[u8; 8]; 2], make: impl Fn(*const libc::c_char)) -> usize {
    let path = FlippedPath(AtomicU64::new(text(names[0])));
    let is_over = AtomicBool::new(false);
    let mut tries = 0;
    let period = period();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for name in names {
                    path.0.store(text(name), Ordering::Relaxed);
                }
            }
        });
        let start = Instant::now();
        // On a busy machine few tries take long.
        while start.elapsed() < period || tries < FEWEST {
            make(path.address());
            tries += 1;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    tries
}

/// Every call that makes names, with a path that flips between an allowed and a guarded name.
#[test]
fn a_path_that_changes_makes_no_guarded_name() {
    if !is_inside() {
        if is_elsewhere() {
            return;
        }
        let workspace = Workspace::new();
        let test = "supervise::races::a_path_that_changes_makes_no_guarded_name";
        let ran = run_inside(test, &workspace, true);
        assert!(!ran.refused.names.is_empty(), "nothing was tried");
        assert!(!ran.output.contains("made it"), "{}", ran.output);
        // The twin: where nobody guards the name, each of the calls makes it.
        let ran = run_inside(test, &Workspace::new(), false);
        assert_eq!(ran.output.matches("made it").count(), 7, "{}", ran.output);
        return;
    }
    let names = [b"harmless", b".env\0\0\0\0"].map(|name| {
        let mut name = *name;
        name[7] = 0;
        name
    });
    let names = [&names[0], &names[1]];
    let allowed = CString::new("harmles").expect("there is no NUL");
    let guarded = Path::new(".env");
    fs::write("source", "").expect("it is allowed");
    let source = c"source".as_ptr();
    let clear = || {
        // SAFETY: the path is a live C string.
        unsafe {
            libc::unlink(allowed.as_ptr());
            libc::rmdir(allowed.as_ptr());
        }
    };
    type Making<'a> = (&'a str, Box<dyn Fn(*const libc::c_char) + 'a>);
    let calls: Vec<Making<'_>> = vec![
        (
            "open",
            Box::new(|path| {
                // SAFETY: the path ends in a NUL, whichever of the two it is.
                let fd = unsafe { libc::open(path, libc::O_CREAT | libc::O_RDWR, 0o600) };
                if fd >= 0 {
                    // SAFETY: the descriptor was just opened.
                    unsafe { libc::close(fd) };
                }
            }),
        ),
        (
            "mkdir",
            Box::new(|path| {
                // SAFETY: the path ends in a NUL, whichever of the two it is.
                unsafe { libc::mkdir(path, 0o700) };
            }),
        ),
        (
            "mknod",
            Box::new(|path| {
                // SAFETY: as above.
                unsafe { libc::mknod(path, libc::S_IFIFO | 0o600, 0) };
            }),
        ),
        (
            "symlink",
            Box::new(|path| {
                // SAFETY: as above; the source is a live C string.
                unsafe { libc::symlink(source, path) };
            }),
        ),
        (
            "link",
            Box::new(|path| {
                // SAFETY: as above.
                unsafe { libc::link(source, path) };
            }),
        ),
        (
            "rename",
            Box::new(|path| {
                let _ = fs::write("moved", "");
                // SAFETY: as above.
                unsafe { libc::rename(c"moved".as_ptr(), path) };
            }),
        ),
        (
            "bind",
            Box::new(|path| {
                let Ok(socket) = UnixDatagram::unbound() else {
                    return;
                };
                // The flipped bytes are the path in an address that lies in memory all the time.
                let mut address = [0_u8; 10];
                address[..2].copy_from_slice(&(libc::AF_UNIX as u16).to_ne_bytes());
                // SAFETY: there are eight bytes at the path.
                let bytes = unsafe { path.cast::<[u8; 8]>().read_volatile() };
                address[2..].copy_from_slice(&bytes);
                // SAFETY: the address is a live local of this length.
                unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), 10) };
            }),
        ),
    ];
    for (name, make) in calls {
        let tries = flip(names, |path| {
            make(path);
            clear();
        });
        if fs::symlink_metadata(guarded).is_ok() {
            println!("{name} made it, in {tries} tries");
            let _ = fs::remove_dir(guarded).or_else(|_| fs::remove_file(guarded));
        }
    }
}

/// A link, and a directory, that are exchanged all the time: what was judged is what is used.
#[test]
fn a_way_that_changes_leads_to_no_guarded_name() {
    if !is_inside() {
        if is_elsewhere() {
            return;
        }
        let workspace = Workspace::new();
        let test = "supervise::races::a_way_that_changes_leads_to_no_guarded_name";
        let ran = run_inside(test, &workspace, true);
        assert!(!ran.refused.names.is_empty(), "nothing was tried");
        return;
    }
    let exchange = |one: &str, other: &str| {
        let [one, other] = [one, other].map(|path| CString::new(path).expect("there is no NUL"));
        // SAFETY: both paths are live C strings.
        unsafe {
            libc::syscall(
                libc::SYS_renameat2,
                libc::AT_FDCWD,
                one.as_ptr(),
                libc::AT_FDCWD,
                other.as_ptr(),
                2,
            )
        };
    };
    // A link at the end of the path, that leads to a guarded name or to another.
    fs::create_dir_all("links/.git").expect("it is allowed");
    std::os::unix::fs::symlink(".env", "links/one").expect("it is allowed");
    std::os::unix::fs::symlink("other", "links/two").expect("it is allowed");
    // A directory in which `config` is guarded, and another.
    fs::create_dir_all("links/plain").expect("it is allowed");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                exchange("links/one", "links/two");
                exchange("links/.git", "links/plain");
            }
        });
        let start = Instant::now();
        while start.elapsed() < 3 * period() {
            let _ = fs::write("links/one", "");
            let _ = fs::remove_file("links/other");
            let _ = fs::write("links/plain/config", "");
            let _ = fs::rename("links/plain/config", "links/.git/config");
            let made = ["links/.env", "links/.git/config"].map(fs::symlink_metadata);
            assert!(made.iter().all(Result::is_err), "{made:?}");
            let _ = fs::remove_file("links/plain/config");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// The twin: a supervisor that looks at the path and then lets the kernel go on with the call. The kernel reads the
/// path again, and it is another one by then.
#[test]
fn whoever_checks_and_lets_go_on_loses() {
    if is_inside() {
        return;
    }
    let workspace = Workspace::new();
    let directory = rustix::fs::open(workspace.path(), OFlags::PATH, Mode::empty());
    let directory = directory.expect("it is ours");
    let path = FlippedPath(AtomicU64::new(text(b"harmles\0")));
    let (guarded, allowed) = (text(b".env\0\0\0\0"), text(b"harmles\0"));
    let (sender, listener) = std::sync::mpsc::channel();
    let is_over = AtomicBool::new(false);
    let made = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                path.0.store(allowed, Ordering::Relaxed);
                path.0.store(guarded, Ordering::Relaxed);
            }
        });
        let path = &path;
        scope.spawn(move || {
            let listener: OwnedFd = listener.recv().expect("it comes");
            while let Some(id) = next_call(&listener) {
                let is_guarded = path.0.load(Ordering::Relaxed) == guarded;
                answer(&listener, id, is_guarded);
            }
        });
        let made = scope.spawn(|| {
            sender.send(listen_to_mkdirat()).expect("somebody listens");
            let name = workspace.join(".env");
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(30) {
                // SAFETY: there are eight bytes at the path, of which the last is always zero.
                unsafe { libc::mkdirat(directory.as_raw_fd(), path.address(), 0o700) };
                if fs::symlink_metadata(&name).is_ok() {
                    return true;
                }
                let _ = fs::remove_dir(workspace.join("harmles"));
            }
            false
        });
        let made = made.join().expect("it does not fail");
        is_over.store(true, Ordering::Relaxed);
        made
    });
    assert!(made, "the guarded name never appeared");
}

/// Has calls of `mkdirat` of this thread wait at a listener.
fn listen_to_mkdirat() -> OwnedFd {
    let filter = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, libc::SYS_mkdirat as u32),
        (0x06, 0, 0, 0x7fc0_0000),
        (0x06, 0, 0, 0x7fff_0000),
    ]
    .map(|(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k });
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program and its instructions are live locals; the descriptor is new.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let listener = libc::syscall(libc::SYS_seccomp, 1, 1 << 3, &raw const program);
        assert!(listener >= 0, "{}", std::io::Error::last_os_error());
        OwnedFd::from_raw_fd(listener as i32)
    }
}

/// The next call that waits; `None` once its thread is gone.
fn next_call(listener: &OwnedFd) -> Option<u64> {
    let mut fds = [rustix::event::PollFd::new(
        listener,
        rustix::event::PollFlags::IN,
    )];
    rustix::event::poll(&mut fds, None).ok()?;
    if !fds[0].revents().contains(rustix::event::PollFlags::IN) {
        return None;
    }
    let mut words = [0_u64; 10];
    // SAFETY: the words are a live local of the size that is part of the command.
    let received = unsafe { libc::ioctl(listener.as_raw_fd(), 0xc050_2100, words.as_mut_ptr()) };
    (received == 0).then_some(words[0])
}

/// Refuses a call, or lets it go on.
fn answer(listener: &OwnedFd, id: u64, refuse: bool) {
    let last = match refuse {
        true => u64::from((-libc::EACCES).cast_unsigned()),
        false => 1 << 32,
    };
    let words = [id, 0, last];
    // SAFETY: the words are a live local of the size that is part of the command.
    unsafe { libc::ioctl(listener.as_raw_fd(), 0xc018_2101, words.as_ptr()) };
}
