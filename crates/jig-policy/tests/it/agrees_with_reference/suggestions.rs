//! A suggestion allows what was refused, and nothing else; nothing that was allowed is lost.

use std::fmt::Debug;

use jig_policy::{
    Capability, CommandProgram, CommandTarget, CompiledFsRule, ConnectionTarget, DeclaredAccess,
    DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule, DefaultAccess,
    EnvTarget, EnvUse, FileCapabilities, FileTarget, Guards, MoveTarget, MovedEntry, NetTarget,
    OwnedSpeaks, Policy, ResolvedPath, RuleOrigin, Suggestion, Target, UnfollowedLink, Verdict,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::agrees_with_reference::random::{self, check, check_again, on_env, on_files, on_net};
use crate::agrees_with_reference::reference::connections::decide_connection;
use crate::agrees_with_reference::reference::tree::{Names, Tree, resolve};
use crate::agrees_with_reference::reference::{PlainUrl, decide_net};
use crate::agrees_with_reference::{connections, files, programs, urls, variables};

/// Asks for every target; for each refusal takes the suggestion and asks for all of them again.
///
/// `lost` says whether losing the second target is the price of a suggestion for the first,
/// `gained` whether gaining it is part of what was asked for.
fn check_all<T: Target + Clone + Debug>(
    access: &DeclaredAccess,
    targets: &[T],
    compile: impl Fn(&DeclaredAccess) -> Result<Policy, TestCaseError>,
    hopeless: impl Fn(&T) -> bool,
    leads_elsewhere: impl Fn(&Suggestion) -> bool,
    lost: impl Fn(&Suggestion, &T, &T) -> bool,
    gained: impl Fn(&Suggestion, &T, &T) -> bool,
) -> Result<usize, TestCaseError> {
    let policy = compile(access)?;
    let before: Vec<bool> = allowed(&policy, targets);
    let mut suggestions = 0;
    for target in targets {
        let Err(refused) = policy.permit(target.clone()) else {
            prop_assert!(
                target.suggestion(&policy).is_none(),
                "{:?} is allowed",
                target
            );
            continue;
        };
        let Some(suggestion) = &refused.refusal.suggestion else {
            prop_assert!(
                hopeless(target),
                "no suggestion for {:?}: {}",
                target,
                refused.refusal.why
            );
            continue;
        };
        prop_assert!(!hopeless(target), "{:?} for {:?}", suggestion, target);
        suggestions += 1;
        let read = read_back(&suggestion.to_toml("some tool"))?;
        prop_assert_eq!(
            &read,
            suggestion.rules(),
            "{}",
            suggestion.to_toml("some tool")
        );
        if leads_elsewhere(suggestion) {
            continue;
        }
        let wider = compile(&suggestion.applied_to(access))?;
        // With other rights the tool itself may or may not gain by a link on the path of another rule.
        if followed(&wider, access) != followed(&policy, access) {
            continue;
        }
        prop_assert!(
            target.decide(&wider).is_allowed(),
            "still {:?}: {:?} with {:?}",
            target.decide(&wider).reason,
            target,
            suggestion
        );
        let after = allowed(&wider, targets);
        for ((other, before), after) in targets.iter().zip(&before).zip(after) {
            prop_assert!(
                !before || after || lost(suggestion, target, other),
                "{:?} is lost by {:?}, suggested for {:?}",
                other,
                suggestion,
                target
            );
            prop_assert!(
                *before
                    || !after
                    || other.to_string() == target.to_string()
                    || gained(suggestion, target, other),
                "{:?} is gained by {:?}, suggested for {:?}",
                other,
                suggestion,
                target
            );
        }
    }
    Ok(suggestions)
}

/// What the declared rules do not follow.
fn followed<'p>(policy: &'p Policy, access: &DeclaredAccess) -> Vec<Option<&'p UnfollowedLink>> {
    let rules = policy.fs_rules().iter().filter(|rule| !rule.is_default());
    let links = rules.map(CompiledFsRule::unfollowed);
    links.take(access.fs.len()).collect()
}

