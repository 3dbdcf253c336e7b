//! Somebody swaps directories and links while we work: nothing outside is ever read or touched.
//!
//! Each attack also runs against a twin that checks a path and then opens it, and must succeed
//! there: otherwise it proves nothing. `JIG_ATTACK_SECONDS` sets how long it lasts (3).

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test may panic; the attacker, and the twin that falls to it, use the operating system directly"
)]

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{
    DiskFiles, DiskOptions, FilesError, GrepQuery, OpenOptions, ProjectFiles, RenameOptions,
    WriteOptions,
};
use jig_proto::ProjectPath;
use rustix::fs::{CWD, RenameFlags};

/// A workspace with `inside/f`, a directory outside with `f` and `keep`, and a link `evil` to it.
struct Field {
    _folder: tempfile::TempDir,
    above: Utf8PathBuf,
    root: Utf8PathBuf,
    outside: Utf8PathBuf,
}

impl Field {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let (root, outside) = (above.join("root"), above.join("outside"));
        for directory in ["root/inside/sub", "root/plain", "outside/sub"] {
            std::fs::create_dir_all(above.join(directory)).unwrap();
        }
        for file in ["f", "sub/f"] {
            std::fs::write(root.join("inside").join(file), INSIDE).unwrap();
            std::fs::write(outside.join(file), OUTSIDE).unwrap();
        }
        std::fs::write(outside.join("keep"), OUTSIDE).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("evil")).unwrap();
        std::os::unix::fs::symlink("inside/f", root.join("flip")).unwrap();
        Self {
            _folder: folder,
            above,
            root,
            outside,
        }
    }

    fn open(&self, portable: bool) -> DiskFiles {
        let options = DiskOptions {
            state: Some(self.above.join("state")),
            portable,
        };
        DiskFiles::with_options(&self.root, &options).unwrap()
    }

    /// The content of everything outside, to see that it stays.
    fn outside(&self) -> Vec<(Utf8PathBuf, String)> {
        let mut found = Vec::new();
        let mut pending = vec![self.outside.clone()];
        while let Some(directory) = pending.pop() {
            for entry in directory.read_dir_utf8().unwrap() {
                let path = entry.unwrap().into_path();
                match path.is_dir() {
                    true => pending.push(path),
                    false => found.push((path.clone(), std::fs::read_to_string(&path).unwrap())),
                }
            }
        }
        found.sort();
        found
    }
}

/// Swaps until told to stop, and counts.
fn swap(root: &Utf8Path, stop: &AtomicBool, swaps: &AtomicU64) {
    let mut count = 0;
    let link = root.join("flip.new");
    while !stop.load(Ordering::Relaxed) {
        let (inside, evil) = (root.join("inside"), root.join("evil"));
        let exchanged = rustix::fs::renameat_with(
            CWD,
            inside.as_str(),
            CWD,
            evil.as_str(),
            RenameFlags::EXCHANGE,
        );
        count += u64::from(exchanged.is_ok());
        swaps.store(count, Ordering::Relaxed);
        let target = match count % 2 {
            0 => "inside/f",
            _ => "../outside/f",
        };
        if std::os::unix::fs::symlink(target, &link).is_ok() {
            let _ = std::fs::rename(&link, root.join("flip"));
        }
    }
    // The directory is `inside` again, for those who look at the end.
    if count % 2 == 1 {
        let (inside, evil) = (root.join("inside"), root.join("evil"));
        let flags = RenameFlags::EXCHANGE;
        let _ = rustix::fs::renameat_with(CWD, inside.as_str(), CWD, evil.as_str(), flags);
    }
}

/// How long an attack that must fail lasts at least.
fn duration() -> Duration {
    let seconds = std::env::var("JIG_ATTACK_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(3))
}

/// Runs `work` again and again while the attacker swaps, until it says that it has seen enough. It is told for how
/// long that has gone on, and how often was swapped.
///
/// Gives up after two minutes: on a busy machine the two hardly ever run at once.
fn under_attack(field: &Field, mut work: impl FnMut(Duration, u64) -> bool) -> bool {
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&field.root, &stop, &swaps));
        let _stopping = Stopping(&stop);
        let start = Instant::now();
        while start.elapsed() < duration() + Duration::from_secs(120) {
            if work(start.elapsed(), swaps.load(Ordering::Relaxed)) {
                return true;
            }
        }
        false
    })
}

