//! Rights that a process should not have, and set-uid files that would give them to others.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use libc::AT_FDCWD;

use crate::reading::OpenHow;
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, c_string, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("suid-by-chmod", |args| {
        let path = fresh(args)?;
        call!(libc::SYS_fchmodat, AT_FDCWD, &c_string(path)?, SET_UID)?;
        is_set(path)
    }),
    ("suid-by-fchmod", suid_by_fchmod),
    ("suid-by-fchmodat2", |args| {
        const SYS_FCHMODAT2: i64 = 452;
        let path = fresh(args)?;
        call!(SYS_FCHMODAT2, AT_FDCWD, &c_string(path)?, SET_UID, 0)?;
        is_set(path)
    }),
    ("suid-by-open", |args| {
        let flags = libc::O_CREAT | libc::O_WRONLY;
        call!(libc::SYS_openat, AT_FDCWD, &args.path(0)?, flags, SET_UID)?;
        is_set(args.text(0)?)
    }),
    ("suid-by-openat2", suid_by_openat2),
    ("suid-by-unnamed", |_| {
        let flags = libc::O_TMPFILE | libc::O_WRONLY;
        let words = [AT_FDCWD.into(), c".".into(), flags.into(), SET_UID.into()];
        let file = sys::open(libc::SYS_openat, &words)?;
        let meta = fs::File::from(file).metadata()?;
        has_bit(meta.mode())
    }),
    ("suid-by-mknod", |args| {
        let mode = SET_UID | libc::S_IFREG;
        call!(libc::SYS_mknodat, AT_FDCWD, &args.path(0)?, mode, 0)?;
        is_set(args.text(0)?)
    }),
    ("sgid-by-mkdir", |args| {
        call!(libc::SYS_mkdirat, AT_FDCWD, &args.path(0)?, 0o755)?;
        call!(libc::SYS_fchmodat, AT_FDCWD, &args.path(0)?, 0o2755)?;
        is_set(args.text(0)?)
    }),
    ("suid-by-old-calls", suid_by_old_calls),
    ("file-capability", file_capability),
    ("run-suid-program", run_set_uid_program),
    ("become-root", |_| {
        call!(libc::SYS_setuid, 0)?;
        match effective_capabilities()? {
            0 => held("the number of root, without its rights"),
            rights => Ok(format!("has capabilities {rights:x}")),
        }
    }),
    ("become-another", |_| {
        call!(libc::SYS_setresuid, 1, 1, 1)?;
        Ok("is another user".to_owned())
    }),
    ("change-groups", |_| {
        call!(libc::SYS_setgroups, 0, 0)?;
        Ok("has other groups".to_owned())
    }),
    ("raise-capabilities", raise_capabilities),
    ("raise-ambient", |_| {
        const CAP_NET_ADMIN: i32 = 12;
        const CAP_NET_RAW: i32 = 13;
        let raise = |what| {
            call!(
                libc::SYS_prctl,
                libc::PR_CAP_AMBIENT,
                libc::PR_CAP_AMBIENT_RAISE,
                what,
                0,
                0
            )
        };
        raise(CAP_NET_ADMIN)?;
        raise(CAP_NET_RAW)?;
        Ok("has ambient capabilities".to_owned())
    }),
    ("override-owner", |args| {
        // A file of mode 000 that belongs to somebody: only a capability opens it.
        let path = fresh(args)?;
        call!(libc::SYS_fchmodat, AT_FDCWD, &c_string(path)?, 0)?;
        sys::open_file(&c_string(path)?, libc::O_RDWR)?;
        Ok("opened a file that nobody may open".to_owned())
    }),
    ("give-away", |args| {
        let path = c_string(fresh(args)?)?;
        call!(libc::SYS_fchownat, AT_FDCWD, &path, 1, 1, 0)?;
        Ok("gave a file to another user".to_owned())
    }),
];

const SET_UID: u32 = 0o4755;

/// Makes the file that is to get the bit.
fn fresh(args: &Args) -> Result<&str, crate::verdict::Stopped> {
    let path = args.text(0)?;
    fs::write(path, "")?;
    Ok(path)
}

