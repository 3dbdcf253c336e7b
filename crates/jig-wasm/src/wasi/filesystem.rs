//! `wasi:filesystem`, on the broker: the same rules for each path as every other tool has.
//!
//! A directory that a guest holds is a path, looked up anew each time that it is used; a file is one that the
//! broker has opened, with the permits for it. Neither is a descriptor of the operating system that a guest
//! could do something with past the rules, so this works alike on every kind of
//! [`ProjectFiles`](jig_files::ProjectFiles).
//!
//! Refused whatever the rules say: a path that is absolute, that leaves its directory by `..`, or whose
//! canonical form lies outside of the mount (W-025); hard and symbolic links, because one file with two names
//! would have two policies; changes below a mount that is not writable. Times cannot be set: `unsupported`.

mod descriptors;
mod entries;
mod error_codes;
mod host;
mod path;
mod path_operations;
mod stat;
mod streams;

use wasmtime::component::{HasSelf, Linker, Resource};

use crate::bindings::wasi::filesystem::preopens;
use crate::bindings::wasi::filesystem::types::{self, ErrorCode};
use crate::guest::Guest;
use crate::wasi::io::IoError;

pub use descriptors::Descriptor;
pub(crate) use descriptors::OpenFiles;
use descriptors::{GuestDirectory, GuestFileHandle, OpenedGuestFile};
pub use entries::Entries;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    types::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    preopens::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut directories = Vec::with_capacity(self.mounts.len());
        for mount in 0..self.mounts.len() {
            let guest = self.mounts[mount].guest.clone();
            let directory = GuestDirectory::of_mount(&self.mounts, mount);
            directories.push((self.hold(Descriptor::Directory(directory))?, guest));
        }
        // A guest has no working directory of its own: this is where its relative paths begin.
        if !self.mounts.is_empty() {
            let directory = GuestDirectory::of_mount(&self.mounts, 0);
            let here = self.hold(Descriptor::Directory(directory))?;
            directories.push((here, ".".to_owned()));
        }
        Ok(directories)
    }
}

impl types::Host for Guest {
    fn filesystem_error_code(
        &mut self,
        error: Resource<IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.code)
    }
}
