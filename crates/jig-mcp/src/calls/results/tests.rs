//! What a client gets of a call.

use std::sync::Arc;

use jig_engine::{Call, CallError, Nobody, Reply};
use jig_proto::{Content, Denial, HandleId, HandleReport, ToolError, ToolState};
use rmcp::model::{CallToolResponse, CallToolResult, ProtocolVersion, ResourceContents};
use serde_json::{Value, json};

use super::{for_version, result};
use crate::caller::Caller;
use crate::calls::large_outputs::PREFIX;
use crate::testing;

/// A result of the tool `t`, which is declared by `sets`.
fn told(
    sets: &[&str],
    outcome: Result<Reply, CallError>,
    notes: &[&str],
) -> (CallToolResult, Arc<Caller>) {
    let mut all = vec!["tools.t.source=local", "tools.t.command=x"];
    all.extend(sets);
    let shared = testing::server(&all, &[]);
    let caller = testing::caller();
    let engine = caller.engine(&shared);
    let tool = engine.config().tool("t").expect("it is declared");
    let notes: Vec<String> = notes.iter().map(|&note| note.to_owned()).collect();
    (result(&caller, &engine, tool, outcome, &notes), caller)
}

fn content(blocks: &Value) -> Content {
    Content::read(blocks.clone()).expect("content").value
}

fn check(blocks: Value, expected: Value) {
    let (told, _) = told(&[], Ok(Reply::Content(content(&blocks))), &[]);
    assert_eq!(told.is_error, Some(false));
    assert_eq!(told.structured_content, None);
    assert_eq!(json!(told.content), expected, "{blocks}");
}

#[test]
fn text_is_passed_on_as_it_is() {
    check(json!(""), json!([]));
    check(
        json!("a\u{1b}[2J\0ü\n"),
        json!([{ "type": "text", "text": "a\u{1b}[2J\0ü\n" }]),
    );
    let block = json!({
        "type": "text", "text": "# a", "mimeType": "text/markdown", "annotations": { "audience": ["user"] },
    });
    let expected = json!({
        "type": "text", "text": "# a", "_meta": { "jig/mimeType": "text/markdown" },
        "annotations": { "audience": ["user"] },
    });
    check(
        json!([block, { "type": "text", "text": "b" }]),
        json!([expected, { "type": "text", "text": "b" }]),
    );
    // What a client would refuse all of the result for is left out.
    for wrong in [
        json!({ "audience": ["nobody"] }),
        json!({ "priority": 7 }),
        json!("x"),
        json!({}),
    ] {
        let block = json!([{ "type": "text", "text": "a", "annotations": wrong }]);
        check(block, json!([{ "type": "text", "text": "a" }]));
    }
}

#[test]
fn resources_are_sent_as_what_they_are() {
    let block = |resource: Value| json!([{ "type": "resource", "resource": resource }]);
    let one = |resource: Value| json!([{ "type": "resource", "resource": resource }]);
    let text =
        json!({ "uri": "file:///a.rs", "mimeType": "text/x-rust", "text": "fn main() {}\n" });
    check(block(text.clone()), one(text));
    let bytes = json!({ "uri": "file:///a.bin", "blob": "AAE=" });
    check(block(bytes.clone()), one(bytes));
    // A path is no URI.
    let path = json!({ "uri": "src/a b.rs", "text": "" });
    check(
        block(path),
        one(json!({ "uri": "file:///src/a%20b.rs", "text": "" })),
    );
    let image = json!({ "uri": "file:///a.png", "mimeType": "image/png", "blob": "AAE=" });
    check(
        block(image),
        json!([{ "type": "image", "data": "AAE=", "mimeType": "image/png" }]),
    );
    let audio = json!({ "uri": "file:///a.wav", "mimeType": "Audio/wav", "blob": "AA\nE=\n" });
    check(
        block(audio),
        json!([{ "type": "audio", "data": "AAE=", "mimeType": "Audio/wav" }]),
    );
    for wrong in ["A", "AAE", "AA=E", "A===", "ÄÄ", "AAE=AAE="] {
        let image = json!({ "uri": "file:///a.png", "mimeType": "image/png", "blob": wrong });
        let said = "[file:///a.png: the tool sent bytes that are not base64]";
        check(block(image), json!([{ "type": "text", "text": said }]));
    }
    let named = json!([{
        "type": "resource", "resource": { "uri": "urn:y", "text": "a" }, "name": "n", "title": "t",
        "description": "d", "formatted": "f", "annotations": { "priority": 0.5 },
    }]);
    let expected = json!([{
        "type": "resource", "resource": { "uri": "urn:y", "text": "a" }, "annotations": { "priority": 0.5 },
        "_meta": { "jig/name": "n", "jig/title": "t", "jig/description": "d", "jig/formatted": "f" },
    }]);
    check(named, expected);
}

