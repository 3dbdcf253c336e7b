//! Requests about programs: run to their end, or started and kept.

use super::*;

#[test]
fn v080_process_run() {
    check_request(
        VfsRequest::ProcessRun(ProcessRun {
            program: "cargo".into(),
            args: texts(&["check", "--message-format=json"]),
            envs: texts(&["CARGO_TERM_COLOR"]),
            cwd: None,
        }),
        r#"{"program":"cargo","args":["check","--message-format=json"],"envs":["CARGO_TERM_COLOR"]}"#,
    );
    check_request(
        VfsRequest::ProcessRun(ProcessRun {
            program: "make".into(),
            args: texts(&[]),
            envs: texts(&[]),
            cwd: Some("docs".into()),
        }),
        r#"{"program":"make","args":[],"envs":[],"cwd":"docs"}"#,
    );
    check_reply(
        Method::ProcessRun,
        &VfsReply::Process(ProcessReply {
            stdout: "...".into(),
            stderr: "...".into(),
            exit_code: 0,
            truncated: false,
        }),
        r#"{"stdout":"...","stderr":"...","exit_code":0}"#,
    );
    check_reply(
        Method::ProcessRun,
        &VfsReply::Process(ProcessReply {
            exit_code: -1,
            truncated: true,
            ..ProcessReply::default()
        }),
        r#"{"stdout":"","stderr":"","exit_code":-1,"truncated":true}"#,
    );
}

