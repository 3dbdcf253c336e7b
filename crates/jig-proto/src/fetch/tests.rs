use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Fetch, View};

fn read(arguments: Value) -> Result<(Fetch, Map<String, Value>), String> {
    let Value::Object(mut arguments) = arguments else {
        panic!("{arguments} is not an object");
    };
    let fetch = Fetch::take_from(&mut arguments).map_err(|error| error.to_string())?;
    Ok((fetch, arguments))
}

#[test]
fn what_is_asked_for_is_taken_out_of_the_arguments() {
    let check = |arguments: Value, expected: Fetch| {
        let (fetch, rest) = read(arguments).expect("it is well-formed");
        assert_eq!(fetch, expected);
        assert!(rest.is_empty());
    };
    check(json!({}), Fetch::default());
    check(
        json!({"view": null, "after_seq": null, "max_bytes": null, "wait_ms": null}),
        Fetch::default(),
    );
    check(
        json!({"view": "screen", "after_seq": 7, "max_bytes": "100", "wait_ms": 2.0}),
        Fetch {
            view: View::Screen,
            after_seq: Some(7),
            max_bytes: Some(100),
            wait: Some(Duration::from_millis(2)),
        },
    );
    check(
        json!({"view": "all", "wait_ms": u64::MAX}),
        Fetch {
            view: View::All,
            wait: Some(Fetch::LONGEST_WAIT),
            ..Fetch::default()
        },
    );
    let (_, rest) = read(json!({"input": 1, "view": "new"})).expect("it is well-formed");
    assert_eq!(Value::Object(rest), json!({"input": 1}));
}

#[test]
fn what_is_wrong_is_named() {
    let check = |arguments: Value, expected: &str| {
        assert_eq!(read(arguments).expect_err("it is malformed"), expected);
    };
    let views = "is not a view (there are `new`, `screen` and `all`)";
    check(json!({"view": "last"}), &format!("\"last\" {views}"));
    check(json!({"view": 1}), &format!("\"1\" {views}"));
    check(
        json!({"after_seq": -1}),
        "`after_seq` must be a number, zero or more",
    );
    check(
        json!({"max_bytes": []}),
        "`max_bytes` must be a number, zero or more",
    );
    check(
        json!({"wait_ms": 1e300}),
        "`wait_ms` must be a number, zero or more",
    );
    check(
        json!({"wait_ms": "soon"}),
        "`wait_ms` must be a number, zero or more",
    );
}
