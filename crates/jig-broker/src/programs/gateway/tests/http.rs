use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use super::world::{LONG, OK, Server, World, expect, hear, read_head, say};

fn get(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Own: 1\r\n\r\n")
}

#[test]
fn a_request_to_an_allowed_host_is_written_anew_and_answered() {
    let server = Server::answering(OK);
    let world = World::new().host("api.test", server.port).open();
    let host = format!("API.test.:{}", server.port);
    let answer = world.say("api.test", server.port, get(&host, "/a/../b?q=1"));
    assert_eq!(
        answer,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    );
    let heard = server.heard();
    let expected = format!(
        "GET /b?q=1 HTTP/1.1\r\nHost: api.test:{}\r\nX-Own: 1\r\nConnection: close\r\n\r\n",
        server.port
    );
    assert_eq!(heard, expected);
    let line = format!("net.connect http://api.test:{}/b allow ok", server.port);
    assert_eq!(world.log.lines(), [line]);
    assert_eq!(world.gateway.close(), []);
}

#[test]
fn each_request_is_judged_by_its_method() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(port);
            rule.methods = Some(vec!["GET".to_owned(), "post".to_owned()]);
        })
        .allow("127.0.0.1", port)
        .open();
    let ask = |head: &str| {
        let request =
            format!("{head} HTTP/1.1\r\nHost: api.test\r\nX-HTTP-Method-Override: DELETE\r\n\r\n");
        world.say("api.test", port, request)
    };
    for allowed in ["GET /", "POST /a"] {
        let answer = ask(allowed);
        assert!(answer.starts_with("HTTP/1.1 200"), "{allowed}: {answer}");
        // Nothing says another method than the one that was judged.
        assert!(!server.heard().contains("DELETE"));
    }
    for refused in ["DELETE /", "HEAD /", "PROPFIND /", "GETS /"] {
        let answer = ask(refused);
        assert!(answer.starts_with("HTTP/1.1 403"), "{refused}: {answer}");
    }
    assert!(ask("DELETE /").contains("no rule matches `DELETE`, only other methods"));
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_rule_on_every_name_reaches_no_private_address_x_68() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new()
        .allow("*", port)
        .allow("*.sub.test", port)
        .open();
    for (name, address) in [
        ("loop.test", "127.0.0.1"),
        ("a.sub.test", "::1"),
        ("lan.test", "192.168.1.1"),
        ("meta.test", "169.254.169.254"),
        ("mapped.test", "::ffff:169.254.169.254"),
        ("nat.test", "64:ff9b::a9fe:a9fe"),
    ] {
        world.names.put(name, &[&[address]]);
        let answer = world.say(name, port, get(name, "/"));
        assert!(answer.starts_with("HTTP/1.1 403"), "{name}: {answer}");
        assert!(
            answer.contains("no rule names that address"),
            "{name}: {answer}"
        );
    }
    // This machine itself is none of them.
    let answer = say(world.connect_to("127.0.0.1", port), get("127.0.0.1", "/"));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_rule_on_a_domain_is_on_all_names_below_it_x_68() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new()
        .allow("*.api.test", port)
        .allow("127.0.0.1", port)
        .open();
    for name in ["a.api.test", "b.a.api.test"] {
        world.names.put(name, &[&["127.0.0.1"]]);
        assert!(
            world
                .say(name, port, get(name, "/"))
                .starts_with("HTTP/1.1 200")
        );
    }
    for name in ["api.test", "xapi.test", "a.api.test.evil.test"] {
        assert_eq!(world.look_up(name), None, "{name}");
    }
}

