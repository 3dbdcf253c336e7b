use rmcp::transport::Transport;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex, split};
use tokio_util::sync::CancellationToken;

use super::super::lines::Lines;
use super::*;
use crate::testing::{caller, server};

fn call(id: u64, params: &Value) -> String {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    format!("{request}\n")
}

/// A quick call never comes to rmcp, once the client is greeted; one that says more than a call does.
#[tokio::test]
async fn a_plain_call_is_answered_where_it_is_read() {
    let shared = server(&[], &[("a.txt", "alpha")]);
    shared.current().catalogue();
    let greeted = Greeted::default();
    let express = Express::new(Arc::clone(&shared), caller(), Arc::clone(&greeted));
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let mut lines = Lines::new(reader, writer, CancellationToken::new()).with_express(express);
    let (answers, mut client) = split(theirs);
    let mut answers = BufReader::new(answers).lines();
    let plain = json!({ "name": "fs_read_file", "arguments": { "path": "a.txt" } });

    // Before the client has begun, everything is for rmcp.
    let sent = call(1, &plain);
    client.write_all(sent.as_bytes()).await.unwrap();
    assert!(lines.receive().await.is_some());

    *greeted.lock().unwrap() = Some(ProtocolVersion::V_2025_06_18);
    let sent = call(2, &plain);
    client.write_all(sent.as_bytes()).await.unwrap();
    let answer = tokio::select! {
        answer = answers.next_line() => answer.unwrap().unwrap(),
        received = lines.receive() => panic!("{received:?}"),
    };
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["id"], 2);
    assert_eq!(answer["result"]["content"][0]["text"], "alpha", "{answer}");
    assert!(answer["result"].get("resultType").is_none(), "{answer}");

    let others = [
        json!({ "name": "fs_read_file", "arguments": {}, "task": {} }),
        json!({ "name": "fs_read_file", "requestState": "x" }),
        json!({ "name": "fs_read_file", "_meta": 1 }),
        json!({ "name": "fs_read_file", "_meta": { "io.modelcontextprotocol/protocolVersion": "1" } }),
        json!({ "name": "no_such_tool" }),
        json!({ "name": 1 }),
        json!([]),
        json!(["fs_read_file", { "path": "a.txt" }, null]),
    ];
    for (number, params) in (3..).zip(&others) {
        let sent = call(number, params);
        client.write_all(sent.as_bytes()).await.unwrap();
        let moment = Duration::from_secs(20);
        tokio::select! {
            _ = lines.receive() => {}
            // What is no request of the protocol is answered as such.
            answer = answers.next_line() => assert!(answer.unwrap().unwrap().contains("error")),
            () = tokio::time::sleep(moment) => panic!("{params}"),
        }
    }
}
