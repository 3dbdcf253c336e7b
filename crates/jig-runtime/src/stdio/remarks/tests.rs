use super::{left_behind, wants_input};

#[test]
fn processes_are_named_whatever_they_call_themselves() {
    let check = |names: &[&str], expected: Option<&str>| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let told = left_behind(&names, false).map(|remark| remark.text);
        assert_eq!(told.as_deref(), expected);
    };
    check(&[], None);
    check(
        &["sleep"],
        Some("`sleep` was still running in the background and was ended with the call"),
    );
    check(
        &["a\u{1b}[31m", "b\nc"],
        Some("`a`, `b c` were still running in the background and were ended with the call"),
    );
}

#[test]
fn only_a_tool_that_cannot_be_spawned_is_told_to_become_stateful() {
    let hint = |is_stateful| {
        let remark = left_behind(&["sleep".to_owned()], is_stateful).unwrap();
        remark.hint.to_string()
    };
    assert_eq!(
        hint(true),
        "hint: to wait for it, end the script with `wait`"
    );
    assert!(hint(false).contains("set `stateful = true`"));
}

#[test]
fn only_what_speaks_of_input_wants_some() {
    assert!(wants_input(
        "Name: Traceback\nEOFError: EOF when reading a line\n"
    ));
    assert!(!wants_input("assertion failed"));
    assert!(!wants_input(&format!("EOFError{}", "x".repeat(10_000))));
}