#[test]
fn questions_never_appear() {
    let question = json!({ "type": "question", "question": { "id": "q", "text": "really?" } });
    check(
        json!([question, { "type": "text", "text": "a" }]),
        json!([{ "type": "text", "text": "a" }]),
    );
}

#[test]
fn errors_are_results_that_say_so() {
    let check = |error: CallError, notes: &[&str], expected: &[&str]| {
        let (told, _) = told(&[], Err(error), notes);
        assert_eq!(told.is_error, Some(true));
        assert_eq!(told.structured_content, None);
        let texts: Vec<&str> = told
            .content
            .iter()
            .map(|block| block.as_text().expect("text").text.as_str())
            .collect();
        assert_eq!(texts, expected);
    };
    let nobody = || CallError::NobodyToAsk("t".to_owned());
    let said = nobody().to_string();
    check(nobody(), &[], &[&said]);
    check(nobody(), &["a", "b"], &[&said, "a\nb"]);
    let failed = |message: &str| ToolError::new(message);
    check(CallError::Tool(failed("it broke")), &[], &["it broke"]);
    let mut all = failed("it broke\n");
    all.trace = vec!["the disk is full".to_owned(), "no space".to_owned()];
    all.denials = vec![Denial::new("write", "a", "no rule grants it")];
    all.transient = true;
    let expected = "it broke\nthe disk is full\nno space\ndenied: write on `a`: no rule grants it\nIt may pass: try \
                    again.";
    check(CallError::Tool(all), &[], &[expected]);
    // J-014: what a program printed that failed, in words.
    let mut program = failed("{\"message\":\"It failed.\",\"stderr\":\"oh\\n\",\"stdout\":\"\"}");
    program.trace.push("`t` exited with code 1".to_owned());
    let expected = "It failed.\nstderr:\noh\n`t` exited with code 1";
    check(CallError::Tool(program), &[], &[expected]);
    // Other JSON is the tool's own word.
    for own in [
        "{",
        "{}",
        "{\"message\":\"a\"}",
        "{\"message\":1,\"stderr\":\"\",\"stdout\":\"\"}",
    ] {
        check(CallError::Tool(failed(own)), &[], &[own]);
    }
}

