//! The host's side: [`read_line`] for what a tool sends, and the lines that a tool is sent.
//!
//! Every `write_` function appends exactly one line to its buffer, so that what is ready can be sent
//! with one system call.

use std::borrow::Cow;

use serde_json::Value;

use crate::fields::{FieldPath, FromValue, quoted};
use crate::json::{self, JsonError};
use crate::text::{self, WireText};
use crate::vfs::envelope::{NotAMessage, Reading, VfsEnvelope};
use crate::vfs::id::AboutRequest;
use crate::vfs::ready::Ready;
use crate::vfs::write::ObjectWriter;
use crate::vfs::{ErrorReply, Id, Init, Method, Payload, VfsReply, VfsRequest};
use crate::{FieldError, NotAState, Response, ToolError, ToolState, WithWarnings};

/// A line of a tool.
///
/// Exhaustive: a host must have an answer to each.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolLine<'a> {
    /// The tool asks for something, and must be answered with this id.
    Request {
        /// The id of the answer.
        id: Id<'a>,
        /// What it asks for.
        request: VfsRequest<'a>,
    },
    /// The tool asks for something, and the content of the request follows as raw bytes. Only read
    /// if [`Reading::blobs`] is set.
    RequestWithBlob {
        /// The id of the answer.
        id: Id<'a>,
        /// What it asks for.
        request: PartialRequest<'a>,
        /// The number of bytes that follow.
        length: u64,
    },
    /// The tool is done.
    Result(WithWarnings<Response>),
    /// The tool failed.
    Error(ToolError),
    /// A stateful tool, or one with a question, says where it stands.
    State(WithWarnings<ToolState>),
    /// The tool gives up a request, which is still answered.
    Cancel {
        /// The request; without it, whichever is open.
        request_id: Option<Id<'a>>,
    },
    /// The tool picks from what the host offers. Only the first one counts.
    Ready(Ready),
}

/// A request whose content has not arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialRequest<'a>(VfsRequest<'a>);

/// What is wrong with a line of a tool, and what to do about it. The connection is kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolLineFault<'a> {
    /// The line must be answered with an error.
    #[error("the tool's line is answered with an error")]
    Answer {
        /// The id of the answer; `None` is `null`.
        id: Option<Id<'a>>,
        /// The error.
        #[source]
        error: Box<ErrorReply>,
        /// The raw bytes that follow the line all the same, to be dropped.
        blob: Option<u64>,
    },
    /// A request without id. It is not done, and can't be answered.
    #[error("the tool sent `{method}` without an `id`: it is ignored")]
    RequestWithoutId {
        /// The method.
        method: Method,
    },
    /// A notification that we don't know. It is passed over.
    #[error("the tool sent an unknown notification {name}: it is ignored")]
    UnknownNotification {
        /// Its name, quoted.
        name: String,
    },
    /// A notification that we know, with params that can't be read.
    ///
    /// It can't be answered. If it would have been the last message of the tool, its call failed.
    #[error("the tool's `{name}` can't be read")]
    BrokenNotification {
        /// Its name.
        name: &'static str,
        /// What is wrong with it.
        #[source]
        error: BrokenParams,
    },
}

