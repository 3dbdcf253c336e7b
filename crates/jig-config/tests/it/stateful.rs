//! Tools that are kept running between calls.

use std::time::Duration;

use jig_config::{NoticeSettings, RuntimeKind, Tool, ToolSource, load, show, show_json};
use jig_policy::{Capability, DefaultAccess};
use jig_proto::ToolAction;

use crate::mistakes::{check as mistake, tool as toml};
use crate::workspace::Workspace;

/// The tool `build` with these lines.
fn tool(lines: &str) -> Tool {
    Workspace::with(&toml(lines)).config().tools["build"].clone()
}

fn modes(tool: &Tool) -> [&'static str; 4] {
    ToolAction::ALL.map(|action| tool.run.of(action).name())
}

const ACTION: &str = "[tools.build.parameters.action]\nenum = [\"spawn\", \"fetch\", \"abort\"]\n";

#[test]
fn s_037_s_056_actions() {
    let check = |lines: &str, expected: &str, parameters: &[&str]| {
        let tool = tool(lines);
        assert_eq!(tool.actions.to_string(), expected, "{lines}");
        let names: Vec<&str> = tool.parameters.keys().map(String::as_str).collect();
        assert_eq!(names, parameters, "{lines}");
        // What `spawn` and a plain call take is the tool's own.
        let schema = tool.input_schema();
        let properties = schema["properties"].as_object().expect("an object");
        assert!(properties.keys().eq(parameters), "{lines}: {schema}");
    };
    let all = "spawn, fetch, apply, abort";
    check("", "none", &[]);
    check("stateful = false", "none", &[]);
    check("stateful = true", all, &[]);
    check("stateful = [\"spawn\"]", "spawn", &[]);
    check(
        "stateful = [\"abort\", \"fetch\", \"spawn\", \"fetch\"]",
        "spawn, fetch, abort",
        &[],
    );
    check(
        "stateful = true\nparameters.target.type = \"string\"",
        all,
        &["target"],
    );
    // The parameter says it, and is then the protocol's.
    let with_action = |lines: &str| format!("{lines}\n{ACTION}");
    check(&with_action(""), "spawn, fetch, abort", &[]);
    check(&with_action("stateful = true"), "spawn, fetch, abort", &[]);
    check(
        &with_action("stateful = [\"spawn\", \"fetch\", \"abort\"]"),
        "spawn, fetch, abort",
        &[],
    );
    check(&with_action("stateful = false"), "none", &["action"]);
    // As somebody writes the whole protocol down by hand.
    check(
        &with_action("parameters.id.type = \"string\"\nparameters.input = {}"),
        "spawn, fetch, abort",
        &["input"],
    );
}

/// A tool with an `action` of its own is called as ever.
#[test]
fn x_21_another_action_is_the_tools_own() {
    let plan = tool("parameters.action.enum = [\"create\", \"next\"]\nparameters.id = {}");
    assert!(plan.actions.is_one_shot());
    assert!(plan.parameters.keys().eq(["action", "id"]));
    // Nor does jig take arguments away from a server.
    let config = Workspace::with(&format!(
        "[tools.build]\nsource = \"mcp.x\"\n{ACTION}\n[mcp.servers.x]\ncommand = \"x\""
    ))
    .config();
    assert!(config.tools["build"].actions.is_one_shot());
    assert!(config.tools["build"].parameters.contains_key("action"));
}

#[test]
fn terminals() {
    let check = |lines: &str, expected: Option<(u16, u16)>| {
        assert_eq!(tool(lines).terminal, expected, "{lines}");
    };
    check("", None);
    check("terminal = false", None);
    check("terminal = true", Some((24, 80)));
    check("terminal = {}", Some((24, 80)));
    check("terminal = { rows = 50 }", Some((50, 80)));
    check("terminal = { cols = 132 }", Some((24, 132)));
    check("terminal = { rows = 1, cols = 1 }", Some((1, 1)));
    check("terminal = { rows = 500, cols = 1000 }", Some((500, 1000)));
    check("terminal = true\ninput = \"file\"", Some((24, 80)));
}

