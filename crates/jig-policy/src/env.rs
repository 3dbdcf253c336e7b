//! Rules on variables of the host's environment, compiled.

use std::fmt;

use crate::decision::{Decision, Reason, Rule};
use crate::index::{Index, IndexEntry, IndexHit, Levels, SEED, absorb_byte, finish};
use crate::policy::{RuleError, RuleErrorKind, RuleKind};
use crate::rules::{DeclaredEnvRule, RuleOrigin};

/// What is wanted of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EnvUse {
    /// The tool gets the value.
    Read,
    /// The host puts the value into a request header; the tool never sees it.
    Header,
}

/// A rule with its name taken apart.
#[derive(Debug, Clone)]
pub struct CompiledEnvRule {
    pub(crate) declared: DeclaredEnvRule,
    is_prefix: bool,
}

impl CompiledEnvRule {
    /// The name, or the prefix without its `*`.
    pub fn literal(&self) -> &str {
        let name = self.declared.name.as_str();
        if self.is_prefix {
            &name[..name.len() - 1]
        } else {
            name
        }
    }

    /// Whether every name that begins with the literal matches.
    pub fn is_prefix(&self) -> bool {
        self.is_prefix
    }

    /// Where it was declared.
    pub fn origin(&self) -> &RuleOrigin {
        &self.declared.origin
    }

    /// The rule as it was declared.
    pub fn declared(&self) -> &DeclaredEnvRule {
        &self.declared
    }

    /// The length of the literal part; at equal length an exact name beats a prefix.
    pub fn specificity(&self) -> (usize, bool) {
        (self.literal().len(), !self.is_prefix)
    }

    /// Whether the rule speaks of `name`.
    pub fn matches(&self, name: &str) -> bool {
        if self.is_prefix {
            name.starts_with(self.literal())
        } else {
            name == self.declared.name
        }
    }

    /// Whether the rule grants `wanted`. What may be read may also be sent in a header.
    pub fn grants(&self, wanted: EnvUse) -> bool {
        grant_bits(&self.declared) & use_bit(wanted) != 0
    }

    fn compile(declared: &DeclaredEnvRule) -> Result<Self, EnvNameError> {
        let is_prefix = declared.name.ends_with('*');
        let literal = declared.name.strip_suffix('*').unwrap_or(&declared.name);
        if literal.contains('*') {
            return Err(EnvNameError::StarInside(declared.name.clone()));
        }
        if !is_prefix || !literal.is_empty() {
            check_name(literal)?;
        }
        Ok(Self {
            declared: declared.clone(),
            is_prefix,
        })
    }

    fn kind(&self) -> u8 {
        if self.is_prefix { PREFIX } else { EXACT }
    }

    fn hash(&self) -> u64 {
        let state = self.literal().bytes().fold(SEED, absorb_byte);
        finish(state ^ u64::from(self.kind()))
    }

    fn key(&self) -> Vec<u8> {
        let mut key = vec![self.kind()];
        key.extend(self.literal().as_bytes());
        key
    }
}

impl fmt::Display for CompiledEnvRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant = match (self.declared.read, self.declared.header) {
            (true, _) => "read",
            (false, true) => "use in headers",
            (false, false) => "nothing",
        };
        write!(f, "{grant} on `{}`", self.declared.name)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct EnvTable {
    rules: Vec<CompiledEnvRule>,
    index: Index,
    prefix_lengths: Levels,
}

