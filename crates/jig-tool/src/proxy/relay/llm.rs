//! `LLMCMD` of a child: what it names by the numbers 0, 1 and 2 is here, all the rest is upstream.

use std::io::pipe;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use jig_proto::fsproxy::{self, LlmCmd, LlmReply, MAX_FRAME, Op, ProxyError, ProxyErrorCode};
use jig_proto::visible_words;
use rustix::event::PollFlags;

use super::super::lock;
use super::super::shared_connection::RequestOutcome;
use super::ChildStream;
use super::child::ConnectionEnded;
use super::child_requests::RelayServer;
use super::standard_streams::{self, StandardStream};

/// Has a question asked upstream.
///
/// Input that comes from our standard input goes along as text; an answer that is for our standard
/// output comes back whole and is written here, also if the child wanted it while it comes.
pub(super) fn run(
    server: RelayServer<'_>,
    place: u64,
    id: &str,
    command: &LlmCmd,
) -> Result<(), ConnectionEnded> {
    if !server.connection.options.llm {
        return server.fail(place, id, &ProxyError::perm("LLM access denied"));
    }
    let mut local = match LocalLlmCmd::resolve(server, command) {
        Ok(local) => local,
        Err(error) => return server.fail(place, id, &error),
    };
    if local.reads_stdin {
        server.send()?;
        let text = match standard_streams::read_all_stdin(server.connection, MAX_INPUT)? {
            Ok(text) => text,
            Err(error) => return local.fail(server, place, id, &error),
        };
        let input = local.command.input.get_or_insert_default();
        input.insert_str(0, &text);
    }
    let op = Op::LlmCmd(Box::new(std::mem::take(&mut local.command)));
    if local.stdout.is_none() && local.stderr.is_none() {
        return server.forward(place, id, &op);
    }
    match ask(server, place, id, &op)? {
        None => Ok(()),
        Some(Ok(reply)) => local.deliver(server, place, id, reply),
        Some(Err(error)) => local.fail(server, place, id, &error),
    }
}

/// What of a command is ours.
struct LocalLlmCmd {
    /// The rest of it.
    command: LlmCmd,
    reads_stdin: bool,
    /// The stream that the answer is written to.
    stdout: Option<StandardStream>,
    /// The stream that is told what went wrong.
    stderr: Option<StandardStream>,
}

impl LocalLlmCmd {
    fn resolve(server: RelayServer<'_>, command: &LlmCmd) -> Result<Self, ProxyError> {
        let mut command = command.clone();
        command.is_top_level = Some(false);
        let mut reads_stdin = false;
        let mut files = Vec::new();
        // A stream that does not exist is no input, as if it were not named.
        for handle in std::mem::take(&mut command.files) {
            match source(server, handle)? {
                LlmStreamPlace::Upstream(handle) => files.push(handle),
                LlmStreamPlace::Here(standard) => {
                    reads_stdin |= standard.stream == ChildStream::Inherit
                }
            }
        }
        command.files = files;
        if let Some(handle) = command.stdin.take() {
            match source(server, handle)? {
                LlmStreamPlace::Upstream(handle) => command.stdin = Some(handle),
                LlmStreamPlace::Here(standard) => {
                    reads_stdin |= standard.stream == ChildStream::Inherit
                }
            }
        }
        let mut stdout = None;
        match command.stdout.take().map(|handle| sink(server, handle)) {
            None => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(LlmStreamPlace::Upstream(handle))) => command.stdout = Some(handle),
            Some(Ok(LlmStreamPlace::Here(standard))) => {
                // Only a handle can be written to while the answer comes.
                command.stream = false;
                stdout = Some(standard).filter(|standard| standard.stream != ChildStream::None);
            }
        }
        let mut stderr = None;
        match command.stderr.take().map(|handle| sink(server, handle)) {
            None => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(LlmStreamPlace::Upstream(handle))) => command.stderr = Some(handle),
            Some(Ok(LlmStreamPlace::Here(standard))) => {
                stderr = Some(standard).filter(|standard| standard.stream == ChildStream::Inherit);
            }
        }
        Ok(Self {
            command,
            reads_stdin,
            stdout,
            stderr,
        })
    }

    fn deliver(
        &self,
        server: RelayServer<'_>,
        place: u64,
        id: &str,
        mut reply: LlmReply,
    ) -> Result<(), ConnectionEnded> {
        if let Some(stdout) = self.stdout {
            let content = reply.content.take().unwrap_or_default();
            if stdout.stream == ChildStream::Inherit
                && let Err(error) =
                    standard_streams::write(server.connection, stdout.number, content.as_bytes())?
            {
                return self.fail(server, place, id, &error);
            }
            reply.written = Some(content.len() as u64);
        }
        server
            .connection
            .answer(place, |out| fsproxy::write_result(out, id, &reply));
        Ok(())
    }

    fn fail(
        &self,
        server: RelayServer<'_>,
        place: u64,
        id: &str,
        error: &ProxyError,
    ) -> Result<(), ConnectionEnded> {
        if let Some(stderr) = self.stderr {
            let line = format!("{}\n", visible_words(&error.message));
            // That it can't be told there changes nothing: the child is told all the same.
            let _ = standard_streams::write(server.connection, stderr.number, line.as_bytes())?;
        }
        server.fail(place, id, error)
    }
}

