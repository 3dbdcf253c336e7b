//! What a process in the middle passes on, and what it answers itself.

use std::io::Write;
use std::thread;

use jig_proto::fsproxy::MAX_FRAME;
use jig_tool::proxy::{ChildOptions, ChildStream, Client, OpenMode, Relay};
use serde_json::{Value, json};

use crate::proxy::parent::{Memory, Peer, done, in_time, refused};

/// A relay, its parent that the test plays, and a child that the test plays.
struct Middle {
    parent: Peer,
    relay: Relay,
    child: Peer,
}

impl Middle {
    fn new(options: ChildOptions) -> Self {
        let (parent, client) = Peer::with_client();
        let relay = Relay::new(client).unwrap();
        let (_, child) = relay.attach(options).unwrap();
        let child = Peer::new(child);
        Self {
            parent,
            relay,
            child,
        }
    }

    /// Opens a file for the child, with this handle.
    fn open(&mut self, handle: u64) {
        let params = json!({"path": "f", "mode": "r"});
        self.child
            .send(&json!({"id": "o", "op": "open", "params": params}));
        let (id, _) = self.parent.request();
        self.parent.reply(&id, json!({"handle": handle}));
        assert_eq!(self.child.next().unwrap()["result"]["handle"], handle);
    }
}

#[test]
fn requests_go_up_and_answers_come_down_as_they_are() {
    let mut middle = Middle::new(ChildOptions::default());
    let mut check = |sent: Value, passed_on: Value, answer: Value| {
        middle.child.send(&sent);
        let (id, request) = middle.parent.request();
        assert_eq!(request, passed_on);
        let mut frame = answer.clone();
        frame["id"] = json!(id);
        middle.parent.send(&frame);
        let mut expected = answer;
        expected["id"] = sent["id"].clone();
        assert_eq!(middle.child.next().unwrap(), expected);
    };
    // A child is never top level, whatever it says.
    for claim in [json!(null), json!(true), json!(false)] {
        check(
            json!({"id": "a", "op": "open",
                "params": {"path": "ä/f", "mode": "rw", "is_top_level": claim}}),
            json!({"op": "open", "params": {"path": "ä/f", "mode": "rw", "is_top_level": false}}),
            json!({"ok": true, "result": {"handle": 42}}),
        );
    }
    check(
        json!({"id": "l", "op": "list", "params": {"path": "ä", "after": "a"}}),
        json!({"op": "list", "params": {"path": "ä", "after": "a"}}),
        json!({"ok": true, "result": {"entries": [{"name": "b", "kind": "dir"}], "more": false}}),
    );
    // What is larger than may be read is for the process at the top to judge.
    check(
        json!({"id": "\"x\"", "op": "read", "params": {"h": 42, "max": 8192}}),
        json!({"op": "read", "params": {"h": 42, "max": 8192}}),
        json!({"ok": true, "result": {"data": "aGVsbG8=", "eof": false, "more": [1]}}),
    );
    check(
        json!({"id": "w", "op": "write", "params": {"h": 42, "data": "not base64", "final": true}}),
        json!({"op": "write", "params": {"h": 42, "data": "not base64", "final": true}}),
        refused("E_ARG", "data is not base64"),
    );
    check(
        json!({"id": "c", "op": "close", "params": {"h": 42}}),
        json!({"op": "close", "params": {"h": 42}}),
        json!({"ok": true}),
    );
    let closed = refused("E_CLOSED", "handle 42 is not open");
    assert_eq!(middle.child.ask("close", json!({"h": 42})), closed);
    assert_eq!(middle.relay.files(), []);
}

/// X-30, F-014: none of these reaches the parent, which would take them for the relay's own.
#[test]
fn what_is_not_the_childs_own_is_refused_here() {
    let mut middle = Middle::new(ChildOptions::default());
    middle.open(5);
    let (_, sibling) = middle.relay.attach(ChildOptions::default()).unwrap();
    let mut sibling = Peer::new(sibling);
    let write = |handle: i64| json!({"h": handle, "data": "eA=="});
    for (op, params, expected) in [
        (
            "read",
            json!({"h": 5}),
            refused("E_CLOSED", "handle 5 is not open"),
        ),
        (
            "write",
            write(5),
            refused("E_CLOSED", "handle 5 is not open"),
        ),
        (
            "close",
            json!({"h": 5}),
            refused("E_CLOSED", "handle 5 is not open"),
        ),
        (
            "read",
            json!({"h": 99}),
            refused("E_CLOSED", "handle 99 is not open"),
        ),
        (
            "read",
            json!({"h": 0}),
            refused("E_PERM", "handle 0 is reserved"),
        ),
        ("write", write(1), refused("E_PERM", "handle 1 is reserved")),
        ("write", write(2), refused("E_PERM", "handle 2 is reserved")),
        (
            "close",
            json!({"h": 0}),
            refused("E_PERM", "handle 0 is reserved"),
        ),
        (
            "close",
            json!({"h": 2}),
            refused("E_PERM", "handle 2 is reserved"),
        ),
        (
            "QUOTA",
            json!({}),
            refused("E_PERM", "LLM quota access denied"),
        ),
        (
            "LLMCMD",
            json!({"prompt": "x"}),
            refused("E_PERM", "LLM access denied"),
        ),
        ("stat", json!({}), refused("E_UNSUPPORTED", "stat")),
        (
            "open",
            json!({"mode": "r"}),
            refused("E_ARG", "missing path"),
        ),
    ] {
        assert_eq!(sibling.ask(op, params.clone()), expected, "{op} {params}");
    }
    let negative = sibling.ask("read", json!({"h": -1}));
    assert_eq!(negative["error"]["code"], "E_ARG");
    // The one that has it still has it, and the parent has heard of nothing else.
    middle
        .child
        .send(&json!({"id": "r", "op": "read", "params": {"h": 5}}));
    let expected = json!({"op": "read", "params": {"h": 5, "max": 4096}});
    assert_eq!(middle.parent.request().1, expected);
}

