//! Files and programs that a line says could not be had.

use super::{LONGEST_NAME, LineInContext, MissingWish, WantedAccess, quoted};

/// What a line names, if it says that a file could not be had. `lower` is the line in small letters.
pub(super) fn named(lines: &LineInContext<'_>, lower: &str) -> Option<Vec<MissingWish>> {
    let line = lines.line();
    let (reason, at, wanted) = reason(lower)?;
    let wanted = wanted_of(lower, wanted);
    let quoted = quoted(line);
    if let [from, to] = quoted[..]
        && MOVES.iter().any(|verb| lower.contains(verb))
    {
        let both = [
            one(from, WantedAccess::Removed),
            one(to, WantedAccess::Changed),
        ];
        return Some(both.into_iter().flatten().collect());
    }
    // Letters of ASCII have the same length in both cases, so that places in one text are places in the other.
    let (before, after) = (&line[..at], &line[at + reason.len()..]);
    let mut candidates = Vec::new();
    candidates.extend(quoted.iter().rev().copied());
    if candidates.is_empty() {
        candidates.extend(of_segments(before));
    }
    candidates.extend(behind(after, reason));
    let candidates = kept(candidates);
    let mut wishes = Vec::new();
    if !candidates.iter().any(|one| one.contains(['/', '.'])) {
        wishes.extend(above(lines, wanted));
    }
    if !candidates.is_empty() {
        wishes.push(MissingWish::File { candidates, wanted });
    }
    Some(wishes)
}

/// `failed to open: /x`, and below it `Permission denied (os error 13)`.
fn above(lines: &LineInContext<'_>, wanted: WantedAccess) -> Option<MissingWish> {
    lines.before().find_map(|line| {
        let behind_colon = line.rsplit_once(": ").map(|(_, path)| path.trim());
        let quoted = quoted(line).into_iter().filter(|one| one.contains('/'));
        let path = behind_colon.filter(|path| path.starts_with('/'));
        let candidates = kept(quoted.chain(path).collect());
        let wanted = wanted_of(&line.to_ascii_lowercase(), wanted);
        (!candidates.is_empty()).then_some(MissingWish::File { candidates, wanted })
    })
}

fn one(name: &str, wanted: WantedAccess) -> Option<MissingWish> {
    let candidates = kept(vec![name]);
    (!candidates.is_empty()).then_some(MissingWish::File { candidates, wanted })
}

/// The reason that a line gives, where it stands in the line, and what it says about the file.
fn reason(lower: &str) -> Option<(&'static str, usize, WantedAccess)> {
    for (reason, wanted) in REASONS {
        if let Some(at) = lower.find(reason) {
            return Some((reason, at, wanted));
        }
    }
    // Shells: `sh: 1: cargo: not found`.
    let at = lower.trim_end().strip_suffix(": not found")?.len();
    Some((": not found", at, WantedAccess::Found))
}

/// What a verb of the line adds to the reason.
fn wanted_of(lower: &str, wanted: WantedAccess) -> WantedAccess {
    let has = |verbs: &[&str]| verbs.iter().any(|verb| lower.contains(verb));
    if has(&REMOVES) {
        WantedAccess::Removed
    } else if has(&CHANGES) {
        WantedAccess::Changed
    } else {
        wanted
    }
}

/// The last parts of a text between colons, the last first: each as a whole, and its last word.
fn of_segments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let text = text.trim_end_matches([' ', ':', ',', '(']);
    for segment in text.rsplit(": ").take(SEGMENTS) {
        let segment = segment.trim();
        let last = segment.rsplit(char::is_whitespace).next();
        let is_one_word = last == Some(segment);
        if !is_one_word && (segment.starts_with('/') || segment.starts_with("./")) {
            // A name with blanks in it.
            found.push(segment);
        }
        found.extend(last);
    }
    found
}

/// What stands right behind the reason: `command not found: cargo`.
fn behind<'t>(after: &'t str, reason: &str) -> Option<&'t str> {
    let is_named = reason.ends_with(" at");
    let rest = match is_named {
        true => after,
        false => after.strip_prefix(':')?,
    };
    rest.split_whitespace().next()
}

/// Those that can be names, without what surrounds them; each once.
fn kept(candidates: Vec<&str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in candidates {
        let one = one.trim_matches(|c: char| "()[]<>,;\"'`".contains(c) || c.is_whitespace());
        let one = one.trim_end_matches(['.', ':']);
        let one = one.strip_prefix("unix://").unwrap_or(one);
        let one = one.strip_prefix("file://").unwrap_or(one);
        let is_name = !one.is_empty()
            && one.len() <= LONGEST_NAME
            && !one.contains("://")
            && !one.contains(['\0', '\n', '\t'])
            && one.contains(|c: char| c.is_alphanumeric());
        if is_name && !kept.iter().any(|known| known == one) {
            kept.push(one.to_owned());
        }
    }
    kept.truncate(MOST_CANDIDATES);
    kept
}

/// What programs say when they are refused a file, the surest first.
const REASONS: [(&str, WantedAccess); 18] = [
    ("read-only file system", WantedAccess::Changed),
    ("erofs", WantedAccess::Changed),
    ("directory nonexistent", WantedAccess::Changed),
    ("permission denied", WantedAccess::Something),
    ("operation not permitted", WantedAccess::Something),
    ("eacces", WantedAccess::Something),
    ("eperm", WantedAccess::Something),
    ("permissionerror", WantedAccess::Something),
    ("no such file or directory", WantedAccess::Found),
    ("no such file", WantedAccess::Found),
    ("enoent", WantedAccess::Found),
    ("command not found", WantedAccess::Found),
    ("executable file not found", WantedAccess::Found),
    ("unknown command", WantedAccess::Found),
    ("filenotfounderror", WantedAccess::Found),
    ("does not exist", WantedAccess::Found),
    (
        "cannot connect to the docker daemon at",
        WantedAccess::Found,
    ),
    ("nosuchfileexception", WantedAccess::Found),
];

/// What tells that something was to be made or changed.
const CHANGES: [&str; 19] = [
    "cannot create",
    "can't create",
    "could not create",
    "couldn't create",
    "failed to create",
    "unable to create",
    "cannot make",
    "cannot touch",
    "cannot write",
    "could not write",
    "failed to write",
    "unable to write",
    "could not lock",
    "unable to lock",
    "cannot overwrite",
    "for writing",
    "mkdir",
    "mkdtemp",
    "copyfile",
];

/// What tells that something was to be removed.
const REMOVES: [&str; 7] = [
    "cannot remove",
    "could not remove",
    "failed to remove",
    "unable to remove",
    "unlink",
    "rmdir",
    "cannot unlink",
];

/// What tells that one thing was to become another.
const MOVES: [&str; 5] = [
    "cannot move",
    "rename",
    " -> ",
    "failed to move",
    "could not move",
];

/// How many parts of a line, from the reason backwards, may hold the name.
const SEGMENTS: usize = 3;

/// How many names of one line are looked at.
const MOST_CANDIDATES: usize = 6;
