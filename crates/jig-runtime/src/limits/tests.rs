use std::time::Duration;

use super::Reached;

#[test]
fn limits_in_words() {
    let check = |reached: Reached, expected: &str| assert_eq!(reached.to_string(), expected);
    let seconds = Duration::from_secs;
    check(
        Reached::Time(seconds(1800)),
        "ran longer than 30m and was ended",
    );
    check(
        Reached::Time(seconds(5430)),
        "ran longer than 1h 30m 30s and was ended",
    );
    check(
        Reached::Time(Duration::from_millis(1500)),
        "ran longer than 1s 500ms and was ended",
    );
    check(
        Reached::Time(Duration::ZERO),
        "ran longer than no time and was ended",
    );
    check(
        Reached::Output(64 << 20),
        "printed more than 64 MiB and was ended",
    );
    check(
        Reached::Output(1000),
        "printed more than 1000 bytes and was ended",
    );
    check(
        Reached::Memory(8 << 30),
        "used more than 8 GiB of memory and was ended",
    );
    check(
        Reached::Tasks(4096),
        "could not start more than 4096 processes and threads",
    );
    check(
        Reached::FileSize(8 << 30),
        "could not write a file of more than 8 GiB",
    );
    check(
        Reached::Descriptors(4096),
        "could not open more than 4096 files in one process",
    );
}
