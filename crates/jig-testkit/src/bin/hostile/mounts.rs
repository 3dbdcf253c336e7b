//! Mounts, roots and namespaces: ways to see another file system than the one that was given.

use std::ffi::CStr;
use std::fs;
use std::io;

use libc::AT_FDCWD;

use crate::reading::secret_in;
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, c_string, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("umount-and-read", umount_and_read),
    ("bind-and-read", bind_and_read),
    ("bind-over", bind_over),
    ("remount-writable", remount_writable),
    ("mount-tmpfs", mount_tmpfs),
    ("mount-proc", mount_proc),
    ("mount-setattr", mount_setattr),
    ("open-tree", open_tree),
    ("open-tree-and-read", open_tree_and_read),
    ("fsopen", |_| {
        sys::open(libc::SYS_fsopen, &[c"tmpfs".into(), 0.into()])?;
        Ok("opened a file system".to_owned())
    }),
    ("pivot-root", pivot_root),
    ("chroot", chroot),
    ("chroot-fchdir", chroot_fchdir),
    ("unshare", unshare),
    ("clone-namespace", clone_namespace),
    ("clone3-namespace", clone3_namespace),
    ("setns", setns),
    ("setns-by-pidfd", setns_by_pidfd),
    ("own-user-namespace-umount", own_namespace_umount),
    ("own-user-namespace-bind", own_namespace_bind),
    ("own-user-namespace-root", own_namespace_root),
];

fn umount(path: &CStr) -> io::Result<()> {
    call!(libc::SYS_umount2, path, libc::MNT_DETACH).map(drop)
}

fn bind(from: &CStr, to: &CStr) -> io::Result<()> {
    call!(libc::SYS_mount, from, to, 0, libc::MS_BIND, 0).map(drop)
}

/// Takes a mask away. Outside of confinement there is none, and the file is simply read.
fn umount_and_read(args: &Args) -> Verdict {
    let path = args.path(0)?;
    let taken_away = umount(&path);
    match secret_in(&path) {
        Ok(_) => Ok("read it".to_owned()),
        Err(_) => Err(taken_away.err().map_or_else(
            || Stopped::Held("nothing behind the mask".to_owned()),
            Stopped::from,
        )),
    }
}

fn bind_and_read(args: &Args) -> Verdict {
    let (directory, place, name) = (args.path(0)?, args.path(1)?, args.text(2)?);
    fs::create_dir_all(args.text(1)?)?;
    bind(&directory, &place)?;
    let verdict = secret_in(&c_string(format!("{}/{name}", args.text(1)?))?);
    umount(&place)?;
    verdict
}

fn bind_over(args: &Args) -> Verdict {
    let (from, to) = (args.path(0)?, args.path(1)?);
    bind(&from, &to)?;
    umount(&to)?;
    Ok("mounted over it".to_owned())
}

/// Makes a read-only part writable, by every call that could.
fn remount_writable(args: &Args) -> Verdict {
    let place = args.path(0)?;
    let file = format!("{}/file", args.text(0)?);
    let flags = libc::MS_REMOUNT | libc::MS_BIND;
    let remounted = call!(libc::SYS_mount, 0, &place, 0, flags, 0);
    match fs::write(file, "changed\n") {
        Ok(()) => Ok("wrote".to_owned()),
        Err(error) => Err(remounted.err().unwrap_or(error).into()),
    }
}

fn mount_tmpfs(args: &Args) -> Verdict {
    let place = args.path(0)?;
    call!(libc::SYS_mount, c"none", &place, c"tmpfs", 0, 0)?;
    umount(&place)?;
    Ok("mounted".to_owned())
}

/// A new `/proc` shows what the old one hides.
fn mount_proc(args: &Args) -> Verdict {
    let place = args.path(0)?;
    call!(libc::SYS_mount, c"proc", &place, c"proc", 0, 0)?;
    umount(&place)?;
    Ok("mounted".to_owned())
}

