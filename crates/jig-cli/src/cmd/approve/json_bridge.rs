//! `jig approve --watch --json`: the ask sockets of all servers, on standard input and output.
//!
//! What each server tells is printed with its process id as `server`. What is read goes to the server that it
//! names, or to the only one; its reply is printed in the same way.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jig_station::asks::client::AskConnection;
use jig_station::protocol::{MessageReader, send};
use serde_json::{Value as Json, json};

use super::ApproveScope;
use crate::exit::Done;
use crate::output::remark;

pub(super) fn run(scope: &ApproveScope) -> anyhow::Result<Done> {
    let bridge = Arc::new(Bridge::default());
    let reader = Arc::clone(&bridge);
    let reading = thread::Builder::new()
        .name("jig-stdin".to_owned())
        .spawn(move || reader.read())?;
    let mut noted = Vec::new();
    // Whoever started this ends it by closing our input: a watcher that nobody listens to would keep calls
    // waiting.
    while !reading.is_finished() {
        let known = bridge.servers().keys().copied().collect();
        let servers = scope.others(&known, &mut |text| {
            if !noted.iter().any(|known| known == text) {
                remark(text);
                noted.push(text.to_owned());
            }
        })?;
        for server in servers {
            bridge.follow(server);
        }
        thread::park_timeout(BETWEEN_LOOKS);
    }
    Ok(Done::Ok)
}

#[derive(Default)]
struct Bridge {
    /// Where requests go, by process id.
    servers: Mutex<HashMap<u32, UnixStream>>,
    /// One line is printed at a time.
    printing: Mutex<()>,
}

impl Bridge {
    /// Prints what a server tells, unless that is done already.
    fn follow(self: &Arc<Self>, server: AskConnection) {
        let welcome = server.welcome.clone();
        let pid = welcome.pid;
        if self.servers().contains_key(&pid) {
            return;
        }
        let Ok((mut lines, stream)) = server.watch() else {
            return;
        };
        let mut hello = json!(welcome);
        hello["event"] = json!("server");
        // Whoever is told of a server can ask it.
        self.servers().insert(pid, stream);
        self.print(pid, hello);
        let bridge = Arc::clone(self);
        let started = thread::Builder::new()
            .name("jig-watch".to_owned())
            .spawn(move || {
                while let Ok(Some(line)) = lines.message::<Json>() {
                    bridge.print(pid, line);
                }
                bridge.servers().remove(&pid);
                bridge.print(pid, json!({ "event": "server_gone" }));
            });
        if started.is_err() {
            // The next look tries again.
            self.servers().remove(&pid);
        }
    }

    /// Hands on what comes in, until that ends.
    fn read(&self) {
        let mut lines = MessageReader::new(io::stdin().lock(), LONGEST_REQUEST);
        loop {
            match lines.message::<Json>() {
                Ok(Some(line)) => self.send(line),
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    // One bad line must not end an editor's watch: from then on calls would be denied.
                    self.fail(Json::Null, "not_understood", &error.to_string());
                }
                Err(_) => return,
            }
        }
    }

    fn send(&self, mut line: Json) {
        let request = line["request"].clone();
        let named = line.as_object_mut().and_then(|line| line.remove("server"));
        let sent = {
            let mut servers = self.servers();
            let pid = match named.as_ref().map(Json::as_u64) {
                Some(pid) => pid.and_then(|pid| u32::try_from(pid).ok()),
                None if servers.len() == 1 => servers.keys().next().copied(),
                None => None,
            };
            let stream = pid.and_then(|pid| servers.get_mut(&pid));
            stream.map(|stream| send(stream, &line))
        };
        match sent {
            Some(Ok(())) => {}
            Some(Err(_)) => self.fail(request, "gone", "the server has ended"),
            None => self.fail(
                request,
                "unknown",
                "`server` must be the pid of a server that was told of, unless there is only one",
            ),
        }
    }

    fn fail(&self, request: Json, kind: &str, message: &str) {
        let error = json!({ "kind": kind, "message": message });
        let mut line = json!({ "request": request, "error": error }).to_string();
        line.push('\n');
        self.write(&line);
    }

    fn print(&self, pid: u32, mut line: Json) {
        line["server"] = json!(pid);
        let mut line = line.to_string();
        line.push('\n');
        self.write(&line);
    }

    fn write(&self, line: &str) {
        let _printing = self.printing.lock();
        let mut stdout = io::stdout().lock();
        // Whoever does not read any more closes our input, too, or has gone.
        let written = stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush());
        drop(written);
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<u32, UnixStream>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Between two looks for servers, and for the end of the input.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The longest line that is read, in bytes.
const LONGEST_REQUEST: usize = 4 << 20;
