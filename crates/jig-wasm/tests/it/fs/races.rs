//! Somebody swaps a directory for a link, and back, while a guest works in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{On, Tried};
use crate::fs::hostile;

/// Swaps `directory` for a link to `target` until it is dropped.
struct Swapping {
    over: std::sync::Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Swapping {
    fn new(directory: PathBuf, target: String) -> Self {
        let over = std::sync::Arc::new(AtomicBool::new(false));
        let seen = std::sync::Arc::clone(&over);
        let aside = directory.with_extension("aside");
        let thread = thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                // The guest may have put something at the name meanwhile: then there is no round.
                if fs::rename(&directory, &aside).is_err() {
                    continue;
                }
                let linked = symlink(&target, &directory).is_ok();
                thread::yield_now();
                if linked {
                    fs::remove_file(&directory).unwrap();
                }
                fs::rename(&aside, &directory).unwrap();
                thread::yield_now();
            }
        });
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A workspace in which `dir` is swapped, and a directory that the guest must not reach.
struct Arena {
    tried: Tried,
    target: PathBuf,
    link: String,
    _outside: Option<tempfile::TempDir>,
}

/// With a target outside of the workspace, and with one inside that is denied.
fn arenas() -> [Arena; 2] {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().to_owned();
    fs::write(target.join("file"), "SECRET").unwrap();
    fs::write(target.join("victim"), "SECRET").unwrap();
    let swapped = || hostile(On::Disk).file("dir/file", "inside");
    let out = Arena {
        tried: swapped(),
        link: target.to_str().unwrap().to_owned(),
        target,
        _outside: Some(outside),
    };
    let tried = swapped()
        .file("denied/file", "SECRET")
        .file("denied/victim", "SECRET")
        .rules("fs = [{ path = '.', read = true, write = true }, { path = 'denied' }]");
    let denied = Arena {
        target: tried.folder().join("denied"),
        tried,
        link: "denied".to_owned(),
        _outside: None,
    };
    [out, denied]
}

/// Runs an action of the guest while the directory is swapped.
fn raced(arena: Arena, arguments: Value) -> (BTreeMap<String, u64>, PathBuf, impl Sized) {
    let directory = arena.tried.folder().join("dir");
    let swapping = Swapping::new(directory, arena.link);
    let done = arena.tried.arguments(arguments).run();
    drop(swapping);
    let seen = serde_json::from_str(done.text()).unwrap_or_default();
    (seen, arena.target, (done, arena._outside))
}

#[test]
fn w025_a_swapped_directory_is_never_read_through() {
    for arena in arenas() {
        assert!(
            natively_reads_secret(&arena),
            "the attack does not work at all"
        );
        let arguments = json!({
            "action": "fs_race_read", "path": "/workspace/dir/file", "rounds": ROUNDS,
        });
        let (seen, _, _held) = raced(arena, arguments);
        assert!(!seen.contains_key("SECRET"), "{seen:?}");
        assert!(seen.contains_key("inside"), "it was never read: {seen:?}");
        assert!(seen.len() > 1, "it was never swapped: {seen:?}");
    }
}

#[test]
fn w025_a_swapped_directory_is_never_written_through() {
    for arena in arenas() {
        let arguments = json!({
            "action": "fs_race_write", "path": "/workspace/dir/file", "content": "mine",
            "rounds": ROUNDS,
        });
        let (seen, target, _held) = raced(arena, arguments);
        assert_eq!(fs::read(target.join("file")).unwrap(), b"SECRET");
        assert!(
            seen.contains_key("written"),
            "it was never written: {seen:?}"
        );
        assert!(seen.len() > 1, "it was never swapped: {seen:?}");
        assert_eq!(names(&target), ["file", "victim"]);
    }
}

#[test]
fn w025_nothing_is_made_moved_or_removed_through_a_swapped_directory() {
    for arena in arenas() {
        let arguments = json!({
            "action": "fs_race_change", "path": "/workspace/dir", "rounds": ROUNDS,
        });
        let (_, target, _held) = raced(arena, arguments);
        assert_eq!(fs::read(target.join("victim")).unwrap(), b"SECRET");
        assert_eq!(names(&target), ["file", "victim"]);
    }
}

/// Whether whoever only opens paths gets the secret: the twin that nothing holds.
fn natively_reads_secret(arena: &Arena) -> bool {
    let directory = arena.tried.folder().join("dir");
    let _swapping = Swapping::new(directory.clone(), arena.link.clone());
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        if fs::read(directory.join("file")).is_ok_and(|content| content == b"SECRET") {
            return true;
        }
    }
    false
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// How often a guest tries.
const ROUNDS: u64 = 4000;
