//! Ways around the rules that must stay closed, and sizes that must stay cheap.

use std::time::Duration;

use jig_policy::{
    Capability, CommandProgram, CommandTarget, Connection, DeclaredAccess, DeclaredCommandRule,
    DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule, DefaultAccess, EnvUse, FileCapabilities,
    FileTarget, Guards, MoveTarget, MovedEntry, NetTarget, Policy, ProtectionLevel, Reason,
    RuleOrigin, SpokenProtocol, Verdict, Workspace,
};

use crate::agrees_with_reference::random::{on_env, on_files, on_net, workspace};
use crate::agrees_with_reference::reference::tree::{Names, Node, Tree};

fn rule(path: &str, capabilities: FileCapabilities) -> DeclaredFsRule {
    DeclaredFsRule {
        path: path.to_owned(),
        capabilities,
        origin: RuleOrigin::named("test"),
    }
}

fn files(rules: &[(&str, FileCapabilities)], guards: &Guards) -> (Policy, Workspace<Tree>) {
    let workspace = workspace(&Tree::default());
    let rules = rules.iter().map(|(path, some)| rule(path, *some)).collect();
    let policy = Policy::compile(&on_files(rules), DefaultAccess::NOTHING, guards, &workspace);
    (policy.expect("the rules compile"), workspace)
}

/// An approval turns what is uncovered into a permit. It must not carry a denial along.
#[test]
fn approving_a_move_does_not_approve_a_denied_part_of_it() {
    let read_write = FileCapabilities::ALL;
    let guards = Guards::of_workspace();
    // (source, destination): one is uncovered (sensitive), the other is never to be changed.
    for (from, to) in [
        (".env", "jig.toml"),
        ("jig.toml", ".env"),
        (".env", "locked/x"),
    ] {
        let rules = [(".", read_write), ("locked", FileCapabilities::NONE)];
        let (policy, workspace) = files(&rules, &guards);
        let target = MoveTarget {
            from: workspace.resolve(from).expect("it is inside"),
            to: workspace.resolve(to).expect("it is inside"),
            entry: MovedEntry::File,
        };
        let refused = policy.permit(target).expect_err("it is refused");
        assert_eq!(refused.refusal.verdict, Verdict::Deny, "{from} to {to}");
        assert!(refused.approve().is_err(), "{from} to {to}");
    }
}

#[test]
fn approving_a_delete_does_not_approve_what_is_denied_below() {
    let guards = Guards::of_workspace();
    // Nothing covers `a`, and `.jig` needs a rule that names it; below both lies a denial.
    for (rules, path) in [
        (vec![("a/b", FileCapabilities::just(Capability::Read))], "a"),
        (vec![(".", FileCapabilities::ALL)], ".jig"),
        (vec![("other", FileCapabilities::ALL)], ".jig"),
        (
            vec![
                (".", FileCapabilities::ALL),
                (".ssh/x", FileCapabilities::NONE),
            ],
            ".ssh",
        ),
    ] {
        let (policy, workspace) = files(&rules, &guards);
        let target = FileTarget {
            capability: Capability::Delete,
            path: workspace.resolve(path).expect("it is inside"),
        };
        let refused = policy.permit(target).expect_err("it is refused");
        assert!(refused.approve().is_err(), "{path}");
    }
}

#[test]
fn approving_execution_does_not_approve_denied_arguments_x_48() {
    let workspace = workspace(&Tree::default());
    let access = DeclaredAccess {
        fs: vec![rule("src", FileCapabilities::ALL)],
        commands: Some(vec![DeclaredCommandRule {
            program: "./run".to_owned(),
            args: Some(vec![vec!["safe".to_owned()]]),
            envs: Vec::new(),
            origin: RuleOrigin::named("test"),
        }]),
        ..DeclaredAccess::default()
    };
    let policy = Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
        .expect("the rules compile");
    let target = |arg: &str| CommandTarget {
        program: CommandProgram::parse("./run", &workspace).expect("it is inside"),
        args: vec![arg.to_owned()],
    };
    let refused = policy.permit(target("unsafe")).expect_err("it is refused");
    assert!(refused.approve().is_err());
    let refused = policy
        .permit(target("safe"))
        .expect_err("nothing grants execute");
    assert!(refused.approve().is_ok(), "only execute is uncovered");
}

