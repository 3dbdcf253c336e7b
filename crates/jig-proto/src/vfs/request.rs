//! [`VfsRequest`]: what a tool asks of its host.

use std::borrow::Cow;

use serde::Deserialize;

use crate::text::{self, or_default};
use crate::vfs::owned::{IntoOwned, owned};
use crate::vfs::{
    Method, Payload, ProcessRead, ProcessRun, ProcessStart, ProcessStop, ProcessWrite,
};

mod codec;

/// What a tool asks of its host.
///
/// Everything in it is as the tool wrote it: a path may be absolute or lead out of the workspace, a
/// URL may be none. Exhaustive, as [`Method`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each is documented at its parameters and at `Method`"
)]
pub enum VfsRequest<'a> {
    FsRead(FsRead<'a>),
    FsWrite(FsWrite<'a>),
    FsAppend(FsAppend<'a>),
    FsPatch(FsPatch<'a>),
    FsExists(FsPath<'a>),
    FsListDir(FsListDir<'a>),
    FsMetadata(FsPath<'a>),
    FsMkdir(FsPath<'a>),
    FsDelete(FsDelete<'a>),
    FsRename(FsRename<'a>),
    FsGrep(FsGrep<'a>),
    HttpGet(HttpGet<'a>),
    HttpPost(HttpPost<'a>),
    ProcessRun(ProcessRun<'a>),
    ProcessStart(ProcessStart<'a>),
    ProcessRead(ProcessRead),
    ProcessWrite(ProcessWrite),
    ProcessStop(ProcessStop),
}

/// The one path of `fs.exists`, `fs.metadata` and `fs.mkdir`.
///
/// `fs.mkdir` also makes the directories above that are missing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsPath<'a> {
    /// The path, relative to the workspace.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
}

/// `fs.read`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsRead<'a> {
    /// The file.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// Where to start, in bytes. Needs the capability `ranges`, as `length` does.
    pub offset: Option<u64>,
    /// How many bytes to read at most.
    pub length: Option<u64>,
    /// Send the content as raw bytes behind the line. Needs the capability `blobs`.
    #[serde(default, deserialize_with = "or_default")]
    pub blob: bool,
    /// Pass a descriptor instead of the content. Needs the capability `fd_pass`.
    #[serde(default, deserialize_with = "or_default")]
    pub fd: bool,
}

/// `fs.write`: replaces a file's content, making the file and the directories above it if needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsWrite<'a> {
    /// The file.
    pub path: Cow<'a, str>,
    /// All that will be in it.
    pub content: Payload<'a>,
    /// Refuse to replace a file that exists.
    pub exclusive: bool,
    /// Refuse if the file is not this version.
    pub if_match: Option<Cow<'a, str>>,
}

/// `fs.append`: adds to the end of a file, making it if needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FsAppend<'a> {
    /// The file.
    pub path: Cow<'a, str>,
    /// What is added.
    pub content: Payload<'a>,
    /// Refuse if the file is not this version.
    pub if_match: Option<Cow<'a, str>>,
}

/// `fs.patch`: replaces exact pieces of a file's text, all of them or none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsPatch<'a> {
    /// The file.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// The replacements, in order: each sees what those before it made.
    #[serde(borrow, deserialize_with = "text::objects")]
    pub edits: Vec<Edit<'a>>,
    /// Refuse if the file is not this version.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub if_match: Option<Cow<'a, str>>,
}

/// One replacement of [`FsPatch`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Edit<'a> {
    /// The text to replace; it must be there, and only once unless `all` is set.
    #[serde(borrow)]
    pub old: Cow<'a, str>,
    /// The text to put there.
    #[serde(borrow)]
    pub new: Cow<'a, str>,
    /// Replace it wherever it is.
    #[serde(default, deserialize_with = "or_default")]
    pub all: bool,
}

/// `fs.list_dir`: the entries of one directory, not those below.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsListDir<'a> {
    /// The directory.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// Go on where an earlier answer said that there is more. Needs the capability `pages`, as
    /// `limit` does.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub cursor: Option<Cow<'a, str>>,
    /// How many entries to send at most.
    pub limit: Option<u32>,
}

/// `fs.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsDelete<'a> {
    /// The file or link.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// Delete a directory, too, with all that is below.
    #[serde(default, deserialize_with = "or_default")]
    pub recursive: bool,
    /// Refuse if the file is not this version.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub if_match: Option<Cow<'a, str>>,
}

/// `fs.rename`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsRename<'a> {
    /// What to move.
    #[serde(borrow)]
    pub from: Cow<'a, str>,
    /// Its new path.
    #[serde(borrow)]
    pub to: Cow<'a, str>,
    /// Whether a file at the new path is replaced; it is if the tool does not say.
    #[serde(default = "yes", deserialize_with = "or_yes")]
    pub overwrite: bool,
}

/// `fs.grep`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FsGrep<'a> {
    /// What to look for: a regular expression, or plain text if `literal` is set.
    #[serde(borrow)]
    pub pattern: Cow<'a, str>,
    /// Where to look; everywhere if the tool does not say.
    #[serde(borrow, default, deserialize_with = "text::optional_list")]
    pub paths: Option<Vec<Cow<'a, str>>>,
    /// Look only into files with one of these extensions, written without dot.
    #[serde(borrow, default, deserialize_with = "text::optional_list")]
    pub extensions: Option<Vec<Cow<'a, str>>>,
    /// How many lines to send before and after each match.
    #[serde(default, deserialize_with = "or_default")]
    pub context: u32,
    /// Take the pattern as plain text.
    #[serde(default, deserialize_with = "or_default")]
    pub literal: bool,
    /// Take upper and lower case as the same.
    #[serde(default, deserialize_with = "or_default")]
    pub ignore_case: bool,
    /// Look also into files that are hidden or that an ignore file names.
    #[serde(default, deserialize_with = "or_default")]
    pub all: bool,
}

/// `http.get`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HttpGet<'a> {
    /// The URL.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// The headers, in order.
    #[serde(borrow, default, deserialize_with = "text::objects")]
    pub headers: Vec<Header<'a>>,
}

/// `http.post`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpPost<'a> {
    /// The URL.
    pub url: Cow<'a, str>,
    /// The headers, in order.
    pub headers: Vec<Header<'a>>,
    /// What is sent.
    pub body: Payload<'a>,
}

/// One header of a request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Header<'a> {
    /// The name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The value, in which `${VAR}` stands for a variable of the host that the tool never sees.
    #[serde(borrow)]
    pub value: Cow<'a, str>,
}

impl<'a> VfsRequest<'a> {
    /// The method of the request.
    pub fn method(&self) -> Method {
        match self {
            Self::FsRead(_) => Method::FsRead,
            Self::FsWrite(_) => Method::FsWrite,
            Self::FsAppend(_) => Method::FsAppend,
            Self::FsPatch(_) => Method::FsPatch,
            Self::FsExists(_) => Method::FsExists,
            Self::FsListDir(_) => Method::FsListDir,
            Self::FsMetadata(_) => Method::FsMetadata,
            Self::FsMkdir(_) => Method::FsMkdir,
            Self::FsDelete(_) => Method::FsDelete,
            Self::FsRename(_) => Method::FsRename,
            Self::FsGrep(_) => Method::FsGrep,
            Self::HttpGet(_) => Method::HttpGet,
            Self::HttpPost(_) => Method::HttpPost,
            Self::ProcessRun(_) => Method::ProcessRun,
            Self::ProcessStart(_) => Method::ProcessStart,
            Self::ProcessRead(_) => Method::ProcessRead,
            Self::ProcessWrite(_) => Method::ProcessWrite,
            Self::ProcessStop(_) => Method::ProcessStop,
        }
    }

    /// The content that the request carries, which may be sent behind its line.
    pub fn payload(&self) -> Option<&Payload<'a>> {
        match self {
            Self::FsWrite(write) => Some(&write.content),
            Self::FsAppend(append) => Some(&append.content),
            Self::HttpPost(post) => Some(&post.body),
            _ => None,
        }
    }

    /// The request without what it borrows, to be done elsewhere or later.
    pub fn into_owned(self) -> VfsRequest<'static> {
        match self {
            Self::FsRead(params) => VfsRequest::FsRead(params.into_owned()),
            Self::FsWrite(params) => VfsRequest::FsWrite(params.into_owned()),
            Self::FsAppend(params) => VfsRequest::FsAppend(params.into_owned()),
            Self::FsPatch(params) => VfsRequest::FsPatch(params.into_owned()),
            Self::FsExists(params) => VfsRequest::FsExists(params.into_owned()),
            Self::FsListDir(params) => VfsRequest::FsListDir(params.into_owned()),
            Self::FsMetadata(params) => VfsRequest::FsMetadata(params.into_owned()),
            Self::FsMkdir(params) => VfsRequest::FsMkdir(params.into_owned()),
            Self::FsDelete(params) => VfsRequest::FsDelete(params.into_owned()),
            Self::FsRename(params) => VfsRequest::FsRename(params.into_owned()),
            Self::FsGrep(params) => VfsRequest::FsGrep(params.into_owned()),
            Self::HttpGet(params) => VfsRequest::HttpGet(params.into_owned()),
            Self::HttpPost(params) => VfsRequest::HttpPost(params.into_owned()),
            Self::ProcessRun(params) => VfsRequest::ProcessRun(params.into_owned()),
            Self::ProcessStart(params) => VfsRequest::ProcessStart(params.into_owned()),
            Self::ProcessRead(params) => VfsRequest::ProcessRead(params),
            Self::ProcessWrite(params) => VfsRequest::ProcessWrite(params),
            Self::ProcessStop(params) => VfsRequest::ProcessStop(params),
        }
    }

    pub(super) fn payload_mut(&mut self) -> Option<&mut Payload<'a>> {
        match self {
            Self::FsWrite(write) => Some(&mut write.content),
            Self::FsAppend(append) => Some(&mut append.content),
            Self::HttpPost(post) => Some(&mut post.body),
            _ => None,
        }
    }
}