#[test]
fn s_082_notices() {
    let check = |lines: &str, stopped: bool, waiting: bool| {
        let expected = NoticeSettings { stopped, waiting };
        assert_eq!(tool(lines).notices, expected, "{lines}");
    };
    check("", true, true);
    check("notices = true", true, true);
    check("notices = false", false, false);
    check("notices = []", false, false);
    check("notices = [\"stopped\"]", true, false);
    check("notices = [\"waiting\"]", false, true);
    check("notices = [\"stopped\", \"waiting\"]", true, true);
    check("notices = [\"state_stopped\"]", true, false);
    check("notices = [\"state_waiting\"]", false, true);
    check("[tools.'*']\nnotices = false", false, false);
}

#[test]
fn s_080_who_is_asked_about_which_action() {
    let check = |lines: &str, expected: [&str; 4]| {
        assert_eq!(modes(&tool(lines)), expected, "{lines}");
    };
    let rest = "unattended";
    check("", ["ask", rest, rest, rest]);
    check("run = \"skip\"", ["skip", rest, rest, rest]);
    check("run = {}", ["ask", rest, rest, rest]);
    check("run = { apply = \"ask\" }", ["ask", rest, "ask", rest]);
    check(
        "run = { spawn = \"unattended\", fetch = \"skip\", apply = \"edit\", abort = \"ask\" }",
        [rest, "skip", "edit", "ask"],
    );
    assert_eq!(tool("run = { spawn = \"unattended\" }").format.name(), rest);
}

/// A word is short for `{ spawn = … }`, so that no layer takes away what it does not speak about.
#[test]
fn s_080_layers_of_run() {
    let check = |below: &str, above: &str, expected: [&str; 4], shown: &str| {
        let workspace = Workspace::with(&toml(&format!("run = {below}")));
        let mut sources = workspace.sources();
        sources.sets.push(format!("tools.build.run={above}"));
        let config = load(&sources).expect("it loads").config;
        let case = format!("{above} over {below}");
        assert_eq!(modes(&config.tools["build"]), expected, "{case}");
        let run = &show_json(&config, false)["tools"]["build"]["run"];
        assert_eq!(run.to_string(), shown, "{case}");
        // What is shown loads as the same.
        let again = Workspace::with(&show(&config, true)).config();
        assert_eq!(modes(&again.tools["build"]), expected, "{case}");
    };
    let un = "unattended";
    check("\"ask\"", "skip", ["skip", un, un, un], "\"skip\"");
    check(
        "\"unattended\"",
        "{ apply = \"ask\" }",
        [un, un, "ask", un],
        r#"{"spawn":"unattended","apply":"ask"}"#,
    );
    check(
        "{ spawn = \"unattended\", apply = \"ask\" }",
        "ask",
        ["ask", un, "ask", un],
        r#"{"spawn":"ask","apply":"ask"}"#,
    );
    // A word never loosens what another layer says of an action.
    check(
        "{ apply = \"ask\" }",
        "unattended",
        [un, un, "ask", un],
        r#"{"apply":"ask","spawn":"unattended"}"#,
    );
    check(
        "{ spawn = \"edit\", apply = \"ask\" }",
        "{ apply = \"unattended\", abort = \"ask\" }",
        ["edit", un, un, "ask"],
        r#"{"spawn":"edit","apply":"unattended","abort":"ask"}"#,
    );
}

#[test]
fn s_080_run_of_all_tools_and_of_one() {
    let workspace = Workspace::with(&toml(
        "run = { abort = \"ask\" }\n[tools.'*']\nrun = { spawn = \"unattended\", apply = \"ask\" }",
    ));
    let mut sources = workspace.sources();
    sources
        .environment
        .push(("JIG_CFG__TOOLS__SHELL__RUN__FETCH".into(), "skip".into()));
    let config = load(&sources).expect("it loads").config;
    assert_eq!(
        modes(&config.tools["build"]),
        ["unattended", "unattended", "ask", "ask"]
    );
    assert_eq!(
        modes(&config.tools["shell"]),
        ["unattended", "skip", "ask", "unattended"]
    );
    let origin = |key: &str| {
        let origin = config.tools["shell"].origin(key).expect("an origin");
        origin.to_string()
    };
    assert_eq!(origin("run.spawn"), "jig.toml:6");
    assert_eq!(origin("run.fetch"), "JIG_CFG__TOOLS__SHELL__RUN__FETCH");
}

