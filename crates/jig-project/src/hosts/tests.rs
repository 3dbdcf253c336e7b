use super::rule;

#[test]
fn a_host_becomes_a_rule() {
    let check = |text, expected: &str| assert_eq!(rule(text).unwrap(), expected, "{text}");
    check("example.com", r#"{host="example.com",allow=true}"#);
    check(
        "example.com:8443",
        r#"{host="example.com",allow=true,port=8443}"#,
    );
    check(
        "ssh://git.example.com",
        r#"{host="git.example.com",allow=true,scheme="ssh"}"#,
    );
    check(
        "https://example.com:444/",
        r#"{host="example.com",allow=true,scheme="https",port=444}"#,
    );
    check(
        "http://example.com/v1/x",
        r#"{host="example.com",allow=true,scheme="http",path_prefix="/v1/x"}"#,
    );
    check("[::1]:80", r#"{host="::1",allow=true,port=80}"#);
    check("::1", r#"{host="::1",allow=true}"#);
    check(
        "127.0.0.1:5432",
        r#"{host="127.0.0.1",allow=true,port=5432}"#,
    );
}

#[test]
fn what_is_no_host_is_told() {
    let check = |text, expected: &str| {
        let told = format!("{:#}", rule(text).unwrap_err());
        assert!(told.contains(expected), "{told}");
    };
    check("", "is not a host");
    check(":80", "is not a host");
    check("example.com:http", "is not a host");
    check("example.com:99999", "is not a host");
    check("git@example.com", "`--net example.com`");
}
