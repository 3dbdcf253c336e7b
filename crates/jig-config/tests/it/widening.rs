//! What a changed configuration allows that the earlier one did not.

mod random;

use jig_config::{Config, load, widening};

use crate::workspace::Workspace;

/// Two configurations of one workspace.
fn pair(old: &str, new: &str) -> (Config, Config) {
    let workspace = Workspace::with(old);
    let before = workspace.config();
    let after = workspace.file("jig.toml", new).config();
    (before, after)
}

fn found(old: &str, new: &str) -> Vec<String> {
    let (old, new) = pair(old, new);
    let found = widening(&old, &new);
    found.iter().map(ToString::to_string).collect()
}

/// A tool around the lines in question, which begin at line 4.
fn tool(lines: &str) -> String {
    format!("[tools.t]\nsource = \"local\"\ncommand = \"make\"\n{lines}\n")
}

/// `new` is wider than `old` in exactly this way, and the other way round it is not.
fn wider(old: &str, new: &str, expected: &str) {
    assert_eq!(found(&tool(old), &tool(new)), [expected], "{old} -> {new}");
    narrower(new, old);
}

/// Neither is known to be narrower than the other.
fn other(old: &str, new: &str) {
    for (old, new) in [(old, new), (new, old)] {
        let found = found(&tool(old), &tool(new));
        assert!(!found.is_empty(), "{old} -> {new}");
    }
}

fn narrower(old: &str, new: &str) {
    let found = found(&tool(old), &tool(new));
    assert!(found.is_empty(), "{old} -> {new}: {found:?}");
}

fn neutral(old: &str, new: &str) {
    narrower(old, new);
    narrower(new, old);
}

#[test]
fn nothing_changed() {
    for toml in ["", &tool("run = [{ mode = \"ask\" }]"), "[mcp]\nidle = 5"] {
        assert!(found(toml, toml).is_empty(), "{toml}");
    }
}

/// A person accepts what they are shown: a new tool must not bring along what nobody told.
#[test]
fn a_new_tool_is_shown_with_all_that_it_is_given() {
    let lines = r#"run = "unattended"
access.net = [{ host = "evil.example", allow = true }]
access.env = [{ name = "AWS_SECRET" , read = true }]
sandbox.system = [{ path = "~/.ssh", write = true }]
sandbox.enforce = "best-effort"
questions.sure = { answer = true }"#;
    let given = [
        "t: its question `sure` is now answered with true (jig.toml:9)",
        "t: may now reach `evil.example` (jig.toml:5)",
        "t: may now read the variable `AWS_SECRET` (jig.toml:6)",
        "t: now also runs where its rules can't be enforced (jig.toml:8)",
        "t: may now read, write `~/.ssh`, outside the workspace (jig.toml:7)",
        "t: runs so: unattended (jig.toml:4)",
    ];
    let t = tool(lines);
    let mut expected = vec!["t: is a new tool: `make` (jig.toml:1)"];
    expected.extend(given);
    assert_eq!(found("", &t), expected);
    // Nor one that was brought in while it was off, which is nothing to ask about.
    let off = format!("{t}enable = false\n");
    assert!(found("", &off).is_empty());
    let mut expected = vec!["t: is now offered"];
    expected.extend(given);
    assert_eq!(found(&off, &t), expected);
}

/// What stands at the end of a command counts as much as what stands at its beginning.
#[test]
fn a_long_command_is_shown_to_its_end() {
    let padding = "x".repeat(300);
    let command =
        format!("command = {{ program = \"sh\", args = [\"-c\", \"true {padding}; evil\"] }}");
    let new = format!("[tools.t]\nsource = \"local\"\n{command}\n");
    let expected = format!("t: now runs `sh -c \"true {padding}; evil\"` (jig.toml:3)");
    assert_eq!(found(&tool(""), &new), [expected]);
    let path = format!("{padding}/end");
    let lines = format!(
        "access.fs = [{{ path = \".\", read = true }}, {{ path = \"{path}\", write = true }}]"
    );
    let all = found(
        &tool("access.fs = [{ path = \".\", read = true }]"),
        &tool(&lines),
    );
    assert!(all.iter().any(|one| one.contains(&path)), "{all:?}");
}

