//! The inputs of a call: read through the client's own operations, and put together as one text.

use jig_proto::fsproxy::{LlmCmd, OpenMode, ProxyError, ProxyErrorCode};
use jig_proto::visible_line;

use crate::fsproxy::client::ClientState;

/// Reads everything that a command names, at most `most` bytes, and gives it as one text in which each input
/// has a line before it that says what it is and how long.
///
/// Standard input comes first in the text and is read last: what was read from it is gone, so nothing is taken
/// for a call that another input prevents.
pub(super) fn gather(
    client: &ClientState,
    command: &LlmCmd,
    most: usize,
) -> Result<String, ProxyError> {
    let mut room = LlmInputSpace { most, left: most };
    let mut rest = String::new();
    if let Some(input) = &command.input {
        room.take(input.len())?;
        append(&mut rest, "input", input);
    }
    for &handle in &command.files {
        let name = client.name(handle);
        let text = read(client, handle, &mut room).map_err(|error| named(error, handle))?;
        let name = name.map_or_else(|| format!("handle {handle}"), |name| file(&name));
        append(&mut rest, &name, &as_text(text, &name)?);
    }
    for path in &command.paths {
        let name = file(path);
        append(
            &mut rest,
            &name,
            &as_text(open_and_read(client, command, path, &mut room)?, &name)?,
        );
    }
    let mut all = String::new();
    if let Some(handle) = command.stdin.filter(|&handle| has_input(client, handle)) {
        let text = read(client, handle, &mut room).map_err(|error| named(error, handle))?;
        if !text.is_empty() {
            append(&mut all, "stdin", &as_text(text, "stdin")?);
        }
    }
    all.push_str(&rest);
    Ok(all)
}

/// Names the handle as the documents do when it is not open (F-078).
pub(super) fn named(error: ProxyError, handle: u64) -> ProxyError {
    match error.code {
        ProxyErrorCode::Closed => ProxyError {
            message: format!("fd not found: {handle}"),
            ..error
        },
        _ => error,
    }
}

/// Whether there is something to read: handle 0 may lead nowhere, and a person at a terminal has not been
/// asked for anything.
fn has_input(client: &ClientState, handle: u64) -> bool {
    handle != 0 || (client.has_stream(0) && !client.stream_is_terminal(0))
}

fn open_and_read(
    client: &ClientState,
    command: &LlmCmd,
    path: &str,
    room: &mut LlmInputSpace,
) -> Result<Vec<u8>, ProxyError> {
    let mode = OpenMode::Read;
    let is_top_level = command.is_top_level;
    let handle = client.open(path, mode.into(), mode.text(), is_top_level)?;
    let bytes = read(client, handle, room);
    client.close(handle)?;
    bytes
}

/// Reads from where a handle stands to its end.
fn read(
    client: &ClientState,
    handle: u64,
    room: &mut LlmInputSpace,
) -> Result<Vec<u8>, ProxyError> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        // One more than there is room for tells a full input from one that is too long.
        let is_end = client.read(handle, CHUNK.min(room.left + 1), &mut bytes)?;
        room.take(bytes.len() - before)?;
        if is_end || bytes.len() == before {
            return Ok(bytes);
        }
    }
}

/// How much may still be read.
struct LlmInputSpace {
    most: usize,
    left: usize,
}

impl LlmInputSpace {
    fn take(&mut self, count: usize) -> Result<(), ProxyError> {
        let Some(left) = self.left.checked_sub(count) else {
            let most = self.most;
            return Err(ProxyError::range(format!(
                "the input is larger than {most} bytes"
            )));
        };
        self.left = left;
        Ok(())
    }
}

/// A prompt is text. What is not is refused: replaced characters would be paid for and misunderstood.
fn as_text(bytes: Vec<u8>, name: &str) -> Result<String, ProxyError> {
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        ProxyError::arg(format!("{name} is not UTF-8 text (at byte {place})"))
    })
}

/// The length is in the heading, so that a text which imitates one does not end its own.
fn append(all: &mut String, name: &str, text: &str) {
    all.push_str(&format!("[{name}, {} bytes]\n{text}", text.len()));
    if !text.ends_with('\n') {
        all.push('\n');
    }
    all.push('\n');
}

/// The name of a file, on one line.
fn file(path: &str) -> String {
    format!("file {}", visible_line(path))
}

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

#[cfg(test)]
mod tests;
