//! Programs that stay: started, read, written to, stopped.

use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{ApprovalScope, AuditDecision, Broker, JudgedRequest};
use jig_proto::vfs::{
    ErrorKind, ErrorReply, ProcessOutput, ProcessRead, ProcessRun, ProcessStart, ProcessStop,
    ProcessWrite, TerminalSize, VfsReply, VfsRequest,
};
use jig_proto::{Fetch, View};
use serde_json::{Value, json};

use crate::world::{World, ask, both, kind};

/// How long something may take that is certain to happen. The machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A broker, and one program of it.
pub(crate) struct Running {
    pub(crate) broker: Broker,
    pub(crate) process: u64,
    /// All that was read by [`until`](Self::until).
    pub(crate) seen: String,
}

pub(crate) fn start<'a>(program: &'a str, args: &[&'a str]) -> ProcessStart<'a> {
    ProcessStart {
        args: args.iter().map(|arg| (*arg).into()).collect(),
        ..ProcessStart::new(program)
    }
}

/// The same on a terminal.
pub(crate) fn on_terminal(start: ProcessStart<'_>) -> ProcessStart<'_> {
    ProcessStart {
        terminal: Some(TerminalSize::default()),
        ..start
    }
}

pub(crate) fn shell(script: &str) -> ProcessStart<'_> {
    start("sh", &["-c", script])
}

pub(crate) fn try_start(broker: &Broker, start: ProcessStart<'_>) -> Result<u64, ErrorReply> {
    match ask(broker, &VfsRequest::ProcessStart(start))? {
        VfsReply::Started(started) => Ok(started.process),
        other => panic!("{other:?}"),
    }
}

fn try_read(broker: &Broker, read: ProcessRead) -> Result<ProcessOutput<'static>, ErrorReply> {
    match ask(broker, &VfsRequest::ProcessRead(read))? {
        VfsReply::Output(output) => Ok(output),
        other => panic!("{other:?}"),
    }
}

fn try_write(broker: &Broker, process: u64, input: Value) -> Result<(), ErrorReply> {
    let request = VfsRequest::ProcessWrite(ProcessWrite { process, input });
    assert_eq!(ask(broker, &request)?, VfsReply::DONE);
    Ok(())
}

fn try_stop(broker: &Broker, process: u64) -> Result<ProcessOutput<'static>, ErrorReply> {
    match ask(broker, &VfsRequest::ProcessStop(ProcessStop { process }))? {
        VfsReply::Output(output) => Ok(output),
        other => panic!("{other:?}"),
    }
}

fn waiting(process: u64, wait: Duration) -> ProcessRead {
    ProcessRead {
        fetch: Fetch {
            wait: Some(wait),
            ..Fetch::default()
        },
        ..ProcessRead::new(process)
    }
}

impl Running {
    pub(crate) fn new(world: &World, start: ProcessStart<'_>) -> Self {
        let broker = world.broker();
        let process = try_start(&broker, start).unwrap();
        Self {
            broker,
            process,
            seen: String::new(),
        }
    }

    pub(crate) fn read(&self, fetch: Fetch) -> ProcessOutput<'static> {
        let read = ProcessRead {
            fetch,
            ..ProcessRead::new(self.process)
        };
        try_read(&self.broker, read).unwrap()
    }

    pub(crate) fn view(&self, view: View) -> ProcessOutput<'static> {
        self.read(Fetch {
            view,
            ..Fetch::default()
        })
    }

    pub(crate) fn write(&self, input: Value) {
        try_write(&self.broker, self.process, input).unwrap();
    }

    pub(crate) fn stop(&self) -> ProcessOutput<'static> {
        try_stop(&self.broker, self.process).unwrap()
    }

    /// Reads until all that was read holds this text.
    pub(crate) fn until(&mut self, text: &str) -> ProcessOutput<'static> {
        self.until_it(|seen, _| seen.contains(text))
            .unwrap_or_else(|| panic!("`{text}` never came: {:?}", self.seen))
    }

    /// Reads until the screen holds this text.
    pub(crate) fn until_screen(&mut self, text: &str) -> ProcessOutput<'static> {
        let start = Instant::now();
        loop {
            let output = self.view(View::Screen);
            if output.content.contains(text) {
                return output;
            }
            assert!(
                start.elapsed() < PATIENCE && output.running,
                "`{text}` never came: {output:?}"
            );
            try_read(
                &self.broker,
                waiting(self.process, Duration::from_millis(500)),
            )
            .unwrap();
        }
    }

    /// Reads until the program has ended.
    pub(crate) fn until_end(&mut self) -> ProcessOutput<'static> {
        self.until_it(|_, output| !output.running)
            .unwrap_or_else(|| panic!("it never ended: {:?}", self.seen))
    }

    fn until_it(
        &mut self,
        is_there: impl Fn(&str, &ProcessOutput<'_>) -> bool,
    ) -> Option<ProcessOutput<'static>> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let output = try_read(&self.broker, waiting(self.process, PATIENCE)).unwrap();
            self.seen.push_str(&output.content);
            if is_there(&self.seen, &output) {
                return Some(output);
            }
            if !output.running && output.content.is_empty() {
                return None;
            }
        }
        None
    }
}

