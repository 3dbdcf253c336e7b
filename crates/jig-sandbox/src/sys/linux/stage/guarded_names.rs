//! [`GuardedNames`]: the names that may not come into being, as an order lists them.
//!
//! [`GuardedNames::judge`] compares a whole path with each entry. [`GuardedNames::mentions`] says of a name alone
//! whether it takes part in an entry, so that it may complete one together with other names.

use core::ffi::CStr;

use super::folded_path::FoldedPath;
use super::order::{self, OrderBlock, PackedName};

/// The list of an order.
#[derive(Clone, Copy)]
pub(crate) struct GuardedNames<'a>(pub(crate) &'a OrderBlock);

/// What the list says about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameVerdict {
    /// It may come into being.
    Free,
    /// It may not, by the entry with this number.
    Guarded(u32),
    /// It may, as a directory: below it lies what the entry with this number guards.
    Above(u32),
}

/// A path to be judged: as it is, and as it is compared.
struct JudgedPath<'p> {
    whole: &'p [u8],
    folded: &'p [u8],
}

/// One entry, in parts.
struct NameEntry<'a> {
    base: &'a [u8],
    pattern: &'a [u8],
    /// The name of directories below which it does not hold; empty for none.
    not_below: &'a [u8],
    flags: u32,
}

impl<'a> GuardedNames<'a> {
    /// Whether any entry has a part that matches this name. A part that matches every name is left out: what completes
    /// such an entry is the name before it, or the move of a directory.
    pub(crate) fn mentions(self, name: &[u8]) -> bool {
        let folded = FoldedPath::of(name);
        let name = folded.text();
        self.entries().any(|(_, entry)| {
            let mut parts = entry.pattern.split(|byte| *byte == b'/');
            parts.any(|part| part != b"*" && glob_matches(part, name))
                || entry.is_bare() && is_of_repository(name)
        })
    }

    /// What becomes of an absolute path. The first entry that speaks of it decides. `has` says whether something of a
    /// name stands beside it.
    pub(crate) fn judge(self, path: &[u8], has: impl Fn(&CStr) -> bool) -> NameVerdict {
        let folded = FoldedPath::of(path);
        let path = JudgedPath::new(path, &folded);
        let mut above = NameVerdict::Free;
        for (number, entry) in self.entries() {
            match entry.compare(&path, &has) {
                PathComparison::Equal if entry.is_free() => return NameVerdict::Free,
                PathComparison::Equal => return NameVerdict::Guarded(number),
                PathComparison::Above if above == NameVerdict::Free && !entry.is_free() => {
                    above = NameVerdict::Above(number);
                }
                PathComparison::Above | PathComparison::Other => {}
            }
        }
        above
    }

    /// What would have to be below a directory at this path for an entry to speak of it: the rest of each
    /// pattern. Stops when `found` says so.
    pub(crate) fn below(self, path: &[u8], mut found: impl FnMut(&[u8]) -> bool) -> Option<u32> {
        let folded = FoldedPath::of(path);
        let path = JudgedPath::new(path, &folded);
        self.entries().find_map(|(number, entry)| {
            let is_found = !entry.is_free() && entry.each_rest(&path, &mut found);
            is_found.then_some(number)
        })
    }

    /// Whether a directory may hold what may be below `from` and not below `to`: an entry lets it come into being there.
    /// `found` says whether something stands below `from` at the rest of a path.
    pub(crate) fn is_freer(
        self,
        from: &[u8],
        to: &[u8],
        mut found: impl FnMut(&[u8]) -> bool,
    ) -> bool {
        let folded = [FoldedPath::of(from), FoldedPath::of(to)];
        let from = JudgedPath::new(from, &folded[0]);
        let to = JudgedPath::new(to, &folded[1]);
        self.entries().any(|(_, entry)| {
            entry.is_exempt(&from) && !entry.is_exempt(&to)
                || entry.is_free()
                    && (entry.speaks_of(&from) && !entry.speaks_of(&to)
                        || entry.each_rest(&from, &mut found))
        })
    }

