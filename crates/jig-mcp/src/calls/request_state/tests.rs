//! Tickets, and attempts to make one fit.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{CallRound, Seal, TicketScope, random};

fn bound(caller: &str, tool: &str, arguments: Value) -> TicketScope {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    TicketScope::new(caller, tool, &arguments)
}

const TICKET: CallRound = CallRound { call: 7, round: 2 };
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_ticket_comes_back_as_it_was() {
    let seal = Seal::new().expect("random numbers");
    let bound = bound("me", "tool", json!({ "a": 1 }));
    let sealed = seal.seal(TICKET, &bound, HOUR);
    assert_eq!(seal.open(&sealed, &bound), Some(TICKET));
}

#[test]
fn a_ticket_fits_nothing_else() {
    let seal = Seal::new().expect("random numbers");
    let own = bound("me", "tool", json!({ "a": 1 }));
    let sealed = seal.seal(TICKET, &own, HOUR);
    let others = [
        bound("you", "tool", json!({ "a": 1 })),
        bound("me", "tools", json!({ "a": 1 })),
        bound("met", "ool", json!({ "a": 1 })),
        bound("me", "tool", json!({ "a": 2 })),
        bound("me", "tool", json!({ "a": "1" })),
        bound("me", "tool", json!({ "a": [1] })),
        bound("me", "tool", json!({ "a": 1, "b": null })),
        bound("me", "tool", json!({})),
    ];
    for other in others {
        assert_eq!(seal.open(&sealed, &other), None, "{other:?}");
    }
    let another = Seal::new().expect("random numbers");
    assert_eq!(another.open(&sealed, &own), None, "another server's");
    // Every change of one character is noticed.
    for place in 0..sealed.len() {
        let mut bytes = sealed.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).expect("text");
        // The last character of a part has bits that mean nothing.
        if let Some(ticket) = seal.open(&changed, &own) {
            assert_eq!(ticket, TICKET, "{place}");
        }
    }
    for cut in 0..sealed.len() {
        assert_eq!(seal.open(&sealed[..cut], &own), None);
    }
    assert_eq!(seal.open(&"A".repeat(1 << 20), &own), None);
}

#[test]
fn a_ticket_expires() {
    let seal = Seal::new().expect("random numbers");
    let bound = bound("me", "tool", json!({}));
    let sealed = seal.seal(TICKET, &bound, Duration::ZERO);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while seal.open(&sealed, &bound).is_some() {
        assert!(std::time::Instant::now() < deadline, "it never expires");
    }
}

#[test]
fn the_order_of_members_does_not_matter() {
    let one: Map<String, Value> =
        serde_json::from_str(r#"{"a":{"x":1,"y":[2,{"p":3,"q":4}]},"b":2}"#).expect("JSON");
    let two: Map<String, Value> =
        serde_json::from_str(r#"{"b":2,"a":{"y":[2,{"q":4,"p":3}],"x":1}}"#).expect("JSON");
    assert_eq!(
        TicketScope::new("me", "tool", &one),
        TicketScope::new("me", "tool", &two)
    );
    let other: Map<String, Value> =
        serde_json::from_str(r#"{"b":2,"a":{"y":[{"q":4,"p":3},2],"x":1}}"#).expect("JSON");
    assert_ne!(
        TicketScope::new("me", "tool", &one),
        TicketScope::new("me", "tool", &other)
    );
}

#[test]
fn random_bytes_are_not_the_same_twice() {
    let one: [u8; 16] = random().expect("random numbers");
    let two: [u8; 16] = random().expect("random numbers");
    assert_ne!(one, two);
}
