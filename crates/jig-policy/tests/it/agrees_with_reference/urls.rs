//! Decisions on URLs.

use jig_policy::{DeclaredNetRule, DefaultAccess, Guards, NetTarget, Policy, RuleErrorKind};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::random::{self, check, on_net};
use crate::agrees_with_reference::reference::tree::Tree;
use crate::agrees_with_reference::reference::{Answer, PlainUrl, decide_net};

pub(crate) const PAIRS: usize = 30_000;

pub(crate) fn compile(rules: &[DeclaredNetRule]) -> Result<Policy, jig_policy::RuleErrors> {
    let workspace = random::workspace(&Tree::default());
    let access = on_net(rules.to_vec());
    Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
}

/// The rules that compile. Which do not is written out case by case beside the source.
pub(crate) fn valid(rules: Vec<DeclaredNetRule>) -> Vec<DeclaredNetRule> {
    let bad: Vec<usize> = match compile(&rules) {
        Ok(_) => Vec::new(),
        Err(errors) => {
            assert!(
                errors
                    .0
                    .iter()
                    .all(|error| matches!(error.kind, RuleErrorKind::Net(_)))
            );
            errors.0.iter().map(|error| error.index).collect()
        }
    };
    let kept = rules.into_iter().enumerate();
    kept.filter(|(index, _)| !bad.contains(index))
        .map(|(_, rule)| rule)
        .collect()
}

#[test]
fn decisions_agree_with_a_linear_scan_g_070_to_g_080() {
    let inputs = (
        random::net_rules(0..10),
        vec((random::method(), random::url()), 60),
    );
    check(800, PAIRS, inputs, |(rules, urls)| {
        let rules = valid(rules);
        let policy = compile(&rules).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        let mut pairs = 0;
        for (method, text) in &urls {
            let plain = PlainUrl::parse(text).map(|plain| plain.with_method(method));
            let target = NetTarget::parse(text).map(|target| target.with_method(method));
            prop_assert_eq!(plain.is_some(), target.is_ok(), "{}: {:?}", text, target);
            let (Some(plain), Ok(target)) = (plain, target) else {
                continue;
            };
            prop_assert_eq!(&plain.host, target.host());
            prop_assert_eq!(&plain.segments, target.segments());
            prop_assert_eq!(plain.ambiguous, target.is_ambiguous(), "{}", text);
            prop_assert_eq!(
                (plain.scheme.as_str(), plain.port),
                (target.scheme(), target.port())
            );
            let found = Answer::of(&policy.decide_net(&target));
            prop_assert_eq!(found, decide_net(&rules, &plain), "{}", text);
            let matching = rules.iter().filter(|rule| plain.matches(rule)).count();
            prop_assert_eq!(policy.losers_net(&target).len(), matching.saturating_sub(1));
            pairs += 1;
        }
        Ok(pairs)
    });
}
