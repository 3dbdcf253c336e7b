//! A tool that counts words, and asks before it counts a file that is large.
//!
//! In `jig.toml`:
//!
//! ```toml
//! [tools.word_count]
//! source = "local"
//! runtime = "vfs"
//! command = "target/debug/examples/word_count"
//! description = "Counts the words of text files."
//! parameters.paths = { type = "array", items.type = "string", required = true }
//! ```

use std::process::ExitCode;

use jig_tool::vfs::{self, Host};
use jig_tool::{Content, Question, ToolError};
use serde::Deserialize;

#[derive(Deserialize)]
struct Arguments {
    paths: Vec<String>,
}

fn main() -> ExitCode {
    vfs::run(count)
}

fn count(host: &mut Host) -> Result<Content, ToolError> {
    let Arguments { paths } = host.arguments()?;
    let mut lines = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        if host.metadata(path)?.size > LARGE {
            let text = format!("`{path}` is large. Count its words all the same?");
            // An answer is remembered by its id, so each file needs its own.
            let question = Question::yes_no(format!("count_large_{index}"), text);
            if !host.confirm(question)? {
                continue;
            }
        }
        let words = host.read(path)?.split_whitespace().count();
        lines.push(format!("{path}: {words}"));
    }
    Ok(lines.join("\n").into())
}

const LARGE: u64 = 1_000_000;
