//! The tools that servers describe.

use std::sync::Arc;

use jig_config::{Config, Definition, Server, ToolName};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::workspace::Workspace;

fn definition(value: Json) -> Arc<Definition> {
    Arc::new(Definition::from_json(value).expect("a definition"))
}

fn named(name: &str) -> Arc<Definition> {
    definition(json!({ "name": name }))
}

/// The names of the tools that are not jig's own, after the server `s` has listed `names`.
fn listed(toml: &str, names: &[&str]) -> Vec<String> {
    let config = Workspace::with(toml).config();
    let plain: Vec<ToolName> = Workspace::with("").config().tools.into_keys().collect();
    let known = |server: &Server| {
        let names = names.iter().filter(|_| server.name == "s");
        Some(names.map(|name| named(name)).collect())
    };
    let with = config.with_definitions(&known);
    let own = with.tools.into_keys().filter(|name| !plain.contains(name));
    own.map(|name| name.to_string()).collect()
}

const S: &str = "[mcp.servers.s]\ncommand = \"x\"\n";

#[test]
fn names_of_described_tools() {
    let check = |lines: &str, names: &[&str], expected: &[&str]| {
        let found = listed(&format!("{S}{lines}"), names);
        assert_eq!(found, expected, "{lines}: {names:?}");
    };
    check("", &["b", "a"], &["s_a", "s_b"]);
    check("prefix = \"\"", &["a.b-c"], &["a.b-c"]);
    check("hide = [\"a\"]", &["a", "b"], &["s_b"]);
    check("tools = [\"a*\"]", &["a1", "b"], &["s_a1"]);
    check("enable = false", &["a"], &[]);
    check("", &["a b"], &["s_a_b"]);
    // Declared tools are there under their own names, also hidden ones.
    check(
        "hide = [\"a\"]\n[tools.mine]\nsource = \"mcp.s.a\"",
        &["a", "b"],
        &["mine", "s_b"],
    );
    check("[tools.a]\nsource = \"mcp.s\"", &["a"], &["a"]);
    // A name that is jig's own is not taken.
    let found = listed(&format!("{S}prefix = \"\""), &["git"]);
    assert!(
        found[0].starts_with("git_") && found[0].len() == 10,
        "{found:?}"
    );
    // One that spells it so keeps its name, however others come to the same.
    let found = listed(S, &["a b", "a_b", "a\u{1b}b"]);
    assert_eq!(found.iter().filter(|name| *name == "s_a_b").count(), 1);
    assert_eq!(found.len(), 3);
}

#[test]
fn what_a_definition_gives_a_tool() {
    let toml = format!(
        "{S}run = \"unattended\"\n[tools.a]\nsource = \"mcp.s\"\ndescription = \"mine\"\n\
         [tools.a.parameters.path]\ntype = \"string\"\nrequired = true\ndescription = \"where\"\n"
    );
    let described = |name: &str| {
        definition(json!({
            "name": name,
            "title": "Title",
            "description": "theirs",
            "inputSchema": {
                "type": "object",
                "properties": { "path": { "type": "string", "minLength": 1 }, "n": { "type": "integer" } },
                "required": ["n"],
            },
            "outputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true },
            "_meta": { "x": 1 },
        }))
    };
    let config = Workspace::with(&toml).config();
    let known = |_: &Server| Some(vec![described("a"), described("b")]);
    let with = config.with_definitions(&known);
    let a = with.tool("a").expect("the declared one");
    assert_eq!(a.description.as_deref(), Some("mine"));
    assert_eq!(a.title.as_deref(), Some("Title"));
    assert_eq!(
        a.input_schema(),
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "description": "where" },
                "n": { "type": "integer" },
            },
            "required": ["n", "path"],
        })
    );
    let b = with.tool("s_b").expect("the other");
    assert_eq!(b.description.as_deref(), Some("theirs"));
    assert_eq!(b.output, Some(json!({ "type": "object" })));
    assert_eq!(b.source.to_string(), "mcp.s.b");
    assert_eq!(b.on_server(), Some(("s", "b")));
    assert_eq!(b.run.spawn.name(), "unattended");
    assert_eq!(b.declared_at().to_string(), "jig.toml:1");
    assert_eq!(
        b.definition.as_ref().map(|one| one.hash()),
        Some(described("b").hash())
    );
    assert_eq!(with.server_of(b).expect("its server").name, "s");
    // What is known later stands in place of what was.
    let again = with.with_definitions(&|_: &Server| Some(vec![named("c")]));
    assert!(again.tool("s_c").is_some() && again.tool("s_b").is_none());
    let unknown = with.with_definitions(&|_: &Server| None);
    assert!(unknown.tool("s_c").is_none() && unknown.tool("a").is_some());
    // The configuration that is shown is the one that was written.
    assert_eq!(
        jig_config::show(&with, true),
        jig_config::show(&config, true)
    );
}

