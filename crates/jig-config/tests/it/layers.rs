//! How layers are laid over each other, and where each value then comes from.

use jig_config::{Config, ConfigErrors, RunMode, RunRules, Sources, load};

use crate::follow::follow_all;
use crate::workspace::Workspace;

const TOOL: &str = "[tools.a]\nsource = \"local\"\ncommand = \"make\"\n";

fn loaded(sources: &Sources) -> Config {
    load(sources)
        .unwrap_or_else(|errors| panic!("{errors}"))
        .config
}

fn failed(sources: &Sources) -> ConfigErrors {
    match load(sources) {
        Ok(_) => panic!("it loads"),
        Err(errors) => errors,
    }
}

#[test]
fn a_later_layer_wins() {
    let workspace = Workspace::with(&format!("{TOOL}run = \"ask\""))
        .file(
            "user.toml",
            "[tools.a]\nrun = \"skip\"\nsummary = \"from the user\"",
        )
        .file(".jig/config.toml", "[tools.a]\nrun = \"edit\"")
        .file("more.toml", "[tools.a]\nrun = \"ask\"");
    let mut sources = workspace.sources();
    let check = |sources: &Sources, run: &str, origin: &str| {
        let config = loaded(sources);
        let tool = config.tool("a").expect("the tool");
        assert_eq!(tool.run.spawn.name(), run);
        assert_eq!(tool.origin("run").expect("an origin").to_string(), origin);
    };
    check(&sources, "edit", ".jig/config.toml:2");
    sources.user_config = Some(workspace.path("user.toml"));
    check(&sources, "edit", ".jig/config.toml:2");
    assert_eq!(
        loaded(&sources)
            .tool("a")
            .and_then(|a| a.summary.clone())
            .as_deref(),
        Some("from the user")
    );
    sources.files.push(workspace.path("more.toml"));
    check(&sources, "ask", "more.toml:2");
    sources
        .environment
        .push(("JIG_CFG__TOOLS__A__RUN".into(), "unattended".into()));
    check(&sources, "unattended", "JIG_CFG__TOOLS__A__RUN");
    sources.sets.push("tools.a.run=skip".to_owned());
    check(&sources, "skip", "--set");
    sources.sets.push("tools.a.run = \"edit\"".to_owned());
    check(&sources, "edit", "--set");
}

#[test]
fn a_tool_may_be_spread_over_files_j_025() {
    let config = Workspace::with(&format!("{TOOL}[tools.a.parameters.path]\ntype = \"string\"\n"))
        .file(".jig/config.toml", "[tools.a.parameters.repository]\ntype = \"string\"\n[tools.a.parameters.path]\nrequired = true\n")
        .config();
    let tool = config.tool("a").expect("the tool");
    let names: Vec<&str> = tool.parameters.keys().map(String::as_str).collect();
    assert_eq!(names, ["path", "repository"]);
    assert!(tool.parameters["path"].required);
    assert_eq!(
        tool.origin("parameters.path.type")
            .expect("it was set")
            .to_string(),
        "jig.toml:5"
    );
    assert_eq!(
        tool.origin("parameters.path.required")
            .expect("it was set")
            .to_string(),
        ".jig/config.toml:4"
    );
    assert!(tool.origin("parameters.path.default").is_none());
}

#[test]
fn a_layer_may_add_rules_without_repeating_the_source_g_007() {
    let config = Workspace::with(TOOL)
        .file(
            ".jig/config.toml",
            "[[tools.a.access.fs]]\npath = \"out\"\nwrite = true\n",
        )
        .config();
    assert_eq!(config.tool("a").expect("the tool").access.fs.len(), 1);
    // And the source that counts is the final one.
    let workspace = Workspace::with(&format!("{TOOL}[[tools.a.access.fs]]\npath = \"out\"\n"))
        .file(".jig/config.toml", "[tools.a]\nsource = \"mcp.web\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n");
    let errors = failed(&workspace.sources());
    assert!(
        errors.problems()[0].message().contains("is a mcp tool"),
        "{errors}"
    );
}

