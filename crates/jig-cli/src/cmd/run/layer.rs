//! `jig run --overlay`: what becomes of the changes when the command has ended.

use std::io::{self, IsTerminal as _};

use anyhow::Context;
use camino::Utf8Path;
use jig_engine::may_apply;
use jig_files::{ApplyReport, Change, ChangeKind, ChangeLayer, Diff, DiffLimits, PathKind};
use jig_policy::Policy;
use jig_proto::{ProjectPath, visible_line, visible_lines};
use jig_sandbox::ByteSize;
use serde_json::{Value as Json, json};

use crate::args::RunArgs;
use crate::diff;
use crate::interrupt;
use crate::output::{BOLD, CliOutput, DIM, GREEN, RED, YELLOW};
use crate::prompt::PromptTerminal;

/// Shows what the command changed, and applies or discards it. Whether all that was to be applied is.
pub(super) fn settle(
    layers: Vec<ChangeLayer>,
    args: &RunArgs,
    root: &Utf8Path,
    policy: &Policy,
    went_well: bool,
    out: &mut CliOutput,
) -> anyhow::Result<bool> {
    let mut parts = Vec::new();
    for layer in layers {
        parts.push(RunLayer::read(layer, root)?);
    }
    parts.retain(|part| !part.changes.is_empty());
    if parts.is_empty() {
        match out.is_json() {
            true => out.json(&told(&parts, "unchanged", None, &[]))?,
            false => out.note("jig: the command changed nothing"),
        }
        return Ok(true);
    }
    if !out.is_json() {
        out.aside(&summary(&parts));
        out.aside(&diffs(&parts, FIRST_VIEW, "`s` shows all"));
    }
    let (apply, why) = decision(&parts, args, went_well, out)?;
    if !apply {
        if out.is_json() {
            out.json(&told(&parts, "discarded", why, &[]))?;
        } else {
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            out.note(&format!("jig: the changes were discarded{why}"));
        }
        return discard(parts).map(|()| true);
    }
    let mut outcomes = Vec::new();
    let mut kept = Vec::new();
    for part in parts {
        let (changes, outcome) = part.apply(policy)?;
        kept.push(changes);
        outcomes.push(outcome);
    }
    let is_complete = outcomes.iter().all(|(_, applied)| applied.is_complete());
    match out.is_json() {
        true => out.json(&told(&kept, "applied", None, &outcomes))?,
        false => out.aside(&outcome(&outcomes)),
    }
    Ok(is_complete)
}

/// Says where a layer will not do. The kernel copies a file into it with its owner, and an ordinary user has
/// only one group there: programs that change what belongs to another one get `EOVERFLOW`.
pub(super) fn warn(layers: &[ChangeLayer], out: &mut CliOutput) {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let own = rustix::process::getegid().as_raw();
    for lower in layers.iter().map(ChangeLayer::lower) {
        if let Ok(about) = rustix::fs::stat(lower)
            && about.st_gid != own
        {
            out.note(&format!(
                "jig: `{}` belongs to another group than your first, and what does cannot be changed in a \
                 layer (\"value too large\"); `sg` or `newgrp` makes it your first",
                lower.display()
            ));
        }
    }
}

/// A layer and what is in it. When the layer has been used up, only the changes are left.
struct RunLayer {
    layer: Option<ChangeLayer>,
    /// The directory that it lies on: relative in the workspace, absolute elsewhere.
    at: OverlayPath,
    changes: Vec<Change>,
}

enum OverlayPath {
    Inside(ProjectPath),
    Outside(String),
}

impl OverlayPath {
    /// The path of a change, as people know it.
    fn shown(&self, change: &Change) -> String {
        match self {
            OverlayPath::Inside(above) => above.join(&change.path).to_string(),
            OverlayPath::Outside(above) if change.path.is_root() => above.clone(),
            OverlayPath::Outside(above) => format!("{above}/{}", change.path),
        }
    }

    /// Whether the rules allow it. Outside of the workspace the sandbox has held the command to them.
    fn allows(&self, policy: &Policy, change: &Change) -> bool {
        match self {
            OverlayPath::Inside(above) => {
                let mut whole = change.clone();
                whole.path = above.join(&change.path);
                may_apply(policy, &whole)
            }
            OverlayPath::Outside(_) => true,
        }
    }
}

