//! JSON as people write it into their settings, with comments and trailing commas, changed in place.
//!
//! [`Document::set`] and [`Document::push`] say what to put where as [`Splice`]s; everything outside of
//! them stays as it is, byte for byte. Nothing is ever removed but a value that is replaced.

mod parse;

use std::ops::Range;

use serde_json::Value as Json;

use super::entry::SettingsSyntaxError;

/// A file's text, and what it says.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    /// `None` if there is nothing but space and comments.
    root: Option<JsoncNode>,
}

/// A change to a text: what stands at `at` becomes `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that are replaced.
    pub at: Range<usize>,
    /// Their replacement.
    pub text: String,
}

/// A value, and where it stands.
#[derive(Debug)]
struct JsoncNode {
    span: Range<usize>,
    kind: JsoncValue,
}

#[derive(Debug)]
enum JsoncValue {
    Object(Vec<JsoncMember>, JsoncListEnd),
    Array(Vec<JsoncNode>, JsoncListEnd),
    Plain(Json),
}

#[derive(Debug)]
struct JsoncMember {
    key: String,
    /// Where the key begins.
    at: usize,
    value: JsoncNode,
}

/// What comes after the last item of an object or array.
#[derive(Debug, Clone, Copy)]
struct JsoncListEnd {
    /// Whether a comma does.
    comma: bool,
    /// The end of the last thing before the closing bracket that is not space.
    end: usize,
}

impl<'a> Document<'a> {
    /// Reads a text.
    pub fn parse(text: &'a str) -> Result<Self, SettingsSyntaxError> {
        let root = parse::document(text)?;
        Ok(Self { text, root })
    }

    /// All that it says; `None` if it says nothing.
    pub fn value(&self) -> Option<Json> {
        self.root.as_ref().map(JsoncNode::value)
    }

    /// The value at a path of keys, and its text.
    pub fn get(&self, path: &[&str]) -> Result<Option<(Json, &'a str)>, SettingsSyntaxError> {
        let mut node = match &self.root {
            Some(root) => root,
            None => return Ok(None),
        };
        for key in path {
            match self.member(node, key)? {
                Some(member) => node = &member.value,
                None => return Ok(None),
            }
        }
        Ok(Some((node.value(), &self.text[node.span.clone()])))
    }

    /// Puts a value at a path of keys: in place of the one that is there, else as the last one of the
    /// deepest object that is there.
    pub fn set(&self, path: &[&str], value: &Json) -> Result<Vec<Splice>, SettingsSyntaxError> {
        let Some(mut node) = self.root.as_ref() else {
            return Ok(vec![self.begin(path, value)]);
        };
        for (index, key) in path.iter().enumerate() {
            let Some(member) = self.member(node, key)? else {
                let value = nested(&path[index + 1..], value);
                return Ok(self.add(node, Some(key), &value));
            };
            node = &member.value;
        }
        let indent = self.indent_at(node.span.start);
        let text = self.style().block(value, indent);
        Ok(vec![Splice {
            at: node.span.clone(),
            text,
        }])
    }

    /// Puts a value at the end of the array at a key of the root, which is made if it is missing.
    pub fn push(&self, key: &str, value: &Json) -> Result<Vec<Splice>, SettingsSyntaxError> {
        let list = Json::Array(vec![value.clone()]);
        let Some(root) = &self.root else {
            return Ok(vec![self.begin(&[key], &list)]);
        };
        match self.member(root, key)? {
            None => Ok(self.add(root, Some(key), &list)),
            Some(member) => match member.value.kind {
                JsoncValue::Array(..) => Ok(self.add(&member.value, None, value)),
                _ => Err(self.fault(member.value.span.start, format!("`{key}` is not a list"))),
            },
        }
    }

