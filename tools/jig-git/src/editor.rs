//! [`Editor`]: what git runs where it would open an editor.
//!
//! It is a line of shell that prints the text between two marks, and takes its place from what it reads.
//! The marks hold a number that nobody can guess, so that a text cannot contain them.

use std::hash::{BuildHasher, RandomState};

/// The stand-in for an editor of one session.
pub(crate) struct Editor {
    mark: String,
}

/// A text that git wants edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GitEdit<'a> {
    /// What was printed before.
    pub(crate) before: &'a str,
    /// The name of the file.
    pub(crate) name: &'a str,
    /// The text.
    pub(crate) text: &'a str,
}

/// What git prints, as far as an editor is concerned.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditorOutput<'a> {
    /// Nothing of it is for an editor.
    Plain,
    /// The text is not there as a whole yet.
    Partly,
    /// It waits for the text.
    Asks(GitEdit<'a>),
}

impl Editor {
    pub(crate) fn new() -> Self {
        // Seeded by the system for each.
        let number = RandomState::new().hash_one(0);
        Self {
            mark: format!("jig-{number:016x}"),
        }
    }

    /// The command for git, which adds the name of the file.
    pub(crate) fn script(&self) -> String {
        let mark = &self.mark;
        format!(
            "f() {{ printf '\\n{mark} edit %s\\n' \"${{1##*/}}\"; cat -- \"$1\"; printf '\\n{mark} end\\n'; \
             IFS= read -r l || return 1; \
             if [ \"$l\" != '{mark} keep' ]; then : > \"$1\"; \
             while [ \"$l\" != '{mark} end' ]; do printf '%s\\n' \"$l\" >> \"$1\"; \
             IFS= read -r l || return 1; done; fi; }}; f"
        )
    }

    /// Looks for a text to edit in what git printed.
    pub(crate) fn look<'a>(&self, printed: &'a str) -> EditorOutput<'a> {
        let start = format!("\n{} edit ", self.mark);
        let Some((before, rest)) = printed.split_once(&start) else {
            return match printed.contains(&self.mark) {
                true => EditorOutput::Partly,
                false => EditorOutput::Plain,
            };
        };
        let end = format!("\n{} end\n", self.mark);
        let found = rest.split_once('\n').and_then(|(name, rest)| {
            let (text, _) = rest.split_once(&end)?;
            Some(EditorOutput::Asks(GitEdit { before, name, text }))
        });
        found.unwrap_or(EditorOutput::Partly)
    }

    /// What to write for an answer: the new text, or an empty one to keep what is there.
    pub(crate) fn answer(&self, text: &str) -> String {
        let mark = &self.mark;
        match text.trim().is_empty() {
            true => format!("{mark} keep\n"),
            false => {
                let line_end = if text.ends_with('\n') { "" } else { "\n" };
                format!("{text}{line_end}{mark} end\n")
            }
        }
    }
}

#[cfg(test)]
mod tests;
