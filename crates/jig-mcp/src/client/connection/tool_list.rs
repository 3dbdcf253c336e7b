//! The tools of a server: all pages, within bounds.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_broker::Scrubber;
use jig_config::Definition;
use serde_json::{Map, Value};

use super::handshake::UpstreamAgreement;
use super::http::headers;
use super::message::{weight, words};
use super::scrub::{ArgumentNames, clean};
use super::upstream_connection::UpstreamConnection;
use super::{ListedTools, UpstreamError};
use crate::client::check::Era;
use crate::text_prefix::cut;

/// What has to be known of a tool to call it.
#[derive(Default)]
pub(super) struct KnownTools {
    tools: Mutex<HeededTools>,
}

#[derive(Default)]
struct HeededTools {
    /// By the names that the server has for them.
    heeded: HashMap<String, Arc<Definition>>,
    /// The names that the server has for tools, by those that are listed, where a secret makes them differ.
    names: HashMap<String, String>,
}

impl KnownTools {
    /// What the server said about a tool, if there is something to be heeded.
    pub(super) fn of(&self, tool: &str) -> Option<Arc<Definition>> {
        self.tools().heeded.get(tool).cloned()
    }

    /// What the server calls a tool that is listed under this name, if it is something else.
    pub(super) fn told_as(&self, listed: &str) -> Option<String> {
        self.tools().names.get(listed).cloned()
    }

    fn keep(&self, definitions: &[Arc<Definition>], names: HashMap<String, String>) {
        let heeded = definitions.iter().filter(|definition| {
            headers::has_annotations(&definition.input) || requires_task(definition)
        });
        let told_as = |listed: &String| names.get(listed).unwrap_or(listed).clone();
        let heeded = heeded.map(|definition| (told_as(&definition.name), Arc::clone(definition)));
        let heeded = heeded.collect();
        *self.tools() = HeededTools { heeded, names };
    }

    fn tools(&self) -> MutexGuard<'_, HeededTools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much there is of it: names may hold secrets.
impl fmt::Debug for KnownTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heeded = self.tools().heeded.len();
        f.debug_struct("Known").field("heeded", &heeded).finish()
    }
}

/// Whether a tool of the older era can only be called as a task.
pub(super) fn requires_task(definition: &Definition) -> bool {
    let execution = definition.rest.get("execution");
    let support = execution.and_then(|execution| execution.get("taskSupport"));
    support.is_some_and(|support| support == "required")
}

