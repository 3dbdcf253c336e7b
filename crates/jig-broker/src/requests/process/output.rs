//! What a program prints: scrubbed as it comes, and cut where it is too much.

use crate::scrub::{ScrubStream, Secrets};

/// One output of a program.
#[derive(Debug)]
pub(super) struct ProgramOutput {
    /// `None` once it has come to its end.
    scrub: Option<ScrubStream>,
    kept: Vec<u8>,
    limit: usize,
    /// How much the program printed.
    total: u64,
    /// How much of that was dropped, once it was scrubbed.
    dropped: u64,
}

impl ProgramOutput {
    pub(super) fn new(secrets: &Secrets, limit: usize) -> Self {
        Self {
            scrub: Some(secrets.stream()),
            kept: Vec::new(),
            limit,
            total: 0,
            dropped: 0,
        }
    }

    /// Takes what was read.
    ///
    /// It is scrubbed before it is cut, so that a cut inside a secret leaves no half of it.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        match &mut self.scrub {
            Some(scrub) => scrub.push(piece, &mut self.kept),
            None => self.kept.extend_from_slice(piece),
        }
        self.cut();
    }

    /// How much the program printed so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The text, with a marker at its end if there was more, and whether there was.
    pub(super) fn finish(mut self) -> (String, bool) {
        if let Some(scrub) = self.scrub.take() {
            scrub.finish(&mut self.kept);
            self.cut();
        }
        let mut text = String::from_utf8_lossy(&self.kept).into_owned();
        let truncated = self.dropped > 0;
        if truncated {
            let whole = self.kept.len() as u64 + self.dropped;
            let kept = self.kept.len();
            text.push_str(&format!("\n... [truncated, {whole} bytes → {kept} bytes]"));
        }
        (text, truncated)
    }

    fn cut(&mut self) {
        if self.kept.len() <= self.limit {
            return;
        }
        let mut end = self.limit;
        if self.dropped == 0 {
            // Not inside a character, if it is text.
            while end > self.limit.saturating_sub(3) && self.kept[end] & 0xc0 == 0x80 {
                end -= 1;
            }
            self.limit = end;
        }
        self.dropped += (self.kept.len() - end) as u64;
        self.kept.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramOutput;
    use crate::scrub::Secrets;

    fn check(limit: usize, pieces: &[&str], expected: &str, truncated: bool) {
        let secrets = Secrets::new();
        secrets.remember("hunter22");
        for secrets in [Secrets::new(), secrets] {
            if secrets.scrubber().is_none() && pieces.concat().contains("hunter") {
                continue;
            }
            let mut output = ProgramOutput::new(&secrets, limit);
            pieces
                .iter()
                .for_each(|piece| output.push(piece.as_bytes()));
            assert_eq!(output.total(), pieces.concat().len() as u64);
            assert_eq!(
                output.finish(),
                (expected.to_owned(), truncated),
                "{pieces:?}"
            );
        }
    }

    #[test]
    fn output_is_cut_at_a_character_and_marked() {
        check(10, &["abc", "def"], "abcdef", false);
        check(6, &["abc", "def"], "abcdef", false);
        check(
            4,
            &["abc", "def"],
            "abcd\n... [truncated, 6 bytes → 4 bytes]",
            true,
        );
        check(
            4,
            &["abc", "def", "ghi"],
            "abcd\n... [truncated, 9 bytes → 4 bytes]",
            true,
        );
        check(
            4,
            &["abcä", "x"],
            "abc\n... [truncated, 6 bytes → 3 bytes]",
            true,
        );
        check(0, &["a"], "\n... [truncated, 1 bytes → 0 bytes]", true);
    }

    #[test]
    fn v085_a_cut_leaves_no_half_of_a_secret() {
        check(100, &["a hunt", "er2", "2 b"], "a [REDACTED] b", false);
        let cut = "a [RED\n... [truncated, 14 bytes → 6 bytes]";
        check(6, &["a hunter22 b"], cut, true);
    }
}
