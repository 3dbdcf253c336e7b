//! What each client needs: its files, how an entry is written there, and what a person does next.
//!
//! The forms are those that the clients document. Where a client starts its servers in another folder than the
//! project, the entry names the project by the client's own variable, so that a file can be shared.

use camino::{Utf8Path, Utf8PathBuf};
use clap::ValueEnum;
use jig_project::CommandEnvironment;
use serde_json::{Value as Json, json};

/// A program through which people use agents, and which can start MCP servers for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AgentClient {
    /// Claude Code
    ClaudeCode,
    /// Codex: the CLI, the app and the IDE extension
    Codex,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    #[value(name = "vscode", alias = "code", alias = "vs-code")]
    VsCode,
    /// Zed
    Zed,
}

impl AgentClient {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::VsCode,
        Self::Zed,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
        }
    }

    /// Its file in a project.
    pub fn project_file(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
        }
    }

    /// Its file in the settings of the user; `None` without a home.
    pub fn user_file(self, env: &CommandEnvironment) -> Option<Utf8PathBuf> {
        let home = env.path("HOME");
        let below = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = || env.path("XDG_CONFIG_HOME").or_else(|| below(".config"));
        match self {
            Self::ClaudeCode => below(".claude.json"),
            Self::Codex => {
                let folder = env.path("CODEX_HOME").or_else(|| below(".codex"));
                Some(folder?.join("config.toml"))
            }
            Self::Cursor => below(".cursor/mcp.json"),
            Self::VsCode if cfg!(target_os = "macos") => {
                below("Library/Application Support/Code/User/mcp.json")
            }
            Self::VsCode => Some(config()?.join("Code/User/mcp.json")),
            // On a Mac, too, but there nobody moves it by a variable.
            Self::Zed if cfg!(target_os = "macos") => below(".config/zed/settings.json"),
            Self::Zed => Some(config()?.join("zed/settings.json")),
        }
    }

    /// Programs and folders that are there if it is installed.
    pub fn traces(
        self,
        env: &CommandEnvironment,
    ) -> (&'static [&'static str], Option<Utf8PathBuf>) {
        let program: &[&str] = match self {
            Self::ClaudeCode => &["claude"],
            Self::Codex => &["codex"],
            Self::Cursor => &["cursor", "cursor-agent"],
            Self::VsCode => &["code"],
            Self::Zed => &["zed", "zeditor"],
        };
        let folder = match self {
            Self::ClaudeCode => env.path("HOME").map(|home| home.join(".claude")),
            Self::VsCode => self
                .user_file(env)
                .and_then(|file| Some(file.parent()?.parent()?.to_owned())),
            _ => self
                .user_file(env)
                .and_then(|file| Some(file.parent()?.to_owned())),
        };
        (program, folder)
    }

    /// The key in its file that holds the servers.
    pub fn servers(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
        }
    }

    /// The workspace, as it is told to jig: nothing where servers are started in the project.
    pub fn project_variable(self) -> Option<&'static str> {
        match self {
            Self::Cursor | Self::VsCode => Some("${workspaceFolder}"),
            Self::ClaudeCode | Self::Codex | Self::Zed => None,
        }
    }

    /// The entry that starts a server.
    pub fn starts(self, command: &str, args: &[String], env: &CommandEnvironment) -> Json {
        match self {
            Self::ClaudeCode | Self::VsCode => {
                json!({ "type": "stdio", "command": command, "args": args })
            }
            Self::Cursor | Self::Zed => json!({ "command": command, "args": args }),
            Self::Codex => {
                let mut entry = json!({ "command": command, "args": args });
                // Codex passes on few variables. Without these, jig would look for its files elsewhere than
                // the `jig approve` of the same person.
                let needed = ["XDG_CONFIG_HOME", "XDG_STATE_HOME"];
                let set: Vec<&str> = needed
                    .into_iter()
                    .filter(|name| env.path(name).is_some())
                    .collect();
                if !set.is_empty() {
                    entry["env_vars"] = json!(set);
                }
                entry["tool_timeout_sec"] = PATIENCE.into();
                entry
            }
        }
    }

    /// The entry for a server that runs, and what else the file needs for it. `None` if the client cannot take
    /// the token from anywhere but the file.
    pub fn reaches(self, url: &str, name: &str) -> Option<(Json, Option<Json>)> {
        let bearer = |token: &str| json!({ "Authorization": format!("Bearer {token}") });
        match self {
            Self::ClaudeCode => {
                let headers = bearer(&format!("${{{TOKEN}}}"));
                Some((
                    json!({ "type": "http", "url": url, "headers": headers }),
                    None,
                ))
            }
            Self::Codex => Some((
                json!({ "url": url, "bearer_token_env_var": TOKEN, "tool_timeout_sec": PATIENCE }),
                None,
            )),
            Self::Cursor => {
                let headers = bearer(&format!("${{env:{TOKEN}}}"));
                Some((json!({ "url": url, "headers": headers }), None))
            }
            Self::VsCode => {
                let id = format!("{name}-token");
                let headers = bearer(&format!("${{input:{id}}}"));
                let entry = json!({ "type": "http", "url": url, "headers": headers });
                let input = json!({
                    "type": "promptString",
                    "id": id,
                    "description": "The token of jig mcp",
                    "password": true,
                });
                Some((entry, Some(input)))
            }
            Self::Zed => None,
        }
    }

    /// What a person does once the file is written.
    pub fn next(self, http: bool, file: &Utf8Path) -> Vec<String> {
        let mut steps = Vec::new();
        if http && self == Self::VsCode {
            steps.push(
                "VS Code asks for the token once, and keeps it among its secrets.".to_owned(),
            );
        } else if http {
            steps.push(format!(
                "Put the token of `jig mcp --http` into the variable {TOKEN} of {}, before it starts.",
                self.title()
            ));
        }
        steps.push(match self {
            Self::ClaudeCode => {
                "Start `claude` in the project: it asks once whether you trust the server. `/mcp` shows it."
                    .to_owned()
            }
            Self::Codex => {
                "Start Codex in the project, which it has to trust. `codex mcp list` shows the server.".to_owned()
            }
            Self::Cursor => {
                "Open the project in Cursor, and switch the server on under Customize, MCPs.".to_owned()
            }
            Self::VsCode => format!(
                "Open the project in VS Code, and start the server: in `{file}`, or by `MCP: List Servers`."
            ),
            Self::Zed => {
                "Open the project in Zed: the agent panel's settings show the server with a green dot.".to_owned()
            }
        });
        if self == Self::Zed {
            steps.push(
                "Zed does not ask for approvals: `jig approve --watch` in a terminal does."
                    .to_owned(),
            );
        }
        if !http {
            steps.push("See what an agent sees: jig mcp --check".to_owned());
        }
        steps
    }
}

/// The variable that holds the token of a server. It is the one that `jig mcp --http` reads, too.
pub const TOKEN: &str = "JIG_MCP_TOKEN";

/// How long Codex waits for a call, in seconds: longer than the ten minutes for which jig waits for an approval.
/// Its own default is one minute.
const PATIENCE: u64 = 900;
