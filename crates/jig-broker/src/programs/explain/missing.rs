//! [`MissingAccess`]: what a program wanted and was not given.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jig_proto::ProjectPath;
use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, Rights};
use rustix::fs::Access;

use super::MadePaths;
use super::context::{ExplainedPathKind, RunSurroundings, could, stands};
use super::profile_rights::{PathTreatment, is_noise, is_own};

/// Something that a program wanted and was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingAccess {
    pub(super) at: MissingPlace,
    /// The path that the program asked for, which may lie in its private home.
    pub(super) asked: PathBuf,
    /// What was not given.
    pub(super) rights: Rights,
    pub(super) because: MissingReason,
    /// How many paths were put together here; 1 for a single one.
    pub(super) paths: usize,
    pub(super) count: u64,
    pub(super) weight: MissingWeight,
}

/// Where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MissingPlace {
    /// A path of the workspace.
    Workspace(ProjectPath),
    /// Another path of the host.
    Host(PathBuf),
    /// A program that was looked for by this name, and is here.
    Program(String, PathBuf),
    /// A socket of the host.
    Socket(PathBuf),
}

/// Why the program did not get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MissingReason {
    /// What it has there allows less.
    Restricted,
    /// It does not see it.
    Hidden,
    /// It has a directory of its own there, or above.
    Own,
    /// It is a secret of the system.
    Withheld,
}

/// How telling something is: the smaller, the more. What a program wanted to change or run tells more than
/// what it looked at, and the last thing before its end more than the first.
pub(super) type MissingWeight = (u8, Reverse<usize>);

/// All that was not given, in the order in which it was wanted.
pub(super) fn find(
    around: &RunSurroundings<'_>,
    observation: &Observation,
    made: &mut MadePaths,
) -> Vec<MissingAccess> {
    note_made(around, observation, made);
    let mut programs = HashSet::new();
    let mut found = Vec::new();
    for (order, seen) in observation.seen.iter().enumerate() {
        let missing = match &seen.target {
            ObservedTarget::Path(path) if is_noise(path) => None,
            ObservedTarget::Path(path) => {
                let path = &around.by_its_root(path);
                path_missing(around, seen, path, made, order)
                    .or_else(|| program_missing(around, seen, path, &mut programs, order))
            }
            ObservedTarget::Socket(path) => socket_missing(around, seen, path, order),
            _ => None,
        };
        found.extend(missing);
    }
    found
}

/// What a guess about a path comes to: what of `wanted` is not given there.
pub(super) fn at_path(
    around: &RunSurroundings<'_>,
    path: &Path,
    wanted: Rights,
    order: usize,
) -> Option<MissingAccess> {
    let seen = ObservedAccess {
        target: ObservedTarget::Path(path.to_owned()),
        wanted,
        looked: false,
        programs: Vec::new(),
        count: 1,
    };
    match is_noise(path) {
        true => None,
        false => path_missing(around, &seen, path, &MadePaths::default(), order),
    }
}

/// A program of this name that the host would find, and the sandbox does not show.
pub(super) fn program(
    around: &RunSurroundings<'_>,
    name: &str,
    order: usize,
) -> Option<MissingAccess> {
    let place = around.search_path.first()?.join(name);
    let seen = ObservedAccess {
        target: ObservedTarget::Path(place.clone()),
        wanted: Rights::EXECUTE,
        looked: false,
        programs: Vec::new(),
        count: 1,
    };
    program_missing(around, &seen, &place, &mut HashSet::new(), order)
}

/// What the program made in the directories that are its own: what it wanted to make where something was
/// to make it in.
fn note_made(around: &RunSurroundings<'_>, observation: &Observation, made: &mut MadePaths) {
    for seen in &observation.seen {
        if let ObservedTarget::Path(path) = &seen.target
            && seen.wanted.has(Rights::CREATE)
            && let PathTreatment::Private { at, .. } = around.given.at(path)
            && let Some(parent) = path.parent()
            && (parent == at || made.contains(parent) || around.given.is_above(parent))
        {
            made.insert(path.clone());
        }
    }
}

