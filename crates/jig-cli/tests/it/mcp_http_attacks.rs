//! `jig mcp --http` against those who should get nothing: strangers, pages in a browser, and clients that send
//! too much or too slowly. All of it with raw sockets against the real program.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::Workspace;
use super::mcp_client::{PATIENCE, text};
use super::mcp_http::{ALICE, Answer, BOB, Server, initialize, request};
use super::mcp_stdio::resident;

const BEARER: (&str, &str) = ("Authorization", "Bearer alice-has-a-long-secret");

/// Whether an honest caller is still served.
fn serves(server: &Server, workspace: &Workspace) {
    workspace.write("a.txt", "hello\n");
    let result = server.call(BOB, "fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&result), "hello\n");
}

#[test]
fn without_a_token_there_is_nothing() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let long = format!("Bearer {}", "x".repeat(30_000));
    let near = format!("Bearer {}x", &ALICE[..ALICE.len() - 1]);
    let twice = format!("Bearer {ALICE} {BOB}");
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("Authorization", "")],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Bearer wrong")],
        &[("Authorization", ALICE)],
        &[("Authorization", "Basic YWxpY2U6YWxpY2U=")],
        &[("Authorization", &long)],
        &[("Authorization", &near)],
        &[("Authorization", &twice)],
        &[("Authorization", "Bearer # ours")],
        &[("Cookie", "token=alice-has-a-long-secret")],
    ];
    for headers in cases {
        for (method, body) in [
            ("POST", &*initialize()),
            ("GET", ""),
            ("DELETE", ""),
            ("PUT", "{}"),
        ] {
            let answer = server.send(method, headers, body);
            let shown = format!("{method} {headers:?}: {answer:?}");
            assert_eq!(answer.status, 401, "{shown}");
            assert!(
                answer
                    .header("www-authenticate")
                    .unwrap()
                    .starts_with("Bearer "),
                "{shown}"
            );
            assert!(answer.header("mcp-session-id").is_none(), "{shown}");
            assert_eq!(answer.header("connection"), Some("close"), "{shown}");
        }
    }
    // A token in the address is no token: addresses end up in logs.
    let asked = format!("POST /mcp?token={ALICE} HTTP/1.1");
    let bytes = request(server.address, "POST", &[], &initialize());
    let text = String::from_utf8(bytes).unwrap();
    let answer = server.raw(text.replacen("POST /mcp HTTP/1.1", &asked, 1).as_bytes());
    assert_eq!(answer.status, 401);
    // Two are none, in any order: which one counts is not for us to guess.
    for wrong in ["Bearer wrong", BEARER.1] {
        let wrong = ("Authorization", wrong);
        for headers in [[wrong, BEARER], [BEARER, wrong]] {
            let answer = server.send("POST", &headers, &initialize());
            assert_eq!(answer.status, 400, "{headers:?}: {answer:?}");
        }
    }
    // And with one, all is there.
    let answer = server.send(
        "POST",
        &[("Authorization", "bearer alice-has-a-long-secret")],
        &initialize(),
    );
    assert_eq!(answer.status, 200);
    serves(&server, &workspace);
}

/// A page can send requests from the browser of somebody who runs jig. It cannot change what `Origin` and `Host`
/// say.
#[test]
fn pages_in_a_browser_are_refused() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &["--allow-origin", "https://app.example.com"]);
    let port = server.address.port();
    let own = format!("http://127.0.0.1:{port}");
    let local = format!("http://localhost:{port}");
    let cases: &[(&str, u16)] = &[
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("file://", 403),
        ("http://127.0.0.1", 403),
        ("http://localhost:1", 403),
        ("https://app.example.com.evil.example", 403),
        ("https://evil.example/https://app.example.com", 403),
        ("https://app.example.com@evil.example", 403),
        ("https://app.example.com:444", 403),
        ("http://app.example.com", 403),
        ("https://app.example.com", 200),
        ("https://APP.example.com:443", 200),
        (&own, 200),
        (&local, 200),
    ];
    for (origin, status) in cases {
        let headers = [BEARER, ("Origin", *origin)];
        let answer = server.send("POST", &headers, &initialize());
        assert_eq!(answer.status, *status, "{origin}: {answer:?}");
        let shared = answer.header("access-control-allow-origin");
        assert_eq!(shared, (*status == 200).then_some(*origin), "{origin}");
        // What a browser asks first.
        let headers = [
            ("Origin", *origin),
            ("Access-Control-Request-Method", "POST"),
        ];
        let answer = server.send("OPTIONS", &headers, "");
        let expected = if *status == 200 { 204 } else { 403 };
        assert_eq!(answer.status, expected, "{origin}: {answer:?}");
    }
    let two = [BEARER, ("Origin", &*own), ("Origin", "http://evil.example")];
    assert_eq!(server.send("POST", &two, &initialize()).status, 403);
    serves(&server, &workspace);
}