#[test]
fn words_about_a_tool() {
    neutral("", "title = \"Make\"");
    neutral("summary = \"a\"", "summary = \"b\"");
    neutral(
        "description = \"a\"",
        "description = \"b\"\nexamples = [\"x\"]",
    );
    neutral("", "style.colour = \"red\"");
    neutral("", "output.type = \"object\"");
    neutral("notices = false", "notices = true");
    neutral(
        "parameters.a = { type = \"string\", description = \"x\" }",
        "parameters.a = { type = \"string\", summary = \"y\", examples = [\"z\"] }",
    );
    // The order of tools and of keys.
    let one = "[tools.a]\nsource = \"local\"\ncommand = \"x\"\n";
    let two = "[tools.b]\ncommand = \"y\"\nsource = \"local\"\n";
    assert!(found(&format!("{one}{two}"), &format!("{two}{one}")).is_empty());
}

#[test]
fn tools_come_and_go() {
    let check = |old: &str, new: &str, expected: &[&str]| {
        assert_eq!(found(old, new), expected, "{old} -> {new}");
    };
    let t = tool("");
    check("", &t, &["t: is a new tool: `make` (jig.toml:1)"]);
    check(&t, "", &[]);
    check("", &tool("enable = false"), &[]);
    let on = ["t: is now offered (jig.toml:4)"];
    check(&tool("enable = false"), &tool("enable = true"), &on);
    check(&tool("enable = false"), &t, &["t: is now offered"]);
    check(&tool("enable = true"), &tool("enable = false"), &[]);
    wider(
        "enable = { state = \"off\", allow_toggle = \"never\" }",
        "enable = \"off\"",
        "t: can now be switched on so: any (jig.toml:4)",
    );
    neutral("enable = \"always\"", "enable = true");
    let server = "\n[mcp.servers.there]\ncommand = \"x\"";
    let remote = format!("[tools.t]\nsource = \"mcp.there\"{server}");
    check(
        server,
        &remote,
        &["t: is a new tool: `mcp.there` on a server (jig.toml:1)"],
    );
    let component = "[tools.t]\nsource = \"local\"\nwasm = \"a.wasm\"";
    let expected = "t: is a new tool: the component `a.wasm` (jig.toml:1)";
    check("", component, &[expected]);
    // jig's own tools are always there; only what is said about them changes.
    check(
        "",
        "[tools.fs_create_file]\nrun = \"unattended\"",
        &[
            "fs_create_file: now runs so: unattended (before: ask) (jig.toml:2)",
            "fs_create_file: now formats its arguments without asking",
        ],
    );
    check("", "[tools.fs_read_file]\nrun = \"ask\"", &[]);
}

#[test]
fn what_runs() {
    let check = |new: &str, expected: &[&str]| {
        assert_eq!(found(&tool(""), new), expected, "{new}");
    };
    check(
        "[tools.t]\nsource = \"local\"\ncommand = \"make -j8\"",
        &["t: now runs `make -j8` (jig.toml:3)"],
    );
    check(
        "[tools.t]\nsource = \"local\"\ncommand = \"\\u001b[2J\"",
        &["t: now runs `\\u{1b}[2J` (jig.toml:3)"],
    );
    check(
        &tool("runtime = \"vfs\""),
        &[
            "t: now has the runtime `vfs` (jig.toml:4)",
            "t: is another tool where nothing is declared (jig.toml:4)",
        ],
    );
    other("input = \"argv\"", "input = \"stdin\"");
    other("", "parameters.a.type = \"string\"");
    other(
        "parameters.a.type = \"string\"",
        "parameters.a.type = \"integer\"",
    );
    other("parameters.a.default = 1", "parameters.a.default = 2");
    other("options.a = 1", "options.a = 2");
    wider(
        "stateful = [\"spawn\", \"fetch\"]",
        "stateful = [\"spawn\", \"fetch\", \"abort\"]",
        "t: now has the actions spawn, fetch, abort (jig.toml:4)",
    );
    wider(
        "",
        "terminal = true",
        "t: now runs on a terminal (jig.toml:4)",
    );
    neutral("terminal = true", "terminal.rows = 50");
    wider(
        "",
        "repeatable = true",
        "t: is now run again when it failed (jig.toml:4)",
    );
    wider(
        "overlay = \"discard\"",
        "overlay = \"ask\"",
        "t: what it writes to its layer is now treated so: ask (jig.toml:4)",
    );
    wider(
        "overlay = \"apply\"",
        "",
        "t: now writes to the workspace itself, and not to a layer over it",
    );
    wider(
        "result = \"skip\"",
        "result = \"edit\"",
        "t: its results now reach the model so: edit (jig.toml:4)",
    );
    neutral("result = \"ask\"", "result = \"edit\"");
    wider(
        "format = \"ask\"",
        "format = \"unattended\"",
        "t: now formats its arguments without asking (jig.toml:4)",
    );
    wider(
        "size_threshold = \"1KiB\"",
        "size_threshold = \"2KiB\"",
        "t: `size_threshold` is higher, or there is none any more (jig.toml:4)",
    );
    wider(
        "on_uncovered = \"deny\"",
        "on_uncovered = \"ask\"",
        "t: somebody is now asked about what no rule covers, where it was denied (jig.toml:4)",
    );
}