/// X-29: an answer that is ready here waits for an older one from upstream.
#[test]
fn answers_keep_the_order_of_the_requests() {
    let mut middle = Middle::new(ChildOptions::default());
    middle.open(5);
    for number in 0..10 {
        let handle = [5, 0, 9][number % 3];
        let params = json!({"h": handle});
        middle
            .child
            .send(&json!({"id": number.to_string(), "op": "read", "params": params}));
    }
    let asked: Vec<_> = (0..4).map(|_| middle.parent.request().0).collect();
    // Also if the parent answers in another one.
    for id in asked.iter().rev() {
        middle.parent.reply(id, json!({"data": "", "eof": true}));
    }
    for number in 0..10 {
        let answer = middle.child.next().unwrap();
        assert_eq!(answer["id"], number.to_string());
        let expected = [json!(null), json!("E_PERM"), json!("E_CLOSED")];
        assert_eq!(answer["error"]["code"], expected[number % 3], "{number}");
    }
}

#[test]
fn streams_are_what_the_options_say() {
    let options = ChildOptions {
        stdin: ChildStream::Null,
        stdout: ChildStream::Handle(7),
        stderr: ChildStream::Null,
        llm: false,
    };
    let mut middle = Middle::new(options);
    let child = &mut middle.child;
    assert_eq!(
        child.ask("read", json!({"h": 0})),
        done(json!({"data": "", "eof": true}))
    );
    let written = child.ask("write", json!({"h": 2, "data": "aGVsbG8="}));
    assert_eq!(written, done(json!({"written": 5})));
    // F-013: closing is acknowledged and does nothing.
    for handle in [0, 1, 2, 2] {
        assert_eq!(
            child.ask("close", json!({"h": handle})),
            json!({"ok": true})
        );
    }
    for (op, params, code) in [
        ("read", json!({"h": 1}), "E_PERM"),
        ("read", json!({"h": 2}), "E_PERM"),
        ("write", json!({"h": 0, "data": ""}), "E_PERM"),
        ("read", json!({"h": 0, "max": 0}), "E_ARG"),
        ("read", json!({"h": 0, "max": 4097}), "E_RANGE"),
        ("write", json!({"h": 2, "data": "?"}), "E_ARG"),
        // The handle behind the stream is not the child's.
        ("read", json!({"h": 7}), "E_CLOSED"),
    ] {
        assert_eq!(
            child.ask(op, params.clone())["error"]["code"],
            code,
            "{op} {params}"
        );
    }
    // A file of the relay in the place of a stream: its number goes up, never the stream's.
    let write = json!({"h": 1, "data": "aGk=", "final": false});
    child.send(&json!({"id": "w", "op": "write", "params": write}));
    let expected = json!({"op": "write", "params": {"h": 7, "data": "aGk=", "final": false}});
    middle.parent.answer(expected, json!({"written": 2}));
    assert_eq!(middle.child.next().unwrap()["result"]["written"], 2);
}

