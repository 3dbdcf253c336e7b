//! Clients that mean harm.

use std::io::{ErrorKind, Read as _, Write as _};
use std::thread;

use jig_runtime::fsproxy::{ClientEnd, ClientOptions, ManagerOptions};
use jig_testkit::until_it_rests;
use serde_json::json;

use crate::fsproxy::support::{Backend, World, encode, frame, frame_of, on_both, until};

#[test]
fn x30_a_handle_of_another_client_is_closed_for_everybody_else() {
    on_both(|world| {
        let (mut owner, mut thief) = (world.raw(), world.raw());
        let handle = owner.open("out/mine", "rw").unwrap();
        owner.write(handle, b"private").unwrap();
        for number in 0..200 {
            let expected = if number < 3 { "E_PERM" } else { "E_CLOSED" };
            assert_eq!(thief.read(number, 10).unwrap_err().0, expected, "{number}");
            assert_eq!(thief.write(number, b"x").unwrap_err().0, expected);
            assert_eq!(thief.close(number).unwrap_err().0, expected);
        }
        assert_eq!(owner.write(handle, b"!"), Ok(1));
        assert_eq!(world.content("out/mine").unwrap(), b"private!");
        // The one of a client that is gone belongs to nobody.
        drop(owner);
        until("it is gone", || world.manager.clients().len() == 1);
        assert_eq!(thief.read(handle, 10).unwrap_err().0, "E_CLOSED");
    });
}

#[test]
fn x33_bad_json_in_a_whole_frame_is_answered_and_the_connection_goes_on() {
    on_both(|world| {
        let mut raw = world.raw();
        let deep = "[".repeat(100_000);
        let garbage: [&[u8]; 9] = [
            b"",
            b"{",
            b"null",
            b"[1,2]",
            b"\xff\xfe\x00",
            b"{\"id\":\"1\",\"id\":\"2\",\"op\":\"QUOTA\"}",
            b"{\"id\":\"1\xc3\",\"op\":\"QUOTA\"}",
            b"OPEN a r true\n",
            deep.as_bytes(),
        ];
        for bytes in garbage {
            raw.send_bytes(&frame_of(bytes));
            let answer = raw.receive();
            assert_eq!(answer["id"], "?", "{answer}");
            let code = answer["error"]["code"].as_str().unwrap();
            assert!(matches!(code, "E_ARG" | "E_RANGE"), "{answer}");
        }
        assert_eq!(raw.content("in/a.txt").unwrap(), b"hello");
    });
}

#[test]
fn x35_a_frame_above_the_limit_is_answered_and_ends_the_connection() {
    on_both(|world| {
        for length in [(1 << 20) + 1, 0x1fff_ffff_u32] {
            let (client, mut raw) = world.connect();
            raw.open("out/x", "w").unwrap();
            raw.send_bytes(&length.to_be_bytes());
            let answer = raw.receive();
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!("?"), &json!("E_RANGE"))
            );
            assert!(raw.is_over());
            assert!(matches!(client.wait(), ClientEnd::Broken(_)));
            world.expect_empty();
        }
        // The limit itself is fine.
        let mut raw = world.raw();
        let message = json!({ "id": "1", "op": "x" }).to_string();
        let padded = format!("{message}{}", " ".repeat((1 << 20) - message.len()));
        raw.send_bytes(&frame_of(padded.as_bytes()));
        assert_eq!(raw.receive()["error"]["code"], "E_UNSUPPORTED");
    });
    let options = ManagerOptions {
        max_frame: 100,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let mut raw = world.raw();
    raw.send_bytes(&101_u32.to_be_bytes());
    assert_eq!(raw.receive()["error"]["code"], "E_RANGE");
    assert!(raw.is_over());
}

#[test]
fn x27_other_protocols_are_told_apart_by_their_first_byte() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        raw.send_bytes(b"{\"id\":\"1\",\"op\":\"open\"}\n");
        let mut answer = String::new();
        raw.socket.read_to_string(&mut answer).unwrap();
        assert_eq!(answer.lines().count(), 1);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["id"], &answer["ok"]), (&json!("?"), &json!(false)));
        assert_eq!(answer["error"]["code"], "E_ARG");
        assert!(matches!(client.wait(), ClientEnd::Broken(_)));

        for first in [b' ', b'a', b'[', b'"', b'\x7f', b'\xff', b'0'] {
            let (client, mut raw) = world.connect();
            raw.send_bytes(&[first, 0, 0, 10]);
            assert!(raw.is_over());
            assert!(matches!(client.wait(), ClientEnd::Broken(_)), "{first}");
        }
        world.expect_empty();
    });
}

