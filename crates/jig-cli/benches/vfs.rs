//! What mediation costs: a real tool under the real runtime, against bare pipes and direct reads.
//!
//! `cargo bench -p jig-cli`. The two sides of each comparison run in turns, and ratios are printed: on
//! a noisy machine absolute times mean little, and whether two processes share a processor matters
//! more than anything that they do. The ratio of the minima is the one to trust.
//!
//! The program starts itself again as the tool and as the partner of the bare pipes.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the plain side of each comparison uses the operating system, and a person reads this"
)]

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{AuditSink, Broker, BrokerParts, FileSink, FileSinkOptions, NullSink};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::{
    Capabilities, FsRead, Id, Method, ToolInput, VfsReply, VfsRequest, host, tool,
};
use jig_proto::{Action, Content, Context, Question, ToolError, ToolState};
use jig_runtime::{CommandLine, Plan, Runtime as _, Session, VfsRuntime};
use jig_tool::vfs::{Host, HostError, run};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("tool") => return run(serve),
        Some("partner") => return partner(args.next().as_deref(), args.next().as_deref()),
        Some("peak") => peak(&args.next().map(Utf8PathBuf::from).unwrap_or_default()),
        // What `cargo bench` adds is of no interest.
        _ => compare_all(),
    }
    ExitCode::SUCCESS
}

fn compare_all() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8Path::from_path(folder.path()).expect("a UTF-8 path");
    let root = root.canonicalize_utf8().expect("a directory");
    let workspace = root.join("ws");
    std::fs::create_dir(&workspace).expect("a directory");
    prepare(&workspace);
    println!("{:<44} {:>9} {:>9}  wanted", "", "fastest", "median");
    small_reads(&root, &workspace);
    many_files(&workspace);
    large_file(&workspace);
    memory(&workspace);
}

fn prepare(root: &Utf8Path) {
    let write = |path: &str, content: String| {
        std::fs::write(root.join(path), content).expect("a file");
    };
    write("small", "x".repeat(1024));
    write("large", "x".repeat(16 << 20));
    // Lines, so that it also has something to escape.
    write("text", "a line of 24 characters\n".repeat(10_000_000 / 24));
    std::fs::create_dir(root.join("many")).expect("a directory");
    for name in many() {
        write(&name, "y".repeat(4096));
    }
}

fn many() -> Vec<String> {
    (0..1000).map(|number| format!("many/{number}")).collect()
}

// What is compared.

fn small_reads(root: &Utf8Path, workspace: &Utf8Path) {
    let offer = Capabilities {
        blobs: true,
        ..Capabilities::PLAIN
    };
    let log = FileSink::open(&root.join("log"), as_the_program_does()).expect("a log");
    let mut warm = Tool::start(workspace, offer, Arc::new(log));
    let mut unlogged = Tool::start(workspace, offer, Arc::new(NullSink));
    let (request, reply) = sizes(workspace);
    let mut bare = Partner::start(request, reply);
    let mut ping_pong = || bare.exchange(SMALL_READS);
    let wanted = "4.0, better 3.0, against bare pipes";
    compare(
        "fs.read of 1 KiB, with the audit log",
        wanted,
        60,
        &mut ping_pong,
        &mut || warm.does("small"),
    );
    compare(
        "fs.read of 1 KiB, without",
        wanted,
        60,
        &mut ping_pong,
        &mut || unlogged.does("small"),
    );
}

/// How many bytes the request for the small file and the answer to it have.
fn sizes(workspace: &Utf8Path) -> (usize, usize) {
    let request = VfsRequest::FsRead(FsRead {
        blob: true,
        ..FsRead::new("small")
    });
    let id = Id::from(1000);
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    tool::write_request(&mut asked, &id, &request);
    let content = std::fs::read_to_string(workspace.join("small")).expect("content");
    let mut reply = VfsReply::read(content.as_str());
    if let VfsReply::Read(read) = &mut reply {
        read.etag = Some(
            jig_files::ContentHash::of(content.as_bytes())
                .to_string()
                .into(),
        );
    }
    let blob = host::write_reply_with_blob(&mut answered, &id, &reply).len();
    (asked.len(), answered.len() + blob)
}