fn allowed<T: Target>(policy: &Policy, targets: &[T]) -> Vec<bool> {
    let decisions = targets.iter().map(|target| target.decide(policy));
    decisions.map(|decision| decision.is_allowed()).collect()
}

fn names(path: &ResolvedPath) -> Names {
    Names::of(path.path().as_str())
}

/// Whether a rule of the suggestion names something strictly below `path`.
///
/// To give a path a rule of its own is to restrict it, and what is above a restricted path cannot
/// be removed or replaced whole. This is the one thing that a suggestion may take away. The
/// other way round, once the path may be removed it no longer stands in the way of what is above
/// it, which had the capability all along.
fn names_below(suggestion: &Suggestion, path: &ResolvedPath) -> bool {
    let path = names(path);
    suggestion.rules().fs.iter().any(|rule| {
        let named = Names::of(&rule.path);
        named != path && named.is_within(&path)
    })
}

/// Whether the suggestion names, below the target, a sensitive path that is a link. A policy knows
/// names and not the tree, so it cannot tell that a rule on that name would mean another place.
fn has_link(suggestion: &Suggestion, tree: &Tree) -> bool {
    suggestion.rules().fs.iter().any(|rule| {
        let names = Names::of(&rule.path);
        resolve(tree, &rule.path).map(|(led_to, _)| led_to) != Ok(names)
    })
}

#[test]
fn suggestions_for_files() {
    let inputs = (
        random::tree(),
        random::fs_rules(0..7),
        random::default_access(),
        random::guards(),
        vec(random::path(), 12),
    );
    check(
        250,
        3_000,
        inputs,
        |(tree, rules, default, guards, paths)| {
            let workspace = random::workspace(&tree);
            let access = on_files(files::valid(rules, &tree, &workspace)?);
            let compile = |access: &DeclaredAccess| {
                Policy::compile(access, default, &guards, &workspace)
                    .map_err(|errors| TestCaseError::fail(errors.to_string()))
            };
            let resolved = paths.iter().filter_map(|path| workspace.resolve(path).ok());
            let targets: Vec<FileTarget> = resolved
                .flat_map(|path| {
                    Capability::ALL.map(|capability| FileTarget {
                        capability,
                        path: path.clone(),
                    })
                })
                .collect();
            let plain = files::reference(&access.fs, default, &guards, &tree);
            check_all(
                &access,
                &targets,
                compile,
                |target| {
                    let whole = target.capability == Capability::Delete;
                    plain.is_hopeless(target.capability, &names(&target.path), whole)
                },
                |suggestion| has_link(suggestion, &tree),
                |suggestion, _, other| {
                    other.capability == Capability::Delete && names_below(suggestion, &other.path)
                },
                |suggestion, target, other| {
                    other.capability == target.capability
                        && (names(&other.path).is_within(&names(&target.path))
                            || (other.capability == Capability::Delete
                                && names_below(suggestion, &other.path)))
                },
            )
        },
    );
}

#[test]
fn suggestions_for_moves() {
    let inputs = (
        random::tree(),
        random::fs_rules(0..7),
        random::default_access(),
        random::guards(),
        vec((random::path(), random::path(), any::<bool>()), 30),
    );
    check(200, 1_000, inputs, check_moves);
}

/// A repository cannot be moved, whatever is declared about the parts of it: a rule that withholds
/// something there must not look like all that stands in the way.
#[test]
fn suggestions_for_moves_of_repositories() {
    let near = || {
        select(vec![
            "a/.git",
            "a/b/.git",
            "a",
            "c",
            "a/.git/worktrees",
            "c/.git",
        ])
    };
    let part = select(vec![
        "",
        "/config",
        "/HEAD",
        "/worktrees/a",
        "/modules/a",
        "/hooks",
    ]);
    let on_parts = (near(), part).prop_map(|(near, part)| format!("{near}{part}"));
    let place = || near().prop_map(str::to_owned);
    let inputs = (
        random::tree(),
        random::fs_rules_on(on_parts, 1..5),
        random::default_access(),
        random::guards(),
        vec((place(), place(), any::<bool>()), 10),
    );
    check_again(300, 300, inputs, check_moves);
}

