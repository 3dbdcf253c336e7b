//! [`AllowedPaths`]: the paths of `-i` and `-o`, as a policy for the whole disk.
//!
//! Each is looked up once, when jig starts, and the rule is on what was found there. Whoever changes a link
//! later changes nothing about that.

use std::io;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Lookup,
    Policy, RuleOrigin, Workspace,
};
use jig_proto::{Hint, ProjectPath, hint};
use jig_runtime::fsproxy::ClientPaths;

use crate::{locate, shell_word};

/// What was named, each path with where it really lies.
#[derive(Debug, Default)]
pub(super) struct AllowedPaths {
    paths: Vec<AllowedPath>,
}

#[derive(Debug, PartialEq, Eq)]
struct AllowedPath {
    /// The option and the path, as they were written.
    origin: String,
    /// Absolute, as it was written.
    spelled: Utf8PathBuf,
    /// Absolute, without links.
    real: Utf8PathBuf,
    gives: FileCapabilities,
}

impl AllowedPaths {
    /// Looks the paths up. `current` is where relative ones begin.
    pub(super) fn find(
        input: &[Utf8PathBuf],
        output: &[Utf8PathBuf],
        current: &Utf8Path,
    ) -> anyhow::Result<Self> {
        let mut paths = Vec::new();
        for path in input {
            let spelled = current.join(path);
            let real = locate::resolved(&spelled).map_err(|error| {
                let hint = hint!(
                    "what may be read is there already; a file that is to be made is named with -o"
                );
                missing(
                    &error,
                    &format!("`-i {path}`: there is nothing there"),
                    hint,
                )
            })?;
            paths.push(AllowedPath {
                origin: format!("-i {path}"),
                spelled,
                real,
                gives: READ,
            });
        }
        for path in output {
            let spelled = current.join(path);
            let real = target(&spelled, path)?;
            paths.push(AllowedPath {
                origin: format!("-o {path}"),
                spelled,
                real,
                gives: WRITE,
            });
        }
        Ok(Self { paths })
    }

    /// How clients may spell the paths, with relative ones that begin at `current`.
    pub(super) fn names(&self, current: &Utf8Path) -> anyhow::Result<ClientPaths> {
        let mut names = ClientPaths::new("/", on_disk(current)?);
        for named in &self.paths {
            if named.spelled != named.real {
                names = names.with_alias(named.spelled.clone(), on_disk(&named.real)?);
            }
        }
        Ok(names)
    }

    /// The policy: exactly these paths, and of what lies below them not what `guards` keep.
    ///
    /// `root` is the workspace: what configures jig and git there is kept as from every tool, and so it is
    /// in each directory that was named.
    pub(super) fn policy<L: Lookup>(
        &self,
        mut guards: Guards,
        root: &Utf8Path,
        disk: &Workspace<L>,
    ) -> anyhow::Result<Policy> {
        let folders = self.paths.iter().map(|named| named.real.as_path());
        for folder in folders.chain([root]) {
            for kept in Guards::of_workspace().protected {
                let path = on_disk(&kept.path.under(folder))?;
                guards.protect(path.as_str(), kept.level, &kept.what);
            }
        }
        let access = DeclaredAccess {
            fs: self.rules(root),
            ..DeclaredAccess::default()
        };
        let policy = Policy::compile(&access, DefaultAccess::NOTHING, &guards, disk);
        policy.map_err(|errors| anyhow!("{errors}"))
    }

    /// One rule for each path. What lies in one that was named lies in all above it that were: a deeper
    /// rule, which decides alone, must not take away what they give.
    ///
    /// In the workspace at `root` a rule is on what a person wrote: a link there may be a tool's.
    fn rules(&self, root: &Utf8Path) -> Vec<DeclaredFsRule> {
        let mut rules = Vec::new();
        if self.paths.iter().any(|named| named.real == "/") {
            // "Everything" does not mean the memory and the variables of running programs, least of all ours.
            rules.extend(MACHINE.map(|path| DeclaredFsRule {
                path: path.to_owned(),
                capabilities: FileCapabilities::NONE,
                origin: RuleOrigin::named("jig proxy"),
            }));
        }
        for named in &self.paths {
            let around = |other: &&AllowedPath| named.real.starts_with(&other.real);
            let given = self.paths.iter().filter(around);
            let written = locate::inside_as_written(&named.spelled, root);
            let written = written.map(|inside| match inside.as_str() {
                "." => root.to_owned(),
                inside => root.join(inside),
            });
            let path = written.as_ref().unwrap_or(&named.real);
            let path = path.as_str().trim_start_matches('/');
            rules.push(DeclaredFsRule {
                path: if path.is_empty() { "." } else { path }.to_owned(),
                capabilities: given
                    .fold(FileCapabilities::NONE, |all, other| all.with(other.gives)),
                origin: RuleOrigin::named(named.origin.as_str()),
            });
        }
        rules
    }
}

/// Where a file is that may not exist yet.
fn target(spelled: &Utf8Path, path: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    if let Ok(real) = locate::resolved(spelled) {
        return Ok(real);
    }
    let (Some(folder), Some(name)) = (spelled.parent(), spelled.file_name()) else {
        return Err(anyhow!("`-o {path}` is no name for a file"));
    };
    let folder = locate::resolved(folder).map_err(|error| {
        let hint = hint!(
            "make it first: mkdir -p {folder}",
            folder = shell_word(folder.as_str())
        );
        missing(
            &error,
            &format!("`-o {path}`: there is no folder for it"),
            hint,
        )
    })?;
    Ok(folder.join(name))
}

/// Why a path cannot be given away, and what to do about it.
fn missing(error: &io::Error, what: &str, hint: Hint) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!(hint).context(what.to_owned()),
        _ => anyhow!(error.to_string()).context(what.to_owned()),
    }
}

/// An absolute path as one of the disk.
fn on_disk(path: &Utf8Path) -> anyhow::Result<ProjectPath> {
    match path.as_str().trim_start_matches('/') {
        "" => Ok(ProjectPath::root()),
        below => {
            ProjectPath::normalize(below).with_context(|| format!("`{path}` cannot be served"))
        }
    }
}

/// The whole disk, as a workspace.
pub(super) const DISK: &str = "/";

const READ: FileCapabilities = FileCapabilities::just(Capability::Read);
const WRITE: FileCapabilities =
    FileCapabilities::just(Capability::Create).with(FileCapabilities::just(Capability::Update));

/// Where no files of people lie.
const MACHINE: [&str; 3] = ["proc", "sys", "dev"];

#[cfg(test)]
mod tests;
