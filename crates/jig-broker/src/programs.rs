//! The second job of the broker: programs under a policy.
//!
//! [`running`] has the one type for such a program, from its start to its end. [`confine`] turns the policy into what
//! the operating system enforces, [`gateway`] is the program's way to the network, [`door`] its way to start other
//! programs, and [`explain`] says afterwards what it was refused.
//!
//! One arrow leads back to [`requests`](crate::requests): the door judges what a shim asks as `process.run`, and
//! starts it as one. Nothing here knows [`llm`](crate::llm).

pub(crate) mod confine;
pub(crate) mod door;
pub(crate) mod explain;
#[cfg(target_os = "linux")]
pub(crate) mod gateway;
#[cfg(not(target_os = "linux"))]
#[path = "programs/gateway/foreign.rs"]
pub(crate) mod gateway;
pub(crate) mod running;

pub use confine::{
    CommandedProgram, ConfineError, ConfineSettings, Confined, Discover, FoundPreset, Intruder,
    IntruderReport, Preset, ProgramReach, Suspect, SystemAccess,
};
#[cfg(unix)]
pub use confine::{RunningCalls, pending};
pub use door::Door;
pub use explain::{MAX_DENIALS, MAX_GUESSED, MadePaths, limit_denial, limit_denial_in};
pub use gateway::{Gateway, Refusals};
pub use running::{
    ProgramEnd, ProgramEnding, ProgramNews, ProgramStart, ProgramStartError, ProgramStreams,
    RunningProgram, unreached_ports,
};
