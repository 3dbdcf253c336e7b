#![expect(
    clippy::disallowed_methods,
    reason = "fixtures are files and processes"
)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::fs::{self, FlockOperation, Mode, OFlags};

use super::*;

/// A program that ends with the test.
struct Program(Child);

impl Program {
    /// A shell that has started another program, whose number it has told.
    fn with_child() -> (Self, i32) {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 120 & echo $!; wait"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let told = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        told.unwrap();
        (Self(child), line.trim().parse().unwrap())
    }

    fn new() -> Self {
        Self(Command::new("sleep").arg("1000").spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn process(&self) -> ProcessIdentity {
        ProcessIdentity::find(self.pid()).unwrap()
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn id(text: &str) -> HandleId {
    text.parse().unwrap()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A journal of a process that is gone, with these records and the beginning of another one.
fn abandoned(directory: &Path, machine: Option<&str>, records: &[String], cut: &str) -> PathBuf {
    let mut gone = Program::new();
    let ProcessIdentity { pid, started } = gone.process();
    gone.0.kill().unwrap();
    gone.0.wait().unwrap();
    let folder = JournalFolder::make(directory).unwrap();
    let journal = folder.create(&Journal::random_name(), records).unwrap();
    let path = directory.join(journal.name());
    drop(journal);
    let text = std::fs::read_to_string(&path).unwrap();
    let (header, records) = text.split_once('\n').unwrap();
    let words: Vec<&str> = header.split(' ').collect();
    let machine = machine.unwrap_or(words[3]);
    let text = format!("{} {pid} {started} {machine}\n{records}{cut}", words[0]);
    std::fs::write(&path, text).unwrap();
    path
}

/// What stands in the one journal of a directory.
fn content(directory: &Path) -> JournalContent {
    let folder = JournalFolder::open(directory).unwrap();
    let mut found = folder.journals().unwrap();
    found.next().unwrap().content().unwrap()
}

fn noted(name: &str, process: ProcessIdentity) -> String {
    let noted = JournalHandle {
        id: name.to_owned(),
        tool: "shell".to_owned(),
        process,
        since: seconds(SystemTime::now()) - 100,
    };
    noted.line(name.len() as u64)
}

/// S-067: there is a file while there are handles, for the user alone, and none otherwise.
#[test]
fn s067_a_file_while_there_are_handles() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("state/handles");
    let journal = HandleJournal::in_directory(&directory).unwrap();
    assert!(files(&directory).is_empty());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    let program = Program::new();
    journal.add(1, &id("h_1"), "shell", program.pid());
    journal.add(2, &id("h_2"), "shell", program.pid());
    let found = files(&directory);
    assert_eq!(found.len(), 1);
    assert_eq!(mode(&found[0]), 0o600);
    assert_eq!(content(&directory).pid(), std::process::id());
    let handles = parse(&content(&directory));
    let names: Vec<&str> = handles.iter().map(|noted| noted.id.as_str()).collect();
    assert_eq!(names, ["h_1", "h_2"]);
    assert_eq!(handles[0].process, program.process());
    journal.remove(1);
    assert_eq!(parse(&content(&directory)).len(), 1);
    journal.remove(2);
    assert!(files(&directory).is_empty());
    journal.add(3, &id("h_3"), "shell", program.pid());
    assert_eq!(files(&directory).len(), 1);
    drop(journal);
    assert!(files(&directory).is_empty());
}

/// A file that many handles came and went through stays small, and knows those that live.
#[test]
fn s067_a_file_does_not_grow_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let journal = HandleJournal::in_directory(folder.path()).unwrap();
    let program = Program::new();
    journal.add(0, &id("first"), "shell", program.pid());
    for number in 1..2000 {
        let id = HandleId::numbered(number);
        journal.add(number, &id, "shell", program.pid());
        journal.remove(number);
    }
    let found = files(folder.path());
    assert_eq!(found.len(), 1);
    let length = std::fs::metadata(&found[0]).unwrap().len();
    assert!(length < 64 * 1024, "{length}");
    let handles = parse(&content(folder.path()));
    assert_eq!(handles.len(), 1);
    assert_eq!(handles[0].id, "first");
}

/// The file of a process that lives is left alone, also in this process.
#[test]
fn s067_what_lives_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = HandleJournal::in_directory(folder.path()).unwrap();
    let mut program = Program::new();
    journal.add(1, &id("h_1"), "shell", program.pid());
    assert_eq!(leftovers(folder.path()), []);
    assert_eq!(files(folder.path()).len(), 1);
    assert!(program.runs());
    // Where locks do not work, the owner still counts.
    let copy = folder.path().join("0123456789abcdef");
    std::fs::copy(&files(folder.path())[0], &copy).unwrap();
    assert_eq!(leftovers(folder.path()), []);
    assert!(copy.exists());
    assert!(program.runs());
}

/// A file that somebody holds is theirs, whatever stands in it: two that look at once do not both tell.
#[test]
fn s067_a_locked_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::new();
    let noted = noted("h_1", program.process());
    let path = abandoned(folder.path(), None, &[noted], "");
    let held = fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    assert_eq!(leftovers(folder.path()), []);
    assert!(path.exists());
    assert!(program.runs());
    drop(held);
    // A program that another test starts just now may have a copy of the descriptor for a moment.
    let deadline = Instant::now() + Duration::from_secs(60);
    while leftovers(folder.path()).is_empty() {
        assert!(Instant::now() < deadline, "it stays locked");
    }
    assert!(!program.runs());
}

/// S-067: what a dead process left behind is ended, with what it started, and told.
#[test]
fn s067_leftovers_are_ended_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (mut program, child) = Program::with_child();
    let child = ProcessIdentity::find(child.cast_unsigned()).unwrap();
    let path = abandoned(
        folder.path(),
        None,
        &[
            noted("gone", program.process()),
            json!({ "gone": 4 }).to_string(),
            noted("h_1", program.process()),
        ],
        // The last words of a process that was killed.
        r#"{"handle":2,"id":"h_2","tool":"sh"#,
    );
    let found = leftovers(folder.path());
    assert_eq!(found.len(), 1, "{found:?}");
    let Leftover {
        id,
        tool,
        age,
        was_alive,
        has_ended,
    } = &found[0];
    assert_eq!((id.as_str(), tool.as_str()), ("h_1", "shell"));
    assert!((100..1000).contains(&age.as_secs()), "{age:?}");
    assert!(*was_alive && *has_ended);
    assert!(!program.runs());
    assert!(!child.is_alive());
    assert!(!path.exists());
    assert_eq!(leftovers(folder.path()), []);
}

