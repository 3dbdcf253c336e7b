//! [`begin`]: lets the host watch what the tool asks the kernel for, and a supervisor perform some of it.
//!
//! A second filter holds the tool at certain calls until the host has looked at them, and the descriptor at
//! which the host hears of them goes over the line. From then on every such call waits for the host, so none
//! may be made before it listens: what is left to do until the program runs makes none, but for sending that
//! descriptor and executing the program, which the filter knows by [`calls::OWN_CALL`].

use super::bounds;
use super::calls;
use super::order::{self, OrderBlock};
use super::raw::RawErrno;
use super::record::KeeperMessage;
use super::supervisor::SupervisorEnds;

/// Has this process, and all that it starts, watched or supervised, if the order says so.
///
/// That the kernel refuses is told to the host, and no failure. It is one if the host or the supervisor cannot be
/// reached then: nobody would ever answer.
pub(crate) fn begin(
    order: &OrderBlock,
    line: i32,
    supervisor: Option<SupervisorEnds>,
) -> Result<(), RawErrno> {
    let filter = order.header.watched;
    if filter.count == 0 {
        return Ok(());
    }
    let is_watched = supervisor.is_none() || order.has(order::PASSED_ON);
    let instructions = order.address(filter, 8)?;
    let count = u16::try_from(filter.count).map_err(|_| RawErrno::INVAL)?;
    let install = |flags| {
        #[expect(unsafe_code, reason = "a filter is given by its address")]
        // SAFETY: the order was asked for the address of so many instructions of this size.
        unsafe {
            bounds::install_filter_with(instructions, count, flags)
        }
    };
    let install = || match install(NEW_LISTENER | WAIT_KILLABLE) {
        // Signals that do not kill are to wait while the host looks. Before Linux 5.19 they cannot.
        Err(RawErrno::INVAL) if is_watched => install(NEW_LISTENER).map(|fd| (fd, false)),
        result => result.map(|fd| (fd, true)),
    };
    let mut installed = install();
    if installed == Err(RawErrno::ACCES) && calls::set_no_new_privs().is_ok() {
        // Without privileges one must give up gaining them first.
        installed = install();
    }
    let tell = |record: KeeperMessage, fds: &[i32]| calls::send(line, &record.encode(), fds);
    if let Some(SupervisorEnds { arrival, host }) = supervisor {
        // What is interrupted after it was performed would be repeated, and find its own name.
        match installed {
            Ok((listener, true)) => {
                calls::send(arrival, &[0], &[listener])?;
                tell(KeeperMessage::Supervised, &[host])?;
            }
            Ok((_, false)) => {
                calls::send(arrival, &[0], &[])?;
                tell(KeeperMessage::Unsupervised(RawErrno::INVAL), &[])?;
            }
            Err(errno) => {
                calls::send(arrival, &[0], &[])?;
                tell(KeeperMessage::Unsupervised(errno), &[])?;
            }
        }
    }
    // Neither it nor the line stays open: all descriptors but the tool's own are closed next.
    match installed {
        Ok((listener, _)) if is_watched => tell(KeeperMessage::Listener, &[listener]),
        Err(errno) if is_watched => tell(KeeperMessage::Unwatched(errno), &[]),
        _ => Ok(()),
    }
}

const NEW_LISTENER: u32 = 1 << 3;
const WAIT_KILLABLE: u32 = 1 << 5;
