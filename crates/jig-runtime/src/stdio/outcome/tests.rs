use jig_proto::{Content, Question};

use super::*;
use crate::pipes::ProgramStream;

const MOST: usize = 1 << 20;

/// Without remarks.
fn outcome(name: &str, printed: &StdioOutput, exit: Exit, most: usize) -> ToolState {
    super::outcome(name, printed, exit, most, |_| {})
}

fn printed(stdout: &str, stderr: &str) -> StdioOutput {
    let mut printed = StdioOutput::default();
    printed.take(ProgramStream::Output, stdout.as_bytes());
    printed.take(ProgramStream::Errors, stderr.as_bytes());
    printed
}

fn read(stdout: &str, stderr: &str, code: i32) -> ToolState {
    outcome("t", &printed(stdout, stderr), Exit::Exited { code }, MOST)
}

fn failure(state: ToolState) -> ToolError {
    match state {
        ToolState::Stopped {
            result: Err(error), ..
        } => error,
        other => panic!("{other:?}"),
    }
}

/// Whatever the exit code is, a state that was printed counts.
#[test]
fn j011_outcomes_and_states_count_whatever_the_exit_code() {
    for code in [0, 1] {
        let check = |stdout: &str, expected: ToolState| {
            assert_eq!(read(stdout, "noise", code), expected, "{stdout}");
        };
        check(
            r#"{"type":"success","content":"done"}"#,
            ToolState::succeeded("done"),
        );
        check(
            "\n {\"type\":\"stopped\",\"result\":\"done\"}\n",
            ToolState::succeeded("done"),
        );
        check(
            r#"{"content":[{"type":"text","text":"done"}]}"#,
            ToolState::succeeded("done"),
        );
        let error = ToolError {
            trace: vec!["io".to_owned()],
            transient: true,
            ..ToolError::new("no")
        };
        check(
            r#"{"type":"error","message":"no","trace":["io"],"transient":true}"#,
            ToolState::failed(error.clone()),
        );
        check(
            r#"{"type":"stopped","error":{"message":"no","trace":["io"],"transient":true}}"#,
            ToolState::failed(error),
        );
    }
}

#[test]
fn j012_questions_in_every_spelling() {
    let check = |answer: &str, expected: Question| {
        let stdout = format!(
            r#"{{"type":"needs_input","question":{{"id":"q","text":"?","pre_amble":null,"answer_type":{answer},"default":null}}}}"#
        );
        assert_eq!(read(&stdout, "", 0), ToolState::waiting(expected));
    };
    check("\"Boolean\"", Question::yes_no("q", "?"));
    check("\"Text\"", Question::text("q", "?"));
    check(
        r#"{"Select":{"options":["a","b"]}}"#,
        Question::select("q", "?", ["a", "b"]),
    );
    assert_eq!(
        read(
            r#"{"type":"waiting","content":"so far","question":{"id":"q","text":"?","schema":{"type":"boolean"}}}"#,
            "",
            0
        ),
        ToolState::Waiting {
            content: Content::text("so far"),
            question: Question::yes_no("q", "?"),
        }
    );
}

#[test]
fn j013_x61_a_call_that_was_not_understood_is_an_error() {
    let error = failure(read(
        "```json\n{\n  \"cause\": \"missing field `root`\",\n  \"error\": \"Unable to parse context input argument at index 1.\"\n}\n```\n",
        "",
        0,
    ));
    assert!(error.message.starts_with("Unable to parse context"));
    assert_eq!(error.trace, ["missing field `root`"]);
    let error = failure(read(
        "```json\n{ \"error\": \"An error occurred\", \"trace\": [\"a\", \"b\"] }\n```",
        "",
        0,
    ));
    assert_eq!(error.trace, ["a", "b"]);

    // Results that only look like it.
    for text in [
        "```json\n{\"error\":\"x\",\"rows\":3}\n```",
        "```json\n{\"errors\":\"x\"}\n```",
        "```json\n[1]\n```",
        "Found:\n```json\n{\"error\":\"x\"}\n```",
        "{\"error\":\"x\"}",
    ] {
        assert_eq!(read(text, "", 0), ToolState::succeeded(text), "{text}");
    }
}

