//! From a policy to what the operating system enforces: [`Broker::confine`] makes the profile and the
//! environment that a tool's program, or one that it has run, is started with.
//!
//! The rules of the workspace come from the policy's own answers, so that both agree. Around them is what
//! every program needs: the system, directories of its own, and the tool's own program. What lies elsewhere
//! on the host cannot be seen.
//!
//! What cannot be held by anything is a name that does not exist yet. Such names are looked for while the program
//! runs and when it has ended ([`Confined::finish`]), and what appeared there is moved out of the workspace.

#[cfg(unix)]
mod build;
#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod git;
#[cfg(unix)]
mod guarded_names;
#[cfg(unix)]
mod home_links;
#[cfg(unix)]
mod host_files;
#[cfg(unix)]
mod host_places;
mod intruder;
#[cfg(unix)]
mod journal;
#[cfg(unix)]
mod listing;
#[cfg(unix)]
mod move_away;
#[cfg(unix)]
mod needed_presets;
#[cfg(unix)]
mod network;
mod preset;
#[cfg(unix)]
mod preset_for_path;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod repository;
#[cfg(unix)]
mod shim;
#[cfg(unix)]
mod shown_paths;
#[cfg(unix)]
mod sweep;
#[cfg(unix)]
mod system;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod testing;
#[cfg(unix)]
mod toolchain;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod workspace_alias;
#[cfg(unix)]
mod workspace_rules;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8Path;
use jig_files::Slot;
use jig_proto::visible_line;
use jig_sandbox::{
    Containment, Enforce, Launch, Layers, Overlay, ProcessLimits, Profile, Program,
    ProgramEnvironment, SpawnRequest,
};

use crate::broker::{Broker, BrokerCore};

#[cfg(unix)]
pub(crate) use git::is_opened_by_preset;
pub use intruder::{Intruder, IntruderReport, Suspect};
pub use preset::Preset;
pub(crate) use preset_for_path::{ConfinedPaths, preset_showing};
#[cfg(unix)]
pub(crate) use sweep::LiveSweep;
#[cfg(unix)]
use sweep::SweepWatch;
#[cfg(unix)]
pub use sweep::{RunningCalls, pending};

/// How programs are confined. It starts closed: nothing outside the workspace but the system.
#[derive(Debug, Clone)]
pub struct ConfineSettings {
    /// What happens when a declared rule cannot be enforced. Default: the program does not start.
    pub enforce: Enforce,
    /// Paths outside the workspace that the program may use as well. Default: none.
    pub system: Vec<SystemAccess>,
    /// The same for paths that jig itself gives to it, and that no configuration names. Default: none.
    pub provided: Vec<SystemAccess>,
    /// Folders outside the workspace in which some tool may change something, and so leave links: those of `system` are not
    /// followed there, nor in the workspace. Default: none.
    pub changeable: Vec<PathBuf>,
    /// Toolchains that the program may use. Default: none.
    pub presets: Vec<Preset>,
    /// Whether what toolchains download is kept below `state` for later runs. Default: yes.
    pub caches: bool,
    /// What the tree of processes may use. Default: [`ProcessLimits::ROOMY`].
    pub limits: ProcessLimits,
    /// From where programs are started. Default: as suits the size of the host.
    pub launch: Launch,
    /// Which layers of the sandbox are used. Default: all.
    pub layers: Layers,
    /// The user's home, where toolchains are looked for, and the name to commit under. Default: none.
    pub home: Option<PathBuf>,
    /// Other names of the workspace: absolute paths that lead to it through a link, as the user names it. A
    /// program finds it by them too. Default: none.
    pub aliases: Vec<PathBuf>,
    /// Where jig keeps its own state: what calls leave behind is noted there, and moved there. Default:
    /// none; then it is only reported.
    pub state: Option<PathBuf>,
    /// The folder of the person's configuration of jig, whether it exists or not: no program changes it. Default: none;
    /// then it is `.config/jig` in the home.
    pub config: Option<PathBuf>,
    /// The search path of the host, on which programs are found. Default: empty, so that none is found.
    pub host_path: OsString,
    /// Whether the usual variables name jig's proxy, for programs that want one. Default: no.
    pub proxy: bool,
    /// Whether what the program asks the kernel for is watched, so that what it was refused can be told.
    /// Default: no.
    pub observe: bool,
}

