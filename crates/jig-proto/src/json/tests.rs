use serde_json::{Value, json};

use super::{JsonError, JsonLimit, JsonLimits, from_slice, value};

/// The error's variant in one word, so that cases stay on a line.
fn name(error: &JsonError) -> String {
    match error {
        JsonError::Exceeds { limit, allowed } => format!("{allowed} {limit}"),
        JsonError::ByteOrderMark => "bom".to_owned(),
        JsonError::Truncated(_) => "truncated".to_owned(),
        JsonError::Syntax(_) => "syntax".to_owned(),
        JsonError::Form(_) => "form".to_owned(),
    }
}

#[test]
fn odd_input_is_an_error_of_the_right_kind() {
    let check = |input: &[u8], expected: &str| {
        let error = value(input, &JsonLimits::MESSAGE).unwrap_err();
        assert_eq!(
            name(&error),
            expected,
            "{:?}",
            String::from_utf8_lossy(input)
        );
    };
    check(b"", "truncated");
    check(b"  \n", "truncated");
    check(b"{", "truncated");
    check(b"{\"a\": [1, ", "truncated");
    check(b"\"abc", "truncated");
    check(b"\"abc\\", "truncated");
    check(b"tru", "truncated");
    check(b"\xef\xbb\xbf{}", "bom");
    check(b"{} {}", "syntax");
    check(b"{}\0", "syntax");
    check(b"\0", "syntax");
    check(b"\"a\0b\"", "syntax");
    check(b"\"a\nb\"", "syntax");
    check(b"[1,]", "syntax");
    check(b"]", "syntax");
    check(b"NaN", "syntax");
    check(b"01", "syntax");
    check(b"'a'", "syntax");
    // Numbers that no 64-bit integer and no finite float can hold.
    check(b"1e999", "syntax");
    check(b"-1e999", "syntax");
    check("9".repeat(400).as_bytes(), "syntax");
    // Lone surrogates, the wrong order, and bytes that are not UTF-8.
    check(b"\"\\ud800\"", "syntax");
    check(b"\"\\udc00\"", "syntax");
    check(b"\"\\ud800\\ud800\"", "syntax");
    check(b"\"\xff\"", "syntax");
    check(b"\"\xed\xa0\x80\"", "syntax");
    check(b"\"\xc0\xaf\"", "syntax");
    check(b"\xff", "syntax");
    // A key that occurs twice, at any depth.
    check(b"{\"a\":1,\"a\":1}", "form");
    check(b"[{\"b\":{\"a\":1,\"\\u0061\":2}}]", "form");
}

