//! What is written for each client, and what else is decided without a file.

use clap::ValueEnum;

use super::*;

fn env(variables: &[(&str, &str)]) -> CommandEnvironment {
    let variables: serde_json::Map<String, Json> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
        .collect();
    serde_json::from_value(Json::Object(variables)).unwrap()
}

fn entry(client: AgentClient, http: bool) -> Option<ServerEntry> {
    let args = ["mcp".to_owned()];
    let (value, input) = match http {
        false => (client.starts("jig", &args, &env(&[])), None),
        true => client.reaches("http://127.0.0.1:8080/mcp", "jig")?,
    };
    Some(ServerEntry {
        name: "jig".to_owned(),
        value,
        input,
    })
}

#[test]
fn every_client_has_the_name_that_the_command_line_has() {
    let names: Vec<String> = AgentClient::value_variants()
        .iter()
        .map(|client| client.to_possible_value().unwrap().get_name().to_owned())
        .collect();
    assert_eq!(names, AgentClient::ALL.map(AgentClient::name));
}

/// The token is read from a variable or asked for. Nothing that is written could be one.
#[test]
fn a_server_that_runs_is_reached_with_a_token_from_elsewhere() {
    let check = |client, path: &str, expected: &str| {
        let entry = entry(client, true).unwrap();
        assert_eq!(
            entry.value.pointer(path),
            Some(&json!(expected)),
            "{client:?}"
        );
    };
    check(
        AgentClient::ClaudeCode,
        "/headers/Authorization",
        "Bearer ${JIG_MCP_TOKEN}",
    );
    check(AgentClient::Codex, "/bearer_token_env_var", "JIG_MCP_TOKEN");
    check(
        AgentClient::Cursor,
        "/headers/Authorization",
        "Bearer ${env:JIG_MCP_TOKEN}",
    );
    check(
        AgentClient::VsCode,
        "/headers/Authorization",
        "Bearer ${input:jig-token}",
    );
    assert!(entry(AgentClient::Zed, true).is_none());
}

#[test]
fn what_is_written_is_found_again() {
    for client in AgentClient::ALL {
        for http in [false, true] {
            let Some(entry) = entry(client, http) else {
                continue;
            };
            let other = self::entry(client, !http).unwrap_or_else(|| ServerEntry {
                name: "jig".to_owned(),
                value: json!({ "command": "other" }),
                input: None,
            });
            let text = client.edit("", &entry).unwrap();
            assert_eq!(
                client.find(&text, &entry),
                Ok(ExistingEntry::Same),
                "{client:?}\n{text}"
            );
            assert_eq!(
                client.edit(&text, &entry).as_deref(),
                Ok(text.as_str()),
                "{client:?}"
            );
            assert!(
                matches!(client.find(&text, &other), Ok(ExistingEntry::Other(_))),
                "{client:?}\n{text}"
            );
            let replaced = client.edit(&text, &other).unwrap();
            assert_eq!(
                client.find(&replaced, &other),
                Ok(ExistingEntry::Same),
                "{client:?}\n{replaced}"
            );
        }
    }
}

/// An input of that name is not asked for twice.
#[test]
fn an_input_is_added_once() {
    let entry = entry(AgentClient::VsCode, true).unwrap();
    let before =
        "{\n  \"inputs\": [\n    { \"id\": \"other\" },\n    { \"id\": \"jig-token\" }\n  ]\n}\n";
    let text = AgentClient::VsCode.edit(before, &entry).unwrap();
    assert_eq!(text.matches("jig-token\"").count(), 1, "{text}");
    let before = "{\n  \"inputs\": [\n    { \"id\": \"other\" }\n  ]\n}\n";
    let text = AgentClient::VsCode.edit(before, &entry).unwrap();
    assert!(
        text.contains("{ \"id\": \"other\" },\n    {\n      \"type\": \"promptString\""),
        "{text}"
    );
}

