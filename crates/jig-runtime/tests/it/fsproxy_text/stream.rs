//! The stream itself: floods, lies about sizes, and its end in the middle of something.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::thread;

use jig_runtime::fsproxy::{ClientOptions, ParentStreams};

use crate::fsproxy_text::world::{Text, World, pipe, until};

/// F-080: what was received before the end is answered, what is missing is named, and nothing is left open.
#[test]
fn f078_f080_the_stream_ends_in_the_middle() {
    for (sent, expected) in [
        ("OPEN data/notes.txt r true\n", "OK 3\n"),
        (
            "OPEN data/notes.txt r true\nREAD 3 8\n",
            "OK 3\nOK 8\nremember",
        ),
        (
            "OPEN out/x w true\nWRITE 3 10\nshort",
            "OK 3\nERROR failed to read data\n",
        ),
        (
            "LLM_CHAT true 0 1 2 10 5\nshort",
            "ERROR failed to read input files data\n",
        ),
        (
            "LLM_CHAT true 0 1 2 0 10\nshort",
            "ERROR failed to read prompt data\n",
        ),
        (
            "LLM_CHAT true 0 1 2 5 10\na.txtshort",
            "ERROR failed to read prompt data\n",
        ),
    ] {
        let world = World::new();
        let mut client = world.text();
        client.send(sent);
        client.0.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.rest(), expected, "{sent}");
        world.is_left();
        assert_eq!(world.content("out/x").unwrap_or_default(), b"", "{sent}");
    }
}

/// Counts that no payload has: nothing is allocated for them, and the connection ends or skips.
#[test]
fn x35_absurd_counts_take_no_memory() {
    for count in ["1048577", "1000000000000000000", "18446744073709551615"] {
        for command in [
            format!("WRITE 3 {count}\n"),
            format!("LLM_CHAT true 0 1 2 0 {count}\n"),
            format!("LLM_CHAT true 0 1 2 {count} 0\n"),
            format!("LLM_CHAT true 0 1 2 {count} {count}\n"),
        ] {
            let world = World::new();
            let before = memory();
            let mut client = world.text();
            client.send(&command);
            client.0.shutdown(Shutdown::Write).unwrap();
            let answer = client.rest();
            assert!(answer.starts_with("ERROR "), "{command}{answer}");
            assert_eq!(answer.lines().count(), 1, "{command}{answer}");
            world.is_left();
            assert!(memory() < before + 64 * 1024, "{command}");
        }
    }
}

/// A line that never ends is refused when it is too long to be one, whatever follows.
#[test]
fn x35_a_line_without_an_end() {
    let world = World::new();
    let mut client = world.text();
    let line = vec![b'A'; 4 << 20];
    let mut sender = client.0.try_clone().unwrap();
    let sender = thread::spawn(move || {
        // The other side stops reading at some point.
        let _ = sender.write_all(&line);
    });
    let mut answer = Vec::new();
    let _ = client.0.read_to_end(&mut answer);
    assert!(answer.starts_with(b"ERROR "), "{answer:?}");
    assert!(answer.len() < 1000);
    sender.join().unwrap();
    world.is_left();
}

/// A client that sends and never reads is held at the socket, not in our memory, and ends with it.
#[test]
fn a_flood_without_reading_is_held_back() {
    let world = World::new();
    world.put("data/large", &vec![b'x'; 1 << 20]);
    let mut client = world.text();
    client.send("OPEN data/large r true\n");
    assert_eq!(client.line(), "OK 3");
    let before = memory();
    let mut sender = client.0.try_clone().unwrap();
    let sent = thread::spawn(move || {
        let commands = "OPEN data/large r true\nREAD 3 1048576\n".repeat(1000);
        let mut sent = 0;
        sender
            .set_write_timeout(Some(std::time::Duration::from_secs(2)))
            .unwrap();
        while sender.write_all(commands.as_bytes()).is_ok() && sent < 10_000 {
            sent += 1;
        }
        sent
    });
    assert!(sent.join().unwrap() < 10_000, "nothing held it back");
    assert!(memory() < before + 64 * 1024, "answers were kept");
    client.0.shutdown(Shutdown::Both).unwrap();
    drop(client);
    world.is_left();
}

/// F-088: what a client wrote before it went stays, and its handles go, whatever it was about to do.
#[test]
fn f083_f088_clients_that_die_anywhere_leave_nothing() {
    let world = World::new();
    let stream = "OPEN out/kept w true\nWRITE 3 4\nkeptREAD 3 5\nWRITE 3 9\nCLOSE 3\nx\n";
    for end in 0..=stream.len() {
        let mut client = world.text();
        client.send(&stream.as_bytes()[..end]);
        drop(client);
    }
    world.is_left();
    let mut client = world.text();
    client.send("OPEN out/kept w true\n");
    let handle = client.line().strip_prefix("OK ").unwrap().to_owned();
    client.check(format!("WRITE {handle} 4\nkept"), "OK 4\n");
    drop(client);
    world.is_left();
    assert_eq!(world.content("out/kept").unwrap(), b"kept");
}

/// F-092: bytes of every kind, at every place, end at worst the connection that sent them.
#[test]
fn f092_garbage_ends_nothing_but_itself() {
    let world = World::new();
    let mut witness = world.text();
    witness.check("OPEN data/notes.txt r true\n", "OK 3\n");
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let pieces: [&[u8]; 12] = [
        b"OPEN ",
        b"READ 3 10\n",
        b"WRITE 3 5\n",
        b"LLM_CHAT true 0 1 2 1 1\n",
        b"CLOSE 3\n",
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff\xfe",
        b" ",
        b"-1",
        b"out/x rw true\n",
    ];
    for _ in 0..200 {
        let mut bytes = b"OPEN".to_vec();
        for _ in 0..40 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes.extend_from_slice(pieces[(seed % 12) as usize]);
        }
        let mut client = world.text();
        // A refused stream is closed while we still send.
        let _ = client.0.write_all(&bytes);
        let _ = client.0.shutdown(Shutdown::Write);
        let mut answers = Vec::new();
        let _ = client.0.read_to_end(&mut answers);
    }
    until("only the witness is left", || {
        world.manager.clients().len() == 1
    });
    witness.check("READ 3 8\n", "OK 8\nremember");
}

/// The resident memory of this process in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What was answered before is not held back while a read waits for somebody to type: that may be what they wait for.
#[test]
fn x29_answers_go_out_before_a_stream_is_waited_for() {
    let world = World::new();
    let (stdin, keyboard) = pipe();
    let options = ClientOptions {
        streams: ParentStreams {
            stdin: Some(stdin.into()),
            ..ParentStreams::default()
        },
        ..ClientOptions::default()
    };
    let mut client = Text(world.connect(options).1);
    client.send("OPEN data/notes.txt r true\nREAD 0 10\nCLOSE 3\n");
    client.expect("OK 3\n");
    File::from(keyboard).write_all(b"now").unwrap();
    client.expect("OK 3\nnowOK\n");
}
