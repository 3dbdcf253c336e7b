//! What a host and its zygote say to each other.

use core::ffi::CStr;

/// Host to zygote: make so many keepers. A new base comes with it as a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) count: u32,
    /// What the answers are to be marked with.
    pub(crate) generation: u32,
}

/// Zygote to host: a keeper, whose line and process descriptor come with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZygoteAnswer {
    pub(crate) generation: u32,
    /// The process id, or an error number below zero.
    pub(crate) pid: i32,
}

impl Demand {
    pub(crate) const LENGTH: usize = 8;

    pub(crate) fn encode(self) -> [u8; Self::LENGTH] {
        join(self.count, self.generation)
    }

    #[cfg_attr(not(test), expect(dead_code, reason = "the zygote's part"))]
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (count, generation) = split(bytes)?;
        Some(Self { count, generation })
    }
}

impl ZygoteAnswer {
    pub(crate) const LENGTH: usize = 8;

    #[cfg_attr(not(test), expect(dead_code, reason = "the zygote's part"))]
    pub(crate) fn encode(self) -> [u8; Self::LENGTH] {
        join(self.generation, self.pid.cast_unsigned())
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (generation, pid) = split(bytes)?;
        Some(Self {
            generation,
            pid: pid.cast_signed(),
        })
    }
}

fn join(one: u32, other: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&one.to_ne_bytes());
    bytes[4..].copy_from_slice(&other.to_ne_bytes());
    bytes
}

fn split(bytes: &[u8]) -> Option<(u32, u32)> {
    let (one, other) = bytes.split_first_chunk::<4>()?;
    let other: [u8; 4] = other.try_into().ok()?;
    Some((u32::from_ne_bytes(*one), u32::from_ne_bytes(other)))
}

/// As what the launcher is a zygote.
pub(crate) const NAME: &CStr = c"jig-zygote";

/// The most descriptors that the kernel passes in one message.
pub(crate) const MOST_DESCRIPTORS: usize = 253;