#[test]
fn a_denial_explains_itself_and_names_the_smallest_rule() {
    let sets = [
        "tools.fs_read_file.access={ fs = [{ path = \"docs\", read = true }] }",
        "tools.fs_read_file.on_uncovered=deny",
    ];
    let shared = testing::server(&sets, &[("secret.txt", "x")]);
    let caller = testing::caller();
    let engine = caller.engine(&shared);
    let call = Call::new("fs_read_file", json!({ "path": "secret.txt" }));
    let outcome = engine.call(call, &mut Nobody);
    let tool = engine.config().tool("fs_read_file").expect("predefined");
    let told = result(&caller, &engine, tool, outcome, &[]);
    assert_eq!(told.is_error, Some(true));
    let text = &told.content[0].as_text().expect("text").text;
    for part in [
        "secret.txt",
        "[[tools.fs_read_file.access.fs]]",
        "read = true",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let shared = testing::server(&[], &[]);
    let caller = testing::caller();
    let engine = caller.engine(&shared);
    let outcome = engine.call(Call::new("fs_read_file", json!({ "path": 7 })), &mut Nobody);
    let tool = engine.config().tool("fs_read_file").expect("predefined");
    let told = result(&caller, &engine, tool, outcome, &[]);
    assert_eq!(told.is_error, Some(true));
    let text = &told.content[0].as_text().expect("text").text;
    assert!(text.contains("`path`"), "{text}");
}

fn report(state: ToolState) -> HandleReport {
    HandleReport::new(HandleId::numbered(1), state)
}

#[test]
fn reports_are_text_and_data() {
    let running = report(ToolState::running("a"));
    let (told_of, _) = told(&[], Ok(Reply::Handle(running.clone())), &[]);
    let text = &told_of.content[0].as_text().expect("text").text;
    assert_eq!(*text, running.to_string());
    assert_eq!(told_of.structured_content, Some(json!(running)));
    let two = vec![running, report(ToolState::succeeded("b"))];
    let (told_of, _) = told(&[], Ok(Reply::Awaited(two.clone())), &[]);
    assert_eq!(told_of.structured_content, Some(json!({ "handles": two })));
    // A stateful tool that runs to its end fits the schema of its reports.
    let stateful = ["tools.t.stateful=true"];
    let (told_of, _) = told(&stateful, Ok(Reply::Content(Content::text("b"))), &[]);
    assert_eq!(
        told_of.structured_content,
        Some(json!({ "state": "stopped", "result": "b" }))
    );
}

#[test]
fn declared_output_stands_beside_the_text() {
    let declared =
        ["tools.t.output={ type = \"object\", properties = { n = { type = \"integer\" } } }"];
    let (told, _) = told(
        &declared,
        Ok(Reply::Content(Content::text("{\"n\": 1}"))),
        &[],
    );
    assert_eq!(told.structured_content, Some(json!({ "n": 1 })));
    assert_eq!(told.content[0].as_text().expect("text").text, "{\"n\": 1}");
}

/// What a link in a result leads to, all parts of it.
fn followed(caller: &Caller, told: &CallToolResult) -> String {
    let mut links = told
        .content
        .iter()
        .filter_map(|block| block.as_resource_link());
    let link = links.next().expect("a link");
    assert!(links.next().is_none(), "one link");
    let mut whole = String::new();
    let mut at = Some(link.uri.clone());
    while let Some(uri) = at {
        let path = uri.strip_prefix(PREFIX).expect("one of ours");
        let Some(ResourceContents::TextResourceContents { text, meta, .. }) =
            caller.outputs.read(path)
        else {
            panic!("{uri} is not there");
        };
        whole.push_str(&text);
        let next = meta.and_then(|meta| Some(meta.get("jig/next")?.as_str()?.to_owned()));
        at = next;
    }
    assert_eq!(link.size, Some(whole.len() as u64));
    whole
}

/// How many bytes a client is sent.
fn sent(told: &CallToolResult) -> usize {
    json!(told).to_string().len()
}

#[test]
fn large_text_becomes_a_link() {
    let line = "some line of a log\n";
    let small = line.repeat(64 * 1024 / line.len());
    let (told_of, _) = told(&[], Ok(Reply::Content(Content::text(small.as_str()))), &[]);
    assert_eq!(told_of.content.len(), 1);
    let large = line.repeat(100_000);
    let (told_of, caller) = told(&[], Ok(Reply::Content(Content::text(large.as_str()))), &[]);
    assert!(followed(&caller, &told_of) == large);
    assert!(sent(&told_of) < 16 * 1024);
    let shown = &told_of.content[0].as_text().expect("text").text;
    // Whole lines, and jig's own words after them.
    let own = shown.find("[these are the first").expect("a sentence");
    assert!(large.starts_with(&shown[..own]));
    assert!(shown[..own].ends_with('\n'));
    assert!(shown[own..].contains("1900000 bytes"), "{}", &shown[own..]);
    // The limit is the configuration's.
    let sets = ["mcp.link_above=1024"];
    let text = "x".repeat(1025);
    let (told_of, caller) = told(&sets, Ok(Reply::Content(Content::text(text.as_str()))), &[]);
    assert_eq!(followed(&caller, &told_of), text);
}

#[test]
fn many_blocks_are_one_link() {
    let block = json!({ "type": "text", "text": "x".repeat(1000) });
    let blocks = json!(vec![block; 1000]);
    let (told, caller) = told(&[], Ok(Reply::Content(content(&blocks))), &[]);
    assert!(sent(&told) < 100 * 1024);
    let rest = followed(&caller, &told);
    let inline = told.content.iter().filter_map(|block| block.as_text());
    let whole = inline.filter(|text| text.text.len() == 1000).count();
    assert_eq!(rest.matches('x').count() + whole * 1000, 1_000_000);
}

#[test]
fn large_text_of_resources_reports_and_errors_becomes_a_link() {
    let large = "x".repeat(1 << 20);
    let resource = json!([{
        "type": "resource", "resource": { "uri": "urn:b", "mimeType": "text/csv", "text": large },
    }]);
    let stopped = report(ToolState::succeeded(large.as_str()));
    let outcomes: [Result<Reply, CallError>; 4] = [
        Ok(Reply::Content(content(&resource))),
        Ok(Reply::Handle(stopped)),
        Ok(Reply::Handle(report(ToolState::failed(ToolError::new(
            large.as_str(),
        ))))),
        Err(CallError::Knowledge(large.clone())),
    ];
    for outcome in outcomes {
        let (told, caller) = told(&[], outcome, &[]);
        assert!(sent(&told) < 40 * 1024, "{}", sent(&told));
        assert!(followed(&caller, &told) == large);
    }
}

#[test]
fn clients_get_only_what_their_version_has() {
    let link = json!({ "type": "resource_link", "uri": "jig://output/0", "name": "n", "description": "All." });
    let audio = json!({ "type": "audio", "data": "AAE=", "mimeType": "audio/wav" });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let link_text = text("[resource jig://output/0: All.]");
    let audio_text = text("[audio/wav, which this client cannot take]");
    let check = |version: &str, expected: [&Value; 3]| {
        let content = json!({ "content": [text("a"), link, audio] });
        let result: CallToolResult = serde_json::from_value(content).expect("a result");
        let version: ProtocolVersion = serde_json::from_value(json!(version)).expect("a version");
        let response = for_version(CallToolResponse::Complete(result), Some(&version));
        let CallToolResponse::Complete(result) = response else {
            panic!("a result");
        };
        assert_eq!(json!(result.content), json!(expected), "{version}");
    };
    check("2026-07-28", [&text("a"), &link, &audio]);
    check("2025-11-25", [&text("a"), &link, &audio]);
    check("2025-06-18", [&text("a"), &link, &audio]);
    check("2025-03-26", [&text("a"), &link_text, &audio]);
    check("2024-11-05", [&text("a"), &link_text, &audio_text]);
}

#[test]
fn a_tool_does_not_make_links_without_end() {
    let text = json!({ "uri": "urn:b", "text": "x".repeat(2000) });
    let block = json!({ "type": "resource", "resource": text });
    let sets = ["mcp.link_above=1024"];
    let (told, caller) = told(
        &sets,
        Ok(Reply::Content(content(&json!(vec![block; 100])))),
        &[],
    );
    let links = told
        .content
        .iter()
        .filter(|block| block.as_resource_link().is_some());
    assert_eq!(links.count(), 32);
    assert_eq!(caller.outputs.list().len(), 32);
}

/// What a client gets of what a server behind jig sent.
fn passed_on(sets: &[&str], sent: Value) -> CallToolResult {
    let mut all = vec!["mcp.servers.s.command=x", "tools.t.source=mcp.s"];
    all.extend(sets);
    let shared = testing::server(&all, &[]);
    let caller = testing::caller();
    let engine = caller.engine(&shared);
    let tool = engine.config().tool("t").expect("it is declared");
    let outcome = match Content::from_mcp(sent) {
        Ok(content) => Ok(Reply::Content(content)),
        Err(mut error) => {
            error.denials = vec![Denial::new("read", "notes.txt", "no rule grants it")];
            Err(CallError::Tool(error))
        }
    };
    result(&caller, &engine, tool, outcome, &[])
}

fn check_served(block: Value, expected: Value) {
    let told = passed_on(&[], json!({ "content": [block] }));
    // As it is written: a small number has another form in between.
    let written = serde_json::to_string(&told.content).expect("JSON");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written, json!([expected]), "{block}");
}

