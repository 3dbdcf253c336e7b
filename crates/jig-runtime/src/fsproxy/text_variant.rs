//! The text door: the older, line-oriented variant of the protocol, on the operations of the manager.
//!
//! [`serve`] is the whole of a connection whose first byte said so. What a command means, what is permitted and
//! what is counted is decided where the framed variant is served; here are only the forms. Commands are
//! answered in order, also those that were sent before an answer came; one that is refused takes its payload
//! with it, so that the next is found. The end of the stream in the middle of a command is answered and then
//! treated like any other end.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use jig_proto::fsproxy::legacy::{
    CommandBuffer, LegacyCommand, write_chat, write_error, write_ok, write_payload,
};
use jig_proto::fsproxy::{FIRST_HANDLE, LlmCmd, ProxyError};
use serde_json::json;

use super::client::ClientState;
use super::client_socket::ClientLink;
use super::{ClientEnd, llm};

/// Serves a client of the text variant until it ends. `first` is what has been received by now.
pub(super) fn serve(client: &ClientState, link: &ClientLink, first: Vec<u8>) -> ClientEnd {
    let mut door = TextDoor {
        client,
        link,
        out: Vec::new(),
        scratch: Vec::new(),
    };
    match door.run(&first) {
        Ok(end) => end,
        Err(error) => error.into(),
    }
}

struct TextDoor<'a> {
    client: &'a ClientState,
    link: &'a ClientLink,
    /// Answers that were not sent yet.
    out: Vec<u8>,
    /// What is read, before its length is known.
    scratch: Vec<u8>,
}

impl TextDoor<'_> {
    /// An error is one of the connection, and ends it (F-082).
    fn run(&mut self, first: &[u8]) -> io::Result<ClientEnd> {
        let mut commands = CommandBuffer::new(self.client.max_frame());
        commands.feed(first);
        loop {
            let end = self.answer_all(&mut commands)?;
            self.send()?;
            if let Some(end) = end {
                return Ok(end);
            }
            match self.link.receive(commands.space())? {
                0 => break,
                count => commands.filled(count),
            }
        }
        if let Some(refused) = commands.finish() {
            self.client.note_unread(&refused.text);
            write_error(&mut self.out, &refused.text);
            self.send()?;
        }
        Ok(match commands.is_empty() {
            true => ClientEnd::Eof,
            false => ClientEnd::Broken("the last request has no end".to_owned()),
        })
    }

    /// Answers the commands that are there; gives the end if no further one can be found.
    fn answer_all(&mut self, commands: &mut CommandBuffer) -> io::Result<Option<ClientEnd>> {
        loop {
            match commands.next() {
                Ok(None) => return Ok(None),
                Ok(Some(command)) => self.answer(command)?,
                Err(refused) => {
                    if !refused.fatal {
                        self.client.note_unread(&refused.text);
                    }
                    write_error(&mut self.out, &refused.text);
                    if refused.fatal {
                        return Ok(Some(ClientEnd::Broken(refused.text)));
                    }
                }
            }
            if self.out.len() >= SEND_FROM {
                self.send()?;
            }
        }
    }

    fn send(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.link.send(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn answer(&mut self, command: LegacyCommand<'_>) -> io::Result<()> {
        self.client.count_request();
        if waits(&command) {
            // What was asked before should not have to wait for a model, or for somebody who types.
            self.send()?;
        }
        if let Err(error) = self.act(command) {
            write_error(&mut self.out, &error.message);
        }
        Ok(())
    }

    fn act(&mut self, command: LegacyCommand<'_>) -> Result<(), ProxyError> {
        let client = self.client;
        match command {
            LegacyCommand::Open {
                path,
                mode,
                is_top_level,
            } => {
                let handle = client.open(path, mode.into(), mode.text(), Some(is_top_level))?;
                write_ok(&mut self.out, &handle.to_string());
            }
            LegacyCommand::Read { handle, size } => {
                self.read(handle, size)?;
                write_payload(&mut self.out, &self.scratch);
            }
            LegacyCommand::Write { handle, data } => {
                let count = client.write(handle, data)?;
                write_ok(&mut self.out, &count.to_string());
            }
            LegacyCommand::Close { handle } => {
                client.close(handle)?;
                write_ok(&mut self.out, "");
            }
            LegacyCommand::LlmQuota => {
                let report = llm::quota(client)?;
                write_ok(&mut self.out, &report.long_status());
            }
            LegacyCommand::LlmChat {
                is_top_level,
                stdin,
                stdout,
                stderr,
                files,
                prompt,
            } => {
                let command = LlmCmd {
                    prompt: Some(prompt.to_owned()),
                    paths: paths(files),
                    stdin: Some(stdin),
                    stdout: Some(stdout),
                    stderr: Some(stderr),
                    is_top_level: Some(is_top_level),
                    ..LlmCmd::default()
                };
                let finished = llm::run(client, &command)?;
                let status = finished.quota.status();
                write_chat(&mut self.out, &completion(&finished), &status);
            }
        }
        Ok(())
    }

    /// Reads into the scratch, at most [`MAX_READ`] bytes. Of a file it is as much as was asked for, unless it
    /// ends before; of a stream what there is.
    fn read(&mut self, handle: u64, size: u64) -> Result<(), ProxyError> {
        let size = usize::try_from(size).map_or(MAX_READ, |size| size.min(MAX_READ));
        self.scratch.clear();
        loop {
            let before = self.scratch.len();
            let is_end = self.client.read(handle, size - before, &mut self.scratch)?;
            let now = self.scratch.len();
            if is_end || now == before || now >= size || handle < FIRST_HANDLE {
                return Ok(());
            }
        }
    }
}

/// Whether a command may wait for something else than a disk.
fn waits(command: &LegacyCommand<'_>) -> bool {
    match command {
        LegacyCommand::Read { handle, .. } | LegacyCommand::Write { handle, .. } => {
            *handle < FIRST_HANDLE
        }
        LegacyCommand::LlmChat { .. } => true,
        LegacyCommand::Open { .. } | LegacyCommand::Close { .. } | LegacyCommand::LlmQuota => false,
    }
}

/// The paths of a list of input files, one in a line.
fn paths(files: &str) -> Vec<String> {
    let lines = files.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The answer in the form in which providers of chat completions give it, which is what clients of this
/// variant read. The text is in it also when it went to a handle.
fn completion(finished: &llm::FinishedLlmCall) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let reply = &finished.reply;
    let usage = &reply.usage;
    let completion = json!({
        "id": format!("chatcmpl-{id}"),
        "object": "chat.completion",
        "created": now.map_or(0, |now| now.as_secs()),
        "model": reply.model,
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": reply.content },
            "finish_reason": reply.finish_reason,
        }],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
            "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
        },
    });
    completion.to_string()
}

/// The most bytes of one `READ`. The variant has no limit of its own, and an answer is put together in memory.
const MAX_READ: usize = 1 << 20;

/// How many bytes of answers are sent although more commands wait. A client that sends without reading must
/// not fill our memory.
const SEND_FROM: usize = 64 * 1024;

#[cfg(test)]
mod tests;