fn many_files(workspace: &Utf8Path) {
    let deep = Capabilities {
        concurrency: NonZeroU32::new(32),
        ..Capabilities::PLAIN
    };
    let paths: Vec<Utf8PathBuf> = many().iter().map(|name| workspace.join(name)).collect();
    let mut direct = || {
        time(|| {
            for path in &paths {
                black_box(std::fs::read(path).expect("content"));
            }
        })
    };
    for (name, piece, offer) in [
        ("depth 1", "many", Capabilities::PLAIN),
        ("depth 32", "many", deep),
        (
            "depth 32, blobs",
            "many",
            Capabilities {
                blobs: true,
                ..deep
            },
        ),
        (
            "depth 1, open files",
            "open",
            Capabilities {
                fd_pass: true,
                ..Capabilities::PLAIN
            },
        ),
        (
            "depth 32, open files",
            "open",
            Capabilities {
                fd_pass: true,
                ..deep
            },
        ),
    ] {
        let mut tool = Tool::start(workspace, offer, Arc::new(NullSink));
        let name = format!("1,000 files of 4 KiB, {name}");
        compare(
            &name,
            "- (against direct reads)",
            20,
            &mut direct,
            &mut || tool.does(piece),
        );
    }
}

fn large_file(workspace: &Utf8Path) {
    let path = workspace.join("large");
    let offer = Capabilities {
        fd_pass: true,
        ..Capabilities::PLAIN
    };
    let mut tool = Tool::start(workspace, offer, Arc::new(NullSink));
    let mut direct = || time(|| drop(black_box(std::fs::read(&path).expect("content"))));
    let wanted = "1.2, against a direct read";
    compare(
        "16 MiB as an open file",
        wanted,
        40,
        &mut direct,
        &mut || tool.does("large"),
    );
}

