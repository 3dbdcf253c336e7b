use serde_json::json;

use super::*;
use crate::HandleError;

fn check(error: &HandleError, expected: &[&str]) {
    let text = error.to_string();
    for part in expected {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
}

/// Each error names the handle, the reason and the way out.
#[test]
fn errors_show_the_way_out() {
    let handles = Handles::default();
    let nobody = id_of("h_7");
    let error = handles
        .fetch("t", &nobody, &Fetch::default(), None)
        .unwrap_err();
    check(&error, &["no handle `h_7`", "no handle is live", "spawn"]);

    let (session, _tool) = Tool::new();
    let id = add(&handles, Some("build"), session);
    let error = handles
        .fetch("t", &nobody, &Fetch::default(), None)
        .unwrap_err();
    check(&error, &["no handle `h_7`", "`build` (t)"]);

    for error in [
        handles.fetch("git", &id, &Fetch::default(), None),
        handles.apply("git", &id, json!(1), &Fetch::default(), None),
        handles.abort("git", &id),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, HandleError::OtherTool { .. }), "{error}");
        check(
            &error,
            &["`build`", "of the tool `t`", "not of `git`", "call `t`"],
        );
    }
    check(&HandleError::unknown("a\nb"), &["no handle `a\\nb`"]);
}

/// An error does not list thousands of handles.
#[test]
fn errors_are_short() {
    let handles = Handles::default();
    let tools: Vec<Tool> = (0..300)
        .map(|_| {
            let (session, tool) = Tool::new();
            add(&handles, None, session);
            tool
        })
        .collect();
    let error = handles.settle(&id_of("nope"), None).unwrap_err();
    check(&error, &["`h_1` (t), `h_2` (t)", "`h_20` (t) and 280 more"]);
    assert_eq!(tools.len(), 300);
}

/// What ended long ago is forgotten, what ended a short while ago is not.
#[test]
fn ended_handles_are_remembered_within_bounds() {
    let handles = Handles::default();
    for _ in 0..300 {
        let (session, tool) = Tool::new();
        let id = add(&handles, None, session);
        tool.stops("done");
        fetch(&handles, &id);
    }
    let gone = |id: &str| handles.settle(&id_of(id), None).unwrap_err().to_string();
    assert!(gone("h_300").contains("its result was told"));
    assert!(gone("h_1").contains("there is no handle `h_1`"));
}
