//! Ways to talk to somebody. Every listener of the host tells the secret to whoever comes.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self, UnixDatagram, UnixStream};
use std::process;
use std::time::Duration;

use crate::reading::has_secret;
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("tcp", |args| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.number(0)?));
        hear(TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    ("tcp6", |args| {
        let address = SocketAddr::from((Ipv6Addr::LOCALHOST, args.number(0)?));
        hear(TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    ("tcp-mapped", |args| {
        let address = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
        let address = SocketAddr::from((address, args.number(0)?));
        hear(TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    ("tcp-unspecified", |args| {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, args.number(0)?));
        hear(TcpStream::connect_timeout(&address, PATIENCE)?)
    }),
    ("tcp-fast-open", fast_open),
    ("mptcp", |args| stream_of(libc::IPPROTO_MPTCP, args)),
    ("sctp", |args| stream_of(libc::IPPROTO_SCTP, args)),
    ("smc", |args| {
        const AF_SMC: i32 = 43;
        connect(AF_SMC, 0, args)
    }),
    ("udp", |args| datagram(b"hello", args)),
    ("udp-sendmmsg", sendmmsg),
    ("dns", |args| datagram(QUERY, args)),
    ("unix-stream", |args| {
        hear_unix(UnixStream::connect(args.text(0)?)?)
    }),
    ("unix-datagram", unix_datagram),
    ("unix-through-link", |args| {
        std::os::unix::fs::symlink(args.text(0)?, args.text(1)?)?;
        hear_unix(UnixStream::connect(args.text(1)?)?)
    }),
    ("abstract-stream", |args| {
        let address = net::SocketAddr::from_abstract_name(args.text(0)?)?;
        hear_unix(UnixStream::connect_addr(&address)?)
    }),
    ("abstract-datagram", abstract_datagram),
    ("abstract-names", |args| {
        contains("/proc/net/unix", args.text(0)?)
    }),
    ("socket", socket),
    ("netlink-listen", netlink_listen),
    ("interfaces", interfaces),
    ("raise-interface", raise_interface),
    ("socket-table", |args| {
        let port: u16 = args.number(0)?;
        contains("/proc/net/tcp", &format!(":{port:04X} "))
    }),
    ("bind-port", |args| {
        // The host's own port: where the network is shared, it is taken.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.number(0)?));
        match std::net::TcpListener::bind(address) {
            Err(error) if sys::is(&error, libc::EADDRINUSE) => {
                Ok("it sees that the port is taken".to_owned())
            }
            Err(error) => Err(error.into()),
            Ok(_) => held("the port is free here"),
        }
    }),
];

/// A listener on the same machine answers at once; nobody else need be waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// A question for the address of `a.test`, as DNS has it.
const QUERY: &[u8] =
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x01\x00\x01";

fn hear(stream: TcpStream) -> Verdict {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    stream.take(4096).read_to_end(&mut bytes)?;
    has_secret(&bytes)
}

fn hear_unix(stream: UnixStream) -> Verdict {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    stream.take(4096).read_to_end(&mut bytes)?;
    has_secret(&bytes)
}

/// `struct sockaddr_in` of a port on 127.0.0.1.
fn loopback(port: u16) -> [u8; 16] {
    let mut address = [0; 16];
    address[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&port.to_be_bytes());
    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
    address
}

fn new_socket(family: i32, kind: i32, protocol: i32) -> std::io::Result<OwnedFd> {
    let words = [family.into(), kind.into(), protocol.into()];
    sys::open(libc::SYS_socket, &words)
}

fn into_stream(socket: OwnedFd) -> TcpStream {
    // SAFETY: the descriptor is handed over, and is a stream socket that speaks like TCP.
    unsafe { TcpStream::from_raw_fd(socket.into_raw_fd()) }
}

fn stream_of(protocol: i32, args: &Args) -> Verdict {
    connect(libc::AF_INET, protocol, args)
}

fn connect(family: i32, protocol: i32, args: &Args) -> Verdict {
    let socket = match new_socket(family, libc::SOCK_STREAM, protocol) {
        Err(error) if is_missing(&error) => return unknown(&error),
        socket => socket?,
    };
    let address = loopback(args.number(0)?);
    call!(
        libc::SYS_connect,
        &socket,
        address.as_slice(),
        address.len()
    )?;
    hear(into_stream(socket))
}

/// Sends data with the first packet, without `connect`.
fn fast_open(args: &Args) -> Verdict {
    let socket = new_socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let address = loopback(args.number(0)?);
    let data = b"hello".as_slice();
    call!(
        libc::SYS_sendto,
        &socket,
        data,
        data.len(),
        libc::MSG_FASTOPEN,
        address.as_slice(),
        address.len(),
    )?;
    hear(into_stream(socket))
}

fn datagram(question: &[u8], args: &Args) -> Verdict {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(question, (Ipv4Addr::LOCALHOST, args.number::<u16>(0)?))?;
    let mut answer = [0; 512];
    let (length, _) = socket.recv_from(&mut answer)?;
    has_secret(&answer[..length])
}

/// The same by a call that filters of `sendto` and `connect` forget.
fn sendmmsg(args: &Args) -> Verdict {
    let socket = new_socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut address = loopback(args.number(0)?);
    let mut data = *b"hello";
    let mut part = libc::iovec {
        iov_base: data.as_mut_ptr().cast(),
        iov_len: data.len(),
    };
    let mut message = libc::mmsghdr {
        msg_hdr: libc::msghdr {
            msg_name: address.as_mut_ptr().cast(),
            msg_namelen: address.len() as u32,
            msg_iov: &raw mut part,
            msg_iovlen: 1,
            msg_control: std::ptr::null_mut(),
            msg_controllen: 0,
            msg_flags: 0,
        },
        msg_len: 0,
    };
    sys::raw(
        libc::SYS_sendmmsg,
        &[
            (&socket).into(),
            sys::into(&mut message),
            1.into(),
            0.into(),
        ],
    )?;
    // SAFETY: the descriptor is handed over, and is a datagram socket.
    let socket = unsafe { UdpSocket::from_raw_fd(socket.into_raw_fd()) };
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    has_secret(&answer[..length])
}

fn unix_datagram(args: &Args) -> Verdict {
    let own = args.text(1)?;
    let socket = UnixDatagram::bind(own)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(b"hello", args.text(0)?)?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    has_secret(&answer[..length])
}

fn abstract_datagram(args: &Args) -> Verdict {
    let own = format!("jig-hostile-{}", process::id());
    let socket = UnixDatagram::bind_addr(&net::SocketAddr::from_abstract_name(own)?)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let address = net::SocketAddr::from_abstract_name(args.text(0)?)?;
    socket.send_to_addr(b"hello", &address)?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    has_secret(&answer[..length])
}

/// A kind of socket that no ordinary tool needs: that it can be made is too much.
fn socket(args: &Args) -> Verdict {
    match new_socket(args.number(0)?, args.number(1)?, args.number(2)?) {
        Ok(_) => Ok("made the socket".to_owned()),
        Err(error) if is_missing(&error) => unknown(&error),
        Err(error) => Err(error.into()),
    }
}

/// The kernel does not know the kind of socket; or says so because a filter does.
fn is_missing(error: &std::io::Error) -> bool {
    let missing = [
        libc::EAFNOSUPPORT,
        libc::EPROTONOSUPPORT,
        libc::ESOCKTNOSUPPORT,
    ];
    missing.into_iter().any(|number| sys::is(error, number))
}

/// From the inside a filter and a kernel without the protocol look alike.
fn unknown(error: &std::io::Error) -> Verdict {
    Err(Stopped::Held(format!("no such socket: {error}")))
}

/// Listens to what the kernel tells everybody: devices that come and go, processes that start.
fn netlink_listen(args: &Args) -> Verdict {
    let protocol: i32 = args.number(0)?;
    let socket = new_socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)?;
    let mut address = [0_u8; 12];
    address[..2].copy_from_slice(&(libc::AF_NETLINK as u16).to_ne_bytes());
    address[8..].copy_from_slice(&1_u32.to_ne_bytes());
    call!(libc::SYS_bind, &socket, address.as_slice(), address.len())?;
    Ok("listens to the kernel".to_owned())
}

/// Any interface but the loopback.
fn interfaces(_: &Args) -> Verdict {
    let table = fs::read_to_string("/proc/net/dev")?;
    let names = table.lines().filter_map(|line| line.split_once(':'));
    let mut others = names
        .map(|(name, _)| name.trim())
        .filter(|name| *name != "lo");
    match others.next() {
        Some(name) => Ok(format!("sees {name}")),
        None if table.is_empty() => untried("no table"),
        None => held("there is only a loopback"),
    }
}

/// Sets the flags that the loopback has already: what counts is that it is allowed.
fn raise_interface(_: &Args) -> Verdict {
    const GET_FLAGS: u64 = 0x8913;
    const SET_FLAGS: u64 = 0x8914;
    let socket = new_socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    call!(libc::SYS_ioctl, &socket, GET_FLAGS, request.as_mut_slice())?;
    call!(libc::SYS_ioctl, &socket, SET_FLAGS, request.as_mut_slice())?;
    Ok("configured the network".to_owned())
}

fn contains(path: &str, wanted: &str) -> Verdict {
    let table = fs::read(path)?;
    let text = String::from_utf8_lossy(&table);
    if text.contains(wanted) {
        return Ok(format!("found in {path}"));
    }
    held(format!("not in {path}"))
}
