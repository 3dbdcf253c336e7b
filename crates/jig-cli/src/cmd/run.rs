//! `jig run`: any command, under the policy of a tool or the default one.

pub(super) mod allowing_flags;
mod layer;
mod live_refusals;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Discover, FoundPreset, ProgramEnd, ProgramEnding};
use jig_config::SandboxLimits;
use jig_engine::{CallError, CommandLog, Preparation, PreparedCommand, RunningCommand};
use jig_project::{
    CommandEnvironment, Project, audit_log, engines, hosts, locate, servers, shell_word,
};
use jig_proto::{Denial, hint, visible_line, visible_lines};
use jig_sandbox::{ByteSize, PathRule, RuleSource, assess, probe};
use serde_json::json;

use self::live_refusals::{DenialWatcher, WatchedCommand};
use crate::args::{GlobalArgs, RunArgs};
use crate::cmd::call;
use crate::exit::Done;
use crate::foreground::{self, Foreground, ForegroundLimits, UsedLimits};
use crate::limits;
use crate::output::{BOLD, CliOutput, DIM, field};

pub(crate) fn run(
    args: &RunArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    match attempt(args, global, out) {
        Ok(done) => Ok(done),
        // A command may well end with the codes that jig gives its own failures.
        Err(error) if args.dry_run => Err(error),
        Err(error) => Ok(Done::NotRun(foreground::code_of(&error), error)),
    }
}

fn attempt(args: &RunArgs, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let (project, tool) = project(args, global)?;
    let (limits, table) = limits_of(&project, &tool)?;
    let engine = match args.dry_run {
        true => engines::without_log(&project, &CommandEnvironment::of_this_process())?,
        false => call::engine(&project)?,
    };
    let command = foreground::words(&args.command, "jig run")?;
    let preparation = Preparation {
        // What would only explain a refusal is not part of what is enforced.
        observe: !args.no_observe && !args.dry_run,
        is_tried: args.overlay,
        discover: match args.no_preset {
            true => Discover::Nothing,
            false => Discover::OfProject,
        },
        directory: locate::current().ok().map(Into::into),
        ..Preparation::default()
    };
    let mut prepared =
        engine
            .prepare(&tool, &command, preparation)
            .map_err(|error| match error {
                CallError::Start { error, .. } => anyhow::Error::from(error),
                CallError::Unconfinable { reason, .. } => foreground::not_held(&reason),
                error => error.into(),
            })?;
    if args.dry_run {
        shown(args, &prepared, &limits, out)?;
        return Ok(Done::Ok);
    }
    let layers = match args.overlay {
        true => Some(engine.lay(&mut prepared)?),
        false => None,
    };
    layer::warn(layers.as_deref().unwrap_or_default(), out);
    if let Some(found) = presets(&prepared.confined.found) {
        out.note(&format!("jig: {found}"));
    }
    for warning in prepared.confined.warnings.iter().chain(&prepared.warnings) {
        out.note(&format!("jig: {warning}"));
    }
    let own = ForegroundLimits {
        time: limits.time,
        output: limits.output,
    };
    let mut foreground = Foreground::open(args.hold.pty, own)?;
    let (root, policy) = (prepared.root.clone(), Arc::clone(&prepared.policy));
    let profile = Arc::clone(&prepared.confined.profile);
    let home = prepared.confined.home.clone();
    let command = start(args, prepared, &mut foreground)?;
    let program = command.program();
    if let Some(reason) = program.unobserved() {
        out.note(&format!("jig: a refusal will not be explained: {reason}"));
    }
    foreground::tell_gaps(program.child(), out);
    let telling = DenialWatcher::begin(WatchedCommand {
        refusals: program.refusals(),
        child: Arc::clone(program.child()),
        profile,
        by_flags: args.policy.is_none(),
    });
    let ended = foreground.run(program);
    let untold = telling.and_then(DenialWatcher::end);
    let ended = ended?;
    let (exit, by_jig) = (ended.exit, ended.is_late || ended.is_flood);
    let tree = *program.limits();
    let reached = foreground::reached(program.child(), exit, &tree);
    let went_well = exit.is_success() && !by_jig && !reached.iter().any(|limit| limit.ends_tree());
    let ending = match went_well {
        true => ProgramEnding::Unexplained,
        false => ProgramEnding::Failed { said: "" },
    };
    let mut settled = Ok(true);
    // The sweep looks at what a layer brings as at what the command left.
    let end = command.finish(audit_log::outcome(exit), exit, ending, |_| {
        if let Some(layers) = layers {
            settled = layer::settle(layers, args, &root, &policy, went_well, out);
        }
    });
    foreground::tell_unlogged(end.unlogged.as_ref(), out);
    let settled = settled?;
    let ProgramEnd {
        denials,
        intruders,
        left_behind: left,
        lost,
        unwatched,
        ..
    } = end.program;
    for intruder in &intruders {
        out.note(&format!("jig: {intruder}"));
    }
    ended.tell_ignored(out);
    let used = UsedLimits {
        time: limits.time.filter(|_| ended.is_late),
        output: limits.output.filter(|_| ended.is_flood),
        reached,
        tree,
        table,
    };
    let ended_by_limit = used.tell(out);
    if let Some(untold) = untold.filter(|_| !went_well) {
        out.note(&untold);
    }
    // A limit ends everything at once, also what the command was waiting for.
    if !left.is_empty() && !ended_by_limit {
        let verb = if left.len() == 1 { "was" } else { "were" };
        let left = left.join("`, `").replace(['\n', '\t'], " ");
        out.note(&format!(
            "jig: `{left}` {verb} still running in the background and {verb} ended with the command"
        ));
    }
    if let Some(unwatched) = unwatched {
        out.note(&unwatched);
    }
    if let Some(lost) = lost_at_home(&lost, &home) {
        out.note(&lost);
    }
    if !went_well {
        explained(args, &root, &denials, out)?;
    }
    Ok(match ended_by_limit {
        true => Done::Passed(foreground::BY_LIMIT),
        // Whoever goes on because all went well would go on without what was moved away.
        false if exit.is_success() && !(intruders.is_empty() && settled) => Done::Bad,
        false => Done::Passed(exit),
    })
}

