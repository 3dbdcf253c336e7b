//! What makes up a gateway in the tool's network namespace: addresses that lead to the machine itself, and
//! sockets that are handed to the host. The tool never has them.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use super::calls::{self, O_CLOEXEC, descriptor};
use super::order::{self, OrderBlock, OrderSpan, SocketOrder};
use super::raw::{self, RawErrno, call};
use super::record::{KeeperMessage, MOST_DESCRIPTORS};

/// Makes the sockets of a span, and sends them over the line in their order.
pub(crate) fn make(order: &OrderBlock, sockets: OrderSpan, line: i32) -> Result<(), RawErrno> {
    let mut first = 0;
    while first < sockets.count {
        let mut made = [-1; MOST_DESCRIPTORS];
        let count = (sockets.count - first).min(made.len() as u32);
        let mut result = Ok(());
        for (number, slot) in (first..first + count).zip(&mut made) {
            match order.item(sockets, number).and_then(|one| socket(&one)) {
                Ok(fd) => *slot = fd,
                Err(errno) => {
                    result = Err(errno);
                    break;
                }
            }
        }
        let fds = made.get(..count as usize).unwrap_or_default();
        let sent = result.and_then(|()| send(line, fds));
        for fd in made.into_iter().filter(|fd| *fd >= 0) {
            calls::close(fd);
        }
        sent?;
        first += count;
    }
    Ok(())
}

/// The kernel lets a user have no more descriptors under way than one process may have open. The host takes
/// them as they come.
fn send(line: i32, fds: &[i32]) -> Result<(), RawErrno> {
    let mut pauses = 0;
    loop {
        match calls::send(line, &KeeperMessage::Sockets.encode(), fds) {
            Err(RawErrno::TOOMANYREFS) if pauses < MOST_PAUSES => {
                pauses += 1;
                calls::pause(1);
            }
            sent => return sent,
        }
    }
}

fn socket(socket: &SocketOrder) -> Result<i32, RawErrno> {
    match socket.kind {
        order::DATAGRAMS => {
            let address = address_v4(socket.address, socket.port);
            bound(INET, DATAGRAM, &address)
        }
        order::STREAMS => {
            let fd = all_addresses(socket.port)?;
            // SAFETY: the call takes no addresses.
            match unsafe { call!(LISTEN, fd, BACKLOG) } {
                Ok(_) => Ok(fd),
                Err(errno) => {
                    calls::close(fd);
                    Err(errno)
                }
            }
        }
        _ => Err(RawErrno::BADMSG),
    }
}

/// A stream socket on a port of every address: of both families, or where there is no IPv6, of IPv4.
fn all_addresses(port: u16) -> Result<i32, RawErrno> {
    const LEVEL_V6: i32 = 41;
    const ONLY_V6: i32 = 26;
    let both = new(INET6, STREAM).and_then(|fd| {
        let off = 0_i32;
        // SAFETY: the value is a live local of the size that is given.
        let set = unsafe { call!(SETSOCKOPT, fd, LEVEL_V6, ONLY_V6, &raw const off, 4) };
        bind(fd, set.map(drop), &address_v6(port))
    });
    both.or_else(|_| bound(INET, STREAM, &address_v4([0; 4], port)))
}

fn bound(family: i32, kind: i32, address: &[u8]) -> Result<i32, RawErrno> {
    let fd = new(family, kind)?;
    bind(fd, Ok(()), address)
}

fn new(family: i32, kind: i32) -> Result<i32, RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(SOCKET, family, kind | O_CLOEXEC, 0) }.map(descriptor)
}

/// Binds a socket if all went well so far. If not, it is closed.
fn bind(fd: i32, so_far: Result<(), RawErrno>, address: &[u8]) -> Result<i32, RawErrno> {
    let bound = so_far.and_then(|()| {
        // SAFETY: address and length are those of a live slice.
        unsafe { call!(BIND, fd, address.as_ptr(), address.len()) }
    });
    match bound {
        Ok(_) => Ok(fd),
        Err(errno) => {
            calls::close(fd);
            Err(errno)
        }
    }
}

/// `struct sockaddr_in`.
fn address_v4(address: [u8; 4], port: u16) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&(INET as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[4..8].copy_from_slice(&address);
    bytes
}

