//! The layers of a profile: what must hold for them, and the steps that make them.

use std::borrow::Cow;
use std::path::Path;

use super::ProfileError;
use super::host_path::HostPathState;
use super::outline::{c_string, canonical, target};
use crate::profile::{Overlay, PathRule, Profile, Rights, RuleSource};
use crate::sys::linux::order::{MountFlags, StepAction};
use crate::sys::linux::stage::root::MOST_LAYERS;

/// The profile, with the directories of its layers hidden wherever a rule shows what they lie in: a tool
/// that reached them could write what no rule allows, and lie about what it changed.
pub(super) fn guarded(profile: &Profile) -> Result<Cow<'_, Profile>, ProfileError> {
    if profile.overlays.is_empty() {
        return Ok(Cow::Borrowed(profile));
    }
    let mut guarded = profile.clone();
    for overlay in &profile.overlays {
        canonical(&overlay.path)?;
        for own in [&overlay.upper, &overlay.work] {
            canonical(own)?;
            if own.starts_with(&overlay.path) || overlay.path.starts_with(own) {
                return Err(ProfileError::NoLayer {
                    path: overlay.path.clone(),
                    why: format!(
                        "it would be kept in `{}`, and one lies in the other",
                        own.display()
                    ),
                });
            }
            guarded.paths.push(PathRule {
                path: own.clone(),
                rights: Rights::NONE,
                source: RuleSource::Guard,
            });
        }
        if overlay.cache {
            let rules = guarded.paths.iter_mut();
            for rule in
                rules.filter(|rule| rule.path == overlay.path && rule.rights != Rights::NONE)
            {
                // Only here, where the layer is certain: without it the rule holds for the directory itself.
                rule.rights = rule.rights.with(Rights::WRITE);
            }
        }
    }
    if profile.overlays.len() > MOST_LAYERS {
        let last = &profile.overlays[MOST_LAYERS];
        return Err(ProfileError::NoLayer {
            path: last.path.clone(),
            why: format!("there are {MOST_LAYERS} already"),
        });
    }
    Ok(Cow::Owned(guarded))
}

/// Checks that there are namespaces for layers. That something is missing is no reason to do without:
/// the tool would change the files themselves.
pub(super) fn check_means(profile: &Profile, namespaces: bool) -> Result<(), ProfileError> {
    match profile.overlays.first() {
        Some(first) if !namespaces => Err(ProfileError::NoLayers {
            path: first.path.clone(),
        }),
        _ => Ok(()),
    }
}

/// The layers that are still to be made.
pub(super) struct Overlays<'a> {
    left: Vec<&'a Overlay>,
    made: usize,
}

impl<'a> Overlays<'a> {
    pub(super) fn new(overlays: &'a [Overlay]) -> Self {
        Self {
            left: overlays.iter().collect(),
            made: 0,
        }
    }

    /// Whether a path is to get a layer.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.left.iter().any(|overlay| overlay.path == path)
    }

    /// The step that makes the layer of a path, if it has one, and its number.
    pub(super) fn take(
        &mut self,
        path: &Path,
        found: &HostPathState,
        flags: MountFlags,
    ) -> Result<Option<(usize, StepAction)>, ProfileError> {
        let Some(place) = self.left.iter().position(|overlay| overlay.path == path) else {
            return Ok(None);
        };
        let overlay = self.left.remove(place);
        if *found != HostPathState::Directory {
            return Err(ProfileError::NoLayer {
                path: path.to_owned(),
                why: "it is not a directory".to_owned(),
            });
        }
        let number = self.made;
        self.made += 1;
        let act = StepAction::Overlay {
            source: c_string(path),
            upper: c_string(&overlay.upper),
            work: c_string(&overlay.work),
            target: target(path),
            flags,
        };
        Ok(Some((number, act)))
    }

    /// Checks that none is left: somebody counts on it.
    pub(super) fn expect_all(&self) -> Result<(), ProfileError> {
        match self.left.first() {
            None => Ok(()),
            Some(overlay) => Err(ProfileError::NoLayer {
                path: overlay.path.clone(),
                why: "no rule shows that directory, or it is hidden, missing or a symbolic link"
                    .to_owned(),
            }),
        }
    }
}
