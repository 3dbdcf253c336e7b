//! Typical mistakes: the message of each, and that doing what it says helps.

use jig_config::{ConfigErrors, Problem, Severity, Sources, load};

use crate::follow::{follow, follow_all};
use crate::workspace::Workspace;

/// Loading `wrong` fails with the message of the snapshot; loading `right` works.
pub(crate) fn check(name: &str, wrong: &str, right: &str) {
    check_in(name, Workspace::new, wrong, right);
}

fn check_in(name: &str, workspace: impl Fn() -> Workspace, wrong: &str, right: &str) {
    let errors = errors(&workspace().file("jig.toml", wrong).sources());
    insta::assert_snapshot!(name, errors.to_string());
    for problem in errors.problems() {
        assert!(!problem.help().is_empty(), "{name}: {}", problem.message());
        let json = problem.to_json();
        assert_eq!(json["file"], "jig.toml", "{name}");
        assert!(json["line"].as_u64() > Some(0), "{name}");
    }
    let corrected = workspace().file("jig.toml", right).load();
    let corrected = corrected.unwrap_or_else(|errors| panic!("{name}, corrected: {errors}"));
    follow_all(&errors, &corrected);
}

/// A mistake that only what stands in the workspace makes one: the rest goes on, and whoever checks is told.
fn check_tree(name: &str, workspace: impl Fn() -> Workspace, wrong: &str, right: &str) {
    let loaded = workspace().file("jig.toml", wrong).load();
    let loaded = loaded.unwrap_or_else(|errors| panic!("{name}: {errors}"));
    let problems = loaded.warnings.iter();
    let errors: Vec<&Problem> = problems
        .filter(|problem| problem.severity() == Severity::Error)
        .collect();
    let [error] = errors.as_slice() else {
        panic!("{name}: {errors:?}");
    };
    insta::assert_snapshot!(name, error.render(false));
    assert_eq!(error.to_json()["file"], "jig.toml", "{name}");
    let corrected = workspace().file("jig.toml", right).load();
    let corrected = corrected.unwrap_or_else(|errors| panic!("{name}, corrected: {errors}"));
    follow(error, &corrected.warnings);
}

fn errors(sources: &Sources) -> ConfigErrors {
    match load(sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors,
    }
}

/// A tool around the lines in question.
pub(crate) fn tool(lines: &str) -> String {
    format!("[tools.build]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n")
}

/// A rule on files around the lines in question.
fn fs(lines: &str) -> String {
    tool(&format!("\n[[tools.build.access.fs]]\n{lines}"))
}

fn net(lines: &str) -> String {
    tool(&format!("\n[[tools.build.access.net]]\n{lines}"))
}

fn env(lines: &str) -> String {
    tool(&format!("\n[[tools.build.access.env]]\n{lines}"))
}

#[test]
fn names_of_keys() {
    check(
        "misspelt_key",
        &tool("desciption = \"x\""),
        &tool("description = \"x\""),
    );
    check(
        "foreign_key",
        &tool("enabled = true"),
        &tool("enable = true"),
    );
    check("key_that_is_nothing", &tool("banana = true"), &tool(""));
    check(
        "misspelt_root",
        "[tool.build]\nsource = \"local\"",
        "[tools.build]\nsource = \"local\"\ncommand = \"make\"",
    );
    check(
        "misspelt_capability",
        &fs("path = \".\"\nraed = true"),
        &fs("path = \".\"\nread = true"),
    );
    check(
        "foreign_capability",
        &fs("path = \".\"\ndeny = true"),
        &fs("path = \".\""),
    );
    check(
        "foreign_net_key",
        &net("host = \"a.de\"\npath = \"/v1\""),
        &net("host = \"a.de\"\npath_prefix = \"/v1\""),
    );
    check(
        "tool_key_in_defaults",
        "[tools.'*']\nrunn = \"ask\"",
        "[tools.'*']\nrun = \"ask\"",
    );
    check(
        "own_key_in_defaults",
        "[tools.'*']\ncommand = \"make\"",
        "[tools.build]\nsource = \"local\"\ncommand = \"make\"",
    );
    check(
        "name_of_a_tool",
        "[tools.'my tool']\nsource = \"local\"\ncommand = \"make\"",
        "[tools.my_tool]\nsource = \"local\"\ncommand = \"make\"",
    );
    check(
        "missing_path",
        &fs("read = true"),
        &fs("path = \".\"\nread = true"),
    );
}

