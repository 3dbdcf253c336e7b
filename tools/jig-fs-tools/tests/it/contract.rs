//! The tools are declared as they are written.

use toml::{Table, Value};

/// The layer of the configuration that declares them.
const BUILT_IN: &str = include_str!("../../../../crates/jig-config/src/built-in.toml");

#[test]
fn the_declared_tools_and_parameters_are_those_that_are_read() {
    let declared: Table = BUILT_IN.parse().unwrap();
    let tools = declared["tools"].as_table().unwrap();
    let names: Vec<&str> = jig_fs_tools::NAMES.to_vec();
    let declared = keys(tools)
        .into_iter()
        .filter(|name| name.starts_with("fs_"));
    assert_eq!(declared.collect::<Vec<&str>>(), sorted(&names));
    let check = |tool: &str, expected: &[&str]| {
        let parameters = tools[tool]["parameters"].as_table().unwrap();
        let read: Vec<&str> = expected
            .iter()
            .map(|one| one.trim_end_matches('!'))
            .collect();
        assert_eq!(keys(parameters), sorted(&read), "{tool}");
        for &one in expected {
            let name = one.trim_end_matches('!');
            let required = parameters[name].get("required").and_then(Value::as_bool);
            assert_eq!(
                required.unwrap_or(false),
                one.ends_with('!'),
                "{tool} {name}"
            );
        }
    };
    check(
        "fs_read_file",
        &["path!", "start_line", "end_line", "line_numbers"],
    );
    check("fs_list_files", &["path", "extensions", "limit"]);
    check(
        "fs_grep_files",
        &["pattern!", "paths", "extensions", "context"],
    );
    check("fs_create_file", &["path!", "content"]);
    check("fs_modify_file", &["path!", "patterns!"]);
    check("fs_delete_file", &["path", "paths"]);
    check("fs_move_file", &["from!", "to!"]);
    let pattern =
        tools["fs_modify_file"]["parameters"]["patterns"]["items"]["properties"].as_table();
    assert_eq!(keys(pattern.unwrap()), ["all", "new", "old", "regex"]);
}

fn keys(table: &Table) -> Vec<&str> {
    let keys: Vec<&str> = table.keys().map(String::as_str).collect();
    sorted(&keys)
}

fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}
