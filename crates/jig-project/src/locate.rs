//! Where the workspace is.

use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use jig_config::WORKSPACE_FILES;
use jig_policy::GuardLine;
use jig_proto::{hint, visible_line};
use url::Url;

use crate::environment::CommandEnvironment;

/// The root of the workspace: the one given, or the one around the current folder.
///
/// # Errors
///
/// Also if that would be the person's home, or the whole machine, and they did not name it: what lies there is no
/// project, and a tool could read it all.
pub fn root(given: Option<&Utf8Path>) -> anyhow::Result<Utf8PathBuf> {
    let root = found(given)?;
    if given.is_none() {
        is_a_project(&root)?;
    }
    Ok(root)
}

/// The root of the workspace around a folder that a program named, such as a client by its roots.
///
/// # Errors
///
/// As for [`root`]: the program is not the person.
pub fn root_around(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    let root = canonical(&discover(folder));
    let Some(root) = root else {
        bail!("`{}` is not a folder", visible_line(folder.as_str()));
    };
    is_a_project(&root)?;
    Ok(root)
}

/// The folder of this machine that a `file:` URI names; `None` for every other text.
pub fn folder_of_uri(uri: &str) -> Option<Utf8PathBuf> {
    let url = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    Utf8PathBuf::from_path_buf(url.to_file_path().ok()?).ok()
}

fn is_a_project(root: &Utf8Path) -> anyhow::Result<()> {
    let home = Home::of_this_process();
    let what = match root.parent() {
        None => "all of this machine",
        Some(_) if home.is_at(root) => "your home folder",
        Some(_) if home.is_below(root) => "a folder with your home folder in it",
        Some(_) if home.has_settings_at(root) => "a folder of your settings",
        Some(_) => return Ok(()),
    };
    let hint =
        hint!("go to a project, or name one with -C DIR; with -C this folder is used all the same");
    Err(anyhow!(hint).context(format!(
        "the workspace would be {what}, `{}`: tools could read all that is in it",
        visible_line(root.as_str())
    )))
}