/// The presets that were found and show something of the user's own, in one line.
fn presets(found: &[FoundPreset]) -> Option<String> {
    let shown = found.iter().filter_map(|found| {
        let shows = found.shows.as_ref()?;
        Some(format!("{} ({})", found.preset, visible_lines(shows)))
    });
    let shown: Vec<String> = shown.collect();
    match &shown[..] {
        [] => None,
        [one] => Some(format!("preset {one}; --no-preset leaves it out")),
        several => {
            let several = several.join(", ");
            Some(format!("presets {several}; --no-preset leaves them out"))
        }
    }
}

/// Says that files were written where nothing stays, in one line.
fn lost_at_home(lost: &[PathBuf], home: &Path) -> Option<String> {
    let first = lost.first()?;
    let first = first.strip_prefix(home).unwrap_or(first);
    let first = visible_line(&first.to_string_lossy());
    let (more, them) = match lost.len() - 1 {
        0 => (String::new(), "it"),
        more => (format!(" and {more} more"), "them"),
    };
    Some(format!(
        "jig: `~/{first}`{more} went with the command, whose home is private; to keep {them}, write to the workspace, \
         or to a folder that --write names"
    ))
}

/// The limits of what has this label, and its table in the configuration.
fn limits_of(project: &Project, label: &str) -> anyhow::Result<(SandboxLimits, String)> {
    let tool = match project.config().labelled(label) {
        Some(tool) => tool,
        None => project.tool(label)?,
    };
    let limits = SandboxLimits {
        // The default is for calls, whose output is kept.
        output: tool.declared_output(),
        ..tool.sandbox.limits
    };
    Ok((limits, tool.table()))
}

/// Says what the command was refused, and what would allow it.
fn explained(
    args: &RunArgs,
    root: &Utf8Path,
    denials: &[Denial],
    out: &mut CliOutput,
) -> anyhow::Result<()> {
    let current = locate::current()?;
    let place = allowing_flags::FlagContext {
        root,
        current: &current,
    };
    let flags = match args.policy {
        // What allows it belongs into the configuration of that tool.
        Some(_) => Vec::new(),
        None => allowing_flags::flags(denials, args, place),
    };
    for denial in denials {
        let mut denial = denial.clone();
        if args.policy.is_none() {
            denial.advice = denial.advice.map(|advice| allowing_flags::advice(&advice));
            // There is no tool whose rules could be added to.
            denial.hint = None;
        }
        out.note(&format!(
            "jig: refused: {}",
            visible_lines(&denial.to_string())
        ));
    }
    if !flags.is_empty() {
        out.note(&format!("hint: {}", allowing_flags::offer(&flags)));
    }
    Ok(())
}

