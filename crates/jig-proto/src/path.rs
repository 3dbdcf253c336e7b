//! [`ProjectPath`]: a path inside the workspace, relative and normal.

use std::borrow::Borrow;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

/// A path inside the workspace, in the one spelling that everything below compares.
///
/// It is relative, has no `.`, no `..`, no empty component, no trailing slash and no NUL; the
/// workspace itself is the empty path, which displays as `.`. It says nothing about symbolic links:
/// that a path has been resolved is a different claim, made by other types.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ProjectPath(String);

impl ProjectPath {
    /// The workspace itself, written `.`.
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Normalises `input` lexically: `./src//a/../b/` is `src/b`.
    ///
    /// `..` is folded before any symbolic link is looked at. A path that leaves the workspace that
    /// way, an absolute path, an empty one and one with a NUL are refused.
    pub fn normalize(input: &str) -> Result<Self, PathSyntaxError> {
        if input.is_empty() {
            return Err(PathSyntaxError::Empty);
        }
        if input.contains('\0') {
            return Err(PathSyntaxError::Nul);
        }
        if Utf8Path::new(input).has_root() {
            return Err(PathSyntaxError::Absolute);
        }
        let mut normal = String::with_capacity(input.len());
        for component in input.split('/') {
            match component {
                "" | "." => {}
                ".." => {
                    if normal.is_empty() {
                        return Err(PathSyntaxError::Escape);
                    }
                    normal.truncate(normal.rfind('/').unwrap_or(0));
                }
                name => {
                    if !normal.is_empty() {
                        normal.push('/');
                    }
                    normal.push_str(name);
                }
            }
        }
        Ok(Self(normal))
    }

    /// The path with `name` below it. `name` is one component or several, already normal.
    #[must_use]
    pub fn join(&self, name: &ProjectPath) -> Self {
        if self.0.is_empty() {
            return name.clone();
        }
        if name.0.is_empty() {
            return self.clone();
        }
        Self(format!("{}/{}", self.0, name.0))
    }

    /// The path without its last component; `None` for the workspace itself.
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        Some(Self(self.0[..self.0.rfind('/').unwrap_or(0)].to_owned()))
    }

    /// The last component; `None` for the workspace itself.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The components, outermost first; none for the workspace itself.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// How many components there are: 0 for the workspace itself.
    pub fn depth(&self) -> usize {
        self.components().count()
    }

    /// Whether this is the workspace itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `ancestor` is this path or a directory above it, by components.
    pub fn starts_with(&self, ancestor: &ProjectPath) -> bool {
        match self.0.strip_prefix(ancestor.0.as_str()) {
            Some(rest) => ancestor.0.is_empty() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// The path as text; empty for the workspace itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The absolute path below `root`.
    pub fn under(&self, root: &Utf8Path) -> Utf8PathBuf {
        if self.0.is_empty() {
            root.to_owned()
        } else {
            root.join(&self.0)
        }
    }
}

impl Borrow<str> for ProjectPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

impl fmt::Debug for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProjectPath({self})")
    }
}

/// Why a text is not a path inside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathSyntaxError {
    /// The text is empty; the workspace itself is `.`.
    #[error("the path is empty (the workspace itself is `.`)")]
    Empty,
    /// The text holds a NUL byte, which no file name can.
    #[error("the path holds a NUL byte")]
    Nul,
    /// The path is absolute.
    #[error("the path is absolute")]
    Absolute,
    /// The path climbs above the workspace by `..`.
    #[error("the path leaves the workspace by `..`")]
    Escape,
}

#[cfg(test)]
mod tests;