/// `struct mount_attr`.
#[repr(C)]
#[derive(Default)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

fn mount_setattr(args: &Args) -> Verdict {
    const READ_ONLY: u64 = 1;
    let place = args.path(0)?;
    let attr = MountAttr {
        clear: READ_ONLY,
        ..MountAttr::default()
    };
    let words = [
        AT_FDCWD.into(),
        (&place).into(),
        libc::AT_RECURSIVE.into(),
        sys::at(&attr),
        size_of::<MountAttr>().into(),
    ];
    let changed = sys::raw(libc::SYS_mount_setattr, &words);
    match fs::write(format!("{}/file", args.text(0)?), "changed\n") {
        Ok(()) => Ok("wrote".to_owned()),
        Err(error) => Err(changed.err().unwrap_or(error).into()),
    }
}

/// A detached copy of a directory, without what is mounted on it.
fn open_tree(args: &Args) -> Verdict {
    let flags = libc::OPEN_TREE_CLONE;
    let path = args.path(0)?;
    let words = [AT_FDCWD.into(), (&path).into(), flags.into()];
    sys::open(libc::SYS_open_tree, &words)?;
    Ok("copied a mount".to_owned())
}

/// The same, to read what a mask hides.
fn open_tree_and_read(args: &Args) -> Verdict {
    let directory = args.path(0)?;
    let flags = libc::OPEN_TREE_CLONE;
    let tree = sys::open(
        libc::SYS_open_tree,
        &[AT_FDCWD.into(), (&directory).into(), flags.into()],
    )?;
    let name = args.path(1)?;
    let words = [
        (&tree).into(),
        (&name).into(),
        libc::O_RDONLY.into(),
        0.into(),
    ];
    crate::reading::secret_of(sys::open(libc::SYS_openat, &words)?)
}

/// In a child with mounts of its own where that is allowed, so that success moves nobody else's root.
fn pivot_root(args: &Args) -> Verdict {
    let place = args.path(0)?;
    let code = sys::in_child(|| {
        if call!(libc::SYS_unshare, libc::CLONE_NEWNS).is_err() {
            let _ = call!(libc::SYS_unshare, libc::CLONE_NEWUSER | libc::CLONE_NEWNS);
        }
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let _ = call!(libc::SYS_mount, 0, c"/", 0, private, 0);
        let _ = bind(&place, &place);
        let pivoted =
            call!(libc::SYS_chdir, &place).and_then(|_| call!(libc::SYS_pivot_root, c".", c"."));
        i32::from(pivoted.is_err())
    })?;
    match code {
        0 => Ok("changed the root".to_owned()),
        _ => held("pivot_root was refused"),
    }
}

fn chroot(args: &Args) -> Verdict {
    call!(libc::SYS_chroot, &args.path(0)?)?;
    Ok("changed the root".to_owned())
}

/// The classic way out of a `chroot`: a root below the working directory.
fn chroot_fchdir(args: &Args) -> Verdict {
    let here = sys::open_file(c".", libc::O_RDONLY | libc::O_DIRECTORY)?;
    call!(libc::SYS_chroot, &args.path(0)?)?;
    call!(libc::SYS_fchdir, &here)?;
    for _ in 0..64 {
        call!(libc::SYS_chdir, c"..")?;
    }
    call!(libc::SYS_chroot, c".")?;
    secret_in(&args.path(1)?)
}

fn flag(name: &str) -> Result<i32, Stopped> {
    Ok(match name {
        "user" => libc::CLONE_NEWUSER,
        "mount" => libc::CLONE_NEWNS,
        "net" => libc::CLONE_NEWNET,
        "pid" => libc::CLONE_NEWPID,
        "ipc" => libc::CLONE_NEWIPC,
        "uts" => libc::CLONE_NEWUTS,
        "cgroup" => libc::CLONE_NEWCGROUP,
        "time" => 0x80,
        _ => return crate::verdict::untried(format!("there is no namespace `{name}`")),
    })
}

