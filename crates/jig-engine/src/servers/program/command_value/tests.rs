//! Commands that print a value: what comes of them, and that nothing else does.

use jig_broker::HostEnv;

use super::{MOST, printed_by};

fn printed(words: &[&str]) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let path = std::env::var("PATH").unwrap_or_default();
    let env: HostEnv = [("PATH", path.as_str()), ("SAID", "by the user")]
        .into_iter()
        .collect();
    printed_by(&words, &env, None)
}

#[test]
fn what_a_command_prints_is_the_value() {
    let check = |words: &[&str], expected: &str| {
        assert_eq!(printed(words).as_deref(), Ok(expected), "{words:?}");
    };
    check(&["echo", "value"], "value\n");
    check(&["/bin/sh", "-c", "printf %s \"$SAID\""], "by the user");
    check(&["sh", "-c", "cat; pwd"], "/\n");
    check(&["sh", "-c", "echo noise >&2; echo value"], "value\n");
}

#[test]
fn a_command_that_fails_gives_nothing_of_what_it_printed() {
    let check = |words: &[&str], expected: &str| {
        let error = printed(words).expect_err("it fails");
        assert!(error.contains(expected), "{words:?}: {error}");
        assert!(!error.contains("hunter2"), "{words:?}: {error}");
    };
    check(&[], "no words");
    check(
        &["sh", "-c", "echo hunter2; echo hunter2 >&2; exit 4"],
        "exited with code 4",
    );
    check(&["sh", "-c", "echo hunter2; kill -9 $$"], "SIGKILL");
    check(&["sh", "-c", "printf '\\377hunter2'"], "not text");
    check(&["./relative"], "./relative");
    check(&["no-such-program-anywhere"], "no-such-program-anywhere");
    let flood = format!("head -c {} /dev/zero", 4 * MOST);
    check(&["sh", "-c", &flood], "more than a value");
}
