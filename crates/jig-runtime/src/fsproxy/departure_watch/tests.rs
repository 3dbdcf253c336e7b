use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use jig_broker::CancelToken;

use super::watched;
use crate::fsproxy::client_socket::ClientLink;

/// Whether the token is fired when `happens` is done to the client's end of a socket.
fn is_fired(happens: impl FnOnce(&mut Option<UnixStream>), limit: Duration) -> bool {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (link, gone) = (ClientLink::socket(ours), CancelToken::new());
    let mut theirs = Some(theirs);
    watched(&link, &gone, |gone| {
        let (fired, is_fired) = mpsc::channel();
        let _hook = gone.on_cancel(move || {
            let _ = fired.send(());
        });
        happens(&mut theirs);
        is_fired.recv_timeout(limit).is_ok()
    })
}

#[test]
fn a_client_that_is_gone_gives_up_what_runs_and_a_half_closed_one_does_not() {
    let (long, short) = (Duration::from_secs(60), Duration::from_millis(50));
    assert!(is_fired(|socket| *socket = None, long));
    assert!(is_fired(
        |socket| socket.as_ref().unwrap().shutdown(Shutdown::Both).unwrap(),
        long
    ));
    assert!(!is_fired(|_| (), short));
    assert!(!is_fired(
        |socket| socket.as_ref().unwrap().shutdown(Shutdown::Write).unwrap(),
        short
    ));
}

#[test]
fn the_watch_ends_with_what_it_watches() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (link, gone) = (ClientLink::socket(ours), CancelToken::new());
    // It would wait for ever, if it did.
    assert_eq!(watched(&link, &gone, |_| 7), 7);
    drop(theirs);
    assert!(!gone.is_cancelled());
}
