//! Programs that do not ask the C library: they read `/etc/resolv.conf` and speak DNS themselves, as static
//! programs do.

use serde_json::Value as Json;

use super::fixture::http::Server;
use super::fixture::site::{for_each_user, reach};

#[test]
fn a_program_may_speak_dns_itself() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        site.write("own.py", OWN);
        let server = Server::plain();
        let port = server.port();
        site.names.put("allowed.test", &["127.0.0.1"]);
        let settings = format!(
            "{}sandbox.presets = ['python']\n",
            reach(&["allowed.test"], server.address)
        );
        let script = format!("python3 own.py {port}");
        let called = site.does(&settings, &script);
        assert_eq!(
            called.ok().lines().collect::<Vec<_>>(),
            [
                "udp A allowed.test: NOERROR, 1 address, reached",
                "tcp A allowed.test: NOERROR, 1 address, reached",
                // Written in another way, it is the same name.
                "udp A ALLOWED.test: NOERROR, 1 address, reached",
                // There is such a name, but nothing else is known of it.
                "udp MX allowed.test: NOERROR, 0 addresses",
                "udp TXT allowed.test: NOERROR, 0 addresses",
                "udp A denied.test: NXDOMAIN, 0 addresses",
                "tcp A denied.test: NXDOMAIN, 0 addresses",
                "udp A sub.allowed.test: NXDOMAIN, 0 addresses",
                "udp TXT c2VjcmV0.denied.test: NXDOMAIN, 0 addresses",
                "same address: True",
            ]
        );
        // A name can carry what a tool has read: nothing of it leaves.
        for name in ["denied.test", "sub.allowed.test", "c2vjcmv0.denied.test"] {
            assert_eq!(site.names.asked(name), 0, "{name}");
        }
        let logged = site.log();
        let is_told =
            |line: &&Json| line["operation"] == "net.lookup" && line["target"] == "denied.test";
        assert!(logged.iter().any(|line| is_told(&line)), "{logged:#?}");
    });
}

/// Node has such a resolver besides that of the C library.
#[test]
fn node_with_its_own_resolver() {
    for_each_user(|site| {
        if !site.has(&["node", "--version"]) {
            return;
        }
        site.names.put("allowed.test", &["127.0.0.1"]);
        let server = Server::plain();
        let code = "
            const dns = require('dns').promises;
            (async () => {
                console.log((await dns.resolve4('allowed.test')).length);
                try { await dns.resolve4('denied.test'); } catch (error) { console.log(error.code); }
            })();";
        site.write("own.js", code);
        let settings = format!(
            "{}sandbox.presets = ['node']\n",
            reach(&["allowed.test"], server.address)
        );
        let called = site.does(&settings, "node own.js");
        assert_eq!(called.ok(), "1\nENOTFOUND\n");
    });
}

/// An answer of the real name server that does not fit into a datagram is asked for again.
#[test]
fn a_name_with_many_addresses_is_resolved_over_tcp() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        site.names.put("many.test", &["127.0.0.1"; 40]);
        let called = site.does(
            &reach(&["many.test"], server.address),
            &fetch("many.test", &server),
        );
        assert!(called.ok().starts_with("GET / on many.test"));
        assert_eq!(server.seen().len(), 1);
        assert!(site.names.asked_by_tcp() > 0);
    });
}

/// Ways to write one and the same name.
#[test]
fn a_name_may_be_written_in_other_ways() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        site.names.put("allowed.test", &["127.0.0.1"]);
        let settings = reach(&["allowed.test"], server.address);
        for name in ["ALLOWED.Test", "allowed.test."] {
            let called = site.does(&settings, &fetch(name, &server));
            assert!(
                called.ok().to_lowercase().contains("get / on allowed.test"),
                "{name}"
            );
        }
        for name in [
            "denied.test.",
            "DENIED.test",
            "allowed.test.denied.test",
            "test",
        ] {
            let called = site.does(&settings, &fetch(name, &server));
            let bare = name.trim_end_matches('.');
            let hint = called.refused("look up", bare);
            assert!(
                hint.contains(&format!("\"{}\"", bare.to_lowercase())),
                "{hint}"
            );
        }
    });
}

/// A rule is no promise that a name exists.
#[test]
fn an_allowed_name_that_does_not_exist_is_asked_for_and_not_found() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let called = site.does(
            &reach(&["missing.test"], server.address),
            &fetch("missing.test", &server),
        );
        assert_eq!(called.0["isError"], true, "{called}");
        assert!(site.names.asked("missing.test") > 0);
        assert_eq!(server.connections(), 0);
    });
}

fn fetch(name: &str, server: &Server) -> String {
    let port = server.port();
    format!("curl --silent --show-error --fail-with-body http://{name}:{port}/")
}

const OWN: &str = r#"
import socket, struct, sys
port = int(sys.argv[1])
with open("/etc/resolv.conf") as file:
    servers = [line.split()[1] for line in file if line.startswith("nameserver")]
server = (servers[0], 53)
KINDS = {"A": 1, "MX": 15, "TXT": 16}
CODES = {0: "NOERROR", 2: "SERVFAIL", 3: "NXDOMAIN", 5: "REFUSED"}

def exactly(stream, length):
    data = b""
    while len(data) < length:
        piece = stream.recv(length - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data

def exchange(way, query):
    if way == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.settimeout(60)
            one.sendto(query, server)
            return one.recv(4096)
    with socket.create_connection(server, 60) as stream:
        stream.sendall(struct.pack(">H", len(query)) + query)
        (length,) = struct.unpack(">H", exactly(stream, 2))
        return exactly(stream, length)

def skip_name(data, at):
    while data[at]:
        if data[at] >= 0xC0:
            return at + 2
        at += data[at] + 1
    return at + 1

def ask(way, kind, name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", KINDS[kind], 1)
    data = exchange(way, query)
    number, flags, questions, answers = struct.unpack(">HHHH", data[:8])
    assert number == 7 and flags & 0x8000 and questions == 1, data
    at, found = skip_name(data, 12) + 4, []
    for _ in range(answers):
        at = skip_name(data, at)
        record, _, _, length = struct.unpack(">HHIH", data[at:at + 10])
        at += 10 + length
        if record == 1:
            found.append(socket.inet_ntoa(data[at - length:at]))
    line = f"{way} {kind} {name}: {CODES[flags & 15]}, {len(found)} address" + ("" if len(found) == 1 else "es")
    if found:
        with socket.create_connection((found[0], port), 60) as stream:
            stream.sendall(b"GET / HTTP/1.1\r\nHost: allowed.test:%d\r\nConnection: close\r\n\r\n" % port)
            line += ", reached" if b" 200 " in stream.recv(4096) else ", refused"
    print(line)
    return found

first = ask("udp", "A", "allowed.test")
second = ask("tcp", "A", "allowed.test")
ask("udp", "A", "ALLOWED.test")
ask("udp", "MX", "allowed.test")
ask("udp", "TXT", "allowed.test")
ask("udp", "A", "denied.test")
ask("tcp", "A", "denied.test")
ask("udp", "A", "sub.allowed.test")
ask("udp", "TXT", "c2VjcmV0.denied.test")
print("same address:", first == second)
"#;