#[test]
fn run_modes() {
    // Formatting follows the run mode; here only the mode is in question.
    let format = "format = \"ask\"\n";
    let mode = |word: &str| format!("{format}run = \"{word}\"");
    let check = |old: &str, new: &str, expected: &str| {
        wider(&mode(old), &mode(new), expected);
    };
    check(
        "ask",
        "unattended",
        "t: now runs so: unattended (before: ask) (jig.toml:5)",
    );
    check(
        "skip",
        "ask",
        "t: now runs so: ask (before: skip) (jig.toml:5)",
    );
    check(
        "skip",
        "edit",
        "t: now runs so: edit (before: skip) (jig.toml:5)",
    );
    neutral(&mode("ask"), &mode("edit"));
    neutral("", "run = \"ask\"");
    wider(
        "stateful = true\nrun.apply = \"ask\"",
        "stateful = true",
        "t: `apply`: now runs so: unattended (before: ask)",
    );
}

#[test]
fn run_rules() {
    let rules = |rules: &[&str]| {
        let parameters = "parameters.path.type = \"string\"\nparameters.force.type = \"boolean\"\n";
        format!("{parameters}format = \"ask\"\nrun = [{}]", rules.join(", "))
    };
    const SRC: &str = "{ arg = \"/path\", prefix = \"src/\", mode = \"unattended\" }";
    const DOCS: &str = "{ arg = \"/path\", prefix = \"docs/\", mode = \"unattended\" }";
    const SRC_ASKS: &str = "{ arg = \"/path\", prefix = \"src/\", mode = \"ask\" }";
    const FORCE: &str = "{ arg = \"/force\", equals = true, mode = \"skip\" }";
    const ASK: &str = "{ mode = \"ask\" }";
    const UNATTENDED: &str = "{ mode = \"unattended\" }";
    let check = |old: &[&str], new: &[&str], expected: &str| {
        wider(&rules(old), &rules(new), expected);
    };
    check(
        &[ASK],
        &[SRC, ASK],
        "t: has a new run rule: unattended if `path` begins with \"src/\" (jig.toml:7)",
    );
    check(
        &[SRC, ASK],
        &[SRC, DOCS, ASK],
        "t: has a new run rule: unattended if `path` begins with \"docs/\" (jig.toml:7)",
    );
    check(
        &[FORCE, SRC, ASK],
        &[SRC, ASK],
        "t: has a run rule less, or in another place: skip if `force` is true (jig.toml:7)",
    );
    check(
        &[SRC_ASKS, UNATTENDED],
        &[UNATTENDED],
        "t: has a run rule less, or in another place: ask if `path` begins with \"src/\" (jig.toml:7)",
    );
    check(
        &[SRC_ASKS, ASK],
        &[SRC, ASK],
        "t: now runs so: unattended if `path` begins with \"src/\" (before: ask) (jig.toml:7)",
    );
    check(
        &[SRC],
        &[SRC, UNATTENDED],
        "t: now runs so: unattended (before: ask) (jig.toml:7)",
    );
    neutral(&rules(&[SRC]), &rules(&[SRC, ASK]));
    neutral(
        &rules(&[ASK]),
        &rules(&[]).replace("run = []", "run = \"ask\""),
    );
    // What is skipped in the end was not in the beginning, if the one before let it through.
    let found = found(&tool(&rules(&[FORCE, SRC])), &tool(&rules(&[SRC, FORCE])));
    assert!(!found.is_empty());
    // One that asks about what is asked about anyhow says nothing new.
    neutral(&rules(&[ASK]), &rules(&[SRC_ASKS, ASK]));
    // A rule that asks, put before one that refuses, lets something through.
    let skip = "{ mode = \"skip\" }";
    let found = self::found(&tool(&rules(&[skip])), &tool(&rules(&[SRC_ASKS, skip])));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn questions() {
    let q = |line: &str| format!("[tools.t.questions.sure]\n{line}");
    wider(
        "",
        &q("target = \"assistant\""),
        "t: its question `sure` is now answered by the model (jig.toml:4)",
    );
    wider(
        "",
        &q("remember = true"),
        "t: the answer to its question `sure` now holds for the turn (jig.toml:4)",
    );
    neutral("", &q("target = \"user\"\nremember = false"));
    // Whether an answer that was fixed was a yes or a no is not known.
    other("", &q("answer = true"));
    other(&q("answer = false"), &q("answer = true"));
}

#[test]
fn rules_on_files() {
    let fs = |rules: &str| format!("access.fs = [{rules}]");
    let check = |old: &str, new: &str, expected: &str| wider(&fs(old), &fs(new), expected);
    const SRC: &str = "{ path = \"src\", read = true }";
    const SRC_WRITE: &str = "{ path = \"src\", read = true, write = true }";
    const ALL: &str = "{ path = \".\", read = true, write = true }";
    const NO_SECRETS: &str = "{ path = \"secrets\" }";
    check(SRC, SRC_WRITE, "t: may now write `src` (jig.toml:4)");
    check(
        SRC,
        &format!("{SRC}, {{ path = \"docs\", read = true }}"),
        "t: may now read `docs` (jig.toml:4)",
    );
    check(
        &format!("{ALL}, {NO_SECRETS}"),
        ALL,
        "t: may now read + write `secrets` (jig.toml:4)",
    );
    check(
        &format!("{SRC}, {NO_SECRETS}"),
        SRC,
        "t: `secrets` is no longer denied (jig.toml:4)",
    );
    // The first rules narrow the default of the runtime.
    narrower("", &fs(SRC));
    narrower("", &fs(NO_SECRETS));
    narrower(&fs(ALL), &fs(SRC).replace("src", "."));
    // Rules that are gone give the default back.
    let found = found(&tool(&fs(SRC)), &tool(""));
    assert!(
        found
            .iter()
            .any(|one| one.contains("may now read + write + execute `.`")),
        "{found:?}"
    );
    // One that gave less than the one above it.
    let found = self::found(&tool(&fs(&format!("{ALL}, {SRC}"))), &tool(&fs(ALL)));
    assert_eq!(found, ["t: may now write `src` (jig.toml:4)"]);
    // In another order they may win over each other.
    other(
        &fs(&format!("{NO_SECRETS}, {SRC}, {ALL}")),
        &fs(&format!("{ALL}, {NO_SECRETS}, {SRC}")),
    );
}

#[test]
fn first_rules_on_files_that_no_default_opens() {
    let mediated = |rules: &str| {
        format!("[tools.t]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"x\"\n{rules}\n")
    };
    let check = |rules: &str, expected: &[&str]| {
        let found = found(&mediated(""), &mediated(&format!("access.fs = [{rules}]")));
        assert_eq!(found, expected, "{rules}");
    };
    check("{ path = \"src\", read = true }", &[]);
    check(
        "{ path = \"src\", read = true, write = true }",
        &["t: may now write `src` (jig.toml:5)"],
    );
    // What is sensitive is given only by a rule that names it.
    check("{ path = \".\", read = true }", &[]);
    check(
        "{ path = \".env\", read = true }",
        &["t: may now read `.env` (jig.toml:5)"],
    );
}

/// A rule on a link is a rule on what it points to.
#[test]
fn rules_on_links() {
    let workspace = Workspace::with("").file("secrets/key", "x");
    std::os::unix::fs::symlink("secrets", workspace.path("link")).expect("a link");
    let config = |rules: &str| {
        let toml = tool(&format!("access.fs = [{rules}]"));
        std::fs::write(workspace.path("jig.toml"), toml).expect("write");
        load(&workspace.sources())
            .unwrap_or_else(|errors| panic!("{errors}"))
            .config
    };
    // By their names alone, taking away the second rule gives nothing.
    let old = config(
        "{ path = \"secrets\", read = true, write = true }, { path = \"link\", read = true }",
    );
    let new = config("{ path = \"secrets\", read = true, write = true }");
    let found: Vec<String> = widening(&old, &new)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, ["t: may now write `secrets` (jig.toml:4)"]);
}

