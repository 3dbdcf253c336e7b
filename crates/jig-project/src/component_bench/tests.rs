use super::figures::{noise, ratio, time};
use super::*;

fn micros(times: &[u64]) -> Vec<Duration> {
    times
        .iter()
        .map(|time| Duration::from_micros(*time))
        .collect()
}

#[test]
fn a_spread_has_the_middle_and_the_end() {
    let check = |times: &[u64], expected: [u64; 3]| {
        let spread = BenchSpread::of(micros(times));
        let found = [spread.least, spread.median, spread.p99];
        assert_eq!(found, expected.map(Duration::from_micros), "{times:?}");
        assert_eq!(spread.count, times.len());
    };
    check(&[], [0, 0, 0]);
    check(&[7], [7, 7, 7]);
    check(&[3, 1, 2], [1, 2, 3]);
    check(&[4, 3, 2, 1], [1, 2, 4]);
    let hundred: Vec<u64> = (1..=100).rev().collect();
    check(&hundred, [1, 50, 99]);
}

#[test]
fn noise_is_how_far_parts_of_a_run_differ() {
    assert_eq!(noise(&micros(&[10; 1000])), 0.0);
    assert_eq!(noise(&micros(&[1, 1000])), 0.0, "too few to say");
    let mut busy = vec![10; 900];
    busy.extend([20; 100]);
    assert_eq!(noise(&micros(&busy)), 1.0);
}

#[test]
fn times_have_a_unit_that_suits_them() {
    let check = |nanos: u64, expected: &str| {
        assert_eq!(time(Duration::from_nanos(nanos)), expected);
    };
    check(0, "0 µs");
    check(47_400, "47 µs");
    check(1_500_000, "1.5 ms");
    check(12_340_000_000, "12.3 s");
    assert_eq!(ratio(Duration::from_secs(3), Duration::from_secs(2)), "1.5");
    assert_eq!(ratio(Duration::from_secs(30), Duration::from_secs(2)), "15");
}

/// Arguments have the types that the component declares; without a declaration JSON is meant as JSON.
#[test]
fn arguments_have_their_types() {
    let schema = json!({ "properties": {
        "path": { "type": "string" },
        "names": { "type": "array" },
        "count": { "type": "integer" },
    } });
    let described = ComponentTool {
        name: "one".to_owned(),
        description: String::new(),
        parameters: schema.as_object().cloned().unwrap(),
    };
    let check = |pairs: &[&str], description: Option<&ComponentTool>, expected: Json| {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        let found = arguments(&pairs, description).unwrap();
        assert_eq!(Json::Object(found), expected, "{pairs:?}");
    };
    check(&[], None, json!({}));
    check(&["path=1"], None, json!({ "path": 1 }));
    check(&["path=1"], Some(&described), json!({ "path": "1" }));
    check(&["path=a=b"], None, json!({ "path": "a=b" }));
    check(&["names=1"], Some(&described), json!({ "names": ["1"] }));
    check(
        &["names=1", "names=2"],
        Some(&described),
        json!({ "names": ["1", "2"] }),
    );
    check(&["x=1", "x=2"], None, json!({ "x": [1, 2] }));
    check(&["count=3"], Some(&described), json!({ "count": 3 }));
    assert!(arguments(&["path".to_owned()], None).is_err());
    assert!(arguments(&["=x".to_owned()], None).is_err());
}
