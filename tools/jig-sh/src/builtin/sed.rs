//! `sed`: commands for lines, with addresses.

mod script;

use regex::bytes::{Captures, Regex};

use self::script::{ReplacementPart, SedAction, SedAddress, SedCommand, SedSubstitution};
use crate::options::CommandOptions;
use crate::pattern::PatternSyntax;
use crate::stage::{CommandContext, operands};
use crate::stream::{CommandFailure, ShellInput, ShellOutput};

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    if words.iter().any(|word| word.starts_with("-i")) {
        let message =
            "-i is not known here: write the result to another file, `sed … FILE > OTHER`";
        return Err(CommandFailure::Usage(message.to_owned()));
    }
    let mut given = CommandOptions::read(words, "nErs", "e")?;
    let mut scripts: Vec<String> = given.all('e').map(str::to_owned).collect();
    if scripts.is_empty() {
        if given.operands.is_empty() {
            return Err(CommandFailure::Usage(
                "the script is missing: sed 's/a/b/' FILE".to_owned(),
            ));
        }
        scripts.push(given.operands.remove(0));
    }
    let kind = match given.has('E') || given.has('r') {
        true => PatternSyntax::Extended,
        false => PatternSyntax::Basic,
    };
    let mut sed = Sed {
        commands: script::parse(&scripts.join("\n"), kind)?,
        quiet: given.has('n'),
        number: 0,
    };
    let mut inputs = Vec::new();
    for path in operands(&given.operands) {
        inputs.extend(stage.open(path));
    }
    sed.run(inputs, &mut stage.out)?;
    Ok(stage.code())
}

struct Sed {
    commands: Vec<SedCommand>,
    quiet: bool,
    number: u64,
}

/// The output. A last line without its end stays so, unless something comes after it.
struct SedPrinter<'o> {
    out: &'o mut ShellOutput,
    /// Whether the current line of the input has its end.
    has_end: bool,
    owes_end: bool,
}

impl SedPrinter<'_> {
    /// A line that is none of the input's.
    fn line(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.settle()?;
        self.out.line(bytes)
    }

    /// The current line of the input, as it is by now.
    fn current(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.settle()?;
        self.owes_end = !self.has_end;
        match self.has_end {
            true => self.out.line(bytes),
            false => self.out.write(bytes),
        }
    }

    fn settle(&mut self) -> Result<(), CommandFailure> {
        match std::mem::take(&mut self.owes_end) {
            true => self.out.write(b"\n"),
            false => Ok(()),
        }
    }
}

/// What is done after a line.
enum SedFlow {
    Go,
    Quit,
}

impl Sed {
    fn run(
        &mut self,
        inputs: Vec<ShellInput>,
        out: &mut ShellOutput,
    ) -> Result<(), CommandFailure> {
        let mut lines = SedInput {
            inputs: inputs.into_iter(),
            current: None,
        };
        let mut out = SedPrinter {
            out,
            has_end: true,
            owes_end: false,
        };
        let mut next = lines.next(out.out)?;
        while let Some(mut line) = next {
            next = lines.next(out.out)?;
            self.number += 1;
            out.has_end = line.pop_if(|last| *last == b'\n').is_some();
            if let SedFlow::Quit = self.line(line, next.is_none(), &mut out)? {
                break;
            }
        }
        Ok(())
    }

