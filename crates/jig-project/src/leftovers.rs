//! What a jig that was killed left behind is cleared away before anything of the workspace counts.

#[cfg(unix)]
use anyhow::{Context, bail};
use camino::Utf8Path;
#[cfg(unix)]
use jig_config::{LOADED, WORKSPACE_FILES};

#[cfg(unix)]
use crate::environment::CommandEnvironment;
#[cfg(unix)]
use crate::stderr_remark::{age, remark};

/// Below jig's state: the tools that run, for the case that a jig is killed.
pub const JOURNAL: &str = "handles";

/// The tools that run while the configuration of a workspace is read.
#[derive(Debug)]
pub struct RunningTools(#[cfg(unix)] Option<jig_broker::RunningCalls>);

/// Clears away what the tools of a jig that was killed left behind: what still runs, and files before they
/// count as configuration. What is read then is to be [checked](RunningTools::check).
///
/// # Errors
///
/// If a tool that still runs may have made a file of configuration.
#[cfg(unix)]
pub fn clear(root: &Utf8Path) -> anyhow::Result<RunningTools> {
    let state = CommandEnvironment::of_this_process().state();
    let running = state.map(|state| jig_broker::RunningCalls::around(state.as_std_path(), root));
    let running = RunningTools(running.transpose().with_context(|| cannot_look(root))?);
    let suspects = cleared(root)?;
    // Also a folder with such a file, one that another one extends, or that a pattern covers.
    let loads = |found: &&jig_broker::Suspect| {
        let mut files = WORKSPACE_FILES.iter().map(Utf8Path::new);
        let holds = |file: &Utf8Path| {
            let is_there = || rustix::fs::lstat(root.join(file).as_std_path()).is_ok();
            file.as_std_path().starts_with(&found.path) && is_there()
        };
        files.any(holds) || found.reason.contains(LOADED)
    };
    match suspects.iter().find(loads) {
        Some(suspect) => bail!("{suspect}"),
        None => Ok(running),
    }
}

#[cfg(unix)]
impl RunningTools {
    /// Checks the files that were read as configuration.
    ///
    /// # Errors
    ///
    /// If a tool may have made one of them meanwhile.
    pub fn check<'f>(
        &self,
        files: impl IntoIterator<Item = &'f Utf8Path> + Clone,
    ) -> anyhow::Result<()> {
        let Some(running) = &self.0 else {
            return Ok(());
        };
        let files: Vec<&std::path::Path> = files.into_iter().map(Utf8Path::as_std_path).collect();
        let suspects = running.suspects(files);
        match suspects.context("cannot tell what runs")?.first() {
            Some(suspect) => bail!("{suspect}"),
            None => Ok(()),
        }
    }
}

#[cfg(unix)]
fn cannot_look(root: &Utf8Path) -> String {
    format!("cannot look at the workspace `{root}`")
}

/// As [`clear`], for a command that loads no configuration, such as `jig abort`: nothing that a tool does makes it
/// fail.
#[cfg(unix)]
pub fn clear_as_far_as_possible(root: &Utf8Path) {
    if let Err(error) = cleared(root) {
        remark(&format!("jig: {error:#}"));
    }
}

/// Clears away what can be; gives what a tool that still runs may have made.
#[cfg(unix)]
fn cleared(root: &Utf8Path) -> anyhow::Result<Vec<jig_broker::Suspect>> {
    let Some(state) = CommandEnvironment::of_this_process().state() else {
        return Ok(Vec::new());
    };
    // What cannot be removed now can be at another time.
    let _ = jig_files::ChangeLayer::sweep(state.as_std_path());
    for leftover in jig_runtime::leftovers(state.join(JOURNAL).as_std_path()) {
        remark(&left_over(&leftover));
    }
    let pending = jig_broker::pending(state.as_std_path(), root, &WORKSPACE_FILES)
        .with_context(|| cannot_look(root))?;
    for intruder in &pending.removed {
        remark(&format!(
            "jig: a call that was cut short left something: {intruder}"
        ));
    }
    Ok(pending.suspects)
}

/// What became of a tool whose jig was killed.
#[cfg(unix)]
fn left_over(leftover: &jig_runtime::Leftover) -> String {
    let (id, tool) = (&leftover.id, &leftover.tool);
    let end = match (leftover.was_alive, leftover.has_ended) {
        (false, _) => "it has ended",
        (true, true) => "it still ran, and was ended now",
        (true, false) => "it still runs, and could not be ended",
    };
    let age = age(leftover.age);
    format!(
        "jig: `{id}` of the tool `{tool}`, started {age} ago, was cut short because its jig was killed: {end}"
    )
}

/// Where no tool is confined, none is watched.
#[cfg(not(unix))]
pub fn clear(_root: &Utf8Path) -> anyhow::Result<RunningTools> {
    Ok(RunningTools())
}

#[cfg(not(unix))]
impl RunningTools {
    /// Where no tool is confined, none is watched.
    pub fn check<'f>(&self, _: impl IntoIterator<Item = &'f Utf8Path>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Where no tool is confined, none is watched.
#[cfg(not(unix))]
pub fn clear_as_far_as_possible(_root: &Utf8Path) {}