/// `struct sockaddr_in6`, of all addresses.
fn address_v6(port: u16) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..2].copy_from_slice(&(INET6 as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes
}

/// Adds a route by which all addresses of a network, of 4 or 16 bytes, are this machine's own. One that is
/// there already is as good.
pub(crate) fn make_local(network: &[u8], prefix: u32) -> Result<(), RawErrno> {
    let (family, most) = match network.len() {
        4 => (INET, 32),
        16 => (INET6, 128),
        _ => return Err(RawErrno::BADMSG),
    };
    if prefix > most {
        return Err(RawErrno::BADMSG);
    }
    let mut message = NetlinkRoute::new(family as u8, prefix as u8);
    message.put(DESTINATION, network);
    message.put(INTERFACE, &LOOPBACK.to_ne_bytes());
    let socket = new(NETLINK, RAW)?;
    let result = calls::write(socket, message.finish()).and_then(|_| acknowledged(socket));
    calls::close(socket);
    match result {
        Err(RawErrno::EXIST) => Ok(()),
        result => result,
    }
}

/// Reads the kernel's answer to a request that asks for one.
fn acknowledged(socket: i32) -> Result<(), RawErrno> {
    // A header of 16 bytes, then the error below zero, then the start of the request.
    let mut answer = [0_u8; 256];
    let length = loop {
        match calls::read(socket, &mut answer) {
            Err(RawErrno::INTR) => {}
            result => break result?,
        }
    };
    match answer.get(..length).and_then(|answer| answer.get(16..20)) {
        Some(&[a, b, c, d]) => match i32::from_ne_bytes([a, b, c, d]) {
            0 => Ok(()),
            errno => Err(RawErrno(-errno)),
        },
        _ => Err(RawErrno::BADMSG),
    }
}

/// A request for a new route: `struct nlmsghdr`, `struct rtmsg`, and attributes.
struct NetlinkRoute {
    bytes: [u8; 64],
    length: usize,
}

impl NetlinkRoute {
    fn new(family: u8, prefix: u8) -> Self {
        const NEW_ROUTE: u16 = 24;
        const REQUEST_CREATE_ACKNOWLEDGE: u16 = 1 | 0x400 | 4;
        const TABLE_LOCAL: u8 = 255;
        const BY_ADMINISTRATOR: u8 = 4;
        const SCOPE_HOST: u8 = 254;
        const KIND_LOCAL: u8 = 2;
        let mut bytes = [0; 64];
        bytes[4..6].copy_from_slice(&NEW_ROUTE.to_ne_bytes());
        bytes[6..8].copy_from_slice(&REQUEST_CREATE_ACKNOWLEDGE.to_ne_bytes());
        bytes[16..24].copy_from_slice(&[
            family,
            prefix,
            0,
            0,
            TABLE_LOCAL,
            BY_ADMINISTRATOR,
            SCOPE_HOST,
            KIND_LOCAL,
        ]);
        Self { bytes, length: 28 }
    }

    /// Adds an attribute, whose value is a multiple of 4 bytes long. There is room for the two that are
    /// added: 20 and 8 bytes.
    fn put(&mut self, kind: u16, value: &[u8]) {
        let length = 4 + value.len();
        if let Some(room) = self.bytes.get_mut(self.length..self.length + length) {
            room[..2].copy_from_slice(&(length as u16).to_ne_bytes());
            room[2..4].copy_from_slice(&kind.to_ne_bytes());
            room[4..].copy_from_slice(value);
            self.length += length;
        }
    }

    fn finish(&mut self) -> &[u8] {
        self.bytes[..4].copy_from_slice(&(self.length as u32).to_ne_bytes());
        &self.bytes[..self.length]
    }
}

const INET: i32 = 2;
const INET6: i32 = 10;
const NETLINK: i32 = 16;
const STREAM: i32 = 1;
const DATAGRAM: i32 = 2;
const RAW: i32 = 3;

/// How often to wait for the host, a millisecond each time. It has nothing else to do.
const MOST_PAUSES: u32 = 5000;

/// Attributes of a route.
const DESTINATION: u16 = 1;
const INTERFACE: u16 = 4;

/// The number of the loopback device, which is the first of every network namespace.
const LOOPBACK: u32 = 1;

/// Connections that wait to be accepted. A tool that makes more than that at once waits for the rest.
const BACKLOG: i32 = 512;
