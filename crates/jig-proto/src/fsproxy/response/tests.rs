use super::{read_any, read_response};
use crate::fsproxy::{
    LlmReply, ProxyError, ProxyErrorCode, QuotaReport, write_answer, write_error,
};

/// Reads a frame and writes what was read, or says why not.
fn read(frame: &[u8]) -> String {
    assert_eq!(read_any(frame), read_response(frame), "both readers agree");
    let mut out = Vec::new();
    match read_response(frame) {
        Ok(response) => {
            match &response.result {
                Ok(answer) => write_answer(&mut out, &response.id, answer),
                Err(error) => write_error(&mut out, &response.id, error),
            }
            assert_eq!(response.clone().into_owned(), response);
            String::from_utf8(out.split_off(4)).unwrap()
        }
        Err(error) => error.to_string(),
    }
}

fn same(frame: &str) {
    assert_eq!(read(frame.as_bytes()), frame);
}

fn not_a_response(frame: &[u8], why: &str) {
    let expected = format!("the frame is not a response: {why}");
    assert_eq!(read(frame), expected, "{}", String::from_utf8_lossy(frame));
}

#[test]
fn f021_f022_the_documents_responses() {
    same(r#"{"id":"1","ok":true,"result":{"handle":42}}"#);
    same(r#"{"id":"1","ok":false,"error":{"code":"E_ARG","message":"missing path"}}"#);
    same(r#"{"id":"2","ok":true,"result":{"data":"aGVsbG8=","eof":false}}"#);
    same(r#"{"id":"3","ok":true,"result":{"data":"","eof":true}}"#);
    same(r#"{"id":"4","ok":true,"result":{"written":5}}"#);
    same(r#"{"id":"5","ok":true}"#);
    for code in ProxyErrorCode::ALL {
        same(&format!(
            r#"{{"id":"1","ok":false,"error":{{"code":"{code}","message":"human readable"}}}}"#
        ));
    }
}

#[test]
fn a_result_is_passed_on_as_it_is() {
    // Its spaces, the order of its members, and what we don't know.
    same(r#"{"id":"1","ok":true,"result":{ "x": [1.0, {"y":"\u0041"}], "data":"aGVsbG8=" }}"#);
    let response = r#"{ "result" : {"written": 5} , "ok" : true , "id" : "a" }"#;
    let response = read_response(response.as_bytes()).unwrap();
    let mut out = Vec::new();
    write_answer(&mut out, "b", response.result.as_ref().unwrap());
    assert_eq!(
        &out[4..],
        br#"{"id":"b","ok":true,"result":{"written": 5}}"#
    );
}

#[test]
fn what_is_no_response() {
    not_a_response(b"", "EOF while parsing a value");
    not_a_response(b"[]", "invalid type: sequence, expected an object");
    not_a_response(b"{\"id\":\"\xff\",\"ok\":true}", "it is not UTF-8");
    not_a_response(br#"{"ok":true}"#, "missing id");
    not_a_response(br#"{"id":1,"ok":true}"#, "id must be a string");
    not_a_response(br#"{"id":"1"}"#, "missing field `ok`");
    not_a_response(
        br#"{"id":"1","ok":"true"}"#,
        "invalid type: string \"true\", expected a boolean",
    );
    not_a_response(
        br#"{"id":"1","ok":true,"ok":false}"#,
        "duplicate field `ok`",
    );
    not_a_response(
        br#"{"id":"1","ok":true,"result":[3]}"#,
        "result must be an object",
    );
    not_a_response(br#"{"id":"1","ok":false}"#, "it is neither ok nor an error");
    not_a_response(
        br#"{"id":"1","ok":false,"error":null}"#,
        "it is neither ok nor an error",
    );
    not_a_response(
        br#"{"id":"1","ok":false,"error":{"code":"E_IO"}}"#,
        "missing field `message`",
    );
    not_a_response(
        br#"{"id":"1","ok":false,"error":"E_IO"}"#,
        "invalid type: string \"E_IO\", expected an object",
    );
}

#[test]
fn a_code_of_a_newer_server() {
    let frame = br#"{"id":"1","ok":false,"error":{"code":"E_BUSY","message":"m","retry":1}}"#;
    let response = read_response(frame).unwrap();
    assert_eq!(response.result, Err(ProxyError::io("m")));
}

/// What the result is as each kind of answer, in words.
fn check(result: &str, handle: &str, data: &str, written: &str) {
    let frame = format!(r#"{{"id":"1","ok":true{result}}}"#);
    let response = read_response(frame.as_bytes()).expect(&frame);
    let answer = response.result.expect(&frame);
    let words = |result: Result<u64, super::NotAnAnswer>| match result {
        Ok(number) => number.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(words(answer.handle()), handle, "{result}");
    assert_eq!(words(answer.written()), written, "{result}");
    let mut out = b">".to_vec();
    let found = match answer.data_into(&mut out) {
        Ok(eof) => format!("{} {eof}", String::from_utf8_lossy(&out)),
        Err(error) => {
            assert_eq!(out, b">");
            error.to_string()
        }
    };
    assert_eq!(found, data, "{result}");
}

#[test]
fn f031_f040_f042_f044_answers() {
    let no = |why: &str| format!("the result is not what was asked for: {why}");
    let none = &no("there is none");
    let no_handle = &no("missing field `handle`");
    let no_data = &no("missing field `data`");
    let no_written = &no("missing field `written`");
    check("", none, none, none);
    check(r#","result":null"#, none, none, none);
    check(r#","result":{"handle":42}"#, "42", no_data, no_written);
    check(r#","result":{"written":5}"#, no_handle, no_data, "5");
    for result in [
        r#"{"data":"aGVsbG8=","eof":false}"#,
        r#"{"eof":false,"data":"aGVsbG8="}"#,
        r#"{"data":"aGVsbG8\u003d"}"#,
        r#"{ "data" : "aGVsbG8=" , "eof" : false , "x" : 1 }"#,
    ] {
        let result = format!(r#","result":{result}"#);
        check(&result, no_handle, ">hello false", no_written);
    }
    check(
        r#","result":{"data":"","eof":true}"#,
        no_handle,
        "> true",
        no_written,
    );
    check(
        r#","result":{"data":"aGVsbG8","eof":true}"#,
        no_handle,
        &no("data is not base64 with padding"),
        no_written,
    );
    check(
        r#","result":{"data":"","data":"","eof":true}"#,
        no_handle,
        &no("duplicate field `data`"),
        no_written,
    );
    check(
        r#","result":{"handle":-1,"written":1.5}"#,
        &no("invalid value: integer `-1`, expected u64"),
        no_data,
        &no("invalid type: floating point `1.5`, expected u64"),
    );
}

#[test]
fn f052_answers_as_values() {
    let frame = concat!(
        r#"{"id":"1","ok":true,"result":{"content":"4","model":"m","finish_reason":"stop","#,
        r#""usage":{"input_tokens":3,"cached_tokens":1,"output_tokens":2,"weighted":10.25},"#,
        r#""quota":{"used":10.25,"reserved":0.0,"limit":0.0,"calls":1,"input_tokens":3,"#,
        r#""cached_tokens":1,"output_tokens":2,"later":true}}}"#,
    );
    let response = read_response(frame.as_bytes()).unwrap();
    let answer = response.result.unwrap();
    let reply: LlmReply = answer.value().unwrap();
    assert_eq!(reply.content.as_deref(), Some("4"));
    assert_eq!(reply.quota.status(), "10.2/unlimited weighted tokens");
    assert_eq!(
        answer.value::<QuotaReport>().unwrap_err().to_string(),
        "the result is not what was asked for: missing field `used`"
    );
}
