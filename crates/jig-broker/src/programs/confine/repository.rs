//! What a repository says that a tool has made: the user's own git will obey it, also without anybody
//! entering its folder, since a repository around it looks into those that it knows.
//!
//! A new repository is left alone only if it says what `git init` and `git clone` write, and runs nothing.
//! Everything else can name programs to run: whoever needs that has the preset. Later calls cannot change it,
//! because then it is one that was there before. Bare repositories are not made without the preset.

use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, FileType};

use super::{git, host_files};

#[cfg(test)]
mod tests;

/// Whether a `.git` below the workspace at `root` makes git run nothing. `path` is relative.
pub(super) fn is_plain(root: &Path, path: &Path) -> bool {
    let full = root.join(path);
    match host_files::stands_itself(&full) {
        Some(host_files::HostFileType::Directory) => says_nothing_special(&full),
        Some(host_files::HostFileType::File { .. }) => is_worktree(root, &full).unwrap_or(false),
        _ => false,
    }
}

/// Whether git takes a directory for a repository although its name is not `.git`, as it does with bare ones,
/// so that who stands in it has git obey it.
pub(super) fn is_bare(directory: &Path) -> bool {
    let has = |name: &str| host_files::exists_itself(&directory.join(name));
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Whether the configuration of a repository is what git writes by itself, and is all there is of it.
pub(super) fn says_nothing_special(repository: &Path) -> bool {
    let has = |name: &str| host_files::exists_itself(&repository.join(name));
    if has("commondir")
        || has("config.worktree")
        || has("modules")
        || !has_only_examples(&repository.join("hooks"))
    {
        return false;
    }
    let config = repository.join("config");
    match own_text(&config) {
        Some(text) => is_plain_configuration(&text),
        None => !host_files::exists_itself(&config),
    }
}

/// Whether a directory of hooks is missing, or holds only the examples that git puts into new repositories,
/// which are never run. Git has a few of them.
pub(super) fn has_only_examples(hooks: &Path) -> bool {
    match host_files::stands_itself(hooks) {
        None => true,
        Some(host_files::HostFileType::Directory) => {
            let names = host_files::names(hooks);
            let is_example =
                |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".sample");
            names.len() < MOST_EXAMPLES && names.iter().all(is_example)
        }
        Some(_) => false,
    }
}

/// More than git has.
const MOST_EXAMPLES: usize = 64;

/// Whether a `.git` file leads to a linked worktree of the workspace's own repository, which the tool cannot
/// configure.
fn is_worktree(root: &Path, file: &Path) -> Option<bool> {
    let text = own_text(file)?;
    let named = text.strip_prefix("gitdir: ")?.trim_end_matches('\n');
    let named = folded(&file.parent()?.join(named));
    let own = host_files::canonical(&named)?;
    let worktrees = own.parent()?;
    let common = worktrees.parent()?;
    let is_ours = common == root.join(".git");
    let is_around = || git::linked(root).is_some_and(|linked| linked.common == common);
    Some(
        own == named
            && worktrees.ends_with("worktrees")
            && (is_ours || is_around())
            && own_text(&own.join("commondir"))?.trim_end() == "../.."
            && !host_files::exists_itself(&own.join("config.worktree")),
    )
}

/// A path without `..`, as it is where nothing on the way is a link.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                folded.pop();
            }
            other => folded.push(other),
        }
    }
    folded
}

/// A small text in a file that has no other name, by which it could be changed later.
fn own_text(path: &Path) -> Option<String> {
    let stat = fs::lstat(path).ok()?;
    let is_own =
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1;
    is_own.then(|| host_files::text(path)).flatten()
}

/// Whether a configuration holds nothing but what runs no program. What is written in an unusual way is not
/// understood here, and thus is not plain.
fn is_plain_configuration(text: &str) -> bool {
    let mut section = None;
    text.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = plain_section(header);
            return section.is_some();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.trim().to_ascii_lowercase();
        let known = section.is_some_and(|keys: &[&str]| keys.contains(&key.as_str()));
        // A line that goes on in the next one, or a helper that is named like a program.
        known && !line.ends_with('\\') && !names_helper(value)
    })
}

/// The harmless keys of the section with this header, of which the first bracket is cut off.
fn plain_section(header: &str) -> Option<&'static [&'static str]> {
    let name = header.strip_suffix(']')?;
    let (name, sub) = match name.split_once(' ') {
        Some((name, sub)) => (name, sub.strip_prefix('"')?.strip_suffix('"')?),
        None => (name, ""),
    };
    if sub.contains(['"', '\\', ']']) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let known = PLAIN.iter().find(|(section, _)| *section == name);
    known.map(|(_, keys)| *keys)
}

/// Whether an address is of the form `NAME::rest`, for which git runs `git-remote-NAME`.
fn names_helper(value: &str) -> bool {
    let value = value.trim().trim_start_matches('"');
    let helper = value.split_once("::").map(|(helper, _)| helper);
    helper.is_some_and(|helper| !helper.contains(['/', '[', ':', '@']))
}

/// Settings that git writes when it makes, clones or fetches a repository, and who the author is. None of
/// them names a program or another file to read.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "quotepath",
        ],
    ),
    (
        "extensions",
        &["objectformat", "refstorage", "partialclone"],
    ),
    (
        "remote",
        &[
            "url",
            "pushurl",
            "fetch",
            "tagopt",
            "promisor",
            "partialclonefilter",
        ],
    ),
    ("branch", &["remote", "merge", "rebase"]),
    ("user", &["name", "email"]),
    ("commit", &["gpgsign"]),
    ("init", &["defaultbranch"]),
    ("gc", &["auto"]),
];
