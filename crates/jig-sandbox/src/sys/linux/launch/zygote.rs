//! The zygote: makes keepers ahead of time, on demand, and reaps them.
//!
//! The host sends a base, which is an order without a call, and how many keepers it wants. Each keeper
//! begins in its namespaces, takes the steps of the base, and waits for the rest of its order on a line
//! whose other end the host gets. The zygote looks at nothing of that: it forks, because it is small.

use core::ffi::CStr;

use crate::stage::calls::{self, KeeperExitOnDrop, O_CLOEXEC, WORKING_DIRECTORY};
use crate::stage::keeper::{self, PreparedKeeper};
use crate::stage::order::{self, PackedMove, OrderBlock};
use crate::stage::raw::{self, RawErrno, call};
use crate::stage::record::{self, StepFailure, StartStep};
use crate::stage::tree_limits;
use crate::stage::zygote::{ZygoteAnswer, Demand, MOST_DESCRIPTORS};

pub(crate) const NAME: &CStr = crate::stage::zygote::NAME;

/// The life of a zygote, whose name in the command line is at `title`. The first thing on the channel is
/// the host's process descriptor.
pub(crate) fn run(channel: i32, title: *mut u8) -> ! {
    calls::reset_signals();
    let mut host = [-1];
    let arrived = calls::receive(channel, &mut [0; 1], &mut host);
    let (Ok((_, 1)), Ok(signals)) = (arrived, calls::child_signals()) else {
        calls::exit(1);
    };
    let [host] = host;
    let _ = calls::leave_session();
    let _ = calls::set_inspectable(false);
    calls::set_name(NAME);
    let mut zygote = ZygoteProcess {
        channel,
        host,
        title,
        base: None,
    };
    loop {
        let [ended, demand, gone] = calls::wait_readable([signals, channel, host], -1);
        if ended {
            calls::drain(signals);
            while let Ok(Some(pid)) = calls::ended_child() {
                let _ = calls::reap(pid);
            }
        }
        // With the channel, or the host, its lines go too: keepers that wait end by themselves.
        if gone || demand && zygote.serve().is_none() {
            calls::exit(0);
        }
    }
}

struct ZygoteProcess {
    channel: i32,
    host: i32,
    title: *mut u8,
    base: Option<OrderBlock>,
}

impl ZygoteProcess {
    /// Answers one demand; `None` if there is nobody to answer to.
    fn serve(&mut self) -> Option<()> {
        let mut bytes = [0; Demand::LENGTH];
        let mut base = [-1];
        let received = calls::receive(self.channel, &mut bytes, &mut base);
        let (length, descriptors) = received.ok()?;
        let demand = Demand::decode(bytes.get(..length)?)?;
        if descriptors == 1 {
            self.forget_base();
            self.base = crate::order_of(base[0]).ok();
            calls::close(base[0]);
        }
        for _ in 0..demand.count {
            let answer = self.make();
            let (answer, fds) = match &answer {
                Ok((pid, fds)) => (*pid, &fds[..]),
                Err(errno) => (-errno.0, &[][..]),
            };
            let bytes = ZygoteAnswer {
                generation: demand.generation,
                pid: answer,
            };
            let sent = calls::send(self.channel, &bytes.encode(), fds);
            for fd in fds {
                calls::close(*fd);
            }
            sent.ok()?;
        }
        Some(())
    }

    fn forget_base(&mut self) {
        if let Some(base) = self.base.take() {
            base.unmap();
        }
    }