impl<'a> FsRead<'a> {
    /// A read of the whole file, as the plain protocol has it.
    pub fn new(path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            path: path.into(),
            offset: None,
            length: None,
            blob: false,
            fd: false,
        }
    }
}

impl<'a> FsWrite<'a> {
    /// A write that replaces whatever is there.
    pub fn new(path: impl Into<Cow<'a, str>>, content: impl Into<Payload<'a>>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            exclusive: false,
            if_match: None,
        }
    }
}

impl<'a> FsAppend<'a> {
    /// More content for whatever version is there.
    pub fn new(path: impl Into<Cow<'a, str>>, content: impl Into<Payload<'a>>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
            if_match: None,
        }
    }
}

impl<'a> FsPatch<'a> {
    /// Replacements in whatever version is there.
    pub fn new(path: impl Into<Cow<'a, str>>, edits: Vec<Edit<'a>>) -> Self {
        Self {
            path: path.into(),
            edits,
            if_match: None,
        }
    }
}

impl<'a> FsPath<'a> {
    /// This path.
    pub fn new(path: impl Into<Cow<'a, str>>) -> Self {
        Self { path: path.into() }
    }
}

impl<'a> FsListDir<'a> {
    /// All entries at once, as the plain protocol has it.
    pub fn new(path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            path: path.into(),
            cursor: None,
            limit: None,
        }
    }
}

