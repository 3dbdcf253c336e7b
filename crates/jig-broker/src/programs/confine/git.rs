//! git in a sandbox: the name it commits under, and the repository of a linked worktree or a submodule.

use std::path::{Path, PathBuf};

use jig_policy::{Capability, FileCapabilities, Policy, Reason, ResolvedPath, Rule};
use jig_proto::ProjectPath;
use jig_sandbox::{Rights, RuleSource};

use super::host_files::{self, HostFileType};
use super::shown_paths::ShownRules;
use super::workspace_rules::{ForbiddenPath, rights};

#[cfg(test)]
mod tests;

/// The configuration that a confined git finds in its home: who the user is, and nothing else of theirs.
/// Everything else there can name programs to run.
pub(super) fn configuration(home: Option<&Path>) -> String {
    let user = home
        .and_then(|home| host_files::text(&home.join(".gitconfig")))
        .map(|text| user(&text))
        .unwrap_or_default();
    let mut config = settled();
    if user.name.is_some() || user.email.is_some() {
        config.push_str("[user]\n");
    }
    for (key, value) in [("name", user.name), ("email", user.email)] {
        if let Some(value) = value {
            config.push_str(&format!("\t{key} = {}\n", quoted(&value)));
        }
    }
    config
}

/// Replaces the configuration of the system. With the preset, git reads the user's own after it, which wins.
pub(super) fn of_system() -> String {
    format!("{}[include]\n\tpath = /etc/gitconfig\n", settled())
}

/// The settings that every confined git gets.
///
/// Hooks cannot be seen, which git would remark on at every commit; new repositories get none from templates. It
/// tidies up before it ends: in the background, that would be ended with the command.
fn settled() -> String {
    let settings = [
        "[advice]\n\tignoredHook = false\n",
        "[init]\n\ttemplateDir =\n",
        "[gc]\n\tautoDetach = false\n",
        "[maintenance]\n\tautoDetach = false\n",
    ];
    settings.concat()
}

/// Who the user says to be.
#[derive(Debug, Default, PartialEq, Eq)]
struct GitUser {
    name: Option<String>,
    email: Option<String>,
}

/// Reads who the user is from a git configuration.
fn user(text: &str) -> GitUser {
    GitUser {
        name: value_of(text, "user", "name"),
        email: value_of(text, "user", "email"),
    }
}

/// The value of a key in a section without a subsection. Of several the last counts, as in git; files that it
/// includes are not read.
fn value_of(text: &str, section: &str, key: &str) -> Option<String> {
    let mut found = None;
    let mut in_section = false;
    for line in text.lines() {
        let line = line.trim();
        let rest = match line.strip_prefix('[') {
            Some(header) => {
                let Some((name, rest)) = header.split_once(']') else {
                    continue;
                };
                in_section = name.trim().eq_ignore_ascii_case(section);
                rest.trim()
            }
            None => line,
        };
        if let Some((name, value)) = rest.split_once('=')
            && in_section
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = unquoted(value.trim());
        }
    }
    found
}

/// A value as git reads it: quotes and escapes undone, a comment cut off. `None` if there is nothing left
/// or if it does not end on its line.
fn unquoted(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut quoted = false;
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match characters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'b' => text.push('\u{8}'),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    let text = if quoted { return None } else { text.trim_end() };
    let is_line = !text.is_empty() && !text.chars().any(char::is_control);
    is_line.then(|| text.to_owned())
}

/// A value as git writes it.
fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The repository of a workspace that is a linked worktree of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinkedWorktree {
    /// The directory with objects and references.
    pub(super) common: PathBuf,
    /// The directory of this worktree in it.
    pub(super) own: PathBuf,
}

/// Finds the repository that the workspace at `root` is a worktree of.
///
/// A tool could write a `.git` file that leads to any repository. So that one counts only if it says itself
/// that this workspace is its worktree.
pub(super) fn linked(root: &Path) -> Option<LinkedWorktree> {
    let (file, own) = git_file(root)?;
    let back = host_files::text(&own.join("gitdir"))?;
    if host_files::canonical(&own.join(back.trim()))? != file {
        return None;
    }
    let common = host_files::text(&own.join("commondir"))?;
    let common = host_files::canonical(&own.join(common.trim()))?;
    let is_its_own = own.parent() == Some(&common.join("worktrees"));
    let is_outside = !common.starts_with(root) && !root.starts_with(&common);
    (is_its_own && is_outside).then_some(LinkedWorktree { common, own })
}

/// Finds the repository of a workspace that is a submodule: it lies in that of the project around, and says
/// itself that this is its worktree.
pub(super) fn submodule(root: &Path) -> Option<PathBuf> {
    let (_, own) = git_file(root)?;
    let config = host_files::text(&own.join("config"))?;
    let worktree = value_of(&config, "core", "worktree")?;
    let is_its_own = host_files::canonical(&own.join(worktree)).as_deref() == Some(root);
    let mut names = own.components().map(|name| name.as_os_str());
    let is_submodule = names.any(|name| name == ".git") && names.next()? == "modules";
    (is_its_own && is_submodule && !own.starts_with(root)).then_some(own)
}

