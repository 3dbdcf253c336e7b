//! What can be read.

use rmcp::model::ResourceContents;
use serde_json::json;

use super::{ResourceTarget, can_change, list, policy_uri, read, templates};
use crate::shared::Options;
use crate::testing;

#[test]
fn uris_name_places() {
    let check = |uri: &str, expected: Option<ResourceTarget<'_>>| {
        assert_eq!(ResourceTarget::of(uri), expected, "{uri}");
    };
    check("jig://config", Some(ResourceTarget::Config));
    check("jig://audit", Some(ResourceTarget::Audit));
    check(
        "jig://tool/git/policy",
        Some(ResourceTarget::Policy("git".to_owned())),
    );
    check(
        "jig://tool/a%2Fb/policy",
        Some(ResourceTarget::Policy("a/b".to_owned())),
    );
    check(
        "jig://knowledge/house%20style",
        Some(ResourceTarget::Topic("house style".to_owned())),
    );
    check("jig://output/00/2", Some(ResourceTarget::Output("00/2")));
    for none in [
        "",
        "jig:",
        "jig://",
        "jig://configs",
        "jig://config/",
        "JIG://config",
        "jig://tool/git",
        "jig://tool/policy",
        "jig://tool/%zz/policy",
        "jig://knowledge/%",
        "file:///etc/passwd",
        "../config",
    ] {
        check(none, None);
    }
    assert_eq!(policy_uri("a/b"), "jig://tool/a%2Fb/policy");
}

fn text(shared: &crate::SharedServer, uri: &str) -> Result<String, i32> {
    let caller = testing::caller();
    let read = read(shared, &caller, uri).map_err(|error| error.code.0)?;
    match read.contents.as_slice() {
        [
            ResourceContents::TextResourceContents {
                text, uri: named, ..
            },
        ] => {
            assert_eq!(named, uri);
            Ok(text.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_is_listed_can_be_read() {
    let sets = [
        "kb.topic.style.subjects=docs",
        "kb.topic.style.title=House style",
    ];
    let shared = testing::server(&sets, &[("docs/naming.md", "Names are nouns.")]);
    let caller = testing::caller();
    let output = caller
        .outputs
        .keep("t", None, "x".to_owned())
        .expect("kept");
    let listed = list(&shared, &caller, None).expect("a page").resources;
    let uris: Vec<&str> = listed
        .iter()
        .map(|resource| resource.uri.as_str())
        .collect();
    let output = output.uri();
    for uri in [
        "jig://config",
        "jig://audit",
        "jig://tool/fs_read_file/policy",
        "jig://knowledge/style",
        &output,
    ] {
        assert!(uris.contains(&uri), "{uri}: {uris:?}");
    }
    for uri in uris {
        assert!(read(&shared, &caller, uri).is_ok(), "{uri}");
        assert_eq!(can_change(&shared, uri), uri != output, "{uri}");
    }
    assert_eq!(templates(&shared).resource_templates.len(), 3);
}

#[test]
fn what_is_not_there_is_not_found() {
    let shared = testing::server(&["tools.fs_list_files.enable=false"], &[]);
    for uri in [
        "jig://nothing",
        "jig://tool/nothing/policy",
        "jig://tool/fs_list_files/policy",
        "jig://knowledge/nothing",
        "jig://output/0",
        "file:///etc/passwd",
        "test://static-text",
        "",
    ] {
        assert_eq!(text(&shared, uri), Err(-32002), "{uri}");
    }
    for uri in [
        "jig://nothing",
        "jig://tool/nothing/policy",
        "jig://knowledge/x",
        "test://watched-resource",
    ] {
        assert!(!can_change(&shared, uri), "{uri}");
    }
    // An error repeats only so much.
    let long = format!("jig://{}", "ü".repeat(100_000));
    let refused = super::not_found(&long);
    assert!(json!(refused).to_string().len() < 1000);
}

#[test]
fn fixtures_are_there_only_where_they_are_wanted() {
    let options = Options {
        fixtures: true,
        ..Options::default()
    };
    let shared = testing::serving(&[], &[], options);
    assert!(text(&shared, "test://static-text").is_ok());
    assert!(can_change(&shared, "test://watched-resource"));
    let listed = list(&shared, &testing::caller(), None).expect("a page");
    assert!(
        listed
            .resources
            .iter()
            .any(|one| one.uri == "test://static-text")
    );
}

#[test]
fn a_policy_tells_every_rule_with_its_place() {
    let sets = [
        "tools.fs_read_file.access={ fs = [{ path = \"docs\", read = true }] }",
        "tools.fs_read_file.run=ask",
    ];
    let shared = testing::server(&sets, &[("docs/a", "")]);
    let policy = text(&shared, "jig://tool/fs_read_file/policy").expect("it is there");
    for part in [
        "run: ask",
        "docs: read",
        "(--set)",
        "Network:\n  nothing",
        "never changed",
        "sensitive",
    ] {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
}

#[test]
fn the_configuration_is_told_without_what_a_model_is_not_to_know() {
    let sets = [
        "tools.t.source=local",
        "tools.t.command=x",
        "tools.t.options.key=hunter2",
        "tools.fs_delete_file.enable=false",
    ];
    let shared = testing::server(&sets, &[]);
    let config = text(&shared, "jig://config").expect("it is there");
    assert!(config.contains("workspace: /nowhere"), "{config}");
    assert!(
        config.contains("  fs_read_file: unattended (built-in)"),
        "{config}"
    );
    assert!(config.contains("  fs_delete_file: off"), "{config}");
    assert!(!config.contains("hunter2"), "{config}");
    assert!(!config.contains("approve"), "{config}");
}
