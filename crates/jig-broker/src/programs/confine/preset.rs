//! [`Preset`]: toolchains that lie outside the workspace, by one word each.

use std::fmt;

/// A toolchain, by one word. What it stands for is found where it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Cargo and rustc: the toolchains of rustup, downloaded crates, cargo's configuration; never
    /// credentials.
    Rust,
    /// Node and what is installed with it.
    Node,
    /// Python and what is installed with it.
    Python,
    /// Go, and downloaded modules.
    Go,
    /// The user's configuration of git, without stored passwords.
    Git,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 5] = [
        Preset::Rust,
        Preset::Node,
        Preset::Python,
        Preset::Go,
        Preset::Git,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Rust => "rust",
            Preset::Node => "node",
            Preset::Python => "python",
            Preset::Go => "go",
            Preset::Git => "git",
        }
    }

    /// The preset that a word stands for.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
