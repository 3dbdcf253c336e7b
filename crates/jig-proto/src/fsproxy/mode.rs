//! [`OpenMode`]: how a file is opened, and [`OpenEffects`]: what that means.

use std::fmt;

/// How a file is opened.
///
/// Exhaustive: these are the protocol's four. Older clients have their own, see
/// [`legacy::LegacyOpenMode`](super::legacy::LegacyOpenMode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenMode {
    /// `r`: read what exists.
    Read,
    /// `w`: write from the beginning; the file is created, or emptied.
    Write,
    /// `a`: write at the end; the file is created if it is missing.
    Append,
    /// `rw`: read and write; the file is created if it is missing and never emptied.
    ReadWrite,
}

impl OpenMode {
    /// All modes.
    pub const ALL: [OpenMode; 4] = [
        OpenMode::Read,
        OpenMode::Write,
        OpenMode::Append,
        OpenMode::ReadWrite,
    ];

    /// The mode as it is written: `r`, `w`, `a` or `rw`.
    pub fn text(self) -> &'static str {
        match self {
            OpenMode::Read => "r",
            OpenMode::Write => "w",
            OpenMode::Append => "a",
            OpenMode::ReadWrite => "rw",
        }
    }

    /// The mode that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.text() == text)
    }
}

/// As [`OpenMode::text`].
impl fmt::Display for OpenMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What an open does, for both variants of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OpenEffects {
    /// The handle can be read.
    pub read: bool,
    /// The handle can be written.
    pub write: bool,
    /// Every write goes to the end of the file.
    pub append: bool,
    /// The file is made if it is missing.
    pub create: bool,
    /// The file is emptied.
    pub truncate: bool,
}

impl From<OpenMode> for OpenEffects {
    fn from(mode: OpenMode) -> Self {
        let reads = Self {
            read: true,
            ..Self::default()
        };
        let writes = Self {
            write: true,
            create: true,
            ..Self::default()
        };
        match mode {
            OpenMode::Read => reads,
            OpenMode::Write => Self {
                truncate: true,
                ..writes
            },
            OpenMode::Append => Self {
                append: true,
                ..writes
            },
            OpenMode::ReadWrite => Self {
                read: true,
                ..writes
            },
        }
    }
}

#[cfg(test)]
mod tests;
