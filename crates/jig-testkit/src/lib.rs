//! Hostile programs, and the arenas in which they are tried.
//!
//! The program `hostile` carries one attack per name: it tries to reach something that a confined tool
//! must not reach, and says whether it got it. [`attacks()`] is the table of all of them, with what each is
//! given and what is expected of it. A [`Host`] stands for the machine that is attacked: listeners,
//! shared memory, queues, a process to be spied on. An [`Arena`] is what one attack may ruin: a workspace
//! with files that are denied or read-only, and secrets beside it.
//!
//! ```no_run
//! use jig_testkit::{Host, Outcome, Stage, attacks};
//!
//! let stage = Stage::set("target/debug/hostile".as_ref())?;
//! let host = Host::start(&stage.hostile())?;
//! for attack in attacks() {
//!     let arena = host.arena()?;
//!     let args = (attack.args)(&arena);
//!     println!("hostile {} {}", attack.program, args.join(" "));
//! }
//! let outcome = Outcome::parse(Some(1), "held: open: Permission denied\n");
//! assert!(matches!(outcome, Outcome::Held(_)));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A [`Provider`] is no attack, but the server that questions to language models are sent to in tests; it can be
//! told to behave as badly as real ones do.
//!
//! A test that needs a program asks [`has_program`], so that no test is left out in silence. One that waits for what no
//! event tells of asks [`until`].
//!
//! Nothing here does lasting harm when it succeeds: an attack opens the dangerous file and closes it,
//! sends the signal that means nothing, changes a value to what it was. What it does ruin lies in its
//! arena. It is for tests, and never part of a release.
#![cfg_attr(
    not(target_os = "linux"),
    doc = "On this system there are only the [`Provider`] and the record of skipped tests: the attacks are those on Linux."
)]

#[cfg(target_os = "linux")]
mod arena;
#[cfg(target_os = "linux")]
mod attack;
#[cfg(target_os = "linux")]
pub mod attacks;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod outcome;
pub mod provider;
mod shown_folder;
mod skips;
mod wait;

#[cfg(target_os = "linux")]
pub use arena::Arena;
#[cfg(target_os = "linux")]
pub use attack::{Attack, Class, Confined, Judge, Twin};
#[cfg(target_os = "linux")]
pub use attacks::{GATEWAY_PORT, attacks};
#[cfg(target_os = "linux")]
pub use host::{Host, MARK, Stage, TERMINAL, TERMINAL_PIXELS, hostile_program};
#[cfg(target_os = "linux")]
pub use outcome::Outcome;
pub use provider::Provider;
pub use shown_folder::shown_folder;
pub use skips::{has_program, skipped_here, skipped_without};
#[cfg(target_os = "linux")]
pub use wait::working_in;
pub use wait::{
    PATIENCE, ended, ended_within, is_alone, let_pass, until, until_it_rests, until_some, within,
};
