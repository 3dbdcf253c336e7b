//! What an agent waits for: reading a small file through `jig mcp`, against npm's `server-filesystem`, and
//! many HTTP clients at once.
//!
//! `cargo xtask bench mcp` installs what it is compared with and runs this. One and the same client speaks to
//! both servers, in turns, over pipes; ratios are printed, because on a noisy machine absolute times mean
//! little. Flags: `--node PROGRAM --server SCRIPT` name the other server; `--seconds N` is how long the HTTP
//! clients go on.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs are started and files written to be measured, and a person reads this"
)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::{Client, OLD, initialize};

fn main() {
    let wanted = Wanted::parse();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = folder.path().canonicalize().expect("a directory");
    let workspace = root.join("ws");
    std::fs::create_dir(&workspace).expect("a directory");
    std::fs::write(
        workspace.join("small.txt"),
        format!("{CONTENT}\n").repeat(64),
    )
    .expect("a file");
    match (&wanted.node, &wanted.server) {
        (Some(node), Some(server)) => small_reads(&root, &workspace, node, server),
        _ => println!("without --node and --server there is nothing to compare a read with"),
    }
    many_clients(&root, &workspace, wanted.seconds);
}

struct Wanted {
    node: Option<PathBuf>,
    server: Option<PathBuf>,
    seconds: u64,
}

impl Wanted {
    /// What `cargo bench` adds is of no interest.
    fn parse() -> Self {
        let mut wanted = Self {
            node: None,
            server: None,
            seconds: 60,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--node" => wanted.node = words.next().map(PathBuf::from),
                "--server" => wanted.server = words.next().map(PathBuf::from),
                "--seconds" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    wanted.seconds = number.expect("a number of seconds");
                }
                _ => {}
            }
        }
        wanted
    }
}

// One client, one server, one call after the other.

fn small_reads(root: &Path, workspace: &Path, node: &Path, script: &Path) {
    let mut ours_at = Client::start(jig(root).arg("mcp").current_dir(workspace));
    let mut theirs_at = Client::start(Command::new(node).arg(script).arg(workspace));
    let path = workspace.join("small.txt");
    let here = json!({ "name": "fs_read_file", "arguments": { "path": "small.txt" } });
    let there = json!({ "name": "read_text_file", "arguments": { "path": path } });
    let calls = |client: &mut Client, params: &Value, count: usize| -> Vec<Duration> {
        let calls = (0..count).map(|_| client.call(params, CONTENT));
        calls.collect()
    };
    calls(&mut ours_at, &here, WARM_UP);
    calls(&mut theirs_at, &there, WARM_UP);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.extend(calls(&mut ours_at, &here, CALLS));
        theirs.extend(calls(&mut theirs_at, &there, CALLS));
    }
    ours.sort();
    theirs.sort();
    let count = ours.len();
    println!("a file of 1 KiB over stdio, {count} calls each in turns; server-filesystem = 1");
    println!("{:<24} {:>9} {:>9} {:>9}", "", "fastest", "median", "p99");
    let ratio = |at: usize| ours[at].as_secs_f64() / theirs[at].as_secs_f64();
    let (fastest, median, p99) = (ratio(0), ratio(count / 2), ratio(count * 99 / 100));
    println!(
        "{:<24} {fastest:>8.2}x {median:>8.2}x {p99:>8.2}x",
        "jig mcp: fs_read_file"
    );
    println!("wanted: at most 0.40x at the median, below 1x at the 99th percentile");
}

// Many HTTP clients at once.

fn many_clients(root: &Path, workspace: &Path, seconds: u64) {
    let mut child = jig(root)
        .args(["mcp", "--http", "127.0.0.1:0"])
        .current_dir(workspace)
        .env("JIG_MCP_TOKEN", TOKEN)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("jig");
    let stderr = BufReader::new(child.stderr.take().expect("its standard error"));
    let address = address(stderr);
    let over = AtomicBool::new(false);
    let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut memory = Vec::new();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    match client(address, &over, &done) {
                        Ok(()) => {}
                        Err(error) => {
                            let before = failed.fetch_add(1, Ordering::Relaxed);
                            if before < 3 {
                                println!("a client failed: {error}");
                            }
                        }
                    }
                }
            });
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_millis(500));
            memory.push(resident(child.id()));
        }
        over.store(true, Ordering::Relaxed);
    });
    let _ = child.kill();
    let _ = child.wait();
    // The first fifth warms up: threads, connections, allocator.
    let warm = &memory[memory.len() / 5..];
    let (first, second) = warm.split_at(warm.len() / 2);
    let most = |part: &[u64]| part.iter().max().copied().unwrap_or_default();
    println!(
        "\n{CLIENTS} HTTP clients for {seconds} s, half of each era: {} calls, {} errors (0 wanted)",
        done.load(Ordering::Relaxed),
        failed.load(Ordering::Relaxed)
    );
    println!(
        "largest resident memory of the second half against the first: {:.2}x (1.05x at most wanted)",
        most(second) as f64 / most(first) as f64
    );
}

