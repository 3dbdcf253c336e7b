//! The steps of [`Profile::replaced`]: files that a tool finds in place of those that the host has.
//!
//! Where a path of the host is a link, what is to be replaced is what the link leads to *for the tool*:
//! `/etc/resolv.conf` often leads into `/run`, which tools do not see. So the path is walked here as the tool
//! would walk it, through trees of the host and memory of the keeper, and the keeper gets a place without
//! any link in it. If a link is swapped in between, the keeper's step fails.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::host_path::{self, HostLookup, HostPathState};
use super::landlock;
use super::outline::{Outline, OutlineEntry, target};
use super::refusal::{EnforcementGaps, ProfileError};
use super::skeleton::{self, allow, directory, needed};
use crate::profile::{PrivateContent, Profile, Rights, RuleSource};
use crate::sys::linux::order::{OrderStep, StepAction};

/// The steps of a call, to be taken after those of the rules.
pub(super) fn steps(
    host: &mut dyn HostLookup,
    profile: &Profile,
    outline: &Outline<'_>,
    abi: u32,
    gaps: &mut EnforcementGaps,
) -> Result<Vec<OrderStep>, ProfileError> {
    let mut steps = Vec::new();
    let mut made: BTreeSet<PathBuf> = profile.files.iter().map(|file| file.path.clone()).collect();
    let mut view = ToolPathView { host, outline };
    for file in &profile.replaced {
        let PrivateContent::Text(content) = &file.content else {
            return Err(ProfileError::NoText {
                path: file.path.clone(),
            });
        };
        let (place, ground) = match view.follow(&file.path) {
            Ok(found) => found,
            Err(Obstacle::Hidden) => continue,
            Err(Obstacle::Told(why)) => {
                gaps.note(format!(
                    "`{}` is not replaced, because {why}",
                    file.path.display()
                ));
                continue;
            }
        };
        if ground == ReplacedPathBacking::Memory && made.insert(place.clone()) {
            make_empty(&mut steps, &place);
        }
        steps.push(needed(StepAction::Replace {
            target: target(&place),
            content: content.clone(),
        }));
        let rights = landlock::access(Rights::READ, &HostPathState::File, abi);
        allow(&mut steps, &target(&place), rights);
    }
    Ok(steps)
}

/// Without namespaces there is only what the host has.
pub(super) fn bare(profile: &Profile, gaps: &mut EnforcementGaps) {
    for file in &profile.replaced {
        gaps.note(format!(
            "`{}` is not replaced, because that needs a mount namespace",
            file.path.display()
        ));
    }
}

/// Something to mount onto.
fn make_empty(steps: &mut Vec<OrderStep>, place: &Path) {
    let parent = place.parent().filter(|parent| *parent != Path::new("/"));
    steps.extend(parent.map(|parent| directory(&target(parent), 0o755)));
    steps.push(needed(StepAction::File {
        target: target(place),
        mode: 0o444,
        content: Vec::new(),
    }));
}

/// Where the tool would find a path.
struct ToolPathView<'a> {
    host: &'a mut dyn HostLookup,
    outline: &'a Outline<'a>,
}

/// What there is at a path for the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplacedPathBacking {
    /// Memory of the keeper, in which it can make things.
    Memory,
    /// What the host has.
    Host,
    /// Nothing that anybody could replace.
    Closed,
}

/// Why a path is left as it is.
enum Obstacle {
    /// The tool does not see what the host has there, so nothing of it needs a replacement.
    Hidden,
    Told(&'static str),
}

impl ToolPathView<'_> {
    /// The place that a path comes to, without links, and what is there.
    fn follow(&mut self, path: &Path) -> Result<(PathBuf, ReplacedPathBacking), Obstacle> {
        let mut place = PathBuf::from("/");
        // The last name first.
        let mut rest: Vec<OsString> = names(path);
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                place.pop();
                continue;
            }
            let next = place.join(name);
            let Some(to) = self.step(&next)? else {
                place = next;
                continue;
            };
            links += 1;
            if links > MOST_LINKS {
                return Err(Obstacle::Told("its links lead in a circle"));
            }
            if to.is_absolute() {
                place = PathBuf::from("/");
            }
            rest.extend(names(&to));
        }
        let ground = self.ground(&place);
        match (ground, self.host.lookup(&place)) {
            (ReplacedPathBacking::Host, HostPathState::Directory) => {
                Err(Obstacle::Told("it is a directory"))
            }
            _ => Ok((place, ground)),
        }
    }

    /// Looks at one name on the way; where it leads to if it is a link.
    fn step(&mut self, path: &Path) -> Result<Option<PathBuf>, Obstacle> {
        match self.ground(path) {
            ReplacedPathBacking::Closed => Err(Obstacle::Hidden),
            ReplacedPathBacking::Memory if !self.is_link_in_memory(path) => Ok(None),
            ReplacedPathBacking::Memory | ReplacedPathBacking::Host => match self.host.lookup(path)
            {
                HostPathState::Link(to) => Ok(Some(to)),
                HostPathState::Missing => Err(Obstacle::Told(
                    "the host has nothing there, and nothing is ever made on the host",
                )),
                HostPathState::Hidden => Err(Obstacle::Hidden),
                HostPathState::Directory | HostPathState::File | HostPathState::BeyondLink => {
                    Ok(None)
                }
            },
        }
    }

    fn ground(&mut self, path: &Path) -> ReplacedPathBacking {
        if OF_THE_KEEPER.iter().any(|own| path.starts_with(own)) {
            return ReplacedPathBacking::Closed;
        }
        let mut is_hidden = false;
        for above in path.ancestors() {
            match self.outline.at(above) {
                Some(OutlineEntry::Private(_)) => return ReplacedPathBacking::Memory,
                Some(OutlineEntry::Rule(rule)) if rule.rights == Rights::NONE => is_hidden = true,
                Some(OutlineEntry::Rule(_)) => {
                    if let HostPathState::Directory | HostPathState::File =
                        host_path::find(self.host, above)
                    {
                        return if is_hidden {
                            ReplacedPathBacking::Closed
                        } else {
                            ReplacedPathBacking::Host
                        };
                    }
                }
                Some(OutlineEntry::Pin) | None => {}
            }
        }
        ReplacedPathBacking::Memory
    }

    /// Whether the steps of the rules make the link that the host has there.
    fn is_link_in_memory(&mut self, path: &Path) -> bool {
        let by_rule = matches!(
            self.outline.at(path),
            Some(OutlineEntry::Rule(rule)) if rule.source == RuleSource::System
        );
        (by_rule || skeleton::has_link(path))
            && matches!(self.host.lookup(path), HostPathState::Link(_))
    }
}

/// The names in a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|one| match one {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

/// What every tool has of its own, made by other steps.
const OF_THE_KEEPER: [&str; 3] = ["/dev", "/proc", "/sys"];

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;