fn world() -> World {
    World::on_disk()
        .command("sh", None, &[])
        .command("cat", None, &[])
}

#[test]
fn a_program_stays_and_is_talked_to() {
    let world = world();
    let mut cat = Running::new(&world, start("cat", &[]));
    cat.write(json!({"line": "one"}));
    assert!(cat.until("one\n").running);
    cat.write(json!(["two", {"line": ""}]));
    let output = cat.until("two\n");
    assert_eq!((output.exit_code, output.signal), (None, None));
    assert_eq!(output.terminal, None);
    cat.write(json!({"end": true}));
    let output = cat.until_end();
    assert_eq!((output.running, output.exit_code), (false, Some(0)));
    assert_eq!(cat.seen, "one\ntwo\n");
}

#[test]
fn a_program_has_a_terminal_of_its_own() {
    let script = "tty -s && stty size; echo $TERM; read line; echo \"got $line\"; exit 3";
    let request = ProcessStart {
        terminal: Some(TerminalSize {
            rows: 30,
            cols: 100,
        }),
        ..shell(script)
    };
    let world = world();
    let mut program = Running::new(&world, request);
    let output = program.until("xterm-256color");
    assert!(program.seen.contains("30 100"), "{}", program.seen);
    let terminal = output.terminal.unwrap();
    assert_eq!((terminal.rows, terminal.cols), (30, 100));
    assert!(!terminal.alternate);
    program.write(json!({"resize": {"rows": 10, "cols": 40}}));
    program.write(json!({"line": "hello"}));
    let output = program.until_end();
    assert_eq!(output.exit_code, Some(3));
    let terminal = output.terminal.unwrap();
    assert_eq!((terminal.rows, terminal.cols), (10, 40));
    assert!(program.seen.contains("got hello"), "{}", program.seen);
}

#[test]
fn keys_act_on_a_terminal_as_they_do_for_people() {
    let script = "trap 'echo interrupted' INT; sh -c 'echo ready; exec sleep 600'; cat; echo end";
    let world = world();
    let mut program = Running::new(&world, on_terminal(shell(script)));
    program.until("ready");
    program.write(json!({"keys": ["ctrl-c"]}));
    program.until("interrupted");
    program.write(json!({"keys": ["ctrl-d"]}));
    assert_eq!(program.until_end().exit_code, Some(0));
    assert!(program.seen.ends_with("end"), "{}", program.seen);
}

#[test]
fn signals_of_keys_reach_the_whole_tree_on_pipes() {
    let script = "trap 'echo above' INT; \
                  sh -c 'trap \"echo below; exit\" INT; echo ready; while :; do sleep 0.1; done'; exit 7";
    let world = world();
    let mut program = Running::new(&world, shell(script));
    program.until("ready");
    program.write(json!({"key": "ctrl-c"}));
    let output = program.until_end();
    assert_eq!(output.exit_code, Some(7), "{}", program.seen);
    assert_eq!(program.seen, "ready\nbelow\nabove\n");
}

