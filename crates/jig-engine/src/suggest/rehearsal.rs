//! [`Rehearsal`]: a run of which nothing stays.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{CommandedProgram, Preset, ProgramEnding, ProgramReach, RunningProgram};
use jig_config::{SystemPath, Tool};
use jig_files::{ChangeKind, ChangeLayer};
use jig_policy::{DeclaredFsRule, FileCapabilities, RuleOrigin};
use jig_proto::ProjectPath;
use jig_sandbox::{PathRule, Rights, RuleSource, SpawnRequest};

use super::host_files::{self, HostEntryKind};
use super::outside::ShownPaths;
use super::sockets;
use super::{LearnError, Learner, ObservedRun};
use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::programs::change_layer::{NoLayer, lay};
use crate::programs::prepared_command::{
    CommandError, CommandLog, PreparedCommand, RunningCommand,
};

/// A run that is ready to be started, watched, in layers: what it changes is thrown away.
#[derive(Debug)]
pub struct Rehearsal {
    /// What to start.
    pub prepared: PreparedCommand,
    layers: Vec<ChangeLayer>,
    _made: RehearsalDirectories,
}

/// A rehearsal that runs.
#[derive(Debug)]
pub struct RunningRehearsal {
    command: RunningCommand,
    root: Utf8PathBuf,
    layers: Vec<ChangeLayer>,
    _made: RehearsalDirectories,
}

impl Rehearsal {
    /// As [`PreparedCommand::start`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn start(
        self,
        log: CommandLog<'_>,
        args: &[String],
        adjust: impl FnOnce(&mut SpawnRequest),
    ) -> Result<RunningRehearsal, CommandError> {
        let root = self.prepared.root.clone();
        Ok(RunningRehearsal {
            command: self.prepared.start(log, args, adjust)?,
            root,
            layers: self.layers,
            _made: self._made,
        })
    }
}

impl RunningRehearsal {
    /// Its program.
    pub fn program(&self) -> &RunningProgram {
        self.command.program()
    }

    /// Its program, to take its streams.
    pub fn program_mut(&mut self) -> &mut RunningProgram {
        self.command.program_mut()
    }

    /// Ends the command with all that it started, tells what came of it, and throws its changes away. `outcome` and
    /// `how` are for the log, as with [`RunningCommand::finish`].
    ///
    /// # Errors
    ///
    /// If its end cannot be logged, or its changes cannot be read.
    pub fn end(self, outcome: &str, how: impl fmt::Display) -> Result<ObservedRun, LearnError> {
        let root = self.root;
        // What it left where nothing may come into being lies in the layer.
        let end = self
            .command
            .finish(outcome, how, ProgramEnding::Learned, |_| ());
        if let Some(error) = end.unlogged {
            return Err(LearnError::Log(error));
        }
        let mut created = Vec::new();
        for layer in self.layers {
            let path = layer.lower().to_owned();
            let failed = |source| LearnError::Layer {
                path: path.clone(),
                source,
            };
            if let Some(below) = relative(&root, &path) {
                let changes = layer.changes().map_err(failed)?.into_iter();
                let new = changes.filter(|change| change.kind == ChangeKind::Created);
                created.extend(new.map(|change| (below.join(&change.path), change.what)));
            }
            layer.discard().map_err(failed)?;
        }
        Ok(ObservedRun {
            observation: end.program.observation,
            created,
            denials: end.program.denials,
        })
    }
}