#[test]
fn types_and_words() {
    check("wrong_type", &tool("summary = 5"), &tool("summary = \"5\""));
    check(
        "quoted_boolean",
        &fs("path = \".\"\nread = \"true\""),
        &fs("path = \".\"\nread = true"),
    );
    check(
        "string_for_a_list",
        &tool("sandbox.filesystem.allow = \".\""),
        &tool("sandbox.filesystem.allow = [\".\"]"),
    );
    check(
        "one_bracket_for_a_rule",
        &tool("[tools.build.access.fs]\npath = \".\""),
        &tool("[[tools.build.access.fs]]\npath = \".\""),
    );
    check(
        "bad_word",
        &tool("run = \"unatended\""),
        &tool("run = \"unattended\""),
    );
    check(
        "word_that_is_none",
        &tool("run = \"auto\""),
        &tool("run = \"skip\""),
    );
    check(
        "bad_parameter_type",
        &tool("parameters.a.type = \"str\""),
        &tool("parameters.a.type = \"string\""),
    );
    check(
        "port_out_of_range",
        &net("host = \"a.de\"\nport = 70000"),
        &net("host = \"a.de\"\nport = 7000"),
    );
    check(
        "unknown_strategy",
        &tool("access.fs = { strategy = \"overwrite\", value = [] }"),
        &tool("access.fs = { strategy = \"replace\", value = [] }"),
    );
    check(
        "strategy_without_value",
        &tool("access.fs = { strategy = \"replace\" }"),
        &tool("access.fs = { strategy = \"replace\", value = [] }"),
    );
}

#[test]
fn sources_and_runtimes() {
    check(
        "bad_source",
        &tool("").replace("\"local\"", "\"npm\""),
        &tool(""),
    );
    check(
        "mcp_without_server",
        "[tools.a]\nsource = \"mcp\"",
        "[tools.a]\nsource = \"mcp.SERVER\"\n[mcp.servers.SERVER]\nurl = \"https://a.example\"",
    );
    check(
        "mcp_with_empty_server",
        "[tools.a]\nsource = \"mcp..search\"",
        "[tools.a]\nsource = \"mcp.web.search\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
    );
    // G-008.
    check(
        "missing_source",
        "[[tools.build.access.fs]]\npath = \".\"\n",
        "[tools.build]\nsource = \"local\"\ncommand = \"make\"\n[[tools.build.access.fs]]\npath = \".\"\n",
    );
    check(
        "misspelt_predefined_tool",
        "[tools.fs_raed_file]\nrun = \"ask\"",
        "[tools.fs_read_file]\nrun = \"ask\"",
    );
    check(
        "nothing_to_run",
        "[tools.build]\nsource = \"local\"",
        "[tools.build]\nsource = \"local\"\ncommand = \"PROGRAM ARGUMENTS\"",
    );
    check(
        "wasm_without_component",
        "[tools.a]\nsource = \"local\"\nruntime = \"wasm\"",
        "[tools.a]\nsource = \"local\"\nruntime = \"wasm\"\nwasm = \"tools/NAME.wasm\"",
    );
    check(
        "two_components",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"\ncommand = \"b.wasm\"",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"",
    );
    check(
        "stdio_with_component",
        "[tools.a]\nsource = \"local\"\nruntime = \"stdio\"\nwasm = \"a.wasm\"",
        "[tools.a]\nsource = \"local\"\nruntime = \"wasm\"\nwasm = \"a.wasm\"",
    );
    check(
        "no_such_builtin",
        "[tools.a]\nsource = \"local\"\nruntime = \"builtin\"",
        "[tools.a]\nsource = \"local\"\ncommand = \"make\"",
    );
    check(
        "absolute_wasm",
        "[tools.a]\nsource = \"local\"\nwasm = \"/opt/a.wasm\"",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"",
    );
    check(
        "open_quote_in_command",
        "[tools.a]\nsource = \"local\"\ncommand = \"echo 'hi\"",
        "[tools.a]\nsource = \"local\"\ncommand = { program = \"echo\", args = [\"hi\"] }",
    );
    check(
        "template_that_is_not_closed",
        "[tools.a]\nsource = \"local\"\ncommand = \"echo {{ tool.name\"",
        "[tools.a]\nsource = \"local\"\ncommand = \"echo {{tool.name}}\"",
    );
    check(
        "command_without_program",
        "[tools.a]\nsource = \"local\"\ncommand.args = [\"x\"]",
        "[tools.a]\nsource = \"local\"\ncommand.args = [\"x\"]\ncommand.program = \"echo\"",
    );
}

