use serde_json::{Value, json};

use super::{NotAState, read_printed};
use crate::json::JsonLimits;
use crate::{Block, Content, Question, Resource, ToolError, ToolState};

/// What was read from `stdout`, and how many blocks were skipped.
fn read(stdout: &str) -> Result<(ToolState, usize), NotAState> {
    read_printed(stdout.as_bytes(), &JsonLimits::MESSAGE)
        .map(|read| (read.value, read.warnings.iter().count()))
}

fn check(stdout: Value, expected: ToolState) {
    let text = stdout.to_string();
    assert_eq!(read(&text).unwrap(), (expected, 0), "{text}");
}

fn error(message: &str, trace: &[&str], transient: bool) -> ToolError {
    ToolError {
        message: message.to_owned(),
        trace: trace.iter().map(|&one| one.to_owned()).collect(),
        transient,
        denials: Vec::new(),
        content: Content::EMPTY,
    }
}

/// V-027: a question among the blocks of a result is asked, whatever the result says that it is; what stands beside it
/// is shown with it, and a second question is not asked.
#[test]
fn v027_a_question_in_a_result() {
    let question = json!({"type": "question", "question": {"id": "ok", "text": "Confirm?", "answer_type": "boolean"}});
    let flat =
        json!({"type": "question", "id": "ok", "text": "Confirm?", "answer_type": "Boolean"});
    let other = json!({"type": "question", "id": "more", "text": "More?", "answer_type": "text"});
    let expected = ToolState::Waiting {
        content: Content::text("Diff"),
        question: Question::yes_no("ok", "Confirm?"),
    };
    let text = json!({"type": "text", "text": "Diff"});
    let blocks = [json!([text, question]), json!([flat, text])];
    for blocks in blocks {
        check(json!({"content": blocks}), expected.clone());
        check(
            json!({"type": "success", "content": blocks}),
            expected.clone(),
        );
        check(
            json!({"type": "stopped", "result": blocks}),
            expected.clone(),
        );
        check(
            json!({"type": "stopped", "result": {"Ok": blocks}}),
            expected.clone(),
        );
    }
    check(
        json!({"type": "stopped", "result": [text, question, other]}),
        expected,
    );
    // An error asks nothing.
    let failed = json!({"content": [text, question], "isError": true});
    assert!(matches!(
        read(&failed.to_string()).unwrap().0,
        ToolState::Stopped { result: Err(_), .. }
    ));
}

#[test]
fn s042_v123_v124_running_and_waiting() {
    check(
        json!({"type": "running", "content": "Next hunk: ..."}),
        ToolState::running("Next hunk: ..."),
    );
    check(json!({"type": "running"}), ToolState::running(""));
    check(
        json!({"type": "running", "content": null}),
        ToolState::running(""),
    );
    // X-03 and X-04.
    check(
        json!({"type": "spawned", "content": "$ "}),
        ToolState::running("$ "),
    );
    check(
        json!({"type": "spawned", "content": ""}),
        ToolState::running(""),
    );
    let question = json!({"id": "ok", "text": "Confirm?", "answer_type": "boolean"});
    check(
        json!({"type": "waiting", "content": "", "question": question}),
        ToolState::waiting(Question::yes_no("ok", "Confirm?")),
    );
    check(
        json!({"type": "waiting", "content": [{"type": "text", "text": "Diff"}], "question": question}),
        ToolState::Waiting {
            content: Content::text("Diff"),
            question: Question::yes_no("ok", "Confirm?"),
        },
    );
}