impl RunLayer {
    fn read(layer: ChangeLayer, root: &Utf8Path) -> anyhow::Result<Self> {
        let lower = layer.lower().to_string_lossy().into_owned();
        let inside = Utf8Path::new(&lower).strip_prefix(root).ok();
        let at = match inside.map(Utf8Path::as_str) {
            Some("") => OverlayPath::Inside(ProjectPath::root()),
            Some(inside) => OverlayPath::Inside(ProjectPath::normalize(inside)?),
            None => OverlayPath::Outside(lower),
        };
        let changes = layer
            .changes()
            .context("cannot read what the command changed, so it is discarded")?;
        Ok(Self {
            layer: Some(layer),
            at,
            changes,
        })
    }

    fn apply(mut self, policy: &Policy) -> anyhow::Result<(Self, (OverlayPath, ApplyReport))> {
        let failed = "cannot apply what the command changed, so it is discarded";
        let layer = self.layer.take().context(failed)?;
        let applied = layer
            .apply(&|change| self.at.allows(policy, change))
            .context(failed)?;
        let at = match &self.at {
            OverlayPath::Inside(path) => OverlayPath::Inside(path.clone()),
            OverlayPath::Outside(path) => OverlayPath::Outside(path.clone()),
        };
        Ok((self, (at, applied)))
    }
}

fn discard(parts: Vec<RunLayer>) -> anyhow::Result<()> {
    for layer in parts.into_iter().filter_map(|part| part.layer) {
        layer.discard().context("cannot remove the changes")?;
    }
    Ok(())
}

/// Whether to apply, and if not, why.
fn decision(
    parts: &[RunLayer],
    args: &RunArgs,
    went_well: bool,
    out: &mut CliOutput,
) -> anyhow::Result<(bool, Option<&'static str>)> {
    if args.discard {
        return Ok((false, None));
    }
    if args.apply {
        return Ok(match went_well {
            true => (true, None),
            false => (
                false,
                Some("the command failed, and --apply is for one that ends with 0"),
            ),
        });
    }
    let nobody = "nobody was there to ask; with --apply they are kept";
    if out.is_json() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok((false, Some(nobody)));
    }
    let Some(mut terminal) = PromptTerminal::open(false, true) else {
        return Ok((false, Some(nobody)));
    };
    // The command is gone, and with it whoever passed Ctrl-C on to it.
    let _tokens = interrupt::tokens()?;
    let mut head = format!("\n{YELLOW}?{YELLOW:#} {BOLD}Apply these changes?{BOLD:#}\n");
    if !went_well {
        head.push_str(&format!("  {RED}the command failed{RED:#}\n"));
    }
    loop {
        let words = ["apply", "show", "discard"];
        let help = "[a]pply, [s]how the whole diff, [d]iscard";
        match terminal.word(&head, help, &words).as_deref() {
            Some("apply") => return Ok((true, None)),
            Some("show") => out.aside(&diffs(parts, DiffLimits::default(), "")),
            Some(_) => return Ok((false, None)),
            None => return Ok((false, Some("there was no answer"))),
        }
        head.clear();
    }
}

/// How many changes there are of each kind, and the first of them.
fn summary(parts: &[RunLayer]) -> String {
    let all = parts.iter().flat_map(|part| &part.changes);
    let counts = ChangeKind::counted(all.clone());
    let mut text = format!("\n{BOLD}changes:{BOLD:#} {counts}\n");
    let lines = parts
        .iter()
        .flat_map(|part| part.changes.iter().map(|change| line(&part.at, change)));
    text.extend(lines.take(SHOWN_PATHS));
    let count = all.count();
    if count > SHOWN_PATHS {
        text.push_str(&format!("  {DIM}and {} more{DIM:#}\n", count - SHOWN_PATHS));
    }
    text
}

