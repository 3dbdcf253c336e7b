//! [`AcceptedConfiguration`]: what people accepted of the configuration that lies in a workspace.
//!
//! What was accepted is kept whole, so that a later change can be set against it: one that allows nothing more asks
//! nobody. Where it lies no tool can reach, so it is not sealed.

use std::io;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{ConfigEdit, WorkspaceContent};
use jig_mcp::Memory as _;
use jig_proto::hint;
use serde::{Deserialize, Serialize};

use super::{AcceptedFolder, FOLDER};
use crate::environment::CommandEnvironment;
use crate::project::Selection;

/// What was accepted of the configuration of one workspace.
#[derive(Debug)]
pub struct AcceptedConfiguration {
    root: Utf8PathBuf,
    /// `None` without a home.
    folder: Option<AcceptedFolder>,
}

/// The file in which it is kept.
#[derive(Debug, Default, PartialEq, Eq, Clone, Serialize, Deserialize)]
struct ConfigurationRecord {
    /// The folder of the workspace, for people.
    workspace: Utf8PathBuf,
    /// The newest first.
    accepted: Vec<WorkspaceContent>,
    /// The digests of what a person was shown and did not accept, the newest first.
    declined: Vec<String>,
}

/// A workspace of whose configuration something was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedWorkspace {
    /// Its folder, which may be gone.
    pub root: Utf8PathBuf,
    /// How many contents were accepted.
    pub contents: usize,
}

impl AcceptedConfiguration {
    /// That of the workspace at `root`. Nothing is made before something is kept.
    pub fn of(root: &Utf8Path, env: &CommandEnvironment) -> Self {
        Self {
            root: root.to_owned(),
            folder: env.state().map(|state| AcceptedFolder::new(&state, root)),
        }
    }

    /// All that was accepted, the newest first.
    pub fn contents(&self) -> Vec<WorkspaceContent> {
        self.read().accepted
    }

    /// Whether a person was shown this content, and did not accept it.
    pub fn is_declined(&self, content: &WorkspaceContent) -> bool {
        self.read().declined.contains(&content.digest())
    }

    /// Accepts this very content.
    ///
    /// # Errors
    ///
    /// If that cannot be kept.
    pub fn accept(&self, content: &WorkspaceContent) -> anyhow::Result<()> {
        let digest = content.digest();
        self.change(|record| {
            record.declined.retain(|declined| *declined != digest);
            record.accepted.retain(|accepted| accepted != content);
            record.accepted.insert(0, content.clone());
            record.accepted.truncate(MOST_CONTENTS);
            let mut size = 0;
            record.accepted.retain(|accepted| {
                size += accepted.size();
                accepted == content || size <= MOST_BYTES
            });
        })
    }

    /// Takes note that a person was shown this content, and did not accept it.
    ///
    /// # Errors
    ///
    /// If that cannot be kept.
    pub fn decline(&self, content: &WorkspaceContent) -> anyhow::Result<()> {
        let digest = content.digest();
        if self.read().declined.contains(&digest) {
            return Ok(());
        }
        self.change(|record| {
            record.declined.insert(0, digest.clone());
            record.declined.truncate(MOST_DECLINED);
        })
    }

    /// Forgets all that was accepted and declined. How many contents were accepted.
    ///
    /// # Errors
    ///
    /// If the file cannot be changed.
    pub fn revoke(&self) -> anyhow::Result<usize> {
        let before = self.read();
        if before == ConfigurationRecord::default() {
            return Ok(0);
        }
        self.change(|record| {
            record.accepted.clear();
            record.declined.clear();
        })?;
        Ok(before.accepted.len())
    }

    /// A number that changes when something is accepted.
    pub fn mark(&self) -> u64 {
        self.folder.as_ref().map_or(0, |folder| folder.mark(FILE))
    }

    fn read(&self) -> ConfigurationRecord {
        let bytes = self.folder.as_ref().and_then(|folder| folder.get(FILE));
        read(bytes, &self.root)
    }

