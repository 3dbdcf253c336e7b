use jig_proto::vfs::Method as VfsMethod;

use super::super::Fields;
use super::super::budget::GuestHttpBudget;
use super::*;

fn request() -> OutgoingRequest {
    OutgoingRequest {
        method: Method::Get,
        scheme: None,
        authority: Some("example.com".to_owned()),
        path: None,
        headers: Fields::new(&GuestHttpBudget::default()).unwrap(),
        exchange: None,
    }
}

#[test]
fn a_request_becomes_a_url() {
    let check = |change: fn(&mut OutgoingRequest), expected: Result<&str, &str>| {
        let mut request = request();
        change(&mut request);
        let found = prepare(&request).map(|prepared| prepared.url);
        let found = found.map_err(|error| format!("{error:?}"));
        match (found, expected) {
            (Ok(url), Ok(expected)) => assert_eq!(url, expected),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
            (found, expected) => panic!("{found:?}, {expected:?}"),
        }
    };
    check(|_| {}, Ok("https://example.com/"));
    check(
        |request| {
            request.scheme = Some(Scheme::Http);
            request.path = Some("/a?b".to_owned());
        },
        Ok("http://example.com/a?b"),
    );
    check(
        |request| request.path = Some("?b".to_owned()),
        Ok("https://example.com?b"),
    );
    check(|request| request.authority = None, Err("UriInvalid"));
    check(
        |request| request.path = Some(format!("/{}", "x".repeat(MAX_URL))),
        Err("UriTooLong"),
    );
    check(|request| request.method = Method::Put, Err("no PUT"));
    check(
        |request| request.method = Method::Other("POST".to_owned()),
        Ok("https://example.com/"),
    );
    check(
        |request| {
            let name = "x".to_owned();
            request.headers.append(name, vec![0xff]).unwrap().unwrap();
        },
        Err("not UTF-8"),
    );
}

#[test]
fn headers_that_the_broker_sets_are_left_out() {
    let mut request = request();
    for name in ["Accept", "Accept-Encoding", "Content-Length", "X"] {
        let value = b"1".to_vec();
        request
            .headers
            .append(name.to_owned(), value)
            .unwrap()
            .unwrap();
    }
    let prepared = prepare(&request).unwrap();
    let names: Vec<&str> = prepared
        .headers
        .iter()
        .map(|one| one.name.as_ref())
        .collect();
    assert_eq!(names, ["Accept", "X"]);
}

#[test]
fn every_failure_has_a_code() {
    let check = |error: ErrorReply, expected: &str| {
        let code = format!("{:?}", error_code(&error));
        assert!(code.contains(expected), "{error}: {code}");
    };
    let failed = |why: &str| {
        let message = format!("the request to `x` failed: {why}");
        ErrorReply::new(ErrorKind::Internal, message).with_retryable(true)
    };
    check(
        ErrorReply::denied_by_rule("no", "rule"),
        "HttpRequestDenied",
    );
    check(ErrorReply::uncovered("no"), "HttpRequestDenied");
    check(ErrorReply::approval_denied("no"), "HttpRequestDenied");
    check(ErrorReply::timeout("the request"), "HttpResponseTimeout");
    check(failed("the connection was refused"), "ConnectionRefused");
    check(failed("something else"), "something else");
    let unresolved = ErrorReply::new(ErrorKind::NotFound, "the host `x` was not found");
    check(unresolved.with_retryable(true), "DnsError");
    let unset = ErrorReply::new(ErrorKind::NotFound, "the variable `X` is not set");
    check(unset, "the variable `X` is not set");
    let large = ErrorReply::new(ErrorKind::TooLarge, "more than 5 redirects");
    check(large, "LoopDetected");
    check(
        ErrorReply::too_large("the answer", 10, 5),
        "HttpResponseBodySize",
    );
    check(
        ErrorReply::invalid_params(VfsMethod::HttpGet, "`url` is not a URL"),
        "is not a URL",
    );
}
