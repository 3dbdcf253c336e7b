//! The terminal of the user who runs the host.

use std::fs;
use std::io::Write;

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("terminal-read", |args| {
        let flags = libc::O_RDONLY | libc::O_NOCTTY | libc::O_NONBLOCK;
        sys::open_file(&args.path(0)?, flags)?;
        Ok("opened the terminal for reading".to_owned())
    }),
    ("terminal-write", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_WRONLY | libc::O_NOCTTY)?;
        // A cursor movement to where it is: harmless, and a write all the same.
        fs::File::from(file).write_all(b"\x1b[0m")?;
        Ok("wrote to the terminal".to_owned())
    }),
    ("terminal-type", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_RDONLY | libc::O_NOCTTY)?;
        let words = [(&file).into(), libc::TIOCSTI.into(), sys::at(&b' ')];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("typed for the user".to_owned())
    }),
    ("terminal-type-stdio", |_| {
        for descriptor in 0..3 {
            let words = [descriptor.into(), libc::TIOCSTI.into(), sys::at(&b' ')];
            if sys::raw(libc::SYS_ioctl, &words).is_ok() {
                return Ok("typed for the user".to_owned());
            }
        }
        held("no stream is the terminal")
    }),
    ("terminal-resize", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_RDWR | libc::O_NOCTTY)?;
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
    ("terminal-take", terminal_take),
    ("terminal-through-parent", terminal_through_parent),
    ("terminal-discipline", |_| {
        // Its own terminal, whose line discipline may be any module of the kernel.
        let own = sys::open_file(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY)?;
        let ordinary = 0;
        let words = [(&own).into(), libc::TIOCSETD.into(), sys::at(&ordinary)];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("may load line disciplines".to_owned())
    }),
    ("terminal-type-own", |_| {
        let own = sys::open_file(c"/dev/ptmx", libc::O_RDWR | libc::O_NOCTTY)?;
        let words = [(&own).into(), libc::TIOCSTI.into(), sys::at(&b' ')];
        sys::raw(libc::SYS_ioctl, &words)?;
        Ok("typed on a terminal".to_owned())
    }),
];

/// Takes a terminal for its own session.
fn terminal_take(args: &Args) -> Verdict {
    let code = sys::in_child(|| {
        let taken = call!(libc::SYS_setsid).and_then(|_| {
            let path = args.path(0).map_err(|_| std::io::ErrorKind::InvalidInput)?;
            let file = sys::open_file(&path, libc::O_RDWR)?;
            call!(libc::SYS_ioctl, &file, libc::TIOCSCTTY, 0)
        });
        i32::from(taken.is_err())
    })?;
    match code {
        0 => Ok("took the terminal".to_owned()),
        _ => held("the terminal stays where it is"),
    }
}

/// Any descriptor of the parent that is a terminal.
fn terminal_through_parent(_: &Args) -> Verdict {
    let parent = std::os::unix::process::parent_id();
    for entry in fs::read_dir(format!("/proc/{parent}/fd"))? {
        let path = entry?.path();
        let target = fs::read_link(&path)?;
        if target.starts_with("/dev/pts") || target.starts_with("/dev/tty") {
            fs::OpenOptions::new().write(true).open(&path)?;
            return Ok(format!("opened {}", target.display()));
        }
    }
    held("the parent has no terminal")
}
