//! How requests are read from params and written as params.

use std::borrow::Cow;

use serde::Deserialize;

use super::{FsAppend, FsWrite, Header, HttpPost, VfsRequest};
use crate::text::{self, WireText, or_default};
use crate::vfs::write::ObjectWriter;
use crate::vfs::{ErrorReply, Method, Payload};

impl<'a> VfsRequest<'a> {
    /// Reads the params of `method`. With a `blob`, the content follows the line, must not be among
    /// the params, and is empty in what is returned.
    pub(in crate::vfs) fn read(
        method: Method,
        params: &'a str,
        blob: bool,
    ) -> Result<Self, ErrorReply> {
        let invalid = |why: String| ErrorReply::invalid_params(method, why);
        let read = match method {
            Method::FsRead => text::read_object(params).map(Self::FsRead),
            Method::FsPatch => text::read_object(params).map(Self::FsPatch),
            Method::FsExists => text::read_object(params).map(Self::FsExists),
            Method::FsListDir => text::read_object(params).map(Self::FsListDir),
            Method::FsMetadata => text::read_object(params).map(Self::FsMetadata),
            Method::FsMkdir => text::read_object(params).map(Self::FsMkdir),
            Method::FsDelete => text::read_object(params).map(Self::FsDelete),
            Method::FsRename => text::read_object(params).map(Self::FsRename),
            Method::FsGrep => text::read_object(params).map(Self::FsGrep),
            Method::HttpGet => text::read_object(params).map(Self::HttpGet),
            Method::ProcessRun => text::read_object(params).map(Self::ProcessRun),
            Method::ProcessStart => text::read_object(params).map(Self::ProcessStart),
            Method::ProcessRead => text::read_object(params).map(Self::ProcessRead),
            Method::ProcessWrite => text::read_object(params).map(Self::ProcessWrite),
            Method::ProcessStop => text::read_object(params).map(Self::ProcessStop),
            Method::FsWrite => FsWrite::read(params, blob).map(Self::FsWrite),
            Method::FsAppend => FsAppend::read(params, blob).map(Self::FsAppend),
            Method::HttpPost => HttpPost::read(params, blob).map(Self::HttpPost),
        };
        read.map_err(invalid)
    }

    /// Writes the params. `inline` is whether the content is among them.
    pub(in crate::vfs) fn write(&self, mut object: ObjectWriter<'_>, inline: bool) {
        let content = |object: &mut ObjectWriter<'_>, key, payload: &Payload<'_>| {
            if inline {
                object.put_payload(key, payload);
            }
        };
        match self {
            Self::FsRead(read) => {
                object.put("path", &read.path);
                object.put_some("offset", read.offset);
                object.put_some("length", read.length);
                object.put_flag("blob", read.blob);
                object.put_flag("fd", read.fd);
            }
            Self::FsWrite(write) => {
                object.put("path", &write.path);
                content(&mut object, "content", &write.content);
                object.put_flag("exclusive", write.exclusive);
                object.put_some("if_match", write.if_match.as_ref());
            }
            Self::FsAppend(append) => {
                object.put("path", &append.path);
                content(&mut object, "content", &append.content);
                object.put_some("if_match", append.if_match.as_ref());
            }
            Self::FsPatch(patch) => {
                object.put("path", &patch.path);
                object.put_objects("edits", &patch.edits, |edit, object| {
                    object.put("old", &edit.old);
                    object.put("new", &edit.new);
                    object.put_flag("all", edit.all);
                });
                object.put_some("if_match", patch.if_match.as_ref());
            }
            Self::FsExists(only) | Self::FsMetadata(only) | Self::FsMkdir(only) => {
                object.put("path", &only.path);
            }
            Self::FsListDir(list) => {
                object.put("path", &list.path);
                object.put_some("cursor", list.cursor.as_ref());
                object.put_some("limit", list.limit);
            }
            Self::FsDelete(delete) => {
                object.put("path", &delete.path);
                object.put_flag("recursive", delete.recursive);
                object.put_some("if_match", delete.if_match.as_ref());
            }
            Self::FsRename(rename) => {
                object.put("from", &rename.from);
                object.put("to", &rename.to);
                if !rename.overwrite {
                    object.put("overwrite", &false);
                }
            }
            Self::FsGrep(grep) => {
                object.put("pattern", &grep.pattern);
                object.put_some("paths", grep.paths.as_ref());
                object.put_some("extensions", grep.extensions.as_ref());
                object.put_some("context", Some(grep.context).filter(|&lines| lines > 0));
                object.put_flag("literal", grep.literal);
                object.put_flag("ignore_case", grep.ignore_case);
                object.put_flag("all", grep.all);
            }
            Self::HttpGet(get) => {
                object.put("url", &get.url);
                write_headers(&mut object, &get.headers);
            }
            Self::HttpPost(post) => {
                object.put("url", &post.url);
                write_headers(&mut object, &post.headers);
                content(&mut object, "body", &post.body);
            }
            Self::ProcessRun(run) => run.write(&mut object),
            Self::ProcessStart(start) => start.write(&mut object),
            Self::ProcessRead(read) => read.write(&mut object),
            Self::ProcessWrite(write) => write.write(&mut object),
            Self::ProcessStop(stop) => stop.write(&mut object),
        }
        object.close();
    }
}

