//! A tool, a file or a caller chooses names and words that would make one thing look like another: at every door
//! they come out escaped. The attacks are made of the whole table, so that a character which is added to it is tried
//! at every door.

use jig_proto::{DECEPTIVE, is_deceptive};
use serde_json::{Value as Json, json};

use super::mcp_client::{Client, text};
use super::station::Hall;
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::Desk;

/// Texts that hold all of the table between them: the ends of each row, and sequences that terminals obey.
fn attacks() -> Vec<String> {
    let ends = DECEPTIVE.iter().flat_map(|row| [row.first, row.last]);
    let mut all: Vec<char> = ends
        .chain("\r\u{1b}\u{9b}\u{200d}\u{2066}\u{e0041}".chars())
        .collect();
    // Neither arguments of programs nor paths can hold it.
    all.retain(|c| *c != '\0');
    all.dedup();
    let pieces = all.chunks(12).map(|chunk| {
        let chunk = chunk.iter().map(|c| format!("a{c}"));
        chunk.collect::<String>() + "z"
    });
    let sequences = [
        "x\u{1b}[2J\u{1b}]0;t\u{7}",
        "x\u{1b}[35my",
        "x\nforged: yes",
    ];
    pieces.chain(sequences.map(str::to_owned)).collect()
}

/// Checks what a door showed of an attack: nothing deceptive but line ends and colours of ours, no line of its own,
/// and every character of the attack by its number.
#[track_caller]
fn holds(door: &str, attack: &str, shown: &str) {
    assert!(!shown.contains("\u{1b}[35m"), "{door}: {shown:?}");
    let plain = without_our_own(shown);
    let left: Vec<char> = plain
        .chars()
        .filter(|c| is_deceptive(*c) && !matches!(c, '\n' | '\t'))
        .collect();
    assert!(left.is_empty(), "{door}: {left:?} in {plain:?}");
    assert!(
        !plain
            .lines()
            .any(|line| line.trim_start().starts_with("forged")),
        "{door}: {plain}"
    );
    // A terminal breaks lines where it likes.
    let joined = plain.replace('\n', "");
    for c in attack.chars().filter(|c| is_deceptive(*c)) {
        let number = u32::from(c);
        let json: String = c
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        let forms = [
            format!("\\u{{{number:x}}}"),
            format!("\\U{number:08x}"),
            format!("\\U{number:08X}"),
            json,
            c.escape_default().to_string(),
        ];
        let is_shown = forms.iter().any(|form| joined.contains(form));
        assert!(
            is_shown || matches!(c, '\n' | '\t'),
            "{door}: {c:?} is not in {plain:?}"
        );
    }
}

/// What a terminal was sent, without what jig itself sends there: colours, and on the screen of `jig attach` where
/// things are painted.
fn without_our_own(shown: &str) -> String {
    let mut plain = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| !matches!(c, '0'..='9' | ';' | '?'));
        let end = end.unwrap_or(sequence.len());
        let command = sequence[end..].chars().next();
        // What clears the screen is an attack, unless it is the screen of `jig attach`, which says so before.
        let is_ours = match command {
            Some('m' | 'H' | 'K' | 'h' | 'l') => true,
            Some('J') => &sequence[..end] != "2" || shown.contains("\u{1b}[?1049h"),
            _ => false,
        };
        if !is_ours {
            plain.push_str("\u{1b}[");
            rest = sequence;
            continue;
        }
        rest = &sequence[end + 1..];
    }
    plain.push_str(rest);
    plain.replace("\r\n", "\n")
}

/// A tool that asks: its question is in a file.
const ASKS: &str = r#"
[tools.asks]
source = "local"
run = "unattended"
stateful = true
command = "cat question.json"
description = "Asks."
"#;

fn asks(desk: &Desk, question: &Json) {
    desk.workspace.write("jig.toml", ASKS);
    let state = json!({ "type": "needs_input", "question": question });
    desk.workspace.write("question.json", state.to_string());
}

/// A question of a tool. Terminal sequences are taken out of what a program says, with whatever is in them: they are
/// in the context, so that the text is whole.
fn question(attack: &str) -> Json {
    json!({
        "id": "q",
        "text": format!("text {}", without_controls(attack)),
        "context": format!("context {}", attack.replace('\n', " ")),
        "answer_type": { "Select": { "options": [format!("one {attack}"), "two"] } },
    })
}

fn without_controls(attack: &str) -> String {
    attack.replace(|c: char| c.is_control() && c != '\n', "")
}

