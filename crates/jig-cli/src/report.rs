//! What is known of a handle, for a person.

use std::io::{self, IsTerminal as _};

use anyhow::Context;
use jig_proto::{HandleReport, ToolError, ToolState, hint, visible_lines};
use jig_station::protocol::{HandleResult, StationNotice, StationQuestion};
use serde_json::Value as Json;

use crate::diff;
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN, RED, YELLOW};

/// Prints one report, as it came from a station. The end tells whether the tool has failed.
pub(crate) fn show(told: HandleResult, out: &mut CliOutput) -> anyhow::Result<Done> {
    let mut report = told.value;
    let read = StationReport::of(report.clone())?;
    if out.is_json() {
        let notices = told.notices.into_iter().map(|news| news.notice);
        let notices: Vec<Json> = notices.collect();
        if !notices.is_empty() {
            report["notices"] = Json::Array(notices);
        }
        out.json(&report)?;
    } else {
        print(&read, out)?;
        tell(&told.notices, out);
    }
    Ok(done(&read.report))
}

/// Prints several.
pub(crate) fn show_all(told: HandleResult, out: &mut CliOutput) -> anyhow::Result<Done> {
    let reports = read_all(&told)?;
    if out.is_json() {
        out.json(&told.value)?;
    } else {
        for report in &reports {
            print(report, out)?;
        }
    }
    // A list has no room for them, so that programs, too, get them as remarks.
    tell(&told.notices, out);
    let failed = reports
        .iter()
        .any(|read| matches!(done(&read.report), Done::Bad));
    Ok(if failed { Done::Bad } else { Done::Ok })
}

/// The reports in what a station told.
pub(crate) fn read_all(told: &HandleResult) -> anyhow::Result<Vec<StationReport>> {
    let reports = told.value.as_array().into_iter().flatten();
    reports
        .map(|report| StationReport::of(report.clone()))
        .collect()
}

/// Prints what else there is to tell.
pub(crate) fn tell(notices: &[StationNotice], out: &mut CliOutput) {
    for news in notices.iter().take(MOST_NEWS) {
        out.note(&format!("jig: {}", news.text));
    }
    if let Some(more) = notices
        .len()
        .checked_sub(MOST_NEWS)
        .filter(|more| *more > 0)
    {
        out.note(&format!("jig: and {more} more; `jig ps` lists all"));
    }
}

/// A report of a station.
pub(crate) struct StationReport {
    pub(crate) report: HandleReport,
    /// The question that it shows, if its tool waits.
    pub(crate) asked: Option<StationQuestion>,
}

impl StationReport {
    /// A report, and what belongs to its question.
    pub(crate) fn of(mut value: Json) -> anyhow::Result<Self> {
        let mut take = |name: &str| {
            let object = value.as_object_mut();
            object.and_then(|object| object.shift_remove(name))
        };
        let parts = (take("question_number"), take("asked_by"), take("tool"));
        let read = HandleReport::read(value).context("the station's report has another form")?;
        let report = read.value;
        let asked = match (parts, &report.state) {
            ((Some(number), Some(by), Some(tool)), ToolState::Waiting { question, .. }) => {
                let parts = (
                    serde_json::from_value(number),
                    serde_json::from_value(by),
                    serde_json::from_value(tool),
                );
                match parts {
                    (Ok(number), Ok(by), Ok(tool)) => Some(StationQuestion {
                        number,
                        by,
                        tool,
                        question: question.clone(),
                    }),
                    _ => None,
                }
            }
            _ => None,
        };
        Ok(Self { report, asked })
    }
}

fn done(report: &HandleReport) -> Done {
    match &report.state {
        ToolState::Stopped { result: Err(_), .. } => Done::Bad,
        _ => Done::Ok,
    }
}

