//! [`Resource`]: content with an identity, such as a file.

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;

use crate::FieldError;
use crate::content::entry_if_some;
use crate::fields::{FieldPath, ObjectFields};

/// Content that a URI names, carried inline.
///
/// On the wire `{"resource": {uri, mimeType?, text | blob}, formatted?, name?, title?,
/// description?}`; the last three are also read from inside `resource`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What it is the content of.
    pub uri: String,
    /// Its MIME type, which decides how it is shown.
    pub mime_type: Option<String>,
    /// The content.
    pub data: ResourceData,
    /// The content as the tool wants it shown; replaces our own formatting.
    pub formatted: Option<String>,
    /// A short name.
    pub name: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// What it is, in a sentence.
    pub description: Option<String>,
    /// Annotations as in MCP, passed on unread.
    pub annotations: Option<Value>,
}

/// The content of a [`Resource`]. Exhaustive: there are text and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceData {
    /// Text.
    Text(String),
    /// Bytes in base64, as they came: neither decoded nor checked.
    Blob(String),
}

impl Resource {
    /// Text without metadata.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceData::Text(text.into()))
    }

    /// Bytes, already in base64, without metadata.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceData::Blob(base64.into()))
    }

    fn new(uri: String, data: ResourceData) -> Self {
        Self {
            uri,
            mime_type: None,
            data,
            formatted: None,
            name: None,
            title: None,
            description: None,
            annotations: None,
        }
    }

    /// The resource with a MIME type.
    #[must_use]
    pub fn with_mime_type(self, mime_type: impl Into<String>) -> Self {
        Self {
            mime_type: Some(mime_type.into()),
            ..self
        }
    }

    /// Reads a block of type `resource`.
    pub(crate) fn from_fields(mut block: ObjectFields<'_>) -> Result<Self, FieldError> {
        let at = block.at();
        let inner_at = FieldPath::Key(&at, "resource");
        let inner = block.required("resource", OBJECT)?;
        let mut inner = ObjectFields::open(inner, inner_at, OBJECT)?;
        let mut either = |key| match block.optional(key)? {
            Some(text) => Ok(Some(text)),
            None => inner.optional(key),
        };
        let (name, title, description) =
            (either("name")?, either("title")?, either("description")?);
        Ok(Self {
            uri: inner.required("uri", "a URI")?,
            mime_type: inner.optional("mimeType")?,
            data: match (inner.optional("text")?, inner.optional("blob")?) {
                (Some(text), None) => ResourceData::Text(text),
                (None, Some(base64)) => ResourceData::Blob(base64),
                (None, None) => {
                    let at = FieldPath::Key(&inner_at, "text");
                    return Err(FieldError::missing(at, "a string (or a `blob`)"));
                }
                (Some(_), Some(base64)) => {
                    let at = FieldPath::Key(&inner_at, "blob");
                    let found = Value::String(base64);
                    return Err(FieldError::unexpected(at, "nothing beside `text`", &found));
                }
            },
            formatted: block.optional("formatted")?,
            name,
            title,
            description,
            annotations: block.take("annotations"),
        })
    }

    /// Writes the entries of a block of type `resource`.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct ResourceBody<'a> {
            uri: &'a str,
            #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
            mime_type: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            text: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            blob: Option<&'a str>,
        }
        let (text, blob) = match &self.data {
            ResourceData::Text(text) => (Some(text.as_str()), None),
            ResourceData::Blob(base64) => (None, Some(base64.as_str())),
        };
        let inner = ResourceBody {
            uri: &self.uri,
            mime_type: self.mime_type.as_deref(),
            text,
            blob,
        };
        map.serialize_entry("resource", &inner)?;
        entry_if_some(map, "formatted", self.formatted.as_ref())?;
        entry_if_some(map, "name", self.name.as_ref())?;
        entry_if_some(map, "title", self.title.as_ref())?;
        entry_if_some(map, "description", self.description.as_ref())?;
        entry_if_some(map, "annotations", self.annotations.as_ref())
    }
}

const OBJECT: &str = "an object with `uri` and `text` or `blob`";
