//! Ways around a gateway: to change the network that it stands in, or to stand in its place.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("netlink-change", netlink_change),
    ("route-by-ioctl", route_by_ioctl),
    ("socket-option", socket_option),
    ("listen", listen),
    ("listener-of-parent", listener_of_parent),
];

/// Asks the kernel for a change, and takes it back. Addresses are such as nobody has.
fn netlink_change(args: &Args) -> Verdict {
    let change = match args.text(0)? {
        "route" => &ROUTE,
        "address" => &ADDRESS,
        "rule" => &RULE,
        "device" => &DEVICE,
        other => return untried(format!("no change `{other}`")),
    };
    let words = [
        libc::AF_NETLINK.into(),
        libc::SOCK_RAW.into(),
        libc::NETLINK_ROUTE.into(),
    ];
    let socket = sys::open(libc::SYS_socket, &words)?;
    request(&socket, change.add, CREATE, change.body)?;
    // What is left behind would be found by the next one.
    request(&socket, change.remove, 0, change.body)?;
    Ok("changed the network".to_owned())
}

/// Something to add and to remove: the kinds of the messages, and what both say.
struct Change {
    add: u16,
    remove: u16,
    body: &'static [u8],
}

/// Makes an address of documentation the machine's own: `struct rtmsg`, destination, device.
const ROUTE: Change = Change {
    add: libc::RTM_NEWROUTE,
    remove: libc::RTM_DELROUTE,
    body: &[
        2, 32, 0, 0, 255, 4, 254, 2, 0, 0, 0, 0, // of IPv4, local
        8, 0, 1, 0, 203, 0, 113, 77, //
        8, 0, 4, 0, 1, 0, 0, 0,
    ],
};

/// Gives such an address to the loopback: `struct ifaddrmsg`, the address.
const ADDRESS: Change = Change {
    add: libc::RTM_NEWADDR,
    remove: libc::RTM_DELADDR,
    body: &[
        2, 32, 0, 254, 1, 0, 0, 0, //
        8, 0, 2, 0, 203, 0, 113, 78,
    ],
};

/// Has packets from such an address go by the main table, as they do anyway: `struct fib_rule_hdr`, the
/// address, the priority.
const RULE: Change = Change {
    add: libc::RTM_NEWRULE,
    remove: libc::RTM_DELRULE,
    body: &[
        2, 0, 32, 0, 254, 0, 0, 1, 0, 0, 0, 0, //
        8, 0, 2, 0, 203, 0, 113, 79, //
        8, 0, 6, 0, 0x30, 0x75, 0, 0,
    ],
};

/// Makes a device that leads nowhere: `struct ifinfomsg`, its name, its kind.
const DEVICE: Change = Change {
    add: libc::RTM_NEWLINK,
    remove: libc::RTM_DELLINK,
    body: &[
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
        12, 0, 3, 0, b'j', b'i', b'g', b't', b'e', b's', b't', 0, //
        16, 0, 18, 0, 10, 0, 1, 0, b'd', b'u', b'm', b'm', b'y', 0, 0, 0,
    ],
};

/// `NLM_F_CREATE` and `NLM_F_EXCL`.
const CREATE: u16 = 0x400 | 0x200;

