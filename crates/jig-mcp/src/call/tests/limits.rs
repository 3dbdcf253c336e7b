//! How many calls there may be at once.

use std::sync::Arc;

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
