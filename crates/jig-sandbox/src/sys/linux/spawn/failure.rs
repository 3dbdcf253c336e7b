//! From a step that failed to an error that a person can act on.

use std::io;

use rustix::fs::Access;

use super::plan::{self, SpawnPlan};
use crate::machine::Errno;
use crate::process::{SpawnError, SpawnRequest};
use crate::sys::linux::order::StepAction;
use crate::sys::linux::procfs;
use crate::sys::linux::stage::record::{StartStep, StepFailure};

/// The error for a refusal by the kernel.
pub(super) fn error(request: &SpawnRequest, plan: &SpawnPlan, refusal: StepFailure) -> SpawnError {
    let program = name(request);
    let source = io::Error::from_raw_os_error(refusal.errno.0);
    match refusal.step {
        StartStep::Execute => execution(request, plan, refusal),
        StartStep::Fork if matches!(refusal.errno.0, libc::EAGAIN | libc::ENOMEM) => {
            SpawnError::NoProcess { program, source }
        }
        StartStep::Directory => SpawnError::WorkingDirectory {
            program,
            directory: request.cwd.to_string_lossy().into_owned(),
            source,
        },
        StartStep::Descriptor => SpawnError::Descriptor {
            program,
            number: plan
                .moves
                .get(refusal.which as usize)
                .map_or(-1, |one| one.target),
            source,
        },
        StartStep::Act => SpawnError::Confinement {
            program,
            reason: format!(
                "{} failed with {}{}",
                act(plan, refusal.which),
                Errno(refusal.errno.0),
                hint(plan, refusal)
            ),
        },
        step => self::step(request, step.name(), source),
    }
}

/// The error for a step of the host's own.
pub(super) fn step(
    request: &SpawnRequest,
    step: &'static str,
    source: impl Into<io::Error>,
) -> SpawnError {
    SpawnError::Step {
        program: name(request),
        step,
        source: source.into(),
    }
}

/// Whether a refusal means that namespaces are not to be had here, as opposed to processes.
pub(super) fn is_about_namespaces(refusal: StepFailure) -> bool {
    match refusal.step {
        StartStep::Fork => !matches!(refusal.errno.0, libc::EAGAIN | libc::ENOMEM),
        StartStep::Map => true,
        StartStep::Network => !matches!(refusal.errno.0, libc::EAGAIN | libc::ENOMEM),
        // Some systems let everybody make namespaces, but do nothing in them.
        StartStep::Root => matches!(refusal.errno.0, libc::EPERM | libc::EACCES),
        _ => false,
    }
}

/// A step of the confinement in words, to come before "failed".
fn act(plan: &SpawnPlan, which: u32) -> String {
    let path = plan::shown;
    match ordered(plan, which) {
        None => StartStep::Act.name().to_owned(),
        Some(StepAction::Directory { target, .. } | StepAction::File { target, .. }) => {
            format!("making `/{}`", path(target))
        }
        Some(StepAction::Symlink { target, .. }) => format!("making the link `/{}`", path(target)),
        Some(StepAction::Bind { source, .. }) => format!("showing `{}`", path(source)),
        Some(StepAction::Again { target, .. }) => format!("restricting `/{}`", path(target)),
        Some(StepAction::Mask { target }) => format!("hiding `/{}`", path(target)),
        Some(StepAction::Mount { target, .. }) => format!("mounting `/{}`", path(target)),
        Some(StepAction::Listen { target }) => format!("listening at `/{}`", path(target)),
        Some(StepAction::Loopback) => "switching the loopback on".to_owned(),
        Some(StepAction::HostName(_)) => "naming the machine".to_owned(),
        Some(StepAction::Allow { target, .. }) => format!("allowing `/{}`", path(target)),
        Some(StepAction::Local { network, .. }) => format!("taking on the address `{network}`"),
        Some(StepAction::Sockets(_)) => "making the sockets of its gateway".to_owned(),
        Some(StepAction::Replace { target, .. }) => format!("replacing `/{}`", path(target)),
        Some(StepAction::AllowPort { port, .. }) => format!("allowing port {port}"),
        Some(StepAction::Overlay { source, .. }) => {
            format!("putting a layer over `{}`", path(source))
        }
        Some(StepAction::Anew { target, .. } | StepAction::BindOfLayer { target, .. }) => {
            format!("showing `/{}` of its layer", path(target))
        }
    }
}

