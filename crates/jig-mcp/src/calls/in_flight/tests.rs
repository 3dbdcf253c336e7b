//! Tickets of calls, and what becomes of those that nobody comes back to.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use serde_json::Map;

use super::{CallOutcome, InFlight, InFlightStatus, InFlights, MOST_UNFETCHED, RunningCall, error};
use crate::calls::request_state::TicketScope;
use crate::shared::SharedServer;
use crate::testing::server;

fn bound() -> TicketScope {
    TicketScope::new("me", "tool", &Map::new())
}

fn begin(calls: &InFlights, shared: &SharedServer) -> Arc<InFlight> {
    calls.calls().enter(shared).expect("there is room");
    calls.admit(shared, bound())
}

fn end(calls: &InFlights, shared: &SharedServer, flight: &InFlight) {
    calls.leave(shared);
    flight.finish(CallOutcome {
        result: error("over"),
        failure: None,
        cancelled: false,
    });
    calls.forget(flight);
}

#[test]
fn a_ticket_is_used_once_and_the_next_one_replaces_it() {
    let (shared, calls) = (server(&[], &[]), InFlights::default());
    let flight = begin(&calls, &shared);
    let first = flight.ticket();
    let second = flight.ticket();
    assert!(calls.redeem(first, &bound()).is_none());
    let other = TicketScope::new("you", "tool", &Map::new());
    assert!(calls.redeem(second, &other).is_none());
    assert!(calls.redeem(second, &bound()).is_some());
    assert!(calls.redeem(second, &bound()).is_none());
}

/// The next turn of a caller has calls like those before. What a client kept of the one turn is no good there.
#[test]
fn a_ticket_is_for_no_call_of_another_turn() {
    let shared = server(&[], &[]);
    let (before, after) = (InFlights::default(), InFlights::default());
    let kept = begin(&before, &shared).ticket();
    begin(&after, &shared).ticket();
    assert!(after.redeem(kept, &bound()).is_none());
}

#[test]
fn a_call_that_breaks_ends_and_leaves_its_room() {
    let shared = server(&[], &[]);
    let visit = shared.callers.enter("me", [0; 32], || shared.loader.turn());
    let caller = visit.caller();
    let flight = begin(&caller.in_flight, &shared);
    drop(RunningCall {
        shared: Arc::clone(&shared),
        caller: Arc::clone(caller),
        flight: Arc::clone(&flight),
        engine: caller.engine(&shared),
        outcome: None,
    });
    let (_, status) = flight.now();
    let InFlightStatus::Done(outcome) = status else {
        panic!("it has ended");
    };
    assert!(outcome.failure.is_some());
    assert_eq!(caller.in_flight.len(), 0);
}

#[test]
fn of_many_threads_one_has_the_ticket() {
    let (shared, calls) = (server(&[], &[]), InFlights::default());
    for _ in 0..50 {
        let flight = begin(&calls, &shared);
        let ticket = flight.ticket();
        let won: usize = thread::scope(|scope| {
            let tries: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| calls.redeem(ticket, &bound()).is_some()))
                .collect();
            let tries = tries.into_iter().map(|one| one.join().expect("no panic"));
            tries.filter(|has| *has).count()
        });
        assert_eq!(won, 1);
        end(&calls, &shared, &flight);
    }
}

#[test]
fn a_result_is_kept_for_a_ticket_only_and_not_without_bound() {
    let (shared, calls) = (server(&[], &[]), InFlights::default());
    let flight = begin(&calls, &shared);
    end(&calls, &shared, &flight);
    assert_eq!(calls.calls().known.len(), 0);
    for _ in 0..2 * MOST_UNFETCHED {
        let flight = begin(&calls, &shared);
        flight.ticket();
        end(&calls, &shared, &flight);
    }
    assert_eq!(calls.calls().known.len(), MOST_UNFETCHED);
    assert_eq!(calls.len(), 0);
    assert_eq!(shared.running.load(Ordering::Relaxed), 0);
}

#[test]
fn after_the_end_of_a_turn_no_call_goes_on() {
    let (shared, calls) = (server(&[], &[]), InFlights::default());
    let before = begin(&calls, &shared);
    calls.cancel_all();
    let after = begin(&calls, &shared);
    for flight in [before, after] {
        assert!(flight.cancel_token().is_cancelled());
        end(&calls, &shared, &flight);
    }
}
