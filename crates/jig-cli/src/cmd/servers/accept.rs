//! `jig servers accept`: what waits for a person is shown, and accepted by them.

use anyhow::{anyhow, bail};
use jig_config::Server;
use jig_engine::HeldOffer;
use jig_mcp::ServerSelection;
use jig_project::servers::WorkspaceServers;
use jig_proto::{hint, visible_line, visible_lines};
use serde_json::json;

use super::view::SHORT_HASH;
use crate::diff;
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, indented};
use crate::prompt::PromptTerminal;

pub(super) fn run(
    server: &Server,
    yes: bool,
    connections: &WorkspaceServers,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let name = &server.name;
    if !server.enable {
        bail!("the server `{name}` is switched off by `enable = false`");
    }
    let servers = connections.servers();
    let mut accepted = 0;
    if !servers.told(server).accepted {
        let question = format!("A file of this workspace declares `{name}`. May it be started?");
        match agreed(server, &question, yes, connections, out)? {
            Some(count) => accepted += count,
            None => return Ok(Done::Bad),
        }
    }
    // What it offers is known only by asking it.
    let offered = connections.offered(ServerSelection::One(name.clone()));
    if let Some((_, why)) = offered.problems.iter().find(|(of, _)| of == name) {
        let error = anyhow!(why.clone());
        return Err(match accepted {
            0 => error,
            _ => error.context(format!("`{name}` is accepted, but cannot be used")),
        });
    }
    let question = format!("Accept this of `{name}`?");
    match agreed(server, &question, yes, connections, out)? {
        Some(count) => accepted += count,
        None => return Ok(Done::Bad),
    }
    let tools = servers.told(server).tools.len();
    if out.is_json() {
        out.json(&json!({ "name": name, "accepted": accepted, "tools": tools }))?;
    } else {
        let what = match accepted {
            0 => "nothing waits for you",
            _ => "accepted",
        };
        let noun = if tools == 1 { "tool" } else { "tools" };
        out.text(&format!(
            "{BOLD}{name}{BOLD:#}: {what}; it has {tools} {noun}\n"
        ))?;
    }
    Ok(Done::Ok)
}

/// Shows what waits, asks, and keeps exactly what was shown: how many things that were, or `None` if the answer
/// was no. Without a terminal only `--yes` is a yes.
fn agreed(
    server: &Server,
    question: &str,
    yes: bool,
    connections: &WorkspaceServers,
    out: &mut CliOutput,
) -> anyhow::Result<Option<usize>> {
    let held = connections.servers().held_of(server);
    if held.is_empty() {
        return Ok(Some(0));
    }
    let shown: String = held.iter().map(|held| shown(server, held)).collect();
    // For programs there is one answer, at the end.
    match out.is_json() {
        true => out.aside(&shown),
        false => out.text(&shown)?,
    }
    if !yes {
        let Some(mut terminal) = PromptTerminal::open(false, true) else {
            let hint = hint!(
                "`jig servers accept {} --yes` accepts what was shown",
                server.name
            );
            return Err(anyhow!(hint).context("nobody can be asked here"));
        };
        let head = format!("{BOLD}{}{BOLD:#}\n", visible_lines(question));
        let word = terminal.word(&head, "[y]es, [n]o", &["yes", "no"]);
        if word.as_deref() != Some("yes") {
            out.note(&format!("`{}` is left as it was", server.name));
            return Ok(None);
        }
    }
    for held in &held {
        connections.accept(held)?;
    }
    Ok(Some(held.len()))
}

/// What a person accepts.
fn shown(server: &Server, held: &HeldOffer) -> String {
    let (title, about, lines) = match held {
        HeldOffer::Server {
            name, described, ..
        } => (
            name,
            format!("declared at {}", server.declared_at()),
            described.join("\n"),
        ),
        HeldOffer::Definition {
            tool,
            accepted,
            now,
            changed,
            ..
        } => {
            let hashes = match accepted.is_empty() {
                true => format!("new, {}", short(now)),
                false => format!("was {}, is {} now", short(accepted), short(now)),
            };
            (tool, hashes, changed.clone())
        }
    };
    let title = visible_line(title);
    let lines = diff::coloured(&visible_lines(&lines));
    format!(
        "{BOLD}{title}{BOLD:#}  {DIM}{}{DIM:#}\n{}\n",
        visible_line(&about),
        indented(&lines, 2)
    )
}

fn short(hash: &str) -> String {
    hash.chars().take(SHORT_HASH).collect()
}
