//! The configuration in force, and how it changes while it is served.
//!
//! A changed file comes in by [`reload`], the tools of servers by [`server_tools`]. What a person has to accept of
//! servers first is put on the board of questions by [`server_acceptance`].

pub(crate) mod reload;
pub(crate) mod server_acceptance;
pub(crate) mod server_tools;
