use serde_json::json;

use super::*;

fn proxy(tables: Json) -> Proxy {
    let mut value = json!({ "workspace": "/ws", "pid": 42, "age_ms": 65_000 });
    value
        .as_object_mut()
        .unwrap()
        .extend(tables.as_object().unwrap().clone());
    serde_json::from_value(value).unwrap()
}

fn plain(with_workspace: bool, tables: Json) -> String {
    anstream::adapter::strip_str(&printed(with_workspace, &[proxy(tables)])).to_string()
}

fn tables() -> Json {
    json!({
        "command": ["python3", "agent.py"],
        "clients": [
            { "id": "c1", "pipe_id": "fd:9", "open_files": [3, 5], "connected_at": "t", "pid": 43,
              "label": "python3" },
            { "id": "c2", "pipe_id": "fd:11", "open_files": [4], "connected_at": "t" },
        ],
        "files": [
            { "fileno": 3, "filename": "src/main.rs", "mode": "r", "client_id": "c1", "opened_at": "t",
              "is_top_level": true },
            { "fileno": 4, "filename": "out", "mode": "rw", "client_id": "c2", "opened_at": "t",
              "is_top_level": false },
            { "fileno": 5, "filename": "notes", "mode": "a", "client_id": "c1", "opened_at": "t",
              "is_top_level": true, "virtual": true },
        ],
        "quota": { "used": 1250.5, "limit": 5000.0 },
    })
}

/// F-085, F-086: for people.
#[test]
fn f086_a_line_for_each_client_and_file() {
    let expected = "\
pid  proxy             clients  files  age  workspace
42   python3 agent.py  2        3      1m   /ws
  1250.5/5000 weighted tokens
  c1  pid 43  python3  2 open files
    3    r   src/main.rs
    5    a   notes  (virtual)
  c2  1 open file
    4    rw  out
";
    assert_eq!(plain(true, tables()), expected);
    let expected = "\
pid  proxy  clients  files  age
42   stdio  0        0      1m
";
    assert_eq!(plain(false, json!({})), expected);
}

/// F-085, F-086: for programs, with the names of the tables.
#[test]
fn f085_as_json() {
    let value = as_json(&proxy(tables()));
    assert_eq!(value["kind"], "proxy");
    assert_eq!(
        (&value["pid"], &value["workspace"]),
        (&json!(42), &json!("/ws"))
    );
    for name in ["clients", "files", "quota", "command"] {
        assert_eq!(value[name], tables()[name], "{name}");
    }
}

/// What a client calls its files neither leaves its line nor paints over others, and is not endless.
#[test]
fn hostile_names_stay_on_their_line() {
    let files: Vec<Json> = (3..103)
        .map(|fileno| {
            let name = format!("{fileno}\u{1b}[2J\r\n\t{}", "x".repeat(5000));
            json!({ "fileno": fileno, "filename": name, "mode": "r\nw", "client_id": "c1" })
        })
        .collect();
    let text = plain(
        false,
        json!({
            "command": ["a\nb", "c".repeat(1000)],
            "clients": [{ "id": "c1", "label": "\n\n", "open_files": "none" }, 7, null],
            "files": files,
            "quota": { "used": "much" },
            "omitted": { "files": 12, "clients": -1 },
        }),
    );
    assert!(!text.contains(['\u{1b}', '\r', '\t']), "{text}");
    // The table, three clients, some files, how many more there are, and how many were left out.
    assert_eq!(text.lines().count(), 2 + 3 + MOST_FILES + 1 + 1, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() < 300),
        "{text}"
    );
    assert!(text.contains("    and 80 more\n"), "{text}");
    assert!(text.contains("  and 12 more files\n"), "{text}");
}

/// The tables of another version may have any form.
#[test]
fn other_forms_show_less() {
    for name in ["clients", "files", "quota", "command", "omitted"] {
        for value in [
            json!(null),
            json!(7),
            json!("text"),
            json!([[], {}]),
            json!({ "a": 1 }),
        ] {
            let mut tables = tables();
            tables[name] = value;
            assert!(plain(true, tables).starts_with("pid"));
        }
    }
}
