use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::*;

#[test]
fn all_but_the_standard_streams_are_marked() {
    let (reader, writer) = io::pipe().unwrap();
    let ends = [OwnedFd::from(reader), OwnedFd::from(writer)];
    let are_marked = || ends.iter().map(is_marked).collect::<Vec<_>>();
    for seal in [|| seal_each("/dev/fd"), crate::sys::seal_descriptors] {
        for end in &ends {
            assert!(end.as_raw_fd() > 2);
            rustix::io::fcntl_setfd(end, FdFlags::empty()).unwrap();
        }
        let streams = [is_marked(io::stdin()), is_marked(io::stderr())];
        assert_eq!(are_marked(), [false, false]);
        seal().unwrap();
        assert_eq!(are_marked(), [true, true]);
        let after = [is_marked(io::stdin()), is_marked(io::stderr())];
        assert_eq!(after, streams);
    }
    assert!(seal_each("/nonexistent").is_err());
}

fn is_marked(descriptor: impl AsFd) -> bool {
    let flags = rustix::io::fcntl_getfd(descriptor);
    flags.unwrap().contains(FdFlags::CLOEXEC)
}