/// `  M src/main.rs  mode 644 to 755`
fn line(at: &OverlayPath, change: &Change) -> String {
    let (letter, style) = match change.kind {
        ChangeKind::Created => ('A', GREEN),
        ChangeKind::Modified => ('M', YELLOW),
        ChangeKind::Deleted => ('D', RED),
        ChangeKind::Retyped => ('T', YELLOW),
    };
    let mut notes = Vec::new();
    if let (ChangeKind::Retyped, Some(was)) = (change.kind, change.was) {
        notes.push(format!("{was} to {}", change.what));
    } else if change.what != PathKind::File {
        notes.push(change.what.to_string());
    }
    if let Some((before, after)) = change.mode {
        notes.push(format!("mode {before:o} to {after:o}"));
    }
    if change.is_of_attributes() && change.mode.is_none() {
        notes.push(match change.attributes {
            true => "attributes only".to_owned(),
            false => "time only".to_owned(),
        });
    }
    if change.conflict {
        notes.push("changed by somebody else meanwhile".to_owned());
    }
    if let Some(unfit) = change.unfit {
        notes.push(format!("cannot be applied: {unfit}"));
    }
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!("  {DIM}{}{DIM:#}", notes.join(", ")),
    };
    let path = on_one_line(&at.shown(change));
    format!("  {style}{letter}{style:#} {path}{notes}\n")
}

/// The diffs, up to about so many lines of all of them together.
fn diffs(parts: &[RunLayer], limits: DiffLimits, rest: &str) -> String {
    let most = limits.lines;
    let mut text = String::new();
    let (mut lines, mut left_out) = (0, 0);
    for part in parts {
        let Some(layer) = &part.layer else {
            continue;
        };
        for change in part.changes.iter().filter(|change| change.content) {
            if lines >= most {
                left_out += 1;
                continue;
            }
            let limits = DiffLimits {
                lines: most - lines,
                ..limits
            };
            let path = on_one_line(&part.at.shown(change));
            let (shown, count) = match layer.diff(change, limits) {
                Ok(Diff::Text { text, left_off }) => {
                    let text = named(&text, &part.at, change);
                    let mut shown = diff::coloured(&visible_lines(&text));
                    if left_off > 0 {
                        shown.push_str(&format!("{DIM}({left_off} more lines){DIM:#}\n"));
                    }
                    (shown, text.lines().count())
                }
                Ok(Diff::Binary { before, after }) => {
                    let sizes = sizes(change, before, after);
                    (format!("{path}: binary, {sizes}\n"), 1)
                }
                Ok(Diff::TooLarge { before, after }) => {
                    let sizes = sizes(change, before, after);
                    (format!("{path}: too large to show, {sizes}\n"), 1)
                }
                Ok(_) => continue,
                Err(error) => (format!("{path}: cannot be shown: {error}\n"), 1),
            };
            text.push('\n');
            text.push_str(&shown);
            lines += count;
        }
    }
    if left_out > 0 {
        let rest = match rest {
            "" => String::new(),
            rest => format!("; {rest}"),
        };
        text.push_str(&format!(
            "\n{DIM}and diffs of {left_out} more{rest}{DIM:#}\n"
        ));
    }
    text
}

/// A diff with the paths that people know in its first two lines.
fn named(text: &str, at: &OverlayPath, change: &Change) -> String {
    let path = on_one_line(&at.shown(change));
    let place = |mark: &str, side: &str| match at {
        OverlayPath::Inside(_) => format!("{mark} {side}/{path}\n"),
        OverlayPath::Outside(_) => format!("{mark} {path}\n"),
    };
    let mut named = String::with_capacity(text.len());
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match number {
            0 if line.starts_with("--- a/") => named.push_str(&place("---", "a")),
            1 if line.starts_with("+++ b/") => named.push_str(&place("+++", "b")),
            _ => named.push_str(line),
        }
    }
    named
}

fn sizes(change: &Change, before: u64, after: u64) -> String {
    match change.kind {
        ChangeKind::Created => ByteSize(after).to_string(),
        ChangeKind::Deleted => ByteSize(before).to_string(),
        _ => format!("{} to {}", ByteSize(before), ByteSize(after)),
    }
}