fn path_missing(
    around: &RunSurroundings<'_>,
    seen: &ObservedAccess,
    path: &Path,
    made: &MadePaths,
    order: usize,
) -> Option<MissingAccess> {
    // What is masked has its name still, and that is all that was asked about.
    if seen.looked && around.given.has_rule_at(path) {
        return None;
    }
    let (host, given, because) = match around.given.at(path) {
        PathTreatment::Put => return None,
        PathTreatment::Withheld => (path.to_owned(), Rights::NONE, MissingReason::Withheld),
        PathTreatment::Shown(rights) => {
            let because = match rights.has(Rights::READ) {
                true => MissingReason::Restricted,
                false => MissingReason::Hidden,
            };
            let rights = match around.unchangeable_above(path) {
                Some(_) => rights.without(Rights::CREATE.with(Rights::DELETE)),
                None => rights,
            };
            (path.to_owned(), rights, because)
        }
        PathTreatment::Private { at, executable } => {
            if is_own(made, path, at) || path == at {
                let may_run = executable || !seen.wanted.has(Rights::EXECUTE);
                return (!may_run).then(|| no_programs(seen, path, order));
            }
            let mut arranged = path.parent().into_iter();
            let is_arranged = arranged.any(|parent| around.given.is_arranged(parent, at));
            // A directory that holds what was put there is there, too.
            if is_arranged || around.given.is_above(path) {
                return None;
            }
            (around.behind(path, at), Rights::NONE, MissingReason::Own)
        }
    };
    let mut wanted = seen.wanted;
    let is_unseen = matches!(because, MissingReason::Hidden | MissingReason::Own);
    match stands(&host) {
        // Nothing to be refused, but for making it.
        ExplainedPathKind::Nothing => {
            if host.parent().map(stands) != Some(ExplainedPathKind::Directory) {
                return None;
            }
            wanted = match wanted.has(Rights::CREATE) {
                true => Rights::CREATE,
                false => return None,
            };
        }
        // To a program that does not see it, opening it for writing looks like making it.
        ExplainedPathKind::Other | ExplainedPathKind::Socket
            if is_unseen && wanted.has(Rights::CREATE) =>
        {
            wanted = wanted.without(Rights::CREATE).with(Rights::UPDATE);
        }
        // The same with a directory: what comes next is to make something in it.
        ExplainedPathKind::Directory if is_unseen && wanted.has(Rights::CREATE) => {}
        // What is put in the place of something changes it; all else that is there is not made.
        ExplainedPathKind::Other | ExplainedPathKind::Socket
            if wanted.has(Rights::CREATE.with(Rights::DELETE)) =>
        {
            wanted = wanted.with(Rights::WRITE);
        }
        ExplainedPathKind::Other | ExplainedPathKind::Socket => {
            wanted = wanted.without(Rights::CREATE)
        }
        ExplainedPathKind::Directory => {
            wanted = wanted.without(Rights::CREATE.with(Rights::EXECUTE))
        }
    }
    let rights = wanted.without(given);
    let at = match around.in_workspace(&host) {
        Some(path) => MissingPlace::Workspace(path),
        // However it was asked for, what is behind it is somebody who listens.
        None if stands(&host) == ExplainedPathKind::Socket => MissingPlace::Socket(host.clone()),
        None => MissingPlace::Host(host.clone()),
    };
    if rights == Rights::NONE || !is_ours_to_refuse(&host, rights) {
        return None;
    }
    // Programs look at every directory on the way to what they want.
    let is_glance = rights == Rights::READ && stands(&host) == ExplainedPathKind::Directory;
    if is_glance && matches!(at, MissingPlace::Host(_)) && around.is_broad(&host) {
        return None;
    }
    Some(MissingAccess {
        at,
        asked: path.to_owned(),
        rights,
        because,
        paths: 1,
        count: seen.count,
        weight: match seen.looked {
            true => (LOOKED, Reverse(order)),
            false => weight(rights, order),
        },
    })
}

/// A program that was put where nothing may be run.
fn no_programs(seen: &ObservedAccess, path: &Path, order: usize) -> MissingAccess {
    MissingAccess {
        at: MissingPlace::Host(path.to_owned()),
        asked: path.to_owned(),
        rights: Rights::EXECUTE,
        because: MissingReason::Own,
        paths: 1,
        count: seen.count,
        weight: weight(Rights::EXECUTE, order),
    }
}

