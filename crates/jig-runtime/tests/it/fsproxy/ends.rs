//! How clients end, and that nothing is left of them.

use std::io::{Read as _, Write as _, pipe};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use jig_runtime::fsproxy::{ClientEnd, ClientOptions, ManagerOptions};
use jig_testkit::until_it_rests;
use rustix::net::RecvFlags;
use serde_json::json;

use crate::fsproxy::support::{Backend, LONG, Raw, World, frame, on_both};

#[test]
fn f002_f003_f080_f083_f088_the_end_of_the_stream_closes_all_and_what_was_written_stays() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        let real = raw.open("out/kept.txt", "w").unwrap();
        let virt = raw.open("kept", "a").unwrap();
        raw.open("in/a.txt", "r").unwrap();
        raw.write(real, b"so far").unwrap();
        raw.write(virt, b"so far").unwrap();
        assert_eq!(world.manager.files().len(), 3);
        assert_eq!(client.wait_timeout(Duration::ZERO), None);
        drop(raw);
        assert_eq!(client.wait(), ClientEnd::Eof);
        assert_eq!(client.wait_timeout(Duration::ZERO), Some(ClientEnd::Eof));
        assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
        assert_eq!(world.content("out/kept.txt").unwrap(), b"so far");
        assert_eq!(world.raw().content("kept").unwrap(), b"so far");
    });
}

/// Everything that was sent before the end is done and answered.
#[test]
fn f080_a_half_closed_socket_gets_its_answers_first() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        let handle = raw.open("out/half.txt", "w").unwrap();
        let params = json!({ "h": handle, "data": "YWJj" });
        let write = frame(&json!({ "id": "w", "op": "write", "params": params }));
        raw.send_bytes(&write.repeat(1000));
        raw.socket.shutdown(Shutdown::Write).unwrap();
        for _ in 0..1000 {
            assert_eq!(raw.receive()["result"]["written"], 3);
        }
        assert!(raw.is_over());
        assert_eq!(client.wait(), ClientEnd::Eof);
        world.expect_empty();
        assert_eq!(world.content("out/half.txt").unwrap().len(), 3000);
    });
}

/// A client that closes its reading side only cannot be answered any more, which is its end.
#[test]
fn f082_an_answer_that_cannot_be_sent_ends_the_connection() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        raw.open("in/a.txt", "r").unwrap();
        raw.socket.shutdown(Shutdown::Read).unwrap();
        raw.send(&json!({ "id": "r", "op": "read", "params": { "h": 3 } }));
        assert_eq!(client.wait(), ClientEnd::Gone);
        world.expect_empty();
    });
}

/// A process that ends with answers unread resets the connection; that is no failure.
#[test]
fn f080_an_end_with_unread_answers_is_an_end() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        raw.open("out/x", "w").unwrap();
        raw.send(&json!({ "id": "r", "op": "open", "params": { "path": "a", "mode": "w" } }));
        // It is answered, and the answer stays where it is.
        rustix::net::recv(&raw.socket, &mut [0; 1], RecvFlags::PEEK).unwrap();
        drop(raw);
        assert_eq!(client.wait(), ClientEnd::Eof);
        world.expect_empty();
    });
}

#[test]
fn f087_ending_a_client_closes_its_handles_also_while_somebody_has_the_socket() {
    on_both(|world| {
        let (client, mut raw) = world.connect();
        let (_other, mut bystander) = world.connect();
        let mut grandchild = raw.socket.try_clone().unwrap();
        let handle = raw.open("out/x", "w").unwrap();
        let theirs = bystander.open("in/a.txt", "r").unwrap();
        raw.write(handle, b"data").unwrap();
        drop(raw);
        assert_eq!(client.wait_timeout(Duration::from_millis(20)), None);
        client.end();
        client.end();
        assert_eq!(client.wait(), ClientEnd::Ended);
        let rows = world.manager.files();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].fileno, &*rows[0].client_id), (theirs, "c2"));
        // Whoever still has the socket finds it closed.
        grandchild.set_read_timeout(Some(LONG)).unwrap();
        let write =
            frame(&json!({ "id": "w", "op": "write", "params": { "h": handle, "data": "YQ==" } }));
        let _ = grandchild.write_all(&write);
        assert_eq!(grandchild.read(&mut [0; 10]).unwrap(), 0);
        assert_eq!(bystander.read_all(theirs), b"hello");
        assert_eq!(world.content("out/x").unwrap(), b"data");
    });
}

