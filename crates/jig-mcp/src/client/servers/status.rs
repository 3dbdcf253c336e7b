//! [`ServerStatus`]: how a server stands, for people.

use std::time::{Duration, SystemTime};

/// How a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub name: String,
    /// What it is doing.
    pub state: ServerState,
    /// The process that runs it; `None` for one elsewhere, and while none runs.
    pub pid: Option<u32>,
    /// How many tools it said it has, when it was last asked in this process.
    pub tools: Option<usize>,
    /// How many of its tools are held until somebody accepts their definitions.
    pub held: usize,
    /// Since when it runs.
    pub since: Option<SystemTime>,
    /// How many calls went to it.
    pub calls: u64,
}

impl ServerStatus {
    /// A server that does nothing.
    pub(super) fn off(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: ServerState::Off,
            pid: None,
            tools: None,
            held: 0,
            since: None,
            calls: 0,
        }
    }
}

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// The configuration turns it off.
    Off,
    /// It does not run; the next call starts it.
    Idle,
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It failed.
    Failed {
        /// Why, in words, without any secret.
        why: String,
        /// How long it is not tried again.
        retry_in: Duration,
    },
    /// A person has to accept its entry before it may be started.
    Waits,
}
