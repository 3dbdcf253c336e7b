//! The steps with namespaces: a new root on which the paths of a profile are shown.
//!
//! Paths are walked from the top down, so that no mount hides an earlier one. At each there is *ground*:
//! memory of the keeper, where mount points can be made, or a tree of the host, where nothing ever is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::host_path::{self, HostLookup, HostPathState};
use super::landlock;
use super::outline::{Outline, OutlineEntry, c_string, target};
use super::overlay::Overlays;
use super::refusal::{EnforcementGaps, ProfileError};
use super::skeleton::{self, allow, directory, link, needed};
use crate::profile::{PathRule, PrivateDirectory, Profile, Rights, RuleSource};
use crate::sys::linux::order::{MountFlags, NewMount, OrderStep, StepAction};

/// The steps that many calls share, and those of this call. The first are put after `before`.
pub(super) fn steps(
    host: &mut dyn HostLookup,
    before: Vec<OrderStep>,
    profile: &Profile,
    outline: &Outline<'_>,
    abi: u32,
    gaps: &mut EnforcementGaps,
) -> Result<(Vec<OrderStep>, Vec<OrderStep>), ProfileError> {
    let mut walk = MountWalk {
        base: before,
        steps: Vec::new(),
        mounted: HashSet::new(),
        sealed: Vec::new(),
        above: vec![MountStretch::root()],
        private_early: true,
        overlays: Overlays::new(&profile.overlays),
        host,
        outline,
        abi,
        gaps,
    };
    for (path, place) in outline.iter() {
        walk.place(path, place)?;
    }
    // A directory that only leads to others can be listed. The right reaches down to all that is shown,
    // which therefore must be readable anyway.
    if outline.everything_is_readable() && abi > 0 {
        allow(&mut walk.steps, c".", landlock::listing());
    }
    walk.overlays.expect_all()?;
    let early = walk.private_early;
    let MountWalk {
        mut base,
        mut steps,
        sealed,
        ..
    } = walk;
    base.extend(skeleton::machine(profile));
    // What is made in private directories is made after them.
    let last = if early { &mut base } else { &mut steps };
    last.extend(skeleton::within_private(profile, &sealed)?);
    Ok((base, steps))
}

struct MountWalk<'a> {
    base: Vec<OrderStep>,
    steps: Vec<OrderStep>,
    /// Paths that are mount points in a tree of the host.
    mounted: HashSet<PathBuf>,
    /// Private directories in which nothing can be made any more.
    sealed: Vec<PathBuf>,
    /// What is above the current path, outermost first.
    above: Vec<MountStretch>,
    /// Whether all private directories are made before the call is known.
    private_early: bool,
    overlays: Overlays<'a>,
    host: &'a mut dyn HostLookup,
    outline: &'a Outline<'a>,
    abi: u32,
    gaps: &'a mut EnforcementGaps,
}

/// A path and what holds below it.
#[derive(Clone)]
struct MountStretch {
    path: PathBuf,
    ground: MountBacking,
    /// What the kernel grants below, as far as Landlock decides: all that was granted on the way.
    granted: Rights,
    /// The same in Landlock's terms.
    access: u64,
    /// Whether it is made before the call is known.
    early: bool,
    /// The layer that it lies in, by its number and the path that it is at: what the host has here may
    /// not be shown in its place.
    layer: Option<(usize, PathBuf)>,
}

#[derive(Clone, PartialEq, Eq)]
enum MountBacking {
    /// Memory of the keeper.
    Memory,
    /// The same, but no longer writable: mount points were made in time.
    Prepared,
    /// A tree of the host, mounted at `root` and with these flags.
    Bound { root: PathBuf, flags: MountFlags },
    /// Nothing can be reached.
    Masked,
}

impl MountStretch {
    fn root() -> Self {
        Self {
            path: PathBuf::from("/"),
            ground: MountBacking::Memory,
            granted: Rights::NONE,
            access: 0,
            early: true,
            layer: None,
        }
    }
}

