use std::fs;

use super::Slot;

#[test]
fn a_slot_is_used_by_one_at_a_time_and_keeps_its_folders() {
    let state = tempfile::tempdir().unwrap();
    let take = |owner: &str| {
        Slot::take(state.path(), "caches", [owner])
            .unwrap()
            .unwrap()
    };
    let first = take("a");
    let kept = first.folder("kept").unwrap();
    fs::write(kept.join("x"), "1").unwrap();
    let second = take("a");
    assert_ne!(second.folder("kept").unwrap(), kept);
    assert_ne!(take("b").folder("kept").unwrap(), kept);
    drop(first);
    let again = take("a");
    assert_eq!(again.folder("kept").unwrap(), kept);
    assert_eq!(fs::read_to_string(kept.join("x")).unwrap(), "1");
    let emptied = again.empty_folder("kept").unwrap();
    assert_eq!(fs::read_dir(emptied).unwrap().count(), 0);
}

#[test]
fn when_all_slots_are_in_use_there_is_none() {
    let state = tempfile::tempdir().unwrap();
    let take = || Slot::take(state.path(), "caches", ["a"]).unwrap();
    let held: Vec<Slot> = std::iter::from_fn(take).collect();
    assert_eq!(held.len(), super::MOST_SLOTS);
}
