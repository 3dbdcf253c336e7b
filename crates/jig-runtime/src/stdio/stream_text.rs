//! [`StreamCleaner`]: what a program says on one stream, on its way to those who look.

use jig_broker::{ScrubStream, Secrets};

use crate::plain_text::PlainStream;
use crate::session::SessionBoard;

#[cfg(test)]
mod tests;

/// Cleans a stream as results are cleaned: of terminal sequences, then of secrets. Neither a sequence nor a
/// secret gets through because it came in two pieces.
#[derive(Debug)]
pub(super) struct StreamCleaner {
    plain: PlainStream,
    scrub: ScrubStream,
    secrets: Secrets,
}

impl StreamCleaner {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self {
            plain: PlainStream::default(),
            scrub: secrets.stream(),
            secrets: secrets.clone(),
        }
    }

    /// Adds a piece to what is kept of the output.
    pub(super) fn say(&mut self, board: &SessionBoard, piece: &[u8]) {
        for piece in piece.chunks(PIECE_BYTES) {
            let clean = self.clean(piece);
            if !clean.is_empty() {
                board.say(|transcript| transcript.push(&clean));
            }
        }
    }

    /// Adds what was held back. Nothing comes after it.
    pub(super) fn end(&mut self, board: &SessionBoard) {
        let rest = self.finish();
        if !rest.is_empty() {
            board.say(|transcript| transcript.push(&rest));
        }
    }

    /// A piece for a screen, which understands terminal sequences: only secrets are left out. One that is
    /// printed without any sequence in it then never gets on the screen, wherever its rows end.
    pub(super) fn scrubbed(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(piece.len());
        self.scrub.push(piece, &mut clean);
        clean
    }

    fn clean(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut text = String::new();
        self.plain.push(piece, &mut text);
        self.scrubbed(text.as_bytes())
    }

    fn finish(&mut self) -> Vec<u8> {
        let mut text = String::new();
        self.plain.finish(&mut text);
        let mut clean = Vec::new();
        let mut scrub = std::mem::replace(&mut self.scrub, self.secrets.stream());
        scrub.push(text.as_bytes(), &mut clean);
        scrub.finish(&mut clean);
        clean
    }
}

/// How much is added at once: nobody else can look meanwhile.
const PIECE_BYTES: usize = 16 * 1024;
