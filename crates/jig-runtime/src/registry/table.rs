//! [`HandleTable`]: which handles there are. It is only ever locked for moments.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jig_proto::{HandleId, Notice, StateName};

use super::entry::HandleEntry;
use super::error::{HandleEnd, HandleError, UnknownHandles};
use super::{HandleCounts, HandleLimits, HandleNumbers};

/// The handles of a turn.
#[derive(Debug, Default)]
pub(super) struct HandleTable {
    slots: HashMap<HandleId, HandleSlot>,
    /// What the ids that are made here are counted by.
    numbers: HandleNumbers,
    /// How many are reserved or have not stopped.
    live: usize,
    /// Those that have stopped, in the order in which they did, and how much each of them holds.
    stopped: VecDeque<(HandleId, usize)>,
    /// How much they hold together.
    weight: usize,
    /// Those that ended a short while ago, in the order in which they did.
    ended: VecDeque<(HandleId, HandleEnd)>,
    /// Results that were dropped and not yet told of.
    dropped: Vec<Notice>,
    is_over: bool,
}

#[derive(Debug)]
enum HandleSlot {
    /// A tool is being started for it.
    Reserved {
        tool: String,
    },
    Filled(Arc<HandleEntry>),
}

impl HandleTable {
    /// Takes an id: that which the caller chose, or the next number that no handle has or had lately.
    pub(super) fn reserve(
        &mut self,
        id: Option<HandleId>,
        tool: &str,
        limit: usize,
    ) -> Result<HandleId, HandleError> {
        if self.is_over {
            return Err(HandleError::Over);
        }
        if self.live >= limit {
            return Err(HandleError::TooMany { limit });
        }
        let id = match id {
            Some(id) => match self.slots.get(&id) {
                Some(slot) => {
                    let tool = slot.tool().to_owned();
                    return Err(HandleError::Taken { id, tool });
                }
                None => id,
            },
            None => self.next_id(),
        };
        let tool = tool.to_owned();
        self.slots.insert(id.clone(), HandleSlot::Reserved { tool });
        // It is live again, under a name that ended before.
        self.ended.retain(|(ended, _)| *ended != id);
        self.live += 1;
        Ok(id)
    }

    fn next_id(&mut self) -> HandleId {
        loop {
            let id = HandleId::numbered(self.numbers.next());
            if !self.slots.contains_key(&id) && !self.has_ended(&id) {
                return id;
            }
        }
    }

    /// Counts from here on with others.
    pub(super) fn count_with(&mut self, numbers: &HandleNumbers) {
        self.numbers = numbers.clone();
    }

    /// Gives back an id for which nothing was started.
    pub(super) fn release(&mut self, id: &HandleId) {
        if self.slots.remove(id).is_some() {
            self.live -= 1;
        }
    }

    /// Fills a slot that is reserved; `false` if the turn has ended since.
    pub(super) fn fill(&mut self, entry: &Arc<HandleEntry>) -> bool {
        if self.is_over {
            self.release(&entry.id);
            self.remember(entry.id.clone(), HandleEnd::Turn);
            return false;
        }
        let filled = HandleSlot::Filled(Arc::clone(entry));
        self.slots.insert(entry.id.clone(), filled);
        true
    }

    pub(super) fn find(&self, id: &HandleId) -> Result<Arc<HandleEntry>, HandleError> {
        match self.slots.get(id) {
            Some(HandleSlot::Filled(entry)) => Ok(Arc::clone(entry)),
            Some(HandleSlot::Reserved { .. }) => Err(HandleError::Starting { id: id.clone() }),
            None => Err(self.unknown([id])),
        }
    }

    /// All of these, or an error that names every one that is not there.
    pub(super) fn find_all(&self, ids: &[&HandleId]) -> Result<Vec<Arc<HandleEntry>>, HandleError> {
        let unknown = ids.iter().copied();
        let unknown = unknown.filter(|id| !self.slots.contains_key(*id));
        let unknown: Vec<&HandleId> = unknown.collect();
        if !unknown.is_empty() {
            return Err(self.unknown(unknown));
        }
        ids.iter().map(|id| self.find(id)).collect()
    }

    pub(super) fn entries(&self) -> Vec<Arc<HandleEntry>> {
        let filled = self.slots.values().filter_map(|slot| match slot {
            HandleSlot::Filled(entry) => Some(Arc::clone(entry)),
            HandleSlot::Reserved { .. } => None,
        });
        filled.collect()
    }

