//! What a file costs through the FS proxy: 100 MB in pieces of 4 KiB, read and written, one request at a time and
//! 32 in flight, against the same pieces over a plain pipe.
//!
//! `cargo xtask bench fsproxy`. All sides run in turns, each with a process of its own on the other end, and ratios
//! are printed. The pipe has no requests, no base64 and no policy: it only moves the pieces. A second pipe has every
//! piece asked for, as the protocol does it with one request at a time.
//!
//! The program starts itself again as the other end.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "the plain side of each comparison uses the operating system, and a person reads this"
)]

use std::fs::File as DiskFile;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::fsproxy::OpenMode;
use jig_runtime::fsproxy::{ClientOptions, Manager, ManagerOptions};
use jig_tool::proxy::Client;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["client", act, depth] => client(act, depth.parse().expect("a depth")),
        ["pipe", act] => pipe(act),
        // What `cargo bench` adds is of no interest.
        _ => compare(),
    }
    ExitCode::SUCCESS
}

fn compare() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8Path::from_path(folder.path()).expect("a UTF-8 path");
    let root = root.canonicalize_utf8().expect("a directory");
    std::fs::write(root.join("in"), pattern()).expect("a file");
    let manager = manager(&root);
    let mut sides: Vec<Side> = SIDES
        .iter()
        .map(|(name, act, depth)| Side {
            name,
            act,
            depth: *depth,
            times: Vec::new(),
        })
        .collect();
    // The first round warms up what is shared: the page cache, the programs.
    for round in 0..=ROUNDS {
        for side in &mut sides {
            let taken = side.run(&root, &manager);
            if round > 0 {
                side.times.push(taken);
            }
        }
    }
    assert!(manager.clients().is_empty(), "a client was left behind");
    println!("100 MB in pieces of 4 KiB, the pipe is 1");
    println!("{:<44} {:>9} {:>9}", "", "fastest", "median");
    for group in sides.chunks_mut(SIDES.len() / 2) {
        let (floor, others) = group.split_first_mut().expect("sides");
        let (fastest, median) = floor.summary();
        for side in others {
            let (fast, middle) = side.summary();
            println!(
                "{:<44} {:>8.2}x {:>8.2}x",
                side.name,
                fast / fastest,
                middle / median
            );
        }
    }
    for act in ["read", "write"] {
        let mut of = |depth| {
            let side = sides
                .iter_mut()
                .find(|side| side.act == act && side.depth == depth);
            side.expect("a side").summary()
        };
        let ((deep, deep_median), (one, one_median)) = (of(32), of(1));
        let name = format!("{act}: 32 in flight against one at a time");
        println!(
            "{name:<44} {:>8.2}x {:>8.2}x",
            deep / one,
            deep_median / one_median
        );
    }
}

/// What is compared: its name, what the other end does, and how deep it asks; 0 is a pipe.
const SIDES: [(&str, &str, usize); 8] = [
    ("a pipe", "read", 0),
    ("a pipe, every piece asked for", "asked", 0),
    ("read, one at a time", "read", 1),
    ("read, 32 in flight", "read", 32),
    ("a pipe", "write", 0),
    ("a pipe, every piece acknowledged", "acknowledged", 0),
    ("write, one at a time", "write", 1),
    ("write, 32 in flight", "write", 32),
];

struct Side {
    name: &'static str,
    act: &'static str,
    depth: usize,
    times: Vec<f64>,
}

impl Side {
    /// Moves everything once, and says how long that took the other end.
    fn run(&self, root: &Utf8Path, manager: &Manager) -> f64 {
        if self.act == "write" || self.act == "acknowledged" {
            let _ = std::fs::remove_file(root.join("out"));
        }
        let taken = match self.depth {
            0 => self.by_pipe(root),
            _ => self.by_proxy(manager),
        };
        if self.act == "write" || self.act == "acknowledged" {
            let size = std::fs::metadata(root.join("out")).expect("a file").len();
            assert_eq!(size, TOTAL as u64, "{} lost something", self.name);
        }
        taken.as_secs_f64()
    }

    fn by_proxy(&self, manager: &Manager) -> Duration {
        let (client, end) = manager
            .connect(ClientOptions::default())
            .expect("a connection");
        let depth = self.depth.to_string();
        let child = start(&["client", self.act, &depth], end.into());
        let taken = finish(child);
        client.wait();
        taken
    }

