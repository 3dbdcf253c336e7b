use super::*;

fn path(text: &str) -> ObservedTarget {
    ObservedTarget::Path(text.into())
}

#[track_caller]
fn check(notes: &[(&str, Rights, &str)], expected: &[(&str, Rights, bool, &[&str], u64)]) {
    let mut ledger = ObservationLedger::default();
    for (text, wanted, program) in notes {
        ledger.note(path(text), *wanted, &Arc::from(*program));
    }
    let seen = ledger.close().seen;
    let expected: Vec<ObservedAccess> = expected
        .iter()
        .map(|(text, wanted, looked, programs, count)| ObservedAccess {
            target: path(text),
            wanted: *wanted,
            looked: *looked,
            programs: programs.iter().map(|name| (*name).to_owned()).collect(),
            count: *count,
        })
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn each_thing_is_there_once_in_the_order_of_its_first_time() {
    check(
        &[
            ("/b", Rights::READ, "cat"),
            ("/a", Rights::READ, "cat"),
            ("/b", Rights::UPDATE, "sh"),
            ("/b", Rights::UPDATE, "cat"),
        ],
        &[
            (
                "/b",
                Rights::READ.with(Rights::UPDATE),
                false,
                &["cat", "sh"],
                3,
            ),
            ("/a", Rights::READ, false, &["cat"], 1),
        ],
    );
}

#[test]
fn looking_counts_until_more_was_wanted() {
    check(
        &[("/a", Rights::NONE, "sh")],
        &[("/a", Rights::READ, true, &["sh"], 1)],
    );
    check(
        &[("/a", Rights::NONE, "sh"), ("/a", Rights::DELETE, "rm")],
        &[("/a", Rights::DELETE, false, &["sh", "rm"], 2)],
    );
}

#[test]
fn an_address_is_not_looked_at() {
    let mut ledger = ObservationLedger::default();
    let address = ObservedTarget::Address(([127, 0, 0, 1], 80).into());
    ledger.note(address, Rights::NONE, &Arc::from("curl"));
    let seen = ledger.close().seen;
    assert_eq!((seen[0].wanted, seen[0].looked), (Rights::NONE, false));
}

#[test]
fn it_has_its_limits() {
    let program = Arc::from("sh");
    let mut ledger = ObservationLedger::default();
    for number in 0..MOST_THINGS + 3 {
        ledger.note(path(&format!("/{number}")), Rights::READ, &program);
    }
    // What is known is counted on.
    ledger.note(path("/0"), Rights::READ, &program);
    let observation = ledger.close();
    assert_eq!((observation.seen.len(), observation.lost), (MOST_THINGS, 3));
    assert_eq!(observation.seen[0].count, 2);

    let mut ledger = ObservationLedger::default();
    for number in 0..4096 {
        let name = format!("/{number}{}", "x".repeat(4000));
        ledger.note(path(&name), Rights::READ, &program);
    }
    assert!(ledger.bytes <= MOST_BYTES);
    let observation = ledger.close();
    assert_eq!(observation.seen.len() as u64 + observation.lost, 4096);

    let mut ledger = ObservationLedger::default();
    for number in 0..100 {
        ledger.note(path("/"), Rights::READ, &Arc::from(number.to_string()));
    }
    assert_eq!(ledger.close().seen[0].programs.len(), MOST_PROGRAMS);
}
