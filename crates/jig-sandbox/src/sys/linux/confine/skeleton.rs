//! What every tool in namespaces finds, whatever its rules: `/proc` and `/dev` of its own, links of the
//! system, and what is made in its private directories.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::ProfileError;
use super::host_path::{self, Disk, HostLookup, HostPathState};
use super::landlock;
use super::network;
use super::outline::{c_string, target};
use crate::profile::{Network, PrivateContent, PrivateFile, Profile, Rights};
use crate::sys::linux::order::{MountFlags, NewMount, OrderStep, StepAction};

/// The steps before those of the rules, on this machine. What they depend on does not change while a
/// machine runs, so it is looked at once.
pub(super) fn before_on_disk(abi: u32) -> Vec<OrderStep> {
    static MADE: OnceLock<(u32, Vec<OrderStep>)> = OnceLock::new();
    let make = || before(&mut Disk::default(), abi);
    match MADE.get_or_init(|| (abi, make())) {
        (made_for, steps) if *made_for == abi => steps.clone(),
        _ => make(),
    }
}

/// The steps before those of the rules.
pub(super) fn before(host: &mut dyn HostLookup, abi: u32) -> Vec<OrderStep> {
    let mut steps = Vec::new();
    for path in LINKS_OF_THE_SYSTEM {
        if let HostPathState::Link(to) = host.lookup(Path::new(path)) {
            steps.push(link(target(Path::new(path)), c_string(&to)));
        }
    }
    proc(host, &mut steps, abi);
    dev(host, &mut steps, abi);
    cpu(host, &mut steps, abi);
    steps
}

/// Whether the steps before those of the rules make this link, if the host has it.
pub(super) fn has_link(path: &Path) -> bool {
    LINKS_OF_THE_SYSTEM
        .iter()
        .any(|link| path == Path::new(link))
}

/// The steps about the machine as a whole.
pub(super) fn machine(profile: &Profile) -> Vec<OrderStep> {
    let mut steps = Vec::new();
    if profile.network != Network::Host {
        steps.push(optional(StepAction::Loopback));
        steps.extend(network::names());
    }
    steps.push(optional(StepAction::HostName(HOST_NAME.into())));
    steps
}

/// What is made in private directories, after which those are sealed that are to be and are not yet.
pub(super) fn within_private(
    profile: &Profile,
    sealed: &[PathBuf],
) -> Result<Vec<OrderStep>, ProfileError> {
    let mut steps = Vec::new();
    for file in &profile.files {
        parents(&mut steps, &file.path);
        steps.push(private_file(file)?);
    }
    if let Some(door) = &profile.door {
        parents(&mut steps, door);
        steps.push(needed(StepAction::Listen {
            target: target(door),
        }));
    }
    for path in profile.sealed.iter().filter(|path| !sealed.contains(path)) {
        steps.push(needed(StepAction::Again {
            target: target(path),
            flags: MountFlags {
                read_only: true,
                ..MountFlags::default()
            },
        }));
    }
    Ok(steps)
}

/// Processes of the tool only. It is read-only because a tool that root starts owns the switches of the
/// whole machine in `/proc/sys`, which ask for the owner and not for a capability.
///
/// What the kernel tells there about the whole machine, keys and timers of others among it, is masked.
fn proc(host: &mut dyn HostLookup, steps: &mut Vec<OrderStep>, abi: u32) {
    steps.push(directory(c"proc", 0o555));
    steps.push(optional(StepAction::Mount {
        kind: NewMount::Proc,
        target: c"proc".into(),
        flags: READ_ONLY,
    }));
    allow(
        steps,
        c"proc",
        landlock::access(Rights::READ, &HostPathState::Directory, abi),
    );
    let owner = if rustix::process::geteuid().is_root() {
        FOR_ROOT
    } else {
        &[]
    };
    for name in FOR_ALL.iter().chain(owner) {
        let path = Path::new("/proc").join(name);
        if matches!(
            host.lookup(&path),
            HostPathState::File | HostPathState::Directory
        ) {
            steps.push(optional(StepAction::Mask {
                target: target(&path),
            }));
        }
    }
}

