use super::{MAX_INPUTS, check_parameters, error_line, failure};
use jig_broker::LlmError;
use jig_proto::fsproxy::{LlmCmd, LlmMessage, LlmRole, ProxyError, ProxyErrorCode};

#[test]
fn f091_parameters_are_checked_before_anything_is_read() {
    let check = |command: LlmCmd, expected: Option<&str>| {
        let refused = check_parameters(&command).err();
        assert_eq!(
            refused.as_ref().map(|error| error.message.as_str()),
            expected
        );
    };
    let prompt = || LlmCmd {
        prompt: Some("hello".to_owned()),
        ..LlmCmd::default()
    };
    let message = LlmMessage {
        role: LlmRole::User,
        content: "hello".to_owned(),
    };
    check(LlmCmd::default(), Some("missing prompt or messages"));
    let empty = LlmCmd {
        prompt: Some(String::new()),
        ..LlmCmd::default()
    };
    check(empty.clone(), Some("missing prompt or messages"));
    check(prompt(), None);
    let messages = LlmCmd {
        messages: vec![message],
        ..empty
    };
    check(messages, None);
    let streamed = |stdout| LlmCmd {
        stream: true,
        stdout,
        ..prompt()
    };
    check(streamed(None), Some("`stream` needs `stdout`"));
    check(streamed(Some(1)), None);
    let inputs = |count| LlmCmd {
        files: vec![3; 1],
        paths: vec!["a".to_owned(); count - 1],
        ..prompt()
    };
    check(inputs(MAX_INPUTS), None);
    check(inputs(MAX_INPUTS + 1), Some("more than 256 inputs"));
}

#[test]
fn f078_what_goes_wrong_has_its_code_and_text() {
    let check = |error: LlmError, code: ProxyErrorCode, text: &str| {
        assert_eq!(failure(error), ProxyError::new(code, text));
    };
    check(
        LlmError::NotAvailable,
        ProxyErrorCode::Unsupported,
        "LLM not available",
    );
    check(
        LlmError::QuotaExceeded,
        ProxyErrorCode::Range,
        "quota exceeded: cannot make LLM call",
    );
    check(
        LlmError::InvalidRequest("odd".to_owned()),
        ProxyErrorCode::Arg,
        "odd",
    );
    let refused = LlmError::Refused {
        status: 500,
        message: "overloaded".to_owned(),
    };
    check(
        refused,
        ProxyErrorCode::Io,
        "OpenAI API call failed: the provider answered 500: overloaded",
    );
    check(
        LlmError::Timeout,
        ProxyErrorCode::Io,
        "OpenAI API call failed: the provider did not answer in time",
    );
}

#[test]
fn an_error_is_one_plain_line_on_stderr() {
    let error = ProxyError::io("bad\n\u{1b}[31mred\u{202e}");
    assert_eq!(error_line(&error), b"llm: bad \\u{1b}[31mred\\u{202e}\n");
}