fn unshare(args: &Args) -> Verdict {
    call!(libc::SYS_unshare, flag(args.text(0)?)?)?;
    Ok("has a namespace of its own".to_owned())
}

fn clone_namespace(args: &Args) -> Verdict {
    let flags = flag(args.text(0)?)? | libc::SIGCHLD;
    match call!(libc::SYS_clone, flags, 0, 0, 0, 0)? {
        // SAFETY: the child of a clone that shares nothing may end at any time.
        0 => unsafe { libc::_exit(0) },
        child => sys::wait(child as i32)?,
    };
    Ok("has a child in a namespace of its own".to_owned())
}

/// `struct clone_args`, its first version.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    rest: [u64; 3],
    exit_signal: u64,
    stack: [u64; 3],
}

fn clone3_namespace(args: &Args) -> Verdict {
    let how = CloneArgs {
        flags: flag(args.text(0)?)? as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    let words = [sys::at(&how), size_of::<CloneArgs>().into()];
    match sys::raw(libc::SYS_clone3, &words)? {
        // SAFETY: the child of a clone that shares nothing may end at any time.
        0 => unsafe { libc::_exit(0) },
        child => sys::wait(child as i32)?,
    };
    Ok("has a child in a namespace of its own".to_owned())
}

/// Joins the namespace of another process.
fn setns(args: &Args) -> Verdict {
    let place = c_string(format!("/proc/{}/ns/{}", args.text(0)?, args.text(1)?))?;
    let namespace = sys::open_file(&place, libc::O_RDONLY)?;
    call!(libc::SYS_setns, &namespace, 0)?;
    Ok("joined the namespace".to_owned())
}

fn setns_by_pidfd(args: &Args) -> Verdict {
    let other: i32 = args.number(0)?;
    let process = sys::open(libc::SYS_pidfd_open, &[other.into(), 0.into()])?;
    call!(
        libc::SYS_setns,
        &process,
        libc::CLONE_NEWUTS | libc::CLONE_NEWIPC
    )?;
    Ok("joined the namespaces".to_owned())
}

/// Becomes root of a user namespace with mounts of its own, in a child.
fn as_own_root(attack: impl FnOnce() -> Verdict) -> Verdict {
    let code = sys::in_child(|| {
        let (user, group) = (ids().0, ids().1);
        if call!(libc::SYS_unshare, libc::CLONE_NEWUSER | libc::CLONE_NEWNS).is_err() {
            return 2;
        }
        // Without a map the capabilities are there all the same.
        let _ = fs::write("/proc/self/setgroups", "deny");
        let _ = fs::write("/proc/self/uid_map", format!("0 {user} 1"));
        let _ = fs::write("/proc/self/gid_map", format!("0 {group} 1"));
        i32::from(attack().is_err())
    })?;
    match code {
        0 => Ok("as root of its own namespace".to_owned()),
        2 => held("unshare was refused"),
        _ => held("its own namespace did not help"),
    }
}

fn ids() -> (u32, u32) {
    // SAFETY: these have no preconditions.
    unsafe { (libc::getuid(), libc::getgid()) }
}

fn own_namespace_umount(args: &Args) -> Verdict {
    as_own_root(|| umount_and_read(args))
}

fn own_namespace_bind(args: &Args) -> Verdict {
    as_own_root(|| bind_and_read(args))
}

/// Changes the root to a copy of the tree without its mounts.
fn own_namespace_root(args: &Args) -> Verdict {
    as_own_root(|| {
        let root = args.path(0)?;
        let recursive = libc::MS_BIND | libc::MS_REC;
        call!(libc::SYS_mount, &root, &root, 0, recursive, 0)?;
        call!(libc::SYS_chdir, &root)?;
        call!(libc::SYS_pivot_root, c".", c".")?;
        Ok("changed the root".to_owned())
    })
}
