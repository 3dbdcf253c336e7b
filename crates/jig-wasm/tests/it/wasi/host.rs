//! Clocks, chance, the environment, printing and exiting.

use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::common::{LIMIT, Tried, until};
use crate::wasi::{hostile, said, told};

#[test]
fn w023_a_guest_has_clocks_and_can_sleep() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap().as_secs();
    let began = Instant::now();
    let done = hostile("clocks", json!({"milliseconds": 60})).run();
    assert!(began.elapsed() >= Duration::from_millis(60));
    let told = told(&done);
    assert!(told["slept"].as_u64().unwrap() >= 60, "{told}");
    let since_1970 = told["since_1970"].as_u64().unwrap();
    assert!((now..now + LIMIT.as_secs()).contains(&since_1970), "{told}");
    assert_eq!(told["has_a_past"], true);
}

#[test]
fn a_sleeping_guest_ends_when_its_call_is_given_up() {
    for (action, arguments) in [
        ("clocks", json!({"milliseconds": 3_600_000})),
        ("poll", json!({"case": "never"})),
    ] {
        let (session, _) = hostile(action, arguments).start();
        // It sleeps, or is about to: both must end.
        session.cancel();
        let stopped = until(&session, jig_proto::StateName::Stopped);
        let said = format!("{:?}", stopped.state);
        assert!(said.contains("cancelled"), "{said}");
    }
}

#[test]
fn a_sleeping_guest_ends_when_its_time_is_over() {
    for (action, arguments) in [
        ("clocks", json!({"milliseconds": 3_600_000})),
        ("poll", json!({"case": "never"})),
    ] {
        let time = Duration::from_millis(200);
        let done = hostile(action, arguments)
            .limits(|limits| limits.time = Some(time))
            .run();
        assert!(
            said(&done).contains("ran longer than 200ms"),
            "{}",
            said(&done)
        );
    }
}

#[test]
fn w023_chance_is_chance() {
    let hashes = || told(&hostile("hashes", json!({})).run());
    let (first, second) = (hashes(), hashes());
    assert_ne!(first, second, "two calls have one seed");
    assert!(first[0].is_u64());
}

#[test]
fn random_bytes_without_end_end_the_guest_and_not_us() {
    for bytes in [u64::MAX, 1 << 40, (16 << 20) + 1] {
        let done = hostile("huge_random", json!({"bytes": bytes})).run();
        assert!(said(&done).contains("random bytes"), "{}", said(&done));
    }
    hostile("huge_random", json!({"bytes": 1 << 20}))
        .run()
        .text();
}

fn environment(tried: Tried) -> Value {
    let tried = tried
        .variable("APP_MODE", "dev")
        .variable("APP_KEY", "very secret")
        .variable("HOME", "/home/somebody");
    told(&tried.run())
}

#[test]
fn w022_the_environment_is_what_rules_let_a_tool_read() {
    let check = |rules: &str, expected: Value| {
        let told = environment(hostile("environment", json!({})).rules(rules));
        assert_eq!(told["variables"], expected, "{rules}");
    };
    check("", json!({}));
    check(
        "env = [{ name = \"APP_MODE\", read = true }]",
        json!({"APP_MODE": "dev"}),
    );
    check(
        "env = [{ name = \"APP_*\", read = true }]",
        // it has got the value, and does not get it out.
        json!({"APP_MODE": "dev", "APP_KEY": "[REDACTED]"}),
    );
    // What may only be put into a header is not to be seen.
    check(
        "env = [{ name = \"APP_KEY\", header = true, read = false }]",
        json!({}),
    );
}

#[test]
fn x42_a_guest_works_in_its_first_directory_and_knows_its_name() {
    let told = environment(hostile("environment", json!({})));
    assert_eq!(told["directory"], "/workspace");
    assert_eq!(told["arguments"], json!(["tool"]));
}

#[test]
fn there_is_nothing_to_read_on_stdin() {
    assert_eq!(hostile("stdin", json!({})).run().text(), "0");
}

#[test]
fn w023_what_is_printed_is_kept_from_the_result_and_told_with_an_error() {
    let print = |fail: Value| {
        let arguments = json!({"out": "to stdout", "err": "to stderr", "fail": fail});
        hostile("print", arguments).run()
    };
    assert_eq!(print(Value::Null).text(), "printed");
    let failed = print(json!("it went wrong"));
    assert_eq!(failed.error().message, "it went wrong");
    assert!(said(&failed).contains("to stderr"), "{}", said(&failed));
}

#[test]
fn w023_a_flood_of_output_fails_no_println_and_is_not_kept() {
    for action in ["stdout_flood", "stderr_flood"] {
        let flood = json!({"bytes": 20 << 20, "chunk": 4096});
        let done = hostile(action, flood)
            .limits(|limits| limits.output = Some(1 << 20))
            .run();
        assert!(done.result.is_ok(), "{action}: {}", said(&done));
    }
}

#[test]
fn the_words_of_a_panic_are_in_the_error() {
    let done = hostile("panic", json!({"message": "no more tea"})).run();
    let said = said(&done);
    assert!(said.contains("Wasm tool trapped"), "{said}");
    assert!(said.contains("no more tea"), "{said}");
}

#[test]
fn a_guest_that_exits_says_how() {
    for code in [1, 3, 255] {
        let done = hostile("exit", json!({"code": code})).run();
        assert!(said(&done).contains("exited with code"), "{}", said(&done));
    }
    // It has given no result, so that it went well is no success.
    let done = hostile("exit", json!({"code": 0})).run();
    assert!(
        said(&done).contains("exited with code 0"),
        "{}",
        said(&done)
    );
}
