//! The first mistakes with MCP servers: each says what is wrong, where, and what to do.

use super::servers_workspace::{entry, with_server};

/// What is wrong with the configuration or the server, and what has to be said about it.
#[track_caller]
fn check(config: &str, args: &[&str], code: i32, said: &[&str]) {
    with_server(config, |desk| {
        let told = desk.told(args);
        assert!(told.contains(&format!("[exit {code}]")), "{told}");
        for part in said {
            assert!(told.contains(part), "`{part}` is not in\n{told}");
        }
    });
}

#[test]
fn a_variable_that_is_not_set() {
    check(
        &entry("env = { TOKEN = '${NO_SUCH_TOKEN}' }\n"),
        &["call", "small_echo", "text=a"],
        1,
        &["NO_SUCH_TOKEN", "small", "config.toml:"],
    );
}

#[test]
fn a_program_that_is_not_there() {
    let config = "[mcp.servers.small]\ncommand = ['no-such-program', 'server.py']\n";
    check(
        config,
        &["call", "small_echo", "text=a"],
        1,
        &["no-such-program", "small"],
    );
    // The list is there all the same, and says what is missing.
    check(
        config,
        &["tools"],
        0,
        &["fs_read_file", "no-such-program", "small"],
    );
}

/// Its start takes too long because it waits for a host that it may not reach: the host is named, and in the log.
#[test]
fn a_program_that_waits_for_a_host() {
    let script = "import socket, time\nwhile True:\n  try: socket.getaddrinfo('licence.example.com', 443)\n  \
                  except OSError: time.sleep(0.1)";
    let config = format!(
        "[mcp.servers.small]\ncommand = ['python3', '-c', \"\"\"{script}\"\"\"]\nstart = '3s'\n"
    );
    with_server(&config, |desk| {
        let told = desk.told(&["servers", "accept", "small", "--yes"]);
        for part in [
            "[exit 1]",
            "longer than 3 s",
            "denied: look up on `licence.example.com`",
            "[[mcp.servers.small.access.net]]",
        ] {
            assert!(told.contains(part), "`{part}` is not in\n{told}");
        }
        let log = desk.ok(&["log"]);
        assert!(
            log.contains("mcp:small") && log.contains("licence.example.com"),
            "{log}"
        );
        // What is known of it is nothing, and where to ask is told.
        let told = desk.told(&["servers", "small"]);
        assert!(
            told.contains("was not asked yet: `jig servers refresh small` starts it and tells"),
            "{told}"
        );
    });
}

/// `npx` that asks the registry itself, which it does not reach.
#[test]
fn npx_without_a_yes() {
    let config =
        "[mcp.servers.small]\ncommand = ['npx', 'no-such-package-anywhere']\nstart = '3s'\n";
    with_server(config, |desk| {
        if !desk.has(&["npx", "--version"]) {
            return;
        }
        let told = desk.told(&["servers", "refresh", "small"]);
        let yes = told.find("`command = [\"npx\", \"-y\", …]`");
        let rule = told.find("host = \"registry.npmjs.org\"");
        assert!(yes.is_some(), "{told}");
        assert!(rule.is_none() || yes < rule, "{told}");
    });
}

#[test]
fn a_program_that_is_no_server() {
    let config =
        "[mcp.servers.small]\ncommand = ['sh', '-c', 'echo usage: server DIR >&2; exit 2']\n";
    check(
        config,
        &["call", "small_echo", "text=a"],
        1,
        &["small", "code 2", "usage: server DIR"],
    );
}

#[test]
fn keys_that_are_wrong() {
    check(
        &entry("comand = 'x'\n"),
        &["tools"],
        3,
        &["comand", "command"],
    );
    check(
        &format!("{}[tools.t]\nsource = 'mcp.smal.echo'\n", entry("")),
        &["tools"],
        3,
        &["smal", "did you mean", "small"],
    );
    check(
        &format!(
            "{}[tools.t]\nsource = 'mcp.small.echo'\n[[tools.t.access.fs]]\npath = '.'\nread = true\n",
            entry("")
        ),
        &["tools"],
        3,
        &["mcp.servers.small"],
    );
    check(
        "[mcpServers.small]\ncommand = 'python3'\n",
        &["tools"],
        3,
        &["mcp.servers"],
    );
}

#[test]
fn a_tool_that_the_server_does_not_have() {
    check(
        &format!("{}[tools.t]\nsource = 'mcp.small.ehco'\n", entry("")),
        &["call", "t", "--yes"],
        1,
        &["ehco", "small"],
    );
}

#[test]
fn a_server_that_nobody_declared() {
    check(
        &entry(""),
        &["servers", "accept", "other"],
        1,
        &["other", "small"],
    );
    // Also where a server is named to have something run under its rules.
    check(
        &entry(""),
        &["run", "--policy", "mcp.smal", "--", "true"],
        125,
        &["no server `mcp.smal`", "did you mean `small`?"],
    );
}
