use std::io;

use jig_proto::ProjectPath;

use crate::lookup::{Lookup, LookupEntry};
use crate::{
    Capability, CommandProgram, CommandTarget, DeclaredAccess, DeclaredCommandRule,
    DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule, DefaultAccess, EnvTarget, EnvUse,
    FileCapabilities, FileTarget, Guards, NetTarget, Policy, RuleOrigin, Target, Workspace,
};

struct Empty;

impl Lookup for Empty {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}

fn workspace() -> Workspace<Empty> {
    Workspace::new("/ws", Empty)
}

fn origin() -> RuleOrigin {
    RuleOrigin::named("test")
}

fn fs(rules: &[(&str, FileCapabilities)]) -> DeclaredAccess {
    let rules = rules.iter().map(|(path, capabilities)| DeclaredFsRule {
        path: (*path).to_owned(),
        capabilities: *capabilities,
        origin: origin(),
    });
    DeclaredAccess {
        fs: rules.collect(),
        ..DeclaredAccess::default()
    }
}

fn file(capability: Capability, path: &str) -> FileTarget {
    FileTarget {
        capability,
        path: workspace().resolve(path).expect("it is inside"),
    }
}

/// The suggestion's TOML for the tool `t`, without blank lines; empty if there is none.
fn suggested<T: Target>(access: &DeclaredAccess, default: DefaultAccess, target: &T) -> String {
    let guards = Guards::of_workspace();
    let policy = Policy::compile(access, default, &guards, &workspace()).expect("it compiles");
    let Some(suggestion) = target.suggestion(&policy) else {
        return String::new();
    };
    let wider = suggestion.applied_to(access);
    let wider = Policy::compile(&wider, default, &guards, &workspace()).expect("it compiles");
    assert!(
        target.decide(&wider).is_allowed(),
        "{target}: {suggestion:?}"
    );
    suggestion.to_toml("t").replace("\n\n", "\n")
}

const READ: FileCapabilities = FileCapabilities::just(Capability::Read);

#[test]
fn the_path_is_named_with_what_it_had() {
    let access = fs(&[(".", READ)]);
    assert_eq!(
        suggested(
            &access,
            DefaultAccess::VFS,
            &file(Capability::Update, "src/a b")
        ),
        "[[tools.t.access.fs]]\npath = \"src/a b\"\nread = true\nupdate = true\n"
    );
    assert_eq!(
        suggested(&access, DefaultAccess::VFS, &file(Capability::Read, "src")),
        ""
    );
}

#[test]
fn the_default_is_restated_by_the_first_rule() {
    assert_eq!(
        suggested(
            &DeclaredAccess::default(),
            DefaultAccess::WASM,
            &file(Capability::Execute, "run")
        ),
        "[[tools.t.access.fs]]\npath = \".\"\nread = true\nwrite = true\n\
         [[tools.t.access.fs]]\npath = \"run\"\nread = true\nwrite = true\nexecute = true\n"
    );
}

#[test]
fn a_sensitive_path_gets_only_what_was_asked_x_66() {
    assert_eq!(
        suggested(
            &fs(&[(".", FileCapabilities::ALL)]),
            DefaultAccess::VFS,
            &file(Capability::Read, ".env")
        ),
        "[[tools.t.access.fs]]\npath = \".env\"\nread = true\n"
    );
}

/// Deleting in a folder goes on to work when the folder gets a rule of its own, although the
/// folder itself cannot be deleted for what is below it.
#[test]
fn a_folder_with_something_restricted_keeps_delete_x_65() {
    let access = fs(&[(".", READ.with(FileCapabilities::WRITE)), ("a/b", READ)]);
    assert_eq!(
        suggested(&access, DefaultAccess::VFS, &file(Capability::Execute, "a")),
        "[[tools.t.access.fs]]\npath = \"a\"\nread = true\nwrite = true\nexecute = true\n"
    );
    assert_eq!(
        suggested(&access, DefaultAccess::VFS, &file(Capability::Delete, "a")),
        "[[tools.t.access.fs]]\npath = \"a/b\"\nread = true\ndelete = true\n"
    );
}

/// What is restricted below and what is sensitive below both have to be named.
#[test]
fn everything_below_is_named_x_65_x_66() {
    let access = fs(&[(".", FileCapabilities::ALL), (".docker/x", READ)]);
    assert_eq!(
        suggested(
            &access,
            DefaultAccess::VFS,
            &file(Capability::Delete, ".docker")
        ),
        "[[tools.t.access.fs]]\npath = \".docker/x\"\nread = true\ndelete = true\n\
         [[tools.t.access.fs]]\npath = \".docker/config.json\"\ndelete = true\n"
    );
}

