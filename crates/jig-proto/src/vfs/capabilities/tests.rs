use std::num::NonZeroU32;

use serde_json::{Value, json};

use super::Capabilities;
use crate::fields::{FieldPath, FromValue};
use crate::vfs::write::ObjectWriter;

fn read(value: Value) -> Result<Capabilities, String> {
    Capabilities::from_value(value, FieldPath::Root).map_err(|error| error.to_string())
}

fn all(max_in_flight: u32) -> Capabilities {
    Capabilities {
        concurrency: NonZeroU32::new(max_in_flight),
        pending: true,
        pages: true,
        ranges: true,
        etag: true,
        blobs: true,
        fd_pass: true,
    }
}

#[test]
fn capabilities_are_objects_by_name() {
    let mut out = Vec::new();
    all(32).write(ObjectWriter::open(&mut out));
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"concurrency":{"max_in_flight":32},"pending":{},"pages":{},"ranges":{},"etag":{},"blobs":{},"fd_pass":{}}"#
    );
    let mut out = Vec::new();
    Capabilities::PLAIN.write(ObjectWriter::open(&mut out));
    assert_eq!(out, b"{}");
}

#[test]
fn what_is_absent_false_or_unknown_is_not_there() {
    let ranges = Capabilities {
        ranges: true,
        ..Capabilities::PLAIN
    };
    for offer in [
        json!({"ranges": {}}),
        json!({"ranges": true}),
        json!({"ranges": {"unit": "bytes"}, "teleport": {}}),
        json!({"ranges": {}, "pages": false, "etag": null, "concurrency": null}),
        json!({"ranges": {}, "concurrency": false}),
    ] {
        assert_eq!(read(offer.clone()).unwrap(), ranges, "{offer}");
    }
    assert_eq!(read(json!({})).unwrap(), Capabilities::PLAIN);
    let check = |value: Value, expected: &str| assert_eq!(read(value).unwrap_err(), expected);
    check(
        json!([]),
        "`$`: expected an object of capabilities, found an empty list",
    );
    check(
        json!({"blobs": 1}),
        "`blobs`: expected an object, found the number 1",
    );
    check(
        json!({"concurrency": {"max_in_flight": 0}}),
        "`concurrency.max_in_flight`: expected a number of requests, at least 1, found the number 0",
    );
    check(
        json!({"concurrency": {}}),
        "`concurrency.max_in_flight` is missing: expected a number of requests, at least 1",
    );
}

#[test]
fn v173_one_request_at_a_time_unless_both_want_more() {
    let plain = Capabilities::PLAIN;
    assert_eq!(plain.max_in_flight().get(), 1);
    assert_eq!(all(8).common(&plain), plain);
    assert_eq!(plain.common(&all(8)), plain);
    assert_eq!(all(8).common(&all(3)), all(3));
    let huge = read(json!({"concurrency": {"max_in_flight": u64::MAX}})).unwrap();
    assert_eq!(huge.common(&all(3)).max_in_flight().get(), 3);
}
