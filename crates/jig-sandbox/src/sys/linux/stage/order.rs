//! [`OrderBlock`]: all that a keeper and its tool are to do, in one flat block of bytes.
//!
//! It holds no addresses but those that [`OrderBlock::relocate`] makes in place, so that it can be copied with
//! a fork, or sent to another process. Places are counted in bytes from its start. The host writes it;
//! whoever reads it checks every place all the same.

#![expect(
    unsafe_code,
    reason = "a block of bytes is read as numbers and strings, and changed in place"
)]

use core::ffi::{CStr, c_char};
use core::ptr;

use super::raw::{self, RawErrno, call};

/// What an order begins with.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct OrderHeader {
    /// The length of the whole, in bytes.
    pub(crate) length: u64,
    /// What Landlock decides about: files, network, scopes.
    pub(crate) ruleset: [u64; 3],
    /// The most processes and threads, bytes of memory and descriptors in a process, to watch for; 0 for
    /// no limit.
    pub(crate) tasks: u64,
    pub(crate) memory: u64,
    pub(crate) descriptors: u64,
    /// By how many bytes and files the file system of the working directory may become fuller; 0 for no limit.
    pub(crate) disk: u64,
    pub(crate) files: u64,
    /// What to set as the highest process id of the process namespace; 0 to leave it.
    pub(crate) highest_id: u64,
    /// Where the arguments and the environment of a forked host lie in memory; zeros if it is none.
    pub(crate) traces: [u64; 2],
    /// Bits of [`NAMESPACES`] and so on.
    pub(crate) flags: u32,
    /// The text of the maps of users and groups: the keeper's to write, or with [`MAPPED_FROM_OUTSIDE`]
    /// that of its parent.
    pub(crate) uid_map: OrderSpan,
    pub(crate) gid_map: OrderSpan,
    /// [`PackedStep`]s that can be taken ahead of time, and those of this call.
    pub(crate) base: OrderSpan,
    pub(crate) steps: OrderSpan,
    /// How many acts come before `steps`, in this order or an earlier one.
    pub(crate) taken: u32,
    /// Instructions of the filter, 8 bytes each.
    pub(crate) filter: OrderSpan,
    /// Places of the files to execute, 4 bytes each.
    pub(crate) candidates: OrderSpan,
    /// Places of strings, 8 bytes each, the last one 0: they become pointers.
    pub(crate) arguments: OrderSpan,
    pub(crate) environment: OrderSpan,
    /// The place of the working directory's path.
    pub(crate) directory: u32,
    /// [`PackedMove`]s, numbers in rising order, and [`PackedRlimit`]s.
    pub(crate) moves: OrderSpan,
    pub(crate) targets: OrderSpan,
    pub(crate) limits: OrderSpan,
    /// The descriptors that are needed until the tool runs, in rising order.
    pub(crate) kept: OrderSpan,
    /// The keeper's end of the line to its host, and the host's process descriptor.
    pub(crate) line: i32,
    pub(crate) host: i32,
    /// The size of a page of memory.
    pub(crate) page: u32,
    /// Instructions of the filter by which the host watches what the tool asks for, 8 bytes each; none if
    /// it does not.
    pub(crate) watched: OrderSpan,
    /// [`PackedName`]s, and [`HeldNumber`]s: the calls that make names.
    pub(crate) names: OrderSpan,
    pub(crate) held: OrderSpan,
}

const _: () = assert!(
    size_of::<OrderHeader>() == 12 * 8 + 36 * 4,
    "no room is left between the fields"
);

impl OrderHeader {
    pub(crate) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The kinds of namespaces that the keeper begins in, as flags of `clone`. That of the network is made
    /// later, beside other things.
    pub(crate) fn namespaces(&self) -> u64 {
        const MOUNT: u64 = 0x0002_0000;
        const NAMES: u64 = 0x0400_0000;
        const IPC: u64 = 0x0800_0000;
        const USER: u64 = 0x1000_0000;
        const PROCESS: u64 = 0x2000_0000;
        let bits = |flag, bits| if self.has(flag) { bits } else { 0 };
        bits(NAMESPACES, USER | PROCESS | MOUNT) | bits(NAMESPACES, bits(CONFINED, IPC | NAMES))
    }
}