#[test]
fn the_author_is_told_of_what_was_not_understood() {
    let remark = |stdout: &str| {
        let mut told = None;
        let exit = Exit::Exited { code: 0 };
        super::outcome("t", &printed(stdout, ""), exit, MOST, |remark| {
            told = Some(remark)
        });
        told
    };
    let told = remark(r#"{"type":"error"}"#).unwrap();
    assert!(
        told.starts_with("it printed a state that is taken as text: "),
        "{told}"
    );
    let told = remark(r#"{"content":[{"type":"text","text":"a"},{"type":"odd"}]}"#).unwrap();
    assert!(
        told.starts_with("it printed content that cannot be read"),
        "{told}"
    );
    for fine in [
        "text",
        "{\"rows\":3}",
        r#"{"type":"success","content":"x"}"#,
    ] {
        assert_eq!(remark(fine), None, "{fine}");
    }
}

#[test]
fn x61_nothing_printed_is_a_result_that_says_so() {
    for nothing in ["", "\n", "  \n\t"] {
        assert_eq!(read(nothing, "", 0), ToolState::succeeded("(no output)"));
        assert_eq!(
            read(nothing, "warning: odd\n", 0),
            ToolState::succeeded("(no output)\n\nstderr:\nwarning: odd")
        );
        failure(read(nothing, "", 1));
    }
    let ToolState::Stopped { result, .. } = read("", &"long line\n".repeat(4000), 0) else {
        panic!("it ended");
    };
    let text = result.unwrap().to_text();
    assert!(text.len() < 17 * 1024, "{}", text.len());
    assert!(text.contains("bytes before] ..."));
}

#[test]
fn j014_other_text_is_the_result_of_a_program_that_succeeded() {
    for text in [
        "plain\n",
        "{\"rows\": 3}",
        "{ not json",
        r#"{"type":"error"}"#,
        r#"{"type":"other","message":"x"}"#,
    ] {
        assert_eq!(read(text, "noise", 0), ToolState::succeeded(text), "{text}");
    }
}

#[test]
fn j014_and_part_of_the_error_of_one_that_failed() {
    let error = failure(read("half\n", "bad \u{1b}[31mthing\u{1b}[0m\n", 3));
    let told: Value = serde_json::from_str(&error.message).unwrap();
    assert_eq!(
        told,
        json!({
            "message": "Tool 't' execution failed.",
            "stderr": "bad thing\n",
            "stdout": "half\n",
        })
    );
    assert_eq!(error.trace, ["`t` exited with code 3"]);
    assert!(!error.transient);
}

#[test]
fn a_result_that_was_not_kept_whole_says_how_long_it_was() {
    let mut long = StdioOutput::default();
    for _ in 0..20 {
        long.take(ProgramStream::Output, &vec![b'x'; 1 << 20]);
    }
    let state = outcome("t", &long, Exit::Exited { code: 0 }, 1000);
    let ToolState::Stopped {
        result: Ok(content),
        ..
    } = state
    else {
        panic!("{state:?}");
    };
    let expected = format!("{}\n... [{} bytes more]", "x".repeat(936), (20 << 20) - 936);
    assert_eq!(content.to_text(), expected);
}

#[test]
fn the_error_stays_json_however_much_was_printed() {
    let long = printed(&"\"\n".repeat(100_000), &"\\ü".repeat(100_000));
    let exit = Exit::Exited { code: 1 };
    let error = failure(outcome("t", &long, exit, 10_000));
    assert!(error.message.len() < 11_000, "{}", error.message.len());
    let told: Value = serde_json::from_str(&error.message).unwrap();
    assert!(told["stdout"].as_str().unwrap().ends_with("bytes more]"));
    assert!(told["stderr"].as_str().unwrap().ends_with('ü'));
}

#[test]
fn a_signal_is_told_in_words() {
    let killed = Exit::Killed {
        signal: 11,
        core: false,
    };
    let error = failure(outcome(
        "cargo_check",
        &printed("half", "bad"),
        killed,
        MOST,
    ));
    assert_eq!(error.message, "`cargo_check` was killed by SIGSEGV");
    assert_eq!(error.trace, ["stderr: bad", "stdout: half"]);
    // Its last word counts if it had one.
    let said = printed(r#"{"type":"success","content":"done"}"#, "");
    assert_eq!(
        outcome("t", &said, killed, MOST),
        ToolState::succeeded("done")
    );
}

#[test]
fn a_signal_that_a_shell_tells_of_is_told_too() {
    let error = failure(read("", "", 139));
    let expected = "`t` exited with code 139: a program that it ran was killed by SIGSEGV";
    assert_eq!(error.trace, [expected]);
    assert_eq!(
        failure(read("", "", 130)).trace,
        ["`t` exited with code 130"]
    );
}

#[test]
fn a_program_that_ended_does_not_run() {
    let error = failure(read(r#"{"type":"running","content":"up"}"#, "", 0));
    assert_eq!(error.message, "`t` said that it still runs, and ended");
    assert_eq!(error.trace, ["up"]);
}
