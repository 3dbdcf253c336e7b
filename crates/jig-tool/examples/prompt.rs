//! A stateful tool: a Python prompt, driven by whoever calls it.
//!
//! `docs/writing-tools.md` shows it, and how to declare it.

use std::process::ExitCode;
use std::time::Duration;

use jig_tool::vfs::{self, Host, ReadOptions};
use jig_tool::{Content, ToolError, ToolState};

fn main() -> ExitCode {
    vfs::run(prompt)
}

fn prompt(host: &mut Host) -> Result<Content, ToolError> {
    let mut python = host
        .start_process("python3")
        .arg("-q")
        .on_terminal(24, 80)
        .start()?;
    loop {
        let output = python.read(&ReadOptions::settled(Duration::from_secs(30)))?;
        if !output.content.is_empty() {
            host.state(ToolState::running(output.content.as_ref()))?;
        }
        if !output.running {
            return Ok("Python has ended.".into());
        }
        while let Some(input) = host.try_apply()? {
            python.write(input)?;
        }
    }
}
