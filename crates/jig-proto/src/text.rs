//! Reading text, lists and flags of a message without copying what need not be copied.
//!
//! Derived code borrows a `Cow<str>` only where it is a field by itself, takes `null` for a flag as
//! an error, and reads an object also from a list of its fields. None of that is wanted here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::visible::visible_line;

/// A string that borrows from the message unless it holds escapes.
pub(crate) struct WireText<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for WireText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text))
            }
        }

        deserializer.deserialize_str(TextVisitor).map(WireText)
    }
}

/// A `T` that is read from an object and from nothing else.
pub(crate) struct WireObject<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for WireObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(access))
            }
        }

        let visitor = ObjectVisitor(PhantomData);
        deserializer.deserialize_map(visitor).map(WireObject)
    }
}

/// A field that may be absent or `null`.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Text that may be absent or `null`.
pub(crate) fn optional<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error>
where
    D: Deserializer<'de>,
{
    let text: Option<WireText<'a>> = Option::deserialize(deserializer)?;
    Ok(text.map(|WireText(text)| text))
}

/// A list of texts that may be absent or `null`.
pub(crate) fn optional_list<'de: 'a, 'a, D>(
    deserializer: D,
) -> Result<Option<Vec<Cow<'a, str>>>, D::Error>
where
    D: Deserializer<'de>,
{
    let list: Option<Vec<WireText<'a>>> = Option::deserialize(deserializer)?;
    Ok(list.map(|texts| texts.into_iter().map(|WireText(text)| text).collect()))
}

/// A list of texts that is empty if it is absent or `null`.
pub(crate) fn list<'de: 'a, 'a, D>(deserializer: D) -> Result<Vec<Cow<'a, str>>, D::Error>
where
    D: Deserializer<'de>,
{
    optional_list(deserializer).map(Option::unwrap_or_default)
}

/// A list of objects that is empty if it is absent or `null`.
pub(crate) fn objects<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let list: Option<Vec<WireObject<T>>> = Option::deserialize(deserializer)?;
    let objects = list.unwrap_or_default().into_iter();
    Ok(objects.map(|WireObject(object)| object).collect())
}

/// Reads an object, and says in one sentence what is wrong if it can't.
pub(crate) fn read_object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, String> {
    serde_json::from_str(json)
        .map(|WireObject(object)| object)
        .map_err(|error| sentence(&error))
}

/// The error without its place, which counts from somewhere inside the message, and of a length
/// that does not depend on what was sent.
pub(crate) fn sentence(error: &serde_json::Error) -> String {
    let full = error.to_string();
    let text = match full.rfind(" at line ") {
        Some(place) => &full[..place],
        None => full.as_str(),
    };
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", visible_line(&text[..end])),
        None => visible_line(text),
    }
}

/// How much of an error is told. Errors repeat a string that stands where something else belongs,
/// and without this would repeat all of it.
const SHOWN_CHARS: usize = 160;
