use std::io::{self, BufRead as _, BufReader};

use super::*;

/// What comes of a talk with a server that does this with its input and output.
fn talked(
    serve: impl FnOnce(BufReader<io::PipeReader>, PipeWriter) + Send + 'static,
) -> Result<usize, String> {
    let (input, ours) = io::pipe().unwrap();
    let (theirs, output) = io::pipe().unwrap();
    let server = thread::spawn(move || serve(BufReader::new(input), output));
    let lines = ServerOutputLines::of(theirs).unwrap();
    let result = tools(ours, &lines, Duration::from_secs(30), &|| false);
    drop(lines);
    server.join().unwrap();
    result
}

/// The id and the method of the next message.
fn heard(input: &mut impl io::BufRead) -> (Json, String) {
    let mut line = String::new();
    input.read_line(&mut line).unwrap();
    let message: Json = serde_json::from_str(&line).unwrap();
    (
        message["id"].clone(),
        message["method"].as_str().unwrap_or_default().to_owned(),
    )
}

#[test]
fn a_server_is_greeted_and_asked() {
    let count = talked(|mut input, mut output| {
        let (id, method) = heard(&mut input);
        assert_eq!(method, "initialize");
        writeln!(output, "hello, I am no JSON").unwrap();
        writeln!(
            output,
            r#"{{"jsonrpc":"2.0","id":7,"method":"roots/list"}}"#
        )
        .unwrap();
        assert_eq!(heard(&mut input).0, 7);
        writeln!(
            output,
            r#"{{"jsonrpc":"2.0","method":"notifications/message"}}"#
        )
        .unwrap();
        writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).unwrap();
        assert_eq!(heard(&mut input).1, "notifications/initialized");
        let (id, method) = heard(&mut input);
        assert_eq!(method, "tools/list");
        writeln!(
            output,
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{}},{{}}]}}}}"#
        )
        .unwrap();
    });
    assert_eq!(count, Ok(2));
}

#[test]
fn one_that_is_not_greeted_is_asked_all_the_same() {
    let count = talked(|mut input, mut output| {
        let (id, _) = heard(&mut input);
        writeln!(
            output,
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"no"}}}}"#
        )
        .unwrap();
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        let message: Json = serde_json::from_str(&line).unwrap();
        let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(version, "2026-07-28");
        writeln!(
            output,
            r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":-32601,"message":"no"}}}}"#
        )
        .unwrap();
    });
    assert_eq!(count, Ok(0));
}

#[test]
fn a_server_that_ends_is_told() {
    let why = talked(|_, _| {}).unwrap_err();
    assert!(why.starts_with("it ended before it "), "{why}");
}

/// What floods is read to its end, and what is too long is no message.
#[test]
fn garbage_ends_the_talk() {
    let result = talked(|_input, mut output| {
        let line = vec![b'x'; 1 << 20];
        // More than the longest line, without an end; whoever stops to read would hold this up for ever.
        for _ in 0..40 {
            if output.write_all(&line).is_err() {
                return;
            }
        }
    });
    assert_eq!(
        result,
        Err("it ended before it answered `initialize`".to_owned())
    );
    let result = talked(|_input, mut output| {
        for _ in 0..20_000 {
            if writeln!(output, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).is_err() {
                return;
            }
        }
    });
    assert_eq!(
        result,
        Err("it said everything but the answer to `initialize`".to_owned())
    );
}

#[test]
fn time_and_ctrl_c_end_it() {
    let silent = |limit: Duration, is_over: bool| {
        let (_input, ours) = io::pipe().unwrap();
        let (theirs, _output) = io::pipe().unwrap();
        let lines = ServerOutputLines::of(theirs).unwrap();
        tools(ours, &lines, limit, &|| is_over)
    };
    let expected = Err("it did not answer `initialize` in time".to_owned());
    assert_eq!(silent(Duration::from_millis(20), false), expected);
    assert!(silent(Duration::from_secs(600), true).is_err());
}
