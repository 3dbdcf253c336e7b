//! What jig costs between an agent and an MCP server: one call, and the first list of many servers.
//!
//! `cargo xtask bench gateway` installs the servers and runs this. A call of `echo` of npm's `server-everything`
//! goes to the server itself and through `jig mcp`, confined, in turns. Then twenty servers stand behind one jig: how
//! long its first list of tools takes is compared with how long the slowest of them takes alone. Flags: `--node
//! PROGRAM --everything SCRIPT --memory SCRIPT --packages FOLDER --python PROGRAM`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs are started and files written to be measured, and a person reads this"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::Client;

fn main() {
    let wanted = Wanted::parse();
    let folder = tempfile::tempdir().expect("a temporary directory");
    let root = folder.path().canonicalize().expect("a directory");
    let workspace = root.join("ws");
    std::fs::create_dir(&workspace).expect("a directory");
    let bench = Bench {
        wanted,
        root,
        workspace,
    };
    bench.one_call();
    bench.first_list();
}

/// The programs that are measured.
struct Wanted {
    node: PathBuf,
    everything: PathBuf,
    memory: PathBuf,
    /// Where the packages of both are.
    packages: PathBuf,
    python: PathBuf,
}

impl Wanted {
    /// What `cargo bench` adds is of no interest.
    fn parse() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let flag = |name: &str| {
            let at = words.iter().position(|word| word == name);
            let value = at.and_then(|at| words.get(at + 1));
            PathBuf::from(value.unwrap_or_else(|| panic!("{name} is missing")))
        };
        Self {
            node: flag("--node"),
            everything: flag("--everything"),
            memory: flag("--memory"),
            packages: flag("--packages"),
            python: flag("--python"),
        }
    }
}

struct Bench {
    wanted: Wanted,
    root: PathBuf,
    workspace: PathBuf,
}

impl Bench {
    fn one_call(&self) {
        let Wanted {
            node, everything, ..
        } = &self.wanted;
        let config = self.config("one.toml", &self.of_node("everything", everything));
        let mut direct = Client::start(
            Command::new(node)
                .arg(everything)
                .arg("stdio")
                .current_dir(&self.workspace),
        );
        let mut through = Client::start(&mut self.jig(&config));
        let echo = |tool: &str| json!({ "name": tool, "arguments": { "message": MESSAGE } });
        let (there, here) = (echo("echo"), echo("everything_echo"));
        for _ in 0..WARM_UP {
            direct.call(&there, MESSAGE);
            through.call(&here, MESSAGE);
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.extend((0..CALLS).map(|_| direct.call(&there, MESSAGE)));
            ours.extend((0..CALLS).map(|_| through.call(&here, MESSAGE)));
        }
        ours.sort();
        theirs.sort();
        let count = ours.len();
        let ratio = |at: usize| ours[at].as_secs_f64() / theirs[at].as_secs_f64();
        println!("`echo` of server-everything, {count} calls each in turns; called directly = 1");
        println!("{:<24} {:>9} {:>9} {:>9}", "", "fastest", "median", "p99");
        println!(
            "{:<24} {:>8.2}x {:>8.2}x {:>8.2}x",
            "through jig, confined",
            ratio(0),
            ratio(count / 2),
            ratio(count * 99 / 100)
        );
        println!("wanted: at most 1.30x at the median");
    }

    /// Twenty servers: the first list of all tools, with nothing known and with everything known.
    fn first_list(&self) {
        let small = self.root.join("small.py");
        std::fs::write(&small, SMALL).expect("a file");
        let mut entries = self.of_node("everything", &self.wanted.everything);
        entries += &self.of_node("memory", &self.wanted.memory);
        for number in 3..=SERVERS {
            let python = self.wanted.python.display();
            let script = small.display();
            let system = self.root.display();
            entries += &format!(
                "[mcp.servers.small{number}]\ncommand = [\"{python}\", \"-S\", \"-E\", \"{script}\"]\n\
                 [mcp.servers.small{number}.sandbox]\npresets = [\"python\"]\nsystem = [\"{system}\"]\n"
            );
        }
        let config = self.config("many.toml", &entries);
        let Wanted {
            node,
            everything,
            memory,
            python,
            ..
        } = &self.wanted;
        let (mut alone, mut unknown, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let starts = [(node, everything), (node, memory), (python, &small)];
            let slowest = starts.map(|(program, script)| {
                let mut command = Command::new(program);
                self.listed(command.arg(script).current_dir(&self.workspace))
            });
            alone.push(slowest.into_iter().max().unwrap_or_default());
            let _ = std::fs::remove_dir_all(self.root.join("state"));
            unknown.push(self.listed(&mut self.jig(&config)));
            known.push(self.listed(&mut self.jig(&config)));
        }
        for times in [&mut alone, &mut unknown, &mut known] {
            times.sort();
        }
        let ratio =
            |times: &[Duration], at: usize| times[at].as_secs_f64() / alone[at].as_secs_f64();
        let middle = STARTS / 2;
        println!(
            "\nthe first list of {SERVERS} servers, {STARTS} starts each in turns; the slowest of them alone = 1"
        );
        println!("{:<24} {:>9} {:>9}", "", "fastest", "median");
        for (name, times) in [("nothing known", &unknown), ("known from before", &known)] {
            println!(
                "{name:<24} {:>8.2}x {:>8.2}x",
                ratio(times, 0),
                ratio(times, middle)
            );
        }
        println!("wanted: at most 1.20x");
    }

    /// How long it takes from starting a server until it has listed its tools.
    fn listed(&self, command: &mut Command) -> Duration {
        let start = Instant::now();
        let mut client = Client::start(command);
        let mut tools = 0;
        let mut cursor = None;
        loop {
            let params = match cursor {
                Some(cursor) => json!({ "cursor": cursor }),
                None => json!({}),
            };
            let reply = client.request("tools/list", &params);
            let reply: Value = serde_json::from_str(&reply).expect("JSON");
            tools += reply["result"]["tools"].as_array().map_or(0, Vec::len);
            cursor = reply["result"]["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        let time = start.elapsed();
        assert!(tools > 0, "there are no tools");
        time
    }

    /// The entry of a server that Node runs.
    fn of_node(&self, name: &str, script: &Path) -> String {
        let node = self.wanted.node.display();
        let packages = self.wanted.packages.display();
        let script = script.display();
        format!(
            "[mcp.servers.{name}]\ncommand = [\"{node}\", \"{script}\"]\nrun = \"unattended\"\n\
             [mcp.servers.{name}.sandbox]\npresets = [\"node\"]\nsystem = [\"{packages}\"]\n"
        )
    }

    fn config(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// `jig mcp` with a home of its own.
    fn jig(&self, config: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jig"));
        command.arg("mcp").arg("--config").arg(config);
        command.current_dir(&self.workspace).env("HOME", &self.root);
        command.env("XDG_STATE_HOME", self.root.join("state"));
        command.env_remove("XDG_CONFIG_HOME");
        command
    }
}

/// A server that starts quickly: it knows one tool, which nobody calls.
const SMALL: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        answer["result"] = {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "nothing", "inputSchema": {"type": "object"}}]}
    else:
        answer["error"] = {"code": -32601, "message": "there is no such method"}
    print(json.dumps(answer, separators=(",", ":")), flush=True)
"#;

const MESSAGE: &str = "what was said comes back";

const SERVERS: usize = 20;

const STARTS: usize = 7;

const WARM_UP: usize = 300;

const ROUNDS: usize = 20;

const CALLS: usize = 200;