type Moves = Vec<(String, String, bool)>;

fn check_moves(
    (tree, rules, default, guards, moves): (
        Tree,
        Vec<DeclaredFsRule>,
        DefaultAccess,
        Guards,
        Moves,
    ),
) -> Result<usize, TestCaseError> {
    let workspace = random::workspace(&tree);
    let access = on_files(files::valid(rules, &tree, &workspace)?);
    let compile = |access: &DeclaredAccess| {
        Policy::compile(access, default, &guards, &workspace)
            .map_err(|errors| TestCaseError::fail(errors.to_string()))
    };
    let mut targets = Vec::new();
    for (from, to, directory) in &moves {
        if let (Ok(from), Ok(to)) = (workspace.resolve(from), workspace.resolve(to)) {
            // No system moves a directory into itself or onto what it lies in.
            let nested = names(&from).is_within(&names(&to)) || names(&to).is_within(&names(&from));
            let entry = match directory {
                true => MovedEntry::Directory,
                false => MovedEntry::File,
            };
            if !nested {
                targets.push(MoveTarget { from, to, entry });
            }
        }
    }
    let plain = files::reference(&access.fs, default, &guards, &tree);
    check_all(
        &access,
        &targets,
        compile,
        |target| {
            let (from, to) = (names(&target.from), names(&target.to));
            plain.is_hopeless(Capability::Delete, &from, true)
                || plain.is_hopeless(
                    Capability::Create,
                    &to,
                    target.entry == MovedEntry::Directory,
                )
        },
        |suggestion| has_link(suggestion, &tree),
        |suggestion, _, other| {
            names_below(suggestion, &other.from) || names_below(suggestion, &other.to)
        },
        |suggestion, target, other| {
            let opened = |path: &ResolvedPath| {
                names(path).is_within(&names(&target.from))
                    || names(path).is_within(&names(&target.to))
                    || names_below(suggestion, path)
            };
            opened(&other.from) || opened(&other.to)
        },
    )
}

/// Whether a URL is denied whose path can be read in two ways: no rule can be on such a path.
fn is_denied_and_ambiguous(access: &DeclaredAccess, target: &NetTarget) -> bool {
    let plain = PlainUrl::parse(&target.to_string());
    plain.is_some_and(|plain| {
        plain.ambiguous && decide_net(&access.net, &plain).verdict == Verdict::Deny
    })
}

#[test]
fn suggestions_for_urls() {
    let inputs = (random::net_rules(0..7), vec(random::url(), 30));
    check(250, 3_000, inputs, |(rules, texts)| {
        let access = on_net(urls::valid(rules));
        let compile = |access: &DeclaredAccess| {
            urls::compile(&access.net).map_err(|errors| TestCaseError::fail(errors.to_string()))
        };
        let targets: Vec<NetTarget> = texts
            .iter()
            .filter_map(|text| NetTarget::parse(text).ok())
            .filter(|target| target.port() != 0)
            .collect();
        check_all(
            &access,
            &targets,
            compile,
            |target| is_denied_and_ambiguous(&access, target),
            |_| false,
            // The first rule on paths makes paths matter on that host, so that those which can be
            // read in two ways are refused from then on.
            |suggestion, target, other| {
                let on_paths = suggestion
                    .rules()
                    .net
                    .iter()
                    .any(|rule| rule.path_prefix.is_some());
                on_paths && other.is_ambiguous() && other.host() == target.host()
            },
            |suggestion, _, other| {
                let plain = PlainUrl::parse(&other.to_string());
                let other = plain.map(|plain| plain.with_method(other.method().unwrap_or("GET")));
                let rules = &suggestion.rules().net;
                other.is_some_and(|other| rules.iter().all(|rule| other.matches(rule)))
            },
        )
    });
}