#[test]
fn each_request_is_judged_by_its_path() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(port);
            rule.path_prefix = Some("/pub".to_owned());
        })
        .allow("127.0.0.1", port)
        .open();
    let check = |path: &str, allowed: bool| {
        let answer = world.say("api.test", port, get("api.test", path));
        let status = if allowed {
            "HTTP/1.1 200"
        } else {
            "HTTP/1.1 403"
        };
        assert!(answer.starts_with(status), "{path}: {answer}");
        if allowed {
            server.heard();
        }
    };
    check("/pub", true);
    check("/pub/a?x=/priv", true);
    check("/priv/../pub/a", true);
    check("/public", false);
    check("/pub/../priv", false);
    check("/pub/%2e%2e/priv", false);
    check("/pub/..%2fpriv", false);
    check("/pub\\..\\priv", false);
    check("/pub;a/x", false);
    check("//priv", false);
    check("/", false);
    assert_eq!(server.connections(), 3);
}

#[test]
fn a_refused_request_is_explained_in_the_answer() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new()
        .host("api.test", port)
        .rule("api.test", |rule| {
            rule.port = Some(port);
            rule.path_prefix = Some("/admin".to_owned());
            rule.allow = false;
        })
        .open();
    for _ in 0..2 {
        let answer = world.say("api.test", port, get("api.test", "/admin/x"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 403 Forbidden"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        let target = format!("connect on `http://api.test:{port}/admin/x`: ");
        assert!(body.starts_with(&target), "{body}");
        assert!(
            body.contains(&format!("deny `api.test:{port}/admin` (jig.toml:3)")),
            "{body}"
        );
        assert!(
            body.contains(&format!("granted: allow `api.test:{port}`")),
            "{body}"
        );
        assert!(body.contains("[[tools.fetcher.access.net]]"), "{body}");
    }
    let denial = world.denial();
    assert_eq!((denial.operation.as_str(), denial.count), ("connect", 2));
    let entry = &world.log.entries()[0];
    assert_eq!(entry.operation, "net.connect");
    assert_eq!(entry.origin.as_deref(), Some("jig.toml:3"));
    assert!(
        entry
            .hint
            .as_ref()
            .unwrap()
            .contains("path_prefix = \"/admin/x\"")
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_answer_to_head_has_no_body() {
    let world = World::new()
        .host("api.test", 8080)
        .rule("api.test", |rule| {
            rule.port = Some(8080);
            rule.scheme = Some("http".to_owned());
            rule.allow = false;
        });
    let world = world.open();
    let request = "HEAD / HTTP/1.1\r\nHost: api.test:8080\r\n\r\n";
    let answer = world.say("api.test", 8080, request);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    assert!(!head.contains("Content-Length: 0"), "{head}");
    assert_eq!(body, "");
}

#[test]
fn answers_without_a_body_are_passed_on_as_they_are() {
    let check = |request: &str, answer: &str, expected: &str| {
        let server = Server::answering(answer);
        let world = World::new().host("api.test", server.port).open();
        assert_eq!(world.say("api.test", server.port, request), expected);
    };
    check(
        "HEAD / HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nKeep-Alive: timeout=5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n",
    );
    check(
        "GET / HTTP/1.1\r\nHost: api.test\r\nIf-None-Match: x\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\nETag: x\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: x\r\nConnection: close\r\n\r\n",
    );
    check(
        "GET / HTTP/1.0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nuntil the end",
        "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nuntil the end",
    );
}

#[test]
fn a_body_waits_for_the_word_to_go_on() {
    let server = Server::start(|mut stream| {
        let mut heard = read_head(&mut stream);
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        let mut body = [0; 4];
        stream.read_exact(&mut body).unwrap();
        heard.extend(body);
        stream.write_all(OK.as_bytes()).unwrap();
        heard
    });
    let world = World::new().host("api.test", server.port).open();
    let mut stream = world.connect("api.test", server.port);
    stream
        .write_all(
            b"PUT /x HTTP/1.1\r\nHost: api.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        )
        .unwrap();
    expect(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"body").unwrap();
    let answer = String::from_utf8(hear(&mut stream)).unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    let heard = server.heard();
    assert!(heard.contains("Expect: 100-continue\r\n"), "{heard}");
    assert!(heard.ends_with("\r\n\r\nbody"), "{heard}");
}

#[test]
fn large_bodies_pass_in_both_directions_at_once() {
    const SIZE: usize = 8 << 20;
    let server = Server::start(|mut stream| {
        read_head(&mut stream);
        // It answers while it reads: neither waits for the other.
        let mut echo = stream.try_clone().unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
        echo.write_all(head.as_bytes()).unwrap();
        let mut left = SIZE;
        let mut buffer = vec![0; 65536];
        while left > 0 {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "the body ended too early");
            echo.write_all(&buffer[..count]).unwrap();
            left -= count;
        }
        Vec::new()
    });
    let world = World::new().host("api.test", server.port).open();
    let mut stream = world.connect("api.test", server.port);
    let mut writer = stream.try_clone().unwrap();
    let body: Vec<u8> = (0..SIZE).map(|index| (index * 7 % 251) as u8).collect();
    let sent = body.clone();
    let sending = std::thread::spawn(move || {
        let head = format!("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: {SIZE}\r\n\r\n");
        writer.write_all(head.as_bytes()).unwrap();
        writer.write_all(&sent).unwrap();
    });
    let answer = hear(&mut stream);
    sending.join().unwrap();
    let body_at = answer
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .unwrap()
        + 4;
    assert!(
        answer[body_at..] == body,
        "what came back is not what was sent"
    );
}

#[test]
fn websockets_are_judged_as_such_and_passed_on_after_the_server_agreed() {
    let upgrade = |host: &str| {
        format!(
            "GET /live HTTP/1.1\r\nHost: {host}\r\nConnection: keep-alive, Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
    };
    let server = Server::start(|mut stream| {
        let mut heard = read_head(&mut stream);
        let agreed = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        stream.write_all(agreed).unwrap();
        stream.write_all(b"server first").unwrap();
        heard.extend(hear(&mut stream));
        stream.write_all(b"bye").unwrap();
        heard
    });
    let world = World::new().host("api.test", server.port).open();
    let mut stream = world.connect("api.test", server.port);
    stream.write_all(upgrade("api.test").as_bytes()).unwrap();
    expect(
        &mut stream,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nserver first",
    );
    stream.write_all(b"frames").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(hear(&mut stream), b"bye");
    let heard = server.heard();
    assert!(
        heard.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        "{heard}"
    );
    assert!(heard.ends_with("frames"), "{heard}");

    // A rule on http alone does not open web sockets.
    let server = Server::answering(OK);
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(server.port);
            rule.scheme = Some("http".to_owned());
        })
        .allow("127.0.0.1", server.port)
        .open();
    let answer = world.say("api.test", server.port, upgrade("api.test"));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("ws://api.test"), "{answer}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn other_upgrades_are_not_asked_for() {
    let server = Server::answering(OK);
    let world = World::new().host("api.test", server.port).open();
    let request = "GET / HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade, HTTP2-Settings\r\n\
                   Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n";
    let answer = world.say("api.test", server.port, request);
    assert!(answer.ends_with("hello"), "{answer}");
    let heard = server.heard().to_ascii_lowercase();
    assert!(
        !heard.contains("upgrade") && !heard.contains("http2"),
        "{heard}"
    );

    // A server that changes the protocol unasked is not followed.
    let server = Server::answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\nxyz");
    let world = World::new().host("api.test", server.port).open();
    let answer = world.say("api.test", server.port, request);
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
}

#[test]
fn redirects_are_the_programs_business_and_judged_like_anything() {
    let other = Server::answering(OK);
    let answer = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://evil.test:{}/\r\nContent-Length: 0\r\n\r\n",
        other.port
    );
    let server = Server::answering(answer);
    let world = World::new()
        .host("api.test", server.port)
        .listen(other.port)
        .open();
    let answer = world.say("api.test", server.port, get("api.test", "/"));
    assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
    assert_eq!(world.look_up("evil.test"), None);
    let denial = world.denial();
    assert_eq!(
        (denial.operation.as_str(), denial.target.as_str()),
        ("look up", "evil.test")
    );
    // The address of a known name gains nothing.
    let asked = get(&format!("evil.test:{}", other.port), "/");
    let answer = world.say("api.test", other.port, asked);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(other.connections(), 0);
}

#[test]
fn servers_that_cannot_be_reached_are_told_apart_from_refusals() {
    // The port is taken on another address, so that nobody listens on this one.
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new()
        .host("api.test", port)
        .allow("127.0.0.9", port)
        .allow("gone.test", port);
    world.names.put("api.test", &[&["127.0.0.9"]]);
    let world = world.open();
    let answer = world.say("api.test", port, get("api.test", "/"));
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains("the connection was refused"), "{answer}");
    let answer = world.say("gone.test", port, get("gone.test", "/"));
    assert!(
        answer.contains("the host `gone.test` was not found"),
        "{answer}"
    );
    assert_eq!(
        world.log.lines(),
        [
            format!("net.connect http://api.test:{port}/ allow internal"),
            format!("net.connect http://gone.test:{port}/ allow not_found"),
        ]
    );
    assert_eq!(world.gateway.close(), []);
}

