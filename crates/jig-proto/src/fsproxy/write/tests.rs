use std::collections::BTreeMap;

use super::*;
use crate::fsproxy::{
    Data, FrameRefusal, ListParams, OpenMode, OpenParams, ReadParams, WriteParams, read_request,
};

/// Checks the one frame that `write` appends, its length included, behind what is there already.
fn check(expected: &str, write: impl FnOnce(&mut Vec<u8>)) {
    let mut out = b"before".to_vec();
    write(&mut out);
    let length = u32::try_from(expected.len()).unwrap().to_be_bytes();
    let expected = [b"before", &length[..], expected.as_bytes()].concat();
    assert_eq!(
        out,
        expected,
        "{}",
        String::from_utf8_lossy(&out[out.len().min(10)..])
    );
}

#[test]
fn f001_f021_f022_exact_bytes() {
    let mut out = Vec::new();
    write_done(&mut out, "5");
    assert_eq!(out, b"\x00\x00\x00\x14{\"id\":\"5\",\"ok\":true}");

    check(r#"{"id":"1","ok":true,"result":{"handle":42}}"#, |out| {
        write_handle(out, "1", 42);
    });
    check(
        r#"{"id":"2","ok":true,"result":{"data":"aGVsbG8=","eof":false}}"#,
        |out| write_data(out, "2", b"hello", false),
    );
    check(
        r#"{"id":"3","ok":true,"result":{"data":"","eof":true}}"#,
        |out| write_data(out, "3", b"", true),
    );
    check(r#"{"id":"4","ok":true,"result":{"written":5}}"#, |out| {
        write_written(out, "4", 5);
    });
    check(r#"{"id":"5","ok":true}"#, |out| write_done(out, "5"));
    check(
        r#"{"id":"1","ok":false,"error":{"code":"E_ARG","message":"missing path"}}"#,
        |out| write_error(out, "1", &ProxyError::arg("missing path")),
    );
    check(
        r#"{"id":"\"\n\u0000é","ok":true,"result":{"handle":18446744073709551615}}"#,
        |out| write_handle(out, "\"\n\0é", u64::MAX),
    );
}

#[test]
fn f020_exact_bytes_of_requests() {
    let request = |expected: &str, op: &Op<'_>| check(expected, |out| write_request(out, "1", op));
    request(
        r#"{"id":"1","op":"open","params":{"path":"test.txt","mode":"w"}}"#,
        &Op::Open(OpenParams {
            path: "test.txt".into(),
            mode: OpenMode::Write,
            is_top_level: None,
        }),
    );
    request(
        r#"{"id":"1","op":"open","params":{"path":"a\\\"","mode":"rw","is_top_level":false}}"#,
        &Op::Open(OpenParams {
            path: "a\\\"".into(),
            mode: OpenMode::ReadWrite,
            is_top_level: Some(false),
        }),
    );
    request(
        r#"{"id":"1","op":"read","params":{"h":42,"max":4096}}"#,
        &Op::Read(ReadParams {
            handle: 42,
            max: 4096,
        }),
    );
    request(
        r#"{"id":"1","op":"write","params":{"h":42,"data":"aGVsbG8=","final":false}}"#,
        &Op::Write(WriteParams {
            handle: 42,
            data: Data::encode(b"hello"),
            last: false,
        }),
    );
    request(
        r#"{"id":"1","op":"close","params":{"h":42}}"#,
        &Op::Close { handle: 42 },
    );
    let list = |after: Option<&'static str>| {
        Op::List(ListParams {
            path: "src".into(),
            after: after.map(Into::into),
        })
    };
    request(
        r#"{"id":"1","op":"list","params":{"path":"src"}}"#,
        &list(None),
    );
    request(
        r#"{"id":"1","op":"list","params":{"path":"src","after":"a\"b"}}"#,
        &list(Some("a\"b")),
    );
    request(r#"{"id":"1","op":"QUOTA"}"#, &Op::Quota);
    request(
        r#"{"id":"1","op":"LLMCMD","params":{}}"#,
        &Op::LlmCmd(Box::default()),
    );
}

#[test]
fn data_that_is_no_base64_cannot_break_out_of_its_string() {
    let data = Data::from_text(r#"","final":true},"x":{"y":""#);
    let op = Op::Write(WriteParams {
        handle: 3,
        data,
        last: false,
    });
    let mut out = Vec::new();
    write_request(&mut out, "1", &op);
    assert_eq!(read_request(&out[4..]).unwrap().op, op);
}

#[test]
fn results_of_any_form() {
    check(r#"{"id":"1","ok":true,"result":{"a":[1,null]}}"#, |out| {
        write_result(out, "1", &serde_json::json!({"a": [1, null]}));
    });
    let impossible = BTreeMap::from([(vec![1], 2)]);
    check(
        r#"{"id":"1","ok":false,"error":{"code":"E_IO","message":"the result is not valid JSON"}}"#,
        |out| write_result(out, "1", &impossible),
    );
}

#[test]
fn x34_refusals() {
    check(
        r#"{"id":"?","ok":false,"error":{"code":"E_RANGE","message":"too long"}}"#,
        |out| {
            write_refusal(
                out,
                &FrameRefusal::without_id(ProxyError::range("too long")),
            )
        },
    );
    let number = read_request(br#"{"id":7,"op":"QUOTA"}"#).unwrap_err();
    assert_eq!(number.id, "7");
    check(
        r#"{"id":7,"ok":false,"error":{"code":"E_ARG","message":"id must be a string"}}"#,
        |out| write_refusal(out, &number),
    );
}