#[test]
fn nothing_helps_against_protection() {
    let access = fs(&[(".", FileCapabilities::ALL)]);
    for (capability, path) in [
        (Capability::Update, "jig.toml"),
        (Capability::Delete, ".jig"),
        (Capability::Delete, ".git"),
        (Capability::Delete, "."),
    ] {
        assert_eq!(
            suggested(&access, DefaultAccess::VFS, &file(capability, path)),
            "",
            "{path}"
        );
    }
    // The folder itself opens to a rule that names it.
    assert_eq!(
        suggested(
            &access,
            DefaultAccess::VFS,
            &file(Capability::Create, ".jig/tools")
        ),
        "[[tools.t.access.fs]]\npath = \".jig/tools\"\nread = true\ncreate = true\nexecute = true\n"
    );
}

#[test]
fn hosts() {
    let deny = |path_prefix: Option<&str>, scheme: Option<&str>| DeclaredNetRule {
        host: "h".to_owned(),
        scheme: scheme.map(str::to_owned),
        port: None,
        path_prefix: path_prefix.map(str::to_owned),
        methods: None,
        allow: false,
        origin: origin(),
    };
    let check = |rules: Vec<DeclaredNetRule>, url: &str, expected: &str| {
        let access = DeclaredAccess {
            net: rules,
            ..DeclaredAccess::default()
        };
        let target = NetTarget::parse(url).expect("a URL");
        let found = suggested(&access, DefaultAccess::VFS, &target);
        let found = found
            .replace("[[tools.t.access.net]]\n", "")
            .replace('\n', "; ");
        assert_eq!(found, expected, "{url}");
    };
    check(
        vec![],
        "https://MÜNCHEN.de/x?y",
        "host = \"xn--mnchen-3ya.de\"; allow = true; ",
    );
    check(
        vec![],
        "https://h:8443/x",
        "host = \"h\"; port = 8443; allow = true; ",
    );
    check(
        vec![],
        "ssh://h/x",
        "host = \"h\"; scheme = \"ssh\"; allow = true; ",
    );
    check(vec![], "https://[::1]/", "host = \"::1\"; allow = true; ");
    check(
        vec![deny(Some("/a"), Some("https"))],
        "https://h/a/b%20c",
        "host = \"h\"; scheme = \"https\"; path_prefix = \"/a/b%20c\"; allow = true; ",
    );
    check(vec![deny(Some("/a"), None)], "https://h/x%2fa", "");
    check(vec![deny(None, None)], "https://h/x%2fa", "");
}

#[test]
fn variables() {
    let access = DeclaredAccess {
        env: vec![DeclaredEnvRule {
            name: "*".to_owned(),
            read: false,
            header: false,
            origin: origin(),
        }],
        ..DeclaredAccess::default()
    };
    let check = |wanted, name: &str, expected: &str| {
        let target = EnvTarget {
            wanted,
            name: name.to_owned(),
        };
        assert_eq!(
            suggested(&access, DefaultAccess::VFS, &target),
            expected,
            "{name}"
        );
    };
    check(
        EnvUse::Read,
        "A",
        "[[tools.t.access.env]]\nname = \"A\"\nread = true\n",
    );
    check(
        EnvUse::Header,
        "A",
        "[[tools.t.access.env]]\nname = \"A\"\nheader = true\n",
    );
    for odd in ["", "A*", "A=B", "A\0"] {
        check(EnvUse::Read, odd, "");
    }
}

/// A prefix that does not reach a variable is no reason to widen it.
#[test]
fn a_variable_that_runs_code_is_named_exactly() {
    let access = DeclaredAccess {
        env: vec![DeclaredEnvRule {
            name: "GIT_*".to_owned(),
            read: true,
            header: false,
            origin: origin(),
        }],
        ..DeclaredAccess::default()
    };
    let target = EnvTarget {
        wanted: EnvUse::Read,
        name: "GIT_PAGER".to_owned(),
    };
    assert_eq!(
        suggested(&access, DefaultAccess::VFS, &target),
        "[[tools.t.access.env]]\nname = \"GIT_PAGER\"\nread = true\n"
    );
}

