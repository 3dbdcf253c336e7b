//! [`ProxyResponse`]: what a server answers.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::fsproxy::{Data, ProxyError, params, usual};
use crate::json::{self, JsonError, JsonLimits};

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyResponse<'a> {
    /// The id of the request.
    pub id: Cow<'a, str>,
    /// What came of it.
    pub result: Result<ProxyAnswer<'a>, ProxyError>,
}

impl ProxyResponse<'_> {
    /// The response without what it borrows.
    pub fn into_owned(self) -> ProxyResponse<'static> {
        ProxyResponse {
            id: Cow::Owned(self.id.into_owned()),
            result: self.result.map(ProxyAnswer::into_owned),
        }
    }
}

/// The result of a request that was done.
///
/// It is kept as it came: whoever asked knows what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyAnswer<'a> {
    /// An object.
    result: Option<Cow<'a, str>>,
}

impl ProxyAnswer<'_> {
    /// The handle, of `open`.
    pub fn handle(&self) -> Result<u64, NotAnAnswer> {
        #[derive(Deserialize)]
        struct OpenAnswer {
            handle: u64,
        }

        let OpenAnswer { handle } = self.members()?;
        Ok(handle)
    }

    /// Appends the bytes to `out` and says whether the file has ended, of `read`.
    ///
    /// What cannot be read leaves `out` as it was.
    pub fn data_into(&self, out: &mut Vec<u8>) -> Result<bool, NotAnAnswer> {
        let (data, eof) = match self.raw().and_then(usual::data) {
            Some((data, eof)) => (Cow::Borrowed(data), eof),
            None => self.any_data()?,
        };
        Data::from_text(data)
            .decode_into(out)
            .map_err(|error| NotAnAnswer(error.message))?;
        Ok(eof)
    }

    fn any_data(&self) -> Result<(Cow<'_, str>, bool), NotAnAnswer> {
        #[derive(Deserialize)]
        struct ReadAnswer<'a> {
            #[serde(borrow)]
            data: Cow<'a, str>,
            #[serde(default)]
            eof: bool,
        }

        let ReadAnswer { data, eof } = self.members()?;
        Ok((data, eof))
    }

    /// How many bytes were written, of `write`.
    pub fn written(&self) -> Result<u64, NotAnAnswer> {
        #[derive(Deserialize)]
        struct WriteAnswer {
            written: u64,
        }

        let WriteAnswer { written } = self.members()?;
        Ok(written)
    }

    /// The result as a value, such as a [`QuotaReport`](super::QuotaReport).
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, NotAnAnswer> {
        let json = self.json()?.as_bytes();
        json::from_slice(json, &JsonLimits::for_bytes(json.len())).map_err(|error| {
            let why = match &error {
                JsonError::Form(source) => crate::text::sentence(source),
                other => other.to_string(),
            };
            NotAnAnswer(why)
        })
    }

    /// The result as JSON; `None` if there is none.
    pub fn raw(&self) -> Option<&str> {
        self.result.as_deref()
    }

    /// The answer without what it borrows.
    pub fn into_owned(self) -> ProxyAnswer<'static> {
        ProxyAnswer {
            result: self.result.map(|result| Cow::Owned(result.into_owned())),
        }
    }

    fn members<'de, T: Deserialize<'de>>(&'de self) -> Result<T, NotAnAnswer> {
        params::object(self.json()?).map_err(NotAnAnswer)
    }

    fn json(&self) -> Result<&str, NotAnAnswer> {
        self.raw()
            .ok_or_else(|| NotAnAnswer("there is none".to_owned()))
    }
}

/// A result is not what the request asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the result is not what was asked for: {0}")]
pub struct NotAnAnswer(String);

/// A frame is no response at all; whoever sent it does not speak the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the frame is not a response: {0}")]
pub struct NotAResponse(String);

/// Reads a response from a frame without its length.
///
/// A result, which may be large, is borrowed from the frame and taken apart only by what [`ProxyAnswer`]
/// offers. A code that is new to us reads as `E_IO`.
pub fn read_response(frame: &[u8]) -> Result<ProxyResponse<'_>, NotAResponse> {
    if let Some((id, result)) = usual::success(frame) {
        let response = ProxyResponse {
            id: Cow::Borrowed(id),
            result: Ok(ProxyAnswer {
                result: Some(Cow::Borrowed(result)),
            }),
        };
        debug_assert_eq!(read_any(frame).as_ref(), Ok(&response));
        return Ok(response);
    }
    read_any(frame)
}

/// Reads a response in whatever spelling.
fn read_any(frame: &[u8]) -> Result<ProxyResponse<'_>, NotAResponse> {
    #[derive(Deserialize)]
    struct ResponseEnvelope<'a> {
        #[serde(borrow, default, deserialize_with = "params::present")]
        id: Option<&'a RawValue>,
        ok: bool,
        #[serde(borrow, default, deserialize_with = "params::present")]
        result: Option<&'a RawValue>,
        #[serde(borrow, default, deserialize_with = "params::present")]
        error: Option<&'a RawValue>,
    }

    let json = str::from_utf8(frame).map_err(|_| NotAResponse("it is not UTF-8".to_owned()))?;
    let envelope: ResponseEnvelope<'_> = params::object(json).map_err(NotAResponse)?;
    let id = params::text("id", envelope.id)
        .map_err(|error| NotAResponse(error.message))?
        .ok_or_else(|| NotAResponse("missing id".to_owned()))?;
    let result = if envelope.ok {
        let result = params::some(envelope.result);
        if result.is_some_and(|result| !result.starts_with('{')) {
            return Err(NotAResponse("result must be an object".to_owned()));
        }
        Ok(ProxyAnswer {
            result: result.map(Cow::Borrowed),
        })
    } else {
        let error = params::some(envelope.error)
            .ok_or_else(|| NotAResponse("it is neither ok nor an error".to_owned()))?;
        Err(params::object(error).map_err(NotAResponse)?)
    };
    Ok(ProxyResponse { id, result })
}

#[cfg(test)]
mod tests;
