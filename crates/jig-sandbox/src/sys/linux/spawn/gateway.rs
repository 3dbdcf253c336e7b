//! The sockets of a gateway, as the host gets them.

use std::io;
use std::os::fd::OwnedFd;

use super::plan::SpawnPlan;
use crate::process::GatewaySockets;
use crate::sys::linux::order::{ServedSocket, StepAction};

/// Tells the sockets that a keeper sent apart; `None` if none were ordered.
pub(super) fn of(plan: &SpawnPlan, received: Vec<OwnedFd>) -> io::Result<Option<GatewaySockets>> {
    let steps = plan.confinement.iter().flat_map(|one| &one.steps);
    let ordered = steps.filter_map(|step| match &step.act {
        StepAction::Sockets(sockets) => Some(sockets),
        _ => None,
    });
    let ordered: Vec<ServedSocket> = ordered.flatten().copied().collect();
    if ordered.is_empty() {
        return Ok(None);
    }
    if ordered.len() != received.len() {
        // The kernel drops descriptors for which the receiver has no numbers left.
        return Err(rustix::io::Errno::MFILE.into());
    }
    let mut gateway = GatewaySockets {
        lookups: Vec::new(),
        listeners: Vec::new(),
    };
    for (socket, descriptor) in ordered.into_iter().zip(received) {
        match socket {
            ServedSocket::Datagrams(..) => gateway.lookups.push(descriptor),
            ServedSocket::Streams(port) => gateway.listeners.push((port, descriptor)),
        }
    }
    Ok(Some(gateway))
}