/// The same, wherever that is.
fn found(given: Option<&Utf8Path>) -> anyhow::Result<Utf8PathBuf> {
    let root = match given {
        None => discover(&current()?),
        // The current folder may be gone.
        Some(given) if given.is_absolute() => given.to_owned(),
        Some(given) => current()?.join(given),
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

/// The workspaces that a command about something which runs may mean, the likeliest first: the one around the current
/// folder, then every folder above it.
///
/// What runs can make a file of configuration, which turns a folder inside its workspace into another workspace. It
/// must be found all the same, to be ended.
pub fn roots(given: Option<&Utf8Path>) -> anyhow::Result<Vec<Utf8PathBuf>> {
    let mut roots = vec![found(given)?];
    if given.is_none()
        && let Some(current) = canonical(&current()?)
    {
        let above = current.ancestors().map(Utf8Path::to_owned);
        let above: Vec<Utf8PathBuf> = above.filter(|folder| *folder != roots[0]).collect();
        roots.extend(above);
    }
    Ok(roots)
}

/// The folder in which jig was called.
pub fn current() -> anyhow::Result<Utf8PathBuf> {
    let current = std::env::current_dir().context("cannot tell the current folder")?;
    Utf8PathBuf::from_path_buf(current).map_err(|path| {
        anyhow!(
            "the path of the current folder is not UTF-8: {}",
            path.display()
        )
    })
}

/// The other names of the workspace at `root` by which the user may call it: where their shell says that it is.
pub fn aliases(root: &Utf8Path, env: &CommandEnvironment) -> Vec<PathBuf> {
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
pub fn resolved(path: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    path.canonicalize_utf8()
}

/// A path as it is written below the workspace, from the first folder on its way that lies there; `None` if it
/// never gets there. A link in the workspace may be a tool's, and stands for nothing but its own name.
pub fn inside_as_written(path: &Utf8Path, root: &Utf8Path) -> Option<String> {
    let mut plain = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    let mut above: Vec<&Utf8Path> = plain.ancestors().collect();
    above.reverse();
    above.into_iter().find_map(|folder| {
        let real = resolved(folder).ok()?;
        let inner = real.strip_prefix(root).ok()?;
        let rest = plain.strip_prefix(folder).ok()?;
        Some(match inner.join(rest).as_str() {
            "" => ".".to_owned(),
            inner => inner.trim_end_matches('/').to_owned(),
        })
    })
}

/// The nearest folder upward that holds configuration, else the nearest that holds a git
/// repository, else the folder itself. The search ends at the home folder.
///
/// What belongs to another user does not count: anybody can put a file into a folder that all share, such as `/tmp`.
fn discover(start: &Utf8Path) -> Utf8PathBuf {
    let home = Home::of_this_process();
    let mut repository = None;
    for folder in start.ancestors() {
        if WORKSPACE_FILES
            .iter()
            .any(|file| is_own(&folder.join(file)))
        {
            return folder.to_owned();
        }
        if repository.is_none() && is_own(&folder.join(".git")) {
            repository = Some(folder);
        }
        if home.is_at(folder) {
            break;
        }
    }
    repository.unwrap_or(start).to_owned()
}

/// The home folder of the person, as a place: it may have several names.
struct Home {
    path: Option<Utf8PathBuf>,
    place: Option<(u64, u64)>,
}

impl Home {
    fn of_this_process() -> Self {
        let named = CommandEnvironment::of_this_process().path("HOME");
        let path = named.or_else(passwd_home);
        Self {
            place: path.as_deref().and_then(place),
            path,
        }
    }

    fn is_at(&self, folder: &Utf8Path) -> bool {
        self.place.is_some() && place(folder) == self.place
    }

    /// Whether it lies in a folder, wherever links lead on the way.
    fn is_below(&self, folder: &Utf8Path) -> bool {
        let real = self.path.as_deref().and_then(canonical);
        let folder = place(folder);
        let mut above = real.iter().flat_map(|home| home.ancestors().skip(1));
        folder.is_some() && above.any(|above| place(above) == folder)
    }

    /// Whether a folder in the home is one of those that programs of the person obey, or has one in it: what is guarded in
    /// a workspace that is the home.
    fn has_settings_at(&self, folder: &Utf8Path) -> bool {
        let Some(home) = folder.ancestors().skip(1).find(|above| self.is_at(above)) else {
            return false;
        };
        let Ok(inside) = folder.strip_prefix(home) else {
            return false;
        };
        let is_of = |line: &GuardLine| {
            let pattern = Utf8Path::new(line.pattern().trim_start_matches('/'));
            pattern.starts_with(inside) || inside.starts_with(pattern)
        };
        GuardLine::all().iter().any(is_of)
    }
}

/// What makes a folder the one that it is, whatever it is called.
fn place(folder: &Utf8Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::stat(folder.as_std_path()).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// The home folder by the system's list of users.
#[expect(
    clippy::disallowed_methods,
    reason = "the list of users is the system's, and no tool writes there"
)]
fn passwd_home() -> Option<Utf8PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let list = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut users = list.lines().map(|line| line.split(':'));
    let home = users.find_map(|mut fields| {
        let is_user = fields.nth(2) == Some(user.as_str());
        fields.nth(2).filter(|_| is_user).map(Utf8PathBuf::from)
    });
    home.filter(|home| home.is_absolute())
}

/// Whether something is there that belongs to the person, or to the system.
fn is_own(path: &Utf8Path) -> bool {
    let stat = rustix::fs::lstat(path.as_std_path());
    let user = rustix::process::geteuid().as_raw();
    stat.is_ok_and(|stat| [user, 0].contains(&stat.st_uid))
}

/// The files of configuration around a workspace that do not count, because they belong to another folder: each a
/// clause that says what to do.
pub fn other_files(root: &Utf8Path) -> Vec<String> {
    let home = Home::of_this_process();
    let mut found = Vec::new();
    let above = root.ancestors().skip(1);
    let above = above.take_while(|folder| !home.is_at(folder));
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
