//! Words of a command that stands in one line.

/// The words of a line by POSIX quoting: `'…'` is literal, `"…"` knows `\"`, `\\`, `\$` and
/// `` \` ``, a backslash takes the next character. Nothing is expanded, and `#`, `|`, `;` and `&`
/// are ordinary characters, because no shell will see them. A template outside of quotes is a part of its word with all
/// that it holds, spaces and quotes included.
pub fn split_line(line: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(one) = rest.next() {
        let here = line.len() - rest.as_str().len() - one.len_utf8();
        match one {
            '{' if let Some(end) = template_end(&line[here..]) => {
                word.get_or_insert_default()
                    .push_str(&line[here..here + end]);
                rest = line[here + end..].chars();
            }
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(SplitError::OpenQuote('\''))? {
                        '\'' => break,
                        one => word.push(one),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(SplitError::OpenQuote('"'))? {
                        '"' => break,
                        '\\' => match rest.next().ok_or(SplitError::OpenQuote('"'))? {
                            one @ ('"' | '\\' | '$' | '`') => word.push(one),
                            '\n' => {}
                            one => word.extend(['\\', one]),
                        },
                        one => word.push(one),
                    }
                }
            }
            '\\' => match rest.next().ok_or(SplitError::TrailingBackslash)? {
                '\n' => {}
                one => word.get_or_insert_default().push(one),
            },
            one => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Where the template that begins at the start of `text` ends, behind its last brace; `None` if none begins there, or
/// if it is not closed.
///
/// Texts in quotes may hold what would end it.
pub fn template_end(text: &str) -> Option<usize> {
    let close = match text.get(..2)? {
        "{{" => "}}",
        "{%" => "%}",
        "{#" => return Some(text.find("#}")? + 2),
        _ => return None,
    };
    let mut open: Option<char> = None;
    let mut is_escaped = false;
    for (at, one) in text.char_indices().skip(2) {
        match (open, one) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(quote), one) if quote == one => open = None,
            (None, '"' | '\'') => open = Some(one),
            (None, _) if text[at..].starts_with(close) => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Why a line cannot be split into words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A quote that is not closed.
    #[error("the quote {0} is not closed")]
    OpenQuote(char),
    /// A backslash at the end.
    #[error("there is nothing after the last backslash")]
    TrailingBackslash,
}

#[cfg(test)]
mod tests;
