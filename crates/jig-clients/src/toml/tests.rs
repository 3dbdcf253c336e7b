//! Files of Codex as people have them.

use serde_json::json;

use super::*;

fn entry() -> ServerEntry {
    ServerEntry {
        name: "jig".to_owned(),
        value: json!({ "command": "jig", "args": ["mcp"], "tool_timeout_sec": 900 }),
        input: None,
    }
}

const TABLE: &str =
    "[mcp_servers.jig]\ncommand = \"jig\"\nargs = [\"mcp\"]\ntool_timeout_sec = 900\n";

fn check(before: &str, after: &str) {
    let edited = edit(before, "mcp_servers", &entry());
    assert_eq!(edited.as_deref(), Ok(after), "of {before:?}");
    let mut expected = value(before).unwrap();
    if expected.get("mcp_servers").is_none() {
        expected["mcp_servers"] = json!({});
    }
    expected["mcp_servers"]["jig"] = entry().value;
    assert_eq!(value(after), Some(expected));
    assert_eq!(
        find(after, "mcp_servers", &entry()),
        Ok(ExistingEntry::Same)
    );
}

#[test]
fn an_entry_goes_to_the_end() {
    check("", TABLE);
    check(
        "model = \"x\" # mine\n",
        &format!("model = \"x\" # mine\n\n{TABLE}"),
    );
    check("# no end", &format!("# no end\n\n{TABLE}"));
    check(
        "[mcp_servers.a]\ncommand = \"a\"\n\n[other]\n",
        &format!("[mcp_servers.a]\ncommand = \"a\"\n\n[other]\n\n{TABLE}"),
    );
    check(
        "[mcp_servers]\na.command = \"a\"\n",
        &format!("[mcp_servers]\na.command = \"a\"\n\n{TABLE}"),
    );
    check(
        "a = 1\r\n",
        &format!("a = 1\r\n\r\n{}", TABLE.replace('\n', "\r\n")),
    );
}

/// A table that is written on one line cannot be continued elsewhere.
#[test]
fn an_inline_table_is_continued_in_place() {
    check(
        "mcp_servers = { a = { command = \"a\" } } # mine\n",
        "mcp_servers = { a = { command = \"a\" } , jig = { command = \"jig\", args = [\"mcp\"], tool_timeout_sec = 900 } } # mine\n",
    );
}

#[test]
fn an_entry_is_replaced_where_it_stands() {
    let before = "# first\n[mcp_servers.jig] # old\nurl = \"x\"\n\n# second\n[other]\na = 1\n";
    let found = find(before, "mcp_servers", &entry()).unwrap();
    let ExistingEntry::Other(shown) = found else {
        panic!("{found:?}");
    };
    assert!(shown.contains("url = \"x\""), "{shown}");
    check(
        before,
        "# first\n[mcp_servers.jig] # old\ncommand = \"jig\"\nargs = [\"mcp\"]\ntool_timeout_sec = 900\n\n# second\n[other]\na = 1\n",
    );
}

#[test]
fn what_somebody_added_to_the_entry_is_theirs() {
    let text = format!("{TABLE}startup_timeout_sec = 20\n");
    assert_eq!(
        find(&text, "mcp_servers", &entry()),
        Ok(ExistingEntry::Same)
    );
    assert_eq!(
        find("[mcp_servers]\n", "mcp_servers", &entry()),
        Ok(ExistingEntry::Missing)
    );
}

#[test]
fn what_is_not_valid_is_named_with_its_place() {
    let check = |text: &str, place: &str| {
        for fault in [
            find(text, "mcp_servers", &entry()).map(drop),
            edit(text, "mcp_servers", &entry()).map(drop),
        ] {
            let fault = fault.expect_err(text).to_string();
            assert!(fault.starts_with(place), "{fault}");
        }
    };
    check("a = 1\nb = \n", "line 2, column ");
    check("a = 1\nmcp_servers = 3\n", "line ");
    check("[a]\n[a]\n", "line 2, column ");
}
