//! `uniq`.

use crate::options::CommandOptions;
use crate::stage::CommandContext;
use crate::stream::{CommandFailure, ShellOutput};

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "cdui", "")?;
    let path = match given.operands.as_slice() {
        [] => "-",
        [path] => path,
        _ => {
            let message = "one file at most; the lines go to standard output: `uniq FILE > OTHER`";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
    };
    let Some(mut input) = stage.open(path) else {
        return Ok(stage.code());
    };
    let mut line = Vec::new();
    let mut before: Option<(Vec<u8>, u64)> = None;
    while input.bare_line(&mut line, &mut stage.out)? {
        match &mut before {
            Some((same, count)) if is_same(same, &line, given.has('i')) => *count += 1,
            _ => {
                let first = std::mem::take(&mut line);
                if let Some((line, count)) = before.replace((first, 1)) {
                    show(&given, &line, count, &mut stage.out)?;
                }
            }
        }
    }
    if let Some((line, count)) = before {
        show(&given, &line, count, &mut stage.out)?;
    }
    Ok(stage.code())
}

fn is_same(one: &[u8], other: &[u8], ignore_case: bool) -> bool {
    match ignore_case {
        true => one.eq_ignore_ascii_case(other),
        false => one == other,
    }
}

fn show(
    given: &CommandOptions,
    line: &[u8],
    count: u64,
    out: &mut ShellOutput,
) -> Result<(), CommandFailure> {
    if given.has('d') && count == 1 || given.has('u') && count > 1 {
        return Ok(());
    }
    if given.has('c') {
        out.write(format!("{count:7} ").as_bytes())?;
    }
    out.line(line)
}
