//! For random pairs of configurations: what the later one allows and the earlier one did not is reported.

use std::cell::Cell;

use camino::Utf8Path;
use jig_config::{Config, RunMode, Tool, load, widening};
use jig_policy::{
    Capability, CommandProgram, EnvUse, NetTarget, Policy, Verdict, Workspace as Place,
};
use jig_proto::ToolAction;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::{Config as Cases, TestRunner};
use serde_json::{Value as Json, json};

use crate::workspace::Workspace;

/// The lines of one tool, by what they are about.
type Lines = Vec<String>;

/// A part of a tool, and what may stand there instead.
type Part = BoxedStrategy<(String, String)>;

/// A list of rules; instead of it another one, or the same without one of them.
fn list(
    rules: &'static [&'static str],
    sizes: std::ops::RangeInclusive<usize>,
    written: impl Fn(&[&str]) -> String + Clone + 'static,
) -> Part {
    let some = move || subsequence(rules, sizes.clone()).prop_shuffle();
    let another = written.clone();
    let replaced = (some(), some()).prop_map(move |(old, new)| (another(&old), another(&new)));
    let shortened = (some(), any::<Index>()).prop_map(move |(old, index)| {
        let mut new = old.clone();
        if new.len() > 1 {
            new.remove(index.index(old.len()));
        }
        (written(&old), written(&new))
    });
    prop_oneof![replaced, shortened].boxed()
}

fn access(key: &'static str, rules: &'static [&'static str]) -> Part {
    list(rules, 0..=4, move |rules| match rules.is_empty() {
        true => String::new(),
        false => format!("{key} = [{}]", rules.join(", ")),
    })
}

fn one(lines: &'static [&'static str]) -> Part {
    let line = || select(lines).prop_map(str::to_owned);
    (line(), line()).boxed()
}

const FS: &[&str] = &[
    "{ path = \".\", read = true }",
    "{ path = \".\", read = true, write = true }",
    "{ path = \"src\", read = true }",
    "{ path = \"src\" }",
    "{ path = \"src\", read = true, write = true, execute = true }",
    "{ path = \"src/a\", read = true }",
    "{ path = \"src/a\" }",
    "{ path = \"link\", read = true }",
    "{ path = \"link\" }",
    "{ path = \"link/a\", write = true }",
    "{ path = \".env\", read = true }",
    "{ path = \"docs\", create = true }",
];

const NET: &[&str] = &[
    "{ host = \"a.example\", allow = true }",
    "{ host = \"A.example\", allow = false }",
    "{ host = \"a.example\", path_prefix = \"/v1\", allow = true }",
    "{ host = \"a.example\", path_prefix = \"/v1\", allow = false }",
    "{ host = \"a.example\", scheme = \"https\", allow = true }",
    "{ host = \"b.example\", port = 8080, allow = true }",
    "{ host = \"*.example\", allow = true }",
    "{ host = \"*.example\", methods = [\"POST\"], allow = false }",
    "{ host = \"*\", methods = [\"GET\"], allow = true }",
    "{ host = \"*\", port = 8080, allow = false }",
    "{ host = \"a.example\", methods = [\"GET\"], allow = false }",
    "{ host = \"b.example\", scheme = \"http\", port = 8080, allow = false }",
];

const ENV: &[&str] = &[
    "{ name = \"*\", header = true }",
    "{ name = \"A_*\", read = true }",
    "{ name = \"A_*\" }",
    "{ name = \"A_KEY\", header = true }",
    "{ name = \"A_KEY\", read = true }",
    "{ name = \"B\", read = true }",
];

const COMMANDS: &[&str] = &[
    "",
    "access.commands = {}",
    "access.commands.git = {}",
    "access.commands.git.args = [[\"log\"]]",
    "access.commands.git.args = [[\"log\", \"**\"]]",
    "access.commands.git.args = [[\"log\", \"-1\"], [\"status\"]]",
    "access.commands = { git.args = [[\"**\"]], make = {} }",
    "access.commands = { make.args = [[]], git.envs = [\"HOME\"] }",
];

