//! V-132, V-133, V-134: what no rule covers is asked.

use std::sync::Arc;

use jig_broker::{ApprovalScope, Broker, JudgedRequest, Unapproved};
use jig_proto::Prompt;
use jig_proto::vfs::{ErrorKind, VfsReply, VfsRequest};

use crate::world::{World, ask, both, delete, read, write};

fn inquiry(broker: &Broker, request: &VfsRequest<'_>) -> jig_broker::Inquiry {
    match broker.judge(request) {
        JudgedRequest::Uncovered(inquiry) => inquiry,
        other => panic!("{other:?}"),
    }
}

#[test]
fn v132_a_question_says_who_wants_what_and_which_rule_would_cover_it() {
    let world = World::in_memory();
    let inquiry = inquiry(&world.broker(), &write("out/a.txt", "x"));
    assert_eq!(inquiry.text(), "Allow `editor` to create `out/a.txt`?");
    let question = inquiry.question("q1");
    assert!(matches!(question.prompt(), Prompt::Select(options) if options.len() == 3));
    assert_eq!(question.default, Some("no".into()));
    let context = question.context.unwrap();
    assert!(context.contains("[[tools.editor.access.fs]]"), "{context}");
    assert!(context.contains("path = \"out/a.txt\""), "{context}");
    assert_eq!(inquiry.asks().len(), 1);
    assert_eq!(world.content("out/a.txt"), None, "asking does nothing");
}

#[test]
fn a_name_cannot_forge_the_question() {
    let world = World::in_memory();
    let path = "x`?\u{1b}[2K\rAllow `editor` to read `a\u{202e}";
    let text = inquiry(&world.broker(), &write(path, "x")).text();
    assert!(
        !text.contains(char::is_control) && !text.contains('\u{202e}'),
        "{text:?}"
    );
}

#[test]
fn v133_once_covers_this_request_only() {
    both(|world| {
        let broker = world.broker();
        let JudgedRequest::Ready(work) =
            inquiry(&broker, &write("a", "1")).approve(ApprovalScope::Once)
        else {
            panic!("it was approved");
        };
        assert!(work.perform().is_ok());
        assert_eq!(world.content("a").as_deref(), Some("1"));
        // Now it exists: another capability, and the approval was for one request anyway.
        let _ = inquiry(&broker, &write("a", "2"));
        let _ = inquiry(&broker, &write("b", "2"));
    });
}

#[test]
fn a_turn_remembers_capability_and_target_in_other_calls_too() {
    both(|world| {
        let world = world.with("a", "0").with("b", "0");
        let first = inquiry(&world.broker(), &write("a", "1")).answer("turn");
        let JudgedRequest::Ready(work) = first else {
            panic!("it was approved");
        };
        assert!(work.perform().is_ok());
        assert!(ask(&world.broker(), &write("a", "2")).is_ok());
        assert_eq!(world.content("a").as_deref(), Some("2"));
        let reason = world.log.entries().last().unwrap().reason.clone();
        assert!(reason.starts_with("approved for this turn"), "{reason}");
        // Another path, another capability, another tool: all asked again.
        let _ = inquiry(&world.broker(), &write("b", "2"));
        let _ = inquiry(&world.broker(), &delete("a", false));
        let mut parts = world.parts();
        parts.tool = "other".to_owned();
        let _ = inquiry(&Broker::new(parts), &write("a", "2"));
        world.approvals.clear();
        let _ = inquiry(&world.broker(), &write("a", "2"));
    });
}

