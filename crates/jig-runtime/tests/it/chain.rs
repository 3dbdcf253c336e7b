//! A manager in this process, and below it real processes that serve each other: a shell, a stage and a leaf.
//!
//! Every process is this program again, in a role. The first has its connection from a manager; the others have
//! theirs from the relay of the process above them.
#![expect(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::unwrap_used,
    reason = "fixtures are processes, one that just ends is what is tested, and one that fails is a failed test"
)]

mod crashes;
mod neighbours;
mod roles;
mod storm;
mod world;