/// So many things from this place on.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct OrderSpan {
    pub(crate) at: u32,
    pub(crate) count: u32,
}

/// A step of a confinement. What each field means is up to its kind.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PackedStep {
    /// A size, or the rights of a rule.
    pub(crate) number: u64,
    pub(crate) kind: u32,
    /// Bits of [`OPTIONAL`] and so on.
    pub(crate) flags: u32,
    /// The places of strings.
    pub(crate) target: u32,
    pub(crate) other: u32,
    /// Bytes.
    pub(crate) content: OrderSpan,
    pub(crate) mode: u32,
    pub(crate) unused: u32,
}

/// A socket to make. Datagrams are for one address of IPv4, streams for all.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct SocketOrder {
    pub(crate) address: [u8; 4],
    pub(crate) port: u16,
    /// [`DATAGRAMS`] or [`STREAMS`].
    pub(crate) kind: u16,
}

/// A descriptor to pass.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PackedMove {
    pub(crate) source: i32,
    /// Where it is parked, so that no target overwrites a source. Filled in by the tool.
    pub(crate) copy: i32,
    pub(crate) target: i32,
}

/// Names that may not come into being, or with [`NAME_FREE`] may all the same.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PackedName {
    /// The place of the absolute path of the directory in which they lie.
    pub(crate) base: u32,
    /// The place of the parts, with slashes between them. It is [folded](super::folded_path), unless the name is free.
    pub(crate) pattern: u32,
    /// The place of the name of directories below which this does not hold, folded; an empty string for none.
    pub(crate) not_below: u32,
    /// Bits of [`NAME_FREE`] and so on.
    pub(crate) flags: u32,
}

/// A call that makes names: its number here, and one of [`HELD_OPEN`] and so on.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct HeldNumber {
    pub(crate) number: u32,
    pub(crate) kind: u32,
}

/// A limit, as `setrlimit` takes it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PackedRlimit {
    pub(crate) value: u64,
    pub(crate) resource: u32,
    pub(crate) unused: u32,
}

/// Plain numbers: every pattern of bits is a value.
///
/// # Safety
///
/// The type consists of integers without padding.
pub(crate) unsafe trait PlainNumbers: Copy {}

// SAFETY: each is an integer, or a `repr(C)` struct of integers in which no room is left between them.
unsafe impl PlainNumbers for u8 {}
// SAFETY: as above.
unsafe impl PlainNumbers for i32 {}
// SAFETY: as above.
unsafe impl PlainNumbers for u32 {}
// SAFETY: as above.
unsafe impl PlainNumbers for u64 {}
// SAFETY: as above.
unsafe impl PlainNumbers for OrderHeader {}
// SAFETY: as above.
unsafe impl PlainNumbers for PackedStep {}
// SAFETY: as above.
unsafe impl PlainNumbers for PackedMove {}
// SAFETY: as above.
unsafe impl PlainNumbers for SocketOrder {}
// SAFETY: as above.
unsafe impl PlainNumbers for PackedRlimit {}
// SAFETY: as above.
unsafe impl PlainNumbers for PackedName {}
// SAFETY: as above.
unsafe impl PlainNumbers for HeldNumber {}

/// A block of bytes with a [`OrderHeader`].
#[derive(Clone, Copy)]
pub(crate) struct OrderBlock {
    start: *mut u8,
    length: usize,
    pub(crate) header: OrderHeader,
}

impl OrderBlock {
    /// Takes on a block of bytes.
    ///
    /// # Safety
    ///
    /// The block is readable and writable for as long as the order is used, aligned to 8, and nobody else
    /// uses it meanwhile.
    pub(crate) unsafe fn new(start: *mut u8, length: usize) -> Result<Self, RawErrno> {
        let mut order = Self {
            start,
            length,
            header: OrderHeader::default(),
        };
        order.header = order.get(0)?;
        if order.header.length != length as u64 {
            return Err(RawErrno::BADMSG);
        }
        Ok(order)
    }

    pub(crate) fn has(&self, flag: u32) -> bool {
        self.header.has(flag)
    }

