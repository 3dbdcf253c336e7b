//! Places with the permits for them: nothing else in this crate touches a file.

use std::sync::Arc;

use jig_files::{Place, PlaceKind, RenameOptions};
use jig_policy::{Capability, FileTarget, MoveTarget, MovedEntry, Permit, ResolvedPath, Verdict};
use jig_proto::ProjectPath;
use jig_proto::vfs::{ErrorReply, Method};
use jig_proto::visible_line_to;

use crate::broker::BrokerCore;
use crate::denial::MAX_TARGET;
use crate::requests::approvals::ApprovalKey;
use crate::requests::fs::repository_shape::{self, AddedParts};
use crate::requests::judge::Judge;

/// A place and the permits for it. The permits' target is this place's canonical path, and only
/// [`judge`](Self::judge) makes one.
#[derive(Debug)]
pub(crate) struct GrantedPlace {
    place: Place,
    text: String,
    permits: Permits,
    beneath: Option<Arc<ProjectPath>>,
    parts: Option<AddedParts>,
}

/// The permits for a place, kept as long as what they allowed is in use.
#[derive(Debug)]
pub(crate) struct Permits(#[expect(dead_code, reason = "held, not read")] Vec<Permit<FileTarget>>);

impl GrantedPlace {
    /// Judges a place; `text` is the path as the tool wrote it. `None` if somebody must be asked.
    pub(super) fn judge(
        judge: &mut Judge<'_>,
        place: Place,
        text: &str,
        wanted: &[Capability],
    ) -> Result<Option<Self>, ErrorReply> {
        judge.expect_beneath(place.path(), text)?;
        let mut permits = Vec::with_capacity(wanted.len());
        let mut parts = None;
        for capability in wanted {
            let path = repository_shape::target(judge.inner, &place, *capability);
            if *capability == Capability::Create {
                parts = AddedParts::of(judge.inner, &place, &path);
            }
            let target = FileTarget {
                capability: *capability,
                path,
            };
            permits.extend(judge.permit(target, Some(text))?);
        }
        Ok((permits.len() == wanted.len()).then(|| Self {
            place,
            text: text.to_owned(),
            permits: Permits(permits),
            beneath: judge.beneath().cloned(),
            parts,
        }))
    }

    /// Looks once more at what was made here, and removes it if it made a repository of a folder after all.
    pub(super) fn expect_no_repository(&self, inner: &Arc<BrokerCore>) -> Result<(), ErrorReply> {
        let Some((part, denied)) = completed(inner, self.parts.as_ref(), &self.text) else {
            return Ok(());
        };
        remove(inner, &part);
        Err(denied)
    }

    /// The path as the tool wrote it and the permits, without the handle of the place.
    pub(super) fn into_permits(self) -> (String, Permits) {
        (self.text, self.permits)
    }

    /// A judge for the same request, because what stands there has changed.
    pub(super) fn judge_again<'b>(
        &self,
        inner: &'b Arc<BrokerCore>,
        method: Method,
        once: &'b [ApprovalKey],
    ) -> Judge<'b> {
        Judge::new(inner, method, once).with_beneath(self.beneath.clone())
    }

    /// Whether a canonical path lies where the files of the request may be.
    pub(super) fn is_beneath(&self, path: &ProjectPath) -> bool {
        let beneath = self.beneath.as_ref();
        beneath.is_none_or(|directory| path.starts_with(directory))
    }

    /// Where to act.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// The path as the tool wrote it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The same, fit for a message.
    pub(super) fn shown(&self) -> String {
        visible_line_to(&self.text, MAX_TARGET)
    }
}

/// Two places and the permit for a move from one to the other.
#[derive(Debug)]
pub(crate) struct GrantedMove {
    from: Place,
    to: Place,
    from_text: String,
    to_text: String,
    _permit: Permit<MoveTarget>,
    parts: Option<AddedParts>,
}

