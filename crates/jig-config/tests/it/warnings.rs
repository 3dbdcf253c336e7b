//! Configurations that load and deserve a word.

use crate::workspace::Workspace;

const TOOL: &str = "[tools.a]\nsource = \"local\"\ncommand = \"make\"\n";

/// Loading `odd` gives the warnings of the snapshot, `plain` none.
fn check(name: &str, odd: &str, plain: &str) {
    check_in(name, Workspace::new, odd, plain);
}

fn check_in(name: &str, workspace: impl Fn() -> Workspace, odd: &str, plain: &str) {
    let warnings = |toml: &str| {
        let loaded = workspace().file("jig.toml", toml).load();
        let loaded = loaded.unwrap_or_else(|errors| panic!("{name}: {errors}"));
        loaded.warnings
    };
    let found = warnings(odd);
    assert!(!found.is_empty(), "{name}: no warning");
    let text: Vec<String> = found.iter().map(|one| one.render(false)).collect();
    insta::assert_snapshot!(name, text.join("\n\n"));
    for problem in &found {
        assert_eq!(problem.to_json()["severity"], "warning");
        assert!(
            !problem.help().is_empty() && !problem.key_path().is_empty(),
            "{name}"
        );
    }
    let rest: Vec<String> = warnings(plain)
        .iter()
        .map(|one| one.render(false))
        .collect();
    assert_eq!(rest, [""; 0], "{name}, with the help followed");
}

fn fs(rules: &[&str]) -> String {
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| format!("    {{ {rule} }},\n"))
        .collect();
    format!("{TOOL}access.fs = [\n{}]\n", rules.concat())
}

#[test]
fn rules_that_never_apply() {
    check(
        "same_path_twice",
        &fs(&[
            "path = \"src\", read = true",
            "path = \"./src/\", write = true",
        ]),
        &fs(&["path = \"src\", read = true, write = true"]),
    );
    check(
        "same_host_twice",
        &format!(
            "{TOOL}access.net = [\n  {{ host = \"a.de\" }},\n  {{ host = \"A.de\", allow = true }},\n]"
        ),
        &format!("{TOOL}access.net = [\n  {{ host = \"A.de\", allow = true }},\n]"),
    );
    check(
        "same_variable_twice",
        &format!(
            "{TOOL}access.env = [\n  {{ name = \"A\" }},\n  {{ name = \"A\", read = true }},\n]"
        ),
        &format!("{TOOL}access.env = [\n  {{ name = \"A\", read = true }},\n]"),
    );
}

#[test]
fn rules_that_change_nothing() {
    check(
        "granted_by_a_broader_rule",
        &fs(&["path = \".\", read = true", "path = \"src\", read = true"]),
        &fs(&["path = \".\", read = true"]),
    );
    check(
        "host_allowed_by_a_broader_rule",
        &format!(
            "{TOOL}access.net = [\n  {{ host = \"a.de\", allow = true }},\n  {{ host = \"a.de\", path_prefix = \"/v1\", allow = true }},\n]"
        ),
        &format!("{TOOL}access.net = [\n  {{ host = \"a.de\", allow = true }},\n]"),
    );
    check(
        "variable_granted_by_a_prefix",
        &format!(
            "{TOOL}access.env = [\n  {{ name = \"AWS_*\", read = true }},\n  {{ name = \"AWS_REGION\", read = true }},\n]"
        ),
        &format!("{TOOL}access.env = [\n  {{ name = \"AWS_*\", read = true }},\n]"),
    );
    check(
        "empty_list",
        &format!("{TOOL}access.fs = []\n"),
        &fs(&["path = \".\""]),
    );
}

#[test]
fn rules_that_matter_get_no_warning() {
    let plain = |toml: &str| {
        let loaded = Workspace::with(toml)
            .load()
            .unwrap_or_else(|errors| panic!("{errors}"));
        let text: Vec<String> = loaded
            .warnings
            .iter()
            .map(|one| one.render(false))
            .collect();
        assert_eq!(text, [""; 0], "{toml}");
    };
    // The same grants again, below one that takes them away.
    plain(&fs(&[
        "path = \".\", read = true",
        "path = \"src\"",
        "path = \"src/open\", read = true",
    ]));
    // A closed corner, and a host on another port.
    plain(&format!(
        "{TOOL}access.net = [{{ host = \"a.de\", allow = true }}, {{ host = \"a.de\", path_prefix = \"/x\" }}, {{ host = \"a.de\", path_prefix = \"/x/y\", allow = true }}, {{ host = \"a.de\", port = 8080, allow = true }}]"
    ));
    // `*` of a variable's name is no name.
    plain(&format!(
        "{TOOL}access.env = [{{ name = \"A*\", read = true }}, {{ name = \"AB\" }}]"
    ));
    plain("");
}