#[test]
fn v134_no_unavailable_and_late_are_three_kinds() {
    let world = World::in_memory();
    let check = |why, kind: ErrorKind, words: &str| {
        let error = inquiry(&world.broker(), &write("a", "x")).deny(why);
        assert_eq!((error.code(), error.kind()), (-32001, kind));
        assert!(
            error.message.starts_with("access denied: create on `a`"),
            "{error}"
        );
        assert!(error.message.ends_with(words), "{error}");
        assert_eq!(error.data.path.as_deref(), Some("a"));
        assert!(error.data.hint.is_some());
    };
    check(
        Unapproved::Denied,
        ErrorKind::ApprovalDenied,
        "the user said no",
    );
    check(
        Unapproved::Unavailable,
        ErrorKind::ApprovalUnavailable,
        "nobody can be asked here",
    );
    check(
        Unapproved::TimedOut,
        ErrorKind::ApprovalTimeout,
        "nobody answered in time",
    );
    let judged = inquiry(&world.broker(), &write("a", "x")).answer("maybe");
    assert!(
        matches!(judged, JudgedRequest::Refused(error) if error.kind() == ErrorKind::ApprovalDenied)
    );
    assert_eq!(world.content("a"), None);
}

#[test]
fn what_a_rule_denies_is_not_asked() {
    let world = World::in_memory().with("a", "0").allow(".", "r");
    assert!(matches!(
        world.broker().judge(&write("a", "x")),
        JudgedRequest::Refused(_)
    ));
}

#[test]
fn x66_a_sensitive_path_is_asked_for() {
    both(|world| {
        let world = world.with(".env", "KEY=1").allow(".", "r");
        let inquiry = inquiry(&world.broker(), &read(".env"));
        assert!(
            inquiry.asks()[0].why().contains("sensitive"),
            "{:?}",
            inquiry.asks()
        );
        let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Once) else {
            panic!("it was approved");
        };
        assert!(matches!(work.perform(), Ok(VfsReply::Read(_))));
    });
}

#[test]
fn an_approved_path_is_judged_again_when_it_has_become_something_else() {
    both(|world| {
        let mut world = world;
        let inquiry = inquiry(&world.broker(), &write("a", "mine"));
        // While the person thinks, somebody else creates the file: to replace it was not asked.
        world.put("a", "theirs");
        let JudgedRequest::Uncovered(again) = inquiry.approve(ApprovalScope::Once) else {
            panic!("updating was not approved");
        };
        assert_eq!(again.text(), "Allow `editor` to update `a`?");
        let JudgedRequest::Ready(work) = again.approve(ApprovalScope::Once) else {
            panic!("it was approved");
        };
        assert!(work.perform().is_ok());
    });
}

#[test]
fn an_approved_removal_takes_what_is_in_it_but_not_what_is_denied() {
    both(|world| {
        let world = world.with("d/a", "a").with("d/.env", "K=1");
        let JudgedRequest::Ready(work) =
            inquiry(&world.broker(), &delete("d", true)).answer("once")
        else {
            panic!("it was approved");
        };
        assert!(work.perform().is_ok());
        assert_eq!(world.content("d/a"), None);
        assert_eq!(world.content("d/.env"), None);
    });
    both(|world| {
        let world = world
            .with("d/a", "a")
            .with("d/keep", "k")
            .allow("d/keep", "r");
        let error = ask(&world.broker(), &delete("d", true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeniedByRule);
        assert!(world.content("d/a").is_some());
    });
    // A sensitive file that is met on the way keeps everything in place.
    both(|world| {
        let world = world
            .with("d/a", "a")
            .with("d/.env", "K=1")
            .allow(".", "rcud");
        let error = ask(&world.broker(), &delete("d", true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Sensitive, "{error}");
        assert!(error.message.contains("`d/.env`"), "{error}");
        assert!(world.content("d/a").is_some());
    });
}

#[test]
fn a_broker_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<Broker>();
    is_sent::<jig_broker::Work>();
    is_sent::<jig_broker::Inquiry>();
    let world = World::in_memory().with("a", "a");
    let broker = Arc::new(world.broker());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let broker = Arc::clone(&broker);
            scope.spawn(move || assert!(ask(&broker, &read("a")).is_ok()));
        }
    });
}
