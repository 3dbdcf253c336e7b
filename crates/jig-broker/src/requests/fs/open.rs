//! [`OpenRequest`]: a file that is judged once and then read and written in parts.

use std::borrow::Cow;
use std::sync::Arc;

use jig_files::{FilesError, OpenOptions};
use jig_policy::Capability;
use jig_proto::vfs::{ErrorReply, Method};

use super::grant::GrantedPlace;
use super::job::ATTEMPTS;
use super::open_file::OpenFile;
use super::{FsJudgement, changing, unlocated, wire_path};
use crate::broker::BrokerCore;
use crate::requests::approvals::ApprovalKey;
use crate::requests::judge::Judge;
use crate::requests::kinds::BrokerRequest;
use crate::requests::work::PermittedJob;

/// A file that is to be opened, as [`Broker::judge_open`](crate::Broker::judge_open) takes it.
///
/// ```
/// use jig_broker::OpenRequest;
///
/// let open = OpenRequest { read: true, ..OpenRequest::new("src/main.rs") };
/// assert!(open.follow && !open.write);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest<'a> {
    /// The path, relative to the workspace.
    pub path: Cow<'a, str>,
    /// Read the file: takes `read`. So does an open for nothing at all.
    pub read: bool,
    /// Write the file in place: takes `update`, or `create` if it is missing.
    pub write: bool,
    /// Create the file if it is missing: takes `create`. Directories above it are not made.
    pub create: bool,
    /// Together with `create`: fail if anything stands there, also a link.
    pub exclusive: bool,
    /// Empty the file: takes `update`, with or without `write`.
    pub truncate: bool,
    /// Follow a link at the end of the path. Links further up are always followed.
    pub follow: bool,
    /// The largest size that writing may give the file, in bytes. Default: what the files can hold.
    pub most: Option<u64>,
}

impl<'a> OpenRequest<'a> {
    /// An open for nothing yet, that follows links.
    pub fn new(path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            path: path.into(),
            read: false,
            write: false,
            create: false,
            exclusive: false,
            truncate: false,
            follow: true,
            most: None,
        }
    }

    fn options(&self) -> OpenOptions {
        OpenOptions {
            read: self.read,
            write: self.write,
            create: self.create,
            exclusive: self.exclusive,
            truncate: self.truncate,
        }
    }

    fn into_owned(self) -> OpenRequest<'static> {
        OpenRequest {
            path: Cow::Owned(self.path.into_owned()),
            ..self
        }
    }

    /// Judges the place that the path leads to now.
    fn judge_place(&self, judge: &mut Judge<'_>) -> FsJudgement<GrantedPlace> {
        let path = wire_path(self.method(), &self.path)?;
        // What is to be new is new at this very name.
        let new = self.create && self.exclusive;
        let located = match self.follow && !new {
            true => judge.inner.files.locate(&path),
            false => judge.inner.files.locate_entry(&path),
        };
        let changes = self.write || self.truncate;
        let place = match located {
            Ok(place) => place,
            Err(error) => {
                let wanted = match changes || self.create {
                    true => Capability::Update,
                    false => Capability::Read,
                };
                return Err(unlocated(judge, &path, &self.path, wanted, error));
            }
        };
        let mut wanted = Vec::with_capacity(2);
        if self.create && !place.exists() {
            wanted.push(changing(judge, &place));
        } else if changes || new {
            wanted.push(Capability::Update);
        }
        if self.read || wanted.is_empty() {
            wanted.push(Capability::Read);
        }
        GrantedPlace::judge(judge, place, &self.path, &wanted)
    }
}

impl BrokerRequest for OpenRequest<'_> {
    fn method(&self) -> Method {
        match self.write || self.truncate || self.create {
            true => Method::FsWrite,
            false => Method::FsRead,
        }
    }

    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<PermittedJob>, ErrorReply> {
        let Some(at) = self.judge_place(judge)? else {
            return Ok(None);
        };
        Ok(Some(PermittedJob::Open(OpenJob {
            at,
            open: self.clone().into_owned(),
            once: judge.once().to_vec(),
        })))
    }

    fn keep(&self) -> Box<dyn BrokerRequest> {
        Box::new(self.clone().into_owned())
    }
}

/// A permitted open.
#[derive(Debug)]
pub(crate) struct OpenJob {
    at: GrantedPlace,
    open: OpenRequest<'static>,
    /// What was approved for this request, should it have to be judged again.
    once: Vec<ApprovalKey>,
}

impl OpenJob {
    /// Opens the file. Whether that creates or changes it was judged by what stood there; if that has
    /// changed it is judged again, a few times.
    pub(crate) fn run(mut self, inner: &Arc<BrokerCore>) -> Result<OpenFile, ErrorReply> {
        let options = self.open.options();
        for _ in 0..ATTEMPTS {
            match inner.files.open_file(self.at.place(), &options) {
                Ok(file) => {
                    self.at.expect_no_repository(inner)?;
                    return Ok(OpenFile::new(inner, file, &self.open, self.at));
                }
                Err(FilesError::Changed { .. }) => {
                    let mut judge = self.at.judge_again(inner, self.open.method(), &self.once);
                    match self.open.judge_place(&mut judge)? {
                        Some(at) => self.at = at,
                        // What stands there now is something that nobody has approved.
                        None => break,
                    }
                }
                Err(error) => return Err(self.at.error(&error)),
            }
        }
        Err(self.at.error(&FilesError::Changed {
            path: self.at.place().path().clone(),
        }))
    }
}
