//! What a program prints, of bounded size.

use crate::pipes::{ProgramStream, ToolPipes};
use crate::plain_text::{plain, plain_bytes};

#[cfg(test)]
mod tests;

/// What a program printed on both streams: the beginning of its output, the end of its errors.
#[derive(Debug, Default)]
pub(super) struct StdioOutput {
    output: Vec<u8>,
    errors: Vec<u8>,
    /// How many bytes each stream had.
    output_total: u64,
    errors_total: u64,
    /// What was printed as errors since it was last shown.
    news: Vec<u8>,
}

impl StdioOutput {
    /// Reads what is there. Gives up in between when there is a lot, so that the clock is looked at.
    pub(super) fn read(&mut self, pipes: &mut ToolPipes, buffer: &mut [u8]) {
        for stream in [ProgramStream::Output, ProgramStream::Errors] {
            for _ in 0..ROUNDS {
                match pipes.read_stream(stream, buffer) {
                    Some(piece) => self.take(stream, piece),
                    None => break,
                }
            }
        }
    }

    /// Reads all that is there, up to `most` bytes in all.
    pub(super) fn drain(&mut self, pipes: &mut ToolPipes, buffer: &mut [u8], most: Option<u64>) {
        let within = |printed: &Self| most.is_none_or(|most| printed.total() <= most);
        for stream in [ProgramStream::Output, ProgramStream::Errors] {
            while within(self)
                && let Some(piece) = pipes.read_stream(stream, buffer)
            {
                self.take(stream, piece);
            }
        }
    }

    pub(super) fn take(&mut self, stream: ProgramStream, piece: &[u8]) {
        match stream {
            ProgramStream::Output => {
                self.output_total += piece.len() as u64;
                let room = KEPT_OUTPUT.saturating_sub(self.output.len());
                self.output
                    .extend_from_slice(&piece[..room.min(piece.len())]);
            }
            ProgramStream::Errors => {
                self.errors_total += piece.len() as u64;
                keep_end(&mut self.errors, piece, KEPT_ERRORS);
                keep_end(&mut self.news, piece, KEPT_NEWS);
            }
        }
    }

    /// How many bytes were printed in all.
    pub(super) fn total(&self) -> u64 {
        self.output_total + self.errors_total
    }

    /// The output, if all of it was kept.
    pub(super) fn whole_output(&self) -> Option<&[u8]> {
        (self.output.len() as u64 == self.output_total).then_some(&self.output)
    }

    /// The output, as far as it was kept.
    pub(super) fn output(&self) -> &[u8] {
        &self.output
    }

    /// The output as text: its first `most` bytes, with a marker of what was cut.
    pub(super) fn output_text(&self, most: usize) -> String {
        let mut text = plain_bytes(&self.output);
        let cut = text.len() - text.floor_char_boundary(most);
        text.truncate(text.len() - cut);
        let cut = self.output_total - self.output.len() as u64 + cut as u64;
        if cut > 0 {
            text.push_str(&format!("\n... [{cut} bytes more]"));
        }
        text
    }

    /// The errors as text: their last `most` bytes, with a marker of what was cut.
    pub(super) fn errors_text(&self, most: usize) -> String {
        let text = plain_bytes(&self.errors);
        let start = text.ceil_char_boundary(text.len().saturating_sub(most));
        let cut = self.errors_total - self.errors.len() as u64 + start as u64;
        match cut {
            0 => text,
            cut => format!("[{cut} bytes before] ...\n{}", &text[start..]),
        }
    }

    /// The end of what was printed, on both streams: a program that failed says there why.
    pub(super) fn last_words(&self) -> String {
        let end = |kept: &[u8]| plain_bytes(&kept[kept.len().saturating_sub(LAST_WORDS)..]);
        [end(&self.output), end(&self.errors)].join("\n")
    }

    /// What was printed as errors since this was last asked for, in whole lines.
    pub(super) fn take_news(&mut self) -> Option<String> {
        let end = self.news.iter().rposition(|byte| *byte == b'\n')?;
        let rest = self.news.split_off(end + 1);
        let lines = std::mem::replace(&mut self.news, rest);
        let text = plain(&String::from_utf8_lossy(&lines));
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Whether [`take_news`](Self::take_news) would give something.
    pub(super) fn has_news(&self) -> bool {
        self.news.contains(&b'\n')
    }
}

/// Appends, and drops what is too much from the front.
fn keep_end(kept: &mut Vec<u8>, piece: &[u8], most: usize) {
    kept.extend_from_slice(piece);
    let excess = kept.len().saturating_sub(most);
    // Only now and then: a program that prints byte by byte must not have all of it moved each time.
    if excess > most {
        kept.drain(..excess);
    }
}

/// How much of the output is kept: as much as an outcome may have. A program can print without end.
const KEPT_OUTPUT: usize = 16 * 1024 * 1024;

/// How much of the errors is kept.
const KEPT_ERRORS: usize = 64 * 1024;

/// How much of the end of each stream is looked at to explain a failure.
const LAST_WORDS: usize = 16 * 1024;

/// How much of the errors is shown at once to somebody who watches.
const KEPT_NEWS: usize = 4 * 1024;

/// How often a stream is read in a row.
const ROUNDS: usize = 16;
