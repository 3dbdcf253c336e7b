use std::path::{Path, PathBuf};

use jig_sandbox::{
    Observation, ObservedAccess, ObservedTarget, PathRule, Profile, Rights, RuleSource,
};

use super::lost_files;

fn check(seen: &[(&str, Rights)], shown: &[&str], expected: &[&str]) {
    let seen = seen.iter().map(|(path, wanted)| ObservedAccess {
        target: ObservedTarget::Path(PathBuf::from(path)),
        wanted: *wanted,
        looked: false,
        programs: Vec::new(),
        count: 1,
    });
    let observation = Observation {
        seen: seen.collect(),
        ..Observation::default()
    };
    let mut profile = Profile::closed();
    profile.paths = shown
        .iter()
        .map(|path| PathRule {
            path: PathBuf::from(path),
            rights: Rights::ALL,
            source: RuleSource::Declared,
        })
        .collect();
    let lost = lost_files(&observation, Path::new("/home/me"), &profile);
    let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
    assert_eq!(lost, expected);
}

#[test]
fn what_is_written_at_home_is_lost() {
    let write = Rights::CREATE.with(Rights::UPDATE);
    check(&[("/home/me/notes", write)], &[], &["/home/me/notes"]);
    check(&[("/home/me/a/b", Rights::CREATE)], &[], &["/home/me/a/b"]);
    // Read, hidden, elsewhere, the home itself, removed again, and shown from the host.
    check(&[("/home/me/notes", Rights::READ)], &[], &[]);
    check(&[("/home/me/.cache/x", write)], &[], &[]);
    check(&[("/home/other", write), ("/home/me", write)], &[], &[]);
    let removed = [("/home/me/t", write), ("/home/me/t", Rights::DELETE)];
    check(&removed, &[], &[]);
    check(&[("/home/me/ws/a", write)], &["/home/me/ws"], &[]);
    check(
        &[("/home/me/a", write)],
        &["/home/me/ws", "/"],
        &["/home/me/a"],
    );
}
