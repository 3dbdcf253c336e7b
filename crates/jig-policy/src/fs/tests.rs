use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jig_proto::ProjectPath;

use crate::lookup::{Lookup, LookupEntry};
use crate::{
    Capability, Decision, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards,
    MoveTarget, MovedEntry, Policy, ProtectionLevel, Reason, ResolvedPath, RuleErrors, RuleOrigin,
    Sensitive, Verdict, Workspace,
};

/// An empty workspace, but for the links `linked -> real` and `out -> /etc`.
#[derive(Clone)]
struct Links;

impl Lookup for Links {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match path.as_str() {
            "real" => LookupEntry::Directory,
            "linked" => LookupEntry::Link("real".to_owned()),
            "out" => LookupEntry::Link("/etc".to_owned()),
            _ => LookupEntry::Missing,
        })
    }
}

fn workspace() -> Workspace<Links> {
    Workspace::new("/ws", Links)
}

fn at(path: &str) -> ResolvedPath {
    workspace().resolve(path).expect("it is inside")
}

/// `rcudx` in any selection.
fn capabilities(letters: &str) -> FileCapabilities {
    let all = Capability::ALL.into_iter().zip("rcudx".chars());
    all.filter(|(_, letter)| letters.contains(*letter))
        .map(|(capability, _)| capability)
        .collect()
}

/// `rw path` rules: the letters of the capabilities (`w` is `cud`), then the path.
fn try_compile(
    rules: &[&str],
    default: DefaultAccess,
    guards: &Guards,
) -> Result<Policy, RuleErrors> {
    let fs = rules.iter().map(|text| {
        let (letters, path) = text.split_once(' ').expect("letters and a path");
        DeclaredFsRule {
            path: path.to_owned(),
            capabilities: capabilities(&letters.replace('w', "cud")),
            origin: RuleOrigin::named(*text),
        }
    });
    let access = DeclaredAccess {
        fs: fs.collect(),
        ..DeclaredAccess::default()
    };
    Policy::compile(&access, default, guards, &workspace())
}

fn policy(rules: &[&str]) -> Policy {
    guarded(rules, &Guards::default())
}

fn guarded(rules: &[&str], guards: &Guards) -> Policy {
    try_compile(rules, DefaultAccess::NOTHING, guards).expect("the rules compile")
}

/// Checks what is allowed on each path, in letters, and that it is the expected rule's doing.
#[track_caller]
fn check(policy: &Policy, cases: &[(&str, &str)]) {
    for (path, expected) in cases {
        let path = at(path);
        let allowed: String = "rcudx"
            .chars()
            .zip(Capability::ALL)
            .filter(|(_, capability)| policy.decide_fs(*capability, &path).is_allowed())
            .map(|(letter, _)| letter)
            .collect();
        assert_eq!(allowed, expected.replace('w', "cud"), "{}", path.path());
    }
}

fn origin(decision: &Decision<'_>) -> Option<String> {
    decision.rule.map(|rule| rule.origin().to_string())
}

/// G-039: of three rules the one with the most components counts.
#[test]
fn worked_example_g_040() {
    let policy = policy(&["rw .", "r src", "rw src/generated"]);
    check(
        &policy,
        &[
            ("README.md", "rw"),
            ("src/lib.rs", "r"),
            ("src", "r"),
            ("src/generated/schema.rs", "rw"),
            ("tests/main.rs", "rw"),
        ],
    );
    // A rule that matches and does not grant is a denial, by that rule (G-020).
    let decision = policy.decide_fs(Capability::Update, &at("src/lib.rs"));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert_eq!(origin(&decision).as_deref(), Some("r src"));
}

#[test]
fn prefixes_by_components_g_030_g_032() {
    check(
        &policy(&["r src"]),
        &[
            ("src", "r"),
            ("src/a/b/c", "r"),
            ("src_generated/foo.rs", ""),
            ("sr", ""),
            ("a/src", ""),
            (".", ""),
        ],
    );
    check(&policy(&["r ."]), &[(".", "r"), ("x/y", "r")]);
}

