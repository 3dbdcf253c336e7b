//! How connections begin.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{limits, newer, older, server, within};
use crate::client::check::Era;
use crate::client::connection::{Strays, Upstream, UpstreamError, UpstreamLimits};

#[tokio::test]
async fn a_server_of_2025_is_asked_the_older_way_after_its_error() {
    let (_server, upstream) = older().await;
    assert_eq!(upstream.era(), Era::Handshake);
}

#[tokio::test]
async fn every_request_to_a_server_of_2026_introduces_us() {
    let (mut server, upstream) = newer().await;
    assert_eq!(upstream.era(), Era::Stateless);
    let (listed, ()) = tokio::join!(upstream.definitions(None), async {
        let list = server.expect("tools/list").await;
        let meta = &list["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "jig");
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        assert!(capabilities["elicitation"]["form"].is_object());
        assert!(capabilities.get("sampling").is_none() && capabilities.get("roots").is_none());
        server.answer(&list, json!({"tools": []})).await;
    });
    assert!(listed.expect("a list").definitions.is_empty());
}

#[tokio::test]
async fn a_server_that_is_known_to_be_of_2025_is_not_asked_first() {
    let (mut server, ends) = server();
    let limits = limits(Some(Era::Handshake));
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        server.initialize(json!({"tools": {}})),
    );
    assert_eq!(upstream.expect("it begins").era(), Era::Handshake);
}

#[tokio::test]
async fn a_server_that_ignores_the_newer_way_is_asked_the_older_one_as_well() {
    let (mut server, ends) = server();
    let limits = limits(None);
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        async {
            server.expect("server/discover").await;
            server.initialize(json!({"tools": {}})).await;
        }
    );
    assert_eq!(upstream.expect("it begins").era(), Era::Handshake);
}

#[tokio::test]
async fn a_server_that_dies_of_the_question_is_to_be_started_again() {
    let (mut server, ends) = server();
    let limits = limits(None);
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        async move {
            server.expect("server/discover").await;
        }
    );
    assert!(
        matches!(upstream, Err(UpstreamError::ClosedAtProbe(_))),
        "{upstream:?}"
    );
}