#[test]
fn output_is_read_in_pages_and_nothing_is_left_out() {
    let world = world();
    let mut program = Running::new(&world, shell("seq 1 3000; echo ä >&2"));
    program.until_end();
    let expected: String = (1..=3000).map(|number| format!("{number}\n")).collect();
    let mut pages = String::new();
    let mut after = 0;
    loop {
        let page = program.read(Fetch {
            after_seq: Some(after),
            max_bytes: Some(1000),
            ..Fetch::default()
        });
        assert!(page.content.len() <= 1000);
        if page.content.is_empty() {
            assert_eq!(page.cut, None);
            break;
        }
        pages.push_str(&page.content);
        after = page.seq;
    }
    assert_eq!(pages.replace("ä\n", ""), expected);
    // Without a number, the next page comes by itself.
    program.read(Fetch {
        after_seq: Some(0),
        max_bytes: Some(4),
        ..Fetch::default()
    });
    let page = program.read(Fetch {
        max_bytes: Some(4),
        ..Fetch::default()
    });
    assert_eq!(page.content, "3\n4\n");
    let cut = page.cut.unwrap();
    assert_eq!(cut.hint, "read again for what follows");
    assert!(cut.bytes > 10_000);
    let all = program.view(View::All);
    assert!(all.content.contains("\n3000\n") && all.content.starts_with("1\n"));
    assert_eq!(program.view(View::New).content, "");
}

#[test]
fn what_is_not_read_in_time_is_given_up_and_told() {
    let mut world = world();
    world.limits.process_kept_bytes = 1000;
    let mut program = Running::new(&world, shell("seq 1 20000; echo end; read wait"));
    // A look that shows nothing, to find out when all of it is printed.
    let start = Instant::now();
    let look = Fetch {
        view: View::Screen,
        ..Fetch::default()
    };
    while !program.read(look.clone()).content.contains("end") {
        assert!(start.elapsed() < PATIENCE);
        try_read(&program.broker, waiting(program.process, PATIENCE)).unwrap();
    }
    let output = program.read(Fetch {
        after_seq: Some(0),
        ..Fetch::default()
    });
    assert!(output.content.len() <= 1000, "{}", output.content.len());
    assert!(output.content.ends_with("20000\nend\n"));
    let cut = output.cut.unwrap();
    assert_eq!(cut.bytes, output.seq - output.content.len() as u64);
    assert!(cut.hint.contains("are gone"), "{}", cut.hint);
    program.write(json!({"line": ""}));
    program.until_end();
}

#[test]
fn a_wait_ends_when_something_comes_and_when_its_time_is_over() {
    let world = world();
    let mut program = Running::new(&world, shell("read line; echo $line; read line"));
    let start = Instant::now();
    let output = try_read(
        &program.broker,
        waiting(program.process, Duration::from_millis(50)),
    );
    let output = output.unwrap();
    assert!(output.running && output.content.is_empty(), "{output:?}");
    assert!(start.elapsed() >= Duration::from_millis(50));
    // A read that waits does not keep input from the program.
    let broker = program.broker.clone();
    let process = program.process;
    let reader = thread::spawn(move || try_read(&broker, waiting(process, PATIENCE * 2)));
    program.write(json!({"line": "hello"}));
    assert_eq!(reader.join().unwrap().unwrap().content, "hello\n");
    program.write(json!({"end": true}));
    program.until_end();
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn the_longest_wait_is_the_hosts() {
    let mut world = world();
    world.limits.process_wait = Duration::from_millis(50);
    let program = Running::new(&world, start("cat", &[]));
    let start = Instant::now();
    try_read(&program.broker, waiting(program.process, PATIENCE)).unwrap();
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn input_for_the_tool_ends_a_wait_also_if_it_came_before() {
    let world = world();
    let program = Running::new(&world, start("cat", &[]));
    let read = || {
        let start = Instant::now();
        let output = try_read(&program.broker, waiting(program.process, PATIENCE)).unwrap();
        assert!(output.running && output.content.is_empty());
        start.elapsed()
    };
    // Before the read.
    program.broker.input_has_come();
    assert!(read() < PATIENCE);
    // That was taken: the next one waits again.
    let short = Duration::from_millis(50);
    let start = Instant::now();
    try_read(&program.broker, waiting(program.process, short)).unwrap();
    assert!(start.elapsed() >= short);
    // A read that does not wait takes nothing.
    program.broker.input_has_come();
    program.view(View::New);
    assert!(read() < PATIENCE);
    // During the read.
    thread::scope(|scope| {
        let reader = scope.spawn(read);
        while !reader.is_finished() {
            program.broker.input_has_come();
            thread::yield_now();
        }
        assert!(reader.join().unwrap() < PATIENCE);
    });
}

#[test]
fn v157_giving_up_ends_a_wait_and_what_came_is_not_lost() {
    let world = world();
    let mut program = Running::new(&world, start("cat", &[]));
    for settle in [false, true] {
        let request = VfsRequest::ProcessRead(ProcessRead {
            settle,
            ..waiting(program.process, PATIENCE)
        });
        let JudgedRequest::Ready(work) = program.broker.judge(&request) else {
            panic!("it is there");
        };
        assert!(!work.is_quick());
        let cancel = work.cancel_token();
        let start = Instant::now();
        let (says, tid) = std::sync::mpsc::channel();
        let reader = thread::spawn(move || {
            says.send(rustix::thread::gettid()).unwrap();
            work.perform()
        });
        until_asleep(tid.recv().unwrap());
        cancel.cancel();
        assert_eq!(reader.join().unwrap().unwrap_err().code(), -32005);
        assert!(start.elapsed() < PATIENCE);
    }
    program.write(json!({"line": "still there"}));
    program.until("still there");
}

/// Waits until a thread of this process waits for something.
fn until_asleep(thread: rustix::thread::Pid) {
    let stat = format!("/proc/self/task/{}/stat", thread.as_raw_nonzero());
    let mut in_a_row = 0;
    jig_testkit::until("the thread waits", || {
        let stat = std::fs::read_to_string(&stat).unwrap_or_default();
        let is_asleep = stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" S"));
        in_a_row = if is_asleep { in_a_row + 1 } else { 0 };
        in_a_row == 10
    });
}