#[test]
fn programs() {
    let listed = |args: Option<Vec<Vec<String>>>| DeclaredAccess {
        commands: Some(vec![DeclaredCommandRule {
            program: "git".to_owned(),
            args,
            envs: vec!["TOKEN".to_owned()],
            origin: origin(),
        }]),
        ..DeclaredAccess::default()
    };
    let check = |access: &DeclaredAccess, line: &str, expected: &str| {
        let mut args: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let target = CommandTarget {
            program: CommandProgram::parse(&args.remove(0), &workspace()).expect("a program"),
            args,
        };
        assert_eq!(
            suggested(access, DefaultAccess::VFS, &target),
            expected,
            "{line}"
        );
    };
    let log = listed(Some(vec![vec!["log".to_owned()]]));
    check(
        &log,
        "git push -f",
        "[tools.t.access.commands.git]\nargs = [[\"log\"], [\"push\", \"-f\"]]\nenvs = [\"TOKEN\"]\n",
    );
    check(
        &log,
        "make all",
        "[tools.t.access.commands.make]\nargs = [[\"all\"]]\n",
    );
    check(
        &log,
        "a\"b c",
        "[tools.t.access.commands.\"a\\\"b\"]\nargs = [[\"c\"]]\n",
    );
    // `**` cannot be said literally; the narrowest list that holds it ends there.
    check(
        &log,
        "ls a ** b",
        "[tools.t.access.commands.ls]\nargs = [[\"a\", \"**\"]]\n",
    );
    check(
        &log,
        "ls ** x **",
        "[tools.t.access.commands.ls]\nargs = [[\"**\"]]\n",
    );
    check(
        &log,
        "./run x",
        "[[tools.t.access.fs]]\npath = \".\"\nread = true\n\
         [[tools.t.access.fs]]\npath = \"run\"\nread = true\nexecute = true\n\
         [tools.t.access.commands.\"./run\"]\nargs = [[\"x\"]]\n",
    );
    check(&listed(None), "git anything", "");
}

#[test]
fn what_git_obeys_is_named_exactly_wherever_it_lies() {
    let access = fs(&[(".", READ.with(FileCapabilities::WRITE))]);
    let check = |capability: Capability, path: &str, expected: &str| {
        let target = file(capability, path);
        let found = suggested(&access, DefaultAccess::VFS, &target);
        assert_eq!(found, expected, "{capability} on {path}");
    };
    let update = "[[tools.t.access.fs]]\npath = \"lib/.git/config\"\nread = true\nupdate = true\n";
    check(Capability::Update, "lib/.git/config", update);
    let create = "[[tools.t.access.fs]]\npath = \"lib/.git\"\nread = true\nwrite = true\n";
    check(Capability::Create, "lib/.git", create);
    // Only the preset allows that.
    check(Capability::Delete, "lib/.git", "");
}

/// A rule on a part of a repository is not what keeps it in its place.
#[test]
fn nothing_moves_a_repository_whatever_is_declared_in_it() {
    let parts = [
        "lib/.git/config",
        "lib/.git/HEAD",
        "lib/.git/worktrees/a/commondir",
    ];
    for part in parts {
        let access = fs(&[(".", FileCapabilities::ALL), (part, FileCapabilities::NONE)]);
        for path in ["lib/.git", "lib/.git/worktrees", "lib/.git/worktrees/a"] {
            let target = file(Capability::Delete, path);
            let found = suggested(&access, DefaultAccess::VFS, &target);
            assert_eq!(found, "", "deleting {path} with a rule on {part}");
        }
    }
}

#[test]
fn a_rule_on_a_directory_keeps_what_is_granted_there() {
    let check = |rules: &[(&str, FileCapabilities)],
                 path: &str,
                 wanted: FileCapabilities,
                 expected: &str| {
        let access = fs(rules);
        let guards = Guards::of_workspace();
        let default = DefaultAccess::STDIO;
        let policy = Policy::compile(&access, default, &guards, &workspace()).expect("it compiles");
        let path = ProjectPath::normalize(path).expect("it is inside");
        let granting = super::Suggestion::granting(&policy, &path, wanted);
        let text = granting.map(|granting| granting.to_toml("t").replace("\n\n", "\n"));
        assert_eq!(text.unwrap_or_default(), expected, "{path}");
    };
    let read = FileCapabilities::from(Capability::Read);
    let create = FileCapabilities::from(Capability::Create);
    check(
        &[(".", read)],
        "out",
        create,
        "[[tools.t.access.fs]]\npath = \"out\"\nread = true\ncreate = true\n",
    );
    // Also on the workspace itself, in which some things are protected.
    check(
        &[(".", read)],
        ".",
        FileCapabilities::WRITE,
        "[[tools.t.access.fs]]\npath = \".\"\nread = true\nwrite = true\n",
    );
    check(&[(".", FileCapabilities::WRITE)], "out", create, "");
    check(&[(".", read)], "jig.toml", create, "");
}

#[test]
fn two_suggestions_become_one() {
    let read = FileCapabilities::from(Capability::Read);
    let access = fs(&[("src", read)]);
    let guards = Guards::of_workspace();
    let policy = Policy::compile(&access, DefaultAccess::STDIO, &guards, &workspace());
    let policy = policy.expect("it compiles");
    let suggest = |capability, path| {
        file(capability, path)
            .suggestion(&policy)
            .expect("there is one")
    };
    let both = suggest(Capability::Read, "a").and(suggest(Capability::Update, "a"));
    let three = both.and(suggest(Capability::Read, "b"));
    assert_eq!(
        three.to_toml("t").replace("\n\n", "\n"),
        "[[tools.t.access.fs]]\npath = \"a\"\nread = true\nupdate = true\n[[tools.t.access.fs]]\npath = \"b\"\nread = true\n"
    );
}
