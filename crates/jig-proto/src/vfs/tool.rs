//! The tool's side: [`read_line`] for what the host sends, and the lines that a host is sent.
//!
//! Every `write_` function appends exactly one line to its buffer.

use std::borrow::Cow;

use serde_json::Value;

use crate::fields::{FieldPath, FromValue, ObjectFields, quoted};
use crate::json::JsonError;
use crate::text::{self, WireText};
use crate::vfs::envelope::{NotAMessage, Reading, VfsEnvelope};
use crate::vfs::error::WireError;
use crate::vfs::id::AboutRequest;
use crate::vfs::ready::Ready;
use crate::vfs::write::ObjectWriter;
use crate::vfs::{ErrorReply, Id, Init, Method, VfsReply, VfsRequest};
use crate::{FieldError, Response, ToolError, ToolState};

/// A line of the host.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HostLine<'a> {
    /// What to do.
    Init(Box<Init>),
    /// The answer to a request that was done.
    Reply {
        /// The id of the request.
        id: Id<'a>,
        /// The answer, to be read when it is known which request it answers.
        result: RawReply<'a>,
    },
    /// The same, and the content of the answer follows as raw bytes. Only read if
    /// [`Reading::blobs`] is set.
    ReplyWithBlob {
        /// The id of the request.
        id: Id<'a>,
        /// The answer, to be read when the content has arrived.
        result: RawReply<'a>,
        /// The number of bytes that follow.
        length: u64,
    },
    /// The answer to a request that was not done.
    Error {
        /// The id of the request; `None` if the host could not read it.
        id: Option<Id<'a>>,
        /// Why it was not done.
        error: ErrorReply,
    },
    /// The tool is to end.
    Cancel,
    /// Input, or the answer to the tool's question.
    Apply {
        /// Any value, also `null`.
        input: Value,
        /// The id of the question that it answers. Without, it is input; only a host that does not let
        /// tools be driven may leave it out of an answer.
        question: Option<String>,
    },
    /// The answer to a request waits for something, often for a person.
    Pending {
        /// The id of the request.
        request_id: Id<'a>,
        /// What it waits for.
        reason: Cow<'a, str>,
    },
    /// A message that is new to us, to be passed over.
    Unknown {
        /// The name of its method, quoted.
        method: String,
    },
}

/// An answer that is not read before it is known what it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawReply<'a>(Cow<'a, str>);

/// Why a line of the host can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadHostLine {
    /// It is not a message.
    #[error("the host's line is not a message")]
    NotAMessage(#[from] NotAMessage),
    /// It is a response, but its id, its result or its error is not one.
    #[error("the host's response is malformed: {0}")]
    Response(String),
    /// It is a notification whose params exceed a limit or hold a key twice.
    #[error("the host's notification can't be read")]
    Json(#[from] JsonError),
    /// It is a notification with a field that is missing or malformed.
    #[error("the host's notification is malformed")]
    Field(#[from] FieldError),
    /// It is a notification of another form.
    #[error("the host's notification is malformed: {0}")]
    Notification(String),
}

/// The answer to a request is not of the form that its method has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the host's answer to `{method}` is malformed: {why}")]
pub struct BadReply {
    method: Method,
    why: String,
}

/// Reads a line of the host.
///
/// # Errors
///
/// What is wrong with it. Never panics.
pub fn read_line<'a>(line: &'a [u8], reading: &Reading) -> Result<HostLine<'a>, BadHostLine> {
    let envelope = VfsEnvelope::read(line)?;
    envelope.check_version()?;
    match envelope.method()? {
        Some(WireText(method)) => read_notification(&method, &envelope, reading),
        None => read_response(&envelope, reading),
    }
}

fn read_response<'a>(
    envelope: &VfsEnvelope<'a>,
    reading: &Reading,
) -> Result<HostLine<'a>, BadHostLine> {
    let bad = |why: &str| BadHostLine::Response(why.to_owned());
    let id = envelope.id.and_then(Id::read);
    match (envelope.result, envelope.error) {
        (Some(result), None) => {
            let id = id.ok_or_else(|| bad("`id` must be a number or a string"))?;
            let result = RawReply(Cow::Borrowed(result.get()));
            Ok(match envelope.blob(reading)? {
                None => HostLine::Reply { id, result },
                Some(length) => HostLine::ReplyWithBlob { id, result, length },
            })
        }
        (None, Some(error)) => {
            let wire: WireError<'_> =
                text::read_object(error.get()).map_err(BadHostLine::Response)?;
            let error = wire.into();
            Ok(HostLine::Error { id, error })
        }
        _ => Err(bad("it has not either `result` or `error`")),
    }
}

