//! What the host's own doors ask about names, in the words of an operating system: a look at what stands
//! there, and making, removing and renaming without the conveniences of the protocol.

use std::time::SystemTime;

use jig_files::PlaceKind;
use jig_policy::Capability;
use jig_proto::ProjectPath;
use jig_proto::vfs::{ErrorReply, Method};

use super::grant::GrantedPlace;
use super::job::{FileMove, FsJob};
use super::{FinalLink, granted, refuse_root};
use crate::broker::BrokerCore;
use crate::requests::judge::Judge;
use crate::requests::kinds::BrokerRequest;
use crate::requests::work::PermittedJob;

/// What stands at a path, as [`Work::look`](crate::Work::look) gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStat {
    /// The canonical path.
    pub path: ProjectPath,
    /// What stands there; never [`PlaceKind::Missing`]. A link only if it was not followed.
    pub kind: PlaceKind,
    /// The size of a file in bytes; 0 for everything else.
    pub size: u64,
    /// When it was last changed, where that is known.
    pub modified: Option<SystemTime>,
}

impl PathStat {
    pub(super) fn at(inner: &BrokerCore, at: &GrantedPlace) -> Result<Self, ErrorReply> {
        let place = at.place();
        if !place.exists() {
            return Err(ErrorReply::not_found(at.text()));
        }
        Ok(Self {
            path: place.path().clone(),
            kind: match place.kind() {
                PlaceKind::Link(target) => {
                    PlaceKind::Link(inner.secrets.scrub_text(target.clone()))
                }
                kind => kind.clone(),
            },
            size: place.size(),
            modified: place.modified(),
        })
    }
}

/// Something about one name.
#[derive(Debug, Clone)]
pub(crate) struct NameWanted {
    pub(crate) path: String,
    pub(crate) act: NameAct,
}

/// What is to be done with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameAct {
    /// Look at what stands there.
    Look { follow: bool },
    /// Make a directory where nothing stands.
    MakeDir,
    /// Remove an empty directory.
    RemoveDir,
}

impl BrokerRequest for NameWanted {
    fn method(&self) -> Method {
        match self.act {
            NameAct::Look { .. } => Method::FsMetadata,
            NameAct::MakeDir => Method::FsMkdir,
            NameAct::RemoveDir => Method::FsDelete,
        }
    }

    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<PermittedJob>, ErrorReply> {
        let method = self.method();
        let (wanted, last) = match self.act {
            NameAct::Look { follow: true } => (Capability::Read, FinalLink::Follow),
            NameAct::Look { follow: false } => (Capability::Read, FinalLink::Itself),
            NameAct::MakeDir => (Capability::Create, FinalLink::Itself),
            NameAct::RemoveDir => (Capability::Delete, FinalLink::Itself),
        };
        let Some(at) = granted(judge, &self.path, method, &[wanted], last)? else {
            return Ok(None);
        };
        let job = match self.act {
            NameAct::Look { .. } => FsJob::Metadata { at },
            NameAct::MakeDir => FsJob::MakeDir { at, parents: false },
            NameAct::RemoveDir => {
                refuse_root(&at, method)?;
                FsJob::RemoveDir { at }
            }
        };
        Ok(Some(PermittedJob::Fs(job)))
    }

    fn keep(&self) -> Box<dyn BrokerRequest> {
        Box::new(self.clone())
    }
}

/// A rename as an operating system does it: what stands at the new name is replaced, and no directory is
/// made above it.
#[derive(Debug, Clone)]
pub(crate) struct MoveWanted {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl BrokerRequest for MoveWanted {
    fn method(&self) -> Method {
        Method::FsRename
    }

    fn judge(&self, judge: &mut Judge<'_>) -> Result<Option<PermittedJob>, ErrorReply> {
        let moved = super::judge_move(judge, &self.from, &self.to)?;
        Ok(moved.map(|moved| {
            PermittedJob::Fs(FsJob::Rename(FileMove {
                moved,
                overwrite: true,
                parents: false,
            }))
        }))
    }

    fn keep(&self) -> Box<dyn BrokerRequest> {
        Box::new(self.clone())
    }
}
