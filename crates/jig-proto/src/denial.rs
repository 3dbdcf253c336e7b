//! [`Denial`]: what was refused, and what would allow it.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::FieldError;
use crate::fields::{FieldPath, FromValue, ObjectFields, deserialize_from_value};

#[cfg(test)]
mod tests;

/// Something that was refused, told so that whoever reads it knows the next step.
///
/// On the wire an object of these names; what is empty is absent, and so are a `count` of 1 and a `guessed` that is
/// false. As text it is what people and models are shown.
///
/// It is told by jig, never by a tool: a tool's word about which rule to add is worth nothing, and reading
/// what a tool says passes such words over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// What was wanted, such as `read` or `connect`.
    pub operation: String,
    /// On what: a path, a host, a program, a limit.
    pub target: String,
    /// Why it was refused.
    pub why: String,
    /// The rule that decided, with its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is granted instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
    /// The smallest rule that would allow it, as TOML that can be pasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A way out that is no rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// How often it was refused.
    #[serde(skip_serializing_if = "is_once")]
    pub count: u64,
    /// Whether nobody saw it: the program's own words name the target, and it is not given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guessed: bool,
}

impl Denial {
    /// A denial of which nothing else is known.
    pub fn new(
        operation: impl Into<String>,
        target: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self {
            operation: operation.into(),
            target: target.into(),
            why: why.into(),
            rule: None,
            grants: Vec::new(),
            hint: None,
            advice: None,
            count: 1,
            guessed: false,
        }
    }

    /// Whether both tell of the same: they differ in nothing but how often it was, and how it is known.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.operation, &self.target, &self.why) == (&other.operation, &other.target, &other.why)
            && (&self.rule, &self.hint, &self.advice) == (&other.rule, &other.hint, &other.advice)
            && self.grants == other.grants
    }

    /// The denial with texts of bounded length. A program chooses the paths and hosts that it asks for, and
    /// could otherwise make a result of any size.
    ///
    /// A rule that is too long is left out as a whole: half of it would be another rule.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let texts = [
            Some(&mut self.operation),
            Some(&mut self.target),
            Some(&mut self.why),
            self.rule.as_mut(),
            self.advice.as_mut(),
        ];
        let texts = texts.into_iter().flatten().chain(&mut self.grants);
        for text in texts {
            if text.len() > Self::MAX_TEXT {
                text.truncate(text.floor_char_boundary(Self::MAX_TEXT));
                text.push('…');
            }
        }
        self.grants.truncate(Self::MAX_GRANTS);
        self.hint = self.hint.filter(|hint| hint.len() <= Self::MAX_HINT);
        self
    }

    /// What marks a denial that is guessed.
    pub const GUESSED: &str = "a guess, from the program's own words";

    /// The longest text, in bytes, before it is cut by [`Denial::bounded`].
    pub const MAX_TEXT: usize = 1024;

    /// The longest rule, in bytes, that [`Denial::bounded`] keeps.
    pub const MAX_HINT: usize = 8 * 1024;

    /// The most grants that [`Denial::bounded`] keeps.
    pub const MAX_GRANTS: usize = 10;
}

/// A few lines: what and why, the rule, the grants, and the way out.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on `{}`: {}", self.operation, self.target, self.why)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        if self.guessed {
            write!(f, " ({})", Self::GUESSED)?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "\n  rule: {rule}")?;
        }
        if !self.grants.is_empty() {
            write!(f, "\n  granted: {}", self.grants.join(", "))?;
        }
        if let Some(advice) = &self.advice {
            write!(f, "\n  {advice}")?;
        }
        if let Some(hint) = &self.hint {
            f.write_str("\n  to allow it, add:")?;
            for line in hint.trim_end().lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

impl FromValue for Denial {
    fn from_value(value: Value, at: FieldPath<'_>) -> Result<Self, FieldError> {
        let expected = "an object with `operation`, `target` and `why`";
        let mut fields = ObjectFields::open(value, at, expected)?;
        Ok(Self {
            operation: fields.required("operation", "a string")?,
            target: fields.required("target", "a string")?,
            why: fields.required("why", "a string")?,
            rule: fields.optional("rule")?,
            grants: fields.or_default("grants")?,
            hint: fields.optional("hint")?,
            advice: fields.optional("advice")?,
            count: fields.optional("count")?.unwrap_or(1),
            guessed: fields.optional("guessed")?.unwrap_or(false),
        })
    }
}

deserialize_from_value!(Denial);

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the derived code passes a reference"
)]
fn is_once(count: &u64) -> bool {
    *count == 1
}