/// Ends the attack when it is dropped, also by a failed assertion.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

/// One round of every operation on names that are being swapped. Gives how many went through.
fn operate(files: &DiskFiles, round: u64) -> u64 {
    let mut done = 0;
    let mut note = |result: Result<(), FilesError>| done += u64::from(result.is_ok());
    let read = |at: &str| {
        let place = files.locate(&path(at))?;
        let content = files.read(&place, 100)?;
        assert_ne!(content, OUTSIDE, "{at} led outside");
        Ok(())
    };
    note(read("inside/f"));
    note(read("inside/sub/f"));
    note(read("evil/f"));
    note(read("flip"));
    note((|| {
        let place = files.locate(&path("inside"))?;
        let listing = files.list_dir(&place)?;
        assert!(
            listing.entries.iter().all(|entry| entry.name != "keep"),
            "listed outside"
        );
        Ok(())
    })());
    for at in ["inside/f", "inside/sub/f", "flip", "evil/f"] {
        note((|| {
            let place = files.locate(&path(at))?;
            files.write(&place, INSIDE.as_bytes(), &WriteOptions::default())?;
            Ok(())
        })());
    }
    note((|| {
        let place = files.locate(&path("inside/f"))?;
        files.append(&place, b"", &WriteOptions::default())?;
        Ok(())
    })());
    for at in ["inside/f", "inside/sub/f", "flip", "evil/f"] {
        note(open_and_write(
            files,
            at,
            OpenOptions {
                truncate: true,
                ..OPEN
            },
        ));
    }
    let opened = format!("inside/opened{}", round % 3);
    note(open_and_write(
        files,
        &opened,
        OpenOptions {
            create: true,
            ..OPEN
        },
    ));
    note((|| files.delete(&files.locate_entry(&path(&opened))?))());
    note((|| {
        files.remove_dir(&files.locate_entry(&path("inside/empty"))?)
    })());
    note((|| {
        files.make_dir(&files.locate_entry(&path("inside/empty"))?, false)
    })());
    let new = format!("inside/made/new{}", round % 3);
    note((|| {
        let place = files.locate(&path(&new))?;
        files.write(&place, b"new", &WriteOptions::default())?;
        Ok(())
    })());
    note((|| {
        files.make_dir(&files.locate(&path("inside/dir/deep"))?, true)
    })());
    note((|| {
        let from = files.locate_entry(&path(&new))?;
        let to = files.locate(&path("inside/moved"))?;
        files.rename(&from, &to, &RenameOptions::default())
    })());
    note((|| {
        let from = files.locate_entry(&path("plain"))?;
        let to = files.locate(&path("inside/plain"))?;
        files.rename(&from, &to, &RenameOptions::default())
    })());
    note((|| {
        let from = files.locate_entry(&path("inside/plain"))?;
        let to = files.locate(&path("plain"))?;
        files.rename(&from, &to, &RenameOptions::default())
    })());
    for at in ["inside/moved", "inside/keep", "evil/keep"] {
        note((|| files.delete(&files.locate_entry(&path(at))?))());
    }
    note((|| {
        files
            .delete_tree(&files.locate_entry(&path("inside/dir"))?, &|_, _| true)
            .map(drop)
    })());
    if round.is_multiple_of(8) {
        note((|| {
            let mut query = GrepQuery::new("SIDE");
            query.paths = vec![path("inside"), path(".")];
            let found = files.grep(&query, &|_, _| true)?;
            let mut lines = found.files.iter().flat_map(|file| &file.lines);
            assert!(
                lines.all(|line| line.content != OUTSIDE),
                "searched outside"
            );
            Ok(())
        })());
    }
    done
}

/// Opens a file and looks whether that is one from outside, then writes to it.
fn open_and_write(files: &DiskFiles, at: &str, options: OpenOptions) -> Result<(), FilesError> {
    let file = files.open_file(&files.locate(&path(at))?, &options)?;
    assert_ne!(file.read_at(0, 100)?, OUTSIDE, "{at} led outside");
    file.write_at(0, INSIDE.as_bytes())
}