#[test]
fn layers_of_the_other_keys() {
    let check = |below: &str, above: &str| {
        let workspace = Workspace::with(&toml(below));
        let mut sources = workspace.sources();
        sources.sets.push(format!("tools.build.{above}"));
        let config = load(&sources).expect("it loads").config;
        let tool = config.tools["build"].clone();
        (
            tool.actions.to_string(),
            tool.terminal,
            tool.notices.waiting,
        )
    };
    let (actions, ..) = check("stateful = true", "stateful=[\"spawn\", \"fetch\"]");
    assert_eq!(actions, "spawn, fetch");
    let (actions, ..) = check("stateful = [\"spawn\"]", "stateful=true");
    assert_eq!(actions, "spawn, fetch, apply, abort");
    let (actions, ..) = check(ACTION, "stateful=false");
    assert_eq!(actions, "none");
    let (_, terminal, _) = check("terminal = { rows = 50 }", "terminal.cols=100");
    assert_eq!(terminal, Some((50, 100)));
    let (_, terminal, _) = check("terminal = true", "terminal={ rows = 50 }");
    assert_eq!(terminal, Some((50, 80)));
    let (_, terminal, _) = check("terminal = { rows = 50 }", "terminal=false");
    assert_eq!(terminal, None);
    let (.., waiting) = check("notices = [\"waiting\"]", "notices=[\"stopped\"]");
    assert!(!waiting);
}

#[test]
fn answers_for_the_turn() {
    let tool = tool("questions.a.remember = true\nquestions.b.target = \"assistant\"");
    assert!(tool.questions["a"].remember);
    assert!(!tool.questions["b"].remember);
}

/// A server is not ended by a limit that nobody wrote.
#[test]
fn declared_limits() {
    let check = |lines: &str, time: Option<u64>, output: Option<u64>| {
        let tool = tool(lines);
        let time = time.map(Duration::from_secs);
        assert_eq!(tool.declared_time(), time, "{lines}");
        assert_eq!(tool.declared_output(), output, "{lines}");
    };
    check("", None, None);
    check("sandbox.limits.memory = \"2GiB\"", None, None);
    check("sandbox.limits.time = \"10m\"", Some(600), None);
    check("sandbox.limits.output = \"1MiB\"", None, Some(1 << 20));
    check(
        "sandbox.limits = { time = false, output = \"none\" }",
        None,
        None,
    );
    check(
        "sandbox.limits = { time = true, output = true }",
        None,
        None,
    );
    check("[tools.'*']\nsandbox.limits.time = 5", Some(5), None);
}

#[test]
fn mistakes() {
    mistake(
        "stateful_without_spawn",
        &toml("stateful = [\"fetch\", \"abort\"]"),
        &toml("stateful = [\"spawn\", \"fetch\", \"abort\"]"),
    );
    mistake(
        "stateful_without_actions",
        &toml("stateful = []"),
        &toml("stateful = false"),
    );
    mistake(
        "misspelt_action",
        &toml("stateful = [\"spawn\", \"aply\"]"),
        &toml("stateful = [\"spawn\", \"apply\"]"),
    );
    mistake(
        "one_action",
        &toml("stateful = \"spawn\""),
        &toml("stateful = [\"spawn\"]"),
    );
    mistake(
        "two_lists_of_actions",
        &toml(&format!("stateful = [\"spawn\", \"fetch\"]\n{ACTION}")),
        &toml("stateful = [\"spawn\", \"fetch\"]"),
    );
    for (name, key, right) in [
        (
            "foreign_actions",
            "actions = [\"spawn\"]",
            "stateful = [\"spawn\"]",
        ),
        ("foreign_pty", "pty = true", "terminal = true"),
        ("foreign_tty", "tty = true", "terminal = true"),
        (
            "foreign_interactive",
            "interactive = true",
            "stateful = true",
        ),
    ] {
        mistake(name, &toml(key), &toml(right));
    }
    mistake(
        "stateful_defaults",
        "[tools.'*']\nstateful = true",
        "[tools.'*']\nnotices = true",
    );
    mistake(
        "misspelt_mode_of_an_action",
        &toml("run = { apply = \"aks\", stop = \"ask\" }"),
        &toml("run = { apply = \"ask\", abort = \"ask\" }"),
    );
    mistake(
        "notice_of_running",
        &toml("notices = [\"running\"]"),
        &toml("notices = [\"waiting\"]"),
    );
}

#[test]
fn mistakes_with_parameters() {
    for (name, parameter) in [
        ("reserved_action", "parameters.action.type = \"string\""),
        ("reserved_id", "parameters.id.type = \"string\""),
    ] {
        mistake(
            name,
            &toml(&format!("stateful = true\n{parameter}")),
            &toml(&format!("stateful = false\n{parameter}")),
        );
    }
}