#[test]
fn f089_without_cleanup_the_tables_keep_what_was_left() {
    let options = ManagerOptions {
        auto_cleanup: false,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    let (client, mut raw) = world.connect();
    raw.open("out/left", "w").unwrap();
    drop(raw);
    assert_eq!(client.wait(), ClientEnd::Eof);
    assert_eq!(world.manager.files()[0].filename, "out/left");
    assert_eq!(world.manager.clients()[0].open_files, [3]);
    world.manager.end();
    assert!(world.manager.files().is_empty() && world.manager.clients().is_empty());
}

#[test]
fn the_end_of_the_manager_is_that_of_all_clients() {
    on_both(|world| {
        let mut clients: Vec<_> = (0..5).map(|_| world.connect()).collect();
        for (_, raw) in &mut clients {
            raw.open("scratch", "rw").unwrap();
        }
        let second = world.manager.clone();
        second.end();
        for (client, mut raw) in clients {
            assert_eq!(client.wait(), ClientEnd::Ended);
            assert!(raw.is_over());
        }
        assert!(second.files().is_empty() && second.clients().is_empty());
        assert!(second.connect(ClientOptions::default()).is_err());

        // Dropping the last one does the same.
        let world = World::new(world.backend, ManagerOptions::default());
        let (client, mut raw) = world.connect();
        raw.open("scratch", "w").unwrap();
        drop(world);
        assert!(raw.is_over());
        assert_eq!(client.wait(), ClientEnd::Ended);
    });
}

/// The end of the stream, `Client::end` from two sides and the manager's end race while the client opens files:
/// whoever wins, everything is closed once and counted back once.
#[test]
fn f083_f087_cleanup_happens_once_whoever_comes_first() {
    let options = ManagerOptions {
        // Few seats: one that is not given back, or given back twice, shows.
        tree_handles: 40,
        ..ManagerOptions::default()
    };
    let world = World::new(Backend::Memory, options);
    // Kept, so that what belongs to one that has ended would show.
    let mut ended = Vec::new();
    for round in 0..300 {
        let (client, mut raw) = world.connect();
        raw.open("out/race", "rw").unwrap();
        for number in 0..20 {
            let path = format!("v{number}");
            raw.send(&json!({ "id": "o", "op": "open", "params": { "path": path, "mode": "w" } }));
        }
        let start = Arc::new(Barrier::new(3));
        let ends: Vec<_> = (0..2)
            .map(|_| {
                let (client, start) = (client.clone(), Arc::clone(&start));
                thread::spawn(move || {
                    start.wait();
                    client.end();
                })
            })
            .collect();
        start.wait();
        if round % 2 == 0 {
            drop(raw);
        }
        for end in ends {
            end.join().unwrap();
        }
        let end = client.wait();
        assert!(round % 2 == 0 || end == ClientEnd::Ended, "{end:?}");
        assert!(world.manager.clients().is_empty() && world.manager.files().is_empty());
        ended.push(client);
    }
    // All seats are there, and no more. The last thread of a round may still be about to let go of its file.
    let mut raw = world.raw();
    raw.put("out/seats", "w", b"");
    let start = Instant::now();
    let mut open = 0;
    while open < 40 {
        match raw.open("out/seats", "r") {
            Ok(_) => open += 1,
            Err((code, message)) => {
                assert_eq!(code, "E_RANGE", "{message}");
                assert!(start.elapsed() < LONG, "{open} seats of 40");
            }
        }
    }
    assert_eq!(raw.open_code("out/seats", "r"), "E_RANGE");
}

#[test]
fn x28_a_pair_of_pipes_serves_as_well() {
    on_both(|world| {
        let (requests, mut to) = pipe().unwrap();
        let (mut from, answers) = pipe().unwrap();
        let options = ClientOptions::default();
        let client = world
            .manager
            .serve(requests.into(), answers.into(), options)
            .unwrap();
        let mut ask = |op: &str, params: serde_json::Value| {
            to.write_all(&frame(&json!({ "id": "1", "op": op, "params": params })))
                .unwrap();
            let mut length = [0; 4];
            from.read_exact(&mut length).unwrap();
            let mut text = vec![0; u32::from_be_bytes(length) as usize];
            from.read_exact(&mut text).unwrap();
            serde_json::from_slice::<serde_json::Value>(&text).unwrap()
        };
        let opened = ask("open", json!({ "path": "in/a.txt", "mode": "r" }));
        assert_eq!(opened["result"]["handle"], 3);
        assert_eq!(ask("read", json!({ "h": 3 }))["result"]["data"], "aGVsbG8=");
        let rows = world.manager.clients();
        let pipes: Vec<&str> = rows[0].pipe_id.split(',').collect();
        assert!(
            pipes.len() == 2 && pipes[0].starts_with("pipe:["),
            "{pipes:?}"
        );
        drop(to);
        assert_eq!(client.wait(), ClientEnd::Eof);
        world.expect_empty();
        assert_eq!(from.read(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn x28_the_same_socket_twice_serves_as_well() {
    on_both(|world| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let input = ours.try_clone().unwrap();
        let options = ClientOptions::default();
        let client = world
            .manager
            .serve(input.into(), ours.into(), options)
            .unwrap();
        let mut raw = Raw::new(theirs.into());
        assert_eq!(raw.content("in/a.txt").unwrap(), b"hello");
        assert!(world.manager.clients()[0].pipe_id.starts_with("socket:["));
        client.end();
        assert!(raw.is_over());
        world.expect_empty();
    });
}

/// Whoever started us may have made the descriptors non-blocking. That is no reason to spin or to fail.
#[test]
fn x28_descriptors_that_do_not_block_serve_as_well() {
    on_both(|world| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let input = ours.try_clone().unwrap();
        let options = ClientOptions::default();
        let client = world
            .manager
            .serve(input.into(), ours.into(), options)
            .unwrap();
        let mut raw = Raw::new(theirs.into());
        let handle = raw.open("in/a.txt", "r").unwrap();
        let read =
            frame(&json!({ "id": "x".repeat(1000), "op": "read", "params": { "h": handle } }));
        let mut writer = raw.socket.try_clone().unwrap();
        let sending = thread::spawn(move || writer.write_all(&read.repeat(1000)).unwrap());
        for _ in 0..1000 {
            assert_eq!(raw.receive()["ok"], true);
        }
        sending.join().unwrap();
        client.end();
        assert!(raw.is_over());
        world.expect_empty();
    });
}

/// Pipes cannot be shut down, and still nothing keeps a client from being ended.
#[test]
fn x28_f087_a_client_on_pipes_can_be_ended() {
    on_both(|world| {
        // One that says nothing.
        let (requests, to) = pipe().unwrap();
        let (mut from, answers) = pipe().unwrap();
        let options = ClientOptions::default();
        let client = world
            .manager
            .serve(requests.into(), answers.into(), options)
            .unwrap();
        client.end();
        assert_eq!(from.read(&mut [0]).unwrap(), 0);
        drop(to);

        // One that asks and does not read.
        let (requests, mut to) = pipe().unwrap();
        let (mut from, answers) = pipe().unwrap();
        let options = ClientOptions::default();
        let client = world
            .manager
            .serve(requests.into(), answers.into(), options)
            .unwrap();
        let asking = thread::spawn(move || {
            let read = frame(&json!({ "id": "x".repeat(500), "op": "nothing" }));
            while to.write_all(&read).is_ok() {}
        });
        until_it_rests("the pipe is full", 100, || {
            world.manager.clients()[0].requests
        });
        client.end();
        asking.join().unwrap();
        let mut rest = Vec::new();
        from.read_to_end(&mut rest).unwrap();
        world.expect_empty();
    });
}

/// Whoever keeps a `Client` to ask how it ended keeps no descriptor by that.
#[test]
fn a_client_that_has_ended_holds_no_streams() {
    on_both(|world| {
        let (mut output, stdout) = pipe().unwrap();
        let options = ClientOptions {
            streams: jig_runtime::fsproxy::ParentStreams {
                stdout: Some(std::os::fd::OwnedFd::from(stdout).into()),
                ..Default::default()
            },
            ..ClientOptions::default()
        };
        let (client, mut raw) = world.connect_as(options);
        raw.write(1, b"last words").unwrap();
        drop(raw);
        client.wait();
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        assert_eq!(said, "last words");
        drop(client);
    });
}