const OPEN: OpenOptions = OpenOptions {
    read: true,
    write: true,
    create: false,
    exclusive: false,
    truncate: false,
};

fn attack(portable: bool) {
    let field = Field::new();
    let before = field.outside();
    let files = field.open(portable);
    let (mut round, mut done) = (0, 0);
    let enough = under_attack(&field, |elapsed, swaps| {
        done += operate(&files, round);
        round += 1;
        elapsed >= duration() && swaps > 100 && done > 100
    });
    assert!(enough, "no attack: {done} operations in {round} rounds");
    assert_eq!(field.outside(), before, "something outside was touched");
}

#[test]
fn swapped_components_never_lead_outside() {
    attack(false);
}

#[test]
fn swapped_components_never_lead_outside_without_openat2() {
    attack(true);
}

/// The twin checks where a path leads and then uses it.
fn checked(root: &Utf8Path, at: &str) -> Option<Utf8PathBuf> {
    let whole = root.join(at);
    let real = match whole.canonicalize_utf8() {
        Ok(real) => real,
        Err(_) => whole.parent()?.canonicalize_utf8().ok()?,
    };
    real.starts_with(root).then_some(whole)
}

#[test]
fn the_attack_succeeds_against_check_then_open() {
    let mut fell = Vec::new();
    for name in ["read", "write", "open", "create", "delete", "rename"] {
        let field = Field::new();
        let root = &field.root;
        let hit = under_attack(&field, |_, _| match name {
            "read" => {
                let content = checked(root, "inside/f").and_then(|at| std::fs::read(at).ok());
                content.is_some_and(|content| content == OUTSIDE.as_bytes())
            }
            "write" => {
                if let Some(at) = checked(root, "inside/f") {
                    let _ = std::fs::write(at, "pwned");
                }
                let now = std::fs::read_to_string(field.outside.join("f"));
                now.is_ok_and(|now| now == "pwned")
            }
            "open" => {
                let mut options = std::fs::OpenOptions::new();
                let opened =
                    checked(root, "inside/f").and_then(|at| options.write(true).open(at).ok());
                if let Some(mut file) = opened {
                    let _ = file.write_all(b"pwned!!");
                }
                let now = std::fs::read_to_string(field.outside.join("f"));
                now.is_ok_and(|now| now == "pwned!!")
            }
            "create" => {
                if let Some(at) = checked(root, "inside/created") {
                    let _ = std::fs::File::create_new(at);
                }
                let created = field.outside.join("created").exists();
                let _ = std::fs::remove_file(root.join("inside/created"));
                created
            }
            "delete" => {
                if let Some(at) = checked(root, "inside/keep") {
                    let _ = std::fs::remove_file(at);
                }
                !field.outside.join("keep").exists()
            }
            _ => {
                std::fs::write(root.join("plain/x"), "moved").unwrap();
                if let Some(to) = checked(root, "inside/moved") {
                    let _ = std::fs::rename(root.join("plain/x"), to);
                }
                field.outside.join("moved").exists()
            }
        });
        fell.push((name, hit));
    }
    assert!(
        fell.iter().all(|(_, hit)| *hit),
        "the attack does not work: {fell:?}"
    );
}

const INSIDE: &str = "INSIDE";
const OUTSIDE: &str = "OUTSIDE";

