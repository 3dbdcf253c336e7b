//! Results without terminal sequences and secrets.

use jig_broker::Scrubber;
use jig_proto::{Block, Content, Question, Resource, ResourceData, ToolError, ToolState};

use crate::plain_text::plain;

/// Cleans all texts of what a program said.
pub(super) struct OutputCleaner(pub(super) Option<Scrubber>);

impl OutputCleaner {
    /// The text without terminal sequences, then without secrets: a sequence in the middle of a secret
    /// would otherwise hide it.
    pub(super) fn text(&self, text: &str) -> String {
        let text = plain(text);
        match &self.0 {
            Some(scrubber) => scrubber.text(text),
            None => text,
        }
    }

    pub(super) fn state(&self, state: ToolState) -> ToolState {
        match state {
            ToolState::Running { content } => ToolState::Running {
                content: self.content(content),
            },
            ToolState::Waiting { content, question } => ToolState::Waiting {
                content: self.content(content),
                question: self.question(question),
            },
            ToolState::Stopped { content, result } => ToolState::Stopped {
                content: self.content(content),
                result: match result {
                    Ok(result) => Ok(self.content(result)),
                    Err(error) => Err(self.error(error)),
                },
            },
        }
    }

    fn content(&self, content: Content) -> Content {
        let blocks = content.into_blocks().into_iter();
        blocks.map(|block| self.block(block)).collect()
    }

    fn block(&self, block: Block) -> Block {
        match block {
            Block::Text(mut text) => {
                text.text = self.text(&text.text);
                Block::Text(text)
            }
            Block::Resource(resource) => Block::Resource(self.resource(resource)),
            Block::Question(question) => Block::Question(self.question(question)),
            // A kind of block that is newer than this knows its own rules.
            other => other,
        }
    }

    fn resource(&self, mut resource: Resource) -> Resource {
        if let ResourceData::Text(text) = &mut resource.data {
            *text = self.text(text);
        }
        resource.uri = self.text(&resource.uri);
        let texts = [
            &mut resource.formatted,
            &mut resource.name,
            &mut resource.title,
            &mut resource.description,
        ];
        for text in texts.into_iter().flatten() {
            *text = self.text(text);
        }
        resource
    }

    fn question(&self, mut question: Question) -> Question {
        question.text = self.text(&question.text);
        question.context = question.context.map(|context| self.text(&context));
        question
    }

    fn error(&self, mut error: ToolError) -> ToolError {
        error.message = self.text(&error.message);
        for cause in &mut error.trace {
            *cause = self.text(cause);
        }
        error
    }
}