/// The address that the server tells.
fn address(mut stderr: BufReader<impl Read + Send + 'static>) -> SocketAddr {
    let mut line = String::new();
    loop {
        line.clear();
        let read = stderr.read_line(&mut line).expect("a line");
        assert!(read > 0, "jig has ended");
        if let Some(at) = line.find("http://") {
            let rest = &line[at + "http://".len()..];
            let end = rest.find('/').unwrap_or(rest.trim_end().len());
            let address = rest[..end].parse().expect("an address");
            // Nobody may be kept waiting by a full pipe.
            thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
            return address;
        }
    }
}

/// One client: connects, reads the file some hundred times, and goes.
fn client(address: SocketAddr, over: &AtomicBool, done: &AtomicU64) -> Result<(), String> {
    let is_new = NEXT.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
    let mut wire = Wire::connect(address)?;
    let mut session = None;
    if !is_new {
        let params = initialize();
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let (headers, _) = wire.post(&message, &[], "initialize", None)?;
        session = header(&headers, "mcp-session-id").map(str::to_owned);
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let extra = session_headers(session.as_deref());
        wire.post(&message, &extra, "notifications/initialized", None)?;
    }
    for id in 2..CALLS_OF_A_CLIENT {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let mut params = json!({ "name": "fs_read_file", "arguments": { "path": "small.txt" } });
        let mut extra = session_headers(session.as_deref());
        if is_new {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            extra = vec![("mcp-protocol-version", NEW.to_owned())];
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let (_, body) = wire.post(&message, &extra, "tools/call", Some("fs_read_file"))?;
        if !body.contains(CONTENT) {
            return Err(format!("no content: {body}"));
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(session) = session {
        wire.delete(&session)?;
    }
    Ok(())
}

fn session_headers(session: Option<&str>) -> Vec<(&'static str, String)> {
    session
        .map(|session| {
            vec![
                ("mcp-session-id", session.to_owned()),
                ("mcp-protocol-version", OLD.to_owned()),
            ]
        })
        .unwrap_or_default()
}

/// HTTP/1.1 on one connection, as much of it as is needed here.
struct Wire {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

impl Wire {
    fn connect(address: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
        let patience = Some(Duration::from_secs(30));
        let set = stream
            .set_read_timeout(patience)
            .and_then(|()| stream.set_nodelay(true));
        set.map_err(|error| error.to_string())?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: address,
        })
    }

    fn post(
        &mut self,
        message: &Value,
        extra: &[(&str, String)],
        method: &str,
        name: Option<&str>,
    ) -> Result<(String, String), String> {
        let (host, body) = (self.host, message.to_string());
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\nmcp-method: {method}\r\n",
            body.len()
        );
        if let Some(name) = name {
            head.push_str(&format!("mcp-name: {name}\r\n"));
        }
        for (name, value) in extra {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.exchange(&format!("{head}\r\n{body}"))
    }

    fn delete(&mut self, session: &str) -> Result<(), String> {
        let host = self.host;
        let head = format!(
            "DELETE /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\n\
             mcp-session-id: {session}\r\nmcp-protocol-version: {OLD}\r\ncontent-length: 0\r\n\r\n"
        );
        self.exchange(&head).map(drop)
    }

    fn exchange(&mut self, request: &str) -> Result<(String, String), String> {
        let failed = |error: std::io::Error| error.to_string();
        self.stream
            .get_mut()
            .write_all(request.as_bytes())
            .map_err(failed)?;
        let mut headers = String::new();
        loop {
            let before = headers.len();
            if self.stream.read_line(&mut headers).map_err(failed)? == 0 {
                return Err("the server has closed the connection".to_owned());
            }
            if headers[before..].trim().is_empty() {
                break;
            }
        }
        let is_good = headers
            .split(' ')
            .nth(1)
            .is_some_and(|status| status.starts_with('2'));
        let body = if let Some(length) = header(&headers, "content-length") {
            let length = length
                .parse()
                .map_err(|_| format!("a bad length: {length}"))?;
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).map_err(failed)?;
            String::from_utf8_lossy(&body).into_owned()
        } else if header(&headers, "transfer-encoding").is_some() {
            self.chunks()?
        } else {
            String::new()
        };
        match is_good {
            true => Ok((headers, body)),
            false => Err(format!("{headers}{body}")),
        }
    }

    fn chunks(&mut self) -> Result<String, String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).map_err(failed)?;
            let length = usize::from_str_radix(line.trim(), 16)
                .map_err(|_| format!("a bad chunk: {line:?}"))?;
            let start = body.len();
            body.resize(start + length + 2, 0);
            self.stream.read_exact(&mut body[start..]).map_err(failed)?;
            body.truncate(start + length);
            if length == 0 {
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
        }
    }
}

fn header<'h>(headers: &'h str, name: &str) -> Option<&'h str> {
    headers.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// How much memory a process has, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// The program, with a home of its own.
fn jig(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jig"));
    command
        .env("HOME", root)
        .env("JIG_TRUST", "1")
        .env_remove("XDG_STATE_HOME");
    command.env_remove("XDG_CONFIG_HOME");
    command
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A line of the file that is read.
const CONTENT: &str = "0123456789abcde";
const NEW: &str = "2026-07-28";
const TOKEN: &str = "a-token-for-the-benchmark-0123456789";
const WARM_UP: usize = 500;
const ROUNDS: usize = 40;
const CALLS: usize = 100;
const CLIENTS: usize = 64;
const CALLS_OF_A_CLIENT: u64 = 200;
