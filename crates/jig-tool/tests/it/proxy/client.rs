//! Requests and answers.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier};
use std::thread;

use jig_proto::fsproxy::{Data, LlmCmd, MAX_FRAME, MAX_READ};
use jig_tool::proxy::{
    Client, Error, Op, OpenMode, OpenParams, PendingRequest, ProxyErrorCode, ProxyReply, ReadParams,
};
use serde_json::json;

use crate::proxy::parent::{Memory, Peer, in_time};

#[test]
fn requests_are_as_the_protocol_has_them() {
    let (mut peer, client) = Peer::with_client();
    let parent = thread::spawn(move || {
        let open = json!({"op": "open", "params": {"path": "test.txt", "mode": "rw"}});
        peer.answer(open, json!({"handle": 42}));
        let write = json!({"op": "write", "params": {"h": 42, "data": "aGVsbG8=", "final": false}});
        peer.answer(write, json!({"written": 5}));
        let read = json!({"op": "read", "params": {"h": 42, "max": 4096}});
        peer.answer(read, json!({"data": "aGVsbG8=", "eof": false}));
        let (id, close) = peer.request();
        assert_eq!(close, json!({"op": "close", "params": {"h": 42}}));
        peer.send(&json!({"id": id, "ok": true}));
        let (id, quota) = peer.request();
        assert_eq!(quota, json!({"op": "QUOTA"}));
        peer.refuse(&id, "E_UNSUPPORTED", "LLM not available");
        let (id, llm) = peer.request();
        assert_eq!(llm, json!({"op": "LLMCMD", "params": {"prompt": "hi"}}));
        peer.refuse(&id, "E_PERM", "LLM access denied");
        assert_eq!(peer.next(), None);
    });
    in_time(move || {
        let mut file = client.open("test.txt", OpenMode::ReadWrite).unwrap();
        assert_eq!(file.handle(), 42);
        assert_eq!(file.write(b"hello").unwrap(), 5);
        let mut buffer = [0; 5000];
        assert_eq!(io::Read::read(&mut file, &mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"hello");
        file.close().unwrap();
        let error = client.quota().unwrap_err();
        assert_eq!(error.code(), Some(ProxyErrorCode::Unsupported));
        let command = LlmCmd {
            prompt: Some("hi".to_owned()),
            ..LlmCmd::default()
        };
        let error = client.llm(&command).unwrap_err();
        assert_eq!(error.to_string(), "LLM access denied");
    });
    parent.join().unwrap();
}

/// Code for ordinary files finds the kinds that it looks for.
#[test]
fn each_code_is_a_kind_of_io_error() {
    for (code, kind) in [
        ("E_ARG", io::ErrorKind::InvalidInput),
        ("E_NOENT", io::ErrorKind::NotFound),
        ("E_PERM", io::ErrorKind::PermissionDenied),
        ("E_IO", io::ErrorKind::Other),
        ("E_CLOSED", io::ErrorKind::NotConnected),
        ("E_UNSUPPORTED", io::ErrorKind::Unsupported),
        ("E_RANGE", io::ErrorKind::QuotaExceeded),
        ("E_NEWER", io::ErrorKind::Other),
    ] {
        let (mut peer, client) = Peer::with_client();
        let parent = thread::spawn(move || {
            let (id, _) = peer.request();
            peer.refuse(&id, code, "because");
        });
        let error = client.open("x", OpenMode::Read).unwrap_err();
        assert_eq!(error.to_string(), "because", "{code}");
        let error = io::Error::from(error);
        assert_eq!(error.kind(), kind, "{code}");
        assert!(error.to_string().contains("because"), "{code}: {error}");
        parent.join().unwrap();
    }
}

/// F-006, F-007: answers are told apart by their ids, whatever their order.
#[test]
fn answers_in_another_order_reach_whoever_asked() {
    let (mut peer, client) = Peer::with_client();
    let parent = thread::spawn(move || {
        let asked: Vec<_> = (0..3).map(|_| peer.request()).collect();
        for (id, request) in asked.into_iter().rev() {
            let handle = request["params"]["h"].as_u64().unwrap();
            peer.reply(&id, json!({"written": handle}));
        }
        peer
    });
    let pending: Vec<PendingRequest> = [10, 11, 12]
        .map(|handle| client.begin(&write(handle, b"x")).unwrap())
        .into();
    in_time(move || {
        for (pending, handle) in pending.into_iter().zip([10, 11, 12]) {
            assert_eq!(pending.wait().unwrap(), ProxyReply::Written(handle));
        }
    });
    parent.join().unwrap();
}

#[test]
fn many_threads_share_a_connection() {
    let (client, server) = Memory::start();
    in_time(move || {
        let start = Arc::new(Barrier::new(16));
        let threads: Vec<_> = (0..16_u8)
            .map(|number| {
                let (client, start) = (client.clone(), Arc::clone(&start));
                thread::spawn(move || {
                    start.wait();
                    for round in 0..50_u8 {
                        let path = format!("{number}/{round}");
                        let content = vec![number ^ round; 1 + usize::from(round) * 300];
                        client.write(&path, &content).unwrap();
                        assert_eq!(client.read(&path).unwrap(), content, "{path}");
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let memory = server.join().unwrap();
    assert_eq!(memory.open(), [""; 0]);
}

/// Both sides would wait for each other for ever if a request were written without reading: the parent
/// answers one request before it reads the next.
#[test]
fn any_number_of_requests_can_be_begun_before_the_first_answer_is_taken() {
    let (client, server) = Memory::start();
    in_time(move || {
        let chunk = vec![7; 32 * 1024];
        client.write("big", vec![1; 4 << 20]).unwrap();
        let big = client.open("big", OpenMode::Read).unwrap();
        let out = client.open("out", OpenMode::Write).unwrap();
        let mut pending = Vec::new();
        for _ in 0..700 {
            pending.push(client.begin(&write(out.handle(), &chunk)).unwrap());
            pending.push(client.begin(&read(big.handle())).unwrap());
        }
        for (index, pending) in pending.into_iter().enumerate() {
            match pending.wait().unwrap() {
                ProxyReply::Written(count) if index % 2 == 0 => assert_eq!(count, 32 * 1024),
                ProxyReply::Data { bytes, .. } => assert_eq!(bytes, [1; MAX_READ]),
                other => panic!("{other:?}"),
            }
        }
    });
    server.join().unwrap();
}

/// The same, with a thread that waits for one answer while others only ask.
#[test]
fn whoever_stops_reading_leaves_nobody_stuck() {
    let (client, server) = Memory::start();
    in_time(move || {
        client.write("big", vec![1; 1 << 20]).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let client = client.clone();
                thread::spawn(move || {
                    let big = client.open("big", OpenMode::ReadWrite).unwrap();
                    let chunk = vec![7; 64 * 1024];
                    for _ in 0..30 {
                        let mut asked: Vec<PendingRequest> = Vec::new();
                        for _ in 0..8 {
                            asked.push(client.begin(&read(big.handle())).unwrap());
                            asked.push(client.begin(&write(big.handle(), &chunk)).unwrap());
                        }
                        // Some are waited for, some are given up.
                        asked.truncate(3);
                        for pending in asked {
                            pending.wait().unwrap();
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    server.join().unwrap();
}

/// One request that is larger than what a socket holds, while another thread only reads.
#[test]
fn a_large_request_leaves_while_somebody_waits_for_an_answer() {
    let (mut peer, client) = Peer::with_client();
    let waiting = client.clone();
    let waiter = thread::spawn(move || waiting.quota());
    let (first, _) = peer.request();
    let asker = thread::spawn(move || {
        let command = LlmCmd {
            prompt: Some("x".repeat(MAX_FRAME - 1000)),
            ..LlmCmd::default()
        };
        client.llm(&command)
    });
    // The whole of it arrives although the first request is not answered.
    let (second, _) = in_time(move || {
        let asked = peer.request();
        peer.refuse(&first, "E_PERM", "one");
        peer.refuse(&asked.0, "E_PERM", "two");
        (asked.0, peer)
    });
    assert!(!second.is_empty());
    assert_eq!(waiter.join().unwrap().unwrap_err().to_string(), "one");
    assert_eq!(asker.join().unwrap().unwrap_err().to_string(), "two");
}

/// A request that the parent would end the connection for is not sent.
#[test]
fn a_request_that_is_too_large_is_refused_here() {
    let (client, server) = Memory::start();
    let command = LlmCmd {
        prompt: Some("x".repeat(MAX_FRAME)),
        ..LlmCmd::default()
    };
    let error = client.llm(&command).unwrap_err();
    assert_eq!(error.code(), Some(ProxyErrorCode::Range));
    client.write("after", b"it goes on").unwrap();
    drop(client);
    assert_eq!(server.join().unwrap().logged("LLMCMD").len(), 0);
}

#[test]
fn whoever_waits_learns_that_the_connection_ended() {
    let (mut peer, client) = Peer::with_client();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            thread::spawn(move || client.quota())
        })
        .collect();
    let asked: Vec<_> = (0..8).map(|_| peer.request()).collect();
    // What was answered before is delivered.
    peer.refuse(&asked[0].0, "E_PERM", "no");
    drop(peer);
    let results: Vec<_> = in_time(move || {
        let results = threads.into_iter().map(|thread| thread.join().unwrap());
        results.collect()
    });
    let is_proxy = |result: &&Result<_, Error>| matches!(result, Err(Error::Proxy(_)));
    assert_eq!(results.iter().filter(is_proxy).count(), 1);
    let is_lost = |result: &&Result<_, Error>| matches!(result, Err(Error::Connection(_)));
    assert_eq!(results.iter().filter(is_lost).count(), 7);
    // And from then on there is no waiting at all.
    let error = client.open("x", OpenMode::Read).unwrap_err();
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
}

#[test]
fn what_is_not_the_protocol_ends_the_connection() {
    let check = |frame: &[u8]| {
        let (mut peer, client) = Peer::with_client();
        let frame = frame.to_vec();
        let parent = thread::spawn(move || {
            peer.request();
            peer.socket.write_all(&frame).unwrap();
            // Our side ends it, whatever the parent does.
            assert_eq!(peer.next(), None);
        });
        let error = in_time(move || client.quota().unwrap_err());
        let Error::Connection(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        parent.join().unwrap();
    };
    check(b"\x00\x00\x00\x02{}");
    check(b"\xff\xff\xff\xff");
    check(b"\x00\x00\x00\x03abc");
    check(b"HTTP/1.1 200 OK\r\n\r\n");
    let frame = |json: &str| {
        let mut frame = u32::try_from(json.len()).unwrap().to_be_bytes().to_vec();
        frame.extend_from_slice(json.as_bytes());
        frame
    };
    check(&frame(r#"{"id":"77","ok":true,"result":{}}"#));
    let unasked = format!("{:x}.77", std::process::id());
    check(&frame(&format!(r#"{{"id":"{unasked}","ok":true}}"#)));
    check(&frame(r#"{"id":"?","ok":true,"result":{}}"#));
    check(&frame(r#"{"id":"1","ok":false}"#));
}

/// A connection that is inherited may have been used before, by a process that did not wait for its last
/// answers. They are not taken for ours.
#[test]
fn answers_to_an_earlier_process_are_passed_over() {
    let (mut peer, client) = Peer::with_client();
    let asker = thread::spawn(move || client.open("x", OpenMode::Read));
    let (id, _) = peer.request();
    let (process, number) = id.split_once('.').unwrap();
    let other = u32::from_str_radix(process, 16).unwrap() ^ 1;
    peer.reply(&format!("{other:x}.{number}"), json!({"handle": 66}));
    peer.reply(&id, json!({"handle": 3}));
    assert_eq!(asker.join().unwrap().unwrap().handle(), 3);
}

/// A result of the wrong form is an error of that request, and the connection goes on.
#[test]
fn a_result_of_another_form_is_an_error() {
    let (mut peer, client) = Peer::with_client();
    let parent = thread::spawn(move || {
        for result in [
            json!({}),
            json!({"handle": -1}),
            json!({"data": "", "eof": true}),
        ] {
            let (id, _) = peer.request();
            peer.reply(&id, result);
        }
        let (id, _) = peer.request();
        peer.reply(&id, json!({"handle": 3}));
        peer
    });
    for _ in 0..3 {
        let error = client.open("x", OpenMode::Read).unwrap_err();
        assert!(matches!(error, Error::Connection(_)), "{error:?}");
    }
    assert_eq!(client.open("x", OpenMode::Read).unwrap().handle(), 3);
    parent.join().unwrap();
}

/// Nobody else knows of the handle.
#[test]
fn an_open_that_is_given_up_is_closed() {
    let opening = Op::Open(OpenParams {
        path: "x".into(),
        mode: OpenMode::Read,
        is_top_level: None,
    });
    // Before the answer has come.
    let (mut peer, client) = Peer::with_client();
    drop(client.begin(&opening).unwrap());
    let (id, _) = peer.request();
    peer.reply(&id, json!({"handle": 9}));
    let asker = thread::spawn(move || client.quota());
    let (quota, _) = peer.request();
    peer.refuse(&quota, "E_PERM", "");
    assert!(asker.join().unwrap().is_err());
    assert_eq!(peer.request().1, json!({"op": "close", "params": {"h": 9}}));

    // After it.
    let (mut peer, client) = Peer::with_client();
    let pending = client.begin(&opening).unwrap();
    let (id, _) = peer.request();
    peer.reply(&id, json!({"handle": 9}));
    let later = client.begin(&Op::Quota).unwrap();
    let (quota, _) = peer.request();
    peer.refuse(&quota, "E_PERM", "");
    later.wait().unwrap_err();
    drop(pending);
    assert_eq!(peer.request().1, json!({"op": "close", "params": {"h": 9}}));
}

/// X-28: two pipes instead of a socket.
#[test]
fn a_pair_of_pipes_is_a_connection_too() {
    let (from_parent, mut to_client) = io::pipe().unwrap();
    let (mut from_client, to_parent) = io::pipe().unwrap();
    let client = Client::from_pair(from_parent.into(), to_parent.into()).unwrap();
    // A memory parent behind a socket, and two threads that carry.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (mut up, mut down) = (ours.try_clone().unwrap(), ours);
    let carry_up = thread::spawn(move || {
        carry(&mut from_client, &mut up);
        up.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let carry_down = thread::spawn(move || carry(&mut down, &mut to_client));
    let server = thread::spawn(move || {
        let mut peer = Peer::new(theirs);
        let mut stored = String::new();
        while let Some(frame) = peer.next() {
            let id = frame["id"].as_str().unwrap().to_owned();
            match frame["op"].as_str().unwrap() {
                "open" => peer.reply(&id, json!({"handle": 3})),
                "close" => peer.send(&json!({"id": id, "ok": true})),
                "write" => {
                    stored.push_str(frame["params"]["data"].as_str().unwrap());
                    peer.reply(&id, json!({"written": 32 * 1024}));
                }
                other => panic!("{other}"),
            }
        }
        stored.len()
    });
    in_time(move || {
        client.write("x", vec![5; 32 * 1024 * 40]).unwrap();
        drop(client);
        carry_up.join().unwrap();
        let stored = server.join().unwrap();
        assert_eq!(stored, 40 * (32_usize * 1024).div_ceil(3) * 4);
        carry_down.join().unwrap();
    });
}

#[test]
fn a_socket_that_does_not_block_is_waited_for() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let client = Client::from_socket(theirs.into()).unwrap();
    let mut peer = Peer::new(ours);
    let asker = thread::spawn(move || client.quota());
    let (id, _) = peer.request();
    peer.refuse(&id, "E_PERM", "no");
    assert_eq!(asker.join().unwrap().unwrap_err().to_string(), "no");
}

#[test]
fn only_a_stream_socket_is_a_connection() {
    let (reader, _writer) = io::pipe().unwrap();
    let error = Client::from_socket(OwnedFd::from(reader)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

/// Not `io::copy`, which moves pages where it can and then waits for more of them.
fn carry(from: &mut impl io::Read, to: &mut impl Write) {
    let mut buffer = [0; 1000];
    loop {
        match from.read(&mut buffer).unwrap() {
            0 => return,
            // Nobody reads the last answers.
            count => drop(to.write_all(&buffer[..count])),
        }
    }
}

fn write(handle: u64, bytes: &[u8]) -> Op<'static> {
    Op::Write(jig_proto::fsproxy::WriteParams {
        handle,
        data: Data::encode(bytes),
        last: false,
    })
}

fn read(handle: u64) -> Op<'static> {
    Op::Read(ReadParams {
        handle,
        max: MAX_READ as u64,
    })
}

/// A listing that comes in parts is one list.
#[test]
fn a_listing_is_gathered() {
    let (mut peer, client) = Peer::with_client();
    let parent = thread::spawn(move || {
        let list = json!({"op": "list", "params": {"path": "src"}});
        let file = |name| json!({"name": name, "kind": "file"});
        peer.answer(
            list,
            json!({"entries": [file("a"), file("b")], "more": true}),
        );
        let list = json!({"op": "list", "params": {"path": "src", "after": "b"}});
        let entries = json!([{"name": "c", "kind": "dir"}, {"name": "d", "kind": "newer"}]);
        peer.answer(list, json!({"entries": entries}));
        let (id, _) = peer.request();
        peer.refuse(&id, "E_UNSUPPORTED", "list");
    });
    let entries = client.list("src").unwrap();
    let names: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.is_dir()))
        .collect();
    assert_eq!(
        names,
        [("a", false), ("b", false), ("c", true), ("d", false)]
    );
    assert_eq!(
        client.list("x").unwrap_err().code(),
        Some(ProxyErrorCode::Unsupported)
    );
    parent.join().unwrap();
}
