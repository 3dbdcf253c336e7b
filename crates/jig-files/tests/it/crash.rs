//! A writer that is killed at any moment leaves complete content and, after the next start, nothing
//! else.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test may panic; the test kills a copy of itself and looks at what it left"
)]

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{DiskFiles, DiskOptions, ProjectFiles, WriteOptions};
use jig_proto::ProjectPath;

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

fn open(above: &Utf8Path, portable: bool) -> DiskFiles {
    let options = DiskOptions {
        state: Some(above.join("state")),
        portable,
    };
    DiskFiles::with_options(above.join("root"), &options).unwrap()
}

/// One of the versions: its number, and as many letters as make it several pages long.
fn version(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).unwrap());
    format!(
        "{number} {}",
        letter.to_string().repeat(20_000 + number % 26 * 1000)
    )
}

/// What the killed process does. It is a test of its own so that the test program can be started
/// again for it; without the variable it does nothing.
#[test]
fn writer() {
    let Ok(above) = std::env::var("JIG_CRASH_WRITER") else {
        return;
    };
    let files = open(
        Utf8Path::new(&above),
        std::env::var("JIG_CRASH_PORTABLE").is_ok(),
    );
    for number in 0.. {
        for name in ["a", "deep/er/b", &format!("new/{}", number % 50)] {
            let place = files.locate(&path(name)).unwrap();
            files
                .write(&place, version(number).as_bytes(), &WriteOptions::default())
                .unwrap();
        }
    }
}

fn kill_again_and_again(times: u32, portable: bool) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    let root = above.join("root");
    std::fs::create_dir(&root).unwrap();
    let mut swept = 0;
    for round in 0..times {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::writer", "--nocapture"]);
        command.env("JIG_CRASH_WRITER", &above);
        if portable {
            command.env("JIG_CRASH_PORTABLE", "1");
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let inode = || root.join("a").metadata().ok().map(|there| there.ino());
        let before = inode();
        let mut child = command.spawn().unwrap();
        // Once it has replaced the file for the first time it is at work; then at another moment
        // each time.
        jig_testkit::until("something is written", || inode() != before);
        jig_testkit::let_pass(Duration::from_micros(u64::from(round * 7919 % 5000)));
        child.kill().unwrap();
        assert_eq!(
            child.wait().unwrap().signal(),
            Some(9),
            "the writer ended by itself"
        );
        swept += u32::from(!leftovers(&root).is_empty());
        let files = open(&above, portable);
        assert_eq!(leftovers(&root), Vec::<String>::new(), "round {round}");
        for name in ["a", "deep/er/b"] {
            let place = files.locate(&path(name)).unwrap();
            if place.exists() {
                let content = files.read(&place, 1 << 20).unwrap();
                let content = std::str::from_utf8(&content).unwrap();
                let number = content.split(' ').next().unwrap().parse().unwrap();
                assert_eq!(
                    content,
                    version(number),
                    "round {round}: {name} is half written"
                );
            }
        }
        for entry in files
            .list_dir(&files.locate(&path("new")).unwrap())
            .into_iter()
        {
            for entry in entry.entries {
                let place = files.locate(&path(&format!("new/{}", entry.name))).unwrap();
                let content = files.read(&place, 1 << 20).unwrap();
                let number = content.split(|byte| *byte == b' ').next().unwrap();
                let number = std::str::from_utf8(number).unwrap().parse().unwrap();
                assert_eq!(
                    content,
                    version(number),
                    "round {round}: {} is half written",
                    entry.name
                );
            }
        }
        drop(files);
        let journals = above.join("state").read_dir_utf8().map(Iterator::count);
        assert_eq!(journals.unwrap_or(0), 0, "a journal stayed");
    }
    swept
}

fn leftovers(root: &Utf8Path) -> Vec<String> {
    let mut found = Vec::new();
    for directory in ["", "deep/er", "new"] {
        if let Ok(entries) = root.join(directory).read_dir_utf8() {
            let names = entries.map(|entry| entry.unwrap().file_name().to_owned());
            found.extend(names.filter(|name| name.starts_with(".jig-tmp-")));
        }
    }
    found
}

#[test]
fn a_killed_writer_leaves_old_or_new_content() {
    kill_again_and_again(100, false);
}

#[test]
fn a_killed_writer_with_temporary_names_leaves_old_or_new_content() {
    let swept = kill_again_and_again(100, true);
    // Here the temporary name lives as long as the write, so some kills must have hit it.
    assert!(swept > 0, "no kill left anything: the sweep was not tested");
}

#[test]
fn a_live_writer_is_not_disturbed() {
    let folder = tempfile::tempdir().unwrap();
    let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    let root = above.join("root");
    std::fs::create_dir(&root).unwrap();
    let first = open(&above, true);
    let place = first.locate(&path("a")).unwrap();
    first.write(&place, b"x", &WriteOptions::default()).unwrap();
    // As if the first were in the middle of a write: a temporary name of its own.
    let key = above
        .join("state")
        .read_dir_utf8()
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let journal = key.path().read_dir_utf8().unwrap().next().unwrap().unwrap();
    let name = format!(".jig-tmp-{}-ff", journal.file_name());
    let foreign = ".jig-tmp-0123456789abcdef-0";
    std::fs::write(root.join(&name), "in the making").unwrap();
    std::fs::write(root.join(foreign), "of nobody that we know").unwrap();
    std::fs::write(root.join(".jig-tmp-notes"), "a file of the user").unwrap();

    let second = open(&above, true);
    assert!(root.join(&name).exists(), "the live writer's file is gone");
    let listing = second
        .list_dir(&second.locate(&ProjectPath::root()).unwrap())
        .unwrap();
    let names: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(names, [".jig-tmp-notes", "a"], "temporary names are listed");
    assert!(
        root.join(foreign).exists(),
        "too young to be removed by a listing"
    );

    drop(first);
    assert_eq!(
        above.join("state").read_dir_utf8().unwrap().count(),
        0,
        "a journal stayed"
    );
}

#[test]
fn an_old_temporary_name_is_removed_by_a_listing() {
    let folder = tempfile::tempdir().unwrap();
    let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    let root = above.join("root");
    std::fs::create_dir(&root).unwrap();
    let files = open(&above, false);
    let name = root.join(".jig-tmp-0123456789abcdef-0");
    std::fs::write(&name, "left").unwrap();
    let list = || {
        files
            .list_dir(&files.locate(&ProjectPath::root()).unwrap())
            .unwrap()
    };
    assert!(list().entries.is_empty());
    assert!(name.exists());
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
    std::fs::File::options()
        .write(true)
        .open(&name)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    assert!(list().entries.is_empty());
    assert!(!name.exists(), "it is still there");
}