/// X-65 over three calls: move `.git` away, put a hook where nobody looks, move it back.
#[test]
fn a_rule_on_git_does_not_open_its_hooks_by_moving_it_x_66() {
    let rules = [
        (".", FileCapabilities::ALL),
        (".git", FileCapabilities::ALL),
    ];
    let (policy, workspace) = files(&rules, &Guards::default());
    let at = |path: &str| workspace.resolve(path).expect("it is inside");
    let hook = policy.decide_fs(Capability::Create, &at(".git/hooks/pre-commit"));
    assert_eq!(hook.verdict, Verdict::Uncovered);
    assert!(
        policy
            .decide_fs(Capability::Create, &at(".git/index"))
            .is_allowed()
    );
    assert!(
        !policy
            .decide_move(&at(".git"), &at("x"), MovedEntry::Directory)
            .is_allowed()
    );
    assert!(
        !policy
            .decide_move(&at("x"), &at(".git"), MovedEntry::Directory)
            .is_allowed()
    );
    // With the hooks named, the same is allowed.
    let rules = [rules[0], rules[1], (".git/hooks", FileCapabilities::ALL)];
    let (policy, _) = files(&rules, &Guards::default());
    assert!(
        policy
            .decide_move(&at(".git"), &at("x"), MovedEntry::Directory)
            .is_allowed()
    );
    assert!(
        policy
            .decide_move(&at("x"), &at(".git"), MovedEntry::Directory)
            .is_allowed()
    );
}

/// A pattern that a user adds below a built-in one counts, and so does a secret inside a secret.
#[test]
fn the_deepest_sensitive_path_must_be_named_x_66() {
    let mut guards = Guards::default();
    guards.sensitive.add("/.aws/prod").expect("a pattern");
    let (policy, workspace) = files(&[(".aws", FileCapabilities::ALL)], &guards);
    let read = |path: &str| {
        let path = workspace.resolve(path).expect("it is inside");
        policy.decide_fs(Capability::Read, &path).verdict
    };
    assert_eq!(read(".aws/config"), Verdict::Allow);
    assert_eq!(read(".aws/prod"), Verdict::Uncovered);
    assert_eq!(read(".aws/prod/key"), Verdict::Uncovered);
    assert_eq!(read(".aws/.env"), Verdict::Uncovered);
}

/// Some servers drop what follows a `;` in a segment, before or after they fold `..`.
#[test]
fn parameters_in_a_segment_do_not_hide_it() {
    let rule = |path_prefix: Option<&str>, allow| DeclaredNetRule {
        host: "example.com".to_owned(),
        scheme: None,
        port: None,
        path_prefix: path_prefix.map(str::to_owned),
        methods: None,
        allow,
        origin: RuleOrigin::named("test"),
    };
    let access = on_net(vec![rule(None, true), rule(Some("/admin"), false)]);
    let workspace = workspace(&Tree::default());
    let policy = Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
        .expect("the rules compile");
    for path in ["/admin;x/users", "/x/..;/admin", "/admin%3Bx", "/;/admin"] {
        let target = NetTarget::parse(&format!("https://example.com{path}")).expect("a URL");
        assert_eq!(policy.decide_net(&target).verdict, Verdict::Deny, "{path}");
    }
}

#[test]
fn segments_that_are_no_text_are_not_confused() {
    let access = on_net(vec![DeclaredNetRule {
        host: "example.com".to_owned(),
        scheme: None,
        port: None,
        path_prefix: Some("/open".to_owned()),
        methods: None,
        allow: true,
        origin: RuleOrigin::named("test"),
    }]);
    let workspace = workspace(&Tree::default());
    let policy = Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
        .expect("the rules compile");
    for url in [
        "https://example.com/open/%FF",
        "https://example.com/open/%C3",
    ] {
        let target = NetTarget::parse(url).expect("a URL");
        assert_eq!(policy.decide_net(&target).verdict, Verdict::Deny, "{url}");
    }
    let rule = DeclaredNetRule {
        path_prefix: Some("/%FF".to_owned()),
        ..access.net[0].clone()
    };
    let policy = Policy::compile(
        &on_net(vec![rule]),
        DefaultAccess::VFS,
        &Guards::default(),
        &workspace,
    );
    assert!(
        policy.is_err(),
        "a prefix that matches %FE too is not what was meant"
    );
}

/// Generous, because the build is not optimised. Quadratic work on these sizes would take minutes.
fn quick<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = processor_time();
    let value = work();
    let took = processor_time().saturating_sub(start);
    assert!(took < Duration::from_secs(10), "{what} took {took:?}");
    value
}