/// Whether nothing can be added that helps: a path is hidden, ambiguous or part of no host.
fn is_hopeless(access: &DeclaredAccess, target: &ConnectionTarget) -> bool {
    let answer = decide_connection(&access.net, &target.host, target.port, &target.speaks);
    let hidden = ["path under TLS", "path unseen", "ambiguous path"].contains(&answer.reason);
    let ambiguous = match &target.speaks {
        OwnedSpeaks::Http { method, path } => {
            // With a rule on some path of the host, the twin says whether this one is ambiguous.
            let on_paths = [DeclaredNetRule {
                host: target.host.clone(),
                scheme: None,
                port: None,
                path_prefix: Some("/x".to_owned()),
                methods: None,
                allow: true,
                origin: RuleOrigin::named("asks"),
            }];
            let http = OwnedSpeaks::Http {
                method: method.clone(),
                path: path.clone(),
            };
            let asked = decide_connection(&on_paths, &target.host, 80, &http);
            answer.verdict == Verdict::Deny && asked.reason == "ambiguous path"
        }
        _ => false,
    };
    hidden || ambiguous
}

#[test]
fn suggestions_for_connections() {
    let inputs = (connections::rules(0..7), vec(connections::connection(), 30));
    check(250, 3_000, inputs, |(rules, mut targets)| {
        // No rule can name a method that is none.
        let odd = |method: &str| ["CONNECT", "*", "a b"].contains(&method);
        targets.retain(|target| match &target.speaks {
            OwnedSpeaks::Http { method, .. } if odd(method) => false,
            _ => target.port != 0,
        });
        let access = on_net(urls::valid(rules));
        let compile = |access: &DeclaredAccess| {
            urls::compile(&access.net).map_err(|errors| TestCaseError::fail(errors.to_string()))
        };
        let speaks_of = |suggestion: &Suggestion, target: &ConnectionTarget| {
            let allowing = compile(suggestion.rules());
            allowing.is_ok_and(|policy| {
                let on_port = policy.ports().contains(&target.port);
                policy.speaks_of_host(&target.host) && on_port
            })
        };
        check_all(
            &access,
            &targets,
            compile,
            |target| is_hopeless(&access, target),
            |_| false,
            // The first rule on a path makes paths matter: where they can be read in two ways, and
            // on its port where they cannot be seen.
            |suggestion, _, other| {
                let mut rules = suggestion.rules().net.iter();
                let on_paths =
                    rules.any(|rule| rule.path_prefix.is_some() || rule.methods.is_some());
                let http = matches!(other.speaks, OwnedSpeaks::Http { .. });
                on_paths && (http || speaks_of(suggestion, other))
            },
            |suggestion, _, other| {
                let of_path = suggestion.rules().net.iter().all(|rule| {
                    let is_open = rule.path_prefix.is_none() && rule.methods.is_none();
                    is_open || matches!(other.speaks, OwnedSpeaks::Http { .. })
                });
                of_path && speaks_of(suggestion, other)
            },
        )
    });
}

#[test]
fn suggestions_for_variables() {
    let name = prop_oneof![9 => random::variable(), 1 => Just("A=B".to_owned()), 1 => Just("A*".to_owned())];
    let inputs = (random::env_rules(0..7), vec((name, any::<bool>()), 20));
    check(200, 1_000, inputs, |(rules, names)| {
        let targets: Vec<EnvTarget> = names
            .into_iter()
            .map(|(name, read)| EnvTarget {
                name,
                wanted: if read { EnvUse::Read } else { EnvUse::Header },
            })
            .collect();
        check_all(
            &on_env(rules),
            &targets,
            |access| variables::compile(&access.env),
            |target| target.name.is_empty() || target.name.contains(['=', '*']),
            |_| false,
            |_, _, _| false,
            |_, _, _| false,
        )
    });
}

