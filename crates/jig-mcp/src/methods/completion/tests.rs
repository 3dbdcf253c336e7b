//! What arguments can be.

use rmcp::model::{ArgumentInfo, CompleteRequestParams, Reference};
use serde_json::json;

use super::{complete, matching};
use crate::testing;

#[test]
fn values_that_begin_so_come_first() {
    let check = |values: &[&str], typed: &str, expected: &[&str]| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        let found = matching(values, typed);
        assert_eq!(found.values, expected, "{typed}");
        assert_eq!(found.total, u32::try_from(expected.len()).ok());
        assert_eq!(found.has_more, Some(false));
    };
    check(&["beta", "alpha"], "", &["beta", "alpha"]);
    check(&["read_fs", "FS_read", "x"], "fs", &["FS_read", "read_fs"]);
    check(&["a"], "b", &[]);
}

#[test]
fn at_most_a_hundred_values_come_at_once() {
    let values = (0..250).map(|number| number.to_string()).collect();
    let found = matching(values, "");
    assert_eq!(found.values.len(), 100);
    assert_eq!(found.total, Some(250));
    assert_eq!(found.has_more, Some(true));
}

#[test]
fn arguments_of_templates_and_prompts_are_completed() {
    let sets = [
        "kb.topic.style.subjects=docs",
        "kb.topic.rust.subjects=docs",
    ];
    let shared = testing::server(&sets, &[("docs/naming.md", "a"), ("docs/errors.md", "b")]);
    let caller = testing::caller();
    let ask = |to: Reference, name: &str, typed: &str| {
        let argument = json!({ "name": name, "value": typed });
        let argument: ArgumentInfo = serde_json::from_value(argument).expect("an argument");
        let asked = CompleteRequestParams::new(to, argument);
        let completed = complete(&shared, &caller, asked);
        completed
            .map(|result| result.completion.values)
            .map_err(|error| error.code.0)
    };
    let template = |uri: &str| Reference::for_resource(uri);
    let policies = ask(template("jig://tool/{name}/policy"), "name", "fs_read");
    assert!(policies.is_ok_and(|names| names.contains(&"fs_read_file".to_owned())));
    let topics = ask(template("jig://knowledge/{topic}"), "topic", "s");
    assert_eq!(topics, Ok(vec!["style".to_owned(), "rust".to_owned()]));
    assert_eq!(
        ask(template("jig://output/{id}/{part}"), "id", ""),
        Ok(Vec::new())
    );
    assert_eq!(ask(template("jig://nothing/{x}"), "x", ""), Err(-32602));
    assert_eq!(
        ask(Reference::for_prompt("nothing"), "subject", ""),
        Err(-32602)
    );
    assert_eq!(
        ask(Reference::for_prompt("style"), "other", ""),
        Ok(Vec::new())
    );
    let subjects = ask(Reference::for_prompt("style"), "subject", "n");
    if cfg!(feature = "wasm-tools") {
        assert_eq!(subjects, Ok(vec!["naming".to_owned()]));
    }
}
