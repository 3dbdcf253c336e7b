//! The message of each mistake, and that doing what it says helps.

use jig_config::{Severity, load};

use super::with_own;
use crate::mistakes::check;
use crate::workspace::Workspace;

fn s(lines: &str) -> String {
    format!("[mcp.servers.s]\n{lines}\n")
}

#[test]
fn how_a_server_is_reached() {
    let program = s("command = \"x\"");
    let far = s("url = \"https://a.example/mcp\"");
    let wrong = |name: &str, lines: &str, right: &str| check(name, &s(lines), right);
    wrong("server_nothing", "enable = true", &program);
    wrong(
        "server_both",
        "command = \"x\"\nurl = \"https://a.example\"",
        &program,
    );
    wrong(
        "server_sse",
        "url = \"https://a.example/sse\"\ntype = \"sse\"",
        &far,
    );
    wrong(
        "server_type_stdio",
        "url = \"https://a.example\"\ntype = \"stdio\"",
        &far,
    );
    wrong(
        "server_type_http",
        "command = \"x\"\ntype = \"http\"",
        &program,
    );
    wrong(
        "server_type_unknown",
        "command = \"x\"\ntype = \"pipe\"",
        &program,
    );
    wrong("server_plain_http", "url = \"http://a.example/mcp\"", &far);
    wrong("server_no_url", "url = \"a.example/mcp\"", &far);
    wrong("server_url_scheme", "url = \"ws://a.example/mcp\"", &far);
    wrong(
        "server_url_user",
        "url = \"https://me@a.example/mcp\"",
        &far,
    );
    wrong(
        "server_headers_of_program",
        "command = \"x\"\nheaders = { A = \"b\" }",
        &program,
    );
    wrong("server_command_empty", "command = \"\"", &program);
    wrong("server_command_open_quote", "command = \"x 'y\"", &program);
    wrong("server_command_list_empty", "command = []", &program);
    wrong(
        "server_args_twice",
        "command = \"x\"\nargs = [\"a\"]\narguments = [\"a\"]",
        &program,
    );
    for good in [
        "url = \"http://localhost:8080/mcp\"",
        "url = \"http://127.0.0.1:1/mcp\"",
        "url = \"http://[::1]/mcp\"",
        "url = \"https://${HOST}/mcp\"",
        "command = \"x\"\ntype = \"stdio\"",
        "url = \"https://a.example\"\ntype = \"streamable-http\"",
    ] {
        Workspace::with(&s(good)).config();
    }
}

/// what cannot be enforced must not stand there.
#[test]
fn rules_of_a_server_elsewhere_x_17() {
    let far = "url = \"https://a.example/mcp\"\n";
    let wrong = |name: &str, lines: &str| check(name, &s(&format!("{far}{lines}")), &s(far));
    wrong(
        "server_remote_access",
        "access.fs = [{ path = \".\", read = true }]",
    );
    wrong("server_remote_sandbox", "sandbox.presets = [\"node\"]");
    wrong("server_remote_env", "env = { A = \"${B}\" }");
    wrong("server_remote_args", "args = [\"a\"]");
}

/// G-006, J-026: all tools of a server share its program.
#[test]
fn rules_of_a_tool_on_a_server_g_006() {
    let tool = "[mcp.servers.github]\ncommand = \"x\"\n[tools.a]\nsource = \"mcp.github\"\n";
    check(
        "server_tool_access",
        &format!("{tool}[[tools.a.access.fs]]\npath = \".\"\nread = true\n"),
        &format!("{tool}[[mcp.servers.github.access.fs]]\npath = \".\"\nread = true\n"),
    );
}

#[test]
fn servers_that_are_not_there() {
    let declared = "[mcp.servers.github]\ncommand = \"x\"\n";
    check(
        "server_misspelt",
        &format!("{declared}[tools.a]\nsource = \"mcp.githup.issues\"\n"),
        &format!("{declared}[tools.a]\nsource = \"mcp.github.issues\"\n"),
    );
    check(
        "server_undeclared",
        "[tools.a]\nsource = \"mcp.web\"\n",
        "[tools.a]\nsource = \"mcp.web\"\n[mcp.servers.web]\nurl = \"https://a.example\"\n",
    );
    // What is wrong with a server is said once, at the server.
    let toml = format!("{}[tools.a]\nsource = \"mcp.s\"\n", s("comand = \"x\""));
    let errors = Workspace::with(&toml).load().expect_err("it is wrong");
    assert_eq!(errors.problems().len(), 1, "{errors}");
}

