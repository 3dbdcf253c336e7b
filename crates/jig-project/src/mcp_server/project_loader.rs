//! [`ProjectLoader`]: the configuration of a workspace on disk, as a server loads it again and again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::AuditSink;
use jig_config::{Config, HeldBack, WorkspaceContent};
use jig_engine::{Engine, Turn};
use jig_mcp::{Loader, Memory, Servers};
use jig_runtime::{HandleLimits, Handles};

use crate::accepted::{self, AcceptedConfiguration};
use crate::leftovers::JOURNAL;
use crate::{CommandEnvironment, Project, Selection, audit_log, engines, remark};

/// The configuration of a workspace on disk.
pub struct ProjectLoader {
    root: Utf8PathBuf,
    selection: Selection,
    /// What people accepted of its configuration.
    accepted: AcceptedConfiguration,
    env: CommandEnvironment,
    /// One log, whatever the configuration is.
    audit: Arc<dyn AuditSink>,
    /// The MCP servers behind this one.
    servers: Arc<Servers>,
    /// What was loaded before there was a server.
    first: Mutex<Option<Arc<Config>>>,
}

impl ProjectLoader {
    /// Serves a project that was loaded.
    ///
    /// # Errors
    ///
    /// If the log cannot be written, and has to be.
    pub fn new(
        project: Project,
        selection: Selection,
        env: CommandEnvironment,
    ) -> anyhow::Result<Self> {
        let audit = audit_log::sink(&project.root, &env, &project.config().log)?;
        let tell = |text: &str| remark(&format!("jig: {text}"));
        let servers = Servers::new(accepted::of(&project.root, &env), Arc::new(tell));
        let mut selection = selection;
        // What is accepted for one run is what is there when it begins.
        if std::mem::take(&mut selection.trust) {
            let content = WorkspaceContent::clone(&project.config().content);
            selection.accepted.push(content);
        }
        // What waits is a question of the server.
        selection.on_held_back = None;
        Ok(Self {
            accepted: AcceptedConfiguration::of(&project.root, &env),
            servers,
            root: project.root,
            selection,
            env,
            audit,
            first: Mutex::new(Some(Arc::new(project.loaded.config))),
        })
    }
}

impl Loader for ProjectLoader {
    fn load(&self) -> Result<Arc<Config>, String> {
        let first = {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.take()
        };
        if let Some(first) = first {
            return Ok(first);
        }
        let project = Project::load_at(self.root.clone(), &self.selection, &[]);
        let project = project.map_err(|error| format!("{error:#}"))?;
        Ok(Arc::new(project.loaded.config))
    }

    fn accept(&self, held_back: &HeldBack) -> Result<Arc<Config>, String> {
        let accepted = self.accepted.accept(&held_back.config.content);
        accepted.map_err(|error| format!("{error:#}"))?;
        let mut config = Config::clone(&held_back.config);
        config.accept_servers();
        Ok(Arc::new(config))
    }

    fn decline(&self, held_back: &HeldBack) {
        // It is only about being asked again.
        let _ = self.accepted.decline(&held_back.config.content);
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        let engine = engines::for_config(&self.root, Arc::clone(config), &self.env);
        let mut engine = engine.map_err(|error| format!("{error:#}"))?;
        engine.audit = Arc::clone(&self.audit);
        Ok(engine)
    }

    fn fingerprint(&self, config: &Config) -> u64 {
        let mut state = DefaultHasher::new();
        // Somebody may accept it elsewhere.
        self.accepted.mark().hash(&mut state);
        for file in &config.files {
            mark(&file.path).hash(&mut state);
        }
        // A new file in one of them may be configuration.
        for folder in config.folders.iter().flat_map(|folder| &folder.folders) {
            mark(folder).hash(&mut state);
        }
        for tool in config.tools.values() {
            if let Some(component) = &tool.wasm {
                mark(&self.root.join(component)).hash(&mut state);
            }
        }
        state.finish()
    }

    fn workspace(&self) -> String {
        self.root.to_string()
    }

    fn memory(&self) -> Option<Arc<dyn Memory>> {
        accepted::questions(&self.root, &self.env)
    }

    fn servers(&self) -> Option<Arc<Servers>> {
        Some(Arc::clone(&self.servers))
    }

    fn turn(&self) -> Turn {
        // Should jig be killed, the next one ends what still runs, and says so.
        let noted = self.env.state().map(|state| {
            Handles::with_journal(HandleLimits::default(), state.join(JOURNAL).as_std_path())
        });
        match noted {
            Some(Ok(handles)) => Turn::new(Arc::new(handles)),
            _ => Turn::default(),
        }
    }

    fn report(&self, text: &str) {
        remark(&format!("jig: {text}"));
    }
}

/// What changes with a file; nothing, if there is none. A file that is replaced is another one, even if it is as
/// old and as long.
pub(super) fn mark(path: &Utf8Path) -> Option<[u64; 7]> {
    let stat = rustix::fs::stat(path.as_std_path()).ok()?;
    // The types differ from system to system; only whether they differ from before counts.
    Some([
        stat.st_dev as u64,
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_mtime as u64,
        stat.st_mtime_nsec as u64,
        stat.st_ctime as u64,
        stat.st_ctime_nsec as u64,
    ])
}
