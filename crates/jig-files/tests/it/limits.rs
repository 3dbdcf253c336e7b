//! What the operating system can put in the way: full disks, odd kinds of files, permissions, sizes.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test may panic; tests prepare the directory from outside and start copies of themselves"
)]

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{
    DirEntryKind, DiskFiles, DiskOptions, FileHandle, FilesError, GrepQuery, OpenOptions,
    PlaceKind, ProjectFiles, RenameOptions, WriteOptions,
};
use jig_proto::ProjectPath;

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

struct Field {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Field {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let root = above.join("root");
        std::fs::create_dir(&root).unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    fn put(&self, name: &str, content: &str, mode: u32) {
        let path = self.root.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn both(&self) -> [DiskFiles; 2] {
        both(&self.root)
    }
}

fn both(root: &Utf8Path) -> [DiskFiles; 2] {
    [false, true].map(|portable| {
        let options = DiskOptions {
            state: Some(root.with_file_name("state")),
            portable,
        };
        DiskFiles::with_options(root, &options).unwrap()
    })
}

fn write(files: &DiskFiles, at: &str, content: &[u8]) -> Result<bool, FilesError> {
    files.write(&files.locate(&path(at))?, content, &WriteOptions::default())
}

/// Opens a file to be read and written.
fn open(files: &DiskFiles, at: &str) -> Result<FileHandle, FilesError> {
    let options = OpenOptions {
        read: true,
        write: true,
        create: true,
        ..OpenOptions::default()
    };
    files.open_file(&files.locate(&path(at))?, &options)
}

fn read(files: &DiskFiles, at: &str) -> Result<bytes::Bytes, FilesError> {
    files.read(&files.locate(&path(at))?, 1 << 20)
}

/// Fails the test if `work` hangs.
fn in_time(work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    let waited = wait.recv_timeout(Duration::from_secs(20));
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    thread.join().unwrap();
}

/// Whoever asks for a file of these may wait for somebody else.
#[test]
#[cfg(target_os = "linux")]
fn what_is_not_on_this_machine_is_told() {
    let is_local = |root: &str| DiskFiles::open(Utf8Path::new(root)).unwrap().is_local();
    // The kernel makes it up.
    assert!(!is_local("/proc"));
    // Wherever it lies itself, `/proc` is mounted below it.
    assert!(!is_local("/"));
    assert!(jig_files::MemoryFiles::new().is_local());
}

#[test]
fn pipes_sockets_and_devices_are_never_opened() {
    let field = Field::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mkfifoat(rustix::fs::CWD, field.root.join("pipe").as_str(), mode).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(field.root.join("socket")).unwrap();
    let mut names = vec!["pipe", "socket"];
    let device = field.root.join("device");
    let zero = rustix::fs::makedev(1, 5);
    let kind = rustix::fs::FileType::CharacterDevice;
    if rustix::fs::mknodat(rustix::fs::CWD, device.as_str(), kind, mode, zero).is_ok() {
        names.push("device");
    }
    field.put("text", "needle", 0o644);
    in_time(move || {
        for files in field.both() {
            for name in &names {
                let place = files.locate(&path(name)).unwrap();
                assert_eq!(*place.kind(), PlaceKind::Other, "{name}");
                let not_a_file = |error: FilesError| matches!(error, FilesError::NotAFile { .. });
                assert!(files.read(&place, 10).is_err_and(not_a_file), "{name}");
                assert!(
                    files.read_range(&place, 0, 10).is_err_and(not_a_file),
                    "{name}"
                );
                assert!(files.open(&place).is_err_and(not_a_file), "{name}");
                assert!(open(&files, name).is_err_and(not_a_file), "{name}");
                let read = OpenOptions {
                    read: true,
                    ..OpenOptions::default()
                };
                assert!(
                    files.open_file(&place, &read).is_err_and(not_a_file),
                    "{name}"
                );
                let options = WriteOptions::default();
                assert!(
                    files.write(&place, b"x", &options).is_err_and(not_a_file),
                    "{name}"
                );
                assert!(
                    files.append(&place, b"x", &options).is_err_and(not_a_file),
                    "{name}"
                );
            }
            let mut query = GrepQuery::new("needle|.");
            assert_eq!(files.grep(&query, &|_, _| true).unwrap().files.len(), 1);
            query.paths = names.iter().map(|name| path(name)).collect();
            assert_eq!(files.grep(&query, &|_, _| true).unwrap().files, []);
            let listing = files.list_dir(&files.locate(&path(".")).unwrap()).unwrap();
            let others = listing
                .entries
                .iter()
                .filter(|entry| entry.kind == DirEntryKind::Other);
            assert_eq!(others.count(), names.len());
        }
        assert!(
            field
                .root
                .join("pipe")
                .metadata()
                .unwrap()
                .file_type()
                .is_fifo()
        );
        // A pipe can be removed without being opened.
        let [files, _] = field.both();
        files.delete(&files.locate(&path("pipe")).unwrap()).unwrap();
    });
}

#[test]
fn a_file_of_ten_gigabytes_is_refused_at_once_and_read_in_part() {
    let field = Field::new();
    let huge = std::fs::File::create(field.root.join("huge")).unwrap();
    huge.set_len(10 << 30).unwrap();
    for files in field.both() {
        let place = files.locate(&path("huge")).unwrap();
        match files.read(&place, 10_000_000) {
            Err(FilesError::TooLarge { limit, size, .. }) => {
                assert_eq!((limit, size), (10_000_000, 10 << 30));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(
            files.read_range(&place, 5 << 30, 4096).unwrap(),
            vec![0; 4096]
        );
        assert_eq!(
            files.read_range(&place, (10 << 30) - 1, 4096).unwrap(),
            vec![0; 1]
        );
    }
}

#[test]
fn a_file_that_grows_while_it_is_located_stays_within_the_limit() {
    let field = Field::new();
    field.put("f", "1234", 0o644);
    for files in field.both() {
        let place = files.locate(&path("f")).unwrap();
        std::fs::write(field.root.join("f"), "1234567890").unwrap();
        assert!(matches!(
            files.read(&place, 5),
            Err(FilesError::TooLarge { size: 10, .. })
        ));
        std::fs::write(field.root.join("f"), "1234").unwrap();
    }
}

#[test]
fn modes_are_kept_and_set_id_bits_go() {
    let field = Field::new();
    for files in field.both() {
        for (mode, expected) in [
            (0o644, 0o644),
            (0o755, 0o755),
            (0o600, 0o600),
            (0o4755, 0o755),
        ] {
            field.put("f", "old", mode);
            assert!(!write(&files, "f", b"new").unwrap());
            let now = field.root.join("f").metadata().unwrap().mode() & 0o7777;
            assert_eq!(now, expected, "{mode:o} became {now:o}");
        }
        let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        rustix::process::umask(umask);
        std::fs::remove_file(field.root.join("f")).unwrap();
        assert!(write(&files, "f", b"new").unwrap());
        let now = field.root.join("f").metadata().unwrap().mode() & 0o7777;
        assert_eq!(now, 0o666 & !umask.as_raw_mode());
        std::fs::remove_file(field.root.join("f")).unwrap();
    }
}

#[test]
fn other_names_of_a_file_are_left_alone() {
    let field = Field::new();
    let other = field.root.with_file_name("other");
    for files in field.both() {
        for how in ["write", "append", "open", "truncate"] {
            std::fs::write(&other, "old").unwrap();
            let _ = std::fs::remove_file(field.root.join("f"));
            std::fs::hard_link(&other, field.root.join("f")).unwrap();
            let place = files.locate(&path("f")).unwrap();
            let options = WriteOptions::default();
            match how {
                "write" => drop(files.write(&place, b"oldnew", &options).unwrap()),
                "append" => drop(files.append(&place, b"new", &options).unwrap()),
                _ => {
                    let options = OpenOptions {
                        write: true,
                        truncate: how == "truncate",
                        ..OpenOptions::default()
                    };
                    let file = files.open_file(&place, &options).unwrap();
                    if how == "truncate" {
                        file.append(b"old").unwrap();
                    }
                    file.write_at(3, b"new").unwrap();
                }
            };
            assert_eq!(read(&files, "f").unwrap(), "oldnew", "{how}");
            assert_eq!(std::fs::read_to_string(&other).unwrap(), "old", "{how}");
        }
    }
}

/// Where files are opened by name, that is before anybody can see that it is another one: nothing may
/// have happened to it by then.
#[test]
fn what_took_the_name_since_is_neither_emptied_nor_waited_for() {
    let field = Field::new();
    let other = field.root.with_file_name("other");
    let flags = ["w", "wt", "t", "rw"].map(|flags| OpenOptions {
        read: flags.contains('r'),
        write: flags.contains('w'),
        truncate: flags.contains('t'),
        ..OpenOptions::default()
    });
    in_time(move || {
        for files in field.both() {
            for (how, options) in ["file", "link", "pipe"]
                .into_iter()
                .flat_map(|how| flags.map(|options| (how, options)))
            {
                let name = field.root.join("f");
                let _ = std::fs::remove_file(&name);
                std::fs::write(&name, "old").unwrap();
                std::fs::write(&other, "theirs").unwrap();
                let place = files.locate(&path("f")).unwrap();
                std::fs::remove_file(&name).unwrap();
                match how {
                    "file" => std::fs::hard_link(&other, &name).unwrap(),
                    "link" => std::os::unix::fs::symlink(&other, &name).unwrap(),
                    _ => {
                        let mode = rustix::fs::Mode::from_raw_mode(0o666);
                        rustix::fs::mkfifoat(rustix::fs::CWD, name.as_str(), mode).unwrap();
                    }
                }
                let opened = files.open_file(&place, &options);
                let changed = matches!(opened, Err(FilesError::Changed { .. }));
                assert!(changed, "{how} {options:?}: {opened:?}");
                assert_eq!(std::fs::read_to_string(&other).unwrap(), "theirs");
            }
        }
    });
}

#[test]
fn names_that_are_not_utf8_are_counted_and_not_touched() {
    use std::os::unix::ffi::OsStrExt as _;
    let field = Field::new();
    let directory = field.root.join("d");
    std::fs::create_dir(&directory).unwrap();
    field.put("d/good", "needle", 0o644);
    let bad = directory
        .as_std_path()
        .join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    std::fs::write(&bad, "needle").unwrap();
    let link = field.root.join("link");
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(b"d/\xff"), &link).unwrap();
    for files in field.both() {
        let place = files.locate(&path("d")).unwrap();
        let listing = files.list_dir(&place).unwrap();
        assert_eq!((listing.entries.len(), listing.unnamed), (1, 1));
        let refused = files.delete_tree(&place, &|_, _| true);
        assert!(
            matches!(refused, Err(FilesError::NotUtf8Name { .. })),
            "{refused:?}"
        );
        let followed = files.locate(&path("link"));
        assert!(
            matches!(followed, Err(FilesError::NotUtf8Name { .. })),
            "{followed:?}"
        );
        let found = files.grep(&GrepQuery::new("needle"), &|_, _| true).unwrap();
        assert_eq!(found.files.len(), 1);
        assert!(bad.exists() && directory.join("good").exists());
    }
}

#[test]
fn a_tree_that_is_too_deep_is_not_removed() {
    let field = Field::new();
    std::fs::create_dir_all(field.root.join(["d"; 300].join("/"))).unwrap();
    for files in field.both() {
        let place = files.locate(&path("d")).unwrap();
        let refused = files.delete_tree(&place, &|_, _| true);
        assert!(
            matches!(refused, Err(FilesError::TooDeep { .. })),
            "{refused:?}"
        );
        assert!(files.locate(&path(&["d"; 300].join("/"))).unwrap().exists());
    }
}

#[test]
fn concurrent_swaps_of_one_file_all_count() {
    let field = Field::new();
    for files in field.both() {
        field.put("n", "0", 0o644);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut done = 0;
                    while done < 25 {
                        let place = files.locate(&path("n")).unwrap();
                        // Without bare handles a file that was replaced cannot be read any more.
                        let Ok(seen) = files.read(&place, 100) else {
                            continue;
                        };
                        let number: u32 = std::str::from_utf8(&seen).unwrap().parse().unwrap();
                        let options = WriteOptions {
                            if_match: Some(jig_files::ContentHash::of(&seen)),
                            ..WriteOptions::default()
                        };
                        match files.write(&place, (number + 1).to_string().as_bytes(), &options) {
                            Ok(_) => done += 1,
                            Err(FilesError::Stale { .. } | FilesError::Changed { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
        });
        assert_eq!(read(&files, "n").unwrap(), "100");
    }
}

/// Starts this program again, so that a single test runs there under other conditions: a shell
/// script prepares them and then runs `"$@"`.
fn again(test: &str, root: &Utf8Path, script: &str) -> std::process::Output {
    let program = root.with_file_name("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        script,
        "sh",
        program.as_str(),
        "--exact",
        test,
        "--nocapture",
    ]);
    command.env("JIG_LIMITS_ROOT", root).current_dir("/");
    command.output().unwrap()
}

fn given_root() -> Option<Utf8PathBuf> {
    std::env::var("JIG_LIMITS_ROOT").ok().map(Utf8PathBuf::from)
}

fn succeeded(output: &std::process::Output) -> bool {
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{complaint}");
    told.contains(REACHED)
}

#[test]
fn on_a_full_disk() {
    let Some(root) = given_root() else { return };
    for files in both(&root) {
        write(&files, "f", b"old").unwrap();
        write(&files, "log", b"first\n").unwrap();
        let much = vec![b'x'; 4 << 20];
        let full = |result: Result<bool, FilesError>| {
            assert!(
                matches!(result, Err(FilesError::NoSpace { .. })),
                "{result:?}"
            );
        };
        full(write(&files, "f", &much));
        full(write(&files, "new", &much));
        let log = files.locate(&path("log")).unwrap();
        full(files.append(&log, &much, &WriteOptions::default()));
        let partly = open(&files, "partly").unwrap();
        full(partly.write_at(0, &much).map(|()| true));
        let written = partly.state().unwrap().0;
        assert!(written < much.len() as u64, "{written} bytes were written");
        partly.set_size(0).unwrap();
        files
            .delete(&files.locate(&path("partly")).unwrap())
            .unwrap();
        drop(partly);
        assert_eq!(read(&files, "f").unwrap(), "old");
        assert_eq!(read(&files, "log").unwrap(), "first\n");
        assert!(!files.locate(&path("new")).unwrap().exists());
        let mut left: Vec<_> = root.read_dir_utf8().unwrap().collect();
        left.retain(|entry| entry.as_ref().unwrap().file_name().starts_with(".jig"));
        assert!(left.is_empty(), "{left:?}");
        write(&files, "f", b"newer").unwrap();
    }
    println!("{REACHED}");
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    let field = Field::new();
    let mount = format!(
        "mount -t tmpfs -o size=2m none {} && exec \"$@\"",
        field.root
    );
    // With a file system of its own, as root or in a user namespace, if either is possible.
    for unshare in ["unshare -m", "unshare -rm"] {
        let script = format!("{unshare} true || exit 77; {unshare} sh -c '{mount}' sh \"$@\"");
        let output = again("limits::on_a_full_disk", &field.root, &script);
        if output.status.code() != Some(77) {
            assert!(succeeded(&output));
            return;
        }
    }
    println!("no file system can be mounted here");
}

#[test]
fn a_limit_on_file_sizes_leaves_the_old_content() {
    let field = Field::new();
    let script = "trap '' XFSZ; ulimit -f 2048; exec \"$@\"";
    assert!(succeeded(&again(
        "limits::on_a_full_disk",
        &field.root,
        script
    )));
}

#[test]
fn without_permissions() {
    let Some(root) = given_root() else { return };
    for files in both(&root) {
        let denied = |result: Result<(), FilesError>, what: &str| {
            let denied = matches!(result, Err(FilesError::PermissionDenied { .. }));
            assert!(denied, "{what}: {result:?}");
        };
        denied(read(&files, "unreadable").map(drop), "read");
        denied(
            write(&files, "read-only", b"x").map(drop),
            "write to a read-only file",
        );
        denied(
            write(&files, "closed/new", b"x").map(drop),
            "write in a read-only directory",
        );
        denied(read(&files, "shut/f").map(drop), "read in a shut directory");
        for at in [
            "unreadable",
            "read-only",
            "closed/f",
            "closed/new",
            "shut/f",
        ] {
            denied(open(&files, at).map(drop), at);
        }
        let file = files.locate(&path("read-only")).unwrap();
        let truncate = OpenOptions {
            read: true,
            truncate: true,
            ..OpenOptions::default()
        };
        denied(files.open_file(&file, &truncate).map(drop), "truncate");
        let unlisted = files.locate(&path("unlisted"));
        denied(
            unlisted.and_then(|place| files.list_dir(&place)).map(drop),
            "list",
        );
        let file = files.locate_entry(&path("closed/f")).unwrap();
        denied(files.delete(&file), "delete");
        let to = files.locate(&path("moved")).unwrap();
        denied(
            files.rename(&file, &to, &RenameOptions::default()),
            "rename",
        );
        let file = files.locate(&path("read-only")).unwrap();
        denied(
            files
                .append(&file, b"x", &WriteOptions::default())
                .map(drop),
            "append",
        );
        assert_eq!(read(&files, "read-only").unwrap(), "old");
        let found = files.grep(&GrepQuery::new("old"), &|_, _| true).unwrap();
        assert!(found.unreadable >= 2, "{found:?}");
        let names: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["closed/f", "read-only"]);
    }
    println!("{REACHED}");
}

#[test]
fn permissions_of_the_operating_system_are_told_apart() {
    let field = Field::new();
    for directory in ["closed", "shut", "unlisted"] {
        std::fs::create_dir(field.root.join(directory)).unwrap();
    }
    field.put("unreadable", "old", 0o000);
    field.put("read-only", "old", 0o444);
    field.put("closed/f", "old", 0o444);
    field.put("shut/f", "old", 0o444);
    let root_user = rustix::process::geteuid().is_root();
    let chmod = |name: &str, mode| {
        let path = field.root.join(name);
        if root_user {
            std::os::unix::fs::chown(&path, Some(65534), Some(65534)).unwrap();
        }
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, mode) in [
        ("unreadable", 0o000),
        ("read-only", 0o444),
        ("shut/f", 0o444),
        ("closed/f", 0o444),
        ("closed", 0o555),
        ("shut", 0o000),
        ("unlisted", 0o300),
        (".", 0o755),
    ] {
        chmod(name, mode);
    }
    let script = match root_user {
        true => "exec setpriv --reuid 65534 --regid 65534 --clear-groups -- \"$@\"",
        false => "exec \"$@\"",
    };
    let output = again("limits::without_permissions", &field.root, script);
    for name in ["shut", "unlisted", "closed"] {
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(field.root.join(name), open).unwrap();
    }
    assert!(succeeded(&output));
}

/// What a copy of this program says when it came to the end of its part, so that a filter that
/// matched no test is not taken for success.
const REACHED: &str = "reached the end";
