//! Decisions on programs.

use jig_policy::{
    Capability, CommandProgram, DeclaredAccess, DeclaredCommandRule, DeclaredFsRule, DefaultAccess,
    Guards, Policy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::files;
use crate::agrees_with_reference::random::{self, check};
use crate::agrees_with_reference::reference::tree::{Tree, resolve};
use crate::agrees_with_reference::reference::{Answer, Files, decide_command};

pub(crate) const PAIRS: usize = 8_000;

/// A program in a form that can be compared: a name, or a canonical path after `./`.
pub(crate) fn plain_program(text: &str, tree: &Tree) -> Option<String> {
    if !text.contains('/') {
        return Some(text.to_owned());
    }
    let (names, _) = resolve(tree, text).ok()?;
    Some(format!("./{}", names.text()))
}

pub(crate) fn expected(
    rules: Option<&[DeclaredCommandRule]>,
    default: DefaultAccess,
    files: &Files,
    tree: &Tree,
    program: &str,
    args: &[String],
) -> Option<Answer> {
    let key = plain_program(program, tree)?;
    let execute = program.contains('/').then(|| {
        let (names, _) = resolve(tree, program).unwrap_or_default();
        files.decide(Capability::Execute, &names)
    });
    Some(decide_command(
        rules,
        default.commands,
        |rule| plain_program(&rule.program, tree),
        &key,
        execute,
        args,
    ))
}

/// Rules that compile, by both accounts.
pub(crate) fn valid(
    rules: Option<Vec<DeclaredCommandRule>>,
    fs: Vec<DeclaredFsRule>,
    tree: &Tree,
) -> Result<DeclaredAccess, TestCaseError> {
    let workspace = random::workspace(tree);
    let fs = files::valid(fs, tree, &workspace)?;
    let commands = rules.map(|mut rules| {
        rules.retain(|rule| plain_program(&rule.program, tree).is_some());
        rules
    });
    Ok(DeclaredAccess {
        fs,
        commands,
        ..DeclaredAccess::default()
    })
}

#[test]
fn decisions_agree_with_a_linear_scan_x_47_x_48() {
    let inputs = (
        random::tree(),
        random::command_rules(),
        random::fs_rules(0..5),
        random::default_access(),
        vec((random::program(), random::arguments()), 30),
    );
    check(400, PAIRS, inputs, |(tree, rules, fs, default, runs)| {
        let workspace = random::workspace(&tree);
        let access = valid(rules, fs, &tree)?;
        let guards = Guards::default();
        let plain_files = files::reference(&access.fs, default, &guards, &tree);
        let policy = Policy::compile(&access, default, &guards, &workspace)
            .map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        let mut pairs = 0;
        for (program, args) in &runs {
            let commands = access.commands.as_deref();
            let expected = expected(commands, default, &plain_files, &tree, program, args);
            let parsed = CommandProgram::parse(program, &workspace).ok();
            prop_assert_eq!(expected.is_some(), parsed.is_some(), "{}", program);
            if let (Some(expected), Some(parsed)) = (expected, parsed) {
                let found = Answer::of(&policy.decide_command(&parsed, args));
                prop_assert_eq!(found, expected, "{} {:?}", program, args);
                pairs += 1;
            }
        }
        Ok(pairs)
    });
}