enum LlmStreamPlace {
    Here(StandardStream),
    Upstream(u64),
}

/// Where something to be read is.
fn source(server: RelayServer<'_>, handle: u64) -> Result<LlmStreamPlace, ProxyError> {
    find(server, handle, |standard| standard.number == 0)
}

/// Where something to be written is.
fn sink(server: RelayServer<'_>, handle: u64) -> Result<LlmStreamPlace, ProxyError> {
    find(server, handle, |standard| standard.number != 0)
}

fn find(
    server: RelayServer<'_>,
    handle: u64,
    is_right: impl FnOnce(StandardStream) -> bool,
) -> Result<LlmStreamPlace, ProxyError> {
    match StandardStream::of(&server.connection.options, handle) {
        Some(standard) if !is_right(standard) => Err(standard.refusal()),
        Some(StandardStream {
            stream: ChildStream::Handle(handle),
            ..
        }) => Ok(LlmStreamPlace::Upstream(handle)),
        Some(standard) => Ok(LlmStreamPlace::Here(standard)),
        None if server.connection.owns(handle) => Ok(LlmStreamPlace::Upstream(handle)),
        None => Err(ProxyError::new(
            ProxyErrorCode::Closed,
            format!("fd not found: {handle}"),
        )),
    }
}

/// Asks upstream and waits for it, unless the child goes away; `None` if it could not be asked, and
/// the child was told.
fn ask(
    server: RelayServer<'_>,
    place: u64,
    id: &str,
    op: &Op<'_>,
) -> Result<Option<Result<LlmReply, ProxyError>>, ConnectionEnded> {
    let (answered, to_answer) = pipe().map_err(|_| ConnectionEnded)?;
    let cell = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&cell);
    server.forward_then(place, id, op, move |outcome: RequestOutcome<'_>| {
        let result = outcome.ok().map(|result| {
            result.and_then(|answer| {
                let reply = answer.value::<LlmReply>();
                reply.map_err(|error| ProxyError::io(error.to_string()))
            })
        });
        *lock(&theirs) = result;
        // The other end is told by there being no writer any more.
        drop(to_answer);
        None
    })?;
    server.send()?;
    standard_streams::wait_unless_gone(server.connection, answered.as_fd(), PollFlags::IN)?;
    Ok(lock(&cell).take())
}

/// The most text of standard input that goes along: a request has to fit into a frame.
const MAX_INPUT: usize = MAX_FRAME / 2;
