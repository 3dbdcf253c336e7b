use std::collections::BTreeMap;
use std::io;

use jig_proto::ProjectPath;

use crate::lookup::{Lookup, LookupEntry};
use crate::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards,
    MovedEntry, Planter, Planters, Policy, Reason, ResolvedPath, RuleOrigin, Verdict, Workspace,
};

/// Directories, and links with their targets.
#[derive(Clone, Default)]
struct LinkTree(BTreeMap<&'static str, &'static str>);

impl Lookup for LinkTree {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match self.0.get(path.as_str()) {
            Some(target) => LookupEntry::Link((*target).to_owned()),
            None => LookupEntry::Directory,
        })
    }
}

/// `rwx docs`: capabilities by their first letters (`w` for all of a write), and the path.
fn rules(texts: &[&str]) -> Vec<DeclaredFsRule> {
    let rule = |text: &&str| {
        let (letters, path) = text.split_once(' ').expect("capabilities and a path");
        let capabilities = letters.chars().map(|letter| match letter {
            'r' => Capability::Read.into(),
            'x' => Capability::Execute.into(),
            _ => FileCapabilities::WRITE,
        });
        DeclaredFsRule {
            path: path.to_owned(),
            capabilities: capabilities.fold(FileCapabilities::NONE, FileCapabilities::with),
            origin: RuleOrigin::named((*text).to_owned()),
        }
    };
    texts.iter().map(rule).collect()
}

fn planter(texts: &[&str]) -> Planter {
    Planter {
        name: "the tool `other`".to_owned(),
        rules: rules(texts),
        default: FileCapabilities::ALL,
        sensitive: Vec::new(),
        configures_git: false,
        own: Vec::new(),
    }
}

fn guards(planters: Vec<Planter>) -> Guards {
    Guards {
        planters: Planters::These(planters),
        ..Guards::of_workspace()
    }
}

fn compile(texts: &[&str], links: &[(&'static str, &'static str)], guards: &Guards) -> Policy {
    let access = DeclaredAccess {
        fs: rules(texts),
        ..DeclaredAccess::default()
    };
    let tree = LinkTree(links.iter().copied().collect());
    let workspace = Workspace::new("/ws", tree);
    Policy::compile(&access, DefaultAccess::NOTHING, guards, &workspace).expect("they compile")
}

fn at(path: &str) -> ResolvedPath {
    ResolvedPath::from_handle(ProjectPath::normalize(path).expect("a path"))
}

/// The first letters of what may be done.
fn may(policy: &Policy, path: &str) -> String {
    let allowed = |one: Capability| policy.decide_fs(one, &at(path)).is_allowed();
    let letters = Capability::ALL.into_iter().zip("rcudx".chars());
    letters
        .filter(|(one, _)| allowed(*one))
        .map(|(_, letter)| letter)
        .collect()
}

/// X-67: a rule whose path is a link to something guarded does not name what is guarded.
#[test]
fn a_link_names_nothing_that_is_guarded() {
    let nobody = guards(Vec::new());
    for (target, inside, expected) in [
        (".env", ".env", ""),
        (".ssh", ".ssh/id", ""),
        // What may be read by any rule may be read by this one, too.
        (".vscode", ".vscode/tasks.json", "rx"),
        (".git/config", ".git/config", "rx"),
        (".git/hooks", ".git/hooks/pre-commit", ""),
        ("lib/.git/config", "lib/.git/config", "rx"),
        ("lib/.git", "lib/.git", "rdx"),
        (".mcp.json", ".mcp.json", "rx"),
        ("jig.toml", "jig.toml", "rx"),
    ] {
        let policy = compile(&["rwx docs"], &[("docs", target)], &nobody);
        let found = may(&policy, inside);
        // A repository is never removed whole.
        assert_eq!(
            found.replace('d', ""),
            expected.replace('d', ""),
            "{target}"
        );
        assert_eq!(
            may(&compile(&["rwx docs"], &[], &nobody), "docs/x"),
            "rcudx"
        );
    }
}