/// All texts of a value, whatever they are for.
fn texts(value: &Json, all: &mut String) {
    match value {
        Json::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Json::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Json::Object(members) => {
            for (name, member) in members {
                all.push_str(name);
                all.push('\n');
                texts(member, all);
            }
        }
        _ => {}
    }
}

#[test]
fn errors() {
    let desk = Desk::new();
    for attack in attacks() {
        for args in [
            &["call", &attack][..],
            &["tools", &attack],
            &["call", "fs_read_file", &format!("{attack}=x")],
            &[
                "call",
                "fs_read_file",
                &format!("path={attack}"),
                "--no-interaction",
            ],
            &["servers", &attack],
            &["fetch", &attack],
            &["approve", &attack],
            &["run", "--", &attack],
            &["run", "--", "cat", &attack],
            &["log", "--since", &attack],
        ] {
            let ran = desk.run(args);
            let shown = format!("{}{}", ran.out, ran.err);
            assert_ne!(ran.code, Some(0), "{args:?}: {shown}");
            // Some errors are about something else, such as a handle that can have no such name.
            let said = match shown.contains("visible ASCII") || !shown.contains("\\u") {
                true => "",
                false => attack.as_str(),
            };
            holds(&format!("{args:?}"), said, &shown);
        }
    }
}

#[test]
fn errors_of_the_configuration() {
    let desk = Desk::new();
    for attack in attacks() {
        let key = json!(attack).to_string();
        // JSON has an escape for DEL and others that TOML does not take as they are.
        let key: String = key
            .chars()
            .map(|c| match is_deceptive(c) {
                true => format!("\\U{:08X}", u32::from(c)),
                false => c.to_string(),
            })
            .collect();
        desk.workspace
            .write("jig.toml", format!("[tools.{key}]\nsource = 'locale'\n"));
        let ran = desk.run(&["config", "check"]);
        holds("a key", &attack, &ran.err);
        // The line itself is shown.
        let line = attack.replace(|c: char| c.is_control(), "");
        desk.workspace.write(
            "jig.toml",
            format!("[tools.x]\nsource = 'locale' # {line}\n"),
        );
        let ran = desk.run(&["config", "check"]);
        assert!(ran.err.contains("locale"), "{ran:?}");
        holds("a line", "", &ran.err);
    }
}

#[test]
fn the_log() {
    for attack in attacks() {
        let desk = Desk::new();
        let path = format!("path={attack}");
        desk.run(&["call", "fs_read_file", &path, "--no-interaction"]);
        holds("jig log", &attack, &desk.ok(&["log"]));
        let lines = desk.ok(&["--json", "log"]);
        holds("jig log --json", &attack, &lines);
        for line in lines.lines() {
            let entry: Json = serde_json::from_str(line).unwrap();
            assert!(entry["tool"].is_string(), "{entry}");
        }
    }
}

#[test]
fn prompts_at_the_terminal() {
    let desk = Desk::new();
    for attack in attacks() {
        asks(&desk, &question(&attack));
        let mut seat = Seat::new(&desk, &["call", "asks"]);
        seat.sees_text("a number");
        let shown = String::from_utf8(seat.printed.clone()).unwrap();
        holds("the question of a tool", &without_controls(&attack), &shown);
        seat.types("2\r");

        let (path, content) = (format!("path={attack}"), format!("content={attack}"));
        let mut seat = Seat::new(&desk, &["call", "fs_create_file", &path, &content]);
        seat.sees_text("or n and a reason");
        let shown = String::from_utf8(seat.printed.clone()).unwrap();
        holds("whether a tool may run", &attack, &shown);
        seat.types("n\r");
        seat.ends();
    }
}

#[test]
fn jig_approve() {
    for attack in attacks() {
        let desk = Desk::new();
        let mut client = Client::of(desk.jig(&["mcp"]));
        client.initialize(json!({}));
        until("the server listens", || {
            !desk.run(&["approve"]).err.contains("no MCP server")
        });
        let arguments = json!({ "path": attack, "content": attack });
        let result = client.call("fs_create_file", arguments);
        let told = text(&result);
        let (_, rest) = told
            .split_once("`jig approve ")
            .unwrap_or_else(|| panic!("{told}"));
        let id = rest.split('`').next().unwrap();
        holds("a refusal", "", &told);
        let listed = desk.run(&["approve"]);
        // It has as much of each as fits.
        holds(
            "the list of questions",
            "",
            &format!("{}{}", listed.out, listed.err),
        );
        let shown = desk.run(&["approve", id]);
        holds(
            "a question",
            &attack,
            &format!("{}{}", shown.out, shown.err),
        );
        holds("the list as JSON", "", &desk.ok(&["--json", "approve"]));
        let result = client.call("fs_read_file", json!({ "path": attack }));
        holds("a denial in a result", &attack, &text(&result));
    }
}

