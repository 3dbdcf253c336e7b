//! `jig import`: the MCP servers of a client, as servers of jig.
//!
//! The client's files are only read. What would be written is shown, and written with `--write`. A server that a
//! file of the workspace names is a stranger's as far as jig knows: it is not run before a person has said so.

mod report;

use std::io::{self, IsTerminal as _};

use anyhow::anyhow;
use jig_clients::import::change::{self, ImportRun, ImportTarget};
use jig_clients::import::conversion::{self, ImportItem, ImportOutcome};
use jig_clients::import::declared::{self, ClientFileScope};
use jig_clients::import::filled_text::ImportText;
use jig_clients::import::imported_server::{self, EntryReach};
use jig_clients::import::secret::SecretVariables;
use jig_clients::settings_file::CopyName;
use jig_project::{CommandEnvironment, Project, accepted, locate};
use jig_proto::{hint, visible_words};

use self::report::ImportReport;
use crate::args::{GlobalArgs, ImportArgs};
use crate::exit::Done;
use crate::interrupt;
use crate::output::{BOLD, CliOutput, YELLOW};
use crate::prompt::PromptTerminal;

pub(crate) fn run(
    args: &ImportArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let env = CommandEnvironment::of_this_process();
    let root = locate::root(global.workspace.as_deref())?;
    let project = Project::load_at(root.clone(), &global.selection(), &[])?;
    let target = ImportTarget::new(args.global, &global.selection(), &root, &env)?;
    let files = declared::find(args.client, args.file.as_deref(), args.global, &root, &env)?;
    if files.iter().all(|file| file.servers.is_empty()) {
        let looked: Vec<String> = files
            .iter()
            .map(|file| format!("`{}`", file.shown))
            .collect();
        let hint = hint!("--file names another file");
        let title = args.client.client().title();
        let what = format!("{title} has no servers in {}", looked.join(", "));
        return Err(anyhow!(hint).context(what));
    }
    let mut secrets = SecretVariables::default();
    let wanted = (args.client, args.only.as_slice());
    let mut items =
        conversion::converted(wanted, &files, &root, &env, project.config(), &mut secrets);
    if items.is_empty() {
        let names = files.iter().flat_map(|file| &file.servers);
        let names: Vec<String> = names
            .map(|(name, _)| imported_server::short(name))
            .collect();
        let hint = hint!("there are {}", names.join(", "));
        return Err(anyhow!(hint).context("no server has the name that --only wants"));
    }
    let runs = items.iter().any(is_program);
    let import = ImportRun {
        root: &root,
        env: &env,
        target: &target,
        no_suggest: args.no_suggest,
        may_run_strangers: runs && may_run_strangers(args, &items, out),
    };
    if runs {
        let tokens = interrupt::tokens()?;
        let found = import.find_access(&mut items, (&tokens.cancel, &tokens.kill))?;
        if found.is_none() {
            return Err(anyhow!("interrupted: nothing was written"));
        }
    }
    let change = import.change(&mut items)?;
    let mut report = ImportReport {
        client: args.client,
        files: &files,
        items: &items,
        secrets: &secrets,
        target: &target,
        change: change.as_ref(),
        is_global: args.global,
        written: None,
    };
    if let Some(change) = change.as_ref().filter(|_| args.write) {
        if !args.global {
            accepted::accept_written(&global.selection(), &root, &target.path, &change.after)?;
        }
        let backup = target.file.write(&change.after, CopyName::Dated)?;
        let made = import.make(&items);
        let accepted = match args.global {
            true => Ok(Vec::new()),
            false => change::accept(&items, change, &root, &global.selection(), &env),
        };
        report.written = Some(report::ImportResult {
            backup,
            made,
            accepted,
        });
    }
    report.print(out)?;
    Ok(Done::Ok)
}

/// Whether a server is a program that would be started.
fn is_program(item: &ImportItem) -> bool {
    match &item.fate {
        ImportOutcome::New(imported, _) => matches!(imported.reach, EntryReach::Program { .. }),
        _ => false,
    }
}

/// Whether servers that a file of the workspace names may be run.
fn may_run_strangers(args: &ImportArgs, items: &[ImportItem], out: &CliOutput) -> bool {
    if args.suggest || args.no_suggest {
        return args.suggest;
    }
    let strangers = items.iter().filter_map(|item| match &item.fate {
        ImportOutcome::New(imported, _)
            if imported.scope == ClientFileScope::Project && imported.enable =>
        {
            Some(imported)
        }
        _ => None,
    });
    let mut lines = String::new();
    for stranger in strangers {
        if let EntryReach::Program { command, .. } = &stranger.reach {
            let words: Vec<String> = command.iter().map(ImportText::written).collect();
            lines.push_str(&format!(
                "  {}: {}\n",
                stranger.name,
                visible_words(&words.join(" "))
            ));
        }
    }
    let is_asked = !out.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal();
    if lines.is_empty() || !is_asked {
        return false;
    }
    let Some(mut terminal) = PromptTerminal::open(false, true) else {
        return false;
    };
    let head = format!(
        "\n{YELLOW}?{YELLOW:#} {BOLD}Run these servers, which a file of this workspace names, to see what they need?{BOLD:#}\n\
         {lines}  They see most of this machine, but no keys and no network, and nothing that they do stays.\n"
    );
    let answer = terminal.word(&head, "[y]es, [n]o", &["yes", "no"]);
    answer.as_deref() == Some("yes")
}