impl EnvTable {
    pub(crate) fn compile(declared: &[DeclaredEnvRule], errors: &mut Vec<RuleError>) -> Self {
        let mut rules = Vec::with_capacity(declared.len());
        for (index, rule) in declared.iter().enumerate() {
            match CompiledEnvRule::compile(rule) {
                Ok(compiled) => rules.push(compiled),
                Err(error) => errors.push(RuleError {
                    resource: RuleKind::Env,
                    index,
                    origin: rule.origin.clone(),
                    kind: RuleErrorKind::Env(error),
                }),
            }
        }
        let mut prefix_lengths = Levels::default();
        let index = Index::build((0_u32..).zip(&rules).map(|(value, rule)| {
            if rule.is_prefix {
                prefix_lengths.insert(rule.literal().len());
            }
            IndexEntry {
                hash: rule.hash(),
                key: rule.key(),
                value,
                bits: grant_bits(&rule.declared),
            }
        }));
        Self {
            rules,
            index,
            prefix_lengths,
        }
    }

    pub(crate) fn rules(&self) -> &[CompiledEnvRule] {
        &self.rules
    }

    pub(crate) fn decide(&self, wanted: EnvUse, name: &str) -> Decision<'_> {
        if self.rules.is_empty() {
            return Decision::uncovered(Reason::DefaultWithholds(RuleKind::Env), None);
        }
        let Some(hit) = self.winner(name) else {
            return Decision::uncovered(Reason::NoRule, None);
        };
        let Some(rule) = self.rules.get(hit.value as usize) else {
            return Decision::deny(Reason::Withheld, None);
        };
        if hit.bits & use_bit(wanted) == 0 {
            return Decision::deny(Reason::Withheld, Some(Rule::Env(rule)));
        }
        // In a header the value runs nothing.
        if rule.is_prefix
            && wanted == EnvUse::Read
            && let Some(does) = crate::loader_variables::loader(name)
        {
            return Decision::uncovered(Reason::ExactNameOnly(does), Some(Rule::Env(rule)));
        }
        Decision::allow(Rule::Env(rule))
    }

    fn winner(&self, name: &str) -> Option<IndexHit> {
        let bytes = name.as_bytes();
        let mut longest = None;
        let mut state = SEED;
        for length in 0..=bytes.len() {
            if length > 0 {
                state = absorb_byte(state, bytes[length - 1]);
            }
            if self.prefix_lengths.may_hold(length) {
                let found = self.find(state, PREFIX, &bytes[..length]);
                longest = found.or(longest);
            }
        }
        // The whole name is as long as any prefix can be, and exact beats prefix.
        self.find(state, EXACT, bytes).or(longest)
    }

    fn find(&self, state: u64, kind: u8, literal: &[u8]) -> Option<IndexHit> {
        let hash = finish(state ^ u64::from(kind));
        let is_it = |key: &[u8]| key.strip_prefix(&[kind]) == Some(literal);
        self.index.find(hash, is_it)
    }
}

fn grant_bits(rule: &DeclaredEnvRule) -> u8 {
    // What may be read may also be sent in a header.
    match (rule.read, rule.header) {
        (true, _) => use_bit(EnvUse::Read) | use_bit(EnvUse::Header),
        (false, true) => use_bit(EnvUse::Header),
        (false, false) => 0,
    }
}

fn use_bit(wanted: EnvUse) -> u8 {
    match wanted {
        EnvUse::Read => 1,
        EnvUse::Header => 2,
    }
}

/// The first byte of a key: an exact name, or a prefix.
const EXACT: u8 = b'=';
const PREFIX: u8 = b'*';

/// Checks that `name` can be the name of a variable.
pub(crate) fn check_name(name: &str) -> Result<(), EnvNameError> {
    if name.is_empty() {
        return Err(EnvNameError::Empty);
    }
    if name.contains(['=', '\0']) {
        return Err(EnvNameError::Invalid(name.replace('\0', "\\0")));
    }
    Ok(())
}

/// Why a text is no name of a variable, or no pattern for one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvNameError {
    /// Nothing there.
    #[error("the name of the variable is empty")]
    Empty,
    /// `=` or NUL.
    #[error("`{0}` cannot be the name of a variable")]
    Invalid(String),
    /// A `*` that is not the last character.
    #[error("`*` may only stand at the end of a name: `{0}`")]
    StarInside(String),
}

#[cfg(test)]
mod tests;
