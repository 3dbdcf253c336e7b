use std::net::Ipv6Addr;

use super::{NetRuleError, NetTable, NetTarget, NetTargetError};
use crate::policy::RuleErrorKind;
use crate::rules::{DeclaredNetRule, RuleOrigin};
use crate::{Decision, Reason, Verdict};

/// `deny https://host:1/prefix` and the like; IPv6 in brackets. The line counts from 1.
pub(crate) fn rule(text: &str) -> DeclaredNetRule {
    let (verb, rest) = text.split_once(' ').expect("a verb and a host");
    let (methods, rest) = match rest.split_once(' ') {
        Some((methods, rest)) => (Some(methods.split(',').map(str::to_owned).collect()), rest),
        None => (None, rest),
    };
    let (scheme, rest) = match rest.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_owned()), rest),
        None => (None, rest),
    };
    let (host, path_prefix) = match rest.find('/') {
        Some(at) => (&rest[..at], Some(rest[at..].to_owned())),
        None => (rest, None),
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if host.parse::<Ipv6Addr>().is_err() && !port.ends_with(']') => {
            (name, port.parse().ok())
        }
        _ => (host, None),
    };
    DeclaredNetRule {
        host: host.to_owned(),
        scheme,
        port,
        path_prefix,
        methods,
        allow: verb == "allow",
        origin: RuleOrigin::named(text),
    }
}

fn table(rules: &[&str]) -> NetTable {
    let rules: Vec<DeclaredNetRule> = rules.iter().map(|text| rule(text)).collect();
    let mut errors = Vec::new();
    let table = NetTable::compile(&rules, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    table
}

fn decided_by(decision: &Decision<'_>) -> String {
    match decision.rule {
        Some(rule) => rule.origin().to_string(),
        None => decision.verdict.to_string(),
    }
}

/// Checks the deciding rule, or the verdict where none decides.
#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    let table = table(rules);
    for (url, expected) in cases {
        let target = NetTarget::parse(url).expect("a URL");
        let decision = table.decide(&target);
        assert_eq!(decided_by(&decision), *expected, "{url}");
        if let Some(rule) = decision.rule {
            let allows = rule.origin().to_string().starts_with("allow");
            assert_eq!(decision.is_allowed(), allows, "{url}");
        }
    }
}

#[test]
fn worked_example_g_079() {
    let rules = ["allow api.github.com", "deny api.github.com/admin"];
    check(
        &rules,
        &[
            ("https://api.github.com/repos", rules[0]),
            ("https://api.github.com/admin/users", rules[1]),
            ("https://api.github.com.evil.com/", "uncovered"),
            ("https://example.com", "uncovered"),
        ],
    );
}

#[test]
fn nothing_declared_is_uncovered_x_10() {
    let empty = NetTable::default();
    let decision = empty.decide(&NetTarget::parse("https://a.b/").expect("a URL"));
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::DefaultWithholds(_)));
}

/// G-130: also hosts in other alphabets.
#[test]
fn hosts_are_compared_in_normal_form_g_072_g_075() {
    let equal = [
        ("münchen.de", "https://xn--mnchen-3ya.de/"),
        ("xn--mnchen-3ya.de", "https://MÜNCHEN.de/"),
        ("mu\u{308}nchen.de", "https://münchen.de/"),
        ("Example.COM", "https://example.com./"),
        ("example.com.", "https://EXAMPLE.com/"),
        ("127.0.0.1", "http://0x7f.1/"),
        ("0177.0.0.1", "http://2130706433/"),
        ("::1", "http://[0:0:0::1]/"),
        ("[::1]", "http://[::1]/"),
    ];
    for (host, url) in equal {
        let rule = format!("allow {host}");
        check(&[&rule], &[(url, rule.as_str())]);
    }
    let different = [
        "https://example.com.evil.net/",
        "https://sub.example.com/",
        "https://xample.com/",
        "https://example.co/",
    ];
    for url in different {
        check(&["allow example.com"], &[(url, "uncovered")]);
    }
}

#[test]
fn schemes_g_074() {
    let rules = ["allow https://example.com"];
    check(
        &rules,
        &[
            ("https://example.com/", rules[0]),
            ("HTTPS://example.com/", rules[0]),
            ("http://example.com/", "uncovered"),
            ("wss://example.com/", "uncovered"),
        ],
    );
    check(&["allow SSH://h"], &[("ssh://h/", "allow SSH://h")]);
}

/// G-130: a port that is not named is that of the scheme.
#[test]
fn ports_g_076() {
    check(
        &["allow example.com"],
        &[
            ("https://example.com:443/", "allow example.com"),
            ("http://example.com:80/", "allow example.com"),
            ("https://example.com:8443/", "uncovered"),
            ("https://example.com:80/", "uncovered"),
            ("http://example.com:443/", "uncovered"),
            // A host alone is about the web.
            ("ssh://example.com/", "uncovered"),
            ("ftp://example.com/", "uncovered"),
        ],
    );
    check(
        &["allow example.com:8080"],
        &[
            ("http://example.com:8080/", "allow example.com:8080"),
            ("https://example.com:8080/", "allow example.com:8080"),
            ("http://example.com/", "uncovered"),
        ],
    );
}