#[test]
fn x01_v125_every_spelling_of_stopped() {
    let done = ToolState::succeeded("Staged 3 hunks.");
    check(
        json!({"type": "stopped", "result": "Staged 3 hunks."}),
        done.clone(),
    );
    check(
        json!({"type": "stopped", "result": "Staged 3 hunks.", "error": null}),
        done.clone(),
    );
    check(
        json!({"type": "stopped", "result": {"Ok": "Staged 3 hunks."}}),
        done.clone(),
    );
    check(
        json!({"type": "stopped", "content": "Staged 3 hunks.", "error": null}),
        done.clone(),
    );
    check(
        json!({"type": "stopped", "content": "Staged 3 hunks."}),
        done.clone(),
    );
    check(
        json!({"type": "stopped", "result": [{"type": "text", "text": "Staged 3 hunks."}]}),
        done,
    );
    for nothing in [
        json!({"type": "stopped"}),
        json!({"type": "stopped", "content": ""}),
    ] {
        check(nothing, ToolState::succeeded(""));
    }

    let failed = ToolState::failed(error("no", &["io"], true));
    let wire = json!({"message": "no", "trace": ["io"], "transient": true});
    check(json!({"type": "stopped", "error": wire}), failed.clone());
    check(
        json!({"type": "stopped", "result": {"Err": wire}}),
        failed.clone(),
    );
    check(
        json!({"type": "stopped", "content": "", "error": wire}),
        failed,
    );
    check(
        json!({"type": "stopped", "error": {"message": "no"}}),
        ToolState::failed(ToolError::new("no")),
    );

    // X-05: content beside a result or an error is what was shown last.
    let stopped = |result| ToolState::Stopped {
        content: "bye".into(),
        result,
    };
    check(
        json!({"type": "stopped", "content": "bye", "result": "r"}),
        stopped(Ok("r".into())),
    );
    check(
        json!({"type": "stopped", "content": "bye", "error": {"message": "no"}}),
        stopped(Err(ToolError::new("no"))),
    );
}

#[test]
fn s041_j011_older_outcomes() {
    check(
        json!({"type": "success", "content": "ok"}),
        ToolState::succeeded("ok"),
    );
    check(
        json!({"type": "success", "content": [{"type": "text", "text": "ok"}]}),
        ToolState::succeeded("ok"),
    );
    check(
        json!({"type": "error", "message": "Failed to parse input", "trace": ["..."], "transient": false}),
        ToolState::failed(error("Failed to parse input", &["..."], false)),
    );
    check(
        json!({"type": "error", "message": "m"}),
        ToolState::failed(ToolError::new("m")),
    );
    let mut question = Question::select("mode", "How?", ["fast", "safe"]).with_default("safe");
    question.context = Some("Two ways.".to_owned());
    check(
        json!({"type": "needs_input", "question": {"id": "mode", "text": "How?",
            "pre_amble": "Two ways.", "default": "safe",
            "answer_type": {"Select": {"options": ["fast", "safe"]}}}}),
        ToolState::waiting(question),
    );
}

#[test]
fn responses_of_blocks() {
    check(
        json!({"content": [{"type": "text", "text": "Check succeeded."}]}),
        ToolState::succeeded("Check succeeded."),
    );
    check(
        json!({"content": [{"type": "text", "text": "[y/n]"}], "_meta": {"computer.jp/status": "running"}}),
        ToolState::running("[y/n]"),
    );
    check(
        json!({"content": [{"type": "text", "text": "File not found: foo.rs"}], "isError": true,
            "_meta": {"computer.jp/error": {"transient": true, "trace": ["os error 2"]}}}),
        ToolState::failed(error("File not found: foo.rs", &["os error 2"], true)),
    );
    check(
        json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
        ToolState::failed(ToolError::new("no")),
    );
    check(
        json!({"content": [], "isError": false}),
        ToolState::succeeded(""),
    );

    // A question makes it wait, said or not.
    let question = json!({"type": "question",
        "question": {"id": "ok", "text": "Go on?", "schema": {"type": "boolean"}}});
    let file = json!({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}});
    let waiting = ToolState::Waiting {
        content: Content::from(vec![Block::Resource(Resource::text("file:///a", "x"))]),
        question: Question::yes_no("ok", "Go on?"),
    };
    check(json!({"content": [file, question]}), waiting.clone());
    check(
        json!({"content": [file, question], "_meta": {"computer.jp/status": "waiting"}}),
        waiting,
    );
}

#[test]
fn s035_only_the_first_question_is_pending() {
    let ask = |id: &str| json!({"type": "question", "question": {"id": id, "text": id, "schema": {"type": "boolean"}}});
    let text = json!({"content": [ask("a"), ask("b")]}).to_string();
    assert_eq!(
        read(&text).unwrap(),
        (ToolState::waiting(Question::yes_no("a", "a")), 1)
    );
}

