//! Requests to servers on the loopback interface, friendly and hostile.

use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{ApprovalScope, AuditDecision, JudgedRequest};
use jig_proto::vfs::{
    ErrorKind, ErrorReply, Header, HttpGet, HttpPost, HttpReply, Payload, VfsReply, VfsRequest,
};

use crate::server::{Server, ok, redirect};
use crate::world::{World, kind};

/// A world in which `api.test` is this server, and both the name and the address are allowed.
fn world_for(server: &Server) -> World {
    let world =
        World::in_memory()
            .net("api.test", server.port, true)
            .net("127.0.0.1", server.port, true);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    world
}

fn url(server: &Server, path: &str) -> String {
    format!("http://api.test:{}{path}", server.port)
}

fn get(url: &str) -> VfsRequest<'_> {
    with_headers(url, &[])
}

fn with_headers<'a>(url: &'a str, headers: &[(&'a str, &'a str)]) -> VfsRequest<'a> {
    VfsRequest::HttpGet(HttpGet {
        url: url.into(),
        headers: own(headers),
    })
}

fn post<'a>(url: &'a str, headers: &[(&'a str, &'a str)], body: &'a str) -> VfsRequest<'a> {
    VfsRequest::HttpPost(HttpPost {
        url: url.into(),
        headers: own(headers),
        body: body.into(),
    })
}

fn own<'a>(headers: &[(&'a str, &'a str)]) -> Vec<Header<'a>> {
    let headers = headers.iter().map(|(name, value)| Header {
        name: (*name).into(),
        value: (*value).into(),
    });
    headers.collect()
}

