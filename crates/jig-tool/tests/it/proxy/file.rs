//! Files that existing code can use.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread;

use jig_tool::proxy::{OpenMode, ProxyErrorCode};
use serde_json::{Value, json};

use crate::proxy::parent::{Memory, Peer, in_time};

#[test]
fn what_is_written_is_read_at_every_size_and_depth() {
    let (client, server) = Memory::start();
    in_time(move || {
        for depth in [0, 1, 2, 3, 32, usize::MAX] {
            for size in [0, 1, 4095, 4096, 4097, 32 * 1024, 32 * 1024 + 1, 300_001] {
                let content: Vec<u8> = (0..size).map(|at| (at * 7 + size) as u8).collect();
                let mut file = client.open("f", OpenMode::Write).unwrap().pipelined(depth);
                file.write_all(&content).unwrap();
                file.flush().unwrap();
                file.close().unwrap();
                let mut file = client.open("f", OpenMode::Read).unwrap().pipelined(depth);
                let mut read = Vec::new();
                file.read_to_end(&mut read).unwrap();
                assert!(read == content, "{size} bytes at depth {depth}");
                // The end stays the end.
                assert_eq!(file.read(&mut [0; 10]).unwrap(), 0);
            }
        }
    });
    assert_eq!(server.join().unwrap().open(), [""; 0]);
}

#[test]
fn ordinary_code_reads_and_writes() {
    let (client, server) = Memory::start();
    let mut file = client.open("notes", OpenMode::Write).unwrap();
    writeln!(file, "first").unwrap();
    writeln!(file, "second: é").unwrap();
    drop(file);
    let mut file = client.open("notes", OpenMode::Append).unwrap();
    writeln!(file, "third").unwrap();
    drop(file);
    let file = client.open("notes", OpenMode::Read).unwrap().pipelined(4);
    let lines: Vec<_> = BufReader::new(file).lines().map(Result::unwrap).collect();
    assert_eq!(lines, ["first", "second: é", "third"]);
    let mut text = String::new();
    let mut file = client.open("notes", OpenMode::Read).unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "first\nsecond: é\nthird\n");
    assert_eq!(
        client.read("missing").unwrap_err().code(),
        Some(ProxyErrorCode::NoEnt)
    );
    drop((file, client));
    assert_eq!(server.join().unwrap().open(), [""; 0]);
}

/// A small buffer gets what it asks for, and nothing is lost between two reads.
#[test]
fn pieces_are_taken_as_the_reader_wants_them() {
    let (client, server) = Memory::start();
    in_time(move || {
        let content: Vec<u8> = (0..20_000_u32).map(|at| at as u8).collect();
        client.write("f", &content).unwrap();
        for depth in [1, 8] {
            let mut file = client.open("f", OpenMode::Read).unwrap().pipelined(depth);
            let mut read = Vec::new();
            for size in [1, 0, 3, 4096, 5000, 100, 4096].into_iter().cycle() {
                let mut buffer = vec![0; size];
                let count = file.read(&mut buffer).unwrap();
                read.extend_from_slice(&buffer[..count]);
                if count == 0 && size > 0 {
                    break;
                }
            }
            assert!(read == content, "depth {depth}");
        }
    });
    server.join().unwrap();
}

/// A file that is read and written has one position: reading ahead would move it.
#[test]
fn a_file_for_both_is_not_read_ahead() {
    let (client, server) = Memory::start();
    client.write("f", b"0123456789").unwrap();
    let mut file = client.open("f", OpenMode::ReadWrite).unwrap().pipelined(8);
    let mut two = [0; 2];
    file.read_exact(&mut two).unwrap();
    file.write_all(b"AB").unwrap();
    file.read_exact(&mut two).unwrap();
    assert_eq!(&two, b"45");
    file.close().unwrap();
    assert_eq!(client.read("f").unwrap(), b"01AB456789");
    drop(client);
    server.join().unwrap();
}

/// Whoever polls a file that has ended asks once each time, not as often as the depth.
#[test]
fn nothing_is_read_ahead_of_the_end() {
    let (client, server) = Memory::start();
    client.write("f", b"short").unwrap();
    let mut file = client.open("f", OpenMode::Read).unwrap().pipelined(8);
    let mut all = Vec::new();
    file.read_to_end(&mut all).unwrap();
    for _ in 0..5 {
        assert_eq!(file.read(&mut [0; 10]).unwrap(), 0);
    }
    // What is added later is found.
    let mut more = client.open("f", OpenMode::Append).unwrap();
    more.write_all(b" more").unwrap();
    file.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"short more");
    drop((file, more, client));
    let memory = server.join().unwrap();
    // Eight ahead, of which seven were at the end already, and then one by one.
    assert!(
        memory.logged("read").len() <= 16,
        "{}",
        memory.logged("read").len()
    );
}

