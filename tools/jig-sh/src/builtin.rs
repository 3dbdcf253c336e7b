//! The commands.

mod cut;
mod echo;
mod grep;
mod head;
mod llm;
mod ls;
mod sed;
mod sort;
mod tr;
mod uniq;
mod wc;

use std::io::Write as _;

use jig_tool::proxy::OpenMode;

use crate::options::CommandOptions;
use crate::stage::{CommandContext, NULL, operands};
use crate::stream::CommandFailure;

/// One command.
pub(crate) struct ShellBuiltin {
    pub(crate) name: &'static str,
    /// How it is used, and what it does.
    usage: &'static str,
    pub(crate) run: fn(&mut CommandContext<'_>, &[String]) -> Result<u8, CommandFailure>,
    /// The exit code if something failed.
    pub(crate) failure: u8,
}

impl ShellBuiltin {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|builtin| builtin.name == name)
    }
}

/// All commands, by name.
pub(crate) const TABLE: &[ShellBuiltin] = &[
    new(
        "cat",
        "cat [-n] [FILE…]: the files, one after the other",
        cat,
    ),
    new(
        "cut",
        "cut -f LIST [-d CHAR] [-s] | -c LIST | -b LIST [FILE…]: parts of each line",
        cut::run,
    ),
    new("echo", "echo [-n] [-e] [WORD…]: the words", echo::run),
    new("exit", "exit [CODE]: end the shell", exit),
    new("false", "false: fail", fails),
    ShellBuiltin {
        failure: 2,
        ..new(
            "grep",
            "grep [-ivncoqlLhHwxErF] [-m N] [-A N] [-B N] [-C N] [-e] PATTERN [FILE…]: the lines that match",
            grep::run,
        )
    },
    new(
        "head",
        "head [-n N | -c N] [FILE…]: the first lines, or bytes",
        head::head,
    ),
    new("help", "help: this list", help),
    new(
        "llm",
        "llm [-x] [-s TEXT] [-t N] PROMPT [FILE…]: what the model says about the files and its input; with -x it may run lines",
        llm::run,
    ),
    new("ls", "ls [-1adp] [PATH…]: the names in a folder", ls::run),
    new(
        "sed",
        "sed [-n] [-E] [-e] SCRIPT [FILE…]: s, y, p, d, q, =, a, i, c with addresses",
        sed::run,
    ),
    ShellBuiltin {
        failure: 2,
        ..new(
            "sort",
            "sort [-nrufs] [-t CHAR] [-k FIELD] [FILE…]: the lines in order",
            sort::run,
        )
    },
    new(
        "tail",
        "tail [-n N | -n +N | -c N] [FILE…]: the last lines, or bytes",
        head::tail,
    ),
    new(
        "tee",
        "tee [-a] [FILE…]: its input, also into the files",
        tee,
    ),
    new(
        "tr",
        "tr [-cds] SET [SET]: other characters in place of some",
        tr::run,
    ),
    new("true", "true: succeed", succeeds),
    new(
        "uniq",
        "uniq [-cdui] [FILE]: lines that follow each other only once",
        uniq::run,
    ),
    new(
        "wc",
        "wc [-lwcm] [FILE…]: how many lines, words, bytes",
        wc::run,
    ),
];

const fn new(
    name: &'static str,
    usage: &'static str,
    run: fn(&mut CommandContext<'_>, &[String]) -> Result<u8, CommandFailure>,
) -> ShellBuiltin {
    ShellBuiltin {
        name,
        usage,
        run,
        failure: 1,
    }
}

fn succeeds(_: &mut CommandContext<'_>, _: &[String]) -> Result<u8, CommandFailure> {
    Ok(0)
}

fn fails(_: &mut CommandContext<'_>, _: &[String]) -> Result<u8, CommandFailure> {
    Ok(1)
}

/// In a pipeline it ends only its own command.
fn exit(_: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let code = words.first().map(|code| code.parse());
    match code.transpose() {
        Ok(code) => Ok(code.unwrap_or(0)),
        Err(_) => Err(CommandFailure::Usage(
            "write one number from 0 to 255".to_owned(),
        )),
    }
}

fn help(stage: &mut CommandContext<'_>, _: &[String]) -> Result<u8, CommandFailure> {
    for builtin in TABLE {
        stage.out.line(builtin.usage.as_bytes())?;
    }
    stage.out.line(SYNTAX.as_bytes())?;
    Ok(0)
}

fn cat(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "nu", "")?;
    let mut number = 0_u64;
    let mut line = Vec::new();
    for path in operands(&given.operands) {
        let Some(mut input) = stage.open(path) else {
            continue;
        };
        if given.has('n') {
            while input.line(&mut line, &mut stage.out)? {
                number += 1;
                stage.out.write(format!("{number:6}\t").as_bytes())?;
                stage.out.write(&line)?;
            }
            continue;
        }
        loop {
            let chunk = input.chunk(&mut stage.out)?;
            if chunk.is_empty() {
                break;
            }
            stage.out.write(chunk)?;
        }
    }
    Ok(stage.code())
}

fn tee(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "a", "")?;
    let mode = match given.has('a') {
        true => OpenMode::Append,
        false => OpenMode::Write,
    };
    let mut files = Vec::new();
    for path in given.operands.iter().filter(|path| *path != NULL) {
        if let Some(file) = stage.create(path, mode) {
            files.push((path, file));
        }
    }
    let Some(mut input) = stage.open("-") else {
        return Ok(stage.code());
    };
    // Files get all of it, also if nobody reads the output any more.
    let mut reader_is_gone = false;
    loop {
        let chunk = match input.chunk(&mut stage.out) {
            Err(CommandFailure::ReaderGone) => {
                reader_is_gone = true;
                continue;
            }
            chunk => chunk?,
        };
        if chunk.is_empty() {
            break;
        }
        for (path, file) in &mut files {
            let written = file.write_all(chunk);
            written.map_err(|error| CommandFailure::at(path, &error))?;
        }
        reader_is_gone |= !reader_is_gone && stage.out.write(chunk).is_err();
    }
    for (path, file) in files {
        let closed = file.close();
        closed.map_err(|error| CommandFailure::at(path, &error.into()))?;
    }
    match reader_is_gone {
        true => Err(CommandFailure::ReaderGone),
        false => Ok(stage.code()),
    }
}

const SYNTAX: &str = "also: A | B, A > FILE, A >> FILE, A < FILE, A 2> FILE, A 2>&1, A <<< TEXT, A && B, A || B, \
                      A; B, ! A, 'text', \"text\", *.txt, $?, # comment";