impl<'a> FsDelete<'a> {
    /// One file, whatever version is there.
    pub fn new(path: impl Into<Cow<'a, str>>) -> Self {
        Self {
            path: path.into(),
            recursive: false,
            if_match: None,
        }
    }
}

impl<'a> FsRename<'a> {
    /// A move that replaces a file at the new path.
    pub fn new(from: impl Into<Cow<'a, str>>, to: impl Into<Cow<'a, str>>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            overwrite: true,
        }
    }
}

impl<'a> FsGrep<'a> {
    /// A search for a regular expression in all files, without context.
    pub fn new(pattern: impl Into<Cow<'a, str>>) -> Self {
        Self {
            pattern: pattern.into(),
            paths: None,
            extensions: None,
            context: 0,
            literal: false,
            ignore_case: false,
            all: false,
        }
    }
}

fn yes() -> bool {
    true
}

fn or_yes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(|flag| flag.unwrap_or(true))
}

owned!(FsPath { path });
owned!(FsRead {
    path,
    offset,
    length,
    blob,
    fd
});
owned!(FsWrite {
    path,
    content,
    exclusive,
    if_match
});
owned!(FsAppend {
    path,
    content,
    if_match
});
owned!(FsPatch {
    path,
    edits,
    if_match
});
owned!(Edit { old, new, all });
owned!(FsListDir {
    path,
    cursor,
    limit
});
owned!(FsDelete {
    path,
    recursive,
    if_match
});
owned!(FsRename {
    from,
    to,
    overwrite
});
owned!(FsGrep {
    pattern,
    paths,
    extensions,
    context,
    literal,
    ignore_case,
    all
});
owned!(HttpGet { url, headers });
owned!(HttpPost { url, headers, body });
owned!(Header { name, value });