/// Prints a report for a person.
pub(crate) fn print(read: &StationReport, out: &mut CliOutput) -> anyhow::Result<()> {
    let StationReport { report, asked } = read;
    let id = &report.id;
    let (style, state) = match &report.state {
        ToolState::Running { .. } => (GREEN, "running"),
        ToolState::Waiting { .. } => (YELLOW, "waiting"),
        ToolState::Stopped { result: Ok(_), .. } => (DIM, "stopped"),
        ToolState::Stopped { result: Err(_), .. } => (RED, "stopped"),
    };
    let code = report.details.exit_code;
    let code = code.map_or(String::new(), |code| {
        format!(" {DIM}exit code {code}{DIM:#}")
    });
    out.text(&format!(
        "{BOLD}{id}{BOLD:#} {style}{state}{style:#}{code}\n"
    ))?;
    said(&report.state.content().to_text(), out)?;
    if let Some(cut) = &report.details.cut {
        out.note(&format!(
            "jig: {} bytes are left out: {}",
            cut.bytes, cut.hint
        ));
    }
    for note in &report.details.notes {
        out.note(&format!("jig: {note}"));
    }
    match &report.state {
        ToolState::Running { .. } => Ok(()),
        ToolState::Waiting { .. } => match asked {
            Some(asked) => ask(id.as_str(), asked, out),
            // It was answered while this came here.
            None => Ok(()),
        },
        ToolState::Stopped { result, .. } => match result {
            Ok(result) => said(&result.to_text(), out),
            Err(error) => failure(error, out),
        },
    }
}

/// Prints why a tool failed. What a program printed is shown as it printed it, and not as the JSON in which
/// models are told of it (J-014).
pub(crate) fn failure(error: &ToolError, out: &mut CliOutput) -> anyhow::Result<()> {
    let failed = ToolErrorParts::of(error);
    said(&failed.stdout, out)?;
    if !failed.stderr.is_empty() {
        out.note(failed.stderr.trim_end_matches('\n'));
    }
    let causes = failed.causes.into_iter().map(visible_lines);
    out.error(&visible_lines(&failed.message), causes);
    out.denials(&error.denials);
    Ok(())
}

/// The error of a tool, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
struct ToolErrorParts<'e> {
    message: String,
    causes: Vec<&'e str>,
    stdout: String,
    stderr: String,
}

impl<'e> ToolErrorParts<'e> {
    fn of(error: &'e ToolError) -> Self {
        let mut failed = Self::default();
        for cause in &error.trace {
            match cause.split_once(": ") {
                Some(("stdout", text)) => failed.stdout.push_str(text),
                Some(("stderr", text)) => failed.stderr.push_str(text),
                _ => failed.causes.push(cause),
            }
        }
        match printed(&error.message) {
            None => failed.message.clone_from(&error.message),
            Some([message, stdout, stderr]) => {
                // How it ended says more than that it failed.
                failed.message = match failed.causes.is_empty() {
                    true => message,
                    false => failed.causes.remove(0).to_owned(),
                };
                failed.stdout.push_str(&stdout);
                failed.stderr.push_str(&stderr);
            }
        }
        failed
    }
}

/// The message and the two streams of a program that failed, if that is what a message holds.
fn printed(message: &str) -> Option<[String; 3]> {
    let Ok(Json::Object(mut told)) = serde_json::from_str(message) else {
        return None;
    };
    let mut take = |name: &str| match told.remove(name) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    };
    let parts = [take("message")?, take("stdout")?, take("stderr")?];
    told.is_empty().then_some(parts)
}

/// What a tool says. It must not steer the terminal.
fn said(text: &str, out: &mut CliOutput) -> anyhow::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match io::stdout().is_terminal() {
        true => out.text(&format!("{}{end}", visible_lines(text))),
        false => out.raw(&format!("{text}{end}")),
    }
}

/// Shows a question, whose it is, and the command that answers it.
fn ask(id: &str, asked: &StationQuestion, out: &mut CliOutput) -> anyhow::Result<()> {
    let (who, text) = (asked.lead_in(), asked.text());
    let mut shown = format!("{YELLOW}?{YELLOW:#} {who}: {BOLD}{text}{BOLD:#}\n");
    if let Some(context) = &asked.question.context {
        for line in diff::coloured(&visible_lines(context)).lines() {
            shown.push_str(&format!("  {line}\n"));
        }
    }
    out.text(&shown)?;
    out.note(&hint!("answer with `{}`", asked.command(id)).to_string());
    Ok(())
}

/// How many handles are told of at once.
const MOST_NEWS: usize = 20;

#[cfg(test)]
mod tests;
