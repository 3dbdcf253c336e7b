//! How children end, and what that closes.

use std::io::Write as _;
use std::net::Shutdown;

use jig_tool::proxy::{AttachedChild, ChildOptions, Client, OpenMode, Relay};
use serde_json::{Value, json};

use crate::proxy::parent::{Memory, Peer, in_time};

fn open(path: &str) -> Value {
    json!({"id": path, "op": "open", "params": {"path": path, "mode": "w"}})
}

fn close(handle: u64) -> Value {
    json!({"op": "close", "params": {"h": handle}})
}

/// A relay, its parent, and a child that has opened the handles 3 and 4.
fn with_open_files() -> (Peer, Relay, AttachedChild, Peer) {
    let (mut parent, client) = Peer::with_client();
    let relay = Relay::new(client).unwrap();
    let (attached, child) = relay.attach(ChildOptions::default()).unwrap();
    let mut child = Peer::new(child);
    for handle in [3, 4] {
        child.send(&open("f"));
        let (id, _) = parent.request();
        parent.reply(&id, json!({"handle": handle}));
        child.next().unwrap();
    }
    (parent, relay, attached, child)
}

/// F-084: exactly the handles of the child, each once.
#[test]
fn f_084_the_end_of_a_child_closes_what_it_has_open() {
    let (mut parent, relay, attached, mut child) = with_open_files();
    let (_, other) = relay.attach(ChildOptions::default()).unwrap();
    let mut other = Peer::new(other);
    other.send(&open("other"));
    let (id, _) = parent.request();
    parent.reply(&id, json!({"handle": 5}));
    other.next().unwrap();
    // One is closed by the child itself.
    child.send(&json!({"id": "c", "op": "close", "params": {"h": 3}}));
    let (id, request) = parent.request();
    assert_eq!(request, close(3));
    parent.send(&json!({"id": id, "ok": true}));
    drop(child);
    let (_, request) = parent.request();
    assert_eq!(request, close(4));
    in_time(move || attached.wait());
    let left: Vec<_> = relay.clients().into_iter().map(|row| row.id).collect();
    assert_eq!(left, ["c2"]);
    assert_eq!(relay.files()[0].fileno, 5);
    // The other goes on, and there was no third close.
    other.send(&json!({"id": "r", "op": "read", "params": {"h": 5}}));
    assert_eq!(parent.request().1["params"]["h"], 5);
}

/// Whoever ends it first, and however often.
#[test]
fn a_child_ends_once() {
    let (mut parent, relay, attached, child) = with_open_files();
    attached.end();
    attached.end();
    drop(child);
    relay.end();
    attached.wait();
    assert_eq!(parent.request().1, close(3));
    assert_eq!(parent.request().1, close(4));
    assert_eq!(relay.clients(), []);
    drop((relay, attached));
    assert_eq!(parent.next(), None);
}

/// The child is gone before its open is answered.
#[test]
fn an_open_under_way_is_closed_when_it_is_answered() {
    let (mut parent, client) = Peer::with_client();
    let relay = Relay::new(client).unwrap();
    let (attached, child) = relay.attach(ChildOptions::default()).unwrap();
    let mut child = Peer::new(child);
    child.send(&open("late"));
    let (id, _) = parent.request();
    drop(child);
    in_time(move || attached.wait());
    parent.reply(&id, json!({"handle": 8}));
    assert_eq!(parent.request().1, close(8));
    assert_eq!(relay.files(), []);
}

/// After `shutdown(SHUT_WR)` all that was asked is still answered, and then it is over.
#[test]
fn a_half_closed_child_gets_its_answers() {
    let (mut parent, _relay, attached, mut child) = with_open_files();
    child.send(&json!({"id": "r", "op": "read", "params": {"h": 3}}));
    child.send(&json!({"id": "n", "op": "read", "params": {"h": 0}}));
    child.send(&open("late"));
    child.socket.shutdown(Shutdown::Write).unwrap();
    let (read, _) = parent.request();
    let (late, _) = parent.request();
    parent.reply(&read, json!({"data": "aGk=", "eof": true}));
    assert_eq!(child.next().unwrap()["result"]["data"], "aGk=");
    assert_eq!(child.next().unwrap()["error"]["code"], "E_PERM");
    parent.reply(&late, json!({"handle": 9}));
    assert_eq!(child.next().unwrap()["result"]["handle"], 9);
    assert_eq!(child.next(), None);
    for handle in [3, 4, 9] {
        assert_eq!(parent.request().1, close(handle));
    }
    in_time(move || attached.wait());
}

