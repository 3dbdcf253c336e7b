use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Access, CommandRule, EnvRule, FsGrants, FsRule, NetRule};

/// The granted capabilities of a rule, as letters: `rcudx`.
fn letters(rule: &FsRule) -> String {
    let all = [
        (rule.read(), 'r'),
        (rule.create(), 'c'),
        (rule.update(), 'u'),
        (rule.delete(), 'd'),
        (rule.execute(), 'x'),
    ];
    all.into_iter()
        .filter_map(|(granted, letter)| granted.then_some(letter))
        .collect()
}

#[test]
fn g034_to_g037_the_alias_is_expanded() {
    let check = |fields: &str, expected: &str| {
        let text = format!("{{\"path\": \"src\"{fields}}}");
        let rule: FsRule = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (rule.path().as_str(), letters(&rule).as_str()),
            ("src", expected),
            "{text}"
        );
        let written = serde_json::to_string(&rule).unwrap();
        assert!(!written.contains("write"), "{written}");
        assert_eq!(serde_json::from_str::<FsRule>(&written).unwrap(), rule);
    };
    check("", "");
    check(r#", "read": true"#, "r");
    check(r#", "read": true, "write": true"#, "rcud");
    check(r#", "write": true, "delete": false"#, "cu");
    check(r#", "delete": false, "write": true"#, "cu");
    check(r#", "create": true"#, "c");
    check(r#", "write": false, "update": true"#, "u");
    check(r#", "write": true, "create": null"#, "cud");
    check(r#", "execute": true"#, "x");
    check(r#", "read": null, "write": null"#, "");
}

#[test]
fn x13_j009_a_rule_is_written_for_every_reader() {
    let grants = FsGrants {
        read: true,
        update: true,
        ..FsGrants::default()
    };
    let written = serde_json::to_string(&FsRule::new("src", grants)).unwrap();
    let expected = json!({
        "path": "src", "lexical_path": "src", "external": false, "approved_target": null,
        "read": true, "create": false, "update": true, "delete": false, "execute": false,
    });
    assert_eq!(written, expected.to_string());
    for text in [
        r#"{"lexical_path": "src", "read": true, "update": true}"#,
        r#"{"path": "src", "read": true, "update": true, "external": true, "approved_target": "/x"}"#,
        written.as_str(),
    ] {
        assert_eq!(
            serde_json::from_str::<FsRule>(text).unwrap(),
            FsRule::new("src", grants)
        );
    }
}

#[test]
fn g101_access_round_trips() {
    let check = |input: Value, expected: Access| {
        let access: Access = serde_json::from_value(input).unwrap();
        assert_eq!(access, expected);
        let written = serde_json::to_value(&access).unwrap();
        assert_eq!(serde_json::from_value::<Access>(written).unwrap(), access);
    };
    for nothing in [json!({}), json!({"fs": [], "net": null, "later": 1})] {
        check(nothing, Access::default());
    }
    let read = FsGrants {
        read: true,
        ..FsGrants::default()
    };
    let mut commands = IndexMap::new();
    let check_any = vec!["check".to_owned(), "**".to_owned()];
    commands.insert(
        "cargo".to_owned(),
        CommandRule {
            args: Some(vec![check_any]),
            envs: vec!["CARGO_HOME".to_owned()],
        },
    );
    commands.insert("awk".to_owned(), CommandRule::default());
    check(
        json!({
            "fs": [{"path": ".", "read": true}, {"path": ".env"}],
            "net": [
                {"host": "api.github.com", "allow": true},
                {"host": "api.github.com", "scheme": "https", "port": 8443, "path_prefix": "/admin"},
            ],
            "env": [{"name": "AWS_*", "read": true}, {"name": "TOKEN", "header": true}],
            "commands": {"cargo": {"args": [["check", "**"]], "envs": ["CARGO_HOME"]}, "awk": {}},
        }),
        Access {
            fs: vec![
                FsRule::new(".", read),
                FsRule::new(".env", FsGrants::default()),
            ],
            net: vec![
                NetRule {
                    host: "api.github.com".to_owned(),
                    scheme: None,
                    port: None,
                    path_prefix: None,
                    methods: None,
                    allow: true,
                },
                NetRule {
                    host: "api.github.com".to_owned(),
                    scheme: Some("https".to_owned()),
                    port: Some(8443),
                    path_prefix: Some("/admin".to_owned()),
                    methods: None,
                    allow: false,
                },
            ],
            env: vec![
                EnvRule {
                    name: "AWS_*".to_owned(),
                    read: true,
                    header: false,
                },
                EnvRule {
                    name: "TOKEN".to_owned(),
                    read: false,
                    header: true,
                },
            ],
            commands: Some(commands),
        },
    );
}

/// G-071, G-095: what a rule does not say is no.
#[test]
fn what_is_absent_is_not_written() {
    let check = |input: Value, expected: Value| {
        let access: Access = serde_json::from_value(input).unwrap();
        assert_eq!(
            serde_json::to_string(&access).unwrap(),
            expected.to_string()
        );
    };
    check(json!({}), json!({"fs": [], "net": [], "env": []}));
    check(
        json!({"net": [{"host": "h"}], "env": [{"name": "A"}], "commands": {"z": {}, "a": {}}}),
        json!({"fs": [], "net": [{"host": "h", "allow": false}], "env": [{"name": "A", "read": false}],
            "commands": {"z": {"envs": []}, "a": {"envs": []}}}),
    );
    // No program at all is something else than no word about programs.
    check(
        json!({"commands": {}}),
        json!({"fs": [], "net": [], "env": [], "commands": {}}),
    );
}

#[test]
fn a_malformed_rule_says_what_was_expected_and_where() {
    let check = |input: Value, expected: &str| {
        assert_eq!(
            serde_json::from_value::<Access>(input)
                .unwrap_err()
                .to_string(),
            expected
        );
    };
    check(json!({"fs": {}}), "`fs`: expected a list, found an object");
    check(
        json!({"fs": [{"path": "."}, {}]}),
        "`fs[1].path` is missing: expected a path",
    );
    check(
        json!({"fs": [{"path": "a", "read": "yes"}]}),
        "`fs[0].read`: expected `true` or `false`, found the string \"yes\"",
    );
    check(
        json!({"fs": [{"path": "a", "lexical_path": "b"}]}),
        "`fs[0].lexical_path`: expected the same as `path`, found the string \"b\"",
    );
    check(
        json!({"net": [{"allow": true}]}),
        "`net[0].host` is missing: expected a host name",
    );
    for port in [json!(65_536), json!(-1), json!(1.5)] {
        check(
            json!({"net": [{"host": "h", "port": port}]}),
            &format!("`net[0].port`: expected a number from 0 to 65535, found the number {port}"),
        );
    }
    check(
        json!({"env": [{}]}),
        "`env[0].name` is missing: expected the name of a variable",
    );
    check(
        json!({"commands": {"cargo": {"args": ["check"]}}}),
        "`commands.cargo.args[0]`: expected a list, found the string \"check\"",
    );
    // Read twice, a path could be checked in one spelling and used in the other.
    let twice = serde_json::from_str::<FsRule>(r#"{"path": "a", "path": "b"}"#).unwrap_err();
    assert!(
        twice
            .to_string()
            .starts_with("the key \"path\" occurs twice"),
        "{twice}"
    );
}
