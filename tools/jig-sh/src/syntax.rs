//! From the text of a script to what is to be run.

use std::iter::Peekable;
use std::str::CharIndices;

/// A text is not a script of this shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, and what to write instead.
    pub message: String,
    /// Where, in bytes from the beginning.
    pub at: usize,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.at)
    }
}

impl std::error::Error for SyntaxError {}

/// Pipelines, and when each of them runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellScript {
    pub(crate) items: Vec<(PipelineCondition, Pipeline)>,
}

/// When a pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipelineCondition {
    Always,
    AfterSuccess,
    AfterFailure,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pipeline {
    /// Whether `!` stands before it.
    pub(crate) negated: bool,
    pub(crate) commands: Vec<ShellCommand>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellCommand {
    pub(crate) words: Vec<ShellWord>,
    pub(crate) redirects: Vec<Redirect>,
}

/// A word in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellWord(pub(crate) Vec<WordPiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPiece {
    /// Text in which `*`, `?` and `[` stand for other text.
    Bare(String),
    /// Text that stands for itself.
    Quoted(String),
    /// `$?`.
    Status,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// `< FILE`
    Input(ShellWord),
    /// `<<< TEXT`
    Text(ShellWord),
    /// `> FILE`, `2>> FILE`, `&> FILE`
    Output {
        streams: RedirectedStreams,
        to: ShellWord,
        append: bool,
    },
    /// `2>&1`
    ErrorToOutput,
    /// `>&2`
    OutputToError,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectedStreams {
    Output,
    Error,
    Both,
}

/// Reads a whole script. If any of it is wrong, all of it is.
pub(crate) fn parse(text: &str) -> Result<ShellScript, SyntaxError> {
    let mut parser = ShellParser {
        tokens: ShellLexer {
            text,
            chars: text.char_indices().peekable(),
        },
    };
    parser.script()
}

struct ShellParser<'t> {
    tokens: ShellLexer<'t>,
}

impl ShellParser<'_> {
    fn script(&mut self) -> Result<ShellScript, SyntaxError> {
        let mut script = ShellScript::default();
        let mut when = PipelineCondition::Always;
        loop {
            let at = self.tokens.at();
            let (pipeline, end) = self.pipeline()?;
            let next = match end {
                ShellToken::And => Some(PipelineCondition::AfterSuccess),
                ShellToken::Or => Some(PipelineCondition::AfterFailure),
                _ => None,
            };
            match pipeline {
                Some(pipeline) => script.items.push((when, pipeline)),
                // An empty line is fine; an empty side of `&&` is not.
                None if next.is_some()
                    || end == ShellToken::Semicolon
                    || when != PipelineCondition::Always =>
                {
                    return Err(error(at, "a command is missing here"));
                }
                None => {}
            }
            match (next, end) {
                (Some(next), _) => {
                    when = next;
                    self.tokens.skip_lines();
                }
                (None, ShellToken::End) => return Ok(script),
                (None, _) => when = PipelineCondition::Always,
            }
        }
    }

    /// The next pipeline, and what stands after it.
    fn pipeline(&mut self) -> Result<(Option<Pipeline>, ShellToken), SyntaxError> {
        let mut commands = Vec::new();
        let mut negated = false;
        loop {
            let at = self.tokens.at();
            let (command, end) = self.command(commands.is_empty(), &mut negated)?;
            let is_empty = command.words.is_empty() && command.redirects.is_empty();
            match (is_empty, &end) {
                (true, ShellToken::Pipe) => {
                    return Err(error(at, "a command is missing beside `|`"));
                }
                (true, _) if !commands.is_empty() || negated => {
                    return Err(error(at, "a command is missing here"));
                }
                (true, _) => return Ok((None, end)),
                (false, _) if command.words.is_empty() => {
                    return Err(error(
                        at,
                        "a redirection needs a command before it, such as `cat`",
                    ));
                }
                (false, _) => commands.push(command),
            }
            if commands.len() > MOST_COMMANDS {
                return Err(error(at, "there are too many commands in one pipeline"));
            }
            if end != ShellToken::Pipe {
                return Ok((Some(Pipeline { negated, commands }), end));
            }
            self.tokens.skip_lines();
        }
    }

    fn command(
        &mut self,
        is_first: bool,
        negated: &mut bool,
    ) -> Result<(ShellCommand, ShellToken), SyntaxError> {
        let mut command = ShellCommand::default();
        loop {
            let at = self.tokens.at();
            match self.tokens.next()? {
                ShellToken::Word(word) if command.words.is_empty() => {
                    if is_first && word.is("!") {
                        *negated = !*negated;
                        continue;
                    }
                    check_first(&word, at)?;
                    command.words.push(word);
                }
                ShellToken::Word(word) => command.words.push(word),
                ShellToken::Redirect(kind) => {
                    let redirect = self.redirect(kind)?;
                    command.redirects.push(redirect);
                }
                end => return Ok((command, end)),
            }
        }
    }

    fn redirect(&mut self, kind: RedirectKind) -> Result<Redirect, SyntaxError> {
        let (streams, append) = match kind {
            RedirectKind::ErrorToOutput => return Ok(Redirect::ErrorToOutput),
            RedirectKind::OutputToError => return Ok(Redirect::OutputToError),
            RedirectKind::Input => return self.file().map(Redirect::Input),
            RedirectKind::Text => return self.file().map(Redirect::Text),
            RedirectKind::Output { streams, append } => (streams, append),
        };
        let to = self.file()?;
        Ok(Redirect::Output {
            streams,
            to,
            append,
        })
    }

    fn file(&mut self) -> Result<ShellWord, SyntaxError> {
        let at = self.tokens.at();
        match self.tokens.next()? {
            ShellToken::Word(word) => Ok(word),
            _ => Err(error(at, "the file of a redirection is missing")),
        }
    }
}

