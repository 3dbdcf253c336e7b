use std::io;
use std::net::IpAddr;

use jig_proto::ProjectPath;

use super::{Connection, ConnectionTarget, SpokenProtocol};
use crate::lookup::{Lookup, LookupEntry};
use crate::net::tests::rule;
use crate::{DeclaredAccess, DefaultAccess, Guards, Policy, Reason, Target, Verdict, Workspace};

struct Empty;

impl Lookup for Empty {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}

fn access(rules: &[&str]) -> DeclaredAccess {
    DeclaredAccess {
        net: rules.iter().map(|text| rule(text)).collect(),
        ..DeclaredAccess::default()
    }
}

fn compile(access: &DeclaredAccess) -> Policy {
    let workspace = Workspace::new("/ws", Empty);
    let guards = Guards::default();
    Policy::compile(access, DefaultAccess::STDIO, &guards, &workspace).expect("the rules compile")
}

/// `tls host:1`, `other host:1`, `unknown host:1` or `http host:1/path`, `http-POST host:1/path`; IPv6 in brackets.
fn target(text: &str) -> ConnectionTarget {
    let (kind, rest) = text.split_once(' ').expect("a kind and a place");
    let (place, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    let (host, port) = place.rsplit_once(':').expect("a host and a port");
    let speaks = match kind {
        "http" => SpokenProtocol::Http {
            method: "GET",
            path,
        },
        "http-POST" => SpokenProtocol::Http {
            method: "POST",
            path,
        },
        "tls" => SpokenProtocol::Tls,
        "other" => SpokenProtocol::Other,
        "unknown" => SpokenProtocol::Unknown,
        kind => panic!("`{kind}` is nothing that is spoken"),
    };
    ConnectionTarget::from(Connection {
        host,
        port: port.parse().expect("a port"),
        speaks,
    })
}

fn outcome(policy: &Policy, target: &ConnectionTarget) -> String {
    let decision = target.decide(policy);
    let rule = decision.rule.map(|rule| rule.origin().to_string());
    let rule = rule.unwrap_or_default();
    match decision.reason {
        Reason::Granted | Reason::Withheld => {
            let allowed = decision.verdict == Verdict::Allow;
            assert_eq!(allowed, rule.starts_with("allow"), "{target}: {rule}");
            rule
        }
        Reason::NoRule => "no rule".to_owned(),
        Reason::DefaultWithholds(_) => "default".to_owned(),
        Reason::PathUnderTls => format!("under TLS: {rule}"),
        Reason::PathUnseen => format!("unseen: {rule}"),
        Reason::AmbiguousPath => "ambiguous".to_owned(),
        reason => format!("{reason:?}"),
    }
}

/// Checks the rule that decides on each connection, or the reason where none does.
#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    let policy = compile(&access(rules));
    for (text, expected) in cases {
        assert_eq!(outcome(&policy, &target(text)), *expected, "{text}");
    }
}

#[test]
fn nothing_declared_is_uncovered() {
    for text in [
        "tls a.b:443",
        "http a.b:80/",
        "other a.b:22",
        "unknown a.b:22",
    ] {
        check(&[], &[(text, "default")]);
    }
}

#[test]
fn a_host_alone_opens_the_web_and_nothing_else() {
    let rule = "allow example.com";
    check(
        &[rule],
        &[
            ("http example.com:80/x", rule),
            ("tls example.com:443", rule),
            ("tls EXAMPLE.com.:443", rule),
            ("http example.com:443/x", "no rule"),
            ("tls example.com:80", "no rule"),
            ("http example.com:8080/x", "no rule"),
            ("tls example.com:8443", "no rule"),
            ("other example.com:443", "no rule"),
            ("other example.com:80", "no rule"),
            ("other example.com:22", "no rule"),
            ("unknown example.com:443", "no rule"),
            ("tls example.com.evil.net:443", "no rule"),
            ("tls exa mple:443", "no rule"),
        ],
    );
}

#[test]
fn a_port_opens_whatever_is_spoken_on_it() {
    let rule = "allow example.com:5000";
    check(
        &[rule],
        &[
            ("http example.com:5000/x", rule),
            ("tls example.com:5000", rule),
            ("other example.com:5000", rule),
            ("unknown example.com:5000", rule),
            ("other example.com:5001", "no rule"),
            ("tls example.com:443", "no rule"),
        ],
    );
}

#[test]
fn a_scheme_that_is_not_of_the_web_stands_for_its_port() {
    let rules = ["allow ssh://example.com", "allow odd://example.com:7000"];
    check(
        &rules,
        &[
            ("other example.com:22", rules[0]),
            ("unknown example.com:22", rules[0]),
            ("http example.com:22/", "no rule"),
            ("other example.com:7000", rules[1]),
            ("tls example.com:7000", rules[1]),
            ("other example.com:80", "no rule"),
        ],
    );
    let web = [
        "allow https://example.com:7000",
        "allow ws://example.com:7001",
    ];
    check(
        &web,
        &[
            ("tls example.com:7000", web[0]),
            ("other example.com:7000", "no rule"),
            ("other example.com:7001", "no rule"),
            ("http example.com:7000/", "no rule"),
        ],
    );
}

