//! [`LedgerRecord`]: what is remembered of a server, as it stands in its file.
//!
//! A file begins with a line that names its format and holds a hash of the rest. Whatever does not fit, in whole
//! or in part, counts as absent.

use std::sync::Arc;

use jig_config::Definition;
use jig_proto::json::{self, JsonLimits};
use serde_json::{Map, Value, json};

/// All that is remembered of the servers that had one name: the one that was looked at last comes first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LedgerRecord {
    pub(super) entries: Vec<LedgerEntry>,
}

/// What is remembered of one entry of the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LedgerEntry {
    pub(super) fingerprint: String,
    /// What is started or reached, as a hash.
    pub(super) reach: String,
    /// When a person accepted the entry, in seconds since 1970.
    pub(super) accepted: Option<u64>,
    /// When the server was last asked for its tools, give or take an hour.
    pub(super) listed: Option<u64>,
    /// Which era of the protocol it spoke.
    pub(super) era: Option<String>,
    /// Its tools: first those that it listed last, in that order, then those that it once had.
    pub(super) tools: Vec<RememberedTool>,
}

/// What is remembered of one tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RememberedTool {
    /// As it was accepted; `None` for one that nobody accepted yet.
    pub(super) accepted: Option<HashedDefinition>,
    /// As it was last listed; `None` if it was not.
    pub(super) now: Option<HashedDefinition>,
}

/// A definition and its hash.
#[derive(Debug, Clone)]
pub(super) struct HashedDefinition {
    pub(super) definition: Arc<Definition>,
    pub(super) hash: String,
}

impl HashedDefinition {
    pub(super) fn new(definition: &Arc<Definition>) -> Self {
        Self {
            definition: Arc::clone(definition),
            hash: definition.hash(),
        }
    }
}

/// Two definitions with one hash are the same.
impl PartialEq for HashedDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl RememberedTool {
    pub(super) fn name(&self) -> &str {
        let any = self.now.as_ref().or(self.accepted.as_ref());
        any.map_or("", |any| &any.definition.name)
    }
}

impl LedgerRecord {
    /// What a file holds. `None` if that is nothing that we wrote.
    pub(super) fn read(server: &str, bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().take(LONGEST_HEAD).position(|b| *b == b'\n')?;
        let (head, body) = (&bytes[..end], &bytes[end + 1..]);
        if head != self::head(body).as_bytes() {
            return None;
        }
        let limits = JsonLimits::for_bytes(LARGEST)
            .with_depth(DEEPEST)
            .with_values(MOST_VALUES);
        let mut all = json::value(body, &limits).ok()?;
        // Names of files may not tell upper from lower case.
        if all["server"] != server {
            return None;
        }
        let entries = match taken(&mut all, "entries") {
            Value::Array(entries) => entries,
            _ => return None,
        };
        let entries: Option<Vec<LedgerEntry>> =
            entries.into_iter().map(LedgerEntry::read).collect();
        let entries = entries?;
        (entries.len() <= MOST_ENTRIES).then_some(Self { entries })
    }

    /// The content of the file. What was not looked at for longest is left out if there is too much.
    pub(super) fn write(&self, server: &str) -> Vec<u8> {
        let mut written = Vec::new();
        let mut size = 0;
        for entry in self.entries.iter().take(MOST_ENTRIES) {
            let entry = entry.write();
            size += entry.to_string().len();
            if !written.is_empty() && size > LARGEST / 2 {
                break;
            }
            written.push(entry);
        }
        let body = json!({ "server": server, "entries": written }).to_string();
        let mut bytes = head(body.as_bytes()).into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(body.as_bytes());
        bytes
    }

    /// The entry with this fingerprint. A new one knows of its tools what the last one with the same reach knew,
    /// and was not accepted.
    pub(super) fn entry(&self, fingerprint: &str, reach: &str) -> LedgerEntry {
        let mut entries = self.entries.iter();
        if let Some(known) = entries.find(|entry| entry.fingerprint == fingerprint) {
            return known.clone();
        }
        let mut entries = self.entries.iter();
        let before = entries.find(|entry| entry.reach == reach && entry.listed.is_some());
        LedgerEntry {
            fingerprint: fingerprint.to_owned(),
            reach: reach.to_owned(),
            accepted: None,
            ..before.cloned().unwrap_or_default()
        }
    }

    /// The same, which is now the first.
    pub(super) fn touch(&mut self, fingerprint: &str, reach: &str) -> &mut LedgerEntry {
        let entry = self.entry(fingerprint, reach);
        self.entries
            .retain(|other| other.fingerprint != fingerprint);
        self.entries.insert(0, entry);
        self.entries.truncate(MOST_ENTRIES);
        &mut self.entries[0]
    }
}

