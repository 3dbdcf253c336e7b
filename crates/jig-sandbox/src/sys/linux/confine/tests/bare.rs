//! Without namespaces.

use super::*;

const TREE: &str = "/w/.env /w/a/ /f /dev/null /proc/cpuinfo /proc/self->1 /proc/1/ /tmp/";

#[track_caller]
fn check(text: &str, expected: &[&str], gaps: &[&str]) {
    let mut asked = profile(text);
    asked.enforce = Enforce::BestEffort;
    let confinement = compiled(TREE, &asked, Tier::B, 7).unwrap();
    let steps: Vec<String> = lines(&confinement.steps)
        .into_iter()
        .filter(|line| !line.contains("/dev/") && !line.contains("/proc/"))
        .collect();
    assert_eq!(steps, expected);
    assert_eq!(confinement.gaps, gaps);
    assert!(confinement.base.is_empty() && !confinement.namespaces);
}

#[test]
fn rules_are_given_to_landlock_with_the_paths_of_the_host() {
    check(
        "d r /w\ns rx /missing\nd ru /f\ns r /w/a",
        &[
            "allow /f write+read+truncate",
            "allow /w read+list",
            "allow /w/a read+list?",
        ],
        &[],
    );
    check(
        "d ru /w/a\nd r /w",
        &["allow /w read+list", "allow /w/a write+read+list+truncate"],
        &[],
    );
}

#[test]
fn only_harmless_devices_and_facts_are_granted_besides() {
    let confinement = compiled(TREE, &profile(""), Tier::B, 7).unwrap();
    assert_eq!(
        lines(&confinement.steps),
        [
            "allow /dev/null write+read+truncate+ioctl?",
            "allow /proc/cpuinfo read?"
        ]
    );
}

#[test]
fn nothing_can_be_withheld_inside_a_grant() {
    for (text, open) in [
        ("d rcud /w\nd r /w/a", "create, update, delete"),
        ("d rx /w\nd - /w/.env", "read, execute"),
        ("d rcud /w\nd ru /w/a", "create, delete"),
    ] {
        let reason = refusal(TREE, text, Tier::B);
        assert!(
            reason.contains(&format!("it withholds {open}, but")),
            "{reason}"
        );
        assert!(
            reason.contains("jig doctor") && reason.contains("best-effort"),
            "{reason}"
        );
        // What nobody declared is held no less.
        let guarded = text.replace("\nd", "\ng");
        assert_eq!(refusal(TREE, &guarded, Tier::B), reason);
        let mut willing = profile(&guarded);
        willing.enforce = Enforce::BestEffort;
        let gaps = compiled(TREE, &willing, Tier::B, 7).unwrap().gaps;
        assert!(gaps[0].contains(&format!("is open to {open}")), "{gaps:?}");
    }
}

#[test]
fn gaps_of_files_are_named() {
    check(
        "d r /w\ng - /w/.env\np /tmp",
        &["allow /w read+list"],
        &[
            "the tool has no directory of its own at `/tmp`, and none of the host's",
            "`/w/.env` is open to read, because a rule above it allows that, and without namespaces \
             nothing below can be withheld",
        ],
    );
    check(
        "d rc /w\ng - /w/missing",
        &["allow /w write+read+list+mkdir+reg+sock+fifo+sym+refer"],
        &[
            "what exists in `/w` can be changed too, because the kernel does not tell that from creating",
            "`/w/missing` does not exist yet, so nothing keeps the tool from creating it; it is looked \
             for after the call",
        ],
    );
    check(
        "p /tmp\ndoor /tmp/door",
        &[],
        &[
            "the tool has no directory of its own at `/tmp`, and none of the host's",
            "there is no socket at `/tmp/door`",
        ],
    );
    let refused = refusal(TREE, "p /tmp\ndoor /tmp/door", Tier::B);
    assert!(refused.contains("no socket at `/tmp/door`"), "{refused}");
}
