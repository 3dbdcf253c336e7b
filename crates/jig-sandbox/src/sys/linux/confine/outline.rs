//! [`Outline`]: the paths of a profile in order, each directory before what is in it.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::ProfileError;
use crate::profile::{PathRule, PrivateDirectory, Profile, Rights};

/// All that a profile says about each path. Every path in it is absolute, normal and without NUL.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    places: BTreeMap<&'a Path, OutlineEntry<'a>>,
    pins: &'a [PathBuf],
    sealed: &'a [PathBuf],
}

/// What a profile says about one path.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutlineEntry<'a> {
    /// A directory of the tool's own. It hides what a rule at the same path would show.
    Private(&'a PrivateDirectory),
    /// The last rule for the path.
    Rule(&'a PathRule),
    /// To be neither renamed nor removed, and else as what is above it.
    Pin,
}

impl<'a> Outline<'a> {
    /// Checks all paths of a profile and puts them in order.
    pub(super) fn of(profile: &'a Profile) -> Result<Self, ProfileError> {
        let mut places = BTreeMap::new();
        for pin in &profile.pins {
            places.insert(canonical(pin)?, OutlineEntry::Pin);
        }
        for rule in &profile.paths {
            places.insert(canonical(&rule.path)?, OutlineEntry::Rule(rule));
        }
        for private in &profile.private {
            places.insert(canonical(&private.path)?, OutlineEntry::Private(private));
        }
        for file in &profile.replaced {
            canonical(&file.path)?;
        }
        let outline = Self {
            places,
            pins: &profile.pins,
            sealed: &profile.sealed,
        };
        for path in made_in_private(profile) {
            if !outline.is_in_private(canonical(path)?) {
                return Err(ProfileError::NotPrivate {
                    path: path.to_owned(),
                });
            }
        }
        for path in &profile.sealed {
            let place = outline.places.get(canonical(path)?);
            if !matches!(place, Some(OutlineEntry::Private(_))) {
                return Err(ProfileError::NotPrivate { path: path.clone() });
            }
        }
        Ok(outline)
    }

    /// The paths in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a Path, OutlineEntry<'a>)> {
        self.places.iter().map(|(path, place)| (*path, *place))
    }

    /// What is said about exactly this path.
    pub(super) fn at(&self, path: &Path) -> Option<OutlineEntry<'a>> {
        self.places.get(path).copied()
    }

    /// The paths below `path`, in order.
    pub(super) fn below(&self, path: &Path) -> impl Iterator<Item = (&'a Path, OutlineEntry<'a>)> {
        let after = (Bound::Excluded(path), Bound::Unbounded);
        let below = self.places.range::<Path, _>(after);
        below
            .map(|(path, place)| (*path, *place))
            .take_while(move |(other, _)| other.starts_with(path))
    }

    /// Whether a path that has a rule is to be pinned as well.
    pub(super) fn is_pinned(&self, path: &Path) -> bool {
        self.pins.iter().any(|pin| pin == path)
    }

    /// Whether a private directory is to be sealed.
    pub(super) fn is_sealed(&self, path: &Path) -> bool {
        self.sealed.iter().any(|sealed| sealed == path)
    }

    /// Whether no rule grants anything without also granting to read it.
    pub(super) fn everything_is_readable(&self) -> bool {
        self.iter().all(|(_, place)| match place {
            OutlineEntry::Rule(rule) => {
                rule.rights == Rights::NONE || rule.rights.has(Rights::READ)
            }
            _ => true,
        })
    }

    /// Whether the next place above is private, so that what is made there is made in memory.
    fn is_in_private(&self, path: &Path) -> bool {
        path.ancestors()
            .skip(1)
            .find_map(|above| match self.places.get(above) {
                Some(OutlineEntry::Private(_)) => Some(true),
                Some(OutlineEntry::Rule(_)) => Some(false),
                Some(OutlineEntry::Pin) | None => None,
            })
            .unwrap_or(false)
    }
}

impl OutlineEntry<'_> {
    /// Whether something of it is to be seen.
    pub(super) fn shows_something(&self) -> bool {
        match self {
            OutlineEntry::Private(_) => true,
            OutlineEntry::Rule(rule) => rule.rights != Rights::NONE,
            OutlineEntry::Pin => false,
        }
    }
}

fn made_in_private(profile: &Profile) -> impl Iterator<Item = &Path> {
    let files = profile.files.iter().map(|file| file.path.as_path());
    files.chain(profile.door.as_deref())
}

pub(super) fn canonical(path: &Path) -> Result<&Path, ProfileError> {
    let mut components = path.components();
    let is_canonical = components.next() == Some(Component::RootDir)
        && components.all(|component| matches!(component, Component::Normal(_)))
        && !path.as_os_str().as_bytes().contains(&0);
    if is_canonical {
        Ok(path)
    } else {
        Err(ProfileError::NotCanonical {
            path: path.to_owned(),
        })
    }
}

/// A path as the kernel takes it. Those of an outline have no NUL.
pub(super) fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// A path of the host as a target in the new root.
pub(super) fn target(path: &Path) -> CString {
    match path.strip_prefix("/") {
        Ok(relative) if !relative.as_os_str().is_empty() => c_string(relative),
        _ => c".".to_owned(),
    }
}
