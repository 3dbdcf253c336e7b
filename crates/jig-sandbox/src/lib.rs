//! What this machine can enforce on the tools that jig runs, and the processes that run them.
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
//!
//! [`spawn`] starts a program with exactly what its [`SpawnRequest`] names, and gives back a [`Child`]
//! whose whole tree of processes can be ended. [`Child::status`] says what is enforced on it.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::io::Read;
//! use jig_sandbox::{Program, SpawnRequest, minimal_environment, spawn};
//!
//! let mut request = SpawnRequest::new(Program::parse("echo")?, "/");
//! request.args = vec!["hello".into()];
//! request.env = minimal_environment("/nonexistent".as_ref());
//! let mut child = spawn(request)?;
//! let mut output = String::new();
//! child.stdout.take().expect("it is piped").read_to_string(&mut output)?;
//! assert!(child.wait()?.is_success());
//! assert_eq!(output, "hello\n");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assessment;
mod machine;
mod process;
mod profile;
mod sys;

pub use assessment::{Assessment, Finding, Level, Tier, assess};
pub use machine::{
    Cgroup, CgroupLayout, Container, Errno, HostSurroundings, Kernel, Landlock, Machine,
    Namespaces, Privileges, ProbeResult, Seccomp, Sysctls, Wasm, probe,
};
pub use process::{
    ArgumentSizes, ByteSize, Child, Containment, DOOR, Enforcement, Exit, GatewaySockets, Interest,
    Launch, NameSupervisor, Observation, ObservedAccess, ObservedTarget, Observer, Pool,
    ProcessLimit, ProcessLimits, Program, ProgramEnvironment, ReadyInterests, RefusedName,
    RefusedNames, SpawnError, SpawnRequest, Status, Stdio, TreeUsage, Waker, is_temporary,
    minimal_environment, poll, seal_descriptors, set_nonblocking, shim, spawn, unchangeable,
    without_device_commands,
};
pub use profile::{
    Enforce, GATEWAY_V4, GatewayProfile, GuardVerdict, GuardedName, Layers, NAMES_V4, NAMES_V6,
    Network, Overlay, PROXY_PORT, PathRule, PrivateContent, PrivateDirectory, PrivateFile, Profile,
    Rights, RuleSource,
};
pub use sys::{BorrowedDescriptor, Descriptor};
