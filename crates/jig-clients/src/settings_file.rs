//! [`SettingsFile`]: a client's file, read and written.
//!
//! Links are followed, because people keep their settings elsewhere and link to them, but a file of a project
//! never leads out of it: a repository must not be able to point jig at a file of its user's.

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{
    ContentHash, DiskFiles, DiskOptions, FilesError, Place, ProjectFiles, WriteOptions,
};
use jig_project::{CommandEnvironment, locate, shell_word};
use jig_proto::{ProjectPath, hint};

/// A client's file, which may not be there yet.
pub struct SettingsFile {
    files: DiskFiles,
    place: Place,
    /// As people are shown it.
    pub shown: Utf8PathBuf,
    /// Its content; `None` if it is not there.
    pub text: Option<String>,
}

/// How the copy of a file that is replaced is called.
#[derive(Debug, Clone, Copy)]
pub enum CopyName {
    /// `.bak`, and with a number if that is taken.
    Numbered,
    /// `.bak-` and the time.
    Dated,
}

impl SettingsFile {
    /// A file of the project at `root`.
    pub fn of_project(
        root: &Utf8Path,
        path: &str,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Self> {
        Self::open(root, path, path.into(), env, MAX_SIZE)
    }

    /// A file of the user.
    pub fn of_user(path: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<Self> {
        Self::of_user_within(path, env, MAX_SIZE)
    }

    /// A file of the user which may be this large.
    pub fn of_user_within(
        path: &Utf8Path,
        env: &CommandEnvironment,
        size: u64,
    ) -> anyhow::Result<Self> {
        // The deepest part that is there, without links; the rest is made when it is written.
        let (base, rest) = path
            .ancestors()
            .find_map(|part| Some((locate::resolved(part).ok()?, path.strip_prefix(part).ok()?)))
            .with_context(|| format!("`{path}` cannot be found"))?;
        match rest.as_str() {
            "" => {
                let name = base.file_name().unwrap_or_default();
                let folder = base.parent().unwrap_or(&base);
                Self::open(folder, name, path.to_owned(), env, size)
            }
            rest => Self::open(&base, rest, path.to_owned(), env, size),
        }
    }

    fn open(
        folder: &Utf8Path,
        path: &str,
        shown: Utf8PathBuf,
        env: &CommandEnvironment,
        size: u64,
    ) -> anyhow::Result<Self> {
        let options = DiskOptions {
            state: env.state().filter(|state| locate::resolved(state).is_ok()),
            ..DiskOptions::default()
        };
        let files = DiskFiles::with_options(folder, &options)
            .with_context(|| format!("cannot open `{folder}`"))?;
        let path = ProjectPath::normalize(path).with_context(|| format!("`{path}` is no path"))?;
        let place = files
            .locate(&path)
            .map_err(|error| explained(error, &shown))?;
        let text = match place.exists() {
            false => None,
            true => {
                let bytes = files
                    .read(&place, size)
                    .map_err(|error| explained(error, &shown))?;
                let text = String::from_utf8(bytes.to_vec());
                Some(text.map_err(|_| anyhow!("`{shown}` is not UTF-8"))?)
            }
        };
        Ok(Self {
            files,
            place,
            shown,
            text,
        })
    }

    /// Puts another text in its place, in one step. What was there is kept beside it, and named.
    pub fn write(&self, text: &str, copy: CopyName) -> anyhow::Result<Option<Utf8PathBuf>> {
        let backup = match &self.text {
            None => None,
            Some(before) => Some(self.back_up(before, copy)?),
        };
        let options = WriteOptions {
            exclusive: self.text.is_none(),
            // Whoever wrote to it since has to be asked again.
            if_match: self
                .text
                .as_ref()
                .map(|text| ContentHash::of(text.as_bytes())),
            durable: true,
            ..WriteOptions::default()
        };
        let written = self.files.write(&self.place, text.as_bytes(), &options);
        written.map_err(|error| explained(error, &self.shown))?;
        Ok(backup)
    }

    /// Keeps a copy under a name that nobody has, for the user alone: there may be secrets in it.
    fn back_up(&self, text: &str, copy: CopyName) -> anyhow::Result<Utf8PathBuf> {
        let options = WriteOptions {
            exclusive: true,
            durable: true,
            ..WriteOptions::default()
        };
        let base = match copy {
            CopyName::Numbered => ".bak".to_owned(),
            CopyName::Dated => {
                let now = jiff::Timestamp::now();
                format!(".bak-{}", now.strftime("%Y%m%dT%H%M%SZ"))
            }
        };
        for number in 1..=MAX_BACKUPS {
            let ending = match (number, copy) {
                (1, _) => base.clone(),
                (number, CopyName::Numbered) => format!("{base}{number}"),
                (number, CopyName::Dated) => format!("{base}-{number}"),
            };
            let path = format!("{}{ending}", self.place.path());
            let path = ProjectPath::normalize(&path).context("the name of the copy is no path")?;
            let place = self.files.locate_entry(&path)?;
            match private(|| self.files.write(&place, text.as_bytes(), &options)) {
                Ok(_) => return Ok(format!("{}{ending}", self.shown).into()),
                Err(FilesError::AlreadyExists { .. }) => {}
                Err(error) => {
                    let context = format!("cannot keep a copy of `{}`", self.shown);
                    return Err(anyhow!(error).context(context));
                }
            }
        }
        bail!(
            "there are {MAX_BACKUPS} copies of `{}` already: remove some of its .bak files",
            self.shown
        )
    }
}

/// What went wrong, in the words of files that may be anywhere.
fn explained(error: FilesError, shown: &Utf8Path) -> anyhow::Error {
    match error {
        FilesError::Escape { .. } => {
            let hint = hint!(
                "a link that leaves the project, or leads nowhere, is not followed; take it away: rm {}",
                shell_word(shown.as_str())
            );
            anyhow!(hint).context(format!("`{shown}` leads out of the project"))
        }
        FilesError::Stale { .. }
        | FilesError::Changed { .. }
        | FilesError::AlreadyExists { .. } => {
            anyhow!("`{shown}` was changed by somebody else in the meantime: try again")
        }
        error => anyhow!(error).context(format!("cannot use `{shown}`")),
    }
}

/// Does something whose new files are for the user alone.
#[cfg(unix)]
fn private<T>(act: impl FnOnce() -> T) -> T {
    use rustix::fs::Mode;
    // The mask is that of the whole process, of which this is the only thread.
    let before = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let done = act();
    rustix::process::umask(before);
    done
}

#[cfg(not(unix))]
fn private<T>(act: impl FnOnce() -> T) -> T {
    act()
}

/// No settings that a person edits are nearly that large.
const MAX_SIZE: u64 = 8 << 20;

/// More copies than anybody keeps.
const MAX_BACKUPS: u32 = 99;
