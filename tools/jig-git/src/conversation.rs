//! Talking with git: what it prints goes to whoever drives the tool, and what they say goes to git.

use std::time::Duration;

use jig_tool::vfs::{Host, HostError, Process, ProcessOutput, ReadOptions};
use jig_tool::{Content, Question, ToolError, ToolState};
use serde_json::Value;

use crate::arguments::{GitArguments, GitCommand, is_exec_line};
use crate::commit;
use crate::editor::{Editor, EditorOutput, GitEdit};

/// Does what the arguments ask for.
pub(crate) fn run(host: &mut Host, arguments: &GitArguments) -> Result<Content, ToolError> {
    let may_execute = host.option_is_on(EXEC, false);
    if arguments.executes() && !may_execute {
        return Err(ToolError::new(NO_EXEC));
    }
    let silenced = match arguments.command {
        GitCommand::Commit => {
            let silenced = commit::silenced(host)?;
            if !arguments.commits_nothing() && !commit::is_anything_staged(host, &silenced)? {
                return Err(ToolError::new(NOTHING_STAGED));
            }
            silenced
        }
        _ => Vec::new(),
    };
    let editor = Editor::new();
    let git = host
        .start_process("git")
        .args(arguments.words(&editor, &silenced))
        .start()?;
    let mut talk = GitConversation {
        host,
        git,
        editor,
        asks: arguments.command == GitCommand::Stage,
        may_execute,
        unsaid: String::new(),
    };
    let end = talk.until_end()?;
    let said = talk.unsaid.trim_end().to_owned();
    if end.exit_code != Some(0) {
        return Err(failed(arguments, &end, said));
    }
    if arguments.command == GitCommand::Stage {
        return staged(host);
    }
    Ok(match said.is_empty() {
        true => Content::text("git is done."),
        false => Content::text(said),
    })
}

struct GitConversation<'h> {
    host: &'h mut Host,
    git: Process,
    editor: Editor,
    /// Whether git asks about hunks.
    asks: bool,
    /// Whether the list of a rebase may name programs to run.
    may_execute: bool,
    /// What git printed and nobody was told yet.
    unsaid: String,
}

impl GitConversation<'_> {
    /// Goes on until git has ended.
    fn until_end(&mut self) -> Result<ProcessOutput<'static>, HostError> {
        loop {
            let mut output = self.git.read(&ReadOptions::settled(PATIENCE))?;
            self.unsaid.push_str(&output.content);
            if !output.running {
                self.rest(&mut output)?;
                return Ok(output);
            }
            self.say()?;
            while let Some(input) = self.host.try_apply()? {
                self.send(&input)?;
            }
        }
    }

    /// Takes what git printed last, which may not fit into one answer.
    fn rest(&mut self, output: &mut ProcessOutput<'static>) -> Result<(), HostError> {
        while !output.content.is_empty() && self.unsaid.len() < MOST {
            *output = self.git.read(&ReadOptions::default())?;
            self.unsaid.push_str(&output.content);
        }
        Ok(())
    }

    /// Tells what git has to say, and asks what it asks.
    fn say(&mut self) -> Result<(), HostError> {
        let unsaid = std::mem::take(&mut self.unsaid);
        match self.editor.look(&unsaid) {
            EditorOutput::Partly => self.unsaid = unsaid,
            EditorOutput::Asks(edit) => {
                let question = question(&edit);
                let mut answer =
                    self.ask(edit.before.trim_start_matches('\n'), question.clone())?;
                // Whoever agreed to a rebase has not agreed to any program.
                while !self.may_execute && answer.as_str().is_some_and(executes) {
                    answer = self.ask(NO_EXEC, question.clone())?;
                }
                let text = self.editor.answer(answer.as_str().unwrap_or_default());
                self.git.write(text)?;
            }
            EditorOutput::Plain if self.host.is_stateful() => {
                if !unsaid.is_empty() {
                    self.host.state(ToolState::running(unsaid))?;
                }
            }
            // Nobody drives it: whoever can answer is asked about the hunk.
            EditorOutput::Plain => match hunk(&unsaid).filter(|_| self.asks) {
                Some(question) => {
                    let answer = self.ask("", question)?;
                    self.send(&answer)?;
                }
                None => self.unsaid = unsaid,
            },
        }
        Ok(())
    }

    /// Asks a question. git may well ask the same again, and means another hunk then.
    fn ask(&mut self, before: &str, question: Question) -> Result<Value, HostError> {
        let id = question.id.clone();
        self.host.state(ToolState::Waiting {
            content: Content::text(before),
            question,
        })?;
        self.host.wait_answer(&id)
    }

    /// Hands on what the caller says: a word is a line, which git waits for.
    fn send(&mut self, input: &Value) -> Result<(), HostError> {
        match input {
            Value::String(text) => self.git.line(text.trim_end_matches(['\r', '\n'])),
            Value::Bool(yes) => self.git.line(if *yes { "y" } else { "n" }),
            other => self.git.write(other.clone()),
        }
    }
}

