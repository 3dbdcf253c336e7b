//! The numbers of the rows on the screen, and what has changed of them.

use std::collections::VecDeque;
use std::ops::Range;

use avt::{Line, Observation, Observer, ScreenKind, Terminal};

use super::history::{History, HistoryRows};

/// What is known of the rows of both screens.
///
/// The numbers of the lines that have scrolled off and of the rows below them form one growing
/// sequence. While something is fed, rows are only marked; [`settle`](Self::settle) compares them with
/// what they were and gives out numbers.
pub(super) struct Rows {
    /// The last number that was given out.
    seq: u64,
    primary: VecDeque<RowMark>,
    alternate: Vec<RowMark>,
    /// The number of the last change of the alternate screen.
    alternate_seq: u64,
    active: ScreenKind,
    /// Another screen is shown than when rows were settled last.
    has_switched: bool,
    /// A line that has scrolled off since then was new, so every line after it gets a new number.
    is_touched: bool,
    /// Whether lines leave because of another size, and not because others push them out.
    is_resizing: bool,
}

/// What is known of one row.
#[derive(Clone, Copy)]
struct RowMark {
    hash: u64,
    seq: u64,
    state: MarkState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkState {
    /// The row is what `hash` was made of.
    Known,
    /// It may have changed.
    Dirty,
    /// It was made since rows were settled last.
    Fresh,
}

impl RowMark {
    const BLANK: RowMark = RowMark {
        hash: SEED,
        seq: 0,
        state: MarkState::Known,
    };
    const FRESH: RowMark = RowMark {
        state: MarkState::Fresh,
        ..RowMark::BLANK
    };

    /// Takes in what the row is now; whether that is a change.
    fn update(&mut self, line: &Line) -> bool {
        if self.state == MarkState::Known {
            return false;
        }
        let hash = hash_of(line);
        let has_changed = self.state == MarkState::Fresh || hash != self.hash;
        self.hash = hash;
        self.state = MarkState::Known;
        has_changed
    }

    fn dirty(&mut self) {
        if self.state == MarkState::Known {
            self.state = MarkState::Dirty;
        }
    }
}

impl Rows {
    pub(super) fn new(rows: u16) -> Self {
        let rows = usize::from(rows);
        Self {
            seq: 0,
            primary: vec![RowMark::BLANK; rows].into(),
            alternate: Vec::new(),
            alternate_seq: 0,
            active: ScreenKind::Primary,
            has_switched: false,
            is_touched: false,
            is_resizing: false,
        }
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn alternate_seq(&self) -> u64 {
        self.alternate_seq
    }

    /// What watches the terminal while it runs one function, or prints several characters.
    #[inline]
    pub(super) fn observer<'a>(&'a mut self, history: &'a mut History) -> RowWatch<'a> {
        RowWatch {
            rows: self,
            history,
            region: 0..0,
            has_evicted: false,
        }
    }

    pub(super) fn begin_resize(&mut self) {
        self.is_resizing = true;
    }

    pub(super) fn end_resize(&mut self, rows: u16) {
        self.is_resizing = false;
        let rows = usize::from(rows);
        let missing = rows.saturating_sub(self.primary.len());
        self.primary.truncate(rows);
        for _ in 0..missing {
            self.seq += 1;
            let seq = self.seq;
            self.primary.push_back(RowMark {
                seq,
                ..RowMark::BLANK
            });
        }
        self.primary.iter_mut().for_each(RowMark::dirty);
        if self.active == ScreenKind::Alternate {
            self.alternate = vec![RowMark::FRESH; rows];
        }
    }

    /// Gives out numbers for what has changed since the last time.
    pub(super) fn settle(&mut self, terminal: &Terminal, has_moved: bool) {
        let before = self.seq;
        for (mark, line) in self
            .primary
            .iter_mut()
            .zip(terminal.primary_screen().visible_lines())
        {
            self.is_touched |= mark.update(line);
            if self.is_touched {
                self.seq += 1;
                mark.seq = self.seq;
            }
        }
        let mut has_changed = self.has_switched;
        if self.active == ScreenKind::Alternate {
            for (mark, line) in self
                .alternate
                .iter_mut()
                .zip(terminal.screen().visible_lines())
            {
                has_changed |= mark.update(line);
            }
            if has_changed {
                self.seq += 1;
                self.alternate_seq = self.seq;
            }
        }
        if (has_changed || has_moved) && self.seq == before {
            self.seq += 1;
        }
        self.is_touched = false;
        self.has_switched = false;
    }

    /// The rows of the primary screen.
    pub(super) fn primary<'a>(&self, terminal: &'a Terminal) -> HistoryRows<'a> {
        self.primary_from(0, terminal)
    }

