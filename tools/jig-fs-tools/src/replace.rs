//! Replacing text: [`apply`], which does all of it or nothing.

use std::fmt;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};

use jig_tool::{Hint, hint};

use crate::phrases::{count, quoted};

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacePattern {
    /// Text, or a regular expression.
    pub(crate) old: String,
    /// What comes in its place; with a regular expression, `$1` is its first group.
    pub(crate) new: String,
    pub(crate) is_regex: bool,
    /// Whether it may match more than once.
    pub(crate) all: bool,
}

/// What a caller may not exceed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplaceBounds {
    /// The size of the text, at any time. A few patterns could else make gigabytes of one letter.
    pub(crate) bytes: usize,
    /// How long all matching may take. Some expressions make every match a search through the whole
    /// text, and a tool inside of its host can't be stopped from outside.
    pub(crate) time: Duration,
}

/// A text with its replacements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplacedText {
    pub(crate) text: String,
    /// How many matches were replaced.
    pub(crate) count: u64,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplaceProblem {
    /// The number of the pattern, counted from 1.
    pub(crate) pattern: usize,
    pub(crate) why: String,
    pub(crate) hint: Hint,
}

impl fmt::Display for ReplaceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern {} {}", self.pattern, self.why)
    }
}

/// Applies the patterns in their order, each to what those before it made.
///
/// In a text whose lines all end with `\r\n`, patterns are matched as if they ended with `\n`, which
/// is what callers write, and the ends are put back.
pub(crate) fn apply(
    text: &str,
    patterns: &[ReplacePattern],
    bounds: ReplaceBounds,
) -> Result<ReplacedText, ReplaceProblem> {
    let has_crlf = ends_with_crlf(text);
    let mut text = if has_crlf {
        to_lf(text)
    } else {
        text.to_owned()
    };
    let mut replaced = 0;
    let deadline = Instant::now() + bounds.time;
    for (index, pattern) in patterns.iter().enumerate() {
        let wanted = match has_crlf {
            true => &ReplacePattern {
                old: to_lf(&pattern.old),
                new: to_lf(&pattern.new),
                ..pattern.clone()
            },
            false => pattern,
        };
        let step = ReplaceStep {
            text: &text,
            pattern: wanted,
            limit: bounds.bytes,
            deadline,
        };
        let done = if wanted.is_regex {
            step.regex()
        } else {
            step.literal()
        };
        let done = done.map_err(|(why, hint)| ReplaceProblem {
            pattern: index + 1,
            why,
            hint,
        })?;
        text = done.text;
        replaced += done.count;
    }
    Ok(ReplacedText {
        text: if has_crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        },
        count: replaced,
    })
}

/// Whether there are ends of lines, and all of them are `\r\n`.
pub(crate) fn ends_with_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && ends == text.matches("\r\n").count()
}

pub(crate) fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Why it was not done, and what to do about it.
type ReplaceRefusal = (String, Hint);

/// One pattern on one text.
struct ReplaceStep<'a> {
    text: &'a str,
    pattern: &'a ReplacePattern,
    limit: usize,
    deadline: Instant,
}

impl ReplaceStep<'_> {
    fn literal(&self) -> Result<ReplacedText, ReplaceRefusal> {
        let old = self.pattern.old.as_str();
        if old.is_empty() {
            let why = "has an empty `old`".to_owned();
            return Err((why, hint!("give the text that is to be replaced")));
        }
        let mut out = ReplaceOutput::new(self);
        for (start, _) in self.text.match_indices(old) {
            out.replace(start, start + old.len(), |out| {
                out.push_str(&self.pattern.new)
            })?;
        }
        if out.matches.is_empty() {
            return Err((
                self.not_found(),
                hint!("give the text exactly as it is in the file"),
            ));
        }
        out.finish()
    }

    fn regex(&self) -> Result<ReplacedText, ReplaceRefusal> {
        let regex = RegexBuilder::new(&self.pattern.old)
            .size_limit(REGEX_BYTES)
            .dfa_size_limit(REGEX_BYTES)
            .build()
            .map_err(|error| {
                let why = format!("is not a regular expression that can be used: {error}");
                (why, hint!("set `regex` to false to take it as text"))
            })?;
        check_groups(&regex, &self.pattern.new)?;
        let mut out = ReplaceOutput::new(self);
        for groups in regex.captures_iter(self.text) {
            let Some(whole) = groups.get(0) else { continue };
            if whole.is_empty() {
                let line = line_of(self.text, whole.start());
                let why = format!("matches empty text (line {line})");
                return Err((why, hint!("make it match the text that is to be replaced")));
            }
            out.replace(whole.start(), whole.end(), |out| {
                groups.expand(&self.pattern.new, out)
            })?;
        }
        if out.matches.is_empty() {
            let why = format!("matches nothing: {}", quoted(&self.pattern.old));
            return Err((
                why,
                hint!("`.` does not match the end of a line; `(?s)` and `(?m)` change that"),
            ));
        }
        out.finish()
    }

    /// What to say about text that is not there; often only its white space is different.
    fn not_found(&self) -> String {
        let old = &self.pattern.old;
        let mut said = format!("does not occur in the file: {}", quoted(old));
        let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
            return said;
        };
        let mut lines = self.text.lines();
        if let Some(index) = lines.position(|line| line.trim() == first) {
            let line = index + 1;
            said.push_str(&format!(
                "; line {line} begins like it, but white space or what follows is different"
            ));
        }
        said
    }
}

