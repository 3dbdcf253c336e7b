#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the files, and put others in their place"
)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use super::*;

struct Bench {
    _home: tempfile::TempDir,
    folder: AcceptedFolder,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = Utf8Path::from_path(home.path()).unwrap().join("state/jig");
        let folder = AcceptedFolder::new(&state, Utf8Path::new("/home/me/project"));
        Self {
            _home: home,
            folder,
        }
    }

    fn put(&self, bytes: &[u8]) {
        let put = self.folder.update(FILE, &mut |_| Some(bytes.to_vec()));
        put.unwrap();
    }

    fn file(&self) -> Utf8PathBuf {
        self.folder.path.join(FILE)
    }

    fn mode(&self, path: &Utf8Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o7777
    }
}

const FILE: &str = "time.json";

/// What is kept is there for the next, for the user alone, and nothing else is left.
#[test]
fn keeps_files_for_the_user_alone() {
    let bench = Bench::new();
    assert_eq!(bench.folder.get(FILE), None);
    assert_eq!(bench.folder.mark(FILE), 0);
    assert!(
        !bench.folder.path.exists(),
        "nothing is made for a question"
    );
    bench.put(b"one");
    let mark = bench.folder.mark(FILE);
    bench.put(b"two");
    assert_ne!(bench.folder.mark(FILE), mark);
    assert_eq!(bench.folder.get(FILE).as_deref(), Some(&b"two"[..]));
    assert_eq!(bench.mode(&bench.folder.path), 0o700);
    assert_eq!(bench.mode(&bench.file()), 0o600);
    let all = bench.folder.path.read_dir_utf8().unwrap();
    assert_eq!(all.count(), 1);
}

/// What is not changed is not written.
#[test]
fn nothing_is_written_without_a_change() {
    let bench = Bench::new();
    bench.put(b"one");
    let mark = bench.folder.mark(FILE);
    bench.folder.update(FILE, &mut |_| None).unwrap();
    assert_eq!(bench.folder.mark(FILE), mark);
}

/// What others may have put there counts as absent, and does not keep us waiting.
#[test]
fn what_is_not_a_file_of_ours_is_absent() {
    let bench = Bench::new();
    bench.put(b"one");
    let file = bench.file();
    let elsewhere = bench.folder.path.join("elsewhere");
    std::fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(bench.folder.get(FILE), None, "a link");
    // It is replaced, and what it led to is not.
    bench.put(b"two");
    assert_eq!(std::fs::read(&elsewhere).unwrap(), b"one");
    assert_eq!(bench.folder.get(FILE).as_deref(), Some(&b"two"[..]));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(bench.folder.get(FILE), None, "a folder");
    assert!(
        bench
            .folder
            .update(FILE, &mut |_| Some(Vec::new()))
            .is_err()
    );
    std::fs::remove_dir(&file).unwrap();
    fs::mkfifoat(fs::CWD, file.as_std_path(), Mode::RUSR).unwrap();
    assert_eq!(bench.folder.get(FILE), None, "a FIFO");
    std::fs::remove_file(&file).unwrap();
    bench.put(b"three");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o622)).unwrap();
    assert_eq!(bench.folder.get(FILE), None, "others can write it");
    std::fs::set_permissions(&bench.folder.path, PermissionsExt::from_mode(0o777)).unwrap();
    assert!(
        bench
            .folder
            .update(FILE, &mut |_| Some(Vec::new()))
            .is_err()
    );
}

/// A file that nobody could have written by us does not fill the memory.
#[test]
fn a_huge_file_is_absent() {
    let bench = Bench::new();
    bench.put(b"one");
    let file = fs::open(bench.file().as_std_path(), OFlags::WRONLY, Mode::empty()).unwrap();
    fs::ftruncate(&file, LARGEST as u64 + 1).unwrap();
    assert_eq!(bench.folder.get(FILE), None);
}

/// Workspaces have nothing to do with each other.
#[test]
fn each_workspace_has_its_own() {
    let state = Utf8Path::new("/state");
    let one = AcceptedFolder::new(state, Utf8Path::new("/home/me/one"));
    let two = AcceptedFolder::new(state, Utf8Path::new("/home/me/two"));
    assert_ne!(one.path, two.path);
    assert!(one.path.starts_with("/state/accepted"));
}

/// Two that change the same file at once both count. Each change opens the folder for itself, as another process
/// would.
#[test]
fn nobody_loses_anything_of_others() {
    let bench = Bench::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let add = |old: Option<Vec<u8>>| {
                        let mut bytes = old.unwrap_or_default();
                        bytes.push(b'+');
                        Some(bytes)
                    };
                    bench.folder.update(FILE, &mut { add }).unwrap();
                }
            });
        }
    });
    assert_eq!(bench.folder.get(FILE).unwrap().len(), 200);
}
