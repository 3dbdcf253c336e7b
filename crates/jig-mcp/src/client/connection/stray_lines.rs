//! [`Strays`]: what a server wrote where only messages belong, for whoever has to say why it did not begin.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_proto::visible_words;
use tokio_util::sync::CancellationToken;

use crate::text_prefix::cut;

/// The first lines of a server that are no messages, until it has sent one: from then on it is a server, and they are
/// forgotten. Clones share them.
///
/// Lines are kept whole, because half a secret would not be found in them. [`told`](Self::told) cuts them.
#[derive(Clone, Default)]
pub(crate) struct Strays(Arc<StraysState>);

#[derive(Default)]
struct StraysState {
    kept: Mutex<StrayLines>,
    over: CancellationToken,
}

#[derive(Default)]
struct StrayLines {
    lines: Vec<Vec<u8>>,
    /// Whether there were more.
    more: bool,
}

impl Strays {
    /// Keeps a line, if it is one of the first. How long lines may be is for the caller to see to.
    pub(super) fn add(&self, line: &[u8]) {
        let mut kept = self.kept();
        match kept.lines.len() < MOST {
            true => kept.lines.push(line.to_vec()),
            false => kept.more = true,
        }
    }

    /// Forgets them all.
    pub(super) fn forget(&self) {
        *self.kept() = StrayLines::default();
    }

    /// Says that nothing more comes.
    pub(super) fn end(&self) {
        self.0.over.cancel();
    }

    /// Cancelled when nothing more comes.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.0.over
    }

    /// What there is, in quotes, as it may stand in a sentence; `None` if there is nothing. `scrub` takes out what
    /// nobody may see.
    pub(crate) fn told(&self, scrub: impl Fn(&str) -> String) -> Option<String> {
        let kept = self.kept();
        let quoted = kept.lines.iter().map(|line| {
            let line = scrub(&String::from_utf8_lossy(line));
            let shown = cut(&line, LONGEST_SHOWN);
            let end = if shown.len() < line.len() { "…" } else { "" };
            format!("\"{}{end}\"", visible_words(shown))
        });
        let more = kept.more.then(|| "…".to_owned());
        let all: Vec<String> = quoted.chain(more).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn kept(&self) -> MutexGuard<'_, StrayLines> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many lines are kept. A program that is no server can print any number.
const MOST: usize = 3;

/// How much is shown of each, in bytes.
const LONGEST_SHOWN: usize = 200;
