//! From a call that waits to what it wants.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::io::Errno;

use super::calls::{self, SeccompNotif};
use super::table::{CallShape, FinalLinkRule, PathArgument, PathEffect};
use super::view::{self, ProcThread, ProcessView, ViewPath};
use crate::process::ObservedTarget;
use crate::profile::Rights;

#[cfg(test)]
mod tests;

/// Something that a call wants. With [`Rights::NONE`] it only looks, or it is about an address.
pub(super) type CallAccess = (ObservedTarget, Rights);

/// A call that waits, with what it takes to understand it.
pub(super) struct ObservedCall<'a> {
    pub(super) notice: &'a SeccompNotif,
    pub(super) thread: &'a ProcThread,
    pub(super) view: &'a ProcessView,
}

impl ObservedCall<'_> {
    /// What the call wants. An error says that the memory of the process cannot be read; a call that the
    /// kernel is going to refuse as malformed wants nothing.
    pub(super) fn wants(&self, shape: CallShape) -> Result<Vec<CallAccess>, Errno> {
        match self.read(shape) {
            Ok(wants) => Ok(wants),
            // It holds no memory where the call says that it does.
            Err(Errno::FAULT) => Ok(Vec::new()),
            Err(errno) => Err(errno),
        }
    }

    fn read(&self, shape: CallShape) -> Result<Vec<CallAccess>, Errno> {
        let mut wants = Vec::new();
        match shape {
            CallShape::One(place, does) => self.one(place, does, &mut wants)?,
            CallShape::Move(from, to, flags) => {
                let exchanges = flags.is_some_and(|flags| self.argument(flags) & EXCHANGE != 0);
                let (from, to) = (self.find(from)?, self.find(to)?);
                // What was in the way is removed by it.
                let both = Rights::CREATE.with(Rights::DELETE);
                let there = |found: &ViewPath| if found.exists { both } else { Rights::CREATE };
                wants.extend(
                    from.map(|one| want(one, |_| if exchanges { both } else { Rights::DELETE })),
                );
                wants.extend(to.map(|one| want(one, there)));
            }
            CallShape::Link(from, to) => {
                let (from, to) = (self.find(from)?, self.find(to)?);
                wants.extend(from.map(|one| want(one, |_| Rights::NONE)));
                wants.extend(to.map(|one| want(one, made)));
            }
            CallShape::Reach(at, length) => {
                let [at, length] = [at, length].map(|number| self.argument(number));
                wants.extend(self.address(at, length, AddressPurpose::Reach)?);
            }
            CallShape::Name(at, length) => {
                let [at, length] = [at, length].map(|number| self.argument(number));
                wants.extend(self.address(at, length, AddressPurpose::Name)?);
            }
            CallShape::Message(at) => wants.extend(self.message(self.argument(at))?),
            CallShape::Messages(at, count) => {
                // `struct mmsghdr` is a `struct msghdr` and a length.
                let count = self.argument(count).min(MOST_MESSAGES);
                for number in 0..count {
                    let at = self.argument(at).wrapping_add(number * (MESSAGE + 8));
                    wants.extend(self.message(at)?);
                }
            }
        }
        Ok(wants)
    }

    fn one(
        &self,
        place: PathArgument,
        does: PathEffect,
        wants: &mut Vec<CallAccess>,
    ) -> Result<(), Errno> {
        let flags = match does {
            PathEffect::Open(flags) => self.argument(flags) as i32,
            PathEffect::OpenAsTold(how) => {
                let mut flags = [0; 8];
                self.fill(self.argument(how), &mut flags)?;
                u64::from_ne_bytes(flags) as i32
            }
            PathEffect::Empty => libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC,
            _ => 0,
        };
        let exclusive = libc::O_CREAT | libc::O_EXCL;
        let place = match does {
            PathEffect::Open(_) | PathEffect::OpenAsTold(_)
                if flags & libc::O_NOFOLLOW != 0 || flags & exclusive == exclusive =>
            {
                PathArgument {
                    last: FinalLinkRule::Kept,
                    ..place
                }
            }
            _ => place,
        };
        let Some(found) = self.find(place)? else {
            return Ok(());
        };
        wants.push(want(found, |found| match does {
            PathEffect::Look | PathEffect::Enter => Rights::NONE,
            PathEffect::Open(_) | PathEffect::OpenAsTold(_) | PathEffect::Empty => {
                opened(flags, found.exists)
            }
            PathEffect::Make => made(found),
            PathEffect::Remove => Rights::DELETE,
            PathEffect::Change => Rights::UPDATE,
            PathEffect::Execute => Rights::READ.with(Rights::EXECUTE),
        }));
        Ok(())
    }

    /// What a path of the call means; `None` for one that the kernel is going to refuse.
    fn find(&self, place: PathArgument) -> Result<Option<ViewPath>, Errno> {
        let Some(path) = self.path(self.argument(place.path))? else {
            return Ok(None);
        };
        let follow = match place.last {
            FinalLinkRule::Followed => true,
            FinalLinkRule::Kept => false,
            FinalLinkRule::FollowedUnless(flags) => self.argument(flags) & NO_FOLLOW == 0,
            FinalLinkRule::FollowedIf(flags) => self.argument(flags) & FOLLOW != 0,
        };
        let directory = place.directory.map(|number| self.argument(number) as i32);
        let found = self.find_text(&path, directory, follow);
        Ok(found.filter(|found| found.path.len() < LONGEST))
    }

    /// What a path means from a directory on, or from the working directory.
    fn find_text(&self, path: &[u8], directory: Option<i32>, follow: bool) -> Option<ViewPath> {
        if path.starts_with(b"/") {
            return Some(self.view.find(path, follow));
        }
        let name = match directory {
            None | Some(libc::AT_FDCWD) => self.thread.link("cwd"),
            Some(fd) => self.thread.link(&format!("fd/{fd}")),
        };
        let mut whole = self.view.inside(&name.ok()?)?;
        if path.is_empty() {
            // Only where a descriptor itself can be meant does it get here.
            return directory.map(|_| ViewPath {
                path: view::lexical(&whole),
                exists: true,
            });
        }
        whole.push(b'/');
        whole.extend_from_slice(path);
        Some(self.view.find(&whole, follow))
    }

    fn argument(&self, number: u8) -> u64 {
        let argument = self.notice.arguments.get(usize::from(number));
        argument.copied().unwrap_or(0)
    }

    /// The string at an address; `None` if it is longer than a path can be.
    fn path(&self, address: u64) -> Result<Option<Vec<u8>>, Errno> {
        let mut path = Vec::new();
        let mut part = [0; FIRST_READ];
        while path.len() < LONGEST {
            // Not over the end of a page: beyond it there may be nothing.
            let at = address.wrapping_add(path.len() as u64);
            let room = SMALLEST_PAGE - at as usize % SMALLEST_PAGE;
            let part = &mut part[..room.min(FIRST_READ)];
            self.fill(at, part)?;
            match part.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    path.extend_from_slice(&part[..end]);
                    return Ok(Some(path));
                }
                None => path.extend_from_slice(part),
            }
        }
        Ok(None)
    }

    fn message(&self, at: u64) -> Result<Option<CallAccess>, Errno> {
        // It begins with the address and its length.
        let mut start = [0; 12];
        self.fill(at, &mut start)?;
        let (address, length) = start.split_at(8);
        let address = u64::from_ne_bytes(address.try_into().unwrap_or_default());
        let length = u32::from_ne_bytes(length.try_into().unwrap_or_default());
        if address == 0 {
            return Ok(None);
        }
        self.address(address, length.into(), AddressPurpose::Reach)
    }

    fn address(
        &self,
        at: u64,
        length: u64,
        purpose: AddressPurpose,
    ) -> Result<Option<CallAccess>, Errno> {
        let mut bytes = [0; LONGEST_ADDRESS];
        let length = (length as u32 as usize).min(LONGEST_ADDRESS);
        let bytes = &mut bytes[..length];
        self.fill(at, bytes)?;
        Ok(match (parse(bytes), purpose) {
            (Some(SocketAddress::Internet(address)), AddressPurpose::Reach) => {
                Some((ObservedTarget::Address(address), Rights::NONE))
            }
            (Some(SocketAddress::Path(path)), purpose) => {
                let found = self.find_text(path, None, purpose == AddressPurpose::Reach);
                found.map(|found| match purpose {
                    AddressPurpose::Reach => {
                        (ObservedTarget::Socket(path_of(found.path)), Rights::NONE)
                    }
                    AddressPurpose::Name => want(found, made),
                })
            }
            (Some(SocketAddress::Abstract(name)), AddressPurpose::Reach) => {
                let mut path = b"@".to_vec();
                path.extend_from_slice(name);
                Some((ObservedTarget::Socket(path_of(path)), Rights::NONE))
            }
            _ => None,
        })
    }

    /// Fills all of a slice from the memory of the process.
    fn fill(&self, address: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        match calls::read_memory(self.notice.thread, address, bytes)? {
            count if count == bytes.len() => Ok(()),
            _ => Err(Errno::FAULT),
        }
    }
}

