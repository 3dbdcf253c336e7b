//! A workspace in memory that answers requests, for tests.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use jig_proto::vfs::{
    Capabilities, DoneReply, Entry, EntryKind, ErrorKind, ErrorReply, FileMatches, FsGrep, FsRead,
    FsRename, FsWrite, GrepReply, ListReply, MatchedLine, MetadataReply, Method, Payload,
    ReadReply, Ready, VfsReply, VfsRequest,
};
use jig_proto::{Question, ToolState};
use jig_tool::vfs::{Notification, RequestError, Transport};
use serde_json::Value;

/// What is in the workspace, and how its host behaves.
#[derive(Clone, Default)]
pub(crate) struct Workspace {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Directories without files.
    pub(crate) directories: BTreeSet<String>,
    /// The methods that are denied, and the paths at and below which they are.
    pub(crate) denied: Vec<(Method, String)>,
    /// What is answered to questions, in this order.
    pub(crate) answers: VecDeque<Value>,
    /// The questions that were asked.
    pub(crate) asked: Vec<Question>,
    /// What someone else writes while a question is open.
    pub(crate) meanwhile: Option<(String, String)>,
    /// What was agreed upon.
    pub(crate) capabilities: Capabilities,
    /// The requests that changed something.
    pub(crate) changes: usize,
}