/// A server that lists its tools under the names of another's takes none of them.
#[test]
fn a_server_does_not_take_the_names_of_another() {
    let toml =
        "[mcp.servers.good]\ncommand = \"x\"\n[mcp.servers.evil]\ncommand = \"y\"\nprefix = \"\"\n";
    let config = Workspace::with(toml).config();
    let known = |server: &Server| {
        Some(match server.name.as_str() {
            "good" => vec![named("read")],
            _ => vec![
                named("good_read"),
                named("good read"),
                named("fs_read_file"),
            ],
        })
    };
    let with = config.with_definitions(&known);
    assert_eq!(
        with.tool("good_read").and_then(|tool| tool.on_server()),
        Some(("good", "read"))
    );
    assert!(
        with.tool("fs_read_file")
            .expect("jig's own")
            .on_server()
            .is_none()
    );
    assert_eq!(with.tools.len(), config.tools.len() + 4);
}

/// Names as servers might give them, made to run into each other.
fn hostile_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c_. -]{1,4}",
        "\\PC{1,12}",
        "a{60,70}[ _]?",
        Just("s_a".to_owned()),
        Just("\u{0}\u{1b}[0m".to_owned()),
        "s_a_[0-9a-f]{6}",
    ]
}

fn names_of(config: &Config, names: &[String]) -> Vec<(String, Option<String>)> {
    let known = |server: &Server| {
        let part = names.iter().enumerate();
        let part = part.filter(|(index, _)| (index % 2 == 0) == (server.name == "s"));
        Some(part.map(|(_, name)| named(name)).collect())
    };
    let with = config.with_definitions(&known);
    let tools = with.tools.values();
    tools
        .map(|tool| {
            let on = tool
                .on_server()
                .map(|(server, tool)| format!("{server}/{tool}"));
            (tool.name.to_string(), on)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_are_valid_unique_and_independent_of_order(
        names in prop::collection::vec(hostile_name(), 0..40),
        seed in any::<u64>(),
    ) {
        let toml = "[mcp.servers.s]\ncommand = \"x\"\nprefix = \"\"\n[mcp.servers.t]\ncommand = \"x\"\n\
                    prefix = \"s_\"\n[tools.s_a]\nsource = \"mcp.t.declared\"\n";
        let config = Workspace::with(toml).config();
        let found = names_of(&config, &names);
        for (name, _) in &found {
            prop_assert!(ToolName::new(name.as_str()).is_ok(), "{}", name);
        }
        let mut unique: Vec<&String> = found.iter().map(|(name, _)| name).collect();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), found.len());
        // Every tool has a name.
        let mut wanted: Vec<(usize, &String)> = names.iter().enumerate().map(|(at, name)| (at % 2, name)).collect();
        wanted.sort();
        wanted.dedup();
        let ours = Workspace::with("").config().tools.len();
        prop_assert_eq!(found.len(), ours + 1 + wanted.len());
        // The other way round, and with the pairs moved about, everything is the same.
        let mut even: Vec<String> = names.iter().step_by(2).cloned().collect();
        let mut odd: Vec<String> = names.iter().skip(1).step_by(2).cloned().collect();
        let turn = |list: &mut Vec<String>| {
            list.reverse();
            if !list.is_empty() {
                let by = usize::try_from(seed).unwrap_or(0) % list.len();
                list.rotate_left(by);
            }
        };
        turn(&mut even);
        turn(&mut odd);
        let mut other = Vec::new();
        for at in 0..names.len() {
            let from = if at % 2 == 0 { &mut even } else { &mut odd };
            other.push(from.remove(0));
        }
        prop_assert_eq!(names_of(&config, &other), found);
    }
}
