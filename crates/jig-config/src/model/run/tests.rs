use jig_proto::ToolAction;
use serde_json::{Value as Json, json};

use super::{RunCondition, RunModes, RunRule, RunRules, RunTest};
use crate::model::RunMode;
use crate::origin::{ConfigText, Layer, Origin};

fn rule(conditions: &[(&str, RunTest)], mode: RunMode) -> RunRule {
    let text = ConfigText::new(Layer::Set, "--set", None, String::new());
    let conditions = conditions.iter().map(|(name, test)| {
        let steps = vec![(*name).to_owned()];
        RunCondition::new(steps, test.clone())
    });
    RunRule {
        conditions: conditions.collect(),
        mode,
        origin: Origin::new(&text, 0..0),
    }
}

fn prefix(text: &str) -> RunTest {
    RunTest::Prefix(text.to_owned())
}

fn decide(rules: &[RunRule], arguments: &Json) -> (RunMode, Option<usize>) {
    let rules = RunRules::ByArguments(rules.to_vec());
    let decided = rules.decide(arguments.as_object().expect("an object"));
    (decided.mode, decided.rule)
}

#[test]
fn s_080_modes_by_action() {
    let modes = RunModes {
        spawn: RunRules::Always(RunMode::Edit),
        fetch: RunRules::Always(RunMode::Skip),
        apply: RunRules::Always(RunMode::Ask),
        abort: RunRules::Always(RunMode::Unattended),
    };
    let found = ToolAction::ALL.map(|action| modes.of(action));
    let expected = [&modes.spawn, &modes.fetch, &modes.apply, &modes.abort];
    assert_eq!(found, expected);
    assert_eq!(modes.to_string(), "edit, fetch: skip, apply: ask");
    let decided = modes.decide(ToolAction::Fetch, &serde_json::Map::new());
    assert_eq!((decided.mode, decided.rule), (RunMode::Skip, None));
    let plain = RunModes::of_spawn(RunMode::Ask);
    assert_eq!(plain.to_string(), "ask");
    for action in [ToolAction::Fetch, ToolAction::Apply, ToolAction::Abort] {
        assert!(plain.of(action).is_always(RunMode::Unattended));
    }
}

#[test]
fn the_first_match_wins() {
    let rules = [
        rule(&[("path", prefix("src/secret"))], RunMode::Skip),
        rule(&[("path", prefix("src/"))], RunMode::Unattended),
        rule(
            &[
                ("path", prefix("docs/")),
                ("force", RunTest::Equals(json!(false))),
            ],
            RunMode::Edit,
        ),
    ];
    let check = |arguments: Json, expected: (RunMode, Option<usize>)| {
        assert_eq!(decide(&rules, &arguments), expected, "{arguments}");
    };
    check(json!({ "path": "src/a" }), (RunMode::Unattended, Some(1)));
    check(
        json!({ "path": "src/secret.txt" }),
        (RunMode::Skip, Some(0)),
    );
    check(
        json!({ "path": "docs/a", "force": false }),
        (RunMode::Edit, Some(2)),
    );
    // All conditions of a rule must hold.
    check(
        json!({ "path": "docs/a", "force": true }),
        (RunMode::Ask, None),
    );
    check(json!({ "path": "docs/a" }), (RunMode::Ask, None));
    // Nobody spoke of it: somebody is asked.
    check(json!({}), (RunMode::Ask, None));
    check(json!({ "path": "lib/a" }), (RunMode::Ask, None));
}