#[test]
fn settled_output_comes_as_one_answer() {
    let world = world();
    let program = Running::new(&world, shell("printf 'a? '; read x; printf 'b? '; read x"));
    let settled = |wait| {
        let read = ProcessRead {
            settle: true,
            ..waiting(program.process, wait)
        };
        try_read(&program.broker, read).unwrap().content
    };
    assert_eq!(settled(PATIENCE), "a? ");
    assert_eq!(settled(Duration::ZERO), "");
    program.write(json!({"line": ""}));
    assert_eq!(settled(PATIENCE), "b? ");
}

#[test]
fn what_cannot_be_written_is_told() {
    let world = world();
    let mut pipes = Running::new(&world, start("cat", &[]));
    let check = |program: &Running, input: Value, kind: ErrorKind, hint: &str| {
        let error = try_write(&program.broker, program.process, input.clone()).unwrap_err();
        assert_eq!((error.code(), error.kind()), (-32602, kind), "{input}");
        let hints = error.data.hint.unwrap_or_default();
        assert!(hints.contains(hint), "{input}: {hints}");
    };
    let forms = "{\"keys\": [\"ctrl-c\", \"up\"]}";
    for input in [
        json!(null),
        json!({"lines": "x"}),
        json!({"keys": ["no-such-key"]}),
        json!([["x"]]),
        // A pipe has neither keys nor a size.
        json!({"key": "up"}),
        json!({"resize": {"rows": 1, "cols": 1}}),
    ] {
        check(&pipes, input, ErrorKind::InvalidParams, forms);
    }
    pipes.write(json!({"end": true}));
    pipes.until_end();
    check(
        &pipes,
        json!("late"),
        ErrorKind::ProcessEnded,
        "process.read",
    );
    pipes.stop();
    check(
        &pipes,
        json!("x"),
        ErrorKind::UnknownProcess,
        "process.start",
    );
    let error = try_read(&pipes.broker, ProcessRead::new(pipes.process)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownProcess);
    assert_eq!(
        try_stop(&pipes.broker, 77).unwrap_err().kind(),
        ErrorKind::UnknownProcess
    );
    // Another broker's numbers mean nothing here.
    let error = try_stop(&world.broker(), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownProcess);
}

#[test]
fn a_program_that_does_not_read_is_not_fed_without_end() {
    let world = world();
    let program = Running::new(&world, shell("while :; do sleep 1; done"));
    let text = "x".repeat(300_000);
    let mut refused = None;
    for _ in 0..10 {
        let written = try_write(&program.broker, program.process, json!(text));
        refused = refused.or(written.err());
    }
    let refused = refused.unwrap();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.data.retryable);
}

