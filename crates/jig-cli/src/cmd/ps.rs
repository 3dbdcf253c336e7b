//! `jig ps`: what runs.

mod proxies;

use std::time::Duration;

use camino::Utf8PathBuf;
use jig_project::{CommandEnvironment, locate};
use jig_proto::{visible_line, visible_lines, visible_words};
use jig_station::client::StationClient;
use jig_station::protocol::{HandleRow, QuestionAuthor, StationRequest, VERSION};
use jig_station::proxies::{list, list_first};
use serde_json::{Value as Json, json};

use super::fetch::station_here;
use crate::args::{GlobalArgs, PsArgs};
use crate::exit::Done;
use crate::limits;
use crate::output::{CliOutput, table};

pub(crate) fn run(args: &PsArgs, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let env = CommandEnvironment::of_this_process();
    let clients = match args.all {
        true => StationClient::all(&env)?,
        false => station_here(global)?.into_iter().collect(),
    };
    let mut rows: Vec<(Utf8PathBuf, HandleRow)> = Vec::new();
    for mut client in clients {
        let workspace = client.welcome().workspace.clone();
        if args.all && client.is_foreign() {
            out.note(&format!(
                "jig: what runs in `{workspace}` is held by jig {}, and this is jig {VERSION}",
                client.welcome().jig
            ));
            continue;
        }
        let listed: Vec<HandleRow> = client.ask(&StationRequest::List)?;
        rows.extend(listed.into_iter().map(|row| (workspace.clone(), row)));
    }
    let found = match args.all {
        true => list(None, &env)?,
        false => list_first(&locate::roots(global.workspace.as_deref())?, &env)?,
    };
    for silent in &found.silent {
        out.note(&format!("jig: {}", visible_lines(silent)));
    }
    if out.is_json() {
        let proxies = found.proxies.iter().map(proxies::as_json);
        out.json(&rows.iter().map(as_json).chain(proxies).collect())?;
    } else if rows.is_empty() && found.proxies.is_empty() {
        // Of those that did not answer nothing is known.
        if found.silent.is_empty() {
            let place = if args.all { "" } else { " in this workspace" };
            out.note(&format!(
                "nothing runs{place}; `jig spawn TOOL` starts a tool"
            ));
        }
    } else {
        let tools = (!rows.is_empty()).then(|| printed(args.all, &rows));
        let proxies =
            (!found.proxies.is_empty()).then(|| proxies::printed(args.all, &found.proxies));
        let parts: Vec<String> = tools.into_iter().chain(proxies).collect();
        out.text(&parts.join("\n"))?;
    }
    Ok(Done::Ok)
}

fn as_json((workspace, row): &(Utf8PathBuf, HandleRow)) -> Json {
    let mut value = json!(row);
    value["workspace"] = json!(workspace);
    value["kind"] = json!("tool");
    value
}

fn printed(with_workspace: bool, rows: &[(Utf8PathBuf, HandleRow)]) -> String {
    let mut header = vec!["id", "tool", "state", "age", "cpu", "memory", "pid"];
    if with_workspace {
        header.push("workspace");
    }
    let none = || "-".to_owned();
    let row = |(workspace, row): &(Utf8PathBuf, HandleRow)| {
        let cpu = row
            .cpu_ms
            .map(|time| format!("{:.1}s", time as f64 / 1000.0));
        let mut cells = vec![
            row.id.clone(),
            visible_line(&row.tool),
            row.state.clone(),
            limits::age(Duration::from_millis(row.age_ms)),
            cpu.unwrap_or_else(none),
            row.memory.map_or_else(none, limits::size),
            row.pid.map_or_else(none, |pid| pid.to_string()),
        ];
        if with_workspace {
            cells.push(visible_line(workspace.as_str()));
        }
        cells
    };
    let mut text = table(&header, &rows.iter().map(row).collect::<Vec<_>>());
    for (_, row) in rows {
        if let Some(question) = &row.question {
            let question = visible_words(question);
            let who = match row.asked_by {
                Some(QuestionAuthor::Policy) => "jig asks".to_owned(),
                _ => format!("`{}` asks", visible_line(&row.tool)),
            };
            let id = &row.id;
            text.push_str(&format!(
                "{id}: {who}: {question} (`jig fetch {id}` says how to answer)\n"
            ));
        }
    }
    text
}
