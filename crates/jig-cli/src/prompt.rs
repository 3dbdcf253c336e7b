//! Questions to the person at the terminal, whatever the standard streams are connected to.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the person is asked at the terminal, and edits with an editor of their own"
)]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd as _;
use std::process::Command;
use std::sync::Arc;

use anstream::AutoStream;
use jig_engine::{About, Answer, Ask, Asker};
use jig_proto::{Prompt, Question, visible_line, visible_lines, visible_painted, visible_words};
use jig_sandbox::{Interest, Waker};
use serde_json::Value as Json;

use crate::diff;
use crate::interrupt;
use crate::output::{BOLD, DIM, YELLOW, remark};

/// The person at the terminal, or the answers that they gave in advance.
pub(crate) struct PromptTerminal {
    /// Yes to whether a tool may run, and to its own yes/no questions. Never to access.
    yes: bool,
    tty: Option<(BufReader<File>, AutoStream<File>)>,
    /// Ends the wait for a line.
    waker: Option<Arc<Waker>>,
    /// The terminal has no more lines.
    is_closed: bool,
    /// Whether the last answer was given in advance.
    by_yes: bool,
}

impl PromptTerminal {
    /// `None` if there is nobody to ask and nothing was answered in advance.
    pub(crate) fn open(yes: bool, interactive: bool) -> Option<Self> {
        let tty = if interactive { open_tty() } else { None };
        (yes || tty.is_some()).then_some(Self {
            yes,
            tty,
            waker: None,
            is_closed: false,
            by_yes: false,
        })
    }

    /// Gives a question up, as if there was no answer, when this wakes: somebody else has answered it.
    pub(crate) fn give_up_on(&mut self, waker: Arc<Waker>) {
        self.waker = Some(waker);
    }

    /// Whether the terminal has ended. A person may end one question by that, too (Ctrl-D), and go on.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Prints before a question. What a tool wrote must be printable.
    pub(crate) fn show(&mut self, text: &str) {
        if let Some((_, writer)) = &mut self.tty {
            let _ = write!(writer, "{}", visible_painted(text));
        }
    }

    /// One of a few words, by its first letter; an empty line is the last one. `None` if nobody answers.
    pub(crate) fn word(&mut self, head: &str, help: &str, words: &[&str]) -> Option<String> {
        let _asking = interrupt::asking();
        match self.choose(head, help, words) {
            Answer::Given(Json::String(word)) => Some(word),
            Answer::Rejected(_) => words.last().map(|word| (*word).to_owned()),
            _ => None,
        }
    }

    fn prompt(&mut self, ask: &Ask<'_>) -> Answer {
        let question = ask.question;
        // It is said whose question it is: a tool can write anything into its own.
        let who = match ask.about {
            About::Tool(_) => format!("`{}` asks: ", visible_line(ask.tool)),
            _ => String::new(),
        };
        let text = visible_words(&question.text);
        let mut head = format!("\n{YELLOW}?{YELLOW:#} {who}{BOLD}{text}{BOLD:#}\n");
        if let Some(context) = &question.context {
            let context = diff::coloured(&visible_lines(context));
            for line in context.lines() {
                head.push_str(&format!("  {line}\n"));
            }
        }
        match (ask.about, question.prompt()) {
            (About::Access, _) => self.choose(
                &head,
                "[o]nce, for this [t]urn, [n]o, or n and a reason",
                &["once", "turn", "no"],
            ),
            (About::Arguments | About::EditResult, _) => self.edit(question),
            (about, Prompt::YesNo) => {
                let is_tool = matches!(about, About::Tool(_));
                let (help, words): (_, &[&str]) = match is_tool {
                    true => (
                        "[y]es, [a]lways in this turn, [n]o, or n and a reason",
                        &["yes", "always", "no"],
                    ),
                    false => ("[y]es, [n]o, or n and a reason", &["yes", "no"]),
                };
                match self.choose(&head, help, words) {
                    Answer::Given(Json::String(word)) if word == "always" => {
                        Answer::GivenForTurn(Json::Bool(true))
                    }
                    Answer::Given(Json::String(word)) => Answer::Given(Json::Bool(word == "yes")),
                    other => other,
                }
            }
            (_, Prompt::Select(options)) => {
                let options: Vec<String> = options
                    .iter()
                    .map(|option| visible_line(&option.to_string()))
                    .collect();
                let lines: String = (1..)
                    .zip(&options)
                    .map(|(number, option)| format!("  {number}. {option}\n"))
                    .collect();
                self.pick(&format!("{head}{lines}"), question)
            }
            (_, Prompt::Text) => match self.line(&format!("{head}> ")) {
                Some(text) => Answer::Given(Json::String(text)),
                None => Answer::Cancel,
            },
            _ => self.edit(question),
        }
    }