#[test]
fn suggestions_for_programs() {
    let inputs = (
        random::tree(),
        random::command_rules(),
        random::fs_rules(0..4),
        random::default_access(),
        vec((random::program(), random::arguments()), 20),
    );
    check(200, 1_000, inputs, |(tree, rules, fs, default, runs)| {
        let workspace = random::workspace(&tree);
        let access = programs::valid(rules, fs, &tree)?;
        let compile = |access: &DeclaredAccess| {
            Policy::compile(access, default, &Guards::default(), &workspace)
                .map_err(|errors| TestCaseError::fail(errors.to_string()))
        };
        let targets: Vec<CommandTarget> = runs
            .iter()
            .filter_map(|(program, args)| {
                Some(CommandTarget {
                    program: CommandProgram::parse(program, &workspace).ok()?,
                    args: args.clone(),
                })
            })
            .collect();
        check_all(
            &access,
            &targets,
            compile,
            |_| false,
            |_| false,
            |_, _, _| false,
            |_, target, other| {
                // `**` cannot be written as an argument of its own: what comes after it is open.
                let literal = target.args.iter().take_while(|arg| *arg != "**").count();
                let any_rest =
                    literal < target.args.len() && other.args.starts_with(&target.args[..literal]);
                let below = match (&target.program, &other.program) {
                    (CommandProgram::File(file), CommandProgram::File(other)) => {
                        names(other).is_within(&names(file))
                    }
                    _ => false,
                };
                (other.program == target.program && any_rest) || below
            },
        )
    });
}

/// Reads the TOML of a suggestion as a configuration would.
fn read_back(text: &str) -> Result<DeclaredAccess, TestCaseError> {
    let table: toml::Table = text
        .parse()
        .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    let access = &table["tools"]["some tool"]["access"];
    let list = |key: &str| -> Vec<toml::Value> {
        let list = access.get(key).and_then(toml::Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let commands = access.get("commands").and_then(toml::Value::as_table);
    Ok(DeclaredAccess {
        fs: list("fs").iter().map(fs_rule).collect(),
        net: list("net").iter().map(net_rule).collect(),
        env: list("env").iter().map(env_rule).collect(),
        commands: commands.map(|table| {
            let rules = table.iter();
            rules.map(|(name, rule)| command_rule(name, rule)).collect()
        }),
    })
}

fn fs_rule(value: &toml::Value) -> DeclaredFsRule {
    let mut capabilities: FileCapabilities = Capability::ALL
        .into_iter()
        .filter(|one| flag(value, one.name()))
        .collect();
    if flag(value, "write") {
        capabilities = capabilities.with(FileCapabilities::WRITE);
    }
    DeclaredFsRule {
        path: string(value, "path").unwrap_or_default(),
        capabilities,
        origin: suggested(),
    }
}

fn net_rule(value: &toml::Value) -> DeclaredNetRule {
    let port = value.get("port").and_then(toml::Value::as_integer);
    DeclaredNetRule {
        host: string(value, "host").unwrap_or_default(),
        scheme: string(value, "scheme"),
        port: port.and_then(|port| u16::try_from(port).ok()),
        path_prefix: string(value, "path_prefix"),
        methods: value
            .get("methods")
            .and_then(toml::Value::as_array)
            .map(|methods| {
                let methods = methods.iter().filter_map(toml::Value::as_str);
                methods.map(str::to_owned).collect()
            }),
        allow: flag(value, "allow"),
        origin: suggested(),
    }
}

fn env_rule(value: &toml::Value) -> DeclaredEnvRule {
    DeclaredEnvRule {
        name: string(value, "name").unwrap_or_default(),
        read: flag(value, "read"),
        header: flag(value, "header"),
        origin: suggested(),
    }
}

fn command_rule(program: &str, value: &toml::Value) -> DeclaredCommandRule {
    let strings = |value: &toml::Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .filter_map(toml::Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let lists = value.get("args").and_then(toml::Value::as_array);
    DeclaredCommandRule {
        program: program.to_owned(),
        args: lists.map(|lists| lists.iter().map(strings).collect()),
        envs: value.get("envs").map(strings).unwrap_or_default(),
        origin: suggested(),
    }
}

fn flag(value: &toml::Value, key: &str) -> bool {
    value.get(key).and_then(toml::Value::as_bool) == Some(true)
}

fn string(value: &toml::Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn suggested() -> RuleOrigin {
    RuleOrigin::named("suggested")
}
