//! Results of bounded size, cut between characters, with a marker of what was cut.

use jig_proto::{Block, Content, Text, ToolError};

/// The most text of a result, in bytes. A tool can return any amount, and a model pays for each.
pub(crate) const MAX_RESULT: usize = 256 * 1024;

/// The most causes of an error.
const MAX_TRACE: usize = 100;

/// Cuts the text blocks of a result so that they hold at most `most` bytes together.
pub(crate) fn bound(content: Content, most: usize) -> Content {
    let total = text_bytes(&content);
    if total <= most {
        return content;
    }
    let mut left = most;
    let mut kept = Vec::new();
    for block in content.into_blocks() {
        match block {
            Block::Text(text) if text.text.len() > left => {
                let end = text.text.floor_char_boundary(left);
                let mut cut = text.text[..end].to_owned();
                let (from, to) = (kilobytes(total), kilobytes(most));
                cut.push_str(&format!("\n... [truncated, {from} KB → {to} KB]"));
                kept.push(Block::Text(Text { text: cut, ..text }));
                return kept.into_iter().collect();
            }
            block => {
                left = left.saturating_sub(block_bytes(&block));
                kept.push(block);
            }
        }
    }
    kept.into_iter().collect()
}

/// Cuts the words of an error likewise.
pub(crate) fn bound_error(mut error: ToolError, most: usize) -> ToolError {
    let mut left = most;
    for text in std::iter::once(&mut error.message).chain(&mut error.trace) {
        if text.len() > left {
            let total = kilobytes(text.len());
            text.truncate(text.floor_char_boundary(left));
            let kept = kilobytes(text.len());
            text.push_str(&format!("\n... [truncated, {total} KB → {kept} KB]"));
        }
        left = left.saturating_sub(text.len());
    }
    error.trace.truncate(MAX_TRACE);
    error
}

/// How many bytes the text blocks of a result hold together.
pub(crate) fn text_bytes(content: &Content) -> usize {
    content.blocks().iter().map(block_bytes).sum()
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.text.len(),
        _ => 0,
    }
}

fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_cut_too() {
        let mut error = ToolError::new("x".repeat(5000));
        error.trace = vec!["y".repeat(5000); 300];
        let bounded = bound_error(error, 1024);
        assert!(bounded.message.starts_with("xxx") && bounded.message.contains("[truncated"));
        assert!(bounded.message.len() < 1100);
        assert!(bounded.trace.len() <= 100 && bounded.trace.iter().all(|cause| cause.len() < 100));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let content = Content::text("short");
        assert_eq!(bound(content.clone(), 5), content);
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters_and_says_so() {
        let text = "ü".repeat(4096);
        let bounded = bound(Content::text(text), 2049).to_text();
        let (kept, marker) = bounded.split_once('\n').unwrap();
        assert_eq!(kept, "ü".repeat(1024));
        assert_eq!(marker, "... [truncated, 8 KB → 3 KB]");
    }
}
