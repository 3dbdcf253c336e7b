//! The final configuration as text.

use jig_config::{show, show_json};

use crate::workspace::Workspace;

const TOML: &str = r#"
[network]
resolver = "127.0.0.1:5353"

[tools.build]
source = "local"
overlay = "apply"
repeatable = true
command = { program = "make", args = ["-j", "\"quoted\""] }
enable = "explicit"
options = { level = 3, ratio = 0.5, when = 2024-05-01, nested = { list = [1, { a = 1 }], empty = {} } }

[tools.build.parameters.target]
type = "string"
enum = ["all", "clean\n"]

[[tools.build.access.fs]]
path = "."
read = true

[[tools.build.access.fs]]
path = "target"
read = true
write = true

[tools.build.access.commands.cc]
args = [["-c", "**"]]

[tools.build.sandbox]
observe = true
proxy = true
presets = ["rust"]
limits = { memory = "2GiB", time = false }

[tools.'dotted.name']
source = "mcp.web"

[mcp.servers.web]
url = "https://web.example/mcp"
"#;

/// Without the predefined tools, which come first.
fn own_part(text: &str) -> &str {
    let start = text.find("[tools.build]").expect("the tool");
    &text[start..]
}

#[test]
fn as_toml_with_origins() {
    let workspace = Workspace::with(TOML);
    let mut sources = workspace.sources();
    sources.sets.push("tools.build.run=unattended".to_owned());
    let config = jig_config::load(&sources).expect("it loads").config;
    insta::assert_snapshot!("with_origins", own_part(&show(&config, true)));
    insta::assert_snapshot!(
        "predefined_tool",
        show(&config, true)
            .split("\n[tools.fs_list_files]")
            .next()
            .unwrap_or_default()
    );
}

#[test]
fn what_is_shown_loads_as_the_same_tools() {
    let first = Workspace::with(TOML).config();
    for origin in [false, true] {
        let again = Workspace::with(&show(&first, origin)).config();
        assert_eq!(show(&again, false), show(&first, false));
        assert_eq!(show_json(&again, false), show_json(&first, false));
        let (one, two) = (&first.tools["build"], &again.tools["build"]);
        assert_eq!(one.options, two.options);
        assert_eq!(one.command, two.command);
        assert_eq!(one.parameters, two.parameters);
        assert_eq!(one.enable, two.enable);
        assert_eq!(one.sandbox, two.sandbox);
        assert_eq!((one.overlay, one.repeatable), (two.overlay, two.repeatable));
        assert_eq!(first.network, again.network);
    }
}

#[test]
fn as_json_with_origins() {
    let config = Workspace::with(TOML).config();
    let shown = show_json(&config, true);
    assert_eq!(shown["tools"]["build"]["access"]["fs"][1]["write"], true);
    assert_eq!(shown["tools"]["build"]["run"], "ask");
    let origin = &shown["origins"]["tools.build.access.fs[1].write"];
    let expected =
        serde_json::json!({ "layer": "workspace", "file": "jig.toml", "line": 24, "column": 9 });
    assert_eq!(*origin, expected);
    // Nobody wrote it, so it has no origin.
    assert_eq!(shown["origins"].get("tools.build.run"), None);
    assert_eq!(shown["origins"]["tools.'dotted.name'.source"]["line"], 36);
    assert_eq!(
        shown["origins"]["tools.build.sandbox.limits.memory"]["line"],
        33
    );
    assert_eq!(shown["network"]["resolver"], "127.0.0.1:5353");
    assert_eq!(shown["origins"]["network.resolver"]["line"], 3);
    assert_eq!(
        shown["origins"]["tools.fs_read_file.run"]["layer"],
        "built-in"
    );
    assert!(show_json(&config, false).get("origins").is_none());
    let nothing = Workspace::with("").config();
    assert_eq!(show_json(&nothing, true)["network"]["resolver"], "system");
    assert!(show(&nothing, true).starts_with("[network]\nresolver = \"system\"  # default\n"));
}
