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

/// Clears away what the tools of a jig that was killed left behind: what still runs, and files before they
/// count as configuration.
///
/// # Errors
///
/// If a tool that still runs may have made a file of configuration.
#[cfg(unix)]
pub fn clear(root: &Utf8Path) -> anyhow::Result<()> {
    let suspects = cleared(root)?;
    // Also a file that another one extends, or that a pattern covers.
    let loads = |found: &&jig_broker::Suspect| {
        WORKSPACE_FILES
            .iter()
            .any(|file| found.path == std::path::Path::new(file))
            || found.reason.contains(LOADED)
    };
    match suspects.iter().find(loads) {
        Some(suspect) => bail!("{suspect}"),
        None => Ok(()),
    }
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
        .with_context(|| format!("cannot look at the workspace `{root}`"))?;
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
pub fn clear(_root: &Utf8Path) -> anyhow::Result<()> {
    Ok(())
}

/// Where no tool is confined, none is watched.
#[cfg(not(unix))]
pub fn clear_as_far_as_possible(_root: &Utf8Path) {}