#[test]
fn forms_of_a_client() {
    for attack in attacks() {
        let desk = Desk::new();
        asks(&desk, &question(&attack));
        let mut client = Client::of(desk.jig(&["mcp"]));
        client.initialize(json!({ "elicitation": {} }));
        let calls = [
            json!({ "name": "asks", "arguments": {} }),
            json!({ "name": "fs_create_file", "arguments": { "path": attack, "content": attack } }),
        ];
        for call in calls {
            let id = client.ask("tools/call", call.clone());
            let asked = client
                .until(|message| message["method"] == "elicitation/create" || message["id"] == id);
            assert_eq!(asked["method"], "elicitation/create", "{asked}");
            let mut shown = String::new();
            texts(&asked["params"], &mut shown);
            holds(
                &format!("the form of {}", call["name"]),
                &without_controls(&attack),
                &shown,
            );
            client.send(
                &json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }),
            );
            let result = client.answer(id);
            holds("the answer to the form", "", &text(&result["result"]));
        }
    }
}

#[test]
fn jig_attach_fetch_and_ps() {
    for attack in attacks() {
        let desk = Desk::new();
        let hall = Hall::new(&desk);
        asks(&desk, &question(&attack));
        let id = hall.spawn(&["asks"]);
        until("it asks", || hall.ps()[0]["state"] == "waiting");
        for args in [&["ps"][..], &["fetch", &id]] {
            let ran = desk.run(args);
            let shown = format!("{}{}", ran.out, ran.err);
            holds(&format!("{args:?}"), &without_controls(&attack), &shown);
        }
        let mut seat = Seat::new(&desk, &["attach", &id]);
        seat.sees_text("answer with");
        let shown = String::from_utf8(seat.printed.clone()).unwrap();
        // The line of ours ends where the terminal does.
        holds("jig attach", "", &shown);
        assert!(shown.contains("`asks` asks: text "), "{shown:?}");
        desk.run(&["abort", &id]);
    }
}

/// What a file holds is shown before it is applied. Only the name is one line.
#[test]
fn diffs() {
    for attack in attacks() {
        let desk = Desk::new();
        let attack = attack.replace('\n', " ");
        let script = r#"printf '%s\n' "$1" > file; printf x > "name$1""#;
        let args = [
            "run",
            "--overlay",
            "--discard",
            "--",
            "sh",
            "-c",
            script,
            "sh",
            &attack,
        ];
        let ran = desk.run(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        holds(
            "jig run --overlay",
            &attack,
            &format!("{}{}", ran.out, ran.err),
        );
    }
}

/// Letters of all languages are no attack.
#[test]
fn texts_of_all_languages_are_shown_as_they_are() {
    let benign = "e\u{301}té שלום مرحبا 漢字 한국어 ไทย 🙂👍🏽 ⚠\u{fe0f}";
    let desk = Desk::new();
    asks(&desk, &question(benign));
    let mut seat = Seat::new(&desk, &["call", "asks"]);
    seat.sees_text("a number");
    let shown = String::from_utf8(seat.printed.clone()).unwrap();
    assert!(without_our_own(&shown).contains(benign), "{shown:?}");
    seat.types("2\r");
    let path = format!("path={benign}");
    let ran = desk.run(&["call", "fs_read_file", &path, "--no-interaction"]);
    assert!(ran.err.contains(benign), "{ran:?}");
    assert!(desk.ok(&["log"]).contains(benign));
    let script = r#"printf '%s\n' "$1" > file"#;
    let args = [
        "run",
        "--overlay",
        "--discard",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        benign,
    ];
    let ran = desk.run(&args);
    assert!(
        format!("{}{}", ran.out, ran.err).contains(benign),
        "{ran:?}"
    );
}

/// The caller's own words, where they are no arguments.
#[test]
fn words_that_are_no_arguments() {
    let desk = Desk::new();
    for attack in attacks() {
        let option = format!("--{attack}");
        for args in [
            &[attack.as_str()][..],
            &[&option],
            &["--color", &attack, "tools"],
            &["tools", "one", &attack],
            &["tools", &option],
        ] {
            let ran = desk.run(args);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            holds("arguments", &attack, &ran.err);
        }
    }
}