impl Learner {
    /// A run that sees almost all of the machine, and changes a layer over the workspace. What is sensitive is
    /// hidden from it, and so is the network but for the hosts of the tool's rules.
    ///
    /// # Errors
    ///
    /// If there can be no layer, or if the command cannot be confined.
    pub fn wide(&self, engine: &Engine) -> Result<Rehearsal, LearnError> {
        let mut tool = self.tool.clone();
        let names_sensitive = |rule: &DeclaredFsRule| {
            let path = ProjectPath::normalize(&rule.path);
            path.is_ok_and(|path| self.guards.sensitive.find(&path).is_some())
        };
        // What the user has denied stays denied, and what they have named may be used.
        let own = tool.access.fs.iter();
        let own = own.filter(|rule| rule.capabilities.is_empty() || names_sensitive(rule));
        let everything = DeclaredFsRule {
            path: ".".to_owned(),
            capabilities: FileCapabilities::ALL,
            origin: RuleOrigin::named("jig suggest"),
        };
        tool.access.fs = std::iter::once(everything).chain(own.cloned()).collect();
        for (preset, _) in &self.presets {
            let mut words = jig_config::Preset::ALL.iter().copied();
            let word = words.find(|word| word.name() == preset.name());
            tool.sandbox
                .presets
                .extend(word.filter(|word| !tool.sandbox.presets.contains(word)));
        }
        let shown = self.readable().into_iter();
        let shown: Vec<SystemPath> = shown.filter_map(|path| system(&tool, path)).collect();
        tool.sandbox.system.extend(shown);
        let mut rehearsal = self.rehearse(engine, tool, RehearsalDirectories::default())?;
        let profile = Arc::make_mut(&mut rehearsal.prepared.confined.profile);
        let sockets = sockets::shown(profile, self.ground.root.as_std_path());
        for path in self.hidden().into_iter().chain(sockets) {
            profile.paths.push(PathRule {
                path,
                rights: Rights::NONE,
                source: RuleSource::Guard,
            });
        }
        profile.paths.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(rehearsal)
    }

    /// A run as a tool of the engine, whose rules are now the proposed ones, on a layer over the workspace.
    ///
    /// The directories that the proposal wants to exist are there while it runs. They are empty, and those
    /// that were made for it are removed with it.
    ///
    /// # Errors
    ///
    /// If there is no such tool, if there can be no layer, or if the command cannot be confined.
    pub fn confined(&self, engine: &Engine, tool: &str) -> Result<Rehearsal, LearnError> {
        let tool = engine.tool(tool)?.clone();
        let made = RehearsalDirectories::of(&self.ground.root, &self.proposal().make);
        self.rehearse(engine, tool, made)
    }

    fn rehearse(
        &self,
        engine: &Engine,
        mut tool: Tool,
        made: RehearsalDirectories,
    ) -> Result<Rehearsal, LearnError> {
        // Which programs a tool may start is a rule of its own, which a command is not held to.
        tool.access.commands = None;
        let state = engine.confine.state.as_deref().ok_or(LearnError::NoState)?;
        let commanded = CommandedProgram {
            program: self.command.first().map(Into::into).unwrap_or_default(),
            observe: true,
            ..CommandedProgram::default()
        };
        let policy = Arc::new(engine.policy(&tool)?);
        let view = engine.files.materialize().map_err(CallError::from)?;
        let broker = engine.broker(&tool, None, Arc::clone(&policy));
        let mut confined = broker.confine(&commanded, view.path(), ProgramReach::Workspace)?;
        let profile = Arc::make_mut(&mut confined.profile);
        let layers = lay(profile, self.ground.root.as_std_path(), state)
            .map_err(|NoLayer { path, source }| LearnError::Layer { path, source })?;
        Ok(Rehearsal {
            prepared: PreparedCommand {
                confined,
                root: view.path().to_owned(),
                warnings: Vec::new(),
                view,
                broker,
                policy,
                args: Vec::new(),
            },
            layers,
            _made: made,
        })
    }

