#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests prepare and inspect journals from outside"
)]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use super::*;

fn folder() -> (tempfile::TempDir, PathBuf, JournalFolder) {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("state/journals");
    let folder = JournalFolder::make(&path).unwrap();
    (above, path, folder)
}

fn create(folder: &JournalFolder, records: &[&str]) -> Journal {
    folder.create(&Journal::random_name(), records).unwrap()
}

fn only(folder: &JournalFolder) -> FoundJournal {
    let mut found: Vec<FoundJournal> = folder.journals().unwrap().collect();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn records(folder: &JournalFolder) -> Vec<String> {
    let content = only(folder).content().unwrap();
    let records = content.records();
    records
        .map(|record| String::from_utf8_lossy(record).into_owned())
        .collect()
}

fn files(path: &Path) -> usize {
    std::fs::read_dir(path).unwrap().count()
}

/// Writes a journal of a process that is gone.
fn abandoned(path: &Path, text: &[u8]) -> PathBuf {
    let mut gone = Command::new("sleep").arg("1000").spawn().unwrap();
    let identity = ProcessIdentity::find(gone.id()).unwrap();
    gone.kill().unwrap();
    gone.wait().unwrap();
    let (pid, started) = (identity.pid, identity.started);
    let header = format!("{HEADER} {pid} {started} {}\n", machine().unwrap());
    let file = path.join("0123456789abcdef");
    std::fs::write(&file, [header.as_bytes(), text].concat()).unwrap();
    file
}

#[test]
fn records_come_back_as_they_were() {
    let (_above, path, folder) = folder();
    let mut journal = create(&folder, &["first", "{\"a\": 1}"]);
    journal.append(b"third").unwrap();
    assert_eq!(records(&folder), ["first", "{\"a\": 1}", "third"]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join(journal.name())), 0o600);
    journal.remove();
    assert_eq!(files(&path), 0);
}

#[test]
fn another_file_takes_its_place() {
    let (_above, path, folder) = folder();
    let mut journal = create(&folder, &["old"]);
    journal.append(b"older").unwrap();
    journal.replace(["new"]).unwrap();
    assert_eq!(records(&folder), ["new"]);
    journal.append(b"newer").unwrap();
    assert_eq!(records(&folder), ["new", "newer"]);
    assert_eq!(files(&path), 1);
    journal.remove();
    assert_eq!(files(&path), 0);
}

#[test]
fn what_others_append_is_read_by_the_writer() {
    let (_above, _path, folder) = folder();
    let mut journal = create(&folder, &["own"]);
    assert!(journal.appended().unwrap().is_empty());
    only(&folder).append(["one", "two"]).unwrap();
    journal.append(b"three").unwrap();
    assert_eq!(
        journal.appended().unwrap(),
        [b"one".as_slice(), b"two", b"three"]
    );
    let found = only(&folder);
    journal.remove();
    // The writer is done.
    assert!(found.append(["late"]).is_err());
    assert_eq!(folder.journals().unwrap().count(), 0);
}

#[test]
fn the_writer_is_known_to_live() {
    let (_above, path, folder) = folder();
    let journal = create(&folder, &["x"]);
    let found = only(&folder);
    let content = found.content().unwrap();
    assert_eq!(content.pid(), std::process::id());
    assert!(content.is_of_this_machine());
    assert!(found.is_writer_alive(&content) && !found.lock());
    // Without its lock, it is known by its process; without that, by its lock.
    let name = journal.name().to_owned();
    drop(journal);
    let found = only(&folder);
    assert!(found.is_writer_alive(&found.content().unwrap()));
    std::fs::remove_file(path.join(name)).unwrap();
    assert!(!found.lock(), "it is gone");
}

#[test]
fn a_dead_writer_is_known_as_such() {
    let (_above, path, folder) = folder();
    let file = abandoned(&path, b"x\n");
    let found = only(&folder);
    let content = found.content().unwrap();
    assert!(!found.is_writer_alive(&content));
    // A tool that could read the file could hold a lock on it: that does not bring the writer back.
    let held = std::fs::File::open(&file).unwrap();
    fs::flock(&held, FlockOperation::LockShared).unwrap();
    assert!(!found.is_writer_alive(&content));
    assert!(!found.lock(), "but nobody else has it for themselves");
    drop(held);
    assert!(found.lock());
}

#[test]
fn on_another_machine_the_lock_counts() {
    let (_above, path, folder) = folder();
    let me = std::process::id();
    for header in [
        format!("{HEADER} {me} 1 another-boot/pid:[1]\n"),
        "junk\n".to_owned(),
    ] {
        let file = path.join("0123456789abcdef");
        std::fs::write(&file, header + "x\n").unwrap();
        let held = std::fs::File::open(&file).unwrap();
        fs::flock(&held, FlockOperation::LockExclusive).unwrap();
        let found = only(&folder);
        let content = found.content().unwrap();
        assert!(!content.is_of_this_machine());
        assert!(found.is_writer_alive(&content));
        drop(held);
        assert!(!only(&folder).is_writer_alive(&content));
        assert_eq!(records(&folder), ["x"]);
    }
}

