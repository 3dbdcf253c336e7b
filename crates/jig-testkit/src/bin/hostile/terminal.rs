//! The terminal of the user who runs the host. A program may have one of its own, which is its own business.

use std::ffi::CStr;
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;

use jig_testkit::TERMINAL_PIXELS;

use crate::sys::{self, Word, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, c_string, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("terminal-read", |args| {
        users(&args.path(0)?, libc::O_RDONLY | libc::O_NONBLOCK)?;
        Ok("opened the terminal for reading".to_owned())
    }),
    ("terminal-write", |args| {
        let file = users(&args.path(0)?, libc::O_WRONLY)?;
        // A cursor movement to where it is: harmless, and a write all the same.
        fs::File::from(file).write_all(b"\x1b[0m")?;
        Ok("wrote to the terminal".to_owned())
    }),
    ("terminal-type", |args| {
        let file = users(&args.path(0)?, libc::O_RDONLY)?;
        let words = [(&file).into(), libc::TIOCSTI.into(), sys::at(&b' ')];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("typed for the user".to_owned())
    }),
    ("terminal-type-stdio", |_| {
        on_streams(|stream| {
            let words = [stream, libc::TIOCSTI.into(), sys::at(&b' ')];
            sys::raw(libc::SYS_ioctl, &words).map(|_| "typed what somebody is to read")
        })
    }),
    ("terminal-resize", |args| {
        let file = users(&args.path(0)?, libc::O_RDWR)?;
        let mut size: libc::winsize = sys::zeroed();
        let words = [
            (&file).into(),
            libc::TIOCGWINSZ.into(),
            sys::into(&mut size),
        ];
        sys::raw(libc::SYS_ioctl, &words)?;
        let words = [(&file).into(), libc::TIOCSWINSZ.into(), sys::at(&size)];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("set the size of the terminal".to_owned())
    }),
    ("terminal-any", |_| {
        let numbered = (0..MOST).map(|number| format!("/dev/pts/{number}"));
        let named = ["/dev/tty", "/dev/console"].map(str::to_owned);
        for path in named.into_iter().chain(numbered) {
            if users(&c_string(path.as_str())?, libc::O_RDONLY | libc::O_NONBLOCK).is_ok() {
                return Ok(format!("opened {path}"));
            }
        }
        held("none of them is the user's")
    }),
    ("terminal-take", terminal_take),
    ("terminal-through-parent", |_| {
        let parent = std::os::unix::process::parent_id();
        through(&format!("/proc/{parent}"))
    }),
    ("terminal-through-processes", |_| {
        for entry in fs::read_dir("/proc")? {
            let path = entry?.path();
            if let Ok(found) = through(&path.to_string_lossy()) {
                return Ok(found);
            }
        }
        held("no process has it")
    }),
    ("terminal-discipline", |_| {
        // Its own terminal, whose line discipline may be any module of the kernel.
        let own = sys::open_file(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY)?;
        let words = [(&own).into(), libc::TIOCSETD.into(), sys::at(&ORDINARY)];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("may load line disciplines".to_owned())
    }),
    ("terminal-discipline-stdio", |_| {
        on_streams(|stream| {
            let words = [stream, libc::TIOCSETD.into(), sys::at(&ORDINARY)];
            sys::raw(libc::SYS_ioctl, &words).map(|_| "may load line disciplines")
        })
    }),
    ("terminal-console-stdio", |_| {
        on_streams(|stream| {
            let words = [stream, libc::TIOCCONS.into()];
            sys::raw(libc::SYS_ioctl, &words).map(|_| "gets what the console should")
        })
    }),
    ("terminal-selection-stdio", |_| {
        on_streams(|stream| {
            const PASTE: u8 = 3;
            let words = [stream, libc::TIOCLINUX.into(), sys::at(&PASTE)];
            sys::raw(libc::SYS_ioctl, &words).map(|_| "pasted for the user")
        })
    }),
    ("terminal-type-own", |_| {
        let own = sys::open_file(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY)?;
        let words = [(&own).into(), libc::TIOCSTI.into(), sys::at(&b' ')];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("typed on a terminal".to_owned())
    }),
];

/// Opens a terminal, if it is the user's. One that does not tell whose it is counts as the user's.
fn users(path: &CStr, flags: i32) -> Result<OwnedFd, Stopped> {
    let file = sys::open_file(path, flags | libc::O_NOCTTY)?;
    match is_users((&file).into()) {
        true => Ok(file),
        false => held("it is a terminal of its own"),
    }
}

fn is_users(terminal: Word<'_>) -> bool {
    let mut size: libc::winsize = sys::zeroed();
    let words = [terminal, libc::TIOCGWINSZ.into(), sys::into(&mut size)];
    let told = sys::raw(libc::SYS_ioctl, &words).is_ok();
    !told || [size.ws_xpixel, size.ws_ypixel] == TERMINAL_PIXELS
}

/// Tries a command on the three streams, which may be a terminal.
fn on_streams(command: impl Fn(Word<'_>) -> std::io::Result<&'static str>) -> Verdict {
    for stream in 0..3 {
        if let Ok(what) = command(stream.into()) {
            return Ok(what.to_owned());
        }
    }
    held("no stream does that")
}

/// Takes a terminal for its own session, also from another one.
fn terminal_take(args: &Args) -> Verdict {
    let code = sys::in_child(|| {
        let taken = call!(libc::SYS_setsid).and_then(|_| {
            let path = args.path(0).map_err(|_| std::io::ErrorKind::InvalidInput)?;
            let file = sys::open_file(&path, libc::O_RDWR)?;
            call!(libc::SYS_ioctl, &file, libc::TIOCSCTTY, 0)
                .or_else(|_| call!(libc::SYS_ioctl, &file, libc::TIOCSCTTY, 1))
        });
        i32::from(taken.is_err())
    })?;
    match code {
        0 => Ok("took the terminal".to_owned()),
        _ => held("the terminal stays where it is"),
    }
}

/// Any descriptor of a process that is the user's terminal. `process` is its directory in `/proc`.
fn through(process: &str) -> Verdict {
    for entry in fs::read_dir(format!("{process}/fd"))? {
        let path = entry?.path();
        let target = fs::read_link(&path)?;
        let path = path.to_string_lossy();
        let is_terminal = target.starts_with("/dev/pts") || target.starts_with("/dev/tty");
        if is_terminal
            && users(&c_string(path.as_ref())?, libc::O_WRONLY | libc::O_NONBLOCK).is_ok()
        {
            return Ok(format!("opened {}", target.display()));
        }
    }
    held("it has no such terminal")
}

/// The line discipline that every terminal begins with.
const ORDINARY: i32 = 0;

/// No test machine has as many terminals.
const MOST: u32 = 1024;