    fn entries(self) -> impl Iterator<Item = (u32, NameEntry<'a>)> {
        let span = self.0.header.names;
        (0..span.count).filter_map(move |number| {
            let packed: PackedName = self.0.item(span, number).ok()?;
            Some((
                number,
                NameEntry {
                    base: self.0.string(packed.base).ok()?.to_bytes(),
                    pattern: self.0.string(packed.pattern).ok()?.to_bytes(),
                    not_below: self.0.string(packed.not_below).ok()?.to_bytes(),
                    flags: packed.flags,
                },
            ))
        })
    }
}

impl<'p> JudgedPath<'p> {
    fn new(whole: &'p [u8], folded: &'p FoldedPath) -> Self {
        Self {
            whole,
            folded: folded.text(),
        }
    }

    /// The part below a directory, folded or not; `None` if it is not below it.
    fn below(&self, base: &[u8], is_folded: bool) -> Option<&'p [u8]> {
        let rest = below(base, self.whole)?;
        if !is_folded {
            return Some(rest);
        }
        // Folding keeps the parts.
        let parts = rest.iter().filter(|byte| **byte == b'/').count();
        let mut slashes = (0..self.folded.len()).rev();
        let mut slashes = slashes.by_ref().filter(|at| self.folded[*at] == b'/');
        slashes.nth(parts).and_then(|at| self.folded.get(at + 1..))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathComparison {
    Equal,
    /// The path is one above what the pattern names.
    Above,
    Other,
}

impl NameEntry<'_> {
    fn is_free(&self) -> bool {
        self.flags & order::NAME_FREE != 0
    }

    fn is_bare(&self) -> bool {
        self.flags & order::NAME_BARE != 0
    }

    /// What is compared with the pattern. What is free is meant to the letter.
    fn rest<'p>(&self, path: &JudgedPath<'p>) -> Option<&'p [u8]> {
        path.below(self.base, !self.is_free())
    }

    /// How a part is compared with a name.
    fn matcher(&self) -> fn(&[u8], &[u8]) -> bool {
        match self.is_free() {
            true => |part, name| part == name,
            false => glob_matches,
        }
    }

    /// Whether a path is a directory below which the entry does not hold, or lies in one.
    fn is_exempt(&self, path: &JudgedPath<'_>) -> bool {
        let rest = self.rest(path);
        !self.not_below.is_empty() && rest.is_some_and(|rest| has_part(rest, self.not_below))
    }

    fn speaks_of(&self, path: &JudgedPath<'_>) -> bool {
        self.compare(path, &|_: &CStr| false) == PathComparison::Equal
    }

    fn compare(&self, path: &JudgedPath<'_>, has: &impl Fn(&CStr) -> bool) -> PathComparison {
        let Some(rest) = self.rest(path) else {
            return PathComparison::Other;
        };
        if self.is_bare() {
            let (above, name) = last(rest);
            return match is_of_repository(name)
                && !is_kept_by_git(above)
                && completes_repository(name, has)
            {
                true => PathComparison::Equal,
                false => PathComparison::Other,
            };
        }
        let only_itself = self.flags & order::NAME_ITSELF != 0;
        let mut found = PathComparison::Other;
        for tail in self.tails(rest) {
            let one = match compare_parts(self.pattern, tail, self.matcher()) {
                (true, None, None) => PathComparison::Equal,
                // What is below it is what it is itself.
                (true, None, Some(_)) if !only_itself => PathComparison::Equal,
                (true, Some(_), None) => PathComparison::Above,
                _ => continue,
            };
            let above = rest.get(..rest.len() - tail.len()).unwrap_or_default();
            if self.not_below.is_empty() || !has_part(above, self.not_below) {
                found = one;
            }
            if found == PathComparison::Equal {
                break;
            }
        }
        found
    }

    fn each_rest(&self, path: &JudgedPath<'_>, found: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let Some(rest) = self.rest(path).filter(|_| !self.is_bare()) else {
            return false;
        };
        self.tails(rest).any(
            |tail| match compare_parts(self.pattern, tail, self.matcher()) {
                (true, Some(more), None) => found(more),
                _ => false,
            },
        )
    }

    /// The path, and if the pattern counts at any depth, what is left of it without its first parts.
    fn tails<'p>(&self, path: &'p [u8]) -> impl Iterator<Item = &'p [u8]> + use<'p> {
        let any_depth = self.flags & order::NAME_AT_ANY_DEPTH != 0;
        let mut next = Some(path);
        core::iter::from_fn(move || {
            let tail = next?;
            let slash = tail.iter().position(|byte| *byte == b'/');
            next = slash.filter(|_| any_depth).map(|at| &tail[at + 1..]);
            Some(tail)
        })
    }
}

