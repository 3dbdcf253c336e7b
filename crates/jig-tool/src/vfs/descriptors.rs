//! [`Descriptors`]: the socket over which the host passes open files.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use jig_proto::vfs::Capabilities;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketType, recvmsg, sockopt,
};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use super::opened::StdFile;

/// The socket over which the host passes open files.
#[derive(Debug)]
pub struct Descriptors(OwnedFd);

impl Descriptors {
    /// The socket that the host left for this process; `None` if there is none, or it can't be had.
    ///
    /// A number alone gives no right to a descriptor: somebody else in this process may own it. So
    /// the kernel is asked for a copy, as it would be for one of another process, and the copy is
    /// ours whatever becomes of the number. That needs Linux 5.6, and a filter of system calls that
    /// lets it pass; without it, files arrive as content.
    pub fn inherited() -> Option<Self> {
        let number = std::env::var(Capabilities::FD_VARIABLE).ok()?;
        let number = number.parse().ok().filter(|&number: &i32| number > 2)?;
        let this = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
        let socket = pidfd_getfd(this, number, PidfdGetfdFlags::empty()).ok()?;
        let is_stream = sockopt::socket_type(&socket).is_ok_and(|kind| kind == SocketType::STREAM);
        is_stream.then_some(Self(socket))
    }

    /// The next file. It must be there already: nobody is waited for.
    pub(super) fn receive(&mut self) -> io::Result<StdFile> {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        loop {
            match recvmsg(
                &self.0,
                &mut [IoSliceMut::new(&mut byte)],
                &mut control,
                flags,
            ) {
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let file = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        let missing = || io::Error::new(io::ErrorKind::UnexpectedEof, "the host passed no file");
        file.map(StdFile::from).ok_or_else(missing)
    }
}

impl From<OwnedFd> for Descriptors {
    /// Takes files from a stream socket of the Unix domain.
    fn from(socket: OwnedFd) -> Self {
        Self(socket)
    }
}