#[test]
fn of_rules_on_a_port_the_most_specific_and_then_the_last_decides() {
    let rules = [
        "deny odd://example.com:22",
        "allow example.com:22",
        "deny ssh://example.com",
        "allow even://example.com:22",
    ];
    check(&rules, &[("other example.com:22", rules[3])]);
    check(&rules[..3], &[("other example.com:22", rules[0])]);
    check(&rules[1..3], &[("other example.com:22", rules[2])]);
    check(&rules[1..2], &[("other example.com:22", rules[1])]);
}

#[test]
fn a_path_that_tls_hides_fails_closed() {
    let rules = ["allow example.com", "deny example.com/admin"];
    let hidden = "under TLS: deny example.com/admin";
    check(
        &rules,
        &[
            ("tls example.com:443", hidden),
            ("http example.com:80/x", rules[0]),
            ("http example.com:80/admin", rules[1]),
            ("tls example.com:8443", "no rule"),
        ],
    );
    // A path of another scheme, host or port is no matter of this connection.
    for path in [
        "allow http://example.com/x",
        "allow ws://example.com/x",
        "allow other.com/x",
        "allow example.com:8443/x",
        "allow https://example.com:8443/x",
        "allow example.com/",
    ] {
        check(
            &["allow example.com", path],
            &[(
                "tls example.com:443",
                if path.ends_with(".com/") {
                    path
                } else {
                    "allow example.com"
                },
            )],
        );
    }
    for path in ["allow https://example.com/x", "deny wss://example.com/x"] {
        check(
            &["allow example.com", path],
            &[("tls example.com:443", &format!("under TLS: {path}"))],
        );
    }
}

#[test]
fn a_path_on_a_port_closes_it_to_what_is_no_http() {
    for path in [
        "deny example.com:8080/admin",
        "deny http://example.com:8080/admin",
    ] {
        let rules = ["allow example.com:8080", path];
        let unseen = format!("unseen: {path}");
        check(
            &rules,
            &[
                ("http example.com:8080/x", rules[0]),
                ("http example.com:8080/admin/x", path),
                ("other example.com:8080", &unseen),
                ("unknown example.com:8080", &unseen),
            ],
        );
    }
}

#[test]
fn tls_is_refused_where_any_reading_of_it_is_denied_by_its_scheme() {
    let cases: [(&[&str], &str); 7] = [
        (&["allow wss://a.b"], "allow wss://a.b"),
        (&["allow https://a.b", "deny wss://a.b"], "deny wss://a.b"),
        (&["deny https://a.b", "allow wss://a.b"], "deny https://a.b"),
        (&["deny a.b", "allow wss://a.b"], "deny a.b"),
        (&["deny a.b", "allow https://a.b"], "allow https://a.b"),
        (
            &["allow a.b:443", "deny odd://a.b:443"],
            "deny odd://a.b:443",
        ),
        (&["deny http://a.b", "allow a.b"], "allow a.b"),
    ];
    for (rules, expected) in cases {
        check(rules, &[("tls a.b:443", expected)]);
    }
}

#[test]
fn a_path_on_the_wire_is_resolved_by_nobody_before_the_server() {
    let rules = ["allow example.com", "deny example.com/admin"];
    check(
        &rules,
        &[
            ("http example.com:80/public/../admin", "ambiguous"),
            ("http example.com:80/public/%2e%2e/admin", "ambiguous"),
            ("http example.com:80/public#/../admin", "ambiguous"),
            ("http example.com:80/public\\..\\admin", "ambiguous"),
            ("http example.com:80/ad\tmin", "ambiguous"),
            ("http example.com:80/x?q=/../admin", rules[0]),
            ("http example.com:80//admin?x", rules[1]),
            ("http example.com:80/%61dmin", rules[1]),
        ],
    );
    let policy = compile(&access(&rules));
    for path in ["*", "@evil.com/", "http://evil.com/", ":90/admin"] {
        let connection = Connection {
            host: "example.com",
            port: 80,
            speaks: SpokenProtocol::Http {
                method: "GET",
                path,
            },
        };
        let decision = policy.decide_connection(&connection);
        assert!(matches!(decision.reason, Reason::AmbiguousPath), "{path}");
    }
}

#[test]
fn addresses_are_hosts() {
    let rules = ["allow [::1]:8000", "allow 127.0.0.1"];
    check(
        &rules,
        &[
            ("http ::1:8000/x", rules[0]),
            ("http [::1]:8000/x", rules[0]),
            ("other 0:0::1:8000", rules[0]),
            ("http 127.0.0.1:80/", rules[1]),
            ("http localhost:80/", "no rule"),
            ("http ::ffff:127.0.0.1:80/", "no rule"),
        ],
    );
}