    fn by_pipe(&self, root: &Utf8Path) -> Duration {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a socket");
        let (mut reader, mut writer) = io::pipe().expect("a pipe");
        // The pieces go through the pipe; the socket carries the questions and acknowledgements.
        let end: Stdio = match self.act {
            "read" | "asked" => OwnedFd::from(reader.try_clone().expect("a pipe")).into(),
            _ => OwnedFd::from(writer.try_clone().expect("a pipe")).into(),
        };
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args(["pipe", self.act]);
        let child = match self.act {
            "read" | "asked" => child.stdin(end).stderr(OwnedFd::from(theirs)),
            _ => child.stdin(OwnedFd::from(theirs)).stderr(end),
        };
        let child = child.stdout(Stdio::piped()).spawn().expect("a process");
        let mut piece = [0; PIECE];
        let mut word = [0; WORD];
        match self.act {
            "read" | "asked" => {
                drop(reader);
                let mut file = DiskFile::open(root.join("in")).expect("a file");
                for _ in 0..TOTAL / PIECE {
                    if self.act == "asked" {
                        (&ours).read_exact(&mut word).expect("a question");
                    }
                    file.read_exact(&mut piece).expect("content");
                    writer.write_all(&piece).expect("a pipe");
                }
                drop(writer);
            }
            _ => {
                drop(writer);
                let mut file = DiskFile::create(root.join("out")).expect("a file");
                for _ in 0..TOTAL / PIECE {
                    reader.read_exact(&mut piece).expect("a piece");
                    file.write_all(&piece).expect("a file");
                    if self.act == "acknowledged" {
                        (&ours).write_all(&word).expect("a partner");
                    }
                }
            }
        }
        finish(child)
    }

    /// The fastest and the median, in seconds.
    fn summary(&mut self) -> (f64, f64) {
        self.times.sort_by(f64::total_cmp);
        (self.times[0], self.times[self.times.len() / 2])
    }
}

fn manager(root: &Utf8PathBuf) -> Manager {
    let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).expect("a workspace"));
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = Policy::compile(
        &DeclaredAccess::default(),
        DefaultAccess::READ_WRITE,
        &Guards::default(),
        &workspace,
    );
    let policy = Arc::new(policy.expect("a policy"));
    let broker = Broker::new(BrokerParts::new("bench", "c1", files, policy));
    Manager::new(broker, ManagerOptions::default())
}

fn start(words: &[&str], end: Stdio) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.args(words).stdin(end).stdout(Stdio::piped());
    child.spawn().expect("a process")
}

/// How long the other end took, by its own clock.
fn finish(child: Child) -> Duration {
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "the other end failed");
    let text = String::from_utf8(output.stdout).expect("a number");
    Duration::from_nanos(text.trim().parse().expect("a number"))
}

// The other end.

fn client(act: &str, depth: usize) {
    let socket = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .expect("a descriptor");
    let client = Client::from_socket(socket).expect("a connection");
    let mut piece = [0; PIECE];
    let began = Instant::now();
    if act == "read" {
        let mut file = client.open("in", OpenMode::Read).expect("a file");
        if depth > 1 {
            file = file.pipelined(depth);
        }
        let mut total = 0;
        loop {
            match file.read(&mut piece).expect("content") {
                0 => break,
                count => total += count,
            }
        }
        assert_eq!(total, TOTAL);
        file.close().expect("an end");
    } else {
        piece.copy_from_slice(&pattern()[..PIECE]);
        let mut file = client.open("out", OpenMode::Write).expect("a file");
        if depth > 1 {
            file = file.pipelined(depth);
        }
        for _ in 0..TOTAL / PIECE {
            file.write_all(&piece).expect("a file");
        }
        file.flush().expect("a file");
        file.close().expect("an end");
    }
    println!("{}", began.elapsed().as_nanos());
}

fn pipe(act: &str) {
    let mut piece = [0; PIECE];
    let mut word = [0; WORD];
    let take = |end: io::Result<OwnedFd>| DiskFile::from(end.expect("a descriptor"));
    let mut input = take(io::stdin().as_fd().try_clone_to_owned());
    let mut other = take(io::stderr().as_fd().try_clone_to_owned());
    let began = Instant::now();
    for _ in 0..TOTAL / PIECE {
        match act {
            "read" => input.read_exact(&mut piece).expect("a piece"),
            "asked" => {
                other.write_all(&word).expect("a partner");
                input.read_exact(&mut piece).expect("a piece");
            }
            "write" => other.write_all(&piece).expect("a pipe"),
            _ => {
                other.write_all(&piece).expect("a pipe");
                input.read_exact(&mut word).expect("a word");
            }
        }
    }
    println!("{}", began.elapsed().as_nanos());
}

/// Content that no shortcut for zeros makes cheap.
fn pattern() -> Vec<u8> {
    (0..TOTAL)
        .map(|place| (place.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}

const PIECE: usize = 4096;

/// 100 MB, in whole pieces.
const TOTAL: usize = 24_415 * PIECE;

/// A question of the plain pipe, as long as a request of the protocol.
const WORD: usize = 60;

const ROUNDS: usize = 9;
