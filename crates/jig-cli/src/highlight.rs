//! Code in colour: comments, strings, numbers and the words that most languages share.
//!
//! It knows no language. It reads line by line, and a mistake costs a colour, never a character.

use anstyle::{AnsiColor, Style};

use crate::output::{CYAN, DIM};

/// The code of a file with this name, in colour; as it is if the name tells no language.
pub(crate) fn coloured(file: &str, code: &str) -> String {
    let Some((_, extension)) = file.rsplit_once('.') else {
        return code.to_owned();
    };
    let comment = match extension {
        "rs" | "c" | "h" | "cc" | "cpp" | "hpp" | "js" | "jsx" | "ts" | "tsx" | "go" | "java"
        | "kt" | "swift" | "scala" | "zig" => "//",
        "py" | "sh" | "bash" | "toml" | "yaml" | "yml" | "rb" | "pl" | "nix" => "#",
        _ => return code.to_owned(),
    };
    code.split_inclusive('\n')
        .map(|line| coloured_line(line, comment))
        .collect()
}

fn coloured_line(line: &str, comment: &str) -> String {
    let mut out = String::with_capacity(line.len() + 32);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, style) = if rest.starts_with(comment) {
            (rest.trim_end_matches('\n').len(), DIM)
        } else if first == '"' {
            (string_length(rest), AnsiColor::Green.on_default())
        } else if first.is_ascii_digit() {
            (
                run(rest, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.'),
                CYAN,
            )
        } else if first.is_alphabetic() || first == '_' {
            let length = run(rest, |c| c.is_alphanumeric() || c == '_');
            let known = KEYWORDS.contains(&&rest[..length]);
            (length, if known { KEYWORD } else { Style::new() })
        } else {
            (first.len_utf8(), Style::new())
        };
        let (piece, after) = rest.split_at(length.max(first.len_utf8()));
        out.push_str(&format!("{style}{piece}{style:#}"));
        rest = after;
    }
    out
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// To the closing quote, or to the end of the line.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            '"' if !escaped => return at + 1,
            c => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

const KEYWORD: Style = AnsiColor::Magenta.on_default();

const KEYWORDS: &[&str] = &[
    "as",
    "async",
    "await",
    "break",
    "case",
    "class",
    "const",
    "continue",
    "def",
    "elif",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "let",
    "loop",
    "match",
    "mod",
    "mut",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "package",
    "pub",
    "raise",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "trait",
    "true",
    "True",
    "False",
    "try",
    "type",
    "use",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Without its colours the code is what it was, whatever it holds.
    #[test]
    fn nothing_is_lost() {
        for code in [
            "fn main() { let x = \"a \\\" b\"; } // done\n",
            "# ümlaut \"open\nx = 1_000.5 'q'\n",
            "\"never closed",
            "",
            "\n\n",
        ] {
            for file in ["a.rs", "a.py", "a.txt", "Makefile"] {
                let coloured = coloured(file, code);
                assert_eq!(
                    anstream::adapter::strip_str(&coloured).to_string(),
                    code,
                    "{file}"
                );
            }
        }
    }

    #[test]
    fn code_is_coloured_and_text_is_not() {
        assert!(coloured("a.rs", "let x = 1;").contains('\u{1b}'));
        assert_eq!(coloured("a.txt", "let x = 1;"), "let x = 1;");
    }
}
