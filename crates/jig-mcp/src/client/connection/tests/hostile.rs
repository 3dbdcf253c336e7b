//! Servers that break the protocol, or that say more than anybody wants to hear.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{calling, older, within};
use crate::client::connection::{CallEvent, UpstreamError};

/// What a server writes, and what the reason for the end says of it.
#[tokio::test]
async fn what_breaks_the_protocol_ends_the_connection_with_a_reason() {
    let deep = "[".repeat(10_000);
    let cases: [(Vec<u8>, &str); 5] = [
        (
            b"{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": \n".to_vec(),
            "cannot be read",
        ),
        (
            format!("{{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": {deep}\n").into_bytes(),
            "cannot be read",
        ),
        (
            b"{\"id\": 1, \"id\": 2, \"jsonrpc\": \"2.0\", \"result\": {}}\n".to_vec(),
            "cannot be read",
        ),
        (
            "\u{1b}[31mhello\n".repeat(2000).into_bytes(),
            "no message of the protocol",
        ),
        (vec![b'x'; 17 << 20], "more than 16 MiB"),
    ];
    for (bytes, reason) in cases {
        let (mut server, upstream) = older().await;
        let call = calling(&upstream, "any", 1);
        server.expect("tools/call").await;
        let closed = upstream.closed();
        // It may stop reading in the middle.
        let _ = tokio::join!(
            async {
                let _ = tokio::io::AsyncWriteExt::write_all(&mut server.writes, &bytes).await;
            },
            within(closed.cancelled()),
        );
        let why = upstream.why_closed().expect("a reason");
        assert!(why.contains(reason), "{why}");
        assert!(!why.contains('\u{1b}'), "{why:?}");
        match call.result().await {
            Err(UpstreamError::Closed(told)) => assert_eq!(told, why),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn some_lines_that_are_no_messages_do_no_harm() {
    let (mut server, upstream) = older().await;
    for line in [
        "Server is running on stdio",
        "{ listening: true }",
        "{\"level\": 30, \"msg\": \"a log\"}",
        "",
        "17",
        "null",
        "\u{0}\u{1}",
        "{\"jsonrpc\": \"1.0\"}",
        "{\"jsonrpc\": \"2.0\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": 1, \"error\": 2}",
        "{\"jsonrpc\": \"2.0\", \"id\": [], \"method\": \"ping\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 12345678, \"result\": {}}",
        "{\"jsonrpc\": \"2.0\", \"id\": -1, \"result\": {}}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/progress\"}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \"params\": 1}",
        "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/message\", \"params\": {\"data\": 1}}",
    ] {
        server.raw(format!("{line}\r\n").as_bytes()).await;
    }
    server.raw(b"\xff\xfe\n").await;
    let call = calling(&upstream, "any", 1);
    let request = server.expect("tools/call").await;
    // Several messages at once, as an older version has them.
    server
        .say(json!([{"jsonrpc": "2.0", "id": request["id"], "result": {"n": 1}}]))
        .await;
    assert_eq!(call.result().await.expect("a result")["n"], 1);
}

#[tokio::test]
async fn a_flood_of_notifications_is_read_slowly_and_answers_come_through() {
    let (mut server, upstream) = older().await;
    let mut call = calling(&upstream, "slow", 1);
    let request = server.expect("tools/call").await;
    let token = &request["params"]["_meta"]["progressToken"];
    let params = json!({"progressToken": token, "progress": 1});
    let line = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
    let lines = format!("{line}\n").repeat(5000);
    let start = Instant::now();
    server.raw(lines.as_bytes()).await;
    server.answer(&request, json!({"n": 1})).await;
    let mut told = 0;
    while let Some(event) = within(call.events.recv()).await {
        assert!(matches!(event, CallEvent::Progress(_)));
        told += 1;
    }
    assert_eq!(call.result().await.expect("a result")["n"], 1);
    let took = start.elapsed();
    // Five windows of a tenth of a second were used up, the last not to its end.
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(told <= 2 + took.as_millis() / 100, "{told} in {took:?}");
}

#[tokio::test]
async fn a_server_that_asks_without_reading_is_cut_off() {
    let (mut server, upstream) = older().await;
    // More answers than the pipe and the places for answers hold.
    let id = "i".repeat(4000);
    let ping = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    );
    let closed = upstream.closed();
    let flood = async {
        while tokio::io::AsyncWriteExt::write_all(&mut server.writes, ping.as_bytes())
            .await
            .is_ok()
        {}
    };
    tokio::select! {
        () = flood => {}
        () = within(closed.cancelled()) => {}
    }
    within(closed.cancelled()).await;
    let why = upstream.why_closed().expect("a reason");
    assert!(why.contains("faster than it reads"), "{why}");
}

#[tokio::test]
async fn a_call_whose_arguments_nobody_reads_can_be_given_up() {
    let (server, upstream) = older().await;
    let (events, _keep) = tokio::sync::mpsc::unbounded_channel();
    let big = "x".repeat(1 << 20);
    let call = crate::client::connection::UpstreamCall {
        name: "any".to_owned(),
        arguments: serde_json::Map::from_iter([("big".to_owned(), big.into())]),
        caller: 1,
        events,
    };
    tokio::select! {
        biased;
        result = upstream.call(call) => panic!("nobody read it: {result:?}"),
        () = tokio::task::yield_now() => {}
    }
    // Whoever comes next still sends whole lines: the first is there to its end.
    let next = calling(&upstream, "next", 1);
    let mut server = server;
    let first = server.expect("tools/call").await;
    assert_eq!(
        first["params"]["arguments"]["big"].as_str().map(str::len),
        Some(1 << 20)
    );
    // The server learns that nobody waits for it, before it hears of the next one or after.
    let two = [
        server.read().await.expect("a message"),
        server.read().await.expect("a message"),
    ];
    let of = |method: &str| two.iter().find(|message| message["method"] == method);
    let cancelled = of("notifications/cancelled").expect("it is told");
    assert_eq!(cancelled["params"]["requestId"], first["id"]);
    let second = of("tools/call").expect("the next one");
    server.answer(second, json!({"n": 1})).await;
    assert_eq!(next.result().await.expect("a result")["n"], 1);
}

#[tokio::test]
async fn more_than_64_calls_wait_for_their_turn() {
    let (mut server, upstream) = older().await;
    let calls: Vec<_> = (0..65).map(|_| calling(&upstream, "slow", 1)).collect();
    let mut requests = Vec::new();
    for _ in 0..64 {
        requests.push(server.expect("tools/call").await);
    }
    // The next message is the answer to a ping: the last call is not there yet.
    server
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        .await;
    assert_eq!(server.read().await.expect("a message")["id"], 1);
    for request in &requests {
        server.answer(request, json!({})).await;
    }
    let last = server.expect("tools/call").await;
    server.answer(&last, json!({})).await;
    for call in calls {
        call.result().await.expect("a result");
    }
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_is_the_reason_of_its_end() {
    let (mut server, upstream) = older().await;
    let call = calling(&upstream, "die", 1);
    server.expect("tools/call").await;
    drop(server);
    match call.result().await {
        Err(UpstreamError::Closed(why)) => {
            assert!(why.contains("closed its standard output"), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_asks_for_ever_in_2026_is_given_up() {
    let (mut server, upstream) = super::newer().await;
    let call = calling(&upstream, "ask", 1);
    let again = async {
        loop {
            let request = server.expect("tools/call").await;
            let schema = json!({"type": "object", "properties": {}});
            let params = json!({"message": "Again?", "mode": "url", "requestedSchema": schema});
            let asked = json!({"q": {"method": "elicitation/create", "params": params}});
            let answer = json!({"resultType": "input_required", "inputRequests": asked});
            server.answer(&request, answer).await;
        }
    };
    let result = tokio::select! {
        result = call.result() => result,
        () = again => unreachable!("it goes on for ever"),
    };
    assert!(
        matches!(result, Err(UpstreamError::Broken(_))),
        "{result:?}"
    );
}
