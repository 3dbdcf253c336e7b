use std::io;

use jig_proto::ProjectPath;

use super::LostBecause;
use crate::lookup::{Lookup, LookupEntry};
use crate::{
    Capability, CommandProgram, DeclaredAccess, DeclaredCommandRule, DeclaredFsRule, DefaultAccess,
    FileCapabilities, FileTarget, Guards, Policy, RuleKind, RuleOrigin, Workspace,
};

/// A workspace in which `run` may or may not exist.
struct Maybe(bool);

impl Lookup for Maybe {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        let there = self.0 && path.as_str() == "run";
        Ok(if there {
            LookupEntry::File
        } else {
            LookupEntry::Missing
        })
    }
}

fn workspace(exists: bool) -> Workspace<Maybe> {
    Workspace::new("/ws", Maybe(exists))
}

fn fs_rule(path: &str, capabilities: FileCapabilities, line: u32) -> DeclaredFsRule {
    DeclaredFsRule {
        path: path.to_owned(),
        capabilities,
        origin: RuleOrigin::line("jig.toml", line),
    }
}

fn compile(access: &DeclaredAccess) -> Policy {
    Policy::compile(
        access,
        DefaultAccess::VFS,
        &Guards::default(),
        &workspace(false),
    )
    .expect("the rules compile")
}

#[test]
fn losers_are_ranked_and_say_why() {
    let all = FileCapabilities::ALL;
    let access = DeclaredAccess {
        fs: vec![
            fs_rule("a", all, 1),
            fs_rule(".", all, 2),
            fs_rule("a", all, 3),
            fs_rule("b", all, 4),
        ],
        ..DeclaredAccess::default()
    };
    let policy = compile(&access);
    let target = workspace(false).resolve("a/x").expect("it is inside");
    let losers: Vec<(String, LostBecause)> = policy
        .losers_fs(Capability::Read, &target)
        .iter()
        .map(|loser| (loser.rule.origin().to_string(), loser.why))
        .collect();
    assert_eq!(
        losers,
        [
            ("jig.toml:1".to_owned(), LostBecause::DeclaredEarlier),
            ("jig.toml:2".to_owned(), LostBecause::LessSpecific),
        ]
    );
}

/// A program is the same whether or not it existed when the rules were compiled.
#[test]
fn losers_on_a_program_that_was_built_later() {
    let rule = DeclaredCommandRule {
        program: "./run".to_owned(),
        args: None,
        envs: Vec::new(),
        origin: RuleOrigin::named("test"),
    };
    let access = DeclaredAccess {
        commands: Some(vec![rule.clone(), rule]),
        ..DeclaredAccess::default()
    };
    let policy = compile(&access);
    let program = CommandProgram::parse("./run", &workspace(true)).expect("a program");
    assert_eq!(policy.losers_command(&program).len(), 1);
}

#[test]
fn a_refusal_teaches_g_107() {
    let read = FileCapabilities::just(Capability::Read);
    let access = DeclaredAccess {
        fs: vec![
            fs_rule("src", read, 3),
            fs_rule("x", FileCapabilities::NONE, 4),
        ],
        ..DeclaredAccess::default()
    };
    let policy = compile(&access);
    let path = workspace(false)
        .resolve("src/lib.rs")
        .expect("it is inside");
    let target = FileTarget {
        capability: Capability::Delete,
        path,
    };
    let refusal = policy.permit(target).expect_err("it is refused").refusal;
    assert_eq!(refusal.to_string(), "access denied: delete on src/lib.rs");
    let rule = refusal.rule.as_ref().expect("a rule decided");
    assert_eq!(
        (rule.text.as_str(), rule.origin.as_str()),
        ("read on `src`", "jig.toml:3")
    );
    assert_eq!(refusal.grants, ["read on `src` (jig.toml:3)"]);
    assert!(refusal.why.contains("does not grant `delete`"));
    assert!(refusal.suggestion.is_some());
}

/// A tool must not be able to make refusals as long as it likes.
#[test]
fn grants_are_bounded() {
    let rules = (0..100).map(|n| fs_rule(&format!("d{n}"), FileCapabilities::ALL, n));
    let access = DeclaredAccess {
        fs: rules.collect(),
        ..DeclaredAccess::default()
    };
    let grants = compile(&access).grants(RuleKind::Fs);
    assert_eq!(grants.len(), 21);
    assert_eq!(grants.last().map(String::as_str), Some("and 80 more"));
}
