//! What other tests wait with.
#![expect(
    clippy::disallowed_methods,
    reason = "the tests start programs, themselves among them, and look at a file"
)]

use std::process::{Command, Stdio};
use std::time::Duration;

use jig_testkit::{ended, ended_within, is_alone, until, until_it_rests, within, working_in};

#[test]
fn a_process_is_waited_for_until_it_ends_or_the_time_is_over() {
    let folder = tempfile::tempdir().expect("there is room");
    let root = folder.path().canonicalize().expect("it is there");
    let mut child = Command::new("sleep")
        .arg("600")
        .current_dir(&root)
        .spawn()
        .expect("coreutils are installed");
    assert_eq!(ended_within(&mut child, Duration::from_millis(1)), None);
    until("it works in its folder", || {
        working_in(&root) == [child.id()]
    });
    child.kill().expect("it is ours");
    assert!(!ended(&mut child).success());
    assert!(!ended(&mut child).success(), "also when asked again");
    assert!(working_in(&root).is_empty());
}

#[test]
fn what_never_holds_is_not_waited_for_longer_than_wanted() {
    assert!(!within(Duration::from_millis(5), || false));
    let mut looks = 0;
    assert!(within(Duration::ZERO, || {
        looks += 1;
        true
    }));
    assert_eq!(looks, 1);
}

#[test]
fn a_number_rests_when_it_is_large_enough_and_does_not_grow() {
    let mut number = 0;
    let rests = until_it_rests("it is 30", 20, || {
        number = 30.min(number + 1);
        number
    });
    assert_eq!(rests, 30);
}

/// Where [`a_test_that_is_alone`] leaves the number of its process.
const MARK: &str = "JIG_TEST_MARK";

#[test]
fn a_test_that_is_alone() {
    if !is_alone() {
        return;
    }
    if let Some(mark) = std::env::var_os(MARK) {
        std::fs::write(mark, std::process::id().to_string()).expect("it is ours");
    }
}

/// As `cargo test` runs them, several tests of one process at a time.
#[test]
fn a_test_that_wants_to_be_alone_gets_a_process_of_its_own() {
    let folder = tempfile::tempdir().expect("there is room");
    let mark = folder.path().join("mark");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "wait::a_test_that_is_alone",
            "wait::what",
            "--test-threads=2",
        ])
        .env_remove("NEXTEST_EXECUTION_MODE")
        .env(MARK, &mark)
        .stdout(Stdio::null())
        .spawn()
        .expect("it can be run again");
    let started = child.id().to_string();
    assert!(ended(&mut child).success());
    assert_ne!(std::fs::read_to_string(&mark).expect("it ran"), started);
}
