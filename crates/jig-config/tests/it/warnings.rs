//! Configurations that load and deserve a word.

use jig_config::{Severity, Sources, load};

use crate::follow::follow;
use crate::workspace::Workspace;

const TOOL: &str = "[tools.a]\nsource = \"local\"\ncommand = \"make\"\n";

/// A tool whose requests and programs go through jig, so that rules on them hold.
const MEDIATED: &str = "[tools.a]\nsource = \"local\"\ncommand = \"make\"\nruntime = \"vfs\"\n";

/// Loading `odd` gives the warnings of the snapshot, `plain` none.
fn check(name: &str, odd: &str, plain: &str) {
    check_in(name, Workspace::new, odd, plain);
}

fn check_in(name: &str, workspace: impl Fn() -> Workspace, odd: &str, plain: &str) {
    let warnings = |toml: &str| {
        let workspace = workspace().file("jig.toml", toml);
        let mut sources = workspace.sources();
        sources.home = Some("/nobody/me".into());
        let loaded = load(&sources);
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
    let again = warnings(plain);
    let rest: Vec<String> = again.iter().map(|one| one.render(false)).collect();
    assert_eq!(rest, [""; 0], "{name}, with the help followed");
    for problem in &found {
        follow(problem, &again);
    }
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
            "{MEDIATED}access.net = [\n  {{ host = \"a.de\" }},\n  {{ host = \"A.de\", allow = true }},\n]"
        ),
        &format!("{MEDIATED}access.net = [\n  {{ host = \"A.de\", allow = true }},\n]"),
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
            "{MEDIATED}access.net = [\n  {{ host = \"a.de\", allow = true }},\n  {{ host = \"a.de\", path_prefix = \"/v1\", allow = true }},\n]"
        ),
        &format!("{MEDIATED}access.net = [\n  {{ host = \"a.de\", allow = true }},\n]"),
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
        "{MEDIATED}access.net = [{{ host = \"a.de\", allow = true }}, {{ host = \"a.de\", path_prefix = \"/x\" }}, {{ host = \"a.de\", path_prefix = \"/x/y\", allow = true }}, {{ host = \"a.de\", port = 8080, allow = true }}]"
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
fn rules_that_let_git_run_programs() {
    let repository = || Workspace::new().file(".git/worktrees/old/commondir", "../..\n");
    for (name, path) in [
        ("configuration_of_git", ".git/config"),
        ("configuration_of_submodules", ".git/modules"),
        ("commondir_of_a_worktree", ".git/worktrees/old/commondir"),
    ] {
        let rule = format!("path = \"{path}\", read = true, write = true");
        check_in(
            name,
            repository,
            &fs(&["path = \".\", read = true", &rule]),
            &fs(&["path = \".\", read = true"]),
        );
    }
    // The preset says that changing it is the tool's purpose.
    let rules = fs(&[
        "path = \".\", read = true",
        "path = \".git/config\", read = true, write = true",
    ]);
    let loaded = repository()
        .file("jig.toml", format!("{rules}sandbox.presets = [\"git\"]\n"))
        .load();
    assert!(loaded.expect("it loads").warnings.is_empty());
}

#[test]
fn a_prefix_that_grants_no_variable() {
    let env = |rules: &str| format!("{TOOL}access.env = [\n{rules}]\n");
    check(
        "prefix_of_variables_that_run_code",
        &env("  { name = \"GIT_*\", read = true },\n"),
        &env("  { name = \"GIT_AUTHOR_NAME\", read = true },\n"),
    );
    // The exact name is no repetition of the prefix, which does not grant it.
    let both = env("{ name = \"*\", read = true }, { name = \"EDITOR\", read = true }");
    let loaded = Workspace::with(&both).load();
    assert!(loaded.expect("it loads").warnings.is_empty());
}

