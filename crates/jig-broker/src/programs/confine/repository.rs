//! What a repository says that a tool has made: the user's own git will obey it, also without anybody
//! entering its folder, since a repository around it looks into those that it knows.
//!
//! Without the preset or a rule that names the place, none comes into being.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jig_policy::{BareRepository, GitPart};

use super::host_files;

#[cfg(test)]
mod tests;

/// Whether git takes a directory for a repository although its name is not `.git`, as it does with bare ones,
/// so that who stands in it has git obey it.
pub(super) fn is_bare(directory: &Path) -> bool {
    let has = |name: &str| host_files::exists_itself(&directory.join(name));
    if BareRepository::is(has) {
        return true;
    }
    // Another file system may compare the names without case.
    let names = host_files::names(directory);
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    BareRepository::is_with(&names)
}

/// The head of a bare repository, by the name that it has: without it there is none.
pub(super) fn head(directory: &Path) -> PathBuf {
    let usual = PathBuf::from("HEAD");
    if host_files::exists_itself(&directory.join(&usual)) {
        return usual;
    }
    let names = host_files::names(directory);
    let mut heads = names.into_iter().filter(|name| is_head(name));
    heads.next().map_or(usual, PathBuf::from)
}

/// Whether some file system takes a name for `.git`.
pub(super) fn is_git(name: &OsStr) -> bool {
    GitPart::is_git(&name.to_string_lossy())
}

/// Whether git keeps a repository in a folder of the workspace by itself.
pub(super) fn is_kept_by_git(folder: &Path) -> bool {
    let names: Vec<_> = folder.iter().map(OsStr::to_string_lossy).collect();
    BareRepository::is_kept_by_git(&names)
}

/// Whether some file system takes a name for `HEAD`.
pub(super) fn is_head(name: &OsStr) -> bool {
    GitPart::is_head(&name.to_string_lossy())
}

/// Whether a directory of hooks is missing, or holds only the examples that git puts into new repositories,
/// which are never run. Git has a few of them.
pub(super) fn has_only_examples(hooks: &Path) -> bool {
    match host_files::stands_itself(hooks) {
        None => true,
        Some(host_files::HostFileType::Directory) => {
            let names = host_files::names(hooks);
            let is_example =
                |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".sample");
            names.len() < MOST_EXAMPLES && names.iter().all(is_example)
        }
        Some(_) => false,
    }
}

/// More than git has.
const MOST_EXAMPLES: usize = 64;
