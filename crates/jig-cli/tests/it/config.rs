//! `jig config`, and how configuration that is not valid reaches a person and a program.

use insta::assert_snapshot;

use super::Workspace;

#[test]
fn a_valid_configuration_is_called_so() {
    let workspace = Workspace::with("[tools.fs_read_file]\nrun = 'ask'\n");
    assert_snapshot!(workspace.run(&["config", "check"]), @"
    valid: jig.toml; 11 tools
    [exit 0]
    ");
    let answer = workspace.json(&["config", "check"]);
    assert_eq!(answer["valid"], true);
    assert_eq!(answer["files"][0], "jig.toml");
    let workspace = Workspace::with("[mcp.servers.a]\ncommand = ['python3', 'a.py']\n");
    assert_snapshot!(workspace.run(&["config", "check"]), @"
    valid: jig.toml; 11 tools, 1 MCP server
    [exit 0]
    ");
    assert_eq!(workspace.json(&["config", "check"])["servers"], 1);
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let workspace = Workspace::with("[tools.fs_read_file]\nrunn = 'ask'\n");
    let text = workspace.run(&["config", "check"]);
    assert_snapshot!(text);
    assert_eq!(
        workspace.run(&["tools"]),
        text,
        "every command refuses it in the same way"
    );
    let answer = workspace.json(&["config", "check"]);
    assert_eq!(answer["valid"], false);
    let problem = &answer["problems"][0];
    assert_eq!(problem["file"], "jig.toml");
    assert_eq!(problem["line"], 2);
    assert!(
        problem["help"].as_str().unwrap().contains("run"),
        "{problem:#}"
    );
}

#[test]
fn layers_are_merged_and_every_value_knows_its_origin() {
    let workspace = Workspace::with("[tools.fs_read_file]\nrun = 'ask'\n");
    workspace.write(
        ".jp/config.toml",
        "[assistant]\nname = 'x'\n[conversation.tools.fs_read_file]\nresult = 'ask'\n",
    );
    workspace.write("more.toml", "[tools.fs_read_file]\nformat = 'ask'\n");
    let args = [
        "--config",
        "more.toml",
        "--set",
        "tools.fs_read_file.summary=Mine",
    ];
    let show = [&args[..], &["config", "show", "--origin", "fs_read_file"]].concat();
    let shown = workspace.run(&show);
    for expected in [
        "run = \"ask\"  # jig.toml:2",
        "result = \"ask\"  # .jp/config.toml:4",
        "format = \"ask\"  # more.toml:2",
        "summary = \"Mine\"  # --set",
        "source = \"local\"  # built-in",
    ] {
        assert!(shown.contains(expected), "no `{expected}` in {shown}");
    }
    let output = workspace
        .jig(&["config", "show", "fs_read_file", "--json", "--origin"])
        .env("JIG_CFG__TOOLS__FS_READ_FILE__RUN", "skip")
        .output()
        .unwrap();
    let shown = super::parsed(&output);
    assert_eq!(shown["tools"]["fs_read_file"]["run"], "skip");
    assert_eq!(
        shown["origins"]["tools.fs_read_file.run"]["layer"],
        "environment"
    );
}

/// What `config show` prints is itself a configuration with the same meaning.
#[test]
fn what_is_shown_loads_again() {
    let config =
        "[tools.t]\nsource='local'\ncommand='t'\n[[tools.t.access.fs]]\npath='src'\nread=true\n";
    let workspace = Workspace::with(config);
    let shown = workspace.jig(&["config", "show"]).output().unwrap().stdout;
    let again = Workspace::new();
    again.write("jig.toml", &shown);
    assert_eq!(
        again.json(&["config", "show"]),
        workspace.json(&["config", "show"])
    );
}

#[test]
fn the_user_has_a_configuration_too() {
    let workspace = Workspace::new();
    let folder = workspace.home.join(".config/jig");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("config.toml"),
        "[tools.fs_read_file]\nrun = 'ask'\n",
    )
    .unwrap();
    let shown = workspace.json(&["config", "show"]);
    assert_eq!(shown["tools"]["fs_read_file"]["run"], "ask");
    workspace.write("jig.toml", "[tools.fs_read_file]\nrun = 'edit'\n");
    let shown = workspace.json(&["config", "show"]);
    assert_eq!(
        shown["tools"]["fs_read_file"]["run"], "edit",
        "the workspace is above the user"
    );
}

#[test]
fn the_workspace_is_found_from_below() {
    let workspace = Workspace::with("[tools.fs_read_file]\nrun = 'ask'\n");
    workspace.write("a/b/file", "");
    let mut command = workspace.jig(&["--json", "config", "check"]);
    let output = command
        .current_dir(workspace.root.join("a/b"))
        .output()
        .unwrap();
    assert_eq!(super::parsed(&output)["files"][0], "jig.toml");
    let elsewhere = workspace.json(&["-C", "a", "config", "check"]);
    assert_eq!(
        elsewhere["files"].as_array().unwrap().len(),
        0,
        "the folder that was named"
    );
}

#[test]
fn the_schema_is_json_schema() {
    let schema = Workspace::new().json(&["config", "schema"]);
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert!(schema["$defs"]["configuration"]["properties"]["tools"].is_object());
}

/// The list of keys in the documentation is generated; this finds a key that is not in it.
#[test]
fn the_documentation_knows_every_key() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let schema = Workspace::new().json(&["config", "schema"]);
    let mut keys = 0;
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        for (key, property) in definition["properties"].as_object().unwrap() {
            let about = property["description"].as_str().unwrap();
            let about = about.lines().next().unwrap();
            // Those at the top are described in the text above the list, and by what they hold.
            let described =
                ["configuration", "providers", "section_of_JP"].contains(&name.as_str());
            let listed = docs.contains(&format!("| `{key}` |")) && docs.contains(about);
            assert!(
                described || listed,
                "`{key}` is missing: run `cargo xtask generate`"
            );
            keys += 1;
        }
    }
    assert!(keys > 40, "the schema has keys");
}
