//! Handles 0..2 and the streams of the parent.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _, pipe};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::thread;

use jig_runtime::fsproxy::{ClientEnd, ClientOptions, ParentStream, ParentStreams, ProxyClient};
use serde_json::json;

use crate::fsproxy::support::{Raw, World, encode, frame, on_both, until};

/// The other ends of a client's streams.
struct Ends {
    input: PipeWriter,
    output: PipeReader,
    errors: PipeReader,
}

fn muxed(world: &World) -> (ProxyClient, Raw, Ends) {
    let (stdin, input) = pipe().unwrap();
    let (output, stdout) = pipe().unwrap();
    let (errors, stderr) = pipe().unwrap();
    let stream = |fd: OwnedFd| Some(ParentStream::new(fd));
    let options = ClientOptions {
        streams: ParentStreams {
            stdin: stream(stdin.into()),
            stdout: stream(stdout.into()),
            stderr: stream(stderr.into()),
        },
        ..ClientOptions::default()
    };
    let (client, raw) = world.connect_as(options);
    let ends = Ends {
        input,
        output,
        errors,
    };
    (client, raw, ends)
}

#[test]
fn f010_f011_without_streams_0_to_2_are_refused_and_never_given() {
    on_both(|world| {
        let mut raw = world.raw();
        for handle in 0..3 {
            let refused = [
                raw.read(handle, 10).unwrap_err(),
                raw.write(handle, b"x").unwrap_err(),
                raw.write(handle, b"").unwrap_err(),
                raw.close(handle).unwrap_err(),
            ];
            for (code, message) in refused {
                assert_eq!(code, "E_PERM", "{message}");
                assert!(message.contains(&format!("handle {handle} is reserved")));
            }
        }
        assert_eq!(raw.open("in/a.txt", "r"), Ok(3));
        raw.close(3).unwrap();
        assert_eq!(raw.open("in/a.txt", "r"), Ok(4));
    });
}

#[test]
fn f012_f013_the_parent_reads_and_writes_its_own_streams() {
    on_both(|world| {
        let (_client, mut raw, mut ends) = muxed(&world);
        ends.input.write_all(b"typed").unwrap();
        assert_eq!(raw.read(0, 3), Ok((b"typ".to_vec(), false)));
        assert_eq!(raw.read(0, 100), Ok((b"ed".to_vec(), false)));
        assert_eq!(raw.write(1, b"said"), Ok(4));
        assert_eq!(raw.write(2, b"lamented"), Ok(8));
        let mut said = [0; 4];
        ends.output.read_exact(&mut said).unwrap();
        let mut lamented = [0; 8];
        ends.errors.read_exact(&mut lamented).unwrap();
        assert_eq!((&said, &lamented), (b"said", b"lamented"));
        // Closing changes nothing.
        for handle in [0, 1, 2, 1] {
            raw.close(handle).unwrap();
        }
        assert_eq!(raw.write(1, b"more"), Ok(4));
        drop(ends.input);
        assert_eq!(raw.read(0, 10), Ok((Vec::new(), true)));
        assert_eq!(raw.read(0, 10), Ok((Vec::new(), true)));
        // The directions are those of the streams.
        assert_eq!(raw.write(0, b"x").unwrap_err().0, "E_PERM");
        assert_eq!(raw.read(1, 1).unwrap_err().0, "E_PERM");
        assert_eq!(raw.read(2, 1).unwrap_err().0, "E_PERM");
        // They are no files.
        assert!(world.manager.files().is_empty());
        drop(ends.output);
        assert_eq!(raw.write(1, b"x").unwrap_err().0, "E_IO");
    });
}

#[test]
fn f012_more_than_a_pipe_holds_arrives() {
    on_both(|world| {
        let (_client, mut raw, mut ends) = muxed(&world);
        let content: Vec<u8> = (0..500_000_u32).map(|n| (n % 253) as u8).collect();
        let reading = thread::spawn(move || {
            let mut all = vec![0; 500_000];
            ends.output.read_exact(&mut all).unwrap();
            all
        });
        assert_eq!(raw.write(1, &content), Ok(500_000));
        assert!(reading.join().unwrap() == content);
    });
}

