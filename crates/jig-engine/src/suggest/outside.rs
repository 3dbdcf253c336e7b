//! What a command uses outside the workspace: toolchains, paths, sockets, hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use jig_broker::Preset;
use jig_policy::{Sensitive, toml_string};
use jig_sandbox::{NAMES_V4, NAMES_V6, ObservedAccess, ObservedTarget, Profile, Rights};

use super::Learner;
use super::evidence::Evidence;
use super::group::{self, Grouping, PathEvidence};
use super::host_files::{self, HostEntryKind};
use super::needs::WorkspaceNeeds;
use super::proposal::{ProposedPath, ProposedPreset, WithheldAccess};

/// What a profile shows.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownPaths {
    rights: BTreeMap<PathBuf, Rights>,
    /// Files that stand in the private home.
    own: BTreeSet<PathBuf>,
}

impl ShownPaths {
    pub(super) fn of(profile: &Profile) -> Self {
        let rules = profile.paths.iter();
        let mut rights: BTreeMap<PathBuf, Rights> =
            rules.map(|rule| (rule.path.clone(), rule.rights)).collect();
        for cache in profile.overlays.iter().filter(|overlay| overlay.cache) {
            if let Some(rights) = rights.get_mut(&cache.path) {
                *rights = rights.with(Rights::WRITE);
            }
        }
        Self {
            rights,
            own: profile.files.iter().map(|file| file.path.clone()).collect(),
        }
    }

    /// What may be done at a path.
    pub(super) fn at(&self, path: &Path) -> Rights {
        let deepest = path.ancestors().find_map(|above| self.rights.get(above));
        deepest.copied().unwrap_or(Rights::NONE)
    }
}

/// What is used outside, as a proposal. What is not given goes to `needs`.
pub(super) fn of(
    learner: &Learner,
    sensitive: &Sensitive,
    needs: &mut WorkspaceNeeds,
) -> (Vec<ProposedPreset>, Vec<ProposedPath>) {
    let mut using = OutsideNeeds {
        learner,
        sensitive,
        needs,
        presets: BTreeMap::new(),
        read: PathEvidence::new(),
        execute: PathEvidence::new(),
    };
    for run in &learner.runs {
        for seen in &run.observation.seen {
            using.take(seen);
        }
        for denial in &run.denials {
            let withheld = WithheldAccess::new(
                &denial.target,
                format!(
                    "it was refused ({}), and no host is proposed by itself",
                    denial.operation
                ),
                format!("if it is meant, name it: `--net {}`", denial.target),
            );
            let evidence = Evidence {
                count: denial.count,
                ..Evidence::default()
            };
            using.needs.withhold(withheld, &evidence);
        }
    }
    let presets = std::mem::take(&mut using.presets).into_iter();
    let presets = presets.map(|(_, (preset, evidence))| ProposedPreset { preset, evidence });
    (presets.collect(), using.paths())
}

/// What the command looked for in its home and the user's home has, links left aside.
pub(super) fn wanted_of_home(learner: &Learner) -> Vec<PathBuf> {
    let mut wanted = BTreeSet::new();
    let list = &learner.guards.sensitive;
    for seen in learner.runs.iter().flat_map(|run| &run.observation.seen) {
        if let ObservedTarget::Path(path) = &seen.target
            && let Some((real, kind)) = in_home(learner, path)
            && !seen.wanted.has_any(Rights::WRITE)
            && (kind == HostEntryKind::File || !seen.looked)
            && host_files::sensitive(list, &real).is_none()
            && !host_files::holds_sensitive(list, &real)
            && !learner.ground.is_ours(&real)
            && !learner.ground.is_too_much(&real)
        {
            wanted.insert(real);
        }
    }
    wanted.into_iter().collect()
}

/// What the user's home has in place of a path of the private one.
fn in_home(learner: &Learner, path: &Path) -> Option<(PathBuf, HostEntryKind)> {
    let below = path.strip_prefix(&learner.ground.private_home).ok()?;
    if below.as_os_str().is_empty() || learner.base.own.contains(path) {
        return None;
    }
    let real = learner.ground.home.as_ref()?.join(below);
    let kind = host_files::kind(&real)?;
    Some((real, kind))
}

struct OutsideNeeds<'a> {
    learner: &'a Learner,
    sensitive: &'a Sensitive,
    needs: &'a mut WorkspaceNeeds,
    presets: BTreeMap<&'static str, (Preset, Evidence)>,
    read: PathEvidence,
    execute: PathEvidence,
}

