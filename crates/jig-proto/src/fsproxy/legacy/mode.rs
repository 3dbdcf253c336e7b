//! [`Mode`]: how an older client opens a file.

use std::fmt;

use crate::fsproxy::Opening;

/// How an older client opens a file, as C does.
///
/// Exhaustive: these are all that there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `r`: read what exists.
    R,
    /// `w`: write from the beginning; the file is created, or emptied.
    W,
    /// `a`: write at the end; the file is created if it is missing.
    A,
    /// `r+`: read and write what exists.
    RPlus,
    /// `w+`: read and write; the file is created, or emptied.
    WPlus,
    /// `a+`: read, and write at the end; the file is created if it is missing.
    APlus,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 6] = [
        Mode::R,
        Mode::W,
        Mode::A,
        Mode::RPlus,
        Mode::WPlus,
        Mode::APlus,
    ];

    /// The mode as it is written, such as `r+`.
    pub fn text(self) -> &'static str {
        match self {
            Mode::R => "r",
            Mode::W => "w",
            Mode::A => "a",
            Mode::RPlus => "r+",
            Mode::WPlus => "w+",
            Mode::APlus => "a+",
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

impl From<Mode> for Opening {
    fn from(mode: Mode) -> Self {
        Self {
            read: !matches!(mode, Mode::W | Mode::A),
            write: mode != Mode::R,
            append: matches!(mode, Mode::A | Mode::APlus),
            create: !matches!(mode, Mode::R | Mode::RPlus),
            truncate: matches!(mode, Mode::W | Mode::WPlus),
        }
    }
}
