//! Windows: what a confinement would consist of, as plain data.
//!
//! No program is started on Windows yet. [`plan::plan`] says which flags, limits and identities a start under a
//! profile takes, so that whoever writes that start finds the decisions made and tested, and what the
//! profile wants beyond them named.

mod plan;
