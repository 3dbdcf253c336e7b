//! When a call is tried again, and when not.

use std::time::{Duration, Instant};

use jig_broker::LlmError;
use jig_testkit::provider::Answer;

use crate::llm::world::{World, ask, hear, most, question, streamed, used};

#[test]
fn what_may_pass_is_tried_again() {
    let check = |name: &str, bad: Answer| {
        for chat in [question("x"), streamed("x")] {
            let world = World::new();
            world.provider.script([bad.clone(), bad.clone()]);
            let broker = world.broker();
            let (_, reply) = hear(&broker, &chat);
            assert_eq!(reply.unwrap().content, "Hello.", "{name}");
            let requests = world.provider.requests();
            assert_eq!(requests.len(), 3, "{name}");
            // The same question each time.
            assert!(requests.iter().all(|one| one.body == requests[0].body));
            assert_eq!(used(&broker), 30.0, "{name}");
        }
    };
    for status in [429, 500, 502, 503, 504] {
        check("a status", Answer::error(status, "busy"));
    }
    let wait = |value: &str| Answer::error(429, "busy").header("Retry-After", value);
    check("told to wait", wait("0"));
    check("told to wait", wait("0.05"));
    check("told nonsense", wait("soon"));
    check("told a date", wait("Sun, 06 Nov 1994 08:49:37 GMT"));
    check("hung up", Answer::hanging_up());
}

#[test]
fn what_will_not_pass_is_not() {
    let check = |answer: Answer| {
        let world = World::new().always(answer);
        assert!(ask(&world.broker(), &question("x")).is_err());
        assert_eq!(world.provider.requests().len(), 1);
    };
    for status in [400, 401, 403, 404, 409, 422, 501, 302] {
        check(Answer::error(status, "no"));
    }
    check(Answer::body("application/json", "nonsense"));
    check(Answer::body("text/html", ""));
    check(Answer::raw("nonsense\r\n\r\n"));
}

#[test]
fn attempts_are_counted() {
    for (retries, expected) in [(0, 1), (2, 3), (4, 5)] {
        let world = World::new().with(|s| s.retries = retries);
        world.provider.always(Answer::error(503, "busy"));
        let broker = world.broker();
        let error = ask(&broker, &question("x")).unwrap_err();
        let refused = LlmError::Refused {
            status: 503,
            message: "it has a problem of its own".to_owned(),
        };
        assert_eq!(error, refused);
        assert_eq!(world.provider.requests().len(), expected);
        assert_eq!(used(&broker), 0.0);
    }
}

/// The provider may have done the work before it hung up.
#[test]
fn a_call_that_was_never_answered_costs_the_reservation() {
    let world = World::new().always(Answer::hanging_up());
    let broker = world.broker();
    let error = ask(&broker, &question("x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider cannot be reached: it closed the connection"
    );
    assert_eq!(world.provider.requests().len(), 3);
    assert_eq!(used(&broker), most("x", 100));
    // Also if a later attempt is refused.
    let world = World::new().always(Answer::error(400, "no"));
    world.provider.script([Answer::hanging_up()]);
    let broker = world.broker();
    ask(&broker, &question("x")).unwrap_err();
    assert_eq!(used(&broker), most("x", 100));
}

#[test]
fn a_wait_that_was_told_is_kept() {
    let world = World::new();
    let busy = Answer::error(429, "busy");
    world.provider.script([
        busy.clone().header("Retry-After", "0.3"),
        busy.header("retry-after-ms", "200")
            .header("Retry-After", "9"),
    ]);
    let start = Instant::now();
    ask(&world.broker(), &question("x")).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(500));
}

#[test]
fn a_wait_that_takes_too_long_ends_the_call() {
    let check = |total: u64, wait: &str| {
        let world = World::new().with(|s| s.total_time = Duration::from_secs(total));
        world
            .provider
            .always(Answer::error(429, "busy").header("Retry-After", wait));
        let start = Instant::now();
        let broker = world.broker();
        let error = ask(&broker, &question("x")).unwrap_err();
        assert!(
            matches!(error, LlmError::Refused { status: 429, .. }),
            "{error}"
        );
        assert!(start.elapsed() < Duration::from_secs(50));
        assert_eq!(world.provider.requests().len(), 1);
        assert_eq!(used(&broker), 0.0);
    };
    check(100, "200");
    check(100, "1e12");
    check(10_000, "3600");
}
