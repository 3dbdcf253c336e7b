use std::sync::Arc;

use proptest::prelude::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::{ClientHello, MAX_BYTES, read_hello};

/// The first bytes of a real client.
fn real(name: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// A message with these extensions, in records of at most `size` bytes.
fn made(extensions: &[(u16, Vec<u8>)], size: usize) -> Vec<u8> {
    let list: Vec<u8> = extensions
        .iter()
        .flat_map(|(kind, content)| {
            let length = (content.len() as u16).to_be_bytes();
            [&kind.to_be_bytes(), length.as_slice(), content].concat()
        })
        .collect();
    let length = (list.len() as u16).to_be_bytes();
    let body = [
        &[3, 3],
        [7; 32].as_slice(),
        &[0],
        &[0, 2, 0x13, 1],
        &[1, 0],
        &length,
        &list,
    ]
    .concat();
    let message = [&[1], &(body.len() as u32).to_be_bytes()[1..], &body].concat();
    records(&message, size)
}

fn records(message: &[u8], size: usize) -> Vec<u8> {
    let record = |part: &[u8]| {
        let length = (part.len() as u16).to_be_bytes();
        [&[22, 3, 1], length.as_slice(), part].concat()
    };
    message.chunks(size).flat_map(record).collect()
}

/// The content of an extension that asks for names.
fn names(names: &[(u8, &str)]) -> Vec<u8> {
    let list: Vec<u8> = names
        .iter()
        .flat_map(|(kind, name)| {
            let length = (name.len() as u16).to_be_bytes();
            [&[*kind], length.as_slice(), name.as_bytes()].concat()
        })
        .collect();
    [&(list.len() as u16).to_be_bytes(), list.as_slice()].concat()
}

fn hello(name: Option<&str>, encrypted: bool) -> ClientHello {
    ClientHello {
        name: name.map(str::to_owned),
        encrypted,
    }
}

#[test]
fn the_name_of_a_real_client_is_read_when_all_of_it_is_there() {
    let bytes = real("api.test");
    assert_eq!(read_hello(&bytes), Ok(Some(hello(Some("api.test"), false))));
    for end in 0..bytes.len() {
        assert_eq!(read_hello(&bytes[..end]), Ok(None), "{end}");
    }
    assert_eq!(read_hello(&real("127.0.0.1")), Ok(Some(hello(None, false))));
}

#[test]
fn the_message_may_come_in_any_records() {
    let extensions = [(10, vec![0; 300]), (0, names(&[(0, "api.test")]))];
    for size in [1, 2, 3, 4, 5, 100, 10_000] {
        let read = read_hello(&made(&extensions, size));
        assert_eq!(read, Ok(Some(hello(Some("api.test"), false))), "{size}");
    }
}

#[test]
fn names_that_are_hidden_doubled_or_odd_are_told() {
    let check = |extensions: &[(u16, Vec<u8>)], expected: Option<ClientHello>| {
        let read = read_hello(&made(extensions, 500));
        assert_eq!(read.ok().flatten(), expected, "{extensions:?}");
    };
    let one = || (0, names(&[(0, "api.test")]));
    check(&[], Some(hello(None, false)));
    check(
        &[one(), (0xfe0d, vec![1])],
        Some(hello(Some("api.test"), true)),
    );
    check(
        &[(0xffce, vec![]), one()],
        Some(hello(Some("api.test"), true)),
    );
    check(&[one(), (0, names(&[(0, "evil.test")]))], None);
    check(&[(0, names(&[(0, "api.test"), (0, "evil.test")]))], None);
    check(&[(0, names(&[(0, "api.test"), (1, "x")]))], None);
    check(&[(0, names(&[(1, "api.test")]))], None);
    check(&[(0, names(&[(0, "bücher.test")]))], None);
    check(&[(0, vec![])], None);
    check(&[(0, vec![0, 9, 0, 0])], None);
    check(&[(0, [names(&[(0, "api.test")]), vec![0]].concat())], None);
    // Characters that no host has are left to whoever compares.
    check(
        &[(0, names(&[(0, "a\0b")]))],
        Some(hello(Some("a\0b"), false)),
    );
}

#[test]
fn other_beginnings_are_errors() {
    let fine = made(&[(0, names(&[(0, "api.test")]))], 500);
    let check = |place: usize, byte: u8| {
        let mut bytes = fine.clone();
        bytes[place] = byte;
        assert!(read_hello(&bytes).is_err(), "{place}");
    };
    check(0, 23);
    check(1, 2);
    check(3, 0x41);
    check(5, 2);
    check(6, 2);
    // Bytes behind the extensions.
    let mut message = fine[5..].to_vec();
    message.push(0);
    message[3] += 1;
    assert!(read_hello(&records(&message, 500)).is_err());
    // Records without content.
    assert!(read_hello(&[22, 3, 1, 0, 0]).is_err());
    let slow = records(&[&[1, 0, 0x40, 0], vec![0; 16_000].as_slice()].concat(), 1);
    assert!(slow.len() > MAX_BYTES);
    assert!(read_hello(&slow).is_err());
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_hello(&bytes);
        let _ = read_hello(&records(&[[1, 0, 0].as_slice(), &bytes].concat(), 64));
    }

    #[test]
    fn no_change_of_a_message_breaks_the_reader(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = made(&[(10, vec![0; 30]), (0, names(&[(0, "api.test")]))], 50);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = read_hello(&bytes);
    }
}