/// What became of the changes.
fn outcome(outcomes: &[(OverlayPath, ApplyReport)]) -> String {
    let done: usize = outcomes.iter().map(|(_, applied)| applied.done.len()).sum();
    let noun = if done == 1 { "change" } else { "changes" };
    let mut text = format!("jig: {done} {noun} applied\n");
    let mut left_out = 0;
    let mut told = 0;
    let mut add = |at: &OverlayPath, change: &Change, why: &str| {
        // A tool can make as many names as it likes that cannot be applied.
        if told == SHOWN_PATHS {
            left_out += 1;
            return;
        }
        told += 1;
        let path = on_one_line(&at.shown(change));
        let kind = change.kind.name();
        text.push_str(&format!(
            "jig: not applied: {kind} {path}: {}\n",
            visible_lines(why)
        ));
    };
    for (at, applied) in outcomes {
        for change in &applied.refused {
            add(at, change, "the rules do not allow it");
        }
        for change in &applied.conflicts {
            add(at, change, "somebody else has changed it meanwhile");
        }
        for failed in &applied.failed {
            add(at, &failed.change, &failed.why);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("jig: not applied: {left_out} more\n"));
    }
    for kept in outcomes
        .iter()
        .filter_map(|(_, applied)| applied.kept.as_ref())
    {
        let kept = kept.display().to_string();
        text.push_str(&format!(
            "jig: what the command made is kept for a week in {}\n",
            visible_lines(&kept)
        ));
    }
    text
}

/// All of it, for programs.
fn told(
    parts: &[RunLayer],
    outcome: &str,
    why: Option<&str>,
    outcomes: &[(OverlayPath, ApplyReport)],
) -> Json {
    let changes: Vec<Json> = parts
        .iter()
        .flat_map(|part| {
            part.changes
                .iter()
                .map(|change| change_told(&part.at, change))
        })
        .collect();
    let mut told = json!({ "changes": changes, "outcome": outcome });
    if let Some(why) = why {
        told["why"] = json!(why);
    }
    let paths = |of: fn(&ApplyReport) -> &[Change]| -> Vec<String> {
        let outcomes = outcomes.iter();
        outcomes
            .flat_map(|(at, applied)| of(applied).iter().map(|change| at.shown(change)))
            .collect()
    };
    if outcome == "applied" {
        let failed = outcomes.iter().flat_map(|(at, applied)| {
            let failed = applied.failed.iter();
            failed.map(|one| json!({ "path": at.shown(&one.change), "why": one.why }))
        });
        told["failed"] = failed.collect();
        told["applied"] = json!(paths(|applied| &applied.done));
        told["refused"] = json!(paths(|applied| &applied.refused));
        told["conflicts"] = json!(paths(|applied| &applied.conflicts));
        let kept = outcomes
            .iter()
            .filter_map(|(_, applied)| applied.kept.as_ref());
        let kept: Vec<String> = kept.map(|kept| kept.display().to_string()).collect();
        told["kept"] = json!(kept);
    }
    told
}

fn change_told(at: &OverlayPath, change: &Change) -> Json {
    let mut told = json!({
        "path": at.shown(change),
        "kind": change.kind.name(),
        "what": change.what.name(),
        "size": change.size,
        "content": change.content,
        "conflict": change.conflict,
    });
    if let Some(was) = change.was {
        told["was"] = json!(was.name());
    }
    if let Some((before, after)) = change.mode {
        told["mode"] = json!([format!("{before:o}"), format!("{after:o}")]);
    }
    if let Some(unfit) = change.unfit {
        told["unfit"] = json!(unfit.to_string());
    }
    told
}

/// A path in which a tool has put a line end must not pass for two, and one that is very long not hide others.
fn on_one_line(path: &str) -> String {
    let path = visible_line(path);
    match path.char_indices().nth(SHOWN_PATH) {
        None => path,
        Some((end, _)) => {
            let left_off = path[end..].chars().count();
            format!("{}… ({left_off} more characters)", &path[..end])
        }
    }
}

/// How many paths are listed.
const SHOWN_PATHS: usize = 100;

/// How many characters of a path are shown.
const SHOWN_PATH: usize = 300;

/// How much of the diffs is shown before somebody asks for more.
const FIRST_VIEW: DiffLimits = DiffLimits {
    size: 1 << 20,
    lines: 200,
    width: 300,
};
