//! What jig costs between an agent and an MCP server: one call, and the first list of many servers.
//!
//! `cargo xtask bench gateway` installs the servers and runs this. A call of `echo` of npm's `server-everything`
//! goes to the server itself, through `jig mcp`, confined, and through a program that only passes bytes on, in turns:
//! by a client that does nothing but wait, and by the official clients for TypeScript and Python, which are those of
//! most agents. Then twenty servers stand behind one jig: how long its first list of tools takes is compared with how
//! long the slowest of them takes alone. Flags: `--node PROGRAM --everything SCRIPT --memory SCRIPT --packages FOLDER
//! --python PROGRAM --client-python PROGRAM`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs are started and files written to be measured, and a person reads this"
)]

mod support;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::Client;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((RELAY, command)) = words
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        return relay(command);
    }
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
    /// One that has the official client.
    client_python: PathBuf,
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
            client_python: flag("--client-python"),
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
        let direct = [text(node), text(everything), "stdio".to_owned()];
        let own = std::env::current_exe().expect("this program");
        let relayed = [&[text(&own), RELAY.to_owned()], &direct[..]].concat();
        let targets = [
            ("echo", direct.to_vec()),
            ("everything_echo", self.jig_words(&config)),
            ("echo", relayed),
        ];
        let told = targets.each_ref();
        let told = told.map(|(tool, command)| json!({ "tool": tool, "command": command }));
        let told = json!(told).to_string();
        let script = self.file("client.mjs", include_str!("support/client.mjs"));
        let mut typescript = Command::new(node);
        typescript.arg(script).arg(&self.wanted.packages);
        typescript.args([&ROUNDS.to_string(), &CALLS.to_string(), &told]);
        let script = self.file("client.py", include_str!("support/client.py"));
        let mut python = Command::new(&self.wanted.client_python);
        python.arg(script);
        python.args([&ROUNDS.to_string(), &(CALLS / 2).to_string(), &told]);
        let mut clients = [
            ("a client that only waits", Vec::new()),
            ("the client for TypeScript", Vec::new()),
            ("the client for Python", Vec::new()),
        ];
        // On which core a program runs is decided when it starts, and makes more of a difference than jig does.
        for _ in 0..RUNS {
            let times = [
                self.waiting(&targets),
                self.told(&mut typescript),
                self.told(&mut python),
            ];
            for ((_, runs), [direct, jig, relay]) in clients.iter_mut().zip(times) {
                let [fastest, median, p99] = [0, 1, 2].map(|at| jig[at] / direct[at]);
                runs.push([fastest, median, p99, relay[1] / direct[1]]);
            }
        }
        println!(
            "`echo` of server-everything, in turns; called directly = 1; the middle of {RUNS} runs"
        );
        println!(
            "{:<28} {:>9} {:>9} {:>14} {:>9}   {:>14}",
            "by", "fastest", "median", "(from, to)", "p99", "relay, median"
        );
        for (name, runs) in clients {
            let [fastest, median, p99, relay] = [0, 1, 2, 3].map(|at| {
                let mut all: Vec<f64> = runs.iter().map(|run| run[at]).collect();
                all.sort_by(f64::total_cmp);
                all
            });
            let middle = RUNS / 2;
            println!(
                "{name:<28} {:>8.2}x {:>8.2}x  ({:.2}x, {:.2}x) {:>8.2}x   {:>13.2}x",
                fastest[middle],
                median[middle],
                median[0],
                median[RUNS - 1],
                p99[middle],
                relay[middle]
            );
        }
        println!("wanted: at most 2x at the median for the official clients");
    }

    /// A client that does nothing but wait.
    fn waiting(&self, targets: &[(&str, Vec<String>); 3]) -> [Times; 3] {
        let mut clients = targets.each_ref().map(|(tool, command)| {
            let mut program = Command::new(&command[0]);
            let client = Client::start(program.args(&command[1..]).current_dir(&self.workspace));
            let params = json!({ "name": tool, "arguments": { "message": MESSAGE } });
            (client, params, Vec::new())
        });
        for (client, params, _) in &mut clients {
            for _ in 0..WARM_UP {
                client.call(params, MESSAGE);
            }
        }
        for _ in 0..ROUNDS {
            for (client, params, times) in &mut clients {
                times.extend((0..CALLS).map(|_| client.call(params, MESSAGE).as_secs_f64()));
            }
        }
        clients.map(|(_, _, mut times)| {
            times.sort_by(f64::total_cmp);
            [0, times.len() / 2, times.len() * 99 / 100].map(|at| times[at])
        })
    }

    /// What another program has measured.
    fn told(&self, command: &mut Command) -> [Times; 3] {
        let output = command
            .current_dir(&self.workspace)
            .stderr(Stdio::inherit());
        let output = output.output().expect("a client");
        assert!(output.status.success(), "the client failed");
        serde_json::from_slice(&output.stdout).expect("its times")
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
        self.file(name, text)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// `jig mcp` with a home of its own.
    fn jig(&self, config: &Path) -> Command {
        let words = self.jig_words(config);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.workspace);
        command
    }

    fn jig_words(&self, config: &Path) -> Vec<String> {
        let home = format!("HOME={}", self.root.display());
        let state = format!("XDG_STATE_HOME={}", self.root.join("state").display());
        let words = ["env", "-u", "XDG_CONFIG_HOME", &home, &state];
        let jig = [env!("CARGO_BIN_EXE_jig"), "mcp", "--config"];
        let words = words.into_iter().chain(jig).map(str::to_owned);
        words.chain([text(config)]).collect()
    }
}

/// Passes on what comes, and does nothing else: what a program between two others costs at least.
fn relay(command: &[String]) {
    let mut server = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let (to, from) = (server.stdin.take(), server.stdout.take());
    let back = std::thread::spawn(move || pass(from.expect("its output"), std::io::stdout()));
    pass(std::io::stdin(), to.expect("its input"));
    let _ = back.join();
    let _ = server.wait();
}

fn pass(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).is_err() || to.flush().is_err() {
            return;
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The fastest, the median and the 99th percentile.
type Times = [f64; 3];

/// The first word of whoever is to be a relay.
const RELAY: &str = "--relay";

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

/// How often all of it is started anew.
const RUNS: usize = 7;

const ROUNDS: usize = 20;

const CALLS: usize = 200;