fn body(result: Result<VfsReply<'static>, ErrorReply>) -> (u16, String) {
    match result.unwrap() {
        VfsReply::Http(HttpReply {
            status,
            body: Payload::Text(text),
        }) => (status, text.into_owned()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn v070_v071_get_and_post() {
    let server = Server::answering(ok("hello"));
    let world = world_for(&server);
    let got = world.ask(&with_headers(&url(&server, "/a?b=1"), &[("X-One", "1")]));
    assert_eq!(body(got), (200, "hello".to_owned()));
    let posted = world.ask(&post(
        &url(&server, "/p"),
        &[("Content-Type", "text/x")],
        "data",
    ));
    assert_eq!(body(posted), (200, "hello".to_owned()));
    let seen = server.seen();
    assert!(
        seen[0].starts_with("GET /a?b=1 HTTP/1.1\r\n"),
        "{}",
        seen[0]
    );
    assert!(seen[0].contains("x-one: 1\r\n"), "{}", seen[0]);
    assert!(
        seen[0].contains(&format!("host: api.test:{}\r\n", server.port)),
        "{}",
        seen[0]
    );
    assert!(seen[0].contains("user-agent: jig/"), "{}", seen[0]);
    assert!(seen[1].starts_with("POST /p HTTP/1.1\r\n"), "{}", seen[1]);
    assert!(seen[1].ends_with("\r\n\r\ndata"), "{}", seen[1]);
    let entries = world.log.entries();
    assert_eq!(
        entries[0].target,
        format!("http://api.test:{}/a?…", server.port)
    );
    assert_eq!(entries[0].outcome.as_deref(), Some("ok"));
}

/// Runs the test above again in a process whose environment names a proxy that is not there.
#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "http::v070_v071_get_and_post"]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, "http://127.0.0.1:9");
    }
    let output = again.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn an_error_status_is_an_answer() {
    let server = Server::answering("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nlate");
    assert_eq!(
        body(world_for(&server).ask(&get(&url(&server, "/")))),
        (503, "late".to_owned())
    );
}

#[test]
fn v072_nothing_is_sent_to_a_host_that_is_not_allowed() {
    let server = Server::answering(ok("secret"));
    let world = World::in_memory().net("other.test", server.port, true).net(
        "denied.test",
        server.port,
        false,
    );
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let check = |url: String, expected: ErrorKind| {
        assert_eq!(kind(world.ask(&get(&url))), Err(expected), "{url}");
    };
    check(url(&server, "/"), ErrorKind::ApprovalUnavailable);
    check(
        format!("http://denied.test:{}/", server.port),
        ErrorKind::DeniedByRule,
    );
    check(
        format!("http://127.0.0.1:{}/", server.port),
        ErrorKind::ApprovalUnavailable,
    );
    check("ftp://other.test/".to_owned(), ErrorKind::InvalidParams);
    check(
        "http://u:p@other.test/".to_owned(),
        ErrorKind::InvalidParams,
    );
    check("nonsense".to_owned(), ErrorKind::InvalidParams);
    assert!(server.seen().is_empty());
}

#[test]
fn v076_a_binary_body_is_bytes() {
    let server = Server::answering(ok(b"\xff\x00hunter22"));
    let world = world_for(&server);
    world.secrets.remember("hunter22");
    let Ok(VfsReply::Http(reply)) = world.ask(&get(&url(&server, "/"))) else {
        panic!("it is allowed");
    };
    assert_eq!(
        reply.body,
        Payload::Bytes(b"\xff\x00[REDACTED]".to_vec().into())
    );
}

#[test]
fn v073_v074_variables_reach_the_server_and_not_the_tool() {
    let server = Server::start(|request, stream| {
        // Echoes the request, also as JSON and in two chunks.
        let token = request
            .split("Bearer ")
            .nth(1)
            .unwrap()
            .split("\r\n")
            .next()
            .unwrap();
        let half = token.len() / 2;
        let json = serde_json::json!({ "t": token }).to_string();
        let (a, b) = (format!("{json} {}", &token[..half]), &token[half..]);
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
            a.len(),
            b.len()
        );
    });
    let world = world_for(&server)
        .env(&[("TOKEN", "s3cr\"t/va\\lue"), ("OTHER", "not-granted")])
        .header_variable("TOKEN");
    let request_url = url(&server, "/");
    let reply = world.ask(&with_headers(
        &request_url,
        &[("Authorization", "Bearer ${TOKEN}")],
    ));
    let (_, text) = body(reply);
    assert_eq!(text, "{\"t\":\"[REDACTED]\"} [REDACTED]");
    assert!(server.seen()[0].contains("s3cr\"t/va\\lue"));
    assert!(!format!("{:?}", world.log.entries()).contains("s3cr"));
}

#[test]
fn v075_a_variable_that_is_not_allowed_or_not_set_sends_nothing() {
    let server = Server::answering(ok(""));
    let world = world_for(&server)
        .env(&[("OTHER", "value-of-other")])
        .header_variable("TOKEN");
    let request_url = url(&server, "/");
    let check = |value: &str, expected: ErrorKind| {
        let result = world.ask(&with_headers(&request_url, &[("X", value)]));
        assert_eq!(kind(result), Err(expected), "{value}");
    };
    // Whether it is set makes no difference.
    check("${OTHER}", ErrorKind::ApprovalUnavailable);
    check("${NEVER_SET}", ErrorKind::ApprovalUnavailable);
    check("${TOKEN}", ErrorKind::NotFound);
    check("${", ErrorKind::InvalidParams);
    check("a\r\nX-Injected: 1", ErrorKind::InvalidParams);
    assert!(server.seen().is_empty());
}

#[test]
fn a_name_and_a_variable_are_asked_for_together() {
    let server = Server::answering(ok("fine"));
    let world = World::in_memory()
        .net("127.0.0.1", server.port, true)
        .env(&[("TOKEN", "abcdef")]);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let request_url = url(&server, "/x?q=1");
    let request = with_headers(&request_url, &[("X", "${TOKEN}"), ("Y", "${TOKEN}")]);
    let JudgedRequest::Uncovered(inquiry) = world.broker().judge(&request) else {
        panic!("nothing covers it");
    };
    let shown = format!("http://api.test:{}/x?…", server.port);
    assert_eq!(
        inquiry.text(),
        format!("Allow `editor` to reach `{shown}` and to send the value of `TOKEN`?")
    );
    let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Turn) else {
        panic!("it was approved");
    };
    assert_eq!(body(work.perform()), (200, "fine".to_owned()));
    // For the turn, the whole origin is approved.
    assert!(world.ask(&get(&url(&server, "/other"))).is_ok());
}

