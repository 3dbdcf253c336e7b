//! What a program may change outside the workspace, and what there it may not.
//!
//! A person can show more of the host than the workspace, to be read or to be changed. Two things hold there whatever was
//! shown, and by whom: the guards of the workspace, at any depth, and jig's own folders, which no rule, flag, preset,
//! cache or layer opens.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Sensitive, Workspace,
};
use jig_proto::ProjectPath;
use jig_sandbox::{Rights, RuleSource};

use super::host_files::{self, HostFileType};
use super::shown_paths::ShownRules;
use super::walk::{self, WalkFindings};
use super::workspace_rules::{self, ForbiddenPath};
use super::{ConfineSettings, Preset, repository};

#[cfg(test)]
mod tests;

/// What a program may change outside the workspace, for the sweep.
#[derive(Debug)]
pub(super) struct HostPlaces {
    /// Over the whole host: paths are relative to `/`.
    pub(super) policy: Arc<Policy>,
    pub(super) walked: WalkFindings,
    /// The places, canonical.
    pub(super) writable: Vec<PathBuf>,
}

/// What keeps something as it is.
#[derive(Debug, Default)]
pub(super) struct KeptPlaces {
    /// Directories that may not be renamed or removed.
    pub(super) pins: BTreeSet<PathBuf>,
    /// Names that may not come into being, or not be replaced.
    pub(super) forbidden: Vec<ForbiddenPath>,
}

/// Guards what a person has shown to be changed, but for the workspace at `root`, which has guards of its own. To be called
/// when all of that is in `shown`. `None` if there is nothing.
pub(super) fn guard(
    settings: &ConfineSettings,
    sensitive: &Sensitive,
    root: &Path,
    shown: &mut ShownRules,
    kept: &mut KeptPlaces,
) -> Option<HostPlaces> {
    let writable = settings.system.iter().filter(|access| access.write);
    let writable: Vec<PathBuf> = writable
        .filter_map(|access| host_files::canonical(&access.path))
        .collect();
    if writable.is_empty() {
        return None;
    }
    let policy = policy(settings, sensitive, root, &writable)?;
    for path in &writable {
        keep(&policy, path, shown);
    }
    let top = Path::new("/");
    let walked = walk::walk(&policy, top).unwrap_or_default();
    let bare = walked.heads.iter().map(|folder| top.join(folder));
    let bare: Vec<PathBuf> = bare.filter(|folder| repository::is_bare(folder)).collect();
    for path in &walked.sensitive {
        keep(&policy, &top.join(path), shown);
    }
    // What lies below a `.git` that is a directory may be changed, which is why the policy grants more there than on a file.
    for path in &walked.git_links {
        let asked = walk::asked(path);
        if !asked.is_some_and(|path| policy.can(Capability::Update, &path)) {
            strip(&top.join(path), shown);
        }
    }
    let unseen = workspace_rules::gathered(&walked.unseen);
    for path in walked.closed.iter().chain(&unseen) {
        strip(&top.join(path), shown);
    }
    if policy.protects_repositories() {
        for path in &bare {
            strip(path, shown);
        }
    }
    kept.pins
        .extend(walked.pinned.iter().map(|path| top.join(path)));
    Some(HostPlaces {
        policy: Arc::new(policy),
        walked,
        writable,
    })
}

/// What may be changed there, as rules over the whole host.
fn policy(
    settings: &ConfineSettings,
    sensitive: &Sensitive,
    root: &Path,
    writable: &[PathBuf],
) -> Option<Policy> {
    let rule = |path: &Path, capabilities: FileCapabilities| {
        Some(DeclaredFsRule {
            path: path.strip_prefix("/").ok()?.to_str()?.to_owned(),
            capabilities,
            origin: RuleOrigin::named("`sandbox.system`"),
        })
    };
    let all = FileCapabilities::WRITE.with(Capability::Read.into());
    let rules = writable.iter().map(|path| rule(path, all));
    // Of rules on one path the last one counts.
    let rules = [rule(root, FileCapabilities::NONE)]
        .into_iter()
        .chain(rules);
    let access = DeclaredAccess {
        fs: rules.flatten().collect(),
        ..DeclaredAccess::default()
    };
    let mut guards = Guards {
        sensitive: sensitive.clone(),
        ..Guards::of_workspace()
    };
    if settings.presets.contains(&Preset::Git) {
        guards = guards.without_git();
    }
    let workspace = Workspace::on_disk("/").ok()?;
    Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace).ok()
}

