//! The settings of a tool, from their spellings to their types.

use std::time::Duration;

use jig_config::{
    Config, Input, OverlayMode, Parameter, ParameterType, Preset, ProtocolLimits, RuntimeKind,
    SandboxLimits, ToolName, ToolSource,
};
use jig_policy::{DeclaredAccess, DefaultAccess};

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
        let source: ToolSource = text
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
        assert!(bad.parse::<ToolSource>().is_err(), "{bad}");
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
            [
                tool.run.spawn.name(),
                tool.result.name(),
                tool.format.name()
            ],
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
fn input_and_threshold_x_61() {
    let check = |lines: &str, input: Input, threshold: Option<u64>| {
        let config = tool(lines);
        let tool = config.tool("a").expect("the tool");
        let found = (tool.input, tool.size_threshold);
        assert_eq!(found, (input, threshold), "{lines}");
    };
    check("", Input::Argv, None);
    check("input = \"argv\"", Input::Argv, None);
    check(
        "input = \"stdin\"\nsize_threshold = 2000",
        Input::Stdin,
        Some(2000),
    );
    check(
        "input = \"file\"\nsize_threshold = \"1MiB\"",
        Input::File,
        Some(1 << 20),
    );
    check(
        "[tools.'*']\nsize_threshold = \"1KiB\"",
        Input::Argv,
        Some(1024),
    );
}

#[test]
fn settings_of_programs() {
    let config = tool("");
    let plain = config.tool("a").expect("the tool");
    assert!(!plain.repeatable && plain.overlay.is_none());
    assert!(!plain.sandbox.proxy && !plain.sandbox.observe);
    let config = tool(
        "repeatable = true\noverlay = \"discard\"\nsandbox = { proxy = true, observe = true }",
    );
    let all = config.tool("a").expect("the tool");
    assert!(all.repeatable && all.sandbox.proxy && all.sandbox.observe);
    assert_eq!(all.overlay, Some(OverlayMode::Discard));
    for mode in [OverlayMode::Ask, OverlayMode::Apply] {
        let config = tool(&format!("overlay = \"{mode}\""));
        assert_eq!(config.tool("a").and_then(|tool| tool.overlay), Some(mode));
    }
    // What `'*'` says of the sandbox, a tool can take back.
    let config = Workspace::with(
        "[tools.'*'.sandbox]\nobserve = true\nproxy = true\n[tools.a]\nsource = \"local\"\n\
         command = \"make\"\nsandbox.proxy = false\n",
    )
    .config();
    let sandbox = &config.tool("a").expect("the tool").sandbox;
    assert!(sandbox.observe && !sandbox.proxy);
}

#[test]
fn presets_are_each_taken_once() {
    let check = |lines: &str, expected: &[Preset]| {
        let config = tool(lines);
        let tool = config.tool("a").expect("the tool");
        assert_eq!(tool.sandbox.presets, expected, "{lines}");
    };
    check("", &[]);
    let all = [
        Preset::Git,
        Preset::Rust,
        Preset::Node,
        Preset::Python,
        Preset::Go,
    ];
    check(
        "sandbox.presets = [\"git\", \"rust\", \"node\", \"git\", \"python\", \"go\"]",
        &all,
    );
    for preset in all {
        check(&format!("sandbox.presets = [\"{preset}\"]"), &[preset]);
    }
    // Those of all tools come first.
    let common = "[tools.'*'.sandbox]\npresets = [\"git\"]";
    check(
        &format!("sandbox.presets = [\"rust\"]\n{common}"),
        &[Preset::Git, Preset::Rust],
    );
    check(
        &format!("sandbox.presets = {{ strategy = \"replace\", value = [] }}\n{common}"),
        &[],
    );
}

