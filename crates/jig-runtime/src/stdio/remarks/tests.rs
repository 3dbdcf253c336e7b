use super::{left_behind, wants_input};

#[test]
fn processes_are_named_whatever_they_call_themselves() {
    let check = |names: &[&str], expected: Option<&str>| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(left_behind(&names).as_deref(), expected);
    };
    check(&[], None);
    check(
        &["sleep"],
        Some(
            "`sleep` was still running in the background and was ended with the call: only a stateful tool can stay",
        ),
    );
    check(
        &["a\u{1b}[31m", "b\nc"],
        Some(
            "`a`, `b c` were still running in the background and were ended with the call: only a stateful tool can stay",
        ),
    );
}

#[test]
fn only_what_speaks_of_input_wants_some() {
    assert!(wants_input(
        "Name: Traceback\nEOFError: EOF when reading a line\n"
    ));
    assert!(!wants_input("assertion failed"));
    assert!(!wants_input(&format!("EOFError{}", "x".repeat(10_000))));
}
