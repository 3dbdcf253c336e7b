//! A client of `jig mcp`, as plain as can be: lines of JSON on the streams of the real program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::Workspace;

/// A running `jig mcp` on its standard streams. It does not outlive the test.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Json>,
    stderr: Option<JoinHandle<String>>,
    /// What came while something else was waited for.
    pub(crate) aside: Vec<Json>,
    next: u64,
}

impl Client {
    /// Starts `jig mcp` in a workspace. Nothing is said yet.
    pub(crate) fn start(workspace: &Workspace, args: &[&str]) -> Self {
        Self::of(workspace.jig(&[&["mcp"], args].concat()))
    }

    /// The same, begun as clients before 2026-07-28 do, with what the client can do.
    pub(crate) fn connect(workspace: &Workspace, capabilities: Json) -> Self {
        let mut client = Self::start(workspace, &[]);
        client.initialize(capabilities);
        client
    }

    /// Starts a command that is `jig mcp`.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let Ok(line) = line else { return };
                // Whatever is no JSON has no business there, and fails whoever waits for the next line.
                let text = String::from_utf8_lossy(&line).into_owned();
                let value = serde_json::from_slice(&line).unwrap_or(Json::String(text));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr: Some(stderr),
            aside: Vec::new(),
            next: 1,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn initialize(&mut self, capabilities: Json) -> Json {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Json) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are. That nobody reads them any more is seen at what comes back.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = stdin.write_all(bytes);
        let _ = stdin.flush();
    }

    /// Sends a request, and does not wait for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Json) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Json) -> Json {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool and waits for the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Json) -> Json {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params);
        answer["result"].clone()
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Json {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Waits for a message that fits. What comes before is kept aside.
    pub(crate) fn until(&mut self, fits: impl Fn(&Json) -> bool) -> Json {
        if let Some(place) = self.aside.iter().position(&fits) {
            return self.aside.remove(place);
        }
        loop {
            let message = self.receive();
            if fits(&message) {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// Waits for the next message, whatever it is.
    pub(crate) fn receive(&mut self) -> Json {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(message) => {
                assert!(message.is_object(), "not of the protocol: {message}");
                message
            }
            Err(RecvTimeoutError::Timeout) => panic!("nothing came; aside: {:?}", self.aside),
            Err(RecvTimeoutError::Disconnected) => {
                let stderr = self.stderr.take().map(|stderr| stderr.join().unwrap());
                panic!("it has ended: {}", stderr.unwrap_or_default())
            }
        }
    }

    /// Closes its input.
    pub(crate) fn shut(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes its input and waits for its end: how that was, and what it printed on standard error.
    pub(crate) fn close(mut self) -> (ExitStatus, String) {
        self.shut();
        self.ended()
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> (ExitStatus, String) {
        let status = jig_testkit::ended(&mut self.child);
        let stderr = self.stderr.take().map(|stderr| stderr.join().unwrap());
        (status, stderr.unwrap_or_default())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Json) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Longer than anything takes, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