fn executes(list: &str) -> bool {
    list.lines().any(is_exec_line)
}

/// The text that git wants edited, as a question.
fn question(edit: &GitEdit<'_>) -> Question {
    let what = match edit.name {
        "git-rebase-todo" => "The list of the rebase",
        "COMMIT_EDITMSG" => "The message of the commit",
        "addp-hunk-edit.diff" => "The hunk",
        other => other,
    };
    let text = format!("{what}: answer with the whole new text, or with an empty one to keep it.");
    let mut question = Question::text(edit.name, text);
    question.context = Some(edit.text.to_owned());
    question
}

/// A hunk with the answers that git takes, as a question; `None` if git does not ask.
fn hunk(printed: &str) -> Option<Question> {
    let (shown, prompt) = match printed.trim_end().rsplit_once('\n') {
        Some(both) => both,
        None => ("", printed.trim_end()),
    };
    let (text, answers) = prompt.strip_suffix("]?")?.rsplit_once('[')?;
    let answers: Vec<&str> = answers.split(',').filter(|answer| *answer != "?").collect();
    let mut question = Question::select("hunk", format!("{}?", text.trim_end()), answers);
    question.context = Some(format!("{shown}\n{KEYS}"));
    Some(question)
}

/// What is staged now.
fn staged(host: &mut Host) -> Result<Content, ToolError> {
    let stat = host
        .run("git")
        .args([
            "--no-pager",
            "-c",
            "color.ui=never",
            "diff",
            "--cached",
            "--stat",
        ])
        .output()?;
    let stat = stat.stdout.trim_end().to_owned();
    Ok(match stat.is_empty() {
        true => Content::text("Nothing is staged."),
        false => Content::text(format!("Staged:\n{stat}")),
    })
}

fn failed(arguments: &GitArguments, end: &ProcessOutput<'_>, said: String) -> ToolError {
    let shown = arguments.shown();
    let message = match (end.exit_code, end.signal) {
        (Some(code), _) => format!("`{shown}` exited with code {code}"),
        (None, Some(signal)) => format!("`{shown}` was ended by signal {signal}"),
        (None, None) => format!("`{shown}` was ended"),
    };
    let mut error = ToolError::new(message);
    if !said.is_empty() {
        error.trace.push(said);
    }
    error
}

/// The option that lets a rebase run programs.
const EXEC: &str = "exec";

/// Why there is no commit.
const NOTHING_STAGED: &str =
    "nothing is staged: use the command `stage` before, or give `--allow-empty`";

/// Why it does not.
const NO_EXEC: &str = "a rebase may not run programs here: leave out `exec`, or have somebody set \
                       `options.exec = true` for the tool";

/// How long git may say nothing before it is asked again whether there is anything. It costs nothing: the
/// host waits, and input ends the wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most of a result, which is cut later anyway.
const MOST: usize = 1 << 20;

/// What the answers about a hunk mean.
const KEYS: &str = "y: stage it. n: do not. q: stop here. a: it and all that follow in the file. d: none \
                    that follow in the file. s: split it. e: edit it. j, k, J, K, g, /: look at another. \
                    p: print it again.";
