//! Random rules and targets from small alphabets, so that they meet often.

use jig_policy::{
    Capability, DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule,
    DeclaredNetRule, DefaultAccess, FileCapabilities, Guards, Planter, Planters, ProtectionLevel,
    RuleOrigin, Workspace,
};
use jig_proto::ProjectPath;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::agrees_with_reference::reference::tree::{Names, Node, ROOT, Tree};

/// Runs a property and insists that it looked at so many targets.
pub(crate) fn check<S: Strategy>(
    cases: u32,
    at_least: usize,
    strategy: S,
    property: impl Fn(S::Value) -> Result<usize, TestCaseError>,
) {
    run(TestRunner::new(config(cases)), at_least, strategy, property);
}

/// The same with inputs that are random but the same in every run: for a mistake that ordinary runs
/// would meet too rarely.
pub(crate) fn check_again<S: Strategy>(
    cases: u32,
    at_least: usize,
    strategy: S,
    property: impl Fn(S::Value) -> Result<usize, TestCaseError>,
) {
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let runner = TestRunner::new_with_rng(config(cases), random);
    run(runner, at_least, strategy, property);
}

fn config(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..Config::default()
    }
}

fn run<S: Strategy>(
    mut runner: TestRunner,
    at_least: usize,
    strategy: S,
    property: impl Fn(S::Value) -> Result<usize, TestCaseError>,
) {
    let seen = std::cell::Cell::new(0);
    let result = runner.run(&strategy, |value| {
        seen.set(seen.get() + property(value)?);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(
        seen.get() >= at_least,
        "only {} targets were compared",
        seen.get()
    );
}

/// Names that collide, look alike or mean something.
fn name() -> impl Strategy<Value = String> {
    let odd = select(vec![
        "a",
        "b",
        "c",
        "A",
        "ab",
        "src",
        "ü",
        "u\u{308}",
        "münchen",
        "*",
        "x y",
        ".env",
        ".env.local",
        ".ssh",
        ".git",
        "hooks",
        "config",
        "modules",
        "worktrees",
        "commondir",
        ".config",
        "gh",
        ".cargo",
        "credentials",
        ".jig",
        ".jp",
        "jig.toml",
        "config.toml",
        "keys",
        "one.key",
        "...",
        ".Git",
        ".vscode",
        ".VſCode. ",
        "node_modules",
        ".hg",
        "HGRC",
        "x.code-workspace",
        "mise",
        "autostart",
    ]);
    // A few names often, so that paths, rules and trees meet.
    let plain = select(vec!["a", "b", "c"]);
    prop_oneof![1 => plain, 2 => odd].prop_map(str::to_owned)
}

/// A few names joined in one of the ways in which people and programs write paths.
pub(crate) fn path() -> impl Strategy<Value = String> {
    let odd = vec(
        prop_oneof![6 => name(), 1 => Just("..".to_owned()), 1 => Just(".".to_owned()),
                    1 => Just(String::new())],
        0..6,
    )
    .prop_map(|names| names.join("/"));
    let prefix = select(vec![
        "", "", "", "", "./", "/ws/", "/ws//", "//ws/", "/ws", "/wsx/", "/", "../", "a/../",
    ]);
    let suffix = select(vec!["", "", "", "/", "//", "/.", "/.."]);
    prop_oneof![
        6 => plain_path(0..4),
        3 => (prefix, odd, suffix).prop_map(|(a, b, c)| format!("{a}{b}{c}")),
        1 => repository_path(),
        1 => (60_usize..68, plain_path(0..4)).prop_map(|(depth, end)| format!("{}{end}", "d/".repeat(depth))),
    ]
}

fn plain_path(names: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(name(), names).prop_map(|names| names.join("/"))
}

/// A repository somewhere, or a part of one that matters to git.
pub(crate) fn repository_path() -> impl Strategy<Value = String> {
    let part = select(vec![
        "",
        "/config",
        "/config.worktree",
        "/commondir/a",
        "/modules/a",
        "/worktrees",
        "/worktrees/a",
        "/worktrees/a/commondir",
        "/worktrees/b/config.worktree/c",
        "/worktrees/a/HEAD",
        "/config.lock",
        "/Config",
        "/.git/config",
        "/HEAD",
    ]);
    (plain_path(0..4), part).prop_map(|(above, part)| format!("{above}/.git{part}"))
}

fn link_target() -> impl Strategy<Value = String> {
    let up = select(vec!["", "", "", "../", "../../", "/ws/", "/etc/", "./"]);
    (
        up,
        vec(prop_oneof![5 => name(), 1 => Just("..".to_owned())], 1..4),
    )
        .prop_map(|(up, names)| format!("{up}{}", names.join("/")))
}

/// Directories, files and links of every kind: chains, loops, dangling, out and back in. Many of
/// the links lead to the place of another entry, from wherever they are.
pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let node = prop_oneof![
        2 => Just(Node::Directory),
        2 => Just(Node::File),
        3 => link_target().prop_map(Node::Link),
    ];
    let to_entry = option::weighted(0.25, (any::<Index>(), any::<bool>()));
    vec((vec(name(), 1..4), node, to_entry), 0..14).prop_map(|entries| {
        let mut tree = Tree::default();
        for (names, node, to_entry) in &entries {
            let node = match to_entry {
                Some((which, absolute)) => {
                    let target = which.get(&entries).0.join("/");
                    Node::Link(if *absolute {
                        format!("{ROOT}/{target}")
                    } else {
                        format!("{}{target}", "../".repeat(names.len() - 1))
                    })
                }
                None => node.clone(),
            };
            tree.add(Names(names.clone()), node);
        }
        tree
    })
}

pub(crate) fn workspace(tree: &Tree) -> Workspace<Tree> {
    Workspace::new(ROOT, tree.clone())
}

pub(crate) fn capabilities() -> impl Strategy<Value = FileCapabilities> {
    prop_oneof![
        Just(FileCapabilities::NONE),
        Just(FileCapabilities::ALL),
        Just(FileCapabilities::WRITE),
        proptest::sample::subsequence(Capability::ALL.to_vec(), 0..=5)
            .prop_map(|some| some.into_iter().collect()),
    ]
}

pub(crate) fn fs_rules(
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<DeclaredFsRule>> {
    fs_rules_on(path(), count)
}

/// Rules on paths of that kind, and on everything.
pub(crate) fn fs_rules_on(
    path: impl Strategy<Value = String>,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<DeclaredFsRule>> {
    let path = prop_oneof![1 => Just(".".to_owned()), 8 => path];
    let rule = (path, capabilities()).prop_map(|(path, capabilities)| DeclaredFsRule {
        path,
        capabilities,
        origin: origin(0),
    });
    vec(rule, count).prop_map(|mut rules| {
        rules
            .iter_mut()
            .zip(1..)
            .for_each(|(rule, line)| rule.origin = origin(line));
        rules
    })
}

pub(crate) fn default_access() -> impl Strategy<Value = DefaultAccess> {
    select(vec![
        DefaultAccess::VFS,
        DefaultAccess::STDIO,
        DefaultAccess::WASM,
        DefaultAccess::NOTHING,
    ])
}

/// The built-in guards or none, with some patterns and protected paths of a user's.
pub(crate) fn guards() -> impl Strategy<Value = Guards> {
    let patterns = select(vec![
        "keys",
        "/keys",
        "*.key",
        "/a/b",
        "a/*.key",
        "**/c",
        "/**/src",
        ".ssh/keys",
        "a/b/c",
        "/*/b",
    ]);
    let protected = (
        select(vec!["a", "a/b", "src/c", ".jig/keys", "ü", "keys"]),
        select(vec![ProtectionLevel::Named, ProtectionLevel::Never]),
    );
    let inputs = (
        any::<bool>(),
        vec(patterns, 0..3),
        vec(protected, 0..2),
        planters(),
    );
    inputs.prop_map(|(of_workspace, patterns, protected, planters)| {
        let mut guards = if of_workspace {
            Guards::of_workspace()
        } else {
            Guards::default()
        };
        for pattern in patterns {
            guards.sensitive.add(pattern).expect("the pattern is valid");
        }
        for (path, level) in protected {
            guards.protect(path, level, "a thing of the test");
        }
        guards.planters = planters;
        guards
    })
}

/// Others who may have left links.
fn planters() -> impl Strategy<Value = Planters> {
    let planter = (
        fs_rules(0..3),
        capabilities(),
        vec(select(vec!["keys", ".env*", "unknown"]), 0..2),
        any::<bool>(),
        vec(select(vec!["a", "a/b", "keys", ".git/config"]), 0..2),
    );
    let planter = planter.prop_map(|(rules, default, sensitive, configures_git, own)| Planter {
        name: "another tool".to_owned(),
        rules,
        default,
        sensitive: sensitive.into_iter().map(str::to_owned).collect(),
        configures_git,
        own: own
            .into_iter()
            .filter_map(|path| ProjectPath::normalize(path).ok())
            .collect(),
    });
    prop_oneof![
        8 => vec(planter, 0..3).prop_map(Planters::These),
        1 => Just(Planters::Anyone),
    ]
}

pub(crate) fn host() -> impl Strategy<Value = String> {
    let spellings = select(vec![
        "example.com",
        "EXAMPLE.com",
        "example.com.",
        "api.example.com",
        "example.com.evil.net",
        "münchen.de",
        "xn--mnchen-3ya.de",
        "MÜNCHEN.de",
        "mu\u{308}nchen.de",
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "[0:0::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "a.b.example.com",
        "sub.localhost",
    ]);
    // One host more often than others, so that rules of equal weight meet on it.
    prop_oneof![1 => Just("example.com"), 1 => spellings].prop_map(str::to_owned)
}

pub(crate) fn url_path() -> impl Strategy<Value = String> {
    let segment = select(vec![
        "admin",
        "users",
        "%61dmin",
        "administration",
        "Admin",
        "",
        "",
        "..",
        ".",
        "%2e%2e",
        "%2E",
        "a%2fb",
        "a%5Cb",
        "a\\b",
        "ü",
        "%C3%BC",
        "%FF",
        "%FE",
        "%25",
        "a%20b",
        "a b",
        "*",
        "a+b",
        "a;b",
        "%",
        "%zz",
        "~x",
        "\"",
        "%00",
    ]);
    prop_oneof![
        4 => vec(select(vec!["admin", "users", "ü"]), 0..4).prop_map(|all| slashed(&all)),
        3 => vec(segment, 0..4).prop_map(|all| slashed(&all)),
        1 => (60_usize..68).prop_map(|count| slashed(&vec!["s"; count])),
    ]
}

fn slashed(segments: &[&str]) -> String {
    segments
        .iter()
        .map(|segment| format!("/{segment}"))
        .collect()
}

pub(crate) fn method() -> impl Strategy<Value = String> {
    let methods = select(vec![
        "GET", "GET", "get", "POST", "DELETE", "PROPFIND", "CONNECT", "*", "a b",
    ]);
    methods.prop_map(str::to_owned)
}

pub(crate) fn url() -> impl Strategy<Value = String> {
    let scheme = select(vec![
        "https", "http", "HTTPS", "ws", "ftp", "ssh", "odd", "file",
    ]);
    let user = select(vec![
        "",
        "",
        "",
        "user@",
        "api.example.com@",
        "example.com:80@",
    ]);
    let port = select(vec![
        "", "", "", ":443", ":80", ":8080", ":22", ":0", ":65535", ":", ":00443",
    ]);
    let end = select(vec!["", "", "?q=/admin", "#/admin", "/", "//"]);
    (scheme, user, host(), port, url_path(), end).prop_map(
        |(scheme, user, host, port, path, end)| format!("{scheme}://{user}{host}{port}{path}{end}"),
    )
}

pub(crate) fn net_rules(
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<DeclaredNetRule>> {
    let host = prop_oneof![
        9 => host(),
        4 => select(vec!["*", "*.example.com", "*.com", "*.EXAMPLE.com.", "*.b.example.com", "*.de"])
            .prop_map(str::to_owned),
        1 => select(vec![
            "::1", "", "exa mple", "a/b", "h:80", "user@h", "**", "*.*", "a.*", "*example.com", "*.0.0.1", "*.::1",
            "*.", ".example.com", "a..b",
        ])
        .prop_map(str::to_owned),
    ];
    let scheme = option::weighted(
        0.3,
        select(vec!["https", "http", "HTTPS", "ssh", "ftp", "odd", "1x"]).prop_map(str::to_owned),
    );
    let port = option::weighted(0.4, select(vec![443, 443, 443, 80, 8080, 22, 0, 65535]));
    let rule = (
        host,
        scheme,
        port,
        option::weighted(0.4, url_path()),
        option::weighted(0.4, vec(method(), 0..3)),
        any::<bool>(),
    )
        .prop_map(
            |(host, scheme, port, path_prefix, methods, allow)| DeclaredNetRule {
                host,
                scheme,
                port,
                path_prefix,
                methods,
                allow,
                origin: origin(0),
            },
        );
    vec(rule, count).prop_map(|mut rules| {
        rules
            .iter_mut()
            .zip(1..)
            .for_each(|(rule, line)| rule.origin = origin(line));
        rules
    })
}

/// Variables, short and longer than any small table would tell apart.
pub(crate) fn variable() -> impl Strategy<Value = String> {
    let short =
        vec(select(vec!["A", "B", "_", "AWS_", "ü", "a"]), 0..5).prop_map(|all| all.concat());
    let long = (60_usize..70, select(vec!["", "A", "B"]))
        .prop_map(|(count, end)| format!("{}{end}", "L".repeat(count)));
    let loading = (
        select(vec![
            "LD_", "GIT_", "PYTHON", "NODE_", "ENV", "git_", "GITA",
        ]),
        select(vec!["", "A", "OPTIONS", "PATH", "_"]),
    )
        .prop_map(|(start, end)| format!("{start}{end}"));
    prop_oneof![4 => short, 1 => long, 2 => loading]
}

pub(crate) fn env_rules(
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<DeclaredEnvRule>> {
    let star = select(vec!["", "*"]);
    let rule =
        (variable(), star, any::<bool>(), any::<bool>()).prop_map(|(name, star, read, header)| {
            DeclaredEnvRule {
                name: format!("{name}{star}"),
                read,
                header,
                origin: origin(0),
            }
        });
    vec(rule, count).prop_map(|mut rules| {
        rules.retain(|rule| !rule.name.is_empty());
        rules
            .iter_mut()
            .zip(1..)
            .for_each(|(rule, line)| rule.origin = origin(line));
        rules
    })
}

/// A name on the search path, or a file of the workspace.
pub(crate) fn program() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => select(vec!["git", "Git", "cargo", "a", "é"]).prop_map(str::to_owned),
        1 => path().prop_map(|path| format!("./{}", path.trim_start_matches('/'))),
    ]
}

pub(crate) fn arguments() -> impl Strategy<Value = Vec<String>> {
    vec(
        select(vec!["log", "-p", "**", "", "a b"]).prop_map(str::to_owned),
        0..4,
    )
}

pub(crate) fn command_rules() -> impl Strategy<Value = Option<Vec<DeclaredCommandRule>>> {
    let list = (
        vec(select(vec!["log", "-p", "", "a b"]), 0..3),
        any::<bool>(),
    )
        .prop_map(|(mut list, open)| {
            list.extend(open.then_some("**"));
            list.into_iter().map(str::to_owned).collect()
        });
    let rule = (program(), option::weighted(0.8, vec(list, 0..3))).prop_map(|(program, args)| {
        DeclaredCommandRule {
            program,
            args,
            envs: vec!["TOKEN".to_owned()],
            origin: origin(0),
        }
    });
    option::weighted(
        0.9,
        vec(rule, 0..5).prop_map(|mut rules| {
            rules
                .iter_mut()
                .zip(1..)
                .for_each(|(rule, line)| rule.origin = origin(line));
            rules
        }),
    )
}

/// Access with rules on files only; the other resources likewise.
pub(crate) fn on_files(fs: Vec<DeclaredFsRule>) -> DeclaredAccess {
    DeclaredAccess {
        fs,
        ..DeclaredAccess::default()
    }
}

pub(crate) fn on_net(net: Vec<DeclaredNetRule>) -> DeclaredAccess {
    DeclaredAccess {
        net,
        ..DeclaredAccess::default()
    }
}

pub(crate) fn on_env(env: Vec<DeclaredEnvRule>) -> DeclaredAccess {
    DeclaredAccess {
        env,
        ..DeclaredAccess::default()
    }
}

fn origin(line: u32) -> RuleOrigin {
    RuleOrigin::line("rules", line)
}
