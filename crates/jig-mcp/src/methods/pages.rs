//! Long lists, a page at a time.

use rmcp::model::ErrorData;

/// The page of a list that begins at a cursor, and the cursor of the next one.
///
/// A cursor is a position. Lists that change while somebody turns pages are announced as changed, so a client
/// starts anew then.
///
/// # Errors
///
/// If the cursor is none that came with a page of this list.
pub(crate) fn page<T: Clone>(
    all: &[T],
    cursor: Option<&str>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => position(cursor)
            .filter(|start| *start < all.len())
            .ok_or_else(|| ErrorData::invalid_params("there is no page at this cursor", None))?,
    };
    let end = all.len().min(start + PAGE);
    let next = (end < all.len()).then(|| format!("{CURSOR}{end}"));
    Ok((all[start..end].to_vec(), next))
}

/// The position that a cursor stands for: the beginning of a page after the first one.
fn position(cursor: &str) -> Option<usize> {
    let digits = cursor.strip_prefix(CURSOR)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let start: usize = digits.parse().ok()?;
    (start > 0 && start.is_multiple_of(PAGE)).then_some(start)
}

/// How many things a page holds: some clients read the first one only.
pub(crate) const PAGE: usize = 1000;

/// What a cursor begins with, so that it is not taken for a number to count with.
const CURSOR: &str = "at-";

#[cfg(test)]
mod tests;
