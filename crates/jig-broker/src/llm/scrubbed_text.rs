//! What a model says, on its way to whoever asked.

use crate::broker::BrokerCore;
use crate::scrub::ScrubStream;

/// What a model says, without secrets, kept and passed on.
pub(super) struct LlmOutput<'a> {
    clean: ScrubStream,
    passed_on: PassedOn<'a>,
}

impl<'a> LlmOutput<'a> {
    pub(super) fn new(inner: &BrokerCore, stream: bool, on_text: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            clean: inner.secrets.stream(),
            passed_on: PassedOn {
                content: String::new(),
                deliver: stream.then_some(on_text),
            },
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        let mut certain = Vec::new();
        self.clean.push(text.as_bytes(), &mut certain);
        self.passed_on.add(&certain);
    }

    /// The whole text, after the rest of it was delivered.
    pub(super) fn finish(mut self) -> String {
        let mut rest = Vec::new();
        self.clean.finish(&mut rest);
        self.passed_on.add(&rest);
        self.passed_on.content
    }
}

struct PassedOn<'a> {
    content: String,
    deliver: Option<&'a mut dyn FnMut(&str)>,
}

impl PassedOn<'_> {
    fn add(&mut self, certain: &[u8]) {
        if certain.is_empty() {
            return;
        }
        // Secrets are whole texts, and what is held back begins with a character: what passes is UTF-8.
        let text = String::from_utf8_lossy(certain);
        self.content.push_str(&text);
        if let Some(deliver) = &mut self.deliver {
            deliver(&text);
        }
    }
}
