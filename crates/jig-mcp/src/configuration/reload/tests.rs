#![expect(
    clippy::disallowed_methods,
    reason = "the tests change the files of a workspace, as a person does"
)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use camino::Utf8Path;
use jig_config::{Sources, WorkspaceContent};
use jig_engine::Engine;
use jig_files::MemoryFiles;

use super::*;
use crate::questions::QuestionId;
use crate::shared::{Loader, Options};

/// A workspace whose file changes, and what was accepted of it.
struct Files {
    folder: tempfile::TempDir,
    accepted: Mutex<Vec<WorkspaceContent>>,
    number: AtomicU64,
    loads: AtomicU64,
    is_unusable: AtomicBool,
    reports: Mutex<Vec<String>>,
}

impl Files {
    fn new() -> Arc<Self> {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
            accepted: Mutex::default(),
            number: AtomicU64::default(),
            loads: AtomicU64::default(),
            is_unusable: AtomicBool::default(),
            reports: Mutex::default(),
        };
        files.write(&[]);
        Arc::new(files)
    }

    /// Has the file hold these lines.
    fn write(&self, lines: &[&str]) {
        std::fs::write(self.folder.path().join("jig.toml"), lines.join("\n")).unwrap();
        self.number.fetch_add(1, Ordering::SeqCst);
    }
}

struct Disk(Arc<Files>);

impl Loader for Disk {
    fn load(&self) -> Result<Arc<Config>, String> {
        self.0.loads.fetch_add(1, Ordering::SeqCst);
        let root = Utf8Path::from_path(self.0.folder.path()).unwrap();
        let mut sources = Sources::new(root);
        sources.accepted = Some(self.0.accepted.lock().unwrap().clone());
        let loaded = jig_config::load(&sources).map_err(|errors| errors.to_string())?;
        Ok(Arc::new(loaded.config))
    }

    fn accept(&self, held_back: &HeldBack) -> Result<Arc<Config>, String> {
        let content = WorkspaceContent::clone(&held_back.config.content);
        self.0.accepted.lock().unwrap().insert(0, content);
        Ok(Arc::clone(&held_back.config))
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        if self.0.is_unusable.load(Ordering::SeqCst) {
            return Err("there is no workspace".to_owned());
        }
        Ok(Engine::new(
            Arc::clone(config),
            Arc::new(MemoryFiles::new()),
        ))
    }

    /// Other configurations have other files.
    fn fingerprint(&self, config: &Config) -> u64 {
        let number = self.0.number.load(Ordering::SeqCst);
        let tool = config.tool("fs_create_file");
        let is_open = tool.is_some_and(|tool| tool.run.spawn.to_string() == "unattended");
        number * 2 + u64::from(is_open)
    }

    fn workspace(&self) -> String {
        "/nowhere".to_owned()
    }

    fn report(&self, text: &str) {
        self.0.reports.lock().unwrap().push(text.to_owned());
    }
}

struct Bench {
    files: Arc<Files>,
    shared: Arc<SharedServer>,
    watcher: ConfigWatcher,
}

impl Bench {
    fn new() -> Self {
        let files = Files::new();
        let shared =
            SharedServer::new(Box::new(Disk(Arc::clone(&files))), Options::default()).unwrap();
        let mut watcher = ConfigWatcher::new(Arc::clone(&shared));
        watcher.look();
        Self {
            files,
            shared,
            watcher,
        }
    }

    /// Changes the files, and has them looked at.
    fn write(&mut self, lines: &[&str]) {
        self.files.write(lines);
        self.watcher.look();
    }

    fn held(&self) -> Option<QuestionId> {
        let (id, lines) = self.shared.reload.state().held?;
        assert!(!lines.is_empty());
        Some(id.parse().unwrap())
    }

    fn answer(&mut self, id: QuestionId, answer: Answer) {
        self.shared.questions.answer(&id, answer, "me").unwrap();
        self.watcher
            .wait(Duration::from_secs(60), &CancelToken::new());
    }

    fn generation(&self) -> u64 {
        self.shared.current().generation
    }

    /// Whether the tool runs without asking.
    fn is_open(&self) -> bool {
        let current = self.shared.current();
        let tool = current.config.tool("fs_create_file").unwrap();
        tool.run.spawn.to_string() == "unattended"
    }
}

const OPEN: &str = "tools.fs_create_file.run = 'unattended'";
const OPEN_TOO: &str = "tools.fs_delete_file.run = 'unattended'";
const CLOSED: &str = "tools.fs_read_file.run = 'ask'";

fn accept() -> Answer {
    Answer::Given(Value::Bool(true))
}

fn deny() -> Answer {
    Answer::Given(Value::Bool(false))
}

/// What is as it was brings nothing about, and what narrows counts at once.
#[test]
fn narrowing_counts_at_once() {
    let mut bench = Bench::new();
    assert_eq!(bench.generation(), 1);
    bench.watcher.look();
    assert_eq!(bench.generation(), 1);
    bench.write(&[CLOSED]);
    assert_eq!((bench.generation(), bench.held()), (2, None));
}

