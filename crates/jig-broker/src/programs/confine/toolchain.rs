//! What a [`Preset`] stands for, where it is installed.
//!
//! A preset shows what is installed, to be read and run, and what was downloaded for it, to be read. What a
//! program downloads goes to caches of jig's own. The user's settings are told without passwords and tokens;
//! files with credentials are never shown.

mod go;
mod node;
mod python;
mod rust;
mod settings;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jig_sandbox::{PrivateContent, PrivateFile, Rights, RuleSource};

use super::cache::Caches;
use super::program::{self, ProgramSurroundings};
use super::shown_paths::ShownRules;
use super::{ConfineError, Preset, git, host_files};

pub(super) use python::VirtualEnvironment;

#[cfg(test)]
mod tests;

/// What presets add to a profile besides rules.
#[derive(Debug, Default)]
pub(super) struct PresetAdditions {
    /// Directories with programs.
    pub(super) directories: Vec<PathBuf>,
    /// Directories with programs that stand for others, in which nothing is to be found by its name.
    pub(super) unlisted: Vec<PathBuf>,
    /// Variables.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Links and settings in the private home.
    pub(super) files: Vec<PrivateFile>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
}

/// Shows what a preset stands for. Says what of the user's own that is; `None` if nothing lies outside of the
/// system.
pub(super) fn show(
    preset: Preset,
    around: &ProgramSurroundings<'_>,
    caches: Option<&mut Caches>,
    shown: &mut ShownRules,
    added: &mut PresetAdditions,
) -> Result<Option<String>, ConfineError> {
    let mut showing = PresetBuilder {
        around,
        caches,
        shown,
        added,
        looked: Vec::new(),
        told: None,
    };
    let found = match preset {
        Preset::Rust => showing.rust(),
        Preset::Node => showing.node(),
        Preset::Python => showing.python(),
        Preset::Go => showing.go(),
        Preset::Git => showing.git(),
    };
    match found {
        true => Ok(showing.told),
        false => {
            let mut looked: Vec<PathBuf> = Vec::new();
            for place in showing.looked {
                if !looked.contains(&place) {
                    looked.push(place);
                }
            }
            let preset = preset.name();
            Err(ConfineError::PresetNotInstalled { preset, looked })
        }
    }
}

struct PresetBuilder<'a> {
    around: &'a ProgramSurroundings<'a>,
    caches: Option<&'a mut Caches>,
    shown: &'a mut ShownRules,
    added: &'a mut PresetAdditions,
    /// Where it was looked for.
    looked: Vec<PathBuf>,
    /// What is shown that is not of the system.
    told: Option<String>,
}

