//! The server, from a client's side.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::{Answer, Gate, Provider};

/// Sends a request, and reads until the connection ends.
fn ask(provider: &Provider, body: &str) -> String {
    let mut stream = send(provider, body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn send(provider: &Provider, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(provider.address()).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nX-One: 1\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    stream
}

#[test]
fn it_answers_in_both_forms_and_remembers() {
    let provider = Provider::start();
    let whole = ask(&provider, "{}");
    assert!(whole.starts_with("HTTP/1.1 200 "), "{whole}");
    assert!(whole.contains("\"content\":\"Hello.\""), "{whole}");
    provider.always(Answer::text("a b").usage(7, 2, 1));
    let stream = ask(&provider, r#"{"stream":true}"#);
    for part in [
        "text/event-stream",
        r#""content":"a ""#,
        r#""content":"b""#,
        r#""prompt_tokens":7"#,
        "data: [DONE]\n\n\r\n0\r\n\r\n",
    ] {
        assert!(stream.contains(part), "{part} in {stream}");
    }
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert_eq!(requests[0].header("x-one"), Some("1"));
    assert_eq!(requests[1].json()["stream"], true);
}

#[test]
fn the_script_comes_first() {
    let provider = Provider::start();
    provider.script([
        Answer::error(429, "slow down").header("Retry-After", "1"),
        Answer::body("text/plain", "0123456789").cut_after(4),
        Answer::raw("nonsense"),
    ]);
    let refused = ask(&provider, "");
    assert!(
        refused.starts_with("HTTP/1.1 429 ") && refused.contains("Retry-After: 1\r\n"),
        "{refused}"
    );
    assert!(ask(&provider, "").ends_with("\r\n\r\n0123"));
    assert_eq!(ask(&provider, ""), "nonsense");
    assert!(ask(&provider, "").contains("Hello."));
}

#[test]
fn its_end_ends_whatever_hangs() {
    let provider = Provider::start();
    let gate = Gate::new();
    provider.script([
        Answer::silence(),
        Answer::text("late").held(&gate),
        Answer::endless("application/json", "{", " "),
    ]);
    let mut hanging: Vec<TcpStream> = (0..3).map(|_| send(&provider, "")).collect();
    provider.wait_for_requests(3);
    drop(provider);
    for stream in &mut hanging {
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[test]
fn a_gate_holds_an_answer() {
    let provider = Provider::start();
    let gate = Gate::new();
    provider.always(Answer::text("late").held(&gate));
    let mut stream = send(&provider, "");
    provider.wait_for_requests(1);
    stream.set_nonblocking(true).unwrap();
    let early = stream.read(&mut [0; 1]).unwrap_err();
    assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);
    gate.open();
    stream.set_nonblocking(false).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("late"), "{answer}");
}
