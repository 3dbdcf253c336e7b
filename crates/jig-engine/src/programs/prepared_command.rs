//! [`Engine::prepare`]: a command of a person, under the policy of a tool.
//!
//! A [`PreparedCommand`] command can be looked at, then started; the [`RunningCommand`] is finished by whoever waited for it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_broker::{
    Broker, CommandedProgram, Confined, Discover, ProgramEnd, ProgramEnding, ProgramReach,
    ProgramStart, ProgramStartError, RunRecord, RunningProgram,
};
use jig_files::FilesView;
use jig_policy::Policy;
use jig_runtime::StartError;
use jig_sandbox::{Overlay, SpawnRequest, minimal_environment};

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::planning::plan::NO_HOME;
use crate::programs::confinement::Commands;

/// A command that is ready to be started in its sandbox.
#[derive(Debug)]
pub struct PreparedCommand {
    /// Its sandbox.
    pub confined: Confined,
    /// Where the files of the workspace are for programs.
    pub root: Utf8PathBuf,
    /// What a person should know about rules that the sandbox cannot hold it to.
    pub warnings: Vec<String>,
    /// The files, for as long as the command runs.
    pub view: FilesView,
    /// What it may do.
    pub policy: Arc<Policy>,
    /// The broker of the command, which starts it and explains its refusals.
    pub broker: Broker,
    /// Words that stand before all arguments of the command.
    pub args: Vec<String>,
}

/// A command that runs.
#[derive(Debug)]
pub struct RunningCommand {
    program: RunningProgram,
    record: RunRecord,
    broker: Broker,
    /// The files, for as long as the command runs.
    _view: FilesView,
}

/// The start of a command in the log.
#[derive(Debug, Clone)]
pub struct CommandLog<'a> {
    /// The kind of run: `run`.
    pub operation: &'static str,
    /// The command, without its secrets.
    pub target: Cow<'a, str>,
    /// Who runs it, and why: `jig run`.
    pub reason: &'a str,
}

impl<'a> CommandLog<'a> {
    /// A command that a person has typed after `by`, a command of jig.
    pub fn run(by: &'a str, words: &[String]) -> Self {
        Self {
            operation: "run",
            target: words.join(" ").into(),
            reason: by,
        }
    }
}

