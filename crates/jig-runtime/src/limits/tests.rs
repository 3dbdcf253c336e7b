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

#[test]
fn a_limit_is_offered_twice_as_high() {
    let check = |reached: Reached, expected: &str| {
        let hint = reached.denial("t").hint.unwrap();
        assert_eq!(hint, format!("[tools.t.sandbox.limits]\n{expected}\n"));
    };
    let seconds = Duration::from_secs;
    check(Reached::Time(seconds(1800)), "time = \"1h\"");
    check(Reached::Time(seconds(2700)), "time = \"90m\"");
    check(Reached::Time(seconds(45)), "time = \"90s\"");
    check(
        Reached::Time(Duration::from_millis(250)),
        "time = \"500ms\"",
    );
    check(Reached::Output(64 << 20), "output = \"128MiB\"");
    check(Reached::Output(1000), "output = 2000");
    check(Reached::Memory(8 << 30), "memory = \"16GiB\"");
    check(Reached::Tasks(4096), "processes = 8192");
    check(Reached::Descriptors(16), "descriptors = 32");
    check(Reached::FileSize(1 << 10), "file_size = \"2KiB\"");
}

#[test]
fn a_program_may_say_itself_what_it_came_up_against() {
    let limits = jig_sandbox::Limits {
        descriptors: Some(16),
        tasks: Some(6),
        ..jig_sandbox::Limits::default()
    };
    let check = |said: &str, expected: &[Reached]| {
        assert_eq!(Reached::told_by(said, &limits), expected, "{said}");
        assert_eq!(
            Reached::told_by(said, &jig_sandbox::Limits::default()),
            [],
            "{said}"
        );
    };
    let (files, tasks) = (Reached::Descriptors(16), Reached::Tasks(6));
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
