//! [`Screen`]: what a terminal shows, and what has scrolled off it.

mod history;
mod paint;
mod query;
mod rows;

use avt::parser::{EdScope, Function, State};
use avt::{ScreenKind, Terminal};

use self::history::{History, compose, visible_text};
use self::query::TerminalQueries;
use self::rows::Rows;
use crate::log::incomplete_tail;
use crate::{CutSide, Size, TranscriptPiece};

/// The screen of a terminal, with what has scrolled off it, fed with what programs print.
///
/// Every line has a sequence number, which grows from line to line: when a line changes, it and all
/// lines below it get new ones. So `since` answers with the lines from the first one that changed,
/// and a spinner that is redrawn sixty times a second costs one line. Lines that have scrolled off are
/// kept as text, up to a number of lines.
///
/// Whatever is fed, nothing here panics, and memory stays within what the size and the number of
/// lines allow. Erasing the screen erases it, as in xterm; it does not move it to the lines that have
/// scrolled off, where a program that redraws would leave a copy of every frame. What has scrolled off
/// cannot be erased by the program.
///
/// ```
/// use jig_pty::{CutSide, Screen, Size};
///
/// let mut screen = Screen::new(Size::default(), 1_000);
/// screen.feed(b"building\r\n  1%");
/// let seen = screen.seq();
/// screen.feed(b"\r 57%\r\x1b[32m100%\x1b[m");
/// assert_eq!(screen.text(), "building\n100%");
/// assert_eq!(screen.since(seen, 1_000, CutSide::Front).text, "100%");
/// ```
pub struct Screen {
    terminal: Terminal,
    parser: avt::Parser,
    size: Size,
    rows: Rows,
    history: History,
    queries: TerminalQueries,
    /// The beginning of a character whose rest has not come.
    undecoded: Vec<u8>,
    cursor: Cursor,
}

/// Where the cursor is, counted from 0 at the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The row, below [`Size::rows`].
    pub row: u16,
    /// The column, below [`Size::cols`].
    pub col: u16,
    /// Whether the program shows it.
    pub visible: bool,
}

impl Screen {
    /// An empty screen that keeps `scrollback` lines that have scrolled off it.
    pub fn new(size: Size, scrollback: usize) -> Self {
        let size = size.clamped();
        let terminal = new_terminal(size);
        Self {
            cursor: cursor_of(&terminal),
            terminal,
            parser: avt::Parser::new(),
            size,
            rows: Rows::new(size.rows),
            history: History::new(scrollback),
            queries: TerminalQueries::default(),
            undecoded: Vec::new(),
        }
    }

