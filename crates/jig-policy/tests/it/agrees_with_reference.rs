//! The crate against an evaluator so plain that it can be checked by reading it, on random rules
//! and targets; suggestions as properties; the disk against memory; and attacks (G-130).

mod attacks;
mod connections;
mod disk;
mod files;
mod paths;
mod programs;
mod random;
mod reference;
mod suggestions;
mod urls;
mod variables;
mod wire;

/// The pairs of policy and target that one run compares: every test insists on its share.
const _: () = assert!(
    files::PAIRS
        + connections::PAIRS
        + paths::PAIRS
        + urls::PAIRS
        + variables::PAIRS
        + programs::PAIRS
        >= 100_000
);
