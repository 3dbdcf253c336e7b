//! [`Ledger`]: what a person accepted of servers, and what the servers say now.
//!
//! Two things are accepted: an entry of the configuration that a file of the workspace wrote, before its server
//! is started at all, and the definitions of a server's tools. Definitions are trusted when they are seen for the
//! first time, right after somebody wrote or accepted the entry; one that differs later is held, and so is a new
//! one. What was accepted is kept whole: it is what goes on being listed, and what a change is shown against.
//!
//! That an entry was accepted belongs to its fingerprint: with another access it is another entry. What its tools
//! are belongs to what is started or reached, so that whoever adds a rule does not thereby accept what is held;
//! another command is another server, of which nothing is known. A file that cannot be read as a whole counts as
//! absent. It is not sealed: it lies where no tool can reach, and whoever can write there can also change what jig
//! is.

mod definition_changes;
mod file;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jig_config::{Definition, DefinitionMode, Server, ServerReach};
use jig_engine::HeldOffer;
use jig_proto::visible_words;
use tokio::sync::watch;

use self::file::{HashedDefinition, LedgerEntry, LedgerRecord};
use super::memory::Memory;

/// What was accepted of servers, and what they say now.
pub(crate) struct Ledger {
    memory: Arc<dyn Memory>,
    /// By the name of the server.
    known: Mutex<HashMap<String, KnownServer>>,
    news: watch::Sender<u64>,
}

/// What this process knows of a server.
struct KnownServer {
    fingerprint: String,
    /// What the file looked like when it was read.
    mark: u64,
    entry: LedgerEntry,
    /// What the server told this process. Another process may have been told something else.
    live: Option<Vec<HashedDefinition>>,
}

/// What is known of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LedgerServer {
    /// Whether it may be started: its entry was accepted, or needs no acceptance.
    pub accepted: bool,
    /// Its tools: those that it has, in its order, then those that it once had.
    pub tools: Vec<LedgerTool>,
    /// When it was last asked for its tools, give or take an hour; `None` if it never was.
    pub listed_at: Option<SystemTime>,
}

/// What is known of a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LedgerTool {
    /// The definition that is listed: the one that was accepted, or that of a new tool.
    pub definition: Arc<Definition>,
    /// Whether it is what was accepted.
    pub standing: DefinitionState,
}

/// Whether the definition of a tool is what was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionState {
    /// It is.
    Accepted,
    /// It has changed, and is held.
    Changed(HeldOffer),
    /// The tool is new, and is held.
    New(HeldOffer),
    /// The server has the tool no more.
    Gone,
}