#[test]
fn once_covers_a_redirect_on_the_same_host() {
    let server = Server::start(|request, stream| {
        let answer = if request.contains(" /end ") {
            ok("end")
        } else {
            redirect(302, "/end")
        };
        let _ = stream.write_all(&answer);
    });
    let world = World::in_memory().net("127.0.0.1", server.port, true);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let request_url = url(&server, "/");
    let JudgedRequest::Uncovered(inquiry) = world.broker().judge(&get(&request_url)) else {
        panic!("nothing covers it");
    };
    let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Once) else {
        panic!("it was approved");
    };
    assert_eq!(body(work.perform()), (200, "end".to_owned()));
    assert!(matches!(
        world.broker().judge(&get(&request_url)),
        JudgedRequest::Uncovered(_)
    ));
}

#[test]
fn names_that_lead_to_special_addresses_are_refused() {
    let server = Server::answering(ok("internal"));
    let world = World::in_memory().net("api.test", server.port, true);
    let addresses = [
        "127.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "0.0.0.0",
        "64:ff9b::7f00:1",
        "fd00:ec2::254",
        "224.0.0.1",
        "100.100.100.200",
    ];
    for address in addresses {
        world.names.put("api.test", &[&[address]]);
        let error = world.ask(&get(&url(&server, "/"))).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            (-32001, ErrorKind::Uncovered),
            "{address}"
        );
        assert!(
            error.message.contains("no rule names that address"),
            "{error}"
        );
        assert!(
            error
                .data
                .hint
                .unwrap()
                .contains("[[tools.editor.access.net]]")
        );
    }
    assert!(server.seen().is_empty());
}

#[test]
fn an_address_that_a_rule_names_is_reached_by_name_and_by_itself() {
    let server = Server::answering(ok("fine"));
    let world = world_for(&server);
    assert!(world.ask(&get(&url(&server, "/"))).is_ok());
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "0x7f000001"] {
        let url = format!("http://{host}:{}/", server.port);
        assert!(world.ask(&get(&url)).is_ok(), "{host}");
    }
    // An allowed name does not open a denied address.
    let world =
        World::in_memory()
            .net("api.test", server.port, true)
            .net("127.0.0.1", server.port, false);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/")))),
        Err(ErrorKind::DeniedByRule)
    );
    // `localhost` means the loopback interface, whatever a resolver says.
    let world = World::in_memory().net("localhost", server.port, true);
    world.names.put("localhost", &[&["192.0.2.1"]]);
    let local = format!("http://localhost:{}/", server.port);
    assert!(world.ask(&get(&local)).is_ok());
}