#[test]
fn rules_where_they_can_not_hold() {
    let rule = "[[tools.a.access.fs]]\npath = \".\"\nread = true\n";
    check(
        "access_on_builtin",
        &format!("[tools.a]\nsource = \"builtin\"\n{rule}"),
        "[tools.a]\nsource = \"builtin\"\n",
    );
    check(
        "access_on_mcp",
        &format!(
            "[tools.a]\nsource = \"mcp.web\"\n{rule}\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n"
        ),
        "[tools.a]\nsource = \"mcp.web\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
    );
    check(
        "sandbox_rules_on_mcp",
        "[tools.a]\nsource = \"mcp.web\"\nsandbox.network.allow = [\"a.de\"]\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
        "[tools.a]\nsource = \"mcp.web\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
    );
    check(
        "both_spellings",
        &tool("sandbox.filesystem.allow = [\".\"]\naccess.net = [{ host = \"a.de\" }]"),
        &tool("access.fs = [{ path = \".\", read = true }]\naccess.net = [{ host = \"a.de\" }]"),
    );
    check(
        "external_rule",
        &fs("path = \"data\"\nread = true\nexternal = true"),
        &tool("sandbox.system = [\"/usr/share/dict\"]"),
    );
}

#[test]
fn the_contents_of_rules() {
    check(
        "absolute_path",
        &fs("path = \"/etc\"\nread = true"),
        &tool("sandbox.system = [\"/etc\"]"),
    );
    check(
        "path_outside",
        &fs("path = \"../other\"\nread = true"),
        &fs("path = \"other\"\nread = true"),
    );
    check(
        "path_of_the_home",
        &fs("path = \"~/notes\"\nread = true"),
        &tool("sandbox.system = [\"~/notes\"]"),
    );
    check(
        "path_of_the_home_to_write",
        &tool("sandbox.filesystem = { allow = [\"~/notes\"], writable = true }"),
        &tool("sandbox.system = [{ path = \"~/notes\", write = true }]"),
    );
    check(
        "home",
        &fs("path = \"~\"\nread = true"),
        &fs("path = \"./~\"\nread = true"),
    );
    check(
        "host_is_a_url",
        &net("host = \"https://a.de:8080/v1\"\nallow = true"),
        &net(
            "host = \"a.de\"\nscheme = \"https\"\nport = 8080\npath_prefix = \"/v1\"\nallow = true",
        ),
    );
    check(
        "host_with_a_wildcard",
        &net("host = \"*a.de\"\nallow = true"),
        &net("host = \"*.a.de\"\nallow = true"),
    );
    check(
        "bad_host",
        &net("host = \"a b\"\nallow = true"),
        &net("host = \"api.example.com\"\nallow = true"),
    );
    check(
        "bad_path_prefix",
        &net("host = \"a.de\"\npath_prefix = \"v1\""),
        &net("host = \"a.de\"\npath_prefix = \"/v1\""),
    );
    check(
        "star_inside_a_variable",
        &env("name = \"AWS_*_KEY\"\nread = true"),
        &env("name = \"AWS_*\"\nread = true"),
    );
    check(
        "rest_inside_arguments",
        &tool("access.commands.git.args = [[\"**\", \"log\"]]"),
        &tool("access.commands.git.args = [[\"log\", \"**\"]]"),
    );
    check(
        "pattern_in_envs",
        &tool("access.commands.git.envs = [\"GIT_*\"]"),
        &tool("access.commands.git.envs = [\"GIT_DIR\"]"),
    );
    check(
        "relative_system_path",
        &tool("sandbox.system = [\"cache\"]"),
        &tool("sandbox.system = [\"/cache\"]"),
    );
    check(
        "sensitive_everything",
        &tool("sandbox.sensitive_paths = [\"*\"]"),
        &tool("sandbox.sensitive_paths = [\"*.pem\"]"),
    );
    check(
        "url_with_a_password",
        &tool("sandbox.network.allow = [\"https://me:pw@a.de\"]"),
        &tool("sandbox.network.allow = [\"https://a.de\"]"),
    );
}

