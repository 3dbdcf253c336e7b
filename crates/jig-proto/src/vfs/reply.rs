//! [`VfsReply`]: what the host answers.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use crate::text::{self, WireText, or_default};
use crate::vfs::owned::{IntoOwned, owned, plain};
use crate::vfs::{Payload, ProcessOutput, StartedProcess};

mod codec;

/// What the host answers to a request that it did.
///
/// Exhaustive: a tool must understand what answers its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VfsReply<'a> {
    /// To `fs.read`: the content.
    Read(ReadReply<'a>),
    /// To `fs.read` with `fd`: the descriptor that was passed with this line is the file.
    Descriptor(DescriptorReply<'a>),
    /// To `fs.write`, `fs.append`, `fs.patch`, `fs.mkdir`, `fs.delete`, `fs.rename` and
    /// `process.write`: it is done.
    Done(DoneReply<'a>),
    /// To `fs.exists`.
    Exists(bool),
    /// To `fs.list_dir`.
    List(ListReply<'a>),
    /// To `fs.metadata`.
    Metadata(MetadataReply<'a>),
    /// To `fs.grep`.
    Grep(GrepReply<'a>),
    /// To `http.get` and `http.post`.
    Http(HttpReply<'a>),
    /// To `process.run`.
    Process(ProcessReply<'a>),
    /// To `process.start`.
    Started(StartedProcess),
    /// To `process.read` and `process.stop`.
    Output(ProcessOutput<'a>),
}

/// A file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadReply<'a> {
    /// The content, or the part that was asked for.
    pub content: Payload<'a>,
    /// The size of the whole file in bytes, however it is encoded.
    pub size: u64,
    /// The version that was read, for `if_match`.
    pub etag: Option<Cow<'a, str>>,
}

/// A file that was opened for the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorReply<'a> {
    /// The size of the file in bytes when it was opened.
    pub size: u64,
    /// The version that was opened, for `if_match`.
    pub etag: Option<Cow<'a, str>>,
}

/// A change that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct DoneReply<'a> {
    /// The version that the file now is, for `if_match`.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub etag: Option<Cow<'a, str>>,
}

/// The entries of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ListReply<'a> {
    /// The entries.
    #[serde(borrow, deserialize_with = "text::objects")]
    pub entries: Vec<Entry<'a>>,
    /// There is more: ask again with this as the `cursor`.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub next_cursor: Option<Cow<'a, str>>,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Entry<'a> {
    /// The path, relative to the directory that was listed.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// What it is.
    pub kind: EntryKind,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Dir,
    /// Something that is neither, such as a socket. A kind that we don't know is read as this.
    Other,
}

/// What is known about a path.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MetadataReply<'a> {
    /// What it is.
    pub kind: EntryKind,
    /// The size in bytes; 0 for what is not a file.
    pub size: u64,
    /// The version, for `if_match`.
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub etag: Option<Cow<'a, str>>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct GrepReply<'a> {
    /// The files with matches.
    #[serde(borrow, deserialize_with = "text::objects")]
    pub matches: Vec<FileMatches<'a>>,
    /// How many files and directories were left out, for whatever reason.
    #[serde(default, deserialize_with = "or_default")]
    pub skipped: u64,
    /// How many of those are hidden or named by an ignore file. The tool may not read the others.
    #[serde(default, deserialize_with = "or_default")]
    pub ignored: u64,
    /// Whether there is more than was sent.
    #[serde(default, deserialize_with = "or_default")]
    pub truncated: bool,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FileMatches<'a> {
    /// The file, relative to the workspace.
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// The lines that match and those around them, in order.
    #[serde(borrow, deserialize_with = "text::objects")]
    pub lines: Vec<MatchedLine<'a>>,
}

/// A line of [`FileMatches`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MatchedLine<'a> {
    /// The number of the line; the first is 1.
    pub line_number: u64,
    /// The line without its end.
    #[serde(borrow)]
    pub content: Cow<'a, str>,
    /// Whether it matches, or only stands beside one that does.
    pub is_match: bool,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply<'a> {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Payload<'a>,
}

/// What a program did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ProcessReply<'a> {
    /// What it printed. What is not UTF-8 has been replaced.
    #[serde(borrow)]
    pub stdout: Cow<'a, str>,
    /// What it printed as errors, likewise.
    #[serde(borrow)]
    pub stderr: Cow<'a, str>,
    /// How it ended.
    pub exit_code: i32,
    /// Whether it printed more than was sent.
    #[serde(default, deserialize_with = "or_default")]
    pub truncated: bool,
}

impl VfsReply<'_> {
    /// A change was made, and there is nothing to tell.
    pub const DONE: VfsReply<'static> = VfsReply::Done(DoneReply { etag: None });
}

impl<'a> VfsReply<'a> {
    /// The content of a whole file.
    pub fn read(content: impl Into<Payload<'a>>) -> Self {
        let content = content.into();
        Self::Read(ReadReply {
            size: content.len() as u64,
            content,
            etag: None,
        })
    }

    /// The reply as the plain protocol has it, for a tool that did not pick versions.
    #[must_use]
    pub fn without_etag(mut self) -> Self {
        match &mut self {
            Self::Read(read) => read.etag = None,
            Self::Descriptor(descriptor) => descriptor.etag = None,
            Self::Done(done) => done.etag = None,
            Self::Metadata(metadata) => metadata.etag = None,
            _ => {}
        }
        self
    }

    /// The content that the reply carries, which may be sent behind its line.
    pub fn payload(&self) -> Option<&Payload<'a>> {
        match self {
            Self::Read(read) => Some(&read.content),
            Self::Http(http) => Some(&http.body),
            _ => None,
        }
    }

    /// The reply without what it borrows.
    pub fn into_owned(self) -> VfsReply<'static> {
        match self {
            Self::Read(reply) => VfsReply::Read(reply.into_owned()),
            Self::Descriptor(reply) => VfsReply::Descriptor(reply.into_owned()),
            Self::Done(reply) => VfsReply::Done(reply.into_owned()),
            Self::Exists(exists) => VfsReply::Exists(exists),
            Self::List(reply) => VfsReply::List(reply.into_owned()),
            Self::Metadata(reply) => VfsReply::Metadata(reply.into_owned()),
            Self::Grep(reply) => VfsReply::Grep(reply.into_owned()),
            Self::Http(reply) => VfsReply::Http(reply.into_owned()),
            Self::Process(reply) => VfsReply::Process(reply.into_owned()),
            Self::Started(reply) => VfsReply::Started(reply),
            Self::Output(reply) => VfsReply::Output(reply.into_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for EntryKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WireText(name) = WireText::deserialize(deserializer)?;
        Ok(match name.as_ref() {
            "file" => Self::File,
            "dir" => Self::Dir,
            _ => Self::Other,
        })
    }
}

plain!(EntryKind);
owned!(ReadReply {
    content,
    size,
    etag
});
owned!(DescriptorReply { size, etag });
owned!(DoneReply { etag });
owned!(ListReply {
    entries,
    next_cursor
});
owned!(Entry { path, kind });
owned!(MetadataReply { kind, size, etag });
owned!(GrepReply {
    matches,
    skipped,
    ignored,
    truncated
});
owned!(FileMatches { path, lines });
owned!(MatchedLine {
    line_number,
    content,
    is_match
});
owned!(HttpReply { status, body });
owned!(ProcessReply {
    stdout,
    stderr,
    exit_code,
    truncated
});
