//! Which preset would show something, for whoever explains why a program did not see it.

use std::path::Path;

use jig_sandbox::{PrivateContent, Rights};

use super::program::ProgramSurroundings;
use super::shown_paths::ShownRules;
use super::toolchain::{self, PresetAdditions};
use super::{ConfineSettings, FoundPreset, Preset, host_files};
use crate::broker::BrokerCore;

/// The preset, not in the settings yet, under which a program would have these rights at a canonical path
/// of the host. `wanted` is the path that it asked for, which may lie in its private home.
pub(crate) fn preset_showing(
    inner: &BrokerCore,
    settings: &ConfineSettings,
    places: &ConfinedPaths<'_>,
    canonical: &Path,
    wanted: &Path,
    rights: Rights,
) -> Option<Preset> {
    let home = settings.home.as_deref().and_then(host_files::canonical);
    let variable = |name: &str| inner.env.get(name).map(str::to_owned);
    let search_path = host_files::search_path(&settings.host_path);
    let around = ProgramSurroundings {
        root: places.root,
        given_root: places.root,
        home: home.as_deref(),
        private_home: places.private_home,
        search_path: &search_path,
        readable: &|_| false,
        sensitive: inner.policy.sensitive(),
        variable: &variable,
        start: places.root,
        toolchain: None,
        online: true,
        virtual_environment: None,
    };
    let others = Preset::ALL.into_iter();
    let is_found = |preset: &Preset| places.found.iter().any(|found| found.preset == *preset);
    let mut others =
        others.filter(|preset| !settings.presets.contains(preset) && !is_found(preset));
    others.find(|preset| {
        let (mut shown, mut added) = (ShownRules::default(), PresetAdditions::default());
        if toolchain::show(*preset, &around, None, &mut shown, &mut added).is_err() {
            return false;
        }
        // What it looks for in its own home has to be there.
        let is_found = !wanted.starts_with(places.private_home)
            || added.files.iter().any(|file| {
                let leads =
                    matches!(&file.content, PrivateContent::Link(to) if canonical.starts_with(to));
                leads && wanted.starts_with(&file.path)
            });
        is_found && shown.rights(canonical).has(rights)
    })
}

/// Where a confined program stands.
pub(crate) struct ConfinedPaths<'a> {
    /// The canonical root of its workspace.
    pub(crate) root: &'a Path,
    /// Its home.
    pub(crate) private_home: &'a Path,
    /// The presets that it had without being named.
    pub(crate) found: &'a [FoundPreset],
}