/// Why a call has an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressPurpose {
    Reach,
    Name,
}

/// Where a socket is.
#[derive(Debug, PartialEq, Eq)]
enum SocketAddress<'a> {
    Internet(SocketAddr),
    Path(&'a [u8]),
    Abstract(&'a [u8]),
}

/// An address as the kernel takes it; `None` for one of another family, or none.
fn parse(bytes: &[u8]) -> Option<SocketAddress<'_>> {
    let (family, rest) = bytes.split_first_chunk()?;
    let port = || Some(u16::from_be_bytes(*rest.first_chunk()?));
    match i32::from(u16::from_ne_bytes(*family)) {
        libc::AF_INET => {
            let address: [u8; 4] = rest.get(2..6)?.try_into().ok()?;
            let address = IpAddr::V4(Ipv4Addr::from(address));
            Some(SocketAddress::Internet(SocketAddr::new(address, port()?)))
        }
        libc::AF_INET6 => {
            // After the port comes the flow.
            let address: [u8; 16] = rest.get(6..22)?.try_into().ok()?;
            let address = IpAddr::V6(Ipv6Addr::from(address));
            Some(SocketAddress::Internet(SocketAddr::new(address, port()?)))
        }
        libc::AF_UNIX => match rest {
            [] => None,
            [0, name @ ..] => Some(SocketAddress::Abstract(name)),
            path => {
                let end = path.iter().position(|byte| *byte == 0);
                Some(SocketAddress::Path(&path[..end.unwrap_or(path.len())]))
            }
        },
        _ => None,
    }
}