impl Default for ConfineSettings {
    fn default() -> Self {
        Self {
            enforce: Enforce::Required,
            system: Vec::new(),
            provided: Vec::new(),
            changeable: Vec::new(),
            presets: Vec::new(),
            caches: true,
            limits: ProcessLimits::ROOMY,
            launch: Launch::Auto,
            layers: Layers::ALL,
            home: None,
            aliases: Vec::new(),
            state: None,
            config: None,
            host_path: OsString::new(),
            proxy: false,
            observe: false,
        }
    }
}

/// A path outside the workspace, which can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemAccess {
    /// Absolute.
    pub path: PathBuf,
    /// Whether it may be changed as well.
    pub write: bool,
    /// Whether programs there may be run.
    pub execute: bool,
}

/// How much of the workspace a program reaches. Not `non_exhaustive`: there is nothing between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProgramReach {
    /// What the policy grants: a tool that works on files itself, or a program that a tool has run.
    Workspace,
    /// Nothing but its own program: a tool that asks for every file.
    OwnProgramOnly,
}

/// Which toolchains a program gets besides those of [`ConfineSettings::presets`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Discover {
    /// None.
    #[default]
    Nothing,
    /// The one that the program itself belongs to: `cargo` is run with the preset `rust`.
    OfProgram,
    /// Also those that the project is made with, and a virtual environment that is active, be it in the
    /// workspace. For a command that a person typed.
    OfProject,
}

/// A preset that nobody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPreset {
    /// Which.
    pub preset: Preset,
    /// What of the user's own it shows, in words; `None` if nothing lies outside of the system.
    pub shows: Option<String>,
}

/// What is to be started.
#[derive(Debug, Clone, Default)]
pub struct CommandedProgram {
    /// The program: a name, an absolute path, or a path relative to the workspace.
    pub program: OsString,
    /// The words of the command that stand there literally, none that came out of a template. Those that
    /// name files are readable to the program.
    pub literals: Vec<OsString>,
    /// Whether this run is watched, also where the settings do not say so.
    pub observe: bool,
    /// Layers over the workspace, or over other shown directories: what the program changes there goes into
    /// them.
    pub overlays: Vec<Overlay>,
    /// Whether what it changes goes to layers that are put over all later: its caches are of their own then, as with
    /// [`overlays`](Self::overlays).
    pub is_tried: bool,
    /// Which toolchains are found without being named.
    pub discover: Discover,
    /// Where in the workspace it will start, by which version managers choose. Default: its root.
    pub directory: Option<PathBuf>,
    /// The first argument, if it is one for rustup: `+nightly`.
    pub toolchain: Option<String>,
}

/// A program that is ready to be started in its sandbox.
///
/// When it has ended, [`finish`](Self::finish) looks for what it must not leave behind; dropping this does
/// the same, and says nothing.
#[derive(Debug)]
pub struct Confined {
    /// What it may reach.
    pub profile: Arc<Profile>,
    /// Its whole environment.
    pub env: ProgramEnvironment,
    /// What to start.
    pub program: Program,
    /// Where to start it: the workspace, if it can see anything of it, else its home.
    pub cwd: PathBuf,
    /// Its home, a directory of its own, in which further private files can be put.
    pub home: PathBuf,
    /// What a person should know, one sentence each without a period. The same call gives the same ones
    /// again.
    pub warnings: Vec<String>,
    /// The presets that were found without being named.
    pub found: Vec<FoundPreset>,
    /// Programs that have to be found by these names, or the program would not start: what `env` runs.
    pub(crate) interpreters: Vec<(OsString, PathBuf)>,
    limits: ProcessLimits,
    launch: Launch,
    observe: bool,
    /// Keeps others from the caches of this program.
    _slot: Option<Slot>,
    #[cfg(unix)]
    watches: Vec<SweepWatch>,
}

impl Confined {
    /// A request with everything but its arguments, streams and descriptors.
    pub(crate) fn request(&self) -> SpawnRequest {
        let mut request = SpawnRequest::new(self.program.clone(), &self.cwd);
        request.env = self.env.clone();
        request.profile = Some(Arc::clone(&self.profile));
        request.limits = self.limits;
        request.launch = self.launch.clone();
        request.observe = self.observe;
        // Whether a machine that cannot hold the tree will do is for the profile to say.
        request.containment = Containment::BestEffort;
        request
    }

    /// Whether the program sees anything of the workspace.
    pub(crate) fn sees_workspace(&self) -> bool {
        self.cwd != self.home
    }

    /// Looks for what the program left where nothing may come into being, and moves it out of the
    /// workspace. To be called when the program and all that it started have ended.
    pub fn finish(mut self) -> Vec<Intruder> {
        self.look()
    }

