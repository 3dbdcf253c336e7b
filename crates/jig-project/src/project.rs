//! [`Project`]: a workspace with its configuration.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{Config, HeldBack, LoadedConfig, Sources, Tool, WorkspaceContent};
use jig_mcp::Servers;
use jig_policy::{DiskLookup, Policy, Workspace};
use jig_proto::{Hint, hint, visible_line};

use crate::accepted::AcceptedConfiguration;
use crate::confinement;
use crate::environment::CommandEnvironment;
use crate::leftovers::{RunningTools, clear};
use crate::locate::{other_files, root};
use crate::servers;

/// The workspace and the settings that a person chose, beside what its files say.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The workspace; without it the one around the current folder.
    pub workspace: Option<Utf8PathBuf>,
    /// More configuration files, above those of the workspace.
    pub files: Vec<Utf8PathBuf>,
    /// Single settings, above all files: `tools.NAME.run=ask`.
    pub sets: Vec<String>,
    /// Whether the files of the workspace count as accepted, whatever they say.
    pub trust: bool,
    /// What counts as accepted besides what is remembered.
    pub accepted: Vec<WorkspaceContent>,
    /// Whom to tell of what waits. The answer is whether it is accepted, as it was shown.
    pub on_held_back: Option<fn(&HeldProject<'_>) -> bool>,
}

/// A workspace whose files allow something that nobody has accepted.
#[derive(Debug)]
pub struct HeldProject<'a> {
    /// Its folder.
    pub root: &'a Utf8Path,
    /// What waits.
    pub held_back: &'a HeldBack,
    /// Whether a person was shown this very content, and did not accept it.
    pub is_declined: bool,
}

impl Selection {
    /// What configures the workspace at `root`, with what a person accepted of its files.
    ///
    /// # Errors
    ///
    /// If it is to be accepted from within a sandbox.
    pub fn sources(
        &self,
        root: &Utf8Path,
        accepted: &AcceptedConfiguration,
    ) -> anyhow::Result<Sources> {
        if self.trust {
            confinement::refuse()?;
        }
        let own = self.accepted.iter().cloned();
        let accepted = (!self.trust).then(|| own.chain(accepted.contents()).collect());
        Ok(Sources {
            files: self.files.clone(),
            sets: self.sets.clone(),
            accepted,
            ..Sources::from_environment(root)
        })
    }
}

/// A workspace with its configuration.
#[derive(Debug)]
pub struct Project {
    /// Its folder, without links.
    pub root: Utf8PathBuf,
    /// The configuration, and what was noticed while it was loaded.
    pub loaded: LoadedConfig,
    /// Its MCP servers, once they are needed.
    pub servers: Option<Arc<Servers>>,
}

impl Project {
    /// A workspace whose configuration is loaded.
    pub fn new(root: Utf8PathBuf, loaded: LoadedConfig) -> Self {
        Self {
            root,
            loaded,
            servers: None,
        }
    }

    /// Finds the workspace, and loads everything that configures it.
    pub fn load(selection: &Selection) -> anyhow::Result<Self> {
        Self::load_with(selection, false)
    }

    /// The same, and looks for rules that probably do not do what they were meant to.
    pub fn load_and_lint(selection: &Selection) -> anyhow::Result<Self> {
        Self::load_with(selection, true)
    }

    /// The same at a root that is known, with more settings above all others.
    pub fn load_at(
        root: Utf8PathBuf,
        selection: &Selection,
        sets: &[String],
    ) -> anyhow::Result<Self> {
        let running = clear(&root)?;
        let project = Self::load_from(root, selection, sets, false, None)?;
        project.checked(&running)
    }

    /// As [`load`](Self::load), to answer a question and no more: what a tool may have left there is not
    /// looked for first.
    /// Predefined tools that nobody mentions are left out, but for the one that is asked about.
    pub fn load_to_answer(selection: &Selection, about: &str) -> anyhow::Result<Self> {
        let root = root(selection.workspace.as_deref())?;
        let project = Self::load_from(root.clone(), selection, &[], false, Some(about))?;
        match project.config().tool(about) {
            Some(_) => Ok(project),
            // Whoever mistyped a name is shown one of all.
            None => Self::load_from(root, selection, &[], false, None),
        }
    }

    /// For a station: a client has found the workspace and cleared it, and says what counts for it.
    pub fn load_for(
        root: Utf8PathBuf,
        files: &[Utf8PathBuf],
        sets: &[String],
        env: &CommandEnvironment,
    ) -> anyhow::Result<Self> {
        let accepted = AcceptedConfiguration::of(&root, env);
        let sources = Sources {
            lint: false,
            files: files.to_vec(),
            sets: sets.to_vec(),
            accepted: (!env.trusts()).then(|| accepted.contents()),
            ..env.sources(root.clone())
        };
        let mut loaded = jig_config::load(&sources)?;
        if !env.trusts() {
            loaded.config.accept_servers();
        }
        Ok(Self::new(root, loaded))
    }

