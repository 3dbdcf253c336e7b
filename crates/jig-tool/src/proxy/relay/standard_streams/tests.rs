use std::io::{Write, pipe};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;

use super::*;
use crate::proxy::Client;

/// A child whose end of the connection is in the hands of the test.
fn child() -> (Arc<ChildConnection>, UnixStream, UnixStream) {
    let (upstream, parent) = UnixStream::pair().unwrap();
    let client = Client::from_socket(upstream.into()).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let options = ChildOptions::INHERIT;
    let connection = ChildConnection::new(1, ours.into(), options, client, Weak::new());
    (Arc::new(connection), theirs, parent)
}

/// Two children wait for the same stream and one byte comes: whoever does not get it still notices
/// that its child is gone.
#[test]
fn a_byte_that_two_wait_for_leaves_nobody_stuck() {
    for _ in 0..200 {
        let (reader, mut writer) = pipe().unwrap();
        let reader = Arc::new(reader);
        let (sender, receiver) = mpsc::channel();
        let mut children = Vec::new();
        for number in 0..2 {
            let (connection, theirs, parent) = child();
            children.push(Some((theirs, parent)));
            let (reader, sender) = (Arc::clone(&reader), sender.clone());
            thread::spawn(move || {
                let read = read_from(&connection, reader.as_fd(), 1);
                sender.send((number, read.map_err(drop))).unwrap();
            });
        }
        writer.write_all(b"x").unwrap();
        let (first, read) = receiver.recv_timeout(LIMIT).unwrap();
        assert_eq!(read.unwrap().unwrap(), b"x");
        // The other waits, with nothing to read; its child goes.
        let other = 1_usize - first;
        drop(children[other].take());
        let (second, read) = receiver.recv_timeout(LIMIT).expect("it notices");
        assert_eq!((second, read.is_err()), (other, true));
    }
}

const LIMIT: Duration = Duration::from_secs(60);