    /// Makes a keeper; its process id, with the host's end of its line and its process descriptor.
    fn make(&self) -> Result<(i32, [i32; 2]), RawErrno> {
        let base = self.base.as_ref().ok_or(RawErrno::BADMSG)?;
        let [ours, theirs] = new_line()?;
        // SAFETY: without a stack and without flags that share, the child is a copy, which runs on and
        // does not return from its branch.
        let forked = unsafe { call!(CLONE, base.header.namespaces(), 0, 0, 0, 0) };
        match forked {
            Ok(0) => {
                // SAFETY: the title is a writable string as long as this name, of which nobody else knows.
                unsafe {
                    let name = keeper::NAME.to_bytes();
                    core::ptr::copy_nonoverlapping(name.as_ptr(), self.title, name.len());
                }
                wait_for_order(base, theirs, self.host)
            }
            Ok(pid) => {
                calls::close(theirs);
                let pid = pid as i32;
                if base.has(order::MAPPED_FROM_OUTSIDE) {
                    if let Err(errno) = map_users(base, pid) {
                        calls::close(ours);
                        return Err(errno);
                    }
                    let _ = calls::send(ours, &[record::GO], &[]);
                }
                // SAFETY: the call takes no addresses. The child is not reaped, so the number is its own.
                match unsafe { call!(PIDFD_OPEN, pid, 0) } {
                    Ok(fd) => Ok((pid, [ours, fd as i32])),
                    Err(errno) => {
                        calls::close(ours);
                        Err(errno)
                    }
                }
            }
            Err(errno) => {
                calls::close(ours);
                calls::close(theirs);
                Err(errno)
            }
        }
    }
}

/// The life of a keeper that was made ahead of time.
fn wait_for_order(base: &OrderBlock, line: i32, host: i32) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    let kept = [line.min(host), line.max(host)];
    let settled = keeper::close_all_but_these(&kept)
        .map_err(StepFailure::at(StartStep::CloseDescriptors))
        .and_then(|()| calls::leave_session().map_err(StepFailure::at(StartStep::Session)));
    let prepared = settled.and_then(|()| PreparedKeeper::new(base, line));
    let [_, gone] = calls::wait_readable([line, host], -1);
    if gone {
        calls::exit(0);
    }
    let mut fds = [-1; MOST_DESCRIPTORS];
    // Nothing at all: the host has no use for this keeper.
    let Ok((1.., count @ 1..)) = calls::receive(line, &mut [0; 1], &mut fds) else {
        calls::exit(0);
    };
    let order = crate::order_of(fds[0]).and_then(|order| {
        name_sources(&order, fds.get(..count).unwrap_or_default())?;
        Ok(order)
    });
    match order {
        Ok(order) => keeper::keep(&order, prepared, line, host),
        Err(errno) => {
            let refusal = StepFailure::at(StartStep::Order)(errno);
            keeper::keep(base, Err(refusal), line, host)
        }
    }
}

/// Turns the places of descriptors in a message into their numbers here.
fn name_sources(order: &OrderBlock, fds: &[i32]) -> Result<(), RawErrno> {
    let moves = order.header.moves;
    for number in 0..moves.count {
        let one: PackedMove = order.item(moves, number)?;
        let place = usize::try_from(one.source).map_err(|_| RawErrno::BADMSG)?;
        let source = *fds.get(place).ok_or(RawErrno::BADMSG)?;
        order.set_item(moves, number, PackedMove { source, ..one })?;
    }
    Ok(())
}

/// Maps all users that this process has, which it may because it is as the host is.
fn map_users(base: &OrderBlock, pid: i32) -> Result<(), RawErrno> {
    let write = |file: &[u8], text: &[u8]| {
        let mut path = tree_limits::ProcPath::new();
        calls::write_file(WORKING_DIRECTORY, path.set(b"/proc/", pid, file, -1, b"")?, text)
    };
    write(b"/uid_map", base.bytes(base.header.uid_map)?)?;
    write(b"/gid_map", base.bytes(base.header.gid_map)?)
}

const _: () = assert!(NAME.to_bytes().len() == keeper::NAME.to_bytes().len());

fn new_line() -> Result<[i32; 2], RawErrno> {
    const UNIX: i32 = 1;
    const SEQPACKET: i32 = 5;
    let mut ends = [-1_i32; 2];
    // SAFETY: the ends are a live array of two.
    unsafe { call!(SOCKETPAIR, UNIX, SEQPACKET | O_CLOEXEC, 0, ends.as_mut_ptr()) }?;
    Ok(ends)
}