#[test]
fn strategies_of_lists_g_011_to_g_013() {
    let rule = |path: &str| format!("{{ path = \"{path}\", read = true }}");
    let below = format!("{TOOL}access.fs = [{}, {}]", rule("a"), rule("b"));
    let check = |above: &str, paths: &[&str]| {
        let above = format!("[tools.a]\naccess.fs = {above}");
        let config = Workspace::with(&below)
            .file(".jig/config.toml", above)
            .config();
        let rules = &config.tool("a").expect("the tool").access.fs;
        let found: Vec<&str> = rules.iter().map(|rule| rule.path.as_str()).collect();
        assert_eq!(found, paths);
    };
    let one = |strategy: &str, more: &str| {
        format!(
            "{{ strategy = \"{strategy}\", value = [{}, {}]{more} }}",
            rule("b"),
            rule("c")
        )
    };
    check(&format!("[{}]", rule("c")), &["a", "b", "c"]);
    check(&format!("{{ value = [{}] }}", rule("c")), &["a", "b", "c"]);
    check(&one("append", ""), &["a", "b", "b", "c"]);
    check(&one("prepend", ""), &["b", "c", "a", "b"]);
    check(&one("replace", ""), &["b", "c"]);
    check(&one("dedup", ""), &["a", "b", "c"]);
    check(&one("append", ", dedup = true"), &["a", "b", "c"]);
    // Of equal rules the last stays, because the last one decides.
    check(&one("prepend", ", dedup = true"), &["c", "a", "b"]);
    check("[]", &["a", "b"]);
    check("{ strategy = \"replace\", value = [] }", &[]);
}

#[test]
fn net_and_env_merge_by_themselves_g_010() {
    let config = Workspace::with(&format!(
        "{TOOL}access.fs = [{{ path = \".\" }}]\naccess.net = [{{ host = \"a.de\" }}]\naccess.env = [{{ name = \"A\" }}]"
    ))
    .file(
        ".jig/config.toml",
        "[tools.a.access]\nfs = { strategy = \"replace\", value = [] }\nnet = [{ host = \"b.de\" }]\n",
    )
    .config();
    let access = &config.tool("a").expect("the tool").access;
    assert_eq!(
        (access.fs.len(), access.net.len(), access.env.len()),
        (0, 2, 1)
    );
}

#[test]
fn other_lists_are_replaced() {
    let config = Workspace::with(&format!(
        "{TOOL}examples = [\"one\", \"two\"]\noptions = {{ list = [1], deep = {{ a = 1 }} }}"
    ))
    .file(
        ".jig/config.toml",
        "[tools.a]\nexamples = [\"three\"]\noptions = { list = [2], deep = { b = 2 } }",
    )
    .config();
    let tool = config.tool("a").expect("the tool");
    assert_eq!(tool.examples, ["three"]);
    let options = serde_json::json!({ "list": [2], "deep": { "a": 1, "b": 2 } });
    assert_eq!(serde_json::Value::Object(tool.options.clone()), options);
}

#[test]
fn a_value_of_another_kind_replaces_a_table() {
    let config = Workspace::with("[tools.a]\nsource = \"local\"\nenable = { state = false, allow_toggle = \"never\" }\ncommand = { program = \"make\", args = [\"x\"] }")
        .file(".jig/config.toml", "[tools.a]\nenable = true\ncommand.args = [\"y\"]")
        .config();
    let tool = config.tool("a").expect("the tool");
    assert!(tool.enable.on);
    assert_eq!(tool.enable.allow_toggle.name(), "any");
    let command = tool.command.as_ref().expect("a command");
    assert_eq!(
        (command.program.as_str(), command.args.as_slice()),
        ("make", &["y".to_owned()][..])
    );
}

#[test]
fn defaults_of_all_tools_lie_below_each_tool() {
    // The tool says `ask` in a lower layer, and still wins over `'*'` of a higher one.
    let config = Workspace::with(&format!("{TOOL}run = \"ask\"\n[tools.b]\nsource = \"local\"\ncommand = \"make\"\n"))
        .file(
            ".jig/config.toml",
            "[tools.'*']\nrun = \"unattended\"\nresult = \"ask\"\naccess.fs = [{ path = \".\", read = true }]\n[tools.b]\naccess.fs = [{ path = \"out\", write = true }]",
        )
        .config();
    let run = |tool: &str| {
        let modes = &config.tool(tool).expect("the tool").run;
        modes.spawn.clone()
    };
    assert_eq!(run("a"), RunRules::Always(RunMode::Ask));
    assert_eq!(run("b"), RunRules::Always(RunMode::Unattended));
    // What jig declares for its own tools lies below what the user declares for all.
    assert_eq!(run("fs_delete_file"), RunRules::Always(RunMode::Unattended));
    let paths = |tool: &str| -> Vec<String> {
        let rules = &config.tool(tool).expect("the tool").access.fs;
        rules.iter().map(|rule| rule.path.clone()).collect()
    };
    assert_eq!(paths("a"), ["."]);
    assert_eq!(paths("b"), [".", "out"]);
    assert!(config.tool("*").is_none());
}