fn read_notification<'a>(
    name: &str,
    envelope: &VfsEnvelope<'a>,
    reading: &Reading,
) -> Result<HostLine<'a>, BadHostLine> {
    let value = || envelope.value(&reading.limits);
    Ok(match name {
        "init" => HostLine::Init(Box::new(Init::from_value(value()?, FieldPath::Root)?)),
        "cancel" => HostLine::Cancel,
        "apply" => {
            let mut fields =
                ObjectFields::open(value()?, FieldPath::Root, "an object with `input`")?;
            HostLine::Apply {
                input: fields.take("input").unwrap_or_default(),
                question: fields.optional("question")?,
            }
        }
        "pending" => {
            let bad = BadHostLine::Notification;
            let about: AboutRequest<'a> = text::read_object(envelope.params()).map_err(bad)?;
            let request_id = about.request_id().map_err(bad)?;
            let missing = || bad("`request_id` is missing".to_owned());
            HostLine::Pending {
                request_id: request_id.ok_or_else(missing)?,
                reason: about.reason.unwrap_or_default(),
            }
        }
        other => HostLine::Unknown {
            method: quoted(other),
        },
    })
}

impl RawReply<'_> {
    /// Reads the answer to a request of `method`. Fields that we don't know are passed over.
    ///
    /// # Errors
    ///
    /// If it is not an answer to such a request.
    pub fn read(&self, method: Method) -> Result<VfsReply<'_>, BadReply> {
        VfsReply::read_result(method, &self.0, None).map_err(|why| BadReply { method, why })
    }

    /// The same with the content that followed the line.
    ///
    /// # Errors
    ///
    /// As [`RawReply::read`].
    pub fn read_with_blob<'r>(
        &'r self,
        method: Method,
        content: impl Into<Cow<'r, [u8]>>,
    ) -> Result<VfsReply<'r>, BadReply> {
        VfsReply::read_result(method, &self.0, Some(content.into()))
            .map_err(|why| BadReply { method, why })
    }

    /// The answer without what it borrows, so that the content can be read.
    pub fn into_owned(self) -> RawReply<'static> {
        RawReply(Cow::Owned(self.0.into_owned()))
    }
}

/// Appends a request.
pub fn write_request(out: &mut Vec<u8>, id: &Id<'_>, request: &VfsRequest<'_>) {
    let mut message = request_head(out, id, request);
    request.write(message.object("params"), true);
    message.end_line();
}

/// Appends a request whose content follows as raw bytes, and returns those, to be sent right behind
/// the line. A request without content is written as by [`write_request`].
#[must_use = "the host waits for these bytes"]
pub fn write_request_with_blob<'r>(
    out: &mut Vec<u8>,
    id: &Id<'_>,
    request: &'r VfsRequest<'_>,
) -> &'r [u8] {
    let Some(payload) = request.payload() else {
        write_request(out, id, request);
        return &[];
    };
    let mut message = request_head(out, id, request);
    request.write(message.object("params"), false);
    message.put("blob", &payload.len());
    message.end_line();
    payload.as_bytes()
}

fn request_head<'o>(
    out: &'o mut Vec<u8>,
    id: &Id<'_>,
    request: &VfsRequest<'_>,
) -> ObjectWriter<'o> {
    let mut message = ObjectWriter::message(out);
    message.put_id("id", Some(id));
    message.put("method", request.method().name());
    message
}

/// Appends `result`: the tool is done.
pub fn write_result(out: &mut Vec<u8>, response: &Response) {
    let mut message = ObjectWriter::notification(out, "result");
    message.put("params", response);
    message.end_line();
}

/// Appends `error`: the tool failed.
pub fn write_error(out: &mut Vec<u8>, error: &ToolError) {
    let mut message = ObjectWriter::notification(out, "error");
    message.put("params", error);
    message.end_line();
}

/// Appends `state`: where a stateful tool, or one with a question, stands.
pub fn write_state(out: &mut Vec<u8>, state: &ToolState) {
    let mut message = ObjectWriter::notification(out, "state");
    message.put("params", state);
    message.end_line();
}

/// Appends `cancel`: the tool gives up a request. It is answered all the same.
pub fn write_cancel(out: &mut Vec<u8>, request_id: &Id<'_>) {
    let mut message = ObjectWriter::notification(out, "cancel");
    let mut params = message.object("params");
    params.put_id("request_id", Some(request_id));
    params.close();
    message.end_line();
}

/// Appends `ready`: what the tool picks from the host's offer.
pub fn write_ready(out: &mut Vec<u8>, ready: &Ready) {
    let mut message = ObjectWriter::notification(out, "ready");
    ready.write(message.object("params"));
    message.end_line();
}