    /// What is at a place.
    fn get<T: PlainNumbers>(&self, at: usize) -> Result<T, RawErrno> {
        self.check(at, size_of::<T>())?;
        // SAFETY: the bytes are inside of the block, and any bits are a value of the type.
        Ok(unsafe { ptr::read_unaligned(self.start.add(at).cast()) })
    }

    fn set<T: PlainNumbers>(&self, at: usize, value: T) -> Result<(), RawErrno> {
        self.check(at, size_of::<T>())?;
        // SAFETY: the bytes are inside of the block, which is writable.
        unsafe { ptr::write_unaligned(self.start.add(at).cast(), value) };
        Ok(())
    }

    fn check(&self, at: usize, size: usize) -> Result<(), RawErrno> {
        match at.checked_add(size) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(RawErrno::BADMSG),
        }
    }

    /// The thing with this number among those of a span.
    pub(crate) fn item<T: PlainNumbers>(
        &self,
        span: OrderSpan,
        number: u32,
    ) -> Result<T, RawErrno> {
        self.get(Self::place::<T>(span, number)?)
    }

    /// Changes one.
    pub(crate) fn set_item<T: PlainNumbers>(
        &self,
        span: OrderSpan,
        number: u32,
        value: T,
    ) -> Result<(), RawErrno> {
        self.set(Self::place::<T>(span, number)?, value)
    }

    fn place<T>(span: OrderSpan, number: u32) -> Result<usize, RawErrno> {
        if number >= span.count {
            return Err(RawErrno::BADMSG);
        }
        Ok(span.at as usize + number as usize * size_of::<T>())
    }

    /// The bytes of a span of bytes.
    pub(crate) fn bytes(&self, span: OrderSpan) -> Result<&[u8], RawErrno> {
        self.check(span.at as usize, span.count as usize)?;
        // SAFETY: the bytes are inside of the block; nobody changes strings and contents.
        Ok(unsafe {
            core::slice::from_raw_parts(self.start.add(span.at as usize), span.count as usize)
        })
    }

    /// The string at a place.
    pub(crate) fn string(&self, at: u32) -> Result<&CStr, RawErrno> {
        let rest = (self.length as u32).saturating_sub(at);
        let bytes = self.bytes(OrderSpan { at, count: rest })?;
        CStr::from_bytes_until_nul(bytes).map_err(|_| RawErrno::BADMSG)
    }

    /// Gives back memory that [`calls::map`] made for it.
    ///
    /// [`calls::map`]: super::calls::map
    #[expect(dead_code, reason = "only a zygote needs a second one")]
    pub(crate) fn unmap(self) {
        // SAFETY: nothing points into the block once the order is gone.
        let _ = unsafe { call!(MUNMAP, self.start, self.length) };
    }

    /// The address of a span of things of `size` bytes each.
    pub(crate) fn address(&self, span: OrderSpan, size: usize) -> Result<*const u8, RawErrno> {
        let length = (span.count as usize)
            .checked_mul(size)
            .ok_or(RawErrno::BADMSG)?;
        self.check(span.at as usize, length)?;
        // SAFETY: the place is inside of the block.
        Ok(unsafe { self.start.add(span.at as usize) })
    }

    /// Turns the places of arguments and environment into pointers: what `execve` takes.
    pub(crate) fn relocate(&self) -> Result<(), RawErrno> {
        for span in [self.header.arguments, self.header.environment] {
            for number in 0..span.count {
                let at: u64 = self.item(span, number)?;
                // The last one stays null, and only the last one is.
                if (at == 0) != (number + 1 == span.count) {
                    return Err(RawErrno::BADMSG);
                }
                if at != 0 {
                    let at = u32::try_from(at).map_err(|_| RawErrno::BADMSG)?;
                    let address = self.string(at)?.as_ptr().expose_provenance();
                    self.set_item(span, number, address as u64)?;
                }
            }
            if span.count == 0 {
                return Err(RawErrno::BADMSG);
            }
        }
        Ok(())
    }

    /// A table of pointers that [`OrderBlock::relocate`] has made.
    pub(crate) fn pointers(&self, span: OrderSpan) -> Result<*const *const c_char, RawErrno> {
        let start = self.address(span, size_of::<u64>())?;
        if start.addr() % size_of::<u64>() != 0 {
            return Err(RawErrno::BADMSG);
        }
        Ok(start.cast())
    }
}