fn is_set(path: &str) -> Verdict {
    has_bit(fs::symlink_metadata(path)?.mode())
}

fn has_bit(mode: u32) -> Verdict {
    if mode & 0o6000 == 0 {
        return held(format!("mode {mode:o}, without the bit"));
    }
    Ok(format!("made a file of mode {mode:o}"))
}

fn suid_by_fchmod(args: &Args) -> Verdict {
    let path = fresh(args)?;
    let file: OwnedFd = sys::open_file(&c_string(path)?, libc::O_RDWR)?;
    call!(libc::SYS_fchmod, &file, SET_UID)?;
    is_set(path)
}

fn suid_by_openat2(args: &Args) -> Verdict {
    let how = OpenHow {
        flags: (libc::O_CREAT | libc::O_WRONLY) as u64,
        mode: u64::from(SET_UID),
        resolve: 0,
    };
    let path = args.path(0)?;
    let words = [
        AT_FDCWD.into(),
        (&path).into(),
        sys::at(&how),
        size_of::<OpenHow>().into(),
    ];
    sys::open(libc::SYS_openat2, &words)?;
    is_set(args.text(0)?)
}

/// `creat`, `open`, `mknod` and `chmod`, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
fn suid_by_old_calls(args: &Args) -> Verdict {
    let path = args.path(0)?;
    let flags = libc::O_CREAT | libc::O_WRONLY;
    let mode = SET_UID | libc::S_IFREG;
    let mut last = held("nothing was tried");
    for attempt in 0..4 {
        let _ = call!(libc::SYS_unlinkat, AT_FDCWD, &path, 0);
        let made = match attempt {
            0 => call!(libc::SYS_creat, &path, SET_UID),
            1 => call!(libc::SYS_open, &path, flags, SET_UID),
            2 => call!(libc::SYS_mknod, &path, mode, 0),
            _ => fs::write(args.text(0)?, "").and_then(|()| call!(libc::SYS_chmod, &path, SET_UID)),
        };
        last = made.map_err(Into::into).and_then(|_| is_set(args.text(0)?));
        if last.is_ok() {
            break;
        }
    }
    last
}

#[cfg(not(target_arch = "x86_64"))]
fn suid_by_old_calls(_: &Args) -> Verdict {
    untried("this architecture has no such calls")
}

/// A file capability is a set-uid bit by another name.
fn file_capability(args: &Args) -> Verdict {
    // Version 2, effective, with the right to read any file.
    const VALUE: [u32; 5] = [0x0200_0001, 1 << 2, 0, 0, 0];
    let path = c_string(fresh(args)?)?;
    let length = size_of_val(&VALUE);
    call!(
        libc::SYS_setxattr,
        &path,
        c"security.capability",
        VALUE.as_slice(),
        length,
        0
    )?;
    Ok("gave a program a capability".to_owned())
}

/// Runs a set-uid copy of `id`.
fn run_set_uid_program(args: &Args) -> Verdict {
    // SAFETY: it has no preconditions.
    let own = unsafe { libc::getuid() };
    let output = std::process::Command::new(args.text(0)?)
        .arg("-u")
        .output()?;
    let shown = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if shown == own.to_string() || shown.is_empty() {
        return held(format!("it ran as `{shown}`"));
    }
    Ok(format!("ran as user {shown}"))
}

pub(crate) fn effective_capabilities() -> Result<u64, crate::verdict::Stopped> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let number = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    number.map_or_else(|| untried("/proc shows no capabilities"), Ok)
}

/// Asks for every capability there is.
fn raise_capabilities(_: &Args) -> Verdict {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let before = effective_capabilities()?;
    // Twice effective, permitted, inheritable; capabilities above 40 do not exist.
    let wanted = [u32::MAX, u32::MAX, 0, 0x1ff, 0x1ff, 0];
    let words = [header.as_slice().into(), wanted.as_slice().into()];
    let raised = sys::raw(libc::SYS_capset, &words);
    match effective_capabilities()? {
        0 => {
            raised?;
            held("none was given")
        }
        rights => Ok(format!("has capabilities {rights:x}, before {before:x}")),
    }
}
