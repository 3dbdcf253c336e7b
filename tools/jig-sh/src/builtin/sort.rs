//! `sort`. Lines are compared by their bytes.

use std::cmp::Ordering;

use crate::options::CommandOptions;
use crate::stage::{CommandContext, operands};
use crate::stream::CommandFailure;

/// How two texts are compared.
#[derive(Debug, Clone, Copy, Default)]
struct SortComparison {
    numbers: bool,
    reverse: bool,
    fold: bool,
}

/// The fields of a line that count, from 1.
#[derive(Debug)]
struct SortKey {
    from: usize,
    to: usize,
    /// Whether blanks before it do not count.
    trims: bool,
    how: SortComparison,
}

struct SortOptions {
    keys: Vec<SortKey>,
    separator: Option<u8>,
    how: SortComparison,
}

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "nrufsb", "kt")?;
    let how = SortComparison {
        numbers: given.has('n'),
        reverse: given.has('r'),
        fold: given.has('f'),
    };
    let separator = match given.value('t').map(str::as_bytes) {
        None => None,
        Some([byte]) => Some(*byte),
        Some(_) => return Err(CommandFailure::Usage("`-t` takes one character".to_owned())),
    };
    let keys = given
        .all('k')
        .map(|key| SortKey::read(key, how, given.has('b')));
    let order = SortOptions {
        keys: keys.collect::<Result<_, _>>()?,
        separator,
        how,
    };
    let mut lines: Vec<Box<[u8]>> = Vec::new();
    let (mut size, mut line) = (0, Vec::new());
    for path in operands(&given.operands) {
        let Some(mut input) = stage.open(path) else {
            return Ok(FAILED);
        };
        while input.bare_line(&mut line, &mut stage.out)? {
            size += line.len() + OVERHEAD;
            if size > MOST {
                return Err(CommandFailure::Said(format!(
                    "there is more than {} MiB to sort; leave lines out before, with grep or cut",
                    MOST >> 20
                )));
            }
            lines.push(line.as_slice().into());
        }
    }
    // Equal keys: the whole lines decide, unless the order of the input is to stay.
    let whole = !given.has('s') && !given.has('u');
    lines.sort_by(|one, other| {
        let ordering = order.compare(one, other);
        match whole {
            true => ordering.then_with(|| reversed(one.cmp(other), how.reverse)),
            false => ordering,
        }
    });
    if given.has('u') {
        lines.dedup_by(|one, other| order.compare(one, other).is_eq());
    }
    lines.iter().try_for_each(|line| stage.out.line(line))?;
    Ok(0)
}

impl SortOptions {
    fn compare(&self, one: &[u8], other: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            return self.how.compare(one, other);
        }
        let orders = self.keys.iter().map(|key| {
            let [one, other] = [one, other].map(|line| key.of(line, self.separator));
            key.how.compare(one, other)
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

impl SortComparison {
    fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        let ordering = match self {
            Self { numbers: true, .. } => number(one).total_cmp(&number(other)),
            Self { fold: true, .. } => {
                let [one, other] = [one, other].map(<[u8]>::to_ascii_uppercase);
                one.cmp(&other)
            }
            _ => one.cmp(other),
        };
        reversed(ordering, self.reverse)
    }
}

fn reversed(ordering: Ordering, reverse: bool) -> Ordering {
    match reverse {
        true => ordering.reverse(),
        false => ordering,
    }
}

impl SortKey {
    /// `2`, `2,3`, `2nr`; options of its own go before those of the command.
    fn read(
        text: &str,
        otherwise: SortComparison,
        mut trims: bool,
    ) -> Result<Self, CommandFailure> {
        let wrong = || {
            CommandFailure::Usage(format!(
                "`-k {text}` is not known here; write a field, such as 2, 2,2 or 2nr"
            ))
        };
        let (from, to) = match text.split_once(',') {
            Some((from, to)) => (from, Some(to)),
            None => (text, None),
        };
        let mut how = SortComparison::default();
        let mut own = false;
        let mut field = |part: &str| {
            let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            for letter in part[digits.len()..].chars() {
                own = true;
                match letter {
                    'n' => how.numbers = true,
                    'r' => how.reverse = true,
                    'f' => how.fold = true,
                    'b' => trims = true,
                    _ => return Err(wrong()),
                }
            }
            let number = digits.parse().ok().filter(|field| *field > 0);
            number.ok_or_else(wrong)
        };
        let from = field(from)?;
        let to = match to {
            Some(to) => field(to)?,
            None => usize::MAX,
        };
        let how = if own { how } else { otherwise };
        Ok(Self {
            from,
            to,
            trims,
            how,
        })
    }

    /// The part of a line that counts: from the first of its fields to the end of the last.
    fn of<'l>(&self, line: &'l [u8], separator: Option<u8>) -> &'l [u8] {
        let (mut start, mut end) = (line.len(), line.len());
        let mut at = 0;
        for number in 1.. {
            let rest = &line[at..];
            let length = match separator {
                Some(separator) => rest.iter().position(|byte| *byte == separator),
                None => {
                    // Blanks before a field belong to it.
                    let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
                    let word = rest[blanks..].iter().position(is_blank);
                    word.map(|word| blanks + word)
                }
            };
            if number == self.from {
                start = at;
            }
            if number == self.to {
                end = at + length.unwrap_or(rest.len());
            }
            match (length, separator) {
                (None, _) => break,
                (Some(length), Some(_)) => at += length + 1,
                (Some(length), None) => at += length,
            }
            if number >= self.from && number >= self.to {
                break;
            }
        }
        let part = line.get(start..end).unwrap_or_default();
        match self.trims {
            true => part.trim_ascii_start(),
            false => part,
        }
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The number that a text begins with; 0 if it begins with none.
fn number(text: &[u8]) -> f64 {
    let text = text.trim_ascii_start();
    let is_part = |(at, byte): &(usize, &u8)| {
        byte.is_ascii_digit() || **byte == b'.' || *at == 0 && **byte == b'-'
    };
    let length = text.iter().enumerate().take_while(is_part).count();
    // As long as it is none, the last character does not belong to it: `1.2.3`.
    let parse = |length: usize| str::from_utf8(&text[..length]).ok()?.parse().ok();
    let number: Option<f64> = (1..=length.min(LONGEST_NUMBER)).rev().find_map(parse);
    // There is one zero.
    number.filter(|number| *number != 0.0).unwrap_or(0.0)
}

/// The exit code if an input is missing: a part of the lines would be no answer.
const FAILED: u8 = 2;

/// How much is held.
const MOST: usize = 64 << 20;

/// What a line takes besides its bytes.
const OVERHEAD: usize = 32;

/// No number that somebody sorts by is longer.
const LONGEST_NUMBER: usize = 400;
