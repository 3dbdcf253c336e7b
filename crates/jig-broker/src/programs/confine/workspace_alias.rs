//! Other names of the workspace: a user who reached it through a link names its files by that.

use std::path::Path;

use jig_sandbox::{PrivateContent, PrivateDirectory, PrivateFile, Rights, RuleSource};

use super::shown_paths::ShownRules;
use super::{ConfineSettings, host_files};

/// Shows the links that lead to the workspace at `root`, which is canonical, where a program would otherwise
/// find nothing. Gives those that lie in a directory of its own (`private`).
pub(super) fn show(
    settings: &ConfineSettings,
    root: &Path,
    private: &[PrivateDirectory],
    shown: &mut ShownRules,
) -> Vec<PrivateFile> {
    let mut links = Vec::new();
    for alias in &settings.aliases {
        // A name that leads elsewhere by now is none, and what is shown has its own links.
        let leads_here = host_files::canonical(alias).as_deref() == Some(root) && alias != root;
        if !leads_here || root.starts_with(alias) || shown.rights(alias) != Rights::NONE {
            continue;
        }
        match private.iter().any(|own| alias.starts_with(&own.path)) {
            true => links.push(PrivateFile {
                path: alias.clone(),
                content: PrivateContent::Link(root.to_owned()),
            }),
            false => shown.add(alias, Rights::READ, RuleSource::System),
        }
    }
    links
}
