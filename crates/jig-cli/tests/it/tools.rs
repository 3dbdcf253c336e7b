//! `jig tools` and `jig policy show`.

use insta::assert_snapshot;

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

/// the default of each runtime, printed as the rules that it comes to.
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