#[test]
fn x27_the_text_protocol_can_be_switched_off() {
    let options = ManagerOptions {
        legacy: false,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let (client, mut raw) = world.connect();
    raw.send_bytes(b"OPEN in/a.txt r true\n");
    assert!(raw.is_over());
    assert!(matches!(client.wait(), ClientEnd::Broken(_)));
}

#[test]
fn f092_a_stream_of_garbage_harms_nobody() {
    on_both(|world| {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let mut bystander = world.raw();
        for _ in 0..200 {
            let (client, raw) = world.connect();
            let mut bytes: Vec<u8> = (0..random() % 2000).map(|_| random() as u8).collect();
            if random().is_multiple_of(2) {
                // One that gets past the first look.
                bytes.splice(0..0, [0, 0, (random() % 4) as u8, random() as u8]);
            }
            let mut socket = raw.socket.try_clone().unwrap();
            let _ = socket.write_all(&bytes);
            drop((raw, socket));
            client.wait();
        }
        assert_eq!(bystander.content("in/a.txt").unwrap(), b"hello");
        assert_eq!(world.manager.clients().len(), 1);
    });
}

#[test]
fn f083_a_frame_that_never_ends_is_waited_for_and_holds_up_nobody() {
    on_both(|world| {
        let slow: Vec<_> = (0..50).map(|_| world.connect()).collect();
        for (_, raw) in &slow {
            let mut socket = raw.socket.try_clone().unwrap();
            socket.write_all(&[0, 0, 1]).unwrap();
        }
        for (_, raw) in slow.iter().take(25) {
            let mut socket = raw.socket.try_clone().unwrap();
            socket.write_all(&[0, b'{', b'"']).unwrap();
        }
        let mut bystander = world.raw();
        assert_eq!(bystander.content("in/a.txt").unwrap(), b"hello");
        for (number, (client, raw)) in slow.into_iter().enumerate() {
            if number % 2 == 0 {
                client.end();
            } else {
                drop(raw);
                assert!(matches!(client.wait(), ClientEnd::Broken(_)));
            }
        }
        drop(bystander);
        world.expect_empty();
    });
}

/// A client that asks and never reads is waited for, and what we keep for it is less than a socket holds.
#[test]
fn f082_a_flood_without_reading_makes_nothing_grow() {
    on_both(|world| {
        world.put("in/large", &vec![b'x'; 16 << 20]);
        let (client, mut raw) = world.connect();
        let handle = raw.open("in/large", "r").unwrap();
        let request = json!({ "id": "r", "op": "read", "params": { "h": handle } });
        raw.send(&request);
        let answer = raw.receive_text().len() + 4;
        let mut flood = raw.socket.try_clone().unwrap();
        let flooding = thread::spawn(move || {
            let requests = frame(&request).repeat(100);
            let mut sent = 0_u64;
            while flood.write_all(&requests).is_ok() {
                sent += requests.len() as u64;
            }
            sent
        });
        let requests = || world.manager.clients()[0].requests;
        let served = until_it_rests("nobody gets on any more", 2, requests);
        let served = usize::try_from(served).unwrap() - 2;
        assert_eq!(world.raw().content("in/a.txt").unwrap(), b"hello");
        client.end();
        assert!(flooding.join().unwrap() < 10 << 20);
        // What did not get into the socket was with us.
        let mut came = Vec::new();
        // At the end there is a reset: what it asked and we did not read is lost.
        if let Err(error) = raw.socket.read_to_end(&mut came) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        let kept = served * answer - came.len();
        assert!(kept <= 64 * 1024 + answer, "{kept} of {served} answers");
        world.expect_empty();
    });
}

#[test]
fn handles_are_limited_for_a_client_and_for_all() {
    let options = ManagerOptions {
        client_handles: 10,
        tree_handles: 15,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let (mut one, mut two) = (world.raw(), world.raw());
    let check = |raw: &mut crate::fsproxy::support::Raw, count: usize, limit: &str| {
        for _ in 0..count {
            raw.open("in/a.txt", "r").unwrap();
        }
        let (code, message) = raw.open("in/a.txt", "r").unwrap_err();
        assert_eq!(code, "E_RANGE");
        assert!(message.contains(limit), "{message}");
    };
    check(
        &mut one,
        10,
        "10 handles are open, the most that a client can have",
    );
    check(
        &mut two,
        5,
        "15 handles are open, the most that all clients can have",
    );
    // A refused open takes nothing.
    one.close(3).unwrap();
    for _ in 0..20 {
        assert_eq!(two.open_code("in/none", "r"), "E_NOENT");
    }
    assert!(two.open("in/a.txt", "r").is_ok());
    drop(one);
    until("it is gone", || world.manager.clients().len() == 1);
    assert!(two.open("in/a.txt", "r").is_ok());
}

/// A flood of opens meets the limit, and the end of the client gives everything back.
#[test]
fn a_flood_of_opens_meets_the_limit() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        let request =
            json!({ "id": "o", "op": "open", "params": { "path": "in/a.txt", "mode": "r" } });
        let flood = frame(&request).repeat(1500);
        let mut writer = raw.socket.try_clone().unwrap();
        let sending = thread::spawn(move || writer.write_all(&flood).unwrap());
        let answers: Vec<_> = (0..1500).map(|_| raw.receive()).collect();
        sending.join().unwrap();
        let opened = answers.iter().filter(|answer| answer["ok"] == true);
        assert_eq!(opened.count(), 1024);
        assert_eq!(answers[1024]["error"]["code"], "E_RANGE");
        assert_eq!(world.manager.files().len(), 1024);
        drop(raw);
        client.wait();
        world.expect_empty();
    });
}

