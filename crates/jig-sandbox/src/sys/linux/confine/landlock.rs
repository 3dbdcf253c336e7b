//! Rights as Landlock knows them.

use super::host_path::HostPathState;
use crate::profile::{Network, Rights};
use crate::sys::linux::order::Ruleset;

/// What a version of Landlock can decide about, all of it asked for: what no rule allows is refused.
///
/// In a network namespace of its own a tool may use TCP, with itself; so Landlock decides about it only
/// where there is no such namespace.
pub(super) fn ruleset(abi: u32, own_network: bool, network: &Network) -> Ruleset {
    let no_tcp = knows_ports(abi) && !own_network && *network != Network::Host;
    Ruleset {
        handled_fs: handled(abi),
        handled_net: if no_tcp { BIND_TCP | CONNECT_TCP } else { 0 },
        scoped: if abi >= 6 {
            ABSTRACT_SOCKETS | SIGNALS
        } else {
            0
        },
    }
}

/// The rights on files that a version of Landlock knows.
pub(super) fn handled(abi: u32) -> u64 {
    let since = [
        (1, FIRST),
        (2, REFER),
        (3, TRUNCATE),
        (5, IOCTL_DEV),
        (9, RESOLVE_UNIX),
    ];
    since
        .into_iter()
        .filter(|(first, _)| *first <= abi)
        .fold(0, |all, (_, right)| all | right)
}

/// What a rule grants, for a file or a directory. What the version does not know is left out, because
/// the kernel refuses a rule with it.
///
/// Creating a file opens it for writing, which Landlock does not tell from writing to one that exists.
/// Devices are never made.
pub(super) fn access(rights: Rights, found: &HostPathState, abi: u32) -> u64 {
    let translation = [
        (Rights::READ, READ_FILE | READ_DIR),
        (
            Rights::CREATE,
            MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER | WRITE_FILE,
        ),
        (Rights::UPDATE, WRITE_FILE | TRUNCATE),
        (Rights::DELETE, REMOVE_DIR | REMOVE_FILE | REFER),
        (Rights::EXECUTE, EXECUTE),
    ];
    let rights = match found {
        HostPathState::Directory => rights,
        // Creating and removing a file is done to its directory.
        _ => rights.without(Rights::CREATE.with(Rights::DELETE)),
    };
    let all = translation
        .into_iter()
        .filter(|(right, _)| rights.has(*right))
        .fold(0, |all, (_, access)| all | access);
    only_known(all, found, abi)
}

/// What a rule comes to. Creating in a directory cannot be had without changing.
pub(super) fn effective(rights: Rights, found: &HostPathState) -> Rights {
    if *found == HostPathState::Directory && rights.has(Rights::CREATE) {
        rights.with(Rights::UPDATE)
    } else {
        rights
    }
}

/// What a tool may do in a directory that is its own: all but making and using devices.
pub(super) fn private(executable: bool, abi: u32) -> u64 {
    let rights = if executable {
        Rights::ALL
    } else {
        Rights::ALL.without(Rights::EXECUTE)
    };
    access(rights, &HostPathState::Directory, abi)
        | only_known(RESOLVE_UNIX, &HostPathState::Directory, abi)
}

/// What may be done with a harmless device: a question such as "are you a terminal" is a command to it.
pub(super) fn device(found: &HostPathState, abi: u32) -> u64 {
    only_known(
        READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV,
        found,
        abi,
    )
}

/// Seeing names, and nothing else.
pub(super) fn listing() -> u64 {
    READ_DIR
}

/// Whether a version decides about unix sockets by their path.
pub(super) fn knows_sockets(abi: u32) -> bool {
    handled(abi) & RESOLVE_UNIX != 0
}

/// Whether a version decides about emptying files.
pub(super) fn knows_truncation(abi: u32) -> bool {
    handled(abi) & TRUNCATE != 0
}

/// Whether a version decides about ports of TCP.
pub(super) fn knows_ports(abi: u32) -> bool {
    abi >= 4
}

/// What a ruleset decides about.
impl Ruleset {
    pub(super) fn decides_truncation(&self) -> bool {
        self.handled_fs & TRUNCATE != 0
    }

    pub(super) fn decides_device_commands(&self) -> bool {
        self.handled_fs & IOCTL_DEV != 0
    }

    pub(super) fn decides_sockets_by_path(&self) -> bool {
        self.handled_fs & RESOLVE_UNIX != 0
    }

    pub(super) fn decides_tcp(&self) -> bool {
        self.handled_net != 0
    }

    pub(super) fn keeps_signals_inside(&self) -> bool {
        self.scoped & SIGNALS != 0
    }

    pub(super) fn keeps_abstract_sockets_inside(&self) -> bool {
        self.scoped & ABSTRACT_SOCKETS != 0
    }
}

fn only_known(access: u64, found: &HostPathState, abi: u32) -> u64 {
    let possible = match found {
        HostPathState::Directory => u64::MAX,
        _ => EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX,
    };
    access & possible & handled(abi)
}

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REMOVE_DIR: u64 = 1 << 4;
const REMOVE_FILE: u64 = 1 << 5;
const MAKE_DIR: u64 = 1 << 7;
const MAKE_REG: u64 = 1 << 8;
const MAKE_SOCK: u64 = 1 << 9;
const MAKE_FIFO: u64 = 1 << 10;
const MAKE_SYM: u64 = 1 << 12;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const RESOLVE_UNIX: u64 = 1 << 16;
/// All of the first version, character and block devices (bits 6 and 11) included.
const FIRST: u64 = (1 << 13) - 1;

const BIND_TCP: u64 = 1;
pub(super) const CONNECT_TCP: u64 = 2;

const ABSTRACT_SOCKETS: u64 = 1;
const SIGNALS: u64 = 2;
