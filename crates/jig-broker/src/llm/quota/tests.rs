//! F-075, F-094: what is counted, to the millionth.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{LlmTokens, Quota, TokenRates};
use crate::llm::Weights;

fn rates() -> TokenRates {
    TokenRates::from(Weights::default())
}

fn tokens(input: u64, cached: u64, output: u64) -> LlmTokens {
    LlmTokens {
        input,
        cached,
        output,
    }
}

#[test]
fn weights_are_exact() {
    let check = |weights: (f64, f64, f64), (input, cached, output), expected: f64| {
        let (w_input, w_cached, w_output) = weights;
        let rates = TokenRates::from(Weights {
            input: w_input,
            cached: w_cached,
            output: w_output,
        });
        let quota = Quota::new(0.0);
        let reserved = quota.reserve(rates, 1, 1).unwrap();
        let usage = reserved.settle(tokens(input, cached, output));
        assert_eq!(usage.weighted, expected);
        assert_eq!(quota.report().used, expected);
    };
    let default = (1.0, 0.25, 4.0);
    check(default, (0, 0, 0), 0.0);
    check(default, (10, 0, 0), 10.0);
    check(default, (10, 1, 0), 9.25);
    check(default, (3, 3, 1), 4.75);
    check(default, (1000, 998, 250), 1251.5);
    // Decimal fractions, which no binary one can hold.
    check((0.1, 0.2, 0.3), (3, 1, 1), 0.7);
    check((0.000_001, 0.0, 0.0), (3, 0, 9), 0.000_003);
    check(
        (1e6, 1e6, 1e6),
        (100_000_000, 1, 100_000_000),
        200_000_000e6,
    );
}

#[test]
fn a_sum_of_tenths_is_exact() {
    let rates = TokenRates::from(Weights {
        input: 0.1,
        cached: 0.1,
        output: 0.1,
    });
    let quota = Quota::new(0.0);
    for _ in 0..1000 {
        let usage = quota.reserve(rates, 1, 1).unwrap().settle(tokens(1, 0, 0));
        assert_eq!(usage.weighted, 0.1);
    }
    assert_eq!(quota.report().used, 100.0);
}

/// F-075: the limit of an answer is the lower of what is asked for and what the rest pays for.
#[test]
fn f075_an_answer_is_as_long_as_the_rest_allows() {
    let check = |limit: f64, input: u64, asked: u64, expected: Option<u64>| {
        let quota = Quota::new(limit);
        let reserved = quota.reserve(rates(), input, asked);
        let allowed = reserved.as_ref().map(super::Reservation::max_tokens);
        assert_eq!(allowed, expected, "{limit} {input} {asked}");
        if reserved.is_none() {
            assert_eq!(quota.report().reserved, 0.0);
        }
    };
    check(0.0, 1_000_000, 4096, Some(4096));
    check(1000.0, 100, 4096, Some(225));
    check(1000.0, 100, 225, Some(225));
    check(1000.0, 100, 10, Some(10));
    check(1000.0, 996, 10, Some(1));
    check(1000.0, 997, 10, None);
    check(1000.0, 1000, 10, None);
    check(1000.0, 5000, 10, None);
    check(0.5, 0, 10, None);
    check(1000.0, 0, 0, None);
}

#[test]
fn output_without_weight_is_refused_only_when_nothing_is_left() {
    let free = TokenRates::from(Weights {
        input: 1.0,
        cached: 0.0,
        output: 0.0,
    });
    let quota = Quota::new(10.0);
    let first = quota.reserve(free, 10, 4096).unwrap();
    assert_eq!(first.max_tokens(), 4096);
    assert!(quota.reserve(free, 0, 1).is_none());
    first.give_back();
    assert!(quota.reserve(free, 0, 1).is_some());
}

/// A provider may cache what weighs more than the rest: the reservation covers that, too.
#[test]
fn the_dearer_of_the_two_input_rates_is_reserved() {
    let odd = TokenRates::from(Weights {
        input: 1.0,
        cached: 3.0,
        output: 1.0,
    });
    let quota = Quota::new(100.0);
    let reserved = quota.reserve(odd, 30, 10).unwrap();
    assert_eq!(quota.report().reserved, 100.0);
    reserved.settle(tokens(30, 30, 10));
    assert_eq!(quota.report().used, 100.0);
}

