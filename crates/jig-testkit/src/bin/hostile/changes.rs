//! Ways to change what should stay as it is.

use std::ffi::CStr;
use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use libc::AT_FDCWD;

use crate::reading::{patiently, secret_in};
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, c_string, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("write", |args| write_with(args, libc::O_WRONLY)),
    ("append", |args| {
        write_with(args, libc::O_WRONLY | libc::O_APPEND)
    }),
    ("append-patiently", |args| {
        patiently(|| write_with(args, libc::O_WRONLY | libc::O_APPEND))
    }),
    ("create-patiently", |args| patiently(|| create(args))),
    ("write-truncating", |args| {
        write_with(args, libc::O_WRONLY | libc::O_TRUNC)
    }),
    ("write-opath", write_bare_handle),
    ("write-reopened", write_reopened),
    ("write-mmap", write_mapped),
    ("write-while-swapping", write_while_swapping),
    ("truncate", truncate),
    ("fallocate", fallocate),
    ("create", create),
    ("create-exclusive", |args| {
        write_with(args, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)
    }),
    ("create-unnamed", create_unnamed),
    ("mkdir", mkdir),
    ("symlink", symlink),
    ("mkfifo", |args| make_node(args, libc::S_IFIFO)),
    ("bind-socket", bind_socket),
    ("link", link),
    ("delete", |args| remove(args, 0)),
    ("rmdir", |args| remove(args, libc::AT_REMOVEDIR)),
    ("rename", |args| rename(args, 0)),
    ("exchange", |args| rename(args, libc::RENAME_EXCHANGE)),
    ("replace-by-rename", replace_by_rename),
    ("replace-directory", replace_directory),
    ("close-directory", |args| {
        call!(libc::SYS_fchmodat, AT_FDCWD, &args.path(0)?, 0)?;
        Ok("nobody can look into it".to_owned())
    }),
    ("reopen-and-read", |args| {
        reopen_directory(args)?;
        secret_in(&args.path(1)?)
    }),
    ("reopen-and-create", |args| {
        reopen_directory(args)?;
        write_to(sys::open_file(
            &args.path(1)?,
            libc::O_WRONLY | libc::O_CREAT,
        )?)
    }),
    ("given-write", |_| {
        write_to(sys::open_file(GIVEN, libc::O_WRONLY)?)
    }),
    ("given-truncate", |_| {
        call!(libc::SYS_truncate, GIVEN, 0)?;
        Ok("emptied".to_owned())
    }),
    ("given-link", |args| {
        let follow = libc::AT_SYMLINK_FOLLOW;
        call!(
            libc::SYS_linkat,
            AT_FDCWD,
            GIVEN,
            AT_FDCWD,
            &args.path(0)?,
            follow
        )?;
        Ok("made a hard link".to_owned())
    }),
    ("given-chmod", |_| {
        call!(libc::SYS_fchmod, 0, 0o777)?;
        Ok("changed the mode".to_owned())
    }),
    ("given-utimes", |_| {
        call!(libc::SYS_utimensat, 0, 0, 0, 0)?;
        Ok("changed the times".to_owned())
    }),
    ("given-setxattr", |_| {
        attributes(call!(
            libc::SYS_fsetxattr,
            0,
            c"user.changed",
            TEXT,
            TEXT.len(),
            0
        ))?;
        Ok("set an attribute".to_owned())
    }),
    ("chmod", chmod),
    ("fchmod", fchmod),
    ("fchmodat2", fchmodat2),
    ("chown", chown),
    ("utimes", utimes),
    ("setxattr", setxattr),
    ("removexattr", removexattr),
    ("set-flags", set_flags),
    ("copy-range", copy_range),
    ("lock", lock),
];

/// Standard input, which the host has opened for reading.
const GIVEN: &CStr = c"/proc/self/fd/0";

const TEXT: &[u8] = b"changed\n";

fn write_with(args: &Args, flags: i32) -> Verdict {
    write_to(sys::open_file(&args.path(0)?, flags)?)
}

fn write_to(file: OwnedFd) -> Verdict {
    fs::File::from(file).write_all(TEXT)?;
    Ok("wrote".to_owned())
}