impl<'a> MountWalk<'a> {
    fn place(&mut self, path: &Path, place: OutlineEntry<'_>) -> Result<(), ProfileError> {
        while self.above.len() > 1
            && self
                .above
                .last()
                .is_some_and(|above| !path.starts_with(&above.path))
        {
            self.above.pop();
        }
        let above = self
            .above
            .last()
            .cloned()
            .unwrap_or_else(MountStretch::root);
        match place {
            OutlineEntry::Private(private) => self.private(private, &above),
            OutlineEntry::Rule(rule) => self.rule(rule, &above),
            OutlineEntry::Pin => {
                self.pin(path, &above);
                Ok(())
            }
        }
    }

    /// Closes the directory that hides `path` from us: what is withheld below it could be found there by a
    /// tool that owns it, and opens it again.
    fn close(&mut self, path: &Path, above: &MountStretch) {
        let MountBacking::Bound { root, .. } = &above.ground else {
            return;
        };
        if let Some(hiding) = host_path::hiding(self.host, path)
            && hiding.starts_with(root)
        {
            self.hide(hiding, &HostPathState::File, above, false);
        }
    }

    fn rule(&mut self, rule: &PathRule, above: &MountStretch) -> Result<(), ProfileError> {
        if let Some(verdict) = reserved(rule) {
            return verdict;
        }
        match (host_path::find(self.host, &rule.path), &above.ground) {
            (_, MountBacking::Masked) => Ok(()),
            (HostPathState::Hidden, MountBacking::Bound { .. })
                if rule.source != RuleSource::System =>
            {
                self.close(&rule.path, above);
                Ok(())
            }
            (HostPathState::Missing | HostPathState::Hidden, ground) => {
                self.missing(rule, above, ground);
                Ok(())
            }
            (HostPathState::Link(to), MountBacking::Memory)
                if rule.source == RuleSource::System =>
            {
                if !skeleton::has_link(&rule.path) {
                    self.make_parent(&rule.path, above.early);
                    self.push(above.early, link(target(&rule.path), c_string(&to)));
                }
                Ok(())
            }
            (HostPathState::Link(_) | HostPathState::BeyondLink, ground) => {
                self.leads_elsewhere(rule, above, ground)
            }
            (found, MountBacking::Memory | MountBacking::Prepared) => {
                self.show(rule, &found, above)
            }
            (found, MountBacking::Bound { root, flags }) => {
                self.within(rule, &found, above, root, *flags)
            }
        }
    }

    /// Nothing is ever created at the path of a rule, so nothing holds it either.
    fn missing(&mut self, rule: &PathRule, above: &MountStretch, ground: &MountBacking) {
        let can_appear = matches!(ground, MountBacking::Bound { flags, .. } if !flags.read_only)
            && above.granted.has(Rights::CREATE);
        let withholds = above.granted.without(rule.rights) != Rights::NONE;
        if can_appear && withholds && rule.source != RuleSource::System {
            self.gaps.missing(&rule.path);
        }
    }

