//! Denials of names that a supervisor refused to make.

use std::cmp::Reverse;

use jig_proto::{Denial, ProjectPath};
use jig_sandbox::{GuardVerdict, RefusedName, Rights};

use super::context::RunSurroundings;
use super::missing::{MissingAccess, MissingPlace, MissingReason};
use super::{sandbox_toml, workspace_denial};
use crate::programs::confine::{Confined, Preset};

/// What is to be said about one.
pub(super) fn denial(
    around: &RunSurroundings<'_>,
    confined: &Confined,
    name: &RefusedName,
) -> Denial {
    let entry = confined.profile.guarded_names.get(name.entry);
    let is_bare = entry.is_some_and(|entry| entry.verdict == GuardVerdict::BareRepository);
    match around.in_workspace(&name.path) {
        Some(path) if is_bare => with_git_preset(around, bare_repository(path.to_string())),
        Some(path) => in_workspace(around, name, &path),
        None if is_bare => with_git_preset(around, bare_repository(around.shown(&name.path))),
        None => Denial::new(
            "create",
            around.shown(&name.path),
            "it is guarded in every folder that a program may change, and only an entry of `sandbox.system` that names \
             it itself opens it",
        ),
    }
}

fn in_workspace(around: &RunSurroundings<'_>, name: &RefusedName, path: &ProjectPath) -> Denial {
    let one = MissingAccess {
        at: MissingPlace::Workspace(path.clone()),
        asked: name.path.clone(),
        rights: Rights::CREATE,
        because: MissingReason::Restricted,
        paths: 1,
        count: 1,
        weight: (0, Reverse(0)),
    };
    workspace_denial::denial(around, &one, path)
}

fn bare_repository(target: String) -> Denial {
    let why = "with it the folder would be a bare repository of git, whose settings and hooks nothing keeps";
    Denial::new("create", target, why)
}

fn with_git_preset(around: &RunSurroundings<'_>, denial: Denial) -> Denial {
    let hint = Some(sandbox_toml::presets(around, Preset::Git));
    Denial { hint, ..denial }
}
