//! From a [`Plan`] to the flat [`stage::order::Order`] that a keeper carries out.
//!
//! [`stage::order::Order`]: crate::sys::linux::stage::order::Order

use std::ffi::{CStr, CString};
use std::net::IpAddr;
use std::os::fd::RawFd;

use super::maps::Maps;
use super::plan::{Hold, Plan};
use crate::sys::linux::observe;
use crate::sys::linux::order::{Act, Confinement, Instruction, MountFlags, NewMount, Socket, Step};
use crate::sys::linux::stage::order::{self, Header, Limit, Move, Plain, Span};

/// An order.
pub(super) struct Packed {
    pub(super) header: Header,
    /// All of it. Words, so that it is aligned.
    words: Vec<u64>,
}

impl Packed {
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
pub(super) struct Seat {
    pub(super) line: RawFd,
    pub(super) host: RawFd,
    pub(super) traces: Option<std::ops::Range<usize>>,
}

/// All of it, for a keeper that is made for it.
pub(super) fn whole(plan: &Plan, seat: &Seat) -> Packed {
    let mut packer = Packer::new();
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
pub(super) fn base(plan: &Plan) -> Packed {
    let mut packer = Packer::new();
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
pub(super) fn call(plan: &Plan) -> Packed {
    let mut packer = Packer::new();
    packer.header.flags = flags(plan);
    packer.put_call(plan);
    if is_filtered_ahead(plan).is_some() {
        packer.header.flags |= order::FILTERED_AHEAD;
        packer.header.filter = Span::default();
    }
    for (number, one) in plan.moves.iter().enumerate() {
        let one = Move {
            source: number as i32 + 1,
            copy: -1,
            target: one.target,
        };
        packer.replace(packer.header.moves, number, one);
    }
    packer.finish()
}

/// The confinement, if the tool's process can be made before the call is known, with the filter.
fn is_filtered_ahead(plan: &Plan) -> Option<&Confinement> {
    let in_namespaces = matches!(plan.hold, Hold::Namespaces(_));
    plan.confinement.as_ref().filter(|_| in_namespaces)
}

/// The descriptors that follow the order's own, in this order.
pub(super) fn sources(plan: &Plan) -> impl Iterator<Item = RawFd> {
    plan.moves.iter().map(|one| one.source)
}

fn flags(plan: &Plan) -> u32 {
    let bit = |set: bool, bit| if set { bit } else { 0 };
    let confinement = plan.confinement.as_ref();
    bit(matches!(plan.hold, Hold::Namespaces(_)), order::NAMESPACES)
        | bit(
            matches!(plan.hold, Hold::Namespaces(Maps::All { .. })),
            order::MAPPED_FROM_OUTSIDE,
        )
        | bit(
            confinement.is_some_and(|confinement| confinement.own_network),
            order::OWN_NETWORK,
        )
        | bit(confinement.is_some(), order::CONFINED)
        | bit(
            confinement.is_some_and(|confinement| confinement.landlock.is_some()),
            order::LANDLOCK,
        )
}

struct Packer {
    header: Header,
    bytes: Vec<u8>,
}

impl Packer {
    fn new() -> Self {
        Self {
            header: Header::default(),
            bytes: vec![0; size_of::<Header>()],
        }
    }

    fn put_base(&mut self, plan: &Plan) {
        self.header.flags = flags(plan);
        if let Hold::Namespaces(Maps::Own { uid, gid } | Maps::All { uid, gid }) = &plan.hold {
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

    fn put_call(&mut self, plan: &Plan) {
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
        let moves: Vec<Move> = plan
            .moves
            .iter()
            .map(|one| Move {
                source: one.source,
                copy: -1,
                target: one.target,
            })
            .collect();
        self.header.moves = self.items(&moves);
        self.header.targets = self.items(&plan.targets);
        let limits: Vec<Limit> = plan
            .resource_limits()
            .into_iter()
            .map(|(resource, value)| Limit {
                value,
                resource,
                unused: 0,
            })
            .collect();
        self.header.limits = self.items(&limits);
        self.header.tasks = plan.limits.tasks.unwrap_or(0);
        self.header.memory = plan.limits.memory.unwrap_or(0);
        self.header.descriptors = plan.limits.descriptors.unwrap_or(0);
        self.header.highest_id = plan.highest_id();
        self.header.page = rustix::param::page_size() as u32;
        if plan.is_watched {
            self.header.watched = self.instructions(observe::filter());
        }
    }

    fn put_confinement(&mut self, confinement: &Confinement) {
        self.header.taken = confinement.base.len() as u32;
        self.header.steps = self.acts(&confinement.steps);
        self.put_filter(confinement);
    }

    fn put_filter(&mut self, confinement: &Confinement) {
        self.header.filter = self.instructions(&confinement.filter);
    }

    fn instructions(&mut self, filter: &[Instruction]) -> Span {
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

    fn acts(&mut self, steps: &[Step]) -> Span {
        let acts: Vec<order::Act> = steps.iter().map(|step| self.act(step)).collect();
        self.items(&acts)
    }

    fn act(&mut self, step: &Step) -> order::Act {
        let mut act = match &step.act {
            Act::Directory { target, mode } => order::Act {
                kind: order::DIRECTORY,
                target: self.string(target),
                mode: *mode,
                ..order::Act::default()
            },
            Act::File {
                target,
                mode,
                content,
            } => order::Act {
                kind: order::FILE,
                target: self.string(target),
                mode: *mode,
                content: self.items(content),
                ..order::Act::default()
            },
            Act::Symlink { target, to } => order::Act {
                kind: order::SYMLINK,
                target: self.string(target),
                other: self.string(to),
                ..order::Act::default()
            },
            Act::Bind {
                source,
                target,
                flags,
            } => order::Act {
                kind: order::BIND,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                ..order::Act::default()
            },
            Act::Again { target, flags } => order::Act {
                kind: order::AGAIN,
                flags: mount_flags(*flags),
                target: self.string(target),
                ..order::Act::default()
            },
            Act::Mask { target } => order::Act {
                kind: order::MASK,
                target: self.string(target),
                ..order::Act::default()
            },
            Act::Mount {
                kind,
                target,
                flags,
            } => {
                let (kind, number, mode) = match *kind {
                    NewMount::Tmpfs { size, mode } => (order::MOUNT_TMPFS, size, mode),
                    NewMount::Proc => (order::MOUNT_PROC, 0, 0),
                    NewMount::Devpts => (order::MOUNT_DEVPTS, 0, 0),
                };
                order::Act {
                    kind,
                    number,
                    mode,
                    flags: mount_flags(*flags),
                    target: self.string(target),
                    ..order::Act::default()
                }
            }
            Act::Listen { target } => order::Act {
                kind: order::LISTEN,
                target: self.string(target),
                ..order::Act::default()
            },
            Act::Loopback => order::Act {
                kind: order::LOOPBACK,
                ..order::Act::default()
            },
            Act::HostName(name) => order::Act {
                kind: order::HOST_NAME,
                other: self.string(name),
                ..order::Act::default()
            },
            Act::Allow { target, rights } => order::Act {
                kind: order::ALLOW,
                number: *rights,
                target: self.string(target),
                ..order::Act::default()
            },
            Act::Local { network, prefix } => order::Act {
                kind: order::LOCAL,
                content: match network {
                    IpAddr::V4(address) => self.items(&address.octets()),
                    IpAddr::V6(address) => self.items(&address.octets()),
                },
                mode: (*prefix).into(),
                ..order::Act::default()
            },
            Act::Sockets(sockets) => {
                let sockets: Vec<order::Socket> = sockets.iter().map(socket).collect();
                order::Act {
                    kind: order::SOCKETS,
                    content: self.items(&sockets),
                    ..order::Act::default()
                }
            }
            Act::Replace { target, content } => order::Act {
                kind: order::REPLACE,
                target: self.string(target),
                content: self.items(content),
                ..order::Act::default()
            },
            Act::AllowPort { port, rights } => order::Act {
                kind: order::ALLOW_PORT,
                number: *rights,
                mode: (*port).into(),
                ..order::Act::default()
            },
            Act::Overlay {
                source,
                upper,
                work,
                target,
                flags,
            } => order::Act {
                kind: order::OVERLAY,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                mode: self.string(upper),
                unused: self.string(work),
                ..order::Act::default()
            },
            Act::Anew { target, flags } => order::Act {
                kind: order::ANEW,
                flags: mount_flags(*flags),
                target: self.string(target),
                ..order::Act::default()
            },
            Act::BindOfLayer {
                layer,
                source,
                target,
                flags,
            } => order::Act {
                kind: order::BIND_OF_LAYER,
                number: *layer as u64,
                flags: mount_flags(*flags),
                target: self.string(target),
                other: self.string(source),
                ..order::Act::default()
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
    fn strings(&mut self, texts: &[CString]) -> Span {
        let mut places: Vec<u64> = texts.iter().map(|text| self.string(text).into()).collect();
        places.push(0);
        self.items(&places)
    }

    fn items<T: Plain>(&mut self, items: &[T]) -> Span {
        self.align();
        let at = self.bytes.len() as u32;
        #[expect(unsafe_code, reason = "plain numbers are sent as bytes")]
        // SAFETY: plain types have no padding, so that every byte of them is set.
        let bytes =
            unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), size_of_val(items)) };
        self.bytes.extend_from_slice(bytes);
        Span {
            at,
            count: items.len() as u32,
        }
    }

    fn replace<T: Plain>(&mut self, span: Span, number: usize, item: T) {
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

    fn finish(mut self) -> Packed {
        self.align();
        self.header.length = self.bytes.len() as u64;
        let header = self.header;
        let whole = Span { at: 0, count: 1 };
        self.replace(whole, 0, header);
        let words = self.bytes.chunks_exact(size_of::<u64>());
        Packed {
            header,
            words: words
                .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
                .collect(),
        }
    }
}

fn socket(socket: &Socket) -> order::Socket {
    match *socket {
        Socket::Datagrams(address, port) => order::Socket {
            address: address.octets(),
            port,
            kind: order::DATAGRAMS,
        },
        Socket::Streams(port) => order::Socket {
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