/// X-54: only sensitive paths are patterns.
#[test]
fn rule_paths_are_literal_g_031() {
    check(
        &policy(&["r *", "r a/?"]),
        &[
            ("*", "r"),
            ("*/x", "r"),
            ("x", ""),
            ("a/?", "r"),
            ("a/b", ""),
        ],
    );
}

#[test]
fn a_rule_without_capabilities_denies_g_033_g_035() {
    let policy = policy(&["rwx .", " secret"]);
    check(
        &policy,
        &[("secret", ""), ("secret/x", ""), ("secrets", "rwx")],
    );
    let decision = policy.decide_fs(Capability::Read, &at("secret"));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(matches!(decision.reason, Reason::Withheld));
}

#[test]
fn the_last_of_equal_rules_g_021() {
    check(&policy(&["r a", "w a"]), &[("a/x", "w")]);
    check(&policy(&["w a", "r ./a/"]), &[("a/x", "r")]);
    let linked = policy(&["w linked", "r real"]);
    check(&linked, &[("linked/x", "r"), ("real/x", "r")]);
}

#[test]
fn no_rule_is_uncovered_g_041() {
    let decision = policy(&["r a"]);
    let decision = decision.decide_fs(Capability::Read, &at("b"));
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::NoRule) && decision.rule.is_none());
}

#[test]
fn the_default_withholds_without_denying_x_10() {
    let vfs = try_compile(&[], DefaultAccess::VFS, &Guards::default()).expect("no rules");
    check(&vfs, &[("a", "r"), (".env", "")]);
    let decision = vfs.decide_fs(Capability::Update, &at("a"));
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::DefaultWithholds(_)));
    // One rule, and the default is gone.
    let one = try_compile(&["w a"], DefaultAccess::STDIO, &Guards::default()).expect("it compiles");
    check(&one, &[("a", "w"), ("b", "")]);
}

#[test]
fn rules_are_resolved_like_targets_g_050_g_052() {
    check(
        &policy(&["r linked"]),
        &[("real/x", "r"), ("linked/x", "r")],
    );
    check(&policy(&["r /ws/a/../b"]), &[("b/x", "r"), ("a", "")]);
}

#[test]
fn rules_that_leave_fail_and_all_are_named_g_051() {
    let rules = ["r ../x", "r fine", "r /etc", "r out", "r out/passwd"];
    let errors = try_compile(&rules, DefaultAccess::VFS, &Guards::default());
    let errors = errors.expect_err("they leave the workspace");
    let indexes: Vec<usize> = errors.0.iter().map(|error| error.index).collect();
    assert_eq!(indexes, [0, 2, 3, 4]);
    let text = errors.to_string();
    assert!(
        text.contains("r ../x: path escapes the workspace: ../x"),
        "{text}"
    );
    assert!(
        text.contains("r /etc: path is outside the workspace: /etc"),
        "{text}"
    );
}

#[test]
fn sensitive_paths_need_a_rule_that_names_them_x_66() {
    let broad = policy(&["rwx ."]);
    check(
        &broad,
        &[
            (".env", ""),
            ("a/.env.local", ""),
            (".git/hooks/x", ""),
            (".git/config", "rwx"),
        ],
    );
    let decision = broad.decide_fs(Capability::Read, &at(".env"));
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::Sensitive(".env*")));
    // By the exact name, and by one below it.
    let named = policy(&["rwx .", "r .env", "r .ssh/known_hosts"]);
    check(
        &named,
        &[
            (".env", "r"),
            ("a/.env", ""),
            (".ssh/known_hosts", "r"),
            (".ssh/id", ""),
            (".ssh", ""),
        ],
    );
    // A rule just above does not name it.
    check(&policy(&["rwx a"]), &[("a/.env", ""), ("a/x", "rwx")]);
    // A rule that denies says so itself.
    let denied = policy(&["rwx .", " .env"]);
    let denied = denied.decide_fs(Capability::Read, &at(".env"));
    assert_eq!(denied.verdict, Verdict::Deny);
}