#[test]
fn rules_on_hosts() {
    let net = |rules: &str| format!("access.net = [{rules}]");
    let check = |old: &str, new: &str, expected: &str| wider(&net(old), &net(new), expected);
    const API: &str = "{ host = \"api.example.com\", allow = true }";
    check("", API, "t: may now reach `api.example.com` (jig.toml:4)");
    check(
        API,
        &format!(
            "{API}, {{ host = \"b.example\", scheme = \"https\", port = 8443, path_prefix = \"/v1\", allow = true }}"
        ),
        "t: may now reach `https://b.example:8443/v1` (jig.toml:4)",
    );
    check(
        "{ host = \"api.example.com\", allow = false }",
        API,
        "t: may now reach `api.example.com` (jig.toml:4)",
    );
    check(
        "{ host = \"api.example.com\", allow = false }",
        "",
        "t: the rule on `api.example.com` is gone (jig.toml:4)",
    );
    // A part of a host that had its own rule: what TLS hides was kept away with it.
    other(
        &net(API),
        &net(&format!(
            "{API}, {{ host = \"api.example.com\", path_prefix = \"/v1\", allow = true }}"
        )),
    );
}

#[test]
fn rules_on_variables() {
    let env = |rules: &str| format!("access.env = [{rules}]");
    let check = |old: &str, new: &str, expected: &str| wider(&env(old), &env(new), expected);
    const TOKEN: &str = "{ name = \"TOKEN\", read = true }";
    check(
        "",
        TOKEN,
        "t: may now read the variable `TOKEN` (jig.toml:4)",
    );
    check(
        "{ name = \"TOKEN\", header = true }",
        TOKEN,
        "t: may now read the variable `TOKEN` (jig.toml:4)",
    );
    check(
        "{ name = \"TOKEN\" }",
        "{ name = \"TOKEN\", header = true }",
        "t: may now send, in a header, the variable `TOKEN` (jig.toml:4)",
    );
    check(
        "{ name = \"A_*\", read = true }, { name = \"A_KEY\" }",
        "{ name = \"A_*\", read = true }",
        "t: the rule on the variable `A_KEY` is gone (jig.toml:4)",
    );
    neutral(
        &env(TOKEN),
        &env("{ name = \"TOKEN\", read = true, header = true }"),
    );
}