fn write_bare_handle(args: &Args) -> Verdict {
    let handle = sys::open_file(&args.path(0)?, libc::O_PATH)?;
    let again = c_string(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
    write_to(sys::open_file(&again, libc::O_WRONLY)?)
}

/// A file that may be read is opened for reading, and then again for writing through `/proc`.
fn write_reopened(args: &Args) -> Verdict {
    let handle = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    let again = c_string(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
    write_to(sys::open_file(&again, libc::O_RDWR)?)
}

/// Maps a file that was opened for reading as shared and writable.
fn write_mapped(args: &Args) -> Verdict {
    let path = args.path(0)?;
    let file =
        sys::open_file(&path, libc::O_RDWR).or_else(|_| sys::open_file(&path, libc::O_RDONLY))?;
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
    // SAFETY: a page of the file, which is not empty, is mapped there for writing.
    unsafe { (address as *mut u8).write_volatile(b'!') };
    Ok("wrote through memory".to_owned())
}

/// As the reader that swaps, but it writes: only into files that it did not find by their honest name.
fn write_while_swapping(args: &Args) -> Verdict {
    let (directory, outside, name) = (args.text(0)?, args.text(1)?, args.text(2)?);
    let link = format!("{directory}.link");
    call!(
        libc::SYS_symlinkat,
        &c_string(outside)?,
        AT_FDCWD,
        &c_string(link.as_str())?
    )?;
    let target = c_string(format!("{directory}/{name}"))?;
    let deadline = Instant::now() + Duration::from_millis(300);
    let (one, other) = (c_string(directory)?, c_string(link)?);
    let swapper = thread::spawn(move || {
        while Instant::now() < deadline {
            let exchange = libc::RENAME_EXCHANGE;
            let _ = call!(
                libc::SYS_renameat2,
                AT_FDCWD,
                &one,
                AT_FDCWD,
                &other,
                exchange
            );
        }
    });
    let mut wrote = held("no write got through");
    while Instant::now() < deadline {
        if let Ok(file) = sys::open_file(&target, libc::O_WRONLY | libc::O_APPEND) {
            wrote = write_to(file);
            break;
        }
    }
    swapper.join().or_else(|_| held("the swapper died"))?;
    wrote
}

fn reopen_directory(args: &Args) -> Result<(), Stopped> {
    call!(libc::SYS_fchmodat, AT_FDCWD, &args.path(0)?, 0o755)?;
    Ok(())
}

fn truncate(args: &Args) -> Verdict {
    call!(libc::SYS_truncate, &args.path(0)?, 0)?;
    Ok("emptied".to_owned())
}

fn fallocate(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_WRONLY)?;
    call!(libc::SYS_fallocate, &file, 0, 0, 1 << 16)?;
    Ok("enlarged".to_owned())
}

fn create(args: &Args) -> Verdict {
    write_with(args, libc::O_WRONLY | libc::O_CREAT)
}

/// A file without a name, which is then given one.
fn create_unnamed(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_TMPFILE | libc::O_WRONLY)?;
    let here = c_string(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let name = args.path(1)?;
    let follow = libc::AT_SYMLINK_FOLLOW;
    call!(libc::SYS_linkat, AT_FDCWD, &here, AT_FDCWD, &name, follow)?;
    Ok("created".to_owned())
}

fn mkdir(args: &Args) -> Verdict {
    call!(libc::SYS_mkdirat, AT_FDCWD, &args.path(0)?, 0o755)?;
    Ok("made a directory".to_owned())
}

fn symlink(args: &Args) -> Verdict {
    call!(
        libc::SYS_symlinkat,
        c"/etc/passwd",
        AT_FDCWD,
        &args.path(0)?
    )?;
    Ok("made a link".to_owned())
}

fn make_node(args: &Args, kind: u32) -> Verdict {
    call!(libc::SYS_mknodat, AT_FDCWD, &args.path(0)?, kind | 0o644, 0)?;
    Ok("made a node".to_owned())
}

fn bind_socket(args: &Args) -> Verdict {
    std::os::unix::net::UnixListener::bind(args.text(0)?)?;
    Ok("made a socket".to_owned())
}

fn link(args: &Args) -> Verdict {
    call!(
        libc::SYS_linkat,
        AT_FDCWD,
        &args.path(0)?,
        AT_FDCWD,
        &args.path(1)?,
        0
    )?;
    Ok("made a hard link".to_owned())
}

fn remove(args: &Args, flags: i32) -> Verdict {
    call!(libc::SYS_unlinkat, AT_FDCWD, &args.path(0)?, flags)?;
    Ok("removed".to_owned())
}

fn rename(args: &Args, flags: u32) -> Verdict {
    let (from, to) = (args.path(0)?, args.path(1)?);
    call!(libc::SYS_renameat2, AT_FDCWD, &from, AT_FDCWD, &to, flags)?;
    Ok("renamed".to_owned())
}

/// Writes beside the target, then renames over it, as editors do.
fn replace_by_rename(args: &Args) -> Verdict {
    let new = args.text(1)?;
    fs::write(new, TEXT)?;
    call!(
        libc::SYS_renameat2,
        AT_FDCWD,
        &c_string(new)?,
        AT_FDCWD,
        &args.path(0)?,
        0
    )?;
    Ok("replaced".to_owned())
}

/// Renames a directory away and makes another of its name, with a file in it.
fn replace_directory(args: &Args) -> Verdict {
    let (directory, away, name) = (args.text(0)?, args.text(1)?, args.text(2)?);
    fs::rename(directory, away)?;
    fs::create_dir_all(directory)?;
    fs::write(format!("{directory}/{name}"), TEXT)?;
    Ok("replaced".to_owned())
}

fn chmod(args: &Args) -> Verdict {
    call!(libc::SYS_fchmodat, AT_FDCWD, &args.path(0)?, 0o777)?;
    Ok("changed the mode".to_owned())
}

fn fchmod(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    call!(libc::SYS_fchmod, &file, 0o777)?;
    Ok("changed the mode".to_owned())
}

fn fchmodat2(args: &Args) -> Verdict {
    const SYS_FCHMODAT2: i64 = 452;
    call!(SYS_FCHMODAT2, AT_FDCWD, &args.path(0)?, 0o777, 0)?;
    Ok("changed the mode".to_owned())
}

/// To the present owner: what counts is that it is allowed.
fn chown(args: &Args) -> Verdict {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::symlink_metadata(args.text(0)?)?;
    let (owner, group) = (meta.uid(), meta.gid());
    call!(
        libc::SYS_fchownat,
        AT_FDCWD,
        &args.path(0)?,
        owner,
        group,
        0
    )?;
    Ok("changed the owner".to_owned())
}

fn utimes(args: &Args) -> Verdict {
    let path = args.path(0)?;
    call!(libc::SYS_utimensat, AT_FDCWD, &path, 0, 0)?;
    Ok("changed the times".to_owned())
}

fn setxattr(args: &Args) -> Verdict {
    let path = args.path(0)?;
    let result = call!(
        libc::SYS_setxattr,
        &path,
        c"user.changed",
        TEXT,
        TEXT.len(),
        0
    );
    attributes(result)?;
    Ok("set an attribute".to_owned())
}

fn removexattr(args: &Args) -> Verdict {
    attributes(call!(libc::SYS_removexattr, &args.path(0)?, c"user.secret"))?;
    Ok("removed an attribute".to_owned())
}

fn attributes(result: std::io::Result<i64>) -> Result<(), Stopped> {
    match result {
        Err(error) if sys::is(&error, libc::EOPNOTSUPP) => Err(Stopped::Untried(
            "the file system has no attributes".to_owned(),
        )),
        result => Ok(result.map(drop)?),
    }
}

/// Sets the attribute that keeps a file out of backups, which is harmless and needs only ownership.
fn set_flags(args: &Args) -> Verdict {
    const GET_FLAGS: u64 = 0x8008_6601;
    const SET_FLAGS: u64 = 0x4008_6602;
    const NO_DUMP: u64 = 0x40;
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    let mut flags = 0_u64;
    let words = [(&file).into(), GET_FLAGS.into(), sys::into(&mut flags)];
    sys::raw(libc::SYS_ioctl, &words)?;
    flags ^= NO_DUMP;
    let words = [(&file).into(), SET_FLAGS.into(), sys::at(&flags)];
    sys::raw(libc::SYS_ioctl, &words)?;
    Ok("set a flag".to_owned())
}

/// Copies within the kernel, from a file that may be read.
fn copy_range(args: &Args) -> Verdict {
    let to = sys::open_file(&args.path(0)?, libc::O_WRONLY)?;
    let from = sys::open_file(c"/etc/passwd", libc::O_RDONLY)?;
    call!(libc::SYS_copy_file_range, &from, 0, &to, 0, 64, 0)?;
    Ok("copied".to_owned())
}

/// A lock on a file of the host keeps others waiting.
fn lock(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    call!(libc::SYS_flock, &file, libc::LOCK_EX | libc::LOCK_NB)?;
    Ok("locked".to_owned())
}
