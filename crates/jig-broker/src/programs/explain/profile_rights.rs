//! [`ProfileGrants`]: what a profile gives at a path.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jig_sandbox::{Profile, Rights, RuleSource};

use super::MadePaths;

/// What a profile gives at each path.
pub(super) struct ProfileGrants<'a> {
    rules: HashMap<&'a Path, (Rights, RuleSource)>,
    private: HashMap<&'a Path, bool>,
    /// Directories of its own that only lead to what is shown, and in which it can make nothing.
    sealed: HashSet<&'a Path>,
    /// Files that the program finds whatever the host has there.
    files: HashSet<&'a Path>,
    /// Directories that something is shown in. They can be listed, with nothing else in them.
    above: HashSet<&'a Path>,
}

/// What stands at a path for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathTreatment<'a> {
    /// What the host has there, with these rights.
    Shown(Rights),
    /// What the host has there is withheld from everybody: it is a secret of the system.
    Withheld,
    /// A directory of the program's own, here or above; whether programs in it may be run.
    Private { at: &'a Path, executable: bool },
    /// A file that was put there.
    Put,
}

impl<'a> ProfileGrants<'a> {
    pub(super) fn of(profile: &'a Profile) -> Self {
        let rules = profile.paths.iter();
        let mut rules: HashMap<_, _> = rules
            .map(|rule| (rule.path.as_path(), (rule.rights, rule.source)))
            .collect();
        for cache in profile.overlays.iter().filter(|overlay| overlay.cache) {
            if let Some((rights, _)) = rules.get_mut(cache.path.as_path()) {
                *rights = rights.with(Rights::WRITE);
            }
        }
        let sealed: HashSet<&Path> = profile.sealed.iter().map(PathBuf::as_path).collect();
        let private = profile.private.iter();
        let private: HashMap<_, _> = private
            .map(|own| (own.path.as_path(), own.executable))
            .filter(|(path, _)| !sealed.contains(path))
            .collect();
        let put = profile.files.iter().chain(&profile.replaced);
        let files: HashSet<&Path> = put.map(|file| file.path.as_path()).collect();
        let mut above = HashSet::new();
        let seen = rules
            .iter()
            .filter(|(_, (rights, _))| *rights != Rights::NONE);
        let seen = seen.map(|(path, _)| *path);
        for path in seen
            .chain(private.keys().copied())
            .chain(sealed.iter().copied())
            .chain(files.iter().copied())
        {
            for directory in path.ancestors().skip(1) {
                // Whatever is above a directory that is known is known too.
                if !above.insert(directory) {
                    break;
                }
            }
        }
        Self {
            rules,
            private,
            sealed,
            files,
            above,
        }
    }

    pub(super) fn at(&self, path: &Path) -> PathTreatment<'a> {
        if self.files.contains(path) {
            return PathTreatment::Put;
        }
        for above in path.ancestors() {
            if let Some((rights, source)) = self.rules.get(above) {
                if *rights == Rights::NONE && *source == RuleSource::System {
                    return PathTreatment::Withheld;
                }
                let mut rights = *rights;
                // In a directory nothing can be made without being written.
                if rights.has(Rights::CREATE) {
                    rights = rights.with(Rights::UPDATE);
                }
                return PathTreatment::Shown(self.with_listing(path, rights));
            }
            if self.sealed.contains(above) {
                let rights = match above == path {
                    true => Rights::READ,
                    false => Rights::NONE,
                };
                return PathTreatment::Shown(self.with_listing(path, rights));
            }
            if let Some((at, executable)) = self.private.get_key_value(above) {
                return PathTreatment::Private {
                    at,
                    executable: *executable,
                };
            }
        }
        PathTreatment::Shown(self.with_listing(path, Rights::NONE))
    }

    /// Whether something is shown below a directory, so that the directory itself is there.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.above.contains(path)
    }

    /// Whether a directory below `home` was arranged for the program by putting files into it: a preset gives
    /// what is needed of it, and what it leaves out was left out on purpose.
    pub(super) fn is_arranged(&self, directory: &Path, home: &Path) -> bool {
        let is_shared = [".config", ".local/share"]
            .iter()
            .any(|name| directory == home.join(name));
        let mut files = self.files.iter();
        directory != home && !is_shared && files.any(|file| file.parent() == Some(directory))
    }

    /// Whether changes are allowed somewhere above a path. There the kernel takes back only all of them at
    /// once, so that a rule on the path can grant all or none.
    pub(super) fn is_changed_above(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|above| {
            let rights = self.rules.get(above).map(|(rights, _)| *rights);
            rights.is_some_and(|rights| rights.has_any(Rights::WRITE))
                || self.private.contains_key(above)
        })
    }

    /// Whether there is a rule at exactly this path.
    pub(super) fn has_rule_at(&self, path: &Path) -> bool {
        self.rules.contains_key(path)
    }

    fn with_listing(&self, path: &Path, rights: Rights) -> Rights {
        match self.above.contains(path) {
            true => rights.with(Rights::READ),
            false => rights,
        }
    }
}

/// Whether a path is one of the kernel's own, which programs look at out of habit, or among their own temporary files.
pub(super) fn is_noise(path: &Path) -> bool {
    ["/proc", "/dev", "/sys"]
        .iter()
        .any(|kernel| path.starts_with(kernel))
        || jig_sandbox::is_temporary(path)
}

/// The directories that a program made in those that are its own, and the files that it wrote there.
pub(super) fn is_own(made: &MadePaths, path: &Path, private: &Path) -> bool {
    path.ancestors()
        .take_while(|above| *above != private)
        .any(|above| made.contains(above))
}