fn want(found: ViewPath, rights: impl Fn(&ViewPath) -> Rights) -> CallAccess {
    let rights = rights(&found);
    (ObservedTarget::Path(path_of(found.path)), rights)
}

fn path_of(path: Vec<u8>) -> PathBuf {
    OsString::from_vec(path).into()
}

/// What is there already is not made: the call fails, whatever is allowed.
fn made(found: &ViewPath) -> Rights {
    if found.exists {
        Rights::NONE
    } else {
        Rights::CREATE
    }
}

/// What opening with these flags wants.
fn opened(flags: i32, exists: bool) -> Rights {
    let has = |bits: i32| flags & bits == bits;
    if has(libc::O_PATH) || has(libc::O_CREAT | libc::O_EXCL) && exists {
        return Rights::NONE;
    }
    let reads = flags & libc::O_ACCMODE != libc::O_WRONLY;
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || has(libc::O_TRUNC);
    let read = if reads { Rights::READ } else { Rights::NONE };
    let makes = has(libc::O_TMPFILE) || has(libc::O_CREAT) && !exists;
    match (makes, writes) {
        (true, _) => read.with(Rights::CREATE),
        (false, true) => read.with(Rights::UPDATE),
        (false, false) => read,
    }
}

/// Flags of calls with a directory, and of renames.
const NO_FOLLOW: u64 = 0x100;
const FOLLOW: u64 = 0x400;
const EXCHANGE: u64 = 2;

/// The longest path that the kernel takes, its NUL included.
const LONGEST: usize = 4096;

/// Most paths are shorter.
const FIRST_READ: usize = 256;

/// Larger pages end where a smaller one does.
const SMALLEST_PAGE: usize = 4096;

/// `struct sockaddr_un`.
const LONGEST_ADDRESS: usize = 110;

/// The size of `struct msghdr`.
const MESSAGE: u64 = 56;

/// Of more messages at once only the first are looked at: there can be a thousand.
const MOST_MESSAGES: u64 = 16;
