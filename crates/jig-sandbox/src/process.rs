//! [`spawn`]: programs as children whose whole tree can be ended.
//!
//! A [`SpawnRequest`] says all that a program gets: nothing comes from the host but what it names. The
//! [`Child`] can be waited for, asked to end and killed, from any thread; with it dies whatever it
//! started, daemons that left its session included, and so it does when the host itself is killed.
//! [`Status`] says how much of that this machine can promise.
//!
//! Nothing here reads or writes the child's pipes: whoever does waits with [`poll`].

mod child;
mod environment;
mod error;
mod exit;
mod gateway;
mod observe;
mod pool;
mod readiness;
mod request;
mod seal;
mod shim;
mod status;
mod stream;
mod supervise;
mod unchangeable;
mod usage;

pub use child::Child;
pub(crate) use child::StartedChild;
pub use environment::{ProgramEnvironment, minimal_environment};
pub use error::{ArgumentSizes, SpawnError};
pub use exit::Exit;
pub use gateway::GatewaySockets;
pub use observe::{Observation, ObservedAccess, ObservedTarget, Observer};
pub use pool::Pool;
pub(crate) use readiness::Direction;
pub use readiness::{Interest, ReadyInterests, Waker, poll, set_nonblocking};
pub use request::{
    ByteSize, Containment, Launch, ProcessLimit, ProcessLimits, Program, SpawnRequest, Stdio,
};
pub use seal::seal_descriptors;
pub use shim::{DOOR, shim};
pub use status::{Enforcement, Status};
pub use stream::without_device_commands;
pub use supervise::{NameSupervisor, RefusedName, RefusedNames};
pub use unchangeable::{is_temporary, unchangeable};
pub use usage::TreeUsage;

/// Starts a program.
///
/// When this returns, the program runs, or it could not be started and the error names the step that
/// failed; there is no third case. Descriptors in the request are closed here either way. Any thread may
/// call it, also one that ends at once: the child does not depend on it.
///
/// On Linux the child is held by a small process of its own, its keeper. [`Launch`] says where that comes
/// from: a copy of this process, which costs the more the larger this process is; a small program that is
/// executed from memory; or a [`Pool`], whose keepers are made ahead of time. With a profile the keeper
/// carries it out before the program begins. Inside new user, process and mount namespaces, users and
/// groups keep their numbers; an ordinary user's tool sees the files of others as owned by `nobody`, and
/// programs that change the user, such as `sudo`, do not. The keeper gets a new session, the tool another:
/// neither has a controlling terminal, but for the tool's own if the request names one. The file mode creation mask is the host's.
pub fn spawn(request: SpawnRequest) -> Result<Child, SpawnError> {
    crate::sys::spawn(request).map(Child::new)
}
