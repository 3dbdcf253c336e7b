use super::*;

fn definition(tool: &str, changed: &str) -> HeldOffer {
    HeldOffer::Definition {
        server: "time".to_owned(),
        tool: tool.to_owned(),
        accepted: "aaaa".to_owned(),
        now: format!("hash of {}", &changed[..1]),
        changed: changed.to_owned(),
    }
}

/// One thing is asked about in its own words, several in one question that shows all of them.
#[test]
fn all_that_is_accepted_is_shown() {
    assert_eq!(AcceptRequest::of("time", Vec::new()), None);
    let one = AcceptRequest::of("time", vec![definition("now", "- a\n+ b")]).unwrap();
    assert_eq!(one.topic, QuestionTopic::Definition);
    assert!(one.text.contains("`now`"), "{}", one.text);
    for part in ["aaaa", "hash of -", "+ b"] {
        assert!(one.context.contains(part), "{}", one.context);
    }
    let both = vec![
        definition("now", "one"),
        definition("zones\u{1b}[2J", "two"),
    ];
    let both = AcceptRequest::of("time", both).unwrap();
    assert!(both.text.contains("2 tools"), "{}", both.text);
    assert_eq!(both.held.len(), 2);
    assert!(both.context.contains("hash of o"), "{}", both.context);
    assert!(both.context.contains("hash of t"), "{}", both.context);
    assert!(!both.context.contains('\u{1b}'));
    assert_ne!(one.key(), both.key());
}

/// What would not be shown is not accepted with the rest: a server cannot hide one change behind many.
#[test]
fn nothing_is_accepted_unseen() {
    let long = "x".repeat(LONGEST_CONTEXT / 3);
    let many = ["a", "b", "c", "d"].map(|tool| definition(tool, &long));
    let request = AcceptRequest::of("time", many.to_vec()).unwrap();
    assert_eq!(request.held.len(), 2);
    assert!(request.context.len() <= LONGEST_CONTEXT);
    assert!(request.context.contains("tool:     b"));
    assert!(!request.context.contains("tool:     c"));
}

/// A server is shown by what it is and may do.
#[test]
fn a_server_is_described() {
    let held = HeldOffer::Server {
        name: "time".to_owned(),
        fingerprint: "ffff".to_owned(),
        described: vec!["runs `time-server`".to_owned()],
    };
    let request = AcceptRequest::of("time", vec![held]).unwrap();
    assert_eq!(request.topic, QuestionTopic::Server);
    assert!(request.context.contains("runs `time-server`"));
    assert!(request.told().contains("`time`"), "{}", request.told());
}
