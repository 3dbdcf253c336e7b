//! [`Actions`]: what can be done with a stateful tool.

use std::fmt;
use std::str::FromStr;

/// One of the things that can be done with a stateful tool.
///
/// Exhaustive: the four are the whole protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ToolAction {
    /// Start it.
    Spawn = 1,
    /// Look at its state.
    Fetch = 2,
    /// Send it input, or the answer to its question.
    Apply = 4,
    /// Stop it.
    Abort = 8,
}

impl ToolAction {
    /// All four, in the order in which they are written.
    pub const ALL: [ToolAction; 4] = [Self::Spawn, Self::Fetch, Self::Apply, Self::Abort];

    /// The name, as in the argument `action`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Fetch => "fetch",
            Self::Apply => "apply",
            Self::Abort => "abort",
        }
    }
}

impl fmt::Display for ToolAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ToolAction {
    type Err = ActionsError;

    fn from_str(name: &str) -> Result<Self, ActionsError> {
        Self::ALL
            .into_iter()
            .find(|action| action.name() == name)
            .ok_or_else(|| ActionsError::Unknown {
                name: crate::fields::quoted(name),
            })
    }
}

/// The actions that a tool declares.
///
/// None at all for a one-shot tool, which is how a tool is by default. Otherwise `spawn` is among
/// them: without it, there would be nothing that the others could be about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Actions(u8);

impl Actions {
    /// The actions of a one-shot tool: none.
    pub const NONE: Actions = Actions(0);
    /// All four.
    pub const ALL: Actions = Actions(15);

    /// The set of these actions.
    ///
    /// # Errors
    ///
    /// If there are some, but not `spawn`.
    pub fn new(actions: impl IntoIterator<Item = ToolAction>) -> Result<Self, ActionsError> {
        let set = actions.into_iter().fold(0, |set, one| set | one as u8);
        if set != 0 && set & ToolAction::Spawn as u8 == 0 {
            return Err(ActionsError::NoSpawn);
        }
        Ok(Self(set))
    }

    /// The set of the actions with these names.
    ///
    /// # Errors
    ///
    /// If a name is unknown, or `spawn` is not among them.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ActionsError> {
        let actions: Result<Vec<ToolAction>, _> = names.into_iter().map(str::parse).collect();
        Self::new(actions?)
    }

    /// Whether the tool has no actions: it is called, and answers.
    pub fn is_one_shot(self) -> bool {
        self.0 == 0
    }

    /// Whether `action` is among them.
    pub fn has(self, action: ToolAction) -> bool {
        self.0 & action as u8 != 0
    }

    /// The actions, in the order in which they are written.
    pub fn iter(self) -> impl Iterator<Item = ToolAction> {
        ToolAction::ALL
            .into_iter()
            .filter(move |one| self.has(*one))
    }
}

/// `spawn, fetch`, or `none`.
impl fmt::Display for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_one_shot() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.iter().map(ToolAction::name).collect();
        f.write_str(&names.join(", "))
    }
}

impl fmt::Debug for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Actions({self})")
    }
}

/// Why names are not a set of [`Actions`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionsError {
    /// There is no action of this name.
    #[error("{name} is not an action (there are `spawn`, `fetch`, `apply` and `abort`)")]
    Unknown {
        /// The name, quoted.
        name: String,
    },
    /// There are actions, but nothing to start the tool with.
    #[error("a stateful tool needs the action `spawn`")]
    NoSpawn,
}
