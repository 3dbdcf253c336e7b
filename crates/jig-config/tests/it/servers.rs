//! MCP servers: what their entries come to, and what is wrong with them.

mod definitions;
mod mistakes;

use std::time::Duration;

use jig_config::{
    Config, ConfigEdit, DefinitionMode, Layer, LoadedConfig, RunMode, Server, ServerReach,
    ServerSettingText, Sources, load, show, show_json, widening,
};
use jig_policy::DefaultAccess;

use crate::workspace::Workspace;

fn server(toml: &str) -> std::sync::Arc<Server> {
    let config = Workspace::with(toml).config();
    config.servers.values().next().expect("a server").clone()
}

fn words(server: &Server) -> Vec<String> {
    match &server.reach {
        ServerReach::Program { command, .. } => {
            command.iter().map(ServerSettingText::to_string).collect()
        }
        ServerReach::Remote { url, .. } => vec![url.to_string()],
    }
}

/// Loads a workspace with the user's own file beside it.
fn with_own(own: &str, workspace: &str) -> (Workspace, Sources) {
    let workspace = Workspace::with(workspace).file("home/config.toml", own);
    let mut sources = workspace.sources();
    sources.user_config = Some(workspace.path("home/config.toml"));
    (workspace, sources)
}

fn loaded(sources: &Sources) -> LoadedConfig {
    load(sources).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_ways_to_write_a_command() {
    let check = |lines: &str, expected: &[&str]| {
        let server = server(&format!("[mcp.servers.s]\n{lines}"));
        assert_eq!(words(&server), expected, "{lines}");
    };
    check("command = \"npx\"", &["npx"]);
    check("command = \"npx -y 'a b'\"", &["npx", "-y", "a b"]);
    // A path may hold spaces, if the arguments stand apart.
    check(
        "command = \"/opt/my tools/x\"\nargs = [\"-y\"]",
        &["/opt/my tools/x", "-y"],
    );
    check("command = [\"a b\", \"c\"]", &["a b", "c"]);
    check("command = [\"a\", \"b\"]\nargs = [\"c\"]", &["a", "b", "c"]);
    check("command = \"a\"\narguments = [\"b\"]", &["a", "b"]);
    check(
        "command = \"${HOME}/x --to ${TO:-all}\"",
        &["${HOME}/x", "--to", "${TO:-all}"],
    );
    // What a template is for tools is plain text here.
    check("command = \"x {{name}\"", &["x", "{{name}"]);
    check(
        "url = \"https://a.example/mcp\"",
        &["https://a.example/mcp"],
    );
}

#[test]
fn defaults_of_a_server() {
    let server = server("[mcp.servers.my-git]\ncommand = \"x\"");
    assert_eq!(server.name, "my-git");
    assert!(server.enable);
    assert_eq!(server.prefix, "my-git_");
    assert_eq!(server.definitions, DefinitionMode::Hold);
    assert_eq!(server.start, Duration::from_secs(60));
    assert_eq!(server.idle, Some(Duration::from_secs(600)));
    assert_eq!(server.time, Duration::from_secs(600));
    let policy = server.policy().expect("a program");
    assert_eq!(policy.default_access, DefaultAccess::STDIO);
    assert!(policy.sandbox.observe, "what it is refused must be known");
    assert_eq!(policy.label(), "mcp:my-git");
    assert_eq!(policy.table(), "mcp.servers.my-git");
    assert_eq!(server.declared_at().to_string(), "jig.toml:1");
}

#[test]
fn settings_of_a_server() {
    let server = server(
        "[mcp.servers.s]\nurl = \"https://a.example\"\nprefix = \"\"\ndefinitions = \"follow\"\n\
         start = \"5s\"\nidle = \"never\"\ntime = \"1m\"\nenable = false\ntype = \"http\"\n\
         headers = { Authorization = \"Bearer ${TOKEN}\" }",
    );
    assert!(!server.enable);
    assert_eq!(server.prefix, "");
    assert_eq!(server.definitions, DefinitionMode::Follow);
    assert_eq!(server.start, Duration::from_secs(5));
    assert_eq!(server.idle, None);
    assert_eq!(server.time, Duration::from_secs(60));
    let ServerReach::Remote { headers, .. } = &server.reach else {
        panic!("{server:?}");
    };
    let header = &headers["Authorization"];
    assert_eq!(header.variables().collect::<Vec<_>>(), ["TOKEN"]);
    assert_eq!(server.origin("prefix").expect("written").line(), 3);
    assert!(server.policy().is_none());
}

#[test]
fn which_tools_are_offered() {
    let check = |lines: &str, tool: &str, expected: bool| {
        let server = server(&format!("[mcp.servers.s]\ncommand = \"x\"\n{lines}"));
        assert_eq!(server.offers(tool), expected, "{lines}: {tool}");
    };
    check("", "anything", true);
    check("tools = [\"read_*\", \"list\"]", "read_file", true);
    check("tools = [\"read_*\", \"list\"]", "list", true);
    check("tools = [\"read_*\", \"list\"]", "write", false);
    check("hide = [\"*delete*\"]", "file_delete_all", false);
    check("tools = [\"a*\"]\nhide = [\"ab\"]", "ab", false);
    check("tools = [\"a*\"]\nhide = [\"ab\"]", "ac", true);
}

/// what a program may do stands with the server, and is compiled as that of a tool.
#[test]
fn rules_belong_to_the_program() {
    let workspace = Workspace::with(
        "[tools.'*'.sandbox]\nenforce = \"best-effort\"\n\
         [mcp.servers.s]\ncommand = \"python3 tools/server.py\"\nvariables = [\"LANG_DIR\"]\n\
         [[mcp.servers.s.access.fs]]\npath = \"docs\"\nread = true\n",
    );
    let config = workspace.config();
    let policy = config.labelled("mcp:s").expect("the program");
    assert_eq!(policy.access.fs.len(), 1);
    assert_eq!(policy.access.env[0].name, "LANG_DIR");
    assert!(policy.access.env[0].read);
    // What all tools have in common holds for it, too.
    assert_eq!(policy.sandbox.enforce.name(), "best-effort");
    assert!(policy.is_server() && config.tool("s").is_none());
    // Its program is as safe from other tools as theirs are from it.
    let tool = config.tool("fs_modify_file").expect("a tool");
    let guards = config.guards(tool, workspace.root());
    let shown = format!("{:?}", guards.protected);
    assert!(shown.contains("tools/server.py"), "{shown}");
    let own = format!("{:?}", config.guards(policy, workspace.root()).protected);
    assert!(!own.contains("tools/server.py"), "{own}");
}

/// A tool and a server may have one name, and neither is the other.
#[test]
fn a_tool_with_the_name_of_a_server() {
    let config = Workspace::with(
        "[mcp.servers.git]\ncommand = \"bin/server\"\n\
         [tools.git]\nsource = \"local\"\ncommand = \"bin/tool\"",
    )
    .config();
    let protected = |label: &str, program: &str| {
        let one = config.labelled(label).expect("it is there");
        let guards = config.guards(one, camino::Utf8Path::new("/nowhere"));
        format!("{:?}", guards.protected).contains(program)
    };
    assert!(protected("git", "bin/server") && !protected("git", "bin/tool"));
    assert!(protected("mcp:git", "bin/tool") && !protected("mcp:git", "bin/server"));
}

/// `'*'`, then the server's entry, then the tool's own.
#[test]
fn defaults_of_its_tools() {
    let config = Workspace::with(
        "[tools.'*']\nrun = \"unattended\"\nresult = \"ask\"\nsize_threshold = \"2KiB\"\n\
         [mcp.servers.s]\ncommand = \"x\"\nrun = \"skip\"\nresult = \"skip\"\n\
         [tools.a]\nsource = \"mcp.s\"\nrun = \"edit\"\n\
         [tools.b]\nsource = \"local\"\ncommand = \"make\"\n",
    )
    .config();
    let check = |name: &str, run: RunMode, result: &str| {
        let tool = config.tool(name).expect(name);
        assert!(tool.run.spawn.is_always(run), "{name}");
        assert_eq!(tool.result.name(), result, "{name}");
        assert_eq!(tool.size_threshold, Some(2048), "{name}");
    };
    check("a", RunMode::Edit, "skip");
    check("b", RunMode::Unattended, "ask");
    let origin = config.tool("a").expect("a").origin("result");
    assert_eq!(origin.expect("written").to_string(), "jig.toml:8");
}

#[test]
fn as_jp_writes_it() {
    let jp = "[providers.llm.x]\ny = 1\n[providers.mcp.bookworm]\ntype = \"stdio\"\ncommand = \"just\"\n\
              arguments = [\"serve\"]\nvariables = [\"BOOKS\"]\noptional = true\nstartup_timeout_secs = 5\n\
              [conversation.tools.search]\nsource = \"mcp.bookworm.find\"\n";
    let workspace = Workspace::new().file(".jp/config.toml", jp);
    let config = workspace.config();
    let server = config.server("bookworm").expect("the server");
    assert_eq!(words(server), ["just", "serve"]);
    assert_eq!(server.start, Duration::from_secs(5));
    assert_eq!(server.key(), "providers.mcp.bookworm");
    assert_eq!(
        server.policy().expect("a program").access.env[0].name,
        "BOOKS"
    );
    let tool = config.tool("search").expect("the tool");
    assert_eq!(tool.on_server(), Some(("bookworm", "find")));
    assert_eq!(config.server_of(tool).expect("its server").name, "bookworm");
}

/// Listing tools must not run a stranger's code: what a workspace writes has to be accepted.
#[test]
fn who_wrote_a_server() {
    let own = "[mcp.servers.s]\ncommand = \"x\"\nenv = { TOKEN = \"${TOKEN}\" }\n\
               tools = [\"read\"]\nhide = [\"rm\"]\n\
               [tools.kept]\nsource = \"mcp.s.kept\"";
    let check = |workspace: &str, expected: Layer| {
        let (_kept, sources) = with_own(own, workspace);
        let config = loaded(&sources).config;
        let server = config.server("s").expect("the server");
        assert_eq!(server.layer, expected, "{workspace}");
        assert_eq!(server.needs_acceptance(), expected == Layer::Workspace);
    };
    check("", Layer::User);
    // What takes away needs nobody's leave.
    check("[mcp.servers.s]\nenable = false", Layer::User);
    check("[mcp.servers.s]\nprefix = \"a_\"", Layer::User);
    check("[mcp.servers.s]\nhide = [\"x\"]", Layer::User);
    // What the user hides or does not offer is not for the workspace to show.
    check("[mcp.servers.s]\ntools = [\"*\"]", Layer::Workspace);
    let shown = "hide = { strategy = \"replace\", value = [] }";
    check(&format!("[mcp.servers.s]\n{shown}"), Layer::Workspace);
    check("[mcp.servers.s]\ncommand = \"evil\"", Layer::Workspace);
    check("[mcp.servers.s]\nargs = [\"--evil\"]", Layer::Workspace);
    check(
        "[mcp.servers.s]\nenv = { PATH = \"/tmp\" }",
        Layer::Workspace,
    );
    check("[mcp.servers.s]\nrun = \"unattended\"", Layer::Workspace);
    check(
        "[mcp.servers.s]\ndefinitions = \"follow\"",
        Layer::Workspace,
    );
    check(
        "[mcp.servers.s.sandbox]\nenforce = \"best-effort\"",
        Layer::Workspace,
    );
    check("[providers.mcp.s]\ncommand = \"evil\"", Layer::Workspace);
    check(
        "[[mcp.servers.s.access.net]]\nhost = \"evil.example\"\nallow = true",
        Layer::Workspace,
    );
    check(
        "[[tools.'*'.access.net]]\nhost = \"evil.example\"\nallow = true",
        Layer::Workspace,
    );
    // Nor may it decide that nobody is asked before the tools of a server with the user's credentials run.
    for loose in [
        "[tools.'*']\nrun = \"unattended\"",
        "[tools.s_delete]\nsource = \"mcp.s.delete\"\nrun = \"unattended\"",
        "[tools.any]\nsource = \"mcp.s.delete\"\nrun = [{ arg = \"/x\", equals = 1, mode = \"unattended\" }]",
        "[tools.any]\nsource = \"mcp.s.delete\"\nquestions.sure.answer = true",
        // Under another name, or although the user hides it.
        "[tools.harmless]\nsource = \"mcp.s.delete\"",
        "[tools.kept]\nenable = true",
        "[tools.kept]\nresult = \"unattended\"",
    ] {
        check(loose, Layer::Workspace);
    }
    for strict in [
        "[tools.'*']\nrun = \"ask\"",
        "[tools.kept]\nrun = \"skip\"\nenable = false\ndescription = \"d\"",
    ] {
        check(strict, Layer::User);
    }
    let (_kept, mut sources) = with_own(own, "[mcp.servers.s]\ncommand = \"evil\"");
    sources.sets.push("mcp.servers.s.command=good".to_owned());
    let config = loaded(&sources).config;
    assert_eq!(config.server("s").expect("s").layer, Layer::Set);
}

/// What a person accepts says so, and other words of the workspace have to be accepted again.
#[test]
fn what_a_workspace_loosens_is_shown_and_is_part_of_the_fingerprint() {
    let own = "[mcp.servers.s]\ncommand = \"x\"";
    let of = |workspace: &str| {
        let (_kept, sources) = with_own(own, workspace);
        let config = loaded(&sources).config;
        let server = config.server("s").expect("the server");
        (server.fingerprint(), server.described())
    };
    let loose = "[tools.rm]\nsource = \"mcp.s.delete\"\nrun = \"unattended\"";
    let (fingerprint, described) = of(loose);
    assert_ne!(fingerprint, of("").0);
    let line = "rm: run = \"unattended\"".to_owned();
    assert!(described.contains(&line), "{described:?}");
    for other in [
        loose.replace("tools.rm", "tools.other"),
        loose.replace("mcp.s.delete", "mcp.s.delete_all"),
        format!("{loose}\n{}", loose.replace("tools.rm", "tools.other")),
    ] {
        assert_ne!(fingerprint, of(&other).0, "{other}");
    }
}

#[test]
fn a_fingerprint_is_of_what_matters() {
    let base = "[mcp.servers.s]\ncommand = \"x\"\nargs = [\"a\"]\nenv = { A = \"${A}\" }\n";
    let of = |toml: &str| server(toml).fingerprint();
    assert_eq!(of(base).len(), 64);
    for same in [
        "prefix = \"y_\"",
        "idle = 5",
        "start = 5",
        "time = 5",
        "tools = [\"a\"]",
        "hide = [\"a\"]",
        "# a comment",
    ] {
        assert_eq!(of(&format!("{base}{same}")), of(base), "{same}");
    }
    for other in [
        "run = \"unattended\"",
        "definitions = \"follow\"",
        "sandbox.presets = [\"node\"]",
        "access.fs = [{ path = \".\", read = true }]",
        "access.net = [{ host = \"a.example\", allow = true }]",
        "variables = [\"B\"]",
    ] {
        assert_ne!(of(&format!("{base}{other}")), of(base), "{other}");
    }
    for (from, to) in [("\"x\"", "\"y\""), ("\"a\"", "\"b\""), ("${A}", "${B}")] {
        assert_ne!(of(&base.replace(from, to)), of(base), "{to}");
    }
    let (_one, sources) = with_own(base, "[[tools.'*'.access.fs]]\npath = \".\"\nread = true");
    let config = loaded(&sources).config;
    assert_ne!(config.server("s").expect("s").fingerprint(), of(base));
}

#[test]
fn what_a_person_is_told() {
    let toml = "[mcp.servers.s]\ncommand = \"npx -y server 'a b'\"\n\
                env = { TOKEN = \"${TOKEN}\", PASSWORD = \"hunter22\", MODE = \"ro\\u001b[0m\" }\n\
                run = \"unattended\"\n\
                [mcp.servers.s.sandbox]\npresets = [\"node\"]\nsystem = [{ path = \"/opt/x\", write = true }]\n\
                [[mcp.servers.s.access.fs]]\npath = \"docs\"\nread = true\n\
                [[mcp.servers.s.access.fs]]\npath = \"docs/private\"\n\
                [[mcp.servers.s.access.net]]\nhost = \"api.example\"\nscheme = \"https\"\nallow = true\n\
                [[mcp.servers.s.access.env]]\nname = \"LANG_DIR\"\nread = true\n";
    let (_kept, sources) = with_own(toml, "");
    let config = loaded(&sources).config;
    let told = config.server("s").expect("s").described().join("\n");
    assert!(!told.contains("hunter22"), "{told}");
    insta::assert_snapshot!("described_program", told);
    let remote = server(
        "[mcp.servers.s]\nurl = \"https://a.example/mcp\"\ndefinitions = \"follow\"\n\
         headers = { Authorization = \"Bearer ${TOKEN}\" }",
    );
    insta::assert_snapshot!("described_remote", remote.described().join("\n"));
    let bare = server("[mcp.servers.s]\ncommand = \"x\"");
    insta::assert_snapshot!("described_bare", bare.described().join("\n"));
}

#[test]
fn servers_are_shown() {
    let own = "[mcp]\nidle = \"5m\"\n[mcp.servers.s]\ncommand = \"x\"\n\
               env = { TOKEN = \"${TOKEN}\", PASSWORD = \"hunter22\" }\n\
               [[mcp.servers.s.access.fs]]\npath = \"docs\"\nread = true\n\
               [mcp.servers.far]\nurl = \"https://a.example/mcp\"\nstart = \"5s\"\n\
               headers.Authorization = { command = [\"gh\", \"auth\", \"token\"] }\n";
    let (_kept, sources) = with_own(own, "");
    let config = loaded(&sources).config;
    let text = show(&config, true);
    let start = text.find("[mcp]").expect("the table");
    let end = text.find("\n[tools.").expect("the tools");
    insta::assert_snapshot!("shown_servers", &text[start..end]);
    let json = show_json(&config, true);
    assert_eq!(json["mcp"]["servers"]["s"]["env"]["TOKEN"], "${TOKEN}");
    assert_eq!(json["mcp"]["servers"]["s"]["prefix"], "s_");
    assert_eq!(json["origins"]["mcp.servers.s.command"]["line"], 4);
    for shown in [text, json.to_string()] {
        assert!(!shown.contains("hunter22"), "{shown}");
    }
    // What is shown loads as the same servers, but for what is hidden.
    let (_again, again) = with_own(&show(&config, false), "");
    let again = loaded(&again).config;
    for name in ["s", "far"] {
        let (one, other) = (&config.servers[name], &again.servers[name]);
        assert_eq!(words(one), words(other));
        assert_eq!(
            (one.start, one.idle, one.time),
            (other.start, other.idle, other.time)
        );
    }
    assert_eq!(
        config.servers["far"].fingerprint(),
        again.servers["far"].fingerprint()
    );
}

#[test]
fn widening_of_servers() {
    let found = |old: &str, new: &str| -> Vec<String> {
        let workspace = Workspace::with(old);
        let before = workspace.config();
        let after = workspace.file("jig.toml", new).config();
        let found = widening(&before, &after);
        found.iter().map(ToString::to_string).collect()
    };
    let s = |lines: &str| format!("[mcp.servers.s]\n{lines}\n");
    let program = |lines: &str| s(&format!("command = \"x\"\n{lines}"));
    let wider = |old: &str, new: &str, expected: &str| {
        let told = found(&program(old), &program(new));
        assert!(
            told.iter().any(|one| one == expected),
            "{old} -> {new}: {told:#?}"
        );
    };
    let nothing = |old: &str, new: &str| {
        let told = found(&program(old), &program(new));
        assert!(told.is_empty(), "{old} -> {new}: {told:?}");
    };
    assert_eq!(found(&program(""), ""), [""; 0], "one that is gone");
    let new = found("", &program(""));
    assert_eq!(
        new[0],
        "mcp.servers.s: is a new server: runs x (jig.toml:1)"
    );
    assert!(
        new.iter().any(|one| one.contains("all of the workspace")),
        "{new:?}"
    );
    assert!(!found(&program("enable = false"), &program("")).is_empty());
    nothing("", "enable = false");
    nothing("hide = [\"a\"]", "hide = [\"a\", \"b\"]");
    nothing("", "tools = [\"a\"]");
    nothing("tools = [\"a\", \"b\"]", "tools = [\"a\"]");
    nothing("", "prefix = \"x\"\nidle = 5\nstart = 5");
    nothing("", "run = \"skip\"");
    nothing("definitions = \"follow\"", "");
    let at = "(jig.toml:3)";
    wider(
        "",
        "args = [\"y\"]",
        &format!("mcp.servers.s: now runs x y {at}"),
    );
    wider(
        "",
        "env = { A = \"1\" }",
        &format!("mcp.servers.s: now gets the variable `A` {at}"),
    );
    wider(
        "env = { A = \"1\" }",
        "env = { A = \"2\" }",
        &format!("mcp.servers.s: has another value for the variable `A` {at}"),
    );
    wider(
        "env = { READ_ONLY = \"1\" }",
        "",
        "mcp.servers.s: no longer gets the variable `READ_ONLY`",
    );
    wider(
        "hide = [\"a\", \"b\"]",
        "hide = [\"a\"]",
        &format!("mcp.servers.s: its tools `b` are no longer hidden {at}"),
    );
    wider(
        "tools = [\"a\"]",
        "",
        "mcp.servers.s: more of its tools may be offered",
    );
    wider(
        "",
        "definitions = \"follow\"",
        &format!("mcp.servers.s: a tool that it describes in another way is no longer held {at}"),
    );
    wider(
        "",
        "time = \"1h\"",
        &format!("mcp.servers.s: a call of its tools may take longer {at}"),
    );
    wider(
        "",
        "run = \"unattended\"",
        &format!("mcp.s.*: now runs so: unattended (before: ask) {at}"),
    );
    wider(
        "",
        "access.net = [{ host = \"a.example\", allow = true }]",
        &format!("mcp.servers.s: may now reach `a.example` {at}"),
    );
    wider(
        "",
        "sandbox.presets = [\"node\"]",
        &format!("mcp.servers.s: now has the preset `node` {at}"),
    );
    let far = |lines: &str| s(&format!("url = \"https://a.example\"\n{lines}"));
    let told = found(&far(""), &far("headers = { X = \"${Y}\" }"));
    assert_eq!(
        told,
        [format!("mcp.servers.s: now gets the header `X` {at}")]
    );
    let told = found(&far(""), &far("").replace("a.example", "b.example"));
    assert_eq!(
        told,
        ["mcp.servers.s: now connects to https://b.example (jig.toml:2)"]
    );
    let told = found(&far(""), &program(""));
    assert!(
        told[0].contains("is now reached in another way: runs x"),
        "{told:?}"
    );
}

/// `jig` adds rules to the entry of a server as it does to a tool.
#[test]
fn rules_can_be_added_by_an_edit() {
    let additions = jig_config::Additions {
        net: vec![jig_config::AddedNet {
            host: "api.example".to_owned(),
            scheme: None,
            port: None,
            path_prefix: None,
            comment: Vec::new(),
        }],
        presets: vec![jig_config::Preset::Node],
        ..jig_config::Additions::default()
    };
    let check = |text: &str, table: &str| {
        let mut edit = ConfigEdit::new(Some(text)).expect("TOML");
        edit.add_server("s", &additions)
            .expect("it can be added to");
        let text = edit.to_string();
        assert!(text.contains(table), "{text}");
        let server = server(&text);
        let policy = server.policy().expect("a program");
        assert_eq!(policy.access.net[0].host, "api.example");
        assert_eq!(policy.sandbox.presets.len(), 1);
    };
    check(
        "# mine\n[mcp.servers.s]\ncommand = \"x\" # run\n",
        "[[mcp.servers.s.access.net]]",
    );
    check(
        "[providers.mcp.s]\ncommand = \"x\"\n",
        "[[providers.mcp.s.access.net]]",
    );
    check("mcp.servers.s = { command = \"x\" }\n", "mcp.servers.s = {");
}

/// A server that is switched off takes its tools with it.
#[test]
fn tools_of_a_server_that_is_off() {
    let config: Config = Workspace::with(
        "[mcp.servers.s]\ncommand = \"x\"\nenable = false\n[tools.a]\nsource = \"mcp.s\"\n",
    )
    .config();
    assert!(!config.tool("a").expect("a").enable.on);
}
