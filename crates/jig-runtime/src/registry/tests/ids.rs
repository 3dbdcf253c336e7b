use std::sync::{Arc, Barrier};
use std::thread;

use super::*;
use crate::HandleError;

/// S-061: ids count up, whatever has ended between.
#[test]
fn s061_numbers_rise() {
    let handles = Handles::default();
    let mut tools = Vec::new();
    for number in 1..=3 {
        let (session, tool) = Tool::new();
        assert_eq!(add(&handles, None, session), HandleId::numbered(number));
        tools.push(tool);
    }
    tools[2].stops("done");
    fetch(&handles, &id_of("h_3"));
    let (session, _tool) = Tool::new();
    assert_eq!(add(&handles, None, session).as_str(), "h_4");
}

/// S-061: turns that count together never make the same id: the numbers rise for the process.
#[test]
fn s061_numbers_rise_over_turns() {
    let numbers = crate::HandleNumbers::default();
    let turn = || {
        let handles = Handles::default();
        handles.count_with(&numbers);
        handles
    };
    let (one, other) = (turn(), turn());
    let mut tools = Vec::new();
    let mut ids = Vec::new();
    for handles in [&one, &other, &one, &turn()] {
        let (session, tool) = Tool::new();
        ids.push(add(handles, None, session).to_string());
        tools.push(tool);
    }
    assert_eq!(ids, ["h_1", "h_2", "h_3", "h_4"]);
}

/// a number that a caller has chosen is passed over, also after it has ended.
#[test]
fn x20_a_chosen_number_is_not_given_again() {
    let handles = Handles::default();
    let (session, tool) = Tool::new();
    add(&handles, Some("h_2"), session);
    let (session, _live) = Tool::new();
    add(&handles, Some("h_3"), session);
    tool.stops("done");
    fetch(&handles, &id_of("h_2"));
    let ids: Vec<String> = (0..2)
        .map(|_| {
            let reserved = handles.reserve(None, "t", HandleOptions::default());
            reserved.unwrap().fill(Tool::new().0).to_string()
        })
        .collect();
    assert_eq!(ids, ["h_1", "h_4"]);
}

/// an id of the caller's is unique among live handles, and free again afterwards.
#[test]
fn x20_a_chosen_id_is_unique_while_it_lives() {
    let handles = Handles::default();
    let (session, tool) = Tool::new();
    let id = add(&handles, Some("build"), session);
    let taken = handles
        .reserve(Some(id.clone()), "u", HandleOptions::default())
        .unwrap_err();
    assert!(
        matches!(&taken, HandleError::Taken { tool, .. } if tool == "t"),
        "{taken}"
    );
    tool.stops("done");
    // Its result is still to be had.
    let reserved = handles.reserve(Some(id.clone()), "u", HandleOptions::default());
    assert!(reserved.is_err());
    fetch(&handles, &id);
    let reserved = handles.reserve(Some(id), "u", HandleOptions::default());
    assert!(reserved.is_ok());
}

/// of two that want the same id at once, one gets it.
#[test]
fn x20_one_of_many_gets_an_id() {
    let handles = Arc::new(Handles::default());
    for round in 0..20 {
        let barrier = Arc::new(Barrier::new(8));
        let threads = (0..8).map(|_| {
            let (handles, barrier) = (Arc::clone(&handles), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                let id = Some(id_of(&format!("round-{round}")));
                let reserved = handles.reserve(id, "t", HandleOptions::default());
                // All have tried before one is given back.
                barrier.wait();
                reserved.is_ok()
            })
        });
        let won = all(threads.collect());
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
    }
}

/// A start that fails leaves nothing behind.
#[test]
fn a_reservation_that_is_dropped_frees_the_id() {
    let handles = Handles::new(limits(1, 1));
    let id = id_of("build");
    let reserved = handles
        .reserve(Some(id.clone()), "t", HandleOptions::default())
        .unwrap();
    assert!(matches!(
        handles.fetch("t", &id, &Fetch::default(), None),
        Err(HandleError::Starting { .. })
    ));
    assert_eq!(handles.counts().live, 1);
    drop(reserved);
    assert_eq!(handles.counts().live, 0);
    assert!(
        handles
            .reserve(Some(id), "t", HandleOptions::default())
            .is_ok()
    );
}

/// The number of live handles is bounded; those that have stopped do not count.
#[test]
fn too_many_handles_are_refused() {
    let handles = Handles::new(limits(2, 8));
    let (session, tool) = Tool::new();
    add(&handles, None, session);
    let reserved = handles
        .reserve(None, "t", HandleOptions::default())
        .unwrap();
    let refused = handles.reserve(None, "t", HandleOptions::default());
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, HandleError::TooMany { limit: 2 }),
        "{refused}"
    );
    tool.stops("done");
    assert_eq!((handles.counts().live, handles.counts().stopped), (1, 1));
    assert!(handles.reserve(None, "t", HandleOptions::default()).is_ok());
    follow("abort some of them first", &refused.to_string(), "");
    drop(reserved);
}

/// S-064: two handles of one tool do not know each other.
#[test]
fn s064_handles_of_one_tool_are_apart() {
    let handles = Handles::default();
    let (first, one) = Tool::new();
    let (second, other) = Tool::new();
    let (first, second) = (add(&handles, None, first), add(&handles, None, second));
    one.says("one\n");
    other.says("other\n");
    assert_eq!(text(&fetch(&handles, &second)), "other\n");
    assert_eq!(text(&fetch(&handles, &first)), "one\n");
}
