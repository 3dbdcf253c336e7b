//! Writing commands and answers. Every function appends one whole message to `out`.

use std::io::Write as _;

use crate::fsproxy::legacy::LegacyCommand;

/// Appends a success: `OK`, and the text if there is any.
pub fn write_ok(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"OK");
    if !text.is_empty() {
        out.push(b' ');
        push_line(out, text);
    }
    out.push(b'\n');
}

/// Appends the answer to `READ`: how many bytes there are, and the bytes. None are the end of the file.
pub fn write_payload(out: &mut Vec<u8>, bytes: &[u8]) {
    push(out, format_args!("OK {}\n", bytes.len()));
    out.extend_from_slice(bytes);
}

/// Appends the answer to `LLM_CHAT`: how long `json` is, the status of the quota, and `json`.
pub fn write_chat(out: &mut Vec<u8>, json: &str, status: &str) {
    push(out, format_args!("OK {} ", json.len()));
    push_line(out, status);
    out.push(b'\n');
    out.extend_from_slice(json.as_bytes());
}

/// Appends a failure. The text becomes one line, whatever it holds.
pub fn write_error(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"ERROR ");
    push_line(out, text);
    out.push(b'\n');
}

/// Appends a command, as a client sends it.
///
/// A path with white space in it, or an empty one, cannot be written in this variant: the server will
/// read something else.
pub fn write_command(out: &mut Vec<u8>, command: &LegacyCommand<'_>) {
    match command {
        LegacyCommand::Open {
            path,
            mode,
            is_top_level,
        } => push(out, format_args!("OPEN {path} {mode} {is_top_level}\n")),
        LegacyCommand::Read { handle, size } => push(out, format_args!("READ {handle} {size}\n")),
        LegacyCommand::Write { handle, data } => {
            push(out, format_args!("WRITE {handle} {}\n", data.len()));
            out.extend_from_slice(data);
        }
        LegacyCommand::Close { handle } => push(out, format_args!("CLOSE {handle}\n")),
        LegacyCommand::LlmChat {
            is_top_level,
            stdin,
            stdout,
            stderr,
            files,
            prompt,
        } => {
            let (count, length) = (files.len(), prompt.len());
            push(
                out,
                format_args!(
                    "LLM_CHAT {is_top_level} {stdin} {stdout} {stderr} {count} {length}\n"
                ),
            );
            out.extend_from_slice(files.as_bytes());
            out.extend_from_slice(prompt.as_bytes());
        }
        LegacyCommand::LlmQuota => out.extend_from_slice(b"LLM_QUOTA\n"),
    }
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes everything");
}

/// A line break within a text would begin another answer.
fn push_line(out: &mut Vec<u8>, text: &str) {
    let mut buffer = [0; 4];
    for one in text.chars() {
        let shown = if one.is_control() { ' ' } else { one };
        out.extend_from_slice(shown.encode_utf8(&mut buffer).as_bytes());
    }
}
