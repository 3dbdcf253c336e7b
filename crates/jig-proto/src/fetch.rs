//! [`Fetch`]: how much of a running tool's output somebody wants to see.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::fields::quoted;

/// What a look at a handle asks for. By default: what is new, as much as is shown without asking, now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fetch {
    /// Which part of the output.
    pub view: View,
    /// What is new is counted from here, not from the last look: the `seq` of an earlier report.
    pub after_seq: Option<u64>,
    /// The most bytes of output.
    pub max_bytes: Option<usize>,
    /// How long to wait for new output, a question or the end, if there is none of them yet.
    pub wait: Option<Duration>,
}

/// Which part of the output is shown.
///
/// Exhaustive: whoever shows output must have an answer to each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// What came since the last look.
    #[default]
    New,
    /// What a person would see now: the screen of a terminal, else what the tool said last.
    Screen,
    /// All that is kept.
    All,
}

/// Why arguments are not a [`Fetch`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// `view` is none of the three.
    #[error("{found} is not a view (there are `new`, `screen` and `all`)")]
    View {
        /// What stands there, quoted.
        found: String,
    },
    /// A number is none, or negative.
    #[error("`{argument}` must be a number, zero or more")]
    Number {
        /// The argument.
        argument: &'static str,
    },
}

impl Fetch {
    /// The names of the arguments.
    pub const ARGUMENTS: [&str; 4] = ["view", "after_seq", "max_bytes", "wait_ms"];

    /// The longest wait in one call. A caller that wants more asks again.
    pub const LONGEST_WAIT: Duration = Duration::from_secs(600);

    /// Takes its arguments out of those of a command. One that is `null` counts as absent; waits above
    /// [`LONGEST_WAIT`](Self::LONGEST_WAIT) are cut.
    ///
    /// # Errors
    ///
    /// If one of them is malformed.
    pub fn take_from(arguments: &mut Map<String, Value>) -> Result<Self, FetchError> {
        let view = match arguments.shift_remove("view") {
            None | Some(Value::Null) => View::New,
            Some(Value::String(name)) => View::named(&name)?,
            Some(other) => {
                let found = other.to_string();
                return Err(FetchError::View {
                    found: quoted(&found),
                });
            }
        };
        let after_seq = number(arguments, "after_seq")?;
        let max_bytes = number(arguments, "max_bytes")?
            .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let wait = number(arguments, "wait_ms")?
            .map(|wait| Duration::from_millis(wait).min(Self::LONGEST_WAIT));
        Ok(Self {
            view,
            after_seq,
            max_bytes,
            wait,
        })
    }
}

/// A whole number that is not negative. Models write `5.0` and `"5"` too.
fn number(
    arguments: &mut Map<String, Value>,
    argument: &'static str,
) -> Result<Option<u64>, FetchError> {
    let wrong = FetchError::Number { argument };
    match arguments.shift_remove(argument) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => Ok(Some(whole)),
            (None, Some(float)) if (0.0..=MOST_EXACT).contains(&float) =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it was just compared"
                )]
                Ok(Some(float as u64))
            }
            _ => Err(wrong),
        },
        Some(Value::String(text)) => text.trim().parse().map(Some).map_err(|_| wrong),
        Some(_) => Err(wrong),
    }
}

impl View {
    /// All three.
    pub const ALL: [View; 3] = [Self::New, Self::Screen, Self::All];

    /// The name, as in the argument `view`.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Screen => "screen",
            Self::All => "all",
        }
    }

    /// The view of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }

    pub(crate) fn named(name: &str) -> Result<Self, FetchError> {
        Self::from_name(name).ok_or_else(|| FetchError::View {
            found: quoted(name),
        })
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Up to here every whole number is exact as a float.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests;
