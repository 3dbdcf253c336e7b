//! The lines that have scrolled off the screen, and how lines become text.

use std::borrow::Cow;
use std::collections::VecDeque;

use avt::Line;
use unicode_width::UnicodeWidthChar;

use crate::{CutSide, TranscriptPiece};

/// Lines that have scrolled off, the oldest first.
pub(super) struct History {
    lines: VecDeque<HistoryLine>,
    most_lines: usize,
    bytes: usize,
    /// Lines that are gone, as runs of numbers.
    losses: VecDeque<HistoryLoss>,
    /// Where the text of a line is put together, so that what is kept takes no more than it needs.
    scratch: String,
}

struct HistoryLine {
    seq: u64,
    text: Box<str>,
    is_wrapped: bool,
}

/// `count` lines that are gone; their numbers lie in `first..=last`.
struct HistoryLoss {
    first: u64,
    last: u64,
    count: u64,
}

impl History {
    pub(super) fn new(most_lines: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            most_lines,
            bytes: 0,
            losses: VecDeque::new(),
            scratch: String::new(),
        }
    }

    pub(super) fn push(&mut self, line: &Line, seq: u64) {
        self.scratch.clear();
        push_text(&mut self.scratch, line);
        let text = Box::from(self.scratch.as_str());
        self.bytes += self.scratch.len();
        self.lines.push_back(HistoryLine {
            seq,
            text,
            is_wrapped: line.is_wrapped(),
        });
        while self.lines.len() > self.most_lines || self.bytes > MOST_BYTES {
            let Some(gone) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= gone.text.len();
            self.lose(gone.seq);
        }
    }

    fn lose(&mut self, seq: u64) {
        if let Some(run) = self.losses.back_mut()
            && seq <= run.last + 1
        {
            run.last = run.last.max(seq);
            run.count += 1;
            return;
        }
        self.losses.push_back(HistoryLoss {
            first: seq,
            last: seq,
            count: 1,
        });
        // The oldest runs become one. Who asks from inside it is told a number that is about right.
        if self.losses.len() > MOST_LOSSES
            && let Some(oldest) = self.losses.pop_front()
            && let Some(next) = self.losses.front_mut()
        {
            next.first = oldest.first;
            next.count += oldest.count;
        }
    }

    /// How many lines with a number above `after` are gone. It is exact if fewer than
    /// [`MOST_LOSSES`] runs have gone since then.
    pub(super) fn lost_after(&self, after: u64) -> u64 {
        self.losses
            .iter()
            .rev()
            .take_while(|run| run.last > after)
            .map(|run| match run.first > after {
                true => run.count,
                false => {
                    let share = u128::from(run.last - after) * u128::from(run.count);
                    share.div_ceil(u128::from(run.last - run.first + 1)) as u64
                }
            })
            .sum()
    }

    /// The kept lines from the first with a number above `after`.
    pub(super) fn after(&self, after: u64) -> HistoryRows<'_> {
        self.from(self.lines.partition_point(|line| line.seq <= after))
    }

    pub(super) fn all(&self) -> HistoryRows<'_> {
        self.from(0)
    }

    fn from(&self, first: usize) -> HistoryRows<'_> {
        let lines = self.lines.range(first..).map(|kept| HistoryRow {
            seq: kept.seq,
            text: Cow::Borrowed(&*kept.text),
            is_wrapped: kept.is_wrapped,
        });
        HistoryRows(lines.collect())
    }
}

/// Rows that are about to become text.
#[derive(Default)]
pub(super) struct HistoryRows<'a>(Vec<HistoryRow<'a>>);

struct HistoryRow<'a> {
    seq: u64,
    text: Cow<'a, str>,
    /// The next row continues this line.
    is_wrapped: bool,
}

impl<'a> HistoryRows<'a> {
    pub(super) fn push_row(&mut self, seq: u64, line: &Line) {
        let mut text = String::new();
        push_text(&mut text, line);
        self.0.push(HistoryRow {
            seq,
            text: Cow::Owned(text),
            is_wrapped: line.is_wrapped(),
        });
    }

    pub(super) fn extend(&mut self, more: HistoryRows<'a>) {
        self.0.extend(more.0);
    }

    /// Appends a screen as it is seen, all of it with one number.
    pub(super) fn extend_with_screen(&mut self, screen: avt::Screen<'_>, seq: u64) {
        let mut rows = HistoryRows::default();
        for line in screen.visible_lines() {
            rows.push_row(seq, line);
        }
        for row in &mut rows.0 {
            row.is_wrapped = false;
            let length = row.text.trim_end_matches(' ').len();
            row.text.to_mut().truncate(length);
        }
        rows.trim();
        self.extend(rows);
    }