#[test]
fn input_presets_and_limits_x_61() {
    check(
        "bad_input",
        &tool("input = \"stdinn\""),
        &tool("input = \"stdin\""),
    );
    check(
        "input_in_defaults",
        "[tools.'*']\ninput = \"stdin\"",
        &tool("input = \"stdin\""),
    );
    check(
        "foreign_limit_of_a_tool",
        &tool("timeout = 60"),
        &tool("sandbox.limits.time = \"10m\""),
    );
    check(
        "threshold_without_unit",
        &tool("size_threshold = \"256\""),
        &tool("size_threshold = \"10MB\""),
    );
    check(
        "threshold_lifted",
        &tool("size_threshold = false"),
        &tool("size_threshold = \"512MiB\""),
    );
    check(
        "unknown_preset",
        &tool("sandbox.presets = [\"pyton\", \"cobol\"]"),
        &tool("sandbox.presets = [\"python\", \"git\"]"),
    );
    check(
        "preset_without_brackets",
        &tool("sandbox.presets = \"rust\""),
        &tool("sandbox.presets = [\"rust\"]"),
    );
    check(
        "memory_in_bytes",
        &tool("sandbox.limits.memory = 512"),
        &tool("sandbox.limits.memory = \"512MiB\""),
    );
    check(
        "memory_in_a_strange_unit",
        &tool("sandbox.limits.memory = \"2G\""),
        &tool("sandbox.limits.memory = \"2GiB\""),
    );
    check(
        "memory_with_a_fraction",
        &tool("sandbox.limits.memory = 0.5"),
        &tool("sandbox.limits.memory = \"512MiB\""),
    );
    check(
        "zero_for_no_limit",
        &tool("sandbox.limits = { processes = 0, time = 0, file_size = 0 }"),
        &tool("sandbox.limits = { processes = false, time = false, file_size = false }"),
    );
    check(
        "word_for_no_limit",
        &tool("sandbox.limits.time = \"unlimited\""),
        &tool("sandbox.limits.time = false"),
    );
    check(
        "time_in_two_units",
        &tool("sandbox.limits.time = \"1h30m\""),
        &tool("sandbox.limits.time = \"90m\""),
    );
    check(
        "quoted_count",
        &tool("sandbox.limits.processes = \"64\""),
        &tool("sandbox.limits.processes = 64"),
    );
    check(
        "misspelt_limit",
        &tool("sandbox.limits.descriptor = 64\nsandbox.limits.timeout = 60"),
        &tool("sandbox.limits.descriptors = 64\nsandbox.limits.time = 60"),
    );
    check(
        "limit_beside_limits",
        &tool("sandbox.memory = \"1GiB\""),
        &tool("sandbox.limits.memory = \"1GiB\""),
    );
}

#[test]
fn templates_that_a_shell_would_calculate_with_j_004() {
    let command = |keys: &str| {
        let tool = "[tools.a]\nsource = \"local\"\nparameters.x.type = \"string\"\n";
        format!("{tool}command = {{ {keys} }}\n")
    };
    let shell = |program: &str| command(&format!("program = '{program}', shell = true"));
    check(
        "template_in_arithmetic",
        &shell("echo $(( {{tool.arguments.x}} + 1 ))"),
        &command("program = \"./add.sh\", args = [\"{{tool.arguments.x}}\"]"),
    );
    // Elsewhere a value is only text, whatever is around it.
    let quoted = shell("grep -r \"{{tool.arguments.x}}\" . {% if tool.arguments.x %}-n{% endif %}");
    assert!(Workspace::with(&quoted).load().is_ok());
    let plain = command("program = \"echo\", args = [\"$(({{tool.arguments.x}}))\"]");
    assert!(Workspace::with(&plain).load().is_ok());
}

#[test]
fn paths_that_no_tool_is_given() {
    check(
        "system_whole_machine",
        &tool("sandbox.system = [\"/\"]"),
        &tool("sandbox.system = [\"/opt/toolchain\"]"),
    );
    check(
        "system_processes",
        &tool("sandbox.system = [{ path = \"/proc/1\", write = true }]"),
        &tool(""),
    );
    check(
        "system_with_dots",
        &tool("sandbox.system = [\"/opt/../etc\"]"),
        &tool("sandbox.system = [\"/etc\"]"),
    );
}