impl Workspace {
    pub(crate) fn answer(
        &mut self,
        request: &VfsRequest<'_>,
    ) -> Result<VfsReply<'static>, ErrorReply> {
        for path in paths_of(request) {
            self.check(request.method(), path)?;
        }
        match request {
            VfsRequest::FsRead(read) => self.read(read).map(VfsReply::Read),
            VfsRequest::FsWrite(write) => self.write(write),
            VfsRequest::FsPatch(patch) => {
                let mut text = self.text(&patch.path)?;
                for (index, edit) in patch.edits.iter().enumerate() {
                    match text.matches(edit.old.as_ref()).count() {
                        0 => return Err(ErrorReply::no_match(&patch.path, index + 1)),
                        1 => {}
                        _ if edit.all => {}
                        many => return Err(ErrorReply::ambiguous(&patch.path, index + 1, many)),
                    }
                    text = text.replace(edit.old.as_ref(), &edit.new);
                }
                self.put(&patch.path, text.into_bytes())
            }
            VfsRequest::FsListDir(list) => self.list(&list.path).map(VfsReply::List),
            VfsRequest::FsMetadata(path) => self.metadata(&path.path).map(VfsReply::Metadata),
            VfsRequest::FsDelete(delete) => self.delete(&delete.path, delete.recursive),
            VfsRequest::FsRename(rename) => self.rename(rename),
            VfsRequest::FsGrep(grep) => self.grep(grep).map(VfsReply::Grep),
            other => Err(ErrorReply::method_not_found(other.method().name())),
        }
    }

    /// Takes a state of the tool; the answer, if it is a question.
    pub(crate) fn hear(&mut self, state: &ToolState) -> Option<Value> {
        let ToolState::Waiting { question, .. } = state else {
            return None;
        };
        self.asked.push(question.clone());
        if let Some((path, text)) = self.meanwhile.take() {
            self.files.insert(path, text.into_bytes());
        }
        let answer = self.answers.pop_front();
        Some(answer.unwrap_or_else(|| panic!("no answer to {question:?}")))
    }

    fn check(&self, method: Method, path: &str) -> Result<(), ErrorReply> {
        let is_escape = path.starts_with('/') || path.split('/').any(|name| name == "..");
        if is_escape {
            return Err(ErrorReply::escape(path));
        }
        let path = normal(path);
        let denied = self.denied.iter().any(|(denied, below)| {
            *denied == method && (path == *below || path.starts_with(&format!("{below}/")))
        });
        if denied {
            let why = format!("`{method}` on `{path}`");
            let error = ErrorReply::denied_by_rule(why, "jig.toml:7");
            return Err(error.with_path(path).with_hint("add a rule"));
        }
        Ok(())
    }

    fn is_dir(&self, path: &str) -> bool {
        let path = normal(path);
        let below = |other: &String| path.is_empty() || other.starts_with(&format!("{path}/"));
        path.is_empty()
            || self.directories.contains(&path)
            || self.files.keys().any(below)
            || self.directories.iter().any(below)
    }

    fn bytes(&self, path: &str) -> Result<&Vec<u8>, ErrorReply> {
        match self.files.get(&normal(path)) {
            Some(bytes) => Ok(bytes),
            None if self.is_dir(path) => Err(ErrorReply::is_dir(path)),
            None => Err(ErrorReply::not_found(path)),
        }
    }

    fn text(&self, path: &str) -> Result<String, ErrorReply> {
        Ok(String::from_utf8(self.bytes(path)?.clone()).unwrap())
    }

    fn etag(&self, bytes: &[u8]) -> Option<Cow<'static, str>> {
        self.capabilities.etag.then(|| {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            format!("{:x}", hasher.finish()).into()
        })
    }

    fn read(&self, read: &FsRead<'_>) -> Result<ReadReply<'static>, ErrorReply> {
        let bytes = self.bytes(&read.path)?;
        if !self.capabilities.ranges && (read.offset.is_some() || read.length.is_some()) {
            return Err(ErrorReply::invalid_params(Method::FsRead, "no ranges"));
        }
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let start = place(read.offset.unwrap_or(0));
        let end = place(
            read.offset
                .unwrap_or(0)
                .saturating_add(read.length.unwrap_or(u64::MAX)),
        );
        Ok(ReadReply {
            content: Payload::of_bytes(bytes[start..end].to_vec()),
            size: bytes.len() as u64,
            etag: self.etag(bytes),
        })
    }

    fn write(&mut self, write: &FsWrite<'_>) -> Result<VfsReply<'static>, ErrorReply> {
        if self.is_dir(&write.path) {
            return Err(ErrorReply::is_dir(&write.path));
        }
        let old = self.files.get(&normal(&write.path));
        if write.exclusive && old.is_some() {
            return Err(ErrorReply::already_exists(&write.path));
        }
        if let Some(wanted) = &write.if_match {
            assert!(self.capabilities.etag, "versions were not agreed upon");
            if old.and_then(|old| self.etag(old)).as_ref() != Some(wanted) {
                return Err(ErrorReply::stale(&write.path));
            }
        }
        self.put(&write.path, write.content.as_bytes().to_vec())
    }

    fn put(&mut self, path: &str, bytes: Vec<u8>) -> Result<VfsReply<'static>, ErrorReply> {
        self.changes += 1;
        let etag = self.etag(&bytes);
        self.files.insert(normal(path), bytes);
        Ok(VfsReply::Done(DoneReply { etag }))
    }

    fn list(&self, path: &str) -> Result<ListReply<'static>, ErrorReply> {
        let directory = normal(path);
        if self.files.contains_key(&directory) {
            return Err(ErrorReply::not_dir(path));
        }
        if !self.is_dir(path) {
            return Err(ErrorReply::not_found(path));
        }
        let mut entries = BTreeMap::new();
        let files = self.files.keys().map(|file| (file, EntryKind::File));
        let directories = self.directories.iter().map(|one| (one, EntryKind::Dir));
        for (found, kind) in files.chain(directories) {
            let below = match directory.as_str() {
                "" => Some(found.as_str()),
                above => found
                    .strip_prefix(above)
                    .and_then(|rest| rest.strip_prefix('/')),
            };
            match below.map(|below| below.split_once('/').ok_or(below)) {
                None => {}
                Some(Ok((name, _))) => drop(entries.insert(name.to_owned(), EntryKind::Dir)),
                Some(Err(name)) => drop(entries.entry(name.to_owned()).or_insert(kind)),
            }
        }
        // Backwards, so that the tool must sort them.
        let entries = entries.into_iter().rev().map(|(name, kind)| Entry {
            path: name.into(),
            kind,
        });
        Ok(ListReply {
            entries: entries.collect(),
            next_cursor: None,
        })
    }

    fn metadata(&self, path: &str) -> Result<MetadataReply<'static>, ErrorReply> {
        let (kind, size, etag) = match self.bytes(path) {
            Ok(bytes) => (EntryKind::File, bytes.len() as u64, self.etag(bytes)),
            Err(error) if error.kind() == ErrorKind::IsDir => (EntryKind::Dir, 0, None),
            Err(error) => return Err(error),
        };
        Ok(MetadataReply { kind, size, etag })
    }

    fn delete(&mut self, path: &str, recursive: bool) -> Result<VfsReply<'static>, ErrorReply> {
        if let Err(error) = self.bytes(path)
            && (error.kind() != ErrorKind::IsDir || !recursive)
        {
            return Err(error);
        }
        let gone = normal(path);
        let stays = |path: &String| *path != gone && !path.starts_with(&format!("{gone}/"));
        self.files.retain(|path, _| stays(path));
        self.directories.retain(stays);
        self.changes += 1;
        Ok(VfsReply::DONE)
    }

    fn rename(&mut self, rename: &FsRename<'_>) -> Result<VfsReply<'static>, ErrorReply> {
        let bytes = self.bytes(&rename.from)?.clone();
        let is_taken = self.files.contains_key(&normal(&rename.to)) || self.is_dir(&rename.to);
        if is_taken && !rename.overwrite {
            return Err(ErrorReply::already_exists(&rename.to));
        }
        self.files.remove(&normal(&rename.from));
        self.put(&rename.to, bytes)
    }

    fn grep(&self, grep: &FsGrep<'_>) -> Result<GrepReply<'static>, ErrorReply> {
        let regex = regex::Regex::new(&grep.pattern)
            .map_err(|error| ErrorReply::invalid_params(Method::FsGrep, error))?;
        let mut found = GrepReply::default();
        for (path, bytes) in &self.files {
            let is_below = |one: &Cow<'_, str>| {
                let one = normal(one);
                one.is_empty() || *path == one || path.starts_with(&format!("{one}/"))
            };
            let has_extension = |one: &Cow<'_, str>| path.ends_with(&format!(".{one}"));
            if grep
                .paths
                .as_ref()
                .is_some_and(|all| !all.iter().any(is_below))
                || grep
                    .extensions
                    .as_ref()
                    .is_some_and(|all| !all.iter().any(has_extension))
            {
                continue;
            }
            if self.check(Method::FsGrep, path).is_err() {
                found.skipped += 1;
                continue;
            }
            let text = String::from_utf8_lossy(bytes);
            let all: Vec<&str> = text.lines().collect();
            let matching: Vec<usize> = (0..all.len())
                .filter(|index| regex.is_match(all[*index]))
                .collect();
            let around = grep.context as usize;
            let near = |index: usize| {
                let next = matching.partition_point(|one| *one < index);
                let candidates = [next.checked_sub(1), Some(next)].into_iter().flatten();
                let mut candidates = candidates.filter_map(|place| matching.get(place));
                candidates.any(|one| one.abs_diff(index) <= around)
            };
            let lines: Vec<MatchedLine<'static>> = (0..all.len())
                .filter(|index| near(*index))
                .map(|index| MatchedLine {
                    line_number: index as u64 + 1,
                    content: all[index].to_owned().into(),
                    is_match: matching.binary_search(&index).is_ok(),
                })
                .collect();
            if !lines.is_empty() {
                found.matches.push(FileMatches {
                    path: path.clone().into(),
                    lines,
                });
            }
        }
        Ok(found)
    }
}