#[test]
fn the_blocks_of_servers_are_passed_on_unchanged() {
    for block in [
        json!({ "type": "text", "text": "a" }),
        json!({ "type": "text", "text": "" }),
        json!({
            "type": "text", "text": "a", "_meta": { "x/y": { "z": [1] } },
            "annotations": { "audience": ["user", "assistant"], "priority": 0.7, "lastModified": "2025-01-12T15:00:58Z" },
        }),
        json!({ "type": "image", "data": "AAE=", "mimeType": "image/png", "annotations": { "priority": 1.0 } }),
        json!({ "type": "audio", "data": "AAE=", "mimeType": "audio/wav", "_meta": { "a": 1 } }),
        json!({
            "type": "resource", "resource": { "uri": "urn:b", "mimeType": "text/plain", "text": "t", "_meta": { "a": 1 } },
            "annotations": { "audience": ["user"] }, "_meta": { "b": 2 },
        }),
        json!({ "type": "resource", "resource": { "uri": "urn:b", "blob": "AAE=" } }),
        // It is not ours, whatever it looks like.
        json!({
            "type": "resource_link", "uri": "jig://outputs/1", "name": "n", "title": "t", "description": "d",
            "mimeType": "text/plain", "size": 7, "annotations": { "priority": 0.0 },
        }),
    ] {
        check_served(block.clone(), block);
    }
}

