//! [`seal_descriptors`]: nothing is passed on by accident.

use std::io;

use crate::sys;

/// Marks every descriptor of this process but the standard streams to be closed when a program is executed.
///
/// A process that was started by careless hands has descriptors that it does not know of: a lock, the write
/// end of a pipe that somebody waits for the end of, a socket of a job server. Whatever it executes would
/// keep them open. Programs that [`spawn`](super::spawn) starts never get any; this is for those that are
/// started by other means, and for a process that is about to execute itself anew. On systems where no
/// programs are started it does nothing.
pub fn seal_descriptors() -> io::Result<()> {
    sys::seal_descriptors()
}