#[test]
fn odd_but_valid_input_is_read() {
    let check = |input: &str, expected: Value| {
        assert_eq!(
            value(input.as_bytes(), &JsonLimits::MESSAGE).unwrap(),
            expected,
            "{input}"
        );
    };
    check(" \r\n\t{} ", json!({}));
    check(r#""\u0000""#, json!("\0"));
    check(r#""\ud83d\ude00""#, json!("😀"));
    check("1e-999", json!(0.0));
    check("18446744073709551615", json!(u64::MAX));
    // One more than that is still a float, and not an error.
    check("18446744073709551616", json!(18_446_744_073_709_551_616.0));
    check(
        r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#,
        json!({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}),
    );
    check(r#""[[[[{{{{,,,,\"[[[""#, json!("[[[[{{{{,,,,\"[[["));
}

#[test]
fn order_of_keys_is_kept() {
    let text = r#"{"z":1,"a":2,"m":{"y":1,"b":2}}"#;
    assert_eq!(
        value(text.as_bytes(), &JsonLimits::MESSAGE)
            .unwrap()
            .to_string(),
        text
    );
}

#[test]
fn each_limit_is_exact() {
    let check = |input: &str, limits: JsonLimits, expected: Option<&str>| {
        let found = value(input.as_bytes(), &limits).map_err(|error| name(&error));
        assert_eq!(found.err().as_deref(), expected, "{input} {limits:?}");
    };
    let limits = JsonLimits::SHORT;
    check("[1,2]", limits.with_bytes(5), None);
    check("[1,2]", limits.with_bytes(4), Some("4 bytes"));

    check("1", limits.with_depth(0), None);
    check("[]", limits.with_depth(0), Some("0 levels of nesting"));
    check(r#"[{"a":[]}]"#, limits.with_depth(3), None);
    check(
        r#"[{"a":[]}]"#,
        limits.with_depth(2),
        Some("2 levels of nesting"),
    );
    check("[[],[],[]]", limits.with_depth(2), None);
    check(r#"["[[[[[", "\"[[["]"#, limits.with_depth(1), None);

    check("1", limits.with_values(1), None);
    check("[]", limits.with_values(1), None);
    check("[ ]", limits.with_values(1), None);
    check("[1]", limits.with_values(1), Some("1 values"));
    check("[1,2,3]", limits.with_values(4), None);
    check("[1,2,3]", limits.with_values(3), Some("3 values"));
    check(r#"{"a":{},"b":[1,{"c":2}]}"#, limits.with_values(6), None);
    check(
        r#"{"a":{},"b":[1,{"c":2}]}"#,
        limits.with_values(5),
        Some("5 values"),
    );
    check(r#"[",,,,,,"]"#, limits.with_values(2), None);
}

#[test]
fn depth_has_a_ceiling_of_its_own() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let unlimited = JsonLimits::MESSAGE.with_depth(usize::MAX);
    assert!(value(nested(JsonLimits::MAX_DEPTH).as_bytes(), &unlimited).is_ok());
    for depth in [JsonLimits::MAX_DEPTH + 1, 100_000] {
        let error = value(nested(depth).as_bytes(), &unlimited).unwrap_err();
        assert_eq!(name(&error), "127 levels of nesting");
    }
    // Never closed, and a million deep: the scan must end it, not the parser.
    let error = value(&vec![b'['; 1_000_000], &JsonLimits::MESSAGE).unwrap_err();
    assert_eq!(name(&error), "64 levels of nesting");
}

#[test]
fn many_small_values_are_refused_before_they_exist() {
    let many = format!("[{}0]", "0,".repeat(JsonLimits::MESSAGE.values));
    let error = value(many.as_bytes(), &JsonLimits::MESSAGE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the message exceeds the limit of 524288 values"
    );
    assert!(matches!(
        error,
        JsonError::Exceeds {
            limit: JsonLimit::Values,
            allowed: 524_288
        }
    ));
}

#[test]
fn limits_grow_with_the_bytes() {
    let check = |bytes: usize, values: usize| {
        let limits = JsonLimits::for_bytes(bytes);
        assert_eq!(
            (limits.bytes, limits.depth, limits.values),
            (bytes, 64, values)
        );
    };
    check(0, 4_096);
    check(1024 * 1024, 32_768);
    check(16 * 1024 * 1024, 524_288);
}

#[test]
fn errors_say_where() {
    let error = value(b"{\"a\": 1, \"a\": 2}", &JsonLimits::MESSAGE).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "the key \"a\" occurs twice at line 1 column 16");

    // The key is the tool's: it is escaped and shortened.
    let key = format!("\\u001b{}", "x".repeat(500));
    let text = format!("{{\"{key}\":1,\"{key}\":1}}");
    let error = value(text.as_bytes(), &JsonLimits::MESSAGE).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        source.starts_with("the key \"\\u{1b}xxx") && source.len() < 150,
        "{source}"
    );
}

#[test]
fn a_foreign_type_is_read_within_the_limits() {
    let numbers: Vec<u8> = from_slice(b"[1, 2]", &JsonLimits::SHORT).unwrap();
    assert_eq!(numbers, [1, 2]);
    let error = from_slice::<Vec<u8>>(b"[1, 256]", &JsonLimits::SHORT).unwrap_err();
    assert_eq!(name(&error), "form");
    let error = from_slice::<Vec<u8>>(b"[1, 2]", &JsonLimits::SHORT.with_values(2)).unwrap_err();
    assert_eq!(name(&error), "2 values");
}