#[test]
fn what_is_named_stays_named() {
    let nobody = guards(Vec::new());
    // The rule names it, and a link within it changes nothing about that.
    let policy = compile(&["rw .vscode/a"], &[(".vscode/a", "b")], &nobody);
    assert_eq!(may(&policy, ".vscode/b"), "rcud");
    // A person's own link under a guarded name, as dotfile managers make them.
    let policy = compile(&["rw .claude"], &[(".claude", "settings/claude")], &nobody);
    assert_eq!(may(&policy, "settings/claude/x.json"), "rcud");
    assert_eq!(
        may(
            &compile(&["rw ."], &[(".claude", "settings/claude")], &nobody),
            "settings/claude/x.json"
        ),
        "r"
    );
    // Other tools cannot replace it.
    let others = guards(vec![planter(&["rwx ."])]);
    let policy = compile(&["r .claude"], &[(".claude", "settings/claude")], &others);
    assert_eq!(may(&policy, "settings/claude/x.json"), "r");
}

#[test]
fn a_rule_that_does_not_name_it_takes_nothing_from_one_that_does() {
    let policy = compile(
        &["rw .env", "rwx docs"],
        &[("docs", ".env")],
        &guards(Vec::new()),
    );
    assert_eq!(may(&policy, ".env"), "rcud");
}

#[test]
fn links_of_a_person_are_followed_g_052() {
    // Nobody may write where the link is, or who may gains nothing.
    for planters in [
        vec![],
        vec![planter(&[])],
        vec![planter(&["r ."])],
        vec![planter(&["rwx ."]), planter(&["rwx .", "r lib"])],
        vec![planter(&["rw other"])],
        // A rule with the path of the link itself puts no link there.
        vec![planter(&["w docs"])],
    ] {
        let guards = guards(planters);
        let policy = compile(&["rwx docs"], &[("docs", "packages/docs")], &guards);
        assert_eq!(may(&policy, "packages/docs/x"), "rcudx");
        let policy = compile(&["r docs/en"], &[("docs", "packages/docs")], &guards);
        assert_eq!(may(&policy, "packages/docs/en/x"), "r");
        assert_eq!(may(&policy, "packages/docs/de"), "");
    }
}

/// X-67: whoever may put a link on the way must be allowed at its end what the rule grants.
#[test]
fn a_link_reaches_no_further_than_who_may_have_left_it() {
    let check = |own: &[&str], other: &[&str], expected: &str| {
        let links = [("docs", "private"), ("a/b", "../hop"), ("hop", "private")];
        let guards = guards(vec![planter(other)]);
        let policy = compile(own, &links, &guards);
        assert_eq!(may(&policy, "private/x"), expected, "{own:?} {other:?}");
    };
    check(&["r docs"], &["rwx .", " private"], "");
    check(&["rwx docs"], &["rwx .", "r private"], "rx");
    check(&["rwx docs"], &["rwx .", "w private"], "cud");
    check(&["rwx docs"], &["rwx .", "r private/x/y"], "rx");
    check(&["rwx docs"], &["w ."], "cud");
    check(&["rwx docs"], &["rwx .", "rwx private"], "rcudx");
    // A link in the middle of a chain, and one in a folder that is somebody else's.
    check(&["r a/b"], &["rwx a"], "");
    check(&["r a/b/deep"], &["rwx a"], "");
    check(&["r hop"], &["rwx a"], "r");
    // What somebody may reach by a link themselves counts neither for nor against it.
    check(&["r docs"], &["rwx .", " private", "r hop"], "");
    // A tool gains nothing by links of its own.
    check(&["rw .", "r docs", " private"], &["rwx ."], "");
    check(&["w a", "r a/b"], &["rwx ."], "");
    check(&["rw a", "r a/b"], &["r ."], "");
}

#[test]
fn the_root_is_no_place_to_lead_to() {
    let links = [("a/docs", "..")];
    let policy = compile(&["rwx a/docs"], &links, &guards(vec![planter(&["rwx a"])]));
    assert_eq!(may(&policy, "x"), "");
    assert_eq!(may(&policy, "a/x"), "");
}

