//! [`Reception`]: takes the clients of a place, each on a thread of its own, for as long as it is there.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, bail};
use jig_sandbox::{Interest, Waker};

use super::socket_directory::{Claim, StationKey, StationPlace};

/// Takes clients until it is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Reception {
    claim: Claim,
    door: Arc<ReceptionState>,
    thread: Option<JoinHandle<()>>,
}

/// How the clients of a place are taken.
pub(super) struct Manner {
    /// What the thread is called that takes them, and those that serve them.
    pub(super) name: &'static str,
    /// How many are served at once. Those beyond are turned away.
    pub(super) most: usize,
    /// How long the place may be held by somebody who is about to go.
    pub(super) patience: Duration,
}

#[derive(Debug)]
struct ReceptionState {
    visitors: AtomicUsize,
    is_over: AtomicBool,
    waker: Waker,
}

impl Reception {
    /// Takes clients at a place. Each is served by `serve`, which gets the key that it has to show; whatever
    /// goes wrong with a connection is the client's to notice.
    pub(super) fn open(
        place: StationPlace,
        manner: Manner,
        serve: impl Fn(&StationKey, UnixStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let Some(claim) = place.claim(manner.patience)? else {
            bail!("its place is taken");
        };
        let (listener, key) = claim.listen()?;
        listener
            .set_nonblocking(true)
            .context("cannot listen without waiting")?;
        let door = Arc::new(ReceptionState {
            visitors: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            waker: Waker::new().context("cannot be woken")?,
        });
        let serve: Arc<ServeFunction> = Arc::new(move |stream| serve(&key, stream));
        let taken = Arc::clone(&door);
        let thread = thread::Builder::new()
            .name(manner.name.to_owned())
            .spawn(move || receive(&taken, &listener, &manner, &serve))
            .context("cannot start a thread")?;
        Ok(Self {
            claim,
            door,
            thread: Some(thread),
        })
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.claim.close();
        self.door.is_over.store(true, Ordering::SeqCst);
        self.door.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It waits for nothing but this. Had it panicked, nobody could be told here.
            let _ = thread.join();
        }
    }
}

type ServeFunction = dyn Fn(UnixStream) -> io::Result<()> + Send + Sync;

fn receive(
    door: &Arc<ReceptionState>,
    listener: &UnixListener,
    manner: &Manner,
    serve: &Arc<ServeFunction>,
) {
    while !door.is_over.load(Ordering::SeqCst) {
        let waits = [
            Interest::Readable(listener.as_fd()),
            Interest::Woken(&door.waker),
        ];
        if jig_sandbox::poll(&waits, None).is_err() {
            return;
        }
        door.waker.clear();
        while let Ok((stream, _)) = listener.accept() {
            let visit = ReceptionClient::new(door);
            if visit.number > manner.most {
                continue;
            }
            let serve = Arc::clone(serve);
            // One that gets no thread is turned away.
            let _ = thread::Builder::new()
                .name(manner.name.to_owned())
                .spawn(move || {
                    let _visit = visit;
                    // What was accepted may have taken that over.
                    stream.set_nonblocking(false)?;
                    serve(stream)
                });
        }
    }
}

/// Counts a client for as long as it is served.
struct ReceptionClient {
    door: Arc<ReceptionState>,
    number: usize,
}

impl ReceptionClient {
    fn new(door: &Arc<ReceptionState>) -> Self {
        Self {
            door: Arc::clone(door),
            number: door.visitors.fetch_add(1, Ordering::SeqCst) + 1,
        }
    }
}

impl Drop for ReceptionClient {
    fn drop(&mut self) {
        self.door.visitors.fetch_sub(1, Ordering::SeqCst);
    }
}
