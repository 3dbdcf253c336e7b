use super::{ToolLine, ToolLineFault, read_line, write_error, write_reply_within};
use crate::json::JsonLimits;
use crate::vfs::{ErrorKind, FsRead, FsWrite, Id, Method, Payload, Reading, VfsReply, VfsRequest};

const BLOBS: Reading = Reading {
    limits: JsonLimits::MESSAGE,
    blobs: true,
};

/// What is answered to a line, or a word for what is not answered.
fn answer(line: &[u8], reading: &Reading) -> String {
    match read_line(line, reading) {
        Err(ToolLineFault::Answer { id, error, blob }) => {
            let mut out = Vec::new();
            write_error(&mut out, id.as_ref(), &error);
            let code = error.code();
            let id = id.map_or("null".to_owned(), |id| id.to_string());
            let blob = blob.map_or(String::new(), |length| format!(" (skip {length})"));
            format!("{code} {id}: {}{blob}", error.message)
        }
        Err(other) => format!("ignored: {other}"),
        Ok(read) => format!("{read:?}"),
    }
}

fn check(line: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(
        answer(line.as_ref(), &Reading::PLAIN),
        expected,
        "{}",
        String::from_utf8_lossy(line.as_ref())
    );
}

/// A request with this id and these params.
fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[test]
fn v150_x59_what_is_not_a_request_is_32600() {
    let not_json = |line: &str, why: &str| {
        let why = format!("-32600 null: invalid request: the line is not a JSON object: {why}");
        check(line, &why);
    };
    not_json("{", "EOF while parsing an object at column 1");
    not_json(
        r#"{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"#,
        "EOF while parsing a value at column 60",
    );
    not_json("hello", "expected value at column 1");
    not_json("{} {}", "trailing characters at column 4");
    not_json("\u{feff}{}", "expected value at column 1");
    not_json(
        "{\"jsonrpc\":\"2.0\",\"params\":{\"path\":\"a\0b\"}}",
        "control character (\\u0000-\\u001F) found while parsing a string at column 36",
    );
    for value in ["1", "\"text\"", "null", "true"] {
        assert!(
            answer(value.as_bytes(), &Reading::PLAIN)
                .starts_with("-32600 null: invalid request: invalid type: ")
        );
    }
    check(
        "{}",
        "-32600 null: invalid request: `jsonrpc` must be \"2.0\"",
    );
    check(
        r#"{"id":1,"method":"fs.read"}"#,
        "-32600 1: invalid request: `jsonrpc` must be \"2.0\"",
    );
    for version in ["1", "2.0", "\"1.0\"", "null", "[\"2.0\"]"] {
        check(
            format!(r#"{{"jsonrpc":{version},"id":"a","method":"fs.read"}}"#),
            "-32600 \"a\": invalid request: `jsonrpc` must be \"2.0\"",
        );
    }
    check(
        r#"{"jsonrpc":"2.0","id":1}"#,
        "-32600 1: invalid request: `method` is missing",
    );
    // The host asks nothing, so nothing answers it.
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "-32600 1: invalid request: `method` is missing",
    );
    for method in ["1", "null", "{}", "[\"fs.read\"]"] {
        check(
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method}}}"#),
            "-32600 1: invalid request: `method` must be a string",
        );
    }
}

