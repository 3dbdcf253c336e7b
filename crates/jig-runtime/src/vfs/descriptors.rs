//! The socket over which a tool gets open files.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg,
    sockopt::set_socket_send_buffer_size,
};

/// The host's end. Sending never waits.
#[derive(Debug)]
pub(super) struct DescriptorSender(UnixStream);

impl DescriptorSender {
    /// The host's end and the tool's.
    pub(super) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        set_socket_send_buffer_size(&ours, SEND_BUFFER)?;
        Ok((Self(ours), theirs.into()))
    }

    /// Sends a copy of a descriptor; says whether it is on its way.
    ///
    /// It is not if the tool has not taken enough of the earlier ones, if the user has too many
    /// descriptors on the way, or if the tool is gone.
    pub(super) fn send(&self, file: BorrowedFd<'_>) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = [file];
        if !control.push(SendAncillaryMessage::ScmRights(&files)) {
            return false;
        }
        loop {
            match sendmsg(&self.0, &[IoSlice::new(&[0])], &mut control, FLAGS) {
                Ok(count) => return count == 1,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

/// A tool that is gone is told by the result, not by a signal.
#[cfg(not(target_vendor = "apple"))]
const FLAGS: SendFlags = SendFlags::NOSIGNAL;

/// The socket itself is set so by the standard library.
#[cfg(target_vendor = "apple")]
const FLAGS: SendFlags = SendFlags::empty();

/// Room for more messages than a tool has requests open. What is on its way stays open in the kernel:
/// a tool that asks and never takes them would hold as many files as fit.
const SEND_BUFFER: usize = 64 * 1024;

#[cfg(test)]
mod tests;