#[test]
fn patterns_of_a_user_x_66() {
    let mut guards = Guards::default();
    guards.sensitive.add("*.pem").expect("a pattern");
    let policy = guarded(&["rwx .", "r keys/a.pem"], &guards);
    check(
        &policy,
        &[
            ("x.pem", ""),
            ("keys/a.pem", "r"),
            ("keys/b.pem", ""),
            ("pem", "rwx"),
        ],
    );
}

#[test]
fn parents_of_restricted_paths_stay_x_65() {
    let restricted = ["rw .", "r a/b/c"];
    let twin = ["rw ."];
    for path in [".", "a", "a/b"] {
        let with = policy(&restricted);
        let decision = with.decide_fs(Capability::Delete, &at(path));
        assert_eq!(decision.verdict, Verdict::Deny, "{path}");
        assert_eq!(origin(&decision).as_deref(), Some("r a/b/c"));
        assert!(matches!(decision.reason, Reason::RestrictedBelow));
        let without = policy(&twin);
        assert!(
            without
                .decide_fs(Capability::Delete, &at(path))
                .is_allowed(),
            "{path}"
        );
    }
    check(
        &policy(&restricted),
        &[("a/x", "rw"), ("a/b", "rcu"), ("ab", "rw")],
    );
    // A later rule that gives delete back lifts it.
    check(&policy(&["rw .", "r a/b", "rw a/b"]), &[("a", "rw")]);
}

fn moved(policy: &Policy, from: &str, to: &str, directory: bool) -> Verdict {
    policy
        .decide_move(&at(from), &at(to), entry(directory))
        .verdict
}

fn entry(directory: bool) -> MovedEntry {
    match directory {
        true => MovedEntry::Directory,
        false => MovedEntry::File,
    }
}

#[test]
fn moves_g_038_x_50_x_65() {
    let plain = policy(&[
        "rw .",
        "r only-read",
        "c only-create",
        "u only-update",
        "d only-delete",
    ]);
    let check = |from: &str, to: &str, expected| {
        assert_eq!(moved(&plain, from, to, false), expected, "{from} to {to}");
    };
    check("x", "y", Verdict::Allow);
    check("only-read/x", "y", Verdict::Deny);
    check("x", "only-read/y", Verdict::Deny);
    check("only-delete/x", "only-create/y", Verdict::Allow);
    check("only-update/x", "y", Verdict::Deny);
    // Where something stands, the destination is updated.
    check("x", "only-update/y", Verdict::Deny);
    let onto = ResolvedPath::from_handle(ProjectPath::normalize("only-update/y").expect("a path"));
    assert!(
        plain
            .decide_move(&at("x"), &onto, MovedEntry::File)
            .is_allowed()
    );
}

#[test]
fn moving_a_directory_over_what_is_restricted_x_65() {
    let restricted = policy(&["rw .", "r a/b"]);
    let twin = policy(&["rw ."]);
    for (from, to) in [("a", "x"), ("x", "a")] {
        assert_eq!(
            moved(&restricted, from, to, true),
            Verdict::Deny,
            "{from} to {to}"
        );
        assert_eq!(
            moved(&twin, from, to, true),
            Verdict::Allow,
            "{from} to {to}"
        );
    }
    // A file has nothing below it, so it may take the name.
    assert_eq!(moved(&restricted, "x", "a", false), Verdict::Allow);
    assert_eq!(moved(&restricted, "x", "a/c", true), Verdict::Allow);
}

