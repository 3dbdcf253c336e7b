//! Diffs in colour.

use crate::output::{CYAN, DIM};
use anstyle::{AnsiColor, Style};

/// The text, with the lines of unified diffs in colour. What is not a diff is left alone.
pub(crate) fn coloured(text: &str) -> String {
    let mut coloured = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        if body.starts_with("@@ ") {
            inside = true;
        } else if inside && !body.starts_with(['+', '-', ' ', '\\']) {
            inside = false;
        }
        let style = match body.as_bytes().first() {
            Some(b'@') if inside => CYAN,
            Some(b'+') if inside => AnsiColor::Green.on_default(),
            Some(b'-') if inside => AnsiColor::Red.on_default(),
            Some(b'-') if body.starts_with("--- ") => DIM,
            Some(b'+') if body.starts_with("+++ ") => DIM,
            _ => Style::new(),
        };
        coloured.push_str(&format!("{style}{body}{style:#}{end}"));
    }
    coloured
}
