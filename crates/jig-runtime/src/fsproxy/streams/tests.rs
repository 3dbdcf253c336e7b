use std::io::{Read as _, Write as _, pipe};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jig_proto::fsproxy::ProxyErrorCode;

use super::ParentStream;
use crate::fsproxy::client_socket::ClientLink;

#[test]
fn bytes_that_wait_are_left_when_the_client_is_gone() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let link = ClientLink::socket(ours);
    let (reader, mut writer) = pipe().unwrap();
    let stream = ParentStream::new(reader.into());
    writer.write_all(b"abcdef").unwrap();

    let mut read = Vec::new();
    assert_eq!(stream.read(&link, 2, &mut read), Ok(false));
    assert_eq!(read, b"ab");
    // Both are there, the bytes and the end of the client: the end counts.
    drop(theirs);
    let refused = stream.read(&link, 2, &mut read).unwrap_err();
    assert_eq!(refused.code, ProxyErrorCode::Io);
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let link = ClientLink::socket(ours);
    assert_eq!(stream.read(&link, 100, &mut read), Ok(false));
    assert_eq!(read, b"abcdef");
    drop(writer);
    assert_eq!(stream.read(&link, 100, &mut read), Ok(true));
}

#[test]
fn a_link_that_was_shut_down_waits_for_nothing() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let pairs = [ClientLink::socket(ours), {
        let ((input, _to), (_from, output)) = (pipe().unwrap(), pipe().unwrap());
        ClientLink::pair(input.into(), output.into()).unwrap()
    }];
    for link in pairs {
        let (reader, _writer) = pipe().unwrap();
        link.shut_down();
        link.shut_down();
        let refused = ParentStream::new(reader.into()).read(&link, 10, &mut Vec::new());
        assert_eq!(refused.unwrap_err().code, ProxyErrorCode::Io);
        assert_eq!(link.receive(&mut [0; 10]).unwrap(), 0);
        assert!(link.send(b"x").is_err());
    }
}

/// Two clients see the same bytes. The one that comes too late waits again, where its own end is noticed, and not in
/// a read that only more bytes would end.
#[test]
fn whoever_comes_too_late_waits_again() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let link = Arc::new(ClientLink::socket(ours));
    let (reader, mut writer) = pipe().unwrap();
    let mut other = reader.try_clone().unwrap();
    let stream = ParentStream::new(reader.into());
    writer.write_all(b"abc").unwrap();
    let turn = stream.turn();
    let (told, reads) = mpsc::channel();
    let reading = {
        let (stream, link) = (stream.clone(), Arc::clone(&link));
        thread::spawn(move || {
            let mut read = Vec::new();
            told.send(stream.read(&link, 10, &mut read)).unwrap();
        })
    };
    // Until it has seen the bytes and waits for its turn. If it takes longer, less is tested.
    let early = reads.recv_timeout(Duration::from_millis(50));
    assert!(early.is_err());
    other.read_exact(&mut [0; 3]).unwrap();
    drop(turn);
    link.shut_down();
    let read = reads.recv_timeout(Duration::from_secs(60));
    assert_eq!(read.unwrap().unwrap_err().code, ProxyErrorCode::Io);
    reading.join().unwrap();
}
