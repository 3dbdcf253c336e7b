//! `cut`.

use crate::options::CommandOptions;
use crate::stage::{CommandContext, operands};
use crate::stream::{CommandFailure, ShellOutput};

/// What of a line is taken.
enum CutUnit {
    Fields { delimiter: u8, only_split: bool },
    Chars,
    Bytes,
}

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "s", "dfcb")?;
    let lists = [given.value('f'), given.value('c'), given.value('b')];
    let (list, parts) = match lists {
        [Some(list), None, None] => {
            let delimiter = match given.value('d').map(str::as_bytes) {
                None => b'\t',
                Some([byte]) => *byte,
                Some(_) => {
                    return Err(CommandFailure::Usage("`-d` takes one character".to_owned()));
                }
            };
            let only_split = given.has('s');
            (
                list,
                CutUnit::Fields {
                    delimiter,
                    only_split,
                },
            )
        }
        [None, Some(list), None] => (list, CutUnit::Chars),
        [None, None, Some(list)] => (list, CutUnit::Bytes),
        _ => {
            let message =
                "say what to take with one of -f (fields), -c (characters) and -b (bytes)";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
    };
    let ranges = ranges(list)?;
    let mut line = Vec::new();
    for path in operands(&given.operands) {
        let Some(mut input) = stage.open(path) else {
            continue;
        };
        while input.bare_line(&mut line, &mut stage.out)? {
            show(&parts, &ranges, &line, &mut stage.out)?;
        }
    }
    Ok(stage.code())
}

fn show(
    parts: &CutUnit,
    ranges: &[CutRange],
    line: &[u8],
    out: &mut ShellOutput,
) -> Result<(), CommandFailure> {
    let is_taken = |at: usize| ranges.iter().any(|range| range.has(at));
    match parts {
        CutUnit::Fields {
            delimiter,
            only_split,
        } => {
            if !line.contains(delimiter) {
                return match only_split {
                    true => Ok(()),
                    false => out.line(line),
                };
            }
            let fields = line.split(|byte| byte == delimiter).enumerate();
            let taken = fields.filter(|(at, _)| is_taken(at + 1));
            for (number, (_, field)) in taken.enumerate() {
                if number > 0 {
                    out.write(&[*delimiter])?;
                }
                out.write(field)?;
            }
        }
        CutUnit::Bytes => {
            let bytes = line.iter().enumerate();
            let taken = bytes.filter(|(at, _)| is_taken(at + 1));
            out.write(&taken.map(|(_, byte)| *byte).collect::<Vec<u8>>())?;
        }
        CutUnit::Chars => {
            let text = String::from_utf8_lossy(line);
            let chars = text.chars().enumerate();
            let taken = chars.filter(|(at, _)| is_taken(at + 1));
            out.write(taken.map(|(_, c)| c).collect::<String>().as_bytes())?;
        }
    }
    out.write(b"\n")
}

/// Places in a line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
struct CutRange {
    from: usize,
    to: usize,
}

impl CutRange {
    fn has(&self, at: usize) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

/// `1,3-5,7-`.
fn ranges(list: &str) -> Result<Vec<CutRange>, CommandFailure> {
    let wrong = || {
        CommandFailure::Usage(format!(
            "`{list}` is not a list of places; write 1,3-5 or 2- (they count from 1)"
        ))
    };
    let place = |text: &str, otherwise: usize| match text {
        "" => Ok(otherwise),
        text => text
            .parse()
            .ok()
            .filter(|place| *place > 0)
            .ok_or_else(wrong),
    };
    list.split(',')
        .map(|range| {
            let range = match range.split_once('-') {
                None => {
                    let at = place(range, 0)?;
                    CutRange { from: at, to: at }
                }
                Some(("", "")) => return Err(wrong()),
                Some((from, to)) => CutRange {
                    from: place(from, 1)?,
                    to: place(to, usize::MAX)?,
                },
            };
            match range.from == 0 || range.from > range.to {
                true => Err(wrong()),
                false => Ok(range),
            }
        })
        .collect()
}
