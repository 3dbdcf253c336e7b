//! [`Id`]: what ties a response to its request.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fields::quoted;
use crate::text::{self, WireText};
use crate::vfs::write::push_json;

/// The id of a request: a number or a string, never `null`.
///
/// A number is kept as the text that was sent, so that `1.0`, `1e3` and integers of any length go
/// back digit by digit; two numbers are the same id only if they are spelled alike. A string goes
/// back as the same string, perhaps with other escapes. An id is at most [`Id::MAX_BYTES`] long. A number that no
/// 64-bit float is near to, such as `1e999`, is none: many readers refuse every answer that holds one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id<'a>(IdForm<'a>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum IdForm<'a> {
    /// A valid JSON number.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
}

impl<'a> Id<'a> {
    /// The longest id. Ids are kept for as long as requests are open, and repeated in answers and
    /// logs; without it, a tool could make each of them as large as a message.
    pub const MAX_BYTES: usize = 256;

    /// The id as a number that a peer counts with, if it is one.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            IdForm::Number(digits) => digits.parse().ok(),
            IdForm::Text(_) => None,
        }
    }

    /// The id without what it borrows.
    pub fn into_owned(self) -> Id<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Id(match self.0 {
            IdForm::Number(digits) => IdForm::Number(owned(digits)),
            IdForm::Text(text) => IdForm::Text(owned(text)),
        })
    }

    /// The id that this JSON text is; `None` if it is none.
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        let json = raw.get();
        if json.len() > Self::MAX_BYTES {
            return None;
        }
        match json.as_bytes().first()? {
            b'"' => {
                let WireText(text) = serde_json::from_str(json).ok()?;
                Some(Self(IdForm::Text(text)))
            }
            b'-' | b'0'..=b'9' => {
                let is_readable = json.parse().is_ok_and(f64::is_finite);
                is_readable.then_some(Self(IdForm::Number(Cow::Borrowed(json))))
            }
            _ => None,
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            IdForm::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            IdForm::Text(text) => push_json(out, text),
        }
    }
}

impl From<u64> for Id<'static> {
    fn from(number: u64) -> Self {
        Self(IdForm::Number(Cow::Owned(number.to_string())))
    }
}

impl<'a> From<&'a str> for Id<'a> {
    fn from(text: &'a str) -> Self {
        Self(IdForm::Text(Cow::Borrowed(text)))
    }
}

/// As in JSON, but shortened and without control characters.
impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            IdForm::Number(digits) => f.write_str(digits),
            IdForm::Text(text) => f.write_str(&quoted(text)),
        }
    }
}

/// The params of `cancel` and `pending`, which are about a request.
#[derive(Deserialize)]
pub(super) struct AboutRequest<'a> {
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "text::optional")]
    pub(super) reason: Option<Cow<'a, str>>,
}

impl<'a> AboutRequest<'a> {
    pub(super) fn request_id(&self) -> Result<Option<Id<'a>>, String> {
        match self.request_id {
            None => Ok(None),
            Some(raw) => match Id::read(raw) {
                Some(id) => Ok(Some(id)),
                None => Err("`request_id` must be a number or a short string".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests;
