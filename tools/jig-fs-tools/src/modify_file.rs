//! `fs_modify_file`: parts of a text file, replaced.

use std::time::Duration;

use jig_tool::vfs::{Edit, FsPatch, FsWrite, Host, Payload};
use jig_tool::{Content, Question, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::diff;
use crate::phrases::{count, error, quoted};
use crate::refusal::explain;
use crate::replace::{self, ReplaceBounds, ReplacePattern};

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let call = ModifyFileCall::of(host)?;
    match call.change(host)? {
        Some(change) => call.apply(host, change),
        None => call.patch(host),
    }
}

/// What would change, for a person who decides about the call.
pub(crate) fn preview(host: &mut Host) -> Result<String, ToolError> {
    let call = ModifyFileCall::of(host)?;
    let diff = match call.change(host)? {
        Some(change) => change.diff,
        None => call.diff_of_patterns(),
    };
    Ok(format!("Change {}.\n\n{diff}", quoted(&call.path)))
}

/// What was asked for.
struct ModifyFileCall {
    path: String,
    patterns: Vec<ReplacePattern>,
}

/// What becomes of the file.
struct ModifiedFile {
    text: String,
    count: u64,
    diff: String,
    etag: Option<String>,
}

impl ModifyFileCall {
    fn of(host: &Host) -> Result<Self, ToolError> {
        let mut arguments = ToolArguments::of(host);
        let path = arguments.path("path")?;
        let patterns = arguments
            .objects("patterns")?
            .into_iter()
            .map(|mut pattern| {
                Ok(ReplacePattern {
                    old: pattern.text("old")?,
                    new: pattern.text("new")?,
                    is_regex: pattern.flag("regex")?,
                    all: pattern.flag("all")?,
                })
            });
        let patterns: Vec<ReplacePattern> = patterns.collect::<Result<_, ToolError>>()?;
        if patterns.is_empty() {
            return Err(ToolError::new(
                "`patterns` is empty: there is nothing to change",
            ));
        }
        Ok(Self { path, patterns })
    }

    /// What becomes of the file; `None` if it may not be read, but can be changed unseen.
    fn change(&self, host: &mut Host) -> Result<Option<ModifiedFile>, ToolError> {
        let file = match host.read_file(&self.path) {
            Ok(file) => file,
            Err(refused) if refused.is_denied() && !self.needs_sight() => return Ok(None),
            Err(refused) => return Err(explain(&self.path, refused)),
        };
        let before = match file.content {
            Payload::Text(text) => text.into_owned(),
            Payload::Bytes(bytes) => {
                let size = count(bytes.len() as u64, "byte");
                let message = format!("{} is a binary file ({size})", quoted(&self.path));
                return Err(error(message, hint!("this tool changes text only")));
            }
        };
        let bounds = ReplaceBounds {
            bytes: usize::try_from(host.limits().file_bytes).unwrap_or(usize::MAX),
            time: PATIENCE,
        };
        let replaced = replace::apply(&before, &self.patterns, bounds).map_err(|problem| {
            let message = format!("{} was not changed: {problem}", quoted(&self.path));
            error(message, problem.hint)
        })?;
        if replaced.text == before {
            let message = format!(
                "{} was not changed: the patterns put back what they replace",
                quoted(&self.path)
            );
            return Err(ToolError::new(message));
        }
        let diff = match replace::ends_with_crlf(&before) {
            true => diff::unified(
                &self.path,
                &replace::to_lf(&before),
                &replace::to_lf(&replaced.text),
            ),
            false => diff::unified(&self.path, &before, &replaced.text),
        };
        Ok(Some(ModifiedFile {
            text: replaced.text,
            count: replaced.count,
            diff,
            etag: file.etag.map(|etag| etag.into_owned()),
        }))
    }

    /// Whether the host can't do it for a tool that may not read the file.
    fn needs_sight(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_regex)
    }

    fn apply(&self, host: &mut Host, change: ModifiedFile) -> Result<Content, ToolError> {
        self.confirm(host, &change.diff)?;
        let write = FsWrite {
            // What was agreed upon is the change of this version.
            if_match: change.etag.map(Into::into),
            ..FsWrite::new(self.path.as_str(), change.text.as_str())
        };
        host.write_with(write)
            .map_err(|refused| explain(&self.path, refused))?;
        let replacements = count(change.count, "replacement");
        let path = quoted(&self.path);
        Ok(format!("Changed {path} ({replacements}).\n\n{}", change.diff).into())
    }

    /// Lets the host replace the text, which needs no more than `update`.
    fn patch(&self, host: &mut Host) -> Result<Content, ToolError> {
        self.confirm(host, &self.diff_of_patterns())?;
        let edit = |pattern: &ReplacePattern| Edit {
            old: pattern.old.clone().into(),
            new: pattern.new.clone().into(),
            all: pattern.all,
        };
        let edits = self.patterns.iter().map(edit).collect();
        host.patch_with(FsPatch::new(self.path.as_str(), edits))
            .map_err(|refused| explain(&self.path, refused))?;
        Ok(format!("Changed {}.", quoted(&self.path)).into())
    }

    /// All that can be shown of a file that may not be read.
    fn diff_of_patterns(&self) -> String {
        let diff = |pattern: &ReplacePattern| diff::unified(&self.path, &pattern.old, &pattern.new);
        self.patterns.iter().map(diff).collect()
    }

    fn confirm(&self, host: &mut Host, diff: &str) -> Result<(), ToolError> {
        if !host.option_is_on("confirmation_mode", true) {
            return Ok(());
        }
        let lines = |sign: char| {
            diff.lines()
                .skip(2)
                .filter(|line| line.starts_with(sign))
                .count()
        };
        let text = format!(
            "Apply these changes to {} ({} added, {} removed)?",
            quoted(&self.path),
            count(lines('+') as u64, "line"),
            lines('-')
        );
        let question = Question {
            context: Some(diff.to_owned()),
            ..Question::yes_no("apply_changes", text).with_default(true)
        };
        if host.confirm(question)? {
            return Ok(());
        }
        let message = format!(
            "{} was not changed: the changes were declined",
            quoted(&self.path)
        );
        Err(error(message, hint!("ask what should be different")))
    }
}

/// How long matching may take.
const PATIENCE: Duration = Duration::from_secs(5);
