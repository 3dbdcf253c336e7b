//! `jig tools` and `jig policy show`.

use insta::assert_snapshot;
use serde_json::json;

use super::Workspace;

const CONFIG: &str = "\
[tools.fetch]
source = \"local\"
command = \"fetch {{tool.arguments.url}}\"
summary = \"Fetch a page.\"
parameters.url = { type = \"string\", required = true, description = \"The page.\" }

[[tools.fetch.access.fs]]
path = \"cache\"
read = true
write = true

[[tools.fetch.access.net]]
host = \"münchen.de\"
allow = true

[[tools.fetch.access.env]]
name = \"TOKEN\"
header = true

[tools.fetch.access.commands.curl]
";

#[test]
fn the_list_says_what_each_tool_may_do() {
    let workspace = Workspace::with(CONFIG);
    assert_snapshot!(workspace.run(&["tools"]), @"
    TOOL            RUNTIME  RUN         MAY
    fs_read_file    builtin  unattended  read .
    fs_list_files   builtin  unattended  read .
    fs_grep_files   builtin  unattended  read .
    fs_create_file  builtin  ask         read + write .
    fs_modify_file  builtin  ask         read + write .
    fs_delete_file  builtin  ask         read + write .
    fs_move_file    builtin  ask         read + write .
    await           builtin  unattended  read .
    learn           builtin  off         read .
    git             builtin  ask         read + write .; run git
    shell           stdio    ask         read + write + execute .; run any program
    fetch           stdio    ask         read + write cache; reach xn--mnchen-3ya.de; $TOKEN; run curl
    [exit 0]
    ");
    let listed = workspace.json(&["tools"]);
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.last(), Some(&"fetch"));
}

#[test]
fn one_tool_is_shown_in_full() {
    let workspace = Workspace::with(CONFIG);
    assert_snapshot!(workspace.run(&["tools", "fetch"]));
    let shown = workspace.json(&["tools", "fetch"]);
    assert_eq!(shown["input_schema"]["required"][0], "url");
    assert_eq!(shown["input_schema"]["additionalProperties"], false);
    assert_eq!(shown["policy"]["net"][0]["host"], "xn--mnchen-3ya.de");
}

/// S-037, S-080: what can be done with a stateful tool, and whether somebody is asked.
#[test]
fn s037_actions_are_shown() {
    let config = "[tools.t]\nsource='local'\ncommand='t'\nstateful=['spawn','fetch','apply']\n\
                  terminal={rows=40,cols=120}\nnotices=['stopped']\nrun={spawn='unattended',apply='ask'}\n";
    let workspace = Workspace::with(config);
    let shown = workspace.run(&["tools", "t"]);
    for line in [
        "  run       unattended, apply: ask\n",
        "  actions   spawn, fetch, apply\n",
        "  notices   stopped\n",
        "  terminal  40 rows, 120 columns\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    let stateful = workspace.json(&["tools", "t"])["stateful"].clone();
    assert_eq!(
        stateful,
        json!({
            "actions": ["spawn", "fetch", "apply"],
            "run": { "spawn": "unattended", "fetch": "unattended", "apply": "ask" },
            "notices": { "stopped": true, "waiting": false },
            "terminal": { "rows": 40, "cols": 120 },
        })
    );
}

/// Run rules, the title and the schema of results are shown, for people and for programs.
#[test]
fn rules_titles_and_outputs_are_shown() {
    let config = "[tools.t]\nsource='local'\ncommand='t'\ntitle='Do it'\nparameters.path={type='string'}\n\
                  run=[{arg='/path',prefix='src/',mode='unattended'},{mode='skip'}]\n\
                  output={type='object',required=['a'],properties={a={},b={}}}\n";
    let workspace = Workspace::with(config);
    let shown = workspace.run(&["tools", "t"]);
    for line in [
        "  title     Do it\n",
        "  run       unattended if `path` begins with \"src/\", else skip\n",
        "  output    an object of JSON: a, b?\n",
    ] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    let rules =
        json!([{ "arg": "/path", "prefix": "src/", "mode": "unattended" }, { "mode": "skip" }]);
    let shown = workspace.json(&["tools", "t"]);
    assert_eq!(shown["run"], rules);
    assert_eq!(shown["title"], "Do it");
    assert_eq!(shown["output_schema"]["required"], json!(["a"]));
    let listed = workspace.json(&["tools"]);
    let own = listed.as_array().and_then(|all| all.last());
    assert_eq!(own.map(|tool| &tool["run"]), Some(&rules));
    assert!(workspace.run(&["tools"]).contains("by arguments"));
}

/// S-050, S-055: what a model provider is given, in each form.
#[test]
fn s055_schemas_for_providers() {
    let config = "[tools.t]\nsource='local'\ncommand='t'\nstateful=true\nsummary='Does it.'\n\
                  parameters.word={type='string',required=true}\n";
    let workspace = Workspace::with(config);
    let names = |args: &[&str]| -> Vec<String> {
        let list = workspace.json(args);
        let list = list.as_array().unwrap().clone();
        let names = list
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned());
        names.collect()
    };
    assert_eq!(names(&["tools", "t", "--schema", "flat"]), ["t"]);
    let split = ["t_spawn", "t_fetch", "t_apply", "t_abort"];
    assert_eq!(names(&["tools", "t", "--schema", "split"]), split);
    let oneof = workspace.json(&["tools", "t", "--schema", "oneof"]);
    assert_eq!(oneof[0]["parameters"]["oneOf"].as_array().unwrap().len(), 4);
    let flat = workspace.json(&["tools", "t", "--schema", "flat"]);
    let actions = &flat[0]["parameters"]["properties"]["action"]["enum"];
    assert_eq!(*actions, json!(["spawn", "fetch", "apply", "abort"]));
    // Of all tools, those that wait for handles included.
    let all = names(&["tools", "--schema", "flat"]);
    assert!(
        all.contains(&"t".to_owned()) && all.contains(&"await".to_owned()),
        "{all:?}"
    );
}

/// G-003, X-09: the default of each runtime, printed as the rules that it comes to.
#[test]
fn defaults_are_shown_as_rules() {
    let runtimes = ["stdio", "vfs"].map(|runtime| {
        let config = format!("[tools.t]\nsource='local'\ncommand='t'\nruntime='{runtime}'\n");
        let shown = Workspace::with(&config).json(&["policy", "show", "t"]);
        let grants = shown["fs"][0]["grants"].as_array().unwrap().len();
        assert_eq!(shown["fs"][0]["default"], true);
        (
            grants,
            shown["any_command"].as_bool().unwrap(),
            shown["net"].as_array().unwrap().len(),
        )
    });
    assert_eq!(runtimes, [(5, true, 0), (1, false, 0)]);
}

/// G-052: a rule on a link is a rule on what it leads to, and that is said.
#[test]
fn a_rule_on_a_link_is_shown_with_its_target() {
    let config =
        "[tools.t]\nsource='local'\ncommand='t'\n[[tools.t.access.fs]]\npath='link'\nread=true\n";
    let workspace = Workspace::with(config);
    workspace.write("real/file", "");
    std::os::unix::fs::symlink("real", workspace.root.join("link")).unwrap();
    let shown = workspace.run(&["policy", "show", "t"]);
    assert!(shown.contains("link -> real"), "{shown}");
    let answer = workspace.json(&["policy", "explain", "t", "read", "real/file"]);
    assert_eq!(answer["decision"], "allow");
}

#[test]
fn settings_of_programs_are_shown_where_they_are_set() {
    let head = "[tools.t]\nsource='local'\ncommand='t'\n";
    let plain = Workspace::with(head);
    let shown = plain.run(&["tools", "t"]);
    for name in ["overlay", "repeatable", "proxy", "observe"] {
        assert!(!shown.contains(name), "{name}: {shown}");
    }
    let json = plain.json(&["tools", "t"]);
    assert_eq!(
        (&json["overlay"], &json["repeatable"]),
        (&json!(null), &json!(false))
    );
    let set = Workspace::with(&format!(
        "{head}overlay='ask'\nrepeatable=true\nsandbox={{proxy=true,observe=true}}\n"
    ));
    let shown = set.run(&["tools", "t"]);
    for line in ["overlay", "repeatable", "proxy", "observe"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let json = set.json(&["tools", "t"]);
    assert_eq!(
        (&json["overlay"], &json["repeatable"]),
        (&json!("ask"), &json!(true))
    );
    assert_eq!(json["sandbox"]["proxy"], true);
    assert_eq!(json["sandbox"]["observe"], true);
}
