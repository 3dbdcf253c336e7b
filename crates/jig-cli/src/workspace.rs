//! Finding the workspace and loading its configuration.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
#[cfg(unix)]
use jig_config::LOADED;
use jig_config::{Config, Loaded, Sources, Tool, WORKSPACE_FILES};
use jig_mcp::Servers;
use jig_policy::{DiskLookup, Policy, Workspace};
use jig_proto::{Hint, hint, visible_line};

use crate::args::Global;
use crate::environment::Environment;
#[cfg(unix)]
use crate::limits;
#[cfg(unix)]
use crate::output::remark;
use crate::servers;
#[cfg(unix)]
use crate::station::serve::JOURNAL;

/// A workspace with its configuration.
pub(crate) struct Project {
    pub(crate) root: Utf8PathBuf,
    pub(crate) loaded: Loaded,
    /// Its MCP servers, once they are needed.
    pub(crate) servers: Option<Arc<Servers>>,
}

impl Project {
    /// A workspace whose configuration is loaded.
    pub(crate) fn new(root: Utf8PathBuf, loaded: Loaded) -> Self {
        Self {
            root,
            loaded,
            servers: None,
        }
    }

    /// Finds the workspace, and loads everything that configures it.
    pub(crate) fn load(global: &Global) -> anyhow::Result<Self> {
        Self::load_with(global, false)
    }

    /// The same, and looks for rules that probably do not do what they were meant to.
    pub(crate) fn load_and_lint(global: &Global) -> anyhow::Result<Self> {
        Self::load_with(global, true)
    }

    /// The same at a root that is known, with more settings above all others.
    pub(crate) fn load_at(
        root: Utf8PathBuf,
        global: &Global,
        sets: &[String],
    ) -> anyhow::Result<Self> {
        clear(&root)?;
        Self::load_from(root, global, sets, false, None)
    }

    /// As [`load`](Self::load), to answer a question and no more: what a tool may have left there is not
    /// looked for first.
    /// Predefined tools that nobody mentions are left out, but for the one that is asked about.
    pub(crate) fn load_to_answer(global: &Global, about: &str) -> anyhow::Result<Self> {
        let root = root(global.workspace.as_deref())?;
        let project = Self::load_from(root.clone(), global, &[], false, Some(about))?;
        match project.config().tool(about) {
            Some(_) => Ok(project),
            // Whoever mistyped a name is shown one of all.
            None => Self::load_from(root, global, &[], false, None),
        }
    }

    /// For a station: a client has found the workspace and cleared it, and says what counts for it.
    pub(crate) fn load_for(
        root: Utf8PathBuf,
        files: &[Utf8PathBuf],
        sets: &[String],
        env: &Environment,
    ) -> anyhow::Result<Self> {
        let sources = Sources {
            lint: false,
            files: files.to_vec(),
            sets: sets.to_vec(),
            ..env.sources(root.clone())
        };
        let loaded = jig_config::load(&sources)?;
        Ok(Self::new(root, loaded))
    }

    fn load_with(global: &Global, lint: bool) -> anyhow::Result<Self> {
        let root = root(global.workspace.as_deref())?;
        clear(&root)?;
        Self::load_from(root, global, &[], lint, None)
    }

