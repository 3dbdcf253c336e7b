//! What the files of a workspace allow and nobody has accepted: a line about it, or a question at the terminal.

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8Path;
use jig_config::Widened;
use jig_project::{HeldProject, confinement, locate, shell_word};
use jig_proto::{hint, visible_line, visible_words};

use crate::args::{Args, CliCommand};
use crate::output::{BOLD, YELLOW, remark};
use crate::prompt::PromptTerminal;

/// What this command does about what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldBackMode {
    /// Asks the person at the terminal.
    Ask,
    /// Says that it waits.
    Tell,
    /// Nothing: the command itself shows it.
    Quiet,
}

static MODE: OnceLock<HeldBackMode> = OnceLock::new();
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Chooses for this command. Programs are not asked, nor is the person whose terminal a client of ours uses.
pub(crate) fn set_mode(args: &Args) {
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let is_asked = match &args.command {
        CliCommand::Call(call) => !call.no_interaction,
        CliCommand::Spawn(spawn) => !spawn.no_interaction,
        CliCommand::Mcp(mcp) => mcp.check,
        _ => true,
    };
    let mode = match &args.command {
        CliCommand::Trust(_) => HeldBackMode::Quiet,
        _ if is_asked && terminal && !args.global.json => HeldBackMode::Ask,
        _ => HeldBackMode::Tell,
    };
    let _ = MODE.set(mode);
}

/// Tells a person what waits, once in a command. Whether they accept it.
pub(crate) fn tell(held: &HeldProject<'_>) -> bool {
    let mode = MODE.get().copied().unwrap_or(HeldBackMode::Tell);
    if mode == HeldBackMode::Quiet || IS_TOLD.swap(true, Ordering::AcqRel) {
        return false;
    }
    let can_ask = mode == HeldBackMode::Ask && !held.is_declined && confinement::refuse().is_ok();
    let terminal = can_ask.then(|| PromptTerminal::open(false, true));
    if let Some(mut terminal) = terminal.flatten() {
        return ask(&mut terminal, held);
    }
    let widened = &held.held_back.widened;
    let Some(first) = widened.first() else {
        return false;
    };
    let more = match widened.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let hint = hint!(
        "not in force until you run `{}`: {}{more}",
        trust_command(held.root),
        visible_line(&sentence(first))
    );
    remark(&format!("jig: {}", hint.text()));
    false
}

fn ask(terminal: &mut PromptTerminal, held: &HeldProject<'_>) -> bool {
    let head = format!(
        "{YELLOW}?{YELLOW:#} {BOLD}The files of {} allow this beyond jig's defaults:{BOLD:#}\n{}\
         {BOLD}Do you accept it?{BOLD:#} Without it, jig goes on with the rest.\n",
        visible_line(held.root.as_str()),
        listed(&held.held_back.widened)
    );
    let answer = terminal.word(&head, "[y]es, [n]o", &["yes", "no"]);
    answer.as_deref() == Some("yes")
}

/// The command that shows what waits in a workspace and accepts it, as it is typed here.
pub(crate) fn trust_command(root: &Utf8Path) -> String {
    match locate::root(None) {
        Ok(here) if here == root => "jig trust".to_owned(),
        _ => format!("jig trust -C {}", visible_line(&shell_word(root.as_str()))),
    }
}

/// What is new, with the name of its tool as the subject.
fn sentence(widened: &Widened) -> String {
    let tool = widened.tool.as_ref();
    let tool = tool.map(|name| format!("`{name}` ")).unwrap_or_default();
    let at = widened.at.as_ref();
    let at = at.map(|at| format!(" ({at})")).unwrap_or_default();
    format!("{tool}{}{at}", widened.what)
}

/// What waits, line by line.
pub(crate) fn listed(widened: &[Widened]) -> String {
    let lines = widened
        .iter()
        .map(|one| format!("  - {}\n", visible_words(&one.to_string())));
    lines.collect()
}
