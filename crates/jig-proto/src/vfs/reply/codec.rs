//! How replies are read from results and written as results.

use std::borrow::Cow;

use serde::Deserialize;

use super::{DescriptorReply, HttpReply, ReadReply, VfsReply};
use crate::text::{self, WireText, or_default};
use crate::vfs::write::ObjectWriter;
use crate::vfs::{Method, Payload};

impl<'a> VfsReply<'a> {
    /// Reads the result of a request of `method`. A `blob` is the content that followed the line.
    pub(in crate::vfs) fn read_result(
        method: Method,
        result: &'a str,
        blob: Option<Cow<'a, [u8]>>,
    ) -> Result<Self, String> {
        match method {
            Method::FsRead => read_content(result, blob),
            Method::FsWrite
            | Method::FsAppend
            | Method::FsPatch
            | Method::FsMkdir
            | Method::FsDelete
            | Method::FsRename
            | Method::ProcessWrite => text::read_object(result).map(Self::Done),
            Method::FsExists => {
                let ExistsReply { exists } = text::read_object(result)?;
                Ok(Self::Exists(exists))
            }
            Method::FsListDir => text::read_object(result).map(Self::List),
            Method::FsMetadata => text::read_object(result).map(Self::Metadata),
            Method::FsGrep => text::read_object(result).map(Self::Grep),
            Method::HttpGet | Method::HttpPost => read_http(result, blob),
            Method::ProcessRun => text::read_object(result).map(Self::Process),
            Method::ProcessStart => text::read_object(result).map(Self::Started),
            Method::ProcessRead | Method::ProcessStop => {
                text::read_object(result).map(Self::Output)
            }
        }
    }

    /// Writes the result. `inline` is whether the content is in it.
    pub(in crate::vfs) fn write(&self, mut object: ObjectWriter<'_>, inline: bool) {
        match self {
            Self::Read(read) => {
                if inline {
                    object.put_payload("content", &read.content);
                }
                object.put("size", &read.size);
                object.put_some("etag", read.etag.as_ref());
            }
            Self::Descriptor(descriptor) => {
                object.put("fd", &true);
                object.put("size", &descriptor.size);
                object.put_some("etag", descriptor.etag.as_ref());
            }
            Self::Done(done) => object.put_some("etag", done.etag.as_ref()),
            Self::Exists(exists) => object.put("exists", exists),
            Self::List(list) => {
                object.put_objects("entries", &list.entries, |entry, object| {
                    object.put("path", &entry.path);
                    object.put("kind", &entry.kind);
                });
                object.put_some("next_cursor", list.next_cursor.as_ref());
            }
            Self::Metadata(metadata) => {
                object.put("kind", &metadata.kind);
                object.put("size", &metadata.size);
                object.put_some("etag", metadata.etag.as_ref());
            }
            Self::Grep(grep) => {
                object.put_objects("matches", &grep.matches, |file, object| {
                    object.put("path", &file.path);
                    object.put_objects("lines", &file.lines, |line, object| {
                        object.put("line_number", &line.line_number);
                        object.put("content", &line.content);
                        object.put("is_match", &line.is_match);
                    });
                });
                object.put_some("skipped", Some(grep.skipped).filter(|&files| files > 0));
                object.put_some("ignored", Some(grep.ignored).filter(|&files| files > 0));
                object.put_flag("truncated", grep.truncated);
            }
            Self::Http(http) => {
                object.put("status", &http.status);
                if inline {
                    object.put_payload("body", &http.body);
                }
            }
            Self::Process(process) => {
                object.put("stdout", &process.stdout);
                object.put("stderr", &process.stderr);
                object.put("exit_code", &process.exit_code);
                object.put_flag("truncated", process.truncated);
            }
            Self::Started(started) => object.put("process", &started.process),
            Self::Output(output) => output.write(&mut object),
        }
        object.close();
    }
}

#[derive(Deserialize)]
struct ExistsReply {
    exists: bool,
}

fn read_content<'a>(result: &'a str, blob: Option<Cow<'a, [u8]>>) -> Result<VfsReply<'a>, String> {
    #[derive(Deserialize)]
    struct WireReadReply<'a> {
        #[serde(borrow)]
        content: Option<WireText<'a>>,
        #[serde(borrow)]
        encoding: Option<WireText<'a>>,
        size: Option<u64>,
        #[serde(borrow, default, deserialize_with = "text::optional")]
        etag: Option<Cow<'a, str>>,
        #[serde(default, deserialize_with = "or_default")]
        fd: bool,
    }

    let wire: WireReadReply<'a> = text::read_object(result)?;
    if wire.fd {
        return Ok(VfsReply::Descriptor(DescriptorReply {
            size: wire.size.unwrap_or(0),
            etag: wire.etag,
        }));
    }
    let content = Payload::take("content", wire.content, wire.encoding, blob)?;
    Ok(VfsReply::Read(ReadReply {
        // The first examples of the protocol have no size.
        size: wire.size.unwrap_or(content.len() as u64),
        content,
        etag: wire.etag,
    }))
}

fn read_http<'a>(result: &'a str, blob: Option<Cow<'a, [u8]>>) -> Result<VfsReply<'a>, String> {
    #[derive(Deserialize)]
    struct WireHttpReply<'a> {
        status: u16,
        #[serde(borrow)]
        body: Option<WireText<'a>>,
        #[serde(borrow)]
        encoding: Option<WireText<'a>>,
    }

    let wire: WireHttpReply<'a> = text::read_object(result)?;
    Ok(VfsReply::Http(HttpReply {
        status: wire.status,
        body: Payload::take("body", wire.body, wire.encoding, blob)?,
    }))
}