/// Flags of an order: whether it makes namespaces, of the network too; whether a confinement binds the
/// tool, and Landlock does; whether others map the keeper's users.
pub(crate) const NAMESPACES: u32 = 1;
pub(crate) const OWN_NETWORK: u32 = 2;
pub(crate) const CONFINED: u32 = 4;
pub(crate) const LANDLOCK: u32 = 8;
pub(crate) const MAPPED_FROM_OUTSIDE: u32 = 16;
/// The keeper is made before it is known for whom.
pub(crate) const AHEAD: u32 = 32;
/// The tool's process was made ahead too, and has its filter from the base.
pub(crate) const FILTERED_AHEAD: u32 = 64;

/// Standard input is a terminal, which becomes the one that controls the tool's session.
pub(crate) const TERMINAL: u32 = 128;

/// A supervisor performs the calls that make names, and with [`PASSED_ON`] hears of them from the host.
pub(crate) const SUPERVISED: u32 = 256;
pub(crate) const PASSED_ON: u32 = 512;

/// Flags of a name.
pub(crate) const NAME_FREE: u32 = 1;
pub(crate) const NAME_AT_ANY_DEPTH: u32 = 2;
/// Of a name: it alone is meant, and not what is below it.
pub(crate) const NAME_ITSELF: u32 = 4;
/// No name is meant, but what completes a bare repository of git.
pub(crate) const NAME_BARE: u32 = 8;

/// Kinds of calls that make names. With [`HELD_AT`] a directory comes before each path.
pub(crate) const HELD_OPEN: u32 = 1;
pub(crate) const HELD_CREAT: u32 = 2;
pub(crate) const HELD_MKDIR: u32 = 3;
pub(crate) const HELD_MKNOD: u32 = 4;
pub(crate) const HELD_SYMLINK: u32 = 5;
pub(crate) const HELD_LINK: u32 = 6;
pub(crate) const HELD_RENAME: u32 = 7;
pub(crate) const HELD_BIND: u32 = 8;
/// It changes the mask for the modes of new files.
pub(crate) const HELD_UMASK: u32 = 9;
pub(crate) const HELD_AT: u32 = 0x100;
/// It has flags too.
pub(crate) const HELD_FLAGS: u32 = 0x200;

/// Flags of an act.
pub(crate) const OPTIONAL: u32 = 1;
pub(crate) const READ_ONLY: u32 = 2;
pub(crate) const NO_EXEC: u32 = 4;
pub(crate) const DEV: u32 = 8;

/// Kinds of acts.
pub(crate) const DIRECTORY: u32 = 1;
pub(crate) const FILE: u32 = 2;
pub(crate) const SYMLINK: u32 = 3;
pub(crate) const BIND: u32 = 4;
pub(crate) const AGAIN: u32 = 5;
pub(crate) const MASK: u32 = 6;
pub(crate) const MOUNT_TMPFS: u32 = 7;
pub(crate) const MOUNT_PROC: u32 = 8;
pub(crate) const MOUNT_DEVPTS: u32 = 9;
pub(crate) const LISTEN: u32 = 10;
pub(crate) const LOOPBACK: u32 = 11;
pub(crate) const HOST_NAME: u32 = 12;
pub(crate) const ALLOW: u32 = 13;
pub(crate) const LOCAL: u32 = 14;
pub(crate) const SOCKETS: u32 = 15;
pub(crate) const REPLACE: u32 = 16;
pub(crate) const ALLOW_PORT: u32 = 17;

/// Kinds of sockets.
pub(crate) const DATAGRAMS: u16 = 1;
pub(crate) const STREAMS: u16 = 2;
/// The paths of its upper and working directories are where others have `mode` and `unused`.
pub(crate) const OVERLAY: u32 = 20;
/// As [`AGAIN`], with just these flags.
pub(crate) const ANEW: u32 = 21;
/// As [`BIND`], from the overlay with this number.
pub(crate) const BIND_OF_LAYER: u32 = 22;
