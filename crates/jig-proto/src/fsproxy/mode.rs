//! [`Mode`]: how a file is opened, and [`Opening`]: what that means.

use std::fmt;

/// How a file is opened.
///
/// Exhaustive: these are the protocol's four. Older clients have their own, see
/// [`legacy::Mode`](super::legacy::Mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `r`: read what exists.
    Read,
    /// `w`: write from the beginning; the file is created, or emptied.
    Write,
    /// `a`: write at the end; the file is created if it is missing.
    Append,
    /// `rw`: read and write; the file is created if it is missing and never emptied.
    ReadWrite,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [Mode::Read, Mode::Write, Mode::Append, Mode::ReadWrite];

    /// The mode as it is written: `r`, `w`, `a` or `rw`.
    pub fn text(self) -> &'static str {
        match self {
            Mode::Read => "r",
            Mode::Write => "w",
            Mode::Append => "a",
            Mode::ReadWrite => "rw",
        }
    }

    /// The mode that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.text() == text)
    }
}

/// As [`Mode::text`].
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What an open does, for both variants of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Opening {
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

impl From<Mode> for Opening {
    fn from(mode: Mode) -> Self {
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
            Mode::Read => reads,
            Mode::Write => Self {
                truncate: true,
                ..writes
            },
            Mode::Append => Self {
                append: true,
                ..writes
            },
            Mode::ReadWrite => Self {
                read: true,
                ..writes
            },
        }
    }
}

#[cfg(test)]
mod tests;