#[test]
fn a_tool_can_replace_the_rules_of_all_tools() {
    let config = Workspace::with(&format!(
        "[tools.'*']\naccess.fs = [{{ path = \".\", read = true }}]\n{TOOL}access.fs = {{ strategy = \"replace\", value = [{{ path = \"out\" }}] }}"
    ))
    .config();
    assert_eq!(config.tool("a").expect("the tool").access.fs.len(), 1);
}

#[test]
fn both_roots_mean_the_same() {
    let config = Workspace::with(&format!(
        "{TOOL}summary = \"tools\"\n[conversation.tools.a]\nsummary = \"conversation\"\ndescription = \"kept\"\n"
    ))
    .config();
    let tool = config.tool("a").expect("the tool");
    assert_eq!(tool.summary.as_deref(), Some("tools"));
    assert_eq!(tool.description.as_deref(), Some("kept"));
}

#[test]
fn overrides_take_toml_or_else_a_string() {
    let check = |set: &str, path: &str, json: serde_json::Value| {
        let workspace = Workspace::with(TOOL);
        let mut sources = workspace.sources();
        sources.sets.push(set.to_owned());
        let config = loaded(&sources);
        let shown = jig_config::show_json(&config, false);
        assert_eq!(
            shown.pointer(&format!("/tools/{path}")),
            Some(&json),
            "{set}"
        );
    };
    check("tools.a.run=skip", "a/run", "skip".into());
    check("tools.a.run=\"skip\"", "a/run", "skip".into());
    check("tools.a.enable=false", "a/enable", false.into());
    check("tools.a.summary=5", "a/summary", "5".into());
    check("tools.a.summary=true", "a/summary", "true".into());
    check("tools.a.summary=a=b", "a/summary", "a=b".into());
    check("tools.a.summary=", "a/summary", "".into());
    check("tools.a.options.level=5", "a/options/level", 5.into());
    check("tools.a.options.name=five", "a/options/name", "five".into());
    check("tools . 'a' . \"run\" = ask", "a/run", "ask".into());
    check(
        "tools.a.access.fs=[{path=\"x\"}]",
        "a/access/fs",
        serde_json::json!([{ "path": "x" }]),
    );
    check("tools.a.options.\"x=y\"=1", "a/options/x=y", 1.into());
}

#[test]
fn variables_name_keys_in_upper_case() {
    let workspace = Workspace::with("[tools.my_tool]\nsource = \"local\"\ncommand = \"make\"\n");
    let mut sources = workspace.sources();
    let pairs = [
        ("JIG_CFG__TOOLS__MY_TOOL__RUN", "unattended"),
        ("JIG_CFG__TOOLS__MY_TOOL__ENABLE", "false"),
        ("JIG_CFG__TOOLS__MY_TOOL__ON_UNCOVERED", "deny"),
        ("JIG_CFGX__TOOLS", "ignored"),
        ("PATH", "ignored"),
    ];
    sources.environment = pairs
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    let config = loaded(&sources);
    let tool = config.tool("my_tool").expect("the tool");
    assert!(tool.run.spawn.is_always(RunMode::Unattended));
    assert!(!tool.enable.on);
    assert_eq!(tool.on_uncovered.name(), "deny");
    assert_eq!(
        tool.origin("run").expect("it was set").to_string(),
        "JIG_CFG__TOOLS__MY_TOOL__RUN"
    );
}

