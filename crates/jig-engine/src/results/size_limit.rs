//! Results of bounded size, cut between characters, with a marker of what was cut.

use jig_proto::{Block, Content, Text, ToolError};

/// The most text of a result, in bytes. A tool can return any amount, and a model pays for each.
pub(crate) const MAX_RESULT: usize = 256 * 1024;

/// The most causes of an error.
const MAX_TRACE: usize = 100;

/// The most binary data of a result, in bytes of base64, for a tool that has no threshold of its own: images are
/// large, and a model pays for what they show and not for their bytes.
pub(crate) const MAX_BINARY: usize = 8 * 1024 * 1024;

/// Cuts the text blocks of a result so that they hold at most `most` bytes together.
///
/// After the cut, only what is no text is left of the result. JSON beside the text has the same limit for
/// itself, and is left out where it is larger.
pub(crate) fn bound(content: Content, most: usize) -> Content {
    let total = text_bytes(&content);
    let is_large = |block: &Block| is_beside(block) && block.text_bytes() > most;
    if total <= most && !content.blocks().iter().any(is_large) {
        return content;
    }
    let mut left = Some(most);
    let mut kept = Vec::new();
    for block in content.into_blocks() {
        if is_beside(&block) {
            match block.text_bytes() {
                bytes if bytes <= most => kept.push(block),
                bytes if matches!(block, Block::Structured(_)) => {
                    let bytes = kilobytes(bytes);
                    kept.push(Block::text(format!(
                        "[structured content of {bytes} KB was left out]"
                    )));
                }
                _ => {}
            }
            continue;
        }
        let Some(room) = left else {
            // What the text was about may be shown all the same.
            if block.binary_bytes() > 0 && matches!(block, Block::Foreign(_)) {
                kept.push(block);
            }
            continue;
        };
        match room.checked_sub(block_bytes(&block)) {
            Some(rest) => {
                left = Some(rest);
                kept.push(block);
            }
            None => {
                left = None;
                kept.push(cut(block, room, total, most));
            }
        }
    }
    kept.into_iter().collect()
}

/// The beginning of a block that is too large.
fn cut(block: Block, room: usize, total: usize, most: usize) -> Block {
    let mut text = match block {
        Block::Text(text) => text,
        other => Text {
            text: other.in_words(),
            ..Text::default()
        },
    };
    text.text.truncate(text.text.floor_char_boundary(room));
    let (from, to) = (kilobytes(total), kilobytes(most));
    let marker = format!("\n... [truncated, {from} KB → {to} KB]");
    text.text.push_str(&marker);
    Block::Text(text)
}

/// Leaves binary data out that is too large together; a note says what it was.
pub(crate) fn without_large(content: Content, most: usize) -> Content {
    let bytes = content.blocks().iter().map(Block::binary_bytes);
    if bytes.sum::<usize>() <= most {
        return content;
    }
    let mut left = most;
    let blocks = content.into_blocks().into_iter();
    let blocks = blocks.map(|block| match left.checked_sub(block.binary_bytes()) {
        Some(rest) => {
            left = rest;
            block
        }
        None => {
            let (words, most) = (block.in_words(), kilobytes(most));
            Block::text(format!(
                "{words}\n[left out: more than {most} KB of data in one result]"
            ))
        }
    });
    blocks.collect()
}

/// Whether a block stands beside the text of a result.
fn is_beside(block: &Block) -> bool {
    matches!(block, Block::Structured(_) | Block::Meta(_))
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
    error.content = bound(error.content, most);
    error
}

/// How many bytes the text blocks of a result hold together.
pub(crate) fn text_bytes(content: &Content) -> usize {
    content.blocks().iter().map(block_bytes).sum()
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.text.len(),
        Block::Foreign(_) => block.text_bytes(),
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
