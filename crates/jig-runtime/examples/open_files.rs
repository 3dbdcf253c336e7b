//! A tool that opens files, and tells what came of it as JSON.
//!
//! With `hoard` it asks for so many open files and never takes them from the socket, as a broken tool
//! would.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use jig_proto::vfs::tool::{self, HostLine};
use jig_proto::vfs::{
    Capabilities, Frame, FsRead, Id, LineBuffer, Method, Reading, Ready, VfsReply, VfsRequest,
};
use jig_proto::{Content, Response, ToolError};
use jig_tool::vfs::{self, Host, HostError, Opened};
use serde_json::{Value, json};

fn main() -> ExitCode {
    match std::env::args().nth(1).and_then(|most| most.parse().ok()) {
        Some(most) => hoard(most),
        None => vfs::run(open),
    }
}

fn open(host: &mut Host) -> Result<Content, ToolError> {
    let paths: Vec<String> = host.arguments::<Value>()?["paths"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|path| path.as_str().map(str::to_owned))
        .collect();
    let mut found = vec![Value::Null; paths.len()];
    host.open_each(&paths, |index, opened| found[index] = told(opened))?;
    let single = paths.iter().map(|path| told(host.open(path)));
    let single: Vec<Value> = single.collect();
    Ok(Content::text(
        json!({ "each": found, "single": single }).to_string(),
    ))
}

fn told(opened: Result<Opened, HostError>) -> Value {
    let mut opened = match opened {
        Ok(opened) => opened,
        Err(error) => return json!({ "error": error.kind.name() }),
    };
    let can_write = match &mut opened {
        Opened::File(file) => file.write_all(b"x").is_ok() || file.set_len(0).is_ok(),
        Opened::Bytes(_) => false,
    };
    let is_file = matches!(opened, Opened::File(_));
    match opened.into_bytes() {
        Ok(content) => json!({
            "file": is_file,
            "content": String::from_utf8_lossy(&content),
            "can_write": can_write,
        }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

/// Speaks the protocol by hand, because the SDK would take the files.
fn hoard(most: u64) -> ExitCode {
    let ready = Ready {
        protocol_version: None,
        capabilities: Capabilities {
            fd_pass: true,
            ..Capabilities::PLAIN
        },
    };
    let mut line = Vec::new();
    tool::write_ready(&mut line, &ready);
    let request = VfsRequest::FsRead(FsRead {
        fd: true,
        ..FsRead::new("a.txt")
    });
    let mut lines = LineBuffer::new(1 << 20);
    let mut chunk = vec![0; 1 << 16];
    let (mut passed, mut sent) = (0, 0);
    for id in 1..=most {
        tool::write_request(&mut line, &Id::from(id), &request);
        if io::stdout().write_all(&line).is_err() {
            return ExitCode::FAILURE;
        }
        line.clear();
        let mut answered = false;
        while !answered {
            let Ok(count @ 1..) = io::stdin().read(&mut chunk) else {
                return ExitCode::FAILURE;
            };
            let mut input = &chunk[..count];
            while let Some(Frame::Line(line)) = lines.next(&mut input) {
                let Ok(HostLine::Reply { result, .. }) = tool::read_line(line, &Reading::PLAIN)
                else {
                    continue;
                };
                answered = true;
                match result.read(Method::FsRead) {
                    Ok(VfsReply::Descriptor(_)) => passed += 1,
                    Ok(VfsReply::Read(_)) => sent += 1,
                    _ => return ExitCode::FAILURE,
                }
            }
        }
    }
    let response = Response {
        content: Content::text(json!({ "passed": passed, "sent": sent }).to_string()),
        ..Response::default()
    };
    tool::write_result(&mut line, &response);
    match io::stdout().write_all(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
