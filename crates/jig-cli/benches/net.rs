//! What network by name costs: one and the same client, confined and through the gateway, against the same
//! client alone on the loopback; and the start of a tool with rules on hosts against one without.
//!
//! `cargo bench -p jig-cli --bench net`. The two sides of each comparison run in turns, and ratios are printed:
//! on a noisy machine absolute times mean little. The ratio of the minima is the one to trust. A client
//! takes its own time, so that its start is no part of it.
//!
//! The program starts itself again as the client.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the plain side of each comparison uses the operating system, and a person reads this"
)]

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::Resolver;
use jig_config::Sources;
use jig_engine::{Call, Engine, Nobody};
use jig_files::DiskFiles;
use jig_sandbox::{Launch, Pool};
use serde_json::json;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["client", work, host, port, amount] = words[..] {
        return client(work, host, port, amount);
    }
    // What `cargo bench` adds is of no interest.
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = Utf8Path::from_path(folder.path()).expect("a UTF-8 path");
    let bench = Bench::new(&root.canonicalize_utf8().expect("a directory"));
    println!("{:<44} {:>9} {:>9}  wanted", "", "fastest", "median");
    bench.throughput();
    bench.connections();
    bench.starts();
    ExitCode::SUCCESS
}

/// A workspace with the client as a tool, and the servers that it talks to.
struct Bench {
    root: Utf8PathBuf,
    client: Utf8PathBuf,
    raw: u16,
    web: u16,
}

impl Bench {
    fn new(root: &Utf8Path) -> Self {
        let own = std::env::current_exe().expect("this program");
        let client = root.join("client");
        std::fs::copy(own, &client).expect("a copy");
        let bench = Self {
            root: root.to_owned(),
            client,
            raw: serve(answer_raw),
            web: serve(answer_web),
        };
        let rules = ["bench.test", "127.0.0.1"].map(|host| {
            let rule = |port: u16| format!("{{ host = '{host}', port = {port}, allow = true }}");
            format!("{}, {}", rule(bench.raw), rule(bench.web))
        });
        let tool = |name: &str, command: &str, rules: &str| {
            format!(
                "[tools.{name}]\nsource = 'local'\nrun = 'unattended'\ncommand = {command}\n{rules}"
            )
        };
        let rules = format!("access.net = [{}]\n", rules.join(", "));
        let client = "'./client client {{tool.arguments.work}} {{tool.arguments.host}} \
                      {{tool.arguments.port}} {{tool.arguments.amount}}'";
        let mut config = tool("client", client, &rules);
        for parameter in ["work", "host", "port", "amount"] {
            config.push_str(&format!("parameters.{parameter}.type = 'string'\n"));
        }
        config.push_str(&tool("closed", "'echo done'", ""));
        config.push_str(&tool("open", "'echo done'", &rules));
        std::fs::write(root.join("jig.toml"), config).expect("a configuration");
        bench
    }

    /// One gigabyte, at once.
    fn throughput(&self) {
        let speed = |time: Duration| {
            let speed = GIGABYTE as f64 / time.as_secs_f64() / 1e9;
            format!("{speed:.2} GB/s")
        };
        self.clients("1 GB over TCP", "raw", self.raw, GIGABYTE, speed);
        self.clients("1 GB over HTTP", "web", self.web, GIGABYTE, speed);
    }

    /// Many connections, one after the other, each of which fetches one byte.
    fn connections(&self) {
        let each = |time: Duration| {
            let each = time.as_secs_f64() * 1e6 / CONNECTIONS as f64;
            format!("{each:.0} µs")
        };
        for (name, work, port) in [
            ("a connection over TCP", "raws", self.raw),
            ("a connection over TCP, with the look-up", "named", self.raw),
            ("a request over HTTP", "webs", self.web),
        ] {
            self.clients(name, work, port, CONNECTIONS, each);
        }
    }

