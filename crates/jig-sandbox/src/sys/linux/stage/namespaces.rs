//! The system calls about namespaces: making and entering one of the network, and what one of IPC holds.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use super::calls::{O_CLOEXEC, close, descriptor};
use super::raw::{self, RawErrno, call};

/// Moves this process into a new network namespace; a descriptor of that.
pub(crate) fn new_network() -> Result<i32, RawErrno> {
    const UNIX: i32 = 1;
    const STREAM: i32 = 1;
    const NAMESPACE_OF_SOCKET: i32 = 0x894c;
    // SAFETY: the call takes no addresses.
    unsafe { call!(UNSHARE, NETWORK) }?;
    // By a socket, since files that tell of namespaces may be out of reach.
    // SAFETY: the call takes no addresses.
    let socket = unsafe { call!(SOCKET, UNIX, STREAM | O_CLOEXEC, 0) }.map(descriptor)?;
    // SAFETY: this request takes no address.
    let namespace = unsafe { call!(IOCTL, socket, NAMESPACE_OF_SOCKET, 0) }.map(descriptor);
    close(socket);
    namespace
}

/// Moves this process into the network namespace of a descriptor.
pub(crate) fn enter_network(namespace: i32) -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(SETNS, namespace, NETWORK) }.map(drop)
}

/// Switches on the loopback device of this network namespace.
pub(crate) fn raise_loopback() -> Result<(), RawErrno> {
    const INET: i32 = 2;
    const DATAGRAM: i32 = 2;
    const SET_INTERFACE_FLAGS: i32 = 0x8914;
    const UP_AND_RUNNING: u16 = 0x41;
    // SAFETY: the call takes no addresses.
    let socket = unsafe { call!(SOCKET, INET, DATAGRAM | O_CLOEXEC, 0) }.map(descriptor)?;
    // `struct ifreq`: 16 bytes of name, then the flags.
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&UP_AND_RUNNING.to_ne_bytes());
    // SAFETY: the request is a live local of the size that the kernel reads.
    let result = unsafe { call!(IOCTL, socket, SET_INTERFACE_FLAGS, request.as_ptr()) };
    close(socket);
    result.map(drop)
}

/// The memory that System V objects of this IPC namespace hold, about, in bytes. No process need have it
/// mapped.
pub(crate) fn held_by_ipc(page: u64) -> u64 {
    const SHM_INFO: i32 = 14;
    const MSG_INFO: i32 = 12;
    const SEM_INFO: i32 = 19;
    // `struct shm_info`: a number, then pages in all, resident and swapped, then counters.
    let mut segments = [0_u64; 8];
    // `struct msginfo`: the second number counts messages, the seventh their bytes.
    let mut messages = [0_u32; 16];
    // `struct seminfo`: the eighth counts sets, the tenth semaphores.
    let mut semaphores = [0_u32; 16];
    // SAFETY: the kernel fills at most 48, 32 and 40 bytes of live locals.
    unsafe {
        let _ = call!(SHMCTL, 0, SHM_INFO, segments.as_mut_ptr());
        let _ = call!(MSGCTL, 0, MSG_INFO, messages.as_mut_ptr());
        let _ = call!(SEMCTL, 0, 0, SEM_INFO, semaphores.as_mut_ptr());
    }
    // What the kernel keeps for each, about.
    const OF_MESSAGE: u64 = 64;
    const OF_SEMAPHORE: u64 = 64;
    const OF_SET: u64 = 256;
    let count = |number: u32| u64::from(number);
    segments[2]
        .saturating_mul(page)
        .saturating_add(count(messages[6]))
        .saturating_add(count(messages[1]) * OF_MESSAGE)
        .saturating_add(count(semaphores[7]) * OF_SET)
        .saturating_add(count(semaphores[9]) * OF_SEMAPHORE)
}

/// The kind of namespace.
const NETWORK: usize = 0x4000_0000;
