//! The outermost object of every line.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::json::{self, JsonError, JsonLimits};
use crate::text::{WireObject, WireText};

/// How lines are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// How much a message may hold.
    pub limits: JsonLimits,
    /// Whether a line may announce raw bytes, which the two sides must have agreed upon. Without
    /// it, `blob` is a field like any other that we don't know.
    pub blobs: bool,
}

impl Reading {
    /// The plain protocol, with messages of at most 16 MiB.
    pub const PLAIN: Reading = Reading {
        limits: JsonLimits::MESSAGE,
        blobs: false,
    };

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: JsonLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same with or without blobs.
    #[must_use]
    pub fn with_blobs(self, blobs: bool) -> Self {
        Self { blobs, ..self }
    }
}

/// Why a line is not a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAMessage {
    /// It is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// It is a list: there are no batches.
    #[error("the line is a list; send each message on a line of its own")]
    Batch,
    /// It is not a JSON object, or holds a key twice.
    #[error("the line is not a JSON object")]
    Json(#[source] JsonError),
    /// It is an object, but not one of JSON-RPC 2.0.
    #[error("{0}")]
    Form(&'static str),
}

/// A message taken apart, with nothing built of what it holds.
///
/// Members that we don't know are passed over; one that occurs twice is an error.
#[derive(Deserialize)]
pub(super) struct VfsEnvelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    /// `null` is different from nothing, here and below.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    blob: Option<&'a RawValue>,
}

impl<'a> VfsEnvelope<'a> {
    pub(super) fn read(line: &'a [u8]) -> Result<Self, NotAMessage> {
        let line = str::from_utf8(line).map_err(|_| NotAMessage::NotUtf8)?;
        if line.trim_ascii_start().starts_with('[') {
            return Err(NotAMessage::Batch);
        }
        match serde_json::from_str(line) {
            Ok(WireObject(envelope)) => Ok(envelope),
            Err(error) => Err(NotAMessage::Json(error.into())),
        }
    }

    pub(super) fn check_version(&self) -> Result<(), NotAMessage> {
        match self.jsonrpc.and_then(text) {
            Some(WireText(version)) if version == "2.0" => Ok(()),
            _ => Err(NotAMessage::Form("`jsonrpc` must be \"2.0\"")),
        }
    }

    /// The method; `None` if there is none.
    pub(super) fn method(&self) -> Result<Option<WireText<'a>>, NotAMessage> {
        let Some(raw) = self.method else {
            return Ok(None);
        };
        match text(raw) {
            Some(name) => Ok(Some(name)),
            None => Err(NotAMessage::Form("`method` must be a string")),
        }
    }

    /// The params as JSON; no params are the same as an empty object.
    pub(super) fn params(&self) -> &'a str {
        match self.params.map(RawValue::get) {
            None | Some("null") => "{}",
            Some(params) => params,
        }
    }

    /// The length of the raw bytes that follow the line.
    pub(super) fn blob(&self, reading: &Reading) -> Result<Option<u64>, NotAMessage> {
        match self.blob {
            Some(raw) if reading.blobs => match raw.get().parse() {
                Ok(length) => Ok(Some(length)),
                Err(_) => Err(NotAMessage::Form("`blob` must be a number of bytes")),
            },
            _ => Ok(None),
        }
    }

    /// The params as a value, for the messages that are rare and of many forms.
    pub(super) fn value(&self, limits: &JsonLimits) -> Result<serde_json::Value, JsonError> {
        json::value(self.params().as_bytes(), limits)
    }
}

fn text(raw: &RawValue) -> Option<WireText<'_>> {
    serde_json::from_str(raw.get()).ok()
}

fn present<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}