#[test]
fn stopping_asks_first_and_then_kills() {
    let mut world = world();
    let script = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.1; done";
    let mut program = Running::new(&world, shell(script));
    program.until("ready");
    let output = program.stop();
    assert_eq!((output.running, output.exit_code), (false, Some(5)));
    assert!(output.content.contains("asked"), "{output:?}");

    world.limits.process_grace = Duration::from_millis(200);
    let script = "trap '' TERM; echo ready; while :; do sleep 0.1; done";
    let mut program = Running::new(&world, shell(script));
    program.until("ready");
    let output = program.stop();
    assert_eq!((output.exit_code, output.signal), (None, Some(9)));

    // A shell at a prompt does not end by `SIGTERM`: a terminal hangs up.
    world.limits.process_grace = PATIENCE;
    let world = world.command("bash", None, &[]);
    let request = on_terminal(start("bash", &["--norc", "-i"]));
    let mut program = Running::new(&world, request);
    program.write(json!({"line": "echo rea''dy"}));
    program.until("ready");
    let start = Instant::now();
    assert!(!program.stop().running);
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn only_so_many_run_at_the_same_time() {
    let mut world = world();
    world.limits.processes = 2;
    let broker = world.broker();
    let one = try_start(&broker, start("cat", &[])).unwrap();
    let two = try_start(&broker, start("cat", &[])).unwrap();
    let error = try_start(&broker, start("cat", &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.data.hint.unwrap().contains("process.stop"));
    try_stop(&broker, one).unwrap();
    let three = try_start(&broker, start("cat", &[])).unwrap();
    assert!(three > two);
    // Those that ended by themselves take nobody's place, and the oldest are forgotten.
    try_stop(&broker, two).unwrap();
    let mut last = 0;
    for _ in 0..6 {
        last = try_start(&broker, shell("echo over")).unwrap();
        let mut output = try_read(&broker, waiting(last, PATIENCE)).unwrap();
        while output.running {
            output = try_read(&broker, waiting(last, PATIENCE)).unwrap();
        }
    }
    assert_eq!(
        try_read(&broker, ProcessRead::new(last)).unwrap().exit_code,
        Some(0)
    );
    let error = try_read(&broker, ProcessRead::new(three + 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownProcess);
    assert!(try_read(&broker, ProcessRead::new(three)).unwrap().running);
}

#[test]
fn the_log_has_a_line_for_the_start_and_one_for_the_end() {
    let world = world();
    let mut program = Running::new(&world, shell("read line; exit 3"));
    let entries = world.log.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].operation, "process.start");
    assert_eq!(entries[0].target, "sh -c read line; exit 3");
    assert_eq!(entries[0].decision, AuditDecision::Allow);
    assert_eq!(entries[0].outcome.as_deref(), Some("ok"));
    program.write(json!({"line": "secret text"}));
    program.until_end();
    program.stop();
    let entries = world.log.entries();
    assert_eq!(entries.len(), 2, "{entries:?}");
    assert_eq!(entries[1].target, entries[0].target);
    assert_eq!(entries[1].outcome.as_deref(), Some("ended"));
    assert!(
        entries[1].reason.ends_with("it exited with code 3"),
        "{}",
        entries[1].reason
    );
    let broker = world.broker();
    assert_eq!(
        try_start(&broker, start("env", &[])).unwrap_err().kind(),
        ErrorKind::ApprovalUnavailable
    );
    let entries = world.log.entries();
    assert_eq!(entries.last().unwrap().decision, AuditDecision::Deny);
    assert_eq!(entries.last().unwrap().operation, "process.start");
}

#[test]
fn somebody_can_be_asked_about_a_start() {
    let world = World::on_disk();
    let broker = world.broker();
    let request = VfsRequest::ProcessStart(shell("echo hello"));
    let JudgedRequest::Uncovered(inquiry) = broker.judge(&request) else {
        panic!("no rule speaks of it");
    };
    assert_eq!(inquiry.text(), "Allow `editor` to run `sh -c echo hello`?");
    let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Once) else {
        panic!("it was approved");
    };
    let VfsReply::Started(started) = work.perform().unwrap() else {
        panic!("it is a start");
    };
    let mut program = Running {
        broker,
        process: started.process,
        seen: String::new(),
    };
    program.until("hello");
}

#[test]
fn v085_secrets_do_not_come_back_also_not_in_two_halves() {
    let world = World::on_disk()
        .env(&[("TOKEN", "hunter22-and-more")])
        .command("sh", None, &["TOKEN"]);
    // The value in two halves, with something between them that shows that the first has been printed.
    let script = "printf 'value %s' \"${TOKEN%?????????}\"; echo first >&2; read line; \
                  echo \"${TOKEN#????????}\"; echo \"${#TOKEN} letters\"; \
                  echo \"$TOKEN\" >&2; read line";
    for terminal in [None, Some(TerminalSize { rows: 10, cols: 20 })] {
        let request = ProcessStart {
            envs: vec!["TOKEN".into()],
            terminal,
            ..shell(script)
        };
        let mut program = Running::new(&world, request);
        program.until("first");
        assert!(program.seen.contains("value "), "{}", program.seen);
        program.write(json!({"line": ""}));
        program.until("17 letters");
        program.write(json!({"line": ""}));
        program.until_end();
        let all = program.view(View::All).content;
        for text in [&program.seen, all.as_ref()] {
            assert!(text.contains("[REDACTED]"), "{terminal:?}: {text}");
            if terminal.is_none() {
                assert!(!text.contains("hunt"), "{text}");
            }
            assert!(!text.contains("hunter22-"), "{terminal:?}: {text}");
        }
    }
    let entries = format!("{:?}", world.log.entries());
    assert!(
        entries.contains("(with $TOKEN)") && !entries.contains("hunter22"),
        "{entries}"
    );
}

