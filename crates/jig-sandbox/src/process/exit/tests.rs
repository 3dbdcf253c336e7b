use super::*;

#[test]
fn it_is_said_in_words() {
    #[track_caller]
    fn check(exit: Exit, words: &str, json: &str) {
        assert_eq!(exit.to_string(), words);
        assert_eq!(serde_json::to_string(&exit).unwrap(), json);
    }
    let killed = |signal, core| Exit::Killed { signal, core };
    check(
        Exit::Exited { code: 0 },
        "exited with code 0",
        r#"{"how":"exited","code":0}"#,
    );
    check(
        killed(15, false),
        "was killed by SIGTERM",
        r#"{"how":"killed","signal":15,"core":false}"#,
    );
    for (exit, words) in [
        (killed(11, true), "was killed by SIGSEGV and dumped core"),
        (killed(31, false), "was killed by SIGSYS"),
        (killed(34, false), "was killed by signal 34"),
        (killed(0, false), "was killed by signal 0"),
        (killed(-1, false), "was killed by signal -1"),
    ] {
        assert_eq!(exit.to_string(), words);
    }
}

#[test]
fn only_code_zero_is_success() {
    assert!(Exit::Exited { code: 0 }.is_success());
    assert!(!Exit::Exited { code: 1 }.is_success());
    let killed = Exit::Killed {
        signal: 9,
        core: false,
    };
    assert!(!killed.is_success());
}
