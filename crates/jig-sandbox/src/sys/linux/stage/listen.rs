//! [`begin`]: lets the host watch what the tool asks the kernel for.
//!
//! A second filter holds the tool at certain calls until the host has looked at them, and the descriptor at
//! which the host hears of them goes over the line. From then on every such call waits for the host, so none
//! may be made before it listens: what is left to do until the program runs makes none, but for sending that
//! descriptor and executing the program, which the filter knows by [`calls::OWN_CALL`].

use super::bounds;
use super::calls;
use super::order::OrderBlock;
use super::raw::RawErrno;
use super::record::KeeperMessage;

/// Has this process, and all that it starts, watched, if the order says so.
///
/// That the kernel refuses is told to the host, and no failure. It is one if the host cannot be reached then:
/// nobody would ever answer.
pub(crate) fn begin(order: &OrderBlock, line: i32) -> Result<(), RawErrno> {
    let filter = order.header.watched;
    if filter.count == 0 {
        return Ok(());
    }
    let instructions = order.address(filter, 8)?;
    let count = u16::try_from(filter.count).map_err(|_| RawErrno::INVAL)?;
    let install = |flags| {
        #[expect(unsafe_code, reason = "a filter is given by its address")]
        // SAFETY: the order was asked for the address of so many instructions of this size.
        unsafe {
            bounds::install_filter_with(instructions, count, flags)
        }
    };
    let mut installed = install_best(install);
    if installed == Err(RawErrno::ACCES) && calls::set_no_new_privs().is_ok() {
        // Without privileges one must give up gaining them first.
        installed = install_best(install);
    }
    match installed {
        // Neither it nor the line stays open: all descriptors but the tool's own are closed next.
        Ok(listener) => calls::send(line, &KeeperMessage::Listener.encode(), &[listener]),
        Err(errno) => calls::send(line, &KeeperMessage::Unwatched(errno).encode(), &[]),
    }
}

/// Signals that do not kill are to wait while the host looks. Before Linux 5.19 they cannot.
fn install_best(install: impl Fn(u32) -> Result<i32, RawErrno>) -> Result<i32, RawErrno> {
    const NEW_LISTENER: u32 = 1 << 3;
    const WAIT_KILLABLE: u32 = 1 << 5;
    match install(NEW_LISTENER | WAIT_KILLABLE) {
        Err(RawErrno::INVAL) => install(NEW_LISTENER),
        result => result,
    }
}
