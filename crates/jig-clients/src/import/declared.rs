//! [`SourceFile`]: the servers of a client, as its files have them.

use anyhow::{anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::{CommandEnvironment, locate};
use jig_proto::hint;
use serde_json::{Map, Value as Json};

use super::ImportFrom;
use super::filled_text::as_variable;
use crate::client::AgentClient;
use crate::entry::SettingsSyntaxError;
use crate::jsonc;
use crate::settings_file::SettingsFile;

/// What one file says, or one part of it.
#[derive(Debug)]
pub struct SourceFile {
    /// As people are shown it.
    pub shown: String,
    /// Whose it is.
    pub scope: ClientFileScope,
    /// In the order of the file.
    pub servers: Vec<(String, Json)>,
    /// Values that the client asks a person for.
    pub inputs: Vec<PromptedInput>,
    /// Servers that the person has switched off elsewhere.
    pub off: Vec<String>,
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientFileScope {
    /// A file of the workspace: whoever wrote that wrote it.
    Project,
    /// The user's own.
    User,
}

/// A value that the client asks a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptedInput {
    /// The name by which entries use it.
    pub id: String,
    /// The variable that takes its place.
    pub variable: String,
    /// Its default, unless it is a secret.
    pub default: Option<String>,
    /// What the person is asked.
    pub described: String,
}

/// What texts of a file are read with.
#[derive(Debug, Clone, Copy)]
pub struct ImportContext<'a> {
    /// The client.
    pub client: ImportFrom,
    /// The workspace.
    pub root: &'a Utf8Path,
    /// The person's home folder.
    pub home: Option<&'a Utf8Path>,
    /// The values that the client asks for.
    pub inputs: &'a [PromptedInput],
}

impl ImportFrom {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    /// The same for `jig setup`, which knows where its files are.
    pub fn client(self) -> AgentClient {
        match self {
            Self::Claude => AgentClient::ClaudeCode,
            Self::Codex => AgentClient::Codex,
            Self::Cursor => AgentClient::Cursor,
            Self::VsCode => AgentClient::VsCode,
        }
    }

    /// The keys under which its files have servers. People put what is meant for one client into the file of
    /// another, and VS Code had them among its settings once.
    fn keys(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Claude | Self::Cursor => &[&["mcpServers"]],
            Self::Codex => &[&["mcp_servers"]],
            Self::VsCode => &[&["servers"], &["mcp", "servers"], &["mcpServers"]],
        }
    }
}

/// The files of a client that count here, the one first that the client prefers.
pub fn find(
    from: ImportFrom,
    file: Option<&Utf8Path>,
    is_global: bool,
    root: &Utf8Path,
    env: &CommandEnvironment,
) -> anyhow::Result<Vec<SourceFile>> {
    let client = from.client();
    if let Some(path) = file {
        return of_file(from, path, root, env);
    }
    let mut files = Vec::new();
    let user = match (from, env.path("CLAUDE_CONFIG_DIR")) {
        (ImportFrom::Claude, Some(folder)) => Some(folder.join(".claude.json")),
        _ => client.user_file(env),
    };
    let user = user.map(|path| opened(&path, env)).transpose()?;
    let user = match &user {
        Some(file) => Some((tilde(&file.shown, env), parsed(from, file)?)),
        None => None,
    };
    let project = SettingsFile::of_project(root, client.project_file(), env)?;
    if let Some((shown, all)) = &user
        && from == ImportFrom::Claude
        && !is_global
    {
        files.extend(of_claude_project(all, shown, root)?);
    }
    if !is_global {
        let all = parsed(from, &project)?;
        let mut file = source(from, project.shown.as_str(), ClientFileScope::Project, &all)?;
        let settings = user.as_ref().and_then(|(_, all)| claude_project(all, root));
        if let Some(project) = settings {
            file.off = names(project.get("disabledMcpjsonServers"));
        }
        files.push(file);
    }
    if let Some((shown, all)) = &user {
        let mut file = source(from, shown, ClientFileScope::User, all)?;
        if let Some(project) = claude_project(all, root) {
            file.off = names(project.get("disabledMcpServers"));
        }
        files.push(file);
    }
    Ok(files)
}

/// The file that was named.
fn of_file(
    from: ImportFrom,
    path: &Utf8Path,
    root: &Utf8Path,
    env: &CommandEnvironment,
) -> anyhow::Result<Vec<SourceFile>> {
    let full = locate::current()?.join(path);
    let mut file = opened(&full, env)?;
    file.shown = path.to_owned();
    if file.text.is_none() {
        bail!("there is no file `{path}`");
    }
    // A file of the workspace is one whatever leads to it.
    let real = locate::resolved(&full).unwrap_or(full);
    let scope = match real.starts_with(root) {
        true => ClientFileScope::Project,
        false => ClientFileScope::User,
    };
    let all = parsed(from, &file)?;
    let mut files = Vec::new();
    if from == ImportFrom::Claude {
        files.extend(of_claude_project(&all, path.as_str(), root)?);
    }
    files.push(source(from, path.as_str(), scope, &all)?);
    if files.iter().all(|file| file.servers.is_empty()) {
        let keys: Vec<String> = from.keys().iter().map(|key| key.join(".")).collect();
        let hint =
            hint!("name the client that the file belongs to: claude, codex, cursor or vscode");
        return Err(anyhow!(hint).context(format!(
            "`{path}` has no servers at `{}`",
            keys.join("`, `")
        )));
    }
    for file in &mut files {
        file.scope = scope;
    }
    Ok(files)
}

