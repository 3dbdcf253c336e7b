//! Sockets of the host: whoever reaches one has a service act for it, with the rights of that service.
//!
//! A run that sees almost all of the machine would see them too, and neither a mount that cannot be written
//! to nor a network of its own keeps a program from connecting to a socket that has a path. So they are
//! hidden from it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use jig_sandbox::{Profile, Rights};

use super::host_files;

/// The sockets that a profile shows, outside of `root`: a layer shows none that can be connected to.
pub(super) fn shown(profile: &Profile, root: &Path) -> Vec<PathBuf> {
    let is_shown = |path: &PathBuf| {
        let is_private = |above: &Path| profile.private.iter().any(|own| own.path == above);
        let rights = |above: &Path| {
            let mut rules = profile.paths.iter();
            rules
                .find(|rule| rule.path == above)
                .map(|rule| rule.rights)
        };
        // The deepest that is said about a path decides.
        let decided = path.ancestors().find_map(|above| match rights(above) {
            Some(rights) => Some(rights != Rights::NONE),
            None => is_private(above).then_some(false),
        });
        decided == Some(true) && !path.starts_with(root)
    };
    let named = named(&table()).into_iter().filter_map(|path| real(&path));
    let named: BTreeSet<PathBuf> = named.filter(is_shown).collect();
    named.into_iter().collect()
}

/// The paths in the kernel's table of sockets. Those that begin with `@` are no files, and stay on the other
/// side of the network.
fn named(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let paths = lines.filter_map(|line| {
        // Seven columns come before it. A path can hold spaces.
        let mut rest = line;
        for _ in 0..7 {
            rest = rest.trim_ascii_start();
            let end = rest.iter().position(|byte| *byte == b' ')?;
            rest = &rest[end..];
        }
        rest.strip_prefix(b" ")
    });
    let paths = paths.filter(|path| path.starts_with(b"/"));
    paths.map(|path| OsStr::from_bytes(path).into()).collect()
}

/// The place of a socket without links; `None` if it is not there any more.
#[expect(
    clippy::disallowed_methods,
    reason = "only what stands at a path of the host is asked, and nothing is opened"
)]
fn real(path: &Path) -> Option<PathBuf> {
    let real = host_files::real(path.parent()?)?.join(path.file_name()?);
    let about = real.symlink_metadata().ok()?;
    about.file_type().is_socket().then_some(real)
}

#[expect(
    clippy::disallowed_types,
    reason = "a table of the kernel is no file of a workspace"
)]
fn table() -> Vec<u8> {
    let mut table = Vec::new();
    if let Ok(file) = std::fs::File::open("/proc/net/unix") {
        // What could not be read is not known.
        let _ = file.take(LARGEST).read_to_end(&mut table);
    }
    table
}

/// Some hundred thousand sockets.
const LARGEST: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::named;

    #[test]
    fn the_table_of_the_kernel_names_the_sockets_that_are_files() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/a.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01     7 /home/u/with a space\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 12346\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12347 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12348 relative.sock\n\
            nonsense\n";
        let expected = ["/run/a.sock", "/home/u/with a space"].map(PathBuf::from);
        assert_eq!(named(table), expected);
    }
}
