//! What a tool may do where nothing is declared.

use crate::{Capability, FileCapabilities};

/// The access of a resource for which a tool declares no rule.
///
/// It never reaches outside the workspace: no network and no variable of the host's environment.
/// What it leaves out is not denied but uncovered, so somebody may still be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultAccess {
    /// Capabilities on the whole workspace.
    pub fs: FileCapabilities,
    /// Whether any program may be run.
    pub commands: bool,
}

impl DefaultAccess {
    /// A mediated subprocess: the workspace read-only, no programs.
    pub const VFS: Self = Self::READ_ONLY;

    /// A confined subprocess: the workspace with all capabilities (what it builds there it can
    /// run), any program that it can see.
    pub const STDIO: Self = Self {
        fs: FileCapabilities::ALL,
        commands: true,
    };

    /// A local Wasm component: the workspace read-write, no programs.
    pub const WASM: Self = Self::READ_WRITE;

    /// Code inside jig: the workspace read-only, no programs.
    pub const BUILTIN: Self = Self::READ_ONLY;

    /// The workspace read-only, no programs.
    pub const READ_ONLY: Self = Self {
        fs: FileCapabilities::just(Capability::Read),
        commands: false,
    };

    /// The workspace read-write, no programs.
    pub const READ_WRITE: Self = Self {
        fs: FileCapabilities::just(Capability::Read).with(FileCapabilities::WRITE),
        commands: false,
    };

    /// Nothing at all.
    pub const NOTHING: Self = Self {
        fs: FileCapabilities::NONE,
        commands: false,
    };
}
