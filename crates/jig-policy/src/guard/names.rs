//! How names are compared with the patterns of guards: without case, as the loosest file system would.
//!
//! Disks differ: some ignore case, some ignore characters that nobody sees, some drop a dot or space at the end, and
//! one directory may differ from the next. So a guard holds for every spelling that *some* file system takes for its
//! name. Nobody honest has `.VSCode` beside `.vscode`, so that costs nothing.

use std::borrow::Cow;

use jig_proto::ProjectPath;

/// A path as it is compared: folded only if it holds something else than ASCII. It keeps its components.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().filter(|character| !is_ignored(*character)) {
        match character {
            'ſ' => folded.push('s'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            'ﬀ' => folded.push_str("ff"),
            'ﬁ' => folded.push_str("fi"),
            'ﬂ' => folded.push_str("fl"),
            'ﬃ' => folded.push_str("ffi"),
            'ﬄ' => folded.push_str("ffl"),
            'ﬅ' | 'ﬆ' => folded.push_str("st"),
            other => folded.extend(other.to_lowercase()),
        }
    }
    Cow::Owned(folded)
}

/// Characters that file systems with case folding leave out of names (`Default_Ignorable_Code_Point`).
fn is_ignored(character: char) -> bool {
    matches!(
        u32::from(character),
        0xAD | 0x34F
            | 0x61C
            | 0x115F..=0x1160
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x206F
            | 0x3164
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xFFA0
            | 0xFFF0..=0xFFF8
            | 0xE0000..=0xE0FFF
    )
}

/// Whether a component of a [folded] path is of a pattern; `*` stands for any run of characters.
pub(crate) fn name_matches(glob: &str, name: &str) -> bool {
    let name = without_tail(name);
    let Some((head, tail)) = glob.split_once('*') else {
        return glob.eq_ignore_ascii_case(name);
    };
    let Some(mut rest) = after(name.as_bytes(), head.as_bytes()) else {
        return false;
    };
    let mut parts = tail.split('*').map(str::as_bytes).peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            let start = rest.len().checked_sub(part.len());
            return start.is_some_and(|start| rest[start..].eq_ignore_ascii_case(part));
        }
        let mut places = 0..=rest.len();
        match places.find_map(|place| after(&rest[place..], part)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

/// A name without the dots and spaces at its end that file systems of Windows drop.
fn without_tail(name: &str) -> &str {
    match name.as_bytes().last() {
        Some(b'.' | b' ') => name.trim_end_matches(['.', ' ']),
        _ => name,
    }
}

fn after<'a>(text: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

/// A pattern by components.
#[derive(Debug, Clone)]
pub(crate) struct NamePattern {
    pub(crate) components: Vec<String>,
    /// Whether it holds only at the root.
    pub(crate) anchored: bool,
}

impl NamePattern {
    /// A pattern whose parts are components. One that begins with `/` is anchored.
    pub(crate) fn of(text: &str) -> Self {
        let body = text.trim_start_matches('/');
        Self {
            components: body
                .split('/')
                .map(|name| without_tail(&folded(name)).to_owned())
                .collect(),
            anchored: body.len() < text.len(),
        }
    }

    /// Whether the components at the start of `rest` are of the pattern. `above` is how many come before.
    pub(crate) fn matches_start(&self, rest: &str, above: usize) -> bool {
        if self.anchored && above > 0 {
            return false;
        }
        let mut names = rest.split('/');
        self.components
            .iter()
            .all(|glob| names.next().is_some_and(|name| name_matches(glob, name)))
    }

    /// What of the pattern would lie below the folded path with these names, once for each way to see it.
    pub(crate) fn below<'p>(&'p self, names: &[&str]) -> impl Iterator<Item = &'p [String]> {
        let longest = self.components.len().min(names.len() + 1);
        let found = (1..longest).filter(|count| {
            let (above, tail) = (&self.components[..*count], &names[names.len() - count..]);
            let mut pairs = above.iter().zip(tail);
            pairs.all(|(glob, name)| name_matches(glob, name))
                && (!self.anchored || *count == names.len())
        });
        let found: Vec<usize> = found.collect();
        found.into_iter().map(|count| &self.components[count..])
    }

    /// The path of the pattern at the root, if it is one.
    pub(crate) fn path(&self) -> Option<ProjectPath> {
        let is_literal = !self.components.iter().any(|name| name.contains('*'));
        let path = is_literal.then(|| ProjectPath::normalize(&self.components.join("/")));
        path.and_then(Result::ok)
    }

    /// Under which number of [`NameIndex`] a name is looked for that the pattern may begin with; `None` for all.
    fn key(&self) -> Option<usize> {
        let first = self.components.first()?;
        let literal = first.split('*').next().unwrap_or_default();
        match literal.as_bytes() {
            [b'.', second, ..] => Some(key(b'.', *second)),
            [b'.'] | [] => None,
            [first, ..] => Some(key(*first, 0)),
        }
    }
}

/// Which patterns a name may begin, so that most names are passed over at once.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    by_key: Vec<Vec<u8>>,
    /// Those that begin with `*`.
    open: Vec<u8>,
}

impl NameIndex {
    pub(crate) fn of(patterns: &[NamePattern]) -> Self {
        let mut index = Self {
            by_key: vec![Vec::new(); 512],
            open: Vec::new(),
        };
        for (number, pattern) in (0_u8..).zip(patterns) {
            match pattern.key() {
                Some(key) => index.by_key[key].push(number),
                None => index.open.push(number),
            }
        }
        index
    }

    /// The patterns that a folded name may begin.
    #[inline]
    pub(crate) fn of_name(&self, name: &str) -> impl Iterator<Item = u8> + '_ {
        let bytes = name.as_bytes();
        let first = bytes.first().copied().unwrap_or_default();
        let second = bytes.get(1).copied().unwrap_or_default();
        let keyed = self
            .by_key
            .get(key(first, second))
            .map_or(&[][..], |keyed| keyed);
        keyed.iter().chain(&self.open).copied()
    }
}

fn key(first: u8, second: u8) -> usize {
    match first {
        b'.' => 256 + usize::from(second.to_ascii_lowercase()),
        other => usize::from(other.to_ascii_lowercase()),
    }
}

/// The components of a path; none of the root.
pub(crate) fn components(path: &str) -> Vec<&str> {
    match path.is_empty() {
        true => Vec::new(),
        false => path.split('/').collect(),
    }
}

/// The components of a path with what begins at each, and how many come before.
pub(crate) fn starts(path: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = (!path.is_empty()).then_some(path);
    let mut above = 0;
    std::iter::from_fn(move || {
        let here = rest?;
        rest = here.find('/').map(|slash| &here[slash + 1..]);
        above += 1;
        Some((above - 1, here))
    })
}

#[cfg(test)]
mod tests;