#[test]
fn a_failed_write_is_reported_once_and_later() {
    let start = |failing: usize| {
        let (mut peer, client) = Peer::with_client();
        let parent = thread::spawn(move || {
            let mut writes = 0;
            while let Some(frame) = peer.next() {
                let id = frame["id"].as_str().unwrap().to_owned();
                match frame["op"].as_str().unwrap() {
                    "open" => peer.reply(&id, json!({"handle": 3})),
                    "write" => {
                        writes += 1;
                        if writes == failing {
                            peer.refuse(&id, "E_IO", "the disk is full");
                        } else {
                            peer.reply(&id, json!({"written": 1}));
                        }
                    }
                    _ => peer.send(&json!({"id": id, "ok": true})),
                }
            }
        });
        let file = client.open("f", OpenMode::Write).unwrap().pipelined(4);
        (file, parent)
    };
    let is_full = |error: &io::Error| error.to_string().contains("the disk is full");

    // At a later write.
    let (mut file, parent) = start(1);
    let error = (0..5).find_map(|_| file.write(b"x").err()).unwrap();
    assert!(is_full(&error), "{error}");
    file.write_all(b"x").unwrap();
    file.close().unwrap();
    parent.join().unwrap();

    // At a flush, and not again at the close.
    let (mut file, parent) = start(2);
    file.write_all(b"x").unwrap();
    file.write_all(b"x").unwrap();
    assert!(is_full(&file.flush().unwrap_err()));
    file.close().unwrap();
    parent.join().unwrap();

    // At the close.
    let (mut file, parent) = start(1);
    file.write_all(b"x").unwrap();
    assert_eq!(file.close().unwrap_err().code(), Some(ProxyErrorCode::Io));
    parent.join().unwrap();
}

/// Dropping a file tells the parent, and does not wait for it to answer.
#[test]
fn a_dropped_file_is_closed_without_waiting() {
    let (mut peer, client) = Peer::with_client();
    let opened = thread::spawn(move || client.open("f", OpenMode::Read).unwrap());
    let (id, _) = peer.request();
    peer.reply(&id, json!({"handle": 12}));
    let file = opened.join().unwrap();
    in_time(move || drop(file));
    assert_eq!(
        peer.request().1,
        json!({"op": "close", "params": {"h": 12}})
    );
    assert_eq!(peer.next(), None);
}

/// What was written behind is waited for: its writer was told that it is written.
#[test]
fn a_dropped_file_leaves_nothing_unwritten() {
    let (client, server) = Memory::start();
    let mut file = client.open("f", OpenMode::Write).unwrap().pipelined(64);
    for _ in 0..64 {
        file.write_all(&[1; 1000]).unwrap();
    }
    drop((file, client));
    let memory = server.join().unwrap();
    assert_eq!(memory.logged("write").len(), 64);
    assert_eq!(memory.open(), [""; 0]);
}

#[test]
fn the_standard_streams_are_handles_that_stay_open() {
    let (mut peer, client) = Peer::with_client();
    let parent = thread::spawn(move || {
        let read = json!({"op": "read", "params": {"h": 0, "max": 10}});
        peer.answer(read, json!({"data": "aGk=", "eof": false}));
        for handle in [1, 2] {
            let write = json!({"op": "write",
                "params": {"h": handle, "data": "aGVsbG8=", "final": false}});
            peer.answer(write, json!({"written": 5}));
        }
        let (id, request) = peer.request();
        assert_eq!(request["op"], "read");
        peer.refuse(&id, "E_PERM", "handle 0 is reserved");
        assert_eq!(peer.next(), None);
    });
    assert_eq!(client.stdin().read(&mut [0; 10]).unwrap(), 2);
    client.stdout().write_all(b"hello").unwrap();
    client.stderr().write_all(b"hello").unwrap();
    let error = client.stdin().read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    client.stdout().close().unwrap();
    drop(client);
    parent.join().unwrap();
}

/// To a reader nothing means the end, so a parent must not say it of anything else.
#[test]
fn answers_that_mislead_a_reader_are_errors() {
    let check = |result: Value| {
        let (mut peer, client) = Peer::with_client();
        let parent = thread::spawn(move || {
            let (id, _) = peer.request();
            peer.reply(&id, json!({"handle": 3}));
            let (id, _) = peer.request();
            peer.reply(&id, result);
            peer
        });
        let mut file = client.open("f", OpenMode::Read).unwrap();
        let error = file.read(&mut [0; 4]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        parent.join().unwrap();
    };
    check(json!({"data": "", "eof": false}));
    check(json!({"data": "aGVsbG8=", "eof": false}));
    check(json!({"data": "!", "eof": false}));
}
