//! [`Size`]: how many rows and columns a terminal has.

use std::fmt;

/// The size of a terminal in characters.
///
/// The largest is [`Size::MAX`]: a screen is kept in memory, and programs are asked to fill it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Lines from top to bottom.
    pub rows: u16,
    /// Characters from left to right.
    pub cols: u16,
}

impl Size {
    /// The largest size that anything here works with. A caller, or the assistant behind it, could
    /// otherwise ask for a screen of four thousand million cells.
    pub const MAX: Size = Size {
        rows: 500,
        cols: 1_000,
    };

    /// A size of at least 1x1 and at most [`Size::MAX`]; what is outside is moved to the border.
    pub fn new(rows: u16, cols: u16) -> Self {
        Self {
            rows: rows.clamp(1, Self::MAX.rows),
            cols: cols.clamp(1, Self::MAX.cols),
        }
    }

    /// This size, moved to the border where its fields were set outside it.
    pub(crate) fn clamped(self) -> Self {
        Self::new(self.rows, self.cols)
    }
}

/// 24 rows of 80 columns, which every program expects.
impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

/// `24x80`: rows first, as `stty size` prints them.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}
