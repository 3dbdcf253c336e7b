//! `--trace`: the whole exchange with a tool, as JSON lines.

#![expect(
    clippy::disallowed_types,
    reason = "the person named the file that the trace is written to"
)]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context;
use camino::Utf8Path;
use jig_runtime::Tracer;
use serde_json::json;
use serde_json::value::RawValue;

/// A file that gets one JSON line for each line of the exchange.
#[derive(Debug)]
pub(crate) struct TraceFile {
    file: Mutex<File>,
    start: Instant,
}

impl TraceFile {
    pub(crate) fn create(path: &Utf8Path) -> anyhow::Result<Self> {
        let file = private(path).with_context(|| format!("cannot write the trace to `{path}`"))?;
        Ok(Self {
            file: Mutex::new(file),
            start: Instant::now(),
        })
    }

    /// A line that is JSON is kept as it is; another is kept as text.
    fn write(&self, direction: &str, line: &[u8]) {
        let time = self.start.elapsed().as_micros() as u64;
        let text = String::from_utf8_lossy(line);
        let entry = match serde_json::from_str::<&RawValue>(&text) {
            Ok(message) => format!(r#"{{"us":{time},"dir":"{direction}","message":{message}}}"#),
            Err(_) => json!({ "us": time, "dir": direction, "text": text }).to_string(),
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A trace that cannot be written must not disturb the tool.
        let _ = writeln!(file, "{entry}");
    }
}

/// The trace holds contents of files and answers: only its owner may read it.
fn private(path: &Utf8Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

impl Tracer for TraceFile {
    fn sent(&self, line: &[u8]) {
        self.write("to_tool", line);
    }

    fn received(&self, line: &[u8]) {
        self.write("from_tool", line);
    }
}
