use serde_json::value::RawValue;

use super::Id;

fn written(id: &Id<'_>) -> String {
    let mut out = Vec::new();
    id.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

#[test]
fn v024_an_id_goes_back_as_it_came() {
    for json in [
        "1",
        "0",
        "-1",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890123456789012345678901234567890",
        "1.0",
        "1.50",
        "-0",
        "-0.0",
        "1e3",
        "1E+3",
        "1e308",
        "1e-999",
        r#""""#,
        r#""abc""#,
        r#""é😀""#,
        r#""with \"quotes\" and \\""#,
        r#""\u0000\n""#,
    ] {
        let raw = raw(json);
        let id = Id::read(&raw).unwrap();
        assert_eq!(written(&id), json);
        assert_eq!(written(&id.clone().into_owned()), json);
        assert_eq!(id.clone().into_owned(), id);
    }
    // Other escapes, the same string.
    assert_eq!(
        written(&Id::read(&raw(r#""\u0061\/""#)).unwrap()),
        r#""a/""#
    );
}

#[test]
fn ids_are_numbers_and_strings_of_some_length() {
    for json in ["null", "true", "false", "[]", "[1]", "{}", r#"{"id":1}"#] {
        assert_eq!(Id::read(&raw(json)), None, "{json}");
    }
    // Readers have no form for them.
    for json in ["1e999", "-1e999", "1e309"] {
        assert_eq!(Id::read(&raw(json)), None, "{json}");
    }
    let longest = "9".repeat(Id::MAX_BYTES);
    assert!(Id::read(&raw(&longest)).is_some());
    assert_eq!(Id::read(&raw(&format!("{longest}9"))), None);
    assert_eq!(Id::read(&raw(&format!("\"{longest}\""))), None);
}

#[test]
fn ids_are_equal_as_they_are_spelled() {
    let check = |one: &str, another: &str, expected: bool| {
        let (one, another) = (raw(one), raw(another));
        assert_eq!(
            Id::read(&one) == Id::read(&another),
            expected,
            "{one} {another}"
        );
    };
    check("1", "1", true);
    check("1", "1.0", false);
    check("1", "\"1\"", false);
    check("\"a\"", "\"\\u0061\"", true);
    assert_eq!(Id::read(&raw("7")).unwrap(), Id::from(7));
    assert_eq!(Id::read(&raw("\"a\"")).unwrap(), Id::from("a"));
}

#[test]
fn as_u64_is_what_a_peer_counts_with() {
    let check = |json: &str, expected: Option<u64>| {
        assert_eq!(Id::read(&raw(json)).unwrap().as_u64(), expected, "{json}");
    };
    check("18446744073709551615", Some(u64::MAX));
    check("18446744073709551616", None);
    check("1.0", None);
    check("-1", None);
    check("\"1\"", None);
}

#[test]
fn a_log_shows_no_control_characters() {
    assert_eq!(Id::from("a\u{1b}[2J").to_string(), "\"a\\u{1b}[2J\"");
    assert_eq!(Id::from(12).to_string(), "12");
}