#[test]
fn limits_with_their_defaults() {
    let limits = |lines: &str| tool(lines).tool("a").expect("the tool").sandbox.limits;
    let default = SandboxLimits::default();
    let documented = SandboxLimits {
        processes: Some(4096),
        memory: Some(8 << 30),
        file_size: Some(8 << 30),
        disk: Some(256 << 30),
        files: Some(10_000_000),
        descriptors: Some(4096),
        output: Some(64 << 20),
        time: Some(Duration::from_secs(1800)),
        protocol: ProtocolLimits::default(),
    };
    assert_eq!(default, documented);
    assert_eq!(limits(""), default);
    assert_eq!(
        limits(
            "[tools.a.sandbox.limits]\nprocesses = 64\nmemory = \"512MiB\"\nfile_size = 2048\n\
             descriptors = 256\noutput = \"1MB\"\ntime = \"1500ms\""
        ),
        SandboxLimits {
            processes: Some(64),
            memory: Some(512 << 20),
            file_size: Some(2048),
            descriptors: Some(256),
            output: Some(1_000_000),
            time: Some(Duration::from_millis(1500)),
            ..default
        }
    );
    assert_eq!(
        limits("sandbox.limits = { memory = false, time = \"none\", output = true }"),
        SandboxLimits {
            memory: None,
            time: None,
            ..default
        }
    );
    // Layers are merged limit by limit; a tool puts back what all tools lift.
    assert_eq!(
        limits(
            "sandbox.limits = { time = true, processes = 8 }\n\
             [tools.'*'.sandbox.limits]\ntime = false\nprocesses = 9\ndescriptors = 64"
        ),
        SandboxLimits {
            processes: Some(8),
            descriptors: Some(64),
            ..default
        }
    );
}

/// The schema and the docs name the defaults that hold.
#[test]
fn the_defaults_of_limits_are_those_of_the_schema() {
    let schema = jig_config::json_schema();
    let properties = &schema["$defs"]["limits_of_a_tool"]["properties"];
    let lines: Vec<String> = properties
        .as_object()
        .expect("the limits")
        .iter()
        .map(|(name, limit)| format!("{name} = {}", limit["default"]))
        .collect();
    let config = tool(&format!("[tools.a.sandbox.limits]\n{}", lines.join("\n")));
    let mut limits = config.tool("a").expect("the tool").sandbox.limits;
    let protocol = std::mem::take(&mut limits.protocol);
    assert_eq!((lines.len(), limits), (18, SandboxLimits::default()));
    // The protocols have these numbers of their own.
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let documented = ProtocolLimits {
        cancel_grace: seconds(5),
        kill_grace: seconds(5),
        silence: seconds(60),
        response: seconds(30),
        message: Some(16 << 20),
        file: Some(10_000_000),
        http_time: seconds(30),
        program_time: seconds(120),
        frame: Some(1 << 20),
        chunk: Some(4096),
    };
    assert_eq!(protocol, documented);
}

/// V-112, V-141, V-142, X-35: what a protocol allows is declared tool by tool, or for all.
#[test]
fn limits_of_protocols() {
    let limits = |lines: &str| {
        let config = tool(lines);
        config.tool("a").expect("the tool").sandbox.limits.protocol
    };
    assert_eq!(limits(""), ProtocolLimits::default());
    assert_eq!(
        limits(
            "sandbox.limits = { silence = false, file = \"1MiB\", cancel_grace = 0 }\n\
             [tools.'*'.sandbox.limits]\nfile = \"2MiB\"\nkill_grace = \"1500ms\""
        ),
        ProtocolLimits {
            silence: Some(Duration::MAX),
            file: Some(1 << 20),
            cancel_grace: Some(Duration::ZERO),
            kill_grace: Some(Duration::from_millis(1500)),
            ..ProtocolLimits::default()
        }
    );
}

#[test]
fn limits_from_variables_and_assignments() {
    let workspace = Workspace::with("[tools.a]\nsource = \"local\"\ncommand = \"make\"\n");
    let mut sources = workspace.sources();
    sources.environment.push((
        "JIG_CFG__TOOLS__A__SANDBOX__LIMITS__MEMORY".into(),
        "512MiB".into(),
    ));
    for set in ["time=10m", "processes=false", "output=4096"] {
        sources.sets.push(format!("tools.a.sandbox.limits.{set}"));
    }
    let config = jig_config::load(&sources).expect("it loads").config;
    let limits = config.tool("a").expect("the tool").sandbox.limits;
    assert_eq!(
        limits,
        SandboxLimits {
            memory: Some(512 << 20),
            time: Some(Duration::from_secs(600)),
            processes: None,
            output: Some(4096),
            ..SandboxLimits::default()
        }
    );
}

#[test]
fn a_path_below_the_home() {
    let config = tool("sandbox.system = [\"~/.cache/x\", \"/opt/x\"]");
    let system = &config.tool("a").expect("the tool").sandbox.system;
    let expanded = |index: usize, home: Option<&str>| {
        let path = system[index].expanded(home.map(camino::Utf8Path::new));
        path.map(String::from)
    };
    assert_eq!(
        expanded(0, Some("/home/me")).as_deref(),
        Some("/home/me/.cache/x")
    );
    assert_eq!(expanded(0, None), None);
    assert_eq!(expanded(1, None).as_deref(), Some("/opt/x"));
}

