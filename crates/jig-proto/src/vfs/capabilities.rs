//! [`Capabilities`]: the parts of the protocol that both sides must want.

use std::num::NonZeroU32;

use serde_json::Value;

use crate::FieldError;
use crate::fields::{FieldPath, FromValue, ObjectFields};
use crate::vfs::write::ObjectWriter;

/// What goes beyond the plain protocol.
///
/// A host offers them in `init`; a tool picks from the offer in its one `ready`, or sends none and
/// gets the plain protocol. What holds is [`Capabilities::common`] of both. On the wire each is an
/// object under its own name, so that it can carry more one day; one that is absent, `null` or
/// `false` is not there, and unknown ones are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// `concurrency`: so many requests may be open at once, answered in any order. Without it, one.
    pub concurrency: Option<NonZeroU32>,
    /// `pending`: the host says when an answer waits for a person.
    pub pending: bool,
    /// `pages`: `fs.list_dir` takes `cursor` and `limit`.
    pub pages: bool,
    /// `ranges`: `fs.read` takes `offset` and `length`.
    pub ranges: bool,
    /// `etag`: answers name the version of a file, and changes take `if_match`.
    pub etag: bool,
    /// `blobs`: content may follow a line as raw bytes.
    pub blobs: bool,
    /// `fd_pass`: `fs.read` may be answered with an open file.
    pub fd_pass: bool,
}

impl Capabilities {
    /// The variable that tells a tool the number of the socket over which descriptors come, in
    /// decimal. It is set if the host offers `fd_pass`.
    pub const FD_VARIABLE: &'static str = "JIG_VFS_FD";

    /// The plain protocol.
    pub const PLAIN: Capabilities = Capabilities {
        concurrency: None,
        pending: false,
        pages: false,
        ranges: false,
        etag: false,
        blobs: false,
        fd_pass: false,
    };

    /// What both have.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        Self {
            concurrency: self
                .concurrency
                .zip(other.concurrency)
                .map(|(one, another)| one.min(another)),
            pending: self.pending && other.pending,
            pages: self.pages && other.pages,
            ranges: self.ranges && other.ranges,
            etag: self.etag && other.etag,
            blobs: self.blobs && other.blobs,
            fd_pass: self.fd_pass && other.fd_pass,
        }
    }

    /// How many requests may be open at once.
    pub fn max_in_flight(&self) -> NonZeroU32 {
        self.concurrency.unwrap_or(NonZeroU32::MIN)
    }

    pub(super) fn write(&self, mut object: ObjectWriter<'_>) {
        if let Some(max_in_flight) = self.concurrency {
            let mut concurrency = object.object("concurrency");
            concurrency.put("max_in_flight", &max_in_flight);
            concurrency.close();
        }
        for (name, is_there) in [
            ("pending", self.pending),
            ("pages", self.pages),
            ("ranges", self.ranges),
            ("etag", self.etag),
            ("blobs", self.blobs),
            ("fd_pass", self.fd_pass),
        ] {
            if is_there {
                object.object(name).close();
            }
        }
        object.close();
    }
}

impl FromValue for Capabilities {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let mut fields = ObjectFields::open(value, at, "an object of capabilities")?;
        Ok(Self {
            concurrency: fields
                .optional::<Concurrency>("concurrency")?
                .and_then(|concurrency| concurrency.0),
            pending: is_there(&mut fields, "pending")?,
            pages: is_there(&mut fields, "pages")?,
            ranges: is_there(&mut fields, "ranges")?,
            etag: is_there(&mut fields, "etag")?,
            blobs: is_there(&mut fields, "blobs")?,
            fd_pass: is_there(&mut fields, "fd_pass")?,
        })
    }
}

fn is_there(fields: &mut ObjectFields<'_>, name: &str) -> Result<bool, FieldError> {
    fields
        .optional::<IsThere>(name)
        .map(|there| there.is_some_and(|IsThere(there)| there))
}

struct IsThere(bool);

impl FromValue for IsThere {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        match value {
            Value::Object(_) => Ok(Self(true)),
            Value::Bool(flag) => Ok(Self(flag)),
            other => Err(FieldError::unexpected(at, "an object", &other)),
        }
    }
}

struct Concurrency(Option<NonZeroU32>);

impl FromValue for Concurrency {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        if value == Value::Bool(false) {
            return Ok(Self(None));
        }
        let mut fields = ObjectFields::open(value, at, "an object with `max_in_flight`")?;
        let most: Value = fields.required("max_in_flight", MAX_IN_FLIGHT)?;
        let count = most.as_u64().and_then(|count| {
            // More than we can count is as good as the most that we can.
            NonZeroU32::new(u32::try_from(count).unwrap_or(u32::MAX))
        });
        match count {
            Some(count) => Ok(Self(Some(count))),
            None => {
                let at = FieldPath::Key(&at, "max_in_flight");
                Err(FieldError::unexpected(at, MAX_IN_FLIGHT, &most))
            }
        }
    }
}

const MAX_IN_FLIGHT: &str = "a number of requests, at least 1";

#[cfg(test)]
mod tests;