#[test]
fn git_is_not_moved_out_of_sight_x_66() {
    let broad = policy(&["rw ."]);
    for (from, to) in [
        (".git", "x"),
        ("x", ".git"),
        ("sub/.git", "x"),
        (".config", "x"),
    ] {
        assert_eq!(
            moved(&broad, from, to, true),
            Verdict::Uncovered,
            "{from} to {to}"
        );
    }
    let named = policy(&["rw .", "rw .git/hooks"]);
    assert_eq!(moved(&named, ".git", "x", true), Verdict::Allow);
    assert_eq!(moved(&named, "x", ".git", true), Verdict::Allow);
    // What is denied there is denied for the whole.
    let denied = policy(&["rw .", "r .git/hooks"]);
    assert_eq!(moved(&denied, ".git", "x", true), Verdict::Deny);
}

#[test]
fn protected_paths() {
    let guards = Guards::of_workspace();
    let broad = guarded(&["rwx ."], &guards);
    check(
        &broad,
        &[
            ("jig.toml", "rx"),
            (".jig/x", "rx"),
            (".jig", "rx"),
            (".jig/config.toml", "rx"),
        ],
    );
    let verdict =
        |policy: &Policy, path: &str| policy.decide_fs(Capability::Update, &at(path)).verdict;
    assert_eq!(verdict(&broad, "jig.toml"), Verdict::Deny);
    assert_eq!(verdict(&broad, ".jig/x"), Verdict::Uncovered);
    // Named, the folder opens; the configuration in it never does.
    let named = guarded(
        &["rwx .", "rwx .jig", "rwx jig.toml", "rwx .jig/config.toml"],
        &guards,
    );
    check(
        &named,
        &[
            (".jig/x", "rwx"),
            (".jig/config.toml", "rx"),
            ("jig.toml", "rx"),
            (".jig", "rcux"),
        ],
    );
    assert_eq!(verdict(&named, ".jig/config.toml/below"), Verdict::Deny);
    // The workspace itself cannot be removed with them in it.
    let root = named.decide_fs(Capability::Delete, &at("."));
    assert!(matches!(root.reason, Reason::ProtectedBelow(_)));
}

#[test]
fn of_two_protections_the_stronger_holds() {
    for levels in [
        [ProtectionLevel::Named, ProtectionLevel::Never],
        [ProtectionLevel::Never, ProtectionLevel::Named],
    ] {
        let mut guards = Guards::default();
        for level in levels {
            guards.protect("a", level, "a thing");
        }
        let policy = guarded(&["rwx a"], &guards);
        check(&policy, &[("a", "rx"), ("a/b", "rx")]);
    }
}

/// The deepest of several folders that need to be named has to be.
#[test]
fn of_nested_protections_each_must_be_named() {
    let mut guards = Guards::default();
    for path in ["a", "a/b"] {
        guards.protect(path, ProtectionLevel::Named, "a thing");
    }
    let outer = guarded(&["rwx a"], &guards);
    check(&outer, &[("a/x", "rwx"), ("a/b", "rx"), ("a/b/x", "rx")]);
    let inner = guarded(&["rwx a/b"], &guards);
    check(&inner, &[("a/b/x", "rwx")]);
}

/// Approval is for what nothing speaks of, so a denied part of a request comes first.
#[test]
fn a_denial_is_not_hidden_by_what_is_uncovered() {
    let policy = guarded(&["rw .", " locked"], &Guards::of_workspace());
    for (from, to) in [
        (".env", "locked/x"),
        ("locked/x", ".env"),
        (".env", "jig.toml"),
    ] {
        let target = MoveTarget {
            from: at(from),
            to: at(to),
            entry: MovedEntry::File,
        };
        let refused = policy.permit(target).expect_err("it is refused");
        assert!(refused.approve().is_err(), "{from} to {to}");
    }
    let target = MoveTarget {
        from: at(".env"),
        to: at("x"),
        entry: MovedEntry::File,
    };
    let refused = policy.permit(target).expect_err("it is refused");
    assert!(refused.approve().is_ok(), "nothing denies this one");
    assert_eq!(
        policy.decide_fs(Capability::Delete, &at(".jig")).verdict,
        Verdict::Deny
    );
}

