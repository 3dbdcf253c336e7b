//! Run rules: whether somebody is asked, by the arguments of a call.

use jig_config::{FormatMode, RunMode, Tool, load, show, show_json};
use jig_proto::ToolAction;
use serde_json::{Value as Json, json};

use crate::mistakes::check as mistake;
use crate::workspace::Workspace;

/// A tool with parameters around the lines in question.
fn toml(lines: &str) -> String {
    format!(
        "[tools.build]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n\
         [tools.build.parameters]\npath = {{ type = \"string\" }}\nforce = {{ type = \"boolean\", default = false }}\n\
         paths = {{ type = \"array\", items.type = \"string\" }}\n\
         edit = {{ type = \"object\", properties.file.type = \"string\" }}\nany = {{}}\n"
    )
}

fn tool(lines: &str) -> Tool {
    Workspace::with(&toml(lines)).config().tools["build"].clone()
}

fn decide(tool: &Tool, action: ToolAction, arguments: &Json) -> (RunMode, Option<usize>) {
    let arguments = arguments.as_object().expect("an object");
    let decided = tool.run.decide(action, arguments);
    (decided.mode, decided.rule)
}

#[test]
fn all_kinds_of_rules() {
    let rules = [
        r#"{ arg = "/path", prefix = "src/", mode = "unattended" }"#,
        r#"{ arg = "/path", equals = "Makefile", mode = "edit" }"#,
        r#"{ arg = "/path", one_of = ["a", "b"], mode = "unattended" }"#,
        r#"{ all = [{ arg = "/force", equals = true }, { arg = "/edit/file", present = true }], mode = "skip" }"#,
        r#"{ arg = "/path", present = false, mode = "unattended" }"#,
        r#"{ arg = "/force", equals = true, all = [{ arg = "/path", equals = "c" }], mode = "skip" }"#,
        r#"{ mode = "ask" }"#,
    ];
    let tool = tool(&format!("run = [{}]", rules.join(", ")));
    let check = |arguments: Json, mode: RunMode, rule: usize| {
        let found = decide(&tool, ToolAction::Spawn, &arguments);
        assert_eq!(found, (mode, Some(rule)), "{arguments}");
    };
    check(json!({ "path": "src/a" }), RunMode::Unattended, 0);
    check(json!({ "path": "Makefile" }), RunMode::Edit, 1);
    check(json!({ "path": "b" }), RunMode::Unattended, 2);
    check(
        json!({ "force": true, "edit": { "file": "x" } }),
        RunMode::Skip,
        3,
    );
    check(json!({ "force": true, "edit": {} }), RunMode::Unattended, 4);
    check(json!({ "force": true, "path": "c" }), RunMode::Skip, 5);
    check(json!({ "force": false, "path": "c" }), RunMode::Ask, 6);
    assert_eq!(tool.run.spawn.rules().len(), 7);
    assert_eq!(tool.run.spawn.rules()[1].origin().to_string(), "jig.toml:4");
    // Who is asked about some calls is asked before any is formatted.
    assert_eq!(tool.format, FormatMode::Ask);
    // What runs is as it was.
    for action in [ToolAction::Fetch, ToolAction::Apply, ToolAction::Abort] {
        assert!(tool.run.of(action).is_always(RunMode::Unattended));
    }
}

#[test]
fn s_080_rules_by_action() {
    let tool = tool(
        "stateful = true\n[[tools.build.run.apply]]\narg = \"/input\"\nprefix = \"git \"\nmode = \
         \"unattended\"\n[[tools.build.run.apply]]\nmode = \"skip\"\n",
    );
    let apply = |input: &str| {
        let arguments = json!({ "id": "h_1", "input": input });
        decide(&tool, ToolAction::Apply, &arguments)
    };
    assert_eq!(apply("git log"), (RunMode::Unattended, Some(0)));
    assert_eq!(apply("rm -r ."), (RunMode::Skip, Some(1)));
    assert!(tool.run.spawn.is_always(RunMode::Ask));
    assert_eq!(
        tool.run.to_string(),
        "ask, apply: unattended if `input` begins with \"git \", else skip"
    );
}

