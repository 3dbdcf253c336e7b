//! Layers over all that a profile lets be changed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jig_files::ChangeLayer;
use jig_sandbox::{Overlay, PathRule, Profile, Rights, RuleSource};

use crate::suggest::host_files::{self, HostEntryKind};

/// Why there can be no layer over a directory.
#[derive(Debug)]
pub(crate) struct NoLayer {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

/// Puts a layer over every directory that can be changed, so that nothing of the host is.
///
/// There is none over a single file. One that can be changed is reached through a layer over its directory,
/// which shows no more than before: whatever else is in it is closed.
///
/// # Errors
///
/// If there can be no layer where one is needed.
pub(crate) fn lay(
    profile: &mut Profile,
    root: &Path,
    state: &Path,
) -> Result<Vec<ChangeLayer>, NoLayer> {
    let mut places = places(profile);
    profile.overlays.retain(|overlay| overlay.cache);
    if places.len() > MOST_LAYERS - profile.overlays.len() {
        // The workspace as a whole takes one.
        places.retain(|path| !path.starts_with(root));
        places.push(root.to_owned());
    }
    let mut layers = Vec::new();
    for path in places {
        open(profile, &path);
        // A workspace that only led to what was shown of it is a layer now, with all else in it closed.
        let sealed = std::mem::take(&mut profile.sealed);
        profile
            .private
            .retain(|own| own.path != path || !sealed.contains(&path));
        profile.sealed = sealed
            .into_iter()
            .filter(|sealed| *sealed != path)
            .collect();
        let layer = ChangeLayer::create(state, &path);
        layers.push(layer.map_err(|source| NoLayer { path, source })?);
    }
    let overlays = layers.iter().map(|layer| Overlay {
        path: layer.lower().to_owned(),
        upper: layer.upper().to_owned(),
        work: layer.work().to_owned(),
        cache: false,
    });
    profile.overlays.extend(overlays);
    profile.paths.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(layers)
}

/// The outermost directories in which something can be changed.
fn places(profile: &Profile) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    let writable = profile.paths.iter();
    // What of the system can be changed is a cache of jig's own, and nobody's work.
    let writable = writable
        .filter(|rule| rule.rights.has_any(Rights::WRITE) && rule.source != RuleSource::System);
    for rule in writable {
        let directory = match host_files::kind(&rule.path) {
            Some(HostEntryKind::Directory) => Some(rule.path.as_path()),
            Some(HostEntryKind::File) => rule.path.parent(),
            None => None,
        };
        places.extend(directory.map(Path::to_owned));
    }
    places.sort();
    let mut outermost: Vec<PathBuf> = Vec::new();
    for path in places {
        if !outermost.iter().any(|other| path.starts_with(other)) {
            outermost.push(path);
        }
    }
    outermost
}

/// Sees to it that there is a rule at a directory, with what it showed before.
fn open(profile: &mut Profile, directory: &Path) {
    let rules: BTreeMap<PathBuf, Rights> = profile
        .paths
        .iter()
        .map(|rule| (rule.path.clone(), rule.rights))
        .collect();
    let mut above = directory.ancestors();
    let shown = above.find_map(|above| rules.get(above)).copied();
    let shown = shown.unwrap_or(Rights::NONE);
    if rules.contains_key(directory) && shown != Rights::NONE {
        return;
    }
    let rule = |path: PathBuf, rights| PathRule {
        path,
        rights,
        source: RuleSource::Guard,
    };
    profile.paths.retain(|rule| rule.path != directory);
    if shown != Rights::NONE {
        profile.paths.push(rule(directory.to_owned(), shown));
        return;
    }
    profile.paths.push(rule(directory.to_owned(), Rights::READ));
    for name in host_files::names(directory) {
        let path = directory.join(name);
        // What a link leads to is as closed as before.
        let is_itself = host_files::real(&path).as_ref() == Some(&path);
        if is_itself && !rules.contains_key(&path) {
            profile.paths.push(rule(path, Rights::NONE));
        }
    }
}

/// As many layers as the sandbox makes.
const MOST_LAYERS: usize = 8;
