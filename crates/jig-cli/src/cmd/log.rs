//! `jig log`: what was decided.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::anyhow;
use jig_broker::{AuditDecision, AuditEntry, AuditFilter, AuditReader};
use jig_project::{CommandEnvironment, audit_log, locate};
use jig_proto::{visible_json, visible_line, visible_lines};

use crate::args::{DecisionFilter, GlobalArgs, LogArgs};
use crate::cmd::run;
use crate::cmd::run::allowing_flags::{self, FlagContext};
use crate::exit::Done;
use crate::output::{BOLD, CYAN, CliOutput, DIM, GREEN, RED, YELLOW};
use crate::times::moment;

pub(crate) fn run(
    args: &LogArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let root = locate::root(global.workspace.as_deref())?;
    let env = CommandEnvironment::of_this_process();
    let directory = audit_log::directory(&root, &env)
        .ok_or_else(|| anyhow!("there is no home folder, so there is no log"))?;
    let filter = AuditFilter {
        tool: args.tool.clone(),
        call: None,
        decision: args.decision.map(|decision| match decision {
            DecisionFilter::Allow => AuditDecision::Allow,
            DecisionFilter::Deny => AuditDecision::Deny,
            DecisionFilter::Uncovered => AuditDecision::Uncovered,
        }),
        since: args.since.as_deref().map(moment).transpose()?,
        until: args.until.as_deref().map(moment).transpose()?,
    };
    if args.follow {
        // What is to be followed has to be there, also before the first decision.
        audit_log::open(&root, &env).map_err(|error| anyhow!(error))?;
    }
    let mut reader = match AuditReader::open(&directory, filter) {
        Ok(reader) => Some(reader),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            let context = format!("cannot read the log in `{directory}`");
            return Err(anyhow!(error).context(context));
        }
    };
    let current = locate::current()?;
    let place = FlagContext {
        root: &root,
        current: &current,
    };
    let mut any = false;
    let mut last = VecDeque::new();
    while let Some(entry) = reader.as_mut().map_or(Ok(None), AuditReader::next_entry)? {
        any = true;
        let Some(most) = args.lines else {
            print(&entry, place, out)?;
            continue;
        };
        last.push_back(entry);
        if last.len() > most {
            last.pop_front();
        }
    }
    for entry in last {
        print(&entry, place, out)?;
    }
    if !any && !args.follow && !out.is_json() {
        out.note("nothing was decided here yet, or nothing that you asked for");
    }
    let Some(mut reader) = reader.filter(|_| args.follow) else {
        return Ok(Done::Ok);
    };
    // Until the person has seen enough, or the reader of our output has.
    loop {
        if let Some(entry) = reader.wait_for_entry(Duration::from_secs(60))? {
            print(&entry, place, out)?;
        }
    }
}

fn print(entry: &AuditEntry, place: FlagContext<'_>, out: &mut CliOutput) -> anyhow::Result<()> {
    if out.is_json() {
        return out.raw(&visible_json(format!(
            "{}\n",
            serde_json::to_string(entry)?
        )));
    }
    let style = match entry.decision {
        AuditDecision::Allow => GREEN,
        AuditDecision::Deny => RED,
        _ => YELLOW,
    };
    let decision = entry.decision.name();
    let target = visible_line(&entry.target);
    let mut line = format!(
        "{DIM}{}{DIM:#}  {style}{decision:<9}{style:#}  {BOLD}{:<16}{BOLD:#}  {:<12}  {target}",
        entry.time.strftime("%F %T"),
        visible_line(&entry.tool),
        visible_line(&entry.operation),
    );
    if let Some(rule) = &entry.rule {
        let origin = entry.origin.as_deref().map(|origin| format!(" ({origin})"));
        let rule = visible_line(&format!("{rule}{}", origin.unwrap_or_default()));
        line.push_str(&format!("  {CYAN}{rule}{CYAN:#}"));
    }
    // A rule that stands somewhere, or that allows, says enough. Else a person decided, nobody could, or the sandbox.
    let is_allowed = entry.decision == AuditDecision::Allow;
    let says_enough = entry.rule.is_some() && (entry.origin.is_some() || is_allowed);
    if !says_enough && !entry.reason.is_empty() {
        line.push_str(&format!("  {DIM}{}{DIM:#}", visible_line(&entry.reason)));
    }
    if let Some(outcome) = entry.outcome.as_deref().filter(|outcome| *outcome != "ok") {
        line.push_str(&format!("  {YELLOW}{}{YELLOW:#}", visible_line(outcome)));
    }
    line.push('\n');
    let hint = entry.hint.as_deref();
    let hint = hint.filter(|_| entry.decision == AuditDecision::Deny);
    // A command that is no tool has flags, and no configuration that a rule could be added to.
    if entry.tool == run::NAME {
        let flags = hint.and_then(|hint| allowing_flags::of_hint(hint, place));
        if let Some(flags) = flags.filter(|flags| !flags.is_empty()) {
            let offer = visible_lines(&allowing_flags::offer(&flags));
            line.push_str(&format!("    {DIM}{offer}{DIM:#}\n"));
        }
    } else if let Some(hint) = hint {
        line.push_str(&format!("    {DIM}to allow it, add:{DIM:#}\n"));
        for rule in hint.trim_end().lines() {
            line.push_str(&format!("      {}\n", visible_lines(rule)));
        }
    }
    out.text(&line)
}
