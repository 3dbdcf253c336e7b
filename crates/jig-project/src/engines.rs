//! The engine for the tools of a workspace on disk.

use std::sync::Arc;

use anyhow::Context;
use camino::Utf8Path;
use jig_broker::Person;
use jig_config::Config;
use jig_engine::Engine;
use jig_files::DiskFiles;

use crate::audit_log;
use crate::environment::CommandEnvironment;
use crate::locate;
use crate::project::Project;

/// The engine, which writes down what tools do.
pub fn with_log(project: &Project, env: &CommandEnvironment) -> anyhow::Result<Engine> {
    let mut engine = without_log(project, env)?;
    engine.audit = audit_log::sink(&project.root, env, &project.config().log)?;
    Ok(engine)
}

/// The same for somebody who reads what comes.
pub fn for_a_person(project: &Project, env: &CommandEnvironment) -> anyhow::Result<Engine> {
    let mut engine = with_log(project, env)?;
    engine.person = Person::Reader;
    Ok(engine)
}

/// The engine for whoever only wants to know about the tools.
pub fn without_log(project: &Project, env: &CommandEnvironment) -> anyhow::Result<Engine> {
    let mut engine = for_config(&project.root, Arc::new(project.config().clone()), env)?;
    engine.servers = project.servers.clone().map(|servers| servers as _);
    Ok(engine)
}

/// The same for a configuration of the workspace at `root`.
pub fn for_config(
    root: &Utf8Path,
    config: Arc<Config>,
    env: &CommandEnvironment,
) -> anyhow::Result<Engine> {
    let files =
        DiskFiles::open(root).with_context(|| format!("cannot open the workspace `{root}`"))?;
    let mut engine = Engine::new(config, Arc::new(files));
    engine.env = env.host();
    engine.program = std::env::current_exe().ok();
    engine.confine.home = env.path("HOME").map(Into::into);
    engine.confine.aliases = locate::aliases(root, env);
    engine.confine.state = env.state().map(Into::into);
    engine.confine.config = env.config().map(Into::into);
    #[cfg(feature = "wasm-tools")]
    {
        engine.wasm = env.wasm_settings();
    }
    if let Some(path) = env.search_path() {
        engine.confine.search_path = path;
    }
    Ok(engine)
}