fn request(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    let length = 16 + body.len();
    let mut message = Vec::with_capacity(length);
    message.extend((length as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((flags | REQUEST_AND_ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    call!(libc::SYS_write, socket, message.as_slice(), length)?;
    let mut answer = [0_u8; 512];
    let room = answer.len();
    call!(libc::SYS_read, socket, answer.as_mut_slice(), room)?;
    match i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// The same route by an older call, with `struct rtentry`.
fn route_by_ioctl(_: &Args) -> Verdict {
    const ADD_ROUTE: u64 = 0x890b;
    const REMOVE_ROUTE: u64 = 0x890c;
    const UP_TO_HOST: u16 = 1 | 4;
    let words = [libc::AF_INET.into(), libc::SOCK_DGRAM.into(), 0.into()];
    let socket = sys::open(libc::SYS_socket, &words)?;
    let device = c"lo".to_bytes_with_nul();
    let mut route = [0_u8; 120];
    route[8..10].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    route[12..16].copy_from_slice(&[203, 0, 113, 80]);
    route[56..58].copy_from_slice(&UP_TO_HOST.to_ne_bytes());
    let address = device.as_ptr().expose_provenance() as u64;
    route[88..96].copy_from_slice(&address.to_ne_bytes());
    call!(libc::SYS_ioctl, &socket, ADD_ROUTE, route.as_slice())?;
    call!(libc::SYS_ioctl, &socket, REMOVE_ROUTE, route.as_slice())?;
    Ok("changed the routes".to_owned())
}

/// Switches an option of a TCP socket on that gives it power over others' packets.
fn socket_option(args: &Args) -> Verdict {
    let (level, option): (i32, i32) = (args.number(0)?, args.number(1)?);
    let words = [libc::AF_INET.into(), libc::SOCK_STREAM.into(), 0.into()];
    let socket = sys::open(libc::SYS_socket, &words)?;
    let on = 1_i32;
    let words = [
        (&socket).into(),
        level.into(),
        option.into(),
        sys::at(&on),
        size_of_val(&on).into(),
    ];
    sys::raw(libc::SYS_setsockopt, &words)?;
    Ok("switched it on".to_owned())
}

/// Takes a port at the first of several addresses that lets itself be taken, shared or not.
fn listen(args: &Args) -> Verdict {
    let kind = match args.text(0)? {
        "tcp" => libc::SOCK_STREAM,
        "udp" => libc::SOCK_DGRAM,
        other => return untried(format!("no kind `{other}`")),
    };
    let port = args.number(1)?;
    let mut last = Stopped::Untried("no address".to_owned());
    for address in args.rest(2) {
        let Ok(address) = address.parse::<IpAddr>() else {
            return untried(format!("`{address}` is no address"));
        };
        let address = SocketAddr::new(address, port);
        match take(kind, address) {
            Ok(()) => return Ok(format!("listens at {address}")),
            Err(error) => last = Stopped::Held(format!("{address}: {error}")),
        }
    }
    Err(last)
}

fn take(kind: i32, address: SocketAddr) -> io::Result<()> {
    let mut name = [0_u8; 28];
    name[2..4].copy_from_slice(&address.port().to_be_bytes());
    let (family, length) = match address.ip() {
        IpAddr::V4(ip) => {
            name[4..8].copy_from_slice(&ip.octets());
            (libc::AF_INET, 16)
        }
        IpAddr::V6(ip) => {
            name[8..24].copy_from_slice(&ip.octets());
            (libc::AF_INET6, 28)
        }
    };
    name[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    let socket = sys::open(libc::SYS_socket, &[family.into(), kind.into(), 0.into()])?;
    let on = 1_i32;
    for option in [libc::SO_REUSEADDR, libc::SO_REUSEPORT] {
        let words = [
            (&socket).into(),
            libc::SOL_SOCKET.into(),
            option.into(),
            sys::at(&on),
            size_of_val(&on).into(),
        ];
        sys::raw(libc::SYS_setsockopt, &words)?;
    }
    call!(libc::SYS_bind, &socket, name.as_slice(), length)?;
    if kind == libc::SOCK_STREAM {
        call!(libc::SYS_listen, &socket, 1)?;
    }
    Ok(())
}

/// Takes a copy of a listening socket of its parent: the host, or its keeper.
fn listener_of_parent(_: &Args) -> Verdict {
    // SAFETY: it has no preconditions.
    let parent = unsafe { libc::getppid() };
    let process = sys::open(libc::SYS_pidfd_open, &[parent.into(), 0.into()])?;
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for number in 0..256 {
        let words = [(&process).into(), number.into(), 0.into()];
        match sys::open(libc::SYS_pidfd_getfd, &words) {
            Ok(taken) if is_listening(&taken) => {
                return Ok(format!("took descriptor {number}, which listens"));
            }
            Ok(_) => last = io::Error::other("none of what it took listens"),
            Err(error) if sys::is(&error, libc::EBADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    held(last.to_string())
}

fn is_listening(socket: &OwnedFd) -> bool {
    let (mut listens, mut length) = (0_i32, size_of::<i32>() as u32);
    let words = [
        socket.into(),
        libc::SOL_SOCKET.into(),
        libc::SO_ACCEPTCONN.into(),
        sys::into(&mut listens),
        sys::into(&mut length),
    ];
    sys::raw(libc::SYS_getsockopt, &words).is_ok() && listens == 1
}
