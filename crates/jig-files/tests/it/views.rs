//! Views: what a subprocess changes in one comes back, and nothing is lost.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test may panic; the tests do in the directory what a subprocess would do"
)]

use std::os::unix::fs::{PermissionsExt as _, symlink};

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{DiskFiles, MemoryFiles, ProjectFiles, SyncReport, WriteOptions};
use jig_proto::ProjectPath;

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

fn paths(texts: &[&str]) -> Vec<ProjectPath> {
    texts.iter().map(|text| path(text)).collect()
}

fn sample() -> MemoryFiles {
    let files = MemoryFiles::new();
    for (name, content) in [
        ("a", "one"),
        ("d/b", "two"),
        ("d/e/c", "three"),
        ("z", "last"),
    ] {
        files.put_file(&path(name), content, false).unwrap();
    }
    files
        .put_file(&path("run.sh"), "#!/bin/sh\n", true)
        .unwrap();
    files.put_link(&path("link"), "d/b").unwrap();
    files.put_link(&path("absolute"), "/workspace/d").unwrap();
    files
}

fn content(files: &MemoryFiles, at: &str) -> Option<String> {
    let place = files.locate(&path(at)).ok()?;
    let content = files.read(&place, 1000).ok()?;
    Some(String::from_utf8(content.to_vec()).unwrap())
}

fn write(files: &MemoryFiles, at: &str, content: &str) {
    let place = files.locate(&path(at)).unwrap();
    files
        .write(&place, content.as_bytes(), &WriteOptions::default())
        .unwrap();
}

#[test]
fn on_disk_the_view_is_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    let files = DiskFiles::open(&root).unwrap();
    let mut view = files.materialize().unwrap();
    assert_eq!(view.path(), root);
    assert_eq!(view.sync_back(), SyncReport::default());
    assert_eq!(view.close(), SyncReport::default());
    assert!(root.exists());
}

#[test]
fn a_copy_is_private_and_complete_and_goes_away() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    assert_eq!(root.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        std::fs::read_to_string(root.join("d/e/c")).unwrap(),
        "three"
    );
    assert_eq!(std::fs::read_to_string(root.join("link")).unwrap(), "two");
    assert_eq!(
        std::fs::read_to_string(root.join("absolute/b")).unwrap(),
        "two"
    );
    assert!(root.join("run.sh").metadata().unwrap().permissions().mode() & 0o100 != 0);
    assert!(root.join("a").metadata().unwrap().permissions().mode() & 0o111 == 0);
    assert_eq!(view.close(), SyncReport::default());
    assert!(!root.exists());
    assert_eq!(content(&files, "absolute/b").as_deref(), Some("two"));
}

/// Changes the view, syncs, and compares the report.
fn check(change: impl FnOnce(&Utf8Path), expected: SyncReport) -> MemoryFiles {
    let files = sample();
    let mut view = files.materialize().unwrap();
    change(view.path());
    assert_eq!(view.sync_back(), expected);
    // What was brought back once is not brought back again.
    assert_eq!(view.sync_back(), SyncReport::default());
    let root = view.path().to_owned();
    drop(view);
    assert!(!root.exists());
    assert_eq!(files.take_reports(), []);
    files
}

#[test]
fn new_changed_and_deleted_files_come_back() {
    let files = check(
        |root| {
            std::fs::create_dir_all(root.join("new/er")).unwrap();
            std::fs::write(root.join("new/er/f"), "fresh").unwrap();
            std::fs::write(root.join("a"), "ONE").unwrap();
            std::fs::remove_file(root.join("z")).unwrap();
            symlink("a", root.join("to-a")).unwrap();
        },
        SyncReport {
            created: paths(&["new", "new/er", "new/er/f", "to-a"]),
            changed: paths(&["a"]),
            deleted: paths(&["z"]),
            ..SyncReport::default()
        },
    );
    assert_eq!(content(&files, "new/er/f").as_deref(), Some("fresh"));
    assert_eq!(content(&files, "to-a").as_deref(), Some("ONE"));
    assert_eq!(content(&files, "z"), None);
}

#[test]
fn a_change_of_the_same_size_within_one_tick_is_seen() {
    let files = check(
        |root| std::fs::write(root.join("a"), "eno").unwrap(),
        SyncReport {
            changed: paths(&["a"]),
            ..SyncReport::default()
        },
    );
    assert_eq!(content(&files, "a").as_deref(), Some("eno"));
}

#[test]
fn renames_are_told_as_renames() {
    let files = check(
        |root| {
            std::fs::rename(root.join("a"), root.join("a2")).unwrap();
            std::fs::rename(root.join("d"), root.join("moved")).unwrap();
            std::fs::write(root.join("moved/b"), "TWO").unwrap();
        },
        SyncReport {
            changed: paths(&["moved/b"]),
            renamed: vec![(path("a"), path("a2")), (path("d"), path("moved"))],
            ..SyncReport::default()
        },
    );
    assert_eq!(content(&files, "a2").as_deref(), Some("one"));
    assert_eq!(content(&files, "moved/b").as_deref(), Some("TWO"));
    assert_eq!(content(&files, "moved/e/c").as_deref(), Some("three"));
    assert!(!files.locate(&path("d")).unwrap().exists());
}

