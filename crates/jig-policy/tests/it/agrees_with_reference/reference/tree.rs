//! A tree in memory, and the way through it written as a recursion.

use std::collections::BTreeMap;
use std::io;

use jig_policy::{Lookup, LookupEntry, ResolveReason};
use jig_proto::ProjectPath;

/// The absolute path that means the root of a [`Tree`].
pub(crate) const ROOT: &str = "/ws";

/// A path as a list of names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl Names {
    pub(crate) fn of(path: &str) -> Self {
        let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
        Self(names.map(str::to_owned).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_within(&self, other: &Names) -> bool {
        self.0.len() >= other.0.len() && self.0[..other.0.len()] == other.0
    }

    pub(crate) fn first(&self, count: usize) -> Names {
        Self(self.0[..count].to_vec())
    }

    pub(crate) fn followed_by(&self, more: &[String]) -> Names {
        Self([self.0.as_slice(), more].concat())
    }

    pub(crate) fn text(&self) -> String {
        self.0.join("/")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Directory,
    File,
    Link(String),
}

/// Everything below the root; what is above an entry is a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree(BTreeMap<Names, Node>);

impl Tree {
    /// Adds an entry with the directories above it, unless something else is in the way.
    pub(crate) fn add(&mut self, path: Names, node: Node) {
        if path.0.is_empty() || self.0.contains_key(&path) {
            return;
        }
        for count in 1..path.len() {
            let above = path.first(count);
            if self
                .0
                .get(&above)
                .is_some_and(|node| *node != Node::Directory)
            {
                return;
            }
        }
        for count in 1..path.len() {
            self.0.insert(path.first(count), Node::Directory);
        }
        self.0.insert(path, node);
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Names, &Node)> {
        self.0.iter()
    }

    fn at(&self, path: &Names) -> Option<Node> {
        if path.0.is_empty() {
            return Some(Node::Directory);
        }
        self.0.get(path).cloned()
    }
}

impl Lookup for Tree {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match self.at(&Names::of(path.as_str())) {
            None => LookupEntry::Missing,
            Some(Node::Directory) => LookupEntry::Directory,
            Some(Node::File) => LookupEntry::File,
            Some(Node::Link(target)) => LookupEntry::Link(target),
        })
    }
}

/// Why a path leads nowhere inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    Outside,
    DotDot,
    LinkLeaves,
    Dangling,
    Loop,
    Syntax,
}

impl Lost {
    pub(crate) fn of(reason: &ResolveReason) -> Option<Self> {
        Some(match reason {
            ResolveReason::Outside => Lost::Outside,
            ResolveReason::DotDot => Lost::DotDot,
            ResolveReason::LinkLeaves => Lost::LinkLeaves,
            ResolveReason::Dangling => Lost::Dangling,
            ResolveReason::Loop => Lost::Loop,
            ResolveReason::Syntax(_) => Lost::Syntax,
            _ => return None,
        })
    }
}

/// The canonical names, and whether something stands there (G-053 to G-057, X-12).
pub(crate) fn resolve(tree: &Tree, input: &str) -> Result<(Names, bool), Lost> {
    // As many links as Linux follows.
    let written = written(input)?;
    walk(tree, Names::default(), &written.0, &mut 40, &mut Vec::new())
}

/// The places of the links on the way.
pub(crate) fn links_on(tree: &Tree, input: &str) -> Vec<Names> {
    let mut met = Vec::new();
    if let Ok(written) = written(input) {
        let _ = walk(tree, Names::default(), &written.0, &mut 40, &mut met);
    }
    met
}

/// The names of a path as its text says them.
pub(crate) fn written(input: &str) -> Result<Names, Lost> {
    if input.is_empty() || input.contains('\0') {
        return Err(Lost::Syntax);
    }
    let inside = if input.starts_with('/') {
        below_root(input).ok_or(Lost::Outside)?
    } else {
        input.split('/').map(str::to_owned).collect()
    };
    let mut names = Vec::new();
    for name in inside {
        match name.as_str() {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Lost::DotDot)?;
            }
            _ => names.push(name),
        }
    }
    Ok(Names(names))
}

/// The parts of an absolute path after the root's, if they begin with it.
fn below_root(path: &str) -> Option<Vec<String>> {
    let mut parts = path.split('/').filter(|name| !matches!(*name, "" | "."));
    (parts.next() == Some(ROOT.trim_start_matches('/'))).then(|| parts.map(str::to_owned).collect())
}

/// What the caller wrote: it may end in names that do not exist yet.
fn walk(
    tree: &Tree,
    at: Names,
    names: &[String],
    links: &mut u32,
    met: &mut Vec<Names>,
) -> Result<(Names, bool), Lost> {
    let Some((name, rest)) = names.split_first() else {
        return Ok((at, true));
    };
    let here = at.followed_by(std::slice::from_ref(name));
    let next = match tree.at(&here) {
        None => return Ok((here.followed_by(rest), false)),
        Some(Node::Directory | Node::File) => here,
        Some(Node::Link(target)) => {
            met.push(here);
            end_of_link(tree, at, &target, links, met)?
        }
    };
    if tree.at(&next) == Some(Node::File) {
        return Ok((next.followed_by(rest), rest.is_empty()));
    }
    walk(tree, next, rest, links, met)
}

/// Where a link in the directory `at` leads: all of it must exist.
fn end_of_link(
    tree: &Tree,
    at: Names,
    target: &str,
    links: &mut u32,
    met: &mut Vec<Names>,
) -> Result<Names, Lost> {
    *links = links.checked_sub(1).ok_or(Lost::Loop)?;
    let (mut at, names) = if target.starts_with('/') {
        let names = below_root(target).ok_or(Lost::LinkLeaves)?;
        (Names::default(), names)
    } else {
        (at, Names::of(target).0)
    };
    for name in names {
        if tree.at(&at) != Some(Node::Directory) {
            return Err(Lost::Dangling);
        }
        if name == ".." {
            at.0.pop().ok_or(Lost::LinkLeaves)?;
            continue;
        }
        let here = at.followed_by(&[name]);
        at = match tree.at(&here) {
            None => return Err(Lost::Dangling),
            Some(Node::Link(target)) => {
                met.push(here);
                end_of_link(tree, at, &target, links, met)?
            }
            Some(_) => here,
        };
    }
    Ok(at)
}