#[test]
fn rules_that_open_what_is_sensitive() {
    check(
        "sensitive_path",
        &fs(&["path = \".\", read = true", "path = \".env\", read = true"]),
        &fs(&["path = \".\", read = true"]),
    );
    check(
        "own_configuration",
        &fs(&[
            "path = \".\", read = true",
            "path = \"jig.toml\", read = true, write = true",
        ]),
        &fs(&["path = \".\", read = true"]),
    );
    check(
        "folder_of_jig",
        &fs(&[
            "path = \".\", read = true",
            "path = \".jig/cache\", read = true, write = true",
        ]),
        &fs(&["path = \".\", read = true"]),
    );
    check(
        "program_of_another_tool",
        &format!(
            "{}[tools.b]\nsource = \"local\"\ncommand = \"tools/b.sh\"\n",
            fs(&["path = \"tools/b.sh\", write = true"])
        ),
        &format!(
            "{}[tools.b]\nsource = \"local\"\ncommand = \"tools/b.sh\"\n",
            fs(&["path = \".\", read = true"])
        ),
    );
}

#[test]
fn a_hidden_file_with_a_readable_history() {
    let repository = || {
        Workspace::new()
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .file("secret.txt", "x")
    };
    check_in(
        "readable_history",
        repository,
        &fs(&["path = \".\", read = true", "path = \"secret.txt\""]),
        &fs(&[
            "path = \".\", read = true",
            "path = \"secret.txt\"",
            "path = \".git\"",
        ]),
    );
}

#[test]
fn a_path_that_is_nearly_another() {
    let workspace = || {
        Workspace::new()
            .file("src/lib.rs", "")
            .file("docs/guide/a.md", "")
    };
    check_in(
        "nearly_a_path",
        workspace,
        &fs(&["path = \"scr\", read = true"]),
        &fs(&["path = \"src\", read = true"]),
    );
    check_in(
        "nearly_a_nested_path",
        workspace,
        &fs(&["path = \"docs/guides\", read = true"]),
        &fs(&["path = \"docs/guide\", read = true"]),
    );
    // A path that is like none may be meant for later.
    let later = workspace()
        .file("jig.toml", fs(&["path = \"target\", write = true"]))
        .load();
    assert!(later.expect("it loads").warnings.is_empty());
}

#[test]
fn settings_that_are_ignored_w_042_w_043() {
    check(
        "command_beside_wasm",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"\ncommand = \"make\"",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"",
    );
    check(
        "wasm_of_an_mcp_tool",
        "[tools.a]\nsource = \"mcp.web\"\nwasm = \"a.wasm\"\nruntime = \"wasm\"\ncommand = \"make\"",
        "[tools.a]\nsource = \"mcp.web\"",
    );
    check(
        "runtime_of_a_builtin_tool",
        "[tools.a]\nsource = \"builtin\"\nruntime = \"vfs\"",
        "[tools.a]\nsource = \"builtin\"",
    );
    check(
        "command_of_a_predefined_tool",
        "[tools.fs_read_file]\ncommand = \"cat\"",
        "[tools.fs_read_file]\ncommand = \"cat\"\nruntime = \"stdio\"",
    );
    check(
        "program_with_a_space",
        &format!("{TOOL}access.commands.'git log' = {{}}"),
        &format!("{TOOL}access.commands.\"git\".args = [[\"log\", \"**\"]]"),
    );
    check(
        "defaults_that_do_not_hold",
        "[tools.'*']\naccess.fs = [{ path = \".\", read = true }]\n[tools.a]\nsource = \"mcp.web\"\n",
        "[tools.fs_read_file]\naccess.fs = [{ path = \".\", read = true }]\n[tools.a]\nsource = \"mcp.web\"\n",
    );
}
