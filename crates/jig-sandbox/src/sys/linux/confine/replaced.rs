//! The steps of [`Profile::replaced`]: files that a tool finds in place of those that the host has.
//!
//! Where a path of the host is a link, what is to be replaced is what the link leads to *for the tool*:
//! `/etc/resolv.conf` often leads into `/run`, which tools do not see. So the path is walked here as the tool
//! would walk it, through trees of the host and memory of the keeper, and the keeper gets a place without
//! any link in it. If a link is swapped in between, the keeper's step fails.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::host_path::{self, Found, Lookup};
use super::landlock;
use super::outline::{Outline, Place, target};
use super::refusal::{Gaps, Refused};
use super::skeleton::{self, allow, directory, needed};
use crate::profile::{PrivateContent, Profile, Rights, RuleSource};
use crate::sys::linux::order::{Act, Step};

/// The steps of a call, to be taken after those of the rules.
pub(super) fn steps(
    host: &mut dyn Lookup,
    profile: &Profile,
    outline: &Outline<'_>,
    abi: u32,
    gaps: &mut Gaps,
) -> Result<Vec<Step>, Refused> {
    let mut steps = Vec::new();
    let mut made: BTreeSet<PathBuf> = profile.files.iter().map(|file| file.path.clone()).collect();
    let mut view = View { host, outline };
    for file in &profile.replaced {
        let PrivateContent::Text(content) = &file.content else {
            return Err(Refused::NoText {
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
        if ground == Ground::Memory && made.insert(place.clone()) {
            make_empty(&mut steps, &place);
        }
        steps.push(needed(Act::Replace {
            target: target(&place),
            content: content.clone(),
        }));
        let rights = landlock::access(Rights::READ, &Found::File, abi);
        allow(&mut steps, &target(&place), rights);
    }
    Ok(steps)
}

/// Without namespaces there is only what the host has.
pub(super) fn bare(profile: &Profile, gaps: &mut Gaps) {
    for file in &profile.replaced {
        gaps.note(format!(
            "`{}` is not replaced, because that needs a mount namespace",
            file.path.display()
        ));
    }
}

/// Something to mount onto.
fn make_empty(steps: &mut Vec<Step>, place: &Path) {
    let parent = place.parent().filter(|parent| *parent != Path::new("/"));
    steps.extend(parent.map(|parent| directory(&target(parent), 0o755)));
    steps.push(needed(Act::File {
        target: target(place),
        mode: 0o444,
        content: Vec::new(),
    }));
}

/// Where the tool would find a path.
struct View<'a> {
    host: &'a mut dyn Lookup,
    outline: &'a Outline<'a>,
}

/// What there is at a path for the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
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

impl View<'_> {
    /// The place that a path comes to, without links, and what is there.
    fn follow(&mut self, path: &Path) -> Result<(PathBuf, Ground), Obstacle> {
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
            (Ground::Host, Found::Directory) => Err(Obstacle::Told("it is a directory")),
            _ => Ok((place, ground)),
        }
    }

    /// Looks at one name on the way; where it leads to if it is a link.
    fn step(&mut self, path: &Path) -> Result<Option<PathBuf>, Obstacle> {
        match self.ground(path) {
            Ground::Closed => Err(Obstacle::Hidden),
            Ground::Memory if !self.is_link_in_memory(path) => Ok(None),
            Ground::Memory | Ground::Host => match self.host.lookup(path) {
                Found::Link(to) => Ok(Some(to)),
                Found::Missing => Err(Obstacle::Told(
                    "the host has nothing there, and nothing is ever made on the host",
                )),
                Found::Hidden => Err(Obstacle::Hidden),
                Found::Directory | Found::File | Found::BeyondLink => Ok(None),
            },
        }
    }

    fn ground(&mut self, path: &Path) -> Ground {
        if OF_THE_KEEPER.iter().any(|own| path.starts_with(own)) {
            return Ground::Closed;
        }
        let mut is_hidden = false;
        for above in path.ancestors() {
            match self.outline.at(above) {
                Some(Place::Private(_)) => return Ground::Memory,
                Some(Place::Rule(rule)) if rule.rights == Rights::NONE => is_hidden = true,
                Some(Place::Rule(_)) => {
                    if let Found::Directory | Found::File = host_path::find(self.host, above) {
                        return if is_hidden {
                            Ground::Closed
                        } else {
                            Ground::Host
                        };
                    }
                }
                Some(Place::Pin) | None => {}
            }
        }
        Ground::Memory
    }

    /// Whether the steps of the rules make the link that the host has there.
    fn is_link_in_memory(&mut self, path: &Path) -> bool {
        let by_rule = matches!(
            self.outline.at(path),
            Some(Place::Rule(rule)) if rule.source == RuleSource::System
        );
        (by_rule || skeleton::has_link(path)) && matches!(self.host.lookup(path), Found::Link(_))
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
