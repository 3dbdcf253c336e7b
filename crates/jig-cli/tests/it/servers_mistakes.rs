//! The first mistakes with MCP servers: each says what is wrong, where, and what to do.

use super::servers_desk::{entry, with_server};

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
}
