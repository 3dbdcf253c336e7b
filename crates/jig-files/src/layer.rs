//! [`ChangeLayer`]: what a program changes in a directory, apart from that directory.
//!
//! A layer is a directory for overlayfs: while a program runs, the kernel shows it the lower directory
//! with the layer on top, and whatever it changes goes into the layer. Afterwards the layer is read: what
//! differs ([`ChangeLayer::changes`]) and how ([`ChangeLayer::diff`]). Then it is applied, in whole or in part, or
//! discarded. This module mounts nothing: that is the sandbox's part.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use jig_files::ChangeLayer;
//!
//! # fn main() -> std::io::Result<()> {
//! let layer = ChangeLayer::create(Path::new("/home/u/.local/state/jig"), Path::new("/home/u/project"))?;
//! // Here a program runs on `layer.upper()` and `layer.work()`.
//! for change in layer.changes()? {
//!     println!("{change}");
//! }
//! layer.apply(&|change| !change.path.as_str().starts_with(".git"))?;
//! # Ok(())
//! # }
//! ```
//!
//! What a layer cannot do: show more than one name of a file that has several (a file that is written to
//! gets an inode of its own), rename a directory that comes from below (programs get `EXDEV` and copy it,
//! as `mv` does), and change a file whose user or group is not mapped in the program's namespace: an
//! ordinary user who owns a file of a group other than their first gets `EOVERFLOW`.

#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has layers to make changes from")
)]
mod change;

#[cfg(target_os = "linux")]
mod apply;
#[cfg(target_os = "linux")]
mod diff;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(not(target_os = "linux"))]
#[path = "layer/unsupported.rs"]
mod disk;
#[cfg(target_os = "linux")]
mod entries;
#[cfg(target_os = "linux")]
mod remove;
#[cfg(target_os = "linux")]
mod walk;

/// Empties a directory of ours in which a program, or the kernel for a layer, may have left anything.
#[cfg(target_os = "linux")]
pub(crate) fn empty(directory: &impl std::os::fd::AsFd) -> std::io::Result<()> {
    Ok(remove::all_within(directory.as_fd())?)
}

/// There are no layers here, and nothing that would need it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn empty<D>(_: &D) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub use change::{
    ApplyReport, Change, ChangeKind, Diff, DiffLimits, FailedChange, PathKind, UnfitEntry,
};
pub use disk::ChangeLayer;