#[test]
fn paths_outside_that_give_away_too_much() {
    // Those below `~/` are looked for in a home that does not exist.
    let system = |path: &str| format!("{TOOL}sandbox.system = [\n  {path},\n]\n");
    for (name, path) in [
        ("system_sensitive", "\"~/.ssh\""),
        ("system_below_sensitive", "\"~/.aws/config\""),
        ("system_shadow", "\"/etc/shadow\""),
        ("system_sockets", "\"/run/docker.sock\""),
        ("system_kernel", "\"/sys\""),
        ("system_temporary_files", "\"/tmp/\""),
        (
            "system_programs",
            "{ path = \"/usr/local/lib\", write = true }",
        ),
    ] {
        check(name, &system(path), &system("\"/opt/toolchain\""));
    }
    // What is fine: a part of something, and what only a write would spoil.
    for path in [
        "\"/usr/share/dict\"",
        "\"/sys/devices/system/cpu\"",
        "{ path = \"/opt/cache\", write = true, execute = true }",
    ] {
        let loaded = Workspace::with(&system(path)).load().expect("it loads");
        assert!(loaded.warnings.is_empty(), "{path}");
    }
}

#[test]
fn paths_of_the_home_that_give_away_too_much() {
    let workspace = Workspace::new().file("home/me/.config/gh/hosts.yml", "");
    let home = workspace.path("home/me");
    std::fs::create_dir(home.join(".ssh")).expect("create a directory");
    std::fs::create_dir(home.join("project")).expect("create a directory");
    std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).expect("a link");
    let check = |path: &str, said: &str| {
        let toml = format!("{TOOL}sandbox.system = [{path}]\n");
        std::fs::write(home.join("project/jig.toml"), toml).expect("write a file");
        let mut sources = Sources::new(home.join("project"));
        sources.home = Some(home.clone());
        let loaded = load(&sources).unwrap_or_else(|errors| panic!("{errors}"));
        let warnings = loaded.warnings.iter();
        let messages: Vec<&str> = warnings.map(|one| one.message()).collect();
        match said {
            "" => assert_eq!(messages, [""; 0], "{path}"),
            said => assert!(
                messages.len() == 1 && messages[0].contains(said),
                "{path}: {messages:?}"
            ),
        }
    };
    check("\"~/\"", "the whole home directory");
    let above = format!("\"{}\"", workspace.path("home"));
    check(&above, "the whole home directory");
    check("\"~/.config\"", ".config/gh");
    check("\"~/.config/other\"", "");
    // By whatever name.
    check("\"~/keys\"", "(`.ssh`)");
    check("\"~/.cache\"", "");
    check("{ path = \"~/.cache\", write = true }", "");
    check("{ path = \"~/.local\", write = true }", ".local/bin");
    check("{ path = \"~/.cargo/bin/x\", write = true }", ".cargo/bin");
    check("\"~/.cargo/bin\"", "");
}

#[test]
fn one_path_of_all_tools_is_one_warning() {
    let loaded = Workspace::with("[tools.'*'.sandbox]\nsystem = [\"/etc/shadow\"]\n").load();
    assert_eq!(loaded.expect("it loads").warnings.len(), 1);
}

#[test]
fn paths_that_tls_hides_from_a_subprocess_g_120() {
    let net = |rules: &[&str]| {
        let rules: Vec<String> = rules
            .iter()
            .map(|rule| format!("  {{ host = \"a.de\", {rule} }},\n"))
            .collect();
        format!("access.net = [\n{}]\n", rules.concat())
    };
    check(
        "path_under_tls",
        &format!(
            "{TOOL}{}",
            net(&[
                "path_prefix = \"/v1\", allow = true",
                "path_prefix = \"/v1/x\""
            ])
        ),
        &format!("{TOOL}{}", net(&["allow = true"])),
    );
    let plain = [
        format!(
            "{MEDIATED}{}",
            net(&["path_prefix = \"/v1\", allow = true"])
        ),
        format!(
            "{TOOL}{}",
            net(&["scheme = \"http\", path_prefix = \"/v1\", allow = true"])
        ),
        format!("{TOOL}{}", net(&["path_prefix = \"/\", allow = true"])),
        // Nothing is open on this host anyway.
        format!("{TOOL}{}", net(&["path_prefix = \"/v1\""])),
        // A rule on hosts holds for a program, so there is nothing to say.
        format!("{TOOL}{}", net(&["allow = true"])),
        format!("{TOOL}{}", net(&["port = 22, allow = true"])),
    ];
    for toml in plain {
        let loaded = Workspace::with(&toml).load().expect("it loads");
        let messages: Vec<&str> = loaded.warnings.iter().map(|one| one.message()).collect();
        assert_eq!(messages, [""; 0], "{toml}");
    }
}

