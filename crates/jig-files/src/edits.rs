//! Edits of a file's content.

use std::ops::Range;

use memchr::memmem;

/// One change to a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEdit {
    /// Puts `with` where the bytes `range` were. An empty range inserts.
    Bytes {
        /// Offsets from the start of the file, the end excluded.
        range: Range<u64>,
        /// The new bytes.
        with: Vec<u8>,
    },
    /// Puts `with` where the lines from `first` to `last` were, their line ends included. `last`
    /// one below `first` inserts before line `first`.
    Lines {
        /// The first line, counted from 1.
        first: u64,
        /// The last line.
        last: u64,
        /// The new text, with its line ends.
        with: Vec<u8>,
    },
    /// Puts `with` where the exact text `find` was.
    Text {
        /// What to look for; it must not be empty.
        find: Vec<u8>,
        /// What to put there.
        with: Vec<u8>,
        /// Replace every occurrence. Otherwise the text must occur exactly once, so that an edit
        /// cannot hit the wrong place.
        all: bool,
    },
}

/// Why an edit cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditProblem {
    /// The range ends before it starts or lies past the end.
    #[error("the range {first}..{end} is not within the {size} {unit} of the file")]
    Range {
        /// Where it starts.
        first: u64,
        /// Where it ends.
        end: u64,
        /// How much there is.
        size: u64,
        /// `bytes` or `lines`.
        unit: &'static str,
    },
    /// The text does not occur.
    #[error("the text does not occur in the file")]
    NotThere,
    /// The text occurs several times and not all were meant.
    #[error("the text occurs {count} times; make it longer, or replace all")]
    Ambiguous {
        /// How often.
        count: usize,
    },
    /// The text to look for is empty.
    #[error("the text to look for is empty")]
    Empty,
}

/// Applies the edits in order. An error comes with the number of the edit, counted from 1.
pub(crate) fn apply(content: &[u8], edits: &[FileEdit]) -> Result<Vec<u8>, (usize, EditProblem)> {
    let mut content = content.to_vec();
    for (index, edit) in edits.iter().enumerate() {
        apply_one(&mut content, edit).map_err(|problem| (index + 1, problem))?;
    }
    Ok(content)
}

fn apply_one(content: &mut Vec<u8>, edit: &FileEdit) -> Result<(), EditProblem> {
    match edit {
        FileEdit::Bytes { range, with } => {
            let size = content.len();
            let problem = EditProblem::Range {
                first: range.start,
                end: range.end,
                size: size as u64,
                unit: "bytes",
            };
            match (usize::try_from(range.start), usize::try_from(range.end)) {
                (Ok(start), Ok(end)) if start <= end && end <= size => {
                    content.splice(start..end, with.iter().copied());
                    Ok(())
                }
                _ => Err(problem),
            }
        }
        FileEdit::Lines { first, last, with } => {
            let range = line_range(content, *first, *last)?;
            content.splice(range, with.iter().copied());
            Ok(())
        }
        FileEdit::Text { find, with, all } => replace_text(content, find, with, *all),
    }
}

/// The bytes of the lines `first..=last`. A line without a line end at the end of the file counts;
/// the empty rest after a final line end does not, but text can be inserted there.
fn line_range(content: &[u8], first: u64, last: u64) -> Result<Range<usize>, EditProblem> {
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', content).map(|end| end + 1));
    if starts.last() != Some(&content.len()) {
        starts.push(content.len());
    }
    let lines = starts.len() as u64 - 1;
    let problem = EditProblem::Range {
        first,
        end: last,
        size: lines,
        unit: "lines",
    };
    if first == 0 || last > lines || last.checked_add(1).is_none_or(|end| end < first) {
        return Err(problem);
    }
    // Both are at most the number of lines, of which there is an index for each.
    let position = |line: u64| starts.get(usize::try_from(line).unwrap_or(usize::MAX));
    match (position(first - 1), position(last)) {
        (Some(start), Some(end)) => Ok(*start..*end),
        _ => Err(problem),
    }
}

fn replace_text(
    content: &mut Vec<u8>,
    find: &[u8],
    with: &[u8],
    all: bool,
) -> Result<(), EditProblem> {
    if find.is_empty() {
        return Err(EditProblem::Empty);
    }
    let hits: Vec<usize> = memmem::find_iter(content, find).collect();
    match hits.len() {
        0 => return Err(EditProblem::NotThere),
        1 => {}
        _ if all => {}
        count => return Err(EditProblem::Ambiguous { count }),
    }
    let mut result = Vec::with_capacity(content.len());
    let mut from = 0;
    for hit in hits {
        result.extend_from_slice(&content[from..hit]);
        result.extend_from_slice(with);
        from = hit + find.len();
    }
    result.extend_from_slice(&content[from..]);
    *content = result;
    Ok(())
}

#[cfg(test)]
mod tests;