/// The part of Claude Code's file that is about the servers of a person in this project.
fn of_claude_project(
    all: &Json,
    shown: &str,
    root: &Utf8Path,
) -> anyhow::Result<Option<SourceFile>> {
    let Some(project) = claude_project(all, root) else {
        return Ok(None);
    };
    let shown = format!("{shown}, for this project");
    let mut file = source(ImportFrom::Claude, &shown, ClientFileScope::User, project)?;
    file.off = names(project.get("disabledMcpServers"));
    Ok(Some(file))
}

fn claude_project<'a>(all: &'a Json, root: &Utf8Path) -> Option<&'a Json> {
    all.get("projects")?.get(root.as_str())
}

/// The servers that a file, or a part of it, has.
fn source(
    from: ImportFrom,
    shown: &str,
    scope: ClientFileScope,
    all: &Json,
) -> anyhow::Result<SourceFile> {
    let mut file = SourceFile {
        shown: shown.to_owned(),
        scope,
        servers: Vec::new(),
        inputs: Vec::new(),
        off: Vec::new(),
    };
    let found = from.keys().iter().find_map(|path| {
        let value = path.iter().try_fold(all, |value, key| value.get(key))?;
        Some((path.join("."), value))
    });
    if let Some((key, servers)) = found {
        let Some(servers) = servers.as_object() else {
            bail!("`{shown}`: `{key}` does not name servers: it is no object");
        };
        if servers.len() > MAX_SERVERS {
            bail!("`{shown}` has more than {MAX_SERVERS} servers, which is no person's file");
        }
        file.servers = servers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
    }
    let inputs = [
        all.get("inputs"),
        all.get("mcp").and_then(|mcp| mcp.get("inputs")),
    ];
    let inputs = inputs.into_iter().flatten().filter_map(Json::as_array);
    file.inputs = inputs
        .flatten()
        .take(MAX_SERVERS)
        .filter_map(input)
        .collect();
    Ok(file)
}

fn input(value: &Json) -> Option<PromptedInput> {
    let text = |key: &str| value.get(key).and_then(Json::as_str);
    let id = text("id")?;
    let is_secret = value.get("password").and_then(Json::as_bool) == Some(true);
    let is_simple = |text: &&str| !text.contains(['$', '}', '\n']);
    Some(PromptedInput {
        id: id.to_owned(),
        variable: as_variable(id),
        default: text("default")
            .filter(is_simple)
            .filter(|_| !is_secret)
            .map(str::to_owned),
        described: text("description").unwrap_or_default().to_owned(),
    })
}

fn names(list: Option<&Json>) -> Vec<String> {
    let list = list.and_then(Json::as_array).into_iter().flatten();
    list.filter_map(Json::as_str).map(str::to_owned).collect()
}

fn opened(path: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<SettingsFile> {
    SettingsFile::of_user_within(path, env, MAX_SIZE)
}

/// What a file says; an empty object if it is not there, or says nothing.
fn parsed(from: ImportFrom, file: &SettingsFile) -> anyhow::Result<Json> {
    let text = file.text.as_deref().unwrap_or_default();
    let value = match from {
        ImportFrom::Codex => toml::from_str(text).map(Some).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            // The message of the parser alone: with its surroundings it would show lines that may hold secrets.
            SettingsSyntaxError::at(text, at, error.message())
        }),
        _ => jsonc::Document::parse(text).map(|document| document.value()),
    };
    let value = value.map_err(|fault| anyhow!("`{}`, {fault}", file.shown))?;
    match value {
        None => Ok(Json::Object(Map::new())),
        Some(value @ Json::Object(_)) => Ok(value),
        Some(_) => bail!("`{}` does not hold an object", file.shown),
    }
}

/// A path as people write it.
fn tilde(path: &Utf8PathBuf, env: &CommandEnvironment) -> String {
    let home = env.path("HOME");
    match home.and_then(|home| path.strip_prefix(home).ok().map(Utf8Path::to_owned)) {
        Some(below) => format!("~/{below}"),
        None => path.to_string(),
    }
}

/// Claude Code keeps more than settings in its file, for years.
const MAX_SIZE: u64 = 32 << 20;

/// More servers than anybody has: a file must not keep jig busy for hours.
const MAX_SERVERS: usize = 200;

#[cfg(test)]
mod tests;
