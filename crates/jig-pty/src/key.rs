//! [`Key`]: a key of the keyboard, by name.

use std::fmt;
use std::str::FromStr;

/// A key, alone or with modifiers: `enter`, `ctrl-c`, `alt-x`, `shift-tab`, `f5`, `q`.
///
/// Names are read without regard to case, except that of a single letter: `Q` is `shift-q`. Modifiers
/// are joined by `-` or `+`, in any order; `^c` is `ctrl-c`.
///
/// ```
/// use jig_pty::Key;
///
/// let key: Key = "Ctrl+C".parse()?;
/// assert_eq!(key.to_string(), "ctrl-c");
/// assert_eq!(key.bytes(false), b"\x03");
/// assert_eq!("up".parse::<Key>()?.bytes(true), b"\x1bOA");
/// # Ok::<(), jig_pty::KeyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: Modifiers,
}

/// Which key, without modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KeyCode {
    Char(char),
    Enter,
    Tab,
    Escape,
    Backspace,
    /// Up, down, right, left, home, end: keys that have two forms, by the last byte of them.
    Cursor(u8),
    /// Keys with a number, as in `ESC [ 3 ~`.
    Numbered(u8),
    /// F1 to F4, by the last byte of them.
    Function(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
}

impl Key {
    /// What a terminal sends for this key. With `application_cursor`, as a program asked for it,
    /// arrows, home and end have their other form.
    pub fn bytes(&self, application_cursor: bool) -> Vec<u8> {
        // One for each of the modifiers, plus one, as xterm counts.
        let number = 1
            + u8::from(self.modifiers.shift)
            + 2 * u8::from(self.modifiers.alt)
            + 4 * u8::from(self.modifiers.ctrl);
        match self.code {
            KeyCode::Cursor(last) if number > 1 => {
                format!("\x1b[1;{number}{}", last as char).into()
            }
            KeyCode::Cursor(last) if application_cursor => vec![0x1b, b'O', last],
            KeyCode::Cursor(last) => vec![0x1b, b'[', last],
            KeyCode::Numbered(key) if number > 1 => format!("\x1b[{key};{number}~").into(),
            KeyCode::Numbered(key) => format!("\x1b[{key}~").into(),
            KeyCode::Function(last) if number > 1 => {
                format!("\x1b[1;{number}{}", last as char).into()
            }
            KeyCode::Function(last) => vec![0x1b, b'O', last],
            KeyCode::Tab if self.modifiers.shift => self.after_alt(b"\x1b[Z"),
            KeyCode::Tab => self.after_alt(b"\t"),
            KeyCode::Enter => self.after_alt(b"\r"),
            KeyCode::Escape => self.after_alt(b"\x1b"),
            KeyCode::Backspace if self.modifiers.ctrl => self.after_alt(b"\x08"),
            KeyCode::Backspace => self.after_alt(b"\x7f"),
            KeyCode::Char(char) => match control(char).filter(|_| self.modifiers.ctrl) {
                Some(byte) => self.after_alt(&[byte]),
                None => self.after_alt(char.encode_utf8(&mut [0; 4]).as_bytes()),
            },
        }
    }

    /// The control character that this key is: 3 for `ctrl-c`.
    #[cfg(unix)]
    pub(crate) fn control_character(&self) -> Option<u8> {
        match self.code {
            KeyCode::Char(char) if self.modifiers.ctrl && !self.modifiers.alt => control(char),
            _ => None,
        }
    }

    /// The character that this key types into a pipe, if it types one.
    #[cfg(unix)]
    pub(crate) fn typed(&self) -> Option<char> {
        if self.modifiers.ctrl || self.modifiers.alt {
            return None;
        }
        match self.code {
            KeyCode::Char(char) => Some(char),
            KeyCode::Enter => Some('\n'),
            KeyCode::Tab if !self.modifiers.shift => Some('\t'),
            _ => None,
        }
    }

    /// Alt sends an escape first.
    fn after_alt(&self, bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::with_capacity(bytes.len() + 1);
        if self.modifiers.alt {
            all.push(0x1b);
        }
        all.extend_from_slice(bytes);
        all
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let unknown = || KeyError::unknown(text);
        let mut modifiers = Modifiers::default();
        let mut rest = text;
        if let Some(char) = rest.strip_prefix('^')
            && char.chars().count() == 1
        {
            modifiers.ctrl = true;
            rest = char;
        }
        while let Some((word, after)) = rest
            .split_once(['-', '+'])
            .filter(|(word, after)| !word.is_empty() && !after.is_empty())
        {
            match word.to_ascii_lowercase().as_str() {
                "ctrl" | "control" | "c" => modifiers.ctrl = true,
                "alt" | "meta" | "option" | "m" => modifiers.alt = true,
                "shift" | "s" => modifiers.shift = true,
                // `page-up` has a `-` of its own.
                _ => break,
            }
            rest = after;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(char), None) if !char.is_control() => KeyCode::Char(char),
            _ => {
                let name = rest.to_ascii_lowercase();
                let found = NAMES.iter().find(|(known, _)| *known == name);
                found.ok_or_else(unknown)?.1
            }
        };
        Self { code, modifiers }.settled().ok_or_else(|| {
            KeyError(format!(
                "`{text}` is no key of a terminal: ctrl goes with letters, `space` and `@[\\]^_?`"
            ))
        })
    }
}

