//! What a hostile program tries: lies that are told in pieces, and connections that are left behind.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use jig_policy::DeclaredNetRule;
use jig_testkit::{let_pass, until, until_it_rests};
use rustix::net::{AddressFamily, SocketType};

use super::world::{LONG, OK, Server, World, expect, hear, say};

/// A pause that is longer than a program is waited for when it is not clear what it speaks.
const PAUSE: Duration = Duration::from_millis(2500);

/// A rule on a port is about whatever is spoken there, but what is HTTP or TLS must still tell the truth: one
/// server may hold many sites.
#[test]
fn a_lie_is_found_however_it_is_told() {
    let server = Server::answering(OK);
    let world = World::new().host("api.test", server.port).open();
    let lie = "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    let long = format!("{} / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "A".repeat(40));
    let cases: [&[&str]; 9] = [
        &["G", &lie[1..]],
        &["GET /", &lie[5..]],
        &["\r\n", lie],
        &[&"\r\n".repeat(40), lie],
        &["M1 / HTTP/1.1\r\nHost: evil.test\r\n\r\n"],
        &["!#$ / HTTP/1.1\r\nHost: evil.test\r\n\r\n"],
        &[&long],
        &["\u{16}", "\u{3}\u{1}\0\u{5}hello"],
        &["\u{16}\u{3}", "\u{1}\0\u{5}hello"],
    ];
    std::thread::scope(|scope| {
        for parts in cases {
            let mut stream = world.connect("api.test", server.port);
            scope.spawn(move || {
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 {
                        let_pass(PAUSE);
                    }
                    let _ = stream.write_all(part.as_bytes());
                }
                let answer = String::from_utf8_lossy(&hear(&mut stream)).into_owned();
                assert!(!answer.ends_with("hello"), "{parts:?}: {answer}");
            });
        }
    });
    // Who tells the truth may take the time.
    let mut stream = world.connect("api.test", server.port);
    for part in ["GET / H", "TTP/1.1\r\nHost: api.test\r\n\r\n"] {
        stream.write_all(part.as_bytes()).unwrap();
        let_pass(PAUSE);
    }
    assert!(hear(&mut stream).ends_with(b"hello"));
    // Some of them were connected before anybody knew, and nothing of the lie went over.
    for _ in 0..server.connections() {
        let heard = server.heard();
        assert!(!heard.contains("evil"), "{heard}");
    }
}

/// What is no HTTP and no TLS gets through, be it ever so short.
#[test]
fn short_words_are_passed_on() {
    let server = Server::start(|mut stream| {
        let mut heard = [0; 4];
        stream.read_exact(&mut heard).unwrap();
        stream.write_all(b"imok").unwrap();
        heard.to_vec()
    });
    let world = World::new().host("zoo.test", server.port).open();
    // It waits for the answer, or has said all.
    for ends in [false, true] {
        let mut stream = world.connect("zoo.test", server.port);
        stream.write_all(b"ruok").unwrap();
        if ends {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        expect(&mut stream, "imok");
        assert_eq!(server.heard(), "ruok");
    }
}

#[test]
fn names_below_localhost_are_judged_as_themselves() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new()
        .allow("localhost", port)
        .rule("admin.localhost", |rule| {
            rule.port = Some(port);
            rule.allow = false;
        })
        .open();
    let ask = |host: &str| {
        say(
            world.connect_to("127.0.0.1", port),
            format!("GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"),
        )
    };
    assert!(ask("localhost").ends_with("hello"));
    let answer = ask("admin.localhost");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[test]
fn a_rule_on_a_name_below_localhost_is_enough() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new().allow("app.localhost", port).open();
    let ask = |host: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
        say(world.connect_to("127.0.0.1", port), request)
    };
    assert!(ask("app.localhost").ends_with("hello"));
    for host in ["localhost", "127.0.0.1", "other.localhost"] {
        let answer = ask(host);
        assert!(answer.starts_with("HTTP/1.1 403"), "{host}: {answer}");
    }
}

