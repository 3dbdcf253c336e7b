//! How a gateway ends, and how much it takes.

use std::io::Write as _;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::world::{LONG, OK, Server, World, hear, say};
use crate::audit::OnAuditFailure;
use crate::network::resolver::Resolver;

#[test]
fn closing_ends_connections_and_threads() {
    let server = Server::start(|mut stream| {
        stream.write_all(b"ready").unwrap();
        hear(&mut stream)
    });
    let world = World::new().host("db.test", server.port).open();
    let mut relayed = world.connect("db.test", server.port);
    super::world::expect(&mut relayed, "ready");
    let mut silent = world.connect("db.test", server.port);
    let mut half = world.connect("db.test", server.port);
    half.write_all(b"GET / HT").unwrap();
    let mut proxied = world.proxy();
    let began = Instant::now();
    let denials = world.gateway.close();
    // Far less than any of its limits: nothing was waited for.
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(denials, []);
    for stream in [&mut relayed, &mut silent, &mut half, &mut proxied] {
        hear(stream);
    }
    assert_eq!(server.heard(), "");
}

#[test]
fn closing_does_not_wait_for_a_resolver() {
    #[derive(Debug)]
    struct Stuck(std::sync::Mutex<mpsc::Sender<()>>);
    impl Resolver for Stuck {
        fn resolve(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
            self.0.lock().unwrap().send(()).unwrap();
            thread::park_timeout(LONG);
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    let (asked, asks) = mpsc::channel();
    let world = World::new()
        .allow("slow.test", 80)
        .open_with(Stuck(std::sync::Mutex::new(asked)));
    let mut stream = world.connect("slow.test", 80);
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: slow.test\r\n\r\n")
        .unwrap();
    asks.recv_timeout(LONG).unwrap();
    let began = Instant::now();
    world.gateway.close();
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn more_connections_than_there_is_room_for_wait_their_turn() {
    let server = Server::answering(OK);
    let world = World::new().host("api.test", server.port).open();
    let mut held: Vec<_> = (0..world.gateway.shared.limit)
        .map(|_| world.connect("api.test", server.port))
        .collect();
    for stream in &mut held {
        stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    }
    let mut waiting = world.connect("api.test", server.port);
    waiting
        .write_all(b"GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
        .unwrap();
    waiting
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let nothing = std::io::Read::read(&mut waiting, &mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    // Lookups go on, and a place that is given up is taken.
    assert!(world.look_up("api.test").is_some());
    drop(held.pop());
    waiting.set_read_timeout(Some(LONG)).unwrap();
    assert!(hear(&mut waiting).ends_with(b"hello"));
    drop(held);
    let answer = world.say(
        "api.test",
        server.port,
        "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n",
    );
    assert!(answer.ends_with("hello"), "{answer}");
}

#[test]
fn many_ports_are_served() {
    let server = Server::answering(OK);
    let mut world = World::new().host("api.test", server.port);
    for port in 1000..1100 {
        world = world.listen(port);
    }
    let world = world.open();
    let request = "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n";
    assert!(
        world
            .say("api.test", server.port, request)
            .ends_with("hello")
    );
    for port in [1000, 1099] {
        let answer = say(world.connect("api.test", port), request);
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
}

#[test]
fn connections_are_refused_when_they_cannot_be_written_down() {
    let server = Server::answering(OK);
    let request = "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let check = |on_audit_failure: OnAuditFailure, allowed: bool| {
        let mut world = World::new().host("api.test", server.port);
        world.on_audit_failure = on_audit_failure;
        let world = world.open();
        world.log.fails.store(true, Ordering::SeqCst);
        // The first failure is known only when it has happened.
        world.say("api.test", server.port, request);
        let answer = world.say("api.test", server.port, request);
        assert_eq!(answer.ends_with("hello"), allowed, "{answer}");
        assert_eq!(answer.contains("audit log"), !allowed, "{answer}");
    };
    check(OnAuditFailure::Report, true);
    check(OnAuditFailure::Refuse, false);
}
