//! Patterns as `grep` and `sed` write them.

use regex::bytes::{Regex, RegexBuilder};

use crate::stream::CommandFailure;

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternSyntax {
    /// `\(`, `\{` and `\|` are special.
    Basic,
    /// `(`, `{`, `|`, `+` and `?` are special.
    Extended,
    /// Nothing is special.
    Fixed,
}

/// Compiles a pattern. It takes time in proportion to what it is matched with, whatever it is.
pub(crate) fn compile(
    pattern: &str,
    kind: PatternSyntax,
    ignore_case: bool,
) -> Result<Regex, CommandFailure> {
    let regex = translate(pattern, kind).map_err(CommandFailure::Usage)?;
    build(&regex, ignore_case, pattern)
}

/// Compiles a regex of the library's own syntax; `pattern` is what it was.
pub(crate) fn build(
    regex: &str,
    ignore_case: bool,
    pattern: &str,
) -> Result<Regex, CommandFailure> {
    RegexBuilder::new(regex)
        .case_insensitive(ignore_case)
        .build()
        .map_err(|_| {
            CommandFailure::Usage(format!("`{pattern}` is not a pattern that can be used"))
        })
}

/// The pattern in the syntax of the library.
pub(crate) fn translate(pattern: &str, kind: PatternSyntax) -> Result<String, String> {
    if kind == PatternSyntax::Fixed {
        return Ok(regex::escape(pattern));
    }
    let extended = kind == PatternSyntax::Extended;
    let chars: Vec<char> = pattern.chars().collect();
    let mut regex = String::new();
    let mut at = 0;
    // Whether an expression begins here, so that `*` and `^` are something else than after one.
    let mut starts = true;
    while let Some(&c) = chars.get(at) {
        at += 1;
        let next = chars.get(at).copied();
        let mut begins = false;
        match c {
            '\\' => {
                let Some(escaped) = next else {
                    return Err(format!("`{pattern}` ends with a backslash"));
                };
                at += 1;
                match escaped {
                    '(' | '|' if !extended => {
                        regex.push(escaped);
                        begins = true;
                    }
                    ')' | '{' | '}' | '+' | '?' if !extended => regex.push(escaped),
                    '<' => regex.push_str(r"\b{start}"),
                    '>' => regex.push_str(r"\b{end}"),
                    'b' | 'B' | 'w' | 'W' | 's' | 'S' | 'd' | 'D' | 'n' | 't' => {
                        regex.extend(['\\', escaped]);
                    }
                    '1'..='9' => {
                        return Err(format!(
                            "`{pattern}`: `\\{escaped}` in a pattern is not known here"
                        ));
                    }
                    c if c.is_alphanumeric() => {
                        return Err(format!("`{pattern}`: `\\{c}` is not known here"));
                    }
                    c => regex.push_str(&regex::escape(&c.to_string())),
                }
            }
            '[' => at = bracket(&chars, at, &mut regex, pattern)?,
            '(' | '|' if extended => {
                regex.push(c);
                begins = true;
            }
            '{' if extended && next.is_some_and(|c| c.is_ascii_digit()) => {
                while let Some(&c) = chars.get(at - 1) {
                    regex.push(c);
                    at += 1;
                    if c == '}' {
                        break;
                    }
                }
                at -= 1;
            }
            ')' | '+' | '?' if extended => regex.push(c),
            '*' if starts => regex.push_str(r"\*"),
            '*' | '.' => regex.push(c),
            '^' if extended || starts => {
                regex.push('^');
                begins = true;
            }
            '$' if extended || is_end(&chars[at..]) => regex.push('$'),
            c => regex.push_str(&regex::escape(&c.to_string())),
        }
        starts = begins;
    }
    Ok(regex)
}

/// Whether a `$` before this is the end of a basic expression.
fn is_end(rest: &[char]) -> bool {
    matches!(rest, [] | ['\\', ')' | '|', ..])
}

/// Copies a bracket expression whose `[` is before `at`, and gives where it ends.
fn bracket(
    chars: &[char],
    mut at: usize,
    regex: &mut String,
    pattern: &str,
) -> Result<usize, String> {
    regex.push('[');
    if chars.get(at) == Some(&'^') {
        regex.push('^');
        at += 1;
    }
    let start = at;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            ']' if at - 1 > start => {
                regex.push(']');
                return Ok(at);
            }
            '[' if chars.get(at) == Some(&':') => {
                let class: String = chars[at - 1..]
                    .iter()
                    .take_while(|c| **c != ']')
                    .chain([&']'])
                    .collect();
                at += class.chars().count() - 1;
                regex.push_str(&class);
            }
            '-' if at - 1 == start || chars.get(at) == Some(&']') => regex.push_str(r"\-"),
            '-' => regex.push('-'),
            c if c.is_alphanumeric() || c.is_whitespace() => regex.push(c),
            c if c.is_ascii_punctuation() => regex.extend(['\\', c]),
            c => regex.push(c),
        }
    }
    Err(format!("`{pattern}`: a `[` has no `]`"))
}

#[cfg(test)]
mod tests;
