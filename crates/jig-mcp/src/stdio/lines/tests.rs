use std::time::Duration;

use rmcp::model::{EmptyResult, ServerResult};
use serde_json::json;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::*;

fn lines(stream: DuplexStream) -> Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>> {
    let (reader, writer) = split(stream);
    Lines::new(reader, writer, CancellationToken::new())
}

fn ping(id: u64) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string() + "\n"
}

fn pong(id: i64) -> ServerJsonRpcMessage {
    let result = ServerResult::EmptyResult(EmptyResult {});
    ServerJsonRpcMessage::response(result, RequestId::Number(id))
}

fn id_of(message: Option<ClientJsonRpcMessage>) -> Option<RequestId> {
    match message? {
        ClientJsonRpcMessage::Request(request) => Some(request.id),
        other => panic!("{other:?}"),
    }
}

/// rmcp gives up `receive` whenever it has something to send, and calls it again.
#[tokio::test]
async fn nothing_is_lost_when_receiving_is_given_up() {
    let (mut client, server) = duplex(64);
    let mut lines = lines(server);
    let writer = tokio::spawn(async move {
        for id in 0..20 {
            for byte in ping(id).bytes() {
                client.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
        client
    });
    let mut got = Vec::new();
    while got.len() < 20 {
        // Polled once, and dropped: as hard as it can be.
        let received = tokio::select! {
            biased;
            message = lines.receive() => message,
            () = tokio::task::yield_now() => continue,
        };
        let id = id_of(received).unwrap();
        got.push(id);
    }
    let expected: Vec<RequestId> = (0..20).map(RequestId::Number).collect();
    assert_eq!(got, expected);
    drop(writer.await.unwrap());
    assert!(lines.receive().await.is_none());
    assert!(lines.closed.is_cancelled());
}

/// What is owed is bounded: no more is read until something was answered, or given up.
#[tokio::test]
async fn a_client_that_is_owed_too_much_is_not_read_from() {
    let (mut client, server) = duplex(1 << 20);
    let mut lines = lines(server);
    let most = MAX_OWED as u64;
    for id in 0..=most + 1 {
        client.write_all(ping(id).as_bytes()).await.unwrap();
    }
    for id in 0..most {
        let received = id_of(lines.receive().await).unwrap();
        assert_eq!(received, RequestId::Number(id.cast_signed()));
    }
    let moment = Duration::from_millis(50);
    assert!(tokio::time::timeout(moment, lines.receive()).await.is_err());
    // An answer makes room for one.
    lines.send(pong(3)).await.unwrap();
    assert!(lines.receive().await.is_some());
    assert!(tokio::time::timeout(moment, lines.receive()).await.is_err());
    // An answer that nobody waits for does not.
    lines.send(pong(-1)).await.unwrap();
    assert!(tokio::time::timeout(moment, lines.receive()).await.is_err());
    lines.send(pong(4)).await.unwrap();
    assert!(lines.receive().await.is_some());
}

#[tokio::test]
async fn requests_that_were_given_up_are_not_owed() {
    let (mut client, server) = duplex(1 << 20);
    let mut lines = lines(server);
    for id in 0..3 * MAX_OWED as u64 {
        let cancelled = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": id },
        });
        let text = format!("{}{cancelled}\n", ping(id));
        client.write_all(text.as_bytes()).await.unwrap();
        assert!(lines.receive().await.is_some());
        assert!(lines.receive().await.is_some());
    }
    assert!(lines.out.owed().is_empty());
}

#[test]
fn messages() {
    fn check(line: &[u8], expected: Result<bool, (i32, Option<RequestId>)>) {
        let got = match message(line) {
            Ok(message) => Ok(message.is_some()),
            Err(refused) => Err((refused.1.code.0, refused.0)),
        };
        assert_eq!(got, expected, "{}", String::from_utf8_lossy(line));
    }
    check(ping(1).trim_end().as_bytes(), Ok(true));
    check(
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        Ok(true),
    );
    check(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Ok(true));
    check(br#"{"jsonrpc":"1.0","method":"x"}"#, Ok(false));
    check(b"nothing", Err((-32700, None)));
    check(b"\"\xff\"", Err((-32700, None)));
    check(b"[]", Err((-32600, None)));
    check(b"null", Err((-32600, None)));
    check(br#"{"id":1}"#, Err((-32600, Some(RequestId::Number(1)))));
    check(br#"{"id":1.5,"method":7}"#, Err((-32600, None)));
    let named = RequestId::String("a".into());
    check(
        br#"{"jsonrpc":"3","id":"a","method":"ping"}"#,
        Err((-32600, Some(named))),
    );
}
