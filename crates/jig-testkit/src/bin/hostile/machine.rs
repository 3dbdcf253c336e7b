//! Files and devices of the machine. What is dangerous to write is opened for writing and closed again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process;

use libc::AT_FDCWD;

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, c_string, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("open-for-reading", |args| {
        sys::open_file(&args.path(0)?, libc::O_RDONLY | libc::O_NONBLOCK)?;
        Ok("opened it".to_owned())
    }),
    ("open-console", |args| {
        // What a program with a terminal finds under this name.
        const PSEUDO_TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = fs::File::from(sys::open_file(&args.path(0)?, flags)?);
        match libc::major(file.metadata()?.rdev()) {
            kind if PSEUDO_TERMINALS.contains(&kind) => held("it is a terminal, and no console"),
            _ => Ok("opened it".to_owned()),
        }
    }),
    ("open-for-writing", |args| {
        sys::open_file(&args.path(0)?, libc::O_WRONLY | libc::O_NONBLOCK)?;
        Ok("opened it for writing".to_owned())
    }),
    ("create-and-remove", create_and_remove),
    ("leave-file", |args| {
        fs::write(args.text(0)?, "left by a hostile program\n")?;
        Ok("wrote a file".to_owned())
    }),
    ("make-device", make_device),
    ("open-block-device", open_block_device),
    ("read-kernel-log", |_| {
        const SIZE_OF_BUFFER: i32 = 10;
        const READ_ALL: i32 = 3;
        let length = call!(libc::SYS_syslog, SIZE_OF_BUFFER, 0, 0)?;
        let mut buffer = vec![0_u8; length as usize];
        call!(libc::SYS_syslog, READ_ALL, buffer.as_mut_slice(), length)?;
        Ok("read the log of the kernel".to_owned())
    }),
    ("kernel-symbols", |_| {
        let symbols = fs::read_to_string("/proc/kallsyms")?;
        let is_shown = |line: &str| {
            line.split(' ')
                .next()
                .is_some_and(|at| at.contains(|c| c != '0'))
        };
        if symbols.lines().take(1000).any(is_shown) {
            return Ok("knows addresses of the kernel".to_owned());
        }
        held("no address is shown")
    }),
    ("home-listing", home_listing),
    ("set-host-name", set_host_name),
    ("host-name-of-host", |args| {
        let name = fs::read_to_string("/proc/sys/kernel/hostname")?;
        if name.trim() == args.text(0)? {
            return Ok(format!("it is {}", name.trim()));
        }
        held(format!("it shows {}", name.trim()))
    }),
    ("move-cgroup", move_cgroup),
];

/// A name that nobody has, in a directory of the system.
fn create_and_remove(args: &Args) -> Verdict {
    let path = format!("{}/jig-hostile-{}", args.text(0)?, process::id());
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    let path = c_string(path)?;
    sys::open_file(&path, flags)?;
    call!(libc::SYS_unlinkat, AT_FDCWD, &path, 0)?;
    Ok("created a file there".to_owned())
}

/// A second `/dev/null`, or `/dev/mem`, in the workspace.
fn make_device(args: &Args) -> Verdict {
    const NULL: u64 = (1 << 8) | 3;
    let path = args.path(0)?;
    call!(
        libc::SYS_mknodat,
        AT_FDCWD,
        &path,
        libc::S_IFCHR | 0o666,
        NULL
    )?;
    sys::open_file(&path, libc::O_RDWR)?;
    Ok("made a device and opened it".to_owned())
}

/// The disk under all files.
fn open_block_device(_: &Args) -> Verdict {
    let disks = fs::read_dir("/sys/block")?;
    for disk in disks {
        let disk = disk?.file_name();
        let path = c_string(format!("/dev/{}", disk.to_string_lossy()))?;
        if sys::open_file(&path, libc::O_RDONLY | libc::O_NONBLOCK).is_ok() {
            return Ok(format!("opened {}", path.to_string_lossy()));
        }
    }
    held("no disk could be opened")
}

/// The home of the user who runs the host. Only its names are counted.
fn home_listing(args: &Args) -> Verdict {
    let mut last = held("no home");
    for home in args.rest(0) {
        last = match fs::read_dir(home).map(Iterator::count) {
            Ok(0) => held("it is empty"),
            Ok(_) => return Ok(format!("listed {home}")),
            Err(error) => Err(error.into()),
        };
    }
    last
}

/// To the present one: what counts is that it is allowed.
fn set_host_name(_: &Args) -> Verdict {
    let name = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let name = name.trim().as_bytes();
    call!(libc::SYS_sethostname, name, name.len())?;
    Ok("set the name of the machine".to_owned())
}

/// Leaves the group whose limits hold it. Opening the list of a group is enough: writing would move it.
fn move_cgroup(_: &Args) -> Verdict {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    let places = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (place, kind) = (words.nth(1)?, words.next()?);
        kind.starts_with("cgroup").then(|| place.to_owned())
    });
    let usual = [
        "/sys/fs/cgroup".to_owned(),
        "/sys/fs/cgroup/unified".to_owned(),
    ];
    for place in places.chain(usual) {
        let groups = fs::OpenOptions::new()
            .write(true)
            .open(format!("{place}/cgroup.procs"));
        if groups.is_ok() {
            return Ok(format!("may change the groups at {place}"));
        }
    }
    held("no group can be changed")
}
