//! Lists of tools, also of those that cannot be lists.

use serde_json::{Value, json};

use super::{Server, older};
use crate::client::connection::{ListedTools, Strays, UpstreamError};

/// Lists, while the server answers each request with what `page` makes of its cursor.
async fn listed(page: impl Fn(Option<&str>) -> Value) -> Result<ListedTools, UpstreamError> {
    let (mut server, upstream) = older().await;
    let serve = async {
        loop {
            let request = server.expect("tools/list").await;
            let answer = page(request["params"]["cursor"].as_str());
            server.answer(&request, answer).await;
        }
    };
    tokio::select! {
        listed = upstream.definitions(None) => listed,
        () = serve => unreachable!("it goes on for ever"),
    }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn names(listed: &ListedTools) -> Vec<&str> {
    let names = listed
        .definitions
        .iter()
        .map(|definition| definition.name.as_str());
    names.collect()
}

#[tokio::test]
async fn all_pages_are_read() {
    let listed = listed(|cursor| match cursor {
        None => json!({"tools": [tool("a"), tool("b")], "nextCursor": "2"}),
        Some("2") => json!({"tools": [], "nextCursor": "3"}),
        _ => json!({"tools": [tool("c")], "nextCursor": null}),
    });
    let listed = listed.await.expect("a list");
    assert_eq!(names(&listed), ["a", "b", "c"]);
    assert!(listed.notes.is_empty());
}

#[tokio::test]
async fn a_definition_keeps_what_the_server_said() {
    let whole = json!({
        "name": "a",
        "inputSchema": {"$schema": "x", "type": "object", "$defs": {"q": {"$anchor": "b"}}, "allOf": [{}]},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "unheard": 1},
        "execution": {"taskSupport": "optional"},
        "icons": [{"src": "data:,"}],
    });
    let listed = listed(|_| json!({"tools": [whole]})).await.expect("a list");
    assert_eq!(listed.definitions[0].to_json(), whole);
}

/// A page without end, and the words of the note about it.
#[tokio::test]
async fn lists_without_end_have_one() {
    let same = listed(|_| json!({"tools": [tool("a")], "nextCursor": "again"})).await;
    let same = same.expect("a list");
    assert_eq!(names(&same), ["a"]);
    assert!(
        same.notes.iter().any(|note| note.contains("no end")),
        "{same:?}"
    );

    let endless = listed(|cursor| {
        let number: u32 = cursor.map_or(0, |cursor| cursor.parse().expect("ours"));
        json!({"tools": [tool(&format!("t{number}"))], "nextCursor": (number + 1).to_string()})
    });
    let endless = endless.await.expect("a list");
    assert_eq!(endless.definitions.len(), 100);
    assert!(
        endless.notes.iter().any(|note| note.contains("100 pages")),
        "{endless:?}"
    );

    let many = listed(|_| {
        let tools: Vec<Value> = (0..10_000)
            .map(|number| tool(&format!("t{number}")))
            .collect();
        json!({"tools": tools, "nextCursor": "more"})
    });
    let many = many.await.expect("a list");
    assert_eq!(many.definitions.len(), 512);
    assert_eq!(many.definitions[511].name, "t511");
    assert!(
        many.notes.iter().any(|note| note.contains("512 tools")),
        "{:?}",
        many.notes
    );

    let heavy = listed(|_| {
        let text = "x".repeat(1 << 19);
        let tools = (0..20).map(
            |number| json!({"name": format!("t{number}"), "description": text, "inputSchema": {}}),
        );
        json!({"tools": tools.collect::<Vec<_>>()})
    });
    let heavy = heavy.await.expect("a list");
    assert_eq!(heavy.definitions.len(), 15);
    assert!(
        heavy.notes.iter().any(|note| note.contains("8 MiB")),
        "{:?}",
        heavy.notes
    );
}

/// Tools of which each is left out, for a reason that is named.
#[tokio::test]
async fn what_is_no_tool_is_left_out_and_the_others_stay() {
    let mut deep = json!({});
    for _ in 0..40 {
        deep = json!({"properties": {"a": deep}});
    }
    let bad = [
        json!(null),
        json!("tool"),
        json!({"name": 7}),
        json!({"name": ""}),
        json!({"name": "x".repeat(300)}),
        json!({"name": "deep", "inputSchema": deep}),
        json!({"name": "wrong", "inputSchema": []}),
        json!({"name": "big", "description": "x".repeat(2 << 20)}),
        tool("a"),
        json!({"name": 8}),
    ];
    let listed = listed(|_| {
        let mut tools = vec![tool("a")];
        tools.extend(bad.iter().cloned());
        tools.push(tool("z"));
        json!({"tools": tools})
    });
    let listed = listed.await.expect("a list");
    assert_eq!(names(&listed), ["a", "z"]);
    // Not every one of them is worth a line, but the number is.
    assert_eq!(listed.notes.len(), 9, "{:?}", listed.notes);
    assert!(listed.notes[8].contains("2 more"), "{:?}", listed.notes);
    assert!(listed.notes.iter().all(|note| note.len() < 1100));
}

#[tokio::test]
async fn what_is_no_list_is_an_error() {
    for answer in [
        json!(null),
        json!([]),
        json!({}),
        json!({"tools": {}}),
        json!("x"),
    ] {
        let listed = listed(|_| answer.clone()).await;
        assert!(
            matches!(listed, Err(UpstreamError::Broken(_))),
            "{answer}: {listed:?}"
        );
    }
}

/// Whether a server has said that it has tools, and whether its refusal to list them is an error.
#[tokio::test]
async fn a_server_without_tools_need_not_know_what_a_list_is() {
    for (capabilities, is_error) in [(json!({}), false), (json!({"tools": {}}), true)] {
        let (mut server, ends): (Server, _) = super::server();
        let limits = super::limits(None);
        let (upstream, ()) = tokio::join!(
            crate::client::connection::Upstream::over_pipes(
                ends.stdin,
                ends.stdout,
                &limits,
                Strays::default()
            ),
            server.begin_older(capabilities),
        );
        let upstream = upstream.expect("it begins");
        let (listed, ()) = tokio::join!(upstream.definitions(None), async {
            let list = server.expect("tools/list").await;
            server.refuse(&list, -32601).await;
        });
        assert_eq!(listed.is_err(), is_error, "{listed:?}");
    }
}