/// A program that is looked for on the search path, and is only on that of the host.
fn program_missing(
    around: &RunSurroundings<'_>,
    seen: &ObservedAccess,
    path: &Path,
    known: &mut HashSet<String>,
    order: usize,
) -> Option<MissingAccess> {
    let directory = path.parent()?;
    let name = path.file_name()?.to_str()?;
    let searched = |path: &PathBuf| path == directory;
    if !around.search_path.iter().any(searched) || known.contains(name) || is_habit(seen, name) {
        return None;
    }
    let finds = |directory: &PathBuf| {
        let place = directory.join(name);
        stands(&place) != ExplainedPathKind::Nothing
            || around.given.at(&place) == PathTreatment::Put
    };
    if around.search_path.iter().any(finds) {
        return None;
    }
    let hosts = std::env::split_paths(&around.settings.host_path);
    let mut hosts = hosts.filter(|directory| directory.is_absolute());
    let found = hosts
        .find(|directory| {
            let file = directory.join(name);
            stands(&file) == ExplainedPathKind::Other && could(&file, Access::EXEC_OK)
        })?
        .join(name);
    known.insert(name.to_owned());
    // It can be seen, but stands for something that is not installed, such as a component of a toolchain. Where
    // rules name the programs, those of the system can be seen, too, and are not on the search path.
    let runs = Rights::READ.with(Rights::EXECUTE);
    let is_seen =
        matches!(around.given.at(&found), PathTreatment::Shown(rights) if rights.has(runs));
    if is_seen && !around.is_system(&found) {
        return None;
    }
    Some(MissingAccess {
        at: MissingPlace::Program(name.to_owned(), found),
        asked: path.to_owned(),
        rights: Rights::READ.with(Rights::EXECUTE),
        because: MissingReason::Hidden,
        paths: 1,
        count: seen.count,
        weight: weight(Rights::EXECUTE, order),
    })
}

/// Whether a program is looked for out of habit: pip tells the index which `rustc` there is, and does without.
fn is_habit(seen: &ObservedAccess, name: &str) -> bool {
    let is_python = |program: &String| program.starts_with("python");
    seen.looked && name == "rustc" && seen.programs.iter().all(is_python)
}

fn socket_missing(
    around: &RunSurroundings<'_>,
    seen: &ObservedAccess,
    path: &Path,
    order: usize,
) -> Option<MissingAccess> {
    let host = match around.given.at(path) {
        PathTreatment::Put | PathTreatment::Withheld => return None,
        PathTreatment::Shown(rights) if rights.has(Rights::READ) => return None,
        PathTreatment::Shown(_) => path.to_owned(),
        PathTreatment::Private { at, .. } => around.behind(path, at),
    };
    (stands(&host) == ExplainedPathKind::Socket).then(|| MissingAccess {
        at: MissingPlace::Socket(host),
        asked: path.to_owned(),
        rights: Rights::NONE,
        because: MissingReason::Hidden,
        paths: 1,
        count: seen.count,
        weight: weight(Rights::WRITE, order),
    })
}

impl RunSurroundings<'_> {
    /// What the host has where the program has a directory of its own. Its home stands for the user's.
    fn behind(&self, path: &Path, private: &Path) -> PathBuf {
        match (&self.home, path.strip_prefix(self.private_home)) {
            (Some(home), Ok(below)) if private == self.private_home => home.join(below),
            _ => path.to_owned(),
        }
    }
}

/// Whether the user could do what was refused.
fn is_ours_to_refuse(path: &Path, rights: Rights) -> bool {
    let parent = path.parent().unwrap_or(path);
    let asked = [
        (Rights::READ, path, Access::READ_OK),
        (Rights::UPDATE, path, Access::WRITE_OK),
        (Rights::EXECUTE, path, Access::EXEC_OK),
        (Rights::CREATE, parent, Access::WRITE_OK),
        (Rights::DELETE, parent, Access::WRITE_OK),
    ];
    let mut asked = asked.into_iter().filter(|(right, ..)| rights.has(*right));
    asked.all(|(_, place, access)| could(place, access))
}