#[test]
fn a_program_starts_in_a_directory_of_the_workspace() {
    let mut world = World::on_disk()
        .with("sub/dir/file", "x")
        .with("locked/file", "x")
        .with_link("link", "sub/dir")
        .with_link("out", "..")
        .allow(".", "r")
        .allow("locked", "")
        .command("ls", None, &[]);
    for confined in [false, true] {
        if confined {
            world = world.confined();
        }
        let check = |cwd: &str, expected: Result<&str, ErrorKind>| {
            let request = ProcessStart {
                cwd: Some(cwd.to_owned().into()),
                ..start("ls", &[])
            };
            let broker = world.broker();
            let listed = try_start(&broker, request).map(|process| {
                let mut program = Running {
                    broker,
                    process,
                    seen: String::new(),
                };
                program.until_end();
                program.seen
            });
            let listed = listed.map_err(|error| error.kind());
            assert_eq!(listed.as_deref().map_err(|kind| *kind), expected, "{cwd}");
            // One that is run to its end starts there as well.
            let request = VfsRequest::ProcessRun(ProcessRun {
                program: "ls".into(),
                args: Vec::new(),
                envs: Vec::new(),
                cwd: Some(cwd.to_owned().into()),
            });
            let listed = match kind(world.ask(&request)) {
                Ok(VfsReply::Process(reply)) => Ok(reply.stdout.into_owned()),
                Ok(other) => panic!("{other:?}"),
                Err(kind) => Err(kind),
            };
            assert_eq!(
                listed.as_deref().map_err(|kind| *kind),
                expected,
                "run in {cwd}"
            );
        };
        check("sub", Ok("dir\n"));
        check("sub/dir", Ok("file\n"));
        check("link", Ok("file\n"));
        check("./sub/../sub", Err(ErrorKind::Escape));
        check("nothing", Err(ErrorKind::NotFound));
        check("sub/dir/file", Err(ErrorKind::NotDir));
        check("locked", Err(ErrorKind::DeniedByRule));
        check("..", Err(ErrorKind::Escape));
        check("out", Err(ErrorKind::Escape));
        check("/tmp", Err(ErrorKind::Escape));
    }
}

#[test]
fn v084_changes_are_there_when_the_end_is_told() {
    both(|world| {
        let world = world
            .with("a.txt", "a")
            .allow(".", "rcud")
            .command("sh", None, &[])
            .confined();
        let script = "read line; cat a.txt; echo $line > b.txt";
        let mut program = Running::new(&world, shell(script));
        program.write(json!({"line": "new"}));
        program.until_end();
        assert_eq!(program.seen, "a");
        assert_eq!(world.content("b.txt").as_deref(), Some("new\n"));
    });
}

#[test]
fn writes_keep_their_order_and_reads_without_a_wait_are_quick() {
    let world = world();
    let program = Running::new(&world, start("cat", &[]));
    let request = VfsRequest::ProcessWrite(ProcessWrite {
        process: program.process,
        input: json!("x"),
    });
    let is_quick = |request: &VfsRequest<'_>| match program.broker.judge(request) {
        JudgedRequest::Ready(work) => work.is_quick(),
        other => panic!("{other:?}"),
    };
    assert!(is_quick(&request));
    let read = ProcessRead::new(program.process);
    assert!(is_quick(&VfsRequest::ProcessRead(read)));
    assert!(!is_quick(&VfsRequest::ProcessRead(waiting(
        program.process,
        PATIENCE
    ))));
    let process = program.process;
    assert!(!is_quick(&VfsRequest::ProcessStop(ProcessStop { process })));
    assert!(!is_quick(&VfsRequest::ProcessStart(start("cat", &[]))));
}
