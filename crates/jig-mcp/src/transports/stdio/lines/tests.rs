use std::time::Duration;

use rmcp::model::{EmptyResult, ServerResult};
use serde_json::json;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::unanswered_requests::{MAX_BYTES, MAX_REQUESTS};
use super::*;

fn lines(stream: DuplexStream) -> StdioLines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>> {
    let (reader, writer) = split(stream);
    StdioLines::new(reader, writer, CancellationToken::new())
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
    let most = MAX_REQUESTS as u64;
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
    for id in 0..3 * MAX_REQUESTS as u64 {
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
    assert_eq!(lines.out.debts.requests(), 0);
}

fn cancelled(id: u64) -> String {
    let params = json!({ "requestId": id });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string()
        + "\n"
}

async fn reads_nothing(
    lines: &mut StdioLines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
) -> bool {
    let moment = Duration::from_millis(50);
    tokio::time::timeout(moment, lines.receive()).await.is_err()
}

/// A client that gives its requests up at once, and reads nothing, would otherwise have as many served at the
/// same time as it likes.
#[tokio::test]
async fn what_is_still_served_is_owed_though_it_was_given_up() {
    let (mut client, server) = duplex(1 << 20);
    let mut lines = lines(server);
    let mut served = Vec::new();
    for id in 0..MAX_REQUESTS as u64 {
        let text = ping(id) + &cancelled(id);
        client.write_all(text.as_bytes()).await.unwrap();
        served.push(lines.receive().await.unwrap());
        let is_last = served.len() == MAX_REQUESTS;
        assert!(is_last || lines.receive().await.is_some());
    }
    assert!(reads_nothing(&mut lines).await);
    served.swap_remove(0);
    assert!(lines.receive().await.is_some());
}

/// The same for answers that were on their way when their requests were given up.
#[tokio::test]
async fn what_is_not_read_is_owed_though_it_was_given_up() {
    let (mut client, server) = duplex(1 << 16);
    let mut lines = lines(server);
    let mut unread = Vec::new();
    for id in 0..MAX_REQUESTS as u64 {
        let text = ping(id) + &cancelled(id);
        client.write_all(text.as_bytes()).await.unwrap();
        drop(lines.receive().await.unwrap());
        unread.push(lines.send(pong(id.cast_signed())));
        let is_last = unread.len() == MAX_REQUESTS;
        assert!(is_last || lines.receive().await.is_some());
    }
    assert!(reads_nothing(&mut lines).await);
    unread.pop();
    assert!(lines.receive().await.is_some());
}

#[tokio::test]
async fn an_id_is_used_by_one_request_at_a_time() {
    let (client, server) = duplex(1 << 16);
    let (read, mut write) = split(client);
    let mut answers = BufReader::new(read).lines();
    let mut lines = lines(server);
    let text = ping(1) + &ping(1) + &ping(2);
    write.write_all(text.as_bytes()).await.unwrap();
    assert_eq!(id_of(lines.receive().await), Some(RequestId::Number(1)));
    assert_eq!(id_of(lines.receive().await), Some(RequestId::Number(2)));
    let refused = answers.next_line().await.unwrap().unwrap();
    assert!(
        refused.contains("the id `1` is that of a request"),
        "{refused}"
    );
    // Once it has its answer, it can be used again.
    lines.send(pong(1)).await.unwrap();
    write.write_all(ping(1).as_bytes()).await.unwrap();
    assert_eq!(id_of(lines.receive().await), Some(RequestId::Number(1)));
}

#[tokio::test]
async fn long_requests_are_owed_by_their_length() {
    let (mut client, server) = duplex(1 << 16);
    let mut lines = lines(server);
    let long = "x".repeat(MAX_LINE - 1000);
    let sent = tokio::spawn(async move {
        for id in 0..4 {
            let ping = json!({ "jsonrpc": "2.0", "id": format!("{id}{long}"), "method": "ping" });
            let line = ping.to_string() + "\n";
            client.write_all(line.as_bytes()).await.unwrap();
        }
        client
    });
    let mut first = None;
    for _ in 0..=MAX_BYTES / MAX_LINE {
        first = first.or(id_of(lines.receive().await));
    }
    assert!(reads_nothing(&mut lines).await);
    let cut = crate::text_prefix::cut;
    assert_eq!(cut(&first.as_ref().unwrap().to_string(), 2), "0x");
    lines.out.owed().remove(&first.unwrap());
    assert!(lines.receive().await.is_some());
    drop(sent.await.unwrap());
}

#[tokio::test]
async fn a_client_that_does_not_listen_any_more_has_gone() {
    let (mut client, server) = tokio::net::UnixStream::pair().unwrap();
    let (reader, writer) = server.into_split();
    let mut lines = StdioLines::new(reader, writer, CancellationToken::new());
    client.write_all(ping(1).as_bytes()).await.unwrap();
    assert!(lines.receive().await.is_some());
    let client = client.into_std().unwrap();
    client.shutdown(std::net::Shutdown::Read).unwrap();
    assert!(lines.send(pong(1)).await.is_err());
    assert!(lines.receive().await.is_none());
    assert!(lines.closed.is_cancelled());
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
    check(
        br#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":"\ud83d"}}"#,
        Err((-32700, Some(RequestId::Number(5)))),
    );
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
