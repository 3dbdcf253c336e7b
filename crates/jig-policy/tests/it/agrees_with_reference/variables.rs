//! Decisions on variables.

use jig_policy::{DeclaredEnvRule, DefaultAccess, EnvUse, Guards, Policy};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::random::{self, check, on_env};
use crate::agrees_with_reference::reference::tree::Tree;
use crate::agrees_with_reference::reference::{Answer, decide_env};

pub(crate) const PAIRS: usize = 30_000;

pub(crate) fn compile(rules: &[DeclaredEnvRule]) -> Result<Policy, TestCaseError> {
    let workspace = random::workspace(&Tree::default());
    let access = on_env(rules.to_vec());
    Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
        .map_err(|errors| TestCaseError::fail(errors.to_string()))
}

#[test]
fn decisions_agree_with_a_linear_scan_g_090_to_g_095() {
    let inputs = (random::env_rules(0..12), vec(random::variable(), 60));
    check(500, PAIRS, inputs, |(rules, names)| {
        let policy = compile(&rules)?;
        for name in &names {
            for wanted in [EnvUse::Read, EnvUse::Header] {
                let found = Answer::of(&policy.decide_env(wanted, name));
                prop_assert_eq!(found, decide_env(&rules, wanted, name), "{}", name);
            }
        }
        Ok(names.len())
    });
}
