//! [`Denial`]: what was refused, and what would allow it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that was refused, told so that whoever reads it knows the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What was wanted, such as `read` or `connect`.
    pub operation: String,
    /// On what: a path, a host, a program, a limit.
    pub target: String,
    /// Why it was refused.
    pub why: String,
    /// The rule that decided, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is granted instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
    /// The smallest rule that would allow it, as TOML that can be pasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A way out that is no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// How often it was refused.
    #[serde(default = "once")]
    pub count: u64,
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
            count: once(),
        }
    }
}

/// A few lines: what and why, the rule, the grants, and the way out.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on `{}`: {}", self.operation, self.target, self.why)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
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

fn once() -> u64 {
    1
}
