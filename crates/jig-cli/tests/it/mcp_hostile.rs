//! Clients of `jig mcp` that try to use up the machine, or are broken in ways that clients really are.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::Workspace;
use super::mcp_client::PATIENCE;
use super::mcp_stdio::{meta, resident};

/// A server, and our end of its standard streams.
fn serve(workspace: &Workspace) -> (Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let theirs = OwnedFd::from(theirs);
    let mut command = workspace.jig(&["mcp"]);
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs);
    (command.spawn().unwrap(), ours)
}

fn list(id: u64) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta() } })
}

/// How many rounds are enough: the answers to all of them would be some hundred megabytes.
const ENOUGH: u64 = 100_000;

/// Sends without reading, until nothing is taken any more, or so much that it would be noticed if it were kept:
/// what is owed no answer may be taken for ever. `messages` gives the next ones by how many there were.
fn flood(messages: fn(u64) -> Vec<Json>) {
    let workspace = Workspace::new();
    let (mut server, stream) = serve(&workspace);
    stream
        .set_write_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    let mut rounds = 0;
    let refused = loop {
        if rounds == ENOUGH {
            break None;
        }
        let lines: String = messages(rounds)
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        if let Err(error) = (&stream).write_all(lines.as_bytes()) {
            break Some(error);
        }
        rounds += 1;
    };
    if let Some(refused) = refused {
        let is_full = matches!(
            refused.kind(),
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
        );
        assert!(is_full, "{refused}");
    }
    let held = resident(server.id());
    assert!(held < 400 << 20, "{held} bytes after {rounds} rounds");
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn one_id_for_all_requests_does_not_fill_the_memory() {
    flood(|_| vec![list(1)]);
}

#[test]
fn requests_that_are_given_up_at_once_do_not_fill_the_memory() {
    flood(|id| {
        let params = json!({ "requestId": id });
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        vec![list(id), cancelled]
    });
}

/// What a JavaScript client sends when a model has cut an emoji in two. Without the id its sender would wait.
#[test]
fn half_a_character_is_refused_by_the_id_of_its_request() {
    let workspace = Workspace::new();
    let (mut server, stream) = serve(&workspace);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let line = list(7).to_string().replacen("test", r"\\ \ud83d", 1) + "\n";
    (&stream).write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    let answer: Json = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], 7, "{answer}");
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    drop(stream);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

/// A client that has closed its reading end, and holds the other open, is served no more.
#[test]
fn whoever_does_not_listen_is_not_served() {
    let workspace = Workspace::new();
    let (mut server, stream) = serve(&workspace);
    stream.shutdown(std::net::Shutdown::Read).unwrap();
    (&stream)
        .write_all(format!("{}\n", list(1)).as_bytes())
        .unwrap();
    jig_testkit::ended(&mut server);
}

/// Whoever reads the message is somebody who looks why the server has gone.
#[test]
fn an_output_that_takes_nothing_is_said_so() {
    use rustix::fs::{Mode, OFlags, open};
    use std::process::Stdio;
    let workspace = Workspace::new();
    let full = open("/dev/full", OFlags::WRONLY, Mode::empty());
    let mut command = workspace.jig(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(full.unwrap());
    let server = command.stderr(Stdio::piped()).spawn().unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    writeln!(server.stdin.as_ref().unwrap(), "{begin}").unwrap();
    let ended = server.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(
        said,
        "error: the connection failed: No space left on device (os error 28)\n"
    );
}
