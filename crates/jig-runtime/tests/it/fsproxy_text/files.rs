//! OPEN, READ, WRITE and CLOSE.

use std::io::Write as _;

use jig_runtime::fsproxy::{ClientOptions, ParentStreams};

use crate::fsproxy_text::world::{Text, World, in_llm_context, pipe};

#[test]
fn x63_files_are_opened_read_written_and_closed() {
    let world = World::new();
    let mut client = world.text();
    client.check("OPEN data/notes.txt r true\n", "OK 3\n");
    client.check("READ 3 8\n", "OK 8\nremember");
    client.check("READ 3 4096\n", "OK 10\n the milk\n");
    client.check("READ 3 4096\n", "OK 0\n");
    client.check("CLOSE 3\n", "OK\n");
    client.check("OPEN out/new.txt w false\n", "OK 4\n");
    client.check("WRITE 4 5\nhello", "OK 5\n");
    client.check("WRITE 4 0\n", "OK 0\n");
    // The payload is bytes: it may hold lines, commands and what is no text.
    client.check(b"WRITE 4 12\n\nCLOSE 4\n\xff\0\n", "OK 12\n");
    client.check("CLOSE 4\n", "OK\n");
    assert_eq!(
        world.content("out/new.txt").unwrap(),
        b"hello\nCLOSE 4\n\xff\0\n"
    );
    drop(client);
    world.is_left();
}

#[test]
fn f085_what_a_client_opened_is_in_the_table_as_it_said() {
    let world = World::new();
    let mut client = world.text();
    let check = |client: &mut Text, line: &str, mode: &str, is_top_level: bool| {
        client.send(line);
        let handle = client.line().strip_prefix("OK ").unwrap().to_owned();
        let row = world.manager.files().pop().unwrap();
        let row = serde_json::to_value(row).unwrap();
        assert_eq!(row["fileno"].to_string(), handle);
        assert_eq!(row["mode"], mode);
        assert_eq!(row["is_top_level"], is_top_level);
        client.check(format!("CLOSE {handle}\n"), "OK\n");
    };
    check(&mut client, "OPEN data/notes.txt r true\n", "r", true);
    check(&mut client, "OPEN data/notes.txt r false\n", "r", false);
    // X-26b: who does not say it is nested.
    check(&mut client, "OPEN data/notes.txt r\n", "r", false);
    check(&mut client, "OPEN out/old.txt r+ true\n", "r+", true);
}

#[test]
fn x26_each_mode_does_what_its_letters_say() {
    /// What a mode makes of a file: whether it opens one that is missing, what is read first, and what the file
    /// holds after `new` was written.
    struct Case {
        mode: &'static str,
        opens_missing: bool,
        reads: Option<&'static str>,
        after: Option<&'static str>,
    }
    let cases = [
        ("r", false, Some("content"), None),
        ("w", true, None, Some("new")),
        ("a", true, None, Some("contentnew")),
        // The offset is one: what was read lies before what is written.
        ("r+", false, Some("content"), Some("contentnew")),
        ("w+", true, Some(""), Some("new")),
        ("a+", true, Some("content"), Some("contentnew")),
    ];
    for (number, (mode, opens_missing, reads, after)) in cases.into_iter().enumerate() {
        let case = Case {
            mode,
            opens_missing,
            reads,
            after,
        };
        // Real files and virtual ones do the same.
        for folder in ["out", "virtual"] {
            let world = World::new();
            let mut client = world.text();
            let (mode, file) = (case.mode, format!("{folder}/file{number}"));
            client.send(format!("OPEN {file}.missing {mode} true\n"));
            let answer = client.line();
            assert_eq!(
                answer.starts_with("OK "),
                case.opens_missing,
                "{mode}: {answer}"
            );

            client.send(format!("OPEN {file} w true\n"));
            let handle = client.line().strip_prefix("OK ").unwrap().to_owned();
            client.check(format!("WRITE {handle} 7\ncontent"), "OK 7\n");
            client.check(format!("CLOSE {handle}\n"), "OK\n");
            client.send(format!("OPEN {file} {mode} true\n"));
            let handle = client.line().strip_prefix("OK ").unwrap().to_owned();
            client.send(format!("READ {handle} 100\n"));
            let answer = client.line();
            match case.reads {
                None => assert!(answer.starts_with("ERROR "), "{mode}: {answer}"),
                Some(content) => {
                    assert_eq!(answer, format!("OK {}", content.len()), "{mode}");
                    client.expect(content);
                }
            }
            client.send(format!("WRITE {handle} 3\nnew"));
            let answer = client.line();
            assert_eq!(answer == "OK 3", case.after.is_some(), "{mode}: {answer}");
            client.check(format!("CLOSE {handle}\n"), "OK\n");

            let expected = case.after.unwrap_or("content");
            client.send(format!("OPEN {file} r true\n"));
            let handle = client.line().strip_prefix("OK ").unwrap().to_owned();
            let size = expected.len();
            client.check(
                format!("READ {handle} 100\n"),
                format!("OK {size}\n{expected}"),
            );
        }
    }
}

