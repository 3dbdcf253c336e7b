//! What leads nowhere: addresses that no name stands for, other ports, other protocols.

use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::thread;

use super::fixture::http::Server;
use super::fixture::site::{Site, for_each_user, reach};

/// A program that tries them all and prints what it got through to, confined and not.
#[test]
fn raw_addresses_other_ports_and_other_protocols_lead_nowhere() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let (server, other) = (Server::plain(), Server::plain());
        // On every address of this machine, so that it is also at one that is not the loopback.
        let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
        let datagrams = Echo::start();
        site.names.put("allowed.test", &["127.0.0.1"]);
        site.write("try.py", TRY);
        let script = format!(
            "python3 try.py {server} {other} {everywhere} {datagrams} {names} {own}",
            server = server.port(),
            other = other.port(),
            everywhere = everywhere.local_addr().unwrap().port(),
            datagrams = datagrams.port,
            names = site.names.address.port(),
            own = own_address(),
        );
        let settings = format!(
            "{}sandbox.presets = ['python']\n",
            reach(&["allowed.test"], server.address)
        );
        let printed = site.does(&settings, &script).ok();
        // The twin: every attempt gets through, except those whose address is of the sandbox alone and
        // those for which a plain user has no right.
        let twin = unconfined(site, &script);
        for attempt in ATTEMPTS {
            assert!(
                printed.contains(&format!("{attempt}: nothing\n")),
                "{attempt}: {printed}"
            );
            assert!(
                twin.contains(&format!("{attempt}: reached\n")),
                "{attempt}: {twin}"
            );
        }
        for attempt in ["unknown address", "ping", "raw socket"] {
            assert!(
                printed.contains(&format!("{attempt}: nothing\n")),
                "{attempt}: {printed}"
            );
        }
        assert!(
            printed.contains("allowed: reached\n"),
            "the program proves nothing: {printed}"
        );
        // The name server heard of it once, from the twin.
        assert_eq!(site.names.asked("canary.test"), 1);
    });
}

/// Fast open and multipath would connect by another way than `connect`.
#[test]
fn other_ways_to_connect_are_no_way_out() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let (server, other) = (Server::plain(), Server::plain());
        site.names.put("allowed.test", &["127.0.0.1"]);
        site.write("ways.py", WAYS);
        let settings = format!(
            "{}sandbox.presets = ['python']\n",
            reach(&["allowed.test"], server.address)
        );
        let script = format!("python3 ways.py {}", other.port());
        assert_eq!(site.does(&settings, &script).ok(), "tried\n");
        assert_eq!(other.connections(), 0);
        unconfined(site, &script);
        assert!(other.connections() > 0);
    });
}

/// Sends every datagram back, on all addresses of this machine.
struct Echo {
    port: u16,
}

impl Echo {
    fn start() -> Self {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        thread::spawn(move || {
            let mut buffer = [0; 16];
            while let Ok((length @ 1.., from)) = socket.recv_from(&mut buffer) {
                let _ = socket.send_to(&buffer[..length], from);
            }
        });
        Self { port }
    }
}

/// Nothing at all is the sign to end.
impl Drop for Echo {
    fn drop(&mut self) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _ = socket.send_to(&[], ("127.0.0.1", self.port));
    }
}

fn unconfined(site: &Site, script: &str) -> String {
    let mut shell = site.command(Path::new("sh"));
    let output = shell.args(["-c", script]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An address of this machine that others could use; the loopback where there is none. Nothing is sent.
fn own_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    match socket.connect("192.0.2.1:9") {
        Ok(()) => socket.local_addr().unwrap().ip().to_string(),
        Err(_) => "127.0.0.1".to_owned(),
    }
}

/// What gets through without a sandbox, for every user.
const ATTEMPTS: [&str; 6] = [
    "other port",
    "own address",
    "datagram",
    "datagram to own address",
    "name server",
    "name server by tcp",
];

const TRY: &str = r#"
import socket, struct, sys
server, other, everywhere, datagrams, names = map(int, sys.argv[1:6])
own = sys.argv[6]

def attempt(name, action):
    try:
        print(name + (": reached" if action() else ": nothing"))
    except OSError:
        print(name + ": nothing")

def tcp(host, port):
    socket.create_connection((host, port), 3).close()
    return True

def answered(host, port):
    with socket.create_connection((host, port), 3) as stream:
        stream.sendall(b"GET / HTTP/1.1\r\nHost: allowed.test:%d\r\n\r\n" % port)
        return b" 200 " in stream.recv(512)

def udp(host, port, message=b"x"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(3)
        one.connect((host, port))
        one.send(message)
        return one.recv(512)

def query(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\0\0\1\0\1"

def by_tcp():
    with socket.create_connection(("127.0.0.1", names), 3) as stream:
        message = query("other.test")
        stream.sendall(struct.pack(">H", len(message)) + message)
        return len(stream.recv(512)) > 0

def ping():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as one:
        one.settimeout(1)
        one.sendto(b"\x08\0\xf7\xff\0\0\0\0", (own, 0))
        return one.recv(64)

def raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return True

attempt("allowed", lambda: answered("allowed.test", server))
attempt("other port", lambda: tcp("127.0.0.1", other))
attempt("own address", lambda: tcp(own, everywhere))
attempt("datagram", lambda: udp("127.0.0.1", datagrams))
attempt("datagram to own address", lambda: udp(own, datagrams))
attempt("name server", lambda: udp("127.0.0.1", names, query("canary.test")))
attempt("name server by tcp", by_tcp)
attempt("unknown address", lambda: answered("198.18.1.200", server))
attempt("ping", ping)
attempt("raw socket", raw)
"#;

const WAYS: &str = r#"
import socket, sys
port = int(sys.argv[1])
def fast():
    with socket.socket() as one:
        one.settimeout(3)
        one.sendto(b"GET / HTTP/1.0\r\n\r\n", 0x20000000, ("127.0.0.1", port))
def multipath():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as one:
        one.settimeout(3)
        one.connect(("127.0.0.1", port))
def bound():
    with socket.socket() as one:
        one.settimeout(3)
        one.setsockopt(socket.SOL_IP, 15, 1)
        one.bind(("192.0.2.7", 0))
        one.connect(("127.0.0.1", port))
def device():
    with socket.socket() as one:
        one.settimeout(3)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        one.connect(("127.0.0.1", port))
def six():
    with socket.socket(socket.AF_INET6) as one:
        one.settimeout(3)
        one.connect(("::ffff:127.0.0.1", port))
for way in (fast, multipath, bound, device, six):
    try:
        way()
    except OSError:
        pass
print("tried")
"#;
