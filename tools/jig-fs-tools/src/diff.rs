//! Unified diffs, bounded.

use std::time::Duration;

use similar::TextDiff;

use crate::phrases::{beginning, count};

/// What changes in the file at `path`, as a unified diff that is not too long to be looked at.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(3);
    bounded(
        &unified
            .header(&format!("a/{path}"), &format!("b/{path}"))
            .to_string(),
    )
}

fn bounded(diff: &str) -> String {
    let all = diff.lines().count();
    let mut shown = String::new();
    for (index, line) in diff.lines().enumerate() {
        if index == MAX_LINES || shown.len() >= MAX_BYTES {
            let more = count((all - index) as u64, "more line");
            shown.push_str(&format!("… ({more} of the diff)\n"));
            break;
        }
        let start = beginning(line, MAX_LINE_BYTES);
        shown.push_str(start);
        shown.push_str(if start.len() < line.len() {
            "…\n"
        } else {
            "\n"
        });
    }
    shown
}

/// After so long the diff is finished with less care: it stays correct, but may not be the shortest.
const PATIENCE: Duration = Duration::from_millis(500);

/// A person reads it, and a model pays for it: nobody gains from more.
const MAX_LINES: usize = 400;
const MAX_BYTES: usize = 32 * 1024;
const MAX_LINE_BYTES: usize = 2_000;
