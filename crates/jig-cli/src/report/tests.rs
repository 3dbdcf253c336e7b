use super::*;

fn error(message: &str, trace: &[&str]) -> ToolError {
    ToolError {
        trace: trace.iter().map(|&cause| cause.to_owned()).collect(),
        ..ToolError::new(message)
    }
}

#[test]
fn j014_the_output_of_a_failed_program_is_taken_out_of_its_json() {
    let told = r#"{"message":"Tool 't' execution failed.","stderr":"bad\n","stdout":"half\n"}"#;
    assert_eq!(
        ToolErrorParts::of(&error(
            told,
            &["`t` exited with code 3", "it reached a limit"]
        )),
        ToolErrorParts {
            message: "`t` exited with code 3".to_owned(),
            causes: vec!["it reached a limit"],
            stdout: "half\n".to_owned(),
            stderr: "bad\n".to_owned(),
        }
    );
    assert_eq!(
        ToolErrorParts::of(&error(told, &[])).message,
        "Tool 't' execution failed."
    );
    let killed = error("`t` was ended by SIGKILL", &["stderr: bad", "stdout: half"]);
    assert_eq!(
        ToolErrorParts::of(&killed),
        ToolErrorParts {
            message: "`t` was ended by SIGKILL".to_owned(),
            causes: Vec::new(),
            stdout: "half".to_owned(),
            stderr: "bad".to_owned(),
        }
    );
}

#[test]
fn other_messages_stay_as_they_are() {
    for message in [
        "no such note",
        "{",
        r#"{"message":"no","stderr":"","stdout":"","code":3}"#,
        r#"{"message":"no","stderr":1,"stdout":""}"#,
    ] {
        let error = error(message, &["why: so"]);
        let failed = ToolErrorParts::of(&error);
        assert_eq!(
            (failed.message.as_str(), failed.causes),
            (message, vec!["why: so"])
        );
        assert_eq!((failed.stdout.as_str(), failed.stderr.as_str()), ("", ""));
    }
}
