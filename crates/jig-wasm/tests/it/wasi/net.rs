//! `wasi:sockets` reaches nothing.

use std::net::{TcpListener, UdpSocket};

use jig_broker::AuditDecision;
use serde_json::{Value, json};

use crate::wasi::{hostile, said};

/// Rules that open this machine to requests: sockets stay closed all the same.
fn open_rules(port: u16) -> String {
    format!("net = [{{ host = \"127.0.0.1\", port = {port}, allow = true }}]")
}

#[test]
fn w022_sockets_are_refused_whatever_the_rules_say() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let check = |action: &str, address: &str, operation: &str, target: &str| {
        for rules in ["", &open_rules(listener.local_addr().unwrap().port())] {
            let done = hostile(action, json!({"address": address}))
                .rules(rules)
                .run();
            let error = done.error();
            assert!(
                error.message.contains("PermissionDenied"),
                "{action}: {}",
                error.message
            );
            let [denial] = &error.denials[..] else {
                panic!("{action}: {:?}", error.denials);
            };
            assert_eq!(denial.operation, operation, "{action}");
            assert_eq!(denial.target, target, "{action}");
            assert!(denial.why.contains("`wasi:http`"), "{denial:?}");
            assert!(denial.why.contains("`access.net`"), "{denial:?}");
            let logged = done.audit.iter().find(|entry| entry.target == target);
            let logged = logged.expect("it is in the log");
            assert_eq!(logged.operation, format!("socket.{operation}"));
            assert_eq!(logged.decision, AuditDecision::Deny);
        }
    };
    let address = address.to_string();
    check("tcp", &address, "open", "a TCP socket");
    check("listen", "127.0.0.1:0", "open", "a TCP socket");
    check("udp", "127.0.0.1:0", "open", "a UDP socket");
    check("resolve", "example.com:80", "resolve", "example.com");
    check("tcp", "localhost:80", "resolve", "localhost");
    let came = listener.accept();
    assert!(came.is_err(), "a guest has come through: {came:?}");
}

/// The twin of the above: the same from here succeeds, so it is not the machine that refuses.
#[test]
fn the_same_is_possible_without_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::net::TcpStream::connect(address).unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap();
}

#[test]
fn a_guest_that_gets_on_without_sockets_is_told_nothing() {
    let done = hostile("print", json!({"fail": "another reason"})).run();
    assert_eq!(done.error().denials, []);
    assert!(!said(&done).contains("socket"));
    let done = hostile("print", Value::Object(serde_json::Map::new())).run();
    assert_eq!(done.text(), "printed");
    assert_eq!(done.audit, []);
}