pub(super) fn weight(rights: Rights, order: usize) -> MissingWeight {
    let telling = rights.has_any(Rights::WRITE.with(Rights::EXECUTE));
    (u8::from(!telling), Reverse(order))
}

/// The same with many paths of one directory put together, and more of them if there are more than `most`.
pub(super) fn grouped(
    around: &RunSurroundings<'_>,
    missing: Vec<MissingAccess>,
    most: usize,
) -> Vec<MissingAccess> {
    let mut missing = put_together(around, missing, MANY, None);
    let depth = |one: &MissingAccess| one.at.path().map_or(0, |path| path.components().count());
    let deepest = missing.iter().map(depth).max().unwrap_or(0);
    let mut deepest = deepest.min(DEEPEST);
    while missing.len() > most && deepest > SHALLOWEST {
        missing = put_together(around, missing, 0, Some(deepest));
        deepest -= 1;
    }
    missing
}

/// Puts those together that lie in one directory and lack the same, if there are more than `many` of them;
/// of one depth, if one is given.
fn put_together(
    around: &RunSurroundings<'_>,
    missing: Vec<MissingAccess>,
    many: usize,
    depth: Option<usize>,
) -> Vec<MissingAccess> {
    let mut directories: BTreeMap<(MissingPlace, u8, MissingReason), Vec<MissingAccess>> =
        BTreeMap::new();
    let mut alone = Vec::new();
    for one in missing {
        let is_wanted = |path: &Path| {
            depth.is_none_or(|depth| path.components().count() == depth)
                && around.sensitive(path).is_none()
        };
        let directory = match one.at.path().filter(|path| is_wanted(path)) {
            Some(_) => one.at.parent().filter(|parent| match parent {
                MissingPlace::Host(parent) => {
                    !around.is_broad(parent)
                        && !around.is_system(parent)
                        && !around.holds_sensitive(parent)
                }
                // All of the workspace is more than a few files at its top.
                MissingPlace::Workspace(parent) => *parent != ProjectPath::root(),
                _ => true,
            }),
            None => None,
        };
        let rights = one.rights.names().fold(0, |bits, name| bits | bit(name));
        match directory {
            Some(directory) => directories
                .entry((directory, rights, one.because))
                .or_default()
                .push(one),
            None => alone.push(one),
        }
    }
    for ((directory, ..), group) in directories {
        if group.len() <= many {
            alone.extend(group);
            continue;
        }
        let paths = group.iter().map(|one| one.paths).sum();
        let count = group.iter().map(|one| one.count).sum();
        let Some(first) = group.into_iter().min_by_key(|one| one.weight) else {
            continue;
        };
        alone.push(MissingAccess {
            at: directory,
            asked: first.asked.parent().unwrap_or(&first.asked).to_owned(),
            paths,
            count,
            ..first
        });
    }
    alone
}

fn bit(name: &str) -> u8 {
    match name {
        "read" => 1,
        "create" => 2,
        "update" => 4,
        "delete" => 8,
        _ => 16,
    }
}

impl MissingPlace {
    /// The path, of what can be put together.
    fn path(&self) -> Option<&Path> {
        match self {
            MissingPlace::Workspace(path) => Some(Path::new(path.as_str())),
            MissingPlace::Host(path) => Some(path),
            MissingPlace::Program(..) | MissingPlace::Socket(_) => None,
        }
    }

    fn parent(&self) -> Option<MissingPlace> {
        match self {
            MissingPlace::Workspace(path) => path.parent().map(MissingPlace::Workspace),
            MissingPlace::Host(path) => path
                .parent()
                .map(|parent| MissingPlace::Host(parent.to_owned())),
            MissingPlace::Program(..) | MissingPlace::Socket(_) => None,
        }
    }
}

/// The weight of what was only asked about.
const LOOKED: u8 = 2;

/// How many paths of one directory are told one by one.
const MANY: usize = 3;

/// What is deeper than this is not put together one level after the other: a program chooses how deep it goes,
/// and could keep us busy.
const DEEPEST: usize = 64;

/// A directory that is less deep than this holds too much to be told as one.
const SHALLOWEST: usize = 2;
