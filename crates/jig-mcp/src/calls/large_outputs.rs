//! [`OutputStore`]: results that are too large to be sent with a call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{MetaObject, Resource, ResourceContents};
use serde_json::json;

/// The large outputs of one caller, each under an id that nobody can guess.
///
/// Together they hold at most 64 MiB: the oldest make room for new ones.
#[derive(Default)]
pub(crate) struct OutputStore {
    kept: Mutex<KeptOutputs>,
}

#[derive(Default)]
struct KeptOutputs {
    outputs: VecDeque<Arc<StoredOutput>>,
    bytes: usize,
}

/// One output.
pub(crate) struct StoredOutput {
    id: String,
    /// The tool that made it.
    tool: String,
    mime_type: String,
    text: String,
    /// Where its parts begin, the first one at 0.
    parts: Vec<usize>,
}

impl OutputStore {
    /// Keeps a text. It comes back if it is larger than all that is ever kept, or if there is no randomness
    /// for its id.
    pub(crate) fn keep(
        &self,
        tool: &str,
        mime_type: Option<&str>,
        text: String,
    ) -> Result<Arc<StoredOutput>, String> {
        let id = random_id().filter(|_| text.len() <= MAX_KEPT);
        let Some(id) = id else {
            return Err(text);
        };
        let output = Arc::new(StoredOutput {
            id,
            tool: tool.to_owned(),
            mime_type: mime_type.unwrap_or("text/plain").to_owned(),
            parts: parts(&text),
            text,
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += output.text.len();
        kept.outputs.push_back(Arc::clone(&output));
        while kept.bytes > MAX_KEPT || kept.outputs.len() > MAX_OUTPUTS {
            let Some(oldest) = kept.outputs.pop_front() else {
                break;
            };
            kept.bytes -= oldest.text.len();
        }
        Ok(output)
    }

    /// What there is to read, oldest first.
    pub(crate) fn list(&self) -> Vec<Resource> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.outputs.iter().map(|output| output.link()).collect()
    }

    /// Reads one part, by what follows `jig://output/` in its URI: `ID`, which is the first part, or `ID/2`.
    pub(crate) fn read(&self, path: &str) -> Option<ResourceContents> {
        let (id, part) = match path.split_once('/') {
            None => (path, 1),
            Some((id, part)) => (id, part_number(part)?),
        };
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let output = kept.outputs.iter().find(|output| output.id == id)?;
        let output = Arc::clone(output);
        drop(kept);
        output.contents(part)
    }
}

impl StoredOutput {
    /// Where it is read.
    pub(crate) fn uri(&self) -> String {
        format!("{PREFIX}{}", self.id)
    }

    /// How many parts it has.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The link that a result holds in its place.
    pub(crate) fn link(&self) -> Resource {
        let uri = self.uri();
        let about = match self.parts() {
            1 => "The whole output".to_owned(),
            parts => format!(
                "The whole output, in {parts} parts of at most {} KiB: this one, then {uri}/2 and so on to /{parts}",
                PART / 1024
            ),
        };
        Resource::new(uri, format!("output of {}", self.tool))
            .with_description(about)
            .with_mime_type(self.mime_type.as_str())
            .with_size(self.text.len() as u64)
    }

    fn contents(&self, part: usize) -> Option<ResourceContents> {
        let start = *self.parts.get(part.checked_sub(1)?)?;
        let end = self.parts.get(part).copied().unwrap_or(self.text.len());
        let text = self.text.get(start..end)?;
        let uri = |part: usize| match part {
            1 => self.uri(),
            part => format!("{}/{part}", self.uri()),
        };
        let contents =
            ResourceContents::text(text, uri(part)).with_mime_type(self.mime_type.as_str());
        if self.parts() == 1 {
            return Some(contents);
        }
        let mut meta = MetaObject::new();
        meta.insert("jig/part".to_owned(), json!(part));
        meta.insert("jig/parts".to_owned(), json!(self.parts()));
        if part < self.parts() {
            meta.insert("jig/next".to_owned(), json!(uri(part + 1)));
        }
        Some(contents.with_meta(meta))
    }
}

/// The number of a part as it stands in a URI: without signs, spaces or leading zeros, so that each part has
/// one name.
fn part_number(text: &str) -> Option<usize> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

/// Where the parts of a text begin: at lines where they are not too long, else between characters.
fn parts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut start = 0;
    while text.len() - start > PART {
        let end = text.floor_char_boundary(start + PART);
        let line = text[start..end].rfind('\n').map(|at| start + at + 1);
        // A part that is mostly given up for a line break would make many parts.
        start = line.filter(|line| line - start > PART / 2).unwrap_or(end);
        starts.push(start);
    }
    starts
}

/// 128 random bits, in hexadecimal digits.
fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    if filled.ok()? != bytes.len() {
        return None;
    }
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the URIs of outputs begin with.
pub(crate) const PREFIX: &str = "jig://output/";

/// The most that one part holds, in bytes: what a client reads at once, and a model pays for.
const PART: usize = 256 * 1024;

/// The most text that is kept for one caller, in bytes. Without it a tool that prints could fill the memory.
const MAX_KEPT: usize = 64 << 20;

/// The most outputs that are kept for one caller.
const MAX_OUTPUTS: usize = 256;

#[cfg(test)]
mod tests;