#[test]
fn mistakes_in_overrides() {
    use std::os::unix::ffi::OsStringExt as _;

    let workspace = Workspace::with(TOOL);
    let set = |name: &str, wrong: &str, right: &str| {
        let mut sources = workspace.sources();
        sources.sets = vec![wrong.to_owned()];
        let errors = failed(&sources);
        insta::assert_snapshot!(name, errors.to_string());
        sources.sets = vec![right.to_owned()];
        follow_all(&errors, &load(&sources).expect("it is mended"));
    };
    set("set_without_value", "tools.a.run", "tools.a.run=ask");
    set("set_without_key", "=ask", "tools.a.run=ask");
    set("set_with_broken_key", "tools..run=ask", "tools.a.run=ask");
    set("set_misspelt_tool", "tools.A.run=ask", "tools.a.run=ask");
    set("set_unknown_key", "tools.a.rnu=ask", "tools.a.run=ask");
    set(
        "set_wrong_type",
        "tools.a.access.fs=src",
        "tools.a.access.fs=[{ path = \"src\" }]",
    );
    set(
        "set_broken_list",
        "tools.a.access.fs=[{path=\"src\"}",
        "tools.a.access.fs=[{path=\"src\"}]",
    );
    let variable = |name: &str, wrong: (&str, &str), right: (&str, &str)| {
        let mut sources = workspace.sources();
        sources.environment = vec![(wrong.0.into(), wrong.1.into())];
        let errors = failed(&sources);
        insta::assert_snapshot!(name, errors.to_string());
        sources.environment = vec![(right.0.into(), right.1.into())];
        follow_all(&errors, &load(&sources).expect("it is mended"));
    };
    let good = ("JIG_CFG__TOOLS__A__RUN", "ask");
    variable(
        "variable_bad_word",
        ("JIG_CFG__TOOLS__A__RUN", "sometimes"),
        good,
    );
    variable("variable_bad_key", ("JIG_CFG__TOOLS__A__RNU", "ask"), good);
    variable(
        "variable_without_key",
        ("JIG_CFG__TOOLS____RUN", "ask"),
        good,
    );
    let mut sources = workspace.sources();
    let bytes = std::ffi::OsString::from_vec(vec![0xff]);
    sources.environment = vec![("JIG_CFG__TOOLS__A__RUN".into(), bytes)];
    let errors = failed(&sources);
    insta::assert_snapshot!("variable_not_utf_8", errors.to_string());
    sources.environment = vec![(good.0.into(), good.1.into())];
    follow_all(&errors, &load(&sources).expect("it is mended"));
}

/// Whoever asks about one tool gets it as it is in the whole, and what a layer mentions.
#[test]
fn one_predefined_tool_is_the_same_without_the_others() {
    let workspace = Workspace::with("[tools.fs_move_file]\nrun = \"skip\"\n");
    let all = load(&workspace.sources()).expect("it loads").config;
    for name in all.tools.keys() {
        let sources = Sources {
            only: Some(name.to_string()),
            ..workspace.sources()
        };
        let one = load(&sources).expect("it loads").config;
        let (whole, alone) = (all.tool(name.as_str()), one.tool(name.as_str()));
        let (whole, alone) = (whole.expect("it is there"), alone.expect("it is there"));
        assert_eq!(whole.input_schema(), alone.input_schema(), "{name}");
        assert_eq!(whole.access, alone.access, "{name}");
        assert_eq!(whole.run, alone.run, "{name}");
        let place = |tool: &jig_config::Tool| tool.declared_at().to_string();
        assert_eq!(place(whole), place(alone), "{name}");
        let names: Vec<&str> = one.tools.keys().map(|name| name.as_str()).collect();
        assert!(
            names.contains(&"fs_move_file") && names.len() <= 2,
            "{names:?}"
        );
    }
}

#[test]
fn the_resolver_of_all_tools() {
    let check = |toml: &str, sets: &[&str], expected: Option<&str>| {
        let workspace =
            Workspace::with(toml).file("more.toml", "[network]\nresolver = \"9.9.9.9\"");
        let mut sources = workspace.sources();
        sources.sets = sets.iter().map(|&set| set.to_owned()).collect();
        if sets.contains(&"network={}") {
            sources.files.push(workspace.path("more.toml"));
        }
        let found = loaded(&sources).network.resolver.map(|one| one.to_string());
        assert_eq!(found.as_deref(), expected, "{toml} {sets:?}");
    };
    check("", &[], None);
    check("[network]", &[], None);
    for (written, expected) in [
        ("system", None),
        ("1.1.1.1", Some("1.1.1.1:53")),
        ("127.0.0.1:5353", Some("127.0.0.1:5353")),
        ("::1", Some("[::1]:53")),
        ("[::1]", Some("[::1]:53")),
        ("[::1]:5353", Some("[::1]:5353")),
    ] {
        let toml = format!("[network]\nresolver = \"{written}\"\n");
        check(&toml, &[], expected);
    }
    let below = "[network]\nresolver = \"1.1.1.1\"\n";
    check(below, &["network={}"], Some("9.9.9.9:53"));
    check(below, &["network.resolver=2.2.2.2:99"], Some("2.2.2.2:99"));
    check(below, &["network.resolver=system"], None);
}