fn write_headers(object: &mut ObjectWriter<'_>, headers: &[Header<'_>]) {
    object.put_objects("headers", headers, |header, object| {
        object.put("name", &header.name);
        object.put("value", &header.value);
    });
}

impl<'a> FsWrite<'a> {
    fn read(params: &'a str, blob: bool) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct WireFsWrite<'a> {
            #[serde(borrow)]
            path: Cow<'a, str>,
            #[serde(borrow)]
            content: Option<WireText<'a>>,
            #[serde(borrow)]
            encoding: Option<WireText<'a>>,
            #[serde(default, deserialize_with = "or_default")]
            exclusive: bool,
            #[serde(borrow, default, deserialize_with = "text::optional")]
            if_match: Option<Cow<'a, str>>,
        }

        let wire: WireFsWrite<'a> = text::read_object(params)?;
        Ok(Self {
            path: wire.path,
            content: Payload::take("content", wire.content, wire.encoding, announced(blob))?,
            exclusive: wire.exclusive,
            if_match: wire.if_match,
        })
    }
}

impl<'a> FsAppend<'a> {
    fn read(params: &'a str, blob: bool) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct WireFsAppend<'a> {
            #[serde(borrow)]
            path: Cow<'a, str>,
            #[serde(borrow)]
            content: Option<WireText<'a>>,
            #[serde(borrow)]
            encoding: Option<WireText<'a>>,
            #[serde(borrow, default, deserialize_with = "text::optional")]
            if_match: Option<Cow<'a, str>>,
        }

        let wire: WireFsAppend<'a> = text::read_object(params)?;
        Ok(Self {
            path: wire.path,
            content: Payload::take("content", wire.content, wire.encoding, announced(blob))?,
            if_match: wire.if_match,
        })
    }
}

impl<'a> HttpPost<'a> {
    fn read(params: &'a str, blob: bool) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct WireHttpPost<'a> {
            #[serde(borrow)]
            url: Cow<'a, str>,
            #[serde(borrow, default, deserialize_with = "text::objects")]
            headers: Vec<Header<'a>>,
            #[serde(borrow)]
            body: Option<WireText<'a>>,
            #[serde(borrow)]
            encoding: Option<WireText<'a>>,
        }

        let wire: WireHttpPost<'a> = text::read_object(params)?;
        Ok(Self {
            url: wire.url,
            headers: wire.headers,
            body: Payload::take("body", wire.body, wire.encoding, announced(blob))?,
        })
    }
}

/// Stands for the content until it has arrived.
fn announced(blob: bool) -> Option<Cow<'static, [u8]>> {
    blob.then_some(Cow::Borrowed(&[]))
}
