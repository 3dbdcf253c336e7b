use super::Outcome;

#[track_caller]
fn check(code: Option<i32>, output: &str, expected: (&str, &str)) {
    assert_eq!(Outcome::parse(code, output).parts(), expected, "{output:?}");
}

#[test]
fn a_verdict_counts_only_with_its_exit_code() {
    check(Some(0), "escaped: read it\n", ("escaped", "read it"));
    check(Some(1), "held: open: EACCES\n", ("held", "open: EACCES"));
    check(Some(2), "untried: no vsock\n", ("untried", "no vsock"));
    check(Some(0), "held: open\n", ("silent", "exited with code 0"));
    check(Some(1), "escaped: x\n", ("silent", "exited with code 1"));
    check(Some(101), "", ("silent", "exited with code 101"));
}

#[test]
fn the_last_verdict_counts() {
    let output = "noise\nheld: first try\nescaped: second try\nmore noise\n";
    check(Some(0), output, ("escaped", "second try"));
}

#[test]
fn who_was_killed_after_an_escape_has_escaped() {
    check(
        None,
        "escaped: 600 processes\n",
        ("escaped", "600 processes"),
    );
    check(None, "held: fork\n", ("silent", "was killed"));
    check(None, "", ("silent", "was killed"));
}