#[test]
fn what_is_private_to_one_tool_is_in_nobodys_reach() {
    let policy_of = |guards: Guards| compile(&["rwx docs"], &[("docs", "lib")], &guards);
    let mut more_sensitive = guards(vec![planter(&[])]);
    if let Planters::These(planters) = &mut more_sensitive.planters {
        planters[0].sensitive.push("*.key".to_owned());
    }
    assert_eq!(may(&policy_of(more_sensitive.clone()), "lib/x"), "");
    more_sensitive.sensitive.add("*.key").expect("a pattern");
    assert_eq!(may(&policy_of(more_sensitive), "lib/x"), "rcudx");
    let mut own = guards(vec![planter(&[])]);
    own.own.push(at("lib/tool.py").path().clone());
    assert_eq!(may(&policy_of(own), "lib/x"), "rx");
    let git = guards(vec![planter(&[])]).without_git();
    assert_eq!(may(&policy_of(git), "lib/x"), "rx");
}

/// What a rule withholds it withholds also where a link leads.
#[test]
fn restrictions_follow_every_link() {
    let others = guards(vec![planter(&["rwx .", " private"])]);
    let policy = compile(&["rwx .", "r docs"], &[("docs", "private")], &others);
    assert_eq!(may(&policy, "private/x"), "r");
    let policy = compile(&["rwx .", " docs"], &[("docs", "private")], &others);
    assert_eq!(may(&policy, "private/x"), "");
    let moved = policy.decide_fs(Capability::Delete, &at("private"));
    assert_eq!(moved.verdict, Verdict::Deny);
}

#[test]
fn the_reason_names_the_link_and_the_place() {
    let others = guards(vec![planter(&["rwx .", " private"])]);
    let policy = compile(&["r docs"], &[("docs", "private")], &others);
    let decision = policy.decide_fs(Capability::Read, &at("private/x"));
    assert_eq!(decision.verdict, Verdict::Uncovered);
    assert!(matches!(decision.reason, Reason::NotFollowed(_)));
    assert_eq!(
        decision.why("read"),
        "the rule on it reaches it only by a link: `docs` is a link that leads to `private`, and the tool `other` \
         may replace the link, but may not read everything in `private`"
    );
    let policy = compile(&["r docs"], &[("docs", ".env")], &others);
    let decision = policy.decide_fs(Capability::Read, &at(".env"));
    assert_eq!(
        decision.why("read"),
        "the rule on it reaches it only by a link: `docs` is a link that leads to `.env`, and only a rule with \
         `.env` in its own path covers that"
    );
}

#[test]
fn no_link_is_moved_to_the_path_of_a_rule() {
    let policy = compile(&["rw a", "rw docs"], &[], &guards(Vec::new()));
    let moved = |to: &str, entry| policy.decide_move(&at("a/x"), &at(to), entry).verdict;
    assert_eq!(moved("docs", MovedEntry::Link), Verdict::Deny);
    assert_eq!(moved("docs/x", MovedEntry::Link), Verdict::Allow);
    assert_eq!(moved("docs", MovedEntry::File), Verdict::Allow);
}

/// What a tool is told are canonical paths: the same answers, and no link followed again.
#[test]
fn rules_on_the_wire_say_what_holds() {
    let others = guards(vec![planter(&["rwx .", " private"])]);
    for (own, links) in [
        (&["rw .", "rwx docs"][..], &[("docs", "private")][..]),
        (&["r .", "rwx docs"], &[("docs", ".env")]),
        (&["rw docs"], &[("docs", ".vscode")]),
        (&["rw .env", "r docs"], &[("docs", ".env")]),
    ] {
        let policy = compile(own, links, &others);
        let wire = DeclaredAccess::from(&policy.to_wire());
        assert!(!wire.fs.is_empty(), "an empty list would open everything");
        let canonical = Guards {
            planters: Planters::Anyone,
            ..Guards::of_workspace()
        };
        let tree = LinkTree(links.iter().copied().collect());
        let workspace = Workspace::new("/ws", tree);
        let told = Policy::compile(&wire, DefaultAccess::NOTHING, &canonical, &workspace);
        let told = told.expect("they compile");
        for path in ["private/x", "private", ".env", ".vscode/x", "x", "docs"] {
            assert_eq!(may(&told, path), may(&policy, path), "{own:?} {path}");
        }
    }
}
