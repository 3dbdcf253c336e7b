//! Calls whose tools begin on the thread of the caller.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use jig_broker::{AuditEntry, AuditSink, CancelToken};
use jig_engine::{Answer, Ask, Asker, Call, CallError, Engine};
use jig_runtime::LentThread;
use serde_json::{Value, json};

use crate::calls::World;

/// A thread that has a tool when a test wants it, and counts how often it was given back.
#[derive(Default)]
struct Counted {
    given_back: AtomicUsize,
    tool: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

impl Counted {
    /// Runs the tool here.
    fn run_tool(&self) {
        let tool = self.tool.lock().unwrap().take();
        tool.expect("a tool was begun")();
    }
}

impl LentThread for Counted {
    fn run(&self, tool: Box<dyn FnOnce() + Send>) {
        *self.tool.lock().unwrap() = Some(tool);
    }

    fn wait(&self, wait: &mut dyn FnMut()) {
        self.given_back.fetch_add(1, Ordering::SeqCst);
        wait();
    }
}

/// Notes which threads write lines of the log.
#[derive(Debug, Default)]
struct Writers(Mutex<Vec<(String, ThreadId)>>);

impl AuditSink for Writers {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        let line = (entry.operation.to_string(), thread::current().id());
        self.0.lock().unwrap().push(line);
        Ok(())
    }
}

/// Answers on whatever thread it is asked, and notes that thread.
struct Somewhere {
    answer: Answer,
    asked: Vec<ThreadId>,
    cancels: Option<CancelToken>,
}

impl Asker for Somewhere {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        self.asked.push(thread::current().id());
        if let Some(cancel) = &self.cancels {
            cancel.cancel();
        }
        self.answer.clone()
    }
}

/// What came of a call that began here.
struct Began {
    result: Result<String, CallError>,
    given_back: usize,
    asked: Vec<ThreadId>,
    lines: Vec<(String, ThreadId)>,
}

fn begin(mut engine: Engine, path: &str, answer: &str, cancels: bool) -> Began {
    let lines = Arc::new(Writers::default());
    engine.audit = lines.clone();
    let thread = Arc::new(Counted::default());
    let cancel = CancelToken::new();
    let mut asker = Somewhere {
        answer: Answer::Given(json!(answer)),
        asked: Vec::new(),
        cancels: cancels.then(|| cancel.clone()),
    };
    let call = Call {
        cancel: Some(cancel),
        callers_thread: Some(thread.clone()),
        ..Call::new("fs_read_file", json!({ "path": path }))
    };
    let begun = engine.begin(call, &mut asker).unwrap();
    let result = thread::scope(|scope| {
        let asker = &mut asker;
        let finished = scope.spawn(move || begun.finish(asker));
        thread.run_tool();
        finished.join().unwrap()
    });
    let lines = std::mem::take(&mut *lines.0.lock().unwrap());
    Began {
        result: result.map(|reply| reply.into_content().to_text()),
        given_back: thread.given_back.load(Ordering::SeqCst),
        asked: asker.asked,
        lines,
    }
}

#[test]
fn a_quick_call_is_made_on_the_thread_of_its_caller() {
    let world = World::new(&[("a.txt", "text")]);
    // On a busy machine even a quick call may take so long that the thread is given back.
    let tries = (0..50).map(|_| begin(world.engine(""), "a.txt", "no", false));
    let began = tries.into_iter().find(|began| began.given_back == 0);
    let began = began.expect("one of many is quick");
    assert!(began.result.unwrap().contains("text"));
    let own = ("fs.read".to_owned(), thread::current().id());
    assert_eq!(began.lines, [own]);
}

/// The tool waits on the thread where it began, given back; somebody else asks.
#[test]
fn a_call_that_asks_gives_the_thread_back() {
    let world = World::new(&[(".env", "SECRET=1")]);
    let began = begin(world.engine(""), ".env", "once", false);
    assert!(began.result.unwrap().contains("SECRET"));
    assert!(began.given_back > 0);
    let own = thread::current().id();
    assert_eq!(began.asked.len(), 1);
    assert_ne!(began.asked[0], own);
    let reads = began.lines.iter();
    let mut reads = reads.filter(|(operation, _)| operation == "fs.read");
    assert!(reads.all(|(_, thread)| *thread == own));
    let refused = begin(world.engine(""), ".env", "no", false);
    refused.result.unwrap_err();
}

#[test]
fn a_call_that_is_given_up_while_it_asks_comes_to_its_end() {
    let world = World::new(&[(".env", "SECRET=1")]);
    let began = begin(world.engine(""), ".env", "once", true);
    assert_eq!(began.asked.len(), 1);
    began.result.unwrap_err();
}

/// Panics when it is asked.
struct Broken;

impl Asker for Broken {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        panic!("nobody can ask");
    }
}

#[test]
fn a_call_whose_asker_breaks_comes_to_its_end() {
    let world = World::new(&[(".env", "SECRET=1")]);
    let engine = world.engine("");
    let thread = Arc::new(Counted::default());
    let call = Call {
        callers_thread: Some(thread.clone()),
        ..Call::new("fs_read_file", json!({ "path": ".env" }))
    };
    let begun = engine.begin(call, &mut Broken).unwrap();
    thread::scope(|scope| {
        let finished = scope.spawn(move || begun.finish(&mut Broken));
        thread.run_tool();
        finished.join().unwrap_err();
    });
}

/// Whoever may be asked first, computes for long, goes on, or is a program, gets a thread of its own.
#[test]
fn only_tools_that_run_to_their_end_inside_begin_here() {
    let world = World::new(&[]);
    let engine = world.engine(
        r#"
        [tools.fs_list_files]
        run = "ask"
        [tools.fs_delete_file]
        result = "ask"
        [tools.fs_grep_files]
        runtime = "vfs"
        [tools.fs_modify_file]
        run = "unattended"
        [tools.program]
        source = "local"
        command = ["true"]
        "#,
    );
    let begins = |tool: &str| {
        let Value::Object(none) = json!({}) else {
            unreachable!()
        };
        engine.begins_on_callers_thread(tool, &none)
    };
    assert!(begins("fs_read_file"));
    for tool in [
        "fs_list_files",
        "fs_delete_file",
        "fs_grep_files",
        "fs_modify_file",
        "learn",
        "program",
        "missing",
    ] {
        assert!(!begins(tool), "{tool}");
    }
}