    /// The member of an object; an error if it is no object, or has two of that name.
    fn member<'n>(
        &self,
        node: &'n JsoncNode,
        key: &str,
    ) -> Result<Option<&'n JsoncMember>, SettingsSyntaxError> {
        let JsoncValue::Object(members, _) = &node.kind else {
            let what = format!("an object was expected here, to hold `{key}`");
            return Err(self.fault(node.span.start, what));
        };
        let mut found = members.iter().filter(|member| member.key == key);
        let first = found.next();
        // Which of two counts is different from reader to reader.
        match found.next() {
            Some(second) => Err(self.fault(second.at, format!("`{key}` is there twice"))),
            None => Ok(first),
        }
    }

    /// A text that says nothing gets its first value.
    fn begin(&self, path: &[&str], value: &Json) -> Splice {
        let newline = self.newline();
        let before = match self.text.trim_start_matches(parse::BOM) {
            "" => "",
            text if text.ends_with('\n') => "",
            _ => newline,
        };
        let block = self.style().block(&nested(path, value), "");
        Splice {
            at: self.text.len()..self.text.len(),
            text: format!("{before}{block}{newline}"),
        }
    }

    /// Adds an item at the end of an object or array.
    fn add(&self, node: &JsoncNode, key: Option<&str>, value: &Json) -> Vec<Splice> {
        let (first, last, tail) = match &node.kind {
            JsoncValue::Object(members, tail) => (
                members.first().map(|member| member.at),
                members.last().map(|member| member.value.span.end),
                *tail,
            ),
            JsoncValue::Array(items, tail) => (
                items.first().map(|item| item.span.start),
                items.last().map(|item| item.span.end),
                *tail,
            ),
            JsoncValue::Plain(_) => return Vec::new(),
        };
        let style = self.style();
        let label = key.map(|key| format!("{}: ", Json::from(key)));
        let label = label.unwrap_or_default();
        let one_line = first.is_some() && !self.text[node.span.clone()].contains('\n');
        let mut text = String::new();
        if one_line {
            if last != Some(tail.end) {
                text.push(' ');
            }
            text.push_str(&label);
            text.push_str(&inline(value));
            if tail.comma {
                text.push(',');
            }
        } else {
            let outer = self.indent_at(node.span.start);
            let own = first.and_then(|at| self.own_line(at));
            let indent = own.map_or_else(|| format!("{outer}{}", style.unit), str::to_owned);
            text.push_str(&format!("{}{indent}{label}", style.newline));
            text.push_str(&style.block(value, &indent));
            if tail.comma {
                text.push(',');
            }
            if !self.text[tail.end..node.span.end].contains('\n') {
                text.push_str(style.newline);
                text.push_str(outer);
            }
        }
        let mut splices = Vec::new();
        match last {
            // The comma belongs to the item before, also if a comment follows that.
            Some(last) if !tail.comma && last < tail.end => splices.push(Splice {
                at: last..last,
                text: ",".to_owned(),
            }),
            Some(_) if !tail.comma => {
                text.insert_str(0, if one_line { ", " } else { "," });
            }
            _ => {}
        }
        splices.push(Splice {
            at: tail.end..tail.end,
            text,
        });
        splices
    }

    /// The space at the beginning of the line of a place.
    fn indent_at(&self, at: usize) -> &'a str {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].trim_start_matches(parse::BOM);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The space before a place, if nothing else is on its line before it.
    fn own_line(&self, at: usize) -> Option<&'a str> {
        let start = self.text[..at].rfind('\n')? + 1;
        let before = &self.text[start..at];
        before
            .chars()
            .all(|c| matches!(c, ' ' | '\t'))
            .then_some(before)
    }

    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// How this file is written: its first line that is moved to the right says how far.
    fn style(&self) -> JsoncStyle<'a> {
        let first = match self.root.as_ref().map(|root| &root.kind) {
            Some(JsoncValue::Object(members, _)) => {
                members.first().and_then(|m| self.own_line(m.at))
            }
            _ => None,
        };
        JsoncStyle {
            unit: first.filter(|unit| !unit.is_empty()).unwrap_or("  "),
            newline: self.newline(),
        }
    }

    fn fault(&self, at: usize, what: String) -> SettingsSyntaxError {
        SettingsSyntaxError::at(self.text, at, what)
    }
}

impl JsoncNode {
    fn value(&self) -> Json {
        match &self.kind {
            JsoncValue::Object(members, _) => {
                let pair = |member: &JsoncMember| (member.key.clone(), member.value.value());
                Json::Object(members.iter().map(pair).collect())
            }
            JsoncValue::Array(items, _) => Json::Array(items.iter().map(Self::value).collect()),
            JsoncValue::Plain(value) => value.clone(),
        }
    }
}

/// A text with its changes made, which are in order and do not overlap.
pub fn apply(text: &str, splices: &[Splice]) -> String {
    let mut changed = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for splice in splices {
        changed.push_str(&text[from..splice.at.start]);
        changed.push_str(&splice.text);
        from = splice.at.end;
    }
    changed.push_str(&text[from..]);
    changed
}

/// How a file is laid out.
struct JsoncStyle<'a> {
    /// How far what is inside goes to the right.
    unit: &'a str,
    newline: &'a str,
}

impl JsoncStyle<'_> {
    /// A value over as many lines as it takes: an object has a line for each member, a list of plain values
    /// stays on one.
    fn block(&self, value: &Json, indent: &str) -> String {
        let deeper = format!("{indent}{}", self.unit);
        let lines = |open: &str, items: Vec<String>, close: &str| {
            let between = format!(",{}{deeper}", self.newline);
            let items = items.join(&between);
            let newline = self.newline;
            format!("{open}{newline}{deeper}{items}{newline}{indent}{close}")
        };
        match value {
            Json::Object(members) if !members.is_empty() => {
                let member = |(key, value): (&String, &Json)| {
                    format!(
                        "{}: {}",
                        Json::from(key.as_str()),
                        self.block(value, &deeper)
                    )
                };
                lines("{", members.iter().map(member).collect(), "}")
            }
            Json::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
                let item = |item: &Json| self.block(item, &deeper);
                lines("[", items.iter().map(item).collect(), "]")
            }
            value => inline(value),
        }
    }
}

/// A value on one line, with a space after commas and colons.
fn inline(value: &Json) -> String {
    match value {
        Json::Object(members) if !members.is_empty() => {
            let member = |(key, value): (&String, &Json)| {
                format!("{}: {}", Json::from(key.as_str()), inline(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// A value below a path of keys.
fn nested(path: &[&str], value: &Json) -> Json {
    path.iter().rev().fold(value.clone(), |inner, key| {
        Json::Object([((*key).to_owned(), inner)].into_iter().collect())
    })
}

#[cfg(test)]
mod tests;