#[test]
fn paths_inside_the_workspace_are_not_of_the_system() {
    let workspace = Workspace::new().file("cache/x", "");
    let root = workspace.root().to_owned();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(root.join("cache"), &link).expect("a link");
    let check = |path: &str, rule: &str| {
        let system = format!("sandbox.system = [{{ path = \"{path}\", write = true }}]");
        std::fs::write(root.join("jig.toml"), tool(&system)).expect("write a file");
        let errors = errors(&workspace.sources());
        let [problem] = errors.problems() else {
            panic!("{path}: {errors}");
        };
        assert!(
            problem.message().contains("lies inside the workspace"),
            "{errors}"
        );
        let line = format!("access.fs = [{{ path = \"{rule}\", read = true, write = true }}]");
        assert!(problem.help().contains(&line), "{errors}");
        assert_eq!(problem.key_path(), "tools.build.sandbox.system[0]");
        std::fs::write(root.join("jig.toml"), tool(&line)).expect("write a file");
        assert!(load(&workspace.sources()).is_ok(), "{line}");
    };
    check(root.as_str(), ".");
    check(&format!("{root}/cache/./new/"), "cache/new");
    check(&format!("{root}//cache"), "cache");
    // By the name of a link from elsewhere, too.
    check(link.to_str().expect("a UTF-8 path"), "cache");
    // What the workspace lies in is not inside it.
    let above = root.parent().expect("a parent");
    let outside = tool(&format!("sandbox.system = [\"{above}\"]"));
    std::fs::write(root.join("jig.toml"), outside).expect("write a file");
    assert!(load(&workspace.sources()).is_ok());
}

#[test]
fn links_that_leave_the_workspace_g_051() {
    let workspace = || {
        let workspace = Workspace::new();
        let link = |name: &str, target: &str| {
            std::os::unix::fs::symlink(target, workspace.path(name)).expect("a link");
        };
        link("out", "/usr");
        link("nowhere", "missing");
        workspace
    };
    check_tree(
        "link_out_of_the_workspace",
        workspace,
        &fs("path = \"out\"\nread = true"),
        &tool("sandbox.system = [\"/usr\"]"),
    );
    check_tree(
        "dangling_link",
        workspace,
        &fs("path = \"nowhere\"\nread = true"),
        &fs("path = \"missing\"\nread = true"),
    );
}

#[test]
fn toml_itself() {
    check(
        "duplicate_key",
        &tool("run = \"ask\"\nrun = \"skip\""),
        &tool("run = \"ask\""),
    );
    check("duplicate_table", &format!("{0}{0}", tool("")), &tool(""));
    check(
        "string_without_quotes",
        &tool("run = ask"),
        &tool("run = \"ask\""),
    );
    check(
        "yes_for_true",
        &tool("enable = yes"),
        &tool("enable = true"),
    );
    check("missing_value", &tool("run ="), &tool(""));
    check(
        "open_string",
        &tool("summary = \"never closed"),
        &tool("summary = \"never closed\""),
    );
    check(
        "open_list",
        "[tools.a]\nsource = \"local\"\ncommand = \"make\"\nexamples = [\"a\",\n",
        "[tools.a]\nsource = \"local\"\ncommand = \"make\"\nexamples = [\"a\",\n]",
    );
    check(
        "number_too_large",
        &net("host = \"a.de\"\nport = 99999999999999999999"),
        &net("host = \"a.de\"\nport = 443"),
    );
    check("nested_too_deeply", &format!("x{}=1", ".x".repeat(500)), "");
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let wrong = r#"
[tools.a]
sourc = "local"
command = "make"

[[tools.a.access.fs]]
path = "."
reed = true
write = 1

[tools.b]
source = "mcp"

[tools.c]
source = "local"
run = "sometimes"
"#;
    let right = r#"
[tools.a]
source = "local"
command = "make"

[[tools.a.access.fs]]
path = "."
read = true
write = true

[tools.b]
source = "mcp.web"

[tools.c]
source = "local"
command = "make"
run = "ask"

[mcp.servers.web]
url = "https://web.example/mcp"
"#;
    check("several_mistakes", wrong, right);
}

#[test]
fn mistakes_of_several_files_are_reported_together() {
    let workspace = Workspace::new()
        .file(
            ".jp/config.toml",
            "[conversation.tools.a]\nsource = \"mcp\"\n",
        )
        .file("jig.toml", "[tools.b]\nrun = 1\n")
        .file(".jig/config.toml", "[tools.c\n");
    let mut sources = workspace.sources();
    sources.sets.push("tools.d.run=sometimes".to_owned());
    let errors = errors(&sources);
    insta::assert_snapshot!("several_files", errors.to_string());
    let files: Vec<&str> = errors
        .problems()
        .iter()
        .filter_map(|one| one.source_name())
        .collect();
    assert_eq!(
        files,
        [".jp/config.toml", "jig.toml", ".jig/config.toml", "--set"]
    );
}

#[test]
fn conflicts_between_files_show_both_places() {
    let workspace = Workspace::new()
        .file(
            ".jp/config.toml",
            "[conversation.tools.build.sandbox]\nfilesystem.allow = [\".\"]\n",
        )
        .file("jig.toml", fs("path = \".\""));
    insta::assert_snapshot!(
        "both_spellings_in_two_files",
        errors(&workspace.sources()).to_string()
    );
}

