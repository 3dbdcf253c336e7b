//! From a [`SpawnPlan`] to the flat [`stage::order::OrderBlock`] that a keeper carries out.
//!
//! [`stage::order::OrderBlock`]: crate::sys::linux::stage::order::OrderBlock

use std::ffi::{CStr, CString};
use std::net::IpAddr;
use std::os::fd::RawFd;

use super::maps::UserMaps;
use super::plan::{ProcessTreeHold, SpawnPlan};
use crate::sys::linux::creation;
use crate::sys::linux::observe;
use crate::sys::linux::order::{
    ConfinementSteps, Instruction, MountFlags, NewMount, OrderStep, ServedSocket, StepAction,
};
use crate::sys::linux::stage::order::{
    self, OrderHeader, OrderSpan, PackedMove, PackedName, PackedRlimit, PlainNumbers,
};

/// An order.
pub(super) struct PackedOrder {
    pub(super) header: OrderHeader,
    /// All of it. Words, so that it is aligned.
    words: Vec<u64>,
}

impl PackedOrder {
    pub(super) fn as_bytes(&self) -> &[u8] {
        #[expect(unsafe_code, reason = "words are sent as bytes")]
        // SAFETY: every byte of a word is a byte.
        unsafe {
            std::slice::from_raw_parts(
                self.words.as_ptr().cast(),
                size_of_val(self.words.as_slice()),
            )
        }
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    pub(super) fn len(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

/// Where a keeper finds its line and its host, and where the traces of its host lie, if it is a copy.
#[derive(Debug, Clone)]
pub(super) struct KeeperDescriptors {
    pub(super) line: RawFd,
    pub(super) host: RawFd,
    pub(super) traces: Option<std::ops::Range<usize>>,
}

/// All of it, for a keeper that is made for it.
pub(super) fn whole(plan: &SpawnPlan, seat: &KeeperDescriptors) -> PackedOrder {
    let mut packer = OrderPacker::new();
    packer.put_base(plan);
    packer.put_call(plan);
    let mut kept: Vec<RawFd> = plan.moves.iter().map(|one| one.source).collect();
    kept.extend([seat.line, seat.host]);
    kept.sort_unstable();
    kept.dedup();
    packer.header.kept = packer.items(&kept);
    packer.header.line = seat.line;
    packer.header.host = seat.host;
    if let Some(traces) = &seat.traces {
        packer.header.traces = [traces.start as u64, traces.end as u64];
    }
    packer.finish()
}

/// What a keeper can do ahead of time. Equal bytes mean equal keepers.
pub(super) fn base(plan: &SpawnPlan) -> PackedOrder {
    let mut packer = OrderPacker::new();
    packer.put_base(plan);
    packer.header.flags |= order::AHEAD;
    if let Some(confinement) = is_filtered_ahead(plan) {
        packer.header.flags |= order::FILTERED_AHEAD;
        packer.put_filter(confinement);
    }
    packer.finish()
}

/// The rest, for a keeper that has done the base. Descriptors are named by their place in the message
/// that they come with, where they follow the order's own.
pub(super) fn call(plan: &SpawnPlan) -> PackedOrder {
    let mut packer = OrderPacker::new();
    packer.header.flags = flags(plan);
    packer.put_call(plan);
    if is_filtered_ahead(plan).is_some() {
        packer.header.flags |= order::FILTERED_AHEAD;
        packer.header.filter = OrderSpan::default();
    }
    for (number, one) in plan.moves.iter().enumerate() {
        let one = PackedMove {
            source: number as i32 + 1,
            copy: -1,
            target: one.target,
        };
        packer.replace(packer.header.moves, number, one);
    }
    packer.finish()
}

/// The confinement, if the tool's process can be made before the call is known, with the filter.
fn is_filtered_ahead(plan: &SpawnPlan) -> Option<&ConfinementSteps> {
    let in_namespaces = matches!(plan.hold, ProcessTreeHold::Namespaces(_));
    // A supervisor makes the tool's process, once it is bound to what binds the tool.
    let is_early = in_namespaces && !plan.is_supervised();
    plan.confinement.as_ref().filter(|_| is_early)
}

/// The descriptors that follow the order's own, in this order.
pub(super) fn sources(plan: &SpawnPlan) -> impl Iterator<Item = RawFd> {
    plan.moves.iter().map(|one| one.source)
}

fn flags(plan: &SpawnPlan) -> u32 {
    let bit = |set: bool, bit| if set { bit } else { 0 };
    let confinement = plan.confinement.as_ref();
    bit(
        matches!(plan.hold, ProcessTreeHold::Namespaces(_)),
        order::NAMESPACES,
    ) | bit(
        matches!(plan.hold, ProcessTreeHold::Namespaces(UserMaps::All { .. })),
        order::MAPPED_FROM_OUTSIDE,
    ) | bit(
        confinement.is_some_and(|confinement| confinement.own_network),
        order::OWN_NETWORK,
    ) | bit(confinement.is_some(), order::CONFINED)
        | bit(
            confinement.is_some_and(|confinement| confinement.landlock.is_some()),
            order::LANDLOCK,
        )
        | bit(plan.is_supervised(), order::SUPERVISED)
        | bit(plan.is_supervised() && plan.is_watched, order::PASSED_ON)
}

struct OrderPacker {
    header: OrderHeader,
    bytes: Vec<u8>,
}

impl OrderPacker {
    fn new() -> Self {
        Self {
            header: OrderHeader::default(),
            bytes: vec![0; size_of::<OrderHeader>()],
        }
    }

    fn put_base(&mut self, plan: &SpawnPlan) {
        self.header.flags = flags(plan);
        if let ProcessTreeHold::Namespaces(
            UserMaps::Own { uid, gid } | UserMaps::All { uid, gid },
        ) = &plan.hold
        {
            self.header.uid_map = self.items(uid.as_bytes());
            self.header.gid_map = self.items(gid.as_bytes());
        }
        if let Some(confinement) = &plan.confinement {
            self.header.base = self.acts(&confinement.base);
            if let Some(ruleset) = confinement.landlock {
                self.header.ruleset = [ruleset.handled_fs, ruleset.handled_net, ruleset.scoped];
            }
        }
    }

    fn put_call(&mut self, plan: &SpawnPlan) {
        if plan.has_terminal {
            self.header.flags |= order::TERMINAL;
        }
        if let Some(confinement) = &plan.confinement {
            self.put_confinement(confinement);
        }
        let candidates: Vec<u32> = plan
            .candidates
            .iter()
            .map(|path| self.string(path))
            .collect();
        self.header.candidates = self.items(&candidates);
        self.header.arguments = self.strings(&plan.arguments);
        self.header.environment = self.strings(&plan.environment);
        self.header.directory = self.string(&plan.directory);
        let moves: Vec<PackedMove> = plan
            .moves
            .iter()
            .map(|one| PackedMove {
                source: one.source,
                copy: -1,
                target: one.target,
            })
            .collect();
        self.header.moves = self.items(&moves);
        self.header.targets = self.items(&plan.targets);
        let limits: Vec<PackedRlimit> = plan
            .resource_limits()
            .into_iter()
            .map(|(resource, value)| PackedRlimit {
                value,
                resource,
                unused: 0,
            })
            .collect();
        self.header.limits = self.items(&limits);
        self.header.tasks = plan.limits.tasks.unwrap_or(0);
        self.header.memory = plan.limits.memory.unwrap_or(0);
        self.header.descriptors = plan.limits.descriptors.unwrap_or(0);
        self.header.disk = plan.limits.disk.unwrap_or(0);
        self.header.files = plan.limits.files.unwrap_or(0);
        self.header.highest_id = plan.highest_id();
        self.header.page = rustix::param::page_size() as u32;
        self.header.watched = match (plan.is_watched, plan.is_supervised()) {
            (true, false) => self.instructions(observe::filter()),
            (true, true) => self.instructions(observe::filter_with_creation()),
            (false, true) => self.instructions(creation::filter()),
            (false, false) => OrderSpan::default(),
        };
        if plan.is_supervised() {
            let names = plan.guarded_names.iter();
            let names: Vec<PackedName> = names
                .map(|name| PackedName {
                    base: self.string(&name.base),
                    pattern: self.string(&name.pattern),
                    not_below: self.string(&name.not_below),
                    flags: name.flags,
                })
                .collect();
            self.header.names = self.items(&names);
            self.header.held = self.items(creation::numbers());
        }
    }

    fn put_confinement(&mut self, confinement: &ConfinementSteps) {
        self.header.taken = confinement.base.len() as u32;
        self.header.steps = self.acts(&confinement.steps);
        self.put_filter(confinement);
    }

    fn put_filter(&mut self, confinement: &ConfinementSteps) {
        self.header.filter = self.instructions(&confinement.filter);
    }

    fn instructions(&mut self, filter: &[Instruction]) -> OrderSpan {
        let words: Vec<u64> = filter
            .iter()
            .map(|instruction| {
                let mut bytes = [0; 8];
                bytes[..2].copy_from_slice(&instruction.code.to_ne_bytes());
                bytes[2] = instruction.jt;
                bytes[3] = instruction.jf;
                bytes[4..].copy_from_slice(&instruction.k.to_ne_bytes());
                u64::from_ne_bytes(bytes)
            })
            .collect();
        self.items(&words)
    }

    fn acts(&mut self, steps: &[OrderStep]) -> OrderSpan {
        let acts: Vec<order::PackedStep> = steps.iter().map(|step| self.act(step)).collect();
        self.items(&acts)
    }

    fn act(&mut self, step: &OrderStep) -> order::PackedStep {
        let mut act = match &step.act {
            StepAction::Directory { target, mode } => order::PackedStep {
                kind: order::DIRECTORY,
                target: self.string(target),
                mode: *mode,
                ..order::PackedStep::default()
            },
            StepAction::File {
                target,
                mode,
                content,
            } => order::PackedStep {
                kind: order::FILE,
                target: self.string(target),
                mode: *mode,
                content: self.items(content),
                ..order::PackedStep::default()
            },
            StepAction::Symlink { target, to } => order::PackedStep {
                kind: order::SYMLINK,
                target: self.string(target),
                other: self.string(to),
                ..order::PackedStep::default()
            },
            StepAction::Bind {
                source,
                target,
                flags,
            } => order::PackedStep {
                kind: order::BIND,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                ..order::PackedStep::default()
            },
            StepAction::Again { target, flags } => order::PackedStep {
                kind: order::AGAIN,
                flags: mount_flags(*flags),
                target: self.string(target),
                ..order::PackedStep::default()
            },
            StepAction::Mask { target } => order::PackedStep {
                kind: order::MASK,
                target: self.string(target),
                ..order::PackedStep::default()
            },
            StepAction::Mount {
                kind,
                target,
                flags,
            } => {
                let (kind, number, mode) = match *kind {
                    NewMount::Tmpfs { size, mode } => (order::MOUNT_TMPFS, size, mode),
                    NewMount::Proc => (order::MOUNT_PROC, 0, 0),
                    NewMount::Devpts => (order::MOUNT_DEVPTS, 0, 0),
                };
                order::PackedStep {
                    kind,
                    number,
                    mode,
                    flags: mount_flags(*flags),
                    target: self.string(target),
                    ..order::PackedStep::default()
                }
            }
            StepAction::Listen { target } => order::PackedStep {
                kind: order::LISTEN,
                target: self.string(target),
                ..order::PackedStep::default()
            },
            StepAction::Loopback => order::PackedStep {
                kind: order::LOOPBACK,
                ..order::PackedStep::default()
            },
            StepAction::HostName(name) => order::PackedStep {
                kind: order::HOST_NAME,
                other: self.string(name),
                ..order::PackedStep::default()
            },
            StepAction::Allow { target, rights } => order::PackedStep {
                kind: order::ALLOW,
                number: *rights,
                target: self.string(target),
                ..order::PackedStep::default()
            },
            StepAction::Local { network, prefix } => order::PackedStep {
                kind: order::LOCAL,
                content: match network {
                    IpAddr::V4(address) => self.items(&address.octets()),
                    IpAddr::V6(address) => self.items(&address.octets()),
                },
                mode: (*prefix).into(),
                ..order::PackedStep::default()
            },
            StepAction::Sockets(sockets) => {
                let sockets: Vec<order::SocketOrder> = sockets.iter().map(socket).collect();
                order::PackedStep {
                    kind: order::SOCKETS,
                    content: self.items(&sockets),
                    ..order::PackedStep::default()
                }
            }
            StepAction::Replace { target, content } => order::PackedStep {
                kind: order::REPLACE,
                target: self.string(target),
                content: self.items(content),
                ..order::PackedStep::default()
            },
            StepAction::AllowPort { port, rights } => order::PackedStep {
                kind: order::ALLOW_PORT,
                number: *rights,
                mode: (*port).into(),
                ..order::PackedStep::default()
            },
            StepAction::Overlay {
                source,
                upper,
                work,
                target,
                flags,
            } => order::PackedStep {
                kind: order::OVERLAY,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                mode: self.string(upper),
                unused: self.string(work),
                ..order::PackedStep::default()
            },
            StepAction::Anew { target, flags } => order::PackedStep {
                kind: order::ANEW,
                flags: mount_flags(*flags),
                target: self.string(target),
                ..order::PackedStep::default()
            },
            StepAction::BindOfLayer {
                layer,
                source,
                target,
                flags,
            } => order::PackedStep {
                kind: order::BIND_OF_LAYER,
                number: *layer as u64,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                ..order::PackedStep::default()
            },
        };
        if step.optional {
            act.flags |= order::OPTIONAL;
        }
        act
    }

    /// Puts a string, and says where.
    fn string(&mut self, text: &CStr) -> u32 {
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text.to_bytes_with_nul());
        at
    }

    /// Puts strings, and a table of their places that ends in 0.
    fn strings(&mut self, texts: &[CString]) -> OrderSpan {
        let mut places: Vec<u64> = texts.iter().map(|text| self.string(text).into()).collect();
        places.push(0);
        self.items(&places)
    }

    fn items<T: PlainNumbers>(&mut self, items: &[T]) -> OrderSpan {
        self.align();
        let at = self.bytes.len() as u32;
        #[expect(unsafe_code, reason = "plain numbers are sent as bytes")]
        // SAFETY: plain types have no padding, so that every byte of them is set.
        let bytes =
            unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        self.bytes.extend_from_slice(bytes);
        OrderSpan {
            at,
            count: items.len() as u32,
        }
    }

    fn replace<T: PlainNumbers>(&mut self, span: OrderSpan, number: usize, item: T) {
        let at = span.at as usize + number * size_of::<T>();
        let before = self.bytes.len();
        let copy = self.items(&[item]);
        self.bytes.copy_within(copy.at as usize.., at);
        self.bytes.truncate(before);
    }

    fn align(&mut self) {
        let length = self.bytes.len().next_multiple_of(size_of::<u64>());
        self.bytes.resize(length, 0);
    }

    fn finish(mut self) -> PackedOrder {
        self.align();
        self.header.length = self.bytes.len() as u64;
        let header = self.header;
        let whole = OrderSpan { at: 0, count: 1 };
        self.replace(whole, 0, header);
        let words = self.bytes.chunks_exact(size_of::<u64>());
        PackedOrder {
            header,
            words: words
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
                .collect(),
        }
    }
}

fn socket(socket: &ServedSocket) -> order::SocketOrder {
    match *socket {
        ServedSocket::Datagrams(address, port) => order::SocketOrder {
            address: address.octets(),
            port,
            kind: order::DATAGRAMS,
        },
        ServedSocket::Streams(port) => order::SocketOrder {
            address: [0; 4],
            port,
            kind: order::STREAMS,
        },
    }
}

fn mount_flags(flags: MountFlags) -> u32 {
    let bit = |set: bool, bit| if set { bit } else { 0 };
    bit(flags.read_only, order::READ_ONLY)
        | bit(flags.no_exec, order::NO_EXEC)
        | bit(flags.dev, order::DEV)
}
