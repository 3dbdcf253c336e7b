use super::*;

const RECORD: &str = r#"{"place":"a.rs:1","reason":"`jq`: it is not installed","program":"jq"}
{"place":"a.rs:1","reason":"`jq`: it is not installed","program":"jq"}
{"place":"b.rs:2","reason":"there is no IPv6","program":null}
"#;

#[test]
fn a_missing_program_fails_in_ci_and_is_named() {
    let skips = Skips::read(RECORD).unwrap();
    assert_eq!(report(&skips, false), Ok(()));
    assert_eq!(
        report(&skips, true),
        Err(
            "1 not run, because a program is missing:\n  a.rs:1: `jq`: it is not installed\n"
                .to_owned()
        )
    );
}

#[test]
fn a_gap_of_the_machine_fails_nowhere() {
    let skips = Skips::read(RECORD.lines().last().unwrap()).unwrap();
    assert_eq!(skips.of_machine.len(), 1);
    assert_eq!(report(&skips, true), Ok(()));
}
