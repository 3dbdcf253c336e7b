//! What a command needs, learned from watching it: [`Learner`] prepares runs of which nothing stays, and
//! makes a [`Proposal`] of what was seen in them.
//!
//! A first run sees almost everything and writes into a layer. What it asked for becomes rules: those that it
//! would need in a sandbox, and no more. A second run under these rules, again on a layer, shows whether they
//! are enough. Whoever learns starts the runs, and hands over what came of them.
//!
//! What is sensitive, what lies outside the workspace and would be changed, and the network are never
//! proposed: they are told, with the way to allow them by hand.

mod evidence;
mod group;
pub(crate) mod host_files;
mod needs;
mod outside;
mod proposal;
mod rehearsal;
mod rules;
mod sockets;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jig_broker::{ConfineError, Preset};
use jig_config::Tool;
use jig_files::PathKind;
use jig_policy::Guards;
use jig_proto::{Denial, ProjectPath};
use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, Rights};

use crate::calls::call::CallError;
use crate::engine::Engine;
use host_files::HostPaths;
use outside::ShownPaths;

pub use evidence::Evidence;
pub use proposal::{
    Proposal, ProposedPath, ProposedPreset, ProposedRule, WithheldAccess, warning_clause,
};
pub use rehearsal::{Rehearsal, RunningRehearsal};

/// Learns what a command needs.
#[derive(Debug)]
pub struct Learner {
    tool: Tool,
    command: Vec<String>,
    width: usize,
    ground: HostPaths,
    /// What stands above all rules.
    guards: Guards,
    /// What the sandbox shows by itself.
    base: ShownPaths,
    /// What each toolchain that is installed shows besides.
    presets: Vec<(Preset, ShownPaths)>,
    /// Paths outside the workspace that are not proposed, as a configuration names them, and why.
    refused: BTreeMap<String, String>,
    /// Paths of the home that it looked for, and that further runs show.
    home: Vec<PathBuf>,
    /// Whether new directories are to be made before a run, instead of by it.
    makes: bool,
    /// Whether names count that came and went in the workspace's own directory while new directories were
    /// made there: some programs make a directory under another name first.
    counts_passing: bool,
    /// Whether who makes a file may change what is around it: where the kernel does not tell a file's making
    /// from its change, it still tells its emptying.
    changes_around: bool,
    /// Whether what can be changed can be changed in every way, because the kernel cannot tell apart.
    whole: bool,
    runs: Vec<ObservedRun>,
    /// What came into being in any of them, and stayed.
    created: BTreeMap<ProjectPath, PathKind>,
}

/// What came of one run.
#[derive(Debug, Clone, Default)]
pub struct ObservedRun {
    /// What it asked the kernel for.
    pub observation: Observation,
    /// What came into being in the workspace, and stayed.
    pub created: Vec<(ProjectPath, PathKind)>,
    /// What the gateway refused.
    pub denials: Vec<Denial>,
}