/// The report on a command that has ended.
#[derive(Debug)]
pub struct CommandEnd {
    /// Its refusals and what it left behind.
    pub program: ProgramEnd,
    /// Why its end is not in the log.
    pub unlogged: Option<io::Error>,
}

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Its start would not be in the log.
    #[error("the log cannot be written")]
    Log(#[source] io::Error),
    /// It cannot be started, or not under its rules.
    #[error(transparent)]
    Start(#[from] ProgramStartError),
}

impl PreparedCommand {
    /// Starts the command, which gets the `args` that [`PreparedCommand::args`] stand before. `adjust` sets its streams,
    /// descriptors, directory and further variables.
    ///
    /// # Errors
    ///
    /// If the log cannot be written, or if the sandbox cannot start it under its rules.
    pub fn start(
        self,
        log: CommandLog<'_>,
        args: &[String],
        adjust: impl FnOnce(&mut SpawnRequest),
    ) -> Result<RunningCommand, CommandError> {
        let record = self
            .broker
            .record_run(log.operation, &*log.target, log.reason);
        let mut record = record.map_err(CommandError::Log)?;
        let mut start = ProgramStart::confined(self.confined, &self.root);
        let args = self.args.iter().chain(args);
        start.request.args = args.map(Into::into).collect();
        adjust(&mut start.request);
        let program = self.broker.start(start)?;
        record.started();
        Ok(RunningCommand {
            program,
            record,
            broker: self.broker,
            _view: self.view,
        })
    }
}

impl RunningCommand {
    /// Its program.
    pub fn program(&self) -> &RunningProgram {
        &self.program
    }

    /// Its program, to take its streams.
    pub fn program_mut(&mut self) -> &mut RunningProgram {
        &mut self.program
    }

    /// Ends it: notes in the log how it ended (`outcome` in one word, `how` in a few), explains, and sweeps.
    /// `before_sweep` is called when all is explained and before the files are looked at.
    pub fn finish(
        self,
        outcome: &str,
        how: impl fmt::Display,
        ending: ProgramEnding<'_>,
        before_sweep: impl FnOnce(&mut ProgramEnd),
    ) -> CommandEnd {
        let unlogged = self.record.end(outcome, how).err();
        let broker = self.broker;
        let program = self.program.finish_after(ending, |end| {
            // A person may be asked now, for as long as they like.
            broker.flush_audit();
            before_sweep(end);
        });
        CommandEnd { program, unlogged }
    }
}

/// How a command is prepared, beyond the policy.
#[derive(Debug, Clone)]
pub struct Preparation {
    /// Whether it is watched, so that what it was refused can be told. Default: no.
    pub observe: bool,
    /// Layers into which its changes go. Default: none.
    pub overlays: Vec<Overlay>,
    /// Whether layers are put over all that it may change afterwards ([`Engine::lay`]). Default: no.
    pub is_tried: bool,
    /// How much of the workspace it reaches by itself. Default: what the policy grants. A command that
    /// asks for every file needs nothing but its own program; what the policy grants is then what
    /// [`PreparedCommand::broker`] does for it.
    pub reach: ProgramReach,
    /// Which toolchains it gets without being named. Default: none.
    pub discover: Discover,
    /// Where in the workspace it will start. Default: its root.
    pub directory: Option<PathBuf>,
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            observe: false,
            overlays: Vec::new(),
            is_tried: false,
            reach: ProgramReach::Workspace,
            discover: Discover::Nothing,
            directory: None,
        }
    }
}

impl Engine {
    /// Confines `command`, a program and its arguments, as the tool's own program would be. `mcp:NAME` stands for
    /// the program of an MCP server.
    ///
    /// The words are taken as they are: nothing in them is a template.
    ///
    /// # Errors
    ///
    /// If there is no such tool, no such program, or if a rule of the tool cannot be enforced.
    pub fn prepare(
        &self,
        tool: &str,
        command: &[String],
        preparation: Preparation,
    ) -> Result<PreparedCommand, CallError> {
        let tool = self
            .config
            .labelled(tool)
            .ok_or_else(|| CallError::UnknownTool(tool.to_owned()))?;
        let policy = self.policy(tool)?;
        let warnings = self.unenforced(tool, &policy, Commands::NotHeld)?;
        let view = self.files.materialize()?;
        // What a command names is no more open to it than to any other: only a configuration says what is
        // part of a tool.
        let commanded = CommandedProgram {
            program: command.first().map(Into::into).unwrap_or_default(),
            literals: Vec::new(),
            observe: preparation.observe,
            overlays: preparation.overlays,
            is_tried: preparation.is_tried,
            discover: preparation.discover,
            directory: preparation.directory,
            toolchain: command.get(1).filter(|word| word.starts_with('+')).cloned(),
        };
        let policy = Arc::new(policy);
        let packages = self.packages_by_hand(tool, command);
        let mut parts = self.broker_parts(tool, None, Arc::clone(&policy));
        parts.process.env = minimal_environment(NO_HOME.as_ref());
        if let (Some((launcher, own)), Some(confine)) = (&packages, &mut parts.process.confine) {
            self.admit(confine, *launcher, own);
        }
        let broker = Broker::new(parts);
        let mut confined = broker
            .confine(&commanded, view.path(), preparation.reach)
            .map_err(|error| self.not_started(tool, StartError::Confine(error)))?;
        let own = packages.map(|(_, own)| own).unwrap_or_default();
        for (name, value) in own.env {
            confined.env.insert(name.into(), value.into());
        }
        Ok(PreparedCommand {
            policy,
            broker,
            confined,
            root: view.path().to_owned(),
            warnings,
            view,
            args: own.args,
        })
    }
}

#[cfg(test)]
mod tests;
