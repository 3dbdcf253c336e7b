//! Where a confined program can do less, or more, than its rules say: [`unchangeable`], [`is_temporary`].

use std::path::{Path, PathBuf};

use crate::profile::Profile;
use crate::sys;

/// The directories in which a program with this profile can make, remove and rename nothing, though a rule grants it.
///
/// They are those above something that is withheld, on a machine that has no namespaces to hide it: there each name
/// that exists is granted by itself. Whether there are namespaces is taken from the last start of a program. To be
/// asked after that start, to explain what was refused; it decides nothing.
pub fn unchangeable(profile: &Profile) -> Vec<PathBuf> {
    sys::unchangeable(profile)
}

/// Whether a path lies in a directory that a program was given for temporary files because it has none of its own, as
/// on a machine without namespaces. It goes with the program.
pub fn is_temporary(path: &Path) -> bool {
    sys::is_temporary(path)
}
