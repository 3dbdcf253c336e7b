//! `jig doctor`.

use super::Workspace;

#[test]
fn the_doctor_names_a_tier_and_a_remedy_for_every_gap() {
    let report = Workspace::new().json(&["doctor"]);
    assert!(
        ["a", "b", "none"].contains(&report["tier"].as_str().unwrap()),
        "{report:#}"
    );
    let findings = report["findings"].as_array().unwrap();
    let names: Vec<&str> = findings
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for expected in [
        "landlock",
        "seccomp",
        "namespaces",
        "cgroup",
        "wasm-compiler",
    ] {
        assert!(names.contains(&expected), "{expected} in {names:?}");
    }
    for finding in findings {
        let fine = finding["level"] == "ok";
        assert_eq!(finding["remedy"].is_string(), !fine, "{finding:#}");
        assert_eq!(finding["gap"].is_string(), !fine, "{finding:#}");
    }
}

#[test]
fn people_get_the_same_in_words() {
    let workspace = Workspace::new();
    let report = workspace.json(&["doctor"]);
    let text = workspace.run(&["doctor"]);
    for finding in report["findings"].as_array().unwrap() {
        assert!(
            text.contains(finding["what"].as_str().unwrap()),
            "{finding:#} in {text}"
        );
    }
}
