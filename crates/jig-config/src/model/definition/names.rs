//! Names for the tools of servers: valid, unique, and the same in whatever order a server lists its tools.

use std::collections::{HashMap, HashSet};

use crate::model::ToolName;

/// A tool that needs a name.
#[derive(Debug)]
pub(super) struct UnnamedTool<'a> {
    /// The place of its server in the configuration.
    pub(super) rank: usize,
    /// Its server.
    pub(super) server: &'a str,
    /// What its name begins with.
    pub(super) prefix: &'a str,
    /// Its name there.
    pub(super) tool: &'a str,
}

/// A name for each of `wanted`, in their order, none of them `taken`. No two have both server and tool in
/// common.
///
/// A tool has its prefix and its own name, where that is a name and nobody else's. Of several that come to the
/// same name, the one of the first server that spells it so has it; all others get a part of their hash behind
/// their name, and more of it until all differ. So no server takes the name of another's tool by a look-alike, and
/// a name depends on what there is, not on its order.
///
/// `None` only for a tool whose every name is taken.
pub(super) fn names(
    wanted: &[UnnamedTool<'_>],
    taken: impl Fn(&str) -> bool,
) -> Vec<Option<ToolName>> {
    let mut choices: Vec<NameChoice> = wanted.iter().map(NameChoice::new).collect();
    loop {
        let mut groups: HashMap<String, Vec<usize>> = HashMap::with_capacity(choices.len());
        for (index, choice) in choices.iter().enumerate() {
            groups.entry(choice.name()).or_default().push(index);
        }
        let mut losers: HashSet<usize> = HashSet::new();
        for (name, group) in &groups {
            let keeps = match group.as_slice() {
                _ if taken(name) => None,
                [one] => Some(*one),
                many => owner(many, &choices, wanted),
            };
            losers.extend(group.iter().filter(|index| Some(**index) != keeps));
        }
        // A name that is fine as it is stays out of what others have to sort out among themselves.
        let mut moved = false;
        for index in losers {
            moved |= choices[index].lengthen();
        }
        if !moved {
            break;
        }
    }
    let mut used: HashSet<String> = HashSet::with_capacity(choices.len());
    let name = |choice: &NameChoice| {
        let name = choice.name();
        let free = !taken(&name) && used.insert(name.clone());
        ToolName::new(name).ok().filter(|_| free)
    };
    choices.iter().map(name).collect()
}

/// Who of several may keep the name that they all have: the first server's, if it spells it so.
fn owner(group: &[usize], choices: &[NameChoice], wanted: &[UnnamedTool<'_>]) -> Option<usize> {
    let exact = group.iter().filter(|index| choices[**index].is_exact());
    exact.copied().min_by_key(|index| wanted[*index].rank)
}

/// How one tool is to be named.
#[derive(Debug)]
struct NameChoice {
    /// Prefix and name, of characters that a name can have.
    base: String,
    /// Whether nothing had to be changed for it.
    is_plain: bool,
    /// The hash of server and tool, in hexadecimal digits.
    hash: String,
    /// How many digits of the hash stand behind the base.
    digits: usize,
}

impl NameChoice {
    fn new(wanted: &UnnamedTool<'_>) -> Self {
        let written = wanted.prefix.chars().chain(wanted.tool.chars());
        let base: String = written
            .map(|one| match one {
                one if one.is_ascii_alphanumeric() || "_.-".contains(one) => one,
                _ => '_',
            })
            .collect();
        let is_plain = base
            .chars()
            .eq(wanted.prefix.chars().chain(wanted.tool.chars()));
        let mut hasher = blake3::Hasher::new();
        // No name of a server holds a NUL, so that two pairs never look the same.
        hasher.update(wanted.server.as_bytes());
        hasher.update(b"\0");
        hasher.update(wanted.tool.as_bytes());
        let is_name = (1..=ToolName::MAX_LENGTH).contains(&base.len());
        Self {
            is_plain: is_plain && is_name,
            digits: if is_name { 0 } else { FEWEST_DIGITS },
            hash: hasher.finalize().to_hex().to_string(),
            base,
        }
    }

    fn name(&self) -> String {
        if self.digits == 0 {
            return self.base.clone();
        }
        let most = ToolName::MAX_LENGTH - self.digits - 1;
        // All characters are ASCII, so that any length is a boundary.
        let base = &self.base[..self.base.len().min(most)];
        format!("{base}_{}", &self.hash[..self.digits])
    }

    fn is_exact(&self) -> bool {
        self.is_plain && self.digits == 0
    }

    /// Takes more of the hash; returns whether there was more.
    fn lengthen(&mut self) -> bool {
        let longer = match self.digits {
            0 => FEWEST_DIGITS,
            digits => (digits * 2).min(MOST_DIGITS),
        };
        let moved = longer != self.digits;
        self.digits = longer;
        moved
    }
}

/// Enough to tell tools apart that nobody made to look alike.
const FEWEST_DIGITS: usize = 6;

/// As many as a name can hold: nobody finds two tools that share them.
const MOST_DIGITS: usize = ToolName::MAX_LENGTH - 1;

#[cfg(test)]
mod tests;