fn normal(path: &str) -> String {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.collect::<Vec<_>>().join("/")
}

fn paths_of<'r>(request: &'r VfsRequest<'_>) -> Vec<&'r str> {
    match request {
        VfsRequest::FsRead(one) => vec![&one.path],
        VfsRequest::FsWrite(one) => vec![&one.path],
        VfsRequest::FsPatch(one) => vec![&one.path],
        VfsRequest::FsListDir(one) => vec![&one.path],
        VfsRequest::FsMetadata(one) => vec![&one.path],
        VfsRequest::FsDelete(one) => vec![&one.path],
        VfsRequest::FsRename(one) => vec![&one.from, &one.to],
        _ => Vec::new(),
    }
}

/// The workspace without any wire, as a host has it that runs a tool inside of itself.
pub(crate) struct InProcess {
    pub(crate) workspace: Arc<Mutex<Workspace>>,
    pub(crate) applied: VecDeque<Value>,
}

impl Transport for InProcess {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        let mut workspace = self.workspace.lock().unwrap();
        workspace.answer(request).map_err(RequestError::Refused)
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        let mut workspace = self.workspace.lock().unwrap();
        match notification {
            Notification::Ready(Ready { capabilities, .. }) => {
                workspace.capabilities = *capabilities;
            }
            Notification::State(state) => self.applied.extend(workspace.hear(state)),
            Notification::Result(_) | Notification::Error(_) => {}
        }
        Ok(())
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        self.applied.pop_front().ok_or(RequestError::Cancelled)
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