/// Why nothing can be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// Layers have no place.
    #[error(
        "there is no directory for jig's state, in which the changes of a trial run could be kept apart"
    )]
    NoState,
    /// A directory cannot be layered.
    #[error("the changes of a trial run to `{}` cannot be kept apart", .path.display())]
    Layer {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The end of a run is not in the log.
    #[error("the log cannot be written")]
    Log(#[source] std::io::Error),
    /// The command cannot be confined.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The tool cannot be planned.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Learner {
    /// Begins to learn what `command` needs as a command of this tool of the engine. A directory in which more
    /// than `width` entries are used in the same way becomes one rule.
    ///
    /// # Errors
    ///
    /// If there is no such tool or program.
    pub fn new(
        engine: &Engine,
        tool: &str,
        command: &[String],
        width: usize,
    ) -> Result<Self, LearnError> {
        let tool = engine.tool(tool)?.clone();
        let root = engine.files.materialize().map_err(CallError::from)?;
        let root = root.path().to_owned();
        let (base, private_home) = rehearsal::showing(engine, &tool, command, &root, &[])?;
        let ground = HostPaths::new(engine, &root, private_home);
        let guards = engine.config.guards(&tool, &root);
        let mut presets = Vec::new();
        for preset in LEARNED {
            // One that is not installed is not needed.
            if let Ok((showing, _)) = rehearsal::showing(engine, &tool, command, &root, &[preset]) {
                presets.push((preset, showing));
            }
        }
        Ok(Self {
            tool,
            command: command.to_vec(),
            width,
            ground,
            guards,
            base,
            presets,
            refused: BTreeMap::new(),
            home: Vec::new(),
            makes: true,
            counts_passing: false,
            changes_around: false,
            whole: false,
            runs: Vec::new(),
            created: BTreeMap::new(),
        })
    }

    /// Takes in what came of a run.
    pub fn saw(&mut self, mut run: ObservedRun) {
        self.created.extend(run.created.drain(..));
        self.runs.push(run);
    }

    /// Takes in what a run looked for that failed under the proposed rules. What it changed does not count:
    /// much of that comes of its failing.
    pub fn saw_failing(&mut self, mut run: ObservedRun) {
        run.created.clear();
        let seen = &mut run.observation.seen;
        for one in seen.iter_mut() {
            one.wanted = one.wanted.without(Rights::WRITE);
        }
        let is_address = |one: &ObservedAccess| matches!(one.target, ObservedTarget::Address(_));
        seen.retain(|one| one.wanted != Rights::NONE || is_address(one));
        self.runs.push(run);
    }

    /// Shows further runs what they looked for in the home and exists in the user's, unless it is sensitive.
    /// Says whether there is any: if not, another run would end as the last one did.
    pub fn show_more_of_home(&mut self) -> bool {
        let wanted = outside::wanted_of_home(self);
        let more = wanted.into_iter().filter(|path| !self.home.contains(path));
        let more: Vec<PathBuf> = more.collect();
        self.home.extend(more.iter().cloned());
        !more.is_empty()
    }

    /// Leaves a path outside the workspace, as a proposal names it, to a person. `why` is a clause.
    pub fn refuse(&mut self, path: &str, why: &str) {
        self.refused.insert(path.to_owned(), why.to_owned());
    }

    /// Takes what was seen less narrowly, because the rules were not enough: new files may be changed in
    /// every way, then names that came and went count, then the command makes its directories itself. Says
    /// whether that changes the proposal.
    pub fn widen(&mut self) -> bool {
        let before = self.proposal();
        for setting in [Self::change_around, Self::count_passing, Self::make_nothing] {
            setting(self);
            if !self.proposal().grants_as(&before) {
                return true;
            }
        }
        false
    }

    /// Lets what can be changed be changed in every way, because the sandbox could not hold the rules
    /// otherwise. Says whether that changes the proposal.
    pub fn widen_changes(&mut self) -> bool {
        let before = self.proposal();
        self.whole = true;
        !self.proposal().grants_as(&before)
    }

    fn count_passing(&mut self) {
        self.counts_passing = true;
    }

    fn change_around(&mut self) {
        self.changes_around = true;
    }

    fn make_nothing(&mut self) {
        self.makes = false;
    }

    /// The rules that what was seen needs.
    pub fn proposal(&self) -> Proposal {
        proposal::of(self)
    }

    /// Whether a directory came into being in the workspace's own, and stayed.
    fn makes_directories(&self) -> bool {
        let mut created = self.created.iter();
        self.makes && created.any(|(path, what)| path.depth() == 1 && *what == PathKind::Directory)
    }
}

/// The toolchains that may be found to be needed. That of git opens what makes git run programs, so that
/// only a person asks for it.
const LEARNED: [Preset; 4] = [Preset::Rust, Preset::Node, Preset::Python, Preset::Go];

#[cfg(test)]
mod tests;
