use std::time::Duration;

use jig_runtime::{ReachedLimit, RunLimits};
use wasmtime::ResourceLimiter as _;

use super::{ELEMENTS, GuestEndReason, Meter};
use crate::engine::TABLE_ELEMENTS;

fn meter(memory: u64) -> Meter {
    Meter {
        started: std::time::Instant::now(),
        waited: Duration::ZERO,
        time: Some(Duration::from_secs(60)),
        memory_limit: memory,
        memory: 0,
        elements: 0,
        descriptors: 16,
    }
}

#[test]
fn x44_memories_are_counted_together() {
    let mut meter = meter(1000);
    assert!(meter.memory_growing(0, 400, None).unwrap());
    assert!(meter.memory_growing(0, 400, None).unwrap());
    // One that grows takes only what is new.
    assert!(meter.memory_growing(400, 600, None).unwrap());
    assert_eq!(meter.memory(), 1000);
    let error = meter.memory_growing(600, 601, None).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&GuestEndReason::Memory(1000)));
    assert_eq!(meter.memory(), 1000);
}

/// The engine reports growth as failed that it has never asked about (a table of 64 bits by `u64::MAX`
/// elements). Whoever gives back the growth before that has it for nothing.
#[test]
fn growth_that_failed_gives_nothing_back() {
    let mut meter = meter(1000);
    assert!(meter.memory_growing(0, 900, None).unwrap());
    meter
        .memory_grow_failed(wasmtime::Error::msg("no"))
        .unwrap();
    assert!(meter.memory_growing(900, 1001, None).is_err());

    assert!(meter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
    meter.table_grow_failed(wasmtime::Error::msg("no")).unwrap();
    assert!(meter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
    meter.table_grow_failed(wasmtime::Error::msg("no")).unwrap();
    assert!(meter.table_growing(0, TABLE_ELEMENTS, None).is_err());
}

#[test]
fn growth_beyond_what_is_declared_is_refused_and_not_counted() {
    let mut meter = meter(1000);
    assert!(!meter.memory_growing(0, 600, Some(500)).unwrap());
    assert!(!meter.memory_growing(0, 6000, Some(500)).unwrap());
    assert_eq!(meter.memory(), 0);
    assert!(meter.memory_growing(0, 500, Some(500)).unwrap());
    assert!(!meter.table_growing(0, 11, Some(10)).unwrap());
    assert_eq!(meter.elements, 0);
}

#[test]
fn x44_tables_are_counted_together() {
    let mut meter = meter(0);
    let too_many = meter.table_growing(0, TABLE_ELEMENTS + 1, None);
    let too_many = too_many.unwrap_err();
    assert!(matches!(
        too_many.downcast_ref(),
        Some(GuestEndReason::Table(_))
    ));
    for _ in 0..ELEMENTS / TABLE_ELEMENTS {
        assert!(meter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
    }
    assert!(meter.table_growing(0, 1, None).is_err());
}

#[test]
fn a_question_stops_the_clock() {
    let meter = Meter {
        waited: Duration::from_secs(5),
        time: Some(Duration::ZERO),
        ..meter(0)
    };
    let before = Duration::from_secs(5);
    assert_eq!(
        meter.check_time(before),
        Err(GuestEndReason::Time(Duration::ZERO))
    );
    // An hour of waiting since then.
    assert_eq!(meter.check_time(before + Duration::from_secs(3600)), Ok(()));
    assert!(meter.deadline(Duration::MAX).is_none());
}

#[test]
fn only_a_limit_that_can_be_set_is_told_as_one() {
    let check = |ended: GuestEndReason, expected: Option<ReachedLimit>| {
        let mut limits = RunLimits::default();
        limits.tree.memory = Some(100);
        limits.tree.descriptors = Some(7);
        assert_eq!(ended.reached(&limits), expected, "{ended:?}");
    };
    check(GuestEndReason::Memory(100), Some(ReachedLimit::Memory(100)));
    // The engine's own, below which the declared one does not matter.
    check(GuestEndReason::Memory(50), None);
    check(
        GuestEndReason::Descriptors(7),
        Some(ReachedLimit::Descriptors(7)),
    );
    check(GuestEndReason::Descriptors(6), None);
    check(GuestEndReason::Cancelled, None);
    check(GuestEndReason::Exit(0), None);
}
