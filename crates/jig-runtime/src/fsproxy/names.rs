//! [`ClientPaths`]: what the paths of clients stand for.

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::ProjectPath;
use jig_proto::fsproxy::ProxyError;

/// How paths of clients become paths of the workspace.
///
/// A client writes paths as any program does: absolute ones, and relative ones that begin at a working
/// directory. `..` is folded before any link is looked at, and what comes out is what the policy judges. A path
/// that is not below the root of the workspace is only a name: it can be a virtual file, never a real one.
///
/// The default knows no root: relative paths begin at the workspace, and every absolute path is only a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientPaths {
    root: Option<Utf8PathBuf>,
    cwd: ProjectPath,
    /// Other spellings of places of the workspace, as absolute paths.
    aliases: Vec<(Utf8PathBuf, ProjectPath)>,
}

impl ClientPaths {
    /// Names below `root`, the absolute path of the workspace as clients spell it, with relative paths that
    /// begin at `cwd`.
    pub fn new(root: impl Into<Utf8PathBuf>, cwd: ProjectPath) -> Self {
        Self {
            root: Some(fold(&root.into()).into()),
            cwd,
            aliases: Vec::new(),
        }
    }

    /// The same, with `spelled`, an absolute path, and all below it standing for `is` and what is below that.
    /// An alias goes before the root, and a longer one before a shorter one.
    #[must_use]
    pub fn with_alias(mut self, spelled: impl Into<Utf8PathBuf>, is: ProjectPath) -> Self {
        let spelled = Utf8PathBuf::from(fold(&spelled.into()));
        self.aliases.push((spelled, is));
        self.aliases
            .sort_by_key(|(spelled, _)| std::cmp::Reverse(spelled.as_str().len()));
        self
    }

    /// Whether the workspace is all that the machine has, so that its paths are absolute ones without their slash.
    pub(super) fn is_whole_disk(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root == "/")
    }

    /// What a path of a client stands for.
    pub(super) fn resolve(&self, text: &str) -> Result<ClientPath, ProxyError> {
        if text.is_empty() {
            return Err(ProxyError::arg("missing path"));
        }
        if text.contains('\0') {
            return Err(ProxyError::arg("the path holds a NUL byte"));
        }
        let spelled = Utf8Path::new(text);
        if spelled.is_absolute() {
            return Ok(self.absolute(spelled));
        }
        match &self.root {
            Some(root) => Ok(self.absolute(&self.cwd.under(root).join(spelled))),
            None => {
                let path = self.cwd.under(Utf8Path::new("")).join(spelled);
                let path = fold(&path);
                Ok(match ProjectPath::normalize(&path) {
                    Ok(path) => ClientPath::Project(path),
                    Err(_) if path.is_empty() => ClientPath::Project(ProjectPath::root()),
                    Err(_) => ClientPath::Elsewhere(path),
                })
            }
        }
    }

    fn absolute(&self, path: &Utf8Path) -> ClientPath {
        let folded = fold(path);
        let path = Utf8Path::new(&folded);
        let root = self.root.iter().map(|root| (root, None));
        let aliases = self.aliases.iter().map(|(spelled, is)| (spelled, Some(is)));
        for (above, is) in aliases.chain(root) {
            let Ok(below) = path.strip_prefix(above) else {
                continue;
            };
            let below = match below.as_str() {
                "" => Ok(ProjectPath::root()),
                below => ProjectPath::normalize(below),
            };
            if let Ok(below) = below {
                return ClientPath::Project(is.map_or_else(|| below.clone(), |is| is.join(&below)));
            }
        }
        ClientPath::Elsewhere(folded)
    }
}

/// What a path of a client stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientPath {
    /// A place of the workspace, real or virtual.
    Project(ProjectPath),
    /// Nothing but a name.
    Elsewhere(String),
}

impl ClientPath {
    /// The text under which a virtual file is known, and which the tables show.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Project(path) => path.as_str(),
            Self::Elsewhere(text) => text,
        }
    }
}

/// The path without empty components, `.` and, where something stands before it, `..`.
fn fold(path: &Utf8Path) -> String {
    let text = path.as_str();
    let absolute = text.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => match names.last() {
                Some(&last) if last != ".." => {
                    names.pop();
                }
                // Above the root there is the root.
                _ if absolute => {}
                _ => names.push(name),
            },
            name => names.push(name),
        }
    }
    let folded = names.join("/");
    match absolute {
        true => format!("/{folded}"),
        false => folded,
    }
}

#[cfg(test)]
mod tests;