/// Runs both sides in turn and prints the ratios of their times.
fn compare(
    name: &str,
    wanted: &str,
    rounds: usize,
    plain: &mut dyn FnMut() -> Duration,
    ours: &mut dyn FnMut() -> Duration,
) {
    let (mut base, mut mediated) = (Vec::new(), Vec::new());
    for round in 0..rounds + 2 {
        let times = (plain(), ours());
        // The first rounds fill the caches.
        if round >= 2 {
            base.push(times.0);
            mediated.push(times.1);
        }
    }
    base.sort_unstable();
    mediated.sort_unstable();
    let ratio = |at: usize| mediated[at].as_secs_f64() / base[at].as_secs_f64();
    let (fastest, median) = (ratio(0), ratio(rounds / 2));
    println!("{name:<44} {fastest:>8.2}x {median:>8.2}x  {wanted}");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

// Memory.

fn memory(workspace: &Utf8Path) {
    let own = std::env::current_exe().expect("this program");
    let output = Command::new(own).arg("peak").arg(workspace).output();
    let output = output.expect("this program runs");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let jig = Command::new(env!("CARGO_BIN_EXE_jig"))
        .args([
            "-C",
            ".",
            "call",
            "fs_read_file",
            "path=small",
            "--no-interaction",
        ])
        .current_dir(workspace)
        .env("HOME", workspace)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let peak = watched_peak(jig.expect("jig starts")) as f64 / f64::from(1 << 20);
    println!(
        "{:<44} {peak:>5.1} MiB {:>9}  30 MiB",
        "peak of a simple `jig call`", ""
    );
}

/// Reads a large file as JSON and prints the peak of this process, which is the host.
fn peak(workspace: &Utf8Path) {
    let mut tool = Tool::start(workspace, Capabilities::PLAIN, Arc::new(NullSink));
    tool.does("text");
    let peak = peak_of(Path::new("/proc/self/status"));
    let size = std::fs::metadata(workspace.join("text"))
        .expect("a file")
        .len();
    let ratio = peak.unwrap_or(0) as f64 / size as f64;
    println!(
        "{:<44} {ratio:>8.2}x {:>9}  6.0, against the file",
        "peak of the host, 10 MB as JSON", ""
    );
}

/// The peak of another process, looked at until it ends.
fn watched_peak(mut process: Child) -> u64 {
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    while process.try_wait().expect("it is ours").is_none() {
        peak = peak_of(Path::new(&status)).unwrap_or(0).max(peak);
    }
    peak
}

fn peak_of(status: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

// The tool.

/// A tool that waits for what to do next.
struct Tool {
    session: Session,
    seen: u64,
}

impl Tool {
    fn start(workspace: &Utf8Path, offer: Capabilities, audit: Arc<dyn AuditSink>) -> Self {
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(workspace).expect("files"));
        let lookup = Workspace::new(workspace, FilesLookup(Arc::clone(&files)));
        let default = DefaultAccess::READ_ONLY;
        let policy = Policy::compile(
            &DeclaredAccess::default(),
            default,
            &Guards::of_workspace(),
            &lookup,
        );
        let policy = Arc::new(policy.expect("a policy"));
        let mut parts = BrokerParts::new("bench", "c1", Arc::clone(&files), policy);
        parts.audit = audit;
        let program = std::env::current_exe().expect("this program");
        let program = program.to_str().expect("a UTF-8 path");
        let view = Arc::new(files.materialize().expect("a directory"));
        let context = Context::new(workspace, Action::Run);
        let plan = Plan {
            command: Some(CommandLine::literal(
                program,
                ["tool"],
                view,
                "/nonexistent",
            )),
            methods: vec![Method::FsRead],
            offer,
            ..Plan::new(ToolInput::default(), context, Broker::new(parts))
        };
        let session = VfsRuntime.start(plan).expect("the tool starts");
        let mut tool = Self { session, seen: 0 };
        tool.wait();
        tool
    }

    /// Has it do a piece of work; gives how long that took.
    fn does(&mut self, piece: &str) -> Duration {
        let seen = self.session.state().number;
        self.session
            .apply(seen, json!(piece))
            .expect("the tool runs");
        self.wait()
    }

    /// Waits until it asks what to do.
    fn wait(&mut self) -> Duration {
        loop {
            let update = self.session.wait(self.seen, None);
            self.seen = update.number;
            match update.state {
                ToolState::Waiting { question, .. } => {
                    return Duration::from_nanos(question.text.parse().expect("a time"));
                }
                ToolState::Running { .. } => {}
                ToolState::Stopped { result, .. } => panic!("the tool ended: {result:?}"),
            }
        }
    }
}

/// The tool's side: asks what to do, and does it.
fn serve(host: &mut Host) -> Result<Content, ToolError> {
    let names = many();
    let mut taken = Duration::ZERO;
    loop {
        let question = Question::text("next", taken.as_nanos().to_string());
        host.state(ToolState::waiting(question))?;
        let piece = match host.wait_apply()? {
            Value::String(piece) => piece,
            other => return Err(ToolError::new(format!("there is no piece {other}"))),
        };
        let start = Instant::now();
        piece_of(&piece, host, &names)?;
        taken = start.elapsed();
    }
}

fn piece_of(piece: &str, host: &mut Host, names: &[String]) -> Result<(), ToolError> {
    let mut failed: Option<HostError> = None;
    match piece {
        "small" => {
            for _ in 0..SMALL_READS {
                black_box(host.read_bytes("small")?);
            }
        }
        "many" => host.read_each(names, |_, read| match read {
            Ok(read) => drop(black_box(read)),
            Err(error) => failed = Some(error),
        })?,
        "open" => host.open_each(names, |_, opened| {
            match opened.map(|file| file.into_bytes()) {
                Ok(content) => drop(black_box(content)),
                Err(error) => failed = Some(error),
            }
        })?,
        "large" => drop(black_box(host.open("large")?.into_bytes())),
        _ => drop(black_box(host.read("text")?)),
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

// The bare pipes.

/// A process that answers so many bytes with so many bytes, and nothing else.
struct Partner {
    process: Child,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Partner {
    fn start(request: usize, reply: usize) -> Self {
        let own = std::env::current_exe().expect("this program");
        let process = Command::new(own)
            .args(["partner", &request.to_string(), &reply.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self {
            process: process.expect("this program starts"),
            request: vec![b'x'; request],
            reply: vec![0; reply],
        }
    }

    fn exchange(&mut self, rounds: usize) -> Duration {
        let (Some(to), Some(from)) = (&mut self.process.stdin, &mut self.process.stdout) else {
            panic!("both are piped");
        };
        time(|| {
            for _ in 0..rounds {
                to.write_all(&self.request).expect("the partner reads");
                from.read_exact(&mut self.reply)
                    .expect("the partner answers");
            }
        })
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn partner(request: Option<&str>, reply: Option<&str>) -> ExitCode {
    let size = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
    let (mut request, reply) = (vec![0; size(request)], vec![b'y'; size(reply)]);
    let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
    // Each is one system call: what is flushed at once is not sent in pieces.
    while from.read_exact(&mut request).is_ok()
        && to.write_all(&reply).and_then(|()| to.flush()).is_ok()
    {}
    ExitCode::SUCCESS
}

const SMALL_READS: usize = 200;

/// The log as `jig call` opens it.
fn as_the_program_does() -> FileSinkOptions {
    FileSinkOptions {
        buffered: true,
        ..FileSinkOptions::default()
    }
}
