//! [`Origin`]: where a value was written.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};

/// The layers of configuration, lowest first: a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Layer {
    /// What jig itself declares: its predefined tools.
    BuiltIn,
    /// The user's own file, for all workspaces.
    User,
    /// A file of the workspace: `.jp/config.toml`, `jig.toml`, `.jig/config.toml`.
    Workspace,
    /// A file named by `--config`.
    File,
    /// A variable of the environment, `JIG_CFG__…`.
    Environment,
    /// An assignment given by `--set`.
    Set,
}

impl Layer {
    /// The name, as machines read it.
    pub fn name(self) -> &'static str {
        match self {
            Layer::BuiltIn => "built-in",
            Layer::User => "user",
            Layer::Workspace => "workspace",
            Layer::File => "file",
            Layer::Environment => "environment",
            Layer::Set => "set",
        }
    }

    /// Whether the layer consists of text that a person edits in lines.
    pub fn has_lines(self) -> bool {
        matches!(self, Layer::User | Layer::Workspace | Layer::File)
    }
}

/// The place at which a value, a key or a table was written.
///
/// Cheap to clone: it points into the text that was loaded, which stays in memory for the snippets
/// of later errors.
#[derive(Clone)]
pub struct Origin {
    text: Arc<ConfigText>,
    start: u32,
    end: u32,
}

impl Origin {
    pub(crate) fn new(text: &Arc<ConfigText>, span: Range<usize>) -> Self {
        // A text is at most 4 GiB: files are limited to far less, and an argument list or an
        // environment that large can't be handed to a process.
        let clip = |at: usize| u32::try_from(at.min(text.content.len())).unwrap_or(u32::MAX);
        Self {
            text: Arc::clone(text),
            start: clip(span.start),
            end: clip(span.end.max(span.start)),
        }
    }

    /// The layer of the value.
    pub fn layer(&self) -> Layer {
        self.text.layer
    }

    /// What people know the text by: a file relative to the workspace, `--set`, the name of a
    /// variable, `built-in`.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// The file as it was opened, for layers that are files.
    pub fn file(&self) -> Option<&Utf8Path> {
        self.text.path.as_deref()
    }

    /// The line, counted from 1.
    pub fn line(&self) -> u32 {
        self.text.position(self.start).0
    }

    /// The column in characters, counted from 1.
    pub fn column(&self) -> u32 {
        self.text.position(self.start).1
    }

    /// The bytes of the text.
    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same place as the policy's rules carry it.
    pub fn to_policy(&self) -> jig_policy::RuleOrigin {
        if self.layer().has_lines() {
            jig_policy::RuleOrigin::line(Arc::clone(&self.text.name), self.line())
        } else {
            jig_policy::RuleOrigin::named(Arc::clone(&self.text.name))
        }
    }

    pub(crate) fn text(&self) -> &Arc<ConfigText> {
        &self.text
    }
}

/// `jig.toml:12`; without a line where there are none.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if self.layer().has_lines() {
            write!(f, ":{}", self.line())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.name(), self.line(), self.column())
    }
}

/// Two origins are equal when they are the same bytes of the same text.
impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        self.start == other.start
            && self.end == other.end
            && (Arc::ptr_eq(&self.text, &other.text)
                || (self.text.name == other.text.name && self.text.content == other.text.content))
    }
}

impl Eq for Origin {}

/// One text of configuration, kept for the snippets.
#[derive(Debug)]
pub(crate) struct ConfigText {
    pub(crate) layer: Layer,
    pub(crate) name: Arc<str>,
    pub(crate) path: Option<Utf8PathBuf>,
    pub(crate) content: String,
    /// Where the lines begin; found when the first line number is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl ConfigText {
    pub(crate) fn new(
        layer: Layer,
        name: impl Into<Arc<str>>,
        path: Option<Utf8PathBuf>,
        content: String,
    ) -> Arc<Self> {
        Arc::new(Self {
            layer,
            name: name.into(),
            path,
            content,
            lines: OnceLock::new(),
        })
    }

    /// Line and column, both from 1, of a byte.
    fn position(&self, at: u32) -> (u32, u32) {
        let lines = self.line_starts();
        let line = lines.partition_point(|start| *start <= at).max(1);
        let start = lines.get(line - 1).copied().unwrap_or(0) as usize;
        let before = self.content.get(start..at as usize).unwrap_or("");
        let column = before.chars().count() + 1;
        (
            u32::try_from(line).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }

    /// The bytes of the line that holds `at`, without its newline.
    pub(crate) fn line_at(&self, at: usize) -> Range<usize> {
        let lines = self.line_starts();
        let index = lines
            .partition_point(|start| *start as usize <= at)
            .saturating_sub(1);
        let start = lines.get(index).copied().unwrap_or(0) as usize;
        let end = lines
            .get(index + 1)
            .map_or(self.content.len(), |next| *next as usize - 1);
        let end = if self.content[start..end].ends_with('\r') {
            end - 1
        } else {
            end
        };
        start..end
    }

    fn line_starts(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self
                .content
                .bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests;
