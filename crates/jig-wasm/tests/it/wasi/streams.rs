//! `wasi:io`, used as it should be and as it should not.

use serde_json::json;

use crate::wasi::{hostile, said, told};

#[test]
fn streams_do_what_the_interface_says() {
    let check = |case: &str, expected: Result<u64, &str>| {
        let done = hostile("stream", json!({"case": case})).run();
        match expected {
            Ok(number) => assert_eq!(done.text(), number.to_string(), "{case}"),
            Err(expected) => {
                let said = said(&done);
                assert!(said.contains(expected), "{case}: {said}");
            }
        }
    };
    let permit = 1 << 20;
    check("write_nothing_without_permit", Ok(0));
    check("write_with_permit", Ok(permit));
    check("write_without_permit", Err("with a permit for 0"));
    check("write_over_permit", Err("with a permit for 1048576"));
    check("write_twice_with_one_permit", Err("with a permit for 0"));
    check("block", Ok(4096));
    check("block_too_large", Err("4097 bytes at once"));
    check("zeroes", Ok(permit + 4096));
    check("zeroes_without_permit", Err("with a permit for 0"));
    check("zeroes_without_end", Err("bytes at once"));
    check("read_nothing", Ok(0));
    check("read_without_end", Err("closed"));
    check("blocking_read", Err("closed"));
    check("skip_without_end", Err("closed"));
    check("splice_without_end", Err("closed"));
}

#[test]
fn polling_waits_for_the_first_and_tells_all_that_is_ready() {
    let check = |case: &str, ready: &[u32], least: u64| {
        let told = told(&hostile("poll", json!({"case": case})).run());
        assert_eq!(told["ready"], json!(ready), "{case}");
        assert!(told["waited"].as_u64().unwrap() >= least, "{case}: {told}");
        assert_eq!(told["later"], false, "{case}");
    };
    check("first", &[2], 50);
    check("all", &[0, 1, 2], 0);
    check("some", &[1], 0);
    check("past", &[1], 0);
    check("same", &(0..1000).collect::<Vec<u32>>(), 0);
}

#[test]
fn polling_nothing_ends_the_guest() {
    let done = hostile("poll", json!({"case": "nothing"})).run();
    assert!(said(&done).contains("polls nothing"), "{}", said(&done));
}

#[test]
fn what_a_guest_holds_has_a_limit() {
    let done = hostile("poll", json!({"case": "hold"}))
        .limits(|limits| limits.tree.descriptors = Some(300))
        .run();
    assert!(said(&done).contains("300"), "{}", said(&done));
}
