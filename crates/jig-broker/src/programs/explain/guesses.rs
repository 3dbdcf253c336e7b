//! [`of`]: what the words of a program that nobody watched come to, judged by what it was given.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use jig_proto::Denial;
use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, Rights};
use rustix::fs::Access;

use super::ProgramWords;
use super::context::{ExplainedPathKind, RunSurroundings, canonical, could, stands};
use super::error_text::{self, MissingWish, WantedAccess};
use super::missing::{self, MissingAccess, MissingWeight, weight};
use super::profile_rights::PathTreatment;
use crate::programs::confine::Confined;
use crate::programs::gateway::{LOOK_UP, lookup_refused};

/// What a program probably wanted and was not given.
#[derive(Debug, Default)]
pub(super) struct AccessGuesses {
    pub(super) missing: Vec<MissingAccess>,
    /// The addresses that it speaks of, as if they had been seen.
    pub(super) addresses: Observation,
    pub(super) hosts: Vec<(MissingWeight, Denial)>,
}

/// Judges what the words name. What is given, or is nowhere, is no guess.
pub(super) fn of(
    around: &RunSurroundings<'_>,
    confined: &Confined,
    words: ProgramWords<'_>,
) -> AccessGuesses {
    let mut guesses = AccessGuesses::default();
    for (order, wish) in error_text::read(words.said).into_iter().enumerate() {
        match wish {
            MissingWish::File { candidates, wanted } => {
                let found = file(around, confined, &candidates, wanted, order);
                guesses.missing.extend(found);
            }
            MissingWish::Host(name) => {
                let is_known = around.inner.policy.speaks_of_host(&name);
                let port = words.port_of(&name).unwrap_or(443);
                let refused = (!is_known).then(|| lookup_refused(around.inner, &name, port));
                let order = weight(Rights::WRITE, order);
                guesses
                    .hosts
                    .extend(refused.flatten().map(|one| (order, one)));
            }
            // With a network the gateway knows which.
            MissingWish::SomeHost if around.inner.policy.ports().is_empty() => {
                let order = weight(Rights::WRITE, order);
                guesses.hosts.push((order, some_host(around)));
            }
            MissingWish::SomeHost => {}
            MissingWish::Address(address) => guesses.addresses.seen.push(seen(address)),
        }
    }
    guesses
}

/// The first of the names that stands for something which was not given.
fn file(
    around: &RunSurroundings<'_>,
    confined: &Confined,
    candidates: &[String],
    wanted: WantedAccess,
    order: usize,
) -> Option<MissingAccess> {
    let mut candidates = candidates.iter().enumerate();
    candidates.find_map(|(place, name)| {
        // Only the likeliest name is believed to be what was to be changed or run: of the others it is known at
        // least that they exist.
        let is_likeliest = place == 0;
        let path = absolute(confined, name);
        let mut rights = match (wanted, is_likeliest) {
            (WantedAccess::Something | WantedAccess::Found, _) | (_, false) => vec![Rights::READ],
            (WantedAccess::Changed, true) => vec![CHANGE],
            (WantedAccess::Removed, true) => vec![Rights::DELETE],
        };
        if wanted == WantedAccess::Something
            && is_likeliest
            && stands(&path) != ExplainedPathKind::Directory
        {
            if could(&path, Access::EXEC_OK) {
                rights.push(Rights::EXECUTE);
            }
            rights.push(CHANGE);
        }
        let at = |path: &Path| {
            let mut rights = rights.iter();
            rights.find_map(|rights| missing::at_path(around, path, *rights, order))
        };
        let program = || {
            let is_name = wanted == WantedAccess::Found && is_likeliest && !name.contains('/');
            is_name.then(|| missing::program(around, name, order))?
        };
        let behind_a_link = || behind_a_link(around, &path);
        at(&path)
            .or_else(|| behind_a_link().and_then(|real| at(&real)))
            .or_else(program)
    })
}

/// Where a link leads that the program can read itself. One step, and no link on the way to it: what others lead to,
/// and what the kernel's own links of jig and other processes do, is not told to it.
fn behind_a_link(around: &RunSurroundings<'_>, path: &Path) -> Option<PathBuf> {
    let above = path.parent()?;
    let is_seen =
        matches!(around.given.at(path), PathTreatment::Shown(rights) if rights.has(Rights::READ));
    if !is_seen || canonical(above).as_deref() != Some(above) {
        return None;
    }
    let target = rustix::fs::readlink(path, Vec::new()).ok()?;
    let target = OsString::from_vec(target.into_bytes());
    Some(folded(&above.join(target))).filter(|target| target != path)
}

/// The path that a program meant, without `.` and `..`.
fn absolute(confined: &Confined, name: &str) -> PathBuf {
    folded(&match name.strip_prefix("~/") {
        Some(below) => confined.home.join(below),
        None => confined.cwd.join(name),
    })
}

fn folded(full: &Path) -> PathBuf {
    let mut path = PathBuf::new();
    for part in full.components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// What is said of a program that looked a name up, and does not say which.
fn some_host(around: &RunSurroundings<'_>) -> Denial {
    let advice = jig_proto::hint!(
        "name the host in `[[{}.access.net]]` with `allow = true`; with `sandbox.observe = true` the next call says \
         which it is",
        around.inner.table
    );
    Denial {
        advice: Some(advice.into()),
        ..Denial::new(LOOK_UP, SOME_HOST, "no rule of this tool allows any host")
    }
}

fn seen(address: SocketAddr) -> ObservedAccess {
    ObservedAccess {
        target: ObservedTarget::Address(address),
        wanted: Rights::NONE,
        looked: false,
        programs: Vec::new(),
        count: 1,
    }
}

/// What is told of a host that nobody names.
pub(super) const SOME_HOST: &str = "a host";

/// To make something, or to change it if it is there.
const CHANGE: Rights = Rights::CREATE.with(Rights::UPDATE);