/// What shells know and this one does not, where a command begins.
fn check_first(word: &ShellWord, at: usize) -> Result<(), SyntaxError> {
    let [WordPiece::Bare(text), ..] = word.0.as_slice() else {
        return Ok(());
    };
    if let Some((name, _)) = text.split_once('=')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        return Err(error(at, "there are no variables in this shell"));
    }
    if word.0.len() == 1 && RESERVED.contains(&text.as_str()) {
        let message =
            format!("`{text}`: there are no loops, conditions or functions in this shell");
        return Err(error(at, message));
    }
    Ok(())
}

impl ShellWord {
    /// Whether it is this text, without quotes.
    fn is(&self, text: &str) -> bool {
        matches!(self.0.as_slice(), [WordPiece::Bare(bare)] if bare == text)
    }

    /// The text of it.
    pub(crate) fn text(&self, status: u8) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            WordPiece::Bare(text) | WordPiece::Quoted(text) => text.clone(),
            WordPiece::Status => status.to_string(),
        });
        pieces.collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum ShellToken {
    Word(ShellWord),
    Redirect(RedirectKind),
    Pipe,
    And,
    Or,
    Semicolon,
    Newline,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedirectKind {
    Input,
    Text,
    Output {
        streams: RedirectedStreams,
        append: bool,
    },
    ErrorToOutput,
    OutputToError,
}

struct ShellLexer<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
}