    fn change(&self, change: impl Fn(&mut ConfigurationRecord)) -> anyhow::Result<()> {
        let folder = self.folder.as_ref().ok_or_else(|| {
            anyhow!(hint!("set HOME or XDG_STATE_HOME"))
                .context("there is no home folder in which to remember what was accepted")
        })?;
        let written = folder.update(FILE, &mut |bytes| {
            let mut record = read(bytes, &self.root);
            record.workspace.clone_from(&self.root);
            change(&mut record);
            serde_json::to_vec(&record).ok()
        });
        written.map_err(|why| anyhow!(why).context("what was accepted is not remembered"))
    }
}

/// What a file holds; nothing if it is not what jig writes, or that of another workspace.
fn read(bytes: Option<Vec<u8>>, root: &Utf8Path) -> ConfigurationRecord {
    let record = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let record = record.filter(|record: &ConfigurationRecord| record.workspace == root);
    record.unwrap_or_default()
}

/// Accepts what the files of the workspace come to when `text` is written to the file at `path`, because the person has
/// it written.
///
/// # Errors
///
/// If something else in these files waits for a person: it would be accepted unseen.
pub fn accept_written(
    selection: &Selection,
    root: &Utf8Path,
    path: &Utf8Path,
    text: &str,
) -> anyhow::Result<()> {
    let env = CommandEnvironment::of_this_process();
    let accepted = AcceptedConfiguration::of(root, &env);
    let remembered = Selection {
        trust: false,
        ..selection.clone()
    };
    let mut sources = remembered.sources(root, &accepted)?;
    sources.lint = false;
    if jig_config::load(&sources)?.config.held_back.is_some() {
        // What is accepted for one run is not remembered.
        return match selection.trust {
            true => Ok(()),
            false => Err(nothing_beside_it()),
        };
    }
    let written = ConfigEdit::new(Some(text))?.check(&sources, path)?;
    match &written.config.held_back {
        Some(held_back) => accepted.accept(&held_back.config.content),
        None => Ok(()),
    }
}

/// Accepts what the workspace at `root` says, because the person has just had it made: nothing was there before.
///
/// # Errors
///
/// If the file at `path` does not make a configuration with this text, or the acceptance cannot be kept.
pub fn accept_made(root: &Utf8Path, path: &Utf8Path, text: &str) -> anyhow::Result<()> {
    let env = CommandEnvironment::of_this_process();
    let accepted = AcceptedConfiguration::of(root, &env);
    let sources = Selection::default().sources(root, &accepted)?;
    let made = ConfigEdit::new(Some(text))?.check(&sources, path)?;
    match &made.config.held_back {
        Some(held_back) => accepted.accept(&held_back.config.content),
        None => Ok(()),
    }
}

/// Why nothing is written into a file that says something which waits for a person.
pub(crate) fn nothing_beside_it() -> anyhow::Error {
    anyhow!(hint!("`jig trust` shows what waits, and accepts it"))
        .context("the files of this workspace allow what nobody has accepted yet, and nothing is added to them before")
}

/// All workspaces of whose configuration something was accepted, by their folders.
///
/// # Errors
///
/// If the folder of jig's state cannot be read.
#[expect(
    clippy::disallowed_methods,
    reason = "the names in a folder of jig's own are listed for a person"
)]
pub fn all(env: &CommandEnvironment) -> anyhow::Result<Vec<AcceptedWorkspace>> {
    let Some(state) = env.state() else {
        return Ok(Vec::new());
    };
    let path = state.join(FOLDER);
    let entries = match path.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{path}`")),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let folder = AcceptedFolder {
            path: entry.path().to_owned(),
        };
        let bytes = folder.get(FILE).unwrap_or_default();
        let Ok(record) = serde_json::from_slice::<ConfigurationRecord>(&bytes) else {
            continue;
        };
        let is_its_own = AcceptedFolder::new(&state, &record.workspace).path == folder.path;
        if is_its_own && !record.accepted.is_empty() {
            found.push(AcceptedWorkspace {
                contents: record.accepted.len(),
                root: record.workspace,
            });
        }
    }
    found.sort_by(|one, other| one.root.cmp(&other.root));
    Ok(found)
}

/// The file. No server has such a name.
const FILE: &str = "configuration";

/// How many contents of one workspace are remembered: whoever goes from branch to branch is asked once for each.
const MOST_CONTENTS: usize = 16;

/// How much text that may be, in bytes, besides the newest.
const MOST_BYTES: usize = 8 << 20;

/// How many contents are remembered that were not accepted.
const MOST_DECLINED: usize = 64;