/// How long this thread has been computing, however many others the machine is busy with.
#[cfg(unix)]
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).expect("it counts up from zero")
}

/// The clock on the wall, which is the next best.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

#[test]
fn a_hundred_thousand_rules_compile_and_decide() {
    let count = 100_000;
    let workspace = workspace(&Tree::default());
    let origin = RuleOrigin::named("test");
    let access = DeclaredAccess {
        fs: (0..count)
            .map(|n| {
                rule(
                    &format!("d{}/e{}/f{n}", n % 10, n % 1_000),
                    FileCapabilities::ALL,
                )
            })
            .collect(),
        net: (0..count)
            .map(|n| DeclaredNetRule {
                host: format!("h{}.example", n % 100),
                scheme: None,
                port: None,
                path_prefix: Some(format!("/p/{n}")),
                methods: None,
                allow: n % 2 == 0,
                origin: origin.clone(),
            })
            .collect(),
        env: (0..count)
            .map(|n| DeclaredEnvRule {
                name: format!("V{n}*"),
                read: n % 2 == 0,
                header: false,
                origin: origin.clone(),
            })
            .collect(),
        commands: Some(
            (0..count)
                .map(|n| DeclaredCommandRule {
                    program: format!("p{n}"),
                    args: None,
                    envs: Vec::new(),
                    origin: origin.clone(),
                })
                .collect(),
        ),
    };
    let policy = quick("compiling", || {
        Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
            .expect("the rules compile")
    });
    let file = workspace.resolve("d7/e777/f99777/x").expect("it is inside");
    let url = NetTarget::parse("https://h77.example/p/77/x").expect("a URL");
    let tls = Connection {
        host: "h77.example",
        port: 443,
        speaks: SpokenProtocol::Tls,
    };
    quick("deciding", || {
        for _ in 0..1_000 {
            assert!(policy.decide_fs(Capability::Read, &file).is_allowed());
            assert_eq!(policy.decide_net(&url).verdict, Verdict::Deny);
            let hidden = policy.decide_connection(&tls);
            assert!(matches!(hidden.reason, Reason::PathUnderTls));
            assert!(!policy.speaks_of_host("h.example"));
            // `V9999*` and `V99999*` both match; the longer one says no.
            assert_eq!(
                policy.decide_env(EnvUse::Read, "V99999").verdict,
                Verdict::Deny
            );
        }
    });
}

/// A tool decides how often it is refused, so a refusal must not cost the square of the rules.
#[test]
fn a_refusal_with_much_restricted_below_is_cheap() {
    let workspace = workspace(&Tree::default());
    let read = FileCapabilities::just(Capability::Read);
    let mut rules: Vec<DeclaredFsRule> =
        (0..100_000).map(|n| rule(&format!("d{n}"), read)).collect();
    rules.push(rule(".", FileCapabilities::ALL));
    let access = on_files(rules);
    let policy = Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
        .expect("the rules compile");
    let target = FileTarget {
        capability: Capability::Delete,
        path: workspace.resolve(".").expect("it is inside"),
    };
    let refused = quick("a refusal", || {
        policy.permit(target).expect_err("it is refused")
    });
    let suggestion = refused.refusal.suggestion.expect("rules can lift it");
    assert_eq!(suggestion.rules().fs.len(), 100_000);
}

/// One key many times over is one entry, and the last one counts.
#[test]
fn a_hundred_thousand_equal_rules() {
    let names = vec![
        DeclaredEnvRule {
            name: "A*".to_owned(),
            read: false,
            header: false,
            origin: RuleOrigin::named("early"),
        };
        100_000
    ];
    let mut access = on_env(names);
    access.env.push(DeclaredEnvRule {
        read: true,
        origin: RuleOrigin::named("last"),
        ..access.env[0].clone()
    });
    let workspace = workspace(&Tree::default());
    let policy = quick("compiling", || {
        Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
            .expect("the rules compile")
    });
    let decision = policy.decide_env(EnvUse::Read, "AB");
    assert_eq!(
        decision
            .rule
            .map(|rule| rule.origin().to_string())
            .as_deref(),
        Some("last")
    );
}