/// A request that fits into the child's frame may not fit into ours. The parent would end the
/// connection, and with it all other children.
#[test]
fn a_request_that_grows_too_large_harms_nobody_else() {
    let mut middle = Middle::new(ChildOptions::default());
    middle.open(5);
    // Without `final`, and with the shortest id: ours is longer.
    let around = r#"{"id":"","op":"write","params":{"h":5,"data":""}}"#.len();
    let data = "A".repeat(MAX_FRAME - around);
    middle.child.send_bytes(
        format!(r#"{{"id":"","op":"write","params":{{"h":5,"data":"{data}"}}}}"#).as_bytes(),
    );
    let answer = middle.child.next().unwrap();
    assert_eq!(answer["error"]["code"], "E_RANGE", "{answer}");
    middle
        .child
        .send(&json!({"id": "r", "op": "read", "params": {"h": 5}}));
    assert_eq!(middle.parent.request().1["op"], "read");
}

/// X-27, X-33, X-35.
#[test]
fn bytes_that_are_no_requests_are_answered_or_end_the_child() {
    let check = |bytes: &[u8], expected: &[&str]| {
        let mut middle = Middle::new(ChildOptions::default());
        middle.child.socket.write_all(bytes).unwrap();
        for code in expected {
            let answer = middle.child.next().unwrap();
            assert_eq!(answer["error"]["code"], *code, "{answer}");
        }
        // An empty relay: it was not only answered.
        if bytes[0] != 0 {
            assert_eq!(middle.child.next(), None);
        }
    };
    check(
        b"\x00\x00\x00\x03abc\x00\x00\x00\x02{}",
        &["E_ARG", "E_ARG"],
    );
    check(b"\x01\x00\x00\x00xx", &["E_RANGE"]);
    check(b"{\"id\":\"1\"}\n", &["E_ARG"]);
    let mut middle = Middle::new(ChildOptions::default());
    middle.child.socket.write_all(b"OPEN f r true\n").unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut middle.child.socket, &mut text).unwrap();
    assert_eq!(
        text,
        "ERROR only the process at the top speaks this protocol\n"
    );
}

#[test]
fn a_child_that_does_not_read_holds_up_nobody() {
    let (client, server) = Memory::start();
    in_time(move || {
        client.write("big", vec![1; 1 << 20]).unwrap();
        let relay = Relay::new(client).unwrap();
        let (_, deaf) = relay.attach(ChildOptions::default()).unwrap();
        let mut deaf = Peer::new(deaf);
        let opened = deaf.ask("open", json!({"path": "big", "mode": "r"}));
        let handle = opened["result"]["handle"].as_u64().unwrap();
        let flood = deaf.socket.try_clone().unwrap();
        let flooding = thread::spawn(move || {
            let mut flood = Peer::new(flood);
            for _ in 0..2000 {
                let read = json!({"h": handle});
                flood.send(&json!({"id": "x", "op": "read", "params": read}));
            }
        });
        let (_, other) = relay.attach(ChildOptions::default()).unwrap();
        let other = Client::from_socket(other).unwrap();
        for _ in 0..200 {
            other.write("small", b"content").unwrap();
            assert_eq!(other.read("small").unwrap(), b"content");
        }
        // Once it does read, it gets all of its answers.
        for _ in 0..2000 {
            assert_eq!(deaf.next().unwrap()["ok"], true);
        }
        flooding.join().unwrap();
    });
    server.join().unwrap();
}

/// Three levels in one process: a client over a relay over a relay.
#[test]
fn relays_can_be_chained() {
    let (client, server) = Memory::start();
    in_time(move || {
        let upper = Relay::new(client.clone()).unwrap();
        let (_, socket) = upper.attach(ChildOptions::default()).unwrap();
        let lower = Relay::new(Client::from_socket(socket).unwrap()).unwrap();
        let leaves: Vec<_> = (0..4_u8)
            .map(|number| {
                let (_, socket) = lower.attach(ChildOptions::default()).unwrap();
                let leaf = Client::from_socket(socket).unwrap();
                thread::spawn(move || {
                    let path = format!("leaf/{number}");
                    let content = vec![number; 200_000];
                    let mut file = leaf.open(&path, OpenMode::Write).unwrap().pipelined(32);
                    file.write_all(&content).unwrap();
                    file.close().unwrap();
                    assert!(leaf.read(&path).unwrap() == content);
                })
            })
            .collect();
        // The middle works for itself at the same time.
        client.write("own", b"mine").unwrap();
        for leaf in leaves {
            leaf.join().unwrap();
        }
        assert_eq!(client.read("leaf/3").unwrap().len(), 200_000);
    });
    assert_eq!(server.join().unwrap().open(), [""; 0]);
}

#[test]
fn the_tables_show_who_has_what() {
    let mut middle = Middle::new(ChildOptions::default());
    middle.open(5);
    middle.open(6);
    middle.relay.attach(ChildOptions::default()).unwrap();
    // The end of the second was dropped at once, so it may be there or not.
    let clients = middle.relay.clients();
    assert_eq!(clients[0].id, "c1");
    assert_eq!(clients[0].open_files, [5, 6]);
    assert!(clients[0].pipe_id.starts_with("socket:["));
    let files: Vec<_> = middle.relay.files();
    let shown: Vec<_> = files
        .iter()
        .map(|file| (file.fileno, &*file.filename, file.mode, &*file.client_id))
        .collect();
    assert_eq!(shown, [(5, "f", "r", "c1"), (6, "f", "r", "c1")]);
}
