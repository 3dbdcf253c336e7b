//! What a session shows of what its tool said.

use jig_broker::Scrubber;
use jig_proto::{TerminalReport, View};
use jig_pty::{Cursor, Cut, Piece, Screen, Size, TerminalFacts, Transcript};

/// Which part of the output somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What is looked at.
    pub view: View,
    /// What is new is counted from here: the `seq` of an earlier [`Output`], or 0.
    pub after: u64,
    /// The most bytes of text.
    pub max: usize,
    /// Which end of the text is given up if there is more.
    pub cut: Cut,
}

/// What a tool said, as far as a [`Look`] asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Where what is new begins the next time.
    pub seq: u64,
    /// How much before the text is gone for ever: bytes, or lines of a terminal.
    pub lost: u64,
    /// How many bytes were left out because there was more than asked for.
    pub left: u64,
    /// The screen, for a tool on a terminal.
    pub terminal: Option<TerminalReport>,
}

/// The screen of a tool on a terminal, in a form that is safe for a person's own terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painted {
    /// Its rows, from the top. They hold no control sequences but those for colours and styles.
    pub lines: Vec<String>,
    /// Where the cursor is.
    pub cursor: Cursor,
    /// How large the screen is.
    pub size: Size,
    /// Whether a program that uses the whole screen has it.
    pub alternate: bool,
    /// Whether the tool wants the cursor keys in their application form.
    pub application_cursor: bool,
    /// Whether the tool wants pasted text to be marked as such.
    pub bracketed_paste: bool,
    /// The position of the output that this shows.
    pub seq: u64,
}

impl Output {
    /// What `transcript` has for a look.
    pub(super) fn of(transcript: &Transcript, look: &Look) -> Self {
        let piece = match look.view {
            View::New => transcript.since(look.after, look.max, look.cut),
            View::All => transcript.all(look.max),
            View::Screen => transcript.shown(look.max),
        };
        let terminal = transcript.terminal().map(report);
        let Piece {
            text,
            seq,
            lost,
            left,
        } = piece;
        Self {
            text,
            seq,
            lost,
            left,
            terminal,
        }
    }
}

impl Painted {
    pub(super) fn of(screen: &Screen, scrubber: Option<&Scrubber>) -> Self {
        Self {
            lines: painted(screen, scrubber),
            cursor: screen.cursor(),
            size: screen.size(),
            alternate: screen.is_alternate(),
            application_cursor: screen.cursor_keys_are_application(),
            bracketed_paste: screen.bracketed_paste(),
            seq: screen.seq(),
        }
    }
}

/// The rows with their colours; without them if a secret stands there, because a change of colour in the
/// middle of one would hide it from the scrubber.
fn painted(screen: &Screen, scrubber: Option<&Scrubber>) -> Vec<String> {
    if let Some(scrubber) = scrubber {
        let text = screen.text();
        let scrubbed = scrubber.lines(text.clone());
        if scrubbed != text {
            let mut lines: Vec<String> = scrubbed.lines().map(str::to_owned).collect();
            lines.resize(usize::from(screen.size().rows), String::new());
            return lines;
        }
    }
    screen.painted()
}

fn report(facts: TerminalFacts) -> TerminalReport {
    TerminalReport {
        rows: facts.size.rows,
        cols: facts.size.cols,
        cursor: [facts.cursor.row, facts.cursor.col],
        alternate: facts.alternate,
    }
}
