//! A desk at which a small MCP server is configured.

use std::process::Stdio;

use serde_json::Value as Json;

use super::parsed;
use super::workspace_user::{Desk, Ran, for_each_user};

/// The server: see what it says about itself.
pub(crate) const SERVER: &str = include_str!("../support/mcp_server.py");

/// An entry for the server as `small`, with more of its keys and tables.
pub(crate) fn entry(more: &str) -> String {
    format!("[mcp.servers.small]\ncommand = ['python3', 'server.py']\nrun = 'unattended'\n{more}")
}

impl Desk {
    /// The server, as a file of the workspace, and this configuration as the person's own, which nobody has to
    /// accept.
    pub(crate) fn serve(&self, config: &str) {
        self.workspace.write("server.py", SERVER);
        let folder = self.workspace.home.join(".config/jig");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), config).unwrap();
    }

    /// Changes the server.
    pub(crate) fn change_server(&self, from: &str, to: &str) {
        let before = self.read("server.py");
        let after = before.replace(from, to);
        assert_ne!(before, after, "`{from}` is not in the server");
        self.workspace.write("server.py", after);
    }

    /// What `jig` prints as JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Json {
        parsed(&self.jig(args).arg("--json").output().unwrap())
    }

    /// The names of the tools of servers, as `jig tools` lists them.
    #[track_caller]
    pub(crate) fn served(&self) -> Vec<String> {
        let listed = self.json(&["tools"]);
        let tools = listed.as_array().unwrap_or_else(|| panic!("{listed}"));
        let served = tools.iter().filter(|tool| tool["runtime"] == "mcp");
        let names = served.map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect()
    }

    /// How `jig` ends that is asked nothing and given nothing.
    pub(crate) fn alone(&self, args: &[&str]) -> Ran {
        Ran::of(self.jig(args).stdin(Stdio::null()).output().unwrap())
    }
}

/// A test at the desk of every user who can run the server, configured so.
pub(crate) fn with_server(config: &str, test: impl Fn(&Desk)) {
    for_each_user(|desk| {
        if !desk.has(&["python3", "--version"]) {
            return;
        }
        desk.serve(config);
        test(desk);
    });
}
