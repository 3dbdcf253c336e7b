//! The real `jig`, started in fresh workspaces.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start the real program, and fail where that fails"
)]

mod always;
mod approve;
mod attach;
mod call;
mod config;
mod doctor;
mod early_mistakes;
mod examples;
mod explain;
#[path = "../support/follow.rs"]
mod follow;
mod import;
mod import_hostile;
mod init;
#[cfg(feature = "wasm-tools")]
mod knowledge;
mod log;
mod mcp_assistant;
mod mcp_client;
mod mcp_handles;
mod mcp_hostile;
mod mcp_http;
mod mcp_http_attacks;
mod mcp_roots;
mod mcp_served_calls;
mod mcp_servers;
mod mcp_session;
mod mcp_stdio;
mod mcp_usage;
mod no_namespaces;
mod one_road;
mod packages;
mod places;
mod planted_links;
mod proxy;
mod proxy_client;
mod proxy_hostile;
mod proxy_llm;
mod proxy_mistakes;
mod proxy_nested;
mod proxy_stdio;
mod ps_proxies;
mod pty_run;
mod readme;
mod run;
mod run_layer;
mod run_layer_attacks;
mod run_presets;
mod run_work;
mod servers;
mod servers_accepted;
mod servers_mistakes;
mod servers_workspace;
mod setup;
mod sh;
mod station;
mod station_access;
mod station_questions;
mod stdio;
mod stdio_attacks;
mod terminal_user;
mod tools;
mod trust;
mod usage;
mod verbose;
mod vfs;
mod vfs_files;
mod vfs_kill;
mod vfs_misbehaving;
mod vfs_outside;
mod vfs_policy;
mod vfs_tool;
mod visible;
#[cfg(feature = "wasm-tools")]
mod wasm;
mod workspace_user;

use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

/// A fresh workspace in a folder of its own, with a home of its own.
struct Workspace {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    home: Utf8PathBuf,
}

impl Workspace {
    fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// The same in a folder of the caller's.
    fn in_folder(folder: tempfile::TempDir) -> Self {
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let (root, home) = (path.join("ws"), path.join("home"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        Self {
            _folder: folder,
            root,
            home,
        }
    }

    /// A workspace with this `jig.toml`.
    fn with(config: &str) -> Self {
        let workspace = Self::new();
        workspace.write("jig.toml", config);
        workspace
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The program, about to start in the workspace with nothing of our own environment.
    fn jig(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jig"));
        command
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", &self.home)
            // The tests write what the workspace says, as its user does.
            .env("JIG_TRUST", "1");
        command
    }

    /// What the program prints on both streams and how it ends, paths made stable.
    fn run(&self, args: &[&str]) -> String {
        let output = self.jig(args).output().unwrap();
        let text = format!(
            "{}{}[exit {}]",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            output.status.code().unwrap(),
        );
        text.replace(self.root.as_str(), "[workspace]")
            .replace(self.home.as_str(), "[home]")
    }

    /// What the program prints as JSON.
    fn json(&self, args: &[&str]) -> Json {
        let output = self.jig(args).arg("--json").output().unwrap();
        parsed(&output)
    }
}

fn parsed(output: &Output) -> Json {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error} in {text}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}