/// A process that has the number of one that is gone is not hit; nor is one of another boot.
#[test]
fn s067_a_reused_number_is_not_hit() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::new();
    let mut earlier = program.process();
    earlier.started -= 1;
    let check = |machine: Option<&str>, line: String, program: &mut Program| {
        abandoned(folder.path(), machine, &[line], "");
        let found = leftovers(folder.path());
        assert_eq!(found.len(), 1);
        assert!(!found[0].was_alive && found[0].has_ended, "{found:?}");
        assert!(program.runs());
    };
    check(None, noted("h_1", earlier), &mut program);
    let line = noted("h_1", program.process());
    check(Some("another"), line, &mut program);
}

/// What is noted behind many stale lines is ended, too.
#[test]
fn a_long_journal_counts_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::new();
    let stale = json!({ "gone": 9, "padding": "x".repeat(1 << 20) }).to_string();
    let mut lines = vec![stale; 17];
    lines.push(noted("h_1", program.process()));
    abandoned(folder.path(), None, &lines, "");
    let found = leftovers(folder.path());
    assert_eq!(found.len(), 1);
    assert!(found[0].was_alive && !program.runs());
}

/// A record that makes no sense is passed over, and does not keep the others from counting.
#[test]
fn s067_strange_records_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::new();
    let strange = [
        "{]",
        "7",
        r#"{"handle":-1,"id":"x"}"#,
        r#"{"gone":"h_1"}"#,
        r#"{"handle":1,"id":"x","tool":"y","pid":99999999999,"started":1,"since":1}"#,
    ];
    let mut lines: Vec<String> = strange.map(str::to_owned).into();
    lines.push(noted("h_1", program.process()));
    let far = json!({
        "handle": 8, "id": "far", "tool": "x", "pid": 0, "started": 0, "since": u64::MAX,
    });
    lines.push(far.to_string());
    abandoned(folder.path(), None, &lines, "");
    let found = leftovers(folder.path());
    let names: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(names, ["h_1", "far"]);
    assert!(!program.runs());
    assert_eq!(leftovers(&folder.path().join("missing")), []);
}

/// S-067, for real: a process with handles is killed, and the next one clears up after it.
#[test]
fn s067_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let mut owner = Command::new(test);
    owner.args(["--exact", "registry::journal::tests::owner_that_is_killed"]);
    owner.args(["--nocapture", "--test-threads=1"]);
    owner.env(OWNED, folder.path()).stdout(Stdio::piped());
    let mut owner = owner.spawn().unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let pid = lines
        .map(Result::unwrap)
        .find_map(|line| line.split_once("noted ")?.1.parse::<u32>().ok());
    let left = ProcessIdentity::find(pid.unwrap()).unwrap();
    assert_eq!(leftovers(folder.path()), []);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(left.is_alive());
    let found = leftovers(folder.path());
    assert_eq!(found.len(), 1);
    assert!(found[0].was_alive && found[0].has_ended, "{found:?}");
    assert!(!left.is_alive());
    assert!(files(folder.path()).is_empty());
}

/// Not a test of its own: the process that [`s067_after_a_kill`] kills.
#[test]
fn owner_that_is_killed() {
    let Some(directory) = std::env::var_os(OWNED) else {
        return;
    };
    let journal = HandleJournal::in_directory(Path::new(&directory)).unwrap();
    let mut program = Program::new();
    journal.add(1, &id("h_1"), "shell", program.pid());
    println!("noted {}", program.pid());
    let limit = Instant::now() + Duration::from_secs(300);
    while program.runs() && Instant::now() < limit {
        std::thread::park_timeout(Duration::from_millis(200));
    }
}

const OWNED: &str = "JIG_TEST_JOURNAL";