#[test]
fn keys_of_servers() {
    let program = s("command = \"x\"");
    check(
        "server_name",
        "[mcp.servers.'a.b']\ncommand = \"x\"",
        &program,
    );
    check(
        "server_name_digit",
        "[mcp.servers.1a]\ncommand = \"x\"",
        &program,
    );
    check(
        "server_twice",
        "[mcp.servers.s]\ncommand = \"x\"\n[providers.mcp.s]\ncommand = \"y\"",
        &program,
    );
    check(
        "server_unknown_key",
        &s("command = \"x\"\ncwd = \"/tmp\""),
        &program,
    );
    check(
        "server_always_allow",
        &s("command = \"x\"\nautoApprove = [\"a\"]"),
        &s("command = \"x\"\nrun = \"unattended\""),
    );
    check(
        "server_prefix",
        &s("command = \"x\"\nprefix = \"a b\""),
        &s("command = \"x\"\nprefix = \"a_b\""),
    );
    check(
        "server_header_name",
        &s("url = \"https://a.example\"\nheaders = { 'a b' = \"c\" }"),
        &s("url = \"https://a.example\"\nheaders = { a-b = \"c\" }"),
    );
    check(
        "mcp_servers_of_others",
        "[mcpServers.s]\ncommand = \"x\"\nargs = []",
        &program,
    );
    check(
        "server_rules_twice",
        &s(
            "command = \"x\"\naccess.fs = [{ path = \".\", read = true }]\nsandbox.filesystem.writable = true",
        ),
        &s("command = \"x\"\naccess.fs = [{ path = \".\", read = true }]"),
    );
    check(
        "server_rule_outside",
        &s("command = \"x\"\naccess.fs = [{ path = \"/etc\", read = true }]"),
        &s("command = \"x\"\nsandbox.system = [\"/opt/x\"]"),
    );
    check(
        "server_rule_of_the_home",
        &s("command = \"x\"\naccess.fs = [{ path = \"~/notes\", read = true }]"),
        &s("command = \"x\"\nsandbox.system = [\"~/notes\"]"),
    );
}

#[test]
fn values_with_variables() {
    let env = |value: &str| s(&format!("command = \"x\"\nenv = {{ A = {value} }}"));
    let right = env("\"${A}\"");
    check("server_variable_open", &env("\"${A\""), &right);
    check("server_variable_name", &env("\"${1}\""), &right);
    check("server_variable_nested", &env("\"${A:-${B}}\""), &right);
    check("server_variable_foreign", &env("\"${env:A}\""), &right);
    check(
        "server_variable_of_editor",
        &env("\"${workspaceFolder}/x\""),
        &right,
    );
    for good in ["\"$HOME costs $$5\"", "\"${A:-}\"", "\"a${A}b${B:-c d}\""] {
        Workspace::with(&env(good)).config();
    }
}

/// A command runs with the user's own rights: a stranger's file must not choose it.
#[test]
fn commands_of_a_workspace() {
    let lines = "url = \"https://a.example\"\n\
                 headers.Authorization = { command = [\"gh\", \"auth\", \"token\"] }";
    check(
        "server_command_in_workspace",
        &s(lines),
        &s("url = \"https://a.example\"\nheaders.Authorization = \"Bearer ${TOKEN}\""),
    );
    let own = s(lines);
    let (_kept, sources) = with_own(&own, "");
    assert!(load(&sources).is_ok());
    // Neither in part: the words of the user's command are not the workspace's to change.
    let changed = "[mcp.servers.s.headers.Authorization]\ncommand = [\"evil\"]";
    let (_kept, sources) = with_own(&own, changed);
    let errors = load(&sources).expect_err("the workspace chose the command");
    assert_eq!(
        errors.problems()[0].key_path(),
        "mcp.servers.s.headers.Authorization"
    );
    let (_kept, sources) = with_own(&s("command = \"x\"\nenv = { A = { command = [] } }"), "");
    assert!(load(&sources).is_err());
}

