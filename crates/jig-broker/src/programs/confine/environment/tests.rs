use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jig_policy::{
    DeclaredAccess, DeclaredEnvRule, DefaultAccess, Guards, Policy, RuleOrigin, Workspace,
};
use jig_sandbox::{ProgramEnvironment, Rights, RuleSource};

use super::super::host_files;
use super::super::shown_paths::ShownRules;
use super::super::testing::TestTree;
use super::{EnvironmentSources, environment};
use crate::HostEnv;

fn made(
    variables: &[(&str, &str)],
    rules: &[(&str, bool)],
    path: &[&str],
) -> (TestTree, ProgramEnvironment) {
    let tree = TestTree::new(&[
        "sys/bin/",
        "hidden/bin/",
        "ws/bin/",
        "own/bin/",
        "link -> sys/bin",
        "sys/alias -> bin",
    ]);
    let root = tree.root();
    let workspace = camino::Utf8PathBuf::from_path_buf(root.join("ws")).unwrap();
    let access = DeclaredAccess {
        env: rules
            .iter()
            .map(|(name, read)| DeclaredEnvRule {
                name: (*name).to_owned(),
                read: *read,
                header: true,
                origin: RuleOrigin::named("a test"),
            })
            .collect(),
        ..DeclaredAccess::default()
    };
    let workspace = Workspace::on_disk(workspace).unwrap();
    let guards = Guards::default();
    let policy = Policy::compile(&access, DefaultAccess::STDIO, &guards, &workspace).unwrap();
    let mut shown = ShownRules::default();
    let program = Rights::READ.with(Rights::EXECUTE);
    shown.add(root.join("sys"), program, RuleSource::System);
    shown.add(root.join("ws"), Rights::ALL, RuleSource::Declared);
    let entries = path.iter().map(|entry| match entry.strip_prefix("rel:") {
        Some(relative) => PathBuf::from(relative),
        None => root.join(entry),
    });
    let host_path = std::env::join_paths(entries).unwrap();
    let variables: HostEnv = variables.iter().copied().collect();
    let sources = EnvironmentSources {
        policy: &policy,
        variables: &variables,
        home: Path::new("/home/jig"),
        root: &root.join("ws"),
        search_path: &host_files::search_path(&host_path),
    };
    let first = vec![root.join("sys/bin"), root.join("own/bin")];
    let presets = vec![("CARGO_HOME", OsString::from("/home/jig/.cargo"))];
    let env = environment(&sources, &shown, first, &[], presets);
    (tree, env)
}

fn value<'a>(env: &'a ProgramEnvironment, name: &str) -> Option<&'a str> {
    env.get(&OsString::from(name))
        .map(|value| value.to_str().unwrap())
}

#[test]
fn the_search_path_has_only_what_can_be_seen_and_nothing_of_the_workspace() {
    let path = [
        "hidden/bin",
        "ws/bin",
        "sys/alias",
        "missing",
        "rel:bin",
        "link",
        "sys/bin",
    ];
    let (tree, env) = made(&[], &[], &path);
    let expected = ["own/bin", "sys/alias", "sys/bin"].map(|entry| tree.root().join(entry));
    let expected = std::env::join_paths(expected).unwrap();
    assert_eq!(env.get(&OsString::from("PATH")), Some(&expected));
}

#[test]
fn g090_the_hosts_variables_come_by_rules_alone() {
    let host = [
        ("TOKEN", "a"),
        ("AWS_REGION", "b"),
        ("AWS_SECRET", "c"),
        ("OTHER", "d"),
        ("HEADER", "e"),
        ("NUL", "a\0b"),
        ("TMPDIR", "/hidden"),
    ];
    let rules = [
        ("TOKEN", true),
        ("AWS_*", true),
        ("AWS_SECRET", false),
        ("HEADER", false),
        ("NUL", true),
    ];
    let (_tree, env) = made(&host, &rules, &[]);
    assert_eq!(value(&env, "TOKEN"), Some("a"));
    assert_eq!(value(&env, "AWS_REGION"), Some("b"));
    for absent in ["AWS_SECRET", "OTHER", "HEADER", "NUL", "TMPDIR"] {
        assert_eq!(value(&env, absent), None, "{absent}");
    }
    assert_eq!(value(&env, "HOME"), Some("/home/jig"));
    assert_eq!(value(&env, "CARGO_HOME"), Some("/home/jig/.cargo"));
}

#[test]
fn a_broad_rule_gives_neither_loaders_nor_what_the_sandbox_sets() {
    let host = [
        ("LD_PRELOAD", "/evil.so"),
        ("PYTHONPATH", "/evil"),
        ("BASH_ENV", "/evil"),
        ("GIT_SSH_COMMAND", "evil"),
        ("HOME", "/root"),
        ("PATH", "/evil"),
        ("CARGO_HOME", "/root/.cargo"),
        ("PLAIN", "fine"),
    ];
    let (_tree, env) = made(&host, &[("*", true)], &[]);
    for name in ["LD_PRELOAD", "PYTHONPATH", "BASH_ENV", "GIT_SSH_COMMAND"] {
        assert_eq!(value(&env, name), None, "{name}");
    }
    assert_eq!(value(&env, "HOME"), Some("/home/jig"));
    assert_eq!(value(&env, "CARGO_HOME"), Some("/home/jig/.cargo"));
    assert_eq!(value(&env, "PLAIN"), Some("fine"));
    // Whoever names one means it.
    let (_tree, env) = made(&host, &[("PYTHONPATH", true), ("HOME", true)], &[]);
    assert_eq!(value(&env, "PYTHONPATH"), Some("/evil"));
    assert_eq!(value(&env, "HOME"), Some("/root"));
}
