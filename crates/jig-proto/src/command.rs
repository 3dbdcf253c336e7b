//! [`ToolCommand`]: what a call asks of a stateful tool.

use serde_json::{Map, Value};

use crate::fields::quoted;
use crate::{Actions, Fetch, FetchError, HandleId, HandleIdError, ToolAction};

/// What the arguments of a call ask for.
///
/// Exhaustive: a call either drives a tool to its end or gives it one command.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    /// Run the tool until it stops and return only its result.
    OneShot {
        /// The arguments, untouched.
        args: Map<String, Value>,
    },
    /// Do this one thing and return the state.
    Command(ToolCommand),
}

/// One command to a stateful tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolCommand {
    /// Start the tool.
    Spawn {
        /// The id that the caller wants for the handle; otherwise one is made.
        id: Option<HandleId>,
        /// The tool's own arguments, without `action` and `id`.
        args: Map<String, Value>,
    },
    /// Look at the state.
    Fetch {
        /// Of this handle.
        id: HandleId,
        /// How much of its output.
        fetch: Fetch,
    },
    /// Send input to a running tool, or answer a waiting one.
    Apply {
        /// To this handle.
        id: HandleId,
        /// Any value, also `null`.
        input: Value,
        /// How much of its output is shown afterwards.
        fetch: Fetch,
    },
    /// Stop the tool.
    Abort {
        /// Of this handle.
        id: HandleId,
    },
}

/// Why arguments are not a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolCommandError {
    /// `action` is not a string.
    #[error("`action` must be one of these strings: {declared}")]
    NotAString {
        /// What the tool declares.
        declared: Actions,
    },
    /// The tool does not declare the action.
    #[error("{action} is not an action of this tool; its actions are: {declared}")]
    NotDeclared {
        /// The action, quoted.
        action: String,
        /// What the tool declares.
        declared: Actions,
    },
    /// The action needs an argument that is not there.
    #[error("`{action}` needs the argument `{argument}`")]
    Missing {
        /// The action.
        action: ToolAction,
        /// The argument.
        argument: &'static str,
    },
    /// `id` is not a string.
    #[error("`id` must be a string, such as `h_1`")]
    IdNotAString,
    /// `id` is no handle id.
    #[error("`id` is not a handle id")]
    BadId(#[from] HandleIdError),
    /// What is to be shown is malformed.
    #[error(transparent)]
    Fetch(#[from] FetchError),
}

impl Invocation {
    /// Reads the arguments of a call to a tool that declares `actions`.
    ///
    /// A tool that declares none is one-shot, and an argument `action` is its own affair. For the
    /// others, arguments without `action` ask for a one-shot run, too. Arguments that the command
    /// does not know are ignored, except those of `spawn`, which belong to the tool.
    ///
    /// # Errors
    ///
    /// If the action is not declared, or lacks what it needs.
    pub fn parse(mut args: Map<String, Value>, actions: Actions) -> Result<Self, ToolCommandError> {
        if actions.is_one_shot() {
            return Ok(Self::OneShot { args });
        }
        // Clients in a strict mode send every parameter, and `null` for what they leave out.
        let action = args.shift_remove("action");
        let Some(action) = action.filter(|action| !action.is_null()) else {
            return Ok(Self::OneShot { args });
        };
        let Value::String(name) = action else {
            return Err(ToolCommandError::NotAString { declared: actions });
        };
        let action = match name.parse() {
            Ok(action) if actions.has(action) => action,
            _ => {
                return Err(ToolCommandError::NotDeclared {
                    action: quoted(&name),
                    declared: actions,
                });
            }
        };
        ToolCommand::from_args(action, args).map(Self::Command)
    }
}

impl ToolCommand {
    /// The action that the command is.
    pub fn action(&self) -> ToolAction {
        match self {
            Self::Spawn { .. } => ToolAction::Spawn,
            Self::Fetch { .. } => ToolAction::Fetch,
            Self::Apply { .. } => ToolAction::Apply,
            Self::Abort { .. } => ToolAction::Abort,
        }
    }

    fn from_args(
        action: ToolAction,
        mut args: Map<String, Value>,
    ) -> Result<Self, ToolCommandError> {
        let id = match args.shift_remove("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id.parse::<HandleId>()?),
            Some(_) => return Err(ToolCommandError::IdNotAString),
        };
        let missing = |argument| ToolCommandError::Missing { action, argument };
        Ok(match action {
            ToolAction::Spawn => Self::Spawn { id, args },
            ToolAction::Fetch => Self::Fetch {
                id: id.ok_or(missing("id"))?,
                fetch: Fetch::take_from(&mut args)?,
            },
            ToolAction::Apply => Self::Apply {
                id: id.ok_or(missing("id"))?,
                input: args.shift_remove("input").ok_or(missing("input"))?,
                fetch: Fetch::take_from(&mut args)?,
            },
            ToolAction::Abort => Self::Abort {
                id: id.ok_or(missing("id"))?,
            },
        })
    }
}

#[cfg(test)]
mod tests;