/// A secret is refused in a file that is shared, and told of in any other; no message repeats it.
#[test]
fn secrets_that_are_written_out() {
    const SECRETS: [&str; 7] = [
        "command = \"x\"\nenv = { GITHUB_TOKEN = \"hunter22\" }",
        "command = \"x\"\nenv = { A = \"ghp_0123456789abcdefghij0123456789hunter22\" }",
        "url = \"https://a.example\"\nheaders = { Authorization = \"Bearer hunter22hunter22\" }",
        "command = \"x\"\nargs = [\"--key\", \"sk-hunter220123456789abcdef\"]",
        "command = \"x\"\nenv = { DB_PASSWORD = \"$HUNTER22\" }",
        "url = \"https://a.example\"\nheaders = { Authorization = \"Bearer $HUNTER22\" }",
        "command = \"x\"\nenv = { DATABASE = \"postgres://me:hunter22@db.example/x\" }",
    ];
    for lines in SECRETS {
        let errors = Workspace::with(&s(lines)).load().expect_err(lines);
        let text = format!("{errors} {} {errors:?}", errors.to_json());
        assert!(!text.to_lowercase().contains("hunter22"), "{text}");
        assert!(text.contains("secret"), "{text}");
        let (_kept, sources) = with_own(&s(lines), "");
        let loaded = load(&sources).unwrap_or_else(|errors| panic!("{lines}: {errors}"));
        let warned = loaded
            .warnings
            .iter()
            .find(|one| one.message().contains("secret"));
        let warning = warned.unwrap_or_else(|| panic!("{lines}: {:?}", loaded.warnings));
        assert_eq!(warning.severity(), Severity::Warning);
        let text = format!("{} {}", warning.render(false), warning.to_json());
        assert!(!text.to_lowercase().contains("hunter22"), "{text}");
        let debug = format!("{:?}", loaded.config.server("s").expect("s").env);
        assert!(!debug.to_lowercase().contains("hunter22"), "{debug}");
    }
    check(
        "server_secret",
        &s(SECRETS[0]),
        &s("command = \"x\"\nenv = { GITHUB_TOKEN = \"${GITHUB_TOKEN}\" }"),
    );
    // Another mistake on the same line must not show the line.
    let line = "mcp.servers.s = { command = \"x\", env = { TOKEN = \"hunter22\" }, bogus = 1 }";
    let errors = Workspace::with(line).load().expect_err("it is wrong");
    assert!(!errors.to_string().contains("hunter22"), "{errors}");
    let line =
        "mcp.servers.s = { command = \"x\", env = { A = \"ghp_hunter220123456789abcdef${\" } }";
    let errors = Workspace::with(line).load().expect_err("it is wrong");
    assert!(!errors.to_string().contains("hunter22"), "{errors}");
    for good in [
        "env = { TOKEN_FILE = \"/run/token\" }",
        "env = { MAX_TOKENS = \"4096\" }",
        "env = { PASSWORD = \"${PASSWORD}\" }",
        "env = { API_KEY = \"\" }",
        "env = { USE_KEY = \"true\" }",
        "env = { URL = \"https://api.example/v1\" }",
    ] {
        let loaded = Workspace::with(&s(&format!("command = \"x\"\n{good}"))).load();
        let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
        assert!(loaded.warnings.is_empty(), "{good}: {:?}", loaded.warnings);
    }
}