#[test]
fn mistakes_with_terminals() {
    mistake(
        "terminal_out_of_range",
        &toml("terminal = { rows = 501, cols = 0 }"),
        &toml("terminal = { rows = 500, cols = 1 }"),
    );
    mistake(
        "terminal_with_a_width",
        &toml("terminal = { width = 80 }"),
        &toml("terminal = { cols = 80 }"),
    );
    mistake(
        "terminal_with_the_call_on_stdin",
        &toml("terminal = true\ninput = \"stdin\""),
        &toml("terminal = true\ninput = \"file\""),
    );
    let without = |head: &str| {
        (
            format!("{head}\nterminal = true"),
            format!("{head}\nterminal = false"),
        )
    };
    for (name, head) in [
        (
            "terminal_of_a_mediated_tool",
            "[tools.a]\nsource = \"local\"\ncommand = \"a\"\nruntime = \"vfs\"",
        ),
        (
            "terminal_of_a_component",
            "[tools.a]\nsource = \"local\"\nwasm = \"a.wasm\"",
        ),
        (
            "terminal_of_a_server",
            "mcp.servers.x.command = \"x\"\n[tools.a]\nsource = \"mcp.x\"",
        ),
        ("terminal_of_a_predefined_tool", "[tools.git]"),
    ] {
        let (wrong, right) = without(head);
        mistake(name, &wrong, &right);
    }
}

/// The call and what is sent later share one stream: the call is the first line.
#[test]
fn a_stateful_tool_may_get_its_call_on_stdin() {
    let tool = tool("stateful = true\ninput = \"stdin\"");
    assert!(tool.actions.has(ToolAction::Apply));
}

