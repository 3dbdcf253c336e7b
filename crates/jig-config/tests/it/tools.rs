//! The settings of a tool, from their spellings to their types.

use jig_config::{Config, Parameter, ParameterType, Runtime, Source, ToolName};
use jig_policy::{Access, DefaultAccess};

use crate::workspace::Workspace;

fn tool(lines: &str) -> Config {
    Workspace::with(&format!(
        "[tools.a]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n"
    ))
    .config()
}

#[test]
fn sources_j_021() {
    let check = |text: &str, kind: &str, name: Option<&str>| {
        let source: Source = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((source.kind(), source.tool()), (kind, name), "{text}");
        assert_eq!(source.to_string(), text);
    };
    check("local", "local", None);
    check("local.other", "local", Some("other"));
    check("builtin", "builtin", None);
    check("builtin.learn", "builtin", Some("learn"));
    check("mcp.web", "mcp", None);
    check("mcp.web.search", "mcp", Some("search"));
    check("mcp.web.search.v2", "mcp", Some("search.v2"));
    for bad in [
        "",
        "mcp",
        "mcp.",
        "mcp..tool",
        "mcp.web.",
        "local.",
        "local..x",
        "Local",
        "npm",
        ".local",
    ] {
        assert!(bad.parse::<Source>().is_err(), "{bad}");
    }
}

#[test]
fn enable_in_all_its_forms_j_022() {
    let check = |value: &str, on: bool, toggle: &str| {
        let config = tool(&format!("enable = {value}"));
        let enable = config.tool("a").expect("the tool").enable;
        assert_eq!(
            (enable.on, enable.allow_toggle.name()),
            (on, toggle),
            "{value}"
        );
    };
    check("true", true, "any");
    check("false", false, "any");
    check("\"on\"", true, "any");
    check("\"off\"", false, "any");
    check("\"always\"", true, "never");
    check("\"explicit\"", false, "if_named");
    check("{ state = true }", true, "any");
    check("{ state = \"off\" }", false, "any");
    check(
        "{ state = \"on\", allow_toggle = \"if_named_or_group\" }",
        true,
        "if_named_or_group",
    );
    check("{ allow_toggle = \"never\" }", true, "never");
    check("{}", true, "any");
}

#[test]
fn modes_and_their_defaults_j_023() {
    let check = |lines: &str, modes: [&str; 3]| {
        let config = tool(lines);
        let tool = config.tool("a").expect("the tool");
        assert_eq!(
            [tool.run.name(), tool.result.name(), tool.format.name()],
            modes,
            "{lines}"
        );
    };
    check("", ["ask", "unattended", "ask"]);
    check(
        "run = \"unattended\"",
        ["unattended", "unattended", "unattended"],
    );
    check(
        "run = \"unattended\"\nformat = \"ask\"",
        ["unattended", "unattended", "ask"],
    );
    check("run = \"edit\"\nresult = \"skip\"", ["edit", "skip", "ask"]);
}

#[test]
fn the_runtime_of_a_local_tool_x_18() {
    let check = |lines: &str, runtime: Runtime, wasm: Option<&str>| {
        let config = Workspace::with(&format!("[tools.a]\nsource = \"local\"\n{lines}\n")).config();
        let tool = config.tool("a").expect("the tool");
        assert_eq!(tool.runtime, runtime, "{lines}");
        assert_eq!(
            tool.wasm.as_ref().map(|path| path.as_str()),
            wasm,
            "{lines}"
        );
        assert_eq!(tool.command.is_some(), wasm.is_none(), "{lines}");
    };
    // V-164: the default stays stdio.
    check("command = \"cat file.txt\"", Runtime::Stdio, None);
    check("command = \"x\"\nruntime = \"vfs\"", Runtime::Vfs, None);
    check(
        "command = \"tools/a.wasm\"",
        Runtime::Wasm,
        Some("tools/a.wasm"),
    );
    check(
        "command = \"tools/a.wasm\"\nruntime = \"wasm\"",
        Runtime::Wasm,
        Some("tools/a.wasm"),
    );
    check(
        "command = \"tools/a.wasm\"\nruntime = \"stdio\"",
        Runtime::Stdio,
        None,
    );
    check("command = \"wasmtime a.wasm\"", Runtime::Stdio, None);
    check("wasm = \"a.wasm\"", Runtime::Wasm, Some("a.wasm"));
    check(
        "wasm = \"a.wasm\"\ncommand = \"./a.wasm\"",
        Runtime::Wasm,
        Some("a.wasm"),
    );
    // W-042: a command beside `wasm` is ignored.
    check(
        "wasm = \"a.wasm\"\ncommand = \"make\"",
        Runtime::Wasm,
        Some("a.wasm"),
    );
}

