//! `wc`.

use crate::options::CommandOptions;
use crate::stage::{CommandContext, operands};
use crate::stream::{CommandFailure, ShellInput, ShellOutput};

#[derive(Debug, Default, Clone, Copy)]
struct WcCounts {
    lines: u64,
    words: u64,
    chars: u64,
    bytes: u64,
}

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "lwcm", "")?;
    let mut total = WcCounts::default();
    let mut shown = 0;
    for path in operands(&given.operands) {
        let Some(mut input) = stage.open(path) else {
            continue;
        };
        let counts = count(&mut input, &mut stage.out)?;
        total.lines += counts.lines;
        total.words += counts.words;
        total.chars += counts.chars;
        total.bytes += counts.bytes;
        shown += 1;
        let name = match given.operands.is_empty() {
            true => "",
            false => path,
        };
        stage.out.line(line(&given, counts, name).as_bytes())?;
    }
    if shown > 1 {
        stage.out.line(line(&given, total, "total").as_bytes())?;
    }
    Ok(stage.code())
}

fn count(input: &mut ShellInput, out: &mut ShellOutput) -> Result<WcCounts, CommandFailure> {
    let mut counts = WcCounts::default();
    let mut in_word = false;
    loop {
        let chunk = input.chunk(out)?;
        if chunk.is_empty() {
            return Ok(counts);
        }
        for byte in chunk {
            counts.lines += u64::from(*byte == b'\n');
            // Of a character in UTF-8 only the first byte is none of these.
            counts.chars += u64::from(byte & 0b1100_0000 != 0b1000_0000);
            let is_space = byte.is_ascii_whitespace() || *byte == 11;
            counts.words += u64::from(!is_space && !in_word);
            in_word = !is_space;
        }
        counts.bytes += chunk.len() as u64;
    }
}

fn line(given: &CommandOptions, counts: WcCounts, name: &str) -> String {
    let columns = [
        ('l', counts.lines),
        ('w', counts.words),
        ('m', counts.chars),
        ('c', counts.bytes),
    ];
    let any = columns.iter().any(|(flag, _)| given.has(*flag));
    let is_shown = |flag: char| match any {
        true => given.has(flag),
        false => flag != 'm',
    };
    let mut columns: Vec<String> = columns
        .into_iter()
        .filter(|(flag, _)| is_shown(*flag))
        .map(|(_, count)| count.to_string())
        .collect();
    if !name.is_empty() {
        columns.push(name.to_owned());
    }
    columns.join(" ")
}