/// How the forms of `run` are laid over each other.
#[test]
fn layers() {
    const LIST: &str = "run = [{ arg = \"/path\", prefix = \"a/\", mode = \"skip\" }]";
    const SHOWN: &str = "skip if `path` begins with \"a/\", else ask";
    let check = |below: &str, above: &str, expected: &str| {
        let workspace = Workspace::with(&toml(&format!("stateful = true\n{below}")));
        let above = format!("[tools.build]\n{above}");
        let config = workspace.file(".jig/config.toml", above).config();
        assert_eq!(config.tools["build"].run.to_string(), expected, "{below}");
    };
    check(LIST, "", SHOWN);
    // Later rules replace earlier ones: which of them wins would else depend on a file that nobody sees.
    check(LIST, "run = [{ mode = \"edit\" }]", "edit");
    check(LIST, "run = \"unattended\"", "unattended");
    check("run = \"unattended\"", LIST, SHOWN);
    // A word and a list are about starting; a table goes on to say what it says.
    check(LIST, "run.apply = \"ask\"", &format!("{SHOWN}, apply: ask"));
    check("run.apply = \"ask\"", LIST, &format!("{SHOWN}, apply: ask"));
    check(LIST, "run.spawn = \"edit\"", "edit");
    check("run.spawn = \"edit\"", LIST, SHOWN);
    let apply =
        "run.apply = [{ arg = \"/input\", equals = \"q\", mode = \"ask\" }, { mode = \"skip\" }]";
    check(
        apply,
        "run.spawn = \"edit\"",
        "edit, apply: ask if `input` is \"q\", else skip",
    );
    check(apply, "run.apply = \"ask\"", "ask, apply: ask");
}

#[test]
fn rules_of_all_tools_may_be_about_arguments_that_a_tool_has_not() {
    let workspace = Workspace::with(
        "[tools.'*']\nrun = [{ arg = \"/path\", prefix = \"src/\", mode = \"unattended\" }, { all = [{ arg = \
         \"/nothing/has\", equals = 1 }], mode = \"skip\" }]\n",
    );
    let config = workspace.config();
    for (name, argument) in [("fs_create_file", "path"), ("fs_move_file", "from")] {
        let found = decide(
            config.tool(name).expect("a tool"),
            ToolAction::Spawn,
            &json!({ argument: "src/a" }),
        );
        let expected = match argument {
            "path" => (RunMode::Unattended, Some(0)),
            _ => (RunMode::Ask, None),
        };
        assert_eq!(found, expected, "{name}");
    }
}

/// What a component or a server takes is not known before it is asked.
#[test]
fn arguments_that_only_the_tool_knows() {
    for lines in [
        "source = \"local\"\nwasm = \"a.wasm\"",
        "source = \"mcp.server\"",
    ] {
        let toml = format!(
            "[mcp.servers.server]\ncommand = \"x\"\n[tools.a]\n{lines}\nrun = [{{ arg = \"/x\", equals = 1, mode = \"ask\" }}]"
        );
        Workspace::with(&toml).config();
    }
}

#[test]
fn rules_by_variables_and_assignments() {
    let workspace = Workspace::with(&toml(""));
    let mut sources = workspace.sources();
    let set = "tools.build.run=[{ arg = \"/path\", prefix = \"src/\", mode = \"unattended\" }]";
    sources.sets.push(set.to_owned());
    let loaded = load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
    let tool = &loaded.config.tools["build"];
    assert_eq!(
        tool.run.to_string(),
        "unattended if `path` begins with \"src/\", else ask"
    );
    assert_eq!(tool.run.spawn.rules()[0].origin().to_string(), "--set");
}

#[test]
fn rules_are_shown_and_load_again() {
    let lines = "stateful = true\nrun.spawn = [{ arg = \"/path\", prefix = \"src/\", mode = \"unattended\" }, { all \
                 = [{ arg = \"/force\", equals = true }, { arg = \"/edit\", equals = { file = \"x\" } }], mode \
                 = \"skip\" }]\nrun.apply = [{ arg = \"/input\", one_of = [1, \"a\"], mode = \"ask\" }]\n";
    let first = Workspace::with(&toml(lines)).config();
    for origin in [false, true] {
        let again = Workspace::with(&show(&first, origin)).config();
        assert_eq!(first.tools["build"].run, again.tools["build"].run);
    }
    let shown = show_json(&first, true);
    let rules = &shown["tools"]["build"]["run"]["spawn"];
    assert_eq!(rules[0]["prefix"], "src/");
    assert_eq!(
        shown["origins"]["tools.build.run.spawn[0].prefix"]["line"],
        5
    );
}

