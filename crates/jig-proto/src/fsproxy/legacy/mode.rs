//! [`LegacyOpenMode`]: how an older client opens a file.

use std::fmt;

use crate::fsproxy::OpenEffects;

/// How an older client opens a file, as C does.
///
/// Exhaustive: these are all that there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacyOpenMode {
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

impl LegacyOpenMode {
    /// All modes.
    pub const ALL: [LegacyOpenMode; 6] = [
        LegacyOpenMode::R,
        LegacyOpenMode::W,
        LegacyOpenMode::A,
        LegacyOpenMode::RPlus,
        LegacyOpenMode::WPlus,
        LegacyOpenMode::APlus,
    ];

    /// The mode as it is written, such as `r+`.
    pub fn text(self) -> &'static str {
        match self {
            LegacyOpenMode::R => "r",
            LegacyOpenMode::W => "w",
            LegacyOpenMode::A => "a",
            LegacyOpenMode::RPlus => "r+",
            LegacyOpenMode::WPlus => "w+",
            LegacyOpenMode::APlus => "a+",
        }
    }

    /// The mode that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.text() == text)
    }
}

/// As [`LegacyOpenMode::text`].
impl fmt::Display for LegacyOpenMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<LegacyOpenMode> for OpenEffects {
    fn from(mode: LegacyOpenMode) -> Self {
        Self {
            read: !matches!(mode, LegacyOpenMode::W | LegacyOpenMode::A),
            write: mode != LegacyOpenMode::R,
            append: matches!(mode, LegacyOpenMode::A | LegacyOpenMode::APlus),
            create: !matches!(mode, LegacyOpenMode::R | LegacyOpenMode::RPlus),
            truncate: matches!(mode, LegacyOpenMode::W | LegacyOpenMode::WPlus),
        }
    }
}