impl Ledger {
    /// What `memory` holds.
    pub(crate) fn new(memory: Arc<dyn Memory>) -> Self {
        Self {
            memory,
            known: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    /// Counts up when something was accepted, or when the tools of a server are others.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Whether the server may be started: its entry is the user's own, or a person accepted it.
    pub(crate) fn may_start(&self, server: &Server) -> bool {
        if !server.needs_acceptance() {
            return true;
        }
        let is_accepted = |known: &KnownServer| known.entry.accepted.is_some();
        // It may have been accepted elsewhere.
        self.with(server, |known| is_accepted(known))
            || self.looked_again(server, |known| is_accepted(known))
    }

    /// What a person has to accept before the server may be started.
    pub(crate) fn held_server(&self, server: &Server) -> Option<HeldOffer> {
        (!self.may_start(server)).then(|| HeldOffer::Server {
            name: server.name.clone(),
            fingerprint: server.fingerprint(),
            described: server
                .described()
                .iter()
                .map(|line| visible_words(line))
                .collect(),
        })
    }

    /// Accepts the entry as it is: the server may be started from now on.
    pub(crate) fn accept_server(&self, server: &Server) -> Result<(), String> {
        let now = now();
        self.change(server, |entry| {
            entry.accepted.get_or_insert(now);
        })
    }

    /// Takes note of the tools that a server has now. Says what went wrong with that, if something did: what
    /// cannot be written is known to this process all the same.
    pub(crate) fn learn(&self, server: &Server, listed: &[Arc<Definition>]) -> Option<String> {
        // Of two with one name the first counts.
        let mut names = HashSet::new();
        let listed: Vec<HashedDefinition> = listed
            .iter()
            .filter(|tool| names.insert(&tool.name))
            .take(file::MOST_LISTED)
            .map(HashedDefinition::new)
            .collect();
        let follow = server.definitions == DefinitionMode::Follow;
        let at = now();
        let is_news = self.with(server, |known| {
            known.live.as_ref().is_none_or(|live| *live != listed)
        });
        let written = self.change(server, |entry| entry.see(&listed, follow, at));
        self.with(server, |known| known.live = Some(listed));
        if is_news {
            self.tell();
        }
        written.err()
    }

    /// What a person has to accept before this tool may be called: the entry, or the definition. It is cheap if
    /// there is nothing.
    pub(crate) fn held(&self, server: &Server, tool: &str) -> Option<HeldOffer> {
        if let Some(held) = self.held_server(server) {
            return Some(held);
        }
        self.with(server, |known| known.held(server, tool))?;
        // It may have been accepted elsewhere.
        self.looked_again(server, |known| known.held(server, tool))
    }

    /// All that a person has to accept of a server, as far as it is known.
    pub(crate) fn all_held(&self, server: &Server) -> Vec<HeldOffer> {
        if let Some(held) = self.held_server(server) {
            return vec![held];
        }
        let held = |known: &KnownServer| -> Vec<HeldOffer> {
            let listed = known.listed().into_iter();
            listed
                .filter_map(|now| known.held(server, &now.definition.name))
                .collect()
        };
        match self.with(server, |known| held(known)).is_empty() {
            true => Vec::new(),
            false => self.looked_again(server, |known| held(known)),
        }
    }

    /// Accepts what was shown.
    ///
    /// # Errors
    ///
    /// If it is not that any more, or cannot be written down.
    pub(crate) fn accept(&self, server: &Server, held: &HeldOffer) -> Result<(), String> {
        let name = &server.name;
        match held {
            HeldOffer::Server { fingerprint, .. } if *fingerprint == server.fingerprint() => {
                self.accept_server(server)
            }
            HeldOffer::Definition { tool, now, .. } => {
                let shown = self.with(server, |known| known.with_hash(tool, now));
                let shown = shown.ok_or_else(|| {
                    format!("the tool `{tool}` of `{name}` has changed again since it was shown")
                })?;
                self.change(server, |entry| entry.accept(shown.clone()))
            }
            _ => Err(format!("`{name}` has changed since it was shown")),
        }
    }

    /// The definitions that are listed, in the order of the server; `None` if it was never asked, or may not be.
    pub(crate) fn offered(&self, server: &Server) -> Option<Vec<Arc<Definition>>> {
        if !self.may_start(server) {
            return None;
        }
        self.with(server, |known| {
            known.entry.listed?;
            let follows = server.definitions == DefinitionMode::Follow;
            let shown = |now: HashedDefinition| match follows {
                true => Some(now.definition),
                false => {
                    let tool = known.entry.tool(&now.definition.name)?;
                    tool.accepted.as_ref().map(|it| Arc::clone(&it.definition))
                }
            };
            Some(known.listed().into_iter().filter_map(shown).collect())
        })
    }

    /// What is known of a server, without asking it.
    pub(crate) fn told(&self, server: &Server) -> LedgerServer {
        let accepted = self.may_start(server);
        self.with(server, |known| {
            let mut tools = Vec::new();
            for now in known.listed() {
                let name = &now.definition.name;
                let tool = known.entry.tool(name);
                let before = tool.and_then(|tool| tool.accepted.as_ref());
                let listed = before.unwrap_or(&now);
                let standing = match (known.held(server, name), before) {
                    (Some(held), Some(_)) => DefinitionState::Changed(held),
                    (Some(held), None) => DefinitionState::New(held),
                    (None, _) => DefinitionState::Accepted,
                };
                tools.push(LedgerTool {
                    definition: Arc::clone(&listed.definition),
                    standing,
                });
            }
            for tool in &known.entry.tools {
                let is_listed = |told: &LedgerTool| told.definition.name == tool.name();
                if let Some(before) = &tool.accepted
                    && !tools.iter().any(is_listed)
                {
                    tools.push(LedgerTool {
                        definition: Arc::clone(&before.definition),
                        standing: DefinitionState::Gone,
                    });
                }
            }
            let since = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
            LedgerServer {
                accepted,
                tools,
                listed_at: known.entry.listed.and_then(since),
            }
        })
    }

    /// Which era of the protocol the server spoke when it was last connected.
    pub(crate) fn era(&self, server: &Server) -> Option<String> {
        self.with(server, |known| known.entry.era.clone())
    }

    /// Takes note of the era.
    pub(crate) fn note_era(&self, server: &Server, era: &str) {
        if self.era(server).as_deref() != Some(era) {
            // It is only a hint: without it the next connection takes a little longer.
            let _ = self.change(server, |entry| entry.era = Some(era.to_owned()));
        }
    }

    /// Looks whether another process has accepted something; then [`changes`](Self::changes) tells.
    pub(crate) fn look(&self, server: &Server) {
        let mark = self.memory.mark(&file(server));
        if self.with(server, |known| known.mark != mark) {
            self.looked_again(server, |_| ());
        }
    }

    /// Changes what is kept of an entry, in the file and here.
    fn change(
        &self,
        server: &Server,
        mut change: impl FnMut(&mut LedgerEntry),
    ) -> Result<(), String> {
        let (fingerprint, reach) = (server.fingerprint(), reach(server));
        let file = file(server);
        let mut after = None;
        let written = self.memory.update(&file, &mut |bytes| {
            let before = bytes.and_then(|bytes| LedgerRecord::read(&server.name, &bytes));
            let mut kept = before.clone().unwrap_or_default();
            let entry = kept.touch(&fingerprint, &reach);
            change(entry);
            after = Some(entry.clone());
            (before.as_ref() != Some(&kept)).then(|| kept.write(&server.name))
        });
        let mark = self.memory.mark(&file);
        let is_news = self.with(server, |known| {
            let mut entry = match (after, &written) {
                (Some(entry), Ok(())) => entry,
                // It could not be read, or not be written: it counts for this process.
                _ => {
                    let mut entry = known.entry.clone();
                    change(&mut entry);
                    entry
                }
            };
            known.mark = mark;
            std::mem::swap(&mut known.entry, &mut entry);
            known.entry != entry
        });
        if is_news {
            self.tell();
        }
        written
    }

    /// Does something with what is known of a server, which is read from its file first if nothing is.
    fn with<T>(&self, server: &Server, work: impl FnOnce(&mut KnownServer) -> T) -> T {
        let fingerprint = server.fingerprint();
        let mut all = self.all();
        match all.get_mut(&server.name) {
            Some(known) if known.fingerprint == fingerprint => work(known),
            _ => {
                let mut known = self.read(server, fingerprint);
                let done = work(&mut known);
                all.insert(server.name.clone(), known);
                done
            }
        }
    }

    /// The same after the file was read again.
    fn looked_again<T>(&self, server: &Server, work: impl FnOnce(&mut KnownServer) -> T) -> T {
        // A file that is as it was is not read again: it may be large, and this is asked for with every call.
        let mark = self.memory.mark(&file(server));
        if self.with(server, |known| known.mark == mark) {
            return self.with(server, work);
        }
        let fresh = self.read(server, server.fingerprint());
        let is_news = self.with(server, |known| {
            let KnownServer { mark, entry, .. } = fresh;
            // What another thread has written meanwhile is newer. And what could not be written counts for this
            // process: the file, which is as it was, does not undo it.
            if mark == known.mark || mark != self.memory.mark(&file(server)) {
                return false;
            }
            known.mark = mark;
            let is_news = entry != known.entry;
            known.entry = entry;
            is_news
        });
        if is_news {
            self.tell();
        }
        self.with(server, work)
    }

    fn read(&self, server: &Server, fingerprint: String) -> KnownServer {
        let file = file(server);
        // The mark is older than what is read: a change in between is seen by the next look.
        let mark = self.memory.mark(&file);
        let bytes = self.memory.get(&file);
        let bytes = bytes.filter(|bytes| bytes.len() <= file::LARGEST);
        let kept = bytes.and_then(|bytes| LedgerRecord::read(&server.name, &bytes));
        let kept = kept.unwrap_or_default();
        KnownServer {
            entry: kept.entry(&fingerprint, &reach(server)),
            fingerprint,
            mark,
            live: None,
        }
    }

    fn tell(&self) {
        self.news.send_modify(|number| *number += 1);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, KnownServer>> {
        // Nothing that is done with it can panic halfway.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownServer {
    /// What the server has, as it told this process, else as it was last told to any.
    fn listed(&self) -> Vec<HashedDefinition> {
        match &self.live {
            Some(live) => live.clone(),
            None => {
                let tools = self.entry.tools.iter();
                tools.filter_map(|tool| tool.now.clone()).collect()
            }
        }
    }

    /// Why the definition of a tool is held.
    fn held(&self, server: &Server, name: &str) -> Option<HeldOffer> {
        if server.definitions == DefinitionMode::Follow {
            return None;
        }
        let tool = self.entry.tool(name);
        let accepted = tool.and_then(|tool| tool.accepted.as_ref());
        let now = match &self.live {
            Some(live) => live.iter().find(|now| now.definition.name == name),
            None => tool.and_then(|tool| tool.now.as_ref()),
        };
        let now = now.filter(|now| accepted != Some(now))?;
        Some(HeldOffer::Definition {
            server: server.name.clone(),
            tool: name.to_owned(),
            accepted: accepted.map_or_else(String::new, |it| it.hash.clone()),
            now: now.hash.clone(),
            changed: definition_changes::changed(
                accepted.map(|it| &*it.definition),
                &now.definition,
            ),
        })
    }

    /// The definition that a person was shown.
    fn with_hash(&self, tool: &str, hash: &str) -> Option<HashedDefinition> {
        let mut listed = self.listed().into_iter();
        listed.find(|now| now.definition.name == tool && now.hash == hash)
    }
}

impl LedgerEntry {
    fn accept(&mut self, definition: HashedDefinition) {
        match self.tool_mut(&definition.definition.name) {
            Some(tool) => tool.accepted = Some(definition),
            None => self.tools.push(file::RememberedTool {
                accepted: Some(definition),
                now: None,
            }),
        }
    }
}

/// What is started or reached, as one number, whatever else the entry says.
fn reach(server: &Server) -> String {
    let words: Vec<String> = match &server.reach {
        ServerReach::Program { command, .. } => command.iter().map(ToString::to_string).collect(),
        ServerReach::Remote { url, .. } => vec![url.to_string()],
    };
    let words = serde_json::json!(words).to_string();
    blake3::hash(words.as_bytes()).to_hex().to_string()
}

/// The name of a server's file. That of a server has only letters, digits, `_` and `-`.
fn file(server: &Server) -> String {
    format!("{}.json", server.name)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
