use super::{Op, ReadParams, read_any, read_request};
use crate::fsproxy::{LlmCmd, LlmMessage, LlmRole, MAX_ID, MAX_READ, write_refusal, write_request};

/// Reads a frame and writes what was read: the request again, or the answer to what is not one.
fn read(frame: &[u8]) -> String {
    let mut out = Vec::new();
    match read_request(frame) {
        Ok(request) => write_request(&mut out, &request.id, &request.op),
        Err(refusal) => write_refusal(&mut out, &refusal),
    }
    assert_eq!(read_any(frame), read_request(frame), "both readers agree");
    String::from_utf8(out.split_off(4)).expect("frames are text")
}

fn check(frame: &str, expected: &str) {
    assert_eq!(read(frame.as_bytes()), expected, "{frame}");
}

/// The request is read, and written again as it was.
fn same(frame: &str) {
    check(frame, frame);
}

/// The request with id 1 is refused so.
fn refused(frame: &str, code: &str, message: &str) {
    let message = serde_json::to_string(message).unwrap();
    let expected =
        format!(r#"{{"id":"1","ok":false,"error":{{"code":"{code}","message":{message}}}}}"#);
    check(frame, &expected);
}

/// `{"id":"1","op":OP,"params":PARAMS}` is refused so.
fn params(op: &str, params: &str, code: &str, message: &str) {
    refused(
        &format!(r#"{{"id":"1","op":"{op}","params":{params}}}"#),
        code,
        message,
    );
}

#[test]
fn f020_f031_f040_f042_f044_the_documents_requests() {
    same(r#"{"id":"1","op":"open","params":{"path":"test.txt","mode":"w"}}"#);
    same(r#"{"id":"2","op":"read","params":{"h":42,"max":4096}}"#);
    same(r#"{"id":"4","op":"write","params":{"h":42,"data":"aGVsbG8=","final":false}}"#);
    same(r#"{"id":"5","op":"close","params":{"h":42}}"#);
    same(r#"{"id":"6","op":"QUOTA"}"#);
    same(r#"{"id":"7","op":"LLMCMD","params":{"prompt":"2+2"}}"#);
    // As they are printed, with their spaces.
    check(
        r#"{ "id":"1", "op":"open", "params": { "path":"test.txt", "mode":"w" } }"#,
        r#"{"id":"1","op":"open","params":{"path":"test.txt","mode":"w"}}"#,
    );
    check(
        r#"{ "id":"2", "op":"read", "params": { "h":42, "max":4096 } }"#,
        r#"{"id":"2","op":"read","params":{"h":42,"max":4096}}"#,
    );
    check(
        r#"{ "id":"4", "op":"write", "params": { "h":42, "data":"aGVsbG8=", "final":false } }"#,
        r#"{"id":"4","op":"write","params":{"h":42,"data":"aGVsbG8=","final":false}}"#,
    );
}

#[test]
fn f020_any_order_and_unknown_members() {
    check(
        r#"{"params":{"max":7,"h":3,"x":[{}]},"v":2,"op":"read","id":"1"}"#,
        r#"{"id":"1","op":"read","params":{"h":3,"max":7}}"#,
    );
    check(
        "\t{\"id\":\"1\",\r\n\"op\":\"close\",\"params\":{\"h\":3}}\n",
        r#"{"id":"1","op":"close","params":{"h":3}}"#,
    );
    // Escapes are what they stand for.
    check(
        r#"{"\u0069d":"\u0031","op":"wr\u0069te","params":{"h":3,"data":"\u0061\/\/8","final":true}}"#,
        r#"{"id":"1","op":"write","params":{"h":3,"data":"a//8","final":true}}"#,
    );
    check(
        r#"{"id":"1","op":"QUOTA","params":{"x":1}}"#,
        r#"{"id":"1","op":"QUOTA"}"#,
    );
}

#[test]
fn f023_ids_come_back_unchanged() {
    for id in [
        r#""""#,
        r#""?""#,
        r#""é😀""#,
        r#""\"\\""#,
        r#""\u0000\u001f\n""#,
        r#""{\"id\":1}""#,
    ] {
        same(&format!(r#"{{"id":{id},"op":"close","params":{{"h":3}}}}"#));
        check(
            &format!(r#"{{"id":{id},"op":"stat"}}"#),
            &format!(
                r#"{{"id":{id},"ok":false,"error":{{"code":"E_UNSUPPORTED","message":"stat"}}}}"#
            ),
        );
    }
}

#[test]
fn an_id_has_a_limit() {
    let frame = |length| {
        let id = "x".repeat(length);
        format!(r#"{{"id":"{id}","op":"close","params":{{"h":3}}}}"#)
    };
    same(&frame(MAX_ID - 2));
    let message = format!("id is longer than {MAX_ID} bytes");
    let expected =
        format!(r#"{{"id":"?","ok":false,"error":{{"code":"E_RANGE","message":"{message}"}}}}"#);
    check(&frame(MAX_ID - 1), &expected);
    let number = "1".repeat(2000);
    check(&format!(r#"{{"id":{number},"op":"QUOTA"}}"#), &expected);
}

#[test]
fn x33_what_is_no_json_is_answered_without_id() {
    let refused = |frame: &[u8], why: &str| {
        let message = serde_json::to_string(&format!("invalid json: {why}")).unwrap();
        let expected =
            format!(r#"{{"id":"?","ok":false,"error":{{"code":"E_ARG","message":{message}}}}}"#);
        assert_eq!(read(frame), expected);
    };
    refused(b"", "EOF while parsing a value");
    refused(b"\0", "expected value");
    refused(b"hello", "expected value");
    refused(br#"{"id":"1","op":"QUOTA""#, "EOF while parsing an object");
    refused(br#"{"id":"1","op":"QUOTA"}}"#, "trailing characters");
    refused(br#"{"id":"1"}{"id":"2"}"#, "trailing characters");
    refused(b"\xef\xbb\xbf{}", "expected value");
    refused(b"{\"id\":\"\xff\",\"op\":\"QUOTA\"}", "it is not UTF-8");
    refused(b"{\"id\":\"1\",\"x\":\"\xc3\"}", "it is not UTF-8");
    refused(b"null", "invalid type: null, expected an object");
    refused(b"[]", "invalid type: sequence, expected an object");
    refused(b"\"id\"", "invalid type: string \"id\", expected an object");
    refused(
        br#"{"id":"1","id":"2","op":"QUOTA"}"#,
        "duplicate field `id`",
    );
    refused(
        br#"{"id":"1","op":"QUOTA","op":"QUOTA"}"#,
        "duplicate field `op`",
    );
}

#[test]
fn x34_an_id_that_is_no_string_is_refused_and_echoed() {
    let echoed = |id: &str, back: &str, message: &str| {
        check(
            &format!(r#"{{"id":{id},"op":"QUOTA"}}"#),
            &format!(
                r#"{{"id":{back},"ok":false,"error":{{"code":"E_ARG","message":"{message}"}}}}"#
            ),
        );
    };
    for scalar in ["7", "-1", "1.5e3", "true", "false", "null"] {
        echoed(scalar, scalar, "id must be a string");
    }
    for other in ["{}", "[1]", r#""\ud800""#, "1e999", "-1e9997"] {
        echoed(other, r#""?""#, "id must be a string");
    }
    check(
        r#"{"op":"QUOTA"}"#,
        r#"{"id":"?","ok":false,"error":{"code":"E_ARG","message":"missing id"}}"#,
    );
}

#[test]
fn f020_params_are_an_object() {
    for params in ["null", "[]", "1", r#""x""#] {
        refused(
            &format!(r#"{{"id":"1","op":"QUOTA","params":{params}}}"#),
            "E_ARG",
            "params must be an object",
        );
    }
    refused(r#"{"id":"1","op":"open"}"#, "E_ARG", "missing path");
    refused(r#"{"id":"1","op":"close"}"#, "E_ARG", "missing h");
}

#[test]
fn x32_unknown_operations() {
    refused(r#"{"id":"1"}"#, "E_ARG", "missing op");
    refused(r#"{"id":"1","op":null}"#, "E_ARG", "missing op");
    refused(r#"{"id":"1","op":7}"#, "E_ARG", "op must be a string");
    for op in ["stat", "", "READ", "quota", "llmcmd", "open ", "LLM_CHAT"] {
        params(op, "{}", "E_UNSUPPORTED", op);
    }
    let long = "x".repeat(10_000);
    params(
        &long,
        "{}",
        "E_UNSUPPORTED",
        &format!("{}…", "x".repeat(60)),
    );
    params(r"a\u001b[2J\n", "{}", "E_UNSUPPORTED", "a\\u{1b}[2J\\n");
}

#[test]
fn f030_f037_open() {
    params("open", r#"{"mode":"r"}"#, "E_ARG", "missing path");
    params("open", r#"{}"#, "E_ARG", "missing path");
    params(
        "open",
        r#"{"path":null,"mode":"r"}"#,
        "E_ARG",
        "missing path",
    );
    params("open", r#"{"path":"","mode":"r"}"#, "E_ARG", "missing path");
    params("open", r#"{"path":7}"#, "E_ARG", "path must be a string");
    params("open", r#"{"path":"a"}"#, "E_ARG", "missing mode");
    params(
        "open",
        r#"{"path":"a","mode":1}"#,
        "E_ARG",
        "mode must be a string",
    );
    for mode in ["r+", "w+", "", "R", "x"] {
        let message = format!("invalid mode: {mode}");
        let members = format!(r#"{{"path":"a","mode":"{mode}"}}"#);
        params("open", &members, "E_ARG", &message);
    }
    params(
        "open",
        r#"{"path":"a","mode":"r","is_top_level":"no"}"#,
        "E_ARG",
        "is_top_level must be true or false",
    );
    params(
        "open",
        r#"{"path":"a","path":"b","mode":"r"}"#,
        "E_ARG",
        "invalid params: duplicate field `path`",
    );
    for rest in [r#""mode":"r""#, r#""mode":"rw","is_top_level":true"#] {
        same(&format!(
            r#"{{"id":"1","op":"open","params":{{"path":"a b/é\u0000",{rest}}}}}"#
        ));
    }
    check(
        r#"{"id":"1","op":"open","params":{"path":"a","mode":"a","is_top_level":null}}"#,
        r#"{"id":"1","op":"open","params":{"path":"a","mode":"a"}}"#,
    );
}

#[test]
fn f091_a_handle_is_a_whole_number() {
    for op in ["read", "write", "close"] {
        let wrong = "h must be a handle, a whole number from 0";
        for h in [
            "-1",
            "-0",
            "1.0",
            "1.5",
            "1e1",
            "\"3\"",
            "[3]",
            "{}",
            "true",
            "18446744073709551616",
            "99999999999999999999999999",
        ] {
            let members = format!(r#"{{"h":{h},"data":""}}"#);
            params(op, &members, "E_ARG", wrong);
        }
        params(op, r#"{"h":null,"data":""}"#, "E_ARG", "missing h");
        params(op, r#"{"data":""}"#, "E_ARG", "missing h");
        params(
            op,
            r#"{"h":3,"data":"","h":4}"#,
            "E_ARG",
            "invalid params: duplicate field `h`",
        );
    }
    for h in ["0", "2", "3", "18446744073709551615"] {
        same(&format!(
            r#"{{"id":"1","op":"close","params":{{"h":{h}}}}}"#
        ));
    }
    // This is no JSON at all.
    let leading_zero = read(br#"{"id":"1","op":"close","params":{"h":03}}"#);
    assert!(leading_zero.contains("invalid json"), "{leading_zero}");
}

#[test]
fn f025_f026_x30b_the_chunk_of_a_read() {
    fn chunk(max: &str, lenient: bool) -> String {
        let frame = format!(r#"{{"id":"1","op":"read","params":{{"h":3{max}}}}}"#);
        match read_request(frame.as_bytes()).map(|request| request.op) {
            Ok(Op::Read(read)) => match read.chunk(MAX_READ, lenient) {
                Ok(size) => size.to_string(),
                Err(error) => error.to_string(),
            },
            other => panic!("{other:?}"),
        }
    }

    for (max, strict, lenient) in [
        ("", "4096", "4096"),
        (r#","max":null"#, "4096", "4096"),
        (r#","max":1"#, "1", "1"),
        (r#","max":4096"#, "4096", "4096"),
        (
            r#","max":0"#,
            "E_ARG: max must be at least 1",
            "E_ARG: max must be at least 1",
        ),
        (
            r#","max":4097"#,
            "E_RANGE: max is 4097; one read returns at most 4096 bytes",
            "4096",
        ),
        (
            r#","max":8192"#,
            "E_RANGE: max is 8192; one read returns at most 4096 bytes",
            "4096",
        ),
        (
            r#","max":99999999999999999999999"#,
            "E_RANGE: max is 18446744073709551615; one read returns at most 4096 bytes",
            "4096",
        ),
    ] {
        assert_eq!(chunk(max, false), strict, "{max}");
        assert_eq!(chunk(max, true), lenient, "{max}");
    }
    for max in ["-1", "1.5", "\"7\"", "1e3", "false"] {
        let members = format!(r#"{{"h":3,"max":{max}}}"#);
        params("read", &members, "E_ARG", "max must be a number of bytes");
    }
}

#[test]
fn f042_f043_write() {
    params("write", r#"{"h":3}"#, "E_ARG", "missing data");
    params("write", r#"{"h":3,"data":null}"#, "E_ARG", "missing data");
    params(
        "write",
        r#"{"h":3,"data":7}"#,
        "E_ARG",
        "data must be a string",
    );
    params(
        "write",
        r#"{"h":3,"data":"","final":1}"#,
        "E_ARG",
        "final must be true or false",
    );
    for rest in ["", r#","final":false"#, r#","final":null"#] {
        check(
            &format!(r#"{{"id":"1","op":"write","params":{{"h":3,"data":""{rest}}}}}"#),
            r#"{"id":"1","op":"write","params":{"h":3,"data":"","final":false}}"#,
        );
    }
    // What is no base64 is found when it is decoded, so that it can be passed on.
    same(r#"{"id":"1","op":"write","params":{"h":3,"data":"\"é?","final":true}}"#);
}

#[test]
fn f053_llmcmd() {
    same(r#"{"id":"1","op":"LLMCMD","params":{}}"#);
    same(concat!(
        r#"{"id":"1","op":"LLMCMD","params":{"prompt":"p","messages":[{"role":"system","content":"s"},"#,
        r#"{"role":"user","content":"u"},{"role":"assistant","content":"a"}],"input":"i","files":[3,4],"#,
        r#""paths":["a","b"],"stdin":0,"stdout":1,"stderr":2,"stream":true,"max_tokens":100,"#,
        r#""temperature":0.5,"is_top_level":false}}"#,
    ));
    check(
        r#"{"id":"1","op":"LLMCMD","params":{"prompt":null,"messages":null,"files":null,"stream":null,"model":"x"}}"#,
        r#"{"id":"1","op":"LLMCMD","params":{}}"#,
    );
    let invalid = |members: &str, why: &str| {
        params(
            "LLMCMD",
            members,
            "E_ARG",
            &format!("invalid params: {why}"),
        );
    };
    invalid(
        r#"{"prompt":7}"#,
        "invalid type: integer `7`, expected a string",
    );
    invalid(
        r#"{"files":[-1]}"#,
        "invalid value: integer `-1`, expected u64",
    );
    invalid(
        r#"{"files":[1.5]}"#,
        "invalid type: floating point `1.5`, expected u64",
    );
    invalid(r#"{"prompt":"a","prompt":"b"}"#, "duplicate field `prompt`");
    invalid(
        r#"{"messages":[{"role":"user"}]}"#,
        "missing field `content`",
    );
    invalid(
        r#"{"messages":[["user","hi"]]}"#,
        "invalid type: sequence, expected an object",
    );
    invalid(
        r#"{"messages":[{"role":"tool","content":""}]}"#,
        "unknown variant `tool`, expected one of `system`, `user`, `assistant`",
    );
}

#[test]
fn f053_a_large_llmcmd() {
    let command = LlmCmd {
        messages: vec![LlmMessage::new(LlmRole::User, "x".repeat(900_000))],
        ..LlmCmd::default()
    };
    let op = Op::LlmCmd(Box::new(command));
    let mut out = Vec::new();
    write_request(&mut out, "1", &op);
    assert_eq!(read_request(&out[4..]).map(|request| request.op), Ok(op));
}

#[test]
fn x35_json_within_a_frame_has_limits() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    refused(
        &format!(r#"{{"id":"1","op":"QUOTA","x":{deep}}}"#),
        "E_RANGE",
        "the message exceeds the limit of 64 levels of nesting",
    );
    // So deep that a reader that calls itself would be out of its stack.
    let deep = "[".repeat(900_000);
    let answer = read(format!(r#"{{"id":"1","op":"QUOTA","x":{deep}"#).as_bytes());
    assert!(answer.contains("invalid json"), "{answer}");
    let many = "0,".repeat(40_000);
    params(
        "LLMCMD",
        &format!(r#"{{"files":[{many}0]}}"#),
        "E_RANGE",
        "the message exceeds the limit of 4096 values",
    );
}

#[test]
fn names_of_operations() {
    let read = Op::Read(ReadParams { handle: 3, max: 1 });
    assert_eq!(read.name(), "read");
    assert_eq!(Op::Close { handle: 3 }.name(), "close");
    assert_eq!(Op::LlmCmd(Box::default()).name(), "LLMCMD");
}
