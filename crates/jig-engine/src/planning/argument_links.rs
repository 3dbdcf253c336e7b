//! Where an argument really leads, for rules of `run` that are about paths.
//!
//! A rule such as "below `src/` nobody is asked" is meant for what lies there, and a link in `src/` may lead
//! anywhere in the workspace. Whoever wrote the link, a rule is not told what an argument is called alone. The
//! links are looked at before the call runs: what the tool may reach is up to its policy, as ever.

use std::io::ErrorKind;
use std::sync::Arc;

use camino::Utf8Path;
use jig_config::{PathMeaning, RunDecision, Tool};
use jig_files::FilesLookup;
use jig_policy::{Lookup, ResolveReason, Workspace};
use jig_proto::{ProjectPath, ToolAction};
use serde_json::{Map, Value};

use crate::engine::Engine;

impl Engine {
    /// Whether somebody is asked about a call, in the workspace as it is now.
    pub(crate) fn decided(
        &self,
        tool: &Tool,
        action: ToolAction,
        arguments: &Map<String, Value>,
    ) -> RunDecision {
        if tool.run.of(action).rules().is_empty() {
            return tool.run.decide(action, arguments);
        }
        let files = FilesLookup(Arc::clone(&self.files));
        let workspace = Workspace::new(self.files.display_root().to_owned(), files);
        let leads = |text: &str| leads(&workspace, text);
        tool.run.decide_in(action, arguments, &leads)
    }
}

/// Where `text` leads, if it is a path. What cannot be one by its text alone leads nowhere else.
fn leads<L: Lookup>(workspace: &Workspace<L>, text: &str) -> PathMeaning {
    if text.len() > LONGEST {
        // Nobody looks at all of it. What does not exist at its beginning has no link further on.
        let end = text.floor_char_boundary(LONGEST);
        let end = text[..end].rfind('/').unwrap_or(0);
        return match one(workspace, &text[..end]) {
            Some((PathMeaning::AsWritten, false)) => PathMeaning::AsWritten,
            _ => PathMeaning::Unknown,
        };
    }
    // jig takes `..` out before it follows links, other programs do not: after a link they would be elsewhere.
    let mut climbs = 0;
    for (at, _) in text.match_indices("..") {
        let is_name =
            text[..at].ends_with('/') && matches!(text.as_bytes().get(at + 2), None | Some(b'/'));
        if !is_name {
            continue;
        }
        climbs += 1;
        match one(workspace, &text[..at]) {
            _ if climbs > MOST_CLIMBS => return PathMeaning::Unknown,
            None | Some((PathMeaning::AsWritten, _)) => {}
            Some(_) => return PathMeaning::Unknown,
        }
    }
    one(workspace, text).map_or(PathMeaning::AsWritten, |(leads, _)| leads)
}

/// Where a path leads, and whether anything is there; `None` for what is no path in the workspace.
fn one<L: Lookup>(workspace: &Workspace<L>, text: &str) -> Option<(PathMeaning, bool)> {
    let path = Utf8Path::new(text);
    let relative = match path.has_root() {
        true => path.strip_prefix(workspace.root()).ok()?,
        false => path,
    };
    let plain = ProjectPath::normalize(relative.as_str()).ok()?;
    let resolved = match workspace.resolve(plain.as_str()) {
        Ok(resolved) => resolved,
        Err(error) => {
            return match error.reason {
                // No file is called so: it is a text that is no path.
                ResolveReason::Lookup(error) if error.kind() == ErrorKind::InvalidFilename => None,
                ResolveReason::Syntax(_) => None,
                _ => Some((PathMeaning::Unknown, true)),
            };
        }
    };
    let real = resolved.path();
    let leads = match *real == plain {
        true => PathMeaning::AsWritten,
        false if path.has_root() => PathMeaning::To(real.under(workspace.root()).into_string()),
        false => PathMeaning::To(real.as_str().to_owned()),
    };
    Some((leads, resolved.exists()))
}

/// How much of an argument is looked at. A client may send megabytes of slashes.
const LONGEST: usize = 16 << 10;

/// How many `..` are looked at.
const MOST_CLIMBS: usize = 64;
