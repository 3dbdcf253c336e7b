//! What is told of a server: each thing once, the last of it, in bounds.

use jig_proto::Denial;

use super::{MOST_TOLD, RecentRefusals, hash};

fn denial(target: &str, count: u64) -> Denial {
    Denial {
        count,
        ..Denial::new("read", target, "it is hidden")
    }
}

/// The targets and counts of what is told after a batch.
fn after(told: &RecentRefusals, batch: u64) -> Vec<(&str, u64)> {
    let later = told.ring.iter().filter(|entry| entry.batch > batch);
    later
        .map(|entry| (entry.denial.target.as_str(), entry.denial.count))
        .collect()
}

#[test]
fn what_is_refused_again_is_told_to_all_who_asked_before() {
    let mut told = RecentRefusals::default();
    told.add(1, vec![denial("a", 1), denial("b", 2)]);
    told.add(1, vec![denial("b", 3)]);
    told.add(3, vec![denial("a", 4)]);
    assert_eq!(after(&told, 0), [("b", 5), ("a", 4)]);
    assert_eq!(after(&told, 1), [("a", 4)]);
    assert_eq!(after(&told, 3), []);
}

#[test]
fn no_more_is_kept_than_there_is_room_for() {
    let mut told = RecentRefusals::default();
    for number in 0..1000 {
        told.add(number, vec![denial(&format!("file {number}"), 1)]);
    }
    assert_eq!(told.ring.len(), MOST_TOLD);
    assert_eq!(after(&told, 998), [("file 999", 1)]);
}

#[test]
fn how_often_makes_no_difference_for_the_log() {
    assert_eq!(hash(&denial("a", 1)), hash(&denial("a", 7)));
    assert_ne!(hash(&denial("a", 1)), hash(&denial("b", 1)));
}