/// A file with a second name gets a content of its own before it is changed. That content is not made in
/// memory, and not made at all if it is out of all proportion: whoever made the file chose its size.
#[test]
fn a_huge_file_with_two_names_is_not_copied() {
    for portable in [false, true] {
        let field = Field::new();
        let files = field.open(portable);
        let huge = std::fs::File::create(field.outside.join("huge")).unwrap();
        huge.set_len(1 << 40).unwrap();
        std::fs::hard_link(field.outside.join("huge"), field.root.join("huge")).unwrap();
        let path = ProjectPath::normalize("huge").unwrap();
        let place = files.locate(&path).unwrap();
        let append = files.append(&place, b"x", &WriteOptions::default());
        assert!(
            matches!(append, Err(FilesError::TooLarge { .. })),
            "{append:?}"
        );
        let options = OpenOptions {
            write: true,
            ..OpenOptions::default()
        };
        let opened = files.open_file(&place, &options);
        assert!(
            matches!(opened, Err(FilesError::TooLarge { .. })),
            "{opened:?}"
        );
        // Emptied, it is not large any more.
        let emptied = OpenOptions {
            truncate: true,
            ..options
        };
        let opened = files.open_file(&place, &emptied).unwrap();
        opened.write_at(0, b"mine").unwrap();
        assert_eq!(huge.metadata().unwrap().len(), 1 << 40);
        assert_eq!(std::fs::read(field.root.join("huge")).unwrap(), b"mine");
    }
}

/// Root keeps the bits when it writes, so that somebody else's program would run as its owner with our content.
#[test]
fn a_program_that_runs_as_its_owner_does_not_once_it_is_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    for portable in [false, true] {
        let field = Field::new();
        let files = field.open(portable);
        let path = ProjectPath::normalize("inside/f").unwrap();
        let file = field.root.join("inside/f");
        let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
        let ways: [&dyn Fn(); 3] = [
            &|| {
                let place = files.locate(&path).unwrap();
                let options = OpenOptions {
                    write: true,
                    ..OpenOptions::default()
                };
                let opened = files.open_file(&place, &options).unwrap();
                opened.write_at(0, b"x").unwrap();
            },
            &|| {
                let place = files.locate(&path).unwrap();
                files
                    .append(&place, b"x", &WriteOptions::default())
                    .map(drop)
                    .unwrap();
            },
            &|| {
                let place = files.locate(&path).unwrap();
                files
                    .write(&place, b"x", &WriteOptions::default())
                    .map(drop)
                    .unwrap();
            },
        ];
        for (number, change) in ways.iter().enumerate() {
            let special = std::fs::Permissions::from_mode(0o6755);
            std::fs::set_permissions(&file, special).unwrap();
            assert_eq!(mode(), 0o6755);
            change();
            assert_eq!(mode(), 0o755, "{number}");
        }
    }
}

/// A workspace at `/` holds the variables of this very process, keys among them, and the switches of the
/// kernel. Whoever asks by a path can read and change them; here they are no files.
#[test]
fn what_lies_in_proc_is_no_file() {
    assert!(!std::fs::read("/proc/self/environ").unwrap().is_empty());
    for (root, below) in [
        ("/", "proc/self/"),
        ("/proc", "self/"),
        ("/proc/self", ""),
        ("/", "proc/thread-self/"),
    ] {
        for portable in [false, true] {
            let options = DiskOptions {
                portable,
                ..DiskOptions::default()
            };
            let files = DiskFiles::with_options(root, &options).unwrap();
            for name in ["environ", "status", "comm", "oom_score_adj"] {
                let name = format!("{below}{name}");
                let place = files
                    .locate(&ProjectPath::normalize(&name).unwrap())
                    .unwrap();
                let not_a_file = |error: FilesError| matches!(error, FilesError::NotAFile { .. });
                let case = format!("{root} {name} {portable}");
                assert!(files.read(&place, 1 << 20).is_err_and(not_a_file), "{case}");
                assert!(
                    files.read_range(&place, 0, 9).is_err_and(not_a_file),
                    "{case}"
                );
                assert!(files.open(&place).is_err_and(not_a_file), "{case}");
                for write in [false, true] {
                    let options = OpenOptions {
                        read: !write,
                        write,
                        ..OpenOptions::default()
                    };
                    let opened = files.open_file(&place, &options);
                    // Some of them cannot be opened for writing at all.
                    assert!(opened.is_err(), "{case}");
                    assert!(write || opened.is_err_and(not_a_file), "{case}");
                }
                let mut query = GrepQuery::new(".");
                query.paths = vec![place.path().clone()];
                let found = files.grep(&query, &|_, _| true);
                assert!(found.is_ok_and(|found| found.files.is_empty()), "{case}");
            }
        }
    }
}