impl OutsideNeeds<'_> {
    fn take(&mut self, seen: &ObservedAccess) {
        match &seen.target {
            ObservedTarget::Path(path) if self.learner.ground.relative(path).is_none() => {
                self.take_path(path, seen);
            }
            ObservedTarget::Socket(path) => self.take_socket(path, seen),
            ObservedTarget::Address(address) if !is_own(address.ip()) => {
                let withheld = WithheldAccess::new(
                    &address.to_string(),
                    "it is an address of the network".to_owned(),
                    format!("if it is meant, name it: `--net {address}`"),
                );
                self.needs.withhold(withheld, &Evidence::of(seen));
            }
            _ => {}
        }
    }

    fn take_path(&mut self, path: &Path, seen: &ObservedAccess) {
        let learner = self.learner;
        let evidence = Evidence::of(seen);
        if let Some((real, _)) = in_home(learner, path) {
            self.take_of_home(&real, seen);
            return;
        }
        let is_private = path.starts_with(&learner.ground.private_home);
        let is_left_out =
            !learner.ground.is_of_home(path) && IGNORED.iter().any(|place| path.starts_with(place));
        let Some(kind) = host_files::kind(path).filter(|_| !is_private && !is_left_out) else {
            return;
        };
        if let Some(preset) = seen
            .wanted
            .has(Rights::EXECUTE)
            .then(|| named(path))
            .flatten()
        {
            self.use_preset(preset, &evidence);
        }
        // What is jig's own no rule opens.
        if seen.looked || learner.base.at(path).has(seen.wanted) || learner.ground.is_ours(path) {
            return;
        }
        let mut presets = learner.presets.iter();
        if let Some((preset, _)) = presets.find(|(_, shows)| shows.at(path).has(seen.wanted)) {
            self.use_preset(*preset, &evidence);
            return;
        }
        let shown = learner.ground.shown(path);
        if let Some(pattern) = host_files::sensitive(self.sensitive, path) {
            self.needs
                .withhold(sensitive_outside(&shown, pattern), &evidence);
        } else if seen.wanted.has_any(Rights::WRITE) {
            let withheld = WithheldAccess::new(
                &shown,
                "it lies outside the workspace, and would be changed".to_owned(),
                format!(
                    "if it is meant, add `sandbox.system = [{{ path = {}, write = true }}]`",
                    toml_string(&shown)
                ),
            );
            self.needs.withhold(withheld, &evidence);
        } else if kind == HostEntryKind::Directory
            && host_files::holds_sensitive(self.sensitive, path)
        {
            self.needs.withhold(holds_sensitive(&shown), &evidence);
        } else if kind != HostEntryKind::Directory || !learner.ground.is_too_much(path) {
            self.use_path(path, seen.wanted, &evidence);
        }
    }

    /// Something that it looked for in its home.
    fn take_of_home(&mut self, real: &Path, seen: &ObservedAccess) {
        let shown = self.learner.ground.shown(real);
        let evidence = Evidence::of(seen);
        if let Some(pattern) = host_files::sensitive(self.sensitive, real) {
            self.needs
                .withhold(sensitive_outside(&shown, pattern), &evidence);
        } else if host_files::holds_sensitive(self.sensitive, real) {
            self.needs.withhold(holds_sensitive(&shown), &evidence);
        } else if self.learner.home.iter().any(|path| path == real) {
            self.use_path(real, Rights::READ, &evidence);
        }
    }

    fn take_socket(&mut self, path: &Path, seen: &ObservedAccess) {
        let learner = self.learner;
        let text = path.to_string_lossy();
        let is_own = text.starts_with('@')
            || !learner.ground.is_of_home(path)
                && PRIVATE.iter().any(|place| path.starts_with(place))
            || path.starts_with(&learner.ground.private_home)
            || learner.ground.relative(path).is_some();
        if is_own || host_files::kind(path).is_none() {
            return;
        }
        let withheld = WithheldAccess::new(
            &text,
            "it is the socket of a service: whoever reaches it acts with its rights".to_owned(),
            format!(
                "if it is meant, add `sandbox.system = [{{ path = {}, write = true }}]`",
                toml_string(&text)
            ),
        );
        self.needs.withhold(withheld, &Evidence::of(seen));
    }

    fn use_preset(&mut self, preset: Preset, evidence: &Evidence) {
        let is_there = |(other, _): &(Preset, ShownPaths)| *other == preset;
        let mut has = self.learner.tool.sandbox.presets.iter();
        let has = has.any(|own| own.name() == preset.name());
        if !has && self.learner.presets.iter().any(is_there) {
            let known = self.presets.entry(preset.name());
            known
                .or_insert((preset, Evidence::default()))
                .1
                .add(evidence);
        }
    }

    fn use_path(&mut self, path: &Path, wanted: Rights, evidence: &Evidence) {
        let learner = self.learner;
        let executes = wanted.has(Rights::EXECUTE);
        // A program is found again only if its directory can be seen.
        let parent = path.parent().filter(|parent| {
            executes
                && learner.ground.is_on_search_path(parent)
                && !learner.ground.is_too_much(parent)
        });
        let place = parent.unwrap_or(path);
        let Some(text) = place.to_str() else {
            return;
        };
        let names: Vec<String> = text.split('/').skip(1).map(str::to_owned).collect();
        if executes {
            self.execute.entry(names.clone()).or_default().add(evidence);
        }
        self.read.entry(names).or_default().add(evidence);
    }

    /// The paths, gathered.
    fn paths(&mut self) -> Vec<ProposedPath> {
        let learner = self.learner;
        let absolute = |names: &[String]| PathBuf::from(format!("/{}", names.join("/")));
        let may_be = |directory: &[String], _| {
            let directory = absolute(directory);
            !learner.ground.is_too_much(&directory)
                && !host_files::holds_sensitive(self.sensitive, &directory)
        };
        let grouping = Grouping {
            width: learner.width,
            may_be: &may_be,
        };
        let execute = group::gathered(std::mem::take(&mut self.execute), &grouping);
        let mut read = std::mem::take(&mut self.read);
        // What holds programs is one entry with what is read there.
        for (names, evidence) in &execute {
            read.entry(names.clone())
                .or_insert_with(|| evidence.clone());
        }
        let read = group::gathered(read, &grouping);
        let mut all: Vec<(Vec<String>, bool, Evidence)> = Vec::new();
        for (names, evidence) in read {
            all.push((names.clone(), group::covers(&execute, &names), evidence));
        }
        for (names, evidence) in execute {
            if !all
                .iter()
                .any(|(other, executes, _)| *executes && names.starts_with(other))
            {
                all.push((names, true, evidence));
            }
        }
        let mut paths: Vec<ProposedPath> = all
            .into_iter()
            .map(|(names, execute, evidence)| ProposedPath {
                path: learner.ground.shown(&absolute(&names)),
                execute,
                evidence,
            })
            .collect();
        paths.sort_by(|a, b| a.path.cmp(&b.path));
        let refused = |added: &ProposedPath| learner.refused.get(&added.path).cloned();
        paths.retain(|added| match refused(added) {
            Some(why) => {
                let advice = named_by_hand(&added.path);
                let withheld = WithheldAccess::new(&added.path, why, advice);
                self.needs.withhold(withheld, &added.evidence);
                false
            }
            None => true,
        });
        paths
    }
}

