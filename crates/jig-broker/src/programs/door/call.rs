//! [`DoorCall`]: what a shim says, read from a stream on which anybody in the sandbox may say anything.

use std::ffi::OsStr;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use jig_sandbox::{Interest, Waker, poll};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recv, recvmsg,
};

/// A program that somebody in the sandbox wants to have run.
#[derive(Debug)]
pub(super) struct DoorCall {
    /// Absolute and without `..`; it may be anywhere.
    pub(super) cwd: PathBuf,
    /// A name without slashes.
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// Its standard input, output and error.
    pub(super) streams: [OwnedFd; 3],
}

/// Why there is no call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DoorCallError {
    /// Nobody is there to be told.
    Gone,
    /// This is what is wrong.
    Garbled(&'static str),
}

impl DoorCall {
    /// Reads a call, in bounded time and memory. The stream does not block.
    pub(super) fn receive(
        stream: BorrowedFd<'_>,
        closing: &Waker,
        time: Duration,
    ) -> Result<Self, DoorCallError> {
        let line = ShimStream {
            stream,
            closing,
            deadline: Instant::now() + time,
        };
        let mut header = [0; 4];
        let streams = line.header(&mut header)?;
        let length = u32::from_le_bytes(header) as usize;
        if length > MOST_BYTES {
            return Err(DoorCallError::Garbled("the arguments are too large"));
        }
        let mut body = vec![0; length];
        line.fill(&mut body)?;
        let streams = three(streams)?;
        let (cwd, program, args) = parse(&body).map_err(DoorCallError::Garbled)?;
        Ok(Self {
            cwd,
            program,
            args,
            streams,
        })
    }
}

/// The words of a call.
pub(super) fn parse(body: &[u8]) -> Result<(PathBuf, String, Vec<String>), &'static str> {
    let Some(words) = body.strip_suffix(&[0]) else {
        return Err("the request does not end where it should");
    };
    let mut words = words.split(|byte| *byte == 0);
    let (Some(cwd), Some(program)) = (words.next(), words.next()) else {
        return Err("the request names no program");
    };
    let cwd = Path::new(OsStr::from_bytes(cwd));
    let is_normal = |component| matches!(component, Component::RootDir | Component::Normal(_));
    if !cwd.is_absolute() || !cwd.components().all(is_normal) {
        return Err("the working directory is not an absolute path");
    }
    let text = |word: &[u8]| String::from_utf8(word.to_vec());
    let program = text(program).map_err(|_| "the name of the program is not UTF-8")?;
    if program.is_empty() || program.contains('/') || matches!(program.as_str(), "." | "..") {
        return Err("only programs that have a name without slashes are run here");
    }
    let mut args = Vec::new();
    for word in words {
        if args.len() == MOST_ARGS {
            return Err("there are too many arguments");
        }
        args.push(text(word).map_err(|_| "an argument is not UTF-8, so no rule can speak of it")?);
    }
    Ok((cwd.to_owned(), program, args))
}

/// Checks that there are three streams, which can be read or written and nothing else.
///
/// A directory would carry the names of one sandbox into another, a bare handle could be made one.
fn three(fds: Vec<OwnedFd>) -> Result<[OwnedFd; 3], DoorCallError> {
    for fd in &fds {
        let kind = rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
        let is_stream = matches!(
            kind,
            Ok(FileType::RegularFile
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice)
        );
        let is_bare = rustix::fs::fcntl_getfl(fd).is_ok_and(|flags| flags.contains(OFlags::PATH));
        if !is_stream || is_bare {
            return Err(DoorCallError::Garbled(
                "a standard stream is neither a file nor a pipe, a socket or a terminal",
            ));
        }
    }
    let wrong = DoorCallError::Garbled("the three standard streams do not come with the request");
    <[OwnedFd; 3]>::try_from(fds).map_err(|_| wrong)
}

struct ShimStream<'a> {
    stream: BorrowedFd<'a>,
    closing: &'a Waker,
    deadline: Instant,
}

impl ShimStream<'_> {
    /// Reads the length of what follows; what comes with it.
    fn header(&self, header: &mut [u8; 4]) -> Result<Vec<OwnedFd>, DoorCallError> {
        let mut fds = Vec::new();
        let mut filled = 0;
        while filled < header.len() {
            self.wait()?;
            // Room for one more than there should be.
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut parts = [IoSliceMut::new(&mut header[filled..])];
            let received = recvmsg(
                self.stream,
                &mut parts,
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            );
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(rights) = message {
                    fds.extend(rights);
                }
            }
            match received {
                Ok(message) if message.bytes == 0 => return Err(DoorCallError::Gone),
                // More descriptors than there was room for; those are closed already.
                Ok(message) if message.flags.contains(ReturnFlags::CTRUNC) || fds.len() > 3 => {
                    return Err(DoorCallError::Garbled(
                        "more than the three standard streams come with the request",
                    ));
                }
                Ok(message) => filled += message.bytes,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Err(DoorCallError::Gone),
            }
        }
        Ok(fds)
    }

    /// Reads without room for descriptors: the kernel closes those that come.
    fn fill(&self, body: &mut [u8]) -> Result<(), DoorCallError> {
        let mut filled = 0;
        while filled < body.len() {
            self.wait()?;
            match recv(self.stream, &mut body[filled..], RecvFlags::empty()) {
                Ok((_, 0)) => return Err(DoorCallError::Gone),
                Ok((_, count)) => filled += count,
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Err(DoorCallError::Gone),
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), DoorCallError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let interests = [
            Interest::Readable(self.stream.as_fd()),
            Interest::Woken(self.closing),
        ];
        let ready = poll(&interests, Some(left)).map_err(|_| DoorCallError::Gone)?;
        if ready.contains(1) {
            return Err(DoorCallError::Gone);
        }
        // Also one that says a byte now and then is over its time.
        match ready.contains(0) && !left.is_zero() {
            true => Ok(()),
            false => Err(DoorCallError::Garbled("the request did not come in time")),
        }
    }
}

/// The most bytes of a call. It is held in memory, once for each that is being read.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The most arguments: an empty one is a byte in the request and many in memory.
const MOST_ARGS: usize = 1 << 16;
