//! [`ObservationLedger`]: what was seen, each thing once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::process::{Observation, ObservedAccess, ObservedTarget};
use crate::profile::Rights;

#[cfg(test)]
mod tests;

/// What was seen so far. It never grows beyond its limits, whatever a tree does.
#[derive(Debug, Default)]
pub(super) struct ObservationLedger {
    entries: HashMap<ObservedTarget, ObservationEntry>,
    /// The bytes of all paths.
    bytes: usize,
    lost: u64,
    unread: u64,
}

#[derive(Debug)]
struct ObservationEntry {
    /// Its place in the order.
    place: usize,
    /// What was wanted, other than to look.
    wanted: Rights,
    programs: Vec<Arc<str>>,
    count: u64,
}

impl ObservationLedger {
    /// Notes that a program wanted something. With [`Rights::NONE`] it only looked, or it is an address.
    pub(super) fn note(&mut self, target: ObservedTarget, wanted: Rights, program: &Arc<str>) {
        let size = size(&target);
        let place = self.entries.len();
        let is_full = place >= MOST_THINGS || self.bytes + size > MOST_BYTES;
        let entry = match self.entries.get_mut(&target) {
            Some(entry) => entry,
            None if is_full => {
                self.lost = self.lost.saturating_add(1);
                return;
            }
            None => {
                self.bytes += size;
                self.entries.entry(target).or_insert(ObservationEntry {
                    place,
                    wanted: Rights::NONE,
                    programs: Vec::new(),
                    count: 0,
                })
            }
        };
        entry.wanted = entry.wanted.with(wanted);
        entry.count = entry.count.saturating_add(1);
        if entry.programs.len() < MOST_PROGRAMS && !entry.programs.contains(program) {
            entry.programs.push(program.clone());
        }
    }

    /// Notes a call of which it could not be read what it was about.
    pub(super) fn note_unread(&mut self) {
        self.unread = self.unread.saturating_add(1);
    }

    /// All of it, in order.
    pub(super) fn close(self) -> Observation {
        // A tree that stays is asked often, and mostly has wanted nothing.
        if self.entries.is_empty() {
            return Observation {
                seen: Vec::new(),
                lost: self.lost,
                unread: self.unread,
            };
        }
        let mut entries: Vec<(ObservedTarget, ObservationEntry)> =
            self.entries.into_iter().collect();
        entries.sort_unstable_by_key(|(_, entry)| entry.place);
        let seen = entries.into_iter().map(|(target, entry)| {
            let is_file = matches!(target, ObservedTarget::Path(_));
            let looked = is_file && entry.wanted == Rights::NONE;
            ObservedAccess {
                target,
                wanted: if looked { Rights::READ } else { entry.wanted },
                looked,
                programs: entry
                    .programs
                    .iter()
                    .map(|name| String::from(&**name))
                    .collect(),
                count: entry.count,
            }
        });
        Observation {
            seen: seen.collect(),
            lost: self.lost,
            unread: self.unread,
        }
    }
}

fn size(target: &ObservedTarget) -> usize {
    match target {
        ObservedTarget::Path(path) | ObservedTarget::Socket(path) => path.as_os_str().len(),
        ObservedTarget::Address(_) => size_of::<std::net::SocketAddr>(),
    }
}

/// A tree can ask for as many names as it can think of.
pub(super) const MOST_THINGS: usize = 20_000;

/// And for long ones: these would come to 80 MiB.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// A tree can run under as many names as it can think of.
pub(super) const MOST_PROGRAMS: usize = 8;
