//! [`Outcome`]: what `hostile` said about an attack.

#[cfg(test)]
mod tests;

/// How an attack went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It got what it wanted; what that was.
    Escaped(String),
    /// It was stopped; by what.
    Held(String),
    /// It could not be tried; why.
    Untried(String),
    /// It said nothing: it was killed, or could not run. How it ended.
    Silent(String),
}

impl Outcome {
    /// Reads what a program printed, with the code that it exited with, if it exited by itself.
    ///
    /// Only the last verdict counts, and only if the exit code says the same; any other end is silence.
    /// A program that was killed after it had escaped has escaped.
    pub fn parse(code: Option<i32>, output: &str) -> Self {
        let verdict = output.lines().rev().find_map(|line| {
            let (word, detail) = line.split_once(": ")?;
            let detail = detail.to_owned();
            match word {
                "escaped" => Some(Outcome::Escaped(detail)),
                "held" => Some(Outcome::Held(detail)),
                "untried" => Some(Outcome::Untried(detail)),
                _ => None,
            }
        });
        match (code, verdict) {
            (Some(0) | None, Some(verdict @ Outcome::Escaped(_)))
            | (Some(1), Some(verdict @ Outcome::Held(_)))
            | (Some(2), Some(verdict @ Outcome::Untried(_))) => verdict,
            (Some(code), _) => Outcome::Silent(format!("exited with code {code}")),
            (None, _) => Outcome::Silent("was killed".to_owned()),
        }
    }

    /// Whether it got what it wanted.
    pub fn escaped(&self) -> bool {
        matches!(self, Outcome::Escaped(_))
    }

    /// The word and the detail.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Outcome::Escaped(detail) => ("escaped", detail),
            Outcome::Held(detail) => ("held", detail),
            Outcome::Untried(detail) => ("untried", detail),
            Outcome::Silent(detail) => ("silent", detail),
        }
    }
}