/// It does not read, so that nothing can be sent any more: what it writes before it ends is read all the same.
#[tokio::test]
async fn what_a_program_writes_that_does_not_read_is_read() {
    for era in [None, Some(Era::Handshake)] {
        let (server, ends) = server();
        let super::Server { reads, mut writes } = server;
        drop(reads);
        let strays = Strays::default();
        let (limits, kept) = (limits(era), strays.clone());
        let upstream = tokio::spawn(async move {
            Upstream::over_pipes(ends.stdin, ends.stdout, &limits, kept).await
        });
        // By then it is known that it does not read.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        for part in [&b"usage: server DIR\nand no "[..], b"more"] {
            let written = writes.write_all(part).await;
            written.expect("somebody reads");
        }
        drop(writes);
        let why = match within(upstream).await.expect("no panic") {
            Err(UpstreamError::Closed(why) | UpstreamError::ClosedAtProbe(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why, "it closed its standard output");
        assert!(strays.over().is_cancelled());
        let told = strays.told(|line| line.replace("DIR", "[REDACTED]"));
        let expected = r#""usage: server [REDACTED]", "and no more""#;
        assert_eq!(told.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn a_server_that_never_says_anything_is_given_up() {
    let (_server, ends) = server();
    let short = UpstreamLimits {
        start: Duration::from_millis(50),
        era: None,
    };
    let upstream = Upstream::over_pipes(ends.stdin, ends.stdout, &short, Strays::default()).await;
    match upstream {
        Err(UpstreamError::Late { limit, .. }) => assert_eq!(limit, short.start),
        other => panic!("{other:?}"),
    }
}

/// What a server says to `initialize`, and whether that is a version that we know.
#[tokio::test]
async fn versions() {
    for (version, is_known) in [
        (json!("2025-11-25"), true),
        (json!("2025-06-18"), true),
        (json!("2025-03-26"), true),
        (json!("2024-11-05"), true),
        (json!("2023-01-01"), false),
        (json!("2026-07-28"), false),
        (json!(7), false),
        (json!(null), false),
    ] {
        let (mut server, ends) = server();
        let limits = limits(Some(Era::Handshake));
        let shown = version.clone();
        let (upstream, ()) = tokio::join!(
            Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
            async {
                let initialize = server.expect("initialize").await;
                let said = json!({"protocolVersion": version, "capabilities": {}});
                server.answer(&initialize, said).await;
            }
        );
        assert_eq!(upstream.is_ok(), is_known, "{shown}");
    }
}

/// What a server says to `server/discover`, and whether it is then asked the older way.
#[tokio::test]
async fn discoveries() {
    for (said, is_older) in [
        (json!({"result": {}}), true),
        (
            json!({"result": {"supportedVersions": ["2025-11-25"]}}),
            true,
        ),
        (
            json!({"result": {"supportedVersions": ["2099-01-01"]}}),
            false,
        ),
        (
            json!({"error": {"code": -32602, "message": "Invalid request parameters"}}),
            true,
        ),
        (json!({"error": {"code": 0}}), true),
        (
            json!({"error": {"code": -32022, "data": {"supported": ["2025-06-18"]}}}),
            true,
        ),
        (
            json!({"error": {"code": -32022, "data": {"supported": ["2099-01-01"]}}}),
            false,
        ),
        (json!({"error": {"code": -32022}}), true),
    ] {
        let (mut server, ends) = server();
        let limits = limits(None);
        let shown = said.clone();
        let (upstream, ()) = tokio::join!(
            Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
            async {
                let discover = server.expect("server/discover").await;
                let mut message = json!({"jsonrpc": "2.0", "id": discover["id"]});
                for (name, member) in said.as_object().expect("an object") {
                    message[name] = member.clone();
                }
                server.say(message).await;
                if is_older {
                    server.initialize(json!({})).await;
                }
            }
        );
        assert_eq!(upstream.is_ok(), is_older, "{shown}");
    }
}

#[tokio::test]
async fn a_version_that_is_refused_and_supported_is_tried_again() {
    let (mut server, ends) = server();
    let limits = limits(None);
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        async {
            let discover = server.expect("server/discover").await;
            let error =
                json!({"code": -32022, "message": "?", "data": {"supported": ["2026-07-28"]}});
            server
                .say(json!({"jsonrpc": "2.0", "id": discover["id"], "error": error}))
                .await;
            server.begin_newer(json!({})).await;
        }
    );
    assert_eq!(upstream.expect("it begins").era(), Era::Stateless);
}

#[tokio::test]
async fn an_error_that_does_not_say_to_what_is_the_answer_to_the_only_question() {
    let (mut server, ends) = server();
    let limits = UpstreamLimits::default();
    let (upstream, ()) = tokio::join!(
        Upstream::over_pipes(ends.stdin, ends.stdout, &limits, Strays::default()),
        async {
            server.expect("server/discover").await;
            let error = json!({"code": -32600, "message": "?"});
            server
                .say(json!({"jsonrpc": "2.0", "id": null, "error": error}))
                .await;
            server.initialize(json!({})).await;
        }
    );
    assert_eq!(upstream.expect("it begins").era(), Era::Handshake);
}

#[tokio::test]
async fn a_server_sees_the_end() {
    let (mut server, upstream) = older().await;
    upstream.close().await;
    assert_eq!(server.read().await, None);
    within(upstream.closed().cancelled()).await;
    let again = upstream.definitions(None).await;
    assert!(matches!(again, Err(UpstreamError::Closed(_))), "{again:?}");
}

#[tokio::test]
async fn a_server_sees_the_end_of_a_connection_that_is_dropped() {
    let (mut server, upstream) = older().await;
    drop(upstream);
    assert_eq!(server.read().await, None);
}
