//! A question of a tool that the client's model answers (`sampling/createMessage`), and its answer (S-074).
#![expect(
    deprecated,
    reason = "newer versions of the protocol want servers to ask models themselves; clients that offer sampling are \
              still the shortest way to the assistant that made the call"
)]

use jig_engine::{Answer, AssistantPrompt, read_assistant};
use jig_proto::Question;
use rmcp::model::{
    ClientResult, CreateMessageRequest, CreateMessageRequestParams, InputRequest, ServerRequest,
};
use serde_json::{Value, json};

/// A question of a tool, as the client's model is asked it.
#[derive(Debug, Clone)]
pub(crate) struct Sampling {
    prompt: AssistantPrompt,
    question: Question,
}

impl Sampling {
    /// The question of `tool`.
    pub(crate) fn new(tool: &str, question: &Question) -> Self {
        Self {
            prompt: AssistantPrompt::new(tool, question),
            question: question.clone(),
        }
    }

    /// The request of an older client; after a wrong answer with what was wrong with it.
    pub(crate) fn request(&self, complaint: Option<&str>) -> Option<ServerRequest> {
        let request = CreateMessageRequest::new(self.params(complaint)?);
        Some(ServerRequest::CreateMessageRequest(request))
    }

    /// The same for a client that retries its call.
    pub(crate) fn input_request(&self, complaint: Option<&str>) -> Option<InputRequest> {
        let request = CreateMessageRequest::new(self.params(complaint)?);
        Some(InputRequest::CreateMessage(request))
    }

    fn params(&self, complaint: Option<&str>) -> Option<CreateMessageRequestParams> {
        let text = match complaint {
            Some(complaint) => format!(
                "{}\nThe last answer was not usable: {complaint}\n",
                self.prompt.text
            ),
            None => self.prompt.text.clone(),
        };
        let params = json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
            "systemPrompt": self.prompt.system,
            "maxTokens": MAX_TOKENS,
        });
        // Our own words are of this form.
        serde_json::from_value(params).ok()
    }

    /// What the client's response, as it came, says.
    ///
    /// # Errors
    ///
    /// Why it is no answer, in words for the model.
    pub(crate) fn read(&self, response: &Value) -> Result<Answer, String> {
        let text = written(response).ok_or("there is no text in it")?;
        if text.len() > LONGEST_ANSWER {
            return Err(format!("it is longer than {LONGEST_ANSWER} bytes"));
        }
        read_assistant(&self.question, &text).map(Answer::Given)
    }

    /// The same for the result of a request of ours; `None` if it is the result of another.
    pub(crate) fn read_result(&self, result: &ClientResult) -> Option<Result<Answer, String>> {
        let ClientResult::CreateMessageResult(result) = result else {
            return None;
        };
        let response = serde_json::to_value(result).unwrap_or_default();
        Some(self.read(&response))
    }
}

/// The text of a message: its content is one block, or a list of them.
fn written(response: &Value) -> Option<String> {
    let content = response.get("content")?;
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text").and_then(Value::as_str));
    let text: String = texts.collect();
    (!text.is_empty()).then_some(text)
}

/// How long an answer may be, in tokens.
const MAX_TOKENS: u32 = 4096;

/// The same in bytes: a client may send anything.
const LONGEST_ANSWER: usize = 64 << 10;