#[test]
fn the_executable_bit_and_the_kind_come_back() {
    let files = check(
        |root| {
            let mode = std::fs::Permissions::from_mode;
            std::fs::set_permissions(root.join("a"), mode(0o755)).unwrap();
            std::fs::set_permissions(root.join("run.sh"), mode(0o644)).unwrap();
            std::fs::remove_dir_all(root.join("d")).unwrap();
            std::fs::write(root.join("d"), "a file now").unwrap();
            std::fs::remove_file(root.join("z")).unwrap();
            std::fs::create_dir(root.join("z")).unwrap();
            std::fs::write(root.join("z/y"), "below").unwrap();
        },
        SyncReport {
            created: paths(&["z/y"]),
            changed: paths(&["a", "d", "run.sh", "z"]),
            deleted: paths(&["d/b", "d/e", "d/e/c"]),
            ..SyncReport::default()
        },
    );
    assert!(files.locate(&path("a")).unwrap().executable());
    assert!(!files.locate(&path("run.sh")).unwrap().executable());
    assert_eq!(content(&files, "d").as_deref(), Some("a file now"));
    assert_eq!(content(&files, "z/y").as_deref(), Some("below"));
}

#[test]
fn links_to_the_view_become_links_to_the_root() {
    let files = check(
        |root| symlink(root.join("d"), root.join("l")).unwrap(),
        SyncReport {
            created: paths(&["l"]),
            ..SyncReport::default()
        },
    );
    assert_eq!(content(&files, "l/b").as_deref(), Some("two"));
}

#[test]
fn changes_on_both_sides_are_conflicts_and_nothing_is_lost() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    // Both changed it.
    write(&files, "a", "mine");
    std::fs::write(root.join("a"), "theirs").unwrap();
    // Deleted there, changed here.
    write(&files, "z", "mine");
    std::fs::remove_file(root.join("z")).unwrap();
    // Changed there, deleted here.
    files
        .delete(&files.locate(&path("d/e/c")).unwrap())
        .unwrap();
    std::fs::write(root.join("d/e/c"), "theirs").unwrap();
    // Both made it, differently and alike.
    write(&files, "both", "mine");
    std::fs::write(root.join("both"), "theirs").unwrap();
    write(&files, "same", "equal");
    std::fs::write(root.join("same"), "equal").unwrap();
    // Only here, only there.
    write(&files, "here", "mine");
    std::fs::write(root.join("there"), "theirs").unwrap();

    let report = view.close();
    let conflicts: Vec<_> = report
        .conflicts
        .iter()
        .map(|c| (c.path.as_str(), c.deleted_in_view, c.deleted_in_files))
        .collect();
    assert_eq!(
        conflicts,
        [
            ("a", false, false),
            ("both", false, false),
            ("d/e/c", false, true),
            ("z", true, false)
        ]
    );
    assert_eq!(report.created, paths(&["there"]));
    assert!(!report.is_complete());
    for (at, expected) in [
        ("a", "mine"),
        ("z", "mine"),
        ("both", "mine"),
        ("same", "equal"),
        ("here", "mine"),
        ("there", "theirs"),
    ] {
        assert_eq!(content(&files, at).as_deref(), Some(expected), "{at}");
    }
    assert_eq!(content(&files, "d/e/c"), None);
    // The other side's versions are kept where the report says.
    assert_eq!(report.kept.as_deref(), Some(&*root));
    for at in ["a", "both", "d/e/c"] {
        assert_eq!(std::fs::read_to_string(root.join(at)).unwrap(), "theirs");
    }
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_directory_that_is_gone_there_and_was_added_to_here_stays() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    std::fs::remove_dir_all(root.join("d")).unwrap();
    write(&files, "d/e/new", "mine");
    let report = view.close();
    let conflicts: Vec<_> = report.conflicts.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(conflicts, ["d", "d/e"]);
    assert_eq!(report.deleted, paths(&["d/b", "d/e/c"]));
    assert_eq!(content(&files, "d/e/new").as_deref(), Some("mine"));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_directory_that_became_a_file_there_and_was_added_to_here_stays() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    std::fs::remove_dir_all(root.join("d/e")).unwrap();
    std::fs::write(root.join("d/e"), "a file now").unwrap();
    write(&files, "d/e/new", "mine");
    let report = view.close();
    let conflicts: Vec<_> = report.conflicts.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(conflicts, ["d/e"]);
    assert_eq!(report.failed, []);
    assert_eq!(content(&files, "d/e/new").as_deref(), Some("mine"));
    assert_eq!(
        std::fs::read_to_string(root.join("d/e")).unwrap(),
        "a file now"
    );
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_dropped_view_syncs_and_keeps_its_problems() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    write(&files, "a", "mine");
    std::fs::write(root.join("a"), "theirs").unwrap();
    std::fs::write(root.join("z"), "theirs").unwrap();
    drop(view);
    assert_eq!(content(&files, "z").as_deref(), Some("theirs"));
    let reports = files.take_reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].conflicts.len(), 1);
    assert_eq!(reports[0].kept.as_deref(), Some(&*root));
    assert_eq!(files.take_reports(), []);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn what_cannot_be_held_or_read_is_told_and_not_taken_for_deleted() {
    let files = sample();
    let view = files.materialize().unwrap();
    let root = view.path().to_owned();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe").as_str(), mode).unwrap();
    // Larger than what is read into memory, and where a file was.
    let huge = std::fs::File::create(root.join("z")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let report = view.close();
    assert_eq!(report.left_out, paths(&["pipe"]));
    assert_eq!(report.failed.len(), 1);
    assert_eq!(report.failed[0].0, path("z"));
    assert_eq!(report.deleted, []);
    assert_eq!(content(&files, "z").as_deref(), Some("last"));
    std::fs::remove_dir_all(root).unwrap();
}
