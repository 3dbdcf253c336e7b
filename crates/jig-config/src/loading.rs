//! From files, variables and assignments to one configuration.
//!
//! [`load`] is the way through: [`sources`] says what counts, [`files`] reads, [`parse`] keeps the place of everything,
//! [`extends`] adds the files that others name, [`overrides`] reads variables and `--set`, and [`merge`] makes one tree.
//! [`acceptance`] keeps back what the files of a workspace allow and nobody has accepted.

pub(crate) mod acceptance;
pub(crate) mod extends;
pub(crate) mod files;
pub(crate) mod load;
pub(crate) mod merge;
pub(crate) mod overrides;
pub(crate) mod parse;
pub(crate) mod sources;