/// F-088: what a child has written stays, also if it does not wait for the answers.
#[test]
fn requests_of_a_child_that_is_gone_are_still_done() {
    let (mut parent, _relay, _attached, mut child) = with_open_files();
    for _ in 0..50 {
        let params = json!({"h": 3, "data": "eA=="});
        child.send(&json!({"id": "w", "op": "write", "params": params}));
    }
    drop(child);
    for _ in 0..50 {
        let (id, request) = parent.request();
        assert_eq!(request["op"], "write");
        parent.reply(&id, json!({"written": 1}));
    }
    assert_eq!(parent.request().1, close(3));
    assert_eq!(parent.request().1, close(4));
}

#[test]
fn the_end_of_the_parent_is_the_end_of_all_children() {
    let (parent, relay, attached, mut child) = with_open_files();
    let (_, idle) = relay.attach(ChildOptions::default()).unwrap();
    let mut idle = Peer::new(idle);
    child.send(&json!({"id": "r", "op": "read", "params": {"h": 3}}));
    drop(parent);
    in_time(move || {
        assert_eq!(child.next(), None);
        assert_eq!(idle.next(), None);
        attached.wait();
        assert_eq!(relay.clients(), []);
        // Nobody is served any more.
        assert!(relay.attach(ChildOptions::default()).is_err());
    });
}

/// The connection upward ends with the last who uses it, not before and not never.
#[test]
fn a_relay_keeps_its_connection_as_long_as_it_has_children() {
    let (mut parent, relay, attached, child) = with_open_files();
    drop((relay, attached));
    let mut child = child;
    child.send(&json!({"id": "r", "op": "read", "params": {"h": 3}}));
    let (id, _) = parent.request();
    parent.reply(&id, json!({"data": "", "eof": true}));
    assert_eq!(child.next().unwrap()["ok"], true);
    drop(child);
    assert_eq!(parent.request().1, close(3));
    assert_eq!(parent.request().1, close(4));
    assert_eq!(parent.next(), None);
}

/// Any number of children that come, open and go at any moment leave nothing behind.
#[test]
fn children_that_die_at_random_leave_nothing_open() {
    let (client, server) = Memory::start();
    in_time(move || {
        let relay = Relay::new(client).unwrap();
        let threads: Vec<_> = (0..8_u32)
            .map(|thread| {
                let relay = relay.clone();
                std::thread::spawn(move || {
                    let mut random = thread.wrapping_mul(2_654_435_761) | 1;
                    for _ in 0..25 {
                        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let (attached, socket) = relay.attach(ChildOptions::default()).unwrap();
                        die(random >> 8, &attached, socket);
                        attached.wait();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(relay.clients(), []);
        assert_eq!(relay.files(), []);
    });
    let memory = server.join().unwrap();
    assert_eq!(memory.open(), [""; 0]);
    // Exactly once each: a second close of the same would be in the log.
    assert_eq!(memory.logged("open").len(), memory.logged("close").len());
}

/// Opens some files and goes, in one of several ways.
fn die(how: u32, attached: &AttachedChild, socket: std::os::fd::OwnedFd) {
    let count = how % 5;
    match how / 5 % 4 {
        // Without waiting for anything.
        0 => {
            let mut child = Peer::new(socket);
            for _ in 0..count {
                child.send(&open("f"));
            }
        }
        // In the middle of a frame.
        1 => {
            let mut child = Peer::new(socket);
            for _ in 0..count {
                child.send(&open("f"));
                child.next().unwrap();
            }
            child.socket.write_all(b"\x00\x00\x01").unwrap();
        }
        // Ended from here, as when the process has exited.
        2 => {
            let client = Client::from_socket(socket).unwrap();
            let _files: Vec<_> = (0..count)
                .map(|_| client.open("f", OpenMode::ReadWrite).unwrap())
                .collect();
            attached.end();
        }
        // In order, but without waiting for the last.
        _ => {
            let client = Client::from_socket(socket).unwrap();
            for _ in 0..count {
                drop(client.open("f", OpenMode::ReadWrite).unwrap());
            }
        }
    }
}
