//! What was read, brought into the shape of a reply, without secrets.

use std::borrow::Cow;
use std::sync::Arc;

use jig_policy::{Capability, ResolvedPath};
use jig_proto::ProjectPath;
use jig_proto::vfs::{Entry, EntryKind, ErrorReply, ListReply, Payload, VfsReply};

use super::dangling_link;
use super::grant::GrantedPlace;
use super::job::entry_kind;
use crate::broker::BrokerCore;

/// Content without secrets: text if it is UTF-8, else bytes. It is scrubbed before it is encoded,
/// since nothing could be found afterwards.
pub(crate) fn payload(inner: &BrokerCore, content: Vec<u8>) -> Payload<'static> {
    let content = match inner.secrets.scrubber() {
        Some(scrubber) => scrubber.bytes(content),
        None => Cow::Owned(content),
    };
    Payload::of_bytes(content.into_owned())
}

/// The entries of a directory that the tool may know of, as a reply: all of them, unless the tool asks for a page
/// (V-055).
pub(super) fn list(
    inner: &Arc<BrokerCore>,
    at: &GrantedPlace,
    after: Option<&str>,
    limit: Option<u32>,
) -> Result<VfsReply<'static>, ErrorReply> {
    let most = inner.limits.list_entries;
    let page = match (limit, after) {
        (Some(limit), _) => (limit as usize).clamp(1, most),
        (None, Some(_)) => most,
        (None, None) => usize::MAX,
    };
    let mut entries = Vec::new();
    let mut next_cursor = None;
    let after_cursor = |name: &str| after.is_none_or(|after| name > after);
    for entry in known(inner, at, after_cursor)? {
        if entries.len() == page {
            next_cursor = entries.last().map(|last: &ListedName| last.name.clone());
            break;
        }
        entries.push(entry);
    }
    let scrub = |text: String| Cow::Owned(inner.secrets.scrub_text(text));
    let entries = entries.into_iter().map(|entry| Entry {
        path: scrub(entry.name),
        kind: entry.kind,
    });
    Ok(VfsReply::List(ListReply {
        entries: entries.collect(),
        next_cursor: next_cursor.map(Cow::Owned),
    }))
}

/// The same, all of them at once.
pub(super) fn entries(
    inner: &BrokerCore,
    at: &GrantedPlace,
) -> Result<Vec<ListedName>, ErrorReply> {
    let known = known(inner, at, |_| true)?;
    Ok(known
        .map(|entry| ListedName {
            name: inner.secrets.scrub_text(entry.name),
            ..entry
        })
        .collect())
}

/// The entries of a directory that the tool may know of. A link is judged by what it leads to; one that leads
/// nowhere, by its own name and by where it would lead: a listing must not tell whether something is there.
fn known<'i>(
    inner: &'i BrokerCore,
    at: &'i GrantedPlace,
    wanted: impl Fn(&str) -> bool + 'i,
) -> Result<impl Iterator<Item = ListedName> + 'i, ErrorReply> {
    let listing = inner.files.list_dir(at.place());
    let listing = listing.map_err(|error| at.error(&error))?;
    let here = at.place().path();
    Ok(listing.entries.into_iter().filter_map(move |entry| {
        if !wanted(&entry.name) {
            return None;
        }
        let kind = entry_kind(entry.kind);
        let is_broken = entry.kind == jig_files::DirEntryKind::BrokenLink;
        let link = entry.leads_to.is_some() || is_broken;
        let path = match entry.leads_to {
            Some(path) => path,
            None => here.join(&ProjectPath::normalize(&entry.name).ok()?),
        };
        let end = match is_broken.then(|| inner.files.locate(&path)) {
            Some(Err(error)) => dangling_link::end(&*inner.files, &path, &error),
            _ => None,
        };
        let mut places = std::iter::once(&path).chain(&end);
        let known = places.all(|place| at.is_beneath(place) && inner.may_read(place));
        known.then_some(ListedName {
            name: entry.name,
            kind,
            link,
        })
    }))
}

/// An entry of a directory, as [`Work::entries`](crate::Work::entries) gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedName {
    /// The name, relative to the directory.
    pub name: String,
    /// What it is, or for a link what it leads to.
    pub kind: EntryKind,
    /// Whether it is a link.
    pub link: bool,
}

impl BrokerCore {
    /// Whether a file may be read, or somebody has approved it for the turn.
    pub(super) fn may_read(&self, path: &ProjectPath) -> bool {
        let resolved = ResolvedPath::from_handle(path.clone());
        let decision = self.policy.decide_fs(Capability::Read, &resolved);
        decision.is_allowed() || self.is_approved(Capability::Read, path, &[])
    }
}
