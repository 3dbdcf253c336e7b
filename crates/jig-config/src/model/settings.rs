//! The small settings of a tool: words of the configuration as types.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

use super::limits::SandboxLimits;
use crate::origin::Origin;

/// A setting that is one of a few words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        // Exhaustive: whoever runs tools must have an answer to each.
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// The word, as in configuration.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            /// All of them, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$($name::$variant,)+];

            pub(crate) fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// Whether somebody is asked before a tool runs (J-023).
    RunMode {
        /// Somebody approves every call.
        Ask = "ask",
        /// It runs at once.
        Unattended = "unattended",
        /// Somebody may change the arguments first.
        Edit = "edit",
        /// It does not run; the model is told so.
        Skip = "skip",
    }
}

words! {
    /// Who is asked what a call over MCP has to ask.
    AskWay {
        /// The client, by a form; a call does not wait for anybody else.
        Client = "client",
        /// A person at the board (`jig approve`), for whom the call waits.
        Board = "board",
        /// The client, and whoever watches the board: the first answer counts.
        Both = "both",
    }
}

words! {
    /// Whether somebody is asked before the model gets a result (J-023).
    ResultMode {
        /// The model gets it at once.
        Unattended = "unattended",
        /// Somebody approves every result.
        Ask = "ask",
        /// Somebody may change the result first.
        Edit = "edit",
        /// The model does not get it.
        Skip = "skip",
    }
}

words! {
    /// Whether somebody is asked before a tool formats its arguments (J-023).
    FormatMode {
        /// Somebody approves it.
        Ask = "ask",
        /// It happens at once.
        Unattended = "unattended",
    }
}

words! {
    /// What happens when no rule covers a request.
    OnUncovered {
        /// Somebody is asked; where nobody can answer, the request is denied.
        Ask = "ask",
        /// The request is denied.
        Deny = "deny",
    }
}

words! {
    /// Whether a tool may run when a declared rule can't be enforced on this machine.
    Enforce {
        /// It does not start.
        Required = "required",
        /// It runs with what can be enforced, and the missing part is reported.
        BestEffort = "best-effort",
    }
}

words! {
    /// What becomes of the changes of a tool that writes to a layer over the workspace.
    OverlayMode {
        /// Somebody sees them and says whether they are made.
        Ask = "ask",
        /// They are made when the call succeeded.
        Apply = "apply",
        /// They are forgotten.
        Discard = "discard",
    }
}

words! {
    /// How a call reaches a tool of runtime `stdio`.
    Input {
        /// In the words of its command, through their templates.
        Argv = "argv",
        /// As one line of JSON on standard input.
        Stdin = "stdin",
        /// As the same JSON in a private file.
        File = "file",
    }
}

words! {
    /// Something that tools work with and that lies outside the workspace, wherever a machine has it.
    Preset {
        /// Toolchains of rustup, caches of cargo.
        Rust = "rust",
        /// Node.js.
        Node = "node",
        /// Python.
        Python = "python",
        /// Go, and the cache of its modules.
        Go = "go",
        /// The user's configuration of git, and changes to that of the repository.
        Git = "git",
    }
}

words! {
    /// Who answers a question of a tool.
    QuestionTarget {
        /// The person at the terminal.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

words! {
    /// Who may switch a tool on or off during a conversation (J-022).
    AllowToggle {
        /// Any request does it.
        Any = "any",
        /// Nothing does.
        Never = "never",
        /// A request that names the tool.
        IfNamed = "if_named",
        /// A request that names the tool or its group.
        IfNamedOrGroup = "if_named_or_group",
    }
}

/// Whether a tool is offered, and how that can be changed (J-022).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Enable {
    /// Whether it is offered.
    pub on: bool,
    /// What may switch it.
    pub allow_toggle: AllowToggle,
}

impl Default for Enable {
    fn default() -> Self {
        Self {
            on: true,
            allow_toggle: AllowToggle::Any,
        }
    }
}

/// How one question of a tool is answered (J-016).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionSettings {
    /// Who is asked.
    pub target: QuestionTarget,
    /// The answer, known in advance: nobody is asked.
    pub answer: Option<Json>,
    /// Whether an answer also holds for later calls of the same turn.
    pub remember: bool,
}

/// How the operating system confines a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// What happens when a rule can't be enforced on this machine.
    pub enforce: Enforce,
    /// Paths outside the workspace that the tool may use.
    pub system: Vec<SystemPath>,
    /// What it works with outside the workspace, each once, in the order of declaration.
    pub presets: Vec<Preset>,
    /// How much it may use.
    pub limits: SandboxLimits,
    /// Patterns that extend the list of sensitive paths.
    pub sensitive_paths: Vec<String>,
    /// Whether a tool of runtime `stdio` is told of a proxy by its environment.
    pub proxy: bool,
    /// Whether a tool of runtime `stdio` is watched, so that what it is refused can be named.
    pub observe: bool,
}

/// A path outside the workspace that a tool may use: a toolchain, a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPath {
    /// Absolute, or starting with `~/`.
    pub path: Utf8PathBuf,
    /// Whether it may be changed; it can always be read.
    pub write: bool,
    /// Whether programs there may be run.
    pub execute: bool,
    /// Where it was declared.
    pub origin: Origin,
}

impl SystemPath {
    /// The path with `~/` put in place; `None` if it begins so and there is no home.
    pub fn expanded(&self, home: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
        match self.path.as_str().strip_prefix("~/") {
            Some(rest) => home.map(|home| home.join(rest)),
            None => Some(self.path.clone()),
        }
    }
}
