//! F-093: the key is seen by the provider, and by nobody else; secrets are seen by neither side.

use jig_broker::LlmError;
use jig_proto::vfs::{FsRead, Payload, VfsReply, VfsRequest};
use jig_testkit::provider::Answer;

use crate::llm::world::{KEY, World, ask, hear, question, streamed};

#[test]
fn f093_a_provider_that_repeats_the_key_repeats_nothing() {
    let echo = format!("your key is {KEY}, is it not?");
    let expected = "your key is [REDACTED], is it not?";
    for chat in [question("x"), streamed("x")] {
        let world = World::new().always(Answer::text(echo.clone()).model(KEY).finish_reason(KEY));
        let (pieces, reply) = hear(&world.broker(), &chat);
        let reply = reply.unwrap();
        assert_eq!(reply.content, expected);
        assert_eq!(reply.model, "[REDACTED]");
        assert_eq!(reply.finish_reason, "[REDACTED]");
        if chat.stream {
            assert_eq!(pieces.concat(), expected);
        }
    }
}

#[test]
fn f093_also_letter_by_letter() {
    let piece = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let mut events: Vec<String> = ["ä ", "sk-hunter"].map(piece).to_vec();
    events.extend("22-9f8e ö".chars().map(|letter| piece(&letter.to_string())));
    // An end that might become the key, and does not.
    events.push(piece(" sk-hun"));
    events.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned());
    let world = World::new().always(Answer::events(events.iter().map(String::as_str)));
    let (pieces, reply) = hear(&world.broker(), &streamed("x"));
    assert_eq!(reply.unwrap().content, "ä [REDACTED] ö sk-hun");
    assert_eq!(pieces.concat(), "ä [REDACTED] ö sk-hun");
}

#[test]
fn f093_nor_in_an_error() {
    let check = |answer: Answer| {
        let world = World::new().always(answer);
        let error = ask(&world.broker(), &question("x")).unwrap_err();
        assert!(!error.to_string().contains("hunter"), "{error}");
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
        assert!(!format!("{:?}", world.log.entries()).contains("hunter"));
    };
    for status in [400, 401, 403, 404, 422, 429, 500] {
        check(Answer::error(status, &format!("bad key {KEY}!")));
        // Cut where messages are cut, it would not be found any more.
        check(Answer::error(status, &format!("{}{KEY}", "x".repeat(288))));
        check(Answer::error(status, &format!("{}{KEY}", " ".repeat(299))));
    }
    let error = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
    check(Answer::body("application/json", error));
    check(Answer::body(&format!("text/{KEY}"), ""));
    check(Answer::raw(format!(
        "HTTP/1.1 302 {KEY}\r\nLocation: http://x/{KEY}\r\n\r\n"
    )));
}

#[test]
fn a_provider_does_not_get_the_secrets_of_the_call() {
    let world = World::new();
    world.secrets.remember("correct horse");
    let broker = world.broker();
    let chat = question(&format!("with correct horse and {KEY}"));
    ask(&broker, &chat).unwrap();
    let request = &world.provider.requests()[0];
    assert_eq!(
        request.json()["messages"][0]["content"],
        "with [REDACTED] and [REDACTED]"
    );
    assert!(!request.body.contains("horse") && !request.body.contains(KEY));
}

/// The key may lie in a file of the workspace; a tool that reads it does not get it.
#[test]
fn f093_the_key_is_a_secret_of_the_whole_broker() {
    let world = World::new();
    let mut parts = world.parts();
    parts.llm = world.broker().llm().cloned();
    let path = jig_proto::ProjectPath::normalize("notes.txt").unwrap();
    let place = parts.files.locate(&path).unwrap();
    let content = format!("OPENAI_API_KEY={KEY}\n");
    let options = jig_files::WriteOptions::default();
    parts
        .files
        .write(&place, content.as_bytes(), &options)
        .unwrap();
    let broker = jig_broker::Broker::new(parts);
    let jig_broker::JudgedRequest::Ready(work) =
        broker.judge(&VfsRequest::FsRead(FsRead::new("notes.txt")))
    else {
        panic!("the tool may read");
    };
    let Ok(VfsReply::Read(reply)) = work.perform() else {
        panic!("the file is there");
    };
    assert_eq!(
        reply.content,
        Payload::Text("OPENAI_API_KEY=[REDACTED]\n".into())
    );
    assert!(!format!("{broker:?}").contains(KEY));
}

#[test]
fn errors_are_one_safe_sentence() {
    let all = [
        LlmError::NotAvailable,
        LlmError::QuotaExceeded,
        LlmError::InvalidRequest("there is no message".to_owned()),
        LlmError::TooLarge { size: 2, limit: 1 },
        LlmError::Timeout,
        LlmError::Unreachable("the connection was refused".to_owned()),
        LlmError::Cancelled,
        LlmError::Unaudited,
    ];
    for error in all {
        let text = error.to_string();
        assert!(
            !text.is_empty() && !text.contains('\n') && !text.contains('/'),
            "{text}"
        );
        assert!(!text.ends_with('.'), "{text}");
    }
}
