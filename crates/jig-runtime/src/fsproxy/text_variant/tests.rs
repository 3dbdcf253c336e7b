use jig_broker::ChatReply;
use jig_proto::fsproxy::{QuotaReport, TokenUsage};
use serde_json::{Value, json};

use super::{completion, paths};
use crate::fsproxy::llm::FinishedLlmCall;

#[test]
fn f071_paths_are_the_lines_that_say_something() {
    let check = |files: &str, expected: &[&str]| assert_eq!(paths(files), expected);
    check("", &[]);
    check("a.txt", &["a.txt"]);
    check("a.txt\n/tmp/b c.txt\n", &["a.txt", "/tmp/b c.txt"]);
    check("\n\na\r\n\nb", &["a", "b"]);
}

#[test]
fn f077_the_answer_is_a_chat_completion() {
    let finished = FinishedLlmCall {
        reply: ChatReply {
            content: "done".to_owned(),
            model: "large".to_owned(),
            finish_reason: "stop".to_owned(),
            usage: TokenUsage {
                input_tokens: 15,
                cached_tokens: 5,
                output_tokens: 8,
                weighted: 43.25,
            },
        },
        written: Some(4),
        quota: QuotaReport::default(),
    };
    let mut value: Value = serde_json::from_str(&completion(&finished)).expect("it is JSON");
    let members = value.as_object_mut().expect("it is an object");
    assert!(members.remove("id").is_some_and(|id| id.is_string()));
    assert!(members.remove("created").is_some_and(|time| time.is_u64()));
    let expected = json!({
        "object": "chat.completion",
        "model": "large",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": "done" },
            "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": 15,
            "completion_tokens": 8,
            "total_tokens": 23,
            "prompt_tokens_details": { "cached_tokens": 5 },
        },
    });
    assert_eq!(value, expected);
}
