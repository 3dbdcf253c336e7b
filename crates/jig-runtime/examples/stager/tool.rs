//! The tool itself; it runs as a program and inside jig.

use std::time::Duration;

use jig_proto::{Content, Question, ToolError, ToolState};
use jig_tool::vfs::{Host, HostError, ReadOptions};
use serde_json::Value;

/// Asks about the hunks of a file, one after the other; or, with `talk`, lets the caller talk with a
/// program.
pub(crate) fn stage(host: &mut Host) -> Result<Content, ToolError> {
    let arguments: Value = host.arguments()?;
    let result = match arguments["talk"].as_str() {
        Some(program) => talk(host, program),
        None => stage_hunks(host),
    };
    Ok(Content::text(result?))
}

fn stage_hunks(host: &mut Host) -> Result<String, HostError> {
    if !host.is_stateful() {
        return Ok("Nothing is staged without being told.".to_owned());
    }
    let hunks = host.read("hunks.txt")?;
    let mut staged = 0;
    for hunk in hunks.lines() {
        host.state(ToolState::running(format!("Stage this hunk? {hunk}")))?;
        if is_wanted(host, hunk)? {
            staged += 1;
        }
    }
    let result = format!("Staged {staged} hunks.");
    host.state(ToolState::succeeded(result.as_str()))?;
    Ok(result)
}

fn is_wanted(host: &mut Host, hunk: &str) -> Result<bool, HostError> {
    match host.wait_apply()?.as_str() {
        Some("y") => Ok(true),
        Some("many") => {
            // Whatever it takes, before it says where it stands.
            for number in 0..5 {
                host.write(format!("{hunk}.{number}"), "x")?;
                host.exists("hunks.txt")?;
            }
            Ok(true)
        }
        Some("ask") => {
            let question = Question::yes_no("sure", "Confirm?");
            host.state(ToolState::Waiting {
                content: Content::text(format!("About {hunk}.")),
                question,
            })?;
            Ok(host.wait_apply()? == Value::Bool(true))
        }
        Some(late) if late.starts_with("late ") => {
            while !host.exists(format!("{hunk}.go"))? {
                std::thread::sleep(Duration::from_millis(10));
            }
            let question = Question::yes_no(hunk, "Really?");
            let answer = match late {
                "late ask" => host.ask(question)?,
                "late answer" => {
                    host.state(ToolState::waiting(question))?;
                    host.wait_answer(hunk)?
                }
                _ => {
                    host.state(ToolState::waiting(question))?;
                    host.wait_apply()?
                }
            };
            // What was said before is still there.
            Ok(answer == Value::Bool(true) && host.wait_apply()? == Value::Bool(false))
        }
        Some("sulk") => {
            std::thread::sleep(Duration::from_secs(600));
            Ok(false)
        }
        _ => Ok(false),
    }
}

fn talk(host: &mut Host, program: &str) -> Result<String, HostError> {
    let mut process = host.start_process(program).start()?;
    host.state(ToolState::running("talk"))?;
    loop {
        let output = process.read(&ReadOptions::waiting(Duration::from_secs(600)))?;
        if !output.content.is_empty() {
            host.state(ToolState::running(output.content.as_ref()))?;
        }
        if !output.running {
            return Ok("It has ended.".to_owned());
        }
        while let Some(input) = host.try_apply()? {
            process.write(input)?;
        }
    }
}
