use jig_runtime::HandleOptions;

use super::*;
use crate::testing::{reconfigure, server};

fn enter(shared: &SharedServer, name: &str) -> CallerPresence {
    shared.callers.enter(name, [0; 32], Turn::default)
}

#[test]
fn a_name_is_one_caller_until_its_turn_ends() {
    let shared = server(&[], &[]);
    let (first, again) = (enter(&shared, "a"), enter(&shared, "a"));
    assert!(Arc::ptr_eq(first.caller(), again.caller()));
    let other = enter(&shared, "b");
    assert!(!Arc::ptr_eq(first.caller(), other.caller()));
    let before = Arc::clone(first.caller());
    drop((first, again, other));
    assert!(shared.callers.has(&before));
    let left = shared.callers.leave_all(&shared.questions);
    assert_eq!(left.len(), 2);
    assert!(!shared.callers.has(&before));
    let after = enter(&shared, "a");
    assert!(!Arc::ptr_eq(&before, after.caller()));
    // The name is there again, and the old turn is not.
    assert!(!shared.callers.has(&before));
}

/// S-061: the ids of handles rise for the whole process: no two callers have the same, also if the turn of one has ended.
#[test]
fn s061_handles_of_all_callers_are_counted_together() {
    let shared = server(&[], &[]);
    let reserve = |visit: &CallerPresence| {
        let reserved = visit
            .turn
            .handles
            .reserve(None, "t", HandleOptions::default());
        reserved.unwrap().id().to_string()
    };
    let (one, other) = (enter(&shared, "a"), enter(&shared, "b"));
    let ids = [reserve(&one), reserve(&other), reserve(&one)];
    assert_eq!(ids, ["h_1", "h_2", "h_3"]);
    drop((one, other));
    shared.callers.leave_all(&shared.questions);
    assert_eq!(reserve(&enter(&shared, "a")), "h_4");
}

#[test]
fn nobody_is_idle_while_a_request_of_theirs_is_served() {
    let shared = server(&[], &[]);
    let (one, two) = (enter(&shared, "a"), enter(&shared, "a"));
    let idle = || shared.callers.leave_idle(Duration::ZERO, &shared.questions);
    assert!(idle().is_empty());
    drop(one);
    assert!(idle().is_empty());
    drop(two);
    let hour = Duration::from_secs(3600);
    assert!(
        shared
            .callers
            .leave_idle(hour, &shared.questions)
            .is_empty()
    );
    assert_eq!(idle().len(), 1);
    assert!(idle().is_empty());
}

#[test]
fn an_ended_turn_starts_nothing_more() {
    let shared = server(&[], &[]);
    let visit = enter(&shared, "a");
    let left = shared.callers.leave_all(&shared.questions);
    end(&shared, &left, &CancelToken::new());
    let handles = &visit.turn.handles;
    let refused = handles.reserve(None, "shell", HandleOptions::default());
    assert!(refused.is_err());
}

#[test]
fn each_generation_has_one_engine_for_each_caller() {
    let shared = server(&[], &[]);
    let (a, b) = (enter(&shared, "a"), enter(&shared, "b"));
    let first = a.engine(&shared);
    assert!(Arc::ptr_eq(&first, &a.engine(&shared)));
    assert!(!Arc::ptr_eq(&first, &b.engine(&shared)));
    assert!(Arc::ptr_eq(&first.handles, &a.turn.handles));
    reconfigure(&shared, &["tools.fs_read_file.run=ask"]);
    let second = a.engine(&shared);
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&second.handles, &a.turn.handles));
}