    fn line(
        &mut self,
        mut line: Vec<u8>,
        is_last: bool,
        out: &mut SedPrinter<'_>,
    ) -> Result<SedFlow, CommandFailure> {
        let mut appended: Vec<Vec<u8>> = Vec::new();
        let mut next = SedFlow::Go;
        let mut is_deleted = false;
        for command in &mut self.commands {
            if !command.applies(&line, self.number, is_last) {
                continue;
            }
            match &command.act {
                SedAction::Substitute(substitution) => {
                    if let Some(changed) = substitution.apply(&line) {
                        line = changed;
                        if substitution.print {
                            out.current(&line)?;
                        }
                    }
                }
                SedAction::Transliterate(pairs) => {
                    let text = String::from_utf8_lossy(&line);
                    let other = |c: char| {
                        let pair = pairs.iter().find(|(from, _)| *from == c);
                        pair.map_or(c, |(_, to)| *to)
                    };
                    line = text.chars().map(other).collect::<String>().into_bytes();
                }
                SedAction::Print => out.current(&line)?,
                SedAction::Number => out.line(self.number.to_string().as_bytes())?,
                SedAction::Insert(text) => out.line(text)?,
                SedAction::Append(text) => appended.push(text.clone()),
                SedAction::Change(text) => {
                    if command.is_at_end() {
                        out.line(text)?;
                    }
                    is_deleted = true;
                }
                SedAction::Delete => is_deleted = true,
                SedAction::Quit => next = SedFlow::Quit,
            }
            if is_deleted || matches!(next, SedFlow::Quit) {
                break;
            }
        }
        if !self.quiet && !is_deleted {
            out.current(&line)?;
        }
        appended.iter().try_for_each(|text| out.line(text))?;
        Ok(next)
    }
}

impl SedCommand {
    /// Whether the line is one that the command is for.
    fn applies(&mut self, line: &[u8], number: u64, is_last: bool) -> bool {
        let is_here = |address: &SedAddress| match address {
            SedAddress::Line(at) => *at == number,
            SedAddress::Last => is_last,
            SedAddress::Match(regex) => regex.is_match(line),
        };
        let selected = match (&self.from, &self.to) {
            (None, _) => true,
            (Some(from), None) => is_here(from),
            (Some(_), Some(to)) if self.active => {
                self.active = !match to {
                    SedAddress::Line(at) => number >= *at,
                    to => is_here(to),
                };
                // A line before which the range ends is none of it any more.
                !matches!(to, SedAddress::Line(at) if number > *at)
            }
            (Some(from), Some(to)) => {
                let begins = is_here(from);
                if begins {
                    self.active = match to {
                        SedAddress::Line(at) => *at > number,
                        SedAddress::Last => !is_last,
                        SedAddress::Match(_) => true,
                    };
                }
                begins
            }
        };
        selected != self.negated
    }

    /// Whether a range, if it has one, ends with this line.
    fn is_at_end(&self) -> bool {
        self.to.is_none() || self.negated || !self.active
    }
}

impl SedSubstitution {
    /// The line with the matches replaced; `None` if there are none.
    fn apply(&self, line: &[u8]) -> Option<Vec<u8>> {
        let mut changed = Vec::new();
        let (mut taken, mut count) = (0, 0);
        for captures in self.regex.captures_iter(line) {
            count += 1;
            let Some(whole) = captures.get(0) else {
                continue;
            };
            if count < self.nth {
                continue;
            }
            changed.extend_from_slice(&line[taken..whole.start()]);
            fill(&self.replacement, &captures, &mut changed);
            taken = whole.end();
            if !self.global {
                break;
            }
        }
        if count < self.nth {
            return None;
        }
        changed.extend_from_slice(&line[taken..]);
        Some(changed)
    }
}

fn fill(parts: &[ReplacementPart], captures: &Captures<'_>, into: &mut Vec<u8>) {
    for part in parts {
        match part {
            ReplacementPart::Text(text) => into.extend_from_slice(text),
            ReplacementPart::Group(number) => {
                if let Some(group) = captures.get(*number) {
                    into.extend_from_slice(group.as_bytes());
                }
            }
        }
    }
}

/// The lines of several inputs, as one.
struct SedInput {
    inputs: std::vec::IntoIter<ShellInput>,
    current: Option<ShellInput>,
}

impl SedInput {
    fn next(&mut self, out: &mut ShellOutput) -> Result<Option<Vec<u8>>, CommandFailure> {
        loop {
            let Some(input) = &mut self.current else {
                self.current = self.inputs.next();
                match self.current {
                    Some(_) => continue,
                    None => return Ok(None),
                }
            };
            let mut line = Vec::new();
            if input.line(&mut line, out)? {
                return Ok(Some(line));
            }
            self.current = None;
        }
    }
}

/// So many groups a pattern has.
fn groups(regex: &Regex) -> usize {
    regex.captures_len() - 1
}
