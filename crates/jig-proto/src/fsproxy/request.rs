//! [`ProxyRequest`]: what a client asks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fsproxy::{
    Data, ListParams, LlmCmd, MAX_ID, MAX_READ, OpenMode, ProxyError, params, usual,
};
use crate::json::{self, JsonError, JsonLimits};
use crate::visible::visible_line;

/// What a client asks, and the name that its answer will have.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyRequest<'a> {
    /// Chosen by the client; the answer has the same.
    pub id: Cow<'a, str>,
    /// What is asked.
    pub op: Op<'a>,
}

/// An operation.
///
/// Exhaustive: these are the protocol's, and a server has to deal with each.
#[derive(Debug, Clone, PartialEq)]
pub enum Op<'a> {
    /// `open`: a file becomes a handle.
    Open(OpenParams<'a>),
    /// `read`: the next bytes of a handle.
    Read(ReadParams),
    /// `write`: bytes into a handle.
    Write(WriteParams<'a>),
    /// `close`: the end of a handle.
    Close {
        /// The handle.
        handle: u64,
    },
    /// `list`: the names in a directory.
    List(ListParams<'a>),
    /// `QUOTA`: what the client's tree has used of its tokens.
    Quota,
    /// `LLMCMD`: a question to a language model.
    LlmCmd(Box<LlmCmd>),
}

impl Op<'_> {
    /// The operation as it is written, such as `open` or `LLMCMD`.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Open(_) => "open",
            Op::Read(_) => "read",
            Op::Write(_) => "write",
            Op::Close { .. } => "close",
            Op::List(_) => "list",
            Op::Quota => "QUOTA",
            Op::LlmCmd(_) => "LLMCMD",
        }
    }
}

/// The params of `open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenParams<'a> {
    /// The file, as the client wrote it; never empty.
    pub path: Cow<'a, str>,
    /// How it is opened.
    pub mode: OpenMode,
    /// Whether the client counts itself as top level; it may leave that to the server.
    pub is_top_level: Option<bool>,
}

/// The params of `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadParams {
    /// The handle.
    pub handle: u64,
    /// The most bytes that the client wants, as it said; [`MAX_READ`] if it did not.
    pub max: u64,
}

impl ReadParams {
    /// How many bytes to read at most: at least 1, at most `most`, which is usually [`MAX_READ`].
    ///
    /// # Errors
    ///
    /// `E_ARG` if the client wants none, and `E_RANGE` if it wants more than it may. A `lenient` server
    /// gives as much as it may instead.
    pub fn chunk(&self, most: usize, lenient: bool) -> Result<usize, ProxyError> {
        match usize::try_from(self.max) {
            Ok(0) => Err(ProxyError::arg("max must be at least 1")),
            Ok(max) if max <= most => Ok(max),
            _ if lenient => Ok(most),
            _ => Err(ProxyError::range(format!(
                "max is {}; one read returns at most {most} bytes",
                self.max
            ))),
        }
    }
}

/// The params of `write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteParams<'a> {
    /// The handle.
    pub handle: u64,
    /// What is written.
    pub data: Data<'a>,
    /// `final`: whether the client will write no more. It changes nothing.
    pub last: bool,
}

/// Why a frame is not a request, and what the answer is about. The connection goes on.
///
/// [`write_refusal`](super::write_refusal) makes an answer of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct FrameRefusal {
    /// The request's id; the text of one that is not a string; `?` if there is none to be read.
    pub id: String,
    /// What is wrong.
    pub error: ProxyError,
    /// Whether `id` is JSON of its own, such as `7`, and goes back as that.
    pub(super) is_json: bool,
}

impl FrameRefusal {
    /// A refusal of something that has no id.
    pub fn without_id(error: ProxyError) -> Self {
        Self::of("?", error)
    }

    fn of(id: &str, error: ProxyError) -> Self {
        Self {
            id: id.to_owned(),
            error,
            is_json: false,
        }
    }
}

/// Reads a request from a frame without its length.
///
/// What is large is borrowed from the frame. A member that occurs twice is an error, one that we don't
/// know is passed over, and an optional one may be `null`.
///
/// # Errors
///
/// A [`FrameRefusal`], which is to be answered. It is `E_ARG` for what is malformed, `E_UNSUPPORTED` for an
/// operation that does not exist, `E_RANGE` for what exceeds a limit.
pub fn read_request(frame: &[u8]) -> Result<ProxyRequest<'_>, FrameRefusal> {
    if let Some(request) = usual::request(frame) {
        debug_assert_eq!(read_any(frame).as_ref(), Ok(&request));
        return Ok(request);
    }
    read_any(frame)
}

/// Reads a request in whatever spelling.
fn read_any(frame: &[u8]) -> Result<ProxyRequest<'_>, FrameRefusal> {
    let envelope = RequestEnvelope::read(frame).map_err(|why| {
        let why = format!("invalid json: {why}");
        FrameRefusal::without_id(ProxyError::arg(why))
    })?;
    let id = envelope.id()?;
    match envelope.op(frame) {
        Ok(op) => Ok(ProxyRequest { id, op }),
        Err(error) => Err(FrameRefusal::of(&id, error)),
    }
}

/// A request taken apart, with nothing built of what it holds.
#[derive(Deserialize)]
struct RequestEnvelope<'a> {
    #[serde(borrow, default, deserialize_with = "params::present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "params::present")]
    op: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "params::present")]
    params: Option<&'a RawValue>,
}

impl<'a> RequestEnvelope<'a> {
    fn read(frame: &'a [u8]) -> Result<Self, String> {
        // Checked here for all of it: a string that is passed over would not be.
        let json = str::from_utf8(frame).map_err(|_| "it is not UTF-8".to_owned())?;
        params::object(json)
    }

