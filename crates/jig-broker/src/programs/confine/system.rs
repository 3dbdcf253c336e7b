//! What of the system every confined program sees: programs, libraries, and the settings in `/etc` that
//! everybody may read.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jig_sandbox::{PrivateDirectory, Rights, RuleSource};

use super::host_files;
use super::shown_paths::ShownRules;

/// Shows the system. What is not installed is passed over.
pub(super) fn show(shown: &mut ShownRules) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_fresh = |known: &InstalledPaths| known.since.elapsed() < FRESH;
    let installed = match known.take().filter(is_fresh) {
        Some(known) => known,
        None => InstalledPaths {
            since: Instant::now(),
            paths: look(),
        },
    };
    for (path, rights) in &installed.paths {
        shown.add(path, *rights, RuleSource::System);
    }
    *known = Some(installed);
}

/// What is installed of all that can be shown.
fn look() -> Vec<(PathBuf, Rights)> {
    let mut installed = Vec::new();
    let programs = Rights::READ.with(Rights::EXECUTE);
    for path in PROGRAMS.iter().map(PathBuf::from) {
        if host_files::exists_itself(&path) {
            installed.push((path, programs));
        }
    }
    // What everybody may read there, and nothing else. An ordinary user can read no more anyway, but root
    // owns the rest, with or without privileges.
    let etc = Path::new("/etc");
    let is_root = rustix::process::geteuid().is_root();
    if host_files::exists_itself(etc) {
        installed.push((etc.to_owned(), Rights::READ));
        if is_root {
            let secrets = secrets(etc).into_iter();
            installed.extend(secrets.map(|path| (path, Rights::NONE)));
        }
    }
    if is_root {
        let secrets = ADDED
            .iter()
            .flat_map(|added| secrets_near(Path::new(added)));
        installed.extend(secrets.map(|path| (path, Rights::NONE)));
    }
    installed
}

/// What of a directory not everybody may read, among the names that are nearest to it.
fn secrets_near(directory: &Path) -> Vec<PathBuf> {
    let mut secrets = Vec::new();
    let mut left = MOST_ADDED;
    let mut directories = VecDeque::from([directory.to_owned()]);
    while let Some(here) = directories.pop_front() {
        let Some(found) = host_files::permitted(&here, &mut left) else {
            // Who sees this can put what others may not read nearer, or elsewhere.
            tracing::warn!(
                directory = %directory.display(),
                stopped_in = %here.display(),
                "more than {MOST_ADDED} names: tools see what only root may read in the rest"
            );
            break;
        };
        for one in found {
            match one.open_to_all {
                true if one.is_directory => directories.push_back(one.path),
                true => {}
                false => secrets.push(one.path),
            }
        }
    }
    secrets.sort();
    secrets
}

/// What of a directory not everybody may read. Where there is no end to it, all of it.
fn secrets(directory: &Path) -> Vec<PathBuf> {
    let mut secrets = Vec::new();
    let mut left = MOST_SETTINGS;
    let mut directories = vec![directory.to_owned()];
    while let Some(here) = directories.pop() {
        let Some(found) = host_files::permitted(&here, &mut left) else {
            return vec![directory.to_owned()];
        };
        for one in found {
            match one.open_to_all {
                true if one.is_directory => directories.push(one.path),
                true => {}
                false => secrets.push(one.path),
            }
        }
    }
    secrets.sort();
    secrets
}

/// The directories that exist for one program alone: for temporary files, and as its home.
///
/// Together they can hold a quarter of the memory that the program may use each, since that is what they
/// are made of.
pub(super) fn private(home: &Path, memory: Option<u64>, executable: bool) -> Vec<PrivateDirectory> {
    let size = memory.map_or(LARGEST_PRIVATE, |memory| {
        (memory / 4).clamp(SMALLEST_PRIVATE, LARGEST_PRIVATE)
    });
    let directory = |path: &Path| PrivateDirectory {
        path: path.to_owned(),
        size,
        executable,
    };
    let temporary = TEMPORARY.map(Path::new);
    temporary.into_iter().chain([home]).map(directory).collect()
}

/// Where a confined program has its home: not where the user has theirs, and not above or below the
/// workspace.
pub(super) fn private_home(home: Option<&Path>, root: &Path) -> PathBuf {
    let is_free = |candidate: &Path| {
        !root.starts_with(candidate)
            && !candidate.starts_with(root)
            && home.is_none_or(|home| !home.starts_with(candidate))
    };
    let candidates = ["/home/jig", "/home/jig-tool"].map(Path::new);
    let free = candidates.into_iter().find(|one| is_free(one));
    free.unwrap_or(Path::new("/home/.jig-tool")).to_owned()
}

/// What was installed when it was last looked at. It is the same for every call, and takes a hundred
/// questions to find out.
static KNOWN: Mutex<Option<InstalledPaths>> = Mutex::new(None);

struct InstalledPaths {
    since: Instant,
    paths: Vec<(PathBuf, Rights)>,
}

/// How soon something that is newly installed is seen.
const FRESH: Duration = Duration::from_secs(5);

/// Where programs put temporary files.
pub(super) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Programs and libraries.
const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/opt",
];

/// Where the person who cares for a machine puts what did not come with it.
const ADDED: [&str; 2] = ["/usr/local", "/opt"];

/// How many names are looked at there. Whole toolchains can lie there, and this is done for each call.
const MOST_ADDED: usize = 4_000;

/// Far above what a system keeps in `/etc`.
const MOST_SETTINGS: usize = 50_000;

/// Enough for the temporary files of a compiler.
const SMALLEST_PRIVATE: u64 = 64 << 20;

/// Memory that a program fills with files is memory that others lack.
const LARGEST_PRIVATE: u64 = 2 << 30;

#[cfg(test)]
mod tests;
