//! The keeper as a copy of the host.

use std::os::fd::AsRawFd;

use super::failure;
use super::packed_order::{self, KeeperDescriptors};
use super::plan::{self, ProcessTreeHold, SpawnPlan};
use super::process::KeeperHandle;
use crate::process::{SpawnError, SpawnRequest};
use crate::sys::linux::stage::keeper;
use crate::sys::linux::stage::order::OrderBlock;
use crate::sys::linux::stage::raw::RawErrno;
use crate::sys::linux::stage::record::{self, KeeperMessage, StartStep, StepFailure};
use crate::sys::linux::uapi::{self, BlockedSignals, Fork};

/// Forks a keeper, which begins with its order.
pub(super) fn start(
    request: &SpawnRequest,
    plan: &SpawnPlan,
) -> Result<Result<KeeperHandle, StepFailure>, SpawnError> {
    let (ours, theirs) = super::new_line()
        .map_err(|errno| failure::step(request, "making a line to its keeper", errno))?;
    let host = super::own_descriptor()
        .map_err(|errno| failure::step(request, "opening a process descriptor", errno))?;
    let seat = KeeperDescriptors {
        line: theirs.as_raw_fd(),
        host: host.as_raw_fd(),
        traces: plan::traces(),
    };
    let mut packed = packed_order::whole(plan, &seat);
    let length = packed.len();
    #[expect(unsafe_code, reason = "the order is used in place")]
    // SAFETY: the block is aligned and lives on; in this process nobody else uses it.
    let order = match unsafe { OrderBlock::new(packed.as_mut_ptr(), length) } {
        Ok(order) => order,
        Err(errno) => return Ok(Err(StepFailure::at(StartStep::Order)(errno))),
    };

    let signals = BlockedSignals::all();
    #[expect(unsafe_code, reason = "forks a keeper")]
    // SAFETY: the child's branch is the keeper, which makes raw system calls and exits.
    let forked = unsafe { uapi::fork_into(order.header.namespaces()) };
    let pid = match forked {
        Ok(Fork::Child) => keeper::run(&order),
        Ok(Fork::Parent(pid)) => pid,
        Err(errno) => return Ok(Err(StepFailure::at(StartStep::Fork)(RawErrno(errno.0)))),
    };
    drop(signals);
    drop(theirs);

    let keeper = KeeperHandle::new(pid, ours)
        .map_err(|error| failure::step(request, "opening a process descriptor", error))?;
    Ok(map(plan, keeper))
}

/// The host's part in the mapping of users, if it has one.
pub(super) fn map(plan: &SpawnPlan, keeper: KeeperHandle) -> Result<KeeperHandle, StepFailure> {
    let ProcessTreeHold::Namespaces(maps) = &plan.hold else {
        return Ok(keeper);
    };
    match maps.write_for(keeper.pid()) {
        Ok(mapped) => {
            if mapped {
                keeper.tell(record::GO);
            }
            Ok(keeper)
        }
        // A keeper that has ended cannot be mapped. Its own reason is the one that counts.
        Err(refusal) => Err(match keeper.received_record() {
            Some((KeeperMessage::Refused(earlier), _)) => earlier,
            _ => refusal,
        }),
    }
}