#[test]
fn mistakes_in_run_rules() {
    let check = |name: &str, wrong: &str, right: &str| {
        mistake(name, &toml(wrong), &toml(right));
    };
    let right = "run = [{ arg = \"/path\", prefix = \"src/\", mode = \"ask\" }]";
    check("run_rules_empty", "run = []", "run = \"ask\"");
    check(
        "run_rule_operator",
        "run = [{ arg = \"/path\", matches = \"^src\", mode = \"ask\" }]",
        right,
    );
    check(
        "run_rule_misspelt",
        "run = [{ arg = \"/path\", prefx = \"src/\", mod = \"ask\" }]",
        right,
    );
    check(
        "run_rule_pointer",
        "run = [{ arg = \"path\", prefix = \"src/\", mode = \"ask\" }, { arg = \"/a~b\", equals = 1, mode \
         = \"ask\" }]",
        right,
    );
    check(
        "run_rule_parameter",
        "run = [{ arg = \"/pth\", prefix = \"src/\", mode = \"skip\" }, { mode = \"unattended\" }]",
        right,
    );
    check(
        "run_rule_nested_parameter",
        "run = [{ arg = \"/edit/fiel\", prefix = \"src/\", mode = \"skip\" }, { arg = \"/path/0\", equals \
         = \"a\", mode = \"skip\" }]",
        "run = [{ arg = \"/edit/file\", prefix = \"src/\", mode = \"skip\" }, { arg = \"/paths/0\", equals \
         = \"a\", mode = \"skip\" }, { arg = \"/any/thing/0\", equals = \"a\", mode = \"skip\" }]",
    );
    check(
        "run_rule_of_no_text",
        "run = [{ arg = \"/force\", prefix = \"t\", mode = \"ask\" }]",
        "run = [{ arg = \"/force\", equals = true, mode = \"ask\" }, { arg = \"/paths\", prefix = \"a\", mode \
         = \"ask\" }]",
    );
    check(
        "run_rule_unreachable",
        "run = [{ mode = \"ask\" }, { arg = \"/path\", prefix = \"src/\", mode = \"skip\" }]",
        "run = [{ arg = \"/path\", prefix = \"src/\", mode = \"skip\" }, { mode = \"ask\" }]",
    );
    check(
        "run_rule_without_test",
        "run = [{ arg = \"/path\", mode = \"ask\" }, { prefix = \"a\", mode = \"ask\" }, { all = [{}], mode \
         = \"ask\" }, { all = [], mode = \"ask\" }]",
        right,
    );
    check(
        "run_rule_two_tests",
        "run = [{ arg = \"/path\", prefix = \"a\", equals = \"b\", mode = \"ask\" }]",
        "run = [{ all = [{ arg = \"/path\", prefix = \"a\" }, { arg = \"/path\", equals = \"b\" }], mode = \
         \"ask\" }]",
    );
    check(
        "run_rule_prefixes",
        "run = [{ arg = \"/path\", prefix = \"\", mode = \"ask\" }, { arg = \"/path\", prefix = \"../x/\", mode \
         = \"ask\" }]",
        "run = [{ arg = \"/path\", present = true, mode = \"ask\" }, { arg = \"/path\", prefix = \"x/\", mode \
         = \"ask\" }]",
    );
    check(
        "run_rule_mode",
        "run = [{ arg = \"/path\", prefix = \"a\" }, { mode = \"allow\" }]",
        right,
    );
    check(
        "run_rule_of_action",
        "stateful = true\nrun.apply = [{ arg = \"/path\", prefix = \"a\", mode = \"ask\" }]\nrun.abort = [{ arg \
         = \"/input\", equals = 1, mode = \"ask\" }]",
        "stateful = true\nrun.apply = [{ arg = \"/input\", prefix = \"a\", mode = \"ask\" }]\nrun.abort = [{ arg \
         = \"/id\", equals = \"h_1\", mode = \"ask\" }]",
    );
}