#[test]
fn a_malformed_block_does_not_spoil_the_state() {
    let text =
        json!({"type": "stopped", "result": [{"type": "video"}, {"type": "text", "text": "ok"}]});
    assert_eq!(
        read(&text.to_string()).unwrap(),
        (ToolState::succeeded("ok"), 1)
    );
}

#[test]
fn s042_j014_anything_else_is_plain_text() {
    let check = |stdout: &str, expected: &str| {
        let reason = match read(stdout) {
            Ok(state) => panic!("{stdout:?} is read as {state:?}"),
            Err(NotAState::NotAnObject) => "text".to_owned(),
            Err(NotAState::Json(_)) => "json".to_owned(),
            Err(NotAState::OtherObject) => "object".to_owned(),
            Err(NotAState::Malformed(error)) => error.to_string(),
        };
        assert_eq!(reason, expected, "{stdout:?}");
    };
    check("", "text");
    check("3 files changed", "text");
    check("[{\"type\": \"running\"}]", "text");
    check("\"running\"", "text");
    check("\u{feff}{\"type\": \"running\"}", "text");
    // J-013: how some tools report that they could not read their context.
    check("```json\n{\"type\": \"error\"}\n```", "text");

    check("{not json", "json");
    check("{\"type\": \"running\"", "json");
    check("{\"type\": \"running\"} and more", "json");
    check("{\"type\": \"running\", \"type\": \"stopped\"}", "json");
    check(
        &format!("{{\"type\": \"running\", \"x\": {}}}", "[".repeat(1_000)),
        "json",
    );

    check("{}", "object");
    check("{\"type\": \"Running\"}", "object");
    check("{\"type\": \"module\", \"content\": \"x\"}", "object");
    check("{\"type\": null, \"content\": []}", "object");
    check("{\"state\": \"running\", \"id\": \"h_1\"}", "object");
    // Somebody's own data that happens to have `content`.
    check("{\"content\": \"x\"}", "object");
    check("{\"content\": []}", "object");
    check("{\"content\": [1, 2, 3]}", "object");
    check(
        "{\"content\": [{\"type\": \"video\"}], \"isError\": false}",
        "object",
    );

    check(
        "{\"type\": \"waiting\"}",
        "`question` is missing: expected an object with `id` and `text`",
    );
    check(
        "{\"type\": \"error\"}",
        "`message` is missing: expected a string",
    );
    check(
        "{\"type\": \"running\", \"content\": 1}",
        "`content`: expected a string or a list of blocks, found the number 1",
    );
    check(
        "{\"type\": \"stopped\", \"result\": \"r\", \"error\": {\"message\": \"m\"}}",
        "`result`: expected nothing beside `error`, found the string \"r\"",
    );
    check(
        "{\"type\": \"stopped\", \"result\": {\"Ok\": \"a\", \"Err\": {\"message\": \"m\"}}}",
        "`result`: expected a string, a list of blocks, or either `Ok` or `Err`, found another object",
    );
    check(
        "{\"type\": \"stopped\", \"result\": {\"Err\": \"m\"}}",
        "`result.Err`: expected an object with `message`, found the string \"m\"",
    );
    check(
        "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"_meta\": {\"computer.jp/status\": \"waiting\"}}",
        "`content` is missing: expected a block of type `question`, because the status is `waiting`",
    );
    check(
        "{\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"_meta\": {\"computer.jp/status\": \"paused\"}}",
        "`_meta.computer.jp/status`: expected `running`, `waiting` or `stopped`, found the string \"paused\"",
    );
}

#[test]
fn whitespace_around_a_state_is_ignored() {
    assert_eq!(
        read("\n {\"type\":\"running\"}\r\n").unwrap().0,
        ToolState::running("")
    );
}

#[test]
fn the_limits_of_the_caller_hold() {
    let text = json!({"type": "running", "content": "x".repeat(100)}).to_string();
    let limits = JsonLimits::MESSAGE.with_bytes(100);
    assert!(matches!(
        read_printed(text.as_bytes(), &limits),
        Err(NotAState::Json(_))
    ));
}