#[test]
fn what_a_client_would_refuse_a_result_for_is_corrected_or_told() {
    let image = |more: Value| {
        let mut block = json!({ "type": "image", "data": "AAE=", "mimeType": "image/png" });
        for (key, value) in more.as_object().expect("members") {
            block[key] = value.clone();
        }
        block
    };
    check_served(
        image(json!({ "annotations": { "priority": 7 } })),
        image(json!({})),
    );
    check_served(image(json!({ "annotations": 3 })), image(json!({})));
    check_served(image(json!({ "_meta": 3 })), image(json!({})));
    check_served(image(json!({ "data": "AA\nE=\n" })), image(json!({})));
    check_served(
        image(json!({ "data": "ÄÄ" })),
        json!({
            "type": "text",
            "text": "[image: image/png, 3 bytes]\n[the server sent it in a form that cannot be passed on]",
        }),
    );
    check_served(
        json!({ "type": "resource_link", "uri": "a b", "name": "n", "size": -1 }),
        json!({ "type": "resource_link", "uri": "file:///a%20b", "name": "n" }),
    );
}

#[test]
fn what_a_server_says_beside_its_blocks_is_passed_on() {
    let told = passed_on(
        &[],
        json!({
            "content": [{ "type": "text", "text": "a" }],
            "structuredContent": { "n": 1 },
            "_meta": {
                "theirs": 1, "example.com/x": 2, "progressToken": 3,
                "io.modelcontextprotocol/related-task": { "taskId": "t" }, "jig/handle": 4,
            },
        }),
    );
    assert_eq!(told.structured_content, Some(json!({ "n": 1 })));
    assert_eq!(json!(told.meta), json!({ "theirs": 1, "example.com/x": 2 }));
    assert_eq!(told.is_error, Some(false));
}

