use super::*;

fn fields(entries: &[(&str, &str)]) -> Fields {
    let mut fields = Fields::new(&GuestHttpBudget::default()).unwrap();
    for (name, value) in entries {
        let appended = fields.append((*name).to_owned(), value.as_bytes().to_vec());
        assert!(matches!(appended, Ok(Ok(()))), "{name}: {value}");
    }
    fields
}

#[test]
fn names_are_the_same_in_any_case_and_keep_their_spelling() {
    let fields = fields(&[("X-One", "1"), ("x-one", "2"), ("Other", "3")]);
    let values: Vec<&[u8]> = fields.values("x-ONE").collect();
    assert_eq!(values, [b"1", b"2"]);
    let names: Vec<&str> = fields.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["X-One", "x-one", "Other"]);
}

#[test]
fn what_can_be_a_header_and_what_not() {
    let check = |name: &str, value: &[u8], expected: Option<HeaderError>| {
        let mut fields = fields(&[]);
        let found = fields.append(name.to_owned(), value.to_vec()).unwrap();
        let (found, expected) = (format!("{:?}", found.err()), format!("{expected:?}"));
        assert_eq!(found, expected, "{name:?} {value:?}");
    };
    check("x", b"", None);
    check("Authorization", b"Bearer ${TOKEN}", None);
    check("Content-Length", b"3", None);
    check("accept-encoding", b"gzip", None);
    check("x", b"a\tb \x80\xff", None);
    for name in ["", "a b", "a:", "a\n", "ä", "x\0", &"x".repeat(257)] {
        check(name, b"", Some(HeaderError::InvalidSyntax));
    }
    for value in [&b"a\r\nHost: b"[..], b"\n", b"\0", b"\x7f", b"\x1b["] {
        check("x", value, Some(HeaderError::InvalidSyntax));
    }
    for name in [
        "Host",
        "HOST",
        "connection",
        "Transfer-Encoding",
        "upgrade",
        "keep-alive",
        "te",
        "expect",
        "Proxy-Authorization",
        "sec-fetch-site",
        "Content-Encoding",
    ] {
        check(name, b"x", Some(HeaderError::Forbidden));
    }
}

#[test]
fn setting_replaces_and_deleting_removes() {
    let mut fields = fields(&[("a", "1"), ("b", "2"), ("A", "3")]);
    let set = fields.set("a", vec![b"4".to_vec(), b"5".to_vec()]);
    assert!(matches!(set, Ok(Ok(()))));
    let all: Vec<(&str, &[u8])> = fields.iter().collect();
    assert_eq!(all, [("b", &b"2"[..]), ("a", b"4"), ("a", b"5")]);
    fields.delete("B").unwrap();
    assert_eq!(fields.values("b").count(), 0);
    // A value that is wrong leaves everything as it is.
    let set = fields.set("a", vec![b"6".to_vec(), b"\n".to_vec()]);
    assert!(matches!(set, Ok(Err(HeaderError::InvalidSyntax))));
    assert_eq!(fields.values("a").count(), 2);
}

#[test]
fn frozen_headers_stay_and_their_copy_does_not() {
    let fields = fields(&[("a", "1")]);
    let mut frozen = fields.frozen().unwrap();
    let is_immutable = |result: Result<(), HeaderError>| {
        assert!(matches!(result, Err(HeaderError::Immutable)));
    };
    is_immutable(frozen.append("b".to_owned(), Vec::new()).unwrap());
    is_immutable(frozen.set("a", Vec::new()).unwrap());
    is_immutable(frozen.delete("a"));
    assert_eq!(frozen.values("a").count(), 1);
    let mut copy = frozen.copied().unwrap();
    copy.delete("a").unwrap();
    assert_eq!(frozen.values("a").count(), 1);
}

#[test]
fn there_is_an_end_to_them() {
    let mut many = fields(&[]);
    for _ in 0..MAX_ENTRIES {
        let appended = many.append("x".to_owned(), Vec::new());
        assert!(matches!(appended, Ok(Ok(()))));
    }
    assert!(many.append("x".to_owned(), Vec::new()).is_err());

    let budget = GuestHttpBudget::default();
    let mut kept = Vec::new();
    let large = vec![b'x'; 1 << 20];
    let ended = (0..1000).any(|_| {
        let mut fields = Fields::new(&budget).unwrap();
        let ended = fields.append("x".to_owned(), large.clone()).is_err();
        kept.push(fields);
        ended
    });
    assert!(ended, "a thousand times a megabyte is kept");
    kept.clear();
    assert!(
        Fields::new(&budget)
            .unwrap()
            .append("x".to_owned(), large)
            .is_ok()
    );
}
