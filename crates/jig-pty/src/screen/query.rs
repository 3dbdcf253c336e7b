//! What a program asks its terminal, and the answers.

use avt::parser::State;
use avt::{ScreenKind, Terminal};

/// Follows the control sequences of a program, answers those that are questions, and notes the modes
/// that concern what is typed.
///
/// Answers are made of fixed texts and numbers: nothing that a program prints can come back to it, or
/// to a shell behind it, as if it had been typed.
#[derive(Default)]
pub(super) struct TerminalQueries {
    /// The sequence so far, without its introduction: `[6n`, `]11;?`.
    sequence: String,
    is_too_long: bool,
    answers: Vec<u8>,
    bracketed_paste: bool,
}

impl TerminalQueries {
    pub(super) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }

    pub(super) fn bracketed_paste(&self) -> bool {
        self.bracketed_paste
    }

    /// Takes in a character that begins, continues or ends a sequence, with the parser's state before
    /// and after it.
    pub(super) fn follow(&mut self, char: char, before: State, after: State, terminal: &Terminal) {
        match char {
            // More of a string that is no question.
            ' '..='~' if self.is_too_long && after != State::Ground => {}
            // The end of a string, or the beginning of something else.
            '\x1b' | '\u{9c}' => {
                if is_string(before) {
                    self.answer_string("\x1b\\");
                }
                self.begin("");
            }
            '\x07' if before == State::OscString => {
                self.answer_string("\x07");
                self.begin("");
            }
            // These break a sequence off.
            '\x18' | '\x1a' => self.begin(""),
            '\u{90}' => self.begin("P"),
            '\u{9b}' => self.begin("["),
            '\u{9d}' => self.begin("]"),
            _ if char.is_control() => {}
            _ => {
                self.push(char);
                if after == State::Ground {
                    if !self.is_too_long {
                        let sequence = std::mem::take(&mut self.sequence);
                        self.answer_control(&sequence, terminal);
                        self.sequence = sequence;
                    }
                    self.begin("");
                }
            }
        }
    }

    fn begin(&mut self, introduction: &str) {
        self.sequence.clear();
        self.sequence.push_str(introduction);
        self.is_too_long = false;
    }

    fn push(&mut self, char: char) {
        match self.sequence.len() + char.len_utf8() > LONGEST_SEQUENCE {
            true => self.is_too_long = true,
            false => self.sequence.push(char),
        }
    }

    /// A sequence that ends with its last character.
    fn answer_control(&mut self, sequence: &str, terminal: &Terminal) {
        let Some(body) = sequence.strip_prefix('[') else {
            // The terminal is reset.
            self.bracketed_paste &= sequence != "c";
            return;
        };
        let cursor = super::cursor_of(terminal);
        let (row, col) = (cursor.row + 1, cursor.col + 1);
        let (cols, rows) = terminal.size();
        let answer = match body {
            // Are you there? Where is the cursor?
            "5n" => "\x1b[0n".to_owned(),
            "6n" => format!("\x1b[{row};{col}R"),
            "?6n" => format!("\x1b[?{row};{col};1R"),
            // What are you? A VT220 with colours; nothing newer, so that nobody expects more.
            "c" | "0c" => "\x1b[?62;22c".to_owned(),
            ">c" | ">0c" => "\x1b[>0;10;0c".to_owned(),
            ">q" | ">0q" => concat!("\x1bP>|jig ", env!("CARGO_PKG_VERSION"), "\x1b\\").to_owned(),
            // How many characters fit?
            "18t" => format!("\x1b[8;{rows};{cols}t"),
            _ => {
                let mode = body.strip_prefix('?');
                if let Some(mode) = mode.and_then(|mode| mode.strip_suffix("$p")) {
                    self.answer_mode(mode, terminal);
                } else if let Some(modes) = mode {
                    self.note_modes(modes);
                }
                return;
            }
        };
        self.answer(&answer);
    }

    /// Is a mode set? 1 is yes, 2 is no, 0 is that it is not known.
    fn answer_mode(&mut self, mode: &str, terminal: &Terminal) {
        let Ok(mode) = mode.parse::<u16>() else {
            return;
        };
        let is_set = match mode {
            1 => Some(terminal.cursor_key_app_mode()),
            25 => Some(terminal.cursor().visible),
            47 | 1047 | 1049 => Some(terminal.active_screen_kind() == ScreenKind::Alternate),
            2004 => Some(self.bracketed_paste),
            _ => None,
        };
        let value = match is_set {
            None => 0,
            Some(true) => 1,
            Some(false) => 2,
        };
        self.answer(&format!("\x1b[?{mode};{value}$y"));
    }

    fn note_modes(&mut self, modes: &str) {
        let is_set = modes.ends_with('h');
        let Some(modes) = modes.strip_suffix(['h', 'l']) else {
            return;
        };
        if modes.split(';').any(|mode| mode == "2004") {
            self.bracketed_paste = is_set;
        }
    }

    /// A sequence that ends with a terminator, which the answer repeats.
    fn answer_string(&mut self, terminator: &str) {
        // Which colours? White on black, as most programs assume.
        let answer = match self.sequence.as_str() {
            "]10;?" => "\x1b]10;rgb:ffff/ffff/ffff",
            "]11;?" => "\x1b]11;rgb:0000/0000/0000",
            // Settings and capabilities by name: none is known.
            name if name.starts_with("P$q") => "\x1bP0$r",
            name if name.starts_with("P+q") => "\x1bP0+r",
            _ => return,
        };
        self.answer(&format!("{answer}{terminator}"));
    }

    fn answer(&mut self, answer: &str) {
        if self.answers.len() + answer.len() <= MOST_ANSWERS {
            self.answers.extend_from_slice(answer.as_bytes());
        }
    }
}

fn is_string(state: State) -> bool {
    matches!(
        state,
        State::OscString | State::DcsPassthrough | State::DcsIgnore
    )
}

/// How much of a sequence is looked at. No question is as long, and a string can be without end.
const LONGEST_SEQUENCE: usize = 64;

/// How many bytes of answers wait to be taken. A program could ask without ever reading.
const MOST_ANSWERS: usize = 4 << 10;
