//! `fs.grep`: a search that opens nothing that the tool may not read.

use std::borrow::Cow;
use std::sync::Arc;

use jig_files::{Case, GrepQuery, Matches, PlaceKind};
use jig_policy::{Capability, FileTarget, Permit};
use jig_proto::ProjectPath;
use jig_proto::vfs::{
    ErrorKind, ErrorReply, FileMatches, FsGrep, GrepReply, MatchedLine, Method, VfsReply,
};

use super::{FsJob, FsJudgement, error, unlocated, wire_path};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::requests::judge::Judge;

/// A permitted search. Every file in it is judged when the search comes to it.
#[derive(Debug)]
pub(crate) struct PermittedSearch {
    query: GrepQuery,
    /// For the starting points that are permitted as such.
    _permits: Vec<Permit<FileTarget>>,
}

/// Judges a search.
///
/// A starting point must be readable, or hold something that is; a search of everything needs no
/// permit of its own, since it finds what the tool may read.
pub(super) fn judge_grep(judge: &mut Judge<'_>, grep: &FsGrep<'_>) -> FsJudgement<FsJob> {
    let mut query = GrepQuery::new(grep.pattern.as_ref());
    query.literal = grep.literal;
    if grep.ignore_case {
        query.case = Case::Insensitive;
    }
    // What the policy does not let the tool read stays out, whatever it is called.
    (query.hidden, query.ignore_files) = (grep.all, !grep.all);
    query.context = usize::try_from(grep.context).unwrap_or(usize::MAX);
    query.max_bytes = judge.inner.limits.grep_bytes;
    let extensions = grep.extensions.iter().flatten();
    query.extensions = extensions.map(|one| one.clone().into_owned()).collect();
    let mut permits = Vec::new();
    for text in grep.paths.iter().flatten() {
        let path = wire_path(Method::FsGrep, text)?;
        let place = match judge.inner.files.locate(&path) {
            Ok(place) => place,
            Err(error) => return Err(unlocated(judge, &path, text, Capability::Read, error)),
        };
        judge.expect_beneath(place.path(), text)?;
        let is_way =
            *place.kind() == PlaceKind::Directory && judge.inner.leads_to_readable(place.path());
        if !is_way {
            let target = FileTarget {
                capability: Capability::Read,
                path: place.resolved().clone(),
            };
            permits.extend(judge.permit(target, Some(text))?);
        }
        if !place.exists() && !judge.must_ask() {
            return Err(ErrorReply::not_found(text));
        }
        query.paths.push(place.path().clone());
    }
    // A search of everything is one of all that the request may be about.
    if let (true, Some(directory)) = (query.paths.is_empty(), judge.beneath()) {
        query.paths.push(ProjectPath::clone(directory));
    }
    let shown: Vec<&str> = grep.paths.iter().flatten().map(AsRef::as_ref).collect();
    let shown = if shown.is_empty() { vec!["."] } else { shown };
    judge.note(shown.join(" "), "each file is judged when it is searched");
    Ok((!judge.must_ask()).then_some(FsJob::Grep(PermittedSearch {
        query,
        _permits: permits,
    })))
}

impl PermittedSearch {
    pub(super) fn run(
        self,
        inner: &Arc<BrokerCore>,
        cancel: &CancelToken,
    ) -> Result<VfsReply<'static>, ErrorReply> {
        let may = |path: &ProjectPath, directory: bool| {
            !cancel.is_cancelled()
                && (inner.may_read(path) || (directory && inner.leads_to_readable(path)))
        };
        let found = inner.files.grep(&self.query, &may);
        if cancel.is_cancelled() {
            return Err(ErrorReply::cancelled());
        }
        match found {
            Ok(matches) => Ok(VfsReply::Grep(reply(inner, matches))),
            Err(error) => Err(match error::reply(&error, ".") {
                failed if failed.kind() == ErrorKind::Internal => {
                    ErrorReply::internal("the workspace could not be searched")
                }
                other => other,
            }),
        }
    }
}

impl BrokerCore {
    /// Whether a rule opens something below a directory, so that the way there may be walked.
    fn leads_to_readable(&self, directory: &ProjectPath) -> bool {
        self.policy.fs_rules().iter().any(|rule| {
            rule.capabilities().has(Capability::Read) && rule.path().starts_with(directory)
        })
    }
}

fn reply(inner: &BrokerCore, matches: Matches) -> GrepReply<'static> {
    let scrubber = inner.secrets.scrubber();
    let scrub = |text: String| match &scrubber {
        Some(scrubber) => Cow::Owned(scrubber.text(text)),
        None => Cow::Owned(text),
    };
    let files = matches.files.into_iter().map(|file| FileMatches {
        path: scrub(file.path.to_string()),
        lines: file
            .lines
            .into_iter()
            .map(|line| MatchedLine {
                line_number: line.line_number,
                content: scrub(line.content),
                is_match: line.is_match,
            })
            .collect(),
    });
    GrepReply {
        matches: files.collect(),
        skipped: matches.skipped.saturating_add(matches.ignored),
        ignored: matches.ignored,
        truncated: matches.truncated,
    }
}