#[test]
fn each_end_of_a_reservation_counts_what_it_says() {
    let check = |end: fn(super::Reservation), used: f64, calls: u64| {
        let quota = Quota::new(1000.0);
        let reserved = quota.reserve(rates(), 100, 50).unwrap();
        assert_eq!(quota.report().reserved, 300.0);
        assert_eq!(quota.report().remaining, Some(700.0));
        end(reserved);
        let report = quota.report();
        assert_eq!((report.used, report.calls), (used, calls));
        assert_eq!(report.reserved, 0.0);
        assert_eq!(report.remaining, Some((1000.0 - used).max(0.0)));
    };
    check(
        |reserved| {
            let usage = reserved.settle(tokens(10, 4, 2));
            assert_eq!(usage.weighted, 15.0);
        },
        15.0,
        1,
    );
    check(|reserved| reserved.give_back(), 0.0, 0);
    check(
        |reserved| {
            let usage = reserved.forfeit();
            assert_eq!((usage.input_tokens, usage.output_tokens), (100, 50));
        },
        300.0,
        1,
    );
    // Whoever forgets one does not know that it cost nothing.
    check(drop, 300.0, 1);
    // The truth is counted, also if it is more than was reserved.
    check(
        |reserved| {
            reserved.settle(tokens(5000, 0, 10));
        },
        5040.0,
        1,
    );
}

#[test]
fn the_report_speaks_as_the_protocol_does() {
    let quota = Quota::new(5000.0);
    let reserved = quota.reserve(rates(), 2000, 100).unwrap();
    reserved.settle(tokens(1000, 998, 250));
    let report = quota.report();
    assert_eq!(report.status(), "1251.5/5000 weighted tokens");
    assert_eq!(
        report.long_status(),
        "1251.5/5000 weighted tokens (25.0% used, 3748.5 remaining)"
    );
    let unlimited = Quota::new(0.0).report();
    assert_eq!(unlimited.status(), "0.0/unlimited weighted tokens");
    assert_eq!((unlimited.remaining, unlimited.percent), (None, None));
}

#[derive(Debug, Clone)]
enum Step {
    Reserve(u64, u64),
    Settle(usize, u64, u64, u64),
    GiveBack(usize),
    Forfeit(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..400_u64, 1..200_u64).prop_map(|(input, output)| Step::Reserve(input, output)),
        1 => (0..8_usize, 0..100_u64, 0..100_u64, 0..100_u64)
            .prop_map(|(at, fresh, cached, output)| Step::Settle(at, fresh + cached, cached, output)),
        1 => (0..8_usize).prop_map(Step::GiveBack),
        1 => (0..8_usize).prop_map(Step::Forfeit),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// Whatever happens in whatever order: what is used is the sum of what was counted, what is reserved that of
    /// what is under way, and no reservation goes over the limit.
    #[test]
    fn the_counter_is_the_sum_of_all_calls(steps in steps(), limit in 1..3000_u32) {
        let quota = Quota::new(f64::from(limit));
        let mut open = BTreeMap::new();
        let mut used = 0.0;
        for (number, step) in steps.into_iter().enumerate() {
            let at = |open: &BTreeMap<usize, _>, at: usize| {
                open.keys().nth(at % open.len().max(1)).copied()
            };
            match step {
                Step::Reserve(input, output) => {
                    let before = quota.report();
                    if let Some(reserved) = quota.reserve(rates(), input, output) {
                        open.insert(number, reserved);
                        let after = quota.report();
                        prop_assert!(after.used + after.reserved <= f64::from(limit));
                    } else {
                        prop_assert_eq!(before, quota.report());
                    }
                }
                Step::Settle(place, input, cached, output) => {
                    let Some(reserved) = at(&open, place).and_then(|key| open.remove(&key)) else {
                        continue;
                    };
                    used += reserved.settle(tokens(input, cached, output)).weighted;
                }
                Step::GiveBack(place) => {
                    if let Some(reserved) = at(&open, place).and_then(|key| open.remove(&key)) {
                        reserved.give_back();
                    }
                }
                Step::Forfeit(place) => {
                    if let Some(reserved) = at(&open, place).and_then(|key| open.remove(&key)) {
                        used += reserved.forfeit().weighted;
                    }
                }
            }
            // Quarters are exact in binary, so sums of floats are, too.
            prop_assert_eq!(quota.report().used, used);
        }
        for (_, reserved) in open {
            reserved.give_back();
        }
        prop_assert_eq!(quota.report().reserved, 0.0);
    }
}

/// 0 is unlimited, so a limit that is smaller than what can be counted must not become 0.
#[test]
fn f094_the_smallest_limit_is_not_unlimited() {
    for limit in [1e-6, 4.9e-7, 1e-9, f64::MIN_POSITIVE] {
        let quota = Quota::new(limit);
        assert!(quota.report().remaining.is_some(), "{limit}");
        assert!(quota.reserve(rates(), 1, 1).is_none(), "{limit}");
    }
}