/// Takes the right to change something away, unless the policy gives it there.
fn keep(policy: &Policy, path: &Path, shown: &mut ShownRules) {
    let asked = path.strip_prefix("/").ok().and_then(Path::to_str);
    let asked = asked.and_then(|path| ProjectPath::normalize(path).ok());
    // A name that is no text can be named by no rule.
    let granted = asked.map_or(FileCapabilities::NONE, |path| policy.granted(&path));
    if !workspace_rules::rights(granted).has(Rights::WRITE) {
        strip(path, shown);
    }
}

fn strip(path: &Path, shown: &mut ShownRules) {
    let rights = shown.rights(path);
    if rights.has_any(Rights::WRITE) {
        shown.add(path, rights.without(Rights::WRITE), RuleSource::Declared);
    }
}

/// Keeps one of jig's own places as it is, wherever it lies and whether it exists or not. To be called when all else is
/// in `shown`. What it may be used for instead is `left`.
pub(super) fn keep_own(place: &Path, left: Rights, shown: &mut ShownRules, kept: &mut KeptPlaces) {
    for path in names_of(place) {
        keep_name(&path, left, shown, kept);
        // A file in it may be a link to where a person keeps their settings.
        for name in host_files::names(&path) {
            let entry = path.join(name);
            if let Some(HostFileType::Link(_)) = host_files::stands_itself(&entry) {
                for path in names_of(&entry) {
                    keep_name(&path, left, shown, kept);
                }
            }
        }
    }
}

/// The names by which a place is reached: itself, the links that it goes through, and where these lead to. What is above
/// them is there and no link, but for names that do not exist.
fn names_of(place: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let mut above = place.ancestors().skip(1);
    let real = above.find_map(|above| Some((above, host_files::canonical(above)?)));
    if let Some((above, real)) = real {
        let rest = place.strip_prefix(above).unwrap_or(place);
        names.push(real.join(rest));
    }
    // Each link above the place leads to another place.
    for above in place.ancestors() {
        if let Some((links, _)) = host_files::hops(above) {
            names.extend(links);
        }
    }
    names.extend(host_files::canonical(place));
    names.sort();
    names.dedup();
    names
}

/// Keeps what stands at an absolute path of which no directory above is a link.
fn keep_name(path: &Path, left: Rights, shown: &mut ShownRules, kept: &mut KeptPlaces) {
    let rights = shown.rights(path);
    let above = path.parent().unwrap_or(path);
    match host_files::stands_itself(path) {
        Some(HostFileType::Link(target)) if shown.rights(above).has_any(Rights::WRITE) => {
            forbid(above, path, Some(target), kept);
        }
        Some(HostFileType::Link(_)) => {}
        Some(_) => {
            if !left.has(rights) {
                shown.add(path, rights.and(left), RuleSource::Declared);
            }
        }
        None => {
            let mut existing = path.ancestors().skip(1);
            if let Some(existing) = existing.find(|above| host_files::is_directory(above))
                && shown.rights(existing).has(Rights::CREATE)
            {
                forbid(existing, path, None, kept);
            }
        }
    }
    for above in path.ancestors().skip(1) {
        if shown.rights(above).has(Rights::DELETE) && host_files::is_directory(above) {
            kept.pins.insert(above.to_owned());
        }
    }
}

fn forbid(base: &Path, path: &Path, link: Option<PathBuf>, kept: &mut KeptPlaces) {
    let rest = path.strip_prefix(base).ok().and_then(Path::to_str);
    if let Some(path) = rest.and_then(|rest| ProjectPath::normalize(rest).ok()) {
        kept.forbidden.push(ForbiddenPath {
            base: Some(base.to_owned()),
            path,
            link,
            reason: "it is jig's own, which no tool may change".to_owned(),
        });
    }
}
