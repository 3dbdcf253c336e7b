//! Bytes from one connection to another, both ways at once.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use jig_sandbox::Interest;

use super::body::GatewayBody;
use super::response::GatewayResponse;
use super::wire::{GatewayConnection, is_passing};

/// What happens to bytes on their way.
#[derive(Debug)]
pub(super) enum GatewayPassage {
    /// They go on as they are.
    Plain,
    /// They are the body of a request; what comes after it is thrown away.
    Body(GatewayBody),
    /// They are the answer to a request, and nothing comes after it.
    Response(GatewayResponse),
}

/// How a relay ended.
#[derive(Debug)]
pub(super) enum RelayEnd {
    /// Both sides have said all they had to say.
    Done,
    /// The request's body cannot be judged; why.
    BadBody(String),
    /// The server's answer cannot be passed on; why, and whether some of it was.
    BadResponse(String, bool),
    /// A connection broke, or the gateway is closed.
    Broken,
}

/// Passes bytes on in both directions until both have ended. An end in one direction is passed on as
/// such, and the other goes on.
pub(super) fn run(
    client: &GatewayConnection<'_>,
    server: &GatewayConnection<'_>,
    (to_server, said): (GatewayPassage, Vec<u8>),
    to_client: GatewayPassage,
) -> RelayEnd {
    let mut there = RelayDirection::new(client, server, to_server, said);
    let mut back = RelayDirection::new(server, client, to_client, Vec::new());
    loop {
        if let Err(trouble) = there.advance() {
            match trouble {
                GatewayRelayError::Unread(why) => return RelayEnd::BadBody(why),
                GatewayRelayError::Read => return RelayEnd::Broken,
                // The server takes no more, and may still have something to say.
                GatewayRelayError::Write => there.give_up(),
            }
        }
        if let Err(trouble) = back.advance() {
            return match trouble {
                GatewayRelayError::Unread(why) => RelayEnd::BadResponse(why, back.has_passed),
                GatewayRelayError::Read | GatewayRelayError::Write => RelayEnd::Broken,
            };
        }
        if let (GatewayPassage::Response(response), GatewayPassage::Body(_)) =
            (&back.passage, &there.passage)
            && response.is_switched()
        {
            // From here on it is a web socket. What was said too early is thrown away with the body.
            there.passage = GatewayPassage::Plain;
            back.passage = GatewayPassage::Plain;
            continue;
        }
        // An answer ends the exchange, whatever the program still has to say.
        let is_answered = back.is_closed && matches!(back.passage, GatewayPassage::Response(_));
        if is_answered || (there.is_closed && back.is_closed) {
            return RelayEnd::Done;
        }
        let interests: Vec<Interest<'_>> = [there.interest(), back.interest()]
            .into_iter()
            .flatten()
            .collect();
        // Where nobody waits for the program to speak, somebody has to look whether it is still there.
        let is_heard = !there.is_ended && there.start >= there.end;
        let glance = (!is_heard).then(|| Instant::now() + GLANCE);
        match client.shared.wait(&interests, glance) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::TimedOut && !client.is_gone() => {}
            Err(_) => return RelayEnd::Broken,
        }
    }
}

/// One direction.
struct RelayDirection<'w> {
    from: &'w GatewayConnection<'w>,
    to: &'w GatewayConnection<'w>,
    passage: GatewayPassage,
    /// How much is read at once.
    size: usize,
    /// What was read and is not written yet is `buffer[start..end]`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_ended: bool,
    is_closed: bool,
    /// Whether anything was written.
    has_passed: bool,
}

enum GatewayRelayError {
    /// What was read is not what it should be.
    Unread(String),
    Read,
    Write,
}

impl<'w> RelayDirection<'w> {
    fn new(
        from: &'w GatewayConnection<'w>,
        to: &'w GatewayConnection<'w>,
        passage: GatewayPassage,
        ready: Vec<u8>,
    ) -> Self {
        Self {
            from,
            to,
            passage,
            size: FIRST_BUFFER,
            start: 0,
            end: ready.len(),
            buffer: ready,
            is_ended: false,
            is_closed: false,
            has_passed: false,
        }
    }

    /// Reads and writes what can be without waiting, for a while: the other direction has its turn, too.
    fn advance(&mut self) -> Result<(), GatewayRelayError> {
        for _ in 0..TURNS {
            if self.start < self.end {
                match (&self.to.stream).write(&self.buffer[self.start..self.end]) {
                    Ok(0) => return Err(GatewayRelayError::Write),
                    Ok(count) => {
                        self.start += count;
                        self.has_passed = true;
                    }
                    Err(error) if is_passing(&error) => return Ok(()),
                    Err(_) => return Err(GatewayRelayError::Write),
                }
            } else if self.is_ended {
                if !self.is_closed {
                    self.is_closed = true;
                    // It fails where the other side is gone already.
                    let _ = self.to.stream.shutdown(Shutdown::Write);
                }
                return Ok(());
            } else if !self.read()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads once; says whether something came.
    fn read(&mut self) -> Result<bool, GatewayRelayError> {
        self.buffer.resize(self.size, 0);
        let count = match (&self.from.stream).read(&mut self.buffer) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => {
                (self.start, self.end) = (0, 0);
                return Ok(false);
            }
            Err(_) => return Err(GatewayRelayError::Read),
        };
        (self.start, self.end) = (0, count);
        self.is_ended = count == 0;
        if count == self.size {
            self.size = (self.size * 4).min(LAST_BUFFER);
        }
        let passed = match &mut self.passage {
            GatewayPassage::Plain => return Ok(true),
            GatewayPassage::Response(response) if response.is_plain() => return Ok(true),
            GatewayPassage::Response(response) => {
                let mut out = Vec::with_capacity(count + 64);
                let passed = response.pass(&self.buffer[..count], &mut out);
                passed.map(|()| out)
            }
            GatewayPassage::Body(body) => {
                let mut out = Vec::with_capacity(count + 64);
                let passed = body.pass(&self.buffer[..count], &mut out);
                passed.map(|()| out)
            }
        };
        let passed =
            passed.map_err(|error: io::Error| GatewayRelayError::Unread(error.to_string()))?;
        if self.is_ended
            && let GatewayPassage::Response(response) = &self.passage
            && !response.is_plain()
        {
            return Err(GatewayRelayError::Unread(
                "the server gave no answer".to_owned(),
            ));
        }
        self.end = passed.len();
        self.buffer = passed;
        Ok(true)
    }

    /// Ends this direction, of which nobody takes anything.
    fn give_up(&mut self) {
        (self.start, self.end) = (0, 0);
        self.is_ended = true;
        self.is_closed = true;
    }

    /// What to wait for before advancing again.
    fn interest(&self) -> Option<Interest<'_>> {
        if self.start < self.end || (self.is_ended && !self.is_closed) {
            Some(Interest::Writable(self.to.stream.as_fd()))
        } else if self.is_ended {
            None
        } else {
            Some(Interest::Readable(self.from.stream.as_fd()))
        }
    }
}

/// How much is read at once at first, and at most. What carries much gets a large buffer: that saves as much time
/// as a pipe of the kernel between the sockets would, and takes no descriptors.
const FIRST_BUFFER: usize = 16 * 1024;
const LAST_BUFFER: usize = 256 * 1024;

/// How often to look whether a program is still there that is not waited for.
const GLANCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// How often one direction reads or writes before the other has its turn.
const TURNS: usize = 16;