#[test]
fn names_ports_and_addresses_of_allowing_rules() {
    let policy = compile(&access(&[
        "allow Example.COM",
        "deny denied.com",
        "deny denied.com:9000",
        "allow ssh://git.example.com",
        "allow 127.0.0.1:5000/api",
        "allow [::1]:5000",
        "allow 10.0.0.1:22",
        "deny 10.0.0.2:22",
        "allow https://mixed.com/api",
        "deny mixed.com",
    ]));
    assert_eq!(policy.ports(), [22, 80, 443, 5000]);
    let addresses: Vec<IpAddr> = ["10.0.0.1", "127.0.0.1", "::1"]
        .map(|text| text.parse().expect("an address"))
        .to_vec();
    assert_eq!(policy.address_hosts(), addresses);
    for (host, spoken_of) in [
        ("example.com", true),
        ("EXAMPLE.com.", true),
        ("git.example.com", true),
        ("mixed.com", true),
        ("denied.com", false),
        ("www.example.com", false),
        ("com", false),
        ("", false),
        ("a b", false),
        ("127.0.0.1", true),
        ("[::1]", true),
    ] {
        assert_eq!(policy.speaks_of_host(host), spoken_of, "{host}");
    }
    let nothing = compile(&DeclaredAccess::default());
    assert!(nothing.ports().is_empty() && nothing.address_hosts().is_empty());
    assert!(!nothing.speaks_of_host("example.com"));
}

/// The suggestion as `allow scheme://host:port/path` lines; taken, it allows the connection.
fn suggested(rules: &[&str], text: &str) -> Vec<String> {
    let (access, target) = (access(rules), target(text));
    let Some(suggestion) = target.suggestion(&compile(&access)) else {
        return Vec::new();
    };
    let wider = compile(&suggestion.applied_to(&access));
    assert!(target.decide(&wider).is_allowed(), "{text}: {suggestion:?}");
    let added = wider.net_rules().iter().skip(access.net.len());
    added
        .map(|rule| rule.to_string().replace('`', ""))
        .collect()
}

#[test]
fn a_suggestion_names_what_was_tried() {
    let cases: [(&[&str], &str, &[&str]); 17] = [
        (&[], "tls a.b:443", &["allow a.b"]),
        (&[], "http a.b:80/x", &["allow a.b"]),
        (&[], "tls a.b:8443", &["allow a.b:8443"]),
        (&[], "http a.b:443/x", &["allow a.b:443"]),
        (&[], "tls ::1:8443", &["allow ::1:8443"]),
        (&[], "other a.b:22", &["allow ssh://a.b"]),
        (&[], "unknown a.b:22", &["allow ssh://a.b"]),
        (&["allow a.b"], "other a.b:443", &["allow a.b:443"]),
        (&["allow a.b"], "tls a.b:443", &[]),
        (&["allow a.b/x"], "tls a.b:443", &[]),
        (&["allow a.b:80/x"], "other a.b:80", &[]),
        (&["deny a.b"], "tls a.b:443", &["allow a.b"]),
        (&["deny ssh://a.b"], "other a.b:22", &["allow ssh://a.b"]),
        (
            &["deny https://a.b", "deny wss://a.b:443"],
            "tls a.b:443",
            &["allow https://a.b", "allow wss://a.b:443"],
        ),
        // On a path of any scheme it would close TLS, which was open.
        (
            &["allow a.b", "deny http://a.b"],
            "http a.b:80/x/y?z",
            &["allow http://a.b/x/y"],
        ),
        (&[], "tls exa mple:443", &[]),
        (&["allow a.b"], "http a.b:81/../x", &["allow a.b:81"]),
    ];
    for (rules, text, expected) in cases {
        assert_eq!(suggested(rules, text), expected, "{rules:?}: {text}");
    }
}

#[test]
fn refusals_are_told_in_words() {
    let policy = compile(&access(&["allow a.b/x"]));
    let refused = policy
        .permit(target("tls a.b:443"))
        .expect_err("it is refused");
    let refusal = &refused.refusal;
    assert_eq!(refusal.to_string(), "access denied: connect on a.b:443");
    assert!(
        refusal
            .why
            .contains("path of a TLS connection cannot be seen")
    );
    assert_eq!(refusal.verdict, Verdict::Deny);
    assert!(refusal.suggestion.is_none());
    assert!(
        refused.approve().is_err(),
        "nobody may approve what a rule denies"
    );
    for (text, shown) in [
        ("http a.b:80/x?y", "http://a.b/x?y"),
        ("http a.b:81/x\ty", "http://a.b:81/x%09y"),
        ("http ::1:81/", "http://[::1]:81/"),
        ("tls ::1:443", "[::1]:443"),
        ("other a.b:22", "a.b:22"),
    ] {
        assert_eq!(target(text).to_string(), shown);
    }
}
