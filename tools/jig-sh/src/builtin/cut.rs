//! `cut`.

use crate::options::Given;
use crate::stage::{Stage, operands};
use crate::stream::{Fail, Out};

/// What of a line is taken.
enum Parts {
    Fields { delimiter: u8, only_split: bool },
    Chars,
    Bytes,
}

pub(super) fn run(stage: &mut Stage<'_>, words: &[String]) -> Result<u8, Fail> {
    let given = Given::read(words, "s", "dfcb")?;
    let lists = [given.value('f'), given.value('c'), given.value('b')];
    let (list, parts) = match lists {
        [Some(list), None, None] => {
            let delimiter = match given.value('d').map(str::as_bytes) {
                None => b'\t',
                Some([byte]) => *byte,
                Some(_) => return Err(Fail::Usage("`-d` takes one character".to_owned())),
            };
            let only_split = given.has('s');
            (
                list,
                Parts::Fields {
                    delimiter,
                    only_split,
                },
            )
        }
        [None, Some(list), None] => (list, Parts::Chars),
        [None, None, Some(list)] => (list, Parts::Bytes),
        _ => {
            let message =
                "say what to take with one of -f (fields), -c (characters) and -b (bytes)";
            return Err(Fail::Usage(message.to_owned()));
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

fn show(parts: &Parts, ranges: &[Range], line: &[u8], out: &mut Out) -> Result<(), Fail> {
    let is_taken = |at: usize| ranges.iter().any(|range| range.has(at));
    match parts {
        Parts::Fields {
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
        Parts::Bytes => {
            let bytes = line.iter().enumerate();
            let taken = bytes.filter(|(at, _)| is_taken(at + 1));
            out.write(&taken.map(|(_, byte)| *byte).collect::<Vec<u8>>())?;
        }
        Parts::Chars => {
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
struct Range {
    from: usize,
    to: usize,
}

impl Range {
    fn has(&self, at: usize) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

/// `1,3-5,7-`.
fn ranges(list: &str) -> Result<Vec<Range>, Fail> {
    let wrong = || {
        Fail::Usage(format!(
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
                    Range { from: at, to: at }
                }
                Some(("", "")) => return Err(wrong()),
                Some((from, to)) => Range {
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