#[test]
fn an_answer_that_breaks_off_does_not_look_whole() {
    let server = Server::start(|mut stream| {
        let heard = read_head(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf").unwrap();
        rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO)).unwrap();
        heard
    });
    let world = World::new().host("api.test", server.port).open();
    let mut stream = world.connect("api.test", server.port);
    stream.write_all(get("api.test", "/").as_bytes()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut heard = Vec::new();
    let error = stream.read_to_end(&mut heard).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn what_is_not_http_from_a_server_is_not_passed_on() {
    for answer in [
        "nonsense\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "",
        "HTTP/1.1 200 OK\r\nX",
    ] {
        let server = Server::answering(answer);
        let world = World::new().host("api.test", server.port).open();
        let heard = world.say("api.test", server.port, get("api.test", "/"));
        assert!(heard.starts_with("HTTP/1.1 502"), "{answer:?}: {heard}");
    }
}

#[test]
fn the_machine_itself_is_reached_by_the_names_that_rules_give_it() {
    let server = Server::answering(OK);
    let port = server.port;
    let check = |rule: &str, address: &str, host: &str, allowed: bool| {
        let world = World::new().allow(rule, port).open();
        let answer = say(
            world.connect_to(address, port),
            get(&format!("{host}:{port}"), "/"),
        );
        let status = if allowed {
            "HTTP/1.1 200"
        } else {
            "HTTP/1.1 403"
        };
        assert!(
            answer.starts_with(status),
            "{rule} {address} {host}: {answer}"
        );
        if allowed {
            assert!(server.heard().contains(&format!("Host: {host}:{port}\r\n")));
        }
    };
    check("localhost", "127.0.0.1", "localhost", true);
    check("localhost", "127.0.0.1", "127.0.0.1", true);
    check("127.0.0.1", "127.0.0.1", "127.0.0.1", true);
    check("127.0.0.1", "127.0.0.1", "localhost", true);
    check("::1", "127.0.0.1", "localhost", false);
    check("127.0.0.2", "127.0.0.1", "127.0.0.1", false);
    check("localhost", "127.0.0.1", "evil.test", false);
    check("localhost", "127.0.0.2", "localhost", false);
    check("localhost", "127.0.0.2", "127.0.0.2", false);
    check("api.test", "127.0.0.1", "api.test", false);
}

#[test]
fn a_rule_that_denies_one_of_the_names_of_the_machine_denies_it() {
    let server = Server::answering(OK);
    let world = World::new()
        .allow("127.0.0.1", server.port)
        .rule("localhost", |rule| {
            rule.port = Some(server.port);
            rule.allow = false;
        })
        .open();
    let stream = world.connect_to("127.0.0.1", server.port);
    let answer = say(stream, get("127.0.0.1", "/"));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(server.connections(), 0);
}