#[test]
fn a_failure_of_a_server_keeps_its_blocks_and_says_what_was_refused() {
    let image = json!({ "type": "image", "data": "AAE=", "mimeType": "image/png" });
    let told = passed_on(
        &[],
        json!({
            "content": [{ "type": "text", "text": "EACCES" }, image],
            "structuredContent": { "code": 13 },
            "isError": true,
        }),
    );
    assert_eq!(told.is_error, Some(true));
    assert_eq!(told.structured_content, Some(json!({ "code": 13 })));
    let blocks = json!(told.content);
    assert_eq!(blocks[0], json!({ "type": "text", "text": "EACCES" }));
    assert_eq!(blocks[1], image);
    let ours = blocks[2]["text"].as_str().expect("what jig knows");
    assert!(
        ours.starts_with("denied: ") && ours.contains("notes.txt"),
        "{ours}"
    );
    assert_eq!(blocks.as_array().map(Vec::len), Some(3));
}

#[test]
fn long_texts_of_servers_become_outputs_and_images_do_not() {
    let long = "line\n".repeat(100_000);
    let image = json!({ "type": "image", "data": "A".repeat(1 << 20), "mimeType": "image/png" });
    for block in [
        json!({ "type": "text", "text": long }),
        json!({ "type": "text", "text": long, "_meta": { "a": 1 } }),
        json!({ "type": "resource", "resource": { "uri": "urn:b", "text": long } }),
    ] {
        let told = passed_on(&[], json!({ "content": [block, image] }));
        let blocks = json!(told.content);
        let blocks = blocks.as_array().expect("blocks");
        assert!(blocks.contains(&image));
        let texts: usize = blocks.iter().map(|one| one.to_string().len()).sum();
        assert!(texts < (1 << 20) + 20_000, "{texts}");
        let last = blocks.last().expect("a link");
        assert!(
            last["uri"]
                .as_str()
                .is_some_and(|uri| uri.starts_with(PREFIX)),
            "{last}"
        );
    }
}

/// The report of a handle is text; what the tool's server drew stands beside it.
#[test]
fn a_handle_shows_the_images_of_its_result() {
    let image = json!({ "type": "image", "data": "AAE=", "mimeType": "image/png" });
    let sent = json!({ "content": [{ "type": "text", "text": "a" }, image] });
    let state = ToolState::succeeded(Content::from_mcp(sent).expect("no error"));
    let id: HandleId = "h".parse().expect("an id");
    let report = HandleReport::new(id, state);
    let (told, _) = told(&[], Ok(Reply::Handle(report)), &[]);
    let blocks = json!(told.content);
    assert_eq!(blocks[1], image);
    assert!(
        blocks[0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("[image: image/png, 2 bytes]"))
    );
}

#[test]
fn earlier_versions_know_only_objects_beside_the_text() {
    let check = |version: ProtocolVersion, said: Value, is_kept: bool| {
        let told = passed_on(&[], json!({ "structuredContent": said }));
        let response = for_version(CallToolResponse::Complete(told), Some(&version));
        let CallToolResponse::Complete(told) = response else {
            panic!("a result");
        };
        assert_eq!(
            told.structured_content.is_some(),
            is_kept,
            "{version} {said}"
        );
    };
    check(ProtocolVersion::V_2025_06_18, json!({ "a": 1 }), true);
    check(ProtocolVersion::V_2025_11_25, json!([1]), false);
    check(ProtocolVersion::V_2026_07_28, json!([1]), true);
}
