//! Every text of an error, and that the stream goes on after it.

use jig_runtime::fsproxy::{ClientOptions, ManagerOptions};

use crate::fsproxy_text::world::{Text, World};

/// F-064…F-067, F-078, F-079, X-26b, X-63: a command, and the line that answers it.
const TEXTS: &[(&str, &str)] = &[
    ("\n", "empty request"),
    ("INVALID\n", "unknown command: INVALID"),
    ("INVALID a b\n", "unknown command: INVALID"),
    ("open a r true\n", "unknown command: open"),
    ("OPEN\n", "OPEN requires filename and mode"),
    ("OPEN a.txt\n", "OPEN requires filename and mode"),
    ("OPEN a.txt r maybe\n", "invalid is_top_level: maybe"),
    ("CLOSE\n", "CLOSE requires fileno"),
    ("CLOSE abc\n", "invalid fileno: abc"),
    ("CLOSE -1\n", "invalid fileno: -1"),
    ("READ abc 10\n", "invalid fileno: abc"),
    ("READ 3 xyz\n", "invalid size: xyz"),
    ("READ 3 -1\n", "invalid size: -1"),
    ("WRITE abc 3\nxyz", "invalid fileno: abc"),
    (
        "LLM_CHAT invalid 0 1 2 0 0\n",
        "invalid is_top_level: invalid",
    ),
    (
        "LLM_CHAT maybe 0 1 2 0 5\nhello",
        "invalid is_top_level: maybe",
    ),
    (
        "LLM_CHAT true -1 1 2 0 11\nTest prompt",
        "invalid stdin_fd: -1",
    ),
    (
        "LLM_CHAT true 0 -1 2 0 11\nTest prompt",
        "invalid stdout_fd: -1",
    ),
    (
        "LLM_CHAT true 0 1 -1 3 8\na.ttest two",
        "invalid stderr_fd: -1",
    ),
    ("LLM_CHAT true 0 1 2 0 5\nhello", "LLM not available"),
    ("LLM_QUOTA\n", "LLM not available"),
];

/// The same for lines after which nobody knows where the next command begins: what follows could be the content of
/// a file.
const LAST_TEXTS: &[(&str, &str)] = &[
    ("LLM_CHAT\n", LLM_CHAT_REQUIRES),
    ("LLM_CHAT true 0 1 2 0\n", LLM_CHAT_REQUIRES),
    (
        "LLM_CHAT true 0 1 2 0 many\nhello",
        "invalid prompt_length: many",
    ),
    (
        "LLM_CHAT true 0 1 2 -5 5\nhello",
        "invalid input_files_count: -5",
    ),
    ("WRITE 3\n", "WRITE requires fileno and size"),
    ("WRITE 3 xyz\nhello", "invalid size: xyz"),
    ("WRITE 3 -1\nhello", "invalid size: -1"),
];

const LLM_CHAT_REQUIRES: &str = "LLM_CHAT requires is_top_level, stdin_fd, stdout_fd, stderr_fd, \
                                 input_files_count, and prompt_length";

/// After each the next command is found where it begins: no payload is taken for a command, and no command for
/// a payload.
#[test]
fn f064_f065_f066_f067_f078_each_text_and_the_stream_stays_in_step() {
    let world = World::new();
    let mut client = world.text();
    client.check("OPEN data/notes.txt r true\n", "OK 3\n");
    for (command, text) in TEXTS {
        client.check(command, format!("ERROR {text}\n"));
        client.check("READ 3 0000\n", "ERROR invalid size: 0000\n");
    }
    client.check("READ 3 8\n", "OK 8\nremember");
}

/// What follows is not done: the connection ends.
#[test]
fn f067_f078_a_payload_of_unknown_size_ends_the_connection() {
    for (command, text) in LAST_TEXTS {
        let world = World::new();
        let mut client = world.text();
        client.send(format!("{command}\nOPEN out/smuggled w true\n"));
        assert_eq!(client.rest(), format!("ERROR {text}\n"));
        world.is_left();
        assert_eq!(world.content("out/smuggled"), None);
    }
}

