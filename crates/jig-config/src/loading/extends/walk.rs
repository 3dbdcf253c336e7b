//! Walking the folders that a pattern covers.

use camino::{Utf8Path, Utf8PathBuf};

use crate::loading::files::{self, FolderEntry};
use crate::name_pattern;

/// One part of a pattern, between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternPart {
    /// `**`: any number of folders.
    AnyDepth,
    /// A name in which `*` stands for any characters and `?` for one.
    Name(String),
}

impl PatternPart {
    pub(super) fn parse(text: &str) -> Self {
        match text {
            "**" => PatternPart::AnyDepth,
            name => PatternPart::Name(name.to_owned()),
        }
    }
}

/// A search for the files that a pattern covers.
pub(super) struct ExtendsWalk<'a> {
    /// The workspace, if no link may be followed below it.
    pub(super) workspace: Option<&'a Utf8Path>,
    pub(super) parts: &'a [PatternPart],
    /// How many names may still be looked at.
    pub(super) left: usize,
    /// The files that were found.
    pub(super) files: Vec<Utf8PathBuf>,
    /// The folders that were looked at.
    pub(super) folders: Vec<Utf8PathBuf>,
    /// A link that would have to be followed and may not.
    pub(super) link: Option<Utf8PathBuf>,
}

impl ExtendsWalk<'_> {
    /// Searches below a folder. One that is not there holds nothing.
    pub(super) fn from(&mut self, base: &Utf8Path) {
        let mut open = vec![(base.to_owned(), self.closed([0].into()), 0)];
        // No recursion: whoever makes folders could make it as deep as they like.
        while let Some((folder, states, depth)) = open.pop() {
            self.folders.push(folder.clone());
            let below = |path: &Utf8Path| match self.workspace {
                Some(workspace) => {
                    let inside = path.strip_prefix(workspace).ok()?;
                    Some((workspace.to_owned(), inside.to_owned()))
                }
                None => None,
            };
            let entries = match below(&folder) {
                Some((workspace, inside)) => files::entries_without_links(&workspace, &inside),
                None => files::entries(&folder),
            };
            let entries = match entries {
                Ok(entries) => entries,
                Err(link) => {
                    self.link.get_or_insert(link);
                    return;
                }
            };
            for (name, entry) in entries {
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                let path = folder.join(&name);
                let next = self.after(&states, &name);
                let is_match = next.contains(&self.parts.len());
                let goes_on = next.iter().any(|state| *state < self.parts.len());
                match entry {
                    FolderEntry::File if is_match => self.files.push(path),
                    FolderEntry::Folder if goes_on && depth < DEEPEST => {
                        open.push((path, next, depth + 1));
                    }
                    FolderEntry::LinkedFolder
                        if goes_on && depth < DEEPEST && self.is_named(&states, &name) =>
                    {
                        open.push((path, next, depth + 1));
                    }
                    // Below `**` alone, links to folders are not followed, as in every shell.
                    FolderEntry::Link if is_match || self.is_named(&states, &name) => {
                        self.link.get_or_insert(path);
                        return;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Where the pattern can stand behind a name, from where it stood before.
    fn after(&self, states: &[usize], name: &str) -> Vec<usize> {
        let mut next = Vec::new();
        for state in states {
            match self.parts.get(*state) {
                Some(PatternPart::AnyDepth) => {
                    next.push(*state);
                    // `a/**` covers all files below `a`.
                    if state + 1 == self.parts.len() {
                        next.push(state + 1);
                    }
                }
                Some(PatternPart::Name(wanted)) if name_pattern::matches(wanted, name) => {
                    next.push(state + 1)
                }
                _ => {}
            }
        }
        self.closed(next)
    }

    /// `**` also stands for no folder at all.
    fn closed(&self, mut states: Vec<usize>) -> Vec<usize> {
        let mut at = 0;
        while let Some(state) = states.get(at).copied() {
            let is_last = state + 1 == self.parts.len();
            if self.parts.get(state) == Some(&PatternPart::AnyDepth) && !is_last {
                states.push(state + 1);
            }
            at += 1;
        }
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Whether a part of the pattern that is no `**` names it.
    fn is_named(&self, states: &[usize], name: &str) -> bool {
        let mut parts = states.iter().filter_map(|state| self.parts.get(*state));
        parts.any(
            |part| matches!(part, PatternPart::Name(wanted) if name_pattern::matches(wanted, name)),
        )
    }
}

/// How deep folders are looked into below the one in which a pattern begins.
const DEEPEST: usize = 32;