/// `localhost` is two addresses, and a rule may deny one of them.
#[test]
fn no_name_leads_to_an_address_that_a_rule_denies() {
    let server = Server::answering(OK);
    let port = server.port;
    let deny = |world: World, host: &str| {
        world.rule(host, |rule| {
            rule.port = Some(port);
            rule.allow = false;
        })
    };
    let world = deny(World::new().allow("localhost", port), "127.0.0.1").open();
    let request =
        format!("GET http://localhost:{port}/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    let answer = say(world.proxy(), request);
    assert!(!answer.ends_with("hello"), "{answer}");
    assert_eq!(server.connections(), 0);

    // Translated on the way, it is the same address.
    for address in ["64:ff9b::cb00:7101", "2002:cb00:7101::1"] {
        let world = deny(World::new().allow("evil.test", port), "203.0.113.1");
        world.names.put("evil.test", &[&[address]]);
        let world = world.open();
        let answer = world.say(
            "evil.test",
            port,
            format!("GET / HTTP/1.1\r\nHost: evil.test:{port}\r\n\r\n"),
        );
        assert!(
            answer.contains("203.0.113.1, which a rule denies"),
            "{answer}"
        );
    }
}

/// A program that goes away leaves nothing behind, also where its server takes nothing and says nothing.
#[test]
fn who_is_gone_holds_no_place() {
    let (keep, kept) = mpsc::channel();
    let keep = Mutex::new(keep);
    let server = Server::start(move |stream| {
        keep.lock().unwrap().send(stream).unwrap();
        Vec::new()
    });
    let world = World::new().host("api.test", server.port).open();
    let mut stream = world.connect("api.test", server.port);
    stream.set_nonblocking(true).unwrap();
    let words = format!(
        "POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: {}\r\n\r\n",
        1_u64 << 40
    );
    stream.write_all(words.as_bytes()).unwrap();
    let _held = kept.recv_timeout(LONG).unwrap();
    // Until nobody takes any more.
    let mut sent = 0;
    until_it_rests("nobody takes any more", 0, || {
        while let Ok(count @ 1..) = stream.write(&[0; 64 * 1024]) {
            sent += count as u64;
        }
        sent
    });
    assert_eq!(*world.gateway.shared.open(), 1);
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    until("its place is free", || *world.gateway.shared.open() == 0);
}

/// A program that has said all and waits for the answer is not gone, however long that takes.
#[test]
fn who_only_listens_is_waited_for() {
    let server = Server::start(|mut stream| {
        let heard = hear(&mut stream);
        // Longer than the kernel takes to ask whether somebody is there, and to give up.
        let_pass(Duration::from_secs(6));
        stream.write_all(b"late").unwrap();
        heard
    });
    let world = World::new().host("db.test", server.port).open();
    let mut stream = world.connect("db.test", server.port);
    stream.write_all(b"SELECT\0").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(hear(&mut stream), b"late");
}

#[test]
fn a_dead_address_does_not_hold_up_the_next() {
    // One where nobody is accepted any more, and one where somebody is.
    let dead = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.2:0".parse().unwrap();
    rustix::net::bind(&dead, &any).unwrap();
    rustix::net::listen(&dead, 0).unwrap();
    let dead_at: SocketAddr = rustix::net::getsockname(&dead).unwrap().try_into().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&dead_at, Duration::from_millis(300)) {
        waiting.push(stream);
    }
    let port = dead_at.port();
    let alive = TcpListener::bind(("127.0.0.3", port)).unwrap();
    let world = World::new()
        .allow("two.test", port)
        .allow("127.0.0.2", port)
        .allow("127.0.0.3", port);
    world.names.put("two.test", &[&["127.0.0.2", "127.0.0.3"]]);
    let world = world.open();
    let began = Instant::now();
    let mut stream = world.connect("two.test", port);
    stream.write_all(b"\0hello").unwrap();
    let (mut accepted, _) = alive.accept().unwrap();
    expect(&mut accepted, "\0hello");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_web_socket_needs_only_its_own_rule() {
    let world = |answer: &str| {
        let server = Server::answering(answer);
        let port = server.port;
        let ws = |rule: &mut DeclaredNetRule| {
            rule.port = Some(port);
            rule.scheme = Some("ws".to_owned());
        };
        let world = World::new();
        world.names.put("api.test", &[&["127.0.0.1"]]);
        (
            world.rule("api.test", ws).rule("127.0.0.1", ws).open(),
            port,
        )
    };
    let upgrade =
        "GET / HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let (agreed, port) = world("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nhi");
    let mut stream = agreed.connect("api.test", port);
    stream.write_all(upgrade.as_bytes()).unwrap();
    expect(&mut stream, "HTTP/1.1 101 ");
    let lines = [format!("net.connect ws://api.test:{port}/ allow ok")];
    assert_eq!(agreed.log.lines(), lines);
    // It is no way to plain HTTP.
    let plain = "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let answer = agreed.say("api.test", port, plain);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let (refused, port) = world(OK);
    let answer = refused.say("api.test", port, upgrade);
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(!answer.ends_with("hello"), "{answer}");
}