#[test]
fn long_targets_are_cheap() {
    let rules = [
        (".", FileCapabilities::ALL),
        (".d/.d", FileCapabilities::NONE),
    ];
    let (policy, workspace) = files(&rules, &Guards::of_workspace());
    for path in [
        ".d/".repeat(10_000),
        "x".repeat(1 << 20),
        "ü/".repeat(300_000),
        ".env/".repeat(10_000),
        "a/../".repeat(200_000) + "b",
        "/".repeat(1 << 20),
    ] {
        quick("a long path", || {
            let Ok(resolved) = workspace.resolve(&path) else {
                return;
            };
            for capability in Capability::ALL {
                let target = FileTarget {
                    capability,
                    path: resolved.clone(),
                };
                let _ = policy.permit(target);
            }
        });
    }
    let net = on_net(
        (0..64)
            .map(|depth| DeclaredNetRule {
                host: "h".to_owned(),
                scheme: None,
                port: None,
                path_prefix: Some("/a".repeat(depth) + "/"),
                methods: None,
                allow: depth % 2 == 0,
                origin: RuleOrigin::named("test"),
            })
            .collect(),
    );
    let policy = Policy::compile(&net, DefaultAccess::VFS, &Guards::default(), &workspace)
        .expect("the rules compile");
    let url = format!("http://h{}", "/a".repeat(100_000));
    quick("a long URL", || {
        let target = NetTarget::parse(&url).expect("a URL");
        assert_eq!(policy.decide_net(&target).verdict, Verdict::Deny);
        let _ = policy.permit(target);
    });
    quick("a long name", || {
        policy
            .decide_env(EnvUse::Read, &"A".repeat(1 << 20))
            .verdict
    });
}

/// The paths above a rule are all kept, so a deep rule must not cost the square of its length.
#[test]
fn a_deep_rule_compiles() {
    let workspace = workspace(&Tree::default());
    let deep = "d/".repeat(2_000);
    let access = on_files(vec![
        rule(&deep, FileCapabilities::NONE),
        rule(".", FileCapabilities::ALL),
    ]);
    let policy = quick("a deep rule", || {
        Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)
            .expect("the rules compile")
    });
    let decide = |capability, path: &str| {
        let path = workspace.resolve(path).expect("it is inside");
        policy.decide_fs(capability, &path).verdict
    };
    assert_eq!(decide(Capability::Read, &format!("{deep}x")), Verdict::Deny);
    assert_eq!(
        decide(Capability::Read, &"d/".repeat(1_999)),
        Verdict::Allow
    );
    assert_eq!(
        decide(Capability::Delete, &"d/".repeat(1_999)),
        Verdict::Deny
    );
}

/// Forty links of many components each, one inside the other.
#[test]
fn links_that_multiply_end() {
    let mut tree = Tree::default();
    for number in 0..40 {
        let target = format!("l{}/", number + 1).repeat(200);
        tree.add(Names::of(&format!("l{number}")), Node::Link(target));
    }
    tree.add(Names::of("l40"), Node::Directory);
    let workspace = workspace(&tree);
    quick("links", || assert!(workspace.resolve("l0").is_err()));
    quick("links", || {
        assert!(workspace.resolve(&"l39/".repeat(5_000)).is_err())
    });
}

#[test]
fn a_protected_path_behind_links_is_protected_by_every_name() {
    let mut tree = Tree::default();
    tree.add(Names::of("jig.toml"), Node::Link("conf/link".to_owned()));
    tree.add(Names::of("conf/link"), Node::Link("../real/jig".to_owned()));
    tree.add(Names::of("real/jig"), Node::File);
    tree.add(Names::of("alias"), Node::Link("real".to_owned()));
    let workspace = workspace(&tree);
    let mut guards = Guards::default();
    guards.protect("jig.toml", ProtectionLevel::Never, "configuration");
    let access = on_files(vec![
        rule(".", FileCapabilities::ALL),
        rule("real/jig", FileCapabilities::ALL),
    ]);
    let policy = Policy::compile(&access, DefaultAccess::VFS, &guards, &workspace)
        .expect("the rules compile");
    for (capability, path) in [
        (Capability::Update, "jig.toml"),
        (Capability::Update, "conf/link"),
        (Capability::Delete, "conf/link"),
        (Capability::Update, "alias/jig"),
        (Capability::Create, "real/jig/below"),
        (Capability::Delete, "alias"),
        (Capability::Delete, "real"),
    ] {
        let target = workspace.resolve(path).expect("it is inside");
        let decision = policy.decide_fs(capability, &target);
        assert_eq!(decision.verdict, Verdict::Deny, "{capability} on {path}");
    }
    let target = workspace.resolve("conf").expect("it is inside");
    assert!(policy.decide_fs(Capability::Create, &target).is_allowed());
}
