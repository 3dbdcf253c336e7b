use std::time::Duration;

use super::ReachedLimit;

#[test]
fn limits_in_words() {
    let check = |reached: ReachedLimit, expected: &str| assert_eq!(reached.to_string(), expected);
    let seconds = Duration::from_secs;
    check(
        ReachedLimit::Time(seconds(1800)),
        "ran longer than 30m and was ended",
    );
    check(
        ReachedLimit::Time(seconds(5430)),
        "ran longer than 1h 30m 30s and was ended",
    );
    check(
        ReachedLimit::Time(Duration::from_millis(1500)),
        "ran longer than 1s 500ms and was ended",
    );
    check(
        ReachedLimit::Time(Duration::ZERO),
        "ran longer than no time and was ended",
    );
    check(
        ReachedLimit::Output(64 << 20),
        "printed more than 64 MiB and was ended",
    );
    check(
        ReachedLimit::Output(1000),
        "printed more than 1000 bytes and was ended",
    );
    check(
        ReachedLimit::Memory(8 << 30),
        "used more than 8 GiB of memory and was ended",
    );
    check(
        ReachedLimit::Tasks(4096),
        "could not start more than 4096 processes and threads",
    );
    check(
        ReachedLimit::FileSize(8 << 30),
        "could not write a file of more than 8 GiB",
    );
    check(
        ReachedLimit::Descriptors(4096),
        "could not open more than 4096 files in one process",
    );
}

#[test]
fn a_limit_is_offered_twice_as_high() {
    let check = |reached: ReachedLimit, expected: &str| {
        let hint = reached.denial("t").hint.unwrap();
        assert_eq!(hint, format!("[tools.t.sandbox.limits]\n{expected}\n"));
    };
    let seconds = Duration::from_secs;
    check(ReachedLimit::Time(seconds(1800)), "time = \"1h\"");
    check(ReachedLimit::Time(seconds(2700)), "time = \"90m\"");
    check(ReachedLimit::Time(seconds(45)), "time = \"90s\"");
    check(
        ReachedLimit::Time(Duration::from_millis(250)),
        "time = \"500ms\"",
    );
    check(ReachedLimit::Output(64 << 20), "output = \"128MiB\"");
    check(ReachedLimit::Output(1000), "output = 2000");
    check(ReachedLimit::Memory(8 << 30), "memory = \"16GiB\"");
    check(ReachedLimit::Tasks(4096), "processes = 8192");
    check(ReachedLimit::Descriptors(16), "descriptors = 32");
    check(ReachedLimit::FileSize(1 << 10), "file_size = \"2KiB\"");
}

#[test]
fn a_program_may_say_itself_what_it_came_up_against() {
    let limits = jig_sandbox::ProcessLimits {
        descriptors: Some(16),
        tasks: Some(6),
        ..jig_sandbox::ProcessLimits::default()
    };
    let check = |said: &str, expected: &[ReachedLimit]| {
        assert_eq!(ReachedLimit::told_by(said, &limits), expected, "{said}");
        assert_eq!(
            ReachedLimit::told_by(said, &jig_sandbox::ProcessLimits::default()),
            [],
            "{said}"
        );
    };
    let (files, tasks) = (ReachedLimit::Descriptors(16), ReachedLimit::Tasks(6));
    check("OSError: [Errno 24] Too many open files: 'x'", &[files]);
    check("sh: 1: Cannot fork", &[tasks]);
    check(
        "bash: fork: retry: Resource temporarily unavailable",
        &[tasks],
    );
    check("RuntimeError: can't start new thread", &[tasks]);
    check("read: Resource temporarily unavailable", &[]);
    check("no such file or directory", &[]);
}
