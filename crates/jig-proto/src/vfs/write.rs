//! Writing a message straight into its line: [`ObjectWriter`].
//!
//! Nothing is built in between, and base64 is encoded where it belongs, so that a file crosses from
//! its buffer to the line in one pass.

use serde::Serialize;

use crate::vfs::{Id, Payload};

/// A JSON object that is being written. Keys are ours: they need no escapes.
#[must_use]
pub(super) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(super) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            is_first: true,
        }
    }

    /// A message with its `jsonrpc`.
    pub(super) fn message(out: &'o mut Vec<u8>) -> Self {
        let mut object = Self::open(out);
        object.put("jsonrpc", "2.0");
        object
    }

    /// A notification up to its params.
    pub(super) fn notification(out: &'o mut Vec<u8>, method: &str) -> Self {
        let mut object = Self::message(out);
        object.put("method", method);
        object
    }

    /// Writes a key; the value is to be written next.
    pub(super) fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(super) fn put<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) {
        push_json(self.key(key), value);
    }

    pub(super) fn put_some<T: Serialize>(&mut self, key: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.put(key, &value);
        }
    }

    /// Writes a flag unless it is `false`, which is what its absence means.
    pub(super) fn put_flag(&mut self, key: &'static str, flag: bool) {
        if flag {
            self.put(key, &true);
        }
    }

    /// Writes a list of objects, each by `write`.
    pub(super) fn put_objects<T>(
        &mut self,
        key: &'static str,
        list: &[T],
        write: impl Fn(&T, &mut ObjectWriter<'_>),
    ) {
        let out = self.key(key);
        out.push(b'[');
        for (index, one) in list.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let mut object = ObjectWriter::open(out);
            write(one, &mut object);
            object.close();
        }
        out.push(b']');
    }

    pub(super) fn put_id(&mut self, key: &'static str, id: Option<&Id<'_>>) {
        let out = self.key(key);
        match id {
            Some(id) => id.write(out),
            None => out.extend_from_slice(b"null"),
        }
    }

    pub(super) fn put_payload(&mut self, key: &'static str, payload: &Payload<'_>) {
        match payload {
            Payload::Text(text) => self.put(key, text),
            Payload::Bytes(bytes) => {
                let out = self.key(key);
                out.push(b'"');
                base64_simd::STANDARD.encode_append(bytes.as_ref(), out);
                out.push(b'"');
                self.put("encoding", "base64");
            }
        }
    }

    pub(super) fn object(&mut self, key: &'static str) -> ObjectWriter<'_> {
        ObjectWriter::open(self.key(key))
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    /// Ends the message and its line.
    pub(super) fn end_line(self) {
        self.out.extend_from_slice(b"}\n");
    }
}

/// Appends `value` as JSON, without any raw newline.
pub(super) fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Memory takes everything, and the types of this crate have no maps with keys that are not
    // strings, which is all that JSON could refuse.
    serde_json::to_writer(out, value).expect("our own types can be written as JSON");
}