/// The configuration with one more tool, which is this command, unless there is one whose policy applies.
fn project(args: &RunArgs, global: &GlobalArgs) -> anyhow::Result<(Project, String)> {
    let given = args.root.as_deref().or(global.workspace.as_deref());
    let root = locate::root(given)?;
    let (name, table) = match &args.policy {
        // An unknown name must not become a new tool by what is set on it.
        Some(name) => held_to(
            &Project::load_at(root.clone(), &global.selection(), &[])?,
            name,
        )?,
        None => (NAME.to_owned(), format!("tools.{}", json!(NAME))),
    };
    let key = |key: &str| format!("{table}.{key}");
    let mut sets = Vec::new();
    if args.policy.is_none() {
        let (inside, outside) = rules(args, &root)?;
        sets.push(format!("{}=\"local\"", key("source")));
        sets.push(format!("{}=\"true\"", key("command")));
        if !inside.is_empty() {
            sets.push(format!("{}=[{}]", key("access.fs"), inside.join(",")));
        }
        if !outside.is_empty() {
            sets.push(format!("{}=[{}]", key("sandbox.system"), outside.join(",")));
        }
        if !args.net.is_empty() {
            let rules = args.net.iter().map(|host| hosts::rule(host));
            let rules = rules.collect::<anyhow::Result<Vec<String>>>()?;
            sets.push(format!("{}=[{}]", key("access.net"), rules.join(",")));
        }
        if !args.env.is_empty() {
            let rules = args
                .env
                .iter()
                .map(|name| format!("{{name={},read=true}}", json!(name)));
            let rules: Vec<String> = rules.collect();
            sets.push(format!("{}=[{}]", key("access.env"), rules.join(",")));
        }
    }
    sets.extend(foreground::settings(&args.hold, &table));
    let project = Project::load_at(root, &global.selection(), &sets)?;
    if args.policy.is_none() {
        project.made_up(
            &name,
            hint!("rename it, or name it as the one that applies: --policy jig-run"),
        )?;
    }
    Ok((project, name))
}

/// The tool whose policy applies, or the program of an MCP server (`mcp.NAME`), by its label; and its table in the
/// configuration.
fn held_to(project: &Project, name: &str) -> anyhow::Result<(String, String)> {
    let tool = servers::ruled(project, name)?;
    Ok((tool.label(), tool.table()))
}

/// The rules for paths inside the workspace, and the list of those outside, as TOML.
fn rules(args: &RunArgs, root: &Utf8Path) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let current = locate::current()?;
    let read = args.read.iter().map(|path| (path, false));
    let write = args.write.iter().map(|path| (path, true));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (path, write) in read.chain(write) {
        let shown = path;
        let path = current.join(path);
        // In the workspace a rule is on what a person wrote: a link there may be a tool's.
        let written = locate::inside_as_written(&path, root);
        let path = locate::resolved(&path).map_err(|error| {
            let folder = allowing_flags::quoted(shown.as_str());
            // What is read has to be there; what is written into can be made.
            let error = match write && error.kind() == ErrorKind::NotFound {
                // A name with a dot is rather that of a file.
                true if shown.file_name().is_some_and(|name| name.contains('.')) => {
                    let parent = shown.parent().filter(|parent| !parent.as_str().is_empty());
                    anyhow!(
                        match parent.map(|parent| allowing_flags::quoted(parent.as_str())) {
                            Some(parent) =>
                                hint!("make it first: mkdir -p {parent} && touch {folder}"),
                            None => hint!("make it first: touch {folder}"),
                        }
                    )
                }
                true => anyhow!(hint!("make it first: mkdir -p {folder}")),
                false => anyhow!(error),
            };
            error.context(format!(
                "there is no `{}` to give access to",
                visible_line(shown.as_str())
            ))
        })?;
        match written {
            Some(inner) => {
                let rights = match write {
                    true => "read=true,write=true,execute=true",
                    false => "read=true,execute=true",
                };
                inside.push(format!("{{path={},{rights}}}", json!(inner)));
            }
            None => outside.push(format!(
                "{{path={},write={write},execute=true}}",
                json!(path)
            )),
        }
    }
    Ok((inside, outside))
}

