//! [`ReportOutput`]: the output in a report, and what is missing in it.

use jig_proto::{CutReport, TerminalReport};

use crate::session::SessionOutput;

/// The output in a report.
#[derive(Debug)]
pub(super) struct ReportOutput {
    text: String,
    /// What is gone from the front, for ever: bytes, or lines on a terminal.
    lost: u64,
    /// The bytes that were left out because of the limit.
    left: u64,
    /// Where those are.
    gap: OutputGap,
    /// Whether what is lost is counted in lines.
    in_lines: bool,
    /// Where what comes next begins.
    pub(super) next: u64,
    /// How far the caller is told if this reaches it, and was not told further before.
    pub(super) told: u64,
    /// Whether nothing is left to show: all that the caller was not told is here.
    pub(super) is_complete: bool,
    pub(super) terminal: Option<TerminalReport>,
}

/// Where output was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputGap {
    /// Before what is shown. It came after this place.
    Before { after: u64 },
    /// At the top of a screen.
    Above,
    /// Behind what is shown.
    Behind,
}

impl ReportOutput {
    /// What is new since `after`: the newest is kept.
    pub(super) fn news(output: SessionOutput, after: u64) -> Self {
        // What was not shown at all is not told: it is not skipped for the sake of nothing.
        let is_skipped = output.text.is_empty() && output.left > 0;
        let next = if is_skipped { after } else { output.seq };
        let is_complete = output.left == 0;
        Self::new(output, OutputGap::Before { after }, next, next, is_complete)
    }

    /// A page of the output that comes after `after`. The caller was told up to `told`.
    pub(super) fn page(output: SessionOutput, after: u64, told: u64) -> Self {
        let next = output.seq;
        // A page that begins later leaves out something that the caller does not know.
        let is_known = after <= told;
        let told = if is_known { next } else { told };
        let is_complete = is_known && output.left == 0;
        Self::new(output, OutputGap::Behind, next, told, is_complete)
    }

    /// All that is kept. `news` is what is new since `told`: that is told if it is shown.
    pub(super) fn all(output: SessionOutput, news: &SessionOutput, told: u64) -> Self {
        Self::view(output, OutputGap::Before { after: 0 }, news, told)
    }

    /// The screen, or the end of what was said; otherwise as [`all`](Self::all).
    pub(super) fn screen(mut output: SessionOutput, news: &SessionOutput, told: u64) -> Self {
        // Nobody who asks for the screen misses what has long scrolled away.
        output.lost = 0;
        Self::view(output, OutputGap::Above, news, told)
    }

    fn view(output: SessionOutput, gap: OutputGap, news: &SessionOutput, told: u64) -> Self {
        let shows_news = output.text.trim_end().ends_with(news.text.trim_end());
        let is_complete = news.left == 0 && shows_news;
        let told = match is_complete {
            true => output.seq,
            false => told,
        };
        Self::new(output, gap, told, told, is_complete)
    }

    fn new(output: SessionOutput, gap: OutputGap, next: u64, told: u64, is_complete: bool) -> Self {
        Self {
            text: output.text,
            lost: output.lost,
            left: output.left,
            gap,
            in_lines: output.terminal.is_some(),
            next,
            told,
            is_complete,
            terminal: output.terminal,
        }
    }

    /// The text, with a line where something is missing.
    pub(super) fn text(&self, is_last: bool) -> String {
        let mut text = String::with_capacity(self.text.len() + 80);
        let left_before = match self.gap {
            OutputGap::Before { .. } | OutputGap::Above => self.left,
            OutputGap::Behind => 0,
        };
        let mut missing = Vec::new();
        if self.lost > 0 {
            missing.push(format!("{} gone", self.lost_is()));
        }
        if left_before > 0 {
            missing.push(format!("{} left out here", bytes_are(left_before)));
        }
        if !missing.is_empty() {
            text.push_str(&format!("[… {} …]\n", missing.join(", ")));
        }
        text.push_str(&self.text);
        if self.gap == OutputGap::Behind && self.left > 0 && !is_last {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[… {} left out here …]", bytes_are(self.left)));
        }
        text
    }

    /// What is missing, and how to get it; from the last report of a handle there is no way on.
    pub(super) fn cut(&self, is_last: bool) -> Option<CutReport> {
        if self.lost == 0 && self.left == 0 {
            return None;
        }
        let mut hints = Vec::new();
        if self.left > 0 {
            hints.push(match self.gap {
                _ if is_last => "what was left out is gone with the handle".to_owned(),
                OutputGap::Before { after } => format!(
                    "fetch with `after_seq` {after} to read what was left out, page by page or, with a \
                     higher `max_bytes`, at once"
                ),
                OutputGap::Above => "fetch with a higher `max_bytes` to see more".to_owned(),
                OutputGap::Behind => {
                    format!("fetch with `after_seq` {} to read on", self.next)
                }
            });
        }
        if self.lost > 0 {
            let lost = self.lost_is();
            hints.push(format!("{lost} gone: only the newest output is kept"));
        }
        let lost = if self.in_lines { 0 } else { self.lost };
        Some(CutReport {
            bytes: self.left + lost,
            hint: hints.join("; "),
        })
    }

    fn lost_is(&self) -> String {
        match (self.in_lines, self.lost) {
            (true, 1) => "1 line is".to_owned(),
            (true, lines) => format!("{lines} lines are"),
            (false, bytes) => bytes_are(bytes),
        }
    }
}

fn bytes_are(bytes: u64) -> String {
    match bytes {
        1 => "1 byte is".to_owned(),
        bytes => format!("{bytes} bytes are"),
    }
}
