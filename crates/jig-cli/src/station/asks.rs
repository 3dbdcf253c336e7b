//! [`listen`]: the ask socket of an MCP server, by which people and programs elsewhere answer its questions.
//!
//! It is found where a station would be ([`place`](super::place)): in jig's state, which no tool sees, and it
//! serves processes of the same user that can read its key and are in no sandbox. What is said there is
//! jig-mcp's ([`jig_mcp::Questions::serve`]); [`client`] is the other end.

pub(crate) mod client;

use std::io::{self, Cursor, Read as _, Write};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_mcp::{ASK_PROTOCOL, Questions};
use jig_sandbox::{Interest, Waker};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::connection::admitted;
use super::place::{Claim, Key, Place, is_ours};
use super::protocol::{Lines, Reply, VERSION, send};
use super::proxies::Timed;
use crate::environment::Environment;

/// What a server says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// The version of jig.
    pub(crate) jig: String,
    /// The version of what is said on the socket.
    pub(crate) protocol: u32,
    pub(crate) workspace: Utf8PathBuf,
    pub(crate) pid: u32,
}

/// As long as it is there, `jig approve` finds the server.
#[derive(Debug)]
#[must_use]
pub(crate) struct Listening {
    claim: Claim,
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

/// What all connections share.
struct Desk {
    questions: Arc<Questions>,
    workspace: Utf8PathBuf,
    key: Key,
    visitors: AtomicUsize,
    is_over: AtomicBool,
    waker: Waker,
}

/// Lets people answer the questions of a server for the workspace at `root`.
pub(crate) fn listen(
    questions: &Arc<Questions>,
    root: &Utf8Path,
    env: &Environment,
) -> anyhow::Result<Listening> {
    let failed = "cannot listen for answers of `jig approve`";
    let number = OPENED.fetch_add(1, Ordering::Relaxed);
    let place = Place::make_server(root, env, number).context(failed)?;
    let Some(claim) = place.claim(PATIENCE).context(failed)? else {
        bail!("{failed}: its place is taken");
    };
    let (listener, key) = claim.listen().context(failed)?;
    listener.set_nonblocking(true).context(failed)?;
    let desk = Arc::new(Desk {
        questions: Arc::clone(questions),
        workspace: root.to_owned(),
        key,
        visitors: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        waker: Waker::new().context(failed)?,
    });
    let served = Arc::clone(&desk);
    let thread = thread::Builder::new()
        .name("jig-asks".to_owned())
        .spawn(move || receive(&served, &listener))
        .context(failed)?;
    Ok(Listening {
        claim,
        desk,
        thread: Some(thread),
    })
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.claim.close();
        self.desk.is_over.store(true, Ordering::SeqCst);
        self.desk.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It waits for nothing but this. Had it panicked, nobody could be told here.
            let _ = thread.join();
        }
    }
}

/// Takes connections until the server ends.
fn receive(desk: &Arc<Desk>, listener: &UnixListener) {
    while !desk.is_over.load(Ordering::SeqCst) {
        let waits = [
            Interest::Readable(listener.as_fd()),
            Interest::Woken(&desk.waker),
        ];
        if jig_sandbox::poll(&waits, None).is_err() {
            return;
        }
        desk.waker.clear();
        while let Ok((stream, _)) = listener.accept() {
            let visit = Visit::new(desk);
            if visit.number > MOST_VISITORS {
                continue;
            }
            // Whatever goes wrong with the connection is the client's to notice.
            let _ = thread::Builder::new()
                .name("jig-ask".to_owned())
                .spawn(move || serve(&visit.desk, stream));
        }
    }
}

/// Counts a client for as long as it is served.
struct Visit {
    desk: Arc<Desk>,
    number: usize,
}

impl Visit {
    fn new(desk: &Arc<Desk>) -> Self {
        Self {
            desk: Arc::clone(desk),
            number: desk.visitors.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.desk.visitors.fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve(desk: &Desk, stream: UnixStream) -> io::Result<()> {
    // What was accepted may have taken that over.
    stream.set_nonblocking(false)?;
    if !is_ours(&stream)? {
        return Ok(());
    }
    stream.set_write_timeout(Some(LONGEST_STALL))?;
    let mut lines = Lines::new(Timed::new(&stream, PATIENCE), LONGEST_HELLO);
    if admitted("server", &stream, &mut lines, &desk.key)?.is_none() {
        return Ok(());
    }
    // A client that is in a hurry may have said more already.
    let rest = Cursor::new(lines.into_rest());
    let welcome = Welcome {
        jig: VERSION.to_owned(),
        protocol: ASK_PROTOCOL,
        workspace: desk.workspace.clone(),
        pid: std::process::id(),
    };
    send(&stream, &Reply::Ok(json!(welcome)))?;
    stream.set_read_timeout(Some(LONGEST_SILENCE))?;
    let reader = rest.chain(stream.try_clone()?);
    desk.questions.serve(reader, Closing(stream));
    Ok(())
}

/// A connection that ends when nothing can be written to it any more.
struct Closing(UnixStream);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        // It may be closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Only what is of use: the rest is a secret, or much.
impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
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
