use super::{EnvNameError, EnvTable, EnvUse};
use crate::policy::RuleErrorKind;
use crate::rules::{DeclaredEnvRule, RuleOrigin};
use crate::{Reason, Verdict};

/// `NAME` allows, `!NAME` denies, `^NAME` allows only in headers.
fn rule(text: &str) -> DeclaredEnvRule {
    DeclaredEnvRule {
        name: text.trim_start_matches(['!', '^']).to_owned(),
        read: !text.starts_with(['!', '^']),
        header: text.starts_with('^'),
        origin: RuleOrigin::named(text),
    }
}

/// Checks which rule decides about reading; `uncovered` where none does.
#[track_caller]
fn check(rules: &[&str], cases: &[(&str, &str)]) {
    let rules: Vec<DeclaredEnvRule> = rules.iter().map(|text| rule(text)).collect();
    let mut errors = Vec::new();
    let table = EnvTable::compile(&rules, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    for (name, expected) in cases {
        let decision = table.decide(EnvUse::Read, name);
        let found = match decision.rule {
            Some(rule) => rule.origin().to_string(),
            None => decision.verdict.to_string(),
        };
        assert_eq!(found, *expected, "{name}");
        if decision.rule.is_some() {
            let verdict = if expected.starts_with(['!', '^']) {
                Verdict::Deny
            } else {
                Verdict::Allow
            };
            assert_eq!(decision.verdict, verdict, "{name}");
        }
    }
}

#[test]
fn worked_example_g_093() {
    check(
        &["GITHUB_TOKEN", "AWS_*", "!AWS_SECRET_ACCESS_KEY"],
        &[
            ("GITHUB_TOKEN", "GITHUB_TOKEN"),
            ("GITHUB_TOKEN_LOG", "uncovered"),
            ("AWS_REGION", "AWS_*"),
            ("AWS_SECRET_ACCESS_KEY", "!AWS_SECRET_ACCESS_KEY"),
            ("HOME", "uncovered"),
        ],
    );
}

#[test]
fn the_longer_prefix_wins_g_094() {
    for rules in [["AWS_SEC*", "!AWS_SECRET_*"], ["!AWS_SECRET_*", "AWS_SEC*"]] {
        check(
            &rules,
            &[
                ("AWS_SECRET_KEY", "!AWS_SECRET_*"),
                ("AWS_SECRET", "AWS_SEC*"),
                ("AWS_SEC", "AWS_SEC*"),
                ("AWS_SE", "uncovered"),
            ],
        );
    }
}

/// G-130: of an exact name and a prefix as long, the name counts.
#[test]
fn exact_or_prefix_g_090_g_092() {
    for rules in [["!AWS_TOKEN*", "AWS_TOKEN"], ["AWS_TOKEN", "!AWS_TOKEN*"]] {
        check(
            &rules,
            &[("AWS_TOKEN", "AWS_TOKEN"), ("AWS_TOKEN_LOG", "!AWS_TOKEN*")],
        );
    }
    // An exact name never matches more than itself, and case counts.
    check(
        &["A", "!*"],
        &[("A", "A"), ("AB", "!*"), ("a", "!*"), ("", "!*")],
    );
    // The last of two equal rules.
    check(&["!A", "A"], &[("A", "A")]);
    check(&["B*", "!B*"], &[("BC", "!B*")]);
}

#[test]
fn lengths_beyond_what_the_filter_tells_apart() {
    let rules: Vec<String> = (61..=67)
        .map(|length| format!("{}*", "L".repeat(length)))
        .collect();
    let texts: Vec<&str> = rules.iter().map(String::as_str).collect();
    for (index, length) in (61..=67).enumerate() {
        let name = "L".repeat(length);
        check(&texts, &[(name.as_str(), texts[index])]);
        let other = format!("{name}x");
        check(&texts, &[(other.as_str(), texts[index])]);
    }
}

#[test]
fn headers_do_not_open_reading_g_095() {
    let rules = [rule("^TOKEN"), rule("KEY"), rule("!NO")];
    let mut errors = Vec::new();
    let table = EnvTable::compile(&rules, &mut errors);
    let verdict = |wanted, name| table.decide(wanted, name).verdict;
    assert_eq!(verdict(EnvUse::Header, "TOKEN"), Verdict::Allow);
    assert_eq!(verdict(EnvUse::Read, "TOKEN"), Verdict::Deny);
    assert_eq!(verdict(EnvUse::Header, "KEY"), Verdict::Allow);
    assert_eq!(verdict(EnvUse::Read, "KEY"), Verdict::Allow);
    assert_eq!(verdict(EnvUse::Header, "NO"), Verdict::Deny);
}

/// Whoever writes a prefix means settings, not a command that the next program runs.
#[test]
fn a_prefix_never_grants_what_makes_programs_run_code() {
    let rules = [rule("*"), rule("GIT_*"), rule("GIT_DIR"), rule("!LD_*")];
    let table = EnvTable::compile(&rules, &mut Vec::new());
    let check = |wanted: EnvUse, name: &str, expected: Verdict, origin: &str| {
        let decision = table.decide(wanted, name);
        assert_eq!(decision.verdict, expected, "{name}");
        let rule = decision.rule.map(|rule| rule.origin().to_string());
        assert_eq!(rule.as_deref(), Some(origin), "{name}");
        let why = decision.why("read");
        assert_eq!(
            why.contains("only a rule with its exact name"),
            expected == Verdict::Uncovered,
            "{name}: {why}"
        );
    };
    check(EnvUse::Read, "HOME", Verdict::Allow, "*");
    check(EnvUse::Read, "EDITOR", Verdict::Uncovered, "*");
    check(EnvUse::Read, "GIT_PAGER", Verdict::Uncovered, "GIT_*");
    // The exact name is what it takes, and a rule that denies goes on to deny.
    check(EnvUse::Read, "GIT_DIR", Verdict::Allow, "GIT_DIR");
    check(EnvUse::Read, "LD_PRELOAD", Verdict::Deny, "!LD_*");
    // In a header nothing is run.
    check(EnvUse::Header, "GIT_PAGER", Verdict::Allow, "GIT_*");
}

#[test]
fn nothing_declared_is_uncovered_x_10() {
    let decision = EnvTable::default();
    let decision = decision.decide(EnvUse::Read, "HOME");
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::DefaultWithholds(_)));
}

#[test]
fn names_that_cannot_be_meant_g_091() {
    let check = |name: &str, expected: EnvNameError| {
        let mut errors = Vec::new();
        EnvTable::compile(&[rule("FINE"), rule(name)], &mut errors);
        match errors.as_slice() {
            [error] => {
                assert_eq!(error.index, 1);
                assert!(matches!(&error.kind, RuleErrorKind::Env(found) if *found == expected));
            }
            other => panic!("{name}: {other:?}"),
        }
    };
    for star in ["A*B", "*A", "A**", "**"] {
        check(star, EnvNameError::StarInside(star.to_owned()));
    }
    check("", EnvNameError::Empty);
    check("A=B", EnvNameError::Invalid("A=B".to_owned()));
    check("A=*", EnvNameError::Invalid("A=".to_owned()));
    check("A\0", EnvNameError::Invalid("A\\0".to_owned()));
}
