//! What a server says: all is read, the end is kept, nothing hidden gets through.

use std::io::Write as _;
use std::os::fd::AsFd as _;

use jig_broker::Secrets;
use jig_sandbox::set_nonblocking;

use super::{KEPT, LAST_WORDS, ServerStderr};

/// What is kept of these pieces, each said before the next is read, with `hunter2-token` for a secret.
fn heard(pieces: &[&[u8]]) -> ServerStderr {
    let secrets = Secrets::new();
    secrets.remember("hunter2-token");
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    set_nonblocking(reader.as_fd(), true).expect("a pipe can");
    let mut errors = ServerStderr::new(Some(reader), &secrets);
    for piece in pieces {
        writer.write_all(piece).expect("somebody reads");
        errors.read();
    }
    errors
}

fn check(pieces: &[&[u8]], expected: &str) {
    let mut errors = heard(pieces);
    errors.finish();
    assert_eq!(errors.last_words(), expected, "{pieces:?}");
}

#[test]
fn what_is_kept_is_text_without_secrets() {
    check(&[], "");
    check(&[b"one\n", b"two\n"], "one\ntwo");
    check(&[b"  \n\n"], "");
    check(&[b"\x1b[31mred\x1b[0m\x07"], "red");
    check(&[b"no \xff text"], "no \u{fffd} text");
    check(&[b"key: hunter2-token."], "key: [REDACTED].");
    // Neither the end of a piece nor a sequence in its middle gets it through.
    check(&[b"key: hunter2", b"-token."], "key: [REDACTED].");
    check(&[b"key: hun\x1b[1mter2-token."], "key: [REDACTED].");
}

#[test]
fn an_end_that_may_become_a_secret_is_not_shown_before_that_is_known() {
    let errors = heard(&[b"key: hunter2-tok"]);
    assert_eq!(errors.last_words(), "key:");
}

#[test]
fn the_end_is_kept_and_the_rest_is_counted() {
    let lines: Vec<String> = (0..20_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    let pieces: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let errors = heard(&pieces);
    let total: usize = lines.iter().map(String::len).sum();
    assert_eq!(errors.total(), total as u64);
    assert!(errors.kept.len() <= 2 * KEPT);
    let words = errors.last_words();
    assert!(words.len() <= LAST_WORDS);
    assert!(words.starts_with("line "), "{words:.20}");
    assert!(words.ends_with("line 19999"));

    // What was said after a moment, also if much of that is gone.
    let last = lines.last().expect("some");
    assert_eq!(errors.since(errors.total() - last.len() as u64), *last);
    assert_eq!(errors.since(errors.total()), "");
    assert_eq!(errors.since(u64::MAX), "");
    assert_eq!(errors.since(0).len(), errors.kept.len());
}

#[test]
fn cuts_are_between_characters() {
    let text = "ä".repeat(3 * KEPT);
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(1001).collect();
    let errors = heard(&pieces);
    assert!(errors.last_words().chars().all(|one| one == 'ä'));
    for back in 0..8 {
        let since = errors.since(errors.total() - back);
        assert!(since.chars().all(|one| one == 'ä'));
    }
}
