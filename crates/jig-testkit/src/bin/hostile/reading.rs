//! Ways to the content of a file that should not be readable.

use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jig_testkit::MARK;
use libc::AT_FDCWD;

use crate::sys::{self, Word, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, c_string, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("read", |args| secret_in(&args.path(0)?)),
    ("read-mmap", mapped),
    ("read-openat2", openat2),
    ("read-opath", bare_handle),
    ("read-by-handle", by_handle),
    ("read-sendfile", sendfile),
    ("read-splice", splice),
    ("read-through-new-symlink", through_new_symlink),
    ("read-through-hard-link", through_hard_link),
    ("read-through-rename", through_rename),
    ("read-from-directory", from_directory),
    ("read-through-proc", through_proc),
    ("read-parent-root", |args| through_parent("root", args)),
    ("read-parent-cwd", |args| through_parent("cwd", args)),
    ("read-while-swapping", while_swapping),
    ("read-patiently", |args| {
        patiently(|| secret_in(&args.path(0)?))
    }),
    ("read-by-subprocess", by_subprocess),
    ("list", list),
    ("list-subtree", list_subtree),
    ("stat", stat),
    ("readlink", readlink),
    ("getxattr", getxattr),
    ("watch", watch),
    ("watch-by-fanotify", fanotify),
    ("enter", enter),
    ("find-by-statx", statx),
];

/// A file is read if the secret was in it.
pub(crate) fn has_secret(bytes: &[u8]) -> Verdict {
    let found = bytes
        .windows(MARK.len())
        .any(|window| window == MARK.as_bytes());
    if found {
        Ok("got the secret".to_owned())
    } else {
        held(format!("{} bytes without the secret", bytes.len()))
    }
}

/// Opens and reads a file.
pub(crate) fn secret_in(path: &CStr) -> Verdict {
    secret_of(sys::open_file(path, libc::O_RDONLY)?)
}

/// Reads an open file.
pub(crate) fn secret_of(file: OwnedFd) -> Verdict {
    let mut bytes = Vec::new();
    fs::File::from(file).take(1 << 16).read_to_end(&mut bytes)?;
    has_secret(&bytes)
}

fn mapped(args: &Args) -> Verdict {
    const LENGTH: usize = 4096;
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    let length = fs::File::from(file.try_clone()?).metadata()?.len() as usize;
    if length == 0 {
        return held("the file is empty");
    }
    let address = call!(
        libc::SYS_mmap,
        0,
        LENGTH,
        libc::PROT_READ,
        libc::MAP_PRIVATE,
        &file,
        0
    )?;
    // SAFETY: the kernel has mapped a page there, of which the file fills the first `length` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, length.min(LENGTH)) };
    has_secret(bytes)
}

/// `struct open_how`.
#[repr(C)]
pub(crate) struct OpenHow {
    pub(crate) flags: u64,
    pub(crate) mode: u64,
    pub(crate) resolve: u64,
}

fn openat2(args: &Args) -> Verdict {
    let how = OpenHow {
        flags: libc::O_RDONLY as u64,
        mode: 0,
        resolve: 0,
    };
    let path = args.path(0)?;
    let words = [
        AT_FDCWD.into(),
        (&path).into(),
        sys::at(&how),
        size_of::<OpenHow>().into(),
    ];
    secret_of(sys::open(libc::SYS_openat2, &words)?)
}

