//! What the benchmarks of MCP have in common: a client that waits for nothing but its answer.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A client on pipes.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    number: u64,
    line: String,
}

impl Client {
    /// Starts a server, and greets it.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let mut client = Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().expect("its standard output")),
            child,
            number: 0,
            line: String::new(),
        };
        client.request("initialize", &initialize());
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, message: &str) {
        let line = format!("{message}\n");
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(line.as_bytes()).expect("a server");
    }

    /// Sends a request and returns the answer to it.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> String {
        self.number += 1;
        let number = self.number;
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#
        ));
        let id = format!(r#""id":{number}"#);
        loop {
            self.line.clear();
            let read = self.stdout.read_line(&mut self.line).expect("a line");
            assert!(read > 0, "the server has ended");
            // Notifications have no id.
            if self.line.contains(&id) {
                return std::mem::take(&mut self.line);
            }
        }
    }

    /// How long a call takes, whose result must hold `expected`.
    pub(crate) fn call(&mut self, params: &Value, expected: &str) -> Duration {
        let start = Instant::now();
        let reply = self.request("tools/call", params);
        let time = start.elapsed();
        assert!(reply.contains(expected), "no `{expected}`: {reply}");
        time
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server ends when nobody can say anything to it any more; one that does not is ended.
        self.stdin = None;
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client of the older era says about itself.
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": OLD,
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    })
}

/// The last revision of the older era.
pub(crate) const OLD: &str = "2025-11-25";
