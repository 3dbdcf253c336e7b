//! The script of a `sed`.

use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::Regex;

use super::groups;
use crate::pattern::{PatternSyntax, compile};
use crate::stream::CommandFailure;

/// One command, and the lines that it is for.
pub(super) struct SedCommand {
    pub(super) from: Option<SedAddress>,
    pub(super) to: Option<SedAddress>,
    pub(super) negated: bool,
    /// Whether the range has begun and not ended.
    pub(super) active: bool,
    pub(super) act: SedAction,
}

pub(super) enum SedAddress {
    Line(u64),
    Last,
    Match(Regex),
}

pub(super) enum SedAction {
    Substitute(SedSubstitution),
    Transliterate(Vec<(char, char)>),
    Print,
    Delete,
    Quit,
    Number,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
}

pub(super) struct SedSubstitution {
    pub(super) regex: Regex,
    pub(super) replacement: Vec<ReplacementPart>,
    pub(super) global: bool,
    pub(super) print: bool,
    /// The first match that is replaced, from 1.
    pub(super) nth: usize,
}

/// A part of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplacementPart {
    Text(Vec<u8>),
    Group(usize),
}

pub(super) fn parse(script: &str, kind: PatternSyntax) -> Result<Vec<SedCommand>, CommandFailure> {
    let mut reader = SedReader {
        chars: script.chars().peekable(),
        script,
        kind,
    };
    let mut commands = Vec::new();
    loop {
        reader.skip(|c| c.is_whitespace() || c == ';');
        match reader.chars.peek() {
            None => return Ok(commands),
            Some('#') => reader.skip(|c| c != '\n'),
            Some(_) => commands.push(reader.command()?),
        }
    }
}

struct SedReader<'s> {
    chars: Peekable<Chars<'s>>,
    script: &'s str,
    kind: PatternSyntax,
}