fn bare_handle(args: &Args) -> Verdict {
    let handle = sys::open_file(&args.path(0)?, libc::O_PATH)?;
    let again = c_string(format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
    secret_in(&again)
}

/// `struct file_handle` with room for any handle.
#[repr(C)]
struct FileHandle {
    bytes: u32,
    kind: i32,
    handle: [u8; 128],
}

fn by_handle(args: &Args) -> Verdict {
    let path = args.path(0)?;
    let mut handle = FileHandle {
        bytes: 128,
        kind: 0,
        handle: [0; 128],
    };
    let mut mount = 0;
    let words = [
        AT_FDCWD.into(),
        (&path).into(),
        sys::into(&mut handle),
        sys::into(&mut mount),
        Word::from(0),
    ];
    sys::raw(libc::SYS_name_to_handle_at, &words)?;
    let here = sys::open_file(&args.path(1)?, libc::O_RDONLY | libc::O_DIRECTORY)?;
    let words = [(&here).into(), sys::at(&handle), libc::O_RDONLY.into()];
    secret_of(sys::open(libc::SYS_open_by_handle_at, &words)?)
}

fn sendfile(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    let (reader, writer) = io::pipe()?;
    let writer = OwnedFd::from(writer);
    call!(libc::SYS_sendfile, &writer, &file, 0, 4096)?;
    drop(writer);
    secret_of(reader.into())
}

fn splice(args: &Args) -> Verdict {
    let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
    let (reader, writer) = io::pipe()?;
    let writer = OwnedFd::from(writer);
    call!(libc::SYS_splice, &file, 0, &writer, 0, 4096, 0)?;
    drop(writer);
    secret_of(reader.into())
}

/// Makes a link to the target at a place of its own, and reads that.
fn through_new_symlink(args: &Args) -> Verdict {
    let link = args.path(1)?;
    call!(libc::SYS_symlinkat, &args.path(0)?, AT_FDCWD, &link)?;
    secret_in(&link)
}

fn through_hard_link(args: &Args) -> Verdict {
    let link = args.path(1)?;
    call!(
        libc::SYS_linkat,
        AT_FDCWD,
        &args.path(0)?,
        AT_FDCWD,
        &link,
        0
    )?;
    secret_in(&link)
}

fn through_rename(args: &Args) -> Verdict {
    let moved = args.path(1)?;
    call!(
        libc::SYS_renameat2,
        AT_FDCWD,
        &args.path(0)?,
        AT_FDCWD,
        &moved,
        0
    )?;
    secret_in(&moved)
}

/// Enters the directory, and reads by a relative name.
fn from_directory(args: &Args) -> Verdict {
    call!(libc::SYS_chdir, &args.path(0)?)?;
    secret_in(&args.path(1)?)
}

/// Puts a link of `/proc` before the path: `/proc/self/root`, `/proc/1/cwd/..`.
fn through_proc(args: &Args) -> Verdict {
    secret_in(&c_string(format!("{}{}", args.text(0)?, args.text(1)?))?)
}

fn through_parent(link: &str, args: &Args) -> Verdict {
    let parent = std::os::unix::process::parent_id();
    secret_in(&c_string(format!(
        "/proc/{parent}/{link}{}",
        args.text(0)?
    ))?)
}

/// Swaps a directory with a link to the outside, again and again, while it reads through the name.
fn while_swapping(args: &Args) -> Verdict {
    let (directory, outside) = (args.text(0)?, args.text(1)?);
    let name = args.text(2)?;
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
    let mut last = held("nothing was tried");
    while Instant::now() < deadline {
        last = secret_in(&target);
        if last.is_ok() {
            break;
        }
    }
    swapper.join().or_else(|_| held("the swapper died"))?;
    last
}

/// Tries again and again, for as long as the host may need to give it a chance.
pub(crate) fn patiently(attack: impl Fn() -> Verdict) -> Verdict {
    let deadline = Instant::now() + Duration::from_millis(1200);
    loop {
        let verdict = attack();
        if verdict.is_ok() || Instant::now() > deadline {
            return verdict;
        }
        sys::pause_for(2);
    }
}

fn by_subprocess(args: &Args) -> Verdict {
    let output = std::process::Command::new("/bin/cat")
        .arg(args.text(0)?)
        .output()?;
    has_secret(&output.stdout)
}

/// Lists a directory; it must find the name that it is told.
fn list(args: &Args) -> Verdict {
    let names = names_in(args.text(0)?)?;
    let wanted = args.text(1)?;
    if names.iter().any(|name| name == wanted) {
        return Ok(format!("listed {} names", names.len()));
    }
    held(format!("{} names, not the wanted one", names.len()))
}

/// Lists a directory, of which any name is too much.
fn list_subtree(args: &Args) -> Verdict {
    let names = names_in(args.text(0)?)?;
    match names.len() {
        0 => held("it is empty"),
        count => Ok(format!("listed {count} names")),
    }
}

fn names_in(directory: &str) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(Path::new(directory))?;
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

/// The length of a file is part of its content.
fn stat(args: &Args) -> Verdict {
    let meta = fs::symlink_metadata(args.text(0)?)?;
    if meta.is_file() && meta.len() > 0 {
        return Ok(format!("it has {} bytes", meta.len()));
    }
    held("it shows no length")
}

fn statx(args: &Args) -> Verdict {
    let mut buffer = [0_u64; 32];
    let path = args.path(0)?;
    let mask = libc::STATX_SIZE;
    call!(
        libc::SYS_statx,
        AT_FDCWD,
        &path,
        0,
        mask,
        buffer.as_mut_slice()
    )?;
    // `stx_size` is the sixth word of 64 bits.
    match buffer[5] {
        0 => held("it shows no length"),
        length => Ok(format!("it has {length} bytes")),
    }
}

fn readlink(args: &Args) -> Verdict {
    let target = fs::read_link(args.text(0)?)?;
    has_secret(target.as_os_str().as_encoded_bytes())
}

fn getxattr(args: &Args) -> Verdict {
    let mut value = [0_u8; 256];
    let path = args.path(0)?;
    let result = call!(
        libc::SYS_getxattr,
        &path,
        c"user.secret",
        value.as_mut_slice(),
        value_length(),
    );
    match result {
        Err(error) if sys::is(&error, libc::EOPNOTSUPP) => Err(Stopped::Untried(
            "the file system has no attributes".to_owned(),
        )),
        result => has_secret(&value[..result? as usize]),
    }
}

const fn value_length() -> usize {
    256
}

fn watch(args: &Args) -> Verdict {
    let watcher = sys::open(libc::SYS_inotify_init1, &[0.into()])?;
    let path: CString = args.path(0)?;
    call!(
        libc::SYS_inotify_add_watch,
        &watcher,
        &path,
        libc::IN_ALL_EVENTS
    )?;
    Ok("watches it".to_owned())
}

fn fanotify(args: &Args) -> Verdict {
    let flags = libc::FAN_CLASS_NOTIF | libc::FAN_REPORT_FID;
    let group = sys::open(libc::SYS_fanotify_init, &[flags.into(), 0.into()])?;
    let (add, mask) = (libc::FAN_MARK_ADD, libc::FAN_OPEN | libc::FAN_MODIFY);
    let path = args.path(0)?;
    call!(libc::SYS_fanotify_mark, &group, add, mask, AT_FDCWD, &path)?;
    Ok("watches it".to_owned())
}

fn enter(args: &Args) -> Verdict {
    call!(libc::SYS_chdir, &args.path(0)?)?;
    Ok(format!("is in {}", std::env::current_dir()?.display()))
}
