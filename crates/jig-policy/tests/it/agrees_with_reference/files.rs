//! Decisions on files and moves.

use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards,
    MovedEntry, Planters, Policy, ProtectionLevel, ResolvedPath, RuleErrorKind, Workspace,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::paths::agreed;
use crate::agrees_with_reference::random::{self, check, on_files};
use crate::agrees_with_reference::reference::tree::{Names, Node, Tree, resolve, written};
use crate::agrees_with_reference::reference::{
    Answer, Files, FilesRule, PlainLine, PlainPattern, links,
};

pub(crate) const PAIRS: usize = 40_000;

/// The rules that resolve, after both sides agreed which do not.
pub(crate) fn valid(
    rules: Vec<DeclaredFsRule>,
    tree: &Tree,
    workspace: &Workspace<Tree>,
) -> Result<Vec<DeclaredFsRule>, TestCaseError> {
    let bad: Vec<usize> = (0..rules.len())
        .filter(|index| resolve(tree, &rules[*index].path).is_err())
        .collect();
    let compiled = Policy::compile(
        &on_files(rules.clone()),
        DefaultAccess::VFS,
        &Guards::default(),
        workspace,
    );
    let reported: Vec<usize> = match &compiled {
        Ok(_) => Vec::new(),
        Err(errors) => errors.0.iter().map(|error| error.index).collect(),
    };
    prop_assert_eq!(&bad, &reported, "rules that fail to load (G-051)");
    if let Err(errors) = compiled {
        for error in errors.0 {
            prop_assert!(matches!(error.kind, RuleErrorKind::Path(_)));
            prop_assert_eq!(&error.origin, &rules[error.index].origin);
        }
    }
    let kept = rules.into_iter().enumerate();
    Ok(kept
        .filter(|(index, _)| !bad.contains(index))
        .map(|(_, rule)| rule)
        .collect())
}

/// The plain evaluator for rules that all resolve.
pub(crate) fn reference(
    rules: &[DeclaredFsRule],
    default: DefaultAccess,
    guards: &Guards,
    tree: &Tree,
) -> Files {
    let canonical = |path: &str| resolve(tree, path).map(|(names, _)| names).ok();
    let mut compiled: Vec<FilesRule> = rules
        .iter()
        .map(|rule| FilesRule {
            // Canonical rules follow no link that came later.
            path: match guards.planters {
                Planters::Anyone => written(&rule.path).ok(),
                _ => canonical(&rule.path),
            }
            .expect("only rules that resolve are left"),
            written: written(&rule.path).expect("only rules that resolve are left"),
            capabilities: rule.capabilities,
            passed: FileCapabilities::NONE,
            origin: rule.origin.to_string(),
            is_default: false,
        })
        .collect();
    if compiled.is_empty() {
        compiled.push(FilesRule {
            path: Names::default(),
            written: Names::default(),
            capabilities: default.fs,
            passed: FileCapabilities::NONE,
            origin: "default of the runtime".to_owned(),
            is_default: true,
        });
    }
    let mut protected = Vec::new();
    for guard in &guards.protected {
        let names = Names::of(guard.path.as_str());
        // A protected file that is a link protects what it leads to as well.
        protected.extend(canonical(&names.text()).map(|led_to| (led_to, guard.level)));
        protected.push((names, guard.level));
    }
    // A `.git` that is a file, or nothing yet, is protected whole: it names a repository.
    let git = Names::of(".git");
    let is_open = tree
        .entries()
        .any(|(path, node)| *path == git && *node != Node::File);
    if guards.lines.has_git() && !is_open {
        protected.push((git, ProtectionLevel::Named));
    }
    let mut files = Files {
        rules: compiled,
        protected,
        lines: guards.lines.iter().map(PlainLine::of).collect(),
        patterns: guards.sensitive.patterns().map(PlainPattern::of).collect(),
    };
    let passed: Vec<FileCapabilities> = rules
        .iter()
        .map(|rule| links::passed(rule, rules, guards, &files, tree))
        .collect();
    for (rule, passed) in files.rules.iter_mut().zip(passed) {
        rule.capabilities = rule.capabilities - passed;
        rule.passed = passed;
    }
    files
}

#[test]
fn decisions_agree_with_a_linear_scan_g_020_to_g_061_x_65_x_66() {
    let inputs = (
        random::tree(),
        random::fs_rules(0..9),
        random::default_access(),
        random::guards(),
        vec(random::path(), 64),
    );
    check(
        1_000,
        PAIRS,
        inputs,
        |(tree, rules, default, guards, paths)| {
            let workspace = random::workspace(&tree);
            let rules = valid(rules, &tree, &workspace)?;
            let plain = reference(&rules, default, &guards, &tree);
            let policy = Policy::compile(&on_files(rules), default, &guards, &workspace)
                .map_err(|errors| TestCaseError::fail(errors.to_string()))?;
            let mut targets: Vec<(Names, ResolvedPath)> = Vec::new();
            for path in &paths {
                targets.extend(agreed(&tree, &workspace, path)?);
            }
            for (names, resolved) in &targets {
                for capability in Capability::ALL {
                    let found = Answer::of(&policy.decide_fs(capability, resolved));
                    let expected = plain.decide(capability, names);
                    prop_assert_eq!(found, expected, "{} on {:?}", capability, names);
                }
                // Every rule that matches is either the winner or among the losers.
                let matching = plain
                    .rules
                    .iter()
                    .filter(|rule| names.is_within(&rule.path));
                let losers = policy.losers_fs(Capability::Read, resolved).len();
                let winners = usize::from(plain.winner(Capability::Read, names).is_some());
                prop_assert_eq!(losers, matching.count() - winners);
            }
            for ((from, from_resolved), (to, to_resolved)) in
                targets.iter().zip(targets.iter().skip(1))
            {
                for entry in [MovedEntry::File, MovedEntry::Directory, MovedEntry::Link] {
                    let decision = policy.decide_move(from_resolved, to_resolved, entry);
                    let expected = plain.decide_move(from, to, to_resolved.exists(), entry);
                    prop_assert_eq!(Answer::of(&decision), expected, "{:?} to {:?}", from, to);
                }
            }
            Ok(targets.len())
        },
    );
}

/// One resource being declared changes nothing about another (G-004, G-005, X-10).
#[test]
fn other_resources_keep_their_default_x_10() {
    let tree = Tree::default();
    let workspace = random::workspace(&tree);
    let inputs = (
        random::net_rules(1..4),
        random::env_rules(1..4),
        random::default_access(),
    );
    check(50, 50, inputs, |(net, env, default)| {
        let bare = Policy::compile(
            &DeclaredAccess::default(),
            default,
            &Guards::default(),
            &workspace,
        );
        let declared = DeclaredAccess {
            net,
            env,
            ..DeclaredAccess::default()
        };
        // Rules that do not compile are a matter of the other tests.
        let declared = Policy::compile(&declared, default, &Guards::default(), &workspace);
        if let (Ok(bare), Ok(declared)) = (bare, declared) {
            let path = workspace.resolve("a").expect("nothing is in the way");
            for capability in Capability::ALL {
                prop_assert_eq!(
                    Answer::of(&bare.decide_fs(capability, &path)),
                    Answer::of(&declared.decide_fs(capability, &path))
                );
            }
            prop_assert_eq!(bare.any_command(), declared.any_command());
        }
        Ok(1)
    });
}
