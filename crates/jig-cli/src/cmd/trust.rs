//! `jig trust`: what the files of a workspace allow is shown, and accepted by a person.

use anyhow::anyhow;
use jig_config::{HeldBack, Widened};
use jig_project::accepted::{self, AcceptedConfiguration};
use jig_project::{CommandEnvironment, Project, Selection, confinement, locate};
use jig_proto::{hint, visible_line};
use serde_json::{Value as Json, json};

use crate::args::{GlobalArgs, TrustArgs};
use crate::exit::Done;
use crate::held_back;
use crate::output::{BOLD, CliOutput, GREEN};
use crate::prompt::PromptTerminal;

pub(crate) fn run(
    args: &TrustArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let env = CommandEnvironment::of_this_process();
    if args.list {
        return list(&env, out);
    }
    let root = locate::root(global.workspace.as_deref())?;
    let accepted = AcceptedConfiguration::of(&root, &env);
    if args.revoke {
        return revoke(&accepted, out);
    }
    let selection = Selection {
        // What is accepted for one run says nothing of what is remembered.
        trust: false,
        ..global.selection()
    };
    let project = Project::load_at(root, &selection, &[])?;
    let Some(held_back) = project.config().held_back.clone() else {
        return nothing(&project, out);
    };
    if out.is_json() && !args.yes {
        out.json(&json!({
            "workspace": project.root,
            "accepted": false,
            "waits": waits(&held_back.widened),
        }))?;
        return Ok(Done::Ok);
    }
    confinement::refuse()?;
    if !out.is_json() {
        out.text(&format!(
            "{BOLD}The files of this workspace allow this beyond jig's defaults:{BOLD:#}\n{}",
            held_back::listed(&held_back.widened)
        ))?;
    }
    if !args.yes && !agreed(&project)? {
        accepted.decline(&held_back.config.content)?;
        out.note("nothing was accepted: the rest of the configuration goes on");
        return Ok(Done::Bad);
    }
    accepted.accept(&held_back.config.content)?;
    told(&project, &held_back, out)
}

fn agreed(project: &Project) -> anyhow::Result<bool> {
    let Some(mut terminal) = PromptTerminal::open(false, true) else {
        let command = held_back::trust_command(&project.root);
        let hint = hint!("`{command} --yes` accepts what was shown");
        return Err(anyhow!(hint).context("nobody can be asked here"));
    };
    let head = format!("{BOLD}Do you accept it?{BOLD:#}\n");
    let answer = terminal.word(&head, "[y]es, [n]o", &["yes", "no"]);
    Ok(answer.as_deref() == Some("yes"))
}

fn told(project: &Project, held_back: &HeldBack, out: &mut CliOutput) -> anyhow::Result<Done> {
    match out.is_json() {
        true => out.json(&json!({
            "workspace": project.root,
            "accepted": true,
            "waits": [],
            "was": waits(&held_back.widened),
        }))?,
        false => out.text(&format!("{GREEN}accepted{GREEN:#}\n"))?,
    }
    Ok(Done::Ok)
}

fn nothing(project: &Project, out: &mut CliOutput) -> anyhow::Result<Done> {
    let root = &project.root;
    match out.is_json() {
        true => out.json(&json!({ "workspace": root, "accepted": true, "waits": [] }))?,
        false => out.text("nothing waits for you here\n")?,
    }
    Ok(Done::Ok)
}

fn revoke(accepted: &AcceptedConfiguration, out: &mut CliOutput) -> anyhow::Result<Done> {
    confinement::refuse()?;
    let forgotten = accepted.revoke()?;
    match out.is_json() {
        true => out.json(&json!({ "forgotten": forgotten }))?,
        false if forgotten == 0 => out.text("nothing was accepted of this workspace\n")?,
        false => out.text("forgotten: what this workspace allows waits for you again\n")?,
    }
    Ok(Done::Ok)
}

fn list(env: &CommandEnvironment, out: &mut CliOutput) -> anyhow::Result<Done> {
    let all = accepted::all(env)?;
    if out.is_json() {
        let all = all
            .iter()
            .map(|one| json!({ "workspace": one.root, "contents": one.contents }));
        out.json(&Json::Array(all.collect()))?;
        return Ok(Done::Ok);
    }
    if all.is_empty() {
        out.note("nothing was accepted of any workspace");
    }
    let lines = all
        .iter()
        .map(|one| format!("{}\n", visible_line(one.root.as_str())));
    out.text(&lines.collect::<String>())?;
    Ok(Done::Ok)
}

/// What waits, for programs.
fn waits(widened: &[Widened]) -> Json {
    let all = widened.iter().map(|one| {
        json!({
            "tool": one.tool,
            "what": one.what,
            "at": one.at.as_ref().map(ToString::to_string),
        })
    });
    Json::Array(all.collect())
}
