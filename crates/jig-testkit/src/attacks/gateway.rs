//! Ways around a gateway, in whose network all that a tool connects to ends: to change that network, or to
//! stand in the gateway's place and hear what others of the tree send.

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

/// A port above those that only root may take. A profile with a gateway lists it for these attacks.
pub const GATEWAY_PORT: u16 = 28_471;

pub(super) const GATEWAY: &[Attack] = &[
    attack(
        "gateway-port",
        "listen",
        "listens where the gateway does",
        |_| {
            let port = GATEWAY_PORT.to_string();
            let own = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"];
            let names = ["198.18.0.1", "198.18.0.20", "fd6a:6967:6e61:6d65::14"];
            let mut all = words(["tcp", &port]);
            all.extend(own.iter().chain(&names).map(|one| (*one).to_owned()));
            all
        },
    )
    .only_with_gateway("without a gateway the port is the tool's own"),
    attack(
        "proxy-port",
        "listen",
        "listens where the proxy of the gateway does",
        |_| words(["tcp", "3128", "127.0.0.1", "0.0.0.0", "198.18.0.1"]),
    )
    .twin(Twin::Machine("the machine may have a proxy of its own"))
    .only_with_gateway("without a gateway the port is the tool's own"),
    attack(
        "low-port",
        "listen",
        "listens on a port of the system",
        |_| words(["tcp", "79", "127.0.0.77"]),
    )
    .twin(Twin::Root),
    attack(
        "low-port-udp",
        "listen",
        "hears datagrams on a port of the system",
        |_| words(["udp", "79", "127.0.0.77"]),
    )
    .twin(Twin::Root),
    attack(
        "low-port-setting",
        "open-for-writing",
        "makes all ports everybody's",
        |_| words(["/proc/sys/net/ipv4/ip_unprivileged_port_start"]),
    )
    .twin(Twin::Root),
    attack(
        "listener-of-parent",
        "listener-of-parent",
        "takes a listening socket from its parent",
        |_| words([]),
    )
    .twin(Twin::Root),
    attack("route", "netlink-change", "adds a route", |_| {
        words(["route"])
    })
    .twin(Twin::Root),
    attack(
        "route-by-ioctl",
        "route-by-ioctl",
        "adds a route by an older call",
        |_| words([]),
    )
    .twin(Twin::Root),
    attack("address", "netlink-change", "takes on an address", |_| {
        words(["address"])
    })
    .twin(Twin::Root),
    attack(
        "route-rule",
        "netlink-change",
        "adds a rule of routing",
        |_| words(["rule"]),
    )
    .twin(Twin::Machine("kernels may be built without them")),
    attack("device", "netlink-change", "makes a device", |_| {
        words(["device"])
    })
    .twin(Twin::Machine("kernels may be built without the device")),
    attack(
        "transparent",
        "socket-option",
        "takes connections to addresses of others",
        |_| words(["0", "19"]),
    )
    .twin(Twin::Root),
    attack(
        "mark",
        "socket-option",
        "marks packets for the firewall",
        |_| words(["1", "36"]),
    )
    .twin(Twin::Root),
    attack(
        "tcp-repair",
        "socket-option",
        "forges the state of a connection",
        |_| words(["6", "19"]),
    )
    .twin(Twin::Root),
    attack("ping", "socket", "asks who is there", |_| {
        words(["2", "2", "1"])
    })
    .twin(Twin::Machine("it may be switched off")),
];