    /// Notes, once, that a tool has stopped, which holds so many bytes. If that are too many, or too much,
    /// those that stopped first go, and are returned, to be dropped where nothing is locked.
    pub(super) fn note_stopped(
        &mut self,
        entry: &Arc<HandleEntry>,
        weight: usize,
        limits: &HandleLimits,
    ) -> Vec<Arc<HandleEntry>> {
        let mut dropped = Vec::new();
        if entry.is_noted.swap(true, Ordering::SeqCst) {
            return dropped;
        }
        self.live -= 1;
        self.stopped.push_back((entry.id.clone(), weight));
        self.weight += weight;
        // The end of the turn takes them all.
        while self.keeps_more_than(limits) && !self.is_over {
            dropped.extend(self.drop_oldest());
        }
        dropped
    }

    /// The last to stop stays, however large it is: somebody may just be about to fetch it.
    fn keeps_more_than(&self, limits: &HandleLimits) -> bool {
        let count = self.stopped.len();
        count > limits.kept || (count > 1 && self.weight > limits.kept_bytes)
    }

    /// Drops the one that stopped first.
    fn drop_oldest(&mut self) -> Option<Arc<HandleEntry>> {
        let (id, weight) = self.stopped.pop_front()?;
        self.weight -= weight;
        let Some(HandleSlot::Filled(dropped)) = self.slots.remove(&id) else {
            return None;
        };
        if dropped.result_was_told() {
            self.remember(id, HandleEnd::Told);
        } else {
            self.remember(id, HandleEnd::Dropped);
            if dropped.options.notices.stopped && self.dropped.len() < MOST_REMEMBERED {
                self.dropped.push(dropped.notice(StateName::Stopped, true));
            }
        }
        Some(dropped)
    }

    /// Removes a handle whose tool has stopped.
    pub(super) fn remove(&mut self, entry: &Arc<HandleEntry>, ended: HandleEnd) {
        if !self.holds(entry) {
            return;
        }
        match entry.is_noted.swap(true, Ordering::SeqCst) {
            true => self.stopped.retain(|(id, weight)| {
                let stays = *id != entry.id;
                if !stays {
                    self.weight -= weight;
                }
                stays
            }),
            false => self.live -= 1,
        }
        self.slots.remove(&entry.id);
        self.remember(entry.id.clone(), ended);
    }

    /// Ends the turn: from now on nothing is reserved or filled.
    pub(super) fn close(&mut self) {
        self.is_over = true;
    }

    /// Whether the turn has ended, or is about to.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether there may be something to tell of: handles, or results that were dropped.
    pub(super) fn has_news(&self) -> bool {
        !self.slots.is_empty() || !self.dropped.is_empty()
    }

    /// The oldest of the results that were dropped and not yet told of.
    pub(super) fn take_dropped(&mut self, most: usize) -> Vec<Notice> {
        let count = self.dropped.len().min(most);
        self.dropped.drain(..count).collect()
    }

    pub(super) fn counts(&self) -> HandleCounts {
        HandleCounts {
            live: self.live,
            stopped: self.stopped.len(),
        }
    }

    pub(super) fn unknown<'a>(&self, ids: impl IntoIterator<Item = &'a HandleId>) -> HandleError {
        let unknown = ids.into_iter().map(|id| {
            let ended = self.ended.iter().rev().find(|(ended, _)| ended == id);
            (id.to_string(), ended.map(|(_, how)| *how))
        });
        let mut live: Vec<(HandleId, String)> = self
            .slots
            .iter()
            .map(|(id, slot)| (id.clone(), slot.tool().to_owned()))
            .collect();
        live.sort_by(|(one, _), (other, _)| in_order(one).cmp(&in_order(other)));
        let more = live.len().saturating_sub(MOST_LISTED);
        live.truncate(MOST_LISTED);
        HandleError::Unknown(UnknownHandles {
            unknown: unknown.collect(),
            live,
            more,
        })
    }

    /// Whether this very entry is in the table, not a later one of the same name.
    pub(super) fn holds(&self, entry: &Arc<HandleEntry>) -> bool {
        matches!(self.slots.get(&entry.id), Some(HandleSlot::Filled(held)) if Arc::ptr_eq(held, entry))
    }

    fn has_ended(&self, id: &HandleId) -> bool {
        self.ended.iter().any(|(ended, _)| ended == id)
    }

    fn remember(&mut self, id: HandleId, how: HandleEnd) {
        if self.ended.len() >= MOST_REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, how));
    }
}

impl HandleSlot {
    fn tool(&self) -> &str {
        match self {
            HandleSlot::Reserved { tool } => tool,
            HandleSlot::Filled(entry) => &entry.tool,
        }
    }
}

/// `h_2` comes before `h_10`.
pub(super) fn in_order(id: &HandleId) -> (usize, &str) {
    (id.as_str().len(), id.as_str())
}

/// How many ended handles are remembered, so that an error can say what became of them. Callers could
/// otherwise fill the memory with names.
const MOST_REMEMBERED: usize = 256;

/// How many live handles an error names.
const MOST_LISTED: usize = 20;
