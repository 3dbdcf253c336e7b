//! What only a shell understands, in a command that no shell reads.

use jig_programs::template_end;

/// Syntax of a shell in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// A word that does nothing but connect commands or streams: `|`, `&&`, `>`.
    Operator(String),
    /// A word that a shell would replace by something else: `$HOME`, `*.rs`, `~/x`.
    Expansion(String),
}

/// The first thing in a line that only a shell understands; an operator before an expansion. What stands in quotes is
/// meant as it is.
pub(crate) fn shell_syntax(line: &str) -> Option<Syntax> {
    let words = unquoted_words(line);
    let operator = words.iter().skip(1).find(|word| is_operator(word));
    if let Some(operator) = operator {
        return Some(Syntax::Operator(operator.clone()));
    }
    let expansion = words.into_iter().find(|word| is_expanded(word))?;
    Some(Syntax::Expansion(expansion))
}

fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "|" | "||"
            | "|&"
            | "&&"
            | "&"
            | ";"
            | ">"
            | ">>"
            | "<"
            | "<<"
            | "<<<"
            | "2>"
            | "2>>"
            | "&>"
            | "2>&1"
            | "1>&2"
            | ">&2"
            | "2>/dev/null"
            | ">/dev/null"
    )
}

fn is_expanded(word: &str) -> bool {
    let variable = word.split_once('$').is_some_and(|(_, rest)| {
        rest.starts_with(|one: char| one.is_ascii_alphabetic() || matches!(one, '_' | '{' | '('))
    });
    let is_redirected = word.len() > 1 && (word.starts_with('>') || word.starts_with("2>"));
    variable
        || word.contains(['*', '`'])
        || word.starts_with("~/")
        || (word.len() > 1 && word.ends_with(';'))
        || is_redirected
}

/// The words of a line with what stands outside of quotes and templates in each.
fn unquoted_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut at = 0;
    while let Some(one) = line[at..].chars().next() {
        let rest = &line[at..];
        at += match one {
            ' ' | '\t' | '\n' | '\r' => {
                words.extend(word.take());
                1
            }
            // What is quoted leaves a mark, so that `'|'` is not the word `|`.
            '\'' | '"' => {
                word.get_or_insert_default().push(QUOTED);
                past_quote(rest, one)
            }
            '\\' => {
                word.get_or_insert_default().push(QUOTED);
                1 + rest[1..].chars().next().map_or(0, char::len_utf8)
            }
            '{' if let Some(end) = template_end(rest) => {
                word.get_or_insert_default().push(QUOTED);
                end
            }
            one => {
                word.get_or_insert_default().push(one);
                one.len_utf8()
            }
        };
    }
    words.extend(word);
    words
}

/// The length of a text in quotes at the start of `text`, with both.
fn past_quote(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' if quote == '"' => is_escaped = true,
            one if one == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Stands for what was quoted.
const QUOTED: char = '\u{fffc}';

#[cfg(test)]
mod tests;
