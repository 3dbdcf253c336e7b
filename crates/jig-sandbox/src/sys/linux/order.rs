//! [`ConfinementSteps`]: a profile as the steps that a keeper takes, one after the other.
//!
//! The host decides and allocates; the keeper and the tool only carry out. So a step names everything
//! that it needs, and a keeper that was made ahead of time can take the first part of them before it
//! knows for whom.
//!
//! With namespaces the keeper builds a new root: a file system in memory, in which it makes directories
//! and onto which it binds what the profile shows. Paths called `target` are relative to that new root,
//! without a leading slash; paths called `source` are absolute paths of the host. Both are opened without
//! following any symbolic link, so that a name that was swapped for a link fails instead of leading
//! elsewhere. At the end the new root becomes the root, and the host's is detached.
//!
//! Without namespaces there are no steps but those of Landlock, and their targets are the host's paths.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use crate::machine::Errno;

/// A profile as steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfinementSteps {
    /// Whether to make namespaces: user, mount, process, IPC, names, and with `own_network` network.
    pub(crate) namespaces: bool,
    /// Whether the network namespace is a new one.
    pub(crate) own_network: bool,
    /// The steps that are the same for many calls. They come first, and a pool takes them ahead.
    pub(crate) base: Vec<OrderStep>,
    /// The steps of this call.
    pub(crate) steps: Vec<OrderStep>,
    /// What Landlock decides about; `None` to leave it out.
    pub(crate) landlock: Option<Ruleset>,
    /// The filter of system calls, as the kernel takes it; empty to leave it out.
    pub(crate) filter: Vec<Instruction>,
    /// The most processes and threads at once, where the kernel counts them by process namespace.
    pub(crate) tasks: Option<u64>,
    /// The most memory of the whole tree, in bytes, which the keeper looks at from time to time.
    pub(crate) memory: Option<u64>,
    /// What the steps leave open about files, each in one sentence. It is for the status only.
    pub(crate) gaps: Vec<String>,
    /// Those of the gaps that are rules which are not held.
    pub(crate) unheld: Vec<String>,
    /// Directories in which nothing can be made, removed or renamed, though a rule grants that. It is for
    /// explanations only.
    pub(crate) unchangeable: Vec<PathBuf>,
}

/// One step. Each is needed unless it says otherwise: if it fails, the tool is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderStep {
    /// What to do.
    pub(crate) act: StepAction,
    /// Whether a failure is passed over and only reported.
    pub(crate) optional: bool,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepAction {
    /// Makes a directory with its parents (mode 0755), where the new root is still the memory of the
    /// keeper. It may exist. `mode` is that of the last one.
    Directory { target: CString, mode: u32 },
    /// Makes a file.
    File {
        target: CString,
        mode: u32,
        content: Vec<u8>,
    },
    /// Makes a symbolic link.
    Symlink { target: CString, to: CString },
    /// Shows a directory or file of the host, with what is mounted below it, at `target`, which exists.
    Bind {
        source: CString,
        target: CString,
        flags: MountFlags,
    },
    /// Makes what `target` shows a mount of its own: it can be neither renamed nor removed from now on.
    /// The flags are added to those that it has.
    Again { target: CString, flags: MountFlags },
    /// Hides `target` behind an unreadable file or directory, whichever it is itself.
    Mask { target: CString },
    /// Mounts a new file system: `tmpfs` with a size in bytes, `proc`, `devpts`.
    Mount {
        kind: NewMount,
        target: CString,
        flags: MountFlags,
    },
    /// Makes a socket at `target` that listens for streams, and hands it to the host.
    Listen { target: CString },
    /// Switches the loopback of the new network namespace on.
    Loopback,
    /// Sets the name of the machine.
    HostName(CString),
    /// Adds a rule to the Landlock ruleset: these rights at and below `target`. The keeper opens it when
    /// the step is reached, so the step comes after the mounts that it is about.
    Allow { target: CString, rights: u64 },
    /// Shows a directory of the host at `target`, which exists, under a layer for what is changed in it.
    Overlay {
        source: CString,
        upper: CString,
        work: CString,
        target: CString,
        flags: MountFlags,
    },
    /// As [`StepAction::Again`], with just these flags. For what comes from a layer, where a bind of the host's
    /// would show what lies under it.
    Anew { target: CString, flags: MountFlags },
    /// Shows a part of the layer with this number, counted by their steps, at `target`, which exists.
    BindOfLayer {
        layer: usize,
        source: CString,
        target: CString,
        flags: MountFlags,
    },
    /// Makes all addresses of a network this machine's own: what is sent to them arrives here.
    Local { network: IpAddr, prefix: u8 },
    /// Makes sockets, and hands them to the host in this order.
    Sockets(Vec<ServedSocket>),
    /// Puts a read-only file in the place of the one that is at `target`.
    Replace { target: CString, content: Vec<u8> },
    /// Adds a rule to the Landlock ruleset: these rights about a port of TCP.
    AllowPort { port: u16, rights: u64 },
}

/// A socket that the host serves in the tool's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServedSocket {
    /// For datagrams to this address and port.
    Datagrams(Ipv4Addr, u16),
    /// Listens for streams on this port of every address.
    Streams(u16),
}

/// A file system that is made new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewMount {
    Tmpfs { size: u64, mode: u32 },
    Proc,
    Devpts,
}

/// Flags of a mount. `nosuid` and `nodev` are always set, but for single device files, which need `dev`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MountFlags {
    pub(crate) read_only: bool,
    pub(crate) no_exec: bool,
    pub(crate) dev: bool,
}

/// The attributes of a Landlock ruleset, as the kernel takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ruleset {
    pub(crate) handled_fs: u64,
    pub(crate) handled_net: u64,
    pub(crate) scoped: u64,
}

/// One instruction of a filter: `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) jt: u8,
    pub(crate) jf: u8,
    pub(crate) k: u32,
}

/// What the kernel made of a confinement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ConfinementOutcome {
    /// Optional steps that failed, by their place in `base` followed by `steps`, with the error. Only the
    /// first few are told apart; `more` counts the rest.
    pub(crate) failed: Vec<(usize, Errno)>,
    pub(crate) more: usize,
    /// Whether the kernel took the limit on processes and threads of the process namespace.
    pub(crate) tasks_limited: bool,
    /// Whether the limit holds exactly, also for root.
    pub(crate) tasks_exact: bool,
}
