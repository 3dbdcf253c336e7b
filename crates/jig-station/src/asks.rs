//! [`listen`]: the ask socket of an MCP server, by which people and programs elsewhere answer its questions.
//!
//! It is found where a station would be (`place`): in jig's state, which no tool sees, and it
//! serves processes of the same user that can read its key and are in no sandbox. What is said there is
//! jig-mcp's ([`jig_mcp::Questions::serve`]); [`client`] is the other end.

pub mod client;

use std::io::{self, Cursor, Read as _, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use jig_mcp::{ASK_PROTOCOL, Questions};
use jig_project::CommandEnvironment;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client_threads::{Manner, Reception};
use super::connection::admitted;
use super::protocol::{MessageReader, StationReply, VERSION, send};
use super::proxies::TimedConnection;
use super::socket_directory::{StationKey, StationPlace, is_ours};

/// What a server says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerWelcome {
    /// The version of jig.
    pub jig: String,
    /// The version of what is said on the socket.
    pub protocol: u32,
    /// The workspace that it serves.
    pub workspace: Utf8PathBuf,
    /// Its process.
    pub pid: u32,
}

/// As long as it is there, `jig approve` finds the server.
#[derive(Debug)]
#[must_use]
pub struct AskSocket(#[expect(dead_code, reason = "it serves as long as it is held")] Reception);

/// Lets people answer the questions of a server for the workspace at `root`.
pub fn listen(
    questions: &Arc<Questions>,
    root: &Utf8Path,
    env: &CommandEnvironment,
) -> anyhow::Result<AskSocket> {
    let failed = "cannot listen for answers of `jig approve`";
    let number = OPENED.fetch_add(1, Ordering::Relaxed);
    let place = StationPlace::make_server(root, env, number).context(failed)?;
    let (questions, workspace) = (Arc::clone(questions), root.to_owned());
    let manner = Manner {
        name: "jig-asks",
        most: MOST_VISITORS,
        patience: PATIENCE,
    };
    let reception = Reception::open(place, manner, move |key, stream| {
        serve(&questions, &workspace, key, stream)
    });
    reception.map(AskSocket).context(failed)
}

fn serve(
    questions: &Arc<Questions>,
    workspace: &Utf8Path,
    key: &StationKey,
    stream: UnixStream,
) -> io::Result<()> {
    if !is_ours(&stream)? {
        return Ok(());
    }
    stream.set_write_timeout(Some(LONGEST_STALL))?;
    let mut lines = MessageReader::new(TimedConnection::new(&stream, PATIENCE), LONGEST_HELLO);
    if admitted("server", &stream, &mut lines, key)?.is_none() {
        return Ok(());
    }
    // A client that is in a hurry may have said more already.
    let rest = Cursor::new(lines.into_rest());
    let welcome = ServerWelcome {
        jig: VERSION.to_owned(),
        protocol: ASK_PROTOCOL,
        workspace: workspace.to_owned(),
        pid: std::process::id(),
    };
    send(&stream, &StationReply::Ok(json!(welcome)))?;
    stream.set_read_timeout(Some(LONGEST_SILENCE))?;
    let reader = rest.chain(stream.try_clone()?);
    questions.serve(reader, ClosingConnection(stream));
    Ok(())
}

/// A connection that ends when nothing can be written to it any more.
struct ClosingConnection(UnixStream);

impl Write for ClosingConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for ClosingConnection {
    fn drop(&mut self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// How many this process has opened: each has files of its own.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// How long a greeting may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// The longest first line of a client, in bytes.
const LONGEST_HELLO: usize = 4 << 10;

/// From one line of a client that does not watch to the next. One that says nothing for longer only holds a
/// place.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// How long a client may take to read what it is told.
const LONGEST_STALL: Duration = Duration::from_secs(10);

/// Clients at once. Each has a thread or two; without a limit, one that connects in a loop takes all memory.
const MOST_VISITORS: usize = 64;

#[cfg(test)]
mod tests;