/// A name that its owner makes lead to this machine (DNS rebinding).
#[test]
fn other_names_are_not_ours() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let port = server.address.port();
    let cases = [
        ("evil.example".to_owned(), 403),
        (format!("evil.example:{port}"), 403),
        (format!("127.0.0.1.evil.example:{port}"), 403),
        (format!("localhost.evil.example:{port}"), 403),
        (format!("127.0.0.1:{port}@evil.example"), 403),
        (format!("evil.example@127.0.0.1:{port}"), 403),
        ("127.0.0.1".to_owned(), 403),
        ("127.0.0.1:1".to_owned(), 403),
        (String::new(), 403),
        (format!("localhost:{port}"), 200),
        (format!("LOCALHOST:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        (format!("127.0.0.1:{port}"), 200),
    ];
    for (host, status) in &cases {
        let answer = server.send("POST", &[BEARER, ("Host", host)], &initialize());
        assert_eq!(answer.status, *status, "{host}: {answer:?}");
    }
    let two = format!("127.0.0.1:{port}");
    let answer = server.send(
        "POST",
        &[BEARER, ("Host", &two), ("Host", "evil.example")],
        &initialize(),
    );
    assert!(matches!(answer.status, 400 | 403), "{answer:?}");
    let bytes = request(server.address, "POST", &[BEARER], &initialize());
    let text = String::from_utf8(bytes).unwrap();
    let none = text.replacen(&format!("Host: 127.0.0.1:{port}\r\n"), "", 1);
    assert!(matches!(server.raw(none.as_bytes()).status, 400 | 403));
    let absolute = text.replacen("POST /mcp", "POST http://evil.example/mcp", 1);
    assert_eq!(server.raw(absolute.as_bytes()).status, 403);
}

#[test]
fn what_is_no_message_is_said_so() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let cases: &[(&str, u16, i64)] = &[
        ("", 400, -32700),
        ("garbage", 400, -32700),
        ("{\"jsonrpc\":", 400, -32700),
        ("[]", 400, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
        ("17", 400, -32600),
        (&deep, 400, -32700),
    ];
    for (body, status, code) in cases {
        let answer = server.send("POST", &[BEARER], body);
        let shown = &body[..body.len().min(40)];
        assert_eq!(answer.status, *status, "{shown}: {answer:?}");
        let message: Json = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(message["error"]["code"], *code, "{shown}");
    }
    for (path, status) in [
        ("/", 404),
        ("/mcp/", 404),
        ("/mcp/x", 404),
        ("/.well-known/oauth-protected-resource", 404),
    ] {
        let bytes = request(server.address, "GET", &[], "");
        let text = String::from_utf8(bytes).unwrap();
        let answer = server.raw(
            text.replacen("GET /mcp", &format!("GET {path}"), 1)
                .as_bytes(),
        );
        assert_eq!(answer.status, status, "{path}");
    }
    serves(&server, &workspace);
}

#[test]
fn a_body_of_100_megabytes_is_refused_and_not_kept() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    serves(&server, &workspace);
    let before = resident(server.pid());
    let piece = vec![b'x'; 1024 * 1024];
    // Announced: refused by the announcement.
    let head = request(
        server.address,
        "POST",
        &[BEARER, ("Content-Length", "104857600")],
        "",
    );
    let mut stream = server.connect();
    stream.write_all(&head).unwrap();
    assert_eq!(Answer::read(stream).status, 413);
    // Not announced: refused on the way.
    let headers = [
        BEARER,
        ("Content-Length", ""),
        ("Transfer-Encoding", "chunked"),
    ];
    let head = String::from_utf8(request(server.address, "POST", &headers, "")).unwrap();
    let head = head.replace("Content-Length: \r\n", "");
    let mut stream = server.connect();
    stream.write_all(head.as_bytes()).unwrap();
    let mut sent = 0;
    while sent < 100 {
        let chunk = [b"100000\r\n", &piece[..], b"\r\n"].concat();
        if stream.write_all(&chunk).is_err() {
            break;
        }
        sent += 1;
    }
    assert!(sent < 100, "all of it was taken");
    // Without a token, not a byte of it is read.
    let head = request(
        server.address,
        "POST",
        &[("Content-Length", "104857600")],
        "",
    );
    let mut stream = server.connect();
    stream.write_all(&head).unwrap();
    assert_eq!(Answer::read(stream).status, 401);
    let grown = resident(server.pid()).saturating_sub(before);
    assert!(grown < 80 * 1024 * 1024, "{grown} bytes more");
    serves(&server, &workspace);
}

