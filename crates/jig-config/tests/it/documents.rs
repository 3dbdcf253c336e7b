//! The configurations that the documents show, in our own words: each loads and means what the
//! text around it says.

use jig_config::{Config, Layer, RunMode, RuntimeKind, ToolSource};
use jig_policy::{Capability, DefaultAccess, EnvUse, NetTarget, Policy, Verdict};

use crate::workspace::Workspace;

/// `path: grants (origin)` for every rule on files of a tool.
fn fs_rules(config: &Config, tool: &str) -> Vec<String> {
    let tool = config.tool(tool).expect("the tool");
    let rules = tool.access.fs.iter();
    rules
        .map(|rule| format!("{}: {} ({})", rule.path, rule.capabilities, rule.origin))
        .collect()
}

fn policy(workspace: &Workspace, tool: &str) -> Policy {
    let config = workspace.config();
    let on_disk = jig_policy::Workspace::on_disk(workspace.root()).expect("the workspace");
    let tool = config.tool(tool).expect("the tool");
    config
        .policy(tool, &on_disk)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// What a policy grants on a path of an empty workspace.
fn grants(workspace: &Workspace, policy: &Policy, path: &str) -> String {
    let on_disk = jig_policy::Workspace::on_disk(workspace.root()).expect("the workspace");
    let target = on_disk.resolve(path).expect("a path of the workspace");
    let all: jig_policy::FileCapabilities = Capability::ALL
        .into_iter()
        .filter(|one| policy.decide_fs(*one, &target).is_allowed())
        .collect();
    all.to_string()
}

#[test]
fn a_tool_that_may_write_in_one_folder_g_001_g_002() {
    let workspace = Workspace::new().file(
        ".jp/config.toml",
        r#"
[conversation.tools.fs_create_file]
enable = true
run = "unattended"

[[conversation.tools.fs_create_file.access.fs]]
path = "."
read = true

[[conversation.tools.fs_create_file.access.fs]]
path = "generated/tools"
read = true
write = true

[[conversation.tools.fs_modify_file.access.fs]]
path = "."
read = true

[[conversation.tools.fs_modify_file.access.fs]]
path = "generated/tools"
read = true
write = true
"#,
    );
    let config = workspace.config();
    let tool = config.tool("fs_create_file").expect("a predefined tool");
    // The predefined tools bring their source along.
    assert_eq!(tool.source, ToolSource::Local { tool: None });
    assert!(tool.run.spawn.is_always(RunMode::Unattended));
    assert!(tool.enable.on);
    assert_eq!(
        tool.origin("run").map(ToString::to_string).as_deref(),
        Some(".jp/config.toml:4")
    );
    assert_eq!(
        fs_rules(&config, "fs_create_file"),
        [
            ".: read (.jp/config.toml:6)",
            "generated/tools: read + write (.jp/config.toml:10)"
        ]
    );
    assert_eq!(
        fs_rules(&config, "fs_modify_file"),
        [
            ".: read (.jp/config.toml:15)",
            "generated/tools: read + write (.jp/config.toml:19)"
        ]
    );
    // Nothing else was declared for the second one.
    let modes = &config.tool("fs_modify_file").expect("a tool").run;
    assert!(modes.spawn.is_always(RunMode::Ask));
}

#[test]
fn nothing_declared_leaves_the_default_of_the_runtime_x_09() {
    let config = Workspace::with(
        r#"
[tools.script]
source = "local"
command = "true"
[tools.mediated]
source = "local"
command = "true"
runtime = "vfs"
[tools.component]
source = "local"
wasm = "tool.wasm"
"#,
    )
    .config();
    let check = |tool: &str, default: DefaultAccess| {
        let tool = config.tool(tool).expect("the tool");
        assert_eq!(
            tool.access,
            jig_policy::DeclaredAccess::default(),
            "{}",
            tool.name
        );
        assert_eq!(tool.default_access, default, "{}", tool.name);
    };
    check("script", DefaultAccess::STDIO);
    check("mediated", DefaultAccess::VFS);
    check("component", DefaultAccess::WASM);
    check("fs_read_file", DefaultAccess::READ_ONLY);
    check("fs_move_file", DefaultAccess::READ_WRITE);
}

#[test]
fn rules_of_two_layers_are_appended_g_011_g_015() {
    let config = Workspace::new()
        .file(
            ".jp/config.toml",
            "[[conversation.tools.fs_create_file.access.fs]]\npath = \".\"\nread = true\n",
        )
        .file(
            "jig.toml",
            "[[tools.fs_create_file.access.fs]]\npath = \"out\"\nread = true\nwrite = true\n",
        )
        .config();
    assert_eq!(
        fs_rules(&config, "fs_create_file"),
        [
            ".: read (.jp/config.toml:1)",
            "out: read + write (jig.toml:1)"
        ]
    );
}

#[test]
fn a_layer_can_replace_the_rules_below_it_g_012_g_014() {
    let config = Workspace::new()
        .file(
            ".jp/config.toml",
            "[[conversation.tools.fs_create_file.access.fs]]\npath = \".\"\nread = true\n",
        )
        .file(
            "jig.toml",
            r#"
[conversation.tools.fs_create_file.access.fs]
strategy = "replace"
value = [
    { path = "out", read = true, write = true },
]
"#,
        )
        .config();
    assert_eq!(
        fs_rules(&config, "fs_create_file"),
        ["out: read + write (jig.toml:5)"]
    );
    // A rule that is added takes nothing away.
    let added = Workspace::new()
        .file(
            ".jp/config.toml",
            "[[conversation.tools.fs_create_file.access.fs]]\npath = \".\"\nread = true\n",
        )
        .file(
            "jig.toml",
            "[[conversation.tools.fs_create_file.access.fs]]\npath = \"out\"\n",
        )
        .config();
    assert_eq!(
        fs_rules(&added, "fs_create_file"),
        [".: read (.jp/config.toml:1)", "out: nothing (jig.toml:1)"]
    );
}

#[test]
fn a_rule_without_capabilities_denies_g_033() {
    let workspace = Workspace::with(
        r#"
[[tools.fs_create_file.access.fs]]
path = "."
read = true
[[tools.fs_create_file.access.fs]]
path = "out"
read = true
write = true
[[tools.fs_create_file.access.fs]]
path = "private"
# all capabilities are off
"#,
    );
    let policy = policy(&workspace, "fs_create_file");
    assert_eq!(grants(&workspace, &policy, "a.txt"), "read");
    assert_eq!(grants(&workspace, &policy, "out/a.txt"), "read + write");
    assert_eq!(grants(&workspace, &policy, "private/key"), "nothing");
    assert_eq!(grants(&workspace, &policy, "private_not/key"), "read");
}

#[test]
fn write_stands_for_three_and_each_wins_over_it_g_036() {
    let check = |keys: &str, granted: &str| {
        let toml = format!("[[tools.fs_create_file.access.fs]]\npath = \"out\"\n{keys}\n");
        let config = Workspace::with(&toml).config();
        let rule = &config.tool("fs_create_file").expect("the tool").access.fs[0];
        assert_eq!(rule.capabilities.to_string(), granted, "{keys}");
    };
    check("write = true", "write");
    check("write = true\ndelete = false", "create + update");
    check("create = true", "create");
    check("write = false\nupdate = true", "update");
    check("read = true\nexecute = true", "read + execute");
    check("", "nothing");
}

#[test]
fn the_longest_path_decides_g_040() {
    let workspace = Workspace::with(
        r#"
[tools.fs_create_file]
access.fs = [
    { path = ".", read = true, write = true },
    { path = "src", read = true },
    { path = "src/generated", read = true, write = true },
]
"#,
    );
    let policy = policy(&workspace, "fs_create_file");
    assert_eq!(grants(&workspace, &policy, "README.md"), "read + write");
    assert_eq!(grants(&workspace, &policy, "src/lib.rs"), "read");
    assert_eq!(
        grants(&workspace, &policy, "src/generated/schema.rs"),
        "read + write"
    );
    assert_eq!(grants(&workspace, &policy, "tests/main.rs"), "read + write");
}

#[test]
fn a_host_with_a_closed_corner_g_079() {
    let workspace = Workspace::with(
        r#"
[[tools.fs_read_file.access.net]]
host = "api.github.com"
allow = true

[[tools.fs_read_file.access.net]]
host = "api.github.com"
path_prefix = "/admin"
allow = false
"#,
    );
    let policy = policy(&workspace, "fs_read_file");
    let check = |url: &str, verdict: Verdict| {
        let target = NetTarget::parse(url).expect("a URL");
        assert_eq!(policy.decide_net(&target).verdict, verdict, "{url}");
    };
    check("https://api.github.com/repos", Verdict::Allow);
    check("https://api.github.com/admin/users", Verdict::Deny);
    check("https://api.github.com.evil.com/", Verdict::Uncovered);
    check("https://example.com", Verdict::Uncovered);
}

#[test]
fn variables_by_name_and_by_prefix_g_093() {
    let workspace = Workspace::with(
        r#"
[[tools.fs_read_file.access.env]]
name = "GITHUB_TOKEN"
read = true
[[tools.fs_read_file.access.env]]
name = "AWS_*"
read = true
[[tools.fs_read_file.access.env]]
name = "AWS_SECRET_ACCESS_KEY"
read = false
"#,
    );
    let policy = policy(&workspace, "fs_read_file");
    let check = |name: &str, verdict: Verdict| {
        assert_eq!(
            policy.decide_env(EnvUse::Read, name).verdict,
            verdict,
            "{name}"
        );
    };
    check("GITHUB_TOKEN", Verdict::Allow);
    check("GITHUB_TOKEN_LOG", Verdict::Uncovered);
    check("AWS_REGION", Verdict::Allow);
    check("AWS_SECRET_ACCESS_KEY", Verdict::Deny);
    check("HOME", Verdict::Uncovered);
}

#[test]
fn a_mediated_tool_with_the_other_spelling_v_160_v_161() {
    let workspace = Workspace::with(
        r#"
[tools.smart_editor]
source = "local"
command = ".config/tools/editor fs modify_file"
runtime = "vfs"

[tools.smart_editor.sandbox]
filesystem.allow = ["."]
filesystem.writable = true
"#,
    );
    let config = workspace.config();
    let tool = config.tool("smart_editor").expect("the tool");
    assert_eq!(tool.runtime, RuntimeKind::Vfs);
    let command = tool.command.as_ref().expect("a command");
    assert_eq!(command.program, ".config/tools/editor");
    assert_eq!(command.args, ["fs", "modify_file"]);
    assert_eq!(
        fs_rules(&config, "smart_editor"),
        [".: read + write (jig.toml:8)"]
    );
    let policy = policy(&workspace, "smart_editor");
    assert_eq!(grants(&workspace, &policy, "src/lib.rs"), "read + write");
}

#[test]
fn a_wasm_tool_w_040_w_041() {
    let config = Workspace::new()
        .file(
            ".jp/config.toml",
            r#"
[conversation.tools.my_custom_tool]
source = "local"
wasm = ".jp/tools/my_custom_tool.wasm"
description = "A component of our own"
parameters.input.type = "string"
parameters.input.required = true
"#,
        )
        .config();
    let tool = config.tool("my_custom_tool").expect("the tool");
    assert_eq!(tool.runtime, RuntimeKind::Wasm);
    assert_eq!(
        tool.wasm.as_ref().map(|path| path.as_str()),
        Some(".jp/tools/my_custom_tool.wasm")
    );
    assert_eq!(tool.description.as_deref(), Some("A component of our own"));
    assert_eq!(tool.declared_at().layer(), Layer::Workspace);
    assert_eq!(
        tool.input_schema(),
        serde_json::json!({
            "type": "object",
            "properties": { "input": { "type": "string" } },
            "required": ["input"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_wasm_tool_with_a_parameter_table_w_071() {
    let config = Workspace::new()
        .file(
            ".jp/config.toml",
            r#"
[conversation.tools.wasm_test]
source = "local"
wasm = ".jp/tools/test_tool.wasm"
description = "Reads a file of the workspace"

[conversation.tools.wasm_test.parameters.path]
type = "string"
description = "The file, relative"
required = true
"#,
        )
        .config();
    let tool = config.tool("wasm_test").expect("the tool");
    assert_eq!(tool.runtime, RuntimeKind::Wasm);
    assert_eq!(tool.default_access, DefaultAccess::WASM);
    let path = &tool.parameters["path"];
    assert!(path.required);
    assert_eq!(path.description.as_deref(), Some("The file, relative"));
}

#[test]
fn a_rule_that_can_not_be_compiled_any_more_is_shown_at_its_place_j_028() {
    let workspace =
        Workspace::with("[[tools.fs_read_file.access.fs]]\npath = \"data\"\nread = true\n");
    let config = workspace.config();
    let on_disk = jig_policy::Workspace::on_disk(workspace.root()).expect("the workspace");
    let tool = config.tool("fs_read_file").expect("the tool");
    assert!(config.policy(tool, &on_disk).is_ok());
    // After loading, the path becomes a link that leaves the workspace.
    std::os::unix::fs::symlink("/usr", workspace.path("data")).expect("a link");
    let errors = config
        .policy(tool, &on_disk)
        .expect_err("the rule leaves the workspace");
    let problem = &errors.problems()[0];
    assert_eq!(problem.key_path(), "tools.fs_read_file.access.fs[0]");
    assert_eq!(
        problem.origin().map(ToString::to_string).as_deref(),
        Some("jig.toml:2")
    );
    assert!(problem.message().contains("symbolic link"), "{errors}");
}