    fn load_with(selection: &Selection, lint: bool) -> anyhow::Result<Self> {
        let root = root(selection.workspace.as_deref())?;
        let running = clear(&root)?;
        let project = Self::load_from(root, selection, &[], lint, None)?;
        project.checked(&running)
    }

    /// Nothing counts that a tool may have made while it was read.
    fn checked(self, running: &RunningTools) -> anyhow::Result<Self> {
        let files = self.config().files.iter().filter(|file| file.found);
        running.check(files.map(|file| file.path.as_path()))?;
        Ok(self)
    }

    fn load_from(
        root: Utf8PathBuf,
        selection: &Selection,
        sets: &[String],
        lint: bool,
        only: Option<&str>,
    ) -> anyhow::Result<Self> {
        let env = CommandEnvironment::of_this_process();
        let accepted = AcceptedConfiguration::of(&root, &env);
        let mut sources = selection.sources(&root, &accepted)?;
        sources.lint = lint;
        sources.only = only.map(str::to_owned);
        sources.sets.extend(sets.iter().cloned());
        let mut loaded = jig_config::load(&sources)?;
        let is_for_this_run =
            selection.trust || selection.accepted.contains(&loaded.config.content);
        if let (Some(held_back), Some(tell)) =
            (loaded.config.held_back.clone(), selection.on_held_back)
        {
            let held = HeldProject {
                root: &root,
                held_back: &held_back,
                is_declined: accepted.is_declined(&held_back.config.content),
            };
            if tell(&held) {
                accepted.accept(&held_back.config.content)?;
                loaded.config = Config::clone(&held_back.config);
            } else {
                // It is only about being asked again.
                let _ = accepted.decline(&held_back.config.content);
            }
        }
        if !is_for_this_run {
            loaded.config.accept_servers();
        }
        Ok(Self::new(root, loaded))
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The tool of this name, or an error that suggests another.
    pub fn tool(&self, name: &str) -> anyhow::Result<&Tool> {
        if let Some(tool) = self.config().tool(name) {
            return Ok(tool);
        }
        let held_back = self.config().held_back.as_ref();
        if held_back.is_some_and(|held_back| held_back.config.tool(name).is_some()) {
            let hint = hint!("`jig trust` shows what waits, and accepts it");
            return Err(anyhow!(hint).context(format!(
                "the tool `{}` waits: the workspace declares it, and you have not accepted that",
                visible_line(name)
            )));
        }
        let names = self.config().tools.keys().map(|other| other.as_str());
        let hint = match servers::closest(name, names) {
            Some(other) => hint!("did you mean `{other}`? `jig tools` lists all"),
            None => hint!("`jig tools` lists all"),
        };
        let mut hint = hint.to_string();
        for other in other_files(&self.root) {
            hint.push_str(&format!("; {other}"));
        }
        let (name, place) = (visible_line(name), self.described());
        Err(anyhow!(hint).context(format!("there is no tool `{name}` in {place}")))
    }

    /// The workspace and the files that configure it, in words.
    pub fn described(&self) -> String {
        let files = self.files();
        let (own, extended) = files.split_at(files.iter().filter(|(_, by)| !by).count());
        let mut shown: Vec<String> = own.iter().map(|(file, _)| format!("`{file}`")).collect();
        if !extended.is_empty() {
            shown.push(format!("{} that they extend", extended.len()));
        }
        match shown.is_empty() {
            true => format!(
                "the workspace `{}`, which has no file of configuration",
                self.root
            ),
            false => format!(
                "the workspace `{}`, configured by {}",
                self.root,
                shown.join(", ")
            ),
        }
    }

    /// The files that were loaded, those that others extend last.
    pub fn files(&self) -> Vec<(String, bool)> {
        let found = self.config().files.iter().filter(|file| file.found);
        let mut files: Vec<(String, bool)> = found
            .map(|file| {
                let shown = file.path.strip_prefix(&self.root).unwrap_or(&file.path);
                (shown.to_string(), file.is_extended)
            })
            .collect();
        files.sort_by_key(|(_, is_extended)| *is_extended);
        files
    }

    /// The tool that jig made up for a command, by settings alone. `hint` says how to use one that is declared.
    ///
    /// A file that spoke of it, such as one that came with the workspace, would widen what every command may
    /// do, and nobody who starts one would know.
    pub fn made_up(&self, name: &str, hint: Hint) -> anyhow::Result<&Tool> {
        let tool = self.tool(name)?;
        match tool.declared_at().file() {
            None => Ok(tool),
            Some(file) => Err(anyhow!(hint).context(format!(
                "`{file}` declares a tool `{name}`, which is what jig calls a command that is no tool"
            ))),
        }
    }

    /// The workspace as paths are resolved in it.
    pub fn workspace(&self) -> anyhow::Result<Workspace<DiskLookup>> {
        Workspace::on_disk(self.root.clone())
            .with_context(|| format!("cannot look at the workspace `{}`", self.root))
    }

    /// The policy of a tool.
    pub fn policy(&self, tool: &Tool, workspace: &Workspace<DiskLookup>) -> anyhow::Result<Policy> {
        Ok(self.config().policy(tool, workspace)?)
    }
}
