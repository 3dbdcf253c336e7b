//! What a [`Preset`] stands for, where it is installed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jig_sandbox::{PrivateContent, PrivateFile, Rights, RuleSource};

use super::program::{self, Surroundings};
use super::shown::Shown;
use super::{ConfineError, Preset, host, shim};

#[cfg(test)]
mod tests;

/// What presets add to a profile besides rules.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Directories with programs.
    pub(super) directories: Vec<PathBuf>,
    /// Variables.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Links in the private home.
    pub(super) files: Vec<PrivateFile>,
}

/// Shows what a preset stands for.
pub(super) fn show(
    preset: Preset,
    around: &Surroundings<'_>,
    shown: &mut Shown,
    added: &mut Added,
) -> Result<(), ConfineError> {
    let mut showing = Showing {
        around,
        shown,
        added,
        looked: Vec::new(),
    };
    let found = match preset {
        Preset::Rust => showing.rust(),
        Preset::Node => showing.node(),
        Preset::Python => showing.program("python3"),
        Preset::Go => showing.go(),
        Preset::Git => showing.git(),
    };
    match found {
        true => Ok(()),
        false => Err(ConfineError::PresetNotInstalled {
            preset: preset.name(),
            looked: showing.looked,
        }),
    }
}

struct Showing<'a> {
    around: &'a Surroundings<'a>,
    shown: &'a mut Shown,
    added: &'a mut Added,
    /// Where it was looked for.
    looked: Vec<PathBuf>,
}

impl Showing<'_> {
    fn rust(&mut self) -> bool {
        let toolchains = shim::rustup_home(self.around).and_then(|home| self.directory(&home));
        if let Some(home) = &toolchains {
            self.shown.widen(home, PROGRAMS, RuleSource::System);
            self.added.variables.push(("RUSTUP_HOME", home.into()));
        }
        let cargo = self.home_or("CARGO_HOME", ".cargo");
        let cargo = cargo.and_then(|home| self.directory(&home));
        if let Some(home) = &cargo {
            self.cargo(home);
        }
        let bin = shim::toolchain(self.around).map(|toolchain| toolchain.join("bin"));
        if let Some(bin) = bin.filter(|bin| host::is_directory(bin)) {
            self.added.directories.push(bin);
        }
        // Distributions install both among the programs of the system.
        toolchains.is_some() || self.program("cargo")
    }

    /// Cargo writes to its home whatever it does, if only locks. So its home is a private one, and what can
    /// be shared is linked to from there.
    fn cargo(&mut self, home: &Path) {
        let private = self.around.private_home.join(".cargo");
        let shared = [
            ("bin", PROGRAMS),
            ("registry", Rights::READ),
            ("git", Rights::READ),
            ("config.toml", Rights::READ),
            ("config", Rights::READ),
        ];
        for (name, rights) in shared {
            let Some(place) = host::canonical(&home.join(name)) else {
                continue;
            };
            self.shown.widen(&place, rights, RuleSource::System);
            self.link(private.join(name), place);
        }
        let variables = &mut self.added.variables;
        variables.push(("CARGO_HOME", private.clone().into()));
        // Without a network it should say what is missing, instead of trying for half a minute.
        variables.push(("CARGO_NET_OFFLINE", "true".into()));
        if host::is_directory(&home.join("bin")) {
            self.added.directories.push(private.join("bin"));
        }
    }

    fn node(&mut self) -> bool {
        if self.program("node") {
            return true;
        }
        // nvm puts node on the search path only of shells that it set up.
        let Some(nvm) = self.home_or("NVM_DIR", ".nvm") else {
            return false;
        };
        let versions = nvm.join("versions/node");
        self.looked.push(versions.clone());
        let chosen = host::text(&nvm.join("alias/default")).unwrap_or_default();
        let chosen = format!("v{}", chosen.trim().trim_start_matches('v'));
        let names = host::names(&versions).into_iter();
        let latest = names.max_by_key(|name| {
            let name = name.to_string_lossy();
            let is_chosen = name == chosen.as_str() || name.starts_with(&format!("{chosen}."));
            (is_chosen && chosen != "v", shim::numbers(&name))
        });
        let Some(prefix) = latest.and_then(|name| host::canonical(&versions.join(name))) else {
            return false;
        };
        self.shown.widen(&prefix, PROGRAMS, RuleSource::System);
        self.added.directories.push(prefix.join("bin"));
        true
    }

    fn go(&mut self) -> bool {
        let modules = self.home_or("GOMODCACHE", "go/pkg/mod");
        if let Some(modules) = modules.and_then(|modules| host::canonical(&modules)) {
            self.shown.widen(&modules, Rights::READ, RuleSource::System);
            self.added.variables.push(("GOMODCACHE", modules.into()));
            self.added.variables.push(("GOPROXY", "off".into()));
        }
        self.program("go")
    }

    fn git(&mut self) -> bool {
        let Some(home) = self.around.home else {
            return true;
        };
        let private = self.around.private_home;
        if let Some(file) = host::canonical(&home.join(".gitconfig")) {
            self.shown.widen(&file, Rights::READ, RuleSource::System);
            self.link(private.join(".gitconfig"), file);
        }
        if let Some(directory) = host::canonical(&home.join(".config/git")) {
            self.shown
                .widen(&directory, Rights::READ, RuleSource::System);
            let passwords = directory.join("credentials");
            if host::exists_itself(&passwords) {
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

    /// The directory that a variable names, or one in the home.
    fn home_or(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let given = (self.around.variable)(variable).map(PathBuf::from);
        given
            .filter(|given| given.is_absolute())
            .or_else(|| Some(self.around.home?.join(name)))
    }

    /// The directory, canonical, if it exists.
    fn directory(&mut self, path: &Path) -> Option<PathBuf> {
        self.looked.push(path.to_owned());
        let canonical = host::canonical(path)?;
        host::is_directory(&canonical).then_some(canonical)
    }

    fn link(&mut self, path: PathBuf, to: PathBuf) {
        self.added.files.push(PrivateFile {
            path,
            content: PrivateContent::Link(to),
        });
    }
}

const PROGRAMS: Rights = Rights::READ.with(Rights::EXECUTE);
