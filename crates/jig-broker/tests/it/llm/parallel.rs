//! Calls at the same time cannot together go over the quota.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jig_broker::{Broker, CancelToken, LlmError};
use jig_testkit::provider::{Answer, Gate};

use crate::llm::world::{World, ask, most, question, used};

const CALLS: usize = 64;
const ALLOWED: usize = 10;

/// A world whose quota pays for ten calls.
fn world() -> World {
    World::new().with(|s| s.quota = Some(ALLOWED as f64 * most("x", 100)))
}

/// What became of a crowd of calls.
#[derive(Debug, PartialEq, Eq)]
struct Crowd {
    answered: usize,
    refused: usize,
    failed: usize,
}

/// Makes 64 calls at the same time. `when_decided` runs when all but ten were refused and the others have led to
/// `sent` requests; nothing was answered by then.
fn crowd(
    world: &World,
    broker: &Broker,
    cancel: &CancelToken,
    sent: usize,
    when_decided: impl FnOnce(),
) -> Crowd {
    let refused = AtomicUsize::new(0);
    let count = |results: &[Result<(), LlmError>], wanted: fn(&LlmError) -> bool| {
        let errors = results.iter().filter_map(|result| result.as_ref().err());
        errors.filter(|error| wanted(error)).count()
    };
    let results: Vec<Result<(), LlmError>> = thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLS)
            .map(|_| {
                scope.spawn(|| {
                    let result = broker.chat(&question("x"), cancel, &mut |_| {});
                    if result == Err(LlmError::QuotaExceeded) {
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                    result.map(drop)
                })
            })
            .collect();
        jig_testkit::until("all but ten are refused", || {
            refused.load(Ordering::SeqCst) >= CALLS - ALLOWED
        });
        world.provider.wait_for_requests(sent);
        when_decided();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    Crowd {
        answered: results.iter().filter(|result| result.is_ok()).count(),
        refused: count(&results, |error| *error == LlmError::QuotaExceeded),
        failed: count(&results, |error| *error != LlmError::QuotaExceeded),
    }
}

#[test]
fn f094_ten_of_64_parallel_calls_are_sent() {
    let world = world();
    let gate = Gate::new();
    world
        .provider
        .always(Answer::text("a").usage(3, 1, 2).held(&gate));
    let broker = world.broker();
    let decided = || {
        let report = broker.llm().unwrap().quota();
        assert_eq!(report.reserved, ALLOWED as f64 * most("x", 100));
        assert_eq!((report.used, report.remaining), (0.0, Some(0.0)));
        gate.open();
    };
    let crowd = crowd(&world, &broker, &CancelToken::new(), ALLOWED, decided);
    let expected = Crowd {
        answered: ALLOWED,
        refused: CALLS - ALLOWED,
        failed: 0,
    };
    assert_eq!(crowd, expected);
    assert_eq!(world.provider.requests().len(), ALLOWED);
    // 2 × 1 + 1 × 0.25 + 2 × 4, ten times.
    assert_eq!(used(&broker), 102.5);
    assert_eq!(broker.llm().unwrap().quota().calls, ALLOWED as u64);
    // What was not used is there again.
    ask(&broker, &question("x")).unwrap();
}

#[test]
fn f094_attempts_share_the_reservation_of_their_call() {
    // One call may get all the errors, if the others are slow to begin: it must not give up.
    let world = world().with(|s| s.retries = ALLOWED as u32);
    let gate = Gate::new();
    world
        .provider
        .script(vec![Answer::error(503, "busy"); ALLOWED]);
    world
        .provider
        .always(Answer::text("a").usage(3, 1, 2).held(&gate));
    let broker = world.broker();
    let crowd = crowd(&world, &broker, &CancelToken::new(), 2 * ALLOWED, || {
        gate.open()
    });
    assert_eq!((crowd.answered, crowd.refused), (ALLOWED, CALLS - ALLOWED));
    assert_eq!(world.provider.requests().len(), 2 * ALLOWED);
    assert_eq!(used(&broker), 102.5);
}

#[test]
fn f094_what_was_refused_is_given_back() {
    let world = world().with(|s| s.retries = 0);
    let gate = Gate::new();
    world
        .provider
        .always(Answer::error(500, "broken").held(&gate));
    let broker = world.broker();
    let crowd = crowd(&world, &broker, &CancelToken::new(), ALLOWED, || {
        gate.open()
    });
    assert_eq!((crowd.failed, crowd.refused), (ALLOWED, CALLS - ALLOWED));
    assert_eq!(used(&broker), 0.0);
    assert_eq!(broker.llm().unwrap().quota().calls, 0);
}

/// A client that asks and goes away before the answer has made the provider work: it must pay for that.
#[test]
fn f094_what_was_sent_and_cancelled_counts() {
    let world = world();
    world.provider.always(Answer::silence());
    let broker = world.broker();
    let cancel = CancelToken::new();
    let crowd = crowd(&world, &broker, &cancel, ALLOWED, || cancel.cancel());
    assert_eq!((crowd.failed, crowd.refused), (ALLOWED, CALLS - ALLOWED));
    assert_eq!(used(&broker), ALLOWED as f64 * most("x", 100));
    assert_eq!(ask(&broker, &question("x")), Err(LlmError::QuotaExceeded));
    assert_eq!(world.provider.requests().len(), ALLOWED);
}
