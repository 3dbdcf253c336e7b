use super::*;

#[test]
fn what_opening_wants() {
    use libc::*;
    for (flags, exists, expected) in [
        (O_RDONLY, true, "read"),
        (O_RDONLY, false, "read"),
        (O_WRONLY, true, "update"),
        (O_RDWR, true, "read, update"),
        (O_ACCMODE, true, "read, update"),
        (O_RDONLY | O_TRUNC, true, "read, update"),
        (O_WRONLY | O_APPEND, true, "update"),
        (O_WRONLY | O_CREAT, true, "update"),
        (O_WRONLY | O_CREAT, false, "create"),
        (O_RDWR | O_CREAT | O_TRUNC, true, "read, update"),
        (O_RDWR | O_CREAT | O_TRUNC, false, "read, create"),
        (O_RDONLY | O_CREAT, true, "read"),
        (O_RDONLY | O_CREAT, false, "read, create"),
        (O_WRONLY | O_CREAT | O_EXCL, false, "create"),
        (O_WRONLY | O_CREAT | O_EXCL, true, "nothing"),
        (O_RDWR | O_TMPFILE, true, "read, create"),
        (O_WRONLY | O_TMPFILE, true, "create"),
        (O_RDONLY | O_DIRECTORY, true, "read"),
        (O_PATH, true, "nothing"),
        (O_PATH | O_RDWR, true, "nothing"),
    ] {
        let wanted = opened(flags, exists).to_string();
        assert_eq!(wanted, expected, "{flags:#o} {exists}");
    }
}

#[test]
fn addresses_of_all_lengths() {
    let with = |family: i32, rest: &[u8]| {
        let mut bytes = (family as u16).to_ne_bytes().to_vec();
        bytes.extend_from_slice(rest);
        bytes
    };
    let v4 = with(
        libc::AF_INET,
        &[0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    let mut v6 = with(libc::AF_INET6, &[0, 80, 0, 0, 0, 0]);
    v6.extend(Ipv6Addr::LOCALHOST.octets());
    let address = |text: &str| SocketAddress::Internet(text.parse().expect("it is an address"));
    assert_eq!(parse(&v4), Some(address("127.0.0.1:8080")));
    assert_eq!(parse(&v6), Some(address("[::1]:80")));
    let path = with(libc::AF_UNIX, b"/run/socket\0rest");
    assert_eq!(parse(&path), Some(SocketAddress::Path(b"/run/socket")));
    assert_eq!(
        parse(&with(libc::AF_UNIX, b"socket")),
        Some(SocketAddress::Path(b"socket"))
    );
    assert_eq!(
        parse(&with(libc::AF_UNIX, b"\0name")),
        Some(SocketAddress::Abstract(b"name"))
    );
    assert_eq!(parse(&with(libc::AF_UNIX, b"")), None);
    assert_eq!(parse(&with(libc::AF_NETLINK, &[0; 10])), None);
    for address in [&v4, &v6] {
        let needed = if address.len() == v4.len() { 8 } else { 24 };
        for length in 0..address.len() {
            assert_eq!(
                parse(&address[..length]).is_some(),
                length >= needed,
                "{length}"
            );
        }
    }
}