    /// Drops blank rows at the end.
    pub(super) fn trim(&mut self) {
        let is_blank = |row: &HistoryRow<'_>| row.text.bytes().all(|byte| byte == b' ');
        while self.0.last().is_some_and(is_blank) {
            self.0.pop();
        }
        // A wrapped row keeps its blanks for the row after it, which may have gone.
        if let Some(last) = self.0.last_mut()
            && last.is_wrapped
        {
            let length = last.text.trim_end_matches(' ').len();
            last.text.to_mut().truncate(length);
            last.is_wrapped = false;
        }
    }

    /// A wide character that does not fit into the last column leaves it blank and begins the next
    /// row. That blank is no part of the line.
    fn drop_gaps(&mut self) {
        for index in 1..self.0.len() {
            let begins_wide = |row: &HistoryRow<'_>| row.text.starts_with(is_wide);
            let (before, after) = self.0.split_at_mut(index);
            let row = &mut before[index - 1];
            if row.is_wrapped && row.text.ends_with(' ') && begins_wide(&after[0]) {
                let length = row.text.len() - 1;
                row.text.to_mut().truncate(length);
            }
        }
    }

    /// The bytes that a row takes, with the end of its line.
    fn length(&self, index: usize) -> usize {
        self.0[index].text.len() + self.break_after(index).len()
    }

    fn break_after(&self, index: usize) -> &'static str {
        match self.0[index].is_wrapped || index + 1 == self.0.len() {
            true => "",
            false => "\n",
        }
    }
}

/// Joins rows to a text of at most `max` bytes. `seq` is where everything ends.
pub(super) fn compose(
    mut lines: HistoryRows<'_>,
    seq: u64,
    max: usize,
    cut: CutSide,
) -> TranscriptPiece {
    lines.drop_gaps();
    let count = lines.0.len();
    let total: usize = (0..count).map(|index| lines.length(index)).sum();
    let mut length = 0;
    let mut fits = |index: &usize| {
        length += lines.length(*index);
        length <= max
    };
    let shown = match cut {
        CutSide::Front => count - (0..count).rev().take_while(&mut fits).count()..count,
        CutSide::Back => 0..(0..count).take_while(&mut fits).count(),
    };
    let mut text = String::new();
    for index in shown.clone() {
        text.push_str(&lines.0[index].text);
        text.push_str(lines.break_after(index));
    }
    let mut end = match shown.end == count {
        true => seq,
        false => lines.0[..shown.end].last().map_or(0, |row| row.seq),
    };
    if shown.is_empty() && count > 0 {
        // Not even one row fits. A part of it is better than nothing, and the next piece goes on
        // with the row after it.
        let row = match cut {
            CutSide::Front => &lines.0[count - 1],
            CutSide::Back => &lines.0[0],
        };
        let part = match cut {
            CutSide::Front => {
                &row.text[row
                    .text
                    .ceil_char_boundary(row.text.len().saturating_sub(max))..]
            }
            CutSide::Back => &row.text[..row.text.floor_char_boundary(max)],
        };
        text.push_str(part);
        end = match cut {
            CutSide::Front => seq,
            CutSide::Back => row.seq,
        };
    }
    TranscriptPiece {
        left: (total - text.len()) as u64,
        text,
        seq: end,
        lost: 0,
    }
}

fn is_wide(char: char) -> bool {
    char.width() == Some(2)
}

/// A screen as it is seen, without trailing blanks and blank lines at the end.
pub(super) fn visible_text(screen: avt::Screen<'_>) -> String {
    let mut text = String::new();
    for line in screen.visible_lines() {
        let start = text.len();
        text.extend(line.chars());
        let length = text[start..].trim_end_matches(' ').len();
        text.truncate(start + length);
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Appends the text of a row, without trailing blanks unless the next row continues it.
fn push_text(text: &mut String, line: &Line) {
    let cells = line.cells();
    let end = match line.is_wrapped() {
        true => cells.len(),
        false => {
            let last = cells.iter().rposition(|cell| cell.char() != ' ');
            last.map_or(0, |last| last + 1)
        }
    };
    // A wide character has a second cell, which has no width and holds a blank.
    let cells = cells[..end].iter().filter(|cell| cell.width() > 0);
    text.extend(cells.map(avt::Cell::char));
}

/// How many bytes of text are kept of lines that have scrolled off, however many lines are allowed:
/// they can be a thousand columns wide.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// How many runs of lost lines are told apart.
const MOST_LOSSES: usize = 1_024;