#[test]
fn rebinding_the_judged_address_is_the_used_one() {
    let server = Server::answering(ok("internal"));
    let world =
        World::in_memory()
            .net("api.test", server.port, true)
            .net("127.0.0.1", server.port, true);
    // First answer is fine, the second would lead elsewhere: it must never be asked for.
    world
        .names
        .put("api.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    assert!(world.ask(&get(&url(&server, "/"))).is_ok());
    // Asked anew, the other address is judged anew.
    let error = world.ask(&get(&url(&server, "/"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Uncovered);
    assert!(error.message.contains("127.0.0.2"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn redirects_are_followed_and_judged() {
    let target = Server::answering(ok("there"));
    let there = format!("http://other.test:{}/x", target.port);
    let location = there.clone();
    let server = Server::start(move |request, stream| {
        let answer = match request {
            one if one.starts_with("GET /relative") => redirect(302, "/end"),
            one if one.starts_with("GET /end") => ok("the end"),
            one if one.starts_with("GET /loop") => redirect(302, "/loop"),
            one if one.starts_with("GET /file") => redirect(302, "file:///etc/passwd"),
            one if one.starts_with("GET /creds") => redirect(302, "http://u:p@api.test/"),
            one if one.starts_with("GET /none") => {
                b"HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            _ => redirect(302, &location),
        };
        let _ = stream.write_all(&answer);
    });
    let world = world_for(&server);
    assert_eq!(
        body(world.ask(&get(&url(&server, "/relative")))),
        (200, "the end".to_owned())
    );
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/loop")))),
        Err(ErrorKind::TooLarge)
    );
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/file")))),
        Err(ErrorKind::Internal)
    );
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/creds")))),
        Err(ErrorKind::Internal)
    );
    assert_eq!(
        body(world.ask(&get(&url(&server, "/none")))),
        (302, String::new())
    );
    let error = world.ask(&get(&url(&server, "/away"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Uncovered);
    assert!(error.message.contains("request it directly"), "{error}");
    let world = world.net("other.test", target.port, false);
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/away")))),
        Err(ErrorKind::DeniedByRule)
    );
    assert!(target.seen().is_empty());
    let denied: Vec<String> = world
        .log
        .entries()
        .into_iter()
        .filter(|entry| entry.decision == AuditDecision::Deny)
        .map(|entry| entry.target)
        .collect();
    assert_eq!(
        denied,
        [format!("{there} (redirect)"), format!("{there} (redirect)")]
    );
}

#[test]
fn a_redirect_to_a_name_of_the_loopback_interface_is_refused() {
    let inside = Server::answering(ok("internal"));
    let location = format!("http://rebound.test:{}/", inside.port);
    let server = Server::answering(redirect(302, &location));
    let world = world_for(&server).net("rebound.test", inside.port, true);
    world.names.put("rebound.test", &[&["127.0.0.1"]]);
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/")))),
        Err(ErrorKind::Uncovered)
    );
    assert!(inside.seen().is_empty());
}

#[test]
fn secrets_do_not_follow_a_redirect_to_another_host() {
    let other = Server::start(|request, stream| {
        // Sends it back to where it came from: the secret must not return with it.
        let back = request
            .split("back=")
            .nth(1)
            .map(|rest| rest.split(' ').next().unwrap());
        let answer = match back {
            Some(port) => redirect(307, &format!("http://api.test:{port}/home")),
            None => ok("other"),
        };
        let _ = stream.write_all(&answer);
    });
    let other_port = other.port;
    let server = Server::start(move |request, stream| {
        let port = stream.local_addr().unwrap().port();
        let answer = match request {
            one if one.contains(" /home ") => ok("home"),
            one if one.contains(" /leak ") => {
                let token = one
                    .split("x-token: ")
                    .nth(1)
                    .unwrap()
                    .split("\r\n")
                    .next()
                    .unwrap();
                redirect(302, &format!("http://nowhere.test/?t={token}"))
            }
            _ => redirect(307, &format!("http://other.test:{other_port}/?back={port}")),
        };
        let _ = stream.write_all(&answer);
    });
    let world = world_for(&server)
        .net("other.test", other.port, true)
        .net("127.0.0.1", other.port, true)
        .env(&[("TOKEN", "hunter22")])
        .header_variable("TOKEN");
    world.names.put("other.test", &[&["127.0.0.1"]]);
    let headers = [
        ("X-Token", "${TOKEN}"),
        ("Authorization", "Basic abc"),
        ("X-Plain", "1"),
    ];
    let request_url = url(&server, "/");
    let reply = world.ask(&post(&request_url, &headers, "body"));
    assert_eq!(body(reply), (200, "home".to_owned()));
    let (first, second, third) = (&server.seen()[0], &other.seen()[0], &server.seen()[1]);
    assert!(first.contains("hunter22") && first.contains("Basic abc"));
    for later in [second, third] {
        assert!(
            !later.contains("hunter22") && !later.contains("Basic abc"),
            "{later}"
        );
        assert!(
            later.contains("x-plain: 1") && later.starts_with("POST"),
            "{later}"
        );
        assert!(later.ends_with("body"), "{later}");
    }
    // A server can put the secret into a URL: neither the error nor the log repeats it.
    let leak_url = url(&server, "/leak");
    let error = world
        .ask(&with_headers(&leak_url, &headers[..1]))
        .unwrap_err();
    assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
    assert!(!format!("{:?}", world.log.entries()).contains("hunter22"));
}

#[test]
fn methods_change_with_the_status() {
    let check = |status: u16, expected: &str, keeps_body: bool| {
        let server = Server::start(move |request, stream| {
            let answer = if request.contains(" /end ") {
                ok("end")
            } else {
                redirect(status, "/end")
            };
            let _ = stream.write_all(&answer);
        });
        let world = world_for(&server);
        let request_url = url(&server, "/");
        assert!(
            world
                .ask(&post(&request_url, &[("Content-Type", "a/b")], "data"))
                .is_ok()
        );
        let last = server.seen().pop().unwrap();
        assert!(last.starts_with(expected), "{status}: {last}");
        assert_eq!(last.ends_with("data"), keeps_body, "{status}: {last}");
        assert_eq!(
            last.contains("content-type"),
            keeps_body,
            "{status}: {last}"
        );
    };
    check(301, "GET /end", false);
    check(302, "GET /end", false);
    check(303, "GET /end", false);
    check(307, "POST /end", true);
    check(308, "POST /end", true);
}

#[test]
fn hostile_answers_end_in_errors() {
    let huge_head = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let cases: [(&str, Vec<u8>); 8] = [
        ("garbage", b"\x00\xff\x16\x03garbage\r\n\r\n".to_vec()),
        ("nothing", Vec::new()),
        ("half a head", b"HTTP/1.1 200 OK\r\nContent-".to_vec()),
        (
            "too short",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec(),
        ),
        (
            "bad chunk",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        ),
        (
            "bad length",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_vec(),
        ),
        ("bad status", b"HTTP/1.1 9999 OK\r\n\r\n".to_vec()),
        ("huge head", huge_head.into_bytes()),
    ];
    for (name, answer) in cases {
        let server = Server::answering(answer);
        let error = world_for(&server)
            .ask(&get(&url(&server, "/")))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{name}: {error}");
        assert!(!error.message.contains("127.0.0.1"), "{name}: {error}");
    }
    let world = World::in_memory().net("gone.test", 80, true);
    assert_eq!(
        kind(world.ask(&get("http://gone.test/"))),
        Err(ErrorKind::NotFound)
    );
}

#[test]
fn a_body_without_end_is_too_large() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let mut world = world_for(&server);
    world.limits.http_body_bytes = 100_000;
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/")))),
        Err(ErrorKind::TooLarge)
    );
    let server = Server::answering(ok(vec![b'x'; 100_000]));
    let mut world = world_for(&server);
    world.limits.http_body_bytes = 100_000;
    assert!(world.ask(&get(&url(&server, "/"))).is_ok());
}

#[test]
fn v156_a_server_that_never_answers_or_drips_runs_out_of_time() {
    let silent = Server::start(|_, stream| {
        let mut byte = [0];
        let _ = std::io::Read::read(stream, &mut byte);
    });
    let drip = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            jig_testkit::let_pass(Duration::from_millis(20));
        }
    });
    for server in [silent, drip] {
        let mut world = world_for(&server);
        world.limits.http_time = Duration::from_millis(300);
        let start = Instant::now();
        let error = world.ask(&get(&url(&server, "/"))).unwrap_err();
        assert_eq!(
            (error.code(), error.kind()),
            (-32004, ErrorKind::Timeout),
            "{error}"
        );
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{:?}",
            start.elapsed()
        );
    }
}