#[test]
fn an_endless_head_ends() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    for line in [
        "X-Long: ".to_owned() + &"x".repeat(900) + "\r\n",
        "x".repeat(1000),
    ] {
        let mut stream = server.connect();
        stream.write_all(b"POST /mcp HTTP/1.1\r\n").unwrap();
        let mut sent = 0;
        while sent < 100_000 && stream.write_all(line.as_bytes()).is_ok() {
            sent += 1;
        }
        assert!(sent < 100_000, "all of it was taken");
    }
    // As many as one likes, in one piece.
    let many = "X: y\r\n".repeat(5_000);
    let answer = server.raw(format!("POST /mcp HTTP/1.1\r\n{many}\r\n").as_bytes());
    assert!(matches!(answer.status, 0 | 400 | 431), "{answer:?}");
    serves(&server, &workspace);
}

/// Strangers that connect and say nothing, or say it slowly, keep no caller out, and lose their connections.
#[test]
fn a_thousand_connections_of_strangers_keep_nobody_out() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &[]);
    let mut strangers = Vec::new();
    for number in 0..1000 {
        let mut stream = server.connect();
        if number % 2 == 0 {
            let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost:");
        }
        strangers.push(stream);
        if number % 100 == 99 {
            serves(&server, &workspace);
        }
    }
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid()))
        .unwrap()
        .count();
    assert!(files < 600, "{files} files are open");
    // The slow ones: a byte now and then.
    let deadline = Instant::now() + PATIENCE;
    let mut open = strangers;
    while !open.is_empty() {
        assert!(
            Instant::now() < deadline,
            "{} are still connected",
            open.len()
        );
        open.retain_mut(is_open);
        jig_testkit::let_pass(Duration::from_millis(200));
    }
    serves(&server, &workspace);
}

/// Sends a byte, and looks whether the other side is still there.
fn is_open(stream: &mut TcpStream) -> bool {
    let _ = stream.write_all(b"x");
    stream.set_nonblocking(true).unwrap();
    let mut byte = [0; 64];
    let read = stream.read(&mut byte);
    stream.set_nonblocking(false).unwrap();
    match read {
        Ok(0) => false,
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Callers have a limit, too, and are told.
#[test]
fn one_caller_too_many_is_told_to_come_again() {
    let workspace = Workspace::new();
    let server = Server::start(&workspace, &["--max-connections", "128"]);
    let keep = [BEARER, ("Connection", "keep-alive")];
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"no/session"}"#;
    let mut held = Vec::new();
    for _ in 0..128 {
        let mut stream = server.connect();
        stream
            .write_all(&request(server.address, "POST", &keep, message))
            .unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 400");
        held.push(stream);
    }
    let answer = server.send("POST", &[BEARER], message);
    assert_eq!(answer.status, 503, "{answer:?}");
    held.truncate(100);
    jig_testkit::until("their places are free again", || {
        server.send("POST", &[BEARER], message).status != 503
    });
    serves(&server, &workspace);
}

/// A token in the environment is none of the tools' business, whatever they may see of it.
#[test]
fn tools_do_not_get_the_token() {
    let config = r#"
[tools.spy]
source = "local"
runtime = "stdio"
command = "sh -c 'env; cat /proc/*/environ'"
run = "unattended"
description = "Looks round"
[[tools.spy.access.env]]
name = "JIG_MCP_TOKEN"
read = true
[[tools.spy.access.env]]
name = "OPEN"
read = true
"#;
    let workspace = Workspace::with(config);
    let mut command = workspace.jig(&["mcp"]);
    command.env("JIG_MCP_TOKEN", ALICE).env("OPEN", "visible");
    let mut client = super::mcp_client::Client::of(command);
    client.initialize(json!({}));
    let result = client.call("spy", json!({}));
    let text = text(&result);
    // Values are scrubbed from what a tool says; names are not.
    assert!(text.contains("OPEN="), "{result}");
    assert!(!text.contains("JIG_MCP_TOKEN"), "{result}");
}
