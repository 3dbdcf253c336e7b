//! How an open is decided: a real file, a virtual one, or a refusal.

use jig_broker::{ApprovalRequest, Broker, JudgedRequest, OpenRequest, Unapproved};
use jig_proto::ProjectPath;
use jig_proto::fsproxy::{OpenEffects, ProxyError};
use jig_proto::vfs::{ErrorKind, ErrorReply};

use super::handles::ProxyFileBacking;
use super::names::ClientPath;
use super::options::ManagerOptions;
use super::refusal::refused_open;
use super::virtual_files::VirtualFiles;

/// One open, on its way to a file.
pub(super) struct ProxyOpenRequest<'a> {
    pub(super) broker: &'a Broker,
    pub(super) files: &'a VirtualFiles,
    pub(super) options: &'a ManagerOptions,
    /// The path as the client wrote it.
    pub(super) text: &'a str,
    pub(super) opening: OpenEffects,
}

/// What the policy has to a path.
enum RealFileLookup {
    Real(ProxyFileBacking),
    /// Nothing that this client may know of. A virtual file may have the name.
    Nothing,
}

impl ProxyOpenRequest<'_> {
    /// Opens what the path stands for.
    ///
    /// Rules decide what is real. Only what no rule speaks of is virtual: a refusal is told, never hidden behind
    /// an empty file that swallows what is written.
    pub(super) fn open(&self, name: &ClientPath) -> Result<ProxyFileBacking, ProxyError> {
        let found = match name {
            ClientPath::Elsewhere(_) => RealFileLookup::Nothing,
            ClientPath::Project(path) if path.is_root() => {
                return Err(self.refused(ErrorReply::is_dir(self.text)));
            }
            ClientPath::Project(path) => self.open_real(path)?,
        };
        if let RealFileLookup::Real(opened) = found {
            return Ok(opened);
        }
        match self.files.open(name.text(), self.opening)? {
            Some(file) => Ok(ProxyFileBacking::Virtual(file)),
            None => Err(self.refused(ErrorReply::not_found(self.text))),
        }
    }

    fn open_real(&self, path: &ProjectPath) -> Result<RealFileLookup, ProxyError> {
        let wanted = OpenRequest {
            read: self.opening.read,
            write: self.opening.write,
            create: self.opening.create,
            truncate: self.opening.truncate,
            ..OpenRequest::new(path.as_str())
        };
        let refused = match self.broker.judge_open(&wanted) {
            JudgedRequest::Ready(work) => match work.open() {
                Ok(file) => {
                    return Ok(RealFileLookup::Real(ProxyFileBacking::Real(Box::new(file))));
                }
                Err(error) => error,
            },
            JudgedRequest::Uncovered(inquiry) => {
                let silent = |ask: &ApprovalRequest| ask.kind() == ErrorKind::Uncovered;
                if inquiry.asks().iter().all(silent) {
                    return self.uncovered(path, || inquiry.deny(Unapproved::Unavailable));
                }
                // More than silence: such a path needs a rule that names it.
                inquiry.deny(Unapproved::Unavailable)
            }
            JudgedRequest::Refused(error) => error,
        };
        match refused.kind() {
            // A link that leads nowhere, where no rule speaks of it.
            ErrorKind::Uncovered => self.uncovered(path, || refused),
            // What was written under this name may have become virtual, although reading here is covered.
            ErrorKind::NotFound if !self.opening.create => Ok(RealFileLookup::Nothing),
            _ => Err(self.refused(refused)),
        }
    }

    /// No rule speaks of it. Where a client sees a real file that it may not write, it must not come to believe
    /// that it has written it; nor where it can never read what it would have written.
    fn uncovered(
        &self,
        path: &ProjectPath,
        refuse: impl FnOnce() -> ErrorReply,
    ) -> Result<RealFileLookup, ProxyError> {
        if !self.opening.write {
            return Ok(RealFileLookup::Nothing);
        }
        let seen = match self.broker.judge_look(path.as_str(), true) {
            JudgedRequest::Ready(work) => work.look(),
            JudgedRequest::Refused(error) => Err(error),
            JudgedRequest::Uncovered(_) => return Ok(RealFileLookup::Nothing),
        };
        match seen.map_err(|error| (error.kind(), error)) {
            Ok(_) => {
                let ProxyError { code, message } = self.refused(refuse());
                let message = format!("this may be read, not written: {message}");
                Err(ProxyError::new(code, message))
            }
            Err((ErrorKind::NotFound | ErrorKind::Uncovered, _)) => Ok(RealFileLookup::Nothing),
            // Reading is told the same, so that this tells nothing new.
            Err((_, error)) => Err(self.refused(error)),
        }
    }

    fn refused(&self, reply: ErrorReply) -> ProxyError {
        refused_open(reply, self.text, self.options)
    }
}
