//! [`Transcript`]: what a program has printed, with or without a terminal.

use crate::{Cursor, CutSide, Log, Screen, Size, TranscriptPiece};

/// What a program has printed. The same questions are asked of both kinds.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each session, and it is not moved about"
)]
pub enum Transcript {
    /// The bytes of a plain process.
    Log(Log),
    /// The screen of a terminal.
    Screen(Screen),
}

/// How a terminal looks, besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalFacts {
    /// Rows and columns.
    pub size: Size,
    /// Where the cursor is.
    pub cursor: Cursor,
    /// Whether a program has taken the whole screen, as editors and pagers do.
    pub alternate: bool,
}

impl Transcript {
    /// Takes in what the program has written.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Log(log) => log.push(bytes),
            Self::Screen(screen) => screen.feed(bytes),
        }
    }

    /// Says that nothing follows.
    pub fn finish(&mut self) {
        if let Self::Log(log) = self {
            log.finish();
        }
    }

    /// Where the transcript stands; it grows with every change.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Log(log) => log.seq(),
            Self::Screen(screen) => screen.seq(),
        }
    }

    /// What is new after `after`, in at most `max` bytes.
    pub fn since(&self, after: u64, max: usize, cut: CutSide) -> TranscriptPiece {
        match self {
            Self::Log(log) => log.since(after, max, cut),
            Self::Screen(screen) => screen.since(after, max, cut),
        }
    }

    /// Everything that is kept, the newest if it is more than `max` bytes.
    pub fn all(&self, max: usize) -> TranscriptPiece {
        match self {
            Self::Log(log) => log.since(0, max, CutSide::Front),
            Self::Screen(screen) => screen.all(max),
        }
    }

    /// What somebody who looks at it now would see: the screen, or the end of the log.
    pub fn shown(&self, max: usize) -> TranscriptPiece {
        match self {
            Self::Log(log) => log.last(max),
            Self::Screen(screen) => screen.shown(max),
        }
    }

    /// How the terminal looks; `None` if there is none.
    pub fn terminal(&self) -> Option<TerminalFacts> {
        self.screen().map(|screen| TerminalFacts {
            size: screen.size(),
            cursor: screen.cursor(),
            alternate: screen.is_alternate(),
        })
    }

    /// The screen, if there is a terminal.
    pub fn screen(&self) -> Option<&Screen> {
        match self {
            Self::Log(_) => None,
            Self::Screen(screen) => Some(screen),
        }
    }

    /// The screen, if there is a terminal.
    pub fn screen_mut(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Log(_) => None,
            Self::Screen(screen) => Some(screen),
        }
    }
}
