use std::borrow::Cow;

use super::Payload;
use crate::text::WireText;

fn take(content: &str, encoding: Option<&'static str>) -> Result<Payload<'static>, String> {
    let content = WireText(Cow::Owned(content.to_owned()));
    let encoding = encoding.map(|name| WireText(Cow::Borrowed(name)));
    Payload::take("content", Some(content), encoding, None)
}

#[test]
fn v048_the_form_is_chosen_by_utf8() {
    let check = |bytes: &[u8], is_text: bool| {
        for payload in [Payload::from(bytes), Payload::from(bytes.to_vec())] {
            assert_eq!(payload.as_text().is_some(), is_text, "{bytes:?}");
            assert_eq!(payload.as_bytes(), bytes);
            assert_eq!(payload.len(), bytes.len());
            assert_eq!(payload.into_bytes(), bytes);
        }
    };
    check(b"", true);
    check(b"plain", true);
    check("é\u{0}\n".as_bytes(), true);
    check(b"\xff", false);
    check(b"\xc3", false);
    check(b"\xed\xa0\x80", false);
}

#[test]
fn v017_v051_base64_is_decoded() {
    let check = |content: &str, expected: Option<&[u8]>| {
        let bytes = take(content, Some("base64")).map(Payload::into_bytes);
        assert_eq!(bytes.ok().as_deref(), expected, "{content}");
    };
    check("", Some(b""));
    check("iVBORw0KGgo=", Some(b"\x89PNG\r\n\x1a\n"));
    check("AA==", Some(b"\0"));
    // Without padding, with other alphabets, with space, and cut.
    check("AA", None);
    check("AA=", None);
    check("_-==", None);
    check("AA==\n", None);
    check("A A=", None);
    check("A", None);
    check("é", None);
}

#[test]
fn errors_name_the_field() {
    assert_eq!(
        take("AA", Some("base64")).unwrap_err(),
        "`content` is not base64 with padding"
    );
    assert_eq!(
        take("AA", Some("utf-8")).unwrap_err(),
        "`encoding` is `base64`, or absent for text"
    );
    let missing = Payload::take("body", None, None, None);
    assert_eq!(missing.unwrap_err(), "missing field `body`");
    let content = Some(WireText(Cow::Borrowed("a")));
    let blob = Some(Cow::Borrowed(&b"a"[..]));
    let both = Payload::take("body", content, None, blob);
    assert_eq!(both.unwrap_err(), "`body` is there, and a blob as well");
}
