//! [`unchangeable`]: where a confined program can do less than its rules say.

use std::path::PathBuf;

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
