//! [`Data`]: content of a file as it is written in JSON.

use std::borrow::Cow;

use crate::fsproxy::ProxyError;

/// Content as it came: base64 that was not looked at yet.
///
/// Decoding is a step of its own, so that a process in the middle passes the text on as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data<'a>(Cow<'a, str>);

impl<'a> Data<'a> {
    /// These bytes as base64.
    pub fn encode(bytes: &[u8]) -> Data<'static> {
        Data(Cow::Owned(base64_simd::STANDARD.encode_to_string(bytes)))
    }

    /// The text of a message, whatever it is.
    pub fn from_text(text: impl Into<Cow<'a, str>>) -> Self {
        Self(text.into())
    }

    /// The base64.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Appends the bytes to `out`.
    ///
    /// # Errors
    ///
    /// `E_ARG` if it is not base64 of the standard alphabet with padding, in the one spelling that
    /// encoding gives; `out` is then as it was.
    pub fn decode_into(&self, out: &mut Vec<u8>) -> Result<(), ProxyError> {
        // Left to itself, the decoder takes no more than it needs: to append many pieces, each would
        // move all those before it.
        out.reserve(self.0.len() / 4 * 3);
        base64_simd::STANDARD
            .decode_append(self.0.as_bytes(), out)
            .map_err(|_| ProxyError::arg("data is not base64 with padding"))
    }

    /// The data without what it borrows.
    pub fn into_owned(self) -> Data<'static> {
        Data(Cow::Owned(self.0.into_owned()))
    }
}

#[cfg(test)]
mod tests;