impl LedgerEntry {
    fn read(mut value: Value) -> Option<Self> {
        let tools = match taken(&mut value, "tools") {
            Value::Array(tools) if tools.len() <= MOST_TOOLS => tools,
            _ => return None,
        };
        let tools: Option<Vec<RememberedTool>> =
            tools.into_iter().map(RememberedTool::read).collect();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            fingerprint: text(&value["fingerprint"])?,
            reach: text(&value["reach"])?,
            accepted: value["accepted"].as_u64(),
            listed: value["listed"].as_u64(),
            era: text(&value["era"]),
            tools: tools?,
        })
    }

    fn write(&self) -> Value {
        let tools: Vec<Value> = self.tools.iter().map(RememberedTool::write).collect();
        json!({
            "fingerprint": self.fingerprint,
            "reach": self.reach,
            "accepted": self.accepted,
            "listed": self.listed,
            "era": self.era,
            "tools": tools,
        })
    }

    pub(super) fn tool(&self, name: &str) -> Option<&RememberedTool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    pub(super) fn tool_mut(&mut self, name: &str) -> Option<&mut RememberedTool> {
        self.tools.iter_mut().find(|tool| tool.name() == name)
    }

    /// Takes note of the tools that a server has now, each with a name of its own. All are accepted when they are
    /// seen for the first time, or if `follow` says so.
    pub(super) fn see(&mut self, listed: &[HashedDefinition], follow: bool, at: u64) {
        let trust = follow || self.listed.is_none();
        let mut before = std::mem::take(&mut self.tools);
        for now in listed.iter().take(MOST_LISTED) {
            let name = now.definition.name.as_str();
            let place = before.iter().position(|tool| tool.name() == name);
            let accepted = place.and_then(|place| before.remove(place).accepted);
            let accepted = if trust { Some(now.clone()) } else { accepted };
            self.tools.push(RememberedTool {
                accepted,
                now: Some(now.clone()),
            });
        }
        // One that comes back must be the one that was accepted.
        let gone = before.into_iter().filter(|tool| tool.accepted.is_some());
        for mut tool in gone {
            if self.tools.len() >= MOST_TOOLS {
                break;
            }
            tool.now = None;
            self.tools.push(tool);
        }
        let is_old = |listed: u64| listed > at || at - listed > LISTED_WITHIN;
        if self.listed.is_none_or(is_old) {
            self.listed = Some(at);
        }
    }
}

impl RememberedTool {
    fn read(mut value: Value) -> Option<Self> {
        let definition = |value: Value| {
            let definition = Definition::from_json(value).ok()?;
            Some(HashedDefinition::new(&Arc::new(definition)))
        };
        let accepted = match taken(&mut value, "accepted") {
            Value::Null => None,
            value => Some(definition(value)?),
        };
        let now = match taken(&mut value, "now") {
            Value::Null => None,
            // The same.
            Value::Bool(true) => Some(accepted.clone()?),
            value => Some(definition(value)?),
        };
        let is_one = match (&accepted, &now) {
            (Some(accepted), Some(now)) => accepted.definition.name == now.definition.name,
            (None, None) => false,
            _ => true,
        };
        is_one.then_some(Self { accepted, now })
    }

    fn write(&self) -> Value {
        let mut written = Map::new();
        if let Some(accepted) = &self.accepted {
            written.insert("accepted".to_owned(), accepted.definition.to_json());
        }
        if let Some(now) = &self.now {
            let same = self.accepted.as_ref() == Some(now);
            let now = if same {
                Value::Bool(true)
            } else {
                now.definition.to_json()
            };
            written.insert("now".to_owned(), now);
        }
        Value::Object(written)
    }
}

/// A member of an object, which has it no more; `Null` of everything else.
fn taken(value: &mut Value, member: &str) -> Value {
    value.get_mut(member).map(Value::take).unwrap_or_default()
}

fn head(body: &[u8]) -> String {
    format!("jig-server 1 {}", blake3::hash(body).to_hex())
}

/// How often the same list is written down again, in seconds.
const LISTED_WITHIN: u64 = 60 * 60;

/// Entries of one name. A workspace has different ones on different branches.
const MOST_ENTRIES: usize = 8;

/// Tools of one listing. A server could fill the memory otherwise.
pub(super) const MOST_LISTED: usize = 512;

/// The same, with those that the server once had.
const MOST_TOOLS: usize = 2 * MOST_LISTED;

/// The largest file, in bytes: two lists of the largest size, and as much again for entries of other branches.
pub(super) const LARGEST: usize = 64 << 20;

/// A definition has at most 64 levels, and stands below some of ours.
const DEEPEST: usize = 72;

/// Values in a file. Only one that we wrote is read at all.
const MOST_VALUES: usize = 8 << 20;

/// The longest first line, in bytes.
const LONGEST_HEAD: usize = 128;