impl Key {
    /// The one spelling of a key; `None` for a combination that terminals cannot send.
    fn settled(mut self) -> Option<Self> {
        let KeyCode::Char(char) = self.code else {
            return Some(self);
        };
        if self.modifiers.ctrl {
            control(char)?;
            self.code = KeyCode::Char(char.to_ascii_lowercase());
            self.modifiers.shift = false;
        } else if self.modifiers.shift {
            let mut upper = char.to_uppercase();
            if let (Some(one), None) = (upper.next(), upper.next()) {
                self.code = KeyCode::Char(one);
            }
            self.modifiers.shift = false;
        }
        Some(self)
    }
}

/// The name, as it can be parsed again.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Modifiers { ctrl, alt, shift } = self.modifiers;
        for (is_held, name) in [(ctrl, "ctrl-"), (alt, "alt-"), (shift, "shift-")] {
            if is_held {
                f.write_str(name)?;
            }
        }
        match NAMES.iter().find(|(_, code)| *code == self.code) {
            Some((name, _)) => f.write_str(name),
            None => match self.code {
                KeyCode::Char(char) => write!(f, "{char}"),
                code => write!(f, "{code:?}"),
            },
        }
    }
}

/// A text that names no key. It says which names are near.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(String);

impl KeyError {
    fn unknown(text: &str) -> Self {
        let shown: String = text.chars().take(SHOWN_CHARS).collect();
        let shown = jig_proto::visible_line(&shown);
        let name = text.rsplit(['+']).next().unwrap_or(text);
        let name = name.chars().take(SHOWN_CHARS).collect::<String>();
        let name = name.to_ascii_lowercase();
        let bare = name
            .trim_start_matches("ctrl-")
            .trim_start_matches("alt-")
            .trim_start_matches("shift-");
        let near = NAMES
            .iter()
            .map(|(known, _)| (strsim::damerau_levenshtein(bare, known), known))
            .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
            .min_by_key(|(distance, _)| *distance);
        Self(match near {
            Some((_, near)) => format!("there is no key `{shown}`; did you mean `{near}`?"),
            None => format!(
                "there is no key `{shown}`; keys are single characters, `enter`, `tab`, `esc`, `space`, \
                 `backspace`, `delete`, `insert`, `up`, `down`, `left`, `right`, `home`, `end`, \
                 `page-up`, `page-down` and `f1` to `f12`, with `ctrl-`, `alt-` or `shift-` before them"
            ),
        })
    }
}

/// The control character of a key, as terminals have had it since the 1960s.
fn control(char: char) -> Option<u8> {
    match char.to_ascii_uppercase() {
        upper @ '@'..='_' => Some(upper as u8 & 0x1f),
        ' ' => Some(0),
        '/' => Some(0x1f),
        '?' => Some(0x7f),
        _ => None,
    }
}

/// Every name; of several for one key, the first is the one that is printed.
const NAMES: [(&str, KeyCode); 43] = [
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("esc", KeyCode::Escape),
    ("escape", KeyCode::Escape),
    ("space", KeyCode::Char(' ')),
    ("minus", KeyCode::Char('-')),
    ("plus", KeyCode::Char('+')),
    ("backspace", KeyCode::Backspace),
    ("bs", KeyCode::Backspace),
    ("delete", KeyCode::Numbered(3)),
    ("del", KeyCode::Numbered(3)),
    ("insert", KeyCode::Numbered(2)),
    ("ins", KeyCode::Numbered(2)),
    ("up", KeyCode::Cursor(b'A')),
    ("down", KeyCode::Cursor(b'B')),
    ("right", KeyCode::Cursor(b'C')),
    ("left", KeyCode::Cursor(b'D')),
    ("arrow-up", KeyCode::Cursor(b'A')),
    ("arrow-down", KeyCode::Cursor(b'B')),
    ("arrow-right", KeyCode::Cursor(b'C')),
    ("arrow-left", KeyCode::Cursor(b'D')),
    ("home", KeyCode::Cursor(b'H')),
    ("end", KeyCode::Cursor(b'F')),
    ("page-up", KeyCode::Numbered(5)),
    ("pageup", KeyCode::Numbered(5)),
    ("pgup", KeyCode::Numbered(5)),
    ("page-down", KeyCode::Numbered(6)),
    ("pagedown", KeyCode::Numbered(6)),
    ("pgdn", KeyCode::Numbered(6)),
    ("pgdown", KeyCode::Numbered(6)),
    ("f1", KeyCode::Function(b'P')),
    ("f2", KeyCode::Function(b'Q')),
    ("f3", KeyCode::Function(b'R')),
    ("f4", KeyCode::Function(b'S')),
    ("f5", KeyCode::Numbered(15)),
    ("f6", KeyCode::Numbered(17)),
    ("f7", KeyCode::Numbered(18)),
    ("f8", KeyCode::Numbered(19)),
    ("f9", KeyCode::Numbered(20)),
    ("f10", KeyCode::Numbered(21)),
    ("f11", KeyCode::Numbered(23)),
    ("f12", KeyCode::Numbered(24)),
];

/// How much of an unknown name an error repeats.
const SHOWN_CHARS: usize = 40;

#[cfg(test)]
mod tests;
