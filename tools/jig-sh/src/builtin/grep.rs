//! `grep`.

use std::collections::VecDeque;

use regex::bytes::Regex;

use crate::options::CommandOptions;
use crate::pattern::{PatternSyntax, build, translate};
use crate::stage::{CommandContext, operands};
use crate::stream::{CommandFailure, ShellInput, ShellOutput};

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let mut given = CommandOptions::read(words, "ivncoqlLhHwxEFrRsGI", "emABC")?;
    let mut patterns: Vec<String> = given.all('e').map(str::to_owned).collect();
    if patterns.is_empty() {
        if given.operands.is_empty() {
            return Err(CommandFailure::Usage("the pattern is missing".to_owned()));
        }
        patterns.push(given.operands.remove(0));
    }
    let recursive = given.has('r') || given.has('R');
    let paths = match (given.operands.is_empty(), recursive) {
        (true, true) => vec![".".to_owned()],
        _ => operands(&given.operands)
            .into_iter()
            .map(str::to_owned)
            .collect(),
    };
    let is_named = (paths.len() > 1 || recursive || given.has('H')) && !given.has('h');
    let context = given.number('C')?.unwrap_or(0);
    let mut search = GrepSearch {
        regex: regex(&patterns, &given)?,
        before: given.number('B')?.unwrap_or(context),
        after: given.number('A')?.unwrap_or(context),
        most: given.number('m')?.unwrap_or(usize::MAX),
        given,
        is_named,
        found: false,
        separated: true,
    };
    match recursive {
        false => {
            for path in &paths {
                if let Some(mut input) = stage.open(path) {
                    search.file(&mut input, &mut stage.out)?;
                }
                if search.is_done() {
                    break;
                }
            }
        }
        true => {
            for path in &paths {
                search.tree(stage, path, 0)?;
            }
        }
    }
    Ok(match (search.found, stage.failed) {
        (true, _) if search.given.has('q') => 0,
        (_, true) => 2,
        (found, false) => u8::from(!found),
    })
}

/// All patterns as one.
fn regex(patterns: &[String], given: &CommandOptions) -> Result<Regex, CommandFailure> {
    let kind = match (given.has('F'), given.has('E')) {
        (true, _) => PatternSyntax::Fixed,
        (false, true) => PatternSyntax::Extended,
        (false, false) => PatternSyntax::Basic,
    };
    let mut all = Vec::new();
    for pattern in patterns.iter().flat_map(|pattern| pattern.split('\n')) {
        let regex = translate(pattern, kind).map_err(CommandFailure::Usage)?;
        // Each by itself, so that the error names the one that is wrong.
        build(&regex, false, pattern)?;
        all.push(format!("(?:{regex})"));
    }
    let mut regex = all.join("|");
    if given.has('x') {
        regex = format!("^(?:{regex})$");
    } else if given.has('w') {
        regex = format!(r"\b{{start-half}}(?:{regex})\b{{end-half}}");
    }
    build(&regex, given.has('i'), &patterns.join("\n"))
}

struct GrepSearch {
    regex: Regex,
    given: CommandOptions,
    before: usize,
    after: usize,
    most: usize,
    is_named: bool,
    found: bool,
    /// Whether nothing stands before the next lines that `--` would set them apart from.
    separated: bool,
}

impl GrepSearch {
    /// Whether nothing more can change the result.
    fn is_done(&self) -> bool {
        self.found && self.given.has('q')
    }

    /// Searches a folder and all below it, or a file.
    fn tree(
        &mut self,
        stage: &mut CommandContext<'_>,
        path: &str,
        depth: usize,
    ) -> Result<(), CommandFailure> {
        if self.is_done() {
            return Ok(());
        }
        let Ok(mut entries) = stage.client.list(path) else {
            if let Some(mut input) = stage.open(path) {
                self.file(&mut input, &mut stage.out)?;
            }
            return Ok(());
        };
        if depth > DEEPEST {
            stage.complain(&format!("{path}: too deep"));
            return Ok(());
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            let below = match path {
                "." => entry.name.clone(),
                path => format!("{}/{}", path.trim_end_matches('/'), entry.name),
            };
            match entry.is_dir() {
                true => self.tree(stage, &below, depth + 1)?,
                // What may be listed and not be read is left out, as with a folder.
                false => {
                    if let Ok(file) = crate::stage::open(stage.client, &below) {
                        let source = crate::stream::ShellSource::File(Box::new(file));
                        self.file(&mut ShellInput::new(source, &below), &mut stage.out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        input: &mut ShellInput,
        out: &mut ShellOutput,
    ) -> Result<(), CommandFailure> {
        let wants = |flag| self.given.has(flag);
        let (count_only, names, others, quiet) = (wants('c'), wants('l'), wants('L'), wants('q'));
        let is_shown = !(count_only || names || others || quiet);
        let name = input.name.clone();
        let mut line = Vec::new();
        let mut kept: VecDeque<(u64, Vec<u8>)> = VecDeque::new();
        let (mut number, mut count, mut after) = (0_u64, 0_usize, 0_usize);
        let mut last = None;
        while count < self.most || after > 0 {
            if !input.bare_line(&mut line, out)? {
                break;
            }
            number += 1;
            let matches = count < self.most && self.regex.is_match(&line) != self.given.has('v');
            if matches {
                count += 1;
                if !is_shown {
                    if !count_only {
                        break;
                    }
                    continue;
                }
                let first = kept.front().map_or(number, |(number, _)| *number);
                if self.before + self.after > 0 && last.is_some_and(|last| last + 1 < first)
                    || last.is_none() && !self.separated
                {
                    out.line(b"--")?;
                }
                for (number, line) in kept.drain(..) {
                    self.show(&name, number, '-', &line, out)?;
                }
                self.show(&name, number, ':', &line, out)?;
                last = Some(number);
                after = self.after;
            } else if after > 0 {
                after -= 1;
                self.show(&name, number, '-', &line, out)?;
                last = Some(number);
            } else if self.before > 0 && is_shown {
                if kept.len() == self.before {
                    kept.pop_front();
                }
                kept.push_back((number, line.clone()));
            }
        }
        if last.is_some() && self.before + self.after > 0 {
            self.separated = false;
        }
        self.found |= match others {
            true => count == 0,
            false => count > 0,
        };
        match () {
            () if quiet => Ok(()),
            () if names && count > 0 || others && count == 0 => out.line(name.as_bytes()),
            () if count_only && self.is_named => out.line(format!("{name}:{count}").as_bytes()),
            () if count_only => out.line(count.to_string().as_bytes()),
            () => Ok(()),
        }
    }

    fn show(
        &self,
        name: &str,
        number: u64,
        mark: char,
        line: &[u8],
        out: &mut ShellOutput,
    ) -> Result<(), CommandFailure> {
        let mut head = String::new();
        if self.is_named {
            head = format!("{name}{mark}");
        }
        if self.given.has('n') {
            head = format!("{head}{number}{mark}");
        }
        if !self.given.has('o') {
            out.write(head.as_bytes())?;
            return out.line(line);
        }
        if mark == '-' || self.given.has('v') {
            return Ok(());
        }
        for found in self.regex.find_iter(line).filter(|found| !found.is_empty()) {
            out.write(head.as_bytes())?;
            out.line(found.as_bytes())?;
        }
        Ok(())
    }
}

/// How deep folders are searched. Each takes a part of the stack.
const DEEPEST: usize = 64;