/// Devices that hold nothing of anybody, shared memory and terminals of the tool's own. The device files
/// are the host's, and read-only so that their modes stay: that does not stop writing to a device.
fn dev(host: &mut dyn HostLookup, steps: &mut Vec<OrderStep>, abi: u32) {
    steps.push(directory(c"dev", 0o755));
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        if host_path::find(host, &path) != HostPathState::File {
            continue;
        }
        steps.push(needed(StepAction::File {
            target: target(&path),
            mode: 0o444,
            content: Vec::new(),
        }));
        steps.push(optional(StepAction::Bind {
            source: c_string(&path),
            target: target(&path),
            flags: MountFlags {
                dev: true,
                ..READ_ONLY
            },
        }));
    }
    // Nothing is in there but the devices above and what is made below.
    allow(
        steps,
        c"dev",
        landlock::device(&HostPathState::Directory, abi),
    );
    for (name, to) in LINKS_IN_DEV {
        steps.push(link(name.into(), to.into()));
    }
    steps.push(directory(c"dev/shm", 0o1777));
    steps.push(needed(StepAction::Mount {
        kind: NewMount::Tmpfs {
            size: SHARED_MEMORY,
            mode: 0o1777,
        },
        target: c"dev/shm".into(),
        flags: MountFlags {
            no_exec: true,
            ..MountFlags::default()
        },
    }));
    allow(steps, c"dev/shm", landlock::private(false, abi));
    steps.push(directory(c"dev/pts", 0o755));
    steps.push(optional(StepAction::Mount {
        kind: NewMount::Devpts,
        target: c"dev/pts".into(),
        flags: MountFlags {
            no_exec: true,
            dev: true,
            read_only: false,
        },
    }));
}

/// How many processors there are: what runtimes ask to choose their number of threads.
fn cpu(host: &mut dyn HostLookup, steps: &mut Vec<OrderStep>, abi: u32) {
    let path = Path::new("/sys/devices/system/cpu");
    if host_path::find(host, path) != HostPathState::Directory {
        return;
    }
    steps.push(directory(&target(path), 0o755));
    steps.push(optional(StepAction::Bind {
        source: c_string(path),
        target: target(path),
        flags: READ_ONLY,
    }));
    allow(
        steps,
        &target(path),
        landlock::access(Rights::READ, &HostPathState::Directory, abi),
    );
}

fn private_file(file: &PrivateFile) -> Result<OrderStep, ProfileError> {
    let target = target(&file.path);
    let (mode, content) = match &file.content {
        PrivateContent::Link(to) => {
            let to = CString::new(to.as_os_str().as_encoded_bytes()).map_err(|_| {
                ProfileError::NotCanonical {
                    path: to.to_owned(),
                }
            })?;
            return Ok(link(target, to));
        }
        PrivateContent::Text(content) => (0o444, content),
        PrivateContent::Program(content) => (0o555, content),
    };
    Ok(needed(StepAction::File {
        target,
        mode,
        content: content.clone(),
    }))
}

fn parents(steps: &mut Vec<OrderStep>, path: &Path) {
    if let Some(parent) = path.parent() {
        steps.push(directory(&target(parent), 0o755));
    }
}

/// Landlock may be missing; then a rule would say nothing.
pub(super) fn allow(steps: &mut Vec<OrderStep>, target: &std::ffi::CStr, rights: u64) {
    if rights != 0 {
        steps.push(needed(StepAction::Allow {
            target: target.into(),
            rights,
        }));
    }
}

pub(super) fn directory(target: &std::ffi::CStr, mode: u32) -> OrderStep {
    needed(StepAction::Directory {
        target: target.into(),
        mode,
    })
}

pub(super) fn link(target: CString, to: CString) -> OrderStep {
    needed(StepAction::Symlink { target, to })
}

pub(super) fn needed(act: StepAction) -> OrderStep {
    OrderStep {
        act,
        optional: false,
    }
}

/// For what a tool may have to do without: its failure takes something away and opens nothing.
pub(super) fn optional(act: StepAction) -> OrderStep {
    OrderStep {
        act,
        optional: true,
    }
}

const READ_ONLY: MountFlags = MountFlags {
    read_only: true,
    no_exec: true,
    dev: false,
};

/// Where `/usr` holds all programs, these lead into it.
const LINKS_OF_THE_SYSTEM: [&str; 6] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"];

/// Files of `/proc` about the whole machine that anybody may read. Each mask costs a mount, so they are
/// those that tell of others, not of the machine.
const FOR_ALL: &[&str] = &["key-users", "keys"];

/// The same that only root may read, which owns them, with or without privileges.
const FOR_ROOT: &[&str] = &["kallsyms", "timer_list"];

/// No `tty`: without a terminal of its own a tool has no use for it.
const DEVICES: [&str; 5] = ["full", "null", "random", "urandom", "zero"];

const LINKS_IN_DEV: [(&std::ffi::CStr, &std::ffi::CStr); 5] = [
    (c"dev/fd", c"/proc/self/fd"),
    (c"dev/stdin", c"/proc/self/fd/0"),
    (c"dev/stdout", c"/proc/self/fd/1"),
    (c"dev/stderr", c"/proc/self/fd/2"),
    (c"dev/ptmx", c"pts/ptmx"),
];

/// Room for what programs share among themselves; it is memory, which a tool could otherwise fill up.
const SHARED_MEMORY: u64 = 256 << 20;

/// The name of the host would tell who it is.
const HOST_NAME: &std::ffi::CStr = c"jig";