    /// The client alone, and confined; `shown` is what a time means.
    fn clients(
        &self,
        name: &str,
        work: &str,
        port: u16,
        amount: u64,
        shown: impl Fn(Duration) -> String,
    ) {
        let (port, amount) = (port.to_string(), amount.to_string());
        let engine = self.engine(Launch::Auto);
        let alone = || {
            let output = Command::new(&self.client)
                .args(["client", work, "127.0.0.1", &port, &amount])
                .stdin(Stdio::null())
                .output()
                .expect("the client runs");
            taken(&String::from_utf8_lossy(&output.stdout))
        };
        let confined = || {
            let host = "bench.test";
            let arguments = json!({ "work": work, "host": host, "port": port, "amount": amount });
            taken(&called(&engine, Call::new("client", arguments)))
        };
        let times = compare(11, alone, confined);
        let (plain, ours) = (shown(times.plain[0]), shown(times.ours[0]));
        times.print(name, &format!("- ({ours}, alone {plain})"));
    }

    /// A program that does next to nothing, by a tool that may reach hosts and by one that may not.
    fn starts(&self) {
        let pool = Pool::new(4).expect("the launcher is built in");
        let wanted = "1.1, against a tool without";
        for (name, launch) in [
            ("start with rules on hosts", Launch::Direct),
            ("start with rules on hosts, from a pool", Launch::Pool(pool)),
        ] {
            let engine = self.engine(launch);
            let start = |tool: &str| time(|| drop(called(&engine, Call::new(tool, json!({})))));
            compare(300, || start("closed"), || start("open")).print(name, wanted);
        }
        let whole = |tool: &str| {
            time(|| {
                let status = Command::new(env!("CARGO_BIN_EXE_jig"))
                    .args(["-C", ".", "call", "--no-interaction", tool])
                    .current_dir(&self.root)
                    .env("HOME", &self.root)
                    .env("JIG_TRUST", "1")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status();
                assert!(status.expect("jig starts").success(), "{tool} fails");
            })
        };
        let times = compare(100, || whole("closed"), || whole("open"));
        times.print("a whole `jig call` with rules on hosts", wanted);
    }

    fn engine(&self, launch: Launch) -> Engine {
        let config = jig_config::load(&Sources::new(self.root.clone()));
        let config = config.expect("a valid configuration").config;
        let files = DiskFiles::open(&self.root).expect("a workspace");
        let mut engine = Engine::new(Arc::new(config), Arc::new(files));
        engine.http.resolver = Arc::new(Here);
        engine.confine.launch = launch;
        engine
    }
}

/// Every name leads to this machine.
#[derive(Debug)]
struct Here;

impl Resolver for Here {
    fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![Ipv4Addr::LOCALHOST.into()])
    }
}

/// What a tool printed.
fn called(engine: &Engine, call: Call) -> String {
    match engine.call(call, &mut Nobody) {
        Ok(reply) => reply.into_content().to_text(),
        Err(error) => panic!("{error}"),
    }
}

/// The time that a client tells.
fn taken(text: &str) -> Duration {
    let nanoseconds = text.trim().parse();
    Duration::from_nanos(nanoseconds.unwrap_or_else(|_| panic!("no time: {text}")))
}

// The client.

