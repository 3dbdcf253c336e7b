//! The texts below the options, laid out for the width of the terminal.
//!
//! In the source a paragraph may be broken anywhere: its lines are joined and broken once, here. A line that begins
//! with a space is an example: a command, two spaces or more, and what it does.

use std::ffi::OsString;
use std::io;

use clap::{Command, CommandFactory as _, Parser as _, error::ErrorKind};
use jig_proto::{visible_line, visible_lines};

use super::Args;

/// The arguments of this process. Prints help, or what is wrong with them, and ends if there is nothing to do.
pub(crate) fn parse() -> Args {
    let error = match Args::try_parse() {
        Ok(args) => return args,
        Err(error) => error,
    };
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        let width = width();
        let command = laid_out(Args::command(), width).term_width(width);
        if let Err(help) = command.try_get_matches() {
            help.exit();
        }
    }
    visible(&error, std::env::args_os()).exit()
}

/// The error as it can be shown: it repeats what was typed, which may hold line ends and worse.
fn visible(error: &clap::Error, words: impl Iterator<Item = OsString>) -> clap::Error {
    let words = words.map(|word| visible_line(&word.to_string_lossy()));
    match Args::try_parse_from(words) {
        Err(error) => error,
        // Only what cannot be seen was wrong.
        Ok(_) => clap::Error::raw(error.kind(), visible_lines(&error.to_string())),
    }
}

/// The command and those below it, each with its texts laid out.
fn laid_out(mut command: Command, width: usize) -> Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(lay_out(&text, width));
    }
    if let Some(text) = command.get_after_long_help().map(ToString::to_string) {
        command = command.after_long_help(lay_out(&text, width));
    }
    command.mut_subcommands(|sub| laid_out(sub, width))
}

/// As wide as the terminal, but not so wide that lines are hard to read.
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = size.map(|size| usize::from(size.ws_col));
    let columns = columns.filter(|columns| *columns > 0).or_else(|| {
        let columns = std::env::var("COLUMNS").ok()?;
        columns.parse().ok()
    });
    columns.unwrap_or(WIDEST).clamp(NARROWEST, WIDEST)
}

/// The text with paragraphs broken to the width, and examples that are too wide put on several lines.
fn lay_out(text: &str, width: usize) -> String {
    let kind = |line: &str| match line.chars().next() {
        None => HelpLineKind::Blank,
        Some(' ') => HelpLineKind::Example,
        Some(_) => HelpLineKind::Prose,
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for block in lines.chunk_by(|line, next| kind(line) == kind(next)) {
        match block.first().map(|line| kind(line)) {
            Some(HelpLineKind::Prose) => out.extend(broken(&block.join(" "), 0, width)),
            Some(HelpLineKind::Example) => out.extend(examples(block, width)),
            _ => out.extend(block.iter().map(|line| (*line).to_owned())),
        }
    }
    out.join("\n")
}

#[derive(PartialEq, Eq)]
enum HelpLineKind {
    Blank,
    Example,
    Prose,
}

/// Commands and what they do: in two columns if there is room for that, else one below the other.
fn examples(block: &[&str], width: usize) -> Vec<String> {
    let all: Vec<ExampleLine<'_>> = block.iter().map(|line| ExampleLine::of(line)).collect();
    let fits = block.iter().all(|line| columns(line) <= width);
    if fits {
        return block.iter().map(|line| (*line).to_owned()).collect();
    }
    let column = all.iter().filter(|one| !one.note.is_empty());
    let column = column.map(|one| one.column).min().unwrap_or(0);
    let has_room = column + NARROWEST_NOTE <= width;
    let mut out = Vec::new();
    for one in &all {
        let is_beside = has_room && one.column == column;
        let mut notes = match is_beside {
            true => broken(one.note, column, width),
            false => broken(one.note, one.indent + 4, width),
        };
        match notes.first_mut() {
            Some(first) if is_beside => {
                let padding = " ".repeat(column - columns(one.command));
                *first = format!("{}{padding}{}", one.command, first.trim_start());
            }
            _ => out.extend(command_lines(one.command, one.indent, width)),
        }
        out.append(&mut notes);
    }
    out
}

/// A line of examples.
struct ExampleLine<'a> {
    indent: usize,
    /// With its indent.
    command: &'a str,
    /// What it does, and the column at which that stands.
    note: &'a str,
    column: usize,
}

impl<'a> ExampleLine<'a> {
    fn of(line: &'a str) -> Self {
        let indent = line.len() - line.trim_start().len();
        let end = line[indent..].find("  ");
        let (command, note) = line.split_at(end.map_or(line.len(), |end| indent + end));
        Self {
            indent,
            command,
            note: note.trim(),
            column: columns(line) - columns(note.trim_start()),
        }
    }
}

/// A command that can still be copied: its lines end as a shell wants them to, and no quoted word is broken.
fn command_lines(command: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut is_empty = true;
    for word in words(command) {
        if !is_empty && columns(&line) + 1 + columns(word) + " \\".len() > width {
            lines.push(format!("{line} \\"));
            line = " ".repeat(indent + 4);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The words of a command, quotes and all.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        match (c, start) {
            (' ', Some(begin)) if quote.is_none() => {
                words.push(&command[begin..at]);
                start = None;
            }
            (' ', _) => {}
            (_, None) => start = Some(at),
            (_, Some(_)) => {}
        }
    }
    words.extend(start.map(|begin| &command[begin..]));
    words
}

/// Text in lines of at most this width, all of them indented.
fn broken(text: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{}{word}", " ".repeat(indent))),
        }
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Longer lines are hard to read, however wide the terminal is.
const WIDEST: usize = 100;

/// Narrower than this nothing can be laid out.
const NARROWEST: usize = 40;

/// What a command does stands beside it if there are so many columns for it.
const NARROWEST_NOTE: usize = 30;

#[cfg(test)]
mod tests;
