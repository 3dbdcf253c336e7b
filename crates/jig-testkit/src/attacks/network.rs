//! Talking to somebody.

use super::words;
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn attack(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Network, name, program, about, args)
}

const FAMILY: Twin = Twin::Machine("not every kernel has the family");

fn tcp(arena: &Arena) -> Vec<String> {
    vec![arena.host().listeners.tcp.to_string()]
}

fn udp(arena: &Arena) -> Vec<String> {
    vec![arena.host().listeners.udp.to_string()]
}

pub(super) const NETWORK: &[Attack] = &[
    attack("tcp", "tcp", "connects to a server of the host", tcp),
    attack("tcp6", "tcp6", "the same by IPv6", |a| {
        let port = a.host().listeners.tcp6;
        vec![port.map(|port| port.to_string()).unwrap_or_default()]
    })
    .twin(Twin::Machine("not every machine has IPv6")),
    attack(
        "tcp-mapped",
        "tcp-mapped",
        "by an IPv4 address in IPv6",
        tcp,
    )
    .twin(Twin::Machine("not every machine has IPv6")),
    attack(
        "tcp-unspecified",
        "tcp-unspecified",
        "by the address 0.0.0.0",
        tcp,
    ),
    attack("tcp-fast-open", "tcp-fast-open", "without connect", tcp)
        .twin(Twin::Machine("it may be switched off")),
    attack("mptcp", "mptcp", "by multipath TCP", tcp).twin(FAMILY),
    attack("sctp", "sctp", "by SCTP", tcp).twin(FAMILY),
    attack("smc", "smc", "by SMC, which falls back to TCP", tcp).twin(FAMILY),
    attack("udp", "udp", "sends a datagram and hears the answer", udp),
    attack(
        "udp-sendmmsg",
        "udp-sendmmsg",
        "by a call that sends many",
        udp,
    ),
    attack("dns", "dns", "asks for a name", udp),
    attack(
        "port-of-host",
        "bind-port",
        "learns which ports are taken",
        tcp,
    )
    .open_with_gateway("the ports of its rules are known to the tool"),
    attack(
        "unix-stream",
        "unix-stream",
        "connects to a socket beside the workspace",
        |a| {
            words([&a
                .host()
                .listeners
                .path_in(&a.host().root().to_string_lossy())])
        },
    ),
    attack(
        "unix-stream-tmp",
        "unix-stream",
        "to a socket in /tmp",
        |a| words([&a.host().listeners.path_in("/tmp")]),
    ),
    attack(
        "unix-stream-run",
        "unix-stream",
        "to a socket in /run",
        |a| words([&a.host().listeners.path_in("/run")]),
    )
    .twin(Twin::Root),
    attack(
        "unix-stream-link",
        "unix-through-link",
        "through a link in the workspace",
        |a| {
            let socket = a
                .host()
                .listeners
                .path_in(&a.host().root().to_string_lossy());
            words([&socket, &a.workspace("new-link")])
        },
    ),
    attack(
        "unix-stream-root",
        "unix-stream",
        "by /proc/self/root",
        |a| {
            let socket = a
                .host()
                .listeners
                .path_in(&a.host().root().to_string_lossy());
            words([&format!("/proc/self/root{socket}")])
        },
    ),
    attack(
        "unix-stream-inside",
        "unix-stream",
        "to a socket that somebody has in the workspace",
        |a| words([&a.workspace("service.sock")]),
    )
    .open_in_a("whoever listens in the workspace is there to be talked to; the status says so"),
    attack(
        "unix-datagram",
        "unix-datagram",
        "sends a datagram to a path",
        |a| {
            let socket = a.host().listeners.datagram_path.to_string_lossy();
            words([&socket, &a.workspace("own.sock")])
        },
    ),
    attack(
        "abstract-stream",
        "abstract-stream",
        "connects to a name without a path",
        |a| words([&a.host().listeners.abstract_stream]),
    ),
    attack(
        "abstract-datagram",
        "abstract-datagram",
        "sends a datagram to such a name",
        |a| words([&a.host().listeners.abstract_datagram]),
    ),
    attack(
        "abstract-names",
        "abstract-names",
        "learns the names",
        |a| words([&a.host().listeners.abstract_stream]),
    ),
    attack(
        "socket-table",
        "socket-table",
        "learns who is connected",
        tcp,
    ),
    attack("interfaces", "interfaces", "sees the interfaces", |_| {
        words([])
    })
    .twin(Twin::Machine("a machine may have no network")),
    attack(
        "raise-interface",
        "raise-interface",
        "configures an interface",
        |_| words([]),
    )
    .twin(Twin::Root),
    attack("raw", "socket", "forges packets", |_| {
        words(["2", "3", "1"])
    })
    .twin(Twin::Root),
    attack("raw6", "socket", "forges packets of IPv6", |_| {
        words(["10", "3", "58"])
    })
    .twin(Twin::Machine("not every machine has IPv6")),
    attack("packet", "socket", "hears all packets", |_| {
        words(["17", "3", "768"])
    })
    .twin(Twin::Root),
    attack("vsock", "socket", "talks to the machine below", |_| {
        words(["40", "1", "0"])
    })
    .twin(FAMILY),
    attack(
        "kernel-crypto",
        "socket",
        "uses the cryptography of the kernel",
        |_| words(["38", "5", "0"]),
    )
    .twin(FAMILY),
    attack("bluetooth", "socket", "talks by radio", |_| {
        words(["31", "3", "1"])
    })
    .twin(FAMILY),
    attack("can", "socket", "talks on the bus of a car", |_| {
        words(["29", "3", "1"])
    })
    .twin(FAMILY),
    attack("tipc", "socket", "talks to a cluster", |_| {
        words(["30", "1", "0"])
    })
    .twin(FAMILY),
    attack("rds", "socket", "by reliable datagrams", |_| {
        words(["21", "5", "0"])
    })
    .twin(FAMILY),
    attack("xdp", "socket", "past the network stack", |_| {
        words(["44", "3", "0"])
    })
    .twin(FAMILY),
    attack("key", "socket", "changes the keys of IPsec", |_| {
        words(["15", "3", "2"])
    })
    .twin(FAMILY),
    attack("qipcrtr", "socket", "talks to a modem", |_| {
        words(["42", "2", "0"])
    })
    .twin(FAMILY),
    attack(
        "netlink-audit",
        "socket",
        "talks to the audit of the kernel",
        |_| words(["16", "3", "9"]),
    )
    .twin(FAMILY),
    attack(
        "netlink-netfilter",
        "socket",
        "talks to the firewall",
        |_| words(["16", "3", "12"]),
    )
    .twin(FAMILY),
    attack("netlink-diagnosis", "socket", "lists all sockets", |_| {
        words(["16", "3", "4"])
    })
    .twin(FAMILY),
    attack(
        "netlink-generic",
        "socket",
        "talks to any part of the kernel",
        |_| words(["16", "3", "16"]),
    )
    .twin(FAMILY),
    attack(
        "netlink-devices",
        "netlink-listen",
        "hears of devices",
        |_| words(["15"]),
    )
    .twin(FAMILY),
];