#[test]
fn codex_passes_on_where_jig_keeps_its_files() {
    let check = |variables: &[(&str, &str)], expected: Json| {
        let entry = AgentClient::Codex.starts("jig", &[], &env(variables));
        assert_eq!(
            entry.get("env_vars"),
            Some(&expected).filter(|vars| !vars.is_null())
        );
    };
    check(&[("HOME", "/h")], Json::Null);
    check(&[("XDG_STATE_HOME", "relative")], Json::Null);
    check(&[("XDG_STATE_HOME", "/s")], json!(["XDG_STATE_HOME"]));
}

#[test]
fn files_of_the_user() {
    let check = |client: AgentClient, variables: &[(&str, &str)], expected: Option<&str>| {
        let file = client.user_file(&env(variables));
        assert_eq!(file.as_deref(), expected.map(Utf8Path::new), "{client:?}");
    };
    let home = [("HOME", "/h")];
    check(AgentClient::ClaudeCode, &home, Some("/h/.claude.json"));
    check(AgentClient::Codex, &home, Some("/h/.codex/config.toml"));
    check(
        AgentClient::Codex,
        &[("CODEX_HOME", "/c")],
        Some("/c/config.toml"),
    );
    check(AgentClient::Cursor, &home, Some("/h/.cursor/mcp.json"));
    if cfg!(target_os = "linux") {
        check(
            AgentClient::VsCode,
            &home,
            Some("/h/.config/Code/User/mcp.json"),
        );
        check(
            AgentClient::VsCode,
            &[("XDG_CONFIG_HOME", "/x")],
            Some("/x/Code/User/mcp.json"),
        );
        check(
            AgentClient::Zed,
            &home,
            Some("/h/.config/zed/settings.json"),
        );
    }
    for client in AgentClient::ALL {
        check(client, &[], None);
    }
}

#[test]
fn addresses() {
    let check = |text: &str, expected: Result<(&str, usize), &str>| {
        let mut notes = Vec::new();
        let found = address(text, &mut notes).map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(url), Ok((expected, count))) => {
                assert_eq!((url.as_str(), notes.len()), (expected, count), "{notes:?}");
            }
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
            (found, expected) => panic!("{found:?} {expected:?} for {text}"),
        }
    };
    check(
        "http://127.0.0.1:8080/mcp",
        Ok(("http://127.0.0.1:8080/mcp", 0)),
    );
    check(
        "http://localhost:8080/mcp",
        Ok(("http://localhost:8080/mcp", 0)),
    );
    check("http://[::1]:8080/mcp", Ok(("http://[::1]:8080/mcp", 0)));
    check(
        "https://jig.example.com/mcp",
        Ok(("https://jig.example.com/mcp", 0)),
    );
    // In the clear, and without the path.
    check(
        "http://jig.example.com/mcp",
        Ok(("http://jig.example.com/mcp", 1)),
    );
    check("http://127.0.0.1:8080", Ok(("http://127.0.0.1:8080/", 1)));
    check("127.0.0.1:8080", Err("is no URL"));
    check("file:///etc/passwd", Err("is no address of a server"));
    check("http://token@127.0.0.1/mcp", Err("has no user"));
    check("http://127.0.0.1/mcp#x", Err("no fragment"));
}

#[test]
fn words_are_quoted_for_a_shell() {
    let check = |word: &str, expected: &str| assert_eq!(shell_word(word), expected);
    check("jig", "jig");
    check("/opt/jig/bin/jig", "/opt/jig/bin/jig");
    check("--scope", "--scope");
    check("a b", "'a b'");
    check("it's", r"'it'\''s'");
    check("Bearer ${TOKEN}", "'Bearer ${TOKEN}'");
    check("", "''");
}

#[test]
fn a_fault_counts_lines_and_characters() {
    let check = |text: &str, at: usize, expected: (usize, usize)| {
        let fault = SettingsSyntaxError::at(text, at, "x");
        assert_eq!((fault.line, fault.column), expected);
    };
    check("", 0, (1, 1));
    check("ab\ncd", 4, (2, 2));
    check("ä\näx", 5, (2, 2));
    check("ab", 99, (1, 3));
}
