//! [`Method`]: the names of what a tool can ask.

use std::fmt;

/// A method of the protocol.
///
/// Exhaustive: the set is fixed, and whoever serves it must have an answer to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `fs.read`: the content of a file.
    FsRead,
    /// `fs.write`: a file's whole content, replaced.
    FsWrite,
    /// `fs.append`: more content at the end of a file.
    FsAppend,
    /// `fs.patch`: exact pieces of a file's text, replaced.
    FsPatch,
    /// `fs.exists`: whether there is something at a path.
    FsExists,
    /// `fs.list_dir`: the entries of a directory.
    FsListDir,
    /// `fs.metadata`: kind and size.
    FsMetadata,
    /// `fs.mkdir`: a new directory.
    FsMkdir,
    /// `fs.delete`: a file, or a tree when asked so.
    FsDelete,
    /// `fs.rename`: another path for a file.
    FsRename,
    /// `fs.grep`: the lines that match a pattern.
    FsGrep,
    /// `http.get`.
    HttpGet,
    /// `http.post`.
    HttpPost,
    /// `process.run`: a program and what it printed.
    ProcessRun,
    /// `process.start`: a program that stays, until it ends or is stopped.
    ProcessStart,
    /// `process.read`: what such a program printed.
    ProcessRead,
    /// `process.write`: input for such a program.
    ProcessWrite,
    /// `process.stop`: the end of such a program.
    ProcessStop,
}

impl Method {
    /// Every method, in the order of the documentation.
    pub const ALL: [Method; 18] = [
        Method::FsRead,
        Method::FsWrite,
        Method::FsAppend,
        Method::FsPatch,
        Method::FsExists,
        Method::FsListDir,
        Method::FsMetadata,
        Method::FsMkdir,
        Method::FsDelete,
        Method::FsRename,
        Method::FsGrep,
        Method::HttpGet,
        Method::HttpPost,
        Method::ProcessRun,
        Method::ProcessStart,
        Method::ProcessRead,
        Method::ProcessWrite,
        Method::ProcessStop,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Method::FsRead => "fs.read",
            Method::FsWrite => "fs.write",
            Method::FsAppend => "fs.append",
            Method::FsPatch => "fs.patch",
            Method::FsExists => "fs.exists",
            Method::FsListDir => "fs.list_dir",
            Method::FsMetadata => "fs.metadata",
            Method::FsMkdir => "fs.mkdir",
            Method::FsDelete => "fs.delete",
            Method::FsRename => "fs.rename",
            Method::FsGrep => "fs.grep",
            Method::HttpGet => "http.get",
            Method::HttpPost => "http.post",
            Method::ProcessRun => "process.run",
            Method::ProcessStart => "process.start",
            Method::ProcessRead => "process.read",
            Method::ProcessWrite => "process.write",
            Method::ProcessStop => "process.stop",
        }
    }

    /// The method of this name; `None` for every other spelling.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method that someone who wrote `name` probably meant: `read`, `http_get` and `run` are
    /// not methods, but easily taken for `fs.read`, `http.get` and `process.run`.
    pub fn meant_by(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| {
            let canonical = method.name();
            let (group, operation) = canonical.split_once('.').unwrap_or(("", canonical));
            let underscored = name
                .strip_prefix(group)
                .and_then(|rest| rest.strip_prefix(['_', '/', ':']));
            underscored == Some(operation) || name == operation
        })
    }

    /// Whether a request of this method has content that may follow its line as raw bytes.
    pub fn takes_payload(self) -> bool {
        matches!(self, Self::FsWrite | Self::FsAppend | Self::HttpPost)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
