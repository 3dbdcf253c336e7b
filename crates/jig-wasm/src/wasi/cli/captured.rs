//! [`CapturedGuestOutput`]: what a guest prints.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_broker::Secrets;
use jig_runtime::{Tracer, plain_bytes};

use crate::wasi::io::{GuestSink, IoError};

#[cfg(test)]
mod tests;

/// What a guest has printed on both streams: the beginning of its output, the end of its errors. Clones are
/// the same.
///
/// It takes everything and keeps little: a stream that takes no more makes `println!` end the guest, and one
/// that keeps all lets a guest fill our memory. Whole lines are shown to whoever traces the call, up to the
/// limit of output.
#[derive(Clone)]
pub(crate) struct CapturedGuestOutput(Arc<Mutex<GuestPrintedOutput>>);

impl CapturedGuestOutput {
    /// Nothing yet. `limit` is how many bytes on both streams together are taken notice of; `secrets` are not
    /// told of.
    pub(crate) fn new(
        limit: Option<u64>,
        tracer: Option<Arc<dyn Tracer>>,
        secrets: Secrets,
    ) -> Self {
        Self(Arc::new(Mutex::new(GuestPrintedOutput {
            output: Vec::new(),
            errors: Vec::new(),
            output_total: 0,
            errors_total: 0,
            limit: limit.unwrap_or(u64::MAX),
            left_out: 0,
            tracer,
            secrets,
            output_line: Vec::new(),
            errors_line: Vec::new(),
        })))
    }

    /// The stream of output.
    pub(crate) fn stdout(&self) -> impl GuestSink + 'static {
        CapturedStream {
            captured: self.clone(),
            is_errors: false,
        }
    }

    /// The stream of errors.
    pub(crate) fn stderr(&self) -> impl GuestSink + 'static {
        CapturedStream {
            captured: self.clone(),
            is_errors: true,
        }
    }

    /// Whether nothing was printed.
    pub(crate) fn is_empty(&self) -> bool {
        let printed = self.lock();
        printed.output_total == 0 && printed.errors_total == 0
    }

    /// The beginning of the output as text, with a marker of what was cut.
    pub(crate) fn printed(&self, most: usize) -> String {
        let printed = self.lock();
        let mut text = printed.text(&printed.output);
        let cut = text.len() - text.floor_char_boundary(most);
        text.truncate(text.len() - cut);
        let cut = printed.output_total - printed.output.len() as u64 + cut as u64;
        if cut > 0 {
            text.push_str(&format!("\n... [{cut} bytes more]"));
        }
        text
    }

    /// The end of the errors as text, with a marker of what was cut, and a word about what was left out.
    pub(crate) fn errors(&self, most: usize) -> String {
        let printed = self.lock();
        let all = printed.text(&printed.errors);
        let start = all.ceil_char_boundary(all.len().saturating_sub(most));
        let cut = printed.errors_total - printed.errors.len() as u64 + start as u64;
        let mut text = match cut {
            0 => all,
            cut => format!("[{cut} bytes before] ...\n{}", &all[start..]),
        };
        if let Some(note) = printed.note() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&note);
        }
        text
    }

    /// Shows lines that never ended.
    pub(crate) fn finish(&self) {
        self.lock().finish();
    }

    fn lock(&self) -> MutexGuard<'_, GuestPrintedOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CapturedGuestOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = self.lock();
        let (output, errors) = (printed.output_total, printed.errors_total);
        write!(f, "Captured({output} and {errors} bytes)")
    }
}

struct GuestPrintedOutput {
    output: Vec<u8>,
    errors: Vec<u8>,
    /// How many bytes each stream had, without what was left out.
    output_total: u64,
    errors_total: u64,
    limit: u64,
    /// How many bytes came after the limit was reached.
    left_out: u64,
    tracer: Option<Arc<dyn Tracer>>,
    secrets: Secrets,
    /// Lines that have not ended.
    output_line: Vec<u8>,
    errors_line: Vec<u8>,
}

impl GuestPrintedOutput {
    /// Some of it as text. A secret is taken out before anything is cut, since half of one is not found.
    fn text(&self, bytes: &[u8]) -> String {
        self.secrets.scrub_text(plain_bytes(bytes))
    }

    fn take(&mut self, is_errors: bool, bytes: &[u8]) {
        let room = self.limit - self.output_total - self.errors_total;
        let taken = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (bytes, rest) = bytes.split_at(taken);
        if !rest.is_empty() {
            let is_first = self.left_out == 0;
            self.left_out = self.left_out.saturating_add(rest.len() as u64);
            if is_first {
                self.keep(is_errors, bytes);
                self.finish();
                self.tell_note();
                return;
            }
        }
        self.keep(is_errors, bytes);
    }

    fn keep(&mut self, is_errors: bool, bytes: &[u8]) {
        if is_errors {
            self.errors_total += bytes.len() as u64;
            keep_end(&mut self.errors, bytes);
        } else {
            self.output_total += bytes.len() as u64;
            let room = KEPT.saturating_sub(self.output.len());
            let kept = &bytes[..room.min(bytes.len())];
            self.output.extend_from_slice(kept);
        }
        self.trace(is_errors, bytes);
    }

    /// Shows whole lines. One that does not end is shown in pieces, so that it is not kept.
    fn trace(&mut self, is_errors: bool, bytes: &[u8]) {
        let Some(tracer) = &self.tracer else {
            return;
        };
        let line = match is_errors {
            true => &mut self.errors_line,
            false => &mut self.output_line,
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            for part in piece.chunks(LINE) {
                if line.len() + part.len() > LINE {
                    tracer.received(line);
                    line.clear();
                }
                line.extend_from_slice(part);
            }
            if line.ends_with(b"\n") {
                tracer.received(line.trim_ascii_end());
                line.clear();
            }
        }
    }

    fn finish(&mut self) {
        let Some(tracer) = &self.tracer else {
            return;
        };
        for line in [&mut self.output_line, &mut self.errors_line] {
            if !line.is_empty() {
                tracer.received(line);
                line.clear();
            }
        }
    }

    fn tell_note(&self) {
        let limit = self.limit;
        let note = format!("[it printed more than {limit} bytes: the rest is left out]");
        if let Some(tracer) = &self.tracer {
            tracer.received(note.as_bytes());
        }
    }

    /// What is to be said of what was left out.
    fn note(&self) -> Option<String> {
        let (count, limit) = (self.left_out, self.limit);
        (count > 0).then(|| {
            format!(
                "[{count} more bytes were printed and left out: `sandbox.limits.output` is {limit}]"
            )
        })
    }
}

/// One of the two streams.
struct CapturedStream {
    captured: CapturedGuestOutput,
    is_errors: bool,
}

impl GuestSink for CapturedStream {
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.captured.lock().take(self.is_errors, bytes);
        Ok(())
    }
}

/// Appends, and drops what is too much from the front.
fn keep_end(kept: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
    kept.extend_from_slice(bytes);
    let excess = kept.len().saturating_sub(KEPT);
    // Only now and then: what is printed byte by byte must not have all of it moved each time.
    if excess > KEPT {
        kept.drain(..excess);
    }
}

/// How much of each stream is kept. A guest can print without end.
const KEPT: usize = 64 * 1024;

/// The longest line that is shown as one.
const LINE: usize = 8 * 1024;