fn client(work: &str, host: &str, port: &str, amount: &str) -> ExitCode {
    let (Ok(port), Ok(amount)) = (port.parse(), amount.parse()) else {
        return ExitCode::FAILURE;
    };
    match try_client(work, host, port, amount) {
        Ok(taken) => {
            println!("{}", taken.as_nanos());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{work}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_client(work: &str, host: &str, port: u16, amount: u64) -> io::Result<Duration> {
    let resolve = || {
        let mut found = (host, port).to_socket_addrs()?;
        found.next().ok_or(io::Error::from(io::ErrorKind::NotFound))
    };
    let address = resolve()?;
    let start = Instant::now();
    match work {
        "raw" => fetch_raw(address, amount)?,
        "web" => fetch_web(address, host, amount)?,
        "raws" => (0..amount).try_for_each(|_| fetch_raw(address, 1))?,
        "named" => (0..amount).try_for_each(|_| fetch_raw(resolve()?, 1))?,
        "webs" => (0..amount).try_for_each(|_| fetch_web(address, host, 1))?,
        _ => return Err(io::ErrorKind::Unsupported.into()),
    }
    Ok(start.elapsed())
}

fn fetch_raw(address: SocketAddr, amount: u64) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(&amount.to_be_bytes())?;
    expect_bytes(&mut stream, amount)
}

fn fetch_web(address: SocketAddr, host: &str, amount: u64) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let port = address.port();
    let request = format!("GET /{amount} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    // The head is short and ends somewhere in the first pieces.
    let mut head = Vec::new();
    let mut piece = [0; 512];
    let body = loop {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..length]);
        let end = head.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(end) = end {
            break head.len() - end - 4;
        }
    };
    if !head.starts_with(b"HTTP/1.1 200") {
        return Err(io::Error::other(
            String::from_utf8_lossy(&head).into_owned(),
        ));
    }
    expect_bytes(&mut stream, amount - body as u64)
}

/// Reads to the end, which comes after so many bytes.
fn expect_bytes(stream: &mut TcpStream, amount: u64) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut rest = amount;
    loop {
        match stream.read(&mut buffer)? as u64 {
            0 if rest == 0 => return Ok(()),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => rest = rest.checked_sub(length).ok_or(io::ErrorKind::InvalidData)?,
        }
    }
}

// The servers.

/// Answers every connection on a thread of its own; gives the port.
fn serve(answer: fn(TcpStream) -> io::Result<()>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || answer(stream));
        }
    });
    port
}

/// A number, and then so many bytes.
fn answer_raw(mut stream: TcpStream) -> io::Result<()> {
    let mut amount = [0; 8];
    stream.read_exact(&mut amount)?;
    send(&mut stream, u64::from_be_bytes(amount))
}

/// The path is the number.
fn answer_web(mut stream: TcpStream) -> io::Result<()> {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            length => head.extend_from_slice(&piece[..length]),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or_default();
    let amount = path.trim_start_matches('/').parse().unwrap_or(0);
    let answer =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {amount}\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes())?;
    send(&mut stream, amount)
}

fn send(stream: &mut TcpStream, amount: u64) -> io::Result<()> {
    // One byte needs no large buffer, whose making would be measured.
    let buffer = vec![b'x'; BUFFER.min(usize::try_from(amount).unwrap_or(BUFFER))];
    let mut rest = amount;
    while rest > 0 {
        let length = rest.min(buffer.len() as u64);
        stream.write_all(&buffer[..length as usize])?;
        rest -= length;
    }
    Ok(())
}

// Comparing.

/// The times of both sides, sorted.
struct Times {
    plain: Vec<Duration>,
    ours: Vec<Duration>,
}

/// Runs both sides in turn.
fn compare(rounds: usize, plain: impl Fn() -> Duration, ours: impl Fn() -> Duration) -> Times {
    let mut times = Times {
        plain: Vec::new(),
        ours: Vec::new(),
    };
    for round in 0..rounds + 2 {
        let (plain, ours) = (plain(), ours());
        // The first rounds fill the caches.
        if round >= 2 {
            times.plain.push(plain);
            times.ours.push(ours);
        }
    }
    times.plain.sort_unstable();
    times.ours.sort_unstable();
    times
}

impl Times {
    fn print(&self, name: &str, wanted: &str) {
        let ratio = |at: usize| self.ours[at].as_secs_f64() / self.plain[at].as_secs_f64();
        let (fastest, median) = (ratio(0), ratio(self.ours.len() / 2));
        println!("{name:<44} {fastest:>8.2}x {median:>8.2}x  {wanted}");
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

const GIGABYTE: u64 = 1_000_000_000;

/// How many connections a client makes in one go.
const CONNECTIONS: u64 = 500;

const BUFFER: usize = 256 * 1024;
