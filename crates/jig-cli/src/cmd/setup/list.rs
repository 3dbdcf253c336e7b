//! The clients, and which of them are connected.

use camino::Utf8Path;
use jig_clients::AgentClient;
use jig_clients::entry::{ExistingEntry, ServerEntry};
use jig_clients::settings_file::SettingsFile;
use jig_clients::way_to_server::on_search_path;
use jig_project::{CommandEnvironment, locate};
use jig_proto::visible_lines;
use serde_json::{Value as Json, json};

use crate::exit::Done;
use crate::output::{CliOutput, table};

/// Lists them, for the workspace at `root` and for its user.
pub(super) fn run(
    name: &str,
    root: &Utf8Path,
    env: &CommandEnvironment,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let rows: Vec<SetupRow> = AgentClient::ALL
        .into_iter()
        .map(|client| SetupRow::new(client, name, root, env))
        .collect();
    if out.is_json() {
        let clients: Vec<Json> = rows.iter().map(SetupRow::json).collect();
        out.json(&json!({ "workspace": root, "clients": clients }))?;
        return Ok(Done::Ok);
    }
    let header = ["CLIENT", "INSTALLED", "THIS PROJECT", "ALL PROJECTS"];
    let rows: Vec<Vec<String>> = rows.iter().map(SetupRow::cells).collect();
    let mut text = table(&header, &rows);
    text.push_str("\nConnect one with `jig setup CLIENT`: it shows what it would write, and --write writes it.\n");
    out.text(&text)?;
    Ok(Done::Ok)
}

struct SetupRow {
    client: AgentClient,
    installed: bool,
    project: ClientFileState,
    user: ClientFileState,
}

/// Whether a file connects its client.
enum ClientFileState {
    Connected,
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl SetupRow {
    fn new(client: AgentClient, name: &str, root: &Utf8Path, env: &CommandEnvironment) -> Self {
        let (programs, folder) = client.traces(env);
        let installed = programs
            .iter()
            .any(|program| on_search_path(program, env).is_some())
            || folder.is_some_and(|folder| locate::resolved(&folder).is_ok());
        let user = client.user_file(env);
        Self {
            client,
            installed,
            project: state(
                client,
                name,
                SettingsFile::of_project(root, client.project_file(), env),
            ),
            user: user.map_or(ClientFileState::Missing, |path| {
                state(client, name, SettingsFile::of_user(&path, env))
            }),
        }
    }

    fn json(&self) -> Json {
        json!({
            "client": self.client.name(),
            "title": self.client.title(),
            "installed": self.installed,
            "project": self.project.json(),
            "user": self.user.json(),
        })
    }

    fn cells(&self) -> Vec<String> {
        let installed = if self.installed { "yes" } else { "-" };
        vec![
            self.client.name().to_owned(),
            installed.to_owned(),
            self.project.cell(),
            self.user.cell(),
        ]
    }
}

impl ClientFileState {
    fn json(&self) -> Json {
        match self {
            Self::Connected => json!({ "state": "connected" }),
            Self::Missing => json!({ "state": "missing" }),
            Self::Unreadable(why) => json!({ "state": "unreadable", "why": why }),
        }
    }

    fn cell(&self) -> String {
        match self {
            Self::Connected => "connected".to_owned(),
            Self::Missing => "-".to_owned(),
            Self::Unreadable(why) => visible_lines(why),
        }
    }
}

/// Whether there is an entry of that name, whatever it says.
fn state(client: AgentClient, name: &str, file: anyhow::Result<SettingsFile>) -> ClientFileState {
    let entry = ServerEntry {
        name: name.to_owned(),
        value: json!({}),
        input: None,
    };
    let file = match file {
        Ok(file) => file,
        Err(error) => return ClientFileState::Unreadable(error.to_string()),
    };
    match client.find(file.text.as_deref().unwrap_or_default(), &entry) {
        Ok(ExistingEntry::Missing) => ClientFileState::Missing,
        Ok(_) => ClientFileState::Connected,
        Err(fault) => ClientFileState::Unreadable(format!("`{}`, {fault}", file.shown)),
    }
}