#[test]
fn deep_paths_beyond_what_the_filter_tells_apart() {
    let deep = |count: usize| "d/".repeat(count);
    let rules: Vec<String> = (60..70)
        .map(|count| format!("{} {}", if count % 2 == 0 { "r" } else { "w" }, deep(count)))
        .collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let policy = policy(&rules);
    for count in 60..70 {
        let path = format!("{}x", deep(count));
        check(&policy, &[(&path, if count % 2 == 0 { "r" } else { "w" })]);
    }
}

#[test]
fn what_is_granted_on_a_path_holds_whatever_is_declared_below() {
    let policy = guarded(&["rw .", "r src", "rwx src/out"], &Guards::of_workspace());
    let check = |path: &str, letters: &str| {
        let path = at(path);
        let expected = capabilities(&letters.replace('w', "cud"));
        assert_eq!(policy.granted(path.path()), expected, "{path:?}");
    };
    check("a", "rw");
    check("src/x", "r");
    check("src/out", "rwx");
    // Moving it would take something restricted along, but changing what is in it would not.
    check(".", "rw");
    check(".git", "r");
    check(".env", "");
    check("jig.toml", "r");
    assert!(!policy.decide_fs(Capability::Delete, &at(".")).is_allowed());
    assert!(policy.sensitive().find(at(".env").path()).is_some());
    let config = |path: &str| {
        policy
            .protected()
            .iter()
            .any(|guard| guard.path.as_str() == path)
    };
    assert!(config("jig.toml") && config(".jig"));
}

#[test]
fn the_configuration_of_git_is_protected_in_every_repository() {
    let guards = Guards::of_workspace();
    let check = |rules: &[&str], path: &str, letters: &str| {
        let expected = capabilities(&letters.replace('w', "cud"));
        let granted = guarded(rules, &guards).granted(at(path).path());
        assert_eq!(granted, expected, "{rules:?} {path}");
        let lifted = guarded(rules, &guards.clone().without_git());
        if path.contains(".git/") && !path.contains("hooks") {
            assert_eq!(
                lifted.granted(at(path).path()),
                capabilities("rcud"),
                "{path}"
            );
        }
    };
    for part in [
        "config",
        "config.worktree",
        "commondir",
        "modules",
        "modules/a/config",
    ] {
        check(&["rw ."], &format!("vendor/lib/.git/{part}"), "r");
        check(&["rw ."], &format!("a/.git/modules/b/.git/{part}"), "r");
    }
    check(&["rw ."], "vendor/lib/.git/HEAD", "rw");
    check(&["rw ."], "vendor/lib/.git/description", "rw");
    check(&["rw ."], "vendor/git/config", "rw");
    check(&["rw ."], "vendor/lib/.git/hooks/x", "");
    // A rule that names it counts, one on the repository as a whole does not.
    check(&["rw .", "rw vendor/lib"], "vendor/lib/.git/config", "r");
    check(
        &["rw .", "rw vendor/lib/.git"],
        "vendor/lib/.git/config",
        "r",
    );
    check(
        &["rw .", "rw vendor/lib/.git/config"],
        "vendor/lib/.git/config",
        "rw",
    );
}