#[test]
fn one_read_gives_up_to_a_mebibyte() {
    let world = World::new();
    let content: Vec<u8> = (0..3_000_000_u32).map(|byte| byte as u8).collect();
    world.put("data/large", &content);
    let mut client = world.text();
    client.check("OPEN data/large r true\n", "OK 3\n");
    let mebibyte = 1 << 20;
    client.check("READ 3 4097\n", "OK 4097\n");
    assert!(client.bytes(4097) == content[..4097]);
    for size in ["1048576", "18446744073709551615"] {
        client.send(format!("READ 3 {size}\n"));
        assert_eq!(client.line(), "OK 1048576");
        client.bytes(mebibyte);
    }
    client.send("READ 3 1048576\n");
    let rest = content.len() - 4097 - 2 * mebibyte;
    assert_eq!(client.line(), format!("OK {rest}"));
    assert!(client.bytes(rest) == content[content.len() - rest..]);
    client.check("READ 3 1048576\n", "OK 0\n");
}

/// F-010…F-013: 0..2 are the parent's streams, or nobody's.
#[test]
fn f012_standard_streams_are_the_parents() {
    let world = World::new();
    let mut client = world.text();
    for line in ["READ 0 10\n", "READ 2 10\n", "WRITE 1 2\nhi", "CLOSE 0\n"] {
        client.send(line);
        assert!(client.line().starts_with("ERROR "), "{line}");
    }
    // F-010: and they are never given away.
    client.check("OPEN data/notes.txt r true\n", "OK 3\n");

    let (stdin, keyboard) = pipe();
    let (screen, stdout) = pipe();
    let options = ClientOptions {
        streams: ParentStreams {
            stdin: Some(stdin.into()),
            stdout: Some(stdout.into()),
            ..ParentStreams::default()
        },
        ..in_llm_context()
    };
    let mut client = Text(world.connect(options).1);
    let mut keyboard = std::fs::File::from(keyboard);
    keyboard.write_all(b"typed").unwrap();
    // What there is, not what was asked for: a person may never type the rest.
    client.check("READ 0 100\n", "OK 5\ntyped");
    drop(keyboard);
    client.check("READ 0 100\n", "OK 0\n");
    client.check("WRITE 1 7\nprinted", "OK 7\n");
    client.check("CLOSE 1\nCLOSE 0\n", "OK\nOK\n");
    client.check("WRITE 1 1\n!", "OK 1\n");
    client.send("WRITE 2 1\n!");
    assert!(client.line().starts_with("ERROR "));
    drop(client);
    world.manager.end();
    let mut printed = String::new();
    std::io::Read::read_to_string(&mut std::fs::File::from(screen), &mut printed).unwrap();
    assert_eq!(printed, "printed!");
}