impl PresetBuilder<'_> {
    fn git(&mut self) -> bool {
        let Some(home) = self.around.home else {
            return true;
        };
        let private = self.around.private_home;
        if let Some(file) = host_files::canonical(&home.join(".gitconfig")) {
            self.shown.widen(&file, Rights::READ, RuleSource::System);
            self.link(private.join(".gitconfig"), file);
            // Not in the place of the user's own: what git writes there would be lost without a word.
            let path = private.join(".jig/gitconfig");
            let variable = ("GIT_CONFIG_SYSTEM", path.clone().into());
            self.added.variables.push(variable);
            self.added.files.push(PrivateFile {
                path,
                content: PrivateContent::Text(git::of_system().into_bytes()),
            });
        }
        if let Some(directory) = host_files::canonical(&home.join(".config/git")) {
            self.shown
                .widen(&directory, Rights::READ, RuleSource::System);
            let passwords = directory.join("credentials");
            if host_files::exists_itself(&passwords) {
                self.shown
                    .add(passwords, Rights::NONE, RuleSource::Declared);
            }
            self.link(private.join(".config/git"), directory);
        }
        true
    }

    /// Shows a program where it is installed.
    fn program(&mut self, name: &str) -> bool {
        match program::installed(self.around, name, self.shown) {
            Ok(own) => {
                self.added.directories.extend(own.directories);
                self.added.files.extend(own.links);
                true
            }
            Err(ConfineError::ProgramNotFound { looked, .. }) => {
                self.looked.extend(looked);
                false
            }
            Err(_) => false,
        }
    }

    /// The folder that an installed program lies in, canonical: that above its `bin`.
    fn prefix_of(&self, name: &str) -> Option<PathBuf> {
        let place = program::place(self.around, name.as_ref())?;
        let target = host_files::canonical(&place)?;
        Some(target.parent()?.parent()?.to_owned())
    }

    /// Tells what is shown of the user's own, if it does not belong to the system.
    fn tell(&mut self, what: &str, path: &Path) {
        let is_of_system = ["/usr", "/bin", "/opt", "/nix", "/gnu", "/snap"];
        if self.told.is_none() && !is_of_system.iter().any(|system| path.starts_with(system)) {
            let inside = path.strip_prefix(self.around.root).ok();
            let home = self.around.home;
            let at_home = home.and_then(|home| path.strip_prefix(home).ok());
            let path = match (inside, at_home) {
                (Some(inside), _) => inside.display().to_string(),
                (None, Some(short)) => format!("~/{}", short.display()),
                (None, None) => path.display().to_string(),
            };
            self.told = Some(format!("{what}{path}"));
        }
    }

    /// The directory that a variable names, or one in the home.
    fn home_or(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let given = (self.around.variable)(variable).map(PathBuf::from);
        given
            .filter(|given| given.is_absolute())
            .or_else(|| Some(self.around.home?.join(name)))
    }

    /// The directory, canonical, if it exists, lies outside of the workspace, and beside all that must not be
    /// shown with it: a variable may have been set by whoever made the workspace.
    fn apart(&mut self, path: &Path) -> Option<PathBuf> {
        self.looked.push(path.to_owned());
        let canonical = host_files::canonical(path)?;
        let is_apart = self.around.is_apart(&canonical);
        let is_inside = canonical.starts_with(self.around.root);
        (host_files::is_directory(&canonical) && is_apart && !is_inside).then_some(canonical)
    }

    /// Whether a canonical directory is the one in its usual place in the home.
    fn is_usual(&self, directory: &Path, usual: &str) -> bool {
        let at_home = self.around.home.map(|home| home.join(usual));
        at_home
            .and_then(|path| host_files::canonical(&path))
            .as_deref()
            == Some(directory)
    }

    /// Whether a canonical directory is a cache and nothing else. A variable can name any folder, such as one with
    /// somebody's documents: to have it shown, everything in it must be what the toolchain makes there.
    fn holds_only(&mut self, directory: &Path, cache: &ToolchainCache) -> bool {
        if self.is_usual(directory, cache.usual) {
            return true;
        }
        let names = host_files::names(directory);
        let mut paths = names.iter().map(|name| directory.join(name));
        let Some(other) = paths.find(|path| !(cache.belongs)(path)) else {
            return !names.is_empty();
        };
        self.added.warnings.push(format!(
            "`{}` is not one of the files that a cache holds, so `{}` stays hidden, and downloads go to a cache of jig's \
             own",
            other.display(),
            directory.display(),
        ));
        false
    }

    fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.added.variables.push((name, value.into()));
    }

    /// Passes on variables of the host that hold no password.
    fn pass(&mut self, names: &[&'static str]) {
        for name in names {
            let value = (self.around.variable)(name);
            if let Some(value) = value.filter(|value| settings::is_open(value)) {
                self.set(name, value);
            }
        }
    }

    /// Passes on variables that name files with certificates, and shows those.
    fn trust(&mut self, names: &[&'static str]) {
        for name in names {
            let path = (self.around.variable)(name).map(PathBuf::from);
            let Some(path) = path.filter(|path| path.is_absolute()) else {
                continue;
            };
            let Some(path) = host_files::canonical(&path) else {
                continue;
            };
            let is_shown = self.shown.rights(&path).has(Rights::READ);
            if is_shown || settings::is_certificates(&path) {
                self.shown.widen(&path, Rights::READ, RuleSource::System);
                self.set(name, path);
            }
        }
    }

    fn link(&mut self, path: PathBuf, to: PathBuf) {
        self.put(path, PrivateContent::Link(to));
    }

    /// Puts settings into the private home.
    fn write(&mut self, name: &str, text: String) {
        let path = self.around.private_home.join(name);
        self.put(path, PrivateContent::Text(text.into_bytes()));
    }

    fn put(&mut self, path: PathBuf, content: PrivateContent) {
        self.added.files.push(PrivateFile { path, content });
    }

    /// A text file in the user's home.
    fn text_at_home(&self, name: &str) -> Option<String> {
        host_files::text(&self.around.home?.join(name))
    }

    /// Has a directory of the private home survive.
    fn keep(&mut self, at: &str, name: &str) {
        let caches = self.caches.as_deref_mut();
        if let Some(folder) = caches.and_then(|caches| caches.folder(name, self.shown)) {
            self.link(self.around.private_home.join(at), folder);
        }
    }

    /// As [`keep`](Self::keep), with what the user has in a directory of their own, which is only read. Returns
    /// where it is.
    fn keep_over(
        &mut self,
        at: &Path,
        lower: Option<PathBuf>,
        cache: &ToolchainCache,
    ) -> Option<PathBuf> {
        let name = cache.name;
        let lower = lower.and_then(|lower| self.apart(&lower));
        let lower = lower.filter(|lower| self.holds_only(lower, cache));
        let place = match (lower, self.caches.as_deref_mut()) {
            (Some(lower), caches) => {
                let is_over = caches.is_some_and(|caches| caches.over(&lower, name, self.shown));
                if !is_over {
                    self.shown.widen(&lower, Rights::READ, RuleSource::System);
                }
                lower
            }
            (None, Some(caches)) => caches.folder(name, self.shown)?,
            (None, None) => return None,
        };
        self.link(at.to_owned(), place.clone());
        Some(place)
    }
}

/// What a user has downloaded, which a variable can have elsewhere than in its usual place.
struct ToolchainCache {
    /// Its name among jig's own.
    name: &'static str,
    /// Where it usually is in the home.
    usual: &'static str,
    /// Whether a path in it is one that the toolchain makes there.
    belongs: fn(&Path) -> bool,
}

/// Whether the last name of a path is one of these.
fn is_named(path: &Path, names: &[&str]) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| names.contains(&name))
}

const PROGRAMS: Rights = Rights::READ.with(Rights::EXECUTE);

/// Variables that name certificates to trust, for programs of any kind.
const CERTIFICATES: &[&str] = &["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"];
