//! [`GuardedNames`]: the names that may not come into being, as an order lists them.
//!
//! Most names are named by no entry, which [`GuardedNames::mentions`] finds out without looking at a path. What
//! it mentions has to be compared as a whole path: [`GuardedNames::judge`].

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

/// One entry, in parts.
struct NameEntry<'a> {
    base: &'a [u8],
    pattern: &'a [u8],
    flags: u32,
}

impl<'a> GuardedNames<'a> {
    /// Whether any entry has a part that matches this name.
    pub(crate) fn mentions(self, name: &[u8]) -> bool {
        self.entries().any(|(_, entry)| {
            let mut parts = entry.pattern.split(|byte| *byte == b'/');
            parts.any(|part| glob_matches(part, name))
        })
    }

    /// What becomes of an absolute path. The first entry that speaks of it decides.
    pub(crate) fn judge(self, path: &[u8]) -> NameVerdict {
        let mut above = NameVerdict::Free;
        for (number, entry) in self.entries() {
            match entry.compare(path) {
                Comparison::Equal if entry.is_free() => return NameVerdict::Free,
                Comparison::Equal => return NameVerdict::Guarded(number),
                Comparison::Above if above == NameVerdict::Free && !entry.is_free() => {
                    above = NameVerdict::Above(number);
                }
                Comparison::Above | Comparison::Other => {}
            }
        }
        above
    }

    /// What would have to be below a directory at this path for an entry to speak of it: the rest of each
    /// pattern. Stops when `found` says so.
    pub(crate) fn below(self, path: &[u8], mut found: impl FnMut(&[u8]) -> bool) -> Option<u32> {
        self.entries().find_map(|(number, entry)| {
            let is_found = !entry.is_free() && entry.each_rest(path, &mut found);
            is_found.then_some(number)
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
                    flags: packed.flags,
                },
            ))
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    /// The path is one above what the pattern names.
    Above,
    Other,
}

impl NameEntry<'_> {
    fn is_free(&self) -> bool {
        self.flags & order::NAME_FREE != 0
    }

    fn compare(&self, path: &[u8]) -> Comparison {
        let Some(rest) = below(self.base, path) else {
            return Comparison::Other;
        };
        let mut all = Comparison::Other;
        for tail in self.tails(rest) {
            match compare_parts(self.pattern, tail) {
                (true, None, None) => return Comparison::Equal,
                // What is below something free is free.
                (true, None, Some(_)) if self.is_free() => return Comparison::Equal,
                (true, Some(_), None) => all = Comparison::Above,
                _ => {}
            }
        }
        all
    }

    fn each_rest(&self, path: &[u8], found: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let Some(rest) = below(self.base, path) else {
            return false;
        };
        self.tails(rest)
            .any(|tail| match compare_parts(self.pattern, tail) {
                (true, Some(more), None) => found(more),
                _ => false,
            })
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
) -> (bool, Option<&'a [u8]>, Option<&'a [u8]>) {
    let (mut pattern, mut path) = (Some(pattern), Some(path));
    while let (Some(globs), Some(names)) = (pattern, path) {
        let ((glob, more_globs), (name, more_names)) = (first(globs), first(names));
        if !glob_matches(glob, name) {
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
