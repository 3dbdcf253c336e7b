//! What was read, brought into the shape of a reply, without secrets.

use std::borrow::Cow;
use std::sync::Arc;

use jig_policy::{Capability, Resolved};
use jig_proto::ProjectPath;
use jig_proto::vfs::{Entry, ErrorKind, ErrorReply, ListReply, Payload, Reply};

use super::act::entry_kind;
use super::grant::Granted;
use crate::broker::Inner;

/// Content without secrets: text if it is UTF-8, else bytes. It is scrubbed before it is encoded,
/// since nothing could be found afterwards.
pub(crate) fn payload(inner: &Inner, content: Vec<u8>) -> Payload<'static> {
    let content = match inner.secrets.scrubber() {
        Some(scrubber) => scrubber.bytes(content),
        None => Cow::Owned(content),
    };
    Payload::of_bytes(content.into_owned())
}

/// The entries of a directory that the tool may know of.
pub(super) fn list(
    inner: &Arc<Inner>,
    at: &Granted,
    after: Option<&str>,
    limit: Option<u32>,
) -> Result<Reply<'static>, ErrorReply> {
    let listing = inner.files.list_dir(at.place());
    let listing = listing.map_err(|error| at.error(&error))?;
    let here = at.place().path();
    let page = limit.map_or(inner.limits.list_entries, |limit| {
        (limit as usize).clamp(1, inner.limits.list_entries)
    });
    let mut entries = Vec::new();
    let mut next_cursor = None;
    for entry in listing.entries {
        if after.is_some_and(|after| entry.name.as_str() <= after) {
            continue;
        }
        let Some(kind) = entry_kind(entry.kind) else {
            continue;
        };
        let path = match entry.leads_to {
            Some(path) => path,
            None => match ProjectPath::normalize(&entry.name) {
                Ok(name) => here.join(&name),
                Err(_) => continue,
            },
        };
        if !inner.may_read(&path) {
            continue;
        }
        if entries.len() == page {
            if limit.is_none() && after.is_none() {
                let what = format!(
                    "the directory `{}` has more than {page} entries",
                    at.shown()
                );
                return Err(ErrorReply::new(ErrorKind::TooLarge, what)
                    .with_path(at.text())
                    .with_hint("list it in pages, with `limit` and `cursor`"));
            }
            next_cursor = entries.last().map(|last: &(String, _)| last.0.clone());
            break;
        }
        entries.push((entry.name, kind));
    }
    let scrub = |text: String| Cow::Owned(inner.secrets.scrub_text(text));
    let entries = entries.into_iter().map(|(name, kind)| Entry {
        path: scrub(name),
        kind,
    });
    Ok(Reply::List(ListReply {
        entries: entries.collect(),
        next_cursor: next_cursor.map(Cow::Owned),
    }))
}

impl Inner {
    /// Whether a file may be read, or somebody has approved it for the turn.
    pub(super) fn may_read(&self, path: &ProjectPath) -> bool {
        let resolved = Resolved::from_handle(path.clone());
        let decision = self.policy.decide_fs(Capability::Read, &resolved);
        decision.is_allowed() || self.is_approved(Capability::Read, path, &[])
    }
}
