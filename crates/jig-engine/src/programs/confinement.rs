//! How the programs of tools are confined: what the configuration says, and what this host has.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_broker::{ConfineSettings, Preset, SystemAccess};
use jig_config::{Enforce, RuntimeKind, Tool};
use jig_policy::Policy;
use jig_sandbox::{Launch, Layers, ProcessLimits, minimal_environment};

use crate::calls::call::CallError;
use crate::engine::Engine;

/// What confining programs needs to know of the host. Nothing here comes from a configuration.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The user's home: `~/` in `sandbox.system`, and where presets look. Default: none.
    pub home: Option<PathBuf>,
    /// Other names of the workspace: absolute paths that lead to it through a link. Programs find it by them
    /// too. Default: none.
    pub aliases: Vec<PathBuf>,
    /// Where jig keeps its own state. What tools leave where nothing may be is moved there. Default:
    /// none; then it stays, and is reported.
    pub state: Option<PathBuf>,
    /// The folder of the person's configuration of jig, whether it exists or not. Default: none; then it is
    /// `.config/jig` in the home.
    pub config: Option<PathBuf>,
    /// The search path on which programs are found. Default: that of this process, or what a login shell
    /// has.
    pub search_path: OsString,
    /// From where programs are started. Default: as suits the size of the host.
    pub launch: Launch,
    /// Which layers of the sandbox are used. Default: all.
    pub layers: Layers,
}

impl Default for Confinement {
    fn default() -> Self {
        Self {
            home: None,
            aliases: Vec::new(),
            state: None,
            config: None,
            search_path: minimal_environment(Path::new("/"))
                .remove(OsStr::new("PATH"))
                .unwrap_or_default(),
            launch: Launch::Auto,
            layers: Layers::ALL,
        }
    }
}

impl Engine {
    /// How a program of this tool is confined; `None` if nothing is.
    pub(crate) fn confinement(&self, tool: &Tool) -> Option<ConfineSettings> {
        if self.unconfined {
            return None;
        }
        let sandbox = &tool.sandbox;
        let presets = sandbox.presets.iter();
        let home = self.confine.home.as_deref().and_then(Utf8Path::from_path);
        let system = sandbox.system.iter().filter_map(|declared| {
            Some(SystemAccess {
                path: declared.expanded(home)?.into(),
                write: declared.write,
                execute: declared.execute,
            })
        });
        Some(ConfineSettings {
            enforce: match sandbox.enforce {
                Enforce::Required => jig_sandbox::Enforce::Required,
                Enforce::BestEffort => jig_sandbox::Enforce::BestEffort,
            },
            system: system.collect(),
            provided: Vec::new(),
            changeable: self
                .config
                .changeable_places(home)
                .map(Into::into)
                .collect(),
            presets: presets
                .filter_map(|preset| Preset::parse(preset.name()))
                .collect(),
            caches: true,
            limits: tree_limits(tool),
            launch: self.confine.launch.clone(),
            layers: self.confine.layers,
            home: self.confine.home.clone(),
            aliases: self.confine.aliases.clone(),
            state: self.confine.state.clone(),
            config: self.confine.config.clone(),
            host_path: self.confine.search_path.clone(),
            proxy: sandbox.proxy,
            observe: sandbox.observe,
        })
    }

    /// What is to be said about rules that no sandbox holds a program to, or why it cannot be started
    /// with them. `commands` says how its rules on programs are held.
    pub(crate) fn unenforced(
        &self,
        tool: &Tool,
        policy: &Policy,
        commands: Commands,
    ) -> Result<Vec<String>, CallError> {
        let mut warnings = Vec::new();
        if self.unconfined {
            return Ok(warnings);
        }
        if commands == Commands::NotHeld && policy.command_rules().is_some() {
            let why = "its rules on programs are held for its own calls, not for other commands";
            if tool.sandbox.enforce == Enforce::Required {
                return Err(CallError::Unconfinable {
                    tool: tool.name.to_string(),
                    reason: why.to_owned(),
                });
            }
            warnings.push(why.to_owned());
        }
        if tool.runtime != RuntimeKind::Stdio {
            return Ok(warnings);
        }
        if commands == Commands::HeldByName && policy.command_rules().is_some() {
            warnings.push(
                "its rules on programs hold for what it starts by name: a program that it can read it \
                 can also start by its path"
                    .to_owned(),
            );
        }
        Ok(warnings)
    }
}

/// How the rules on programs of a command are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commands {
    /// Whatever it finds on its search path asks the broker.
    HeldByName,
    /// Not at all.
    NotHeld,
}

/// What the processes of a tool may use together.
pub(crate) fn tree_limits(tool: &Tool) -> ProcessLimits {
    let declared = &tool.sandbox.limits;
    ProcessLimits {
        tasks: declared.processes,
        memory: declared.memory,
        descriptors: declared.descriptors,
        file_size: declared.file_size,
        disk: declared.disk,
        files: declared.files,
        core: Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::Preset;

    /// The words of the configuration are those of the sandbox: one that is not known would be passed
    /// over.
    #[test]
    fn every_preset_of_the_configuration_is_known() {
        use jig_config::Preset as Word;
        for word in [Word::Rust, Word::Node, Word::Python, Word::Go, Word::Git] {
            assert_eq!(
                Preset::parse(word.name()).map(Preset::name),
                Some(word.name())
            );
        }
    }
}
