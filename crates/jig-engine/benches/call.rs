//! `fs_read_file` of 1 KiB through [`Engine::call`], against a plain `std::fs::read` of the same file; and a tool of
//! an MCP server that answers at once, which is what the engine itself adds to such a call.
//!
//! The ways are taken in turns, call by call, so that whatever else the machine does falls on all alike.
//!
//! `cargo bench -p jig-engine --bench call`; a number as argument is how many calls there are of each.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::disallowed_methods,
    reason = "the workspace is made, and read past jig for comparison"
)]

use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{AuditSink, CancelToken, FileSink, FileSinkOptions};
use jig_config::{Definition, Sources};
use jig_engine::{Call, Engine, HeldOffer, Nobody, ServedCall, ServerCall, ToolServers, Turn};
use jig_files::DiskFiles;
use jig_proto::{Content, ToolError};
use serde_json::json;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok());
    let count: usize = count.unwrap_or(20_000);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a place");
    let root = folder.path().canonicalize().expect("it is there");
    let root = Utf8Path::from_path(&root).expect("it is UTF-8");
    fs::create_dir_all(root.join("docs")).expect("a directory");
    fs::create_dir(root.join("log")).expect("a directory");
    let file = root.join("docs/notes.txt");
    fs::write(&file, "fifteen letters\n".repeat(64)).expect("a file");

    let engine = engine(root, "");
    let mut logged = engine.for_turn(&Turn::default());
    let log = FileSink::open(&root.join("log"), FileSinkOptions::default()).expect("a log");
    logged.audit = Arc::new(log) as Arc<dyn AuditSink>;
    let ruled = self::engine(root, RULES);
    let served = served(root, Arc::clone(&logged.audit));

    let names = [
        "std::fs::read",
        "Engine::call",
        "… with a log",
        "… with rules",
        "server",
    ];
    let mut taken: Vec<Vec<Duration>> = vec![Vec::with_capacity(count); names.len()];
    let plain = || drop(black_box(fs::read(&file).expect("it is there")));
    for round in 0..count + WARM_UP {
        let all = [
            timed(plain),
            timed(|| read(&engine)),
            timed(|| read(&logged)),
            timed(|| read(&ruled)),
            timed(|| echo(&served)),
        ];
        if round >= WARM_UP {
            for (taken, one) in taken.iter_mut().zip(all) {
                taken.push(one);
            }
        }
    }
    println!(
        "{:<16} {:>10} {:>10} {:>10} {:>8}",
        "", "fastest", "median", "p99", "ratio"
    );
    for taken in &mut taken {
        taken.sort();
    }
    let base = middle(&taken[0]);
    for (name, taken) in names.iter().zip(&taken) {
        println!(
            "{name:<16} {:>10} {:>10} {:>10} {:>7.1}x",
            shown(taken.first().copied().unwrap_or_default()),
            shown(middle(taken)),
            shown(
                taken
                    .get(taken.len() * 99 / 100)
                    .copied()
                    .unwrap_or_default()
            ),
            middle(taken).as_secs_f64() / base.as_secs_f64(),
        );
    }
}

fn engine(root: &Utf8Path, rules: &str) -> Engine {
    fs::write(root.join("jig.toml"), rules).expect("a configuration");
    let config = jig_config::load(&Sources::new(root))
        .expect("it is valid")
        .config;
    let files = DiskFiles::open(root).expect("it is there");
    Engine::new(Arc::new(config), Arc::new(files))
}

fn read(engine: &Engine) {
    let call = Call::new("fs_read_file", json!({ "path": "docs/notes.txt" }));
    let reply = engine.call(call, &mut Nobody).expect("it may be read");
    assert!(reply.into_content().to_text().len() >= 1024);
}

/// An engine with a server whose tool has arguments to check, and a log.
fn served(root: &Utf8Path, log: Arc<dyn AuditSink>) -> Engine {
    let mut engine = engine(root, SERVER);
    let echo = json!({
        "name": "echo",
        "inputSchema": {
            "type": "object",
            "properties": {"message": {"type": "string", "description": "Message to echo"}},
            "required": ["message"],
            "additionalProperties": false,
            "$schema": "http://json-schema.org/draft-07/schema#",
        },
    });
    let echo = Arc::new(Definition::from_json(echo).expect("a definition"));
    let config = engine
        .config()
        .with_definitions(&|_| Some(vec![Arc::clone(&echo)]));
    let files = DiskFiles::open(root).expect("it is there");
    engine = Engine::new(Arc::new(config), Arc::new(files));
    engine.servers = Some(Arc::new(AtOnce));
    engine.audit = log;
    engine
}

fn echo(engine: &Engine) {
    let call = Call::new("s_echo", json!({ "message": "fifteen letters" }));
    let reply = engine.call(call, &mut Nobody).expect("it answers");
    assert_eq!(reply.into_content().to_text(), "fifteen letters");
}

/// A server that answers at once.
#[derive(Debug)]
struct AtOnce;

impl ToolServers for AtOnce {
    fn call(self: Arc<Self>, call: ServerCall, served: ServedCall) {
        let text = &call.arguments["message"];
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        served.end(Content::from_mcp(result));
    }

    fn held(
        &self,
        _: &str,
        _: &str,
        _: Option<&CancelToken>,
    ) -> Result<Option<HeldOffer>, ToolError> {
        Ok(None)
    }

    fn accept(&self, _: &HeldOffer) -> Result<(), String> {
        Ok(())
    }
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn middle(taken: &[Duration]) -> Duration {
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}

fn shown(taken: Duration) -> String {
    format!("{:.2} us", taken.as_secs_f64() * 1e6)
}

/// Calls before anything is measured.
const WARM_UP: usize = 200;

/// A server whose tools nobody has to agree to.
const SERVER: &str = "[mcp.servers.s]\ncommand = 'true'\nrun = 'unattended'\n";

/// A handful of rules, as a project has them.
const RULES: &str = r#"
[[tools.fs_read_file.access.fs]]
path = "docs"
read = true

[[tools.fs_read_file.access.fs]]
path = "src"
read = true

[[tools.fs_read_file.access.fs]]
path = "docs/private"
read = false
"#;