fn holds_sensitive(shown: &str) -> WithheldAccess {
    WithheldAccess::new(
        shown,
        "it holds something that is on the list of sensitive paths".to_owned(),
        "if something in it is meant, add that to `sandbox.system`".to_owned(),
    )
}

fn sensitive_outside(shown: &str, pattern: &str) -> WithheldAccess {
    WithheldAccess::new(
        shown,
        format!("it is on the list of sensitive paths (`{pattern}`)"),
        named_by_hand(shown),
    )
}

fn named_by_hand(shown: &str) -> String {
    format!(
        "if it is meant, add `sandbox.system = [{}]`",
        toml_string(shown)
    )
}

/// The toolchain that a program belongs to, where it needs more than can be seen of it: caches, settings.
fn named(program: &Path) -> Option<Preset> {
    match program.file_name().and_then(OsStr::to_str)? {
        "cargo" | "rustc" | "rustup" => Some(Preset::Rust),
        "go" => Some(Preset::Go),
        _ => None,
    }
}

/// Whether an address leads nowhere else than to the program itself, or to jig.
fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let within = |address: u128, network: u128, bits: u8, length: u32| {
        let rest = length - u32::from(bits);
        address >> rest == network >> rest
    };
    let is_name = match address {
        IpAddr::V4(address) => within(
            address.to_bits().into(),
            NAMES_V4.0.to_bits().into(),
            NAMES_V4.1,
            32,
        ),
        IpAddr::V6(address) => within(address.to_bits(), NAMES_V6.0.to_bits(), NAMES_V6.1, 128),
    };
    is_name || address.is_loopback() || address.is_unspecified()
}

/// Places that a confined program has of its own, or that no rule opens.
const IGNORED: [&str; 6] = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"];

/// Those of them in which it makes sockets for itself.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];