/// What makes a folder a repository of git without being called `.git`, folded.
fn is_of_repository(name: &[u8]) -> bool {
    matches!(name, b"head" | b"objects" | b"refs" | b"commondir")
}

/// Whether a folder becomes a repository if something of this name comes into being in it.
fn completes_repository(name: &[u8], has: &impl Fn(&CStr) -> bool) -> bool {
    let is_one = |with: &[u8]| {
        let is = |folded: &[u8], name: &CStr| folded == with || has(name);
        is(b"head", c"HEAD")
            && (is(b"commondir", c"commondir")
                || (is(b"objects", c"objects") && is(b"refs", c"refs")))
    };
    is_one(name) && !is_one(b"")
}

/// Whether git keeps repositories in a folder by itself: a `.git`, and in there those of worktrees and submodules.
fn is_kept_by_git(folder: &[u8]) -> bool {
    let mut names = folder.split(|byte| *byte == b'/');
    names.any(|name| name == b".git")
        && matches!(names.next(), None | Some(b"worktrees" | b"modules"))
}

/// Whether a path has this part, which is folded, as the path is.
fn has_part(path: &[u8], wanted: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == wanted)
}

/// What is above the last part, and that.
fn last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The part of a path below a directory; `None` if it is not below it.
fn below<'p>(base: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    match base {
        b"/" => path.strip_prefix(b"/"),
        base => path.strip_prefix(base)?.strip_prefix(b"/"),
    }
}

/// Compares as many parts as both have: whether they match, and what is left of each.
fn compare_parts<'a>(
    pattern: &'a [u8],
    path: &'a [u8],
    matches: fn(&[u8], &[u8]) -> bool,
) -> (bool, Option<&'a [u8]>, Option<&'a [u8]>) {
    let (mut pattern, mut path) = (Some(pattern), Some(path));
    while let (Some(globs), Some(names)) = (pattern, path) {
        let ((glob, more_globs), (name, more_names)) = (first(globs), first(names));
        if !matches(glob, name) {
            return (false, None, None);
        }
        (pattern, path) = (more_globs, more_names);
    }
    (true, pattern, path)
}

/// The first part, and the rest if there is one.
fn first(parts: &[u8]) -> (&[u8], Option<&[u8]>) {
    match parts.iter().position(|byte| *byte == b'/') {
        Some(at) => (&parts[..at], Some(&parts[at + 1..])),
        None => (parts, None),
    }
}

/// Matches one part; `*` stands for any run of bytes.
fn glob_matches(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut star) = ((0, 0), None);
    // The last star takes as little as it can, and one more byte each time that the rest does not fit.
    while at.1 < name.len() {
        match glob.get(at.0) {
            Some(b'*') => {
                star = Some(at);
                at.0 += 1;
            }
            Some(byte) if *byte == name[at.1] => at = (at.0 + 1, at.1 + 1),
            _ => match &mut star {
                Some(back) => {
                    back.1 += 1;
                    at = (back.0 + 1, back.1);
                }
                None => return false,
            },
        }
    }
    glob[at.0..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests;
