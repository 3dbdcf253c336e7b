//! [`Subject`]: one file of a topic.

use std::fs::File;
use std::io::{self, Read};

use crate::pattern::Pattern;
use crate::text::{self, Language};

/// A file below the directory of the topic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    /// What it is called: its path without the extension, and without the dots that hide it.
    pub(crate) name: String,
    /// Its path below the directory.
    pub(crate) path: String,
    /// Whether it is neither listed nor matched by patterns (W-053).
    pub(crate) is_hidden: bool,
}

/// What a file holds, as far as it was read.
pub(crate) enum Content {
    /// Text, as it is to be shown.
    Text {
        text: String,
        /// How long the file is, if not all of it is there.
        cut: Option<u64>,
    },
    /// Something else; its size.
    Binary(u64),
}

impl Subject {
    pub(crate) fn new(path: &str) -> Self {
        let is_hidden = path.split('/').any(|one| one.starts_with('.'));
        let shown = undotted(path);
        let (folder, file) = split(&shown);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        Self {
            name: format!("{folder}{stem}"),
            path: path.to_owned(),
            is_hidden,
        }
    }

    /// Whether a pattern covers it, in any of its spellings: for patterns that keep subjects away.
    pub(crate) fn is_meant_by(&self, pattern: &Pattern) -> bool {
        let dotted = self.path.len() - self.extension().map_or(0, |one| one.len() + 1);
        let spellings = [
            &self.name,
            &self.path,
            &undotted(&self.path),
            &self.path[..dotted],
        ];
        spellings.iter().any(|name| pattern.matches(name))
    }

    /// Whether a pattern asks for it. A hidden one must be named exactly.
    pub(crate) fn is_asked_by(&self, pattern: &Pattern) -> bool {
        let is_exact = pattern.text() == self.name || pattern.text() == self.path;
        let matches = || pattern.matches(&self.name) || pattern.matches(&self.path);
        is_exact || (!self.is_hidden && matches())
    }

    /// How long the file is, in bytes.
    pub(crate) fn size(&self) -> io::Result<u64> {
        Ok(std::fs::metadata(self.place())?.len())
    }

    /// Reads it in the form in which it is shown, but no more than its first `most` bytes, whatever its size.
    pub(crate) fn read(&self, most: usize) -> io::Result<Content> {
        let file = File::open(self.place())?;
        let size = file.metadata()?.len();
        let mut bytes = Vec::new();
        // One byte more tells whether there is more, also if the file grows.
        let limit = u64::try_from(most.max(PROBED)).unwrap_or(u64::MAX);
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.iter().take(PROBED).any(|byte| *byte == 0) {
            return Ok(Content::Binary(size));
        }
        let is_cut = bytes.len() > most;
        bytes.truncate(most);
        let text = text::decoded(bytes, is_cut);
        let text = match Language::of(self.extension()) {
            Language::Prose => text,
            Language::Code(language) => text::fenced(&text, &language),
        };
        let cut = is_cut.then_some(size);
        Ok(Content::Text { text, cut })
    }

    fn extension(&self) -> Option<&str> {
        let (_, file) = split(&self.path);
        let file = file.strip_prefix('.').unwrap_or(file);
        file.rsplit_once('.').map(|(_, extension)| extension)
    }

    fn place(&self) -> String {
        format!("{ROOT}/{}", self.path)
    }
}

/// A path without the dot before each of its names. A name that is nothing but an extension, such as
/// `.gitignore`, is a hidden name without one.
pub(crate) fn undotted(path: &str) -> String {
    let names = path.split('/');
    let names: Vec<&str> = names
        .map(|one| one.strip_prefix('.').unwrap_or(one))
        .collect();
    names.join("/")
}

/// The folder with its slash, and the file.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

/// Where the host mounts the directory of the topic.
pub(crate) const ROOT: &str = "/subjects";

/// How much of a file is looked at to tell whether it is text.
const PROBED: usize = 8192;
