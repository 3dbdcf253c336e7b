//! The rows, by what they are about.

pub(crate) mod calls;
pub(crate) mod clients;
pub(crate) mod components;
pub(crate) mod denials;
pub(crate) mod files;
pub(crate) mod proxy;
pub(crate) mod requests;
pub(crate) mod servers;
pub(crate) mod station;

/// A tool that says hello.
pub(crate) const HELLO: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"echo hello\"\nrun = \"unattended\"\n";

/// A tool that stays, and says again what it is told.
pub(crate) const CAT: &str =
    "[tools.check]\nsource = \"local\"\ncommand = \"cat\"\nrun = \"unattended\"\nstateful = true\n";