    /// What a wide run sees besides what every confined program does.
    fn readable(&self) -> Vec<PathBuf> {
        let top = host_files::names(Path::new("/")).into_iter();
        let top = top
            .filter(|name| !LEFT_OUT.contains(&name.to_str().unwrap_or_default()))
            .map(|name| Path::new("/").join(name));
        let home = self
            .ground
            .home
            .iter()
            .filter(|home| home.parent().is_some());
        let all = top.chain(home.cloned()).chain(self.home.iter().cloned());
        let mut all: Vec<PathBuf> = all
            .filter(|path| {
                let is_asked_for = self.home.contains(path);
                let is_shown = self.base.at(path) != Rights::NONE;
                is_asked_for
                    || !is_shown && host_files::kind(path) == Some(HostEntryKind::Directory)
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// What is hidden from a wide run of what it would see.
    fn hidden(&self) -> Vec<PathBuf> {
        let Some(home) = &self.ground.home else {
            return Vec::new();
        };
        let literal = self.guards.sensitive.patterns();
        let literal = literal.filter(|pattern| !pattern.contains('*') && !pattern.starts_with('/'));
        let named = host_files::names(home)
            .into_iter()
            .map(|name| home.join(name))
            .filter(|path| host_files::sensitive(&self.guards.sensitive, path).is_some());
        let paths = literal.map(|name| home.join(name)).chain(named);
        // What is a link is hidden where it leads to.
        let paths = paths.filter_map(|path| host_files::real(&path));
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.starts_with(home) && path != home)
            .filter(|path| self.ground.relative(path).is_none())
            .filter(|path| !self.ground.root.as_std_path().starts_with(path))
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

/// What a confined program sees of the machine by itself and with toolchains, and where it has its home.
pub(super) fn showing(
    engine: &Engine,
    tool: &Tool,
    command: &[String],
    root: &Utf8Path,
    presets: &[Preset],
) -> Result<(ShownPaths, PathBuf), LearnError> {
    let mut tool = tool.clone();
    tool.access.commands = None;
    let words = jig_config::Preset::ALL.iter().copied();
    let words = words.filter(|word| presets.iter().any(|preset| preset.name() == word.name()));
    tool.sandbox.presets.extend(words);
    let policy = engine.policy(&tool)?;
    let commanded = CommandedProgram {
        program: command.first().map(Into::into).unwrap_or_default(),
        ..CommandedProgram::default()
    };
    let broker = engine.broker(&tool, None, Arc::new(policy));
    let confined = broker.confine(&commanded, root, ProgramReach::OwnProgramOnly)?;
    Ok((ShownPaths::of(&confined.profile), confined.home.clone()))
}

/// A path of the host as one of the workspace.
fn relative(root: &Utf8Path, path: &Path) -> Option<ProjectPath> {
    match path.strip_prefix(root).ok()?.to_str()? {
        "" => Some(ProjectPath::root()),
        below => ProjectPath::normalize(below).ok(),
    }
}

/// A path that can be read and run.
fn system(tool: &Tool, path: PathBuf) -> Option<SystemPath> {
    Some(SystemPath {
        path: Utf8PathBuf::from_path_buf(path).ok()?,
        write: false,
        execute: true,
        origin: tool.declared_at().clone(),
    })
}

/// Directories that exist as long as this does.
#[derive(Debug, Default)]
struct RehearsalDirectories(Vec<PathBuf>);

impl RehearsalDirectories {
    /// Makes those that are not there.
    #[expect(
        clippy::disallowed_methods,
        reason = "an empty directory of the user's own workspace, where nothing of a tool runs yet"
    )]
    fn of(root: &Utf8Path, paths: &[ProjectPath]) -> Self {
        let paths = paths
            .iter()
            .map(|path| path.under(root).into_std_path_buf());
        // One that cannot be made is missed by the run, which says so in its own way.
        Self(
            paths
                .filter(|path| std::fs::create_dir(path).is_ok())
                .collect(),
        )
    }
}

impl Drop for RehearsalDirectories {
    #[expect(
        clippy::disallowed_methods,
        reason = "only what is empty goes, and only what was made here"
    )]
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_dir(path);
        }
    }
}

/// What of the machine a wide run does not see: what is no file, what others keep there for a moment, and
/// other people's homes.
const LEFT_OUT: [&str; 8] = [
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "home",
    "boot",
    "lost+found",
];