    /// Takes in what the program has printed, in pieces of any size.
    ///
    /// A hostile program makes this take longer, in proportion to the size of the screen: every few
    /// bytes can clear all of it. Feed pieces of some ten kilobytes if something else must be done in
    /// between.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while let (false, [byte, rest @ ..]) = (self.undecoded.is_empty(), bytes) {
            self.undecoded.push(*byte);
            bytes = rest;
            let length = self.undecoded.len() - incomplete_tail(&self.undecoded);
            let whole: Vec<u8> = self.undecoded.drain(..length).collect();
            self.feed_decoded(&whole);
        }
        let tail = incomplete_tail(bytes);
        let (whole, tail) = bytes.split_at(bytes.len() - tail);
        self.feed_decoded(whole);
        self.undecoded.extend_from_slice(tail);
        self.settle();
    }

    /// Gives the screen another size. Lines are wrapped anew, as terminals do it.
    pub fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size == self.size {
            return;
        }
        self.size = size;
        self.rows.begin_resize();
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let observer = self.rows.observer(&mut self.history);
        self.terminal.resize_with(cols, rows, observer);
        self.rows.end_resize(size.rows);
        self.settle();
    }

    /// Where the screen stands. It grows with every change that can be seen, also of colours and of
    /// the cursor.
    pub fn seq(&self) -> u64 {
        self.rows.seq()
    }

    /// The screen as text, one line per row, without trailing blanks and blank lines at the end.
    pub fn text(&self) -> String {
        visible_text(self.terminal.screen())
    }

    /// The lines from the first that changed after `after`, to the last that is not blank.
    ///
    /// A line that was wrapped because it is longer than the screen is wide is one line. While a
    /// program has taken the whole screen, this is the whole screen if its text or colours changed;
    /// lines that were printed before and not asked for come first.
    ///
    /// With [`CutSide::Back`] only whole rows are shown, if at least one fits.
    pub fn since(&self, after: u64, max: usize, cut: CutSide) -> TranscriptPiece {
        let mut lines = self.history.after(after);
        lines.extend(self.rows.primary_after(after, &self.terminal));
        lines.trim();
        if self.is_alternate() && self.rows.alternate_seq() > after {
            lines.extend_with_screen(self.terminal.screen(), self.seq());
        }
        let mut piece = compose(lines, self.seq(), max, cut);
        piece.lost = self.history.lost_after(after);
        piece
    }

    /// All lines that are kept, the newest if they are more than `max` bytes.
    pub fn all(&self, max: usize) -> TranscriptPiece {
        let mut lines = self.history.all();
        lines.extend(self.rows.primary(&self.terminal));
        lines.trim();
        if self.is_alternate() {
            lines.extend_with_screen(self.terminal.screen(), self.seq());
        }
        let mut piece = compose(lines, self.seq(), max, CutSide::Front);
        piece.lost = self.history.lost_after(0);
        piece
    }

    /// The screen as [`text`](Self::text) gives it, in at most `max` bytes.
    pub fn shown(&self, max: usize) -> TranscriptPiece {
        let mut text = self.text();
        let end = text.floor_char_boundary(max.min(text.len()));
        let left = (text.len() - end) as u64;
        text.truncate(end);
        TranscriptPiece {
            text,
            seq: self.seq(),
            lost: 0,
            left,
        }
    }

    /// Where the cursor is.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Whether a program has taken the whole screen, as editors and pagers do. What was there before
    /// comes back when it gives the screen up.
    pub fn is_alternate(&self) -> bool {
        self.terminal.active_screen_kind() == ScreenKind::Alternate
    }

    /// Rows and columns.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The rows with their colours, one string for each, without trailing blanks.
    ///
    /// They can be written to a real terminal: the only control sequences in them are our own, for
    /// colours and weights, and each row ends with these reset. A row takes as many columns as the
    /// screen believes.
    pub fn painted(&self) -> Vec<String> {
        self.terminal
            .screen()
            .visible_lines()
            .map(paint::painted)
            .collect()
    }

    /// What a terminal answers to the queries that were fed so far; to be written to the program. They
    /// are answered once. Editors, shells and libraries for prompts ask, and many wait for an answer.
    pub fn answers(&mut self) -> Vec<u8> {
        self.queries.take_answers()
    }

    /// Whether the program asked for the other form of the arrow keys.
    pub fn cursor_keys_are_application(&self) -> bool {
        self.terminal.cursor_key_app_mode()
    }

    /// Whether the program asked to be told what is pasted.
    pub fn bracketed_paste(&self) -> bool {
        self.queries.bracketed_paste()
    }

    fn feed_decoded(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            let mut text = chunk.valid();
            while !text.is_empty() {
                text = self.feed_plain(text);
                let mut chars = text.chars();
                if let Some(char) = chars.next() {
                    self.feed_char(char);
                }
                text = chars.as_str();
            }
            if !chunk.invalid().is_empty() {
                self.feed_char(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// Prints the characters at the beginning of `text` that are nothing but that, without asking the
    /// parser about each. Returns the rest.
    fn feed_plain<'a>(&mut self, text: &'a str) -> &'a str {
        if self.parser.state != State::Ground {
            return text;
        }
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
        let length = text.bytes().take_while(is_plain).count();
        if length > 0 {
            let plain = text[..length].bytes();
            let functions = plain.map(|byte| Function::Print(char::from(byte)));
            let observer = self.rows.observer(&mut self.history);
            self.terminal.execute_with(functions, observer);
        }
        &text[length..]
    }

    fn feed_char(&mut self, char: char) {
        let before = self.parser.state;
        let function = self.parser.feed(char);
        if let Some(function) = function {
            self.run(function);
        }
        if before != State::Ground || self.parser.state != State::Ground {
            self.queries
                .follow(char, before, self.parser.state, &self.terminal);
        }
    }

    /// Runs one function of the terminal, or a harmless form of it.
    fn run(&mut self, function: Function) {
        match function {
            // The parser takes it for a character; terminals ignore it.
            Function::Print('\x7f') => {}
            // It fills the screen with the letter E, for adjusting a tube. Three bytes could cost as
            // much as a screen of text.
            Function::Decaln => {}
            // Four bytes could ask for 65,535 repetitions.
            Function::Rep(count) => {
                self.execute(Function::Rep(count.min(self.size.cols)));
            }
            // In two steps the screen is erased without moving it to the lines that scrolled off.
            Function::Ed(EdScope::All) if !self.is_alternate() => {
                self.execute(Function::Ed(EdScope::Below));
                self.execute(Function::Ed(EdScope::Above));
            }
            function => self.execute(function),
        }
    }

    #[inline]
    fn execute(&mut self, function: Function) {
        let observer = self.rows.observer(&mut self.history);
        self.terminal.execute_with(function, observer);
    }

    /// Gives new numbers to what has changed.
    fn settle(&mut self) {
        let cursor = cursor_of(&self.terminal);
        let has_moved = cursor != self.cursor;
        self.cursor = cursor;
        self.rows.settle(&self.terminal, has_moved);
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen")
            .field("size", &self.size)
            .field("seq", &self.seq())
            .field("cursor", &self.cursor)
            .field("text", &self.text())
            .finish_non_exhaustive()
    }
}

/// A terminal that keeps nothing of what scrolls off: its lines take some twenty bytes for every
/// cell, ours only their text.
fn new_terminal(size: Size) -> Terminal {
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    Terminal::new(cols, rows).expect("a size has at least one row and one column")
}

fn cursor_of(terminal: &Terminal) -> Cursor {
    let cursor = terminal.cursor();
    let (cols, _) = terminal.size();
    Cursor {
        row: cursor.row as u16,
        // After the last column of a row it stands beyond it until the next character wraps.
        col: cursor.col.min(cols - 1) as u16,
        visible: cursor.visible,
    }
}

#[cfg(test)]
mod tests;