#[test]
fn a_terminal_that_nobody_types_into_is_noted() {
    let notes = |lines: &str| {
        let loaded = Workspace::with(&toml(lines)).load().expect("it loads");
        let notes = loaded.warnings.iter().map(|one| one.render(false));
        notes.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("terminal_without_input", notes("terminal = true"));
    assert_eq!(notes("terminal = true\nstateful = true"), "");
    assert_ne!(
        notes("terminal = true\nstateful = [\"spawn\", \"fetch\"]"),
        ""
    );
    assert_eq!(notes("terminal = false"), "");
}

#[test]
fn what_is_shown() {
    let lines = "[tools.build.parameters.action]\nenum = [\"spawn\", \"fetch\"]\n\
                 [tools.build.terminal]\nrows = 50\n[tools.build.run]\napply = \"ask\"";
    let config = Workspace::with(&toml(lines)).config();
    let text = show(&config, true);
    let (_, text) = text.split_once("[tools.build]\n").expect("the tool");
    insta::assert_snapshot!("stateful_tool", text);
    let again = Workspace::with(&show(&config, true)).config();
    assert_eq!(show(&again, false), show(&config, false));
}

#[test]
fn predefined_tools() {
    let config = Workspace::new().config();
    let all = "spawn, fetch, apply, abort";
    let check = |name: &str, actions: &str, run: [&str; 4], parameters: &[&str]| {
        let tool = config.tools[name].clone();
        assert!(tool.enable.on, "{name}");
        assert_eq!(tool.actions.to_string(), actions, "{name}");
        assert_eq!(modes(&tool), run, "{name}");
        assert!(tool.parameters.keys().eq(parameters), "{name}");
        assert!(
            tool.description.is_some() && tool.summary.is_some(),
            "{name}"
        );
        tool
    };
    let un = "unattended";
    let wait = check("await", "none", [un; 4], &["ids", "mode", "timeout_ms"]);
    assert_eq!(wait.source, ToolSource::Builtin { tool: None });
    assert_eq!(wait.parameters["mode"].default, Some("any".into()));
    assert!(wait.parameters["ids"].required);

    let git = check(
        "git",
        all,
        ["ask", un, un, un],
        &["command", "message", "args"],
    );
    assert_eq!(git.runtime, RuntimeKind::Builtin);
    assert_eq!(git.implementation(), Some("git"));
    assert_eq!(git.default_access, DefaultAccess::READ_WRITE);
    assert_eq!(git.terminal, None);
    let programs = git.access.commands.as_ref().expect("rules on programs");
    assert!(
        programs
            .iter()
            .map(|rule| rule.program.as_str())
            .eq(["git"])
    );
    assert!(git.access.fs.is_empty());

    let shell = check("shell", all, ["ask", un, un, un], &["command"]);
    assert_eq!(shell.runtime, RuntimeKind::Stdio);
    assert_eq!(shell.implementation(), None);
    assert_eq!(shell.default_access, DefaultAccess::STDIO);
    assert_eq!(shell.terminal, Some((24, 80)));
    // Nothing of the workspace is run by it, and `Config::guards` relies on that.
    let command = shell.command.expect("a command");
    let words: Vec<&str> = std::iter::once(&command.program)
        .chain(&command.args)
        .map(String::as_str)
        .collect();
    assert!(!command.shell);
    assert_eq!(
        jig_programs::workspace_code(Workspace::new().root(), &words),
        []
    );
}

/// A file that has its own `git` gets nothing of ours.
#[test]
fn a_tool_of_ones_own_with_the_name_of_a_predefined_one() {
    let check = |lines: &str, is_own: bool| {
        let loaded = Workspace::with(lines).load();
        let loaded = loaded.unwrap_or_else(|errors| panic!("{lines}: {errors}"));
        let tool = ["git", "shell", "await"]
            .into_iter()
            .find(|name| lines.contains(&format!("[tools.{name}]")))
            .map(|name| loaded.config.tools[name].clone())
            .expect("one of them");
        assert_eq!(tool.parameters.is_empty(), is_own, "{lines}");
        assert_eq!(
            tool.actions.is_one_shot() && tool.terminal.is_none(),
            is_own,
            "{lines}"
        );
        assert!(loaded.warnings.is_empty(), "{lines}");
        tool
    };
    let git = "[tools.git]\nsource = \"local\"\n";
    let own = check(&format!("{git}command = \"git status\""), true);
    assert_eq!(
        (own.runtime, own.access),
        (RuntimeKind::Stdio, Default::default())
    );
    check(&format!("{git}wasm = \"git.wasm\""), true);
    check(
        "[tools.git]\nsource = \"mcp.git.status\"\n[mcp.servers.git]\ncommand = \"x\"",
        true,
    );
    check("[tools.shell]\nsource = \"local\"\ncommand = \"zsh\"", true);
    // Settings of ours.
    check(&format!("{git}run = \"unattended\""), false);
    check("[tools.git]\nruntime = \"vfs\"", false);
    let zsh = check("[tools.shell]\ncommand = \"zsh -i\"", false);
    assert_eq!(zsh.command.expect("a command").program, "zsh");
}

/// What jig declares for `git` is no second spelling of rules.
#[test]
fn x_08_rules_of_a_predefined_tool_in_either_spelling() {
    let check = |lines: &str, paths: &[&str], programs: &[&str]| {
        let config = Workspace::with(&format!("[tools.git]\n{lines}")).config();
        let access = &config.tools["git"].access;
        assert!(
            access
                .fs
                .iter()
                .map(|rule| rule.path.as_str())
                .eq(paths.iter().copied())
        );
        let found = access.commands.iter().flatten();
        assert!(
            found
                .map(|rule| rule.program.as_str())
                .eq(programs.iter().copied())
        );
        assert!(
            access
                .fs
                .iter()
                .all(|rule| rule.capabilities.has(Capability::Read))
        );
    };
    check(
        "access.fs = [{ path = \"src\", read = true }]",
        &["src"],
        &["git"],
    );
    check("sandbox.filesystem.allow = [\"src\"]", &["src"], &["git"]);
    check("sandbox.commands.gpg = {}", &[], &["gpg"]);
    check("access.commands.gpg = {}", &[], &["git", "gpg"]);
}

/// Rules for all tools are no reason to be told about a tool that nobody mentions.
#[test]
fn defaults_of_all_tools_do_not_complain_about_predefined_ones() {
    let warnings = |lines: &str| {
        let loaded = Workspace::with(lines).load().expect("it loads");
        loaded.warnings.len()
    };
    let net = "access.net = [{ host = \"a.de\", path_prefix = \"/v1\", allow = true }]";
    let fs = "access.fs = [{ path = \".\", read = true }]";
    let commands = "access.commands.make = {}";
    for rules in [net, fs, commands] {
        assert_eq!(warnings(&format!("[tools.'*']\n{rules}")), 0, "{rules}");
    }
    assert_eq!(warnings(&format!("[tools.shell]\n{net}")), 1);
    let own = "[tools.a]\nsource = \"local\"\ncommand = \"a\"";
    assert_eq!(warnings(&format!("{own}\n[tools.'*']\n{net}")), 1);
}
