//! What no rule, or no broad rule, gives away: sensitive paths and jig's own files.

use jig_proto::ProjectPath;

use crate::sensitive::Sensitive;

/// What stands above the rules of every tool.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Paths that only a rule which names them covers, for every capability.
    pub sensitive: Sensitive,
    /// Paths whose change would let a tool widen its own access.
    pub protected: Vec<Protected>,
}

/// A path that a tool may not change, or not by a broad rule. Reading is not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// The path and everything below it.
    pub path: ProjectPath,
    /// How far the protection goes.
    pub level: ProtectionLevel,
    /// What it is, as a noun phrase for people: "the configuration of jig".
    pub what: String,
}

/// How far the protection of a path goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtectionLevel {
    /// Only a rule that names the path, or something below it, allows a change.
    Named,
    /// Nothing allows a change.
    Never,
}

impl Guards {
    /// The guards of every workspace: the files in which jig looks for configuration, whether
    /// they exist or not, and the folders of jig and JP.
    pub fn of_workspace() -> Self {
        let mut guards = Self::default();
        for file in ["jig.toml", ".jig/config.toml", ".jp/config.toml"] {
            guards.protect(file, ProtectionLevel::Never, "configuration that jig loads");
        }
        guards.protect(".jig", ProtectionLevel::Named, "the folder of jig");
        guards.protect(".jp", ProtectionLevel::Named, "the folder of JP");
        guards
    }

    /// Adds a protected path, unless it has this protection already. One that is not inside the
    /// workspace needs none.
    pub fn protect(&mut self, path: &str, level: ProtectionLevel, what: &str) {
        let Ok(path) = ProjectPath::normalize(path) else {
            return;
        };
        let known = |other: &Protected| other.path == path && other.level >= level;
        if !self.protected.iter().any(known) {
            self.protected.push(Protected {
                path,
                level,
                what: what.to_owned(),
            });
        }
    }
}
