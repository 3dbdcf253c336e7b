//! What is in a directory: real entries that the policy lets a client know of, and virtual files.

use std::collections::BTreeMap;

use jig_broker::{ApprovalRequest, Broker, JudgedRequest, Unapproved};
use jig_proto::ProjectPath;
use jig_proto::fsproxy::{ListedEntry, ListedKind, ProxyError, ProxyListReply};
use jig_proto::vfs::{EntryKind, ErrorKind, ErrorReply, FsListDir, VfsRequest};

use super::names::ClientPath;
use super::options::ManagerOptions;
use super::refusal::refused_open;
use super::virtual_files::VirtualFiles;

/// One listing, on its way to its entries.
pub(super) struct ProxyListing<'a> {
    pub(super) broker: &'a Broker,
    pub(super) files: &'a VirtualFiles,
    pub(super) options: &'a ManagerOptions,
    /// The path as the client wrote it.
    pub(super) text: &'a str,
}

impl ProxyListing<'_> {
    /// The entries after a name, as many as fit into an answer.
    pub(super) fn page(
        &self,
        name: &ClientPath,
        after: Option<&str>,
    ) -> Result<ProxyListReply, ProxyError> {
        let mut reply = ProxyListReply::default();
        let mut size = 0;
        let all = self.entries(name)?;
        let left = all
            .into_iter()
            .filter(|(name, _)| after.is_none_or(|after| name.as_str() > after));
        for (name, kind) in left {
            // What an escape may make of each byte, and what stands around a name.
            size += name.len() * ESCAPED + AROUND_NAME;
            if size > self.options.max_frame / 2 && !reply.entries.is_empty() {
                reply.more = true;
                break;
            }
            reply.entries.push(ListedEntry { name, kind });
        }
        Ok(reply)
    }

    fn entries(&self, name: &ClientPath) -> Result<BTreeMap<String, ListedKind>, ProxyError> {
        let mut entries = self.virtual_entries(name);
        let real = match name {
            ClientPath::Elsewhere(_) => Err(NoEntries::of(ErrorReply::not_found(self.text))),
            ClientPath::Project(path) => self.real_entries(path),
        };
        match real {
            // A real file is never shadowed.
            Ok(real) => entries.extend(real),
            // What no rule speaks of may hold virtual files.
            Err(nothing) if nothing.is_silent && !entries.is_empty() => {}
            Err(nothing) => return Err(refused_open(nothing.error, self.text, self.options)),
        }
        Ok(entries)
    }

    fn real_entries(&self, path: &ProjectPath) -> Result<Vec<(String, ListedKind)>, NoEntries> {
        let text = match path.is_root() {
            true => ".",
            false => path.as_str(),
        };
        let listed = match self
            .broker
            .judge(&VfsRequest::FsListDir(FsListDir::new(text)))
        {
            JudgedRequest::Ready(work) => work.entries().map_err(NoEntries::of)?,
            JudgedRequest::Uncovered(inquiry) => {
                let silent = |ask: &ApprovalRequest| ask.kind() == ErrorKind::Uncovered;
                return Err(NoEntries {
                    is_silent: inquiry.asks().iter().all(silent),
                    error: inquiry.deny(Unapproved::Unavailable),
                });
            }
            JudgedRequest::Refused(error) => return Err(NoEntries::of(error)),
        };
        let entries = listed.into_iter().map(|entry| {
            let kind = match entry.kind {
                EntryKind::File => ListedKind::File,
                EntryKind::Dir => ListedKind::Dir,
                _ => ListedKind::Other,
            };
            (entry.name, kind)
        });
        Ok(entries.collect())
    }

    /// Virtual files whose names lie in the directory, and the directories that they seem to lie in.
    fn virtual_entries(&self, name: &ClientPath) -> BTreeMap<String, ListedKind> {
        let prefix = match name {
            ClientPath::Project(path) if path.is_root() => String::new(),
            name => format!("{}/", name.text().trim_end_matches('/')),
        };
        let mut entries = BTreeMap::new();
        for file in self.files.names() {
            let Some(below) = file.strip_prefix(&prefix) else {
                continue;
            };
            let (name, kind) = match below.split_once('/') {
                // An absolute name is none of the workspace.
                Some(("", _)) => continue,
                Some((folder, _)) => (folder, ListedKind::Dir),
                None => (below, ListedKind::File),
            };
            entries.entry(name.to_owned()).or_insert(kind);
        }
        entries
    }
}

/// Why a directory has no real entries.
struct NoEntries {
    /// Whether that is because nothing is there, or no rule speaks of it.
    is_silent: bool,
    error: ErrorReply,
}

impl NoEntries {
    fn of(error: ErrorReply) -> Self {
        Self {
            is_silent: matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Uncovered),
            error,
        }
    }
}

/// The most bytes that JSON makes of one.
const ESCAPED: usize = 6;

/// The most that stands around the name of an entry in an answer.
const AROUND_NAME: usize = 32;
