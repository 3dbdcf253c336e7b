use std::time::Duration;

use jig_proto::Denial;

use super::{bounded, chain, denied, restarted, time, with_last_words};

#[test]
fn times_are_said_as_people_say_them() {
    let check = |millis: u64, said: &str| assert_eq!(time(Duration::from_millis(millis)), said);
    check(0, "0 ms");
    check(500, "500 ms");
    check(1500, "1 s");
    check(60_000, "60 s");
    check(600_000, "10 min");
    check(7_200_000, "2 h");
}

#[test]
fn last_words_are_the_end_of_what_was_printed() {
    let check = |printed: &str, told: &str| assert_eq!(with_last_words("it ended", printed), told);
    check("", "it ended");
    check(" \n\n", "it ended");
    check("a\nb\n", "it ended\nit last printed:\n  a\n  b");
    check(
        "\u{1b}[31mred",
        "it ended\nit last printed:\n  \\u{1b}[31mred",
    );
    // Much is cut, at a whole character.
    let long = format!("{}the end", "é".repeat(4000));
    let told = with_last_words("it ended", &long);
    assert!(
        told.ends_with("éthe end") && told.len() < 1200,
        "{}",
        told.len()
    );
}

#[test]
fn a_few_denials_are_told_and_the_rest_counted() {
    let all: Vec<Denial> = ["a", "b", "c", "d", "e"]
        .map(|host| Denial::new("connect", host, "no rule"))
        .to_vec();
    assert_eq!(denied(&[]), "");
    assert_eq!(
        denied(&all[..2]),
        "\ndenied: connect on `a`: no rule\ndenied: connect on `b`: no rule"
    );
    assert!(!denied(&all[..3]).contains("more"));
    let told = denied(&all);
    assert!(told.contains("`c`") && !told.contains("`d`"), "{told}");
    assert!(
        told.ends_with("\nand 2 more, which `jig log` shows"),
        "{told}"
    );
}

#[test]
fn words_of_others_are_printable_and_bounded() {
    assert_eq!(bounded("a\u{7}b"), "a\\u{7}b");
    let long = bounded(&"é".repeat(10_000));
    assert!(long.ends_with('…') && long.len() < 5000, "{}", long.len());
}

#[test]
fn causes_are_told_once() {
    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] Inner);
    #[derive(Debug, thiserror::Error)]
    #[error("inner")]
    struct Inner;
    assert_eq!(chain(&Outer(Inner)), "outer\ninner");
    #[derive(Debug, thiserror::Error)]
    #[error("outer, because of inner")]
    struct Both(#[source] Inner);
    assert_eq!(chain(&Both(Inner)), "outer, because of inner");
}

#[test]
fn a_restart_names_the_server_and_the_reason() {
    let told = restarted("git", "it exited with code 1");
    assert!(
        told.contains("`git`") && told.contains("it exited with code 1"),
        "{told}"
    );
}