/// The `.git` file of a workspace, and the directory that it names.
fn git_file(root: &Path) -> Option<(PathBuf, PathBuf)> {
    let file = root.join(".git");
    let Some(HostFileType::File { .. }) = host_files::stands_itself(&file) else {
        return None;
    };
    let text = host_files::text(&file)?;
    let own = host_files::canonical(&root.join(text.strip_prefix("gitdir:")?.trim()))?;
    Some((file, own))
}

/// What the policy grants on the repository of a workspace whose `.git` is a file.
///
/// The file itself is protected, since whoever writes it chooses a repository. What the rule on it says is
/// meant for the repository that it names.
fn granted(policy: &Policy) -> Rights {
    let Ok(git) = ProjectPath::normalize(".git") else {
        return Rights::NONE;
    };
    let decision = policy.decide_fs(Capability::Update, &ResolvedPath::from_handle(git));
    let granted = match (decision.rule, decision.reason) {
        (_, Reason::Sensitive(_)) => FileCapabilities::NONE,
        (Some(Rule::Fs(rule)), _) => rule.capabilities(),
        _ => FileCapabilities::NONE,
    };
    rights(granted - FileCapabilities::just(Capability::Execute))
}

/// Whether a path lies in the repository of a workspace whose `.git` is a file, and a tool with the preset `git` has
/// these rights there. Hooks are shown by nothing.
pub(crate) fn is_opened_by_preset(
    root: &Path,
    policy: &Policy,
    path: &Path,
    rights: Rights,
) -> bool {
    let repository = linked(root).map(|linked| linked.common);
    repository.or_else(|| submodule(root)).is_some_and(|own| {
        let is_inside = path.starts_with(&own) && !path.starts_with(own.join("hooks"));
        is_inside && granted(policy).has(rights)
    })
}

/// Shows the repository of a submodule, as that of a linked worktree.
pub(super) fn show_submodule(
    own: &Path,
    policy: &Policy,
    lifted: bool,
    shown: &mut ShownRules,
) -> Vec<ForbiddenPath> {
    show_repository(own, policy, lifted, None, shown).forbidden
}

/// Shows the repository of a linked worktree: as much as the policy grants on `.git`, without what makes
/// the user's own git run programs. `lifted` is whether that may be changed, too.
/// Gives the names there that may not come into being.
pub(super) fn show(
    linked: &LinkedWorktree,
    policy: &Policy,
    lifted: bool,
    shown: &mut ShownRules,
) -> Vec<ForbiddenPath> {
    let mut repository = show_repository(&linked.common, policy, lifted, Some(&linked.own), shown);
    if !lifted && repository.granted.has_any(Rights::WRITE) {
        for name in ["commondir", "gitdir", "config.worktree"] {
            repository.guard(&linked.own, name, Rights::READ);
        }
    }
    repository.forbidden
}

/// Shows a repository: as much as the policy grants on `.git`, without its hooks, and its configuration for reading
/// unless that is lifted. `worktree` is the directory of the one that may be used.
fn show_repository<'a>(
    directory: &Path,
    policy: &Policy,
    lifted: bool,
    worktree: Option<&Path>,
    shown: &'a mut ShownRules,
) -> GitRepository<'a> {
    let granted = granted(policy);
    let mut repository = GitRepository {
        granted,
        shown,
        forbidden: Vec::new(),
    };
    if granted == Rights::NONE {
        return repository;
    }
    repository
        .shown
        .add(directory, granted, RuleSource::Declared);
    repository.guard(directory, "hooks", Rights::NONE);
    if !lifted && granted.has_any(Rights::WRITE) {
        for name in ["config", "config.worktree", "commondir", "modules"] {
            repository.guard(directory, name, Rights::READ);
        }
        // Other worktrees belong to other workspaces.
        let worktrees = directory.join("worktrees");
        for name in host_files::names(&worktrees) {
            let other = worktrees.join(name);
            if Some(other.as_path()) != worktree {
                repository
                    .shown
                    .add(other, Rights::READ, RuleSource::Declared);
            }
        }
    }
    repository
}

struct GitRepository<'a> {
    granted: Rights,
    shown: &'a mut ShownRules,
    forbidden: Vec<ForbiddenPath>,
}

impl GitRepository<'_> {
    /// Limits what may be done to a name, or has it looked for afterwards if nothing stands there.
    fn guard(&mut self, directory: &Path, name: &str, rights: Rights) {
        let path = directory.join(name);
        if host_files::exists_itself(&path) {
            self.shown.add(path, rights, RuleSource::Declared);
        } else if self.granted.has(Rights::CREATE)
            && let Ok(path) = ProjectPath::normalize(name)
        {
            self.forbidden.push(ForbiddenPath {
                base: Some(directory.to_owned()),
                path,
                link: None,
                reason: WHY.to_owned(),
            });
        }
    }
}

const WHY: &str = "it makes git run programs, in every worktree of the repository";
