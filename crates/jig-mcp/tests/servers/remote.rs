//! Servers elsewhere, over HTTP on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use jig_mcp::{ServerSelection, ServerState};
use serde_json::{Value, json};

use super::World;

/// A server that answers every request in one piece, until the test ends. It wants a token, and tells it to
/// whoever calls.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || while serve(&stream).is_some() {});
        }
    });
    format!("http://{address}/mcp")
}

fn serve(mut stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let (mut length, mut token) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "x-token" => token = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = match (token.is_empty(), request["method"].as_str()) {
        (true, _) => Err("401 Unauthorized"),
        (_, Some("initialize")) => Ok(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "far away", "version": "1" },
        })),
        (_, Some("tools/list")) => Ok(json!({
            "tools": [{
                "name": "token",
                "description": format!("Tells {}.", last_word(&token)),
                "inputSchema": { "type": "object" },
            }],
        })),
        (_, Some("tools/call")) => Ok(json!({
            "content": [{ "type": "text", "text": format!("you said {}", last_word(&token)) }],
        })),
        (_, Some(method)) if method.starts_with("notifications/") => Err("202 Accepted"),
        (_, Some(_)) => Ok(Value::Null),
        (_, None) => Err("405 Method Not Allowed"),
    };
    let (status, body) = match answer {
        Ok(Value::Null) => {
            let error = json!({ "code": -32601, "message": "there is no such method" });
            (
                "200 OK",
                json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string(),
            )
        }
        Ok(result) => {
            let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
            ("200 OK", answer.to_string())
        }
        Err(status) => (status, String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}

/// A token without the scheme before it.
fn last_word(token: &str) -> &str {
    token.rsplit(' ').next().unwrap_or_default()
}

fn entry(url: &str, more: &str) -> String {
    format!("[mcp.servers.far]\nurl = '{url}'\nrun = 'unattended'\n{more}\n")
}

#[test]
fn one_is_called_and_its_token_never_comes_back() {
    let mut world = World::new("well");
    for printed in ["'swordfish-swordfish'", "'Bearer', 'swordfish-swordfish'"] {
        let token = format!("headers = {{ X-Token = {{ command = ['echo', {printed}] }} }}");
        world.configure(&entry(&site(), &token), ServerSelection::Fresh);
        assert_eq!(world.problems, []);
        let text = world.text("far_token", json!({}));
        assert_eq!(text, "you said [REDACTED]", "{printed}");
        let tool = world.engine.config().tool("far_token").unwrap();
        let description = tool.definition.as_ref().unwrap().description.as_deref();
        assert_eq!(description, Some("Tells [REDACTED]."), "{printed}");
        let status = world.status("far");
        assert_eq!((status.state, status.pid), (ServerState::Running, None));
    }
}

#[test]
fn one_that_is_not_there_or_refuses_us_is_told_of() {
    let mut world = World::new("well");
    // A port that nobody listens at any more.
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/mcp", listener.local_addr().unwrap())
    };
    for url in [gone, site()] {
        world.configure(&entry(&url, ""), ServerSelection::Fresh);
        let problems = &world.problems;
        assert!(
            problems.len() == 1 && problems[0].0 == "far",
            "{problems:?}"
        );
        assert!(matches!(
            world.status("far").state,
            ServerState::Failed { .. }
        ));
    }
    world.good_is_well();
}

/// Where it should be is told, without what may be secret in it.
#[test]
fn one_that_is_not_there_is_told_of_by_its_address() {
    let mut world = World::new("well");
    let address = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    for (url, shown) in [
        ("ADDRESS/mcp?key=hunter2", "ADDRESS/mcp"),
        ("ADDRESS", "ADDRESS/"),
        ("ADDRESS/${TENANT}/mcp", "ADDRESS/…"),
    ] {
        let url = format!("http://{}", url.replace("ADDRESS", &address.to_string()));
        let shown = shown.replace("ADDRESS", &address.to_string());
        world.variables = vec![("TENANT", "hunter2-of-acme")];
        world.configure(&entry(&url, ""), ServerSelection::Fresh);
        let told = format!("{:?}", world.problems);
        let expected = format!("cannot reach http://{shown}: Connection refused (os error 111)");
        assert!(told.contains(&expected), "`{expected}` in {told}");
        assert!(!told.contains("hunter2"), "{told}");
        assert!(!told.contains("tcp connect error"), "{told}");
    }
}

#[test]
fn one_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut world = World::new("well");
    world.configure(&entry(&url, "start = '1s'"), ServerSelection::Fresh);
    let problems = &world.problems;
    assert!(
        problems.len() == 1 && problems[0].1.contains("`start`"),
        "{problems:?}"
    );
    drop(listener);
}