/// What was made so far.
struct ReplaceOutput<'a> {
    step: &'a ReplaceStep<'a>,
    text: String,
    /// How much of the old text is in `text`, or was replaced.
    done: usize,
    /// Where the matches begin.
    matches: Vec<usize>,
}

impl<'a> ReplaceOutput<'a> {
    fn new(step: &'a ReplaceStep<'a>) -> Self {
        Self {
            step,
            text: String::with_capacity(step.text.len()),
            done: 0,
            matches: Vec::new(),
        }
    }

    fn replace(
        &mut self,
        start: usize,
        end: usize,
        write: impl FnOnce(&mut String),
    ) -> Result<(), ReplaceRefusal> {
        self.text.push_str(&self.step.text[self.done..start]);
        write(&mut self.text);
        self.done = end;
        self.matches.push(start);
        if self.text.len() > self.step.limit {
            let why = format!("makes the file larger than {} bytes", self.step.limit);
            return Err((why, hint!("replace less at once")));
        }
        // The search for one match takes a time that grows with the text alone, but there can be as
        // many matches as characters.
        if Instant::now() > self.step.deadline {
            let why = "takes too long to match".to_owned();
            return Err((why, hint!("use a simpler expression, or plain text")));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ReplacedText, ReplaceRefusal> {
        if self.matches.len() > 1 && !self.step.pattern.all {
            return Err((
                self.where_it_matches(),
                hint!("give more of the text around it, or set `all` to true"),
            ));
        }
        self.text.push_str(&self.step.text[self.done..]);
        if self.text.len() > self.step.limit {
            let why = format!("makes the file larger than {} bytes", self.step.limit);
            return Err((why, hint!("replace less at once")));
        }
        Ok(ReplacedText {
            text: self.text,
            count: self.matches.len() as u64,
        })
    }

    fn where_it_matches(&self) -> String {
        let shown = self.matches.iter().take(LINES_NAMED);
        let lines: Vec<String> = shown
            .map(|start| line_of(self.step.text, *start).to_string())
            .collect();
        let more = if self.matches.len() > LINES_NAMED {
            ", …"
        } else {
            ""
        };
        let times = count(self.matches.len() as u64, "time");
        format!("matches {times} (lines {}{more})", lines.join(", "))
    }
}

/// Every group that `new` names must exist: the regex crate puts nothing in the place of one that
/// does not, and text would be lost.
fn check_groups(regex: &Regex, new: &str) -> Result<(), ReplaceRefusal> {
    let mut rest = new;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let name = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map_or("", |(name, _)| name),
            None => {
                let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                &rest[..end]
            }
        };
        let exists = match name.parse::<usize>() {
            Ok(number) => number < regex.captures_len(),
            // A dollar sign without a name stands for itself.
            Err(_) => name.is_empty() || regex.capture_names().flatten().any(|one| one == name),
        };
        if !exists {
            let why = format!("has no group {}, which its `new` refers to", quoted(name));
            return Err((
                why,
                hint!("write `$$` for a dollar sign, and `${{1}}` before a letter or digit"),
            ));
        }
    }
    Ok(())
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// How large a compiled expression may be. `(a{1000}){1000}` would else take all memory.
const REGEX_BYTES: usize = 1024 * 1024;

/// How many lines an error names.
const LINES_NAMED: usize = 5;

#[cfg(test)]
mod tests;
