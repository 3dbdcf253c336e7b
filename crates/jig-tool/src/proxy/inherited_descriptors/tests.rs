use std::io::pipe;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;

use super::*;

#[test]
fn x_28_the_variable_names_one_descriptor_or_two() {
    let check = |text: &str, expected: Option<InheritedDescriptors>| {
        assert_eq!(InheritedDescriptors::parse(text), expected)
    };
    check("3", Some(InheritedDescriptors::Socket(3)));
    check("12", Some(InheritedDescriptors::Socket(12)));
    check("3,4", Some(InheritedDescriptors::Pair(3, 4)));
    check("5,5", Some(InheritedDescriptors::Socket(5)));
    // The standard streams belong to others.
    for text in ["0", "2", "0,1", "3,1", "1,3"] {
        check(text, None);
    }
    for text in [
        "", ",", "3,", ",3", "3,4,5", "-1", "+3", " 3", "3 ", "0x3", "three", "3.0",
    ] {
        check(text, None);
    }
    check("99999999999", None);
}

/// Descriptors that this process has opened are not its inheritance, whatever they are.
#[test]
fn what_was_not_inherited_is_left_alone() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let number = ours.as_raw_fd();
    let error = adopt(number, is_stream).unwrap_err();
    assert!(matches!(error, ProxyConnectError::NotInherited(refused) if refused == number));
    // It is still open.
    rustix::io::fcntl_getfd(&ours).unwrap();

    let error = adopt(1_000_000, is_stream).unwrap_err();
    assert!(
        matches!(error, ProxyConnectError::NotInherited(1_000_000)),
        "{error}"
    );
}

#[test]
fn what_is_no_connection_is_left_open() {
    let (reader, _writer) = pipe().unwrap();
    rustix::io::fcntl_setfd(&reader, FdFlags::empty()).unwrap();
    let error = adopt(reader.as_raw_fd(), is_stream).unwrap_err();
    assert!(
        matches!(error, ProxyConnectError::NotAConnection(_)),
        "{error}"
    );
    assert!(rustix::io::fcntl_getfd(&reader).unwrap().is_empty());
}

#[test]
fn what_was_inherited_is_kept_from_children_at_once() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    rustix::io::fcntl_setfd(&ours, FdFlags::empty()).unwrap();
    let adopted = adopt(ours.as_raw_fd(), is_stream).unwrap();
    assert!(
        rustix::io::fcntl_getfd(&*adopted)
            .unwrap()
            .contains(FdFlags::CLOEXEC)
    );
}

/// A shell may have copied it to other numbers.
#[test]
fn copies_are_kept_from_children_too() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let copies = [
        rustix::io::dup(&ours).unwrap(),
        rustix::io::dup(&ours).unwrap(),
    ];
    let (reader, _writer) = pipe().unwrap();
    for descriptor in [ours.as_fd(), theirs.as_fd(), reader.as_fd()] {
        rustix::io::fcntl_setfd(descriptor, FdFlags::empty()).unwrap();
    }
    let _adopted = adopt(ours.as_raw_fd(), is_stream).unwrap();
    for copy in &copies {
        assert!(
            rustix::io::fcntl_getfd(copy)
                .unwrap()
                .contains(FdFlags::CLOEXEC)
        );
    }
    // What is something else stays as it is.
    for other in [theirs.as_fd(), reader.as_fd()] {
        assert!(rustix::io::fcntl_getfd(other).unwrap().is_empty());
    }
}

#[test]
fn open_numbers_are_found() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    assert!(open_numbers().contains(&ours.as_raw_fd()));
}
