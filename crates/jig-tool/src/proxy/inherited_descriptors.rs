//! Taking over the descriptors that this process was started with.

use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use jig_proto::fsproxy::{DESCRIPTOR, DESCRIPTOR_VARIABLE};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::net::SocketType;

use super::ProxyConnectError;
use super::descriptors::ProxyTransport;

/// Takes over the connection that the parent left for this process; a second time, there is none.
pub(super) fn take() -> Result<ProxyTransport, ProxyConnectError> {
    let named = match std::env::var(DESCRIPTOR_VARIABLE) {
        Ok(text) => InheritedDescriptors::parse(&text).ok_or(ProxyConnectError::Variable(text))?,
        Err(std::env::VarError::NotPresent) => InheritedDescriptors::Socket(DESCRIPTOR),
        Err(std::env::VarError::NotUnicode(text)) => {
            return Err(ProxyConnectError::Variable(
                text.to_string_lossy().into_owned(),
            ));
        }
    };
    if TAKEN.swap(true, Ordering::AcqRel) {
        return Err(ProxyConnectError::AlreadyTaken);
    }
    let taken = match named {
        InheritedDescriptors::Socket(number) => adopt(number, is_stream)
            .map(|socket| ProxyTransport::Socket(ManuallyDrop::into_inner(socket))),
        // The first is left open if there is something wrong with the second.
        InheritedDescriptors::Pair(input, output) => {
            adopt(input, is_stream_or_pipe).and_then(|input| {
                let output = adopt(output, is_stream_or_pipe)?;
                let owned = ManuallyDrop::into_inner;
                Ok(ProxyTransport::pair(owned(input), owned(output)))
            })
        }
    };
    if taken.is_err() {
        TAKEN.store(false, Ordering::Release);
    }
    taken
}

/// What the variable names.
#[derive(Debug, PartialEq, Eq)]
enum InheritedDescriptors {
    Socket(RawFd),
    Pair(RawFd, RawFd),
}

impl InheritedDescriptors {
    fn parse(text: &str) -> Option<Self> {
        match text.split_once(',') {
            None => number(text).map(Self::Socket),
            Some((input, output)) => match (number(input)?, number(output)?) {
                (input, output) if input == output => Some(Self::Socket(input)),
                (input, output) => Some(Self::Pair(input, output)),
            },
        }
    }
}

/// The standard streams are never the connection: the rest of the program owns them.
fn number(text: &str) -> Option<RawFd> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| is_plain && *number > 2_i32)
}

/// Takes over the descriptor of this number, if it was inherited and is what `is_right` wants.
///
/// A descriptor that turns out to be somebody else's is left open, as it was: only the caller decides
/// when what it gets may be closed.
fn adopt(
    number: RawFd,
    is_right: impl FnOnce(&OwnedFd) -> bool,
) -> Result<ManuallyDrop<OwnedFd>, ProxyConnectError> {
    let descriptor = borrow(number);
    match rustix::io::fcntl_getfd(&*descriptor) {
        Err(Errno::BADF) => return Err(ProxyConnectError::NotInherited(number)),
        Err(error) => return Err(ProxyConnectError::Io(error.into())),
        Ok(flags) if flags.contains(FdFlags::CLOEXEC) => {
            return Err(ProxyConnectError::NotInherited(number));
        }
        Ok(_) => {}
    }
    if !is_right(&descriptor) {
        return Err(ProxyConnectError::NotAConnection(number));
    }
    // Processes that inherited the same socket, say from a shell, would read each other's answers. The
    // lock belongs to this process and goes with it. What can't be locked, such as a pipe, is not shared
    // like that; and without the lock all works as long as nobody shares.
    let lock = FlockOperation::NonBlockingLockExclusive;
    if let Err(Errno::AGAIN | Errno::ACCESS) = rustix::fs::fcntl_lock(&*descriptor, lock) {
        return Err(ProxyConnectError::InUse(number));
    }
    // At once: a child that had it could speak as this process, and its end would never be seen.
    rustix::io::fcntl_setfd(&*descriptor, FdFlags::CLOEXEC)
        .map_err(|error| ProxyConnectError::Io(error.into()))?;
    keep_copies_from_children(&descriptor)?;
    Ok(descriptor)
}

/// A descriptor by its number, never to be dropped unless it is known to be ours.
fn borrow(number: RawFd) -> ManuallyDrop<OwnedFd> {
    #[expect(
        unsafe_code,
        reason = "an inherited descriptor is only a number, and the standard library has no safe way \
                  to own it"
    )]
    // SAFETY: the number is not negative. It may be owned by somebody else, or not be open: the value
    // is not dropped here, so nothing of others is closed, and all calls on a number that is not open
    // fail. The one who drops it, in `take`, does so after `adopt`: descriptors that this process
    // opened itself close on `exec`, as all that the standard library opens do; one that does not was
    // inherited, and `TAKEN` is set, so nobody took it over from here before.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    ManuallyDrop::new(descriptor)
}

/// Keeps every other number of the same socket or pipe from children: a shell may have made copies
/// (`exec 5<&3`), and a child that inherits one could speak as this process.
fn keep_copies_from_children(descriptor: &OwnedFd) -> Result<(), ProxyConnectError> {
    let failed = |error: Errno| ProxyConnectError::Io(error.into());
    let own = rustix::fs::fstat(descriptor).map_err(failed)?;
    for number in open_numbers() {
        let other = borrow(number);
        let is_copy = rustix::fs::fstat(&*other)
            .is_ok_and(|other| (other.st_dev, other.st_ino) == (own.st_dev, own.st_ino));
        if is_copy {
            rustix::io::fcntl_setfd(&*other, FdFlags::CLOEXEC).map_err(failed)?;
        }
    }
    Ok(())
}

/// The numbers that may be open.
fn open_numbers() -> Vec<RawFd> {
    let listed = || -> Result<Vec<RawFd>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open("/dev/fd", flags, Mode::empty())?;
        let entries = rustix::fs::Dir::new(folder)?.map(|entry| {
            let entry = entry?;
            let name = entry.file_name().to_str().ok();
            Ok(name.and_then(|name| name.parse().ok()))
        });
        let numbers: Result<Vec<Option<RawFd>>, Errno> = entries.collect();
        Ok(numbers?.into_iter().flatten().collect())
    };
    match listed() {
        Ok(numbers) if !numbers.is_empty() => numbers,
        // Where nothing is mounted there, each is tried.
        _ => (0..MOST_NUMBERS).collect(),
    }
}

pub(super) fn is_stream(descriptor: &OwnedFd) -> bool {
    rustix::net::sockopt::socket_type(descriptor).is_ok_and(|kind| kind == SocketType::STREAM)
}

fn is_stream_or_pipe(descriptor: &OwnedFd) -> bool {
    let is_pipe = rustix::fs::fstat(descriptor).is_ok_and(|status| {
        rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::Fifo
    });
    is_pipe || is_stream(descriptor)
}

/// How many numbers are tried where they can't be listed: it takes milliseconds, and is more than what a
/// process may have open by the usual limits.
const MOST_NUMBERS: RawFd = 65536;

/// Whether the connection of this process belongs to a client.
static TAKEN: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests;
