//! `head` and `tail`.

use std::collections::VecDeque;

use crate::options::{CommandOptions, number};
use crate::stage::{CommandContext, operands};
use crate::stream::{CommandFailure, ShellInput, ShellOutput};

pub(super) fn head(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(&with_count(words), "qv", "nc")?;
    let bytes = given.number('c')?;
    let lines = given.number('n')?.unwrap_or(USUAL);
    each(stage, &given, |input, out| match bytes {
        Some(bytes) => first_bytes(input, out, bytes),
        None => first_lines(input, out, lines),
    })
}

fn first_lines(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    lines: usize,
) -> Result<(), CommandFailure> {
    let mut line = Vec::new();
    for _ in 0..lines {
        if !input.line(&mut line, out)? {
            break;
        }
        out.write(&line)?;
    }
    Ok(())
}

fn first_bytes(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    bytes: usize,
) -> Result<(), CommandFailure> {
    let mut left = bytes;
    while left > 0 {
        let chunk = input.chunk(out)?;
        let some = &chunk[..chunk.len().min(left)];
        if some.is_empty() {
            break;
        }
        left -= some.len();
        out.write(some)?;
    }
    Ok(())
}

pub(super) fn tail(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(&with_count(words), "qv", "nc")?;
    let (option, value) = match (given.value('c'), given.value('n')) {
        (Some(bytes), _) => ('c', bytes),
        (None, lines) => ('n', lines.unwrap_or("10")),
    };
    let (from_start, count) = match value.strip_prefix('+') {
        Some(value) => (true, number(option, value)?.saturating_sub(1)),
        None => (false, number(option, value.trim_start_matches('-'))?),
    };
    each(stage, &given, |input, out| match (from_start, option) {
        (true, 'c') => after_bytes(input, out, count),
        (true, _) => after_lines(input, out, count),
        (false, 'c') => last_bytes(input, out, count),
        (false, _) => last_lines(input, out, count),
    })
}

fn after_lines(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    skipped: usize,
) -> Result<(), CommandFailure> {
    let mut line = Vec::new();
    for _ in 0..skipped {
        if !input.line(&mut line, out)? {
            return Ok(());
        }
    }
    after_bytes(input, out, 0)
}

fn after_bytes(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    skipped: usize,
) -> Result<(), CommandFailure> {
    let mut left = skipped;
    loop {
        let chunk = input.chunk(out)?;
        if chunk.is_empty() {
            return Ok(());
        }
        let rest = &chunk[chunk.len().min(left)..];
        left -= chunk.len().min(left);
        out.write(rest)?;
    }
}

fn last_lines(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    count: usize,
) -> Result<(), CommandFailure> {
    let mut kept: VecDeque<Vec<u8>> = VecDeque::new();
    let mut size = 0;
    let mut line = Vec::new();
    while input.line(&mut line, out)? {
        size += line.len();
        // The line that goes leaves its memory to the next one.
        let mut next = match kept.len() >= count {
            true => kept.pop_front().unwrap_or_default(),
            false => Vec::new(),
        };
        size -= next.len();
        std::mem::swap(&mut next, &mut line);
        match count {
            0 => size = 0,
            _ => kept.push_back(next),
        }
        if size > MOST {
            return Err(too_much());
        }
    }
    kept.iter().try_for_each(|line| out.write(line))
}

fn last_bytes(
    input: &mut ShellInput,
    out: &mut ShellOutput,
    count: usize,
) -> Result<(), CommandFailure> {
    if count > MOST {
        return Err(too_much());
    }
    let mut kept: VecDeque<u8> = VecDeque::new();
    loop {
        let chunk = input.chunk(out)?;
        if chunk.is_empty() {
            break;
        }
        kept.extend(chunk);
        let extra = kept.len().saturating_sub(count);
        kept.drain(..extra);
    }
    let (front, back) = kept.as_slices();
    out.write(front)?;
    out.write(back)
}

fn too_much() -> CommandFailure {
    CommandFailure::Said(format!(
        "the end that is asked for has more than {} MiB",
        MOST >> 20
    ))
}

/// Does something for each file, under its name if there are several.
fn each(
    stage: &mut CommandContext<'_>,
    given: &CommandOptions,
    mut show: impl FnMut(&mut ShellInput, &mut ShellOutput) -> Result<(), CommandFailure>,
) -> Result<u8, CommandFailure> {
    let paths = operands(&given.operands);
    let named = paths.len() > 1 && !given.has('q') || given.has('v');
    let mut separator = "";
    for path in paths {
        let Some(mut input) = stage.open(path) else {
            continue;
        };
        if named {
            let title = format!("{separator}==> {} <==\n", input.name);
            stage.out.write(title.as_bytes())?;
            separator = "\n";
        }
        show(&mut input, &mut stage.out)?;
    }
    Ok(stage.code())
}

/// `-5` is `-n 5`.
fn with_count(words: &[String]) -> Vec<String> {
    let spelled = words.iter().flat_map(|word| {
        let digits = word.strip_prefix('-').filter(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        match digits {
            Some(digits) => vec!["-n".to_owned(), digits.to_owned()],
            None => vec![word.clone()],
        }
    });
    spelled.collect()
}

/// How many lines there are without an option.
const USUAL: usize = 10;

/// How many bytes are held for an end.
const MOST: usize = 64 << 20;