/// What allows more is held until a person accepts it.
#[test]
fn widening_is_held_until_it_is_accepted() {
    let mut bench = Bench::new();
    let mut news = bench.shared.reload.news();
    bench.write(&[OPEN]);
    let id = bench.held().unwrap();
    assert!(news.has_changed().unwrap());
    news.mark_unchanged();
    assert!(!bench.is_open());
    assert_eq!(bench.generation(), 1);
    let reports = bench.files.reports.lock().unwrap().join("\n");
    assert!(
        reports.contains(&format!("`jig approve {id}`")),
        "{reports}"
    );
    assert!(reports.contains("fs_create_file"), "{reports}");
    bench.answer(id, accept());
    assert!(bench.is_open());
    assert!(news.has_changed().unwrap());
    assert_eq!((bench.generation(), bench.held()), (2, None));
    // Once is enough, although it has other files.
    bench.watcher.look();
    assert_eq!(bench.generation(), 2);
}

/// What cannot be used is told once, and the old one goes on.
#[test]
fn what_cannot_be_used_changes_nothing() {
    let mut bench = Bench::new();
    bench.files.is_unusable.store(true, Ordering::SeqCst);
    bench.write(&[CLOSED]);
    bench.write(&[OPEN]);
    let id = bench.held().unwrap();
    bench.answer(id, accept());
    bench.watcher.look();
    bench.watcher.look();
    let state = bench.shared.reload.state();
    assert_eq!(state.broken.as_deref(), Some("there is no workspace"));
    assert_eq!((bench.generation(), bench.is_open()), (1, false));
    let reports = bench.files.reports.lock().unwrap();
    let told = reports.iter().filter(|one| one.contains("cannot be used"));
    assert_eq!(told.count(), 2, "{reports:?}");
}

/// What comes into force is what was shown, though the files say something else by then.
#[test]
fn what_was_shown_is_what_counts() {
    let mut bench = Bench::new();
    bench.write(&[OPEN]);
    let id = bench.held().unwrap();
    let loads = bench.files.loads.load(Ordering::SeqCst);
    bench.files.write(&[OPEN_TOO]);
    bench.answer(id, accept());
    assert_eq!(bench.files.loads.load(Ordering::SeqCst), loads);
    assert!(bench.is_open());
    let current = bench.shared.current();
    let other = current.config.tool("fs_delete_file").unwrap();
    assert_ne!(other.run.spawn.to_string(), "unattended");
    // And what the files say is the next question.
    bench.watcher.look();
    assert_ne!(bench.held(), None);
}

#[test]
fn what_was_denied_is_not_asked_again() {
    let mut bench = Bench::new();
    bench.write(&[OPEN]);
    let id = bench.held().unwrap();
    bench.answer(id, deny());
    assert_eq!((bench.held(), bench.is_open()), (None, false));
    // The same content, written again.
    bench.write(&[OPEN]);
    assert_eq!(bench.held(), None);
    // Other content is another question.
    bench.write(&[OPEN, OPEN_TOO]);
    assert_ne!(bench.held(), None);
}

/// A later change takes the place of what is held, and its question goes.
#[test]
fn a_later_change_replaces_what_is_held() {
    let mut bench = Bench::new();
    bench.write(&[OPEN]);
    let first = bench.held().unwrap();
    bench.write(&[OPEN]);
    assert_eq!(bench.held(), Some(first));
    bench.write(&[OPEN_TOO]);
    let second = bench.held().unwrap();
    assert_ne!(first, second);
    assert!(
        bench
            .shared
            .questions
            .answer(&first, accept(), "me")
            .is_err()
    );
    // Back to where it was: there is nothing to ask.
    bench.write(&[]);
    assert_eq!(bench.held(), None);
    assert!(
        bench
            .shared
            .questions
            .answer(&second, accept(), "me")
            .is_err()
    );
    assert!(!bench.is_open());
}

#[test]
fn what_does_not_load_changes_nothing() {
    let mut bench = Bench::new();
    bench.write(&["tools.fs_create_file.run = 'perhaps'"]);
    let state = bench.shared.reload.state();
    assert!(state.broken.unwrap().contains("perhaps"));
    assert_eq!(bench.generation(), 1);
    bench.write(&[OPEN]);
    assert_eq!(bench.shared.reload.state().broken, None);
    let held = bench.held().unwrap();
    bench.write(&["nonsense = 1"]);
    assert_eq!(bench.held(), None);
    assert!(
        bench
            .shared
            .questions
            .answer(&held, accept(), "me")
            .is_err()
    );
    bench.write(&[]);
    assert_eq!(bench.shared.reload.state(), ReloadState::default());
}

/// The thread notices changes by itself, and ends with its guard.
#[test]
fn the_thread_looks_by_itself() {
    let files = Files::new();
    let shared = SharedServer::new(Box::new(Disk(Arc::clone(&files))), Options::default()).unwrap();
    let guard = watch(&shared).unwrap();
    files.write(&[CLOSED]);
    jig_testkit::until("it is loaded", || shared.current().generation == 2);
    assert!(Arc::strong_count(&shared) > 1, "the thread has its share");
    drop(guard);
    assert_eq!(Arc::strong_count(&shared), 1, "the thread is gone");
}
