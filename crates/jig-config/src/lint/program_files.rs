//! [`Command::program_mistake`]: why a program can't be started, as far as its file tells.
//!
//! It is for people alone: nothing is decided by it, and what is found may have changed by the time of a call.

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{Hint, hint};

use crate::loading::files::{self, ConfigPathKind};
use crate::model::{Command, is_template, shell_syntax};
use crate::quoting::{clean, closest, quote};

/// Why a program can't be started, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramMistake {
    /// What is wrong, in one sentence without a period.
    pub message: String,
    /// What to do.
    pub help: Hint,
}

impl ProgramMistake {
    fn new(message: impl Into<String>, help: Hint) -> Option<Self> {
        Some(Self {
            message: message.into(),
            help,
        })
    }
}

impl Command {
    /// What keeps the program from being started: a file without permission, without its first line, or none at all.
    ///
    /// A path is meant from `root`, a name is looked for in `search_path`, unless that is empty. `None` for what is
    /// only known when the command is filled in, and for what a shell reads.
    pub fn program_mistake(
        &self,
        root: &Utf8Path,
        search_path: &[Utf8PathBuf],
    ) -> Option<ProgramMistake> {
        if self.shell || is_template(&self.program) {
            return None;
        }
        match self.program.contains('/') {
            true => of_file(&self.program, &root.join(&self.program)),
            false => of_name(&self.program, root, search_path),
        }
    }

    /// What was probably meant by a program whose name holds spaces: a whole line in one word.
    pub fn line_in_one_word(words: &[String]) -> Option<String> {
        let [line] = words else { return None };
        if !line.trim().contains(char::is_whitespace) {
            return None;
        }
        let is_plain = shell_syntax(line).is_none() && !line.contains(['\'', '"', ';', '|']);
        Some(match is_plain {
            true => line.trim().to_owned(),
            false => format!("sh -c '{}'", line.replace('\'', "'\\''")),
        })
    }
}

fn of_name(name: &str, root: &Utf8Path, search_path: &[Utf8PathBuf]) -> Option<ProgramMistake> {
    if search_path.is_empty() {
        return None;
    }
    // A folder of the workspace is no place to look for programs: a tool could put one there.
    let mut looked: Vec<&Utf8PathBuf> = Vec::new();
    for folder in search_path
        .iter()
        .filter(|folder| !folder.starts_with(root))
    {
        if !looked.contains(&folder) {
            looked.push(folder);
        }
    }
    if looked
        .iter()
        .any(|folder| files::is_program(&folder.join(name)))
    {
        return None;
    }
    let in_workspace = files::found(&root.join(name)) == ConfigPathKind::File;
    let places: Vec<String> = looked.iter().map(|folder| quote(folder.as_str())).collect();
    let help = match in_workspace {
        true => hint!("for the file of the workspace write `./{}`", clean(name)),
        false => hint!("install it, correct the name, or name the program by its path"),
    };
    ProgramMistake::new(
        format!(
            "the program {} was not found: looked in {}",
            quote(name),
            places.join(", ")
        ),
        help,
    )
}

fn of_file(written: &str, path: &Utf8Path) -> Option<ProgramMistake> {
    let shown = quote(written);
    let word = clean(written);
    match files::found(path) {
        ConfigPathKind::Folder => {
            return ProgramMistake::new(
                format!("{shown} is a folder, not a program"),
                hint!("name the file in it that is to be run"),
            );
        }
        ConfigPathKind::Nothing if !files::exists(path) => {
            let folder = path.parent()?;
            let names = files::names_in(folder);
            let name = path.file_name().unwrap_or_default();
            let meant = closest(name, names.iter().map(String::as_str));
            let help = match meant.filter(|meant| *meant != name) {
                Some(meant) => hint!(
                    "did you mean `{}`?",
                    clean(Utf8Path::new(written).with_file_name(meant).as_str())
                ),
                None => hint!(
                    "correct the path, which is relative to the workspace, or create the file"
                ),
            };
            return ProgramMistake::new(format!("there is no program {shown}"), help);
        }
        ConfigPathKind::Nothing => return None,
        ConfigPathKind::File => {}
    }
    let head = files::head(path, LONGEST_LINE).unwrap_or_default();
    if !files::is_program(path) {
        let help = match interpreter_for(written) {
            Some(interpreter) => hint!(
                "make it a program, `chmod +x {word}`, or name its interpreter: `command = \"{interpreter} {word}\"`"
            ),
            None => hint!("make it a program: `chmod +x {word}`"),
        };
        return ProgramMistake::new(
            format!("{shown} may not be executed: it has no `x` bit"),
            help,
        );
    }
    let Some(line) = head.strip_prefix(b"#!") else {
        return without_first_line(written, &head);
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.ends_with(b"\r") {
        return ProgramMistake::new(
            format!(
                "the first line of {shown} ends with a carriage return, which becomes part of the interpreter's name"
            ),
            hint!("save the file with line ends of Unix: `sed -i 's/\\r$//' {word}`"),
        );
    }
    let line = String::from_utf8_lossy(line);
    let interpreter = line.split_ascii_whitespace().next().unwrap_or_default();
    let is_there = files::found(Utf8Path::new(interpreter)) == ConfigPathKind::File;
    match interpreter.starts_with('/') && is_there {
        true => None,
        false => ProgramMistake::new(
            format!(
                "{shown} needs the interpreter {}, which is not there",
                quote(interpreter)
            ),
            hint!(
                "install it, or correct the first line, such as `#!/bin/sh` or `#!/usr/bin/env python3`"
            ),
        ),
    }
}

/// A text that is executable, and that no machine knows how to run.
fn without_first_line(written: &str, head: &[u8]) -> Option<ProgramMistake> {
    let is_text = head
        .iter()
        .all(|byte| *byte != 0 && !(0x7f..=0x7f).contains(byte));
    if !is_text {
        return None;
    }
    let first = match interpreter_for(written) {
        Some("sh") | None => "#!/bin/sh".to_owned(),
        Some(interpreter) => format!("#!/usr/bin/env {interpreter}"),
    };
    ProgramMistake::new(
        format!(
            "{} does not say what runs it: its first line is no `#!`",
            quote(written)
        ),
        hint!("make `{first}` its first line"),
    )
}

/// What usually runs a file with such a name.
fn interpreter_for(path: &str) -> Option<&'static str> {
    match Utf8Path::new(path).extension()? {
        "sh" => Some("sh"),
        "bash" => Some("bash"),
        "py" => Some("python3"),
        "js" | "mjs" | "cjs" => Some("node"),
        "rb" => Some("ruby"),
        "pl" => Some("perl"),
        "php" => Some("php"),
        "lua" => Some("lua"),
        _ => None,
    }
}

/// As much of a file as the kernel looks at.
const LONGEST_LINE: usize = 256;
