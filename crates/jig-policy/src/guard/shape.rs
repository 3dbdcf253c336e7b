//! What makes a repository by its shape rather than by its name.

use std::borrow::Cow;

use super::names::{folded, name_matches};

/// A folder that git takes for a repository although it is not called `.git`: `HEAD` with `objects` and `refs`, or
/// with `commondir`. Who stands in it, or below, has git obey it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BareRepository;

/// A name that means something to git in a bare repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitPart {
    /// Without it the folder is no repository.
    Shape,
    /// It makes git run programs, if the folder is a repository.
    Obeyed,
}

impl GitPart {
    /// What a name is in a repository; `None` for what git does not obey.
    pub fn of(name: &str) -> Option<Self> {
        let name: Cow<'_, str> = folded(name);
        let is = |pattern: &&str| name_matches(pattern, &name);
        if OBEYED.iter().any(is) {
            return Some(GitPart::Obeyed);
        }
        SHAPE.iter().any(is).then_some(GitPart::Shape)
    }
}

impl GitPart {
    /// Whether some file system takes a name for `.git`.
    pub fn is_git(name: &str) -> bool {
        name_matches(".git", &folded(name))
    }

    /// Whether some file system takes a name for `HEAD`, without which no folder is a repository.
    pub fn is_head(name: &str) -> bool {
        name_matches("HEAD", &folded(name))
    }
}

impl BareRepository {
    /// Whether a folder with these names is one for some file system.
    pub fn is_with<N: AsRef<str>>(names: &[N]) -> bool {
        let names: Vec<Cow<'_, str>> = names.iter().map(|name| folded(name.as_ref())).collect();
        Self::is(|wanted| names.iter().any(|name| name_matches(wanted, name)))
    }

    /// Whether a folder is one. `has` says whether something of a name stands in it.
    pub fn is(has: impl Fn(&str) -> bool) -> bool {
        has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
    }

    /// Whether git keeps repositories in a folder by itself: a `.git`, and in there those of worktrees and submodules.
    /// Anywhere else below a `.git` a repository is a tool's.
    pub fn is_kept_by_git<N: AsRef<str>>(folder: &[N]) -> bool {
        let Some(git) = folder
            .iter()
            .position(|name| GitPart::is_git(name.as_ref()))
        else {
            return false;
        };
        folder.get(git + 1).is_none_or(|below| {
            let below = folded(below.as_ref());
            KEPT.iter().any(|kept| name_matches(kept, &below))
        })
    }

    /// Whether something of this name is a part of the shape.
    pub fn has_part(name: &str) -> bool {
        let name = folded(name);
        SHAPE.iter().any(|part| name_matches(part, &name))
    }

    /// Whether a folder becomes one if something of this name comes into being in it.
    pub fn is_completed_by(name: &str, has: impl Fn(&str) -> bool) -> bool {
        let name = folded(name);
        let new = |wanted: &str| name_matches(wanted, &name);
        SHAPE.iter().any(|part| new(part))
            && !Self::is(&has)
            && Self::is(|wanted| new(wanted) || has(wanted))
    }
}

/// What makes the shape.
const SHAPE: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

/// Where git keeps repositories below a `.git`.
const KEPT: [&str; 2] = ["worktrees", "modules"];

/// What git obeys in a repository.
const OBEYED: [&str; 5] = ["config*", "commondir", "hooks", "modules", "worktrees"];

#[cfg(test)]
mod tests;
