//! What is asked for, and the command of git that does it.

use jig_tool::ToolError;
use serde::Deserialize;

use crate::commit;
use crate::editor::Editor;

/// The arguments of a call.
#[derive(Debug, Deserialize)]
pub(crate) struct GitArguments {
    pub(crate) command: GitCommand,
    /// Of a commit.
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    args: Vec<String>,
}

/// What git is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GitCommand {
    /// `git add --patch`.
    Stage,
    /// `git commit`, of what is staged.
    Commit,
    /// `git rebase --interactive`, or what goes on with one.
    Rebase,
    /// `git log`.
    Log,
}

impl GitArguments {
    /// All words after `git`. `silenced` are settings that keep git from running programs.
    pub(crate) fn words(&self, editor: &Editor, silenced: &[String]) -> Vec<String> {
        let mut words: Vec<String> = SETTINGS.iter().map(|word| (*word).to_owned()).collect();
        for key in ["core.editor", "sequence.editor"] {
            words.extend(["-c".to_owned(), format!("{key}={}", editor.script())]);
        }
        if self.command == GitCommand::Commit {
            words.extend(commit::SETTINGS.iter().map(|word| (*word).to_owned()));
        }
        words.extend(
            silenced
                .iter()
                .flat_map(|set| ["-c".to_owned(), set.clone()]),
        );
        words.extend(self.own_words());
        words
    }

    /// Refuses what the command is not for.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        match self.command {
            GitCommand::Commit => commit::check(&self.args),
            _ if self.message.is_some() => {
                Err(ToolError::new("`message` is for the command `commit`"))
            }
            _ => Ok(()),
        }
    }

    /// The command as a person would write it.
    pub(crate) fn shown(&self) -> String {
        let words = self.own_words().into_iter().map(quoted);
        let words: Vec<String> = std::iter::once("git".to_owned()).chain(words).collect();
        words.join(" ")
    }

    /// Whether git is told to run programs that are none of its own.
    pub(crate) fn executes(&self) -> bool {
        let is_exec = |arg: &String| {
            arg == "-x" || arg == "--exec" || arg.starts_with("--exec=") || is_short_exec(arg)
        };
        self.command == GitCommand::Rebase && self.args.iter().any(is_exec)
    }

    /// Whether a commit is meant that may change no file.
    pub(crate) fn commits_nothing(&self) -> bool {
        let is_so = |arg: &String| arg == "--allow-empty" || arg == "--amend";
        self.args.iter().any(is_so)
    }

    fn own_words(&self) -> Vec<String> {
        let has = |options: &[&str]| self.args.iter().any(|arg| options.contains(&arg.as_str()));
        let start: &[&str] = match self.command {
            GitCommand::Stage if has(&["--patch", "-p"]) => &["add"],
            GitCommand::Stage => &["add", "--patch"],
            // Whether there is something to commit was asked before.
            GitCommand::Commit => &[
                "commit",
                "--no-verify",
                "--no-gpg-sign",
                "--no-status",
                "--allow-empty",
            ],
            GitCommand::Rebase if has(&GOES_ON) || has(&["--interactive", "-i"]) => &["rebase"],
            GitCommand::Rebase => &["rebase", "--interactive"],
            GitCommand::Log => &["log"],
        };
        let start = start.iter().map(|word| (*word).to_owned());
        let message = self
            .message
            .iter()
            .filter(|_| self.command == GitCommand::Commit);
        let message = message.flat_map(|message| ["-m".to_owned(), message.clone()]);
        start
            .chain(message)
            .chain(self.args.iter().cloned())
            .collect()
    }
}

/// Whether a line of the list of a rebase has git run a program.
pub(crate) fn is_exec_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(words.next(), Some("exec" | "x"))
}

/// `-xCOMMAND`, also after other letters: `-ixCOMMAND`.
fn is_short_exec(arg: &str) -> bool {
    let letters = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    letters.is_some_and(|letters| letters.contains('x'))
}

/// A word that a shell takes as it is.
fn quoted(word: String) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./=:@~^+,%-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The options of a rebase that has begun.
const GOES_ON: [&str; 6] = [
    "--continue",
    "--abort",
    "--skip",
    "--quit",
    "--edit-todo",
    "--show-current-patch",
];

/// Text for a reader that is no terminal, whatever the person has configured for theirs.
const SETTINGS: [&str; 7] = [
    "--no-pager",
    "-c",
    "color.ui=never",
    "-c",
    "interactive.diffFilter=cat",
    "-c",
    "interactive.singleKey=false",
];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_command_is_the_one_that_a_person_would_write() {
        let check = |given: Value, expected: &str| {
            let arguments: GitArguments =
                serde_json::from_value(given).expect("they are arguments");
            assert_eq!(arguments.shown(), expected);
            let words = arguments.words(&Editor::new(), &["a.b=c".to_owned()]);
            assert!(words.ends_with(&arguments.own_words()));
        };
        check(json!({"command": "stage"}), "git add --patch");
        check(
            json!({"command": "stage", "args": ["--patch", "src"]}),
            "git add --patch src",
        );
        check(
            json!({"command": "commit", "message": "it works", "args": ["--amend"]}),
            "git commit --no-verify --no-gpg-sign --no-status --allow-empty -m 'it works' --amend",
        );
        check(
            json!({"command": "rebase", "args": ["HEAD~3"]}),
            "git rebase --interactive HEAD~3",
        );
        check(
            json!({"command": "rebase", "args": ["--continue"]}),
            "git rebase --continue",
        );
        check(
            json!({"command": "log", "args": ["--author", "A B"]}),
            "git log --author 'A B'",
        );
        check(
            json!({"command": "log", "args": ["it's"]}),
            r"git log 'it'\''s'",
        );
        assert!(serde_json::from_value::<GitArguments>(json!({"command": "push"})).is_err());
    }

    #[test]
    fn what_makes_git_run_programs_is_noticed() {
        let check = |args: Value, expected: bool| {
            let given = json!({"command": "rebase", "args": args});
            let arguments: GitArguments =
                serde_json::from_value(given).expect("they are arguments");
            assert_eq!(arguments.executes(), expected, "{args}");
        };
        check(json!(["HEAD~2"]), false);
        check(json!(["--exec", "make", "HEAD~2"]), true);
        check(json!(["--exec=make"]), true);
        check(json!(["-x", "make"]), true);
        check(json!(["-ixmake"]), true);
        for (line, expected) in [
            ("pick 1234 exec", false),
            ("exec make", true),
            ("  x make", true),
            ("# exec", false),
            ("", false),
        ] {
            assert_eq!(is_exec_line(line), expected, "{line}");
        }
    }
}