#[test]
fn v157_cancelling_ends_a_request_that_waits() {
    let (started, waits) = mpsc::channel();
    let server = Server::start(move |_, stream| {
        // A body that ends with its connection: what is there so far must not pass for all of it.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf");
        let _ = started.send(());
        let mut byte = [0];
        let _ = std::io::Read::read(stream, &mut byte);
    });
    let world = world_for(&server);
    let request_url = url(&server, "/");
    let JudgedRequest::Ready(work) = world.broker().judge(&get(&request_url)) else {
        panic!("it is allowed");
    };
    assert!(!work.is_quick());
    let cancel = work.cancel_token();
    let thread = thread::spawn(move || work.perform());
    waits.recv_timeout(Duration::from_secs(10)).unwrap();
    let start = Instant::now();
    cancel.cancel();
    assert_eq!(thread.join().unwrap().unwrap_err().code(), -32005);
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    let outcome = world.log.entries().pop().unwrap().outcome;
    assert_eq!(outcome.as_deref(), Some("cancelled"));
}

#[test]
fn a_compressed_body_does_not_hide_a_secret() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd";
    let server = Server::answering(answer);
    let world = world_for(&server);
    assert!(world.ask(&get(&url(&server, "/"))).is_ok());
    world.secrets.remember("hunter22");
    assert_eq!(
        kind(world.ask(&get(&url(&server, "/")))),
        Err(ErrorKind::Internal)
    );
}
