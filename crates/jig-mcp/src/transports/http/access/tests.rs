use http_body_util::Empty;

use super::*;

#[test]
fn tokens() {
    fn check(text: &str, expected: Result<usize, &str>) {
        let got = CallerTokens::parse(text).map(|tokens| tokens.0.len());
        let got = got.map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_owned), "{text:?}");
    }
    let (one, two) = ("a".repeat(16), "b".repeat(4096));
    check(&one, Ok(1));
    check(&format!("  {one}\t\r\n# {two}\n\n{two}"), Ok(2));
    check("", Err("there is no token"));
    check("# nothing\n", Err("there is no token"));
    check(
        "short",
        Err("the token on line 1 has fewer than 16 characters"),
    );
    check(
        &format!("{one}\n{one}"),
        Err("the token on line 2 stands on line 1, too"),
    );
    for text in [
        "two words are no token",
        "ümlaut-and-more-text",
        "quoted\"and-more-text",
    ] {
        let error = CallerTokens::parse(text).err().unwrap().to_string();
        assert!(error.contains("line 1 has a character"), "{error}");
    }
    let many: String = (0..257).map(|n| format!("a-token-of-many-{n}\n")).collect();
    check(&many, Err("there are more than 256 tokens"));
}

#[test]
fn a_token_is_found_whole_or_not_at_all() {
    let tokens = CallerTokens::parse("first-of-two-secrets\nsecond-of-two-secrets").unwrap();
    let check = |given: &str, expected: Option<&str>| {
        assert_eq!(
            tokens
                .find(given)
                .map(|caller| caller.name.to_string())
                .as_deref(),
            expected,
            "{given:?}"
        );
    };
    check("first-of-two-secrets", Some("token 1"));
    check("second-of-two-secrets", Some("token 2"));
    check("first-of-two-secret", None);
    check("first-of-two-secretss", None);
    check("FIRST-OF-TWO-SECRETS", None);
    check(" first-of-two-secrets", None);
    check("", None);
}

#[test]
fn origins() {
    fn check(text: &str, expected: Option<&str>) {
        let got = HttpOrigin::parse(text).map(|origin| origin.to_text());
        assert_eq!(got.as_deref(), expected, "{text:?}");
    }
    check(
        "https://app.example.com",
        Some("https://app.example.com:443"),
    );
    check(
        "https://APP.example.com/",
        Some("https://app.example.com:443"),
    );
    check("http://localhost:5173", Some("http://localhost:5173"));
    check("http://[::1]:80", Some("http://[::1]:80"));
    check("vscode-webview://abc", Some("vscode-webview://abc"));
    check("null", None);
    check("", None);
    check("*", None);
    check("app.example.com", None);
    check("https://", None);
    check("https://a.example/x", None);
    check("https://a.example?x", None);
    check("https://a.example#x", None);
    check("https://me@a.example", None);
}

/// With a server on the network there is no name to compare; tokens and origins count all the same.
#[test]
fn beyond_this_machine() {
    let tokens = CallerTokens::parse("first-of-two-secrets").unwrap();
    let admitted = HttpAccess::with(tokens).at("192.0.2.1:80".parse().unwrap());
    let judged = |headers: &[(&str, &str)]| {
        let mut request = Request::post("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Empty::<bytes::Bytes>::new()).unwrap();
        match admitted.judge(&request) {
            HttpAdmission::Caller(caller) => Ok(caller.name.to_string()),
            HttpAdmission::Answered(answer) => Err(answer.status().as_u16()),
        }
    };
    let bearer = ("authorization", "Bearer first-of-two-secrets");
    let host = ("host", "jig.example");
    assert_eq!(judged(&[host, bearer]), Ok("token 1".to_owned()));
    assert_eq!(judged(&[host]), Err(401));
    // There it is a page of the network, and not of this machine.
    assert_eq!(
        judged(&[host, bearer, ("origin", "http://localhost:80")]),
        Err(403)
    );
    assert_eq!(
        judged(&[host, bearer, ("origin", "http://jig.example")]),
        Err(403)
    );
}

#[test]
fn without_tokens_only_this_machine_is_served() {
    let listen = |address: &str| {
        let address = address.parse().unwrap();
        crate::HttpServer::listen(address, HttpAccess::of_anybody()).map(|_| ())
    };
    assert!(listen("127.0.0.1:0").is_ok());
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = listen(address).unwrap_err();
        assert!(
            matches!(error, crate::ServeError::Unguarded { .. }),
            "{error}"
        );
    }
}

/// Every address of this machine has its own name, besides the usual ones.
#[test]
fn names_of_this_machine() {
    fn check(address: &str, host: &str, expected: bool) {
        let admitted = HttpAccess::of_anybody().at(address.parse().unwrap());
        let request = Request::post("/mcp").header("host", host);
        let request = request.body(Empty::<bytes::Bytes>::new()).unwrap();
        let is_ours = matches!(admitted.judge(&request), HttpAdmission::Caller(_));
        assert_eq!(is_ours, expected, "{host} at {address}");
    }
    check("127.0.0.1:8080", "127.0.0.1:8080", true);
    check("127.0.0.1:8080", "localhost:8080", true);
    check("127.0.0.1:80", "localhost", true);
    check("127.0.0.1:8080", "localhost", false);
    check("127.0.0.1:8080", "127.0.0.2:8080", false);
    check("127.0.0.2:8080", "127.0.0.2:8080", true);
    check("[::1]:8080", "[::1]:8080", true);
    check("[::1]:8080", "::1:8080", false);
    check("[::1]:8080", "evil.example:8080", false);
}