#[test]
fn settings_of_programs_on_other_tools() {
    check(
        "repeatable_of_a_mediated_tool",
        &format!("{MEDIATED}repeatable = true\n"),
        MEDIATED,
    );
    check(
        "sandbox_of_a_mediated_tool",
        &format!("{MEDIATED}sandbox = {{ proxy = true, observe = true }}\n"),
        MEDIATED,
    );
    check(
        "observe_of_a_builtin_tool",
        "[tools.fs_read_file.sandbox]\nobserve = true\n",
        "",
    );
    // For all tools at once they are meant for those that have a use for them.
    for toml in [
        "[tools.'*'.sandbox]\nobserve = true\nproxy = true\n".to_owned(),
        format!("{MEDIATED}repeatable = false\nsandbox = {{ proxy = false, observe = false }}\n"),
        format!("{TOOL}repeatable = true\noverlay = \"ask\"\nsandbox.observe = true\n"),
    ] {
        let loaded = Workspace::with(&toml).load().expect("it loads");
        assert!(loaded.warnings.is_empty(), "{toml}");
    }
}

#[test]
fn rules_on_programs_that_only_guide_are_noted() {
    let notes = |toml: String| {
        let loaded = Workspace::with(&toml).load().expect("it loads");
        loaded.warnings
    };
    for (name, spelling) in [
        ("programs_of_a_subprocess", "access.commands.git = {}"),
        (
            "sandbox_programs_of_a_subprocess",
            "sandbox.commands.git = {}",
        ),
    ] {
        let found = notes(format!("{TOOL}{spelling}\n"));
        let text: Vec<String> = found.iter().map(|one| one.render(false)).collect();
        insta::assert_snapshot!(name, text.join("\n\n"));
        assert_eq!(found[0].severity(), Severity::Note);
        assert_eq!(found[0].to_json()["severity"], "note");
        assert!(notes(format!("{MEDIATED}{spelling}\n")).is_empty());
    }
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
        "[tools.a]\nsource = \"mcp.web\"\nwasm = \"a.wasm\"\nruntime = \"wasm\"\ncommand = \"make\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
        "[tools.a]\nsource = \"mcp.web\"\n[mcp.servers.web]\nurl = \"https://web.example/mcp\"\n",
    );
    check(
        "input_of_a_mediated_tool",
        &format!("{MEDIATED}input = \"stdin\""),
        MEDIATED,
    );
    check(
        "input_of_a_builtin_tool",
        "[tools.a]\nsource = \"builtin\"\ninput = \"file\"",
        "[tools.a]\nsource = \"builtin\"",
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
        &format!("{MEDIATED}access.commands.'git log' = {{}}"),
        &format!("{MEDIATED}access.commands.\"git\".args = [[\"log\", \"**\"]]"),
    );
    check(
        "defaults_that_do_not_hold",
        "[tools.'*']\naccess.fs = [{ path = \".\", read = true }]\n[tools.a]\nsource = \"builtin.web\"\n",
        "[tools.fs_read_file]\naccess.fs = [{ path = \".\", read = true }]\n[tools.a]\nsource = \"builtin.web\"\n",
    );
}

#[test]
fn run_rules_on_directories() {
    let workspace = || Workspace::new().file("src/a", "").file("file", "");
    let toml = |prefix: &str| {
        let rule = format!("{{ arg = \"/path\", prefix = \"{prefix}\", mode = \"unattended\" }}");
        format!("[tools.'*']\nrun = [{rule}]\n[tools.fs_create_file]\nrun = [{rule}]\n")
    };
    check_in(
        "run_rule_without_slash",
        workspace,
        &toml("src"),
        &toml("src/"),
    );
    for plain in ["file", "sr", "nothing", ".", "/tmp"] {
        let loaded = workspace().file("jig.toml", toml(plain)).load();
        let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
        assert!(loaded.warnings.is_empty(), "{plain}: {:?}", loaded.warnings);
    }
}
