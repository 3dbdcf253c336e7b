//! How many calls there may be at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Client, decided, forms, is_error, until, whole_text};
use crate::shared::Options;
use crate::testing::{caller, serving};

#[tokio::test]
async fn too_many_calls_are_told_in_words() {
    let cases = [
        (2, 256, "the most for one caller"),
        (64, 2, "the most for this server"),
    ];
    for (calls_per_caller, calls, told) in cases {
        let options = Options {
            calls_per_caller,
            calls,
            room_wait: Duration::ZERO,
            ..Options::default()
        };
        let shared = serving(&[], &[], options);
        let caller = caller();
        let mut client = Client::legacy(&shared, &caller, forms()).await;
        let mut waiting = Vec::new();
        for path in ["a", "b"] {
            let arguments = json!({ "path": path, "content": "" });
            let params = json!({ "name": "fs_create_file", "arguments": arguments });
            client.request("tools/call", params).await;
            waiting.push(client.incoming("elicitation/create").await);
        }
        let response = client.call("fs_read_file", json!({ "path": "a" })).await;
        assert!(is_error(&response));
        assert!(whole_text(&response).contains(told), "{response}");
        for asked in waiting {
            client.answer(&asked, decided("allow once")).await;
        }
        let watched = Arc::clone(&caller);
        until("the calls end", move || watched.in_flight.len() == 0).await;
        let response = client.call("fs_read_file", json!({ "path": "a" })).await;
        assert!(!is_error(&response), "there is room again: {response}");
    }
}

/// A client may send more at once than runs at once: the rest waits for its turn.
#[tokio::test]
async fn more_calls_than_there_is_room_for_are_all_answered() {
    for (calls_per_caller, calls) in [(4, 256), (64, 4)] {
        let options = Options {
            calls_per_caller,
            calls,
            room_wait: Duration::from_secs(600),
            ..Options::default()
        };
        let shared = serving(&[], &[("a.txt", "alpha")], options);
        let mut client = Client::legacy(&shared, &caller(), forms()).await;
        let params = json!({ "name": "fs_read_file", "arguments": { "path": "a.txt" } });
        let mut sent = Vec::new();
        for _ in 0..100 {
            sent.push(client.request("tools/call", params.clone()).await);
        }
        for id in sent {
            let response = client.response(id).await;
            assert_eq!(whole_text(&response), "alpha", "{response}");
        }
    }
}
