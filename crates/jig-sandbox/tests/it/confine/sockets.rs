//! What listens on the host is out of reach, or the status says that it is not.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::Duration;

use jig_sandbox::Network;

use super::*;

const TCP: &str = "JIG_TEST_TCP";
const UDP: &str = "JIG_TEST_UDP";
const NAME: &str = "JIG_TEST_NAME";
const STREAM: &str = "JIG_TEST_STREAM";
const DATAGRAM: &str = "JIG_TEST_DATAGRAM";

/// Not a test: what runs inside, started by those below.
#[test]
fn inside() {
    if !is_inside() {
        return;
    }
    let variable = |name| std::env::var(name).expect("it is set");
    let abstract_name = SocketAddr::from_abstract_name(variable(NAME)).expect("it is short");
    let mut reached = Vec::new();
    let mut note = |what, result: std::io::Result<()>| {
        if result.is_ok() {
            reached.push(what);
        }
    };
    note("tcp", TcpStream::connect(variable(TCP)).map(drop));
    let udp = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", variable(UDP)));
    // That nobody gets it is seen outside.
    drop(udp);
    note("name", UnixStream::connect_addr(&abstract_name).map(drop));
    note("stream", UnixStream::connect(variable(STREAM)).map(drop));
    let datagram = || UnixDatagram::unbound()?.send_to(b"x", variable(DATAGRAM));
    note("datagram", datagram().map(drop));
    // A pair is born connected, but datagrams can be sent elsewhere.
    let pair = || UnixDatagram::pair()?.0.send_to(b"x", variable(DATAGRAM));
    note("pair", pair().map(drop));
    println!("reached [{}]", reached.join(" "));
}

/// Listens in every way, runs the above, and says what was reached. Of unix sockets with a path, one
/// lies in the workspace; they are last in the list.
fn reached_under(layers: Layers, network: Network) -> (String, Status) {
    let workspace = Workspace::of("shown/");
    let (stream, datagram) = (
        workspace.join("shown/stream"),
        workspace.join("shown/datagram"),
    );
    let name = workspace.join("name").display().to_string();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("there is a loopback");
    let address = SocketAddr::from_abstract_name(&name).expect("it is short");
    let _by_name = UnixListener::bind_addr(&address).expect("the name is free");
    let _by_path = UnixListener::bind(&stream).expect("it is ours");
    let _by_path = UnixDatagram::bind(&datagram).expect("it is ours");
    let mut profile = system();
    profile.layers = layers;
    profile.network = network;
    profile
        .paths
        .push(rule(workspace.join("shown"), Rights::READ));
    let text = |path: &Path| path.to_str().expect("it is text").to_owned();
    let ran = run_inside(
        "confine::sockets::inside",
        &workspace,
        profile,
        &[
            (TCP, &tcp.local_addr().expect("it is bound").to_string()),
            (UDP, &udp.local_addr().expect("it is bound").to_string()),
            (NAME, &name),
            (STREAM, &text(&stream)),
            (DATAGRAM, &text(&datagram)),
        ],
    );
    let reached = ran.output.split(['[', ']']).nth(1).map(str::to_owned);
    let mut reached = reached.unwrap_or_else(|| panic!("{}{}", ran.output, ran.errors));
    udp.set_read_timeout(Some(Duration::from_millis(50)))
        .expect("it is not zero");
    if udp.recv(&mut [0; 8]).is_ok() {
        reached.insert_str(0, "udp ");
    }
    (reached, ran.status)
}

#[test]
fn without_a_network_nothing_is_reached() {
    for layers in tiers() {
        let (reached, status) = reached_under(layers, Network::None);
        // Connecting by a path that is shown is what the status says it is.
        if status.ipc.to_string() == "enforced" {
            assert_eq!(reached, "", "{layers:?}");
        } else {
            assert_eq!(reached, "stream datagram pair", "{layers:?}");
            assert!(status.ipc.to_string().contains("/shown`"), "{}", status.ipc);
        }
        assert_eq!(status.network.to_string(), "enforced");
    }
}

/// The network of the host is the network alone: its unix sockets are not part of it.
#[test]
fn with_the_network_only_that_is_reached() {
    for layers in tiers() {
        let (reached, status) = reached_under(layers, Network::Host);
        let by_path = status.ipc.to_string() != "enforced";
        let expected = if by_path {
            "udp tcp stream datagram pair"
        } else {
            "udp tcp"
        };
        assert_eq!(reached, expected, "{layers:?} {}", status.ipc);
    }
}

/// The twin.
#[test]
fn unconfined_everything_is_reached() {
    let none = Layers {
        namespaces: false,
        landlock: 0,
        seccomp: false,
        supervisor: false,
    };
    let (reached, status) = reached_under(none, Network::None);
    assert_eq!(reached, "udp tcp name stream datagram pair");
    assert_eq!(status.tier, Tier::None);
}
