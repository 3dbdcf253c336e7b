//! Somebody swaps links and directories while files are opened: what no rule allows is never opened, made,
//! emptied or written.
//!
//! The same attack runs against a twin that asks the policy about a path and then opens the path, and must
//! succeed there: otherwise it proves nothing.

#![expect(
    clippy::disallowed_types,
    reason = "the twin that falls to the attack uses the operating system directly"
)]

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jig_broker::{JudgedRequest, OpenRequest};
use rustix::fs::{CWD, RenameFlags};

use crate::world::World;

/// `allowed` and `way` may be used, `denied` may not. `flip` is a link that leads to a file of one of them,
/// and `way` and `evil` change places: a directory, and a link to `denied`.
fn field() -> World {
    World::on_disk()
        .with("allowed/f", ALLOWED)
        .with("way/f", ALLOWED)
        .with("denied/f", DENIED)
        .with_link("evil", "denied")
        .with_link("flip", "allowed/f")
        .allow("allowed", "rcud")
        .allow("way", "rcud")
        .allow("denied", "")
}

/// Swaps until told to stop, and counts.
fn swap(root: &Path, stop: &AtomicBool, swaps: &AtomicU64) {
    let mut count = 0_u64;
    let new = root.join("flip.new");
    let (way, evil) = (root.join("way"), root.join("evil"));
    while !stop.load(Ordering::Relaxed) || count % 2 == 1 {
        rustix::fs::renameat_with(CWD, &way, CWD, &evil, RenameFlags::EXCHANGE).unwrap();
        let target = ["allowed/f", "denied/f"][count as usize % 2];
        std::os::unix::fs::symlink(target, &new).unwrap();
        std::fs::rename(&new, root.join("flip")).unwrap();
        count += 1;
        swaps.store(count, Ordering::Relaxed);
    }
}

/// Runs `work` while the attacker swaps, until it says that it has seen enough. It is told how often was swapped.
///
/// Gives up after two minutes: on a busy machine the two hardly ever run at once.
fn under_attack(root: &Path, mut work: impl FnMut(u64) -> bool) -> bool {
    /// Ends the attack also when an assertion fails.
    struct Stopping<'a>(&'a AtomicBool);
    impl Drop for Stopping<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| swap(root, &stop, &swaps));
        let _stopping = Stopping(&stop);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(120) {
            if work(swaps.load(Ordering::Relaxed)) {
                return true;
            }
        }
        false
    })
}

fn denied_files(root: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(root.join("denied")).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_link_that_is_swapped_in_is_never_opened() {
    let world = field();
    let root = world.outside().join("ws");
    let broker = world.broker();
    let (mut opened, mut refused) = (0_u64, 0_u64);
    let mut round = 0_u64;
    let enough = under_attack(&root, |swaps| {
        round += 1;
        let new = format!("way/new{}", round % 3);
        let (update, truncate, create) = ((true, false), (true, true), (false, true));
        for (path, (existing, emptied)) in [
            ("flip", update),
            ("flip", truncate),
            ("way/f", update),
            ("way/f", truncate),
            (new.as_str(), create),
        ] {
            let open = OpenRequest {
                read: true,
                write: true,
                create: !existing,
                truncate: emptied,
                ..OpenRequest::new(path)
            };
            // `denied` is refused, and what somebody else moves all the time may be given up.
            let JudgedRequest::Ready(work) = broker.judge_open(&open) else {
                refused += 1;
                continue;
            };
            let Ok(file) = work.open() else {
                refused += 1;
                continue;
            };
            opened += 1;
            assert!(!file.path().as_str().starts_with("denied"), "{path}");
            assert_ne!(file.read_at(0, 100).unwrap(), DENIED, "{path}");
            file.write_at(0, ALLOWED.as_bytes()).unwrap();
        }
        swaps > 1000 && opened > 1000 && refused > 1000
    });
    assert!(
        enough,
        "no attack: {opened} opened, {refused} refused in {round} rounds"
    );
    let expected = [("f".to_owned(), DENIED.to_owned())];
    assert_eq!(denied_files(&root), expected);
}

#[test]
fn the_attack_succeeds_against_judge_then_open() {
    for name in ["write", "create"] {
        let world = field();
        let root = world.outside().join("ws").canonicalize().unwrap();
        let allowed = |path: &Path| {
            let real = path.canonicalize().ok();
            real.is_some_and(|real| !real.starts_with(root.join("denied")))
        };
        let hit = under_attack(&root, |_| {
            let mut options = std::fs::OpenOptions::new();
            if name == "write" {
                let path = root.join("flip");
                if allowed(&path)
                    && let Ok(mut file) = options.write(true).open(path)
                {
                    file.write_all(b"pwned!").unwrap();
                }
                std::fs::read_to_string(root.join("denied/f")).unwrap() == "pwned!"
            } else {
                let path = root.join("way/new");
                if allowed(&root.join("way")) {
                    let _ = options.write(true).create_new(true).open(&path);
                }
                let hit = root.join("denied/new").exists();
                let _ = std::fs::remove_file(path);
                hit
            }
        });
        assert!(hit, "the attack does not work: {name}");
    }
}

const ALLOWED: &str = "ALLOWED";
const DENIED: &str = "DENIED";
