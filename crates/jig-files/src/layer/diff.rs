//! What a change of a file looks like as text.

use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use similar::TextDiff;

use super::change::{Change, ChangeKind, Diff, DiffLimits, PathKind};
use super::entries;

/// One side of a change: nothing, or bytes, or too many.
pub(super) enum DiffSide {
    Nothing,
    Bytes(Vec<u8>),
    TooLarge(u64),
}

impl DiffSide {
    fn size(&self) -> u64 {
        match self {
            DiffSide::Nothing => 0,
            DiffSide::Bytes(bytes) => bytes.len() as u64,
            DiffSide::TooLarge(size) => *size,
        }
    }

    /// The content of a file.
    pub(super) fn of_file(file: OwnedFd, limit: u64) -> io::Result<Self> {
        let size = entries::size(&rustix::fs::fstat(&file)?);
        if size > limit {
            return Ok(DiffSide::TooLarge(size));
        }
        let bytes = read(file.as_fd(), size)?;
        Ok(DiffSide::Bytes(bytes))
    }
}

fn read(file: BorrowedFd<'_>, size: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| Errno::NOMEM)?];
    let mut count = 0;
    while count < bytes.len() {
        match rustix::io::read(file, &mut bytes[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(count);
    Ok(bytes)
}

/// The difference between two sides.
pub(super) fn between(
    change: &Change,
    before: DiffSide,
    after: DiffSide,
    limits: DiffLimits,
) -> Diff {
    let sizes = (before.size(), after.size());
    let (before, after) = match (before, after) {
        (DiffSide::TooLarge(_), _) | (_, DiffSide::TooLarge(_)) => {
            let (before, after) = sizes;
            return Diff::TooLarge { before, after };
        }
        (DiffSide::Nothing, DiffSide::Nothing) => return Diff::Nothing,
        (before, after) => (bytes(before), bytes(after)),
    };
    let (Some(old), Some(new)) = (text(&before), text(&after)) else {
        let (before, after) = sizes;
        return Diff::Binary { before, after };
    };
    let path = change.path.as_str();
    let named = |is_there: bool, side: &str| match is_there {
        true => format!("{side}/{path}"),
        false => "/dev/null".to_owned(),
    };
    let was_there = change.was.is_some_and(|was| was != PathKind::Directory);
    let is_there = change.kind != ChangeKind::Deleted;
    // A name can hold a line end, and so pretend to be another line of the diff.
    let header = |name: String| jig_proto::visible_line(&name);
    let diff = TextDiff::configure().timeout(LONGEST).diff_lines(old, new);
    let mut unified = diff.unified_diff();
    let whole = unified
        .context_radius(3)
        .header(
            &header(named(was_there, "a")),
            &header(named(is_there, "b")),
        )
        .to_string();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let shown = lines.len().min(limits.lines);
    match whole.is_empty() {
        true => Diff::Nothing,
        false => Diff::Text {
            text: lines[..shown]
                .iter()
                .map(|line| cut(line, limits.width))
                .collect(),
            left_off: lines.len() - shown,
        },
    }
}

/// The line, up to so many characters, and how many are left off.
fn cut(line: &str, width: usize) -> Cow<'_, str> {
    // What has few bytes has few characters.
    if line.len() <= width {
        return Cow::Borrowed(line);
    }
    let text = line.trim_end_matches(['\r', '\n']);
    let Some((end, _)) = text.char_indices().nth(width) else {
        return Cow::Borrowed(line);
    };
    let (kept, left_off) = text.split_at(end);
    let count = left_off.chars().count();
    let noun = if count == 1 {
        "character"
    } else {
        "characters"
    };
    Cow::Owned(format!("{kept}… ({count} more {noun})\n"))
}

fn bytes(side: DiffSide) -> Vec<u8> {
    match side {
        DiffSide::Bytes(bytes) => bytes,
        _ => Vec::new(),
    }
}

/// Text has no NUL.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// After so long a diff gets coarser, not longer.
const LONGEST: Duration = Duration::from_millis(500);