impl GrantedMove {
    /// Judges a move. `None` if somebody must be asked.
    pub(super) fn judge(
        judge: &mut Judge<'_>,
        from: Place,
        to: Place,
        from_text: &str,
        to_text: &str,
    ) -> Result<Option<Self>, ErrorReply> {
        judge.expect_beneath(from.path(), from_text)?;
        judge.expect_beneath(to.path(), to_text)?;
        let target = MoveTarget {
            from: from.resolved().clone(),
            to: repository_shape::target(judge.inner, &to, Capability::Create),
            entry: match from.kind() {
                PlaceKind::Directory => MovedEntry::Directory,
                PlaceKind::Link(_) => MovedEntry::Link,
                PlaceKind::Missing | PlaceKind::File | PlaceKind::Other => MovedEntry::File,
            },
        };
        let uncovering = uncovered_by_move(judge.inner, &target);
        let parts = AddedParts::of(judge.inner, &to, &target.to);
        let permit = judge.permit(target, Some(from_text))?;
        if let Some(path) = uncovering {
            let target = FileTarget {
                capability: Capability::Read,
                path: ResolvedPath::from_handle(path),
            };
            // A rule denies it, so this is the answer.
            judge.permit(target, Some(from_text))?;
            return Ok(None);
        }
        Ok(permit.map(|permit| Self {
            from,
            to,
            from_text: from_text.to_owned(),
            to_text: to_text.to_owned(),
            _permit: permit,
            parts,
        }))
    }

    /// Looks once more at what was moved here, and moves it back if it made a repository of a folder after all.
    pub(super) fn expect_no_repository(&self, inner: &Arc<BrokerCore>) -> Result<(), ErrorReply> {
        let Some((part, denied)) = completed(inner, self.parts.as_ref(), &self.to_text) else {
            return Ok(());
        };
        let files = &inner.files;
        let back = files.locate_entry(self.to.path()).and_then(|now| {
            let before = files.locate_entry(self.from.path())?;
            files.rename(&now, &before, &RenameOptions::default())
        });
        // What cannot go back does not stay either, nor do the folders that were made for it.
        if back.is_err() || part != *self.to.path() {
            remove(inner, &part);
        }
        Err(denied)
    }

    pub(super) fn from(&self) -> &Place {
        &self.from
    }

    pub(super) fn to(&self) -> &Place {
        &self.to
    }

    pub(super) fn source_text(&self) -> &str {
        &self.from_text
    }

    pub(super) fn destination_text(&self) -> &str {
        &self.to_text
    }
}

/// The added part that makes a folder a repository now, and why it may not be there; `None` if all is well.
fn completed(
    inner: &Arc<BrokerCore>,
    parts: Option<&AddedParts>,
    text: &str,
) -> Option<(ProjectPath, ErrorReply)> {
    let (part, judged) = parts?.completing(inner)?;
    Some((part, refusal(inner, judged, text)?))
}

/// Why a path may not come into being, judged as it is now; `None` if it may.
fn refusal(inner: &Arc<BrokerCore>, path: ResolvedPath, text: &str) -> Option<ErrorReply> {
    let mut judge = Judge::new(inner, Method::FsWrite, &[]);
    let target = FileTarget {
        capability: Capability::Create,
        path,
    };
    match judge.permit(target, Some(text)) {
        Err(denied) => Some(denied),
        Ok(Some(_)) => None,
        Ok(None) => judge.take_asks().into_iter().next().map(|ask| ask.reply),
    }
}

/// Removes what a request has just made.
fn remove(inner: &BrokerCore, path: &ProjectPath) {
    let Ok(place) = inner.files.locate_entry(path) else {
        return;
    };
    // Whoever removes it first wins; it is gone then.
    let _ = match place.kind() {
        PlaceKind::Directory => inner.files.delete_tree(&place, &|_, _| true).map(|_| ()),
        _ => inner.files.delete(&place),
    };
}

/// What a rule says may not be read, and could be read once it is moved: the thing itself, or something
/// in it.
fn uncovered_by_move(inner: &BrokerCore, target: &MoveTarget) -> Option<ProjectPath> {
    let (from, to) = (target.from.path(), target.to.path());
    let is_denied = |path: &ProjectPath| {
        let path = ResolvedPath::from_handle(path.clone());
        inner.policy.decide_fs(Capability::Read, &path).verdict == Verdict::Deny
    };
    if is_denied(from) && inner.may_read(to) {
        return Some(from.clone());
    }
    if target.entry != MovedEntry::Directory {
        return None;
    }
    let rules = inner.policy.fs_rules().iter();
    let mut below = rules
        .filter(|rule| rule.path().starts_with(from) && !rule.capabilities().has(Capability::Read));
    let found = below.find(|rule| {
        let rest = rule.path().as_str().get(from.as_str().len()..);
        let rest = rest.unwrap_or_default().trim_start_matches('/');
        let moved = ProjectPath::normalize(rest).map_or_else(|_| to.clone(), |rest| to.join(&rest));
        is_denied(rule.path()) && inner.may_read(&moved)
    });
    found.map(|rule| rule.path().clone())
}
