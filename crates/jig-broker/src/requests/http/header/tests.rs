use std::borrow::Cow;

use jig_proto::vfs::{ErrorKind, Header};

use super::{HeaderTemplate, read};
use crate::host_env::HostEnv;

fn header<'a>(name: &'a str, value: &'a str) -> Header<'a> {
    Header {
        name: Cow::Borrowed(name),
        value: Cow::Borrowed(value),
    }
}

fn fill(value: &str) -> Result<(String, Vec<String>), String> {
    let env: HostEnv = [("TOKEN", "abcd"), ("B_2", "efgh"), ("BAD", "x\r\ny")]
        .into_iter()
        .collect();
    let template = HeaderTemplate::read(&header("X-Test", value))?;
    let filled = template.fill(&env);
    let filled = filled.map_err(|error| error.kind().name().to_owned())?;
    let secrets = filled.secrets().map(str::to_owned).collect();
    Ok((filled.value.to_str().unwrap().to_owned(), secrets))
}

#[test]
fn v073_variables_are_put_into_values() {
    let check = |value: &str, expected: &str, secrets: &[&str]| {
        let (text, found) = fill(value).unwrap();
        assert_eq!(
            (text.as_str(), found),
            (expected, secrets.iter().map(|s| (*s).to_owned()).collect())
        );
    };
    check("plain", "plain", &[]);
    check("Bearer ${TOKEN}", "Bearer abcd", &["abcd"]);
    check("${TOKEN}:${B_2}", "abcd:efgh", &["abcd", "efgh"]);
    check("costs $5 {x} $TOKEN $", "costs $5 {x} $TOKEN $", &[]);
}

#[test]
fn v075_what_cannot_be_filled_is_an_error() {
    let check = |value: &str| assert!(fill(value).is_err(), "{value:?}");
    check("${TOKEN");
    check("${}");
    check("${TO KEN}");
    check("${1A}");
    check("${${TOKEN}}");
    assert_eq!(fill("${MISSING}").unwrap_err(), ErrorKind::NotFound.name());
    assert_eq!(fill("${BAD}").unwrap_err(), ErrorKind::InvalidParams.name());
}

#[test]
fn headers_cannot_inject_lines_or_redirect_the_request() {
    let refused = [
        ("X", "a\r\nHost: evil"),
        ("X", "a\nb"),
        ("X", "a\0b"),
        ("X\r\nEvil", "a"),
        ("X Y", "a"),
        ("", "a"),
        ("Host", "evil.test"),
        ("hOsT", "evil.test"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Accept-Encoding", "gzip"),
        ("Proxy-Authorization", "x"),
    ];
    for (name, value) in refused {
        assert!(read(&[header(name, value)]).is_err(), "{name:?}: {value:?}");
    }
    assert!(
        read(&[
            header("Accept", "text/plain"),
            header("X-Ä".trim_end_matches('Ä'), "ä")
        ])
        .is_ok()
    );
    let many: Vec<Header<'_>> = (0..101).map(|_| header("X", "a")).collect();
    assert!(read(&many).is_err());
    let long = "a".repeat(70_000);
    assert!(read(&[header("X", &long)]).is_err());
}

#[test]
fn debug_does_not_show_values() {
    let env: HostEnv = [("TOKEN", "hunter22")].into_iter().collect();
    let template = HeaderTemplate::read(&header("X", "${TOKEN}")).unwrap();
    let shown = format!("{:?} {env:?}", template.fill(&env).unwrap());
    assert!(!shown.contains("hunter22"), "{shown}");
}