/// The same, all sent before anything is read, and byte by byte.
#[test]
fn x29_all_are_answered_in_order_however_they_arrive() {
    let world = World::new();
    let commands: String = TEXTS.iter().map(|(command, _)| *command).collect();
    let answers: String = TEXTS
        .iter()
        .map(|(_, text)| format!("ERROR {text}\n"))
        .collect();
    let mut client = world.text();
    // The first byte decides the variant, and an empty line does not say the text variant.
    let (begin, answer) = ("CLOSE 9\n", "ERROR handle 9 is not open\n");
    client.check(format!("{begin}{commands}"), format!("{answer}{answers}"));
    let mut client = world.text();
    for byte in begin.bytes().chain(commands.bytes()) {
        client.send([byte]);
    }
    client.expect(format!("{answer}{answers}"));
}

#[test]
fn x30_handles_that_are_not_open_or_of_another_client() {
    let world = World::new();
    let mut owner = world.text();
    owner.check("OPEN out/mine.txt w true\n", "OK 3\n");
    let mut other = world.text();
    for handle in ["3", "4", "18446744073709551615"] {
        let answer = format!("ERROR handle {handle} is not open\n");
        other.check(format!("READ {handle} 10\n"), &answer);
        other.check(format!("WRITE {handle} 6\nhijack"), &answer);
        other.check(format!("CLOSE {handle}\n"), &answer);
    }
    owner.check("WRITE 3 4\nmine", "OK 4\n");
    owner.check("CLOSE 3\n", "OK\n");
    owner.check("CLOSE 3\n", "ERROR handle 3 is not open\n");
    assert_eq!(world.content("out/mine.txt").unwrap(), b"mine");
}

/// A denial is one line that says what, which rule and what to do; and nothing of it happened.
#[test]
fn x25_x36_denials_are_one_line_and_change_nothing() {
    let world = World::new();
    let mut client = world.text();
    for (line, words) in [
        (
            "OPEN data/secret.env r true\n",
            &["data/secret.env", "jig.toml"][..],
        ),
        ("OPEN data/notes.txt w true\n", &["data/notes.txt"]),
        ("OPEN data/notes.txt a true\n", &["data/notes.txt"]),
        ("OPEN data/notes.txt r+ true\n", &["data/notes.txt"]),
        ("OPEN data/notes.txt w+ true\n", &["data/notes.txt"]),
        ("OPEN data/notes.txt a+ true\n", &["data/notes.txt"]),
    ] {
        client.send(line);
        let answer = client.line();
        assert!(answer.starts_with("ERROR "), "{line}: {answer}");
        for word in words {
            assert!(answer.contains(word), "{line}: {answer}");
        }
        client.check("CLOSE\n", "ERROR CLOSE requires fileno\n");
    }
    assert_eq!(
        world.content("data/notes.txt").unwrap(),
        b"remember the milk\n"
    );
    assert!(world.manager.files().is_empty());
    // What no rule covers is only a name.
    client.send("OPEN nowhere.txt r true\n");
    assert!(client.line().starts_with("ERROR "));
    client.check("OPEN nowhere.txt w true\n", "OK 3\n");
    assert_eq!(world.content("nowhere.txt"), None);
}

#[test]
fn f096_quota_is_told_in_llm_contexts_only() {
    let url = "http://127.0.0.1:9/v1";
    let world = World::with_llm(url, |settings| settings.quota = Some(5000.0));
    let full = "OK 0.0/5000 weighted tokens (0.0% used, 5000.0 remaining)\n";
    world.text().check("LLM_QUOTA\n", full);
    let mut outside = Text(world.connect(ClientOptions::default()).1);
    outside.check("LLM_QUOTA\n", "ERROR LLM quota access denied\n");
    outside.check("LLM_CHAT true 0 1 2 0 2\nhi", "ERROR LLM access denied\n");
    outside.check("LLM_QUOTA\n", "ERROR LLM quota access denied\n");
    // without a quota there is nothing to tell.
    let world = World::with_llm(url, |_| {});
    world
        .text()
        .check("LLM_QUOTA\n", "ERROR LLM quota not configured\n");
    let world = World::with_llm(url, |settings| settings.quota = Some(0.0));
    world
        .text()
        .check("LLM_QUOTA\n", "OK 0.0/unlimited weighted tokens\n");
}

/// F-060, F-068: a manager that does not want the older variant does not speak it.
#[test]
fn f060_the_variant_can_be_switched_off() {
    let options = ManagerOptions {
        legacy: false,
        ..ManagerOptions::default()
    };
    let world = World::with_options("http://127.0.0.1:9/v1", |_| {}, options);
    let mut client = world.text();
    client.send("OPEN data/notes.txt r true\n");
    assert!(!client.rest().contains("OK"));
    world.is_left();
}