/// The preset lifts the protection of git's configuration, and only that.
#[test]
fn guards_on_git_and_the_preset() {
    let guarded = |lines: &str, worktrees: &[String]| {
        let mut workspace = Workspace::with(&format!(
            "[tools.a]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n"
        ));
        for name in worktrees {
            workspace = workspace.file(&format!(".git/worktrees/{name}/HEAD"), "");
        }
        let config = workspace.config();
        let guards = config.guards(config.tool("a").expect("the tool"), workspace.root());
        let protected = |path: &str| {
            let path = jig_proto::ProjectPath::normalize(path).expect("a path");
            guards.protection(&path).is_some()
        };
        assert!(protected("jig.toml") && protected("a/b/jig.toml"));
        let parts = [
            ".git/config",
            ".git/modules",
            ".git/worktrees/wt/commondir",
            ".git/worktrees/w1000/commondir",
            "a/.git/config",
        ];
        parts.map(protected)
    };
    let worktree = ["wt".to_owned()];
    assert_eq!(guarded("", &[]), [true; 5]);
    assert_eq!(guarded("", &worktree), [true; 5]);
    let preset = "sandbox.presets = [\"git\"]";
    assert_eq!(guarded(preset, &worktree), [false; 5]);
}

#[test]
fn the_runtime_of_a_local_tool_x_18() {
    let check = |lines: &str, runtime: RuntimeKind, wasm: Option<&str>| {
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
    check("command = \"cat file.txt\"", RuntimeKind::Stdio, None);
    check("command = \"x\"\nruntime = \"vfs\"", RuntimeKind::Vfs, None);
    check(
        "command = \"tools/a.wasm\"",
        RuntimeKind::Wasm,
        Some("tools/a.wasm"),
    );
    check(
        "command = \"tools/a.wasm\"\nruntime = \"wasm\"",
        RuntimeKind::Wasm,
        Some("tools/a.wasm"),
    );
    check(
        "command = \"tools/a.wasm\"\nruntime = \"stdio\"",
        RuntimeKind::Stdio,
        None,
    );
    check("command = \"wasmtime a.wasm\"", RuntimeKind::Stdio, None);
    check("wasm = \"a.wasm\"", RuntimeKind::Wasm, Some("a.wasm"));
    check(
        "wasm = \"a.wasm\"\ncommand = \"./a.wasm\"",
        RuntimeKind::Wasm,
        Some("a.wasm"),
    );
    // W-042: a command beside `wasm` is ignored.
    check(
        "wasm = \"a.wasm\"\ncommand = \"make\"",
        RuntimeKind::Wasm,
        Some("a.wasm"),
    );
}

#[test]
fn predefined_tools_need_no_source() {
    let config = Workspace::with("[tools.fs_grep_files]\nrun = \"ask\"\n").config();
    let check = |name: &str, run: &str, default: DefaultAccess, parameters: &[&str]| {
        let tool = config.tool(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(tool.source, ToolSource::Local { tool: None });
        assert_eq!(tool.runtime, RuntimeKind::Builtin);
        assert_eq!(tool.implementation(), Some(name));
        assert_eq!(tool.run.spawn.name(), run, "{name}");
        assert_eq!(tool.default_access, default, "{name}");
        assert_eq!(tool.access, DeclaredAccess::default(), "{name}");
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
    // Three more are in `stateful.rs`.
    assert_eq!(config.tools.len(), 11);
}

#[test]
fn predefined_tools_can_run_elsewhere() {
    let check = |lines: &str, runtime: RuntimeKind, default: DefaultAccess, own: Option<&str>| {
        let config = Workspace::with(&format!("[tools.fs_move_file]\n{lines}\n")).config();
        let tool = config.tool("fs_move_file").expect("the tool");
        assert_eq!(tool.runtime, runtime, "{lines}");
        assert_eq!(tool.default_access, default, "{lines}");
        assert_eq!(tool.implementation(), own, "{lines}");
    };
    check(
        "runtime = \"vfs\"",
        RuntimeKind::Vfs,
        DefaultAccess::READ_WRITE,
        Some("fs_move_file"),
    );
    check(
        "runtime = \"vfs\"\ncommand = \"mv\"",
        RuntimeKind::Vfs,
        DefaultAccess::VFS,
        None,
    );
    check(
        "runtime = \"stdio\"\ncommand = \"mv\"",
        RuntimeKind::Stdio,
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
        Workspace::with("[mcp.servers.web]\ncommand = \"x\"\n[tools.a]\nsource = \"mcp.web\"\n[tools.b]\nsource = \"builtin.learn\"\n")
            .config();
    let check = |name: &str, runtime: RuntimeKind, default: DefaultAccess| {
        let tool = config.tool(name).expect("the tool");
        assert_eq!(
            (tool.runtime, tool.default_access),
            (runtime, default),
            "{name}"
        );
    };
    check("a", RuntimeKind::Mcp, DefaultAccess::NOTHING);
    check("b", RuntimeKind::Builtin, DefaultAccess::BUILTIN);
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
        let text = |rule: &jig_policy::DeclaredNetRule| {
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
parameters.path.type = "string"
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

/// A workspace may be the home of the user, in which jig keeps its log and its sockets.
#[test]
fn the_state_of_jig_is_closed_to_tools() {
    let workspace = Workspace::with("[tools.a]\nsource = \"local\"\ncommand = \"true\"\n");
    let root = workspace.root().to_owned();
    std::fs::create_dir_all(root.join("real/jig")).expect("a directory");
    std::os::unix::fs::symlink(root.join("real"), root.join("named")).expect("a link");
    let sources = jig_config::Sources {
        state: Some(root.join("named/jig")),
        ..jig_config::Sources::new(root.clone())
    };
    let config = jig_config::load(&sources).expect("it loads").config;
    let guards = config.guards(config.tool("a").expect("the tool"), &root);
    for path in ["named/jig", "real/jig"] {
        let is_protected = |one: &jig_policy::Protected| {
            one.path.as_str() == path && one.level == jig_policy::ProtectionLevel::Never
        };
        assert!(guards.protected.iter().any(is_protected), "{path}");
        let inside = format!("{path}/log/x");
        let inside = jig_proto::ProjectPath::normalize(&inside).expect("a path");
        assert!(guards.sensitive.find(&inside).is_some(), "{path}");
    }
}

/// J-022: every form of `enable`, and what it comes to.
#[test]
fn j022_all_forms_of_enable() {
    use jig_config::AllowToggle::{Any, IfNamed, IfNamedOrGroup, Never};
    let check = |enable: &str, on: bool, toggle: jig_config::AllowToggle| {
        let toml = format!("[tools.a]\nsource = \"local\"\ncommand = \"make\"\n{enable}\n");
        let config = Workspace::with(&toml).config();
        let found = &config.tool("a").expect("the tool").enable;
        assert_eq!((found.on, found.allow_toggle), (on, toggle), "{enable}");
    };
    check("", true, Any);
    check("enable = true", true, Any);
    check("enable = false", false, Any);
    check("enable = \"on\"", true, Any);
    check("enable = \"off\"", false, Any);
    check("enable = \"always\"", true, Never);
    check("enable = \"explicit\"", false, IfNamed);
    check("enable = { state = true }", true, Any);
    check("enable = { state = false }", false, Any);
    check("enable = { state = \"on\" }", true, Any);
    check("enable = { state = \"off\" }", false, Any);
    check("enable = { allow_toggle = \"never\" }", true, Never);
    check(
        "enable = { state = \"off\", allow_toggle = \"any\" }",
        false,
        Any,
    );
    check(
        "enable = { state = \"off\", allow_toggle = \"if_named\" }",
        false,
        IfNamed,
    );
    check(
        "[tools.a.enable]\nstate = \"on\"\nallow_toggle = \"if_named_or_group\"",
        true,
        IfNamedOrGroup,
    );
}

/// J-026: the words in which JP refuses rules that nothing would enforce.
#[test]
fn j026_rules_are_for_local_tools() {
    let check = |source: &str, kind: &str| {
        let toml = format!(
            "[mcp.servers.s]\nurl = \"https://s.example/mcp\"\n[tools.a]\nsource = \"{source}\"\n\
             access.fs = [{{ path = \".\", read = true }}]\n"
        );
        let errors = match Workspace::with(&toml).load() {
            Ok(_) => panic!("it loads"),
            Err(errors) => errors,
        };
        let messages: Vec<&str> = errors.problems().iter().map(|one| one.message()).collect();
        let expected = format!(
            "conversation.tools.a: `access` is only supported on local tools, but 'a' is a {kind} tool"
        );
        assert_eq!(messages, [expected], "{source}");
    };
    check("builtin.describe_tools", "builtin");
    check("mcp.s.x", "mcp");
}
