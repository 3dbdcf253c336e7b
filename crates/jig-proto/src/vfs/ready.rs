//! [`Ready`]: what a tool picks from the host's offer.

use serde_json::Value;

use crate::FieldError;
use crate::fields::{FieldPath, FromValue, ObjectFields};
use crate::vfs::Capabilities;
use crate::vfs::write::ObjectWriter;

/// What a tool picks from the offer in `init`.
///
/// On the wire `{"protocol_version"?, "capabilities"?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ready {
    /// One of the versions that the host supports, if the tool wants another than it was given.
    pub protocol_version: Option<String>,
    /// What the tool wants of the capabilities that are offered.
    pub capabilities: Capabilities,
}

impl Ready {
    pub(super) fn write(&self, mut object: ObjectWriter<'_>) {
        object.put_some("protocol_version", self.protocol_version.as_ref());
        self.capabilities.write(object.object("capabilities"));
        object.close();
    }
}

impl FromValue for Ready {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object with `capabilities`")?;
        Ok(Self {
            protocol_version: fields.optional("protocol_version")?,
            capabilities: fields
                .optional("capabilities")?
                .unwrap_or(Capabilities::PLAIN),
        })
    }
}
