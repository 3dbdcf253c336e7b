//! A server over files in memory, for unit tests.

pub(crate) mod with_mcp_servers;

use std::sync::{Arc, Mutex, PoisonError};

use jig_config::{Config, Sources};
use jig_engine::{Engine, Turn};
use jig_files::MemoryFiles;
use jig_proto::ProjectPath;

use crate::caller::Caller;
use crate::shared::{Loader, Options, SharedServer};

/// Loads assignments, as `--set` takes them.
pub(crate) struct MemoryLoader {
    sets: Mutex<Vec<String>>,
    files: Arc<MemoryFiles>,
}

impl Loader for MemoryLoader {
    fn load(&self) -> Result<Arc<Config>, String> {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        config(&sets).map(Arc::new)
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        let files = Arc::clone(&self.files);
        Ok(Engine::new(Arc::clone(config), files))
    }

    fn fingerprint(&self, _: &Config) -> u64 {
        0
    }

    fn workspace(&self) -> String {
        "/nowhere".to_owned()
    }
}

fn config(sets: &[String]) -> Result<Config, String> {
    let mut sources = Sources::new("/nowhere");
    sources.sets = sets.to_vec();
    let loaded = jig_config::load(&sources);
    loaded
        .map(|loaded| loaded.config)
        .map_err(|errors| errors.to_string())
}

/// A server with these assignments and files.
pub(crate) fn server(sets: &[&str], files: &[(&str, &str)]) -> Arc<SharedServer> {
    serving(sets, files, Options::default())
}

/// The same with other options.
pub(crate) fn serving(
    sets: &[&str],
    files: &[(&str, &str)],
    options: Options,
) -> Arc<SharedServer> {
    let memory = MemoryFiles::new();
    for (path, content) in files {
        let path = ProjectPath::normalize(path).expect("a path of the workspace");
        memory
            .put_file(&path, (*content).to_owned(), false)
            .expect("a file");
    }
    let loader = MemoryLoader {
        sets: Mutex::new(sets.iter().map(|&set| set.to_owned()).collect()),
        files: Arc::new(memory),
    };
    SharedServer::new(Box::new(loader), options).expect("a valid configuration")
}

/// Puts other assignments in force.
pub(crate) fn reconfigure(shared: &SharedServer, sets: &[&str]) {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let config = config(&sets).expect("a valid configuration");
    shared.replace(Arc::new(config)).expect("an engine");
}

/// A caller whose turn begins.
pub(crate) fn caller() -> Arc<Caller> {
    Arc::new(Caller::new("test", [0; 32], Turn::default()))
}