/// Starts the command.
fn start(
    args: &RunArgs,
    prepared: PreparedCommand,
    foreground: &mut Foreground,
) -> anyhow::Result<RunningCommand> {
    let streams = foreground.streams()?;
    let profile = Arc::clone(&prepared.confined.profile);
    let root = prepared.root.clone();
    let words = args.command.get(1..).unwrap_or_default();
    let started = prepared.start(
        CommandLog::run("jig run", &args.command),
        words,
        |request| {
            // Where jig was called, if the command can see that.
            if let Ok(current) = locate::current()
                && current.starts_with(&root)
                && request.cwd == root
            {
                request.cwd = current.into_std_path_buf();
            }
            streams.hand_over(request);
        },
    );
    started.map_err(|error| foreground::not_started(error, &profile))
}

/// What would be enforced.
fn shown(
    args: &RunArgs,
    prepared: &PreparedCommand,
    limits: &SandboxLimits,
    out: &mut CliOutput,
) -> anyhow::Result<()> {
    let confined = &prepared.confined;
    let profile = &confined.profile;
    let names: Vec<String> = confined
        .env
        .keys()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if out.is_json() {
        let found = confined.found.iter();
        let found: Vec<&str> = found.map(|found| found.preset.name()).collect();
        return out.json(&json!({
            "command": args.command,
            "program": confined.program.as_os_str().to_string_lossy(),
            "cwd": confined.cwd,
            "profile": &**profile,
            "env": names,
            "limits": limits::json(limits),
            "presets_found": found,
            "warnings": confined.warnings,
        }));
    }
    let words: Vec<String> = args.command.iter().map(|word| shell_word(word)).collect();
    let mut text = format!("{BOLD}{}{BOLD:#}\n", words.join(" "));
    text.push_str(&field(
        "program",
        confined.program.as_os_str().to_string_lossy(),
    ));
    text.push_str(&field("starts in", confined.cwd.display()));
    text.push_str(&field("network", network(prepared)));
    text.push_str(&field("env", names.join(" ")));
    text.push_str(&field("limits", limits::listed(limits)));
    if args.overlay {
        text.push_str(&field("changes", "go to a layer"));
    }
    if let Some(found) = presets(&confined.found) {
        text.push_str(&field("found", found));
    }
    text.push_str(&format!(
        "\n{DIM}files; the deepest path that matches decides{DIM:#}\n"
    ));
    let mut rows: Vec<(Utf8PathBuf, String)> = Vec::new();
    // What is guarded and not there is said in one line for all.
    let is_there = |rule: &&PathRule| rule.source != RuleSource::Guard;
    for rule in profile.paths.iter().filter(is_there) {
        let path = Utf8PathBuf::from(rule.path.to_string_lossy().into_owned());
        rows.push((path, rule.rights.to_string()));
    }
    // A workspace that only leads to what is shown of it is no place of the command's own.
    let leads = |path: &Path| path == confined.cwd && profile.sealed.iter().any(|it| it == path);
    for private in profile.private.iter().filter(|it| !leads(&it.path)) {
        let path = Utf8PathBuf::from(private.path.to_string_lossy().into_owned());
        rows.push((path, format!("private, {}", ByteSize(private.size))));
    }
    rows.sort();
    let width = rows
        .iter()
        .map(|(path, _)| path.as_str().chars().count())
        .max()
        .unwrap_or(0);
    for (path, rights) in rows {
        text.push_str(&format!("  {path:width$}  {rights}\n"));
    }
    if !profile.guarded_names.is_empty() {
        let held = match assess(&probe()).refuses_guarded_names() {
            true => "refused before they come into being",
            false => "moved away within a tenth of a second after they came into being",
        };
        let count = profile.guarded_names.len();
        let guarded = format!("{count} patterns of names that it may not make; they are {held}");
        text.push_str(&field("guarded", guarded));
    }
    if !profile.pins.is_empty() {
        let pins = profile.pins.iter().map(|path| path.display().to_string());
        let pins: Vec<String> = pins.collect();
        text.push_str(&field("pinned", pins.join(" ")));
    }
    for warning in &confined.warnings {
        text.push_str(&field("note", warning));
    }
    out.text(&text)
}

/// What of the network its rules open. There may be a gateway without rules, which only explains refusals.
fn network(prepared: &PreparedCommand) -> String {
    let ports: Vec<String> = prepared.policy.ports().iter().map(u16::to_string).collect();
    match ports.is_empty() {
        true => "none".to_owned(),
        false => format!("the hosts of its rules, on ports {}", ports.join(", ")),
    }
}

/// What the command is called among the tools, and in the log.
pub(super) const NAME: &str = "jig-run";
