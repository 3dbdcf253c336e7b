//! `jp:host/process`.

use serde_json::json;

use crate::common::Tried;
use crate::host::answer;

fn workspace() -> Tried {
    Tried::disk("hosted")
        .file("a.txt", "hello")
        .file("src/b.txt", "below")
        .rules("commands = { cat = { envs = [\"WORD\"] }, sh = { args = [[\"-c\", \"**\"]], envs = [\"WORD\"] } }")
}

/// V-008: programs by `jp:host`.
#[test]
fn a_program_that_a_rule_allows_runs_to_its_end() {
    let (line, done) = answer(workspace(), &json!(["run", "cat", ["a.txt"]]));
    assert_eq!(line, r#"0 "hello" """#);
    assert_eq!(done.decisions(), ["process.run cat a.txt allow"]);
    let script = "cat; echo oops >&2; exit 3";
    let (line, _) = answer(workspace(), &json!(["run", "sh", ["-c", script]]));
    assert_eq!(line, r#"3 "" "oops\n""#);
    let (line, _) = answer(workspace(), &json!(["run", "sh", ["-c", "kill -9 $$"]]));
    assert_eq!(line, r#"137 "" """#);
}

#[test]
fn it_starts_where_the_guest_says() {
    let (line, _) = answer(workspace(), &json!(["run", "cat", ["b.txt"], "src"]));
    assert_eq!(line, r#"0 "below" """#);
    for (cwd, expected) in [
        ("..", "leads out of the workspace"),
        ("/etc", "leads out of the workspace"),
        ("nothing", "\"nothing\" does not exist"),
        ("a.txt", "\"a.txt\" is not a directory"),
    ] {
        let (line, _) = answer(workspace(), &json!(["run", "cat", ["b.txt"], cwd]));
        assert!(
            line.starts_with("error: ") && line.contains(expected),
            "{line}"
        );
    }
    let closed =
        workspace().rules("commands = { cat = {} }\nfs = [{ path = \"src\", read = false }]");
    let (line, done) = answer(closed, &json!(["run", "cat", ["b.txt"], "src"]));
    assert!(
        line.starts_with("error: access denied: read on `src`"),
        "{line}"
    );
    assert_eq!(done.decisions(), ["process.run src deny"]);
}

#[test]
fn w022_no_program_runs_without_a_rule() {
    for (program, args) in [
        ("ls", json!([])),
        ("sh", json!(["a.sh"])),
        ("/bin/cat", json!([])),
    ] {
        let (line, done) = answer(workspace(), &json!(["run", program, args]));
        assert!(
            line.starts_with("error: access denied: "),
            "{program}: {line}"
        );
        let decisions = done.decisions();
        assert!(
            decisions.iter().all(|line| !line.ends_with("allow")),
            "{decisions:?}"
        );
    }
}

/// It gets what the rule grants, and the guest does not see it.
#[test]
fn a_variable_goes_to_the_program_and_not_to_the_guest() {
    let script = "test \"$WORD\" = s3cret-value && echo \"it is $WORD\"";
    let (line, _) = answer(
        workspace().variable("WORD", "s3cret-value"),
        &json!(["run", "sh", ["-c", script], null, ["WORD", "OTHER"]]),
    );
    assert_eq!(line, r#"0 "it is [REDACTED]\n" """#);
}