#[test]
fn paths_by_segments_g_077() {
    let rules = ["allow h/admin"];
    check(
        &rules,
        &[
            ("http://h/admin", rules[0]),
            ("http://h/admin/", rules[0]),
            ("http://h/admin/users", rules[0]),
            ("http://h//admin", rules[0]),
            ("http://h/%61dmin", rules[0]),
            ("http://h/x/../admin", rules[0]),
            ("http://h/administration", "uncovered"),
            ("http://h/Admin", "uncovered"),
            ("http://h/x?/admin", "uncovered"),
            ("http://h/x#/admin", "uncovered"),
            ("http://h/", "uncovered"),
        ],
    );
}

#[test]
fn paths_that_can_be_read_in_two_ways_g_077() {
    let odd = [
        "http://h/x%2fadmin",
        "http://h/x%5cadmin",
        "http://h/%2e%2e%2fadmin",
        "http://h/%252e/admin",
        "http://h/a%00",
        "http://h/%FF",
        "http://h/admin;x",
        "http://h/x/..;/admin",
    ];
    for url in odd {
        // Where no rule looks at paths it does not matter how the path is read.
        check(&["allow h", "deny other/admin"], &[(url, "allow h")]);
        check(&["allow h", "deny h/admin"], &[(url, "deny")]);
        check(&["allow h/x"], &[(url, "deny")]);
    }
}

#[test]
fn specificity_g_078() {
    let more_wins = [
        ["allow h", "deny http://h"],
        ["allow h", "deny h:80"],
        ["allow http://h", "deny http://h:80"],
        ["allow h:80", "deny h/a/b"],
        ["allow http://h", "deny http://h/a"],
    ];
    for [less, more] in more_wins {
        check(&[less, more], &[("http://h/a/b", more)]);
        check(&[more, less], &[("http://h/a/b", more)]);
    }
    let ties = [
        ["allow http://h", "deny h:80"],
        ["allow h/a", "deny http://h"],
        ["allow h:80/a", "deny h/a/b"],
        ["allow h", "deny h"],
        ["allow h/a/b", "deny http://h:80"],
    ];
    for [one, other] in ties {
        check(&[one, other], &[("http://h/a/b", other)]);
        check(&[other, one], &[("http://h/a/b", one)]);
    }
}

#[test]
fn user_names_do_not_count_g_080() {
    check(
        &["allow good.com", "deny bad.com"],
        &[
            ("https://good.com@bad.com/", "deny bad.com"),
            ("https://good.com:443@bad.com/", "deny bad.com"),
            ("https://bad.com@good.com/", "allow good.com"),
            ("https://good.com\\@bad.com/", "allow good.com"),
        ],
    );
}

#[test]
fn deep_prefixes_beyond_what_the_filter_tells_apart() {
    let deep: Vec<String> = (62..=66)
        .map(|depth| {
            format!(
                "{} h{}",
                if depth % 2 == 0 { "allow" } else { "deny" },
                "/s".repeat(depth)
            )
        })
        .collect();
    let rules: Vec<&str> = deep.iter().map(String::as_str).collect();
    for (index, depth) in (62..=66).enumerate() {
        let url = format!("http://h{}", "/s".repeat(depth));
        check(&rules, &[(url.as_str(), rules[index])]);
    }
}

