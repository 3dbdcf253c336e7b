use std::sync::Arc;

use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredEnvRule, DefaultAccess, Guards, Policy, RuleOrigin, Workspace,
};

use crate::{Broker, BrokerParts};

fn broker(granted: &[&str]) -> Broker {
    let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let rule = |name: &&str| DeclaredEnvRule {
        name: (*name).to_owned(),
        read: true,
        header: false,
        origin: RuleOrigin::line("jig.toml", 3),
    };
    let access = DeclaredAccess {
        env: granted.iter().map(rule).collect(),
        ..DeclaredAccess::default()
    };
    let guards = Guards::default();
    let policy = Policy::compile(&access, DefaultAccess::STDIO, &guards, &workspace);
    let policy = Arc::new(policy.expect("the rules compile"));
    Broker::new(BrokerParts {
        env: [
            ("API_TOKEN", "very secret"),
            ("OTHER", "x"),
            ("THIRD_ONE", "x"),
            ("FOURTH_ONE", "x"),
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("CI", "1"),
            ("lower_case", "x"),
        ]
        .into_iter()
        .collect(),
        ..BrokerParts::new("t", "c1", Arc::clone(&files), policy)
    })
}

/// Checks which variables are told of.
#[track_caller]
fn check(granted: &[&str], said: &str, expected: &[&str]) {
    let told = broker(granted).explain_variables(said);
    let names: Vec<&str> = told.iter().map(|one| one.target.as_str()).collect();
    assert_eq!(names, expected, "{said}");
    for denial in &told {
        assert!(!denial.to_string().contains("very secret"), "{denial}");
    }
}

#[test]
fn a_variable_that_is_spoken_of_and_withheld() {
    for said in [
        "sh: 1: API_TOKEN: parameter not set",
        "KeyError: 'API_TOKEN'",
        "please export $API_TOKEN first",
        "{\"stderr\":\"API_TOKEN\\n\"}",
        "API_TOKEN API_TOKEN",
    ] {
        check(&[], said, &["API_TOKEN"]);
        check(&["API_*"], said, &[]);
        check(&["OTHER"], said, &["API_TOKEN"]);
    }
    let told = broker(&[]).explain_variables("API_TOKEN");
    assert_eq!(
        told[0].hint.as_deref(),
        Some("[[tools.t.access.env]]\nname = \"API_TOKEN\"\nread = true\n")
    );
}

#[test]
fn words_that_are_no_reason() {
    for said in [
        "",
        "MY_API_TOKEN and API_TOKENS",
        "api_token",
        "lower_case",
        "PATH LC_ALL CI",
        "NOT_OF_THE_HOST",
    ] {
        check(&[], said, &[]);
    }
}

#[test]
fn a_tool_cannot_have_a_list_checked() {
    let all = "OTHER THIRD_ONE API_TOKEN FOURTH_ONE";
    check(&[], all, &["OTHER", "THIRD_ONE", "API_TOKEN"]);
    // Only the end is looked at, and a character is not cut.
    let long = format!("OTHER {}API_TOKEN", "ü".repeat(20 * 1024));
    check(&[], &long, &["API_TOKEN"]);
}
