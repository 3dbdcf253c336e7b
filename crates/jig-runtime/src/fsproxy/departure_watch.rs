//! [`watched`]: noticing that a client goes while something is done for it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;

use jig_broker::CancelToken;
use rustix::event::PollFlags;

use super::client_socket::{ClientLink, LinkWaitResult};

/// Does something and fires `gone` when the client at the other end of `link` goes meanwhile.
///
/// The thread of the connection is busy with `act`, so another one watches, for as long as that takes. Where there
/// can be none, only ending the client fires the token.
pub(super) fn watched<T>(
    link: &ClientLink,
    gone: &CancelToken,
    act: impl FnOnce(&CancelToken) -> T,
) -> T {
    let Ok((done, seen)) = UnixStream::pair() else {
        return act(gone);
    };
    thread::scope(|scope| {
        // Dropped when `act` is done, also by a panic: the watcher sees the end of it.
        let _done = done;
        let watcher = thread::Builder::new().name("jig-proxy-watch".to_owned());
        let watching = watcher.spawn_scoped(scope, move || {
            let seen = seen;
            if let Ok(LinkWaitResult::Gone) = link.wait_for(seen.as_fd(), PollFlags::IN) {
                gone.cancel();
            }
        });
        drop(watching);
        act(gone)
    })
}

#[cfg(test)]
mod tests;
