//! Large outputs: their parts are the whole, in order, and there is room for so many only.

use rmcp::model::ResourceContents;

use super::{MAX_KEPT, MAX_OUTPUTS, OutputStore, PART, PREFIX, parts};

fn text_of(contents: &ResourceContents) -> (&str, &str, Option<&str>) {
    match contents {
        ResourceContents::TextResourceContents {
            uri, text, meta, ..
        } => {
            let next = meta
                .as_ref()
                .and_then(|meta| meta.get("jig/next")?.as_str());
            (uri, text, next)
        }
        other => panic!("text: {other:?}"),
    }
}

/// Follows the parts of an output, as a client does.
fn check_whole(text: &str, expected_parts: usize) {
    let outputs = OutputStore::default();
    let output = outputs.keep("t", None, text.to_owned()).expect("kept");
    assert_eq!(output.parts(), expected_parts);
    assert_eq!(output.link().size, Some(text.len() as u64));
    let mut whole = String::new();
    let mut at = Some(output.uri());
    let mut count = 0;
    while let Some(uri) = at {
        let path = uri.strip_prefix(PREFIX).expect("one of ours");
        let contents = outputs.read(path).expect("a part");
        let (named, part, next) = text_of(&contents);
        assert_eq!(named, uri);
        assert!(part.len() <= PART);
        whole.push_str(part);
        at = next.map(str::to_owned);
        count += 1;
    }
    assert_eq!(count, expected_parts);
    assert!(whole == text, "the parts are not the whole");
}

#[test]
fn the_parts_are_the_whole() {
    check_whole("", 1);
    check_whole("a\nb", 1);
    check_whole(&"x".repeat(PART), 1);
    check_whole(&"x".repeat(PART + 1), 2);
    check_whole(
        &"ü".repeat(PART),
        2 + 1 - usize::from(PART.is_multiple_of(2)),
    );
    check_whole(&"some line\n".repeat(100_000), 4);
    // A long line after short ones: nothing is given up for it.
    check_whole(&format!("a\n{}", "x".repeat(3 * PART)), 4);
}

#[test]
fn parts_begin_at_lines_where_they_can() {
    let text = "some line\n".repeat(100_000);
    for start in parts(&text).into_iter().skip(1) {
        assert_eq!(text.as_bytes()[start - 1], b'\n');
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let outputs = OutputStore::default();
    let text = "x".repeat(PART + 1);
    let output = outputs.keep("t", None, text).expect("kept");
    let id = output.uri().split_off(PREFIX.len());
    assert_eq!(id.len(), 32);
    assert!(outputs.read(&id).is_some());
    assert!(outputs.read(&format!("{id}/1")).is_some());
    assert!(outputs.read(&format!("{id}/2")).is_some());
    for path in [
        "",
        "/",
        "/1",
        "x",
        &id[1..],
        &format!("{id}/"),
        &format!("{id}/0"),
        &format!("{id}/02"),
        &format!("{id}/+2"),
        &format!("{id}/3"),
        &format!("{id}/-1"),
        &format!("{id}/2/"),
        &format!("{id}/99999999999999999999999"),
    ] {
        assert!(outputs.read(path).is_none(), "{path}");
    }
    // Another caller has another one.
    assert!(OutputStore::default().read(&id).is_none());
}

#[test]
fn the_oldest_make_room() {
    let outputs = OutputStore::default();
    let keep = |bytes: usize| {
        let output = outputs.keep("t", None, "x".repeat(bytes)).expect("kept");
        output.uri().split_off(PREFIX.len())
    };
    let first = keep(MAX_KEPT / 2);
    let second = keep(MAX_KEPT / 2);
    assert!(outputs.read(&first).is_some());
    let third = keep(1);
    assert!(outputs.read(&first).is_none());
    assert!(outputs.read(&second).is_some() && outputs.read(&third).is_some());
    // What never fits comes back, and nothing is given up for it.
    let large = outputs.keep("t", None, "x".repeat(MAX_KEPT + 1));
    assert_eq!(large.err().map(|text| text.len()), Some(MAX_KEPT + 1));
    assert_eq!(outputs.list().len(), 2);
    for _ in 0..2 * MAX_OUTPUTS {
        keep(1);
    }
    assert_eq!(outputs.list().len(), MAX_OUTPUTS);
}
