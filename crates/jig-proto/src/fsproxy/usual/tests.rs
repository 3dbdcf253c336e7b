use super::{data, is_plain, request, success};

/// Whether the frame is read here, or left to the full reader.
fn check(frame: &str, is_usual: bool) {
    let found = request(frame.as_bytes()).is_some() || success(frame.as_bytes()).is_some();
    assert_eq!(found, is_usual, "{frame}");
}

#[test]
fn what_a_busy_connection_carries_is_usual() {
    for frame in [
        r#"{"id":"2","op":"read","params":{"h":42,"max":4096}}"#,
        r#"{"id":"2","op":"read","params":{"h":42}}"#,
        r#"{"id":"4","op":"write","params":{"h":42,"data":"aGVsbG8=","final":false}}"#,
        r#"{"id":"4","op":"write","params":{"h":42,"data":"aGVsbG8="}}"#,
        r#"{"id":"5","op":"close","params":{"h":42}}"#,
        r#"{"id": "5", "op": "close", "params": {"h": 42}}"#,
        r#"{"id":"2","ok":true,"result":{"data":"aGVsbG8=","eof":false}}"#,
        r#"{"id": "2", "ok": true, "result": {"data": "aGVsbG8=", "eof": false}}"#,
        r#"{"id":"4","ok":true,"result":{"written":5}}"#,
    ] {
        check(frame, true);
    }
}

#[test]
fn everything_else_is_left_to_the_full_reader() {
    for frame in [
        r#"{"id":"1","op":"open","params":{"path":"a","mode":"r"}}"#,
        r#"{"id":"2","op":"read","params":{"max":4096,"h":42}}"#,
        r#"{"id":"2","op":"read","params":{"h":42,"max":4096,"x":1}}"#,
        r#"{"id":"2","op":"read","params":{"h":042}}"#,
        r#"{"id":"2","op":"read","params":{"h":4.2}}"#,
        r#"{"id":"2","op":"read","params":{"h":-4}}"#,
        r#"{"id":"2","op":"read","params":{"h":}}"#,
        r#"{"id":"2","op":"read","params":{"h":99999999999999999999}}"#,
        r#"{"id":"2","op":"read","params":{"h":42}}}"#,
        r#"{"id":"2","op":"read","params":{"h":42}"#,
        r#"{"id":"2","op":"write","params":{"h":42,"data":"a\/8="}}"#,
        r#"{"id":"2","op":"write","params":{"h":42,"data":null}}"#,
        r#"{"id":2,"op":"read","params":{"h":42}}"#,
        r#"{"id":"\u0032","op":"read","params":{"h":42}}"#,
        r#"{"id":"2","ok":false,"error":{"code":"E_IO","message":""}}"#,
        r#"{"id":"2","ok":false,"result":{"written":5}}"#,
        r#"{"id":"2","ok":true}"#,
        r#"{"id":"2","ok":true,"result":{}}"#,
        "{\"id\":\"2\",\"op\":\"write\",\"params\":{\"h\":42,\"data\":\"\n\"}}",
        "{\"id\":\"2\",\"op\":\"close\",\"params\":{\"h\":42}}\n",
    ] {
        check(frame, false);
    }
    assert_eq!(
        request(b"{\"id\":\"\xff\",\"op\":\"close\",\"params\":{\"h\":3}}"),
        None
    );
}

#[test]
fn data_of_a_result() {
    assert_eq!(data(r#"{"data":"x","eof":true}"#), Some(("x", true)));
    assert_eq!(data(r#"{"data":"x"}"#), None);
    assert_eq!(data(r#"{"data":"x","eof":true,"y":1}"#), None);
}

#[test]
fn plain_text_needs_no_escapes() {
    for byte in 0..128_u8 {
        let text = format!("{}{}", "é".repeat(40), char::from(byte));
        let escaped = serde_json::to_string(&text).unwrap();
        assert_eq!(is_plain(&text), escaped.len() == text.len() + 2, "{byte}");
    }
}
