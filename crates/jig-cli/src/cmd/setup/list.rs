//! The clients, and which of them are connected.

use camino::Utf8Path;
use jig_clients::Client;
use jig_clients::entry::{Entry, Found};
use jig_clients::settings_file::SettingsFile;
use jig_clients::way_to_server::on_search_path;
use jig_project::{Environment, locate};
use jig_proto::visible_lines;
use serde_json::{Value as Json, json};

use crate::exit::Done;
use crate::output::{Output, table};

/// Lists them, for the workspace at `root` and for its user.
pub(super) fn run(
    name: &str,
    root: &Utf8Path,
    env: &Environment,
    out: &mut Output,
) -> anyhow::Result<Done> {
    let rows: Vec<Row> = Client::ALL
        .into_iter()
        .map(|client| Row::new(client, name, root, env))
        .collect();
    if out.is_json() {
        let clients: Vec<Json> = rows.iter().map(Row::json).collect();
        out.json(&json!({ "workspace": root, "clients": clients }))?;
        return Ok(Done::Ok);
    }
    let header = ["CLIENT", "INSTALLED", "THIS PROJECT", "ALL PROJECTS"];
    let rows: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    let mut text = table(&header, &rows);
    text.push_str("\nConnect one with `jig setup CLIENT`: it shows what it would write, and --write writes it.\n");
    out.text(&text)?;
    Ok(Done::Ok)
}

struct Row {
    client: Client,
    installed: bool,
    project: State,
    user: State,
}

/// Whether a file connects its client.
enum State {
    Connected,
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl Row {
    fn new(client: Client, name: &str, root: &Utf8Path, env: &Environment) -> Self {
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
            user: user.map_or(State::Missing, |path| {
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

impl State {
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
fn state(client: Client, name: &str, file: anyhow::Result<SettingsFile>) -> State {
    let entry = Entry {
        name: name.to_owned(),
        value: json!({}),
        input: None,
    };
    let file = match file {
        Ok(file) => file,
        Err(error) => return State::Unreadable(error.to_string()),
    };
    match client.find(file.text.as_deref().unwrap_or_default(), &entry) {
        Ok(Found::Missing) => State::Missing,
        Ok(_) => State::Connected,
        Err(fault) => State::Unreadable(format!("`{}`, {fault}", file.shown)),
    }
}