/// The help says the whole value: what stands around the secret belongs to it.
#[test]
fn what_to_write_for_a_secret() {
    let check = |lines: &str, wanted: &str| {
        let errors = Workspace::with(&s(lines)).load().expect_err(lines);
        let help = errors.problems()[0].help();
        assert!(help.contains(&format!("`\"{wanted}\"`")), "{lines}: {help}");
        assert!(!help.contains("hunter22"), "{help}");
    };
    let header = |value: &str, wanted: &str| {
        let lines = format!("url = \"https://a.example\"\nheaders.Authorization = \"{value}\"");
        check(&lines, wanted);
    };
    header("Bearer hunter22hunter22", "Bearer ${TOKEN}");
    header("token  hunter22hunter22", "token  ${TOKEN}");
    header("hunter22hunter22", "${TOKEN}");
    header("hunter22 hunter22", "${TOKEN}");
    let arg = |value: &str, wanted: &str| {
        check(&format!("command = \"x\"\nargs = [\"{value}\"]"), wanted);
    };
    let key = "sk-hunter220123456789abcdef";
    arg(&format!("--token={key}"), "--token=${TOKEN}");
    arg(
        &format!("--header=X-Api-Key:{key}"),
        "--header=X-Api-Key:${TOKEN}",
    );
    arg(
        &format!("Authorization: Bearer {key}"),
        "Authorization: Bearer ${TOKEN}",
    );
    arg(key, "${TOKEN}");
    arg(&format!("-{key}={key}"), "${TOKEN}");
    check(
        "command = \"x\"\nenv = { AUTH = \"Bearer hunter22hunter22\" }",
        "Bearer ${AUTH}",
    );
}

/// A variable as a shell spells it is handed over as it is.
#[test]
fn variables_without_braces() {
    let check = |lines: &str, expected: Option<(&str, &str)>| {
        let loaded = Workspace::with(&s(lines)).load();
        let loaded = loaded.unwrap_or_else(|errors| panic!("{lines}: {errors}"));
        let warned: Vec<(&str, bool)> = loaded
            .warnings
            .iter()
            .map(|one| {
                let (_, name) = expected.unwrap_or_default();
                (
                    one.key_path(),
                    one.help().contains(&format!("`${{{name}}}`")),
                )
            })
            .collect();
        let expected: Vec<(&str, bool)> =
            expected.map(|(key, _)| (key, true)).into_iter().collect();
        assert_eq!(warned, expected, "{lines}: {:?}", loaded.warnings);
    };
    let env = |value: &str, expected| check(&format!("command = \"x\"\n{value}"), expected);
    env("env.X = \"$FOO\"", Some(("mcp.servers.s.env.X", "FOO")));
    env(
        "env.X = \"a:$FOO_2/b\"",
        Some(("mcp.servers.s.env.X", "FOO_2")),
    );
    // What is meant is no secret that is written out.
    env(
        "env.API_TOKEN = \"$API_TOKEN\"",
        Some(("mcp.servers.s.env.API_TOKEN", "API_TOKEN")),
    );
    check(
        "url = \"https://a.example\"\nheaders.Authorization = \"Bearer $MY_KEY\"",
        Some(("mcp.servers.s.headers.Authorization", "TOKEN")),
    );
    // It is named by its key alone, for a password may look the same.
    env(
        "env.API_KEY = \"$HUNTER_22\"",
        Some(("mcp.servers.s.env.API_KEY", "API_KEY")),
    );
    let loaded = Workspace::with(&s("command = \"x\"\nenv.API_KEY = \"$HUNTER_22\"")).load();
    let warnings = loaded.expect("it loads").warnings;
    insta::assert_snapshot!("server_variable_of_secret", warnings[0].render(false));
    for good in ["${FOO}", "$$FOO", "$5", "a$", "us$cents", "$${FOO}"] {
        env(&format!("env.X = \"{good}\""), None);
    }
    // A shell may fill it in.
    env("args = [\"-c\", \"echo $HOME\"]", None);
    let loaded = Workspace::with(&s("command = \"x\"\nenv.X = \"$FOO\"")).load();
    let warnings = loaded.expect("it loads").warnings;
    insta::assert_snapshot!("server_variable_bare", warnings[0].render(false));
}

/// The rules of a program are looked at as those of tools are.
#[test]
fn odd_rules_of_a_server() {
    let toml = s("command = \"x\"\nchecksum = { value = \"abc\" }\naccess.net = []");
    let loaded = Workspace::with(&toml)
        .load()
        .unwrap_or_else(|errors| panic!("{errors}"));
    let keys: Vec<&str> = loaded.warnings.iter().map(|one| one.key_path()).collect();
    assert_eq!(keys, ["mcp.servers.s.checksum", "mcp.servers.s.access.net"]);
    let text: Vec<String> = loaded
        .warnings
        .iter()
        .map(|one| one.render(false))
        .collect();
    insta::assert_snapshot!("server_warnings", text.join("\n\n"));
}
