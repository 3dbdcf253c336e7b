//! The system calls that bind a process, for good, to rules: Landlock, and filters of system calls.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use super::calls::descriptor;
use super::raw::{self, RawErrno, call};

/// A ruleset of Landlock. An older kernel knows only the first of its attributes.
pub(crate) fn new_ruleset(attributes: &[u64; 3]) -> Result<i32, RawErrno> {
    let known = match attributes {
        [_, 0, 0] => 1,
        [_, _, 0] => 2,
        _ => 3,
    };
    // SAFETY: the kernel reads as many bytes as the size says, from a live array.
    unsafe {
        call!(
            LANDLOCK_CREATE_RULESET,
            attributes.as_ptr(),
            known * size_of::<u64>(),
            0
        )
    }
    .map(descriptor)
}

/// Adds a rule: these rights at and below what `fd` is.
pub(crate) fn add_rule(ruleset: i32, fd: i32, rights: u64) -> Result<(), RawErrno> {
    const PATH_BENEATH: i32 = 1;
    // The kernel's struct is packed: 8 bytes of rights, 4 of the descriptor.
    let mut rule = [0_u8; 12];
    rule[..8].copy_from_slice(&rights.to_ne_bytes());
    rule[8..].copy_from_slice(&fd.to_ne_bytes());
    // SAFETY: the rule is a live local of the size that the kernel reads.
    unsafe { call!(LANDLOCK_ADD_RULE, ruleset, PATH_BENEATH, rule.as_ptr(), 0) }.map(drop)
}

/// Adds a rule: these rights about a port of TCP.
pub(crate) fn add_port_rule(ruleset: i32, port: u32, rights: u64) -> Result<(), RawErrno> {
    const NET_PORT: i32 = 2;
    let rule = [rights, port.into()];
    // SAFETY: the rule is a live local of the size that the kernel reads.
    unsafe { call!(LANDLOCK_ADD_RULE, ruleset, NET_PORT, rule.as_ptr(), 0) }.map(drop)
}

/// Binds this process, for good, to a ruleset.
pub(crate) fn restrict_self(ruleset: i32) -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(LANDLOCK_RESTRICT_SELF, ruleset, 0) }.map(drop)
}

/// Installs, for good, a filter of system calls.
///
/// # Safety
///
/// `count` instructions of 8 bytes can be read at `instructions`.
pub(crate) unsafe fn install_filter(instructions: *const u8, count: u16) -> Result<(), RawErrno> {
    // SAFETY: the caller's promise.
    unsafe { install_filter_with(instructions, count, 0) }.map(drop)
}

/// As [`install_filter`], with flags. Some of them have it return a descriptor.
///
/// # Safety
///
/// That of [`install_filter`].
pub(crate) unsafe fn install_filter_with(
    instructions: *const u8,
    count: u16,
    flags: u32,
) -> Result<i32, RawErrno> {
    #[repr(C)]
    struct SockFprog {
        length: u16,
        filter: *const u8,
    }
    const SET_MODE_FILTER: i32 = 1;
    let program = SockFprog {
        length: count,
        filter: instructions,
    };
    // SAFETY: the program is a live local; its instructions are the caller's promise.
    unsafe { call!(SECCOMP, SET_MODE_FILTER, flags, &raw const program) }.map(descriptor)
}