#[test]
fn a_program_that_stays_is_started_and_stopped() {
    check_request(
        VfsRequest::ProcessStart(ProcessStart::new("cat")),
        r#"{"program":"cat","args":[],"envs":[]}"#,
    );
    check_request(
        VfsRequest::ProcessStart(ProcessStart {
            args: texts(&["add", "--patch"]),
            envs: texts(&["LANG"]),
            cwd: Some("sub".into()),
            terminal: Some(TerminalSize {
                rows: 40,
                cols: 120,
            }),
            ..ProcessStart::new("git")
        }),
        r#"{"program":"git","args":["add","--patch"],"envs":["LANG"],"cwd":"sub","terminal":{"rows":40,"cols":120}}"#,
    );
    let started = VfsReply::Started(StartedProcess { process: 1 });
    check_reply(Method::ProcessStart, &started, r#"{"process":1}"#);
    let stop = VfsRequest::ProcessStop(ProcessStop { process: 1 });
    check_request(stop, r#"{"process":1}"#);
    let killed = VfsReply::Output(ProcessOutput {
        content: "bye\n".into(),
        seq: 9,
        signal: Some(15),
        ..ProcessOutput::default()
    });
    check_reply(
        Method::ProcessStop,
        &killed,
        r#"{"running":false,"content":"bye\n","seq":9,"signal":15}"#,
    );
}

#[test]
fn a_program_that_stays_is_read_and_written() {
    check_request(
        VfsRequest::ProcessRead(ProcessRead::new(1)),
        r#"{"process":1}"#,
    );
    check_request(
        VfsRequest::ProcessRead(ProcessRead {
            process: 2,
            fetch: Fetch {
                view: View::Screen,
                after_seq: Some(7),
                max_bytes: Some(4096),
                wait: Some(Duration::from_secs(30)),
            },
            settle: true,
        }),
        r#"{"process":2,"view":"screen","after_seq":7,"max_bytes":4096,"wait_ms":30000,"settle":true}"#,
    );
    check_reply(
        Method::ProcessRead,
        &VfsReply::Output(ProcessOutput {
            running: true,
            ..ProcessOutput::default()
        }),
        r#"{"running":true,"content":"","seq":0}"#,
    );
    check_reply(
        Method::ProcessRead,
        &VfsReply::Output(ProcessOutput {
            running: false,
            content: ">>> ".into(),
            seq: 12,
            cut: Some(CutReport {
                bytes: 3,
                hint: "they are gone".to_owned(),
            }),
            terminal: Some(TerminalReport {
                rows: 24,
                cols: 80,
                cursor: [0, 4],
                alternate: false,
            }),
            exit_code: Some(1),
            signal: None,
        }),
        r#"{"running":false,"content":">>> ","seq":12,"cut":{"bytes":3,"hint":"they are gone"},"terminal":{"rows":24,"cols":80,"cursor":[0,4],"alternate":false},"exit_code":1}"#,
    );
    for (input, written) in [
        (json!("y"), r#""y""#),
        (json!({"line": "print(1)"}), r#"{"line":"print(1)"}"#),
        (json!([{"keys": ["up"]}, null]), r#"[{"keys":["up"]},null]"#),
        (json!(null), "null"),
    ] {
        let write = VfsRequest::ProcessWrite(ProcessWrite { process: 1, input });
        check_request(write, &format!(r#"{{"process":1,"input":{written}}}"#));
    }
    check_reply(Method::ProcessWrite, &VfsReply::DONE, "{}");
}

#[test]
fn what_asks_about_a_program_may_be_short_and_must_be_right() {
    let read = |method: &str, params: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        match host::read_line(line.as_bytes(), &Reading::PLAIN) {
            Ok(ToolLine::Request { request, .. }) => Ok(request.into_owned()),
            Err(host::ToolLineFault::Answer { error, .. }) => Err(error.message),
            other => panic!("{other:?}"),
        }
    };
    let check = |method: &str, params: &str, expected: VfsRequest<'static>| {
        assert_eq!(read(method, params), Ok(expected), "{params}");
    };
    let on_terminal = |rows, cols| {
        VfsRequest::ProcessStart(ProcessStart {
            terminal: Some(TerminalSize { rows, cols }),
            ..ProcessStart::new("sh")
        })
    };
    check(
        "process.start",
        r#"{"program":"sh","terminal":{}}"#,
        on_terminal(24, 80),
    );
    check(
        "process.start",
        r#"{"program":"sh","args":null,"cwd":null,"terminal":{"cols":5,"rows":null}}"#,
        on_terminal(24, 5),
    );
    check(
        "process.start",
        r#"{"program":"sh","terminal":null}"#,
        VfsRequest::ProcessStart(ProcessStart::new("sh")),
    );
    let waiting = |wait| {
        let mut read = ProcessRead::new(3);
        read.fetch.wait = Some(wait);
        VfsRequest::ProcessRead(read)
    };
    check(
        "process.read",
        r#"{"process":3,"view":null,"settle":null,"wait_ms":0}"#,
        waiting(Duration::ZERO),
    );
    // However long a tool wants to wait.
    check(
        "process.read",
        r#"{"process":3,"view":"new","wait_ms":18446744073709551615}"#,
        waiting(Fetch::LONGEST_WAIT),
    );

    let refused = |method: &str, params: &str, expected: &str| {
        let error = read(method, params).expect_err("it is malformed");
        assert_eq!(error, expected, "{params}");
    };
    refused(
        "process.read",
        r#"{"process":1,"view":"last"}"#,
        "invalid parameters of `process.read`: \"last\" is not a view (there are `new`, `screen` and `all`)",
    );
    refused(
        "process.read",
        "{}",
        "invalid parameters of `process.read`: missing field `process`",
    );
    refused(
        "process.read",
        r#"{"process":-1}"#,
        "invalid parameters of `process.read`: invalid value: integer `-1`, expected u64",
    );
    refused(
        "process.write",
        r#"{"process":1}"#,
        "invalid parameters of `process.write`: missing field `input`",
    );
    refused(
        "process.start",
        r#"{"program":"sh","terminal":[24,80]}"#,
        "invalid parameters of `process.start`: invalid type: sequence, expected an object",
    );
    refused(
        "process.start",
        r#"{"program":"sh","terminal":{"rows":70000}}"#,
        "invalid parameters of `process.start`: invalid value: integer `70000`, expected u16",
    );
    refused(
        "process.stop",
        "[1]",
        "invalid parameters of `process.stop`: invalid type: sequence, expected an object",
    );
    // A value is not built before its depth and its keys were looked at.
    let deep = format!(
        r#"{{"process":1,"input":{}1{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    assert!(read("process.write", &deep).is_err());
    assert!(read("process.write", r#"{"process":1,"input":{"a":1,"a":2}}"#).is_err());
}