    /// One of a few words, by its first letter. An empty line is the last one, which is no; that may be
    /// followed by the reason.
    pub(crate) fn choose(&mut self, head: &str, help: &str, words: &[&str]) -> Answer {
        let mut shown = format!("{head}{DIM}{help}{DIM:#}: ");
        loop {
            let Some(text) = self.line(&shown) else {
                return Answer::Cancel;
            };
            let (first, reason) = match text.trim().split_once(char::is_whitespace) {
                Some((first, reason)) => (first.to_lowercase(), Some(reason.trim())),
                None => (text.trim().to_lowercase(), None),
            };
            let word = match first.as_str() {
                "" => words.last(),
                first => words.iter().find(|word| word.starts_with(first)),
            };
            if let Some(reason) = reason {
                if word == words.last() {
                    return Answer::Rejected(reason.to_owned());
                }
                // More than one word is only understood as a reason.
                shown = format!("{DIM}{help}{DIM:#}: ");
                continue;
            }
            if let Some(word) = word {
                return Answer::Given(Json::String((*word).to_owned()));
            }
            shown = format!("{DIM}{help}{DIM:#}: ");
        }
    }

    fn pick(&mut self, head: &str, question: &Question) -> Answer {
        let Prompt::Select(options) = question.prompt() else {
            return Answer::Unavailable;
        };
        let mut shown = format!("{head}{DIM}a number{DIM:#}: ");
        loop {
            let Some(text) = self.line(&shown) else {
                return Answer::Cancel;
            };
            let number = text.trim().parse::<usize>().ok();
            let option = number.and_then(|number| options.get(number.wrapping_sub(1)));
            if let Some(option) = option {
                return Answer::Given((*option).clone());
            }
            shown = format!("{DIM}a number from 1 to {}{DIM:#}: ", options.len());
        }
    }

    /// Shows a text, and reads the line that is typed then. `None` if there is none.
    pub(crate) fn line(&mut self, shown: &str) -> Option<String> {
        let (reader, writer) = self.tty.as_mut()?;
        write!(writer, "{}", visible_painted(shown)).ok()?;
        writer.flush().ok()?;
        if let Some(waker) = &self.waker
            && reader.buffer().is_empty()
        {
            // A terminal is readable when there is a whole line, or its end.
            let waits = [
                Interest::Readable(reader.get_ref().as_fd()),
                Interest::Woken(waker),
            ];
            let ready = jig_sandbox::poll(&waits, None).ok()?;
            if !ready.contains(0) {
                let _ = writeln!(writer);
                return None;
            }
        }
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Err(_) => {
                self.is_closed = true;
                None
            }
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }

    /// The default of the question, changed in the person's own editor.
    fn edit(&mut self, question: &Question) -> Answer {
        let is_text = matches!(question.prompt(), Prompt::Text);
        let before = match &question.default {
            Some(Json::String(text)) if is_text => text.clone(),
            Some(value) => format!("{value:#}"),
            None => String::new(),
        };
        let Some(after) = edited(&before) else {
            return Answer::Cancel;
        };
        if is_text {
            return Answer::Given(Json::String(after));
        }
        match serde_json::from_str(&after) {
            Ok(value) => Answer::Given(value),
            Err(_) => Answer::Cancel,
        }
    }
}

impl Asker for PromptTerminal {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let is_yes_no = matches!(ask.question.prompt(), Prompt::YesNo);
        self.by_yes = self.yes && is_yes_no && !is_for_eyes(ask.about);
        if self.by_yes {
            return Answer::Given(Json::Bool(true));
        }
        match self.tty {
            Some(_) => {
                let _asking = interrupt::asking();
                self.prompt(ask)
            }
            None => Answer::Unavailable,
        }
    }

    fn answered_by(&self) -> String {
        match self.by_yes {
            true => "--yes".to_owned(),
            false => "the person at the terminal".to_owned(),
        }
    }

    fn progress(&mut self, tool: &str, text: &str) {
        if let Some((_, writer)) = &mut self.tty {
            let _ = writeln!(
                writer,
                "{DIM}{}: {}{DIM:#}",
                visible_line(tool),
                visible_lines(text)
            );
        }
    }

    fn warning(&mut self, tool: &str, text: &str) {
        warned(tool, text);
    }
}

/// Whether somebody has to see the question: what a stranger wrote is not agreed to in advance.
fn is_for_eyes(about: About) -> bool {
    matches!(about, About::Access | About::Server | About::Definition)
}

/// Where nobody can be asked, somebody may still read.
pub(crate) struct Unattended;

impl Asker for Unattended {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        Answer::Unavailable
    }

    fn warning(&mut self, tool: &str, text: &str) {
        warned(tool, text);
    }
}

fn warned(tool: &str, text: &str) {
    remark(&format!("jig: {tool}: {text}"));
}

fn open_tty() -> Option<(BufReader<File>, AutoStream<File>)> {
    let tty = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .ok()?;
    let writer = tty.try_clone().ok()?;
    Some((BufReader::new(tty), AutoStream::auto(writer)))
}

fn edited(before: &str) -> Option<String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok());
    let editor = editor
        .filter(|editor| !editor.trim().is_empty())
        .unwrap_or_else(|| "vi".to_owned());
    let file = tempfile::Builder::new()
        .prefix("jig-")
        .suffix(".json")
        .tempfile()
        .ok()?;
    std::fs::write(file.path(), before).ok()?;
    let mut words = editor.split_whitespace();
    let status = Command::new(words.next()?)
        .args(words)
        .arg(file.path())
        .status()
        .ok()?;
    if !status.success() {
        return None;
    }
    std::fs::read_to_string(file.path()).ok()
}
