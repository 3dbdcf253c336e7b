//! Results against the schema that their tool declares.

use std::sync::Arc;

use jig_config::Sources;
use jig_files::MemoryFiles;
use jig_proto::{Block, Content};
use serde_json::{Value, json};

use super::OutputError;
use crate::{CallError, Engine};

fn engine(schema: &Value) -> Engine {
    let mut sources = Sources::new("/workspace");
    for set in ["source=local", "runtime=stdio", "command=./t"] {
        sources.sets.push(format!("tools.t.{set}"));
    }
    let mut config = jig_config::load(&sources).expect("it is valid").config;
    let tool = config.tools.get_mut("t").expect("it was declared");
    tool.output = Some(schema.clone());
    Engine::new(Arc::new(config), Arc::new(MemoryFiles::new()))
}

/// What becomes of a result of at most 1000 bytes: `Ok` with its JSON, or what is wrong with it.
fn read(schema: &Value, content: Content) -> Result<Value, OutputError> {
    let engine = engine(schema);
    let tool = engine.config().tool("t").expect("it was declared");
    let structured = engine.structured(tool, &content);
    match engine.fitting(tool, content.clone(), 1000) {
        Ok(passed) => {
            assert_eq!(passed, content, "what fits is passed on as it is");
            Ok(structured.expect("what fits has a structure"))
        }
        Err(CallError::Output { tool, error, .. }) => {
            assert_eq!(tool, "t");
            let too_large = matches!(error, OutputError::TooLarge { .. });
            assert!(structured.is_none() || too_large);
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer" },
            "names": { "type": "array", "items": { "$ref": "#/$defs/name" } },
        },
        "required": ["count"],
        "additionalProperties": false,
        "$defs": { "name": { "type": "string", "pattern": "^(a+)+$" } },
    })
}

#[test]
fn what_fits_is_passed_on_with_its_structure() {
    let fitting = r#" { "count": 3, "names": ["a", "aa"] } "#;
    let value = json!({ "count": 3, "names": ["a", "aa"] });
    assert_eq!(read(&schema(), Content::text(fitting)), Ok(value.clone()));
    // What jig adds to a result does not belong to its JSON.
    let noted = Content::text(fitting).followed_by(Content::text("jig: 1 file was changed"));
    assert_eq!(read(&schema(), noted), Ok(value));
}

#[test]
fn what_does_not_fit_is_told_at_its_place() {
    let check = |text: &str, expected: &str| {
        let error = read(&schema(), Content::text(text)).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    };
    check("{}", r#""count" is a required property"#);
    check(
        r#"{"count": "3"}"#,
        "at `/count`: it is not of type \"integer\"",
    );
    check(
        r#"{"count": 3, "names": ["a", 4]}"#,
        "at `/names/1`: it is not of type \"string\"",
    );
    check(
        r#"{"count": 3, "more": 1}"#,
        "Additional properties are not allowed ('more' was unexpected)",
    );
    check("[1]", "it is JSON, but not an object");
    check("", "it is empty, and should be a JSON object");
    let error = read(&schema(), Content::text("three")).expect_err("no JSON");
    assert!(matches!(error, OutputError::NotJson(_)), "{error}");
    // The last of two keys counts for one reader, the first for another.
    let error = read(&schema(), Content::text(r#"{"count":1,"count":"x"}"#)).expect_err("twice");
    assert!(matches!(error, OutputError::NotJson(_)), "{error}");
}

#[test]
fn a_result_that_would_have_to_be_cut_is_an_error() {
    let text = json!({ "count": 3, "names": vec!["a"; 1000] }).to_string();
    let bytes = text.len();
    let error = read(&schema(), Content::text(text));
    assert_eq!(error, Err(OutputError::TooLarge { bytes, most: 1000 }));
}

#[test]
fn errors_are_short_whatever_the_tool_returns() {
    let long = "k".repeat(900);
    let content = Content::text(json!({ "count": 3, &long: 1 }).to_string());
    let error = read(&schema(), content)
        .expect_err("an unknown key")
        .to_string();
    assert!(error.len() < 600 && error.contains('…'), "{error}");
    let content = Content::text(json!({ "count": &long }).to_string());
    let error = read(&schema(), content).expect_err("a string").to_string();
    assert!(!error.contains("kkk"), "{error}");
}

/// A pattern that takes other engines of regular expressions exponential time.
#[test]
fn patterns_take_linear_time() {
    let content = json!({ "count": 3, "names": [format!("{}b", "a".repeat(900))] });
    let error = read(&schema(), Content::text(content.to_string())).expect_err("no match");
    assert!(matches!(error, OutputError::DoesNotFit { .. }), "{error}");
}

/// Nothing is read or fetched for a schema: here is a file, there is a server, and neither is asked.
#[test]
fn a_reference_that_leads_out_of_the_schema_is_never_followed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("it has an address");
    let file = tempfile::NamedTempFile::new().expect("a file");
    for out in [
        format!("http://{server}/schema.json"),
        format!("file://{}", file.path().display()),
    ] {
        let schema = json!({ "type": "object", "properties": { "a": { "$ref": out } } });
        let error = read(&schema, Content::text(r#"{"a": 1}"#)).expect_err("it is not used");
        assert!(matches!(error, OutputError::Schema(_)), "{error}");
    }
    listener.set_nonblocking(true).expect("it can be asked");
    let asked = listener.accept().expect_err("nobody came");
    assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn without_a_declaration_there_is_no_structure() {
    let engine = engine(&schema());
    let tool = engine.config().tool("fs_read_file").expect("it is there");
    assert_eq!(engine.structured(tool, &Content::text("{}")), None);
    let long = Content::text("x".repeat(2000));
    let cut = engine.fitting(tool, long, 1000).expect("it is cut");
    assert!(matches!(cut.blocks(), [Block::Text(text)] if text.text.contains("[truncated")));
}
