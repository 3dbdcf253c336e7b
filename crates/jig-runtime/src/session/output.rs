//! What a session shows of what its tool said.

use std::ops::Range;

use jig_broker::Scrubber;
use jig_proto::{TerminalReport, View};
use jig_pty::{Cursor, CutSide, Screen, Size, TerminalFacts, Transcript, TranscriptPiece};

/// Which part of the output somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLook {
    /// What is looked at.
    pub view: View,
    /// What is new is counted from here: the `seq` of an earlier [`SessionOutput`], or 0.
    pub after: u64,
    /// The most bytes of text.
    pub max: usize,
    /// Which end of the text is given up if there is more.
    pub cut: CutSide,
}

/// What a tool said, as far as a [`OutputLook`] asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOutput {
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
pub struct PaintedScreen {
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

/// What a transcript has for a look, and how it stands in all that is kept.
pub(super) struct TranscriptLook {
    output: SessionOutput,
    /// All that is kept, or what is looked at if that is no part of it; and where in it the text stands.
    /// `None` as long as there are no secrets.
    place: Option<(String, Range<usize>)>,
}

impl TranscriptLook {
    /// What `transcript` has for a look. With `has_secrets` it is made ready to be cleaned.
    pub(super) fn of(transcript: &Transcript, look: &OutputLook, has_secrets: bool) -> Self {
        let show = |max| match look.view {
            View::New => transcript.since(look.after, max, look.cut),
            View::All => transcript.all(max),
            View::Screen => transcript.shown(max),
        };
        let TranscriptPiece {
            text,
            seq,
            lost,
            left,
        } = show(look.max);
        let place = has_secrets.then(|| {
            let uncut = show(usize::MAX).text;
            place(transcript.all(usize::MAX).text, uncut, &text)
        });
        let terminal = transcript.terminal().map(report);
        Self {
            output: SessionOutput {
                text,
                seq,
                lost,
                left,
                terminal,
            },
            place,
        }
    }

    /// The output without secrets.
    ///
    /// Those that a program prints are gone already. Here it is about values that were remembered only
    /// afterwards, and about those that a program draws on a screen in parts. Whoever looks chooses where a
    /// piece begins and ends, so they are looked for in all that is kept: no piece shows half of one.
    pub(super) fn clean(self, scrubber: Option<&Scrubber>) -> SessionOutput {
        let mut output = self.output;
        if let Some((scrubber, (whole, range))) = scrubber.zip(self.place) {
            output.text = match output.terminal {
                Some(_) => scrubber.rows(&whole, range),
                None => {
                    let text = scrubber.part(whole.as_bytes(), range);
                    String::from_utf8_lossy(&text).into_owned()
                }
            };
        }
        output
    }
}

/// Where a text that was cut out of `uncut` stands in the whole. A screen that a program has taken for itself
/// is no part of the whole.
fn place(whole: String, uncut: String, text: &str) -> (String, Range<usize>) {
    let offset = if uncut.ends_with(text) {
        uncut.len() - text.len()
    } else if uncut.starts_with(text) {
        0
    } else {
        // It was put together anew at its border. There is nothing better than to show all of it.
        return (uncut.clone(), 0..uncut.len());
    };
    let (whole, start) = match whole.len().checked_sub(uncut.len()) {
        Some(start) if whole.ends_with(&uncut) => (whole, start),
        _ => (uncut, 0),
    };
    let from = start + offset;
    (whole, from..from + text.len())
}

impl PaintedScreen {
    pub(super) fn of(transcript: &Transcript, scrubber: Option<&Scrubber>) -> Option<Self> {
        let screen = transcript.screen()?;
        Some(Self {
            lines: painted(transcript, screen, scrubber),
            cursor: screen.cursor(),
            size: screen.size(),
            alternate: screen.is_alternate(),
            application_cursor: screen.cursor_keys_are_application(),
            bracketed_paste: screen.bracketed_paste(),
            seq: screen.seq(),
        })
    }
}

/// The rows with their colours; without them if a secret stands there, because a change of colour in the
/// middle of one would hide it from the scrubber.
fn painted(transcript: &Transcript, screen: &Screen, scrubber: Option<&Scrubber>) -> Vec<String> {
    let Some(scrubber) = scrubber else {
        return screen.painted();
    };
    let look = OutputLook {
        view: View::Screen,
        after: 0,
        max: usize::MAX,
        cut: CutSide::Front,
    };
    let found = TranscriptLook::of(transcript, &look, true);
    let text = found.output.text.clone();
    let clean = found.clean(Some(scrubber)).text;
    if clean == text {
        return screen.painted();
    }
    let mut lines: Vec<String> = clean.lines().map(str::to_owned).collect();
    lines.resize(usize::from(screen.size().rows), String::new());
    lines
}

fn report(facts: TerminalFacts) -> TerminalReport {
    TerminalReport {
        rows: facts.size.rows,
        cols: facts.size.cols,
        cursor: [facts.cursor.row, facts.cursor.col],
        alternate: facts.alternate,
    }
}
