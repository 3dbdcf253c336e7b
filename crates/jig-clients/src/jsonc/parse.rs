//! Reading a text: JSON, besides comments (`//`, `/* */`), a comma after the last item, and a byte order mark.

use serde_json::Value as Json;

use super::{JsoncListEnd, JsoncMember, JsoncNode, JsoncValue};
use crate::entry::SettingsSyntaxError;

/// The value of a text; `None` if there is nothing but space and comments.
pub(crate) fn document(text: &str) -> Result<Option<JsoncNode>, SettingsSyntaxError> {
    let mut reader = JsoncReader { text, at: 0 };
    if text.starts_with(BOM) {
        reader.at = BOM.len_utf8();
    }
    reader.skip()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let root = reader.value(0)?;
    reader.skip()?;
    match reader.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(reader.fault("the file should end here")),
    }
}

struct JsoncReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsoncReader<'_> {
    fn value(&mut self, depth: usize) -> Result<JsoncNode, SettingsSyntaxError> {
        // A reader that calls itself must not be led to the end of its stack.
        if depth > MAX_DEPTH {
            return Err(self.fault("this is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsoncValue::Plain(Json::String(self.string()?)),
            Some(_) => JsoncValue::Plain(self.word()?),
            None => return Err(self.fault("a value was expected before the end of the file")),
        };
        Ok(JsoncNode {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<JsoncValue, SettingsSyntaxError> {
        let mut members = Vec::new();
        let tail = self.items(b'}', |reader| {
            let at = reader.at;
            if reader.peek() != Some(b'"') {
                return Err(reader.fault("a key in double quotes or `}` was expected"));
            }
            let key = reader.string()?;
            reader.skip()?;
            if reader.peek() != Some(b':') {
                return Err(reader.fault("a `:` was expected after the key"));
            }
            reader.at += 1;
            reader.skip()?;
            let value = reader.value(depth + 1)?;
            members.push(JsoncMember { key, at, value });
            Ok(())
        })?;
        Ok(JsoncValue::Object(members, tail))
    }

    fn array(&mut self, depth: usize) -> Result<JsoncValue, SettingsSyntaxError> {
        let mut items = Vec::new();
        let tail = self.items(b']', |reader| {
            items.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(JsoncValue::Array(items, tail))
    }

    /// What is between brackets, separated by commas. The reader is at the opening one, and ends after the
    /// closing one.
    fn items(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), SettingsSyntaxError>,
    ) -> Result<JsoncListEnd, SettingsSyntaxError> {
        self.at += 1;
        let mut tail = JsoncListEnd {
            comma: false,
            end: self.at,
        };
        let mut open = true;
        loop {
            tail.end = self.skip()?.unwrap_or(tail.end);
            match self.peek() {
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(tail);
                }
                Some(b',') if !open => {
                    self.at += 1;
                    tail.comma = true;
                    open = true;
                }
                Some(_) if open => {
                    item(self)?;
                    tail.comma = false;
                    open = false;
                }
                Some(_) => {
                    let close = char::from(close);
                    return Err(self.fault(&format!("a comma or `{close}` was expected")));
                }
                None => {
                    let close = char::from(close);
                    return Err(self.fault(&format!("`{close}` is missing before the end")));
                }
            }
            tail.end = self.at;
        }
    }

    fn string(&mut self) -> Result<String, SettingsSyntaxError> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.text.bytes().enumerate().skip(start + 1) {
            match byte {
                b'\n' => break,
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let literal = &self.text[start..=offset];
                    self.at = offset + 1;
                    return serde_json::from_str(literal).map_err(|_| {
                        SettingsSyntaxError::at(self.text, start, "this string is not valid")
                    });
                }
                _ => {}
            }
        }
        Err(self.fault("this string does not end on its line"))
    }

    /// A number, or one of the words of JSON.
    fn word(&mut self) -> Result<Json, SettingsSyntaxError> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        match serde_json::from_str(&rest[..length]) {
            Ok(value) => {
                self.at += length;
                Ok(value)
            }
            Err(_) => Err(self.fault("a value was expected here")),
        }
    }

    /// Goes over space and comments. Gives the end of the last comment.
    fn skip(&mut self) -> Result<Option<usize>, SettingsSyntaxError> {
        let mut comment = None;
        loop {
            let rest = &self.text[self.at..];
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += space;
            let rest = &rest[space..];
            if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                // A carriage return before the end of the line belongs to that.
                self.at += rest[..length].trim_end_matches('\r').len();
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Err(self.fault("this comment does not end")),
                }
            } else {
                return Ok(comment);
            }
            comment = Some(self.at);
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &str) -> SettingsSyntaxError {
        SettingsSyntaxError::at(self.text, self.at, what)
    }
}

/// A byte order mark, as some editors on Windows write one.
pub(crate) const BOM: char = '\u{feff}';

/// No file of settings is nested nearly that deep.
const MAX_DEPTH: usize = 128;