    fn id(&self) -> Result<Cow<'a, str>, FrameRefusal> {
        let Some(raw) = self.id else {
            return Err(FrameRefusal::without_id(ProxyError::arg("missing id")));
        };
        if raw.get().len() > MAX_ID {
            let why = format!("id is longer than {MAX_ID} bytes");
            return Err(FrameRefusal::without_id(ProxyError::range(why)));
        }
        let error = match params::text("id", Some(raw)) {
            Ok(Some(id)) => return Ok(id),
            Ok(None) => ProxyError::arg("id must be a string"),
            Err(error) => error,
        };
        // A number that no reader has a form for, such as `1e999`, would make the answer unreadable.
        match serde_json::from_str(raw.get()) {
            Ok(Value::Null | Value::Bool(_) | Value::Number(_)) => Err(FrameRefusal {
                id: raw.get().to_owned(),
                error,
                is_json: true,
            }),
            _ => Err(FrameRefusal::without_id(error)),
        }
    }

    fn op(&self, frame: &[u8]) -> Result<Op<'a>, ProxyError> {
        let limits = JsonLimits::for_bytes(frame.len());
        json::scan(frame, &limits).map_err(|error| match error {
            JsonError::Exceeds { .. } => ProxyError::range(error.to_string()),
            error => ProxyError::arg(format!("invalid json: {error}")),
        })?;
        let name = params::text("op", self.op)?.ok_or_else(|| ProxyError::arg("missing op"))?;
        let params = match self.params.map(RawValue::get) {
            None => "{}",
            Some(params) if params.starts_with('{') => params,
            Some(_) => return Err(ProxyError::arg("params must be an object")),
        };
        match &*name {
            "open" => open(params).map(Op::Open),
            "read" => read(params).map(Op::Read),
            "write" => write(params).map(Op::Write),
            "close" => {
                let HandleMembers { h } = members(params)?;
                params::handle(h).map(|handle| Op::Close { handle })
            }
            "list" => list(params).map(Op::List),
            "QUOTA" => Ok(Op::Quota),
            "LLMCMD" => members(params).map(|command| Op::LlmCmd(Box::new(command))),
            other => Err(ProxyError::unsupported(shown(other))),
        }
    }
}

fn open(params: &str) -> Result<OpenParams<'_>, ProxyError> {
    #[derive(Deserialize)]
    struct OpenMembers<'a> {
        #[serde(borrow, default, deserialize_with = "params::present")]
        path: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        mode: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        is_top_level: Option<&'a RawValue>,
    }

    let OpenMembers {
        path,
        mode,
        is_top_level,
    } = members(params)?;
    let path = params::text("path", path)?
        .filter(|path| !path.is_empty())
        .ok_or_else(|| ProxyError::arg("missing path"))?;
    let mode = params::text("mode", mode)?.ok_or_else(|| ProxyError::arg("missing mode"))?;
    Ok(OpenParams {
        path,
        mode: OpenMode::parse(&mode)
            .ok_or_else(|| ProxyError::arg(format!("invalid mode: {}", shown(&mode))))?,
        is_top_level: params::flag("is_top_level", is_top_level)?,
    })
}

fn list(params: &str) -> Result<ListParams<'_>, ProxyError> {
    #[derive(Deserialize)]
    struct ListMembers<'a> {
        #[serde(borrow, default, deserialize_with = "params::present")]
        path: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        after: Option<&'a RawValue>,
    }

    let ListMembers { path, after } = members(params)?;
    Ok(ListParams {
        path: params::text("path", path)?
            .filter(|path| !path.is_empty())
            .ok_or_else(|| ProxyError::arg("missing path"))?,
        after: params::text("after", after)?,
    })
}

fn read(params: &str) -> Result<ReadParams, ProxyError> {
    #[derive(Deserialize)]
    struct ReadMembers<'a> {
        #[serde(borrow, default, deserialize_with = "params::present")]
        h: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        max: Option<&'a RawValue>,
    }

    let ReadMembers { h, max } = members(params)?;
    Ok(ReadParams {
        handle: params::handle(h)?,
        max: params::count("max", max)?.unwrap_or(MAX_READ as u64),
    })
}

fn write(params: &str) -> Result<WriteParams<'_>, ProxyError> {
    #[derive(Deserialize)]
    struct WriteMembers<'a> {
        #[serde(borrow, default, deserialize_with = "params::present")]
        h: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        data: Option<&'a RawValue>,
        #[serde(
            borrow,
            default,
            rename = "final",
            deserialize_with = "params::present"
        )]
        last: Option<&'a RawValue>,
    }

    let WriteMembers { h, data, last } = members(params)?;
    Ok(WriteParams {
        handle: params::handle(h)?,
        data: params::text("data", data)?
            .map(Data::from_text)
            .ok_or_else(|| ProxyError::arg("missing data"))?,
        last: params::flag("final", last)?.unwrap_or(false),
    })
}

#[derive(Deserialize)]
struct HandleMembers<'a> {
    #[serde(borrow, default, deserialize_with = "params::present")]
    h: Option<&'a RawValue>,
}

fn members<'de, T: Deserialize<'de>>(params: &'de str) -> Result<T, ProxyError> {
    params::object(params).map_err(|why| ProxyError::arg(format!("invalid params: {why}")))
}

/// A client's word as an error repeats it: on one line, and not all of a long one.
pub(super) fn shown(word: &str) -> String {
    match word.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", visible_line(&word[..end])),
        None => visible_line(word),
    }
}

/// How much of a client's text an error repeats. Without it an error is as large as the message.
const SHOWN_CHARS: usize = 60;

#[cfg(test)]
mod tests;
