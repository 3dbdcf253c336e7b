//! Connections that are neither HTTP nor TLS, and the addresses behind names.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown};

use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, Rights};

use super::world::{OK, Server, World, expect, hear, say};

fn echo() -> Server {
    Server::start(|mut stream| {
        let heard = hear(&mut stream);
        stream.write_all(&heard).unwrap();
        heard
    })
}

#[test]
fn a_rule_on_a_port_opens_it_for_anything() {
    let server = echo();
    let world = World::new().host("db.test", server.port).open();
    let mut stream = world.connect("db.test", server.port);
    stream.write_all(b"\0\x01binary").unwrap();
    // The end of one direction is passed on, and the other goes on.
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(hear(&mut stream), b"\0\x01binary");
    assert_eq!(
        world.log.lines(),
        [format!("net.connect db.test:{} allow ok", server.port)]
    );
}

#[test]
fn a_rule_on_the_web_does_not() {
    let server = echo();
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(server.port);
            rule.scheme = Some("http".to_owned());
        })
        .allow("127.0.0.1", server.port)
        .open();
    for words in ["SSH-2.0-x\r\n", "\0\0\0\x08", "EHLO x\r\n"] {
        assert_eq!(world.say("api.test", server.port, words), "", "{words:?}");
    }
    let denial = world.denial();
    assert_eq!(denial.target, format!("api.test:{}", server.port));
    assert_eq!(denial.count, 3);
    assert!(
        denial
            .hint
            .unwrap()
            .contains(&format!("port = {}", server.port))
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_server_may_speak_first_where_anything_may_be_said() {
    let server = Server::start(|mut stream| {
        stream.write_all(b"220 ready\r\n").unwrap();
        let mut line = [0; 8];
        stream.read_exact(&mut line).unwrap();
        stream.write_all(b"250 hello\r\n").unwrap();
        let mut heard = line.to_vec();
        heard.extend(hear(&mut stream));
        heard
    });
    let world = World::new().host("mail.test", server.port).open();
    let mut stream = world.connect("mail.test", server.port);
    expect(&mut stream, "220 ready\r\n");
    stream.write_all(b"EHLO a\r\n").unwrap();
    expect(&mut stream, "250 hello\r\n");
    drop(stream);
    assert_eq!(server.heard(), "EHLO a\r\n");
}

#[test]
fn a_server_that_only_speaks_is_heard_to_its_end() {
    let server = Server::start(|mut stream| {
        stream.write_all(b"12:00\r\n").unwrap();
        Vec::new()
    });
    let world = World::new().host("time.test", server.port).open();
    let mut stream = world.connect("time.test", server.port);
    assert_eq!(hear(&mut stream), b"12:00\r\n");
}

#[test]
fn what_a_program_says_late_is_still_judged() {
    // Anything but plain HTTP may be said on this port; the program waits until the server is connected.
    let server = Server::start(|mut stream| {
        stream.write_all(b"ready").unwrap();
        hear(&mut stream)
    });
    let world = World::new()
        .host("db.test", server.port)
        .rule("db.test", |rule| {
            rule.port = Some(server.port);
            rule.scheme = Some("http".to_owned());
            rule.allow = false;
        })
        .open();
    let mut stream = world.connect("db.test", server.port);
    expect(&mut stream, "ready");
    let answer = say(stream, "GET / HTTP/1.1\r\nHost: db.test\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(server.heard(), "");
}

#[test]
fn private_addresses_need_a_rule_that_names_them() {
    let server = Server::answering(OK);
    let port = server.port;
    let request = "GET / HTTP/1.1\r\nHost: inner.test\r\n\r\n";
    let check = |address: &str, word: &str| {
        let world = World::new().allow("inner.test", port);
        world.names.put("inner.test", &[&[address]]);
        let world = world.open();
        let answer = world.say("inner.test", port, request);
        assert!(answer.starts_with("HTTP/1.1 403"), "{address}: {answer}");
        let why = format!("it resolves to {address}, {word}");
        assert!(answer.contains(&why), "{answer}");
        let denial = world.denial();
        assert!(
            denial
                .hint
                .unwrap()
                .contains(&format!("host = \"{address}\""))
        );
        let lines = world.log.lines();
        assert_eq!(
            lines,
            [format!("net.connect http://inner.test:{port}/ deny -")]
        );
    };
    check("127.0.0.1", "a loopback address");
    check("127.0.0.53", "a loopback address");
    check("10.0.0.1", "a private address");
    check("169.254.169.254", "a link-local address");
    check("100.100.100.200", "an address shared");
    check("0.0.0.0", "an address of this machine");
    check("198.18.0.17", "an address for benchmarks");
    check("::1", "a loopback address");
    check("fd00::1", "a private address");
    check("fe80::1", "a link-local address");
    check("fd6a:6967:6e61:6d65::10", "a private address");
    assert_eq!(server.connections(), 0);
    // With both rules it is reached.
    let world = World::new().host("inner.test", port).open();
    assert!(world.say("inner.test", port, request).ends_with("hello"));
}

#[test]
fn an_address_that_a_rule_denies_is_not_used_under_any_name() {
    let server = Server::answering(OK);
    let world = World::new()
        .host("api.test", server.port)
        .rule("127.0.0.1", |rule| {
            rule.port = Some(server.port);
            rule.allow = false;
        })
        .open();
    let answer = world.say(
        "api.test",
        server.port,
        "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n",
    );
    assert!(answer.contains("which a rule denies"), "{answer}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_name_that_changes_its_address_gains_nothing() {
    // The first answer is judged and used; a second lookup would give the forbidden one.
    let server = Server::answering(OK);
    let port = server.port;
    let forbidden = std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
    forbidden.set_nonblocking(true).unwrap();
    let world = World::new().host("turn.test", port);
    world
        .names
        .put("turn.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let world = world.open();
    let request = "GET / HTTP/1.1\r\nHost: turn.test\r\n\r\n";
    assert!(world.say("turn.test", port, request).ends_with("hello"));
    // The next connection resolves anew, and what it gets is judged anew.
    let answer = world.say("turn.test", port, request);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("127.0.0.2, a loopback address"), "{answer}");
    // Among several addresses only those that may be used are.
    world.names.put("turn.test", &[&["127.0.0.2", "127.0.0.1"]]);
    assert!(world.say("turn.test", port, request).ends_with("hello"));
    let never = forbidden.accept().unwrap_err();
    assert_eq!(never.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_next_address_is_tried_when_one_does_not_answer() {
    let server = Server::answering(OK);
    let world = World::new()
        .host("two.test", server.port)
        .allow("127.0.0.9", server.port);
    world.names.put("two.test", &[&["127.0.0.9", "127.0.0.1"]]);
    let world = world.open();
    let answer = world.say(
        "two.test",
        server.port,
        "GET / HTTP/1.1\r\nHost: two.test\r\n\r\n",
    );
    assert!(answer.ends_with("hello"), "{answer}");
}

#[test]
fn addresses_that_no_name_has_lead_nowhere() {
    let server = echo();
    let world = World::new().host("db.test", server.port).open();
    for address in ["127.80.0.16", "127.80.0.1", "127.80.3.4"] {
        let stream = world.connect_to(address, server.port);
        assert_eq!(say(stream, "hello"), "", "{address}");
    }
    assert_eq!(world.gateway.denials().len(), 3);
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_watched_program_is_told_of_ports_that_no_rule_opens() {
    let world = World::new()
        .rule("api.test", |_| {})
        .listen(80)
        .listen(443)
        .open();
    let address = world.look_up("api.test").unwrap();
    let seen = |address: IpAddr, port: u16, count: u64| ObservedAccess {
        wanted: Rights::WRITE,
        target: ObservedTarget::Address((address, port).into()),
        programs: vec!["curl".to_owned()],
        count,
        looked: false,
    };
    let observation = Observation {
        seen: vec![
            seen(address, 8123, 2),
            seen(address, 80, 1),
            seen(address, 0, 1),
            seen("127.80.0.77".parse().unwrap(), 8123, 1),
            seen("192.0.2.1".parse().unwrap(), 8123, 1),
        ],
        ..Observation::default()
    };
    let denials = world.gateway.close_watched(&observation);
    assert_eq!(denials.len(), 1, "{denials:#?}");
    assert_eq!(denials[0].target, "api.test:8123");
    assert_eq!(denials[0].count, 2);
    let hint = denials[0].hint.as_ref().unwrap();
    assert!(hint.contains("host = \"api.test\"\nport = 8123"), "{hint}");
}

#[test]
fn a_program_that_waits_where_nothing_is_allowed_is_refused_soon_and_told_the_rule() {
    let world = World::new().rule("web.test", |_| {}).listen(22).open();
    let mut stream = world.connect("web.test", 22);
    let began = std::time::Instant::now();
    assert_eq!(hear(&mut stream), b"");
    assert!(began.elapsed() < crate::programs::gateway::connection::FIRST_WORDS);
    let denial = world.denial();
    assert_eq!(denial.target, "web.test:22");
    assert!(denial.hint.unwrap().contains("scheme = \"ssh\""));
    // What speaks HTTP there is answered in HTTP.
    let answer = world.say("web.test", 22, "GET / HTTP/1.1\r\nHost: web.test\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[test]
fn a_request_that_comes_late_is_in_the_log() {
    let server = Server::start(|mut stream| {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        super::world::read_head(&mut stream);
        stream.write_all(OK.as_bytes()).unwrap();
        Vec::new()
    });
    let world = World::new().host("db.test", server.port).open();
    let mut stream = world.connect("db.test", server.port);
    expect(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n");
    let answer = say(stream, "GET /late HTTP/1.1\r\nHost: db.test\r\n\r\n");
    assert!(answer.ends_with("hello"), "{answer}");
    let port = server.port;
    assert_eq!(
        world.log.lines(),
        [
            format!("net.connect db.test:{port} allow ok"),
            format!("net.connect http://db.test:{port}/late allow ok"),
        ]
    );
}