/// What is wrong with the params of a notification.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenParams {
    /// They exceed a limit or hold a key twice.
    #[error("the params can't be read as JSON")]
    Json(#[from] JsonError),
    /// A field is missing or malformed.
    #[error("the params are malformed")]
    Field(#[from] FieldError),
    /// They are not a state.
    #[error("the params are not a state")]
    State(#[from] NotAState),
    /// They are not of the form that the notification needs.
    #[error("{0}")]
    Form(String),
}

/// Reads a line of a tool.
///
/// # Errors
///
/// What is to be answered or logged. Never panics.
pub fn read_line<'a>(line: &'a [u8], reading: &Reading) -> Result<ToolLine<'a>, ToolLineFault<'a>> {
    let answer = |id, error, blob| ToolLineFault::Answer {
        id,
        error: Box::new(error),
        blob,
    };
    let envelope =
        VfsEnvelope::read(line).map_err(|bad| answer(None, not_a_message(&bad), None))?;
    let id = envelope.id.and_then(Id::read);
    let blob = match envelope.blob(reading) {
        Ok(blob) => blob,
        Err(bad) => return Err(answer(id, not_a_message(&bad), None)),
    };
    let method = match envelope
        .check_version()
        .and_then(|()| envelope.method())
        .and_then(|method| method.ok_or(NotAMessage::Form("`method` is missing")))
    {
        Ok(WireText(method)) => method,
        Err(bad) => return Err(answer(id, not_a_message(&bad), blob)),
    };
    match (envelope.id, id) {
        (Some(_), Some(id)) => match read_request(&method, &envelope, blob, reading) {
            Ok(request) => Ok(with_id(id, request, blob)),
            Err(error) => Err(answer(Some(id), error, blob)),
        },
        (Some(_), None) => {
            let error = ErrorReply::invalid_request("`id` must be a number or a short string");
            Err(answer(None, error, blob))
        }
        (None, _) if blob.is_some() => {
            let error = ErrorReply::invalid_request("only a request can have a `blob`");
            Err(answer(None, error, blob))
        }
        (None, _) => read_notification(&method, &envelope, reading),
    }
}

fn not_a_message(bad: &NotAMessage) -> ErrorReply {
    match bad {
        NotAMessage::Json(JsonError::Form(source)) => {
            ErrorReply::invalid_request(text::sentence(source))
        }
        NotAMessage::Json(JsonError::Syntax(source) | JsonError::Truncated(source)) => {
            let (why, column) = (text::sentence(source), source.column());
            ErrorReply::invalid_request(format_args!("{bad}: {why} at column {column}"))
        }
        other => ErrorReply::invalid_request(other),
    }
}

fn read_request<'a>(
    name: &str,
    envelope: &VfsEnvelope<'a>,
    blob: Option<u64>,
    reading: &Reading,
) -> Result<VfsRequest<'a>, ErrorReply> {
    let Some(method) = Method::parse(name) else {
        if NOTIFICATIONS.contains(&name) {
            let why = format!("`{name}` is a notification: send it without `id`");
            return Err(ErrorReply::invalid_request(why));
        }
        return Err(ErrorReply::method_not_found(name));
    };
    if blob.is_some() && !method.takes_payload() {
        return Err(ErrorReply::invalid_params(method, "it takes no `blob`"));
    }
    let params = envelope.params();
    json::scan(params.as_bytes(), &reading.limits)
        .map_err(|error| ErrorReply::invalid_params(method, error))?;
    VfsRequest::read(method, params, blob.is_some())
}

fn with_id<'a>(id: Id<'a>, request: VfsRequest<'a>, blob: Option<u64>) -> ToolLine<'a> {
    match blob {
        None => ToolLine::Request { id, request },
        Some(length) => ToolLine::RequestWithBlob {
            id,
            request: PartialRequest(request),
            length,
        },
    }
}

fn read_notification<'a>(
    name: &str,
    envelope: &VfsEnvelope<'a>,
    reading: &Reading,
) -> Result<ToolLine<'a>, ToolLineFault<'a>> {
    let Some(&name) = NOTIFICATIONS.iter().find(|&&known| known == name) else {
        return Err(match Method::parse(name) {
            Some(method) => ToolLineFault::RequestWithoutId { method },
            None => ToolLineFault::UnknownNotification { name: quoted(name) },
        });
    };
    let value = || envelope.value(&reading.limits);
    let read = || -> Result<ToolLine<'a>, BrokenParams> {
        Ok(match name {
            "result" => ToolLine::Result(Response::read(value()?)?),
            "error" => ToolLine::Error(ToolError::from_value(value()?, FieldPath::Root)?),
            "state" => ToolLine::State(ToolState::read(value()?)?),
            "cancel" => ToolLine::Cancel {
                request_id: text::read_object(envelope.params())
                    .and_then(|about: AboutRequest<'a>| about.request_id())
                    .map_err(BrokenParams::Form)?,
            },
            _ => ToolLine::Ready(Ready::from_value(value()?, FieldPath::Root)?),
        })
    };
    read().map_err(|error| ToolLineFault::BrokenNotification { name, error })
}