#[test]
fn clients_are_limited() {
    let options = ManagerOptions {
        clients: 3,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let mut clients: Vec<_> = (0..3).map(|_| world.connect()).collect();
    assert!(world.manager.connect(ClientOptions::default()).is_err());
    clients.pop();
    until("one is gone", || world.manager.clients().len() == 2);
    assert!(world.manager.connect(ClientOptions::default()).is_ok());
}

#[test]
fn x25_virtual_content_is_limited_and_given_back() {
    let options = ManagerOptions {
        virtual_bytes: 100_000,
        virtual_files: 3,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let mut raw = world.raw();
    let handle = raw.open("v1", "rw").unwrap();
    let full = vec![b'x'; 90_000];
    assert_eq!(raw.write(handle, &full), Ok(90_000));
    let other = raw.open("v2", "a").unwrap();
    assert_eq!(raw.write(other, &full[..10_001]).unwrap_err().0, "E_RANGE");
    assert_eq!(raw.write(other, &full[..10_000]), Ok(10_000));
    assert_eq!(raw.write(other, b"x").unwrap_err().0, "E_RANGE");
    // Emptied by another handle: the room is there again. The old offset would make a gap, which counts.
    raw.put("v1", "w", b"");
    assert_eq!(raw.write(other, b"x"), Ok(1));
    assert_eq!(raw.write(handle, b"x").unwrap_err().0, "E_RANGE");
    raw.put("v2", "w", b"");
    assert_eq!(raw.write(handle, b"x"), Ok(1));
    assert_eq!(raw.content("v1").unwrap().len(), 90_001);
    // What real files hold is not the matter here.
    raw.put("out/real", "w", &full);
    // Names are limited, too; those that exist can still be opened.
    assert!(raw.open("v3", "w").is_ok());
    assert_eq!(raw.open_code("v4", "w"), "E_RANGE");
    assert_eq!(raw.open_code("v4", "r"), "E_NOENT");
    assert!(raw.open("v3", "a").is_ok());
}

/// Writes of a whole frame, over and over, in parallel: the limit of all virtual files holds to the byte.
#[test]
fn x25_parallel_writers_stay_below_the_limit_together() {
    let most = 4_000_000;
    let options = ManagerOptions {
        virtual_bytes: most,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let mut raw = world.raw();
            thread::spawn(move || {
                let handle = raw.open(&format!("v{number}"), "a").unwrap();
                let data = vec![b'x'; 30_000];
                let mut written = 0;
                while let Ok(count) = raw.write(handle, &data) {
                    written += count;
                }
                written
            })
        })
        .collect();
    let written: u64 = writers
        .into_iter()
        .map(|writer| writer.join().unwrap())
        .sum();
    assert!(written <= most && written + 30_000 > most, "{written}");
}

#[test]
fn large_messages_are_followed_by_small_ones() {
    on_both(|world| {
        let mut raw = world.raw();
        let handle = raw.open("out/large", "w").unwrap();
        let large = vec![b'y'; 700_000];
        assert!(encode(&large).len() < 1 << 20);
        assert_eq!(raw.write(handle, &large), Ok(700_000));
        assert_eq!(raw.write(handle, b"z"), Ok(1));
        assert_eq!(world.content("out/large").unwrap().len(), 700_001);
    });
}