#[test]
fn rules_on_programs() {
    let check = |old: &str, new: &str, expected: &str| wider(old, new, expected);
    const GIT: &str = "access.commands.git.args = [[\"log\", \"**\"]]";
    check(
        GIT,
        &format!("{GIT}\naccess.commands.cargo = {{}}"),
        "t: may now run `cargo` (jig.toml:5)",
    );
    check(
        GIT,
        "access.commands.git = {}",
        "t: may now run `git` with other arguments (jig.toml:4)",
    );
    check(
        "access.commands.git.args = [[\"log\", \"-1\"], [\"log\"]]",
        GIT,
        "t: may now run `git` with other arguments (jig.toml:4)",
    );
    check(
        GIT,
        &format!("{GIT}\naccess.commands.git.envs = [\"HOME\"]"),
        "t: may now give `git` the variables `HOME` (jig.toml:4)",
    );
    check(GIT, "", "t: the rules on programs are gone");
    // Where any program may be run, rules take away; a mediated tool runs none of its own.
    let mediated = |lines: &str| {
        format!("[tools.t]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"x\"\n{lines}\n")
    };
    assert_eq!(
        found(&mediated(""), &mediated(GIT)),
        ["t: may now run `git` (jig.toml:5)"]
    );
}

#[test]
fn sandboxes() {
    let check = |old: &str, new: &str, expected: &str| {
        let sandbox = |line: &str| match line {
            "" => String::new(),
            line => format!("sandbox.{line}"),
        };
        wider(&sandbox(old), &sandbox(new), expected);
    };
    check(
        "",
        "enforce = \"best-effort\"",
        "t: now also runs where its rules can't be enforced (jig.toml:4)",
    );
    check(
        "",
        "system = [\"/opt/x\"]",
        "t: may now read `/opt/x`, outside the workspace (jig.toml:4)",
    );
    check(
        "system = [\"/opt/x\"]",
        "system = [{ path = \"/opt/x\", write = true }]",
        "t: may now read, write `/opt/x`, outside the workspace (jig.toml:4)",
    );
    check(
        "",
        "presets = [\"rust\"]",
        "t: now has the preset `rust` (jig.toml:4)",
    );
    check(
        "sensitive_paths = [\"*.key\"]",
        "",
        "t: `*.key` is no longer kept from it",
    );
    check("", "proxy = true", "t: is now told of a proxy (jig.toml:4)");
    check(
        "",
        "observe = true",
        "t: is now watched while it runs (jig.toml:4)",
    );
    for name in ["processes", "descriptors"] {
        check(
            &format!("limits.{name} = 100"),
            &format!("limits.{name} = 101"),
            &format!("t: its limit `{name}` is higher, or there is none any more (jig.toml:4)"),
        );
    }
    for name in ["memory", "file_size", "output"] {
        check(
            &format!("limits.{name} = \"100MiB\""),
            &format!("limits.{name} = false"),
            &format!("t: its limit `{name}` is higher, or there is none any more (jig.toml:4)"),
        );
    }
    check(
        "limits.time = \"1m\"",
        "",
        "t: its limit `time` is higher, or there is none any more",
    );
    // What is kept running has no limit but a declared one.
    wider(
        "stateful = true\nsandbox.limits.time = \"30m\"",
        "stateful = true",
        "t: its limit `time` while it is kept running is higher, or there is none any more",
    );
    neutral("sandbox.limits.time = \"30m\"", "");
}