/// What was answered before is not held back while a read waits for somebody to type.
#[test]
fn x29_answers_go_out_before_a_stream_is_waited_for() {
    on_both(|world| {
        let (_client, mut raw, mut ends) = muxed(&world);
        let requests = [
            json!({ "id": "a", "op": "open", "params": { "path": "in/a.txt", "mode": "r" } }),
            json!({ "id": "b", "op": "read", "params": { "h": 0 } }),
            json!({ "id": "c", "op": "close", "params": { "h": 3 } }),
        ];
        let sent: Vec<u8> = requests.iter().flat_map(frame).collect();
        raw.send_bytes(&sent);
        assert_eq!(raw.receive()["id"], "a");
        ends.input.write_all(b"now").unwrap();
        let read = raw.receive();
        assert_eq!(
            (&read["id"], &read["result"]["data"]),
            (&json!("b"), &json!(encode(b"now")))
        );
        assert_eq!(raw.receive()["id"], "c");
    });
}

/// The attack, or accident, is that a client that was killed while it read swallows what its parent was meant to
/// read.
#[test]
fn f012_nothing_is_taken_from_stdin_for_a_client_that_is_gone() {
    on_both(|world| {
        let (stdin, mut input) = pipe().unwrap();
        let mut ours = stdin.try_clone().unwrap();
        let options = ClientOptions {
            streams: ParentStreams {
                stdin: Some(ParentStream::new(stdin.into())),
                ..ParentStreams::default()
            },
            ..ClientOptions::default()
        };
        let (client, mut raw) = world.connect_as(options);
        raw.open("in/a.txt", "r").unwrap();
        raw.send(&json!({ "id": "r", "op": "read", "params": { "h": 0 } }));
        until("the read has begun", || {
            world.manager.clients()[0].requests == 2
        });
        drop(raw);
        client.wait();
        world.expect_empty();
        input.write_all(b"for the parent").unwrap();
        drop(input);
        let mut left = String::new();
        ours.read_to_string(&mut left).unwrap();
        assert_eq!(left, "for the parent");
    });
}

/// That a client will ask no more is not its end: it may wait for what it has asked for.
#[test]
fn a_half_closed_client_still_gets_what_it_waits_for() {
    on_both(|world| {
        let (client, mut raw, mut ends) = muxed(&world);
        raw.send(&json!({ "id": "r", "op": "read", "params": { "h": 0 } }));
        raw.socket.shutdown(Shutdown::Write).unwrap();
        until("the read has begun", || {
            world.manager.clients()[0].requests == 1
        });
        ends.input.write_all(b"late").unwrap();
        assert_eq!(raw.receive()["result"]["data"], encode(b"late"));
        assert!(raw.is_over());
        assert_eq!(client.wait(), ClientEnd::Eof);
        world.expect_empty();
    });
}

#[test]
fn f087_a_client_that_waits_for_a_stream_can_be_ended() {
    on_both(|world| {
        let (client, mut raw, ends) = muxed(&world);
        raw.send(&json!({ "id": "r", "op": "read", "params": { "h": 0 } }));
        until("the read has begun", || {
            world.manager.clients()[0].requests == 1
        });
        client.end();
        assert!(raw.is_over());
        world.expect_empty();

        // Nobody reads what it writes.
        let (client, mut raw, _output) = muxed(&world);
        let data = encode(&vec![b'x'; 300_000]);
        raw.send(&json!({ "id": "w", "op": "write", "params": { "h": 1, "data": data } }));
        until("the write has begun", || {
            world.manager.clients()[0].requests == 1
        });
        client.end();
        assert!(raw.is_over());
        world.expect_empty();
        drop(ends);
    });
}

#[test]
fn clients_can_share_a_stream_and_each_byte_goes_to_one_of_them() {
    on_both(|world| {
        let (stdin, mut input) = pipe().unwrap();
        let shared = ParentStream::new(stdin.into());
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let options = ClientOptions {
                    streams: ParentStreams {
                        stdin: Some(shared.clone()),
                        ..ParentStreams::default()
                    },
                    ..ClientOptions::default()
                };
                world.connect_as(options)
            })
            .collect();
        let readers: Vec<_> = clients
            .into_iter()
            .map(|(_, mut raw)| thread::spawn(move || raw.read_all(0)))
            .collect();
        let mut content: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
        input.write_all(&content).unwrap();
        drop(input);
        let read = readers.into_iter().map(|reader| reader.join().unwrap());
        let mut read: Vec<u8> = read.flatten().collect();
        read.sort_unstable();
        content.sort_unstable();
        assert!(read == content);
    });
}
