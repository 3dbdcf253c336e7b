//! Requests on files, sent by a real tool: what each answers, and how each is refused.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::vfs_tool::{Probe, READ_WRITE};

/// What a tool that may do everything is answered to requests that it sends in this order.
pub(crate) fn check(files: &[(&str, &[u8])], cases: &[(&str, Json, Json)]) -> Probe {
    check_with(READ_WRITE, files, cases)
}

/// An expected error is `{"error": [code, kind]}`; the rest of it has tests of its own.
pub(crate) fn check_with(
    access: &str,
    files: &[(&str, &[u8])],
    cases: &[(&str, Json, Json)],
) -> Probe {
    let requests = cases.iter().map(|(method, params, _)| (method, params));
    let requests: Json = requests
        .map(|(method, params)| json!([method, params]))
        .collect();
    let mut probe = Probe::requests(&requests, access);
    for (path, content) in files {
        probe = probe.file(path, content);
    }
    let answers = probe.result();
    let mut wrong = String::new();
    for (at, (method, params, expected)) in cases.iter().enumerate() {
        let answer = brief(&answers[at]);
        if answer != *expected {
            let full = &answers[at];
            let _ = writeln!(
                wrong,
                "{method} {params}\n  expected {expected}\n  but was  {full}"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    probe
}

pub(crate) fn brief(answer: &Json) -> Json {
    match answer.get("error") {
        Some(error) => json!({ "error": [error["code"], error["data"]["kind"]] }),
        None => answer.clone(),
    }
}

pub(crate) fn error(code: i64, kind: &str) -> Json {
    json!({ "error": [code, kind] })
}

/// V-016, V-017, V-044 to V-049, X-55: content and size; newlines are escaped, and what is not UTF-8 travels as base64.
#[test]
fn v044_v049_read() {
    check(
        &[
            ("src/main.rs", b"fn main() {}"),
            ("lines.txt", b"a\n\"b\"\\\tc\r\n\xc3\xa9\x00\xe2\x80\xa8"),
            ("empty", b""),
            ("image.bin", b"\x89PNG\xff\xfe"),
            ("cut.txt", b"caf\xc3"),
        ],
        &[
            (
                "fs.read",
                json!({"path": "src/main.rs"}),
                json!({"content": "fn main() {}", "size": 12}),
            ),
            (
                "fs.read",
                json!({"path": "./src//main.rs"}),
                json!({"content": "fn main() {}", "size": 12}),
            ),
            (
                "fs.read",
                json!({"path": "lines.txt"}),
                json!({"content": "a\n\"b\"\\\tc\r\né\u{0}\u{2028}", "size": 16}),
            ),
            (
                "fs.read",
                json!({"path": "empty"}),
                json!({"content": "", "size": 0}),
            ),
            (
                "fs.read",
                json!({"path": "image.bin"}),
                json!({"content": "iVBOR//+", "encoding": "base64", "size": 6}),
            ),
            (
                "fs.read",
                json!({"path": "cut.txt"}),
                json!({"content": "Y2Fmww==", "encoding": "base64", "size": 4}),
            ),
        ],
    );
}

/// V-050, V-051: content is replaced, folders are made, base64 is decoded first.
#[test]
fn v050_v051_write() {
    let probe = check(
        &[("old.txt", b"something longer than the new content")],
        &[
            (
                "fs.write",
                json!({"path": "old.txt", "content": "new\n"}),
                json!({}),
            ),
            (
                "fs.write",
                json!({"path": "a/b/c/deep.txt", "content": "deep"}),
                json!({}),
            ),
            (
                "fs.write",
                json!({"path": "raw", "content": "AP+A", "encoding": "base64"}),
                json!({}),
            ),
            (
                "fs.write",
                json!({"path": "empty", "content": ""}),
                json!({}),
            ),
            (
                "fs.write",
                json!({"path": "bad", "content": "AP+", "encoding": "base64"}),
                error(-32602, "invalid_params"),
            ),
            (
                "fs.write",
                json!({"path": "bad", "content": "x", "encoding": "rot13"}),
                error(-32602, "invalid_params"),
            ),
            // What was written is what is read, both ways.
            (
                "fs.read",
                json!({"path": "raw"}),
                json!({"content": "AP+A", "encoding": "base64", "size": 3}),
            ),
        ],
    );
    assert_eq!(probe.read("old.txt").unwrap(), b"new\n");
    assert_eq!(probe.read("a/b/c/deep.txt").unwrap(), b"deep");
    assert_eq!(probe.read("raw").unwrap(), b"\x00\xff\x80");
    assert_eq!(probe.read("empty").unwrap(), b"");
    assert_eq!(probe.read("bad"), None);
}

/// V-052 to V-059: looking, listing, deleting and moving.
#[test]
fn v052_v059_look_list_delete_rename() {
    let probe = check(
        &[
            ("src/main.rs", b"fn main() {}"),
            ("src/sub/deep.rs", b""),
            ("one.txt", b"1"),
            ("two.txt", b"2"),
        ],
        &[
            (
                "fs.exists",
                json!({"path": "one.txt"}),
                json!({"exists": true}),
            ),
            ("fs.exists", json!({"path": "src"}), json!({"exists": true})),
            (
                "fs.exists",
                json!({"path": "nothing/here"}),
                json!({"exists": false}),
            ),
            // V-054: the names are relative to the folder that is listed; V-053: not those below.
            (
                "fs.list_dir",
                json!({"path": "src"}),
                json!({"entries": [{"path": "main.rs", "kind": "file"}, {"path": "sub", "kind": "dir"}]}),
            ),
            (
                "fs.metadata",
                json!({"path": "src/main.rs"}),
                json!({"kind": "file", "size": 12}),
            ),
            ("fs.delete", json!({"path": "one.txt"}), json!({})),
            (
                "fs.exists",
                json!({"path": "one.txt"}),
                json!({"exists": false}),
            ),
            (
                "fs.rename",
                json!({"from": "two.txt", "to": "src/sub/deep.rs"}),
                json!({}),
            ),
            (
                "fs.read",
                json!({"path": "src/sub/deep.rs"}),
                json!({"content": "2", "size": 1}),
            ),
            (
                "fs.read",
                json!({"path": "two.txt"}),
                error(-32002, "not_found"),
            ),
        ],
    );
    assert_eq!(probe.read("one.txt"), None);
    assert_eq!(probe.read("src/sub/deep.rs").unwrap(), b"2");
}

/// V-055: a folder comes whole, however many entries it has.
#[test]
fn v055_a_listing_is_one_answer() {
    let probe = Probe::new("done(len(ask('fs.list_dir', path='many')['entries']))");
    for number in 0..3000 {
        probe.workspace.write(&format!("many/{number}"), "");
    }
    assert_eq!(probe.result(), json!(3000));
}

/// V-055: without `pages` there is one answer with everything, whatever the tool asks for; with it there are pages.
#[test]
fn v055_pages_are_negotiated() {
    let script = "
def listed(**params):
    answer = ask('fs.list_dir', path='many', **params)
    return [[entry['path'] for entry in answer['entries']], answer.get('next_cursor')]
plain = [listed(limit=2), listed(limit=2, cursor='b')]
send(method='ready', params={'capabilities': {'pages': {}}})
done(plain + [listed(limit=2), listed(limit=2, cursor='b'), listed()])";
    let probe = Probe::new(script);
    for name in ["a", "b", "c"] {
        probe.workspace.write(&format!("many/{name}"), "");
    }
    let all = json!([["a", "b", "c"], null]);
    assert_eq!(
        probe.result(),
        json!([all, all, [["a", "b"], "b"], [["c"], null], all])
    );
}

/// V-055: a directory of more entries than a page may have comes whole.
#[test]
fn v055_a_large_directory_comes_whole() {
    let probe = Probe::new("done(len(ask('fs.list_dir', path='many')['entries']))");
    let many = probe.workspace.root.join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..50_001 {
        std::os::unix::fs::symlink("nowhere", many.join(number.to_string())).unwrap();
    }
    assert_eq!(probe.result(), json!(50_001));
}

/// V-055, X-52: links that lead nowhere, or out, are entries; one that leads to what is denied is left out.
#[test]
fn v055_dangling_links_are_listed() {
    let config = "[[tools.probe.access.fs]]\npath = '.'\nread = true\n\n[[tools.probe.access.fs]]\npath = 'secret'\n";
    let requests = json!([["fs.list_dir", {"path": "d"}]]);
    let probe = Probe::requests(&requests, config)
        .file("d/file", "")
        .file("secret/key", "");
    let link = |target: &str, name: &str| {
        let name = probe.workspace.root.join(name);
        std::os::unix::fs::symlink(target, name).unwrap();
    };
    link("nowhere", "d/dangling");
    link("/etc/passwd", "d/out");
    link("file", "d/good");
    link("../secret/key", "d/denied");
    link("loop", "d/loop");
    let entries = probe.result()[0]["entries"].clone();
    let entry = |path: &str, kind: &str| json!({"path": path, "kind": kind});
    assert_eq!(
        entries,
        json!([
            entry("dangling", "other"),
            entry("file", "file"),
            entry("good", "file"),
            entry("loop", "other"),
            entry("out", "other"),
        ])
    );
}

/// V-061, X-52: `all` searches what is hidden and ignored, too, as far as the policy lets it; `skipped` counts what was
/// left out, and `ignored` what of it is hidden or ignored.
#[test]
fn v061_all_searches_hidden_and_ignored_files() {
    let config = "[[tools.probe.access.fs]]\npath = '.'\nread = true\n\n[[tools.probe.access.fs]]\npath = 'secret'\n";
    let requests = json!([
        ["fs.grep", {"pattern": "w[o]rd"}],
        ["fs.grep", {"pattern": "w[o]rd", "all": true}],
        ["fs.grep", {"pattern": "w[o]rd", "extensions": ["log"], "all": true}],
    ]);
    let probe = Probe::requests(&requests, config)
        .file("a.txt", "word")
        .file(".hidden/b.txt", "word")
        .file("out/c.log", "word")
        .file(".gitignore", "*.log\n")
        .file(".env", "word")
        .file("secret/key", "word");
    let answers = probe.result();
    let told = |answer: &Json| {
        let matches = answer["matches"].as_array().unwrap().iter();
        let paths: Vec<Json> = matches.map(|found| found["path"].clone()).collect();
        json!([paths, answer["skipped"], answer["ignored"]])
    };
    // Left out: `.hidden`, `.gitignore`, `.env` and `out/c.log`; and `secret`, which is denied.
    assert_eq!(told(&answers[0]), json!([["a.txt"], 5, 4]), "{answers}");
    // `.env` is sensitive: no rule names it, so that nobody reads it.
    let all = json!([".hidden/b.txt", "a.txt", "out/c.log"]);
    assert_eq!(told(&answers[1]), json!([all, 2, null]), "{answers}");
    assert_eq!(told(&answers[2]), json!([["out/c.log"], 1, null]));
}

/// V-060 to V-064: the search of the host, with its defaults.
#[test]
fn v060_v064_grep() {
    let line = |number: u64, content: &str, is_match: bool| json!({"line_number": number, "content": content, "is_match": is_match});
    let hello = ("fn main() {", "    println!(\"hello\");", "}");
    let first = json!({"path": "src/main.rs", "lines": [line(1, hello.0, true)]});
    let other = json!({"path": "notes.md", "lines": [line(2, "see fn main", true)]});
    check(
        &[
            (
                "src/main.rs",
                b"fn main() {\n    println!(\"hello\");\n}\n\nfn f() {}\n",
            ),
            ("notes.md", b"notes\nsee fn main\n"),
        ],
        &[
            (
                "fs.grep",
                json!({"pattern": "fn main", "paths": ["src"], "context": 2}),
                json!({"matches": [{"path": "src/main.rs", "lines": [line(1, hello.0, true), line(2, hello.1, false), line(3, hello.2, false)]}]}),
            ),
            (
                "fs.grep",
                json!({"pattern": "fn main", "extensions": ["rs"]}),
                json!({"matches": [first]}),
            ),
            (
                "fs.grep",
                json!({"pattern": r"fn\s+main$"}),
                json!({"matches": [other]}),
            ),
            (
                "fs.grep",
                json!({"pattern": "nowhere to be found", "paths": ["src"]}),
                json!({"matches": []}),
            ),
            (
                "fs.grep",
                json!({"pattern": "("}),
                error(-32602, "invalid_params"),
            ),
            (
                "fs.grep",
                json!({"pattern": "x", "paths": ["../.."]}),
                error(-32001, "escape"),
            ),
        ],
    );
}

/// V-151 to V-155, X-49, X-57, X-64: each way to fail has its code and its kind.
#[test]
fn v150_v158_codes_of_failed_requests() {
    let invalid = || error(-32602, "invalid_params");
    check(
        &[("a.txt", b"a"), ("b.txt", b"b"), ("dir/file", b"")],
        &[
            ("fs.read", json!({}), invalid()),
            ("fs.read", json!({"path": 7}), invalid()),
            ("fs.read", json!({"path": ""}), invalid()),
            ("fs.read", json!({"path": "a\u{0}b"}), invalid()),
            ("fs.write", json!({"path": "c.txt"}), invalid()),
            ("fs.rename", json!({"from": "a.txt"}), invalid()),
            ("fs.grep", json!({"paths": ["."]}), invalid()),
            ("fs.grep", json!({"pattern": "x", "paths": "."}), invalid()),
            ("process.run", json!({"args": []}), invalid()),
            ("http.get", json!({"headers": []}), invalid()),
            (
                "fs.read",
                json!({"path": "no.txt"}),
                error(-32002, "not_found"),
            ),
            (
                "fs.list_dir",
                json!({"path": "no"}),
                error(-32002, "not_found"),
            ),
            (
                "fs.metadata",
                json!({"path": "no"}),
                error(-32002, "not_found"),
            ),
            (
                "fs.delete",
                json!({"path": "no"}),
                error(-32002, "not_found"),
            ),
            (
                "fs.rename",
                json!({"from": "no", "to": "x"}),
                error(-32002, "not_found"),
            ),
            // X-64: a folder is no file, and a file no folder.
            ("fs.read", json!({"path": "dir"}), error(-32602, "is_dir")),
            (
                "fs.write",
                json!({"path": "dir", "content": ""}),
                error(-32602, "is_dir"),
            ),
            ("fs.delete", json!({"path": "dir"}), error(-32602, "is_dir")),
            (
                "fs.list_dir",
                json!({"path": "a.txt"}),
                error(-32602, "not_dir"),
            ),
            // X-57: what exists is replaced unless the tool says otherwise.
            (
                "fs.write",
                json!({"path": "a.txt", "content": "z", "exclusive": true}),
                error(-32003, "already_exists"),
            ),
            (
                "fs.write",
                json!({"path": "c.txt", "content": "c", "exclusive": true}),
                json!({}),
            ),
            (
                "fs.rename",
                json!({"from": "a.txt", "to": "b.txt", "overwrite": false}),
                error(-32003, "already_exists"),
            ),
            (
                "fs.rename",
                json!({"from": "a.txt", "to": "d.txt", "overwrite": false}),
                json!({}),
            ),
            // X-49: a folder goes only when that is said.
            (
                "fs.delete",
                json!({"path": "dir", "recursive": true}),
                json!({}),
            ),
            (
                "fs.exists",
                json!({"path": "dir"}),
                json!({"exists": false}),
            ),
            (
                "fs.delete",
                json!({"path": "."}),
                error(-32001, "protected"),
            ),
        ],
    );
}

/// V-041 to V-043, X-11, X-64: nothing leads out, by no path and by no link.
#[test]
fn v042_v043_paths_that_leave_are_refused() {
    let escape = || error(-32001, "escape");
    let probe = Probe::requests(
        &json!([
            ["fs.read", {"path": "/etc/passwd"}],
            ["fs.read", {"path": "../ws/a.txt"}],
            ["fs.read", {"path": "dir/../a.txt"}],
            ["fs.exists", {"path": ".."}],
            ["fs.list_dir", {"path": "/"}],
            ["fs.write", {"path": "/tmp/x", "content": ""}],
            ["fs.write", {"path": "dir/../../x", "content": ""}],
            ["fs.rename", {"from": "a.txt", "to": "../a.txt"}],
            ["fs.rename", {"from": "/etc/passwd", "to": "p"}],
            ["fs.delete", {"path": "../home"}],
            ["fs.read", {"path": "out/secret"}],
            ["fs.write", {"path": "out/new", "content": ""}],
            ["fs.read", {"path": "loop"}],
            ["fs.write", {"path": "dangling", "content": ""}],
        ]),
        READ_WRITE,
    );
    let probe = probe.file("a.txt", "a").file("dir/file", "");
    std::fs::write(probe.workspace.home.join("secret"), "secret").unwrap();
    for (target, link) in [
        ("../home", "out"),
        ("loop", "loop"),
        ("../home/new", "dangling"),
    ] {
        std::os::unix::fs::symlink(target, probe.workspace.root.join(link)).unwrap();
    }
    let answers = probe.result();
    for answer in answers.as_array().unwrap() {
        assert_eq!(brief(answer), escape(), "{answer}");
        // Nothing that a tool is told names a place of the host.
        assert!(
            !answer.to_string().contains(probe.workspace.root.as_str()),
            "{answer}"
        );
    }
    assert!(
        std::fs::read_dir(&probe.workspace.home)
            .unwrap()
            .all(|entry| entry.unwrap().file_name() != "new")
    );
    assert_eq!(answers.as_array().unwrap().len(), 14);
}

/// V-141, V-144, X-24: the limit of 10 MB, and the way round it.
#[test]
fn v141_x24_large_files_are_read_in_parts() {
    let script = "
def measure(answer):
    return answer if 'error' in answer else [len(answer['content']), answer['size']]
done([measure(ask('fs.read', **params)) for params in [
    {'path': 'over'}, {'path': 'limit'}, {'path': 'over', 'offset': 9999990, 'length': 100},
    {'path': 'over', 'offset': 20000000, 'length': 1}, {'path': 'quotes'}]])";
    let probe = Probe::new(script)
        .file("limit", vec![b'x'; 10_000_000])
        .file("over", vec![b'x'; 10_000_001])
        // Under the limit as it is, over the limit of a message when every byte is escaped.
        .file("quotes", vec![b'"'; 9_000_000]);
    let answers = probe.result();
    assert_eq!(brief(&answers[0]), error(-32006, "too_large"));
    let hint = answers[0]["error"]["data"]["hint"].as_str().unwrap();
    assert!(hint.contains("`offset` and `length`"), "{hint}");
    assert_eq!(answers[1], json!([10_000_000, 10_000_000]));
    assert_eq!(answers[2], json!([11, 10_000_001]));
    assert_eq!(answers[3], json!([0, 10_000_001]));
    assert_eq!(brief(&answers[4]), error(-32006, "too_large"));
}

/// V-141: the limit is the configuration's, the tool is told it, and each tool has its own.
#[test]
fn v141_the_limit_is_configured() {
    let script = "
sizes = [len(ask('fs.read', path='small').get('content', '')), ask('fs.read', path='large')['error']['code']]
done(sizes + [init['params']['limits']])";
    let config = format!(
        "{READ_WRITE}\n[tools.probe.sandbox.limits]\nfile = '1KiB'\nmessage = '128KiB'\nsilence = '2m'\n\
         response = '7s'\ncancel_grace = '1500ms'\n"
    );
    let probe = Probe::with(script, &config)
        .file("small", vec![b'x'; 1024])
        .file("large", vec![b'x'; 1025]);
    let limits = json!({
        "message_bytes": 131_072, "file_bytes": 1024, "silence_ms": 120_000, "response_ms": 7000,
        "cancel_grace_ms": 1500,
    });
    assert_eq!(probe.result(), json!([1024, -32006, limits]));
    // What every tool has in common can be said once.
    let probe = Probe::with("done(init['params']['limits']['file_bytes'])", READ_WRITE);
    let mut jig = probe.jig();
    jig.args(["--set", "tools.'*'.sandbox.limits.file=20MB"]);
    assert_eq!(probe.call_as(&mut jig).result(), json!(20_000_000));
}

/// V-141: a message that is longer than the configured limit is dropped, and the next one is read.
#[test]
fn v141_the_length_of_a_message_is_configured() {
    let script = "
send(id=7, method='fs.write', params={'path': 'x', 'content': 'x' * 70000})
refused = receive()
done([refused['id'], refused['error']['data']['kind'], ask('fs.exists', path='x')])";
    let config = format!("{READ_WRITE}\n[tools.probe.sandbox.limits]\nmessage = '64KiB'\n");
    let answers = Probe::with(script, &config).result();
    assert_eq!(answers, json!([null, "line_too_long", {"exists": false}]));
}

/// The additions: appending, patching, making folders.
#[test]
fn added_methods() {
    let probe = check(
        &[("log", b"one\n"), ("code", b"let a = 1;\nlet b = 1;\n")],
        &[
            (
                "fs.append",
                json!({"path": "log", "content": "two\n"}),
                json!({}),
            ),
            ("fs.mkdir", json!({"path": "x/y"}), json!({})),
            (
                "fs.patch",
                json!({"path": "code", "edits": [{"old": "a = 1", "new": "a = 2"}]}),
                json!({}),
            ),
            (
                "fs.patch",
                json!({"path": "code", "edits": [{"old": "nowhere", "new": ""}]}),
                error(-32602, "no_match"),
            ),
            (
                "fs.patch",
                json!({"path": "code", "edits": [{"old": "let", "new": ""}]}),
                error(-32602, "ambiguous"),
            ),
            (
                "fs.metadata",
                json!({"path": "x/y"}),
                json!({"kind": "dir", "size": 0}),
            ),
        ],
    );
    assert_eq!(probe.read("log").unwrap(), b"one\ntwo\n");
    assert_eq!(probe.read("code").unwrap(), b"let a = 2;\nlet b = 1;\n");
}
