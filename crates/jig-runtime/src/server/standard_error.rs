//! [`ServerStderr`]: what a server says on standard error, read always and kept in part.

use std::io::{self, PipeReader, Read as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_broker::{ScrubStream, Secrets};

use crate::pipes::with_buffer;
use crate::plain_text::PlainStream;

#[cfg(test)]
mod tests;

/// The end of what a server said, without terminal sequences and secrets. Whoever wants to know reads first, so
/// that nothing that was said before is missing.
pub(super) struct ServerStderr {
    pipe: Option<Arc<PipeReader>>,
    plain: PlainStream,
    /// `None` when all is said.
    scrub: Option<ScrubStream>,
    kept: String,
    /// How many bytes of text there were before those that are kept.
    gone: u64,
    /// When this stretch of time began, and how much was read in it.
    began: Instant,
    read: usize,
}

impl ServerStderr {
    pub(super) fn new(pipe: Option<PipeReader>, secrets: &Secrets) -> Self {
        Self {
            pipe: pipe.map(Arc::new),
            plain: PlainStream::default(),
            scrub: Some(secrets.stream()),
            kept: String::new(),
            gone: 0,
            began: Instant::now(),
            read: 0,
        }
    }

    /// Reads what is there; says how long to leave it alone if it is too much.
    pub(super) fn read(&mut self) -> Option<Duration> {
        if self.began.elapsed() >= STRETCH {
            self.began = Instant::now();
            self.read = 0;
        }
        with_buffer(|buffer| {
            while self.read < MOST_IN_A_STRETCH {
                let mut pipe = self.pipe.as_deref()?;
                match pipe.read(buffer) {
                    Ok(0) => self.pipe = None,
                    Ok(count) => {
                        self.read += count;
                        self.hear(&buffer[..count]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => self.pipe = None,
                }
            }
            Some(STRETCH.saturating_sub(self.began.elapsed()))
        })
    }

    /// Reads what is left when the server has ended, and closes the pipe. Whoever kept it open is gone too; if
    /// not, it is not waited for.
    pub(super) fn finish(&mut self) {
        self.read = 0;
        self.read();
        self.pipe = None;
        let mut text = String::new();
        self.plain.finish(&mut text);
        if let Some(mut scrub) = self.scrub.take() {
            let mut clean = Vec::new();
            scrub.push(text.as_bytes(), &mut clean);
            scrub.finish(&mut clean);
            self.keep(&clean);
        }
    }

    /// The pipe, to wait for it.
    pub(super) fn pipe(&self) -> Option<Arc<PipeReader>> {
        self.pipe.clone()
    }

    /// How many bytes of text there were so far.
    pub(super) fn total(&self) -> u64 {
        self.gone + self.kept.len() as u64
    }

    /// What was said after so many bytes, as far as it is kept.
    pub(super) fn since(&self, said: u64) -> String {
        let from = usize::try_from(said.saturating_sub(self.gone)).unwrap_or(usize::MAX);
        let from = self.kept.ceil_char_boundary(from.min(self.kept.len()));
        self.kept[from..].to_owned()
    }

    /// The end of it.
    pub(super) fn last_words(&self) -> String {
        let text = self.kept.trim();
        let start = text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS));
        if start == 0 {
            return text.to_owned();
        }
        // Half a line says little.
        let rest = &text[start..];
        match rest.split_once('\n') {
            Some((_, whole)) if !whole.trim().is_empty() => whole.to_owned(),
            _ => rest.to_owned(),
        }
    }

    fn hear(&mut self, piece: &[u8]) {
        let mut text = String::new();
        self.plain.push(piece, &mut text);
        let mut clean = Vec::with_capacity(text.len());
        if let Some(scrub) = &mut self.scrub {
            scrub.push(text.as_bytes(), &mut clean);
        }
        self.keep(&clean);
    }

    fn keep(&mut self, clean: &[u8]) {
        // What is held back begins and ends with characters, since secrets are text.
        self.kept.push_str(&String::from_utf8_lossy(clean));
        if self.kept.len() > 2 * KEPT {
            let end = self.kept.ceil_char_boundary(self.kept.len() - KEPT);
            self.kept.drain(..end);
            self.gone += end as u64;
        }
    }
}

/// How much is shown of what a server said last.
const LAST_WORDS: usize = 4 * 1024;

/// How much of it is kept. A server can say any amount.
const KEPT: usize = 16 * 1024;

/// A server that floods its standard error would keep a processor busy with reading it: no more than this much
/// is read in each stretch of time.
const STRETCH: Duration = Duration::from_millis(100);
const MOST_IN_A_STRETCH: usize = 1 << 20;