#[test]
fn what_tools_share() {
    let check = |old: &str, new: &str, expected: &[&str], back: bool| {
        assert_eq!(found(old, new), expected, "{old} -> {new}");
        assert_eq!(found(new, old).is_empty(), back, "{new} -> {old}");
    };
    check(
        "",
        "network.resolver = \"127.0.0.1\"",
        &["the names of hosts are now looked up by `127.0.0.1:53` (jig.toml:1)"],
        false,
    );
    check(
        "",
        "[kb.topic.a]\nsubjects = \"docs\"",
        &["the topic `a` can now be learned, with all of `docs` (jig.toml:1)"],
        true,
    );
    let topic = |lines: &str| format!("[kb.topic.a]\nsubjects = \"docs\"\n{lines}\n");
    check(
        &topic("enable = false"),
        &topic(""),
        &["the topic `a` can now be learned, with all of `docs` (jig.toml:1)"],
        true,
    );
    check(
        &topic(""),
        "[kb.topic.a]\nsubjects = \".\"",
        &["the topic `a` is now read from `.` (jig.toml:2)"],
        false,
    );
    check(
        &topic(""),
        &topic("learned = [\"x\"]"),
        &["of the topic `a`, every prompt now holds `x` (jig.toml:3)"],
        true,
    );
    check(
        &topic("disabled = [\"x\"]"),
        &topic(""),
        &["of the topic `a`, `x` can now be learned (jig.toml:1)"],
        true,
    );
    check(
        &topic(""),
        &topic("title = \"A\"\ndescription = \"B\""),
        &[],
        true,
    );
    check(
        "[mcp]\nidle = \"5m\"\napproval_wait = \"5m\"",
        "[mcp]\nidle = \"6m\"\napproval_wait = \"6m\"",
        &[
            "a call waits longer for an approval (jig.toml:3)",
            "what was approved for a turn holds longer (jig.toml:2)",
        ],
        true,
    );
    check("", "mcp.link_above = \"1MiB\"", &[], true);
}

#[test]
fn the_llm() {
    let llm = |lines: &str| format!("[llm]\nmodel = \"m\"\n{lines}\n");
    let check = |old: &str, new: &str, expected: &[&str]| {
        assert_eq!(found(old, new), expected, "{old} -> {new}");
    };
    check(
        "",
        &llm(""),
        &["the model `m` can now be asked (jig.toml:1)"],
    );
    check(&llm(""), "", &[]);
    check(
        &llm("quota = 10"),
        &llm("quota = 20"),
        &["`llm.quota` is another one, or allows more (jig.toml:3)"],
    );
    check(&llm("quota = 20"), &llm("quota = 10"), &[]);
    check(&llm("quota = 0"), &llm("quota = 10"), &[]);
    check(
        &llm("quota = 10"),
        &llm("quota = 0"),
        &["`llm.quota` is another one, or allows more (jig.toml:3)"],
    );
    for line in [
        "max_tokens = 5000",
        "retries = 9",
        "weights.input = 2",
        "internal_model = \"n\"",
    ] {
        assert_eq!(found(&llm(""), &llm(line)).len(), 1, "{line}");
    }
    check(&llm("max_tokens = 5000"), &llm("max_tokens = 100"), &[]);
}