/// Whether a rule lets something through or keeps it back: another spelling of the same path changes nothing
/// for the better.
#[test]
fn no_spelling_gets_around_a_rule() {
    let lets = [
        rule(&[("path", prefix("src/"))], RunMode::Unattended),
        rule(&[], RunMode::Ask),
    ];
    let keeps = [
        rule(&[("path", prefix("secrets/"))], RunMode::Skip),
        rule(&[], RunMode::Unattended),
    ];
    let is = [
        rule(&[("path", RunTest::Equals(json!("key.pem")))], RunMode::Ask),
        rule(&[], RunMode::Unattended),
    ];
    let check = |rules: &[RunRule], path: Json, expected: RunMode| {
        let found = decide(rules, &json!({ "path": path }));
        assert_eq!(found.0, expected, "{path}");
    };
    for path in [
        "src/../../etc/passwd",
        "src/../lib",
        "src//../x",
        "src\\..\\..\\etc",
        "src/..\\..\\etc",
        "/etc/passwd",
        "/abs/workspace/src/a",
        "..",
        ".",
        "src",
        "",
    ] {
        check(&lets, json!(path), RunMode::Ask);
    }
    check(&lets, json!("./src/a"), RunMode::Unattended);
    check(&lets, json!(["src/a", "src/../../etc"]), RunMode::Ask);
    for path in [
        "secrets/a",
        "./secrets/a",
        "src/../secrets/a",
        "secrets//a",
        "secrets",
        "secrets/",
        "src\\..\\secrets\\a",
        "/abs/workspace/secrets/a",
        "../workspace/secrets/a",
        ".",
    ] {
        check(&keeps, json!(path), RunMode::Skip);
    }
    check(&keeps, json!("src/a"), RunMode::Unattended);
    check(&keeps, json!(["src/a", "secrets/b"]), RunMode::Skip);
    for path in ["key.pem", "./key.pem", "a/../key.pem", ".//key.pem"] {
        check(&is, json!(path), RunMode::Ask);
    }
    check(&is, json!("key.pub"), RunMode::Unattended);
}

/// Of several rules that may be meant, the strictest counts, and is named.
#[test]
fn the_strictest_of_what_may_be_meant() {
    let rules = [
        rule(&[("path", prefix("a/"))], RunMode::Ask),
        rule(&[("path", prefix("b/"))], RunMode::Skip),
        rule(&[("path", prefix("c/"))], RunMode::Unattended),
        rule(&[], RunMode::Unattended),
    ];
    let of = |path: &str| decide(&rules, &json!({ "path": path }));
    assert_eq!(of("."), (RunMode::Skip, Some(1)));
    assert_eq!(of("a"), (RunMode::Ask, Some(0)));
    assert_eq!(of("c"), (RunMode::Unattended, Some(3)));
    assert_eq!(of("a/x"), (RunMode::Ask, Some(0)));
}

#[test]
fn modes_that_hold_for_every_call() {
    let check = |rules: &[RunRule], expected: Option<RunMode>| {
        let rules = RunRules::ByArguments(rules.to_vec());
        for mode in RunMode::ALL {
            assert_eq!(rules.is_always(*mode), expected == Some(*mode), "{rules}");
        }
    };
    let some = |mode| rule(&[("path", prefix("a/"))], mode);
    let all = |mode| rule(&[], mode);
    check(&[all(RunMode::Skip)], Some(RunMode::Skip));
    check(
        &[some(RunMode::Skip), all(RunMode::Skip)],
        Some(RunMode::Skip),
    );
    check(&[some(RunMode::Skip)], None);
    check(&[some(RunMode::Ask)], Some(RunMode::Ask));
    check(&[some(RunMode::Unattended)], None);
    check(&[some(RunMode::Unattended), all(RunMode::Ask)], None);
}

#[test]
fn rules_as_text_and_as_json() {
    let check = |rules: &[RunRule], text: &str, json: Json| {
        let rules = RunRules::ByArguments(rules.to_vec());
        assert_eq!(rules.to_string(), text);
        assert_eq!(rules.to_json(), json);
        assert_eq!(rules.name(), "by arguments");
    };
    let some = rule(&[("path", prefix("src/"))], RunMode::Unattended);
    check(
        &[some, rule(&[], RunMode::Skip)],
        "unattended if `path` begins with \"src/\", else skip",
        json!([
            { "arg": "/path", "prefix": "src/", "mode": "unattended" },
            { "mode": "skip" },
        ]),
    );
    let both = rule(
        &[
            ("a", RunTest::Present(true)),
            ("b", RunTest::Equals(json!(1))),
        ],
        RunMode::Skip,
    );
    check(
        &[both],
        "skip if `a` is given and `b` is 1, else ask",
        json!([{
            "all": [{ "arg": "/a", "present": true }, { "arg": "/b", "equals": 1 }],
            "mode": "skip",
        }]),
    );
    assert_eq!(RunRules::Always(RunMode::Ask).to_json(), json!("ask"));
}
