//! Decisions on the connections that programs make.

use jig_policy::{ConnectionTarget, DeclaredNetRule, NetTarget, OwnedSpeaks, Target, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::agrees_with_reference::random::{self, check};
use crate::agrees_with_reference::reference::Answer;
use crate::agrees_with_reference::reference::connections::decide_connection;
use crate::agrees_with_reference::urls::{compile, valid};

pub(crate) const PAIRS: usize = 30_000;

pub(crate) fn connection() -> impl Strategy<Value = ConnectionTarget> {
    let port = select(vec![443, 443, 443, 80, 80, 8080, 22, 22, 21, 65535, 0]);
    let odd = select(vec![
        "*",
        "",
        "@evil.com/admin",
        "/a#/../admin",
        "/a\tb",
        "/a?/admin",
    ]);
    let path = prop_oneof![9 => random::url_path(), 1 => odd.prop_map(str::to_owned)];
    let speaks = prop_oneof![
        2 => (random::method(), path).prop_map(|(method, path)| OwnedSpeaks::Http { method, path }),
        3 => Just(OwnedSpeaks::Tls),
        2 => Just(OwnedSpeaks::Other),
        1 => Just(OwnedSpeaks::Unknown),
    ];
    (random::host(), port, speaks).prop_map(|(host, port, speaks)| ConnectionTarget {
        host,
        port,
        speaks,
    })
}

/// Rules among which those that matter to connections are frequent.
pub(crate) fn rules(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<DeclaredNetRule>> {
    let scheme = select(vec!["wss", "ws", "sftp", "HTTPS", "odd"]);
    (random::net_rules(count), vec((any::<bool>(), scheme), 10)).prop_map(|(mut rules, changes)| {
        for (rule, (keeps, scheme)) in rules.iter_mut().zip(changes) {
            if !keeps {
                rule.path_prefix = None;
                rule.methods = None;
                rule.scheme = rule.scheme.as_ref().map(|_| scheme.to_owned());
            }
        }
        rules
    })
}

#[test]
fn decisions_agree_with_a_linear_scan() {
    let inputs = (rules(0..10), vec(connection(), 60));
    check(800, PAIRS, inputs, |(rules, connections)| {
        let rules = valid(rules);
        let policy = compile(&rules).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        for target in &connections {
            let found = Answer::of(&target.decide(&policy));
            let expected = decide_connection(&rules, &target.host, target.port, &target.speaks);
            prop_assert_eq!(&found, &expected, "{:?}", target);
            if found.verdict == Verdict::Allow {
                prop_assert!(policy.speaks_of_host(&target.host), "{:?}", target);
                prop_assert!(policy.ports().contains(&target.port), "{:?}", target);
            }
        }
        Ok(connections.len())
    });
}

/// An allowed connection whose path nobody sees can carry any request, so none of them may be denied,
/// nor decided by its path.
#[test]
fn a_path_that_is_not_seen_plays_no_part() {
    let inputs = (rules(1..10), vec((connection(), random::url_path()), 60));
    check(1_000, 1_000, inputs, |(rules, connections)| {
        let rules = valid(rules);
        let policy = compile(&rules).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
        let mut allowed = 0;
        for (target, path) in connections {
            let scheme = match target.speaks {
                OwnedSpeaks::Http { .. } => continue,
                OwnedSpeaks::Tls => "https",
                OwnedSpeaks::Other | OwnedSpeaks::Unknown => "http",
            };
            if !target.decide(&policy).is_allowed() {
                continue;
            }
            allowed += 1;
            let root = format!("{scheme}://{}:{}/", target.host, target.port);
            let Ok(url) = NetTarget::parse(&format!("{root}{path}")) else {
                continue;
            };
            // Whether a path is ambiguous is asked on every port of a host with rules on paths.
            if url.is_ambiguous() {
                continue;
            }
            let root = NetTarget::parse(&root).map_err(|error| fail(&error))?;
            let answer = Answer::of(&url.decide(&policy));
            prop_assert_eq!(&answer, &Answer::of(&root.decide(&policy)), "{}", url);
            if scheme == "https" {
                prop_assert_ne!(answer.verdict, Verdict::Deny, "{}", url);
            }
        }
        Ok(allowed)
    });
}

fn fail(error: &dyn std::error::Error) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}
