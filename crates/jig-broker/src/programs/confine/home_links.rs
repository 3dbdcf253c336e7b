//! What a person declared below their home, found by programs in the home that they have.

use std::path::{Path, PathBuf};

use jig_sandbox::{PrivateContent, PrivateFile};

use super::{ConfineSettings, host_files};

#[cfg(test)]
mod tests;

/// Links in the private home to the paths of `sandbox.system` that lie in the user's own, each at the same
/// place. A program asks for `~/.npmrc`, and its home is not the user's. What `files` already put there, or
/// above or below it, stays.
pub(super) fn links(
    settings: &ConfineSettings,
    home: Option<&Path>,
    private_home: &Path,
    changeable: &[PathBuf],
    files: &[PrivateFile],
) -> Vec<PrivateFile> {
    let mut links: Vec<PrivateFile> = Vec::new();
    let given = settings.home.as_deref();
    for access in settings.system.iter().chain(&settings.provided) {
        let below = [given, home].into_iter().flatten();
        let below = below.filter_map(|home| access.path.strip_prefix(home).ok());
        let Some(below) = below
            .into_iter()
            .find(|below| !below.as_os_str().is_empty())
        else {
            continue;
        };
        let Ok(Some(to)) = host_files::canonical_beyond(&access.path, changeable) else {
            continue;
        };
        let path = private_home.join(below);
        let is_taken =
            |file: &PrivateFile| file.path.starts_with(&path) || path.starts_with(&file.path);
        if !files.iter().any(is_taken) && !links.iter().any(is_taken) {
            links.push(PrivateFile {
                path,
                content: PrivateContent::Link(to),
            });
        }
    }
    links
}