#[test]
fn rules_that_cannot_be_meant_g_073() {
    let check = |rule: DeclaredNetRule, expected: NetRuleError| {
        let mut errors = Vec::new();
        NetTable::compile(std::slice::from_ref(&rule), &mut errors);
        match errors.as_slice() {
            [error] => match &error.kind {
                RuleErrorKind::Net(error) => assert_eq!(*error, expected),
                other => panic!("{other}"),
            },
            other => panic!("{rule:?}: {other:?}"),
        }
    };
    let host = |host: &str| DeclaredNetRule {
        host: host.to_owned(),
        ..rule("allow h")
    };
    check(host(""), NetRuleError::EmptyHost);
    for odd in [
        "*example.com",
        "a.*.example.com",
        "*.*",
        "*.",
        "*.0.0.1",
        "*.[::1]",
        "*.com:80",
        "**",
    ] {
        check(host(odd), NetRuleError::Wildcard(odd.to_owned()));
    }
    for odd in [".example.com", "a..b", "example.com.."] {
        check(host(odd), NetRuleError::Host(odd.to_owned()));
    }
    let methods = |methods: &[&str], scheme: Option<&str>| DeclaredNetRule {
        methods: Some(methods.iter().map(|method| (*method).to_owned()).collect()),
        scheme: scheme.map(str::to_owned),
        ..rule("allow h")
    };
    check(methods(&[], None), NetRuleError::NoMethods);
    for odd in ["", "*", "GET POST", "GET,POST", "connect"] {
        check(
            methods(&["GET", odd], None),
            NetRuleError::Method(odd.to_owned()),
        );
    }
    check(
        methods(&["GET"], Some("ssh")),
        NetRuleError::MethodsOfScheme("ssh".to_owned()),
    );
    for bad in [
        "exa mple",
        "https://h",
        "h:80",
        "a/b",
        "user@h",
        "[::1",
        "1.2.3.4.5",
        ".",
    ] {
        check(host(bad), NetRuleError::Host(bad.to_owned()));
    }
    check(
        rule("allow odd://h"),
        NetRuleError::NoDefaultPort("odd".to_owned()),
    );
    check(rule("allow 1x://h"), NetRuleError::Scheme("1x".to_owned()));
    check(rule("allow h:0"), NetRuleError::PortZero);
    for prefix in [
        "admin",
        "/a?b",
        "/a#b",
        "/a%2fb",
        "/%2e%2e%2f",
        "/%FF",
        "/a;b",
        "",
    ] {
        let rule = DeclaredNetRule {
            path_prefix: Some(prefix.to_owned()),
            methods: None,
            ..rule("allow h")
        };
        check(rule, NetRuleError::PathPrefix(prefix.to_owned()));
    }
}

#[test]
fn texts_that_are_no_target() {
    assert!(matches!(
        NetTarget::parse("example.com"),
        Err(NetTargetError::Url(_))
    ));
    assert!(matches!(
        NetTarget::parse("file:///etc/passwd"),
        Err(NetTargetError::NoHost(_))
    ));
    assert!(matches!(
        NetTarget::parse("data:,x"),
        Err(NetTargetError::NoHost(_))
    ));
    assert!(matches!(
        NetTarget::parse("odd://h/"),
        Err(NetTargetError::NoPort(_))
    ));
    assert!(matches!(
        NetTarget::parse("ssh://a*b/"),
        Err(NetTargetError::Host(_))
    ));
    assert!(NetTarget::parse("odd://h:1/").is_ok());
}

/// What is printed or logged of a URL holds no user name and no password.
#[test]
fn credentials_are_not_shown() {
    for (url, shown) in [
        (
            "https://user:secret@host.example/a",
            "https://host.example/a",
        ),
        ("https://token@host.example/", "https://host.example/"),
        ("ssh://git:pw@host.example/repo", "ssh://host.example/repo"),
    ] {
        let target = NetTarget::parse(url).expect("a URL");
        assert_eq!(target.to_string(), shown);
    }
}

#[test]
fn hosts_rank_exact_before_domains_before_all_x_68() {
    let rules = [
        "deny *",
        "allow *.example.com",
        "deny https://*.b.example.com",
        "allow a.b.example.com/x",
        "deny [::1]",
    ];
    check(
        &rules,
        &[
            ("https://other.test/", rules[0]),
            ("https://example.com/", rules[0]),
            ("https://notexample.com/", rules[0]),
            ("https://api.example.com/", rules[1]),
            // A longer domain first, whatever the rules say otherwise.
            ("https://c.b.example.com/", rules[2]),
            ("http://c.b.example.com/", rules[1]),
            // An exact host first; where its rule does not match, the next.
            ("https://a.b.example.com/x", rules[3]),
            ("https://a.b.example.com/y", rules[2]),
            ("https://b.example.com/", rules[1]),
            // Not addresses, and not this machine.
            ("https://1.1.1.1/", "uncovered"),
            ("http://169.254.169.254/", "uncovered"),
            ("http://[2606:4700::1111]/", "uncovered"),
            ("http://localhost/", "uncovered"),
            ("http://a.localhost/", "uncovered"),
        ],
    );
}

#[test]
fn methods_count_one_g_078() {
    let rules = [
        "allow example.com",
        "deny POST,delete example.com",
        "allow POST example.com/uploads",
        "deny GET https://example.com/uploads",
    ];
    let table = table(&rules);
    let check = |method: &str, url: &str, expected: &str| {
        let target = NetTarget::parse(url).expect("a URL").with_method(method);
        assert_eq!(
            decided_by(&table.decide(&target)),
            expected,
            "{method} {url}"
        );
    };
    check("GET", "https://example.com/", rules[0]);
    check("post", "https://example.com/", rules[1]);
    check("DELETE", "https://example.com/uploads", rules[1]);
    check("POST", "https://example.com/uploads/1", rules[2]);
    check("GET", "https://example.com/uploads/1", rules[3]);
    check("GET", "http://example.com/uploads/1", rules[0]);
    // What is no request has no method.
    let ssh = NetTarget::parse("ssh://example.com/")
        .expect("a URL")
        .with_method("GET");
    assert_eq!(ssh.method(), None);
}
