//! A tree as text, to be compared.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Whether times of the last modification count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Times {
    All,
    None,
}

/// Everything below a directory: names, kinds, permissions, owners, contents, links.
pub(crate) fn hash(root: &Path, times: Times) -> String {
    let mut lines = Vec::new();
    add(root, root, times, &mut lines);
    lines.sort();
    lines.join("\n")
}

fn add(root: &Path, path: &Path, times: Times, lines: &mut Vec<String>) {
    let found = fs::symlink_metadata(path).expect("it is ours");
    let mode = found.permissions().mode();
    // Even what is closed is looked into; the time of the last modification stays.
    let is_closed = !found.is_symlink() && mode & 0o500 != 0o500;
    if is_closed {
        let open = fs::Permissions::from_mode(mode | 0o500);
        fs::set_permissions(path, open).expect("it is ours");
    }
    let content = if found.is_symlink() {
        format!("{:?}", fs::read_link(path).expect("it is ours"))
    } else if found.is_dir() {
        for entry in fs::read_dir(path).expect("it is ours") {
            add(root, &entry.expect("it is ours").path(), times, lines);
        }
        String::new()
    } else {
        format!("{:?}", fs::read(path).expect("it is ours"))
    };
    if is_closed {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }
    let time = match times {
        Times::All => format!("{}.{}", found.mtime(), found.mtime_nsec()),
        Times::None => String::new(),
    };
    let owner = (found.uid(), found.gid());
    let name = path.strip_prefix(root).expect("it is below");
    lines.push(format!("{name:?} {mode:o} {owner:?} {time} {content}"));
}
