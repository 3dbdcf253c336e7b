//! [`ListParams`]: the names in a directory. It is an addition of jig to the protocol: a server without it answers
//! `E_UNSUPPORTED`, as it does for every operation that it does not know.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::text::objects;

/// The params of `list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListParams<'a> {
    /// The directory, as the client wrote it; never empty.
    pub path: Cow<'a, str>,
    /// The last name of the answer before, to go on after it.
    pub after: Option<Cow<'a, str>>,
}

/// The result of `list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyListReply {
    /// What is in the directory, by name.
    #[serde(deserialize_with = "objects")]
    pub entries: Vec<ListedEntry>,
    /// Whether there is more than fits into one answer.
    #[serde(default)]
    pub more: bool,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedEntry {
    /// Its name, without the directory.
    pub name: String,
    /// What it is.
    pub kind: ListedKind,
}

impl ListedEntry {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == ListedKind::Dir
    }
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ListedKind {
    /// A file, real or virtual.
    File,
    /// A directory.
    Dir,
    /// Something that is neither, such as a socket. A kind that we don't know is read as this.
    #[serde(other)]
    Other,
}