/// Whether a layer could not be made.
pub(super) fn is_about_layers(plan: &SpawnPlan, refusal: StepFailure) -> bool {
    let act = ordered(plan, refusal.which);
    matches!(
        act,
        Some(StepAction::Overlay { .. } | StepAction::BindOfLayer { .. })
    )
}

/// The act with this number.
fn ordered(plan: &SpawnPlan, which: u32) -> Option<&StepAction> {
    let confinement = plan.confinement.as_ref()?;
    let mut steps = confinement.base.iter().chain(&confinement.steps);
    steps.nth(which as usize).map(|step| &step.act)
}

/// What the error of a layer usually means, and what to do about it.
fn hint(plan: &SpawnPlan, refusal: StepFailure) -> &'static str {
    match (ordered(plan, refusal.which), refusal.errno.0) {
        (Some(StepAction::Overlay { .. }), libc::EPERM | libc::ENODEV) => {
            "; layers without privileges need Linux 5.11 and its overlay module; run it without a layer"
        }
        (Some(StepAction::Overlay { .. }), libc::EINVAL) => {
            "; something may be mounted below it, or the file system that the layer is kept on cannot hold \
             one (in a container, keep it on a volume); run it without a layer"
        }
        (Some(StepAction::BindOfLayer { .. }), libc::EINVAL) => {
            "; what is shown inside of a hidden directory of a layer needs Linux 6.15"
        }
        _ => "",
    }
}

/// The program as the request names it.
pub(super) fn name(request: &SpawnRequest) -> String {
    request.program.as_os_str().to_string_lossy().into_owned()
}

fn execution(request: &SpawnRequest, plan: &SpawnPlan, refusal: StepFailure) -> SpawnError {
    let file = plan.candidates.get(refusal.which as usize).map(plan::shown);
    let program = file.unwrap_or_else(|| name(request));
    let source = io::Error::from_raw_os_error(refusal.errno.0);
    match Errno(refusal.errno.0) {
        Errno(libc::ENOENT) => missing(request, plan),
        Errno::ACCES => SpawnError::NotExecutable { program, source },
        Errno(libc::ENOEXEC) => SpawnError::ExecFormat { program },
        Errno(libc::E2BIG) => SpawnError::TooLarge {
            program: name(request),
            sizes: plan.sizes(),
        },
        // `execve` reports a limit on processes that was passed before, by a change of the user.
        Errno(libc::EAGAIN | libc::ENOMEM) => SpawnError::NoProcess { program, source },
        _ => step(request, StartStep::Execute.name(), source),
    }
}

/// The kernel says the same of a file that is missing and of one whose interpreter is.
fn missing(request: &SpawnRequest, plan: &SpawnPlan) -> SpawnError {
    let there = plan
        .candidates
        .iter()
        .find(|path| rustix::fs::access(path.as_c_str(), Access::EXISTS).is_ok());
    match there.map(plan::shown) {
        Some(program) => SpawnError::MissingInterpreter {
            interpreter: procfs::read_start(&program)
                .as_deref()
                .and_then(interpreter),
            program,
        },
        None => SpawnError::NotFound {
            program: name(request),
            searched: is_bare(request).then(|| {
                let path = request.env.get(std::ffi::OsStr::new("PATH"));
                path.map_or(String::new(), |path| path.to_string_lossy().into_owned())
            }),
        },
    }
}

fn is_bare(request: &SpawnRequest) -> bool {
    !std::path::Path::new(request.program.as_os_str()).is_absolute()
}

/// The interpreter that the first line of a script names.
pub(super) fn interpreter(start: &str) -> Option<String> {
    let line = start.strip_prefix("#!")?.split('\n').next()?;
    // A carriage return of a file from another system belongs to the name, and is why it is missing.
    let name = line.trim_matches([' ', '\t']).split([' ', '\t']).next()?;
    (!name.is_empty()).then(|| name.escape_debug().to_string())
}
