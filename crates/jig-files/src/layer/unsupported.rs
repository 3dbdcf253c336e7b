//! [`ChangeLayer`] where there is no overlayfs.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::change::{ApplyReport, Change, Diff, DiffLimits};

/// What a program changes in a directory, apart from that directory. There are none on this system.
#[derive(Debug)]
pub struct ChangeLayer(Infallible);

impl ChangeLayer {
    /// Fails: only Linux has layers.
    pub fn create(_: &Path, _: &Path) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "layers need overlayfs, which only Linux has",
        ))
    }

    /// Where the changes are.
    pub fn upper(&self) -> &Path {
        match self.0 {}
    }

    /// A directory for the system's own use.
    pub fn work(&self) -> &Path {
        match self.0 {}
    }

    /// The directory that it lies on.
    pub fn lower(&self) -> &Path {
        match self.0 {}
    }

    /// All that differs.
    pub fn changes(&self) -> io::Result<Vec<Change>> {
        match self.0 {}
    }

    /// How the content of something differs.
    pub fn diff(&self, _: &Change, _: DiffLimits) -> io::Result<Diff> {
        match self.0 {}
    }

    /// Does to the lower directory what the program did to the layer.
    pub fn apply(self, _: &dyn Fn(&Change) -> bool) -> io::Result<ApplyReport> {
        match self.0 {}
    }

    /// As [`apply`](Self::apply), also over what somebody else has changed.
    pub fn apply_over_conflicts(self, _: &dyn Fn(&Change) -> bool) -> io::Result<ApplyReport> {
        match self.0 {}
    }

    /// Removes the layer.
    pub fn discard(self) -> io::Result<()> {
        match self.0 {}
    }

    /// Removes what killed processes have left: nothing.
    pub fn sweep(_: &Path) -> io::Result<usize> {
        Ok(0)
    }
}
