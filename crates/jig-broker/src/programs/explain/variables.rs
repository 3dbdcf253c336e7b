//! Variables that a failed program speaks of, and was not given.
//!
//! Nobody can see a program look for a variable: the whole environment lies in its own memory. But one that
//! fails for the lack of a variable nearly always says its name.

use jig_policy::{EnvTarget, EnvUse, RuleKind};
use jig_proto::Denial;

use crate::broker::{Broker, BrokerCore};
use crate::denial::{self, DenialContext};

impl Broker {
    /// What a failed program was not given of the host's environment, judged by what it said: each variable
    /// that the host has, that the rules withhold, and whose name is a word of `said`.
    ///
    /// A tool can learn in this way whether the host has a variable of a name that it knows, of few names in
    /// one call, and never a value.
    pub fn explain_variables(&self, said: &str) -> Vec<Denial> {
        self.inner.variables_withheld(said)
    }
}

impl BrokerCore {
    fn variables_withheld(&self, said: &str) -> Vec<Denial> {
        let start = said.ceil_char_boundary(said.len().saturating_sub(LOOKED_AT));
        let words = said[start..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut told: Vec<Denial> = Vec::new();
        for word in words.filter(|word| is_name(word)) {
            if told.len() == MAX_VARIABLES {
                break;
            }
            if self.env.get(word).is_none() || told.iter().any(|one| one.target == word) {
                continue;
            }
            told.extend(self.variable_withheld(word));
        }
        told
    }

    fn variable_withheld(&self, name: &str) -> Option<Denial> {
        let target = EnvTarget {
            wanted: EnvUse::Read,
            name: name.to_owned(),
        };
        let refused = self.policy.permit(target).err()?;
        let denial = denial::denial(
            &refused.refusal,
            &DenialContext {
                policy: &self.policy,
                table: &self.table,
                root: self.files.display_root().as_str(),
                resource: RuleKind::Env,
                target: name,
            },
        );
        let why = format!(
            "the host has a variable of this name, but the tool is not given it: {}",
            denial.why
        );
        Some(self.clean(Denial { why, ..denial }))
    }
}

/// Whether a word is the name of a variable and not just a word: in capitals, and not one that every program
/// has a value of its own for.
fn is_name(word: &str) -> bool {
    word.len() >= SHORTEST
        && word.starts_with(|first: char| first.is_ascii_uppercase())
        && !word.contains(|c: char| c.is_ascii_lowercase())
        && !OWN.contains(&word)
        && !word.starts_with("LC_")
}

/// Variables that a confined program has anyway.
const OWN: [&str; 10] = [
    "PATH", "HOME", "USER", "LANG", "TERM", "SHELL", "LOGNAME", "TMPDIR", "OLDPWD", "SHLVL",
];

/// Shorter words in capitals are seldom variables.
const SHORTEST: usize = 4;

/// How much of what a program said is looked at, from its end: what it failed for comes last.
const LOOKED_AT: usize = 16 * 1024;

/// The most variables that are told of one run, so that a tool can't have a list of names checked.
const MAX_VARIABLES: usize = 3;

#[cfg(test)]
mod tests;
