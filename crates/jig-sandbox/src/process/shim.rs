//! [`shim`]: the small program that stands for others in a sandbox.

use crate::sys;

/// Where a [`shim`] finds the host: to be the [`door`](crate::Profile::door) of its profile.
pub const DOOR: &str = "/run/jig/door";

/// A small static program that has the host start the program whose name it is executed under; `None` if
/// this build carries none.
///
/// It connects to [`DOOR`] and sends, with its three standard streams as descriptors, the length of what
/// follows as four bytes, least significant first, and then its working directory, its name and its
/// arguments, each with a NUL at its end. It waits for the answer: a byte that is 0 if the program exited
/// and 1 if a signal ended it, a byte with the code or the signal, the length of a text as four bytes, and
/// the text, which it writes to its standard error. Then it ends as the program did. It is not to be
/// trusted more than the sandbox that it runs in: whoever is in there can say the same.
pub fn shim() -> Option<&'static [u8]> {
    sys::shim()
}
