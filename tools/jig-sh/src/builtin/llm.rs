//! `llm`: what a language model says.
//!
//! The proxy asks it. Files go there by their handles, and so does where the answer is to be written: this
//! process sees neither the key nor, if the answer goes to a file, the answer.
//!
//! With `-x` it is a session ([`session`]): the model writes lines of this shell, which run here, over the same
//! connection, until it has its answer.

mod session;

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use jig_tool::proxy::{File, LlmCmd, LlmMessage, LlmRole, OpenMode};

use crate::options::CommandOptions;
use crate::stage::{CommandContext, STDIN, open};
use crate::stream::{CommandFailure, ShellInput, ShellSink, ShellSource};

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "x", "st")?;
    let [prompt, paths @ ..] = given.operands.as_slice() else {
        return Err(CommandFailure::Usage(
            "the prompt is missing: llm 'What is this?' FILE".to_owned(),
        ));
    };
    let mut command = LlmCmd {
        prompt: Some(prompt.clone()),
        max_tokens: given.number('t')?.map(|tokens| tokens as u64),
        ..LlmCmd::default()
    };
    if let Some(system) = given.value('s') {
        command.messages.push(LlmMessage {
            role: LlmRole::System,
            content: system.to_owned(),
        });
    }
    if given.has('x') {
        if stage.is_of_model {
            return Err(CommandFailure::Usage(
                "a session cannot begin another one".to_owned(),
            ));
        }
        command.paths = paths.to_vec();
        // Each question of a session is asked with all inputs, so they are named, and read anew.
        let input = stage.stdin.take();
        let spool = match input.map(ShellInput::into_unread) {
            None | Some(Ok(ShellSource::Empty | ShellSource::Own)) => None,
            Some(Ok(source)) => gather(stage, &mut command, ShellInput::new(source, STDIN))?,
            Some(Err(text)) => gather(stage, &mut command, text)?,
        };
        let answer = session::run(stage, command);
        give_back(stage, spool);
        stage.out.line(answer?.as_bytes())?;
        return Ok(0);
    }
    // They stay open until the answer is there.
    let mut files = Vec::new();
    for path in paths {
        files.push(open(stage.client, path)?);
    }
    command.files = files.iter().map(File::handle).collect();
    // A terminal would wait for its end, and whoever types has given the prompt.
    let input = stage.stdin.take().map(ShellInput::into_unread);
    let spool = match input {
        None | Some(Ok(ShellSource::Empty | ShellSource::Own)) => None,
        Some(Ok(ShellSource::File(file))) => {
            command.stdin = Some(file.handle());
            files.push(*file);
            None
        }
        Some(Ok(pipe @ ShellSource::Pipe(_))) => {
            gather(stage, &mut command, ShellInput::new(pipe, STDIN))?
        }
        Some(Err(text)) => gather(stage, &mut command, text)?,
    };
    stage.out.push()?;
    command.stdout = match &mut *stage.out.sink() {
        ShellSink::File(file, name) => {
            // What was written before stands before the answer.
            file.flush()
                .map_err(|error| CommandFailure::at(name, &error))?;
            Some(file.handle())
        }
        ShellSink::Null | ShellSink::Pipe(_) | ShellSink::Kept(_) => None,
    };
    command.stream = command.stdout.is_some();
    let reply = stage.client.llm(&command);
    drop(files);
    give_back(stage, spool);
    let reply = reply?;
    stage
        .out
        .write(reply.content.unwrap_or_default().as_bytes())?;
    stage.out.write(b"\n")?;
    if reply.finish_reason == "length" {
        stage.note("the answer was cut: the limit of its tokens, or the quota, is reached");
    }
    Ok(0)
}

/// Makes a virtual file empty: its memory is the proxy's.
fn give_back(stage: &CommandContext<'_>, spool: Option<String>) {
    if let Some(spool) = spool {
        drop(stage.client.open(&spool, OpenMode::Write));
    }
}

/// Puts what comes from the left into the question: as text, or, if it is long, as a virtual file, whose
/// name it gives.
fn gather(
    stage: &mut CommandContext<'_>,
    command: &mut LlmCmd,
    mut input: ShellInput,
) -> Result<Option<String>, CommandFailure> {
    let mut text = Vec::new();
    while text.len() <= AS_TEXT {
        let chunk = input.chunk(&mut stage.out)?;
        if chunk.is_empty() {
            let text = String::from_utf8(text);
            let text =
                text.map_err(|_| CommandFailure::Said("the input is not UTF-8".to_owned()))?;
            command.input = Some(text).filter(|text| !text.is_empty());
            return Ok(None);
        }
        text.extend_from_slice(chunk);
    }
    let number = SPOOLED.fetch_add(1, Ordering::Relaxed);
    let name = format!("/pipe/llm-{}-{number}", std::process::id());
    let mut spool = stage.client.open(&name, OpenMode::Write)?;
    let failed = |error: std::io::Error| CommandFailure::at("the input", &error);
    spool.write_all(&text).map_err(failed)?;
    loop {
        let chunk = input.chunk(&mut stage.out)?;
        if chunk.is_empty() {
            break;
        }
        spool.write_all(chunk).map_err(failed)?;
    }
    spool.close()?;
    command.paths.push(name.clone());
    Ok(Some(name))
}

/// How much of the input goes along as text: a request has to fit into a message.
const AS_TEXT: usize = 256 * 1024;

/// How many inputs were too long for that.
static SPOOLED: AtomicU64 = AtomicU64::new(0);
