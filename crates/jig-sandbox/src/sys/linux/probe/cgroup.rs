//! Control groups: where the own one is, and whether it was handed to us. Nothing is created.

use crate::machine::{Cgroup, CgroupLayout};
use crate::sys::linux::procfs::{self, MountinfoLine};

#[cfg(test)]
mod tests;

pub(super) fn probe(mounts: &[MountinfoLine]) -> Cgroup {
    let path = procfs::read("/proc/thread-self/cgroup")
        .as_deref()
        .and_then(own_path);
    let directory = path.as_deref().and_then(|path| directory(mounts, path));
    let file = |name: &str| {
        directory
            .as_ref()
            .map(|directory| format!("{directory}/{name}"))
    };
    let words = |name: &str| -> Vec<String> {
        let text = file(name)
            .and_then(|file| procfs::read(&file))
            .unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    };
    Cgroup {
        layout: layout(mounts),
        // A group is delegated when its directory and these two files were given away together.
        delegated: directory.as_deref().is_some_and(procfs::is_writable)
            && ["cgroup.procs", "cgroup.subtree_control"]
                .iter()
                .all(|name| file(name).is_some_and(|file| procfs::is_writable(&file))),
        controllers: words("cgroup.controllers"),
        subtree_control: words("cgroup.subtree_control"),
        path,
        directory,
    }
}

fn layout(mounts: &[MountinfoLine]) -> CgroupLayout {
    let has = |kind: &str| mounts.iter().any(|mount| mount.kind == kind);
    match (has("cgroup2"), has("cgroup")) {
        (true, false) => CgroupLayout::Unified,
        (true, true) => CgroupLayout::Hybrid,
        (false, true) => CgroupLayout::V1Only,
        (false, false) => CgroupLayout::Absent,
    }
}

/// The group in the version 2 hierarchy, which is the one without controllers in its line.
fn own_path(cgroup: &str) -> Option<String> {
    cgroup
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .map(str::to_owned)
}

/// The directory of a group, through the first mount that shows it.
///
/// A path that begins with `/..` lies outside the own cgroup namespace, where no mount reaches.
fn directory(mounts: &[MountinfoLine], path: &str) -> Option<String> {
    if path.split('/').any(|name| name == "..") {
        return None;
    }
    mounts
        .iter()
        .filter(|mount| mount.kind == "cgroup2")
        .find_map(|mount| {
            let below = path.strip_prefix(mount.root.trim_end_matches('/'))?;
            match below {
                "" | "/" => Some(mount.target.clone()),
                below if below.starts_with('/') => {
                    Some(format!("{}{below}", mount.target.trim_end_matches('/')))
                }
                _ => None,
            }
        })
}