#[test]
fn a_mistake_can_not_write_to_the_terminal() {
    let workspace = Workspace::with(
        "[tools.a]\n\"\\u001b[2J\" = \"\u{7f}\"\nrun = \"\\u001b]0;owned\\u0007\"\n",
    );
    for colour in [false, true] {
        let text = match workspace.load() {
            Ok(_) => panic!("it loads"),
            Err(errors) => errors.render(colour),
        };
        assert!(
            !text.contains("\u{1b}[2J") && !text.contains("\u{1b}]"),
            "{text:?}"
        );
        assert_eq!(text.contains('\u{1b}'), colour, "{text:?}");
    }
}

#[test]
fn network_and_resolver() {
    let right = "[network]\nresolver = \"127.0.0.1:5353\"\n";
    check(
        "resolver_by_name",
        "[network]\nresolver = \"dns.google\"\n",
        right,
    );
    check(
        "resolver_with_port_zero",
        "[network]\nresolver = \"1.1.1.1:0\"\n",
        right,
    );
    check(
        "resolver_nowhere",
        "[network]\nresolver = \"0.0.0.0\"\n",
        right,
    );
    check(
        "resolver_as_a_list",
        "[network]\nresolver = [\"1.1.1.1\"]\n",
        right,
    );
    check("network_dns", "[network]\ndns = \"1.1.1.1\"\n", right);
    check(
        "network_misspelt",
        "[network]\nresolvers = \"1.1.1.1\"\n",
        right,
    );
    check(
        "network_allow",
        "[network]\nallow = [\"a.de\"]\n",
        &net("host = \"a.de\"\nallow = true"),
    );
    check("dns_at_the_top", "dns = \"1.1.1.1\"\n", right);
    check(
        "network_of_a_tool",
        &tool("network.allow = [\"a.de\"]"),
        &net("host = \"a.de\"\nallow = true"),
    );
}

#[test]
fn settings_of_programs() {
    let observed = tool("sandbox.observe = true");
    check("observed", &tool("sandbox.observed = true"), &observed);
    check(
        "observe_outside_the_sandbox",
        &tool("observe = true"),
        &observed,
    );
    check(
        "observe_quoted",
        &tool("sandbox.observe = \"true\""),
        &observed,
    );
    check("watch", &tool("sandbox.watch = true"), &observed);
    let proxy = tool("sandbox.proxy = true");
    check(
        "proxy_with_an_address",
        &tool("sandbox.proxy = \"http://127.0.0.1:3128\""),
        &proxy,
    );
    check("proxy_outside_the_sandbox", &tool("proxy = true"), &proxy);
    let repeatable = tool("repeatable = true");
    check("idempotent", &tool("idempotent = true"), &repeatable);
    check(
        "repeatable_in_the_sandbox",
        &tool("sandbox.repeatable = true"),
        &repeatable,
    );
    check(
        "repeatable_for_all",
        "[tools.'*']\nrepeatable = true\n",
        &repeatable,
    );
}

#[test]
fn overlays() {
    let right = tool("overlay = \"ask\"");
    check("overlay_as_a_boolean", &tool("overlay = true"), &right);
    check(
        "overlay_with_a_strange_word",
        &tool("overlay = \"keep\""),
        &right,
    );
    check(
        "overlay_misspelt",
        &tool("overlay = \"discrad\""),
        &tool("overlay = \"discard\""),
    );
    check(
        "overlay_in_the_sandbox",
        &tool("sandbox.overlay = \"ask\""),
        &right,
    );
    check(
        "overlay_for_all",
        "[tools.'*']\noverlay = \"ask\"\n",
        &right,
    );
    check(
        "overlay_of_a_mediated_tool",
        &tool("runtime = \"vfs\"\noverlay = \"ask\""),
        &tool("runtime = \"vfs\""),
    );
    check(
        "overlay_of_a_component",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"\noverlay = \"apply\"\n",
        "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"\n",
    );
    check(
        "overlay_of_a_builtin_tool",
        "[tools.fs_create_file]\noverlay = \"discard\"\n",
        "[tools.fs_create_file]\nrun = \"ask\"\n",
    );
    check(
        "overlay_of_a_stateful_tool",
        &tool("stateful = true\noverlay = \"ask\""),
        &tool("stateful = false\noverlay = \"ask\""),
    );
}
