//! A server with MCP servers behind it, which are never started, or fail to be.
#![expect(
    clippy::disallowed_methods,
    reason = "an entry of a workspace is one of a file there"
)]

use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use jig_config::{Config, Definition, Server, Sources};
use jig_engine::Engine;
use jig_files::DiskFiles;
pub(crate) use jig_testkit::until;
use serde_json::json;
use tempfile::TempDir;

use crate::client::servers::{ForgetfulMemory, Memory, Servers};
use crate::shared::{Loader, Options, SharedServer};

/// A workspace with two files of configuration: its own, and one of its user.
pub(crate) struct ServersFixture {
    _folder: TempDir,
    root: Utf8PathBuf,
    pub(crate) memory: Arc<dyn Memory>,
    pub(crate) shared: Arc<SharedServer>,
    reports: Arc<Mutex<Vec<String>>>,
}

impl ServersFixture {
    /// With these entries in the file of the workspace, and these in the user's.
    pub(crate) fn new(workspace: &str, own: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::write(root.join("jig.toml"), workspace).unwrap();
        std::fs::write(root.join("own.toml"), own).unwrap();
        let memory: Arc<dyn Memory> = Arc::new(ForgetfulMemory::default());
        let reports = Arc::new(Mutex::new(Vec::new()));
        let servers = Servers::new(Arc::clone(&memory), Arc::new(|_| {}));
        let loader = Files {
            root: root.clone(),
            servers,
            reports: Arc::clone(&reports),
        };
        Self {
            shared: SharedServer::new(Box::new(loader), Options::default()).unwrap(),
            _folder: folder,
            root,
            memory,
            reports,
        }
    }

    /// What the files say now.
    pub(crate) fn config(&self) -> Arc<Config> {
        load(&self.root).unwrap()
    }

    /// Writes the user's file, and puts it in force.
    pub(crate) fn rewrite(&self, own: &str) {
        std::fs::write(self.root.join("own.toml"), own).unwrap();
        self.shared.replace(self.config()).unwrap();
    }

    pub(crate) fn servers(&self) -> &Arc<Servers> {
        self.shared.servers.as_ref().unwrap()
    }

    pub(crate) fn server(&self, name: &str) -> Arc<Server> {
        Arc::clone(&self.shared.current().loaded.servers[name])
    }

    /// Has a server say that it has these tools.
    pub(crate) fn says(&self, server: &str, tools: &[(&str, &str)]) {
        let tools: Vec<_> = tools.iter().map(|&(name, text)| tool(name, text)).collect();
        self.servers().ledger.learn(&self.server(server), &tools);
    }

    /// The tools of servers that are listed.
    pub(crate) fn listed(&self) -> Vec<String> {
        let served = self.shared.current();
        let tools = served.catalogue().tools.iter();
        let names = tools.map(|tool| tool.name.to_string());
        let is_behind = |name: &String| {
            let tool = served.config.tool(name);
            tool.is_some_and(|tool| tool.on_server().is_some())
        };
        names.filter(is_behind).collect()
    }

    pub(crate) fn reports(&self) -> String {
        self.reports.lock().unwrap().join("\n")
    }
}

/// A tool as its server describes it.
pub(crate) fn tool(name: &str, description: &str) -> Arc<Definition> {
    let tool = json!({ "name": name, "description": description });
    Arc::new(Definition::from_json(tool).unwrap())
}

struct Files {
    root: Utf8PathBuf,
    servers: Arc<Servers>,
    reports: Arc<Mutex<Vec<String>>>,
}

impl Loader for Files {
    fn load(&self) -> Result<Arc<Config>, String> {
        load(&self.root)
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        let files = DiskFiles::open(&self.root).map_err(|error| error.to_string())?;
        Ok(Engine::new(Arc::clone(config), Arc::new(files)))
    }

    fn fingerprint(&self, _: &Config) -> u64 {
        0
    }

    fn workspace(&self) -> String {
        self.root.to_string()
    }

    fn servers(&self) -> Option<Arc<Servers>> {
        Some(Arc::clone(&self.servers))
    }

    fn report(&self, text: &str) {
        self.reports.lock().unwrap().push(text.to_owned());
    }
}

fn load(root: &Utf8PathBuf) -> Result<Arc<Config>, String> {
    let mut sources = Sources::new(root.clone());
    sources.files = vec![root.join("own.toml")];
    let loaded = jig_config::load(&sources).map_err(|errors| errors.to_string())?;
    Ok(Arc::new(loaded.config))
}