#[test]
fn predefined_tools_need_no_source() {
    let config = Workspace::with("[tools.fs_grep_files]\nrun = \"ask\"\n").config();
    let check = |name: &str, run: &str, default: DefaultAccess, parameters: &[&str]| {
        let tool = config.tool(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(tool.source, Source::Local { tool: None });
        assert_eq!(tool.runtime, Runtime::Builtin);
        assert_eq!(tool.implementation(), Some(name));
        assert_eq!(tool.run.name(), run, "{name}");
        assert_eq!(tool.default_access, default, "{name}");
        assert_eq!(tool.access, Access::default(), "{name}");
        assert!(tool.description.is_some() && tool.summary.is_some());
        let names: Vec<&str> = tool.parameters.keys().map(String::as_str).collect();
        assert_eq!(names, parameters, "{name}");
    };
    let (read, write) = (DefaultAccess::READ_ONLY, DefaultAccess::READ_WRITE);
    check(
        "fs_read_file",
        "unattended",
        read,
        &["path", "start_line", "end_line", "line_numbers"],
    );
    check(
        "fs_list_files",
        "unattended",
        read,
        &["path", "extensions", "limit"],
    );
    check(
        "fs_grep_files",
        "ask",
        read,
        &["pattern", "paths", "extensions", "context"],
    );
    check("fs_create_file", "ask", write, &["path", "content"]);
    check("fs_modify_file", "ask", write, &["path", "patterns"]);
    check("fs_delete_file", "ask", write, &["path", "paths"]);
    check("fs_move_file", "ask", write, &["from", "to"]);
    assert_eq!(config.tools.len(), 7);
}

#[test]
fn predefined_tools_can_run_elsewhere() {
    let check = |lines: &str, runtime: Runtime, default: DefaultAccess, own: Option<&str>| {
        let config = Workspace::with(&format!("[tools.fs_move_file]\n{lines}\n")).config();
        let tool = config.tool("fs_move_file").expect("the tool");
        assert_eq!(tool.runtime, runtime, "{lines}");
        assert_eq!(tool.default_access, default, "{lines}");
        assert_eq!(tool.implementation(), own, "{lines}");
    };
    check(
        "runtime = \"vfs\"",
        Runtime::Vfs,
        DefaultAccess::READ_WRITE,
        Some("fs_move_file"),
    );
    check(
        "runtime = \"vfs\"\ncommand = \"mv\"",
        Runtime::Vfs,
        DefaultAccess::VFS,
        None,
    );
    check(
        "runtime = \"stdio\"\ncommand = \"mv\"",
        Runtime::Stdio,
        DefaultAccess::STDIO,
        None,
    );
    // Another name for the same code.
    let config =
        Workspace::with("[tools.cat]\nsource = \"local.fs_read_file\"\nruntime = \"builtin\"\n")
            .config();
    assert_eq!(
        config.tool("cat").and_then(|tool| tool.implementation()),
        Some("fs_read_file")
    );
}

#[test]
fn tools_from_elsewhere_have_no_access_of_their_own() {
    let config =
        Workspace::with("[tools.a]\nsource = \"mcp.web\"\n[tools.b]\nsource = \"builtin.learn\"\n")
            .config();
    let check = |name: &str, runtime: Runtime, default: DefaultAccess| {
        let tool = config.tool(name).expect("the tool");
        assert_eq!(
            (tool.runtime, tool.default_access),
            (runtime, default),
            "{name}"
        );
    };
    check("a", Runtime::Mcp, DefaultAccess::NOTHING);
    check("b", Runtime::Builtin, DefaultAccess::BUILTIN);
}

#[test]
fn the_other_spelling_of_rules_x_08() {
    let rules = |lines: &str| tool(lines).tool("a").expect("the tool").access.clone();
    let fs = |lines: &str| -> Vec<String> {
        let access = rules(lines);
        access
            .fs
            .iter()
            .map(|rule| format!("{}: {}", rule.path, rule.capabilities))
            .collect()
    };
    assert_eq!(
        fs("sandbox.filesystem.allow = [\"src\", \"doc\"]"),
        ["src: read", "doc: read"]
    );
    assert_eq!(
        fs("sandbox.filesystem = { allow = [\"src\"], writable = true }"),
        ["src: read + write"]
    );
    assert_eq!(
        fs("sandbox.filesystem.writable = true"),
        [".: read + write"]
    );
    // An empty list allows nothing, rather than what the runtime would.
    assert_eq!(fs("sandbox.filesystem.allow = []"), [".: nothing"]);
    assert_eq!(fs("sandbox.enforce = \"best-effort\""), [""; 0]);

    let net = |urls: &str| -> Vec<String> {
        let access = rules(&format!("sandbox.network.allow = [{urls}]"));
        let text = |rule: &jig_policy::NetRule| {
            format!(
                "{:?} {} {:?} {:?} {}",
                rule.scheme, rule.host, rule.port, rule.path_prefix, rule.allow
            )
        };
        access.net.iter().map(text).collect()
    };
    assert_eq!(
        net("\"api.github.com\""),
        ["None api.github.com None None true"]
    );
    assert_eq!(
        net("\"https://api.github.com\""),
        ["Some(\"https\") api.github.com None None true"]
    );
    assert_eq!(
        net("\"http://localhost:8080/v1/x\""),
        ["Some(\"http\") localhost Some(8080) Some(\"/v1/x\") true"]
    );
    assert_eq!(
        net("\"https://münchen.de/\""),
        ["Some(\"https\") xn--mnchen-3ya.de None None true"]
    );
    assert_eq!(
        net("\"http://[::1]:80/\""),
        ["Some(\"http\") [::1] None None true"]
    );

    let access = rules(
        "sandbox.network.envs = [\"TOKEN\"]\nsandbox.commands.git = { args = [[\"log\", \"**\"]], envs = [\"GIT_DIR\"] }",
    );
    assert_eq!(access.env.len(), 1);
    assert_eq!(
        (
            access.env[0].name.as_str(),
            access.env[0].read,
            access.env[0].header
        ),
        ("TOKEN", false, true)
    );
    let commands = access.commands.expect("commands are declared");
    assert_eq!(commands[0].program, "git");
    assert_eq!(
        commands[0].args,
        Some(vec![vec!["log".to_owned(), "**".to_owned()]])
    );
    assert_eq!(commands[0].envs, ["GIT_DIR"]);
}

#[test]
fn programs_by_name_x_47() {
    let commands = |lines: &str| {
        tool(lines)
            .tool("a")
            .expect("the tool")
            .access
            .commands
            .clone()
    };
    assert_eq!(commands(""), None);
    // Declared and empty: no program at all.
    assert_eq!(commands("access.commands = {}"), Some(Vec::new()));
    let rules = commands("access.commands.cargo = {}\naccess.commands.git.args = [[\"status\"]]")
        .expect("declared");
    assert_eq!(rules[0].program, "cargo");
    assert_eq!(rules[0].args, None);
    assert_eq!(rules[1].args, Some(vec![vec!["status".to_owned()]]));
    assert_eq!(rules[1].origin.to_string(), "jig.toml:5");
}

#[test]
fn paths_outside_and_sensitive_ones() {
    let config = tool(
        "sandbox.system = [\"/usr/lib\", { path = \"~/.cargo\", write = true, execute = true }]\n\
         sandbox.sensitive_paths = [\"*.pem\"]\nsandbox.enforce = \"best-effort\"",
    );
    let sandbox = &config.tool("a").expect("the tool").sandbox;
    let paths: Vec<(&str, bool, bool)> = sandbox
        .system
        .iter()
        .map(|path| (path.path.as_str(), path.write, path.execute))
        .collect();
    assert_eq!(
        paths,
        [("/usr/lib", false, false), ("~/.cargo", true, true)]
    );
    assert_eq!(sandbox.sensitive_paths, ["*.pem"]);
    assert_eq!(sandbox.enforce.name(), "best-effort");
}

#[test]
fn an_absolute_path_inside_the_workspace_is_fine_g_051() {
    let workspace = Workspace::new();
    let path = workspace.path("src");
    let toml = format!("[[tools.fs_read_file.access.fs]]\npath = \"{path}\"\nread = true\n");
    assert!(workspace.file("jig.toml", toml).load().is_ok());
}

#[test]
fn questions_options_and_style() {
    let config = tool(
        "questions.sure = { target = \"assistant\" }\nquestions.known.answer = [1, true]\n\
         options = { any = { thing = 1.5 } }\nstyle.hidden = true",
    );
    let tool = config.tool("a").expect("the tool");
    assert_eq!(tool.questions["sure"].target.name(), "assistant");
    assert_eq!(tool.questions["sure"].answer, None);
    assert_eq!(tool.questions["known"].target.name(), "user");
    assert_eq!(
        tool.questions["known"].answer,
        Some(serde_json::json!([1, true]))
    );
    assert_eq!(tool.options["any"]["thing"], 1.5);
    assert_eq!(tool.style["hidden"], true);
}

#[test]
fn parameters_are_recursive_j_024() {
    let config = tool(
        r#"
[tools.a.parameters.edits]
type = ["array", "null"]
required = true
items.type = "object"
items.properties.line = { type = "integer", default = 1, enum = [1, 2], examples = [2], summary = "s", description = "d" }
"#,
    );
    let edits = &config.tool("a").expect("the tool").parameters["edits"];
    assert_eq!(edits.types, [ParameterType::Array, ParameterType::Null]);
    let items = edits.items.as_deref().expect("items");
    let expected = Parameter {
        types: vec![ParameterType::Integer],
        values: vec![1.into(), 2.into()],
        default: Some(1.into()),
        examples: vec![2.into()],
        summary: Some("s".to_owned()),
        description: Some("d".to_owned()),
        ..Parameter::default()
    };
    assert_eq!(items.properties["line"], expected);
}

#[test]
fn names_of_tools() {
    for good in ["a", "fs_read_file", "my.tool-2", &"x".repeat(64)] {
        assert!(ToolName::new(good).is_ok(), "{good}");
    }
    for bad in ["", "*", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert!(ToolName::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn configuration_and_programs_of_other_tools_are_guarded() {
    let workspace = Workspace::with(
        r#"
[tools.a]
source = "local"
command = "python3 tools/a.py {{tool.arguments.path}}"
[tools.b]
source = "local"
command = "make"
sandbox.sensitive_paths = ["secrets"]
"#,
    )
    .file("more.toml", "");
    let mut sources = workspace.sources();
    sources.files.push(workspace.path("more.toml"));
    let config = jig_config::load(&sources).expect("it loads").config;
    let guards = |tool: &str| {
        let tool = config.tool(tool).expect("the tool");
        config.guards(tool, workspace.root())
    };
    let protects = |tool: &str, path: &str| {
        guards(tool)
            .protected
            .iter()
            .any(|guard| guard.path.as_str() == path)
    };
    assert!(
        protects("b", "more.toml")
            && protects("b", "jig.toml")
            && protects("b", ".jig/config.toml")
    );
    assert!(protects("b", "tools/a.py") && !protects("a", "tools/a.py"));
    // A path that leads into the workspace through a link names the same file.
    let link = Workspace::new();
    std::os::unix::fs::symlink(workspace.root(), link.path("link")).expect("a link");
    sources.files = vec![link.path("link/more.toml")];
    let linked = jig_config::load(&sources).expect("it loads").config;
    let tool = linked.tool("b").expect("the tool");
    let guarded = linked.guards(tool, workspace.root()).protected;
    assert!(
        guarded
            .iter()
            .any(|guard| guard.path.as_str() == "more.toml")
    );
    let secret = jig_proto::ProjectPath::normalize("secrets/key").expect("a path");
    assert!(guards("b").sensitive.find(&secret).is_some());
    assert!(guards("a").sensitive.find(&secret).is_none());
}
