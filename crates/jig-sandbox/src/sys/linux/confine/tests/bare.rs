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

const ALL: &str = "write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate";

/// Landlock cannot take back below what it has granted above. So what is beside something withheld is granted name by
/// name, and in the directories above it no name can be made or removed.
#[test]
fn what_holds_something_withheld_is_granted_name_by_name() {
    #[track_caller]
    fn check(text: &str, expected: &[&str], unchangeable: &[&str]) {
        let tree = "/w/.env /w/README /w/.git/config /w/.git/HEAD /w/.git/hooks/ /w/.git/objects/ /w/a/x \
                    /w/to-env->.env /w/private/key";
        let confinement = compiled(tree, &profile(text), Tier::B, 7).unwrap();
        let expected: Vec<String> = expected
            .iter()
            .map(|line| line.replace("ALL", ALL))
            .collect();
        assert_eq!(lines(&confinement.steps), expected);
        let paths: Vec<&Path> = unchangeable.iter().map(Path::new).collect();
        assert_eq!(confinement.unchangeable, paths);
        let is_told = |gap: &String| gap.starts_with("nothing can be made, removed or renamed");
        assert_eq!(confinement.gaps.iter().any(is_told), !paths.is_empty());
    }
    // A secret: nothing but names can be seen where it lies.
    check(
        "d rcud /w\ni - /w/.env",
        &[
            "allow /w list",
            "allow /w/.git ALL?",
            "allow /w/README write+read+truncate?",
            "allow /w/a ALL?",
            "allow /w/private ALL?",
        ],
        &["/w"],
    );
    // What may be read and not changed: its neighbours can be read whenever they come into being.
    check(
        "d rcud /w\ni r /w/.git/config",
        &[
            "allow /w read+list",
            "allow /w/.env write+read+truncate?",
            "allow /w/.git read+list?",
            "allow /w/.git/HEAD write+read+truncate?",
            "allow /w/.git/hooks ALL?",
            "allow /w/.git/objects ALL?",
            "allow /w/README write+read+truncate?",
            "allow /w/a ALL?",
            "allow /w/private ALL?",
            "allow /w/.git/config read",
        ],
        &["/w", "/w/.git"],
    );
    // What a person hides keeps its names for itself; they can be seen of what is sensitive anyway.
    check(
        "d r /w/private\nd r /w\nd - /w/.git",
        &[
            "allow /w/.env read?",
            "allow /w/README read?",
            "allow /w/a read+list?",
            "allow /w/private read+list",
        ],
        &[],
    );
    check(
        "d r /w/.git\ni - /w/.git/hooks",
        &[
            "allow /w/.git list",
            "allow /w/.git/HEAD read?",
            "allow /w/.git/config read?",
            "allow /w/.git/objects read+list?",
        ],
        &[],
    );
    // A private directory is not the host's, and less is given back below what is withheld.
    check(
        "d r /w\np /w/private\nd - /w/.git\nd r /w/.git/objects",
        &[
            "allow /w/.env read?",
            "allow /w/README read?",
            "allow /w/a read+list?",
            "allow /w/.git/objects read+list",
        ],
        &[],
    );
    // The system's secrets are held as well.
    check(
        "s r /w\ns - /w/private",
        &[
            "allow /w list?",
            "allow /w/.env read?",
            "allow /w/.git read+list?",
            "allow /w/README read?",
            "allow /w/a read+list?",
        ],
        &[],
    );
}

/// A rule of Landlock is one for the file, by whichever name.
#[test]
fn another_name_of_what_is_withheld_is_not_granted() {
    let tree = "/w/linked.env /w/linked-copy /w/other";
    let confinement = compiled(tree, &profile("d rcud /w\ni - /w/linked.env"), Tier::B, 7).unwrap();
    assert_eq!(
        lines(&confinement.steps),
        ["allow /w list", "allow /w/other write+read+truncate?"]
    );
    let gaps = confinement.gaps;
    assert!(
        gaps.iter().any(|gap| gap.contains("other names")),
        "{gaps:?}"
    );
}

/// Whether or not less would do, sockets stay closed.
#[test]
fn too_many_names_are_refused() {
    let tree = "/w/full/.env /w/full/a";
    for text in [
        "d rx /w/full\nd - /w/full/.env",
        "d rx /w\ng - /w/full/.env",
    ] {
        let reason = refusal(tree, text, Tier::B);
        for part in [
            "it withholds read, execute, but",
            "too many",
            "jig doctor",
            "best-effort",
        ] {
            assert!(reason.contains(part), "{reason}");
        }
        let mut willing = profile(text);
        willing.enforce = Enforce::BestEffort;
        let open = compiled(tree, &willing, Tier::B, 7).unwrap();
        assert!(
            open.gaps[0].contains("is open to read, execute"),
            "{:?}",
            open.gaps
        );
        assert_eq!(open.steps.len(), 1);
    }
    let text = "s r /w\ns - /w/full/.env";
    let open = compiled(tree, &profile(text), Tier::B, 7).unwrap();
    assert_eq!(lines(&open.steps), ["allow /w read+list?"]);
}

#[test]
fn gaps_of_files_are_named() {
    check(
        "d r /w\ng - /w/.env\np /tmp",
        &["allow /w list", "allow /w/a read+list?"],
        &["the tool has no directory of its own at `/tmp`, and none of the host's"],
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
        "d rcud /w\ng - /w/.env\ng - /w/missing\ng - /w/a/missing",
        &["allow /w list", &format!("allow /w/a {ALL}?")],
        &[
            "nothing can be made, removed or renamed directly in `/w`, because something in there is withheld; \
             what exists there can be used",
            "`/w/a/missing` does not exist yet, so nothing keeps the tool from creating it; it is looked \
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