    /// The rows of the primary screen from the first with a number above `after`.
    pub(super) fn primary_after<'a>(&self, after: u64, terminal: &'a Terminal) -> HistoryRows<'a> {
        let first = self.primary.partition_point(|mark| mark.seq <= after);
        self.primary_from(first, terminal)
    }

    fn primary_from<'a>(&self, first: usize, terminal: &'a Terminal) -> HistoryRows<'a> {
        let rows = terminal.primary_screen().visible_lines();
        let marks = self.primary.iter();
        let mut lines = HistoryRows::default();
        for (mark, line) in marks.zip(rows).skip(first) {
            lines.push_row(mark.seq, line);
        }
        lines
    }
}

/// Watches the terminal run one function, or print several characters. These all move the same rows,
/// if they move any.
pub(super) struct RowWatch<'a> {
    rows: &'a mut Rows,
    history: &'a mut History,
    /// Rows that were moved or erased together.
    region: Range<usize>,
    has_evicted: bool,
}

impl Observer for RowWatch<'_> {
    type Output = ();

    #[inline]
    fn dirty(&mut self, rows: Range<usize>) {
        if rows.len() > 1 {
            self.region = rows;
            return;
        }
        let mark = match self.rows.active {
            ScreenKind::Primary => self.rows.primary.get_mut(rows.start),
            ScreenKind::Alternate => self.rows.alternate.get_mut(rows.start),
        };
        if let Some(mark) = mark {
            mark.dirty();
        }
    }

    fn evicted(&mut self, _: &mut Observation<'_>, line: &Line) {
        self.has_evicted = true;
        let rows = &mut *self.rows;
        let mut mark = rows.primary.pop_front().unwrap_or(RowMark::FRESH);
        rows.is_touched = rows.is_touched || mark.state == MarkState::Fresh || mark.update(line);
        if rows.is_touched {
            rows.seq += 1;
            mark.seq = rows.seq;
        }
        self.history.push(line, mark.seq);
        if !rows.is_resizing {
            // The rows of the region moved up by one, those below it stayed.
            let end = self.region.end.clamp(1, rows.primary.len() + 1);
            rows.primary.insert(end - 1, RowMark::FRESH);
        }
    }

    #[inline]
    fn end(&mut self, context: &mut Observation<'_>) {
        let active = context.terminal().active_screen_kind();
        if active != self.rows.active {
            self.rows.active = active;
            self.rows.has_switched = true;
            if active == ScreenKind::Alternate {
                let (_, rows) = context.terminal().size();
                self.rows.alternate = vec![RowMark::FRESH; rows];
            } else {
                self.rows.alternate = Vec::new();
            }
        }
        if self.region.is_empty() || self.has_evicted {
            return;
        }
        match active {
            ScreenKind::Primary => {
                let marks = self.rows.primary.iter_mut();
                let region = self.region.clone();
                marks
                    .skip(region.start)
                    .take(region.len())
                    .for_each(RowMark::dirty);
            }
            ScreenKind::Alternate => {
                let marks = self.rows.alternate.get_mut(self.region.clone());
                marks.into_iter().flatten().for_each(RowMark::dirty);
            }
        }
    }
}

/// A number for what a row shows: its characters and colours up to the last that is not blank.
fn hash_of(line: &Line) -> u64 {
    let blank = |cell: &avt::Cell| cell.char() == ' ' && cell.pen().is_default();
    let cells = line.cells();
    let end = cells.iter().rposition(|cell| !blank(cell));
    cells[..end.map_or(0, |end| end + 1)]
        .iter()
        .fold(SEED, |hash, cell| {
            let pen = cell.pen();
            let flags = u64::from(pen.is_bold())
                | u64::from(pen.is_faint()) << 1
                | u64::from(pen.is_italic()) << 2
                | u64::from(pen.is_underline()) << 3
                | u64::from(pen.is_strikethrough()) << 4
                | u64::from(pen.is_blink()) << 5
                | u64::from(pen.is_inverse()) << 6;
            let hash = mix(hash, u64::from(u32::from(cell.char())) << 8 | flags);
            match (pen.foreground(), pen.background()) {
                (None, None) => hash,
                (fore, back) => mix(mix(hash, color_number(fore)), color_number(back)),
            }
        })
}

fn color_number(color: Option<avt::Color>) -> u64 {
    match color {
        None => 0,
        Some(avt::Color::Indexed(index)) => 1 << 32 | u64::from(index),
        Some(avt::Color::RGB(rgb)) => {
            2 << 32 | u64::from(u32::from_be_bytes([0, rgb.r, rgb.g, rgb.b]))
        }
    }
}

/// One step of a quick hash. A program that makes two rows collide hides a change of its own from its
/// own reader, and gains nothing.
fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95)
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