#[test]
fn a_repository_stays_where_it_is_and_its_folder_need_not_x_65() {
    let check = |guards: &Guards, rules: &[&str], operation: &str, expected: &str| {
        let policy = guarded(rules, guards);
        let words: Vec<&str> = operation.split(' ').collect();
        let decision = match words.as_slice() {
            ["create", path] => policy.decide_fs(Capability::Create, &at(path)),
            ["update", path] => policy.decide_fs(Capability::Update, &at(path)),
            ["delete", path] => policy.decide_fs(Capability::Delete, &at(path)),
            ["move", from, to] => policy.decide_move(&at(from), &at(to), MovedEntry::Directory),
            ["move-file", from, to] => policy.decide_move(&at(from), &at(to), MovedEntry::File),
            other => panic!("no operation: {other:?}"),
        };
        let found = format!("{:?} {}", decision.verdict, decision.why("change"));
        assert!(
            found.starts_with(expected),
            "{rules:?} {operation}: {found}"
        );
    };
    let guards = Guards::of_workspace();
    let broad: &[&str] = &["rw ."];
    let takes = "Deny it would take `.git/config` along";
    let belongs = "Uncovered it belongs to the configuration of git";
    check(&guards, broad, "delete vendor/lib/.git", takes);
    check(&guards, broad, "move vendor/lib/.git old", takes);
    check(&guards, broad, "move forged vendor/lib/.git", takes);
    let worktree = "Deny it would take `.git/worktrees/*/config*` along";
    check(&guards, broad, "move vendor/.git/worktrees/a x", worktree);
    check(&guards, broad, "move x vendor/.git/worktrees/a", worktree);
    check(&guards, broad, "move-file forged vendor/lib/.git", belongs);
    check(&guards, broad, "create vendor/lib/.git", belongs);
    check(&guards, broad, "update vendor/lib/.git", belongs);
    check(&guards, broad, "create vendor/lib/.git/HEAD", "Allow");
    check(&guards, broad, "move vendor/lib vendor/other", "Allow");
    check(&guards, broad, "delete vendor/lib", "Allow");
    let named: &[&str] = &["rw .", "rw vendor/lib/.git"];
    check(&guards, named, "create vendor/lib/.git", "Allow");
    check(&guards, named, "delete vendor/lib/.git", takes);
    let lifted = guards.without_git();
    check(&lifted, broad, "create vendor/lib/.git", "Allow");
    check(&lifted, broad, "update vendor/lib/.git", "Allow");
    // The hooks stay what they are.
    let hooks = "Uncovered it would take a sensitive path along (`.git/hooks`)";
    check(&lifted, broad, "move vendor/lib/.git old", hooks);
}

/// Reading is decided without them, and every change as if they had been looked for at once.
#[test]
fn protected_paths_are_looked_for_when_a_change_is_judged() {
    let declared = |letters: &str, path: &str| DeclaredFsRule {
        path: path.to_owned(),
        capabilities: capabilities(letters),
        origin: RuleOrigin::named("test"),
    };
    let access = DeclaredAccess {
        fs: vec![
            declared("rcud", "."),
            declared("r", "src"),
            declared("rcud", "jig.toml"),
        ],
        ..DeclaredAccess::default()
    };
    // Both names of what a link leads to are protected.
    let guards = || {
        let mut guards = Guards::of_workspace();
        guards.protect("linked/x", ProtectionLevel::Never, "a thing");
        guards
    };
    let eager = Policy::compile(&access, DefaultAccess::NOTHING, &guards(), &workspace());
    let eager = eager.expect("the rules are right");
    let paths = [
        "a",
        "src/x",
        ".git/config",
        ".git",
        "lib/.git/config",
        "lib/.git",
        ".jig",
        ".env",
        "jig.toml",
        "real/x",
        "real",
        ".",
    ];
    for capability in Capability::ALL {
        for path in paths {
            let looked = Arc::new(AtomicBool::new(false));
            let lazily = {
                let looked = Arc::clone(&looked);
                move || {
                    looked.store(true, Ordering::SeqCst);
                    guards()
                }
            };
            let sensitive = Sensitive::default();
            let none = DefaultAccess::NOTHING;
            let lazy = Policy::compile_lazily(&access, none, sensitive, lazily, &workspace());
            let lazy = lazy.expect("the rules are right");
            let (told, wanted) = (
                lazy.decide_fs(capability, &at(path)),
                eager.decide_fs(capability, &at(path)),
            );
            assert_eq!(
                format!("{told:?}"),
                format!("{wanted:?}"),
                "{capability:?} {path}"
            );
            let changes = FileCapabilities::WRITE.has(capability);
            assert_eq!(
                looked.load(Ordering::SeqCst),
                changes,
                "{capability:?} {path}"
            );
        }
    }
}
