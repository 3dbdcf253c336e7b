//! What this machine can enforce on the tools that jig runs.
//!
//! [`probe`] collects the facts as plain data, a [`Machine`]; [`assess`] turns facts into a [`Tier`]
//! and a list of [`Finding`]s, each with what is not enforced and how to change that. The first looks
//! at the machine and decides nothing; the second decides and looks at nothing but its argument.
//!
//! ```
//! let machine = jig_sandbox::probe();
//! let assessment = jig_sandbox::assess(&machine);
//! for finding in &assessment.findings {
//!     println!("{}: {}", finding.name, finding.what);
//! }
//! ```
//!
//! Probing leaves the calling process as it was: whatever could change a process, or get it killed
//! by a strict system-call filter, is tried in short-lived children. It may be called from any thread.

mod finding;
mod machine;
mod sys;

pub use finding::{Assessment, Finding, Level, Tier, assess};
pub use machine::{
    Cgroup, CgroupLayout, Container, Errno, Kernel, Landlock, Machine, Namespaces, Privileges,
    Seccomp, Surroundings, Sysctls, Trial, Wasm, probe,
};
