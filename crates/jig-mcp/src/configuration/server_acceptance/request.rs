//! [`AcceptRequest`]: what a person is asked to accept of a server.

use jig_engine::HeldOffer;
use jig_proto::visible_words;

use crate::questions::{LONGEST_CONTEXT, QuestionTopic};

/// What a person is asked to accept of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AcceptRequest {
    pub(super) topic: QuestionTopic,
    pub(super) text: String,
    pub(super) context: String,
    /// What is accepted: all that is shown, and nothing else.
    pub(super) held: Vec<HeldOffer>,
}

impl AcceptRequest {
    /// The question about what is held of a server; `None` if nothing is.
    pub(super) fn of(server: &str, held: Vec<HeldOffer>) -> Option<Self> {
        let topic = match held.first()? {
            HeldOffer::Server { .. } => QuestionTopic::Server,
            HeldOffer::Definition { .. } => QuestionTopic::Definition,
        };
        let mut request = Self {
            topic,
            text: String::new(),
            context: String::new(),
            held: Vec::new(),
        };
        for one in held {
            let context = about(&one);
            let is_first = request.held.is_empty();
            // What does not fit would be accepted unseen. It is asked about when this is accepted.
            if !is_first && request.context.len() + context.len() + 2 > LONGEST_CONTEXT {
                break;
            }
            if !is_first {
                request.context.push_str("\n\n");
            }
            request.context.push_str(&context);
            request.held.push(one);
        }
        request.text = match request.held.as_slice() {
            [one] => one.question().text,
            several => format!(
                "The MCP server `{server}` has {} tools that are new, or described in another way than was \
                 accepted. Accept what it says now?",
                several.len()
            ),
        };
        Some(request)
    }

    /// What makes it what it is.
    pub(super) fn key(&self) -> Vec<String> {
        let keys = self.held.iter().map(|held| match held {
            HeldOffer::Server {
                name, fingerprint, ..
            } => format!("{name} {fingerprint}"),
            HeldOffer::Definition {
                server, tool, now, ..
            } => format!("{server} {now} {tool}"),
        });
        keys.collect()
    }

    /// What is to be accepted, in one line.
    pub(super) fn told(&self) -> String {
        match self.held.as_slice() {
            [one] => visible_words(&one.to_string()),
            several => {
                let server = several.first().map_or("", HeldOffer::server);
                let count = several.len();
                format!("{count} tools of the MCP server `{server}` are not what was accepted")
            }
        }
    }
}

/// What a person has to know of one thing to accept it.
fn about(held: &HeldOffer) -> String {
    let context = held.question().context.unwrap_or_default();
    match held {
        HeldOffer::Server { .. } => context,
        HeldOffer::Definition { tool, .. } => {
            format!("tool:     {}\n{context}", visible_words(tool))
        }
    }
}

#[cfg(test)]
mod tests;
