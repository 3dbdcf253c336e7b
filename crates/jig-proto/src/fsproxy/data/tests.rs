use super::Data;

fn check(text: &str, expected: Option<&[u8]>) {
    let mut out = b"before".to_vec();
    let result = Data::from_text(text).decode_into(&mut out);
    match expected {
        Some(bytes) => {
            assert_eq!(result, Ok(()), "{text:?}");
            assert_eq!(out, [b"before", bytes].concat(), "{text:?}");
            assert_eq!(Data::encode(bytes).text(), text);
        }
        None => {
            let error = result.expect_err(text);
            assert_eq!(
                error.to_string(),
                "E_ARG: data is not base64 with padding",
                "{text:?}"
            );
            assert_eq!(out, b"before", "{text:?}");
        }
    }
}

#[test]
fn f004_base64_of_the_standard_alphabet_with_padding() {
    check("", Some(b""));
    check("aGVsbG8=", Some(b"hello"));
    check("AA==", Some(b"\0"));
    check("+/+/", Some(b"\xfb\xff\xbf"));
}

#[test]
fn f004_everything_else_is_refused() {
    for text in [
        "aGVsbG8",    // no padding
        "aGVsbG8==",  // too much of it
        "-_-_",       // the other alphabet
        "aGVs bG8=",  // a space
        "aGVsbG8=\n", // a line end
        "aGVs\r\nbG8=",
        "=",
        "====",
        "a===",
        "a",
        "aGVsbG8=aGVs", // something behind the end
        "AB==",         // bits that no byte holds
        "AAB=",
        "é===",
        "\0\0\0\0",
    ] {
        check(text, None);
    }
}

#[test]
fn many_pieces_are_appended_without_moving_all_each_time() {
    let piece = Data::encode(&[7; 4096]);
    let (mut out, mut moves, mut capacity) = (Vec::new(), 0, 0);
    for _ in 0..1000 {
        piece.decode_into(&mut out).unwrap();
        if out.capacity() != capacity {
            capacity = out.capacity();
            moves += 1;
        }
    }
    assert_eq!(out.len(), 1000 * 4096);
    assert!(moves < 20, "{moves}");
}