    /// Looks after the program while it runs, until what this gives is dropped: nothing, if it can leave nothing where
    /// nothing may come into being.
    pub(crate) fn look_while_it_runs(&self) -> io::Result<Vec<LiveSweep>> {
        #[cfg(unix)]
        return self
            .watches
            .iter()
            .map(SweepWatch::look_while_it_runs)
            .collect();
        #[cfg(not(unix))]
        Ok(Vec::new())
    }

    /// As [`finish`](Self::finish), of a program that goes on.
    pub(crate) fn look_meanwhile(&self) -> Vec<Intruder> {
        #[cfg(unix)]
        self.watches.iter().for_each(SweepWatch::look);
        self.take_found()
    }

    /// What was moved away while the program runs, and was not told yet.
    pub(crate) fn take_found(&self) -> Vec<Intruder> {
        #[cfg(unix)]
        return self
            .watches
            .iter()
            .flat_map(SweepWatch::take_found)
            .collect();
        #[cfg(not(unix))]
        Vec::new()
    }

    #[cfg(unix)]
    fn look(&mut self) -> Vec<Intruder> {
        let watches = std::mem::take(&mut self.watches);
        watches.into_iter().flat_map(SweepWatch::end).collect()
    }

    #[cfg(not(unix))]
    fn look(&mut self) -> Vec<Intruder> {
        Vec::new()
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        self.look();
    }
}

impl Broker {
    /// Makes what a program is confined by, for this call's policy.
    ///
    /// `root` is where the files of the workspace are for programs: the path of a
    /// [`FilesView`](jig_files::FilesView). Nothing is started, and nothing is executed to find a program.
    ///
    /// # Errors
    ///
    /// If the broker has no [`ConfineSettings`], if the program or a preset is not there, or if the
    /// workspace cannot be looked at.
    pub fn confine(
        &self,
        command: &CommandedProgram,
        root: &Utf8Path,
        reach: ProgramReach,
    ) -> Result<Confined, ConfineError> {
        self.inner.confine(command, root, reach)
    }
}

impl BrokerCore {
    pub(crate) fn confine(
        &self,
        command: &CommandedProgram,
        root: &Utf8Path,
        reach: ProgramReach,
    ) -> Result<Confined, ConfineError> {
        let settings = self.process.confine.as_ref();
        let settings = settings.ok_or(ConfineError::NoSettings)?;
        #[cfg(unix)]
        return build::confined(self, settings, command, root.as_std_path(), reach);
        #[cfg(not(unix))]
        {
            let _ = (settings, command, root, reach);
            Err(ConfineError::Unsupported)
        }
    }
}

/// Why a program cannot be confined, and is therefore not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The broker was made without.
    #[error("nothing says how programs are confined")]
    NoSettings,
    /// No confinement is known for this operating system.
    #[error("programs cannot be confined on this operating system")]
    Unsupported,
    /// The program was not found.
    #[error("the program `{}` was not found{}", visible_line(.program), places_but(.program, .looked))]
    ProgramNotFound {
        /// As it was given.
        program: String,
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// The program is a link in the workspace to something that the tool cannot see.
    #[error(
        "the program `{}` is a link that leaves the workspace, which opens nothing: name the \
         program itself, or let the tool see it by `sandbox.presets` or `sandbox.system`",
        visible_line(.program)
    )]
    ProgramLeaves {
        /// As it was given.
        program: String,
    },
    /// Nothing that a preset stands for was found.
    #[error("the preset `{preset}` finds nothing installed{}", places(.looked))]
    PresetNotInstalled {
        /// Its name.
        preset: &'static str,
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// The workspace could not be looked at.
    #[error("the workspace `{}` cannot be looked at", .root.display())]
    Workspace {
        /// Where it should be.
        root: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is nothing to put under the names of programs.
    #[error(
        "the rules on programs cannot be enforced, because this build of jig carries no shim for them"
    )]
    NoShim,
    /// What may not come into being could not be noted.
    #[error("the call cannot be noted in `{}`", .state.display())]
    Journal {
        /// The directory of jig's state.
        state: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Where a program was looked for, unless that is the path by which it was named.
fn places_but(program: &str, looked: &[PathBuf]) -> String {
    match looked {
        [place] if place == Path::new(program) => String::new(),
        looked => places(looked),
    }
}

fn places(looked: &[PathBuf]) -> String {
    if looked.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = looked
        .iter()
        .map(|place: &PathBuf| format!("`{}`", Path::display(place)))
        .collect();
    format!(": looked at {}", shown.join(", "))
}
