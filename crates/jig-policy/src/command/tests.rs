use std::io;

use jig_proto::ProjectPath;

use super::CommandProgram;
use crate::lookup::{Lookup, LookupEntry};
use crate::{
    DeclaredAccess, DeclaredCommandRule, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards,
    Policy, Reason, RuleErrors, RuleOrigin, Verdict, Workspace,
};

/// `alias -> tools/run`, which is a file.
struct Tools;

impl Lookup for Tools {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match path.as_str() {
            "tools" => LookupEntry::Directory,
            "tools/run" => LookupEntry::File,
            "alias" => LookupEntry::Link("tools/run".to_owned()),
            _ => LookupEntry::Missing,
        })
    }
}

fn workspace() -> Workspace<Tools> {
    Workspace::new("/ws", Tools)
}

/// A program and its argument lists, words separated by spaces; no list at all is `None`.
fn rule(program: &str, lists: Option<&[&str]>) -> DeclaredCommandRule {
    DeclaredCommandRule {
        program: program.to_owned(),
        args: lists.map(|lists| lists.iter().map(|list| words(list)).collect()),
        envs: Vec::new(),
        origin: RuleOrigin::named(program),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn compile(
    rules: Option<Vec<DeclaredCommandRule>>,
    default: DefaultAccess,
) -> Result<Policy, RuleErrors> {
    let access = DeclaredAccess {
        fs: vec![DeclaredFsRule {
            path: "tools".to_owned(),
            capabilities: FileCapabilities::ALL,
            origin: RuleOrigin::named("tools"),
        }],
        commands: rules,
        ..DeclaredAccess::default()
    };
    Policy::compile(&access, default, &Guards::default(), &workspace())
}

fn policy(rules: Vec<DeclaredCommandRule>) -> Policy {
    compile(Some(rules), DefaultAccess::VFS).expect("the rules compile")
}

#[track_caller]
fn check(policy: &Policy, cases: &[(&str, Verdict)]) {
    for (line, expected) in cases {
        let mut words = words(line);
        let program = CommandProgram::parse(&words.remove(0), &workspace()).expect("a program");
        assert_eq!(
            policy.decide_command(&program, &words).verdict,
            *expected,
            "{line}"
        );
    }
}

#[test]
fn argument_lists_x_47() {
    let policy = policy(vec![
        rule("git", Some(&["status", "log **", "show HEAD"])),
        rule("any", None),
        rule("bare", Some(&[""])),
        rule("never", Some(&[])),
        rule("open", Some(&["**"])),
    ]);
    check(
        &policy,
        &[
            ("git status", Verdict::Allow),
            ("git status -s", Verdict::Deny),
            ("git", Verdict::Deny),
            ("git log", Verdict::Allow),
            ("git log -p --all", Verdict::Allow),
            ("git logs", Verdict::Deny),
            ("git show HEAD", Verdict::Allow),
            ("git show HEAD~1", Verdict::Deny),
            ("git push", Verdict::Deny),
            ("any thing at all", Verdict::Allow),
            ("bare", Verdict::Allow),
            ("bare x", Verdict::Deny),
            ("never", Verdict::Deny),
            ("open", Verdict::Allow),
            ("open x y", Verdict::Allow),
            ("Git status", Verdict::Uncovered),
            ("gi status", Verdict::Uncovered),
        ],
    );
}

#[test]
fn words_are_not_joined_x_47() {
    let policy = policy(vec![rule("git", Some(&["log -p"]))]);
    let program = CommandProgram::parse("git", &workspace()).expect("a program");
    let one_word = ["log -p".to_owned()];
    assert_eq!(
        policy.decide_command(&program, &one_word).verdict,
        Verdict::Deny
    );
}

#[test]
fn the_last_rule_on_a_program_counts() {
    let first = rule("git", None);
    let last = rule("git", Some(&["status"]));
    check(
        &policy(vec![first.clone(), last.clone()]),
        &[("git push", Verdict::Deny), ("git status", Verdict::Allow)],
    );
    check(&policy(vec![last, first]), &[("git push", Verdict::Allow)]);
}

#[test]
fn defaults_x_10() {
    let none = compile(None, DefaultAccess::VFS).expect("no rules");
    check(&none, &[("git status", Verdict::Uncovered)]);
    let any = compile(None, DefaultAccess::STDIO).expect("no rules");
    check(
        &any,
        &[
            ("git push", Verdict::Allow),
            ("./other", Verdict::Uncovered),
        ],
    );
    assert!(any.any_command());
    // An empty list is declared, and lists nothing.
    let empty = compile(Some(Vec::new()), DefaultAccess::STDIO).expect("no rules");
    check(&empty, &[("git status", Verdict::Uncovered)]);
    assert!(!empty.any_command());
}

#[test]
fn a_file_also_needs_execute_x_48() {
    let policy = policy(vec![
        rule("./tools/run", Some(&["safe"])),
        rule("./other", Some(&["safe"])),
        rule("run", None),
    ]);
    check(
        &policy,
        &[
            ("./tools/run safe", Verdict::Allow),
            ("tools/run safe", Verdict::Allow),
            ("/ws/tools/run safe", Verdict::Allow),
            ("./alias safe", Verdict::Allow),
            ("./tools/../tools/run safe", Verdict::Allow),
            ("./tools/run unsafe", Verdict::Deny),
            // Listed, but no rule grants execute there.
            ("./other safe", Verdict::Uncovered),
            // That execute is only uncovered does not make the arguments acceptable.
            ("./other unsafe", Verdict::Deny),
            // Execute alone is not enough, and a name is not a file.
            ("./tools/more", Verdict::Uncovered),
            ("run", Verdict::Allow),
        ],
    );
    let other = CommandProgram::parse("./other", &workspace()).expect("a program");
    let decision = policy.decide_command(&other, &["unsafe".to_owned()]);
    assert!(matches!(decision.reason, Reason::Arguments));
}

#[test]
fn rules_that_cannot_be_meant_x_47() {
    let fails = |rule: DeclaredCommandRule| compile(Some(vec![rule]), DefaultAccess::VFS).is_err();
    assert!(fails(rule("git", Some(&["log ** -p"]))));
    assert!(fails(rule("git", Some(&["** **"]))));
    for program in ["", ".", "..", "a\0", "../x", "/bin/sh"] {
        assert!(fails(rule(program, None)), "{program:?}");
    }
    for env in ["", "A*", "A=B"] {
        let rule = DeclaredCommandRule {
            envs: vec![env.to_owned()],
            ..rule("git", None)
        };
        assert!(fails(rule), "{env:?}");
    }
    assert!(!fails(rule("git", Some(&["log **"]))));
}
