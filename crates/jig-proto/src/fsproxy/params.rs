//! Taking the members of a message apart, with errors that name the member.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::fsproxy::ProxyError;
use crate::text::{WireObject, WireText, sentence};

/// A member that was there, with nothing built of what it holds; `null` is different from nothing.
pub(super) fn present<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the members of an object, each at most once; those that we don't know are passed over.
pub(super) fn object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, String> {
    serde_json::from_str(json)
        .map(|WireObject(object)| object)
        .map_err(|error| sentence(&error))
}

/// The member if it is there and not `null`.
pub(super) fn some(raw: Option<&RawValue>) -> Option<&str> {
    raw.map(RawValue::get).filter(|json| *json != "null")
}

/// A string; `None` if it is absent or `null`.
pub(super) fn text<'a>(
    name: &str,
    raw: Option<&'a RawValue>,
) -> Result<Option<Cow<'a, str>>, ProxyError> {
    let Some(json) = some(raw) else {
        return Ok(None);
    };
    match serde_json::from_str(json) {
        Ok(WireText(text)) => Ok(Some(text)),
        Err(_) => Err(ProxyError::arg(format!("{name} must be a string"))),
    }
}

/// A flag; `None` if it is absent or `null`.
pub(super) fn flag(name: &str, raw: Option<&RawValue>) -> Result<Option<bool>, ProxyError> {
    match some(raw) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(ProxyError::arg(format!("{name} must be true or false"))),
    }
}

/// A handle, which must be there.
pub(super) fn handle(raw: Option<&RawValue>) -> Result<u64, ProxyError> {
    let json = some(raw).ok_or_else(|| ProxyError::arg("missing h"))?;
    // JSON has no leading zeros, so that this is the one spelling of a whole number.
    digits(json)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| ProxyError::arg("h must be a handle, a whole number from 0"))
}

/// A number of bytes; `None` if it is absent or `null`. One that is larger than we can count is as
/// much as we can count.
pub(super) fn count(name: &str, raw: Option<&RawValue>) -> Result<Option<u64>, ProxyError> {
    let Some(json) = some(raw) else {
        return Ok(None);
    };
    match digits(json) {
        Some(digits) => Ok(Some(digits.parse().unwrap_or(u64::MAX))),
        None => Err(ProxyError::arg(format!("{name} must be a number of bytes"))),
    }
}

fn digits(json: &str) -> Option<&str> {
    json.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(json)
}
