//! [`Payload`]: the content of a file or of an HTTP message.

use std::borrow::Cow;
use std::string::FromUtf8Error;

use crate::text::WireText;

/// Content that is text, or bytes that are not.
///
/// In a message, text is a JSON string and bytes are base64 beside `"encoding": "base64"`.
/// Exhaustive: those are the two forms that the protocol has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload<'a> {
    /// UTF-8 text.
    Text(Cow<'a, str>),
    /// Any bytes.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> Payload<'a> {
    /// No content.
    pub const EMPTY: Payload<'static> = Payload::Text(Cow::Borrowed(""));

    /// Text if `bytes` are UTF-8, which is how a host chooses the form.
    pub fn of_bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        match bytes.into() {
            Cow::Borrowed(bytes) => match str::from_utf8(bytes) {
                Ok(text) => Self::Text(Cow::Borrowed(text)),
                Err(_) => Self::Bytes(Cow::Borrowed(bytes)),
            },
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::Text(Cow::Owned(text)),
                Err(error) => Self::Bytes(Cow::Owned(FromUtf8Error::into_bytes(error))),
            },
        }
    }

    /// The content as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The content as bytes, copied only if it is borrowed.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_owned().into_bytes(),
            Self::Bytes(bytes) => bytes.into_owned(),
        }
    }

    /// The content if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(_) => None,
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The content without what it borrows.
    pub fn into_owned(self) -> Payload<'static> {
        match self {
            Self::Text(text) => Payload::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Payload::Bytes(Cow::Owned(bytes.into_owned())),
        }
    }

    /// The content of the field `key`, which is either among the others or a blob.
    pub(super) fn take(
        key: &str,
        content: Option<WireText<'a>>,
        encoding: Option<WireText<'a>>,
        blob: Option<Cow<'a, [u8]>>,
    ) -> Result<Self, String> {
        let WireText(content) = match (content, blob) {
            (Some(content), None) => content,
            (None, Some(bytes)) => return Ok(Self::of_bytes(bytes)),
            (None, None) => return Err(format!("missing field `{key}`")),
            (Some(_), Some(_)) => return Err(format!("`{key}` is there, and a blob as well")),
        };
        match encoding {
            None => Ok(Self::Text(content)),
            Some(WireText(name)) if name == "base64" => base64_simd::STANDARD
                .decode_to_vec(content.as_bytes())
                .map(|bytes| Self::Bytes(Cow::Owned(bytes)))
                .map_err(|_| format!("`{key}` is not base64 with padding")),
            Some(_) => Err("`encoding` is `base64`, or absent for text".to_owned()),
        }
    }
}

impl<'a> From<&'a str> for Payload<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Payload<'static> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

/// As [`Payload::of_bytes`].
impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::of_bytes(bytes)
    }
}

/// As [`Payload::of_bytes`].
impl From<Vec<u8>> for Payload<'static> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::of_bytes(bytes)
    }
}

#[cfg(test)]
mod tests;
