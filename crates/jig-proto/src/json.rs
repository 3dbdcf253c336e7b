//! Reading JSON from a side that may be hostile: [`from_slice`] and [`value`].
//!
//! Bytes are first scanned without any allocation for size, nesting and number of values, then
//! handed to `serde_json`. This bounds memory before the first value exists: a JSON value takes two
//! bytes on the wire (`0,`) and a hundred or more in memory, so a limit on bytes alone is no limit.
//!
//! What happens to odd input: a number that fits no 64-bit integer and no finite float (`1e999`, 400
//! digits), a lone surrogate, invalid UTF-8, a raw control character in a string, a byte order
//! mark, a truncated message and anything after the end are errors. `\u0000` in a string is kept.
//! A key that occurs twice in one object is an error in [`value`] and in every type of this crate;
//! a foreign type decides for itself (derived structs refuse a repeated field, a plain
//! [`serde_json::Value`] keeps the last).

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How much JSON one message may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonLimits {
    /// The bytes of the message. Without it, one line fills the memory of the host.
    pub bytes: usize,
    /// How deep arrays and objects may nest; never more than [`JsonLimits::MAX_DEPTH`]. Without it,
    /// `[[[[…` overflows the stack of whatever walks the value.
    pub depth: usize,
    /// How many values, counting every element and every member. Without it, `[[0],[0],…` takes
    /// close to a hundred times its size.
    pub values: usize,
}

impl JsonLimits {
    /// The deepest nesting that any limits allow: what `serde_json` itself reads.
    pub const MAX_DEPTH: usize = 127;

    /// For one message of a tool or a caller: 16 MiB, 64 levels, 524,288 values.
    pub const MESSAGE: JsonLimits = JsonLimits::for_bytes(16 * 1024 * 1024);

    /// For a short text that holds JSON, such as an answer type: 64 KiB, 16 levels, 4,096 values.
    pub const SHORT: JsonLimits = JsonLimits {
        bytes: 64 * 1024,
        depth: 16,
        values: 4_096,
    };

    /// Limits for a message of so many bytes: 64 levels, and one value per 32 bytes.
    ///
    /// The worst message within the limits of 16 MiB took less than ten times that in memory.
    pub const fn for_bytes(bytes: usize) -> Self {
        let values = bytes / 32;
        Self {
            bytes,
            depth: 64,
            // A small message of many small values does no harm.
            values: if values < 4_096 { 4_096 } else { values },
        }
    }

    /// These limits with another number of bytes; the number of values stays.
    #[must_use]
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// These limits with another depth.
    #[must_use]
    pub fn with_depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// These limits with another number of values.
    #[must_use]
    pub fn with_values(self, values: usize) -> Self {
        Self { values, ..self }
    }
}

/// [`JsonLimits::MESSAGE`].
impl Default for JsonLimits {
    fn default() -> Self {
        Self::MESSAGE
    }
}

/// Which of the [`JsonLimits`] a message exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonLimit {
    /// [`JsonLimits::bytes`].
    Bytes,
    /// [`JsonLimits::depth`].
    Depth,
    /// [`JsonLimits::values`].
    Values,
}

/// `bytes`, `levels of nesting` or `values`.
impl fmt::Display for JsonLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonLimit::Bytes => "bytes",
            JsonLimit::Depth => "levels of nesting",
            JsonLimit::Values => "values",
        })
    }
}

/// Why bytes are not the JSON that was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The message exceeds a limit. Nothing of it was read.
    #[error("the message exceeds the limit of {allowed} {limit}")]
    Exceeds {
        /// The limit.
        limit: JsonLimit,
        /// Its number.
        allowed: usize,
    },
    /// The message starts with a byte order mark, which JSON does not allow.
    #[error("the message starts with a byte order mark")]
    ByteOrderMark,
    /// The message ends in the middle of a value; an empty message does, too.
    #[error("the message ends too early")]
    Truncated(#[source] serde_json::Error),
    /// The message is not JSON.
    #[error("the message is not valid JSON")]
    Syntax(#[source] serde_json::Error),
    /// The message is JSON, but not of the expected form, or a key occurs twice.
    #[error("the message has an unexpected form")]
    Form(#[source] serde_json::Error),
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        match error.classify() {
            serde_json::error::Category::Eof => Self::Truncated(error),
            serde_json::error::Category::Data => Self::Form(error),
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
                Self::Syntax(error)
            }
        }
    }
}

/// Reads one JSON text into `T`, within `limits`.
///
/// # Errors
///
/// A [`JsonError`] that names the limit, or says what is wrong and where. Never panics.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8], limits: &JsonLimits) -> Result<T, JsonError> {
    scan(bytes, limits)?;
    Ok(serde_json::from_slice(bytes)?)
}

/// Reads one JSON text as a plain value, within `limits`, refusing a key that occurs twice.
///
/// # Errors
///
/// As [`from_slice`].
pub fn value(bytes: &[u8], limits: &JsonLimits) -> Result<Value, JsonError> {
    from_slice::<Unique>(bytes, limits).map(|unique| unique.0)
}

/// Holds `bytes` against `limits`, allocating nothing.
///
/// It counts brackets and commas outside of strings, which is exact for valid JSON. What is not
/// valid JSON is left to the parser, which stops at the first wrong byte and so cannot have built
/// more than was counted up to there.
pub(crate) fn scan(bytes: &[u8], limits: &JsonLimits) -> Result<(), JsonError> {
    let exceeds = |limit, allowed| Err(JsonError::Exceeds { limit, allowed });
    if bytes.len() > limits.bytes {
        return exceeds(JsonLimit::Bytes, limits.bytes);
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Err(JsonError::ByteOrderMark);
    }
    let allowed_depth = limits.depth.min(JsonLimits::MAX_DEPTH);
    let mut depth = 0_usize;
    let mut values = 1_usize;
    // An array or object holds one value more than commas, unless it is empty.
    let mut just_opened = false;
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            continue;
        }
        let closes = matches!(byte, b']' | b'}');
        if just_opened && !closes {
            values += 1;
        }
        just_opened = matches!(byte, b'[' | b'{');
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            b'"' => skip_string(&mut rest),
            _ => {}
        }
        if depth > allowed_depth {
            return exceeds(JsonLimit::Depth, allowed_depth);
        }
        if values > limits.values {
            return exceeds(JsonLimit::Values, limits.values);
        }
    }
    Ok(())
}

/// Moves `rest` behind the end of the string whose opening quote was just taken.
fn skip_string(rest: &mut std::slice::Iter<'_, u8>) {
    while let Some(found) = memchr::memchr2(b'"', b'\\', rest.as_slice()) {
        if rest.nth(found) == Some(&b'"') {
            return;
        }
        rest.next();
    }
    *rest = [].iter();
}

/// A JSON value in which no object has a key twice.
///
/// Two readers that pick different ones of two equal keys disagree about what a message says; a
/// check made by one of them is then worth nothing to the other.
pub(crate) struct Unique(pub(crate) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Unique(element)) = access.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((key, Unique(member))) = access.next_entry::<String, Unique>()? {
            if members.contains_key(&key) {
                let key = crate::fields::quoted(&key);
                return Err(A::Error::custom(format_args!("the key {key} occurs twice")));
            }
            members.insert(key, member);
        }
        Ok(Value::Object(members))
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;