const RULES: &[&str] = &[
    "{ arg = \"/path\", prefix = \"src/\", mode = \"unattended\" }",
    "{ arg = \"/path\", prefix = \"src/\", mode = \"skip\" }",
    "{ arg = \"/path\", prefix = \"src/a\", mode = \"ask\" }",
    "{ arg = \"/path\", equals = \"src/b\", mode = \"skip\" }",
    "{ arg = \"/path\", present = false, mode = \"unattended\" }",
    "{ arg = \"/force\", equals = true, mode = \"skip\" }",
    "{ all = [{ arg = \"/force\", equals = true }, { arg = \"/path\", prefix = \"src/\" }], mode = \"edit\" }",
];

const WORDS: &[&str] = &[
    "run = \"ask\"",
    "run = \"unattended\"",
    "run = \"skip\"",
    "run = \"edit\"",
];

/// Rules with an end that is for every call, or without one.
fn run() -> Part {
    const ENDS: &[&str] = &[
        "",
        ", { mode = \"unattended\" }",
        ", { mode = \"ask\" }",
        ", { mode = \"skip\" }",
    ];
    let with = |end: &'static str| {
        list(RULES, 1..=4, move |rules| {
            format!("run = [{}{end}]", rules.join(", "))
        })
    };
    let rules = select(ENDS).prop_flat_map(with);
    prop_oneof![1 => one(WORDS), 4 => rules].boxed()
}

/// Each part of a tool.
fn parts() -> Vec<Part> {
    vec![
        access("access.fs", FS),
        access("access.net", NET),
        access("access.env", ENV),
        one(COMMANDS),
        run(),
        one(&["", "runtime = \"vfs\""]),
        one(&["", "enable = false"]),
        one(&["", "on_uncovered = \"deny\""]),
        one(&["", "sandbox.sensitive_paths = [\"docs\"]"]),
        one(&["", "title = \"x\"", "description = \"y\""]),
    ]
}

/// A tool, and another in which few things are different.
fn tools() -> impl Strategy<Value = (Lines, Lines)> {
    let count = parts().len();
    let changed = subsequence((0..count).collect::<Vec<_>>(), 1..=2);
    (parts(), changed).prop_map(|(parts, changed)| {
        let (old, other): (Lines, Lines) = parts.into_iter().unzip();
        let mut new = old.clone();
        for part in changed {
            new[part].clone_from(&other[part]);
        }
        (old, new)
    })
}

fn toml(lines: &Lines) -> String {
    let parameters = "parameters.path.type = \"string\"\nparameters.force.type = \"boolean\"";
    let head = "[tools.t]\nsource = \"local\"\ncommand = \"x\"\nformat = \"ask\"";
    format!("{head}\n{parameters}\n{}\n", lines.join("\n"))
}

struct Side {
    config: Config,
    policy: Policy,
    root: camino::Utf8PathBuf,
}

impl Side {
    fn load(workspace: &Workspace, lines: &Lines) -> Self {
        std::fs::write(workspace.path("jig.toml"), toml(lines)).expect("write");
        let mut sources = workspace.sources();
        sources.lint = false;
        sources.only = Some("t".to_owned());
        let config = load(&sources)
            .unwrap_or_else(|errors| panic!("{errors}"))
            .config;
        let root = workspace.root().to_owned();
        let place = Place::on_disk(root.clone()).expect("a workspace");
        let policy = config.policy(tool(&config), &place);
        let policy = policy.unwrap_or_else(|errors| panic!("{errors}"));
        Self {
            config,
            policy,
            root,
        }
    }

