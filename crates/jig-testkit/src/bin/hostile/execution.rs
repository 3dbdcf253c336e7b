//! Running what may not be run.

use std::ffi::CStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::process::{self, Command};
use std::ptr;

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, c_string, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("exec", |args| run(args.text(0)?)),
    ("exec-by-descriptor", |args| {
        exec_descriptor(&sys::open_file(&args.path(0)?, libc::O_RDONLY)?)
    }),
    ("exec-by-bare-handle", |args| {
        exec_descriptor(&sys::open_file(&args.path(0)?, libc::O_PATH)?)
    }),
    ("exec-by-loader", exec_by_loader),
    ("exec-from-memory", exec_from_memory),
    ("exec-copy", exec_copy),
    ("exec-by-link", |args| {
        std::os::unix::fs::symlink(args.text(0)?, args.text(1)?)?;
        run(args.text(1)?)
    }),
    ("exec-by-hard-link", |args| {
        fs::hard_link(args.text(0)?, args.text(1)?)?;
        run(args.text(1)?)
    }),
    ("exec-script", |args| {
        ran(Command::new("/bin/sh").arg(args.text(0)?).status()?)
    }),
    ("map-executable", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        call!(
            libc::SYS_mmap,
            0,
            4096,
            protection,
            libc::MAP_PRIVATE,
            &file,
            0
        )?;
        Ok("mapped it as code".to_owned())
    }),
    ("map-then-protect", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
        let read = libc::PROT_READ;
        let address = call!(libc::SYS_mmap, 0, 4096, read, libc::MAP_PRIVATE, &file, 0)?;
        call!(libc::SYS_mprotect, address, 4096, read | libc::PROT_EXEC)?;
        Ok("made it code".to_owned())
    }),
];

fn ran(status: process::ExitStatus) -> Verdict {
    if status.success() {
        return Ok("ran it".to_owned());
    }
    held(format!("{status}"))
}

fn run(program: &str) -> Verdict {
    ran(when_not_busy(|| Command::new(program).status())?)
}

/// Tries again while the program is open for writing: a process that somebody else is just forking may
/// hold it so for a moment.
fn when_not_busy<T>(mut attempt: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    for _ in 0..50 {
        match attempt() {
            Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            result => return result,
        }
    }
    attempt()
}

fn exec_descriptor(file: &OwnedFd) -> Verdict {
    let name: &CStr = c"program";
    let arguments = [name.as_ptr(), ptr::null()];
    let nothing = [ptr::null::<i8>()];
    let attempt = || {
        let words = [
            file.into(),
            c"".into(),
            arguments.as_slice().into(),
            nothing.as_slice().into(),
            libc::AT_EMPTY_PATH.into(),
        ];
        match sys::raw(libc::SYS_execveat, &words) {
            Err(error) => error.raw_os_error().unwrap_or(1),
            Ok(_) => 0,
        }
    };
    let code = when_not_busy(|| match sys::in_child(attempt)? {
        libc::ETXTBSY => Err(std::io::Error::from_raw_os_error(libc::ETXTBSY)),
        code => Ok(code),
    })?;
    match code {
        0 => Ok("ran it".to_owned()),
        code => held(std::io::Error::from_raw_os_error(code).to_string()),
    }
}

/// The loader is a program that may be run, and runs what it is given.
fn exec_by_loader(args: &Args) -> Verdict {
    const LOADERS: [&str; 4] = [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-musl-x86_64.so.1",
        "/lib/ld-musl-aarch64.so.1",
    ];
    let Some(loader) = LOADERS.iter().find(|path| fs::metadata(path).is_ok()) else {
        return untried("no loader is known here");
    };
    ran(Command::new(loader).arg(args.text(0)?).status()?)
}

fn exec_from_memory(_: &Args) -> Verdict {
    let program = fs::read("/bin/true")?;
    let file = sys::open(libc::SYS_memfd_create, &[c"x".into(), 0.into()])?;
    std::io::Write::write_all(&mut fs::File::from(file.try_clone()?), &program)?;
    exec_descriptor(&file)
}

/// Copies a program to where nothing may be run.
fn exec_copy(args: &Args) -> Verdict {
    let copy = format!("{}/jig-hostile-{}", args.text(0)?, process::id());
    fs::write(&copy, fs::read("/bin/true")?)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    let result = when_not_busy(|| Command::new(&copy).status());
    call!(libc::SYS_unlinkat, libc::AT_FDCWD, &c_string(copy)?, 0)?;
    ran(result?)
}
