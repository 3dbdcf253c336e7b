//! A first talk with a server that is being watched: it is asked for its tools, and no more.
//!
//! Nothing of what it says is believed or kept but how many tools it has.

use std::io::{self, PipeWriter, Read, Write as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use jig_proto::lines::LineReader;
use serde_json::{Value as Json, json};

/// What the server's output is read from, line by line, on a thread of its own.
pub(crate) struct ServerOutputLines {
    lines: Receiver<Vec<u8>>,
}

impl ServerOutputLines {
    /// Begins to read. The thread ends with the output, which ends with the server.
    pub(crate) fn of(output: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, lines) = mpsc::sync_channel(4);
        thread::Builder::new()
            .name("jig-import".to_owned())
            .spawn(move || read(output, &sender))?;
        Ok(Self { lines })
    }

    /// The next message; `None` if there is none within the time, or no more.
    fn next(&self, end: Instant, is_over: &dyn Fn() -> bool) -> Option<Json> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || is_over() {
                return None;
            }
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => {
                    // What is no message, such as a greeting, is passed over, as clients do.
                    if let Ok(message) = serde_json::from_slice(&line) {
                        return Some(message);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// Takes what comes to pieces. A line that is too long ends it.
fn read(output: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut lines = LineReader::new(output, MAX_LINE);
    while let Ok(Some(line)) = lines.next_line() {
        if sender.send(line).is_err() {
            break;
        }
    }
    // Whoever cannot write any more may never end.
    let _ = io::copy(&mut lines.into_stream(), &mut io::sink());
}

/// Greets a server and asks for its tools. Gives how many there are, or why that is not known.
pub(crate) fn tools(
    input: PipeWriter,
    lines: &ServerOutputLines,
    limit: Duration,
    is_over: &dyn Fn() -> bool,
) -> Result<usize, String> {
    let mut talk = ListingClient {
        input,
        lines,
        end: Instant::now() + limit,
        is_over,
        answered: 0,
    };
    let client = json!({ "name": "jig", "version": env!("CARGO_PKG_VERSION") });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let greeting = talk.request(1, "initialize", &params)?;
    let params = match greeting.get("error") {
        None => {
            talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
            json!({})
        }
        // One that knows the protocol only as it is since 2026 is not greeted.
        Some(_) => json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        } }),
    };
    let listed = talk.request(2, "tools/list", &params)?;
    let tools = listed.get("result").and_then(|result| result.get("tools"));
    match tools.and_then(Json::as_array) {
        Some(tools) => Ok(tools.len()),
        None if listed["error"]["code"] == json!(METHOD_NOT_FOUND) => Ok(0),
        None => Err("it did not list its tools".to_owned()),
    }
}

struct ListingClient<'a> {
    input: PipeWriter,
    lines: &'a ServerOutputLines,
    end: Instant,
    is_over: &'a dyn Fn() -> bool,
    /// How many of its own requests it got an answer to.
    answered: usize,
}

impl ListingClient<'_> {
    fn say(&mut self, message: &Json) -> Result<(), String> {
        let line = format!("{message}\n");
        let said = self.input.write_all(line.as_bytes());
        said.map_err(|_| "it ended before it could be asked".to_owned())
    }

    fn request(&mut self, id: u64, method: &str, params: &Json) -> Result<Json, String> {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        for _ in 0..MAX_MESSAGES {
            let Some(message) = self.lines.next(self.end, self.is_over) else {
                return Err(match Instant::now() >= self.end {
                    true => format!("it did not answer `{method}` in time"),
                    false => format!("it ended before it answered `{method}`"),
                });
            };
            let is_request = message.get("method").is_some();
            if !is_request && message.get("id") == Some(&json!(id)) {
                return Ok(message);
            }
            if let Some(id) = message.get("id").filter(|_| is_request) {
                self.answer(id, &message["method"])?;
            }
        }
        Err(format!("it said everything but the answer to `{method}`"))
    }

    /// Answers a request of the server. It gets few answers: what it does not read would hold us up.
    fn answer(&mut self, id: &Json, method: &Json) -> Result<(), String> {
        if self.answered >= MAX_ANSWERS
            || !(id.is_number() || id.as_str().is_some_and(|id| id.len() < 100))
        {
            return Ok(());
        }
        self.answered += 1;
        let answer = match method.as_str() {
            Some("ping") => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            _ => {
                let error = json!({ "code": METHOD_NOT_FOUND, "message": "not here" });
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        self.say(&answer)
    }
}

const METHOD_NOT_FOUND: i64 = -32601;

/// The longest message of a server.
const MAX_LINE: usize = 16 << 20;

/// How many messages a server may send before it answers.
const MAX_MESSAGES: usize = 10_000;

/// How many requests of a server are answered: together they fit into a pipe.
const MAX_ANSWERS: usize = 32;

/// How soon ctrl-C is noticed.
const TICK: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