/// The last words of a process that was killed are no record, and do not spoil what others append.
#[test]
fn a_line_without_end_is_passed_over() {
    let (_above, path, folder) = folder();
    let file = abandoned(&path, b"whole\n\ncut");
    assert_eq!(records(&folder), ["whole"]);
    only(&folder).append(["other"]).unwrap();
    assert_eq!(records(&folder), ["whole", "cut", "other"]);
    std::fs::write(&file, "").unwrap();
    assert_eq!(records(&folder), [""; 0]);
    std::fs::write(&file, b"\xff\xfe\n\xff\n\0").unwrap();
    assert_eq!(records(&folder), ["\u{fffd}"]);
}

#[test]
fn a_long_journal_is_read_to_its_end() {
    let (_above, path, folder) = folder();
    let long = vec![b'x'; 17 << 20];
    let mut journal = folder
        .create(&Journal::random_name(), [long.as_slice(), b"last"])
        .unwrap();
    journal.append(b"appended").unwrap();
    assert_eq!(records(&folder)[1..], ["last", "appended"]);
    // A sparse file is as long as any.
    let file = std::fs::File::options()
        .write(true)
        .open(path.join(journal.name()))
        .unwrap();
    file.set_len(MOST_JOURNAL_BYTES).unwrap();
    let error = journal.append(b"x").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    file.set_len(MOST_JOURNAL_BYTES + 1).unwrap();
    let error = only(&folder).content().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn records_have_no_line_feeds() {
    let (_above, path, folder) = folder();
    let refused = |result: io::Result<()>| {
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    };
    let create = |name: &str, record: &str| folder.create(name, [record]).map(drop);
    refused(create(&Journal::random_name(), "a\nb"));
    refused(create("../0123456789abcd", "a"));
    refused(create("0123456789abcde/", "a"));
    assert_eq!(files(&path), 0);
    let mut journal = folder.create(&Journal::random_name(), [""; 0]).unwrap();
    refused(journal.append(b"a\n"));
    journal.append(b"b").unwrap();
    assert_eq!(records(&folder), ["b"]);
}

/// What a killed process had only begun is removed; what is being made is not.
#[test]
fn an_unfinished_file_is_removed() {
    let (_above, path, folder) = folder();
    let new = path.join(format!("0123456789abcdef{NEW}"));
    std::fs::write(&new, "half").unwrap();
    let held = std::fs::File::open(&new).unwrap();
    fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    assert_eq!(folder.journals().unwrap().count(), 0);
    assert!(new.exists());
    drop(held);
    assert_eq!(folder.journals().unwrap().count(), 0);
    assert!(!new.exists());
}

/// Who looks for leftovers all the time keeps nobody from beginning a journal, and takes none that is complete.
#[test]
fn journals_are_made_while_others_look_for_leftovers() {
    let (_above, path, folder) = folder();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let looking = JournalFolder::open(&path).unwrap();
                while !is_over.load(order) {
                    looking.journals().unwrap().for_each(drop);
                }
            });
        }
        let results: Vec<io::Result<()>> = (0..1000)
            .map(|number: i32| {
                let name = Journal::random_name();
                let mut journal = folder.create(&name, [number.to_string()])?;
                journal.replace(["replaced"])?;
                journal.remove();
                Ok(())
            })
            .collect();
        is_over.store(true, order);
        let failed: Vec<_> = results.into_iter().filter_map(Result::err).collect();
        assert!(failed.is_empty(), "{failed:?}");
    });
}

#[test]
fn strange_files_do_no_harm() {
    let (above, path, folder) = folder();
    let target = above.path().join("target");
    std::fs::write(&target, "precious").unwrap();
    symlink(&target, path.join("0000000000000001")).unwrap();
    symlink(&target, path.join(format!("0000000000000004{NEW}"))).unwrap();
    std::fs::create_dir(path.join("0000000000000002")).unwrap();
    let pipe = path.join("0000000000000003");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::fs::write(path.join("notes.txt"), "keep").unwrap();
    assert_eq!(folder.journals().unwrap().count(), 0);
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    assert_eq!(files(&path), 5);
}

#[test]
fn a_folder_belongs_to_the_user_alone() {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("journals");
    assert_eq!(
        JournalFolder::open(&path).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = JournalFolder::open(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    JournalFolder::make(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let link = above.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(JournalFolder::open(&link).is_err());
}
