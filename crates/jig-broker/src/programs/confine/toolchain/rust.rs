//! The preset `rust`: the toolchain that is active outside, cargo's subcommands and downloads.

use std::path::Path;

use jig_sandbox::{Rights, RuleSource};

use super::super::{host_files, shim};
use super::{CERTIFICATES, PROGRAMS, PresetBuilder, ToolchainCache, is_named, settings};

impl PresetBuilder<'_> {
    pub(super) fn rust(&mut self) -> bool {
        let toolchains = self.rustup();
        let cargo = self.home_or("CARGO_HOME", ".cargo");
        if let Some(home) = cargo {
            match self.apart(&home) {
                Some(home) if self.is_cargo_home(&home) => self.cargo(&home),
                Some(_) => {}
                // In the workspace it is as open as the rules have it.
                None if home.starts_with(self.around.root) => self.set("CARGO_HOME", home),
                None => {}
            }
        }
        // Without a network it should say what is missing, instead of trying for half a minute.
        if !self.around.online {
            self.set("CARGO_NET_OFFLINE", "true");
        }
        self.pass(VARIABLES);
        self.trust(CERTIFICATES);
        self.trust(&["CARGO_HTTP_CAINFO"]);
        // Distributions install both among the programs of the system.
        toolchains || self.program("cargo")
    }

    /// Shows the toolchains of rustup. The one that is active outside is so inside, whatever a toolchain file of
    /// some dependency says: its programs stand before those of rustup, which would look for such files, and
    /// download.
    fn rustup(&mut self) -> bool {
        let home = shim::rustup_home(self.around).and_then(|home| self.apart(&home));
        // It is made by an installation, and by nothing else beside toolchains.
        let home = home.filter(|home| {
            self.is_usual(home, ".rustup") || host_files::is_file(&home.join("settings.toml"))
        });
        let Some(home) = home else {
            return false;
        };
        let Some(all) = self.apart(&home.join("toolchains")) else {
            return false;
        };
        self.shown.widen(&all, PROGRAMS, RuleSource::System);
        let settings = home.join("settings.toml");
        if host_files::is_file(&settings)
            && host_files::canonical(&settings).as_ref() == Some(&settings)
        {
            self.shown
                .widen(&settings, Rights::READ, RuleSource::System);
        }
        self.set("RUSTUP_HOME", home);
        self.set("RUSTUP_AUTO_INSTALL", "0");
        let Some(chosen) = shim::toolchain(self.around) else {
            return true;
        };
        let name = chosen.directory.file_name().unwrap_or_default().to_owned();
        if let Some(missing) = chosen.missing {
            let name = name.to_string_lossy();
            self.added.warnings.push(format!(
                "the Rust toolchain `{missing}` is not installed, so `{name}` is used; `rustup toolchain install \
                 {missing}` installs it"
            ));
        }
        // `rustup toolchain link` makes one that lies elsewhere.
        let real =
            host_files::canonical(&chosen.directory).filter(|real| self.around.may_show(real));
        if let Some(real) = real {
            self.shown.widen(&real, PROGRAMS, RuleSource::System);
            self.added.directories.push(real.join("bin"));
            self.told = Some(format!("toolchain {}", name.to_string_lossy()));
        }
        self.set("RUSTUP_TOOLCHAIN", name);
        true
    }

    /// Whether Cargo has installed or downloaded something in a canonical directory that is said to be its home.
    fn is_cargo_home(&self, home: &Path) -> bool {
        let marks = [".crates.toml", "bin/rustup", "registry/CACHEDIR.TAG"];
        let mut marks = marks.iter().map(|mark| home.join(mark));
        self.is_usual(home, ".cargo") || marks.any(|mark| host_files::is_file(&mark))
    }

    /// Cargo writes to its home whatever it does, if only locks. So its home is a private one. What can be shared
    /// is linked to from there.
    fn cargo(&mut self, home: &Path) {
        let private = self.around.private_home.join(".cargo");
        if let Some(bin) = self.apart(&home.join("bin")) {
            self.shown.widen(&bin, PROGRAMS, RuleSource::System);
            let rustup = bin.join("rustup");
            for name in host_files::names(&bin).into_iter().take(MOST_PROGRAMS) {
                let program = bin.join(&name);
                if name == "rustup" || !host_files::is_same_file(&program, &rustup) {
                    self.link(private.join("bin").join(&name), program);
                }
            }
            self.added.unlisted.push(bin);
            self.added.directories.push(private.join("bin"));
        }
        for (name, cache) in [("registry", REGISTRY), ("git", CHECKOUTS)] {
            let lower = Some(home.join(name));
            self.keep_over(&private.join(name), lower, &cache);
        }
        let text = ["config.toml", "config"].iter();
        let text = text
            .filter_map(|name| host_files::text(&home.join(name)))
            .next();
        if let Some(text) = text.and_then(|text| settings::toml(&text)) {
            self.write(".cargo/config.toml", text);
        }
        self.set("CARGO_HOME", private);
    }
}

/// What comes from registries.
const REGISTRY: ToolchainCache = ToolchainCache {
    name: "cargo-registry",
    usual: ".cargo/registry",
    belongs: |path| is_named(path, &["CACHEDIR.TAG", "cache", "index", "src"]),
};

/// What comes from repositories. People call folders of their own `git`, too.
const CHECKOUTS: ToolchainCache = ToolchainCache {
    name: "cargo-git",
    usual: ".cargo/git",
    belongs: |path| is_named(path, &["CACHEDIR.TAG", "checkouts", "db"]),
};

/// What people set for builds.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_REGISTRIES_CRATES_IO_PROTOCOL",
    "CARGO_TERM_COLOR",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
];

/// Each of them is a link to be made.
const MOST_PROGRAMS: usize = 300;
