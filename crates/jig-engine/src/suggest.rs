//! What a command needs, learned from watching it: [`Learner`] prepares runs of which nothing stays, and
//! makes a [`Proposal`] of what was seen in them.
//!
//! A first run sees almost everything and writes into a layer. What it asked for becomes rules: those that it
//! would need in a sandbox, and no more. A second run under these rules, again on a layer, shows whether they
//! are enough. Nothing is started here: whoever learns starts the runs, and says what came of them.
//!
//! What is sensitive, what lies outside the workspace and would be changed, and the network are never
//! proposed: they are told, with the way to allow them by hand.

mod evidence;
mod ground;
mod group;
mod layers;
mod needs;
mod outside;
mod proposal;
mod rehearse;

use std::path::PathBuf;

use jig_broker::{ConfineError, Preset};
use jig_config::Tool;
use jig_files::Change;
use jig_policy::Guards;
use jig_proto::{Denial, ProjectPath};
use jig_sandbox::Observation;

use crate::call::CallError;
use crate::engine::Engine;
use ground::Ground;
pub(crate) use layers::lay;
use outside::Showing;

pub use evidence::{Evidence, how_often};
pub use proposal::{Proposal, ProposedPath, ProposedPreset, ProposedRule, Withheld};
pub use rehearse::Rehearsal;

/// Learns what a command needs.
#[derive(Debug)]
pub struct Learner {
    tool: Tool,
    command: Vec<String>,
    width: usize,
    ground: Ground,
    /// What stands above all rules.
    guards: Guards,
    /// What the sandbox shows by itself.
    base: Showing,
    /// What each toolchain that is installed shows besides.
    presets: Vec<(Preset, Showing)>,
    /// Paths of the home that it looked for, and that further runs show.
    home: Vec<PathBuf>,
    /// Whether new directories are to be made before a run, instead of by it.
    makes: bool,
    runs: Vec<Run>,
}

/// What came of one run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What it asked the kernel for.
    pub observation: Observation,
    /// What it changed.
    pub changes: Vec<Change>,
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
        let (base, private_home) = rehearse::showing(engine, &tool, command, &root, &[])?;
        let ground = Ground::new(engine, &root, private_home);
        let guards = engine.config.guards(&tool, &root);
        let mut presets = Vec::new();
        for preset in LEARNED {
            // One that is not installed is not needed.
            if let Ok((showing, _)) = rehearse::showing(engine, &tool, command, &root, &[preset]) {
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
            home: Vec::new(),
            makes: true,
            runs: Vec::new(),
        })
    }

    /// Takes in what came of a run.
    pub fn saw(&mut self, run: Run) {
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

    /// Lets the command make its directories itself, because it cannot work in those that are there already.
    /// It takes wider rules. Says whether that changes anything.
    pub fn make_nothing(&mut self) -> bool {
        let changes = self.makes && !self.proposal().make.is_empty();
        self.makes = false;
        changes
    }

    /// The rules that what was seen needs.
    pub fn proposal(&self) -> Proposal {
        proposal::of(self)
    }

    fn is_created(&self, path: &ProjectPath) -> Option<&Change> {
        let changes = self.runs.iter().flat_map(|run| &run.changes);
        let mut created = changes.filter(|change| change.kind == jig_files::ChangeKind::Created);
        created.find(|change| change.path == *path)
    }
}

/// The toolchains that may be found to be needed. That of git opens what makes git run programs, so that
/// only a person asks for it.
const LEARNED: [Preset; 4] = [Preset::Rust, Preset::Node, Preset::Python, Preset::Go];

#[cfg(test)]
mod tests;