    fn load_from(
        root: Utf8PathBuf,
        global: &Global,
        sets: &[String],
        lint: bool,
        only: Option<&str>,
    ) -> anyhow::Result<Self> {
        let sources = Sources {
            lint,
            only: only.map(str::to_owned),
            files: global.config.clone(),
            sets: global.set.iter().chain(sets).cloned().collect(),
            ..Sources::from_environment(root.clone())
        };
        let loaded = jig_config::load(&sources)?;
        Ok(Self::new(root, loaded))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The tool of this name, or an error that suggests another.
    pub(crate) fn tool(&self, name: &str) -> anyhow::Result<&Tool> {
        if let Some(tool) = self.config().tool(name) {
            return Ok(tool);
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
    pub(crate) fn described(&self) -> String {
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
    pub(crate) fn files(&self) -> Vec<(String, bool)> {
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
    pub(crate) fn made_up(&self, name: &str, hint: Hint) -> anyhow::Result<&Tool> {
        let tool = self.tool(name)?;
        match tool.declared_at().file() {
            None => Ok(tool),
            Some(file) => Err(anyhow!(hint).context(format!(
                "`{file}` declares a tool `{name}`, which is what jig calls a command that is no tool"
            ))),
        }
    }

    /// The workspace as paths are resolved in it.
    pub(crate) fn workspace(&self) -> anyhow::Result<Workspace<DiskLookup>> {
        Workspace::on_disk(self.root.clone())
            .with_context(|| format!("cannot look at the workspace `{}`", self.root))
    }

    /// The policy of a tool.
    pub(crate) fn policy(
        &self,
        tool: &Tool,
        workspace: &Workspace<DiskLookup>,
    ) -> anyhow::Result<Policy> {
        Ok(self.config().policy(tool, workspace)?)
    }
}

/// Clears away what the tools of a jig that was killed left behind: what still runs, and files before they
/// count as configuration.
#[cfg(unix)]
pub(crate) fn clear(root: &Utf8Path) -> anyhow::Result<()> {
    let Some(state) = Environment::of_this_process().state() else {
        return Ok(());
    };
    // What cannot be removed now can be at another time.
    let _ = jig_files::Layer::sweep(state.as_std_path());
    for leftover in jig_runtime::leftovers(state.join(JOURNAL).as_std_path()) {
        remark(&left_over(&leftover));
    }
    let pending = jig_broker::pending(state.as_std_path(), root)
        .with_context(|| format!("cannot look at the workspace `{root}`"))?;
    for intruder in &pending.removed {
        remark(&format!(
            "jig: a call that was cut short left something: {intruder}"
        ));
    }
    // Also a file that another one extends, or that a pattern covers.
    let loads = |found: &&jig_broker::Suspect| {
        WORKSPACE_FILES
            .iter()
            .any(|file| found.path == std::path::Path::new(file))
            || found.reason.contains(LOADED)
    };
    match pending.suspects.iter().find(loads) {
        Some(suspect) => bail!("{suspect}"),
        None => Ok(()),
    }
}

/// What became of a tool whose jig was killed.
#[cfg(unix)]
fn left_over(leftover: &jig_runtime::Leftover) -> String {
    let (id, tool) = (&leftover.id, &leftover.tool);
    let end = match (leftover.was_alive, leftover.has_ended) {
        (false, _) => "it has ended",
        (true, true) => "it still ran, and was ended now",
        (true, false) => "it still runs, and could not be ended",
    };
    let age = limits::age(leftover.age);
    format!(
        "jig: `{id}` of the tool `{tool}`, started {age} ago, was cut short because its jig was killed: {end}"
    )
}

/// Where no tool is confined, none is watched.
#[cfg(not(unix))]
pub(crate) fn clear(_root: &Utf8Path) -> anyhow::Result<()> {
    Ok(())
}

/// The root of the workspace: the one given, or the one around the current folder.
pub(crate) fn root(given: Option<&Utf8Path>) -> anyhow::Result<Utf8PathBuf> {
    let current = current()?;
    let root = match given {
        None => discover(&current),
        Some(given) => current.join(given),
    };
    // One spelling of a workspace, so that there is one log of it.
    match canonical(&root) {
        Some(root) => Ok(root),
        None => {
            let shown = visible_line(given.unwrap_or(&root).as_str());
            bail!("the workspace `{shown}` is not a folder")
        }
    }
}

/// The folder in which jig was called.
pub(crate) fn current() -> anyhow::Result<Utf8PathBuf> {
    let current = std::env::current_dir().context("cannot tell the current folder")?;
    Utf8PathBuf::from_path_buf(current).map_err(|path| {
        anyhow!(
            "the path of the current folder is not UTF-8: {}",
            path.display()
        )
    })
}

/// The other names of the workspace at `root` by which the user may call it: where their shell says that it is.
pub(crate) fn aliases(root: &Utf8Path, env: &Environment) -> Vec<PathBuf> {
    let current = env.path("PWD").unwrap_or_default();
    let leads = |path: &&Utf8Path| *path != root && resolved(path).is_ok_and(|path| path == root);
    let is_plain =
        |part: Utf8Component<'_>| matches!(part, Utf8Component::RootDir | Utf8Component::Normal(_));
    let named = current.ancestors().find(leads);
    let named = named.filter(|path| path.components().all(is_plain));
    named.map(Into::into).into_iter().collect()
}

/// A path without links; an error if nothing is there.
#[expect(
    clippy::disallowed_methods,
    reason = "a person names it on the command line, before anything runs"
)]
pub(crate) fn resolved(path: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    path.canonicalize_utf8()
}

/// The nearest folder upward that holds configuration, else the nearest that holds a git
/// repository, else the folder itself. The search ends at the home folder.
fn discover(start: &Utf8Path) -> Utf8PathBuf {
    let home = std::env::var("HOME").ok();
    let mut repository = None;
    for folder in start.ancestors() {
        if WORKSPACE_FILES
            .iter()
            .any(|file| exists(&folder.join(file)))
        {
            return folder.to_owned();
        }
        if repository.is_none() && exists(&folder.join(".git")) {
            repository = Some(folder);
        }
        if Some(folder.as_str()) == home.as_deref() {
            break;
        }
    }
    repository.unwrap_or(start).to_owned()
}

/// The files of configuration around a workspace that do not count, because they belong to another folder: each a
/// clause that says what to do.
pub(crate) fn other_files(root: &Utf8Path) -> Vec<String> {
    let home = std::env::var("HOME").ok();
    let mut found = Vec::new();
    let above = root.ancestors().skip(1);
    let above = above.take_while(|folder| Some(folder.as_str()) != home.as_deref());
    for folder in above.take(MOST_LEVELS) {
        for file in WORKSPACE_FILES
            .iter()
            .filter(|file| exists(&folder.join(file)))
        {
            found.push(format!(
                "`{}` is not in force here: to use it, add `-C {folder}`",
                folder.join(file)
            ));
        }
    }
    let mut left = MOST_NAMES;
    for folder in folders(root, &mut left) {
        let nested = folders(&folder, &mut left);
        for folder in std::iter::once(&folder).chain(&nested) {
            for file in ["jig.toml", ".jig/config.toml"] {
                let file = folder.join(file);
                if exists(&file) {
                    let shown = file.strip_prefix(root).unwrap_or(&file);
                    found.push(format!(
                        "`{shown}` is not in force here: to use it, add `-C {}`, or move it to `{root}`",
                        folder.strip_prefix(root).unwrap_or(folder)
                    ));
                }
            }
        }
    }
    found.truncate(MOST_OTHERS);
    found
}

/// The folders in a folder, without those that hold no work of the person's own.
#[expect(
    clippy::disallowed_methods,
    reason = "only names are looked at, to tell a person which file counts"
)]
fn folders(folder: &Utf8Path, left: &mut usize) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = folder.read_dir_utf8() else {
        return found;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && !["node_modules", "target"].contains(&name) {
            found.push(entry.path().to_owned());
        }
    }
    found.sort();
    found
}

/// How many names are looked at for files that do not count.
const MOST_NAMES: usize = 2000;

/// How many of them are told.
const MOST_OTHERS: usize = 3;

/// How many folders above the workspace are looked at.
const MOST_LEVELS: usize = 32;

#[expect(
    clippy::disallowed_methods,
    reason = "the workspace is found before there is anything that owns its files"
)]
fn exists(path: &Utf8Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the workspace is found before there is anything that owns its files"
)]
fn canonical(path: &Utf8Path) -> Option<Utf8PathBuf> {
    path.canonicalize_utf8().ok().filter(|path| path.is_dir())
}
