//! F-075, F-094, X-31: what is counted, and what it limits.

use jig_broker::{Chat, LlmError, Weights};
use jig_testkit::provider::Answer;

use crate::llm::world::{World, ask, most, question, streamed, used};

#[test]
fn f094_usage_is_weighted_and_exact() {
    let world = World::new();
    world.provider.script([
        Answer::text("a").usage(1, 0, 0),
        Answer::text("a").usage(1, 1, 0),
        Answer::text("a").usage(0, 0, 1),
        Answer::text("a").usage(1001, 1000, 7),
    ]);
    let broker = world.broker();
    let sums = [1.0, 1.25, 5.25, 284.25];
    for (number, sum) in sums.into_iter().enumerate() {
        let chat = if number % 2 == 0 {
            question("x")
        } else {
            streamed("x")
        };
        ask(&broker, &chat).unwrap();
        assert_eq!(used(&broker), sum);
    }
    let report = broker.llm().unwrap().quota();
    assert_eq!(report.calls, 4);
    assert_eq!(
        (
            report.input_tokens,
            report.cached_tokens,
            report.output_tokens
        ),
        (1003, 1001, 8)
    );
    assert_eq!(
        report.long_status(),
        "284.2/10000 weighted tokens (2.8% used, 9715.8 remaining)"
    );
}

#[test]
fn models_have_weights_of_their_own() {
    let world = World::new().with(|s| {
        let small = Weights {
            input: 0.1,
            cached: 0.025,
            output: 0.4,
        };
        s.model_weights.insert("small-model".to_owned(), small);
    });
    world.provider.always(Answer::text("a").usage(10, 4, 5));
    let broker = world.broker();
    let nested = Chat {
        is_top_level: false,
        ..question("x")
    };
    // 6 × 0.1 + 4 × 0.025 + 5 × 0.4
    assert_eq!(ask(&broker, &nested).unwrap().usage.weighted, 2.7);
    assert_eq!(ask(&broker, &question("x")).unwrap().usage.weighted, 27.0);
    assert_eq!(used(&broker), 29.7);
}

/// F-075: the limit that is sent is the lowest of what is asked for, the standard one and the quota's.
#[test]
fn f075_the_limit_of_an_answer() {
    let check = |quota: Option<f64>, asked: Option<u64>, expected: u64| {
        let world = World::new().with(|s| s.quota = quota);
        let chat = Chat {
            max_tokens: asked,
            ..question("x")
        };
        ask(&world.broker(), &chat).unwrap();
        assert_eq!(world.provider.requests()[0].json()["max_tokens"], expected);
    };
    check(None, None, 100);
    check(Some(0.0), None, 100);
    check(Some(10_000.0), None, 100);
    check(Some(10_000.0), Some(7), 7);
    check(Some(10_000.0), Some(5000), 100);
    // The input takes 17 of it, a token of the answer 4.
    check(Some(17.0 + 4.0 * 25.0), None, 25);
    check(Some(17.0 + 4.0 * 25.0 + 3.75), None, 25);
    check(Some(17.0 + 4.0 * 25.0), Some(9), 9);
    check(Some(21.0), None, 1);
}

#[test]
fn f094_nothing_is_sent_that_the_quota_does_not_cover() {
    let world = World::new().with(|s| s.quota = Some(20.75));
    let broker = world.broker();
    for chat in [question("x"), streamed("x")] {
        let error = ask(&broker, &chat).unwrap_err();
        assert_eq!(error, LlmError::QuotaExceeded);
        assert_eq!(error.to_string(), "quota exceeded: cannot make LLM call");
    }
    assert!(world.provider.requests().is_empty());
    assert_eq!(used(&broker), 0.0);
    // A shorter question fits.
    ask(&broker, &question("")).unwrap();
}

#[test]
fn f094_a_quota_is_used_up() {
    let world = World::new().with(|s| s.quota = Some(most("x", 100)));
    world.provider.always(Answer::text("a").usage(17, 0, 100));
    let broker = world.broker();
    ask(&broker, &question("x")).unwrap();
    let report = broker.llm().unwrap().quota();
    assert_eq!((report.remaining, report.percent), (Some(0.0), Some(100.0)));
    assert_eq!(ask(&broker, &question("")), Err(LlmError::QuotaExceeded));
    assert_eq!(world.provider.requests().len(), 1);
}

/// A provider that used more than it was allowed to: that is counted, and ends it.
#[test]
fn the_truth_is_counted() {
    let world = World::new().with(|s| s.quota = Some(1000.0));
    world
        .provider
        .always(Answer::text("a").usage(5000, 0, 5000));
    let broker = world.broker();
    ask(&broker, &question("x")).unwrap();
    assert_eq!(used(&broker), 25_000.0);
    let report = broker.llm().unwrap().quota();
    assert_eq!(
        (report.remaining, report.percent),
        (Some(0.0), Some(2500.0))
    );
    assert_eq!(ask(&broker, &question("x")), Err(LlmError::QuotaExceeded));
}

#[test]
fn x31_no_quota_and_an_unlimited_one() {
    for (quota, has_quota) in [(None, false), (Some(0.0), true)] {
        let world = World::new().with(|s| s.quota = quota);
        world
            .provider
            .always(Answer::text("a").usage(1_000_000, 0, 1_000_000));
        let broker = world.broker();
        ask(&broker, &question("x")).unwrap();
        ask(&broker, &question("x")).unwrap();
        let llm = broker.llm().unwrap();
        assert_eq!(llm.has_quota(), has_quota);
        assert_eq!(llm.quota().status(), "10000000.0/unlimited weighted tokens");
    }
}