#[test]
fn v021_there_are_no_batches() {
    let expected =
        "-32600 null: invalid request: the line is a list; send each message on a line of its own";
    check("[]", expected);
    check(" [", expected);
    check(
        format!("[{}]", request("1", "fs.read", r#"{"path":"a"}"#)),
        expected,
    );
    check(r#"["2.0",1,"fs.read",{"path":"a"}]"#, expected);
}

#[test]
fn invalid_utf8_is_a_malformed_line() {
    let expected = "-32600 null: invalid request: the line is not UTF-8";
    check(b"\xff", expected);
    check(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.read\",\"params\":{\"path\":\"\xff\"}}",
        expected,
    );
    // Also where nobody would look.
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.read\",\"params\":{\"path\":\"a\"},\"x\":\"\xc0\xaf\"}", expected);
}

#[test]
fn v024_ids_of_all_kinds() {
    let check_id = |json: &str, expected: Option<Id<'_>>| {
        let line = request(json, "fs.read", r#"{"path":"a"}"#);
        match (read_line(line.as_bytes(), &Reading::PLAIN), expected) {
            (Ok(ToolLine::Request { id, .. }), Some(expected)) => assert_eq!(id, expected),
            (
                Err(ToolLineFault::Answer {
                    id: None, error, ..
                }),
                None,
            ) => {
                assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            }
            (other, _) => panic!("{json}: {other:?}"),
        }
    };
    check_id("1", Some(Id::from(1)));
    check_id("18446744073709551615", Some(Id::from(u64::MAX)));
    check_id("\"\"", Some(Id::from("")));
    check_id("\"a\\nb\"", Some(Id::from("a\nb")));
    check_id("null", None);
    check_id("true", None);
    check_id("[1]", None);
    check_id("{}", None);
    check_id("1e999", None);
    check_id(&format!("\"{}\"", "x".repeat(Id::MAX_BYTES)), None);
    // Numbers of every spelling are ids.
    for json in ["-1", "1.5", "1e3", "123456789012345678901234567890"] {
        let line = request(json, "fs.read", r#"{"path":"a"}"#);
        let read = read_line(line.as_bytes(), &Reading::PLAIN);
        assert!(
            matches!(&read, Ok(ToolLine::Request { id, .. }) if id.to_string() == json),
            "{read:?}"
        );
    }
}

#[test]
fn v151_v170_x07_unknown_methods_are_32601() {
    check(
        request("1", "fs.chmod", "{}"),
        "-32601 1: there is no method \"fs.chmod\"",
    );
    check(request("1", "", "{}"), "-32601 1: there is no method \"\"");
    check(
        request("1", "read", r#"{"path":"src/main.rs"}"#),
        "-32601 1: there is no method \"read\": it is called `fs.read`",
    );
    check(
        request("1", "http_get", "{}"),
        "-32601 1: there is no method \"http_get\": it is called `http.get`",
    );
    check(
        request("1", "run", "[]"),
        "-32601 1: there is no method \"run\": it is called `process.run`",
    );
    // The ones that exist, but not as requests.
    check(
        request("1", "result", r#"{"content":""}"#),
        "-32600 1: invalid request: `result` is a notification: send it without `id`",
    );
}

#[test]
fn v152_bad_params_are_32602() {
    let of = |method: &str, params: &str, why: &str| {
        check(
            request("1", method, params),
            &format!("-32602 1: invalid parameters of `{method}`: {why}"),
        );
    };
    of("fs.read", "{}", "missing field `path`");
    of("fs.read", "null", "missing field `path`");
    of(
        "fs.read",
        r#"["src"]"#,
        "invalid type: sequence, expected an object",
    );
    of(
        "fs.read",
        "\"src\"",
        "invalid type: string \"src\", expected an object",
    );
    of(
        "fs.read",
        r#"{"path":null}"#,
        "invalid type: null, expected a string",
    );
    of(
        "fs.read",
        r#"{"path":1}"#,
        "invalid type: integer `1`, expected a string",
    );
    of(
        "fs.read",
        r#"{"path":"a","path":"b"}"#,
        "duplicate field `path`",
    );
    of(
        "fs.read",
        r#"{"path":"a","p\u0061th":"b"}"#,
        "duplicate field `path`",
    );
    of(
        "fs.read",
        r#"{"path":"a","offset":-1}"#,
        "invalid value: integer `-1`, expected u64",
    );
    of(
        "fs.read",
        r#"{"path":"a","offset":1.5}"#,
        "invalid type: floating point `1.5`, expected u64",
    );
    of(
        "fs.read",
        r#"{"path":"a","blob":1}"#,
        "invalid type: integer `1`, expected a boolean",
    );
    of("fs.write", r#"{"path":"a"}"#, "missing field `content`");
    of(
        "fs.write",
        r#"{"path":"a","content":"é","encoding":"base64"}"#,
        "`content` is not base64 with padding",
    );
    of(
        "fs.write",
        r#"{"path":"a","content":"a","encoding":"hex"}"#,
        "`encoding` is `base64`, or absent for text",
    );
    of("fs.append", r#"{"content":"a"}"#, "missing field `path`");
    of("fs.patch", r#"{"path":"a"}"#, "missing field `edits`");
    of(
        "fs.patch",
        r#"{"path":"a","edits":[{"old":"x"}]}"#,
        "missing field `new`",
    );
    of(
        "fs.patch",
        r#"{"path":"a","edits":[["x","y"]]}"#,
        "invalid type: sequence, expected an object",
    );
    of("fs.rename", r#"{"from":"a"}"#, "missing field `to`");
    of(
        "fs.grep",
        r#"{"pattern":"a","paths":"src"}"#,
        "invalid type: string \"src\", expected a sequence",
    );
    of(
        "fs.grep",
        r#"{"pattern":"a","context":-1}"#,
        "invalid value: integer `-1`, expected u32",
    );
    of(
        "http.get",
        r#"{"url":"u","headers":{"a":"b"}}"#,
        "invalid type: map, expected a sequence",
    );
    of(
        "http.post",
        r#"{"url":"u","headers":[]}"#,
        "missing field `body`",
    );
    of("process.run", r#"{"args":[]}"#, "missing field `program`");
    of(
        "process.run",
        r#"{"program":"a","args":[1]}"#,
        "invalid type: integer `1`, expected a string",
    );
    // Numbers that nothing can hold, and lone surrogates, in a value that is asked for.
    of(
        "fs.read",
        r#"{"path":"\ud800"}"#,
        "unexpected end of hex escape",
    );
    of(
        "fs.read",
        r#"{"path":"a","offset":1e999}"#,
        "number out of range",
    );
}

#[test]
fn an_error_does_not_repeat_a_message() {
    let long = format!("\"\\u001b{}\"", "x".repeat(1 << 20));
    let found = answer(request("1", "fs.read", &long).as_bytes(), &Reading::PLAIN);
    assert!(found.len() < 300 && found.ends_with('…'), "{found}");
    assert!(!found.contains('\u{1b}'), "{found}");
}

#[test]
fn what_is_unknown_or_null_is_absent() {
    let plain = ToolLine::Request {
        id: Id::from(1),
        request: VfsRequest::FsRead(FsRead::new("a")),
    };
    for params in [
        r#"{"path":"a"}"#,
        r#"{"path":"a","offset":null,"length":null,"blob":null,"fd":false}"#,
        r#"{"path":"a","mode":"fast","x":[[{}]],"x":1}"#,
        " { \"path\" : \"\\u0061\" } ",
    ] {
        let line = request("1", "fs.read", params);
        assert_eq!(
            read_line(line.as_bytes(), &Reading::PLAIN).unwrap(),
            plain,
            "{params}"
        );
    }
    // In any order, with members that we don't know.
    let line =
        r#"{"params":{"path":"a"},"trace":{"id":7},"method":"fs.read","id":1,"jsonrpc":"2.0"}"#;
    assert_eq!(read_line(line.as_bytes(), &Reading::PLAIN).unwrap(), plain);
}

#[test]
fn duplicate_members_are_refused() {
    for (member, line) in [
        (
            "id",
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"fs.read","params":{"path":"a"}}"#,
        ),
        (
            "method",
            r#"{"jsonrpc":"2.0","id":1,"method":"fs.exists","params":{"path":"a"},"method":"fs.delete"}"#,
        ),
        (
            "params",
            r#"{"jsonrpc":"2.0","id":1,"params":{"path":"a"},"method":"fs.read","p\u0061rams":{"path":"b"}}"#,
        ),
    ] {
        check(
            line,
            &format!("-32600 null: invalid request: duplicate field `{member}`"),
        );
    }
    let state =
        r#"{"jsonrpc":"2.0","method":"state","params":{"type":"running","type":"stopped"}}"#;
    check(state, "ignored: the tool's `state` can't be read");
}

#[test]
fn nesting_and_numbers_of_values_are_bounded() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    check(
        request("1", "fs.read", &format!(r#"{{"path":"a","x":{deep}}}"#)),
        "-32602 1: invalid parameters of `fs.read`: the message exceeds the limit of 64 levels of nesting",
    );
    // Outside of the params nothing is built of it.
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"fs.exists","params":{{"path":"a"}},"x":{deep}}}"#
    );
    assert!(read_line(line.as_bytes(), &Reading::PLAIN).is_ok());
    check(
        "[".repeat(1_000_000),
        "-32600 null: invalid request: the line is a list; send each message on a line of its own",
    );
    let many = format!(
        r#"{{"program":"a","args":[{}""]}}"#,
        "\"\",".repeat(600_000)
    );
    check(
        request("1", "process.run", &many),
        "-32602 1: invalid parameters of `process.run`: the message exceeds the limit of 524288 values",
    );
    let state = format!(r#"{{"jsonrpc":"2.0","method":"result","params":{{"content":{deep}}}}}"#);
    check(state, "ignored: the tool's `result` can't be read");
}

#[test]
fn x64_a_request_without_id_is_not_done() {
    check(
        r#"{"jsonrpc":"2.0","method":"fs.delete","params":{"path":"a"}}"#,
        "ignored: the tool sent `fs.delete` without an `id`: it is ignored",
    );
    let read = read_line(
        br#"{"jsonrpc":"2.0","method":"fs.delete"}"#,
        &Reading::PLAIN,
    );
    assert!(matches!(
        read,
        Err(ToolLineFault::RequestWithoutId {
            method: Method::FsDelete
        })
    ));
    check(
        r#"{"jsonrpc":"2.0","method":"hello\u001b"}"#,
        "ignored: the tool sent an unknown notification \"hello\\u{1b}\": it is ignored",
    );
}

#[test]
fn broken_notifications_are_named() {
    let broken = |method: &str, params: &str, expected: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        let fault = read_line(line.as_bytes(), &Reading::PLAIN).unwrap_err();
        let ToolLineFault::BrokenNotification { name, error } = &fault else {
            panic!("{line}: {fault:?}");
        };
        assert_eq!(*name, method);
        let chain = std::error::Error::source(error).map_or(error.to_string(), ToString::to_string);
        assert_eq!(chain, expected, "{line}");
    };
    broken(
        "result",
        "{}",
        "`content` is missing: expected a string or a list of blocks",
    );
    broken(
        "result",
        "[]",
        "`$`: expected an object with `content`, found an empty list",
    );
    broken("error", "{}", "`message` is missing: expected a string");
    broken(
        "state",
        r#"{"type":"asleep"}"#,
        "the object has none of the types of a state",
    );
    broken(
        "cancel",
        r#"{"request_id":[1]}"#,
        "`request_id` must be a number or a short string",
    );
    broken(
        "ready",
        r#"{"capabilities":[]}"#,
        "`capabilities`: expected an object of capabilities, found an empty list",
    );
}

#[test]
fn a_blob_is_the_content_of_the_request() {
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"path":"a"},"blob":3}"#;
    let Ok(ToolLine::RequestWithBlob {
        id,
        request,
        length,
    }) = read_line(line, &BLOBS)
    else {
        panic!("it has a blob");
    };
    assert_eq!(
        (id, request.method(), length),
        (Id::from(1), Method::FsWrite, 3)
    );
    assert_eq!(
        request.into_owned().with_content(&b"\xff\0\n"[..]),
        VfsRequest::FsWrite(FsWrite::new("a", Payload::Bytes(b"\xff\0\n".into())))
    );
    // Without the agreement a blob is nothing, and the content is missing.
    check(
        line,
        "-32602 1: invalid parameters of `fs.write`: missing field `content`",
    );
}

#[test]
fn a_refused_request_still_says_what_to_skip() {
    let check = |line: &str, expected: &str| {
        assert_eq!(answer(line.as_bytes(), &BLOBS), expected, "{line}");
    };
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"a"},"blob":3}"#,
        "-32602 1: invalid parameters of `fs.read`: it takes no `blob` (skip 3)",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"nope","blob":3}"#,
        "-32601 1: there is no method \"nope\" (skip 3)",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"path":"a","content":""},"blob":3}"#,
        "-32602 1: invalid parameters of `fs.write`: `content` is there, and a blob as well (skip 3)",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"result","params":{"content":""},"blob":3}"#,
        "-32600 null: invalid request: only a request can have a `blob` (skip 3)",
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"method":"fs.write","blob":18446744073709551615}"#,
        "-32600 null: invalid request: `id` must be a number or a short string (skip 18446744073709551615)",
    );
    for blob in [
        "-1",
        "1.0",
        "\"3\"",
        "null",
        "{}",
        "18446744073709551616",
        "1e3",
    ] {
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"fs.write","blob":{blob}}}"#),
            "-32600 1: invalid request: `blob` must be a number of bytes",
        );
    }
}

#[test]
fn x24_an_answer_over_the_limit_is_not_sent() {
    let mut out = b"before".to_vec();
    let reply = VfsReply::read("\0".repeat(100));
    let line = r#"{"jsonrpc":"2.0","id":1,"result":{"content":"","size":100}}"#.len() + 600;
    assert_eq!(
        write_reply_within(&mut out, &Id::from(1), &reply, line),
        Ok(())
    );
    assert_eq!(out.len(), "before".len() + line + 1);
    out.truncate("before".len());
    let error = write_reply_within(&mut out, &Id::from(1), &reply, line - 1).unwrap_err();
    assert_eq!((error.code(), error.kind()), (-32006, ErrorKind::TooLarge));
    assert_eq!(out, b"before");
}
