//! [`NameSupervisor`]: what a tree was refused to make.

use std::path::PathBuf;

use crate::sys::CreationReports;

/// Tells what the supervisor of a tree refused: names that may not come into being.
///
/// The supervisor itself belongs to the tree. It performs what the tree makes, by
/// [`Profile::guarded_names`](crate::Profile::guarded_names), whether anybody asks or not.
#[derive(Debug)]
pub struct NameSupervisor(pub(crate) CreationReports);

impl NameSupervisor {
    /// What was refused since this was last asked. If nobody asks for long, the latest are not kept.
    pub fn take(&self) -> RefusedNames {
        self.0.take()
    }
}

/// Names that a tree was refused to make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedNames {
    /// Each once, in the order in which they were refused.
    pub names: Vec<RefusedName>,
}

/// A name that a tree was refused to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedName {
    /// Where it would have been, absolute and without links.
    pub path: PathBuf,
    /// The place of the entry in [`Profile::guarded_names`](crate::Profile::guarded_names) that says so.
    pub entry: usize,
}
