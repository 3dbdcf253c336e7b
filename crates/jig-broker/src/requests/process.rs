//! Programs that a tool has run.
//!
//! The command line is judged, a file of the workspace also for `execute`. The program starts by
//! `Inner::start` with an environment of its own: the host's variables reach it only if the
//! request and the rule both name them. A run is over when its request is; a program that is started
//! stays, as long as its broker does.

#[cfg(target_os = "linux")]
mod borrowed_streams;
mod end_report;
#[cfg(unix)]
mod long_running;
#[cfg(not(unix))]
#[path = "process/no_long_running.rs"]
mod long_running;
mod output;
mod run;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_files::FilesError;
use jig_policy::{
    Capability, CommandProgram, CommandTarget, Permit, ResolvedPath, Rule, Target as _,
};
use jig_proto::vfs::{ErrorReply, ProcessRun};
use jig_sandbox::{Containment, ProgramEnvironment, minimal_environment};

use crate::programs::confine::ConfineSettings;
use crate::requests::fs;
use crate::requests::judge::Judge;

#[cfg(target_os = "linux")]
pub(crate) use borrowed_streams::{ProgramStartSettings, StartedProgram};
pub(crate) use long_running::{
    Processes, StayJob, judge_read, judge_start, judge_stop, judge_write,
};
pub(crate) use run::ProcessJob;

/// How programs are run.
#[derive(Debug, Clone)]
pub struct ProcessSettings {
    /// What every program gets, such as [`jig_sandbox::minimal_environment`]. Programs are found on
    /// its `PATH`. Default: nothing, so that nothing is found.
    pub env: ProgramEnvironment,
    /// How the tree of processes is held together. Default: as well as the machine can.
    pub containment: Containment,
    /// What each process may use. Default: no memory images.
    pub limits: jig_sandbox::ProcessLimits,
    /// How programs are confined; they then get the environment and the limits of that. Default: not at
    /// all, which is for tests and for those who confine in other ways.
    pub confine: Option<ConfineSettings>,
    /// Further places of jig's own, which no confined program sees, whatever it is given: sockets at which
    /// it could ask for more. They have to exist when the program starts. Default: none.
    pub hidden: Vec<PathBuf>,
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self {
            env: ProgramEnvironment::new(),
            containment: Containment::BestEffort,
            limits: jig_sandbox::ProcessLimits::default(),
            confine: None,
            hidden: Vec::new(),
        }
    }
}

impl ProcessSettings {
    /// The defaults, with the sandbox's own small environment: programs are found where the host finds
    /// them, and `home` is what they see as the home directory.
    pub fn minimal(home: &Path) -> Self {
        Self {
            env: minimal_environment(home),
            ..Self::default()
        }
    }
}

/// Judges `process.run`, and the program of a `process.start`.
pub(crate) fn judge_run(
    judge: &mut Judge<'_>,
    run: &ProcessRun<'_>,
) -> Result<Option<ProcessJob>, ErrorReply> {
    let method = judge.method();
    let args: Vec<String> = run
        .args
        .iter()
        .map(|arg| arg.clone().into_owned())
        .collect();
    if args.iter().any(|arg| arg.contains('\0')) {
        let why = "an argument holds a NUL byte";
        return Err(ErrorReply::invalid_params(method, why));
    }
    let target = CommandTarget {
        program: program(judge, &run.program)?,
        args,
    };
    let forwarded = forwarded(judge, &target, run);
    let permit: Option<Permit<CommandTarget>> = judge.permit(target, None)?;
    let cwd = match &run.cwd {
        None => None,
        Some(text) => match fs::judge_directory(judge, text, method)? {
            Some(directory) => Some(directory),
            None => return Ok(None),
        },
    };
    let Some(permit) = permit else {
        return Ok(None);
    };
    for (name, value) in &forwarded {
        judge.extend_target(&format!(" (with ${name})"));
        judge.inner.secrets.remember(value);
    }
    let once = judge.once().to_vec();
    Ok(Some(ProcessJob {
        method,
        permit,
        forwarded,
        once,
        cwd,
    }))
}

/// The program of a request: a name, or a file of the workspace.
fn program(judge: &mut Judge<'_>, text: &str) -> Result<CommandProgram, ErrorReply> {
    if text.contains('/') {
        let path = fs::wire_path(judge.method(), text)?;
        return match judge.inner.files.locate(&path) {
            Ok(place) => Ok(CommandProgram::File(place.resolved().clone())),
            Err(error) => Err(fs::unlocated(
                judge,
                &path,
                text,
                Capability::Execute,
                error,
            )),
        };
    }
    // As the policy reads names in rules.
    if text.is_empty() || text.contains('\0') || matches!(text, "." | "..") {
        let why = "`program` is not the name of a program";
        return Err(ErrorReply::invalid_params(judge.method(), why));
    }
    Ok(CommandProgram::Name(text.to_owned()))
}

/// The variables that the request asks for and the rule on this program grants, as far as they are
/// set. The others are left out, as the protocol has it.
fn forwarded(
    judge: &Judge<'_>,
    target: &CommandTarget,
    run: &ProcessRun<'_>,
) -> Vec<(String, String)> {
    let granted = match target.decide(&judge.inner.policy).rule {
        Some(Rule::Command(rule)) => rule.envs(),
        _ => &[],
    };
    let wanted = run
        .envs
        .iter()
        .filter(|name| granted.iter().any(|one| one == *name));
    let set = wanted.filter_map(|name| {
        let value = judge.inner.env.get(name)?;
        Some((name.clone().into_owned(), value.to_owned()))
    });
    set.filter(|(_, value)| !value.contains('\0')).collect()
}

/// The environment of a program that is not confined.
fn plain_environment(inner: &crate::broker::BrokerCore) -> ProgramEnvironment {
    let mut env = inner.process.env.clone();
    if let Some(path) = env.get_mut(&OsString::from("PATH")) {
        *path = without_workspace(path, inner.files.display_root());
    }
    env
}

/// A search path without directories of the workspace: a tool that can write there could otherwise
/// put its own program in place of one that is allowed by name.
fn without_workspace(path: &OsString, root: &Utf8Path) -> OsString {
    let entries = std::env::split_paths(path);
    let kept = entries.filter(|entry| !entry.starts_with(root.as_std_path()));
    std::env::join_paths(kept).unwrap_or_default()
}

/// Where a file of the workspace stands by now, if it may still be run.
fn relocate(
    inner: &crate::broker::BrokerCore,
    file: &ResolvedPath,
) -> Result<ResolvedPath, FilesError> {
    let place = inner.files.locate(file.path())?;
    Ok(place.resolved().clone())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use camino::Utf8Path;

    use super::without_workspace;

    #[test]
    fn a_workspace_on_the_search_path_is_left_out() {
        let check = |path: &str, expected: &str| {
            let kept = without_workspace(&OsString::from(path), Utf8Path::new("/home/u/ws"));
            assert_eq!(kept, OsString::from(expected));
        };
        check("/usr/bin:/bin", "/usr/bin:/bin");
        check("/home/u/ws/bin:/usr/bin", "/usr/bin");
        check(
            "/home/u/ws:/usr/bin:/home/u/ws/node_modules/.bin",
            "/usr/bin",
        );
        check("/home/u/ws2/bin", "/home/u/ws2/bin");
    }
}