    /// Everything that is allowed, of what is looked at.
    fn allowed(&self) -> Vec<String> {
        if !tool(&self.config).enable.on {
            return Vec::new();
        }
        let place = Place::on_disk(self.root.clone()).expect("a workspace");
        let mut allowed = Vec::new();
        let mut note = |verdict: Verdict, what: String| {
            if verdict == Verdict::Allow {
                allowed.push(what);
            }
        };
        for path in [
            ".", "x", "src", "src/x", "src/a", "src/a/x", "docs/x", ".env",
        ] {
            let target = place.resolve(path).expect("inside");
            for capability in Capability::ALL {
                let decision = self.policy.decide_fs(capability, &target);
                note(decision.verdict, format!("{capability} {path}"));
            }
        }
        for url in [
            "https://a.example/",
            "https://a.example/v1/x",
            "http://a.example/v1",
            "http://b.example:8080/",
            "https://b.example:8080/",
            "https://b.example/",
        ] {
            let target = NetTarget::parse(url).expect("a URL");
            note(self.policy.decide_net(&target).verdict, url.to_owned());
            let target = target.with_method("POST");
            note(
                self.policy.decide_net(&target).verdict,
                format!("POST {url}"),
            );
        }
        for name in ["A_KEY", "A_X", "B", "C"] {
            for wanted in [EnvUse::Read, EnvUse::Header] {
                let decision = self.policy.decide_env(wanted, name);
                note(decision.verdict, format!("{wanted:?} {name}"));
            }
        }
        for command in [
            "git",
            "git log",
            "git log -1",
            "git status",
            "make",
            "make x",
        ] {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().expect("a program");
            let program = CommandProgram::parse(&program, &place).expect("a program");
            let args: Vec<String> = words.collect();
            let decision = self.policy.decide_command(&program, &args);
            note(decision.verdict, command.to_owned());
        }
        allowed
    }

    /// How much stands before each call.
    fn strictness(&self) -> Vec<(Json, u8)> {
        let calls = [
            json!({}),
            json!({ "path": "src/a" }),
            json!({ "path": "src/b", "force": true }),
            json!({ "path": "./src/b" }),
            json!({ "path": "src" }),
            json!({ "path": "../x", "force": true }),
            json!({ "path": "docs" }),
            json!({ "path": "/src/b" }),
            json!({ "force": true }),
        ];
        let strict = |arguments: &Json| {
            let arguments = arguments.as_object().expect("an object");
            match tool(&self.config)
                .run
                .decide(ToolAction::Spawn, arguments)
                .mode
            {
                RunMode::Unattended => 0,
                RunMode::Ask | RunMode::Edit => 1,
                RunMode::Skip => 2,
            }
        };
        let pairs = calls.into_iter().map(|call| {
            let strict = strict(&call);
            (call, strict)
        });
        pairs.collect()
    }
}

fn tool(config: &Config) -> &Tool {
    config.tool("t").expect("the tool")
}

/// What `new` allows and `old` did not.
fn gained(old: &Side, new: &Side) -> Vec<String> {
    let before = old.allowed();
    let mut gained = new.allowed();
    gained.retain(|what| !before.contains(what));
    if tool(&new.config).enable.on {
        let calls = old.strictness().into_iter().zip(new.strictness());
        let looser = calls.filter(|((_, old), (_, new))| new < old);
        gained.extend(looser.map(|((call, _), _)| call.to_string()));
    }
    gained
}

#[test]
fn whatever_is_gained_is_reported() {
    let workspace = Workspace::with("").file("src/a/x", "").file("docs/x", "");
    std::os::unix::fs::symlink(Utf8Path::new("src"), workspace.path("link")).expect("a link");
    let (wider, quiet) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Cases {
        cases: 600,
        failure_persistence: None,
        ..Cases::default()
    });
    let checked = runner.run(&tools(), |(old, new)| {
        let old = Side::load(&workspace, &old);
        let new = Side::load(&workspace, &new);
        let gained = gained(&old, &new);
        let reported = widening(&old.config, &new.config);
        prop_assert!(
            gained.is_empty() || !reported.is_empty(),
            "nothing is reported of {gained:?}"
        );
        wider.set(wider.get() + u32::from(!gained.is_empty()));
        quiet.set(quiet.get() + u32::from(reported.is_empty()));
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
    // A function that always reports something would pass, and so would pairs that are always narrower.
    let (wider, quiet) = (wider.get(), quiet.get());
    assert!(wider > 60, "{wider} of 600 pairs are wider");
    assert!(quiet > 60, "{quiet} of 600 pairs are not reported");
}