    /// Mounts are made without following links, because a link could be swapped in between.
    fn leads_elsewhere(
        &mut self,
        rule: &PathRule,
        above: &MountStretch,
        ground: &MountBacking,
    ) -> Result<(), ProfileError> {
        if rule.source == RuleSource::System {
            return Ok(());
        }
        let withheld = above.granted.without(rule.rights);
        match ground {
            // A guard is not told of where its path leads to; there it is guarded too.
            MountBacking::Bound { .. } if rule.source == RuleSource::Guard => {
                if withheld != Rights::NONE {
                    self.gaps.note(format!(
                        "`{}` is open to {withheld}, because it is, or lies behind, a symbolic link",
                        rule.path.display()
                    ));
                }
                Ok(())
            }
            MountBacking::Bound { .. } if withheld != Rights::NONE => self.gaps.cannot_hold(
                rule,
                withheld,
                "it is, or lies behind, a symbolic link",
                "name the path that the link leads to",
            ),
            MountBacking::Memory | MountBacking::Prepared
                if rule.rights != Rights::NONE && rule.source != RuleSource::Guard =>
            {
                Err(ProfileError::Link {
                    path: rule.path.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// A path of the host on memory.
    fn show(
        &mut self,
        rule: &PathRule,
        found: &HostPathState,
        above: &MountStretch,
    ) -> Result<(), ProfileError> {
        if rule.rights == Rights::NONE {
            // It is hidden already. Rules below it find memory.
            return Ok(());
        }
        if rule.path == Path::new("/") {
            return Err(ProfileError::Root);
        }
        let early = self.is_early(rule, above);
        if above.ground == MountBacking::Memory {
            self.make_mount_point(&rule.path, found, early);
        }
        let flags = flags(rule.rights, found);
        let layer = match self.overlay(rule, found, flags)? {
            Some(layer) => Some(layer),
            None => {
                match &above.layer {
                    Some((number, at)) => self.bind_of_layer(*number, at, rule, flags),
                    None => self.bind(rule, flags, early),
                }
                above.layer.clone()
            }
        };
        let taken = taken(flags, found, true);
        self.granted(rule, found, above, taken, early)?;
        let ground = MountBacking::Bound {
            root: rule.path.clone(),
            flags,
        };
        self.enter(rule, found, above, ground, early, layer);
        Ok(())
    }

    /// A rule inside a tree of the host.
    fn within(
        &mut self,
        rule: &PathRule,
        found: &HostPathState,
        above: &MountStretch,
        root: &Path,
        outer: MountFlags,
    ) -> Result<(), ProfileError> {
        let early = self.is_early(rule, above);
        let withholds = above.granted.without(rule.rights) != Rights::NONE;
        if *found == HostPathState::File && withholds && self.host.has_other_names(&rule.path) {
            self.gaps.other_names(&rule.path);
        }
        if rule.rights == Rights::NONE {
            self.hide(&rule.path, found, above, early);
            return Ok(());
        }
        let inner = flags(rule.rights, found);
        let loosens = (outer.read_only && !inner.read_only) || (outer.no_exec && !inner.no_exec);
        let tightens = (inner.read_only && !outer.read_only) || (inner.no_exec && !outer.no_exec);
        // A file that is a mount point can be neither removed nor replaced.
        let held_by_name = *found == HostPathState::File
            && above
                .granted
                .without(rule.rights)
                .has_any(Rights::CREATE.with(Rights::DELETE));
        let is_pinned = !outer.read_only && self.outline.is_pinned(&rule.path);
        let is_overlay = self.overlays.has(&rule.path);
        let is_mount = loosens || tightens || held_by_name || is_pinned || is_overlay;
        if is_mount {
            self.pin_above(&rule.path, above, early);
        }
        let layer = self.overlay(rule, found, inner)?;
        if layer.is_some() {
            // It is a mount already.
        } else if loosens && above.layer.is_some() {
            self.anew(&rule.path, inner);
        } else if loosens {
            self.bind(rule, inner, early);
        } else if is_mount {
            self.again(&rule.path, inner, early);
        }
        self.granted(rule, found, above, taken(inner, found, is_mount), early)?;
        let root = if is_mount { &rule.path } else { root };
        let ground = MountBacking::Bound {
            root: root.to_owned(),
            flags: inner,
        };
        let layer = layer.or_else(|| above.layer.clone());
        self.enter(rule, found, above, ground, early, layer);
        Ok(())
    }

    /// Hides a path in a tree of the host, but for what is to be seen below it.
    fn hide(&mut self, path: &Path, found: &HostPathState, above: &MountStretch, early: bool) {
        self.pin_above(path, above, early);
        self.mounted.insert(path.to_owned());
        let holes = match found {
            HostPathState::Directory => self.holes(path),
            _ => Vec::new(),
        };
        let ground = if holes.is_empty() {
            let mask = StepAction::Mask {
                target: target(path),
            };
            self.push(early, needed(mask));
            MountBacking::Masked
        } else {
            self.push(early, tmpfs(path, MASK_SIZE, 0o111, true));
            self.prepare(path, &holes, early);
            MountBacking::Prepared
        };
        self.above.push(MountStretch {
            path: path.to_owned(),
            ground,
            early,
            ..above.clone()
        });
    }

    /// Makes the mount points in memory that was just mounted, after which nothing can be made there any more.
    fn prepare(&mut self, path: &Path, holes: &[(&Path, HostPathState)], early: bool) {
        for (hole, found) in holes {
            self.make_mount_point(hole, found, early);
        }
        self.again(
            path,
            MountFlags {
                read_only: true,
                no_exec: true,
                dev: false,
            },
            early,
        );
    }

    /// The outermost paths below that show something which is there to be shown.
    fn holes(&mut self, path: &Path) -> Vec<(&'a Path, HostPathState)> {
        let mut holes: Vec<(&Path, HostPathState)> = Vec::new();
        for (inner, place) in self.outline.below(path) {
            if holes
                .last()
                .is_some_and(|(hole, _)| inner.starts_with(hole))
            {
                continue;
            }
            let found = match place {
                OutlineEntry::Private(_) => HostPathState::Directory,
                _ => host_path::find(self.host, inner),
            };
            if place.shows_something()
                && matches!(found, HostPathState::Directory | HostPathState::File)
            {
                holes.push((inner, found));
            }
        }
        holes
    }

    fn private(
        &mut self,
        private: &PrivateDirectory,
        above: &MountStretch,
    ) -> Result<(), ProfileError> {
        let path = &private.path;
        if path == Path::new("/") {
            return Err(ProfileError::Root);
        }
        // One that is sealed is sealed with what it leads to, which is a call's own.
        let holes = match self.outline.is_sealed(path) {
            true => self.holes(path),
            false => Vec::new(),
        };
        let early = above.early && holes.is_empty();
        self.private_early &= early;
        match above.ground {
            MountBacking::Memory => self.push(early, directory(&target(path), 0o755)),
            MountBacking::Prepared => {}
            MountBacking::Masked => return Ok(()),
            MountBacking::Bound { .. } => {
                if host_path::find(self.host, path) != HostPathState::Directory {
                    return Err(ProfileError::NoMountPoint { path: path.clone() });
                }
                self.pin_above(path, above, early);
                self.mounted.insert(path.clone());
            }
        }
        let mode = if WORLD_WRITABLE
            .iter()
            .any(|shared| path == Path::new(shared))
        {
            0o1777
        } else {
            0o700
        };
        self.push(early, tmpfs(path, private.size, mode, !private.executable));
        if !holes.is_empty() {
            self.mounted.insert(path.clone());
            self.prepare(path, &holes, early);
            self.sealed.push(path.clone());
            self.above.push(MountStretch {
                path: path.clone(),
                ground: MountBacking::Prepared,
                early,
                ..above.clone()
            });
            return Ok(());
        }
        let access = landlock::private(private.executable, self.abi);
        allow(self.list(early), &target(path), access);
        self.above.push(MountStretch {
            path: path.clone(),
            ground: MountBacking::Memory,
            granted: above.granted.with(if private.executable {
                Rights::ALL
            } else {
                Rights::ALL.without(Rights::EXECUTE)
            }),
            access: above.access | access,
            early,
            // What is shown in it is shown of the layer that covers it, or changes would not go there.
            layer: above.layer.clone(),
        });
        Ok(())
    }

    fn pin(&mut self, path: &Path, above: &MountStretch) {
        if !matches!(above.ground, MountBacking::Bound { flags, .. } if !flags.read_only) {
            return;
        }
        match host_path::find(self.host, path) {
            HostPathState::Directory | HostPathState::File => {
                self.pin_above(path, above, false);
                self.again(path, MountFlags::default(), false);
            }
            HostPathState::Hidden => self.close(path, above),
            _ => {}
        }
    }

    /// Pins the directories between the mount that `path` is in and `path`: whoever renames one of them
    /// takes the mount along and can put something else in its place.
    fn pin_above(&mut self, path: &Path, above: &MountStretch, early: bool) {
        let MountBacking::Bound { root, flags } = &above.ground else {
            return;
        };
        if flags.read_only {
            return;
        }
        let mut between: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|directory| *directory != root)
            .collect();
        between.reverse();
        for directory in between {
            self.again(directory, MountFlags::default(), early);
        }
    }

    /// Makes a path a mount of its own, unless it is one and nothing is to change.
    fn again(&mut self, path: &Path, flags: MountFlags, early: bool) {
        let is_new = self.mounted.insert(path.to_owned());
        if is_new || flags != MountFlags::default() {
            let act = StepAction::Again {
                target: target(path),
                flags,
            };
            self.push(early, needed(act));
        }
    }

    fn bind(&mut self, rule: &PathRule, flags: MountFlags, early: bool) {
        self.mounted.insert(rule.path.clone());
        let step = OrderStep {
            act: StepAction::Bind {
                source: c_string(&rule.path),
                target: target(&rule.path),
                flags,
            },
            // It may vanish in between, and a tool that misses it will say so.
            optional: rule.source == RuleSource::System,
        };
        self.push(early, step);
    }

    /// A layer is a call's own.
    fn is_early(&self, rule: &PathRule, above: &MountStretch) -> bool {
        above.early && rule.source == RuleSource::System && !self.overlays.has(&rule.path)
    }

    /// Shows a path under its layer, if it has one: the number of that, and where it is.
    fn overlay(
        &mut self,
        rule: &PathRule,
        found: &HostPathState,
        flags: MountFlags,
    ) -> Result<Option<(usize, PathBuf)>, ProfileError> {
        let Some((number, act)) = self.overlays.take(&rule.path, found, flags)? else {
            return Ok(None);
        };
        self.mounted.insert(rule.path.clone());
        self.push(false, needed(act));
        Ok(Some((number, rule.path.clone())))
    }

    /// Shows a part of a layer in a hidden directory of it.
    fn bind_of_layer(&mut self, layer: usize, at: &Path, rule: &PathRule, flags: MountFlags) {
        self.mounted.insert(rule.path.clone());
        let act = StepAction::BindOfLayer {
            layer,
            source: c_string(rule.path.strip_prefix(at).unwrap_or(&rule.path)),
            target: target(&rule.path),
            flags,
        };
        self.push(false, needed(act));
    }

    /// Makes a part of a layer a mount with flags of its own.
    fn anew(&mut self, path: &Path, flags: MountFlags) {
        self.mounted.insert(path.to_owned());
        let act = StepAction::Anew {
            target: target(path),
            flags,
        };
        self.push(false, needed(act));
    }

    /// Gives what the rule grants to Landlock, and checks that what it withholds is withheld.
    fn granted(
        &mut self,
        rule: &PathRule,
        found: &HostPathState,
        above: &MountStretch,
        taken: Rights,
        early: bool,
    ) -> Result<(), ProfileError> {
        let access = landlock::access(rule.rights, found, self.abi);
        if access & !above.access != 0 {
            let step = OrderStep {
                act: StepAction::Allow {
                    target: target(&rule.path),
                    rights: access,
                },
                optional: rule.source == RuleSource::System,
            };
            self.push(early, step);
        }
        self.gaps.coarser(rule, found);
        let rights = landlock::effective(rule.rights, found);
        let open = above.granted.without(rights).without(taken);
        if open != Rights::NONE {
            self.gaps.cannot_hold(
                rule,
                open,
                "what is above it allows that, and the kernel takes back only all changes at once",
                "allow all changes there or none, or set `sandbox.enforce = \"best-effort\"`",
            )?;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        rule: &PathRule,
        found: &HostPathState,
        above: &MountStretch,
        ground: MountBacking,
        early: bool,
        layer: Option<(usize, PathBuf)>,
    ) {
        self.above.push(MountStretch {
            path: rule.path.clone(),
            ground,
            granted: above.granted.with(landlock::effective(rule.rights, found)),
            access: above.access | landlock::access(rule.rights, found, self.abi),
            early,
            layer,
        });
    }

    /// On memory only.
    fn make_mount_point(&mut self, path: &Path, found: &HostPathState, early: bool) {
        if *found == HostPathState::Directory {
            self.push(early, directory(&target(path), 0o755));
            return;
        }
        self.make_parent(path, early);
        let file = StepAction::File {
            target: target(path),
            mode: 0o444,
            content: Vec::new(),
        };
        self.push(early, needed(file));
    }

    fn make_parent(&mut self, path: &Path, early: bool) {
        let parent = path.parent().filter(|parent| *parent != Path::new("/"));
        if let Some(parent) = parent {
            let step = directory(&target(parent), 0o755);
            // One that was just made for a sibling is there already.
            if !self.list(early).contains(&step) {
                self.push(early, step);
            }
        }
    }

    fn push(&mut self, early: bool, step: OrderStep) {
        self.list(early).push(step);
    }

    fn list(&mut self, early: bool) -> &mut Vec<OrderStep> {
        if early {
            &mut self.base
        } else {
            &mut self.steps
        }
    }
}

/// `Some` for what the tool has of its own: a rule of the system is then passed over.
fn reserved(rule: &PathRule) -> Option<Result<(), ProfileError>> {
    let is_ours = OWN.iter().any(|own| rule.path.starts_with(own));
    is_ours.then(|| match rule.source {
        RuleSource::Declared | RuleSource::Implied if rule.rights != Rights::NONE => {
            Err(ProfileError::Reserved {
                path: rule.path.clone(),
            })
        }
        _ => Ok(()),
    })
}

/// A file cannot be created or removed where it is a mount point, so only changing counts.
fn flags(rights: Rights, found: &HostPathState) -> MountFlags {
    let writes = match found {
        HostPathState::Directory => Rights::WRITE,
        _ => Rights::UPDATE,
    };
    MountFlags {
        read_only: !rights.has_any(writes),
        no_exec: !rights.has(Rights::EXECUTE),
        dev: false,
    }
}

/// What the flags of a mount, and that it is one, withhold whatever Landlock grants.
fn taken(flags: MountFlags, found: &HostPathState, is_mount: bool) -> Rights {
    let mut taken = Rights::NONE;
    if flags.read_only {
        taken = taken.with(Rights::WRITE);
    }
    if flags.no_exec {
        taken = taken.with(Rights::EXECUTE);
    }
    if is_mount && *found == HostPathState::File {
        taken = taken.with(Rights::CREATE).with(Rights::DELETE);
    }
    taken
}

fn tmpfs(path: &Path, size: u64, mode: u32, no_exec: bool) -> OrderStep {
    needed(StepAction::Mount {
        kind: NewMount::Tmpfs { size, mode },
        target: target(path),
        flags: MountFlags {
            no_exec,
            ..MountFlags::default()
        },
    })
}

/// What the skeleton makes anew.
const OWN: [&str; 2] = ["/dev", "/proc"];

/// Programs check that others cannot remove their files from these.
const WORLD_WRITABLE: [&str; 3] = ["/dev/shm", "/tmp", "/var/tmp"];

/// Enough for the mount points in a hidden directory.
const MASK_SIZE: u64 = 1 << 20;