impl<'a> PartialRequest<'a> {
    /// The method of the request.
    pub fn method(&self) -> Method {
        self.0.method()
    }

    /// The request with its content.
    pub fn with_content(self, content: impl Into<Cow<'a, [u8]>>) -> VfsRequest<'a> {
        let Self(mut request) = self;
        if let Some(payload) = request.payload_mut() {
            *payload = Payload::of_bytes(content);
        }
        request
    }

    /// The request without what it borrows, so that the content can be read.
    pub fn into_owned(self) -> PartialRequest<'static> {
        PartialRequest(self.0.into_owned())
    }
}

/// Appends `init`.
pub fn write_init(out: &mut Vec<u8>, init: &Init) {
    let mut message = ObjectWriter::notification(out, "init");
    init.write(message.object("params"));
    message.end_line();
}

/// Appends the answer to a request that was done.
///
/// The line may be longer than the tool reads, because content grows when it is escaped:
/// [`write_reply_within`] has a limit.
pub fn write_reply(out: &mut Vec<u8>, id: &Id<'_>, reply: &VfsReply<'_>) {
    let mut message = ObjectWriter::message(out);
    message.put_id("id", Some(id));
    reply.write(message.object("result"), true);
    message.end_line();
}

/// Appends the answer to a request that was done, unless its line is longer than `limit` bytes.
///
/// # Errors
///
/// The error to answer instead; nothing was appended.
pub fn write_reply_within(
    out: &mut Vec<u8>,
    id: &Id<'_>,
    reply: &VfsReply<'_>,
    limit: usize,
) -> Result<(), ErrorReply> {
    let start = out.len();
    write_reply(out, id, reply);
    let length = out.len() - start;
    // The end of the line does not count.
    if length - 1 <= limit {
        return Ok(());
    }
    out.truncate(start);
    let error = ErrorReply::too_large("the answer", length as u64 - 1, limit as u64);
    Err(error.with_hint(crate::hint!(
        "ask for less at once, with `offset` and `length`"
    )))
}

/// Appends an answer whose content follows as raw bytes, and returns those, to be sent right behind
/// the line. An answer without content is written as by [`write_reply`].
#[must_use = "the tool waits for these bytes"]
pub fn write_reply_with_blob<'r>(
    out: &mut Vec<u8>,
    id: &Id<'_>,
    reply: &'r VfsReply<'_>,
) -> &'r [u8] {
    let Some(payload) = reply.payload() else {
        write_reply(out, id, reply);
        return &[];
    };
    let mut message = ObjectWriter::message(out);
    message.put_id("id", Some(id));
    reply.write(message.object("result"), false);
    message.put("blob", &payload.len());
    message.end_line();
    payload.as_bytes()
}

/// Appends the answer to a request that was not done; without id if it could not be read.
pub fn write_error(out: &mut Vec<u8>, id: Option<&Id<'_>>, error: &ErrorReply) {
    let mut message = ObjectWriter::message(out);
    message.put_id("id", id);
    error.write(message.object("error"));
    message.end_line();
}

/// Appends `cancel`: the tool is to end.
pub fn write_cancel(out: &mut Vec<u8>) {
    ObjectWriter::notification(out, "cancel").end_line();
}

/// Appends `apply`: the answer to the tool's question of this id, or input for a running tool.
///
/// An answer always names its question. A tool that asks may not have read all the input that was sent to
/// it before, and must not take that for the answer.
pub fn write_apply(out: &mut Vec<u8>, input: &Value, question: Option<&str>) {
    let mut message = ObjectWriter::notification(out, "apply");
    let mut params = message.object("params");
    params.put("input", input);
    params.put_some("question", question);
    params.close();
    message.end_line();
}

/// Appends `pending`: the answer to this request waits, and why.
pub fn write_pending(out: &mut Vec<u8>, request_id: &Id<'_>, reason: &str) {
    let mut message = ObjectWriter::notification(out, "pending");
    let mut params = message.object("params");
    params.put_id("request_id", Some(request_id));
    params.put("reason", reason);
    params.close();
    message.end_line();
}

const NOTIFICATIONS: [&str; 5] = ["result", "error", "state", "cancel", "ready"];

#[cfg(test)]
mod tests;
