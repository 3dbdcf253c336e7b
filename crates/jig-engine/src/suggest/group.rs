//! Many paths become few prefixes that a person can read.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Evidence;

/// Where something is done, with who did it. Paths are lists of names; the empty one is the whole.
pub(super) type PathEvidence = BTreeMap<Vec<String>, Evidence>;

/// Where paths may be gathered.
pub(super) struct Grouping<'a> {
    /// More different entries than this of one directory become the directory.
    pub(super) width: usize,
    /// Whether a directory may stand for what is in it. It is asked with the number of its entries that
    /// are used, and of those that are used themselves and not by something in them.
    pub(super) may_be: &'a dyn Fn(&[String], UsedEntries) -> bool,
}

/// How many entries of a directory are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UsedEntries {
    /// All.
    pub(super) all: usize,
    /// Those that are used themselves.
    pub(super) directly: usize,
}

/// Gathers places from the deepest up. A place that lies in another goes with it.
pub(super) fn gathered(mut places: PathEvidence, grouping: &Grouping<'_>) -> PathEvidence {
    let mut above: BTreeSet<(usize, Vec<String>)> = BTreeSet::new();
    for path in places.keys() {
        for depth in 0..path.len() {
            above.insert((depth, path[..depth].to_vec()));
        }
    }
    for (depth, directory) in above.into_iter().rev() {
        let below: Vec<Vec<String>> = places
            .range(directory.clone()..)
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(&directory))
            .filter(|path| path.len() > depth)
            .cloned()
            .collect();
        let entries: BTreeSet<&String> = below.iter().map(|path| &path[depth]).collect();
        let used = UsedEntries {
            all: entries.len(),
            directly: below.iter().filter(|path| path.len() == depth + 1).count(),
        };
        let is_named = places.contains_key(&directory);
        if is_named || used.all > grouping.width && (grouping.may_be)(&directory, used) {
            let mut all = Evidence::default();
            for path in &below {
                if let Some(evidence) = places.remove(path) {
                    all.add(&evidence);
                }
            }
            places.entry(directory).or_default().add(&all);
        }
    }
    places
}

/// Whether a place is one of these, or lies in one.
pub(super) fn covers(places: &PathEvidence, path: &[String]) -> bool {
    (0..=path.len()).any(|depth| places.contains_key(&path[..depth]))
}