impl SedReader<'_> {
    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.chars.next_if(|c| is_skipped(*c)).is_some() {}
    }

    fn wrong(&self, why: &str) -> CommandFailure {
        CommandFailure::Usage(format!("`{}`: {why}", self.script))
    }

    fn command(&mut self) -> Result<SedCommand, CommandFailure> {
        let from = self.address()?;
        let mut to = None;
        if from.is_some() && self.chars.next_if_eq(&',').is_some() {
            to = self.address()?;
            if to.is_none() {
                return Err(self.wrong("after `,` comes a line, `$` or `/PATTERN/`"));
            }
        }
        self.skip(|c| c == ' ');
        let negated = self.chars.next_if_eq(&'!').is_some();
        self.skip(|c| c == ' ');
        let Some(name) = self.chars.next() else {
            return Err(self.wrong("a command is missing"));
        };
        let act = match name {
            's' => SedAction::Substitute(self.substitution()?),
            'y' => SedAction::Transliterate(self.pairs()?),
            'p' => SedAction::Print,
            'd' => SedAction::Delete,
            'q' => SedAction::Quit,
            '=' => SedAction::Number,
            'a' => SedAction::Append(self.text()),
            'i' => SedAction::Insert(self.text()),
            'c' => SedAction::Change(self.text()),
            other => {
                let why =
                    format!("`{other}` is not known here; there are s, y, p, d, q, =, a, i, c");
                return Err(self.wrong(&why));
            }
        };
        self.skip(|c| c == ' ');
        match self.chars.peek() {
            None | Some(';' | '\n' | '#') => {}
            Some('}') => return Err(self.wrong("`{` and `}` are not known here")),
            Some(c) => {
                let why = format!("`{c}` after the command `{name}` is not known");
                return Err(self.wrong(&why));
            }
        }
        Ok(SedCommand {
            from,
            to,
            negated,
            active: false,
            act,
        })
    }

    fn address(&mut self) -> Result<Option<SedAddress>, CommandFailure> {
        self.skip(|c| c == ' ');
        match self.chars.peek().copied() {
            Some('$') => {
                self.chars.next();
                Ok(Some(SedAddress::Last))
            }
            Some(c) if c.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(digit) = self.chars.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                let line = digits.parse().ok().filter(|line| *line > 0);
                let line = line.ok_or_else(|| self.wrong("lines count from 1"))?;
                Ok(Some(SedAddress::Line(line)))
            }
            Some('/') => {
                self.chars.next();
                let pattern = self.until('/')?;
                let ignore_case = self.chars.next_if_eq(&'I').is_some();
                self.pattern(&pattern, ignore_case)
                    .map(|regex| Some(SedAddress::Match(regex)))
            }
            _ => Ok(None),
        }
    }

    fn pattern(&self, pattern: &str, ignore_case: bool) -> Result<Regex, CommandFailure> {
        match pattern.is_empty() {
            true => Err(self.wrong("a pattern is empty")),
            false => compile(pattern, self.kind, ignore_case),
        }
    }

    /// The text up to a character that has no backslash before it. A backslash before that character is
    /// left out, every other one stays.
    fn until(&mut self, end: char) -> Result<String, CommandFailure> {
        let mut text = String::new();
        while let Some(c) = self.chars.next() {
            match c {
                c if c == end => return Ok(text),
                '\\' => match self.chars.next() {
                    Some(c) if c == end => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(self.wrong(&format!("`{end}` is missing at the end")))
    }

    fn delimiter(&mut self) -> Result<char, CommandFailure> {
        let delimiter = self.chars.next();
        let delimiter = delimiter.filter(|c| !c.is_alphanumeric() && !matches!(c, '\n' | '\\'));
        delimiter.ok_or_else(|| self.wrong("after `s` and `y` comes a delimiter, such as `/`"))
    }

    fn substitution(&mut self) -> Result<SedSubstitution, CommandFailure> {
        let delimiter = self.delimiter()?;
        let pattern = self.until(delimiter)?;
        let replacement = self.until(delimiter)?;
        let (mut global, mut print, mut ignore_case, mut nth) = (false, false, false, 0);
        while let Some(c) = self.chars.next_if(char::is_ascii_alphanumeric) {
            match c {
                'g' => global = true,
                'p' => print = true,
                'i' | 'I' => ignore_case = true,
                '0'..='9' => nth = nth * 10 + c as usize - '0' as usize,
                c => {
                    return Err(self.wrong(&format!(
                        "the flag `{c}` is not known; there are g, p, I and numbers"
                    )));
                }
            }
            nth = nth.min(MOST_MATCHES);
        }
        let regex = self.pattern(&pattern, ignore_case)?;
        Ok(SedSubstitution {
            replacement: self.replacement(&replacement, groups(&regex))?,
            regex,
            global,
            print,
            nth: nth.max(1),
        })
    }

    fn replacement(
        &self,
        text: &str,
        groups: usize,
    ) -> Result<Vec<ReplacementPart>, CommandFailure> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let group = match c {
                '&' => 0,
                '\\' => match chars.next() {
                    Some(digit @ '0'..='9') => digit as usize - '0' as usize,
                    Some('n') => {
                        plain.push('\n');
                        continue;
                    }
                    Some('t') => {
                        plain.push('\t');
                        continue;
                    }
                    Some(c) if c.is_ascii_alphabetic() => {
                        return Err(self.wrong(&format!("`\\{c}` in a replacement is not known")));
                    }
                    Some(c) => {
                        plain.push(c);
                        continue;
                    }
                    None => return Err(self.wrong("a backslash stands at the end")),
                },
                c => {
                    plain.push(c);
                    continue;
                }
            };
            if group > groups {
                return Err(self.wrong(&format!("`\\{group}`: the pattern has {groups} groups")));
            }
            parts.push(ReplacementPart::Text(
                std::mem::take(&mut plain).into_bytes(),
            ));
            parts.push(ReplacementPart::Group(group));
        }
        parts.push(ReplacementPart::Text(plain.into_bytes()));
        Ok(parts)
    }

    fn pairs(&mut self) -> Result<Vec<(char, char)>, CommandFailure> {
        let delimiter = self.delimiter()?;
        let [from, to] = [self.until(delimiter)?, self.until(delimiter)?];
        let plain = |text: &str| text.replace("\\n", "\n").replace("\\\\", "\\");
        let (from, to) = (plain(&from), plain(&to));
        match from.chars().count() == to.chars().count() {
            true => Ok(from.chars().zip(to.chars()).collect()),
            false => Err(self.wrong("`y` takes two texts of the same length")),
        }
    }

    /// The text of `a`, `i` and `c`: the rest of the line.
    fn text(&mut self) -> Vec<u8> {
        self.skip(|c| c == ' ');
        if self.chars.next_if_eq(&'\\').is_some() {
            self.skip(|c| c == '\n' || c == ' ');
        }
        let mut text = String::new();
        while let Some(c) = self.chars.next_if(|c| *c != '\n') {
            text.push(c);
        }
        text.into_bytes()
    }
}

/// No line has more matches than this that anybody counts.
const MOST_MATCHES: usize = 1 << 20;