impl ShellLexer<'_> {
    /// Where the next character is.
    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn rest(&mut self) -> &str {
        let at = self.at();
        &self.text[at..]
    }

    /// Takes `text` if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            for _ in text.chars() {
                self.chars.next();
            }
        }
        comes
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => {
                    self.chars.next();
                }
                Some('\\') if self.rest().starts_with("\\\n") => {
                    self.take("\\\n");
                }
                Some('#') => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                _ => return,
            }
        }
    }

    /// Skips the ends of lines after an operator that needs something on its right.
    fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.take("\n") {
            self.skip_blanks();
        }
    }

    fn next(&mut self) -> Result<ShellToken, SyntaxError> {
        self.skip_blanks();
        let at = self.at();
        for (text, token) in OPERATORS {
            if self.take(text) {
                return match token {
                    Ok(token) => Ok(token.token()),
                    Err(why) => Err(error(at, *why)),
                };
            }
        }
        match self.peek() {
            None => Ok(ShellToken::End),
            Some(_) => self.word().map(ShellToken::Word),
        }
    }

    fn word(&mut self) -> Result<ShellWord, SyntaxError> {
        let start = self.at();
        let mut pieces = Vec::new();
        let mut bare = String::new();
        loop {
            let at = self.at();
            match self.peek() {
                None => break,
                Some(c) if c.is_ascii_whitespace() || "|&;<>()".contains(c) => break,
                Some('\'') => {
                    push_bare(&mut pieces, &mut bare);
                    pieces.push(WordPiece::Quoted(self.single_quoted(at)?));
                }
                Some('"') => {
                    push_bare(&mut pieces, &mut bare);
                    self.double_quoted(at, &mut pieces)?;
                }
                Some('\\') => {
                    self.chars.next();
                    let Some((_, c)) = self.chars.next() else {
                        return Err(error(at, "a backslash stands at the end"));
                    };
                    if c != '\n' {
                        push_bare(&mut pieces, &mut bare);
                        pieces.push(WordPiece::Quoted(c.to_string()));
                    }
                }
                Some('$') => match self.dollar(at)? {
                    WordPiece::Quoted(text) => bare.push_str(&text),
                    piece => {
                        push_bare(&mut pieces, &mut bare);
                        pieces.push(piece);
                    }
                },
                Some('`') => return Err(error(at, NO_SUBSTITUTION)),
                Some('~') if at == start => return Err(error(at, NO_HOME)),
                Some(c) => {
                    self.chars.next();
                    bare.push(c);
                }
            }
        }
        push_bare(&mut pieces, &mut bare);
        Ok(ShellWord(pieces))
    }

    fn single_quoted(&mut self, at: usize) -> Result<String, SyntaxError> {
        self.chars.next();
        let mut text = String::new();
        for (_, c) in self.chars.by_ref() {
            match c {
                '\'' => return Ok(text),
                c => text.push(c),
            }
        }
        Err(error(at, "this quote has no end: `'`"))
    }

    fn double_quoted(&mut self, at: usize, pieces: &mut Vec<WordPiece>) -> Result<(), SyntaxError> {
        self.chars.next();
        let mut text = String::new();
        loop {
            let here = self.at();
            match self.peek() {
                None => return Err(error(at, "this quote has no end: `\"`")),
                Some('"') => {
                    self.chars.next();
                    pieces.push(WordPiece::Quoted(text));
                    return Ok(());
                }
                Some('\\') => {
                    self.chars.next();
                    match self.chars.next() {
                        Some((_, c @ ('"' | '\\' | '$' | '`'))) => text.push(c),
                        Some((_, '\n')) => {}
                        Some((_, c)) => text.extend(['\\', c]),
                        None => return Err(error(at, "this quote has no end: `\"`")),
                    }
                }
                Some('$') => match self.dollar(here)? {
                    WordPiece::Quoted(dollar) => text.push_str(&dollar),
                    piece => {
                        pieces.push(WordPiece::Quoted(std::mem::take(&mut text)));
                        pieces.push(piece);
                    }
                },
                Some('`') => return Err(error(here, NO_SUBSTITUTION)),
                Some(c) => {
                    self.chars.next();
                    text.push(c);
                }
            }
        }
    }

    /// `$?`, or a `$` that is one because nothing follows that a shell would read as a name.
    fn dollar(&mut self, at: usize) -> Result<WordPiece, SyntaxError> {
        self.chars.next();
        match self.peek() {
            Some('?') => {
                self.chars.next();
                Ok(WordPiece::Status)
            }
            Some('(') => Err(error(at, NO_SUBSTITUTION)),
            Some(c) if c.is_ascii_alphanumeric() || "_{@*#!$-".contains(c) => {
                Err(error(at, NO_VARIABLES))
            }
            // As in `"cost: 5$"`.
            _ => Ok(WordPiece::Quoted("$".to_owned())),
        }
    }
}