/// Asks for the list. Whatever is kept or told of it is without `secrets`.
pub(super) async fn definitions(
    wire: &Arc<UpstreamConnection>,
    agreed: &UpstreamAgreement,
    secrets: Option<&Scrubber>,
) -> Result<ListedTools, UpstreamError> {
    let mut list = ToolListPages {
        heeds_headers: agreed.era == Era::Stateless && wire.http().is_some(),
        secrets,
        ..ToolListPages::default()
    };
    let mut cursor = None;
    let pages = async {
        for _ in 0..PAGES {
            let params = cursor.take().map(|cursor| ("cursor".to_owned(), cursor));
            let page = wire.request("tools/list", Map::from_iter(params)).await?;
            match list.page(page)? {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
        list.listed.notes.push(format!(
            "its list of tools has more than {PAGES} pages: the rest is left out"
        ));
        Ok(())
    };
    let pages = tokio::time::timeout(wire.limit(), pages).await;
    let pages = pages.map_err(|_| UpstreamError::Late {
        method: "tools/list",
        limit: wire.limit(),
    })?;
    match pages {
        // A server without tools need not know the method.
        Err(UpstreamError::Refused { .. }) if !agreed.offers("/tools") => {}
        pages => pages?,
    }
    let names = std::mem::take(&mut list.names);
    let listed = list.end();
    wire.known().keep(&listed.definitions, names);
    Ok(listed)
}

#[derive(Default)]
struct ToolListPages<'s> {
    listed: ListedTools,
    heeds_headers: bool,
    secrets: Option<&'s Scrubber>,
    /// What the server calls tools whose names have secrets in them, by what they are listed as.
    names: HashMap<String, String>,
    bytes: usize,
    /// The cursors that were there.
    cursors: Vec<String>,
    /// How many notes about single tools were not made.
    unsaid: usize,
}

impl ToolListPages<'_> {
    /// Takes a page in. Returns where the next one is.
    fn page(&mut self, page: Value) -> Result<Option<Value>, UpstreamError> {
        let Value::Object(mut page) = page else {
            return Err(not_a_list());
        };
        let Some(Value::Array(tools)) = page.remove("tools") else {
            return Err(not_a_list());
        };
        for tool in tools {
            if self.listed.definitions.len() == TOOLS {
                self.note(format!(
                    "it has more than {TOOLS} tools: those after them are left out"
                ));
                return Ok(None);
            }
            if !self.tool(tool) {
                return Ok(None);
            }
        }
        let next = page.remove("nextCursor").filter(|next| !next.is_null());
        let Some(next) = next else {
            return Ok(None);
        };
        // As text, a cursor of the wrong kind does not matter either.
        let name = next.to_string();
        if name.len() > CURSOR {
            self.note(format!(
                "its list of tools names a next page in more than {CURSOR} bytes: the rest is left out"
            ));
            return Ok(None);
        }
        if self.cursors.contains(&name) {
            self.note(
                "its list of tools has no end: a page names one before it as the next".into(),
            );
            return Ok(None);
        }
        self.cursors.push(name);
        Ok(Some(next))
    }

    /// Takes a tool in. Returns whether there is room for more.
    fn tool(&mut self, mut tool: Value) -> bool {
        let called = tool.get("name").and_then(Value::as_str).map(str::to_owned);
        // Before anything of it is cut: the half of a secret would not be known for one.
        let names = self.cleaned(&mut tool);
        let name = tool.get("name").and_then(Value::as_str).unwrap_or("");
        let name = words(cut(name, LONGEST_NAME));
        if names == ArgumentNames::Changed {
            self.note_tool(format!(
                "`{name}` is left out: a secret is the name of an argument"
            ));
            return true;
        }
        let bytes = weight(&tool);
        if bytes > DEFINITION {
            self.note_tool(format!(
                "`{name}` is left out: its definition is longer than 1 MiB"
            ));
            return true;
        }
        self.bytes += bytes;
        if self.bytes > LIST {
            self.note("its list of tools is longer than 8 MiB: the rest is left out".into());
            return false;
        }
        let definition = match Definition::from_json(tool) {
            Ok(definition) => definition,
            Err(error) => {
                self.note_tool(format!(
                    "`{name}` is left out: {}",
                    words(&error.to_string())
                ));
                return true;
            }
        };
        if self.heeds_headers
            && let Err(why) = headers::check(&definition.input)
        {
            self.note_tool(format!("`{name}` is left out: {}", words(&why)));
            return true;
        }
        let mut others = self.listed.definitions.iter();
        if others.any(|other| other.name == definition.name) {
            self.note_tool(format!("`{name}` is there twice: the second is left out"));
            return true;
        }
        if let Some(called) = called.filter(|called| *called != definition.name) {
            self.names.insert(definition.name.clone(), called);
        }
        self.listed.definitions.push(Arc::new(definition));
        true
    }

    /// Takes secrets out of a tool. Returns whether its arguments are still called what they were.
    fn cleaned(&self, tool: &mut Value) -> ArgumentNames {
        let Some(secrets) = self.secrets else {
            return ArgumentNames::Same;
        };
        let mut input = tool.get_mut("inputSchema").map(Value::take);
        // No other names are given back to the server.
        let _ = clean(tool, secrets);
        let names = input.as_mut().map(|input| clean(input, secrets));
        if let (Some(place), Some(input)) = (tool.get_mut("inputSchema"), input) {
            *place = input;
        }
        names.unwrap_or(ArgumentNames::Same)
    }

    fn note(&mut self, note: String) {
        self.listed.notes.push(note);
    }

    /// The list, with a note about what has none of its own.
    fn end(mut self) -> ListedTools {
        if self.unsaid > 0 {
            let note = format!("{} more tools are left out", self.unsaid);
            self.listed.notes.push(note);
        }
        self.listed
    }

    fn note_tool(&mut self, note: String) {
        if self.listed.notes.len() < NOTES {
            self.listed.notes.push(note);
        } else {
            self.unsaid += 1;
        }
    }
}

fn not_a_list() -> UpstreamError {
    UpstreamError::Broken("its answer to `tools/list` is no list of tools".to_owned())
}

/// A model cannot choose among more, and a client keeps all of them.
const TOOLS: usize = 512;

/// How many bytes one tool may have.
const DEFINITION: usize = 1 << 20;

/// How many bytes all of them may have.
const LIST: usize = 8 << 20;

/// How long the name of a page may be: all of them are kept, and each is sent back.
const CURSOR: usize = 64 << 10;

/// How many pages are read.
const PAGES: usize = 100;

/// How many bytes of a name stand in a note.
const LONGEST_NAME: usize = 64;

/// How many tools that were left out are named.
const NOTES: usize = 8;