fn push_bare(pieces: &mut Vec<WordPiece>, bare: &mut String) {
    if !bare.is_empty() {
        pieces.push(WordPiece::Bare(std::mem::take(bare)));
    }
}

fn error(at: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError {
        message: message.into(),
        at,
    }
}

/// A token that is a text of its own.
#[derive(Debug, Clone, Copy)]
enum FixedToken {
    Pipe,
    And,
    Or,
    Semicolon,
    Newline,
    Redirect(RedirectKind),
}

impl FixedToken {
    fn token(self) -> ShellToken {
        match self {
            Self::Pipe => ShellToken::Pipe,
            Self::And => ShellToken::And,
            Self::Or => ShellToken::Or,
            Self::Semicolon => ShellToken::Semicolon,
            Self::Newline => ShellToken::Newline,
            Self::Redirect(kind) => ShellToken::Redirect(kind),
        }
    }
}

const fn to(streams: RedirectedStreams, append: bool) -> Result<FixedToken, &'static str> {
    Ok(FixedToken::Redirect(RedirectKind::Output {
        streams,
        append,
    }))
}

/// What stands for itself, longer ones first, and why some of it is not known.
const OPERATORS: &[(&str, Result<FixedToken, &str>)] = &[
    ("\n", Ok(FixedToken::Newline)),
    (";;", Err("`;;` has no meaning in this shell")),
    (";", Ok(FixedToken::Semicolon)),
    ("|&", Err("write `2>&1 |` instead of `|&`")),
    ("||", Ok(FixedToken::Or)),
    ("|", Ok(FixedToken::Pipe)),
    ("&&", Ok(FixedToken::And)),
    ("&>>", to(RedirectedStreams::Both, true)),
    ("&>", to(RedirectedStreams::Both, false)),
    (
        "&",
        Err("nothing runs in the background in this shell; quote the `&` if it is text"),
    ),
    (
        "2>&1",
        Ok(FixedToken::Redirect(RedirectKind::ErrorToOutput)),
    ),
    ("2>&", Err(TWO_KNOWN)),
    (
        "1>&2",
        Ok(FixedToken::Redirect(RedirectKind::OutputToError)),
    ),
    ("1>&", Err(TWO_KNOWN)),
    (">&2", Ok(FixedToken::Redirect(RedirectKind::OutputToError))),
    (">&", Err(TWO_KNOWN)),
    ("2>>", to(RedirectedStreams::Error, true)),
    ("2>", to(RedirectedStreams::Error, false)),
    ("1>>", to(RedirectedStreams::Output, true)),
    ("1>", to(RedirectedStreams::Output, false)),
    (">>", to(RedirectedStreams::Output, true)),
    (">(", Err("`>(…)` is not known in this shell")),
    (">|", to(RedirectedStreams::Output, false)),
    (">", to(RedirectedStreams::Output, false)),
    ("<<<", Ok(FixedToken::Redirect(RedirectKind::Text))),
    (
        "<<",
        Err("here-documents are not known in this shell; write `<<< 'TEXT'`"),
    ),
    (
        "<(",
        Err("`<(…)` is not known in this shell; write the output to a file first"),
    ),
    ("<&", Err(TWO_KNOWN)),
    ("<", Ok(FixedToken::Redirect(RedirectKind::Input))),
    (
        "(",
        Err("there are no subshells in this shell; quote the `(` if it is text"),
    ),
    (
        ")",
        Err("there is no `(` for this `)`; quote it if it is text"),
    ),
];

const TWO_KNOWN: &str = "only `2>&1` and `>&2` are known";
const NO_VARIABLES: &str =
    "there are no variables in this shell; write '$' in single quotes if it is text";
const NO_SUBSTITUTION: &str =
    "a command's output cannot be put into a line in this shell; use a pipe";
const NO_HOME: &str = "`~` has no meaning in this shell: there is no home; quote it if it is text";

/// The words that begin a compound command.
const RESERVED: [&str; 16] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "function", "{", "}", "[[",
];

/// The most commands of a pipeline. Each has a thread.
const MOST_COMMANDS: usize = 64;

#[cfg(test)]
mod tests;
