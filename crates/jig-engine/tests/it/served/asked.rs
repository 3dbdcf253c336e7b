//! What is held is asked first, of a person; what a server asks is a person's to answer.

use jig_broker::AuditDecision;
use jig_engine::{About, Answer, CallError, HeldOffer, Nobody, Reply, Unaccepted};
use jig_proto::{Content, Question, StateName, ToolError};
use jig_runtime::OptionalAnswer;
use serde_json::json;

use crate::served::{Person, Script, World, plain, text, yes};

fn server() -> HeldOffer {
    HeldOffer::Server {
        name: "s".to_owned(),
        fingerprint: "f00".to_owned(),
        described: vec!["starts `true`".to_owned(), "may read nothing".to_owned()],
    }
}

fn changed() -> HeldOffer {
    HeldOffer::Definition {
        server: "s".to_owned(),
        tool: "t".to_owned(),
        accepted: "aaaaaaaaaaaaaaaaaaaa".to_owned(),
        now: "bbbbbbbbbbbbbbbbbbbb".to_owned(),
        changed: "- reads\n+ deletes".to_owned(),
    }
}

const ASKS: &str = "[mcp.servers.s]\ncommand = \"true\"\nrun = \"ask\"\n";

#[test]
fn what_is_held_is_asked_before_the_run_and_with_all_that_is_known_of_it() {
    let script = Script::saying(text("done")).holding([server(), changed()]);
    let world = World::with(ASKS, script, &[plain("t")]);
    let mut person = Person::who_says([yes(), yes(), yes()]);
    let content = world.call_with("s_t", json!({}), &mut person).unwrap();
    assert_eq!(content.to_text(), "done");
    let about: Vec<About> = person.asked.iter().map(|(about, ..)| *about).collect();
    assert_eq!(about, [About::Server, About::Definition, About::Run]);
    assert_eq!(person.asked[0].2, "starts `true`\nmay read nothing");
    let shown = &person.asked[1].2;
    for part in ["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "+ deletes"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(
        *world.script.accepted.lock().unwrap(),
        [server(), changed()]
    );
    // It is held no longer.
    let mut person = Person::who_says([yes()]);
    world.call_with("s_t", json!({}), &mut person).unwrap();
    assert_eq!(person.asked.len(), 1);
}

#[test]
fn without_a_yes_nothing_is_called() {
    let check = |answer: Answer, expected: Unaccepted, words: &str| {
        let script = Script::saying(text("done")).holding([changed()]);
        let world = World::new(script, &[plain("t")]);
        // A question that stays open has no answer to write down.
        let is_open = answer == Answer::Later;
        let mut person = Person::who_says([answer]);
        let error = world.call_with("s_t", json!({}), &mut person).unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, CallError::Held { why, .. } if why == expected),
            "{text}"
        );
        assert!(text.contains(words), "{text}");
        assert!(text.contains("aaaaaaaaaaaa, now bbbbbbbbbbbb"), "{text}");
        assert!(text.contains("jig servers accept s"), "{text}");
        assert_eq!(world.calls(), 0);
        assert!(world.script.accepted.lock().unwrap().is_empty());
        let lines = world.lines.take();
        let told: Vec<(&str, AuditDecision)> = lines
            .iter()
            .map(|line| (line.operation.as_str(), line.decision))
            .collect();
        let denied = ["ask.define", "mcp.call"].map(|operation| (operation, AuditDecision::Deny));
        assert_eq!(told, denied[usize::from(is_open)..]);
        assert_eq!(lines[told.len() - 1].target, "s.t");
    };
    let no = || Unaccepted::Declined(None);
    check(Answer::Given(json!(false)), no(), "and declined");
    check(Answer::Given(json!("yes")), no(), "and declined");
    check(Answer::Cancel, no(), "and declined");
    let why = Unaccepted::Declined(Some("too odd".to_owned()));
    check(
        Answer::Rejected("too odd".to_owned()),
        why,
        "declined: too odd",
    );
    check(
        Answer::Unavailable,
        Unaccepted::NobodyToAsk,
        "nobody can be asked",
    );
    check(
        Answer::Later,
        Unaccepted::NobodyToAsk,
        "nobody can be asked",
    );
    check(
        Answer::TimedOut,
        Unaccepted::NobodyAnswered,
        "nobody answered in time",
    );
}

/// A server that changes its tool whenever somebody accepts it asks a few times, and no more.
#[test]
fn a_definition_that_always_changes_is_never_called() {
    let mut script = Script::saying(text("done")).holding([changed()]);
    script.keeps = false;
    let world = World::new(script, &[plain("t")]);
    let mut person = Person::who_says(vec![yes(); 100]);
    let error = world.call_with("s_t", json!({}), &mut person).unwrap_err();
    assert!(
        error.to_string().contains("changes again and again"),
        "{error}"
    );
    assert_eq!((person.asked.len(), world.calls()), (3, 0));
}

#[test]
fn a_server_that_cannot_be_started_says_why() {
    let script = Script::saying(text("done"));
    let why = "the server `s` exited with code 1".to_owned();
    script.held.lock().unwrap().push_back(Err(why.clone()));
    let world = World::new(script, &[plain("t")]);
    let error = world.call("s_t", json!({})).unwrap_err();
    assert_eq!(error.to_string(), why);
    assert_eq!(world.calls(), 0);
}

/// Asks, and says what became of it.
fn asking() -> Script {
    Script::new(|_, door| {
        let put = door.put(Question::text("name", "Who are you?"), &|| true);
        Ok(Content::text(match put {
            OptionalAnswer::Answered(answer) => {
                format!("hello {}", answer.as_str().unwrap_or_default())
            }
            OptionalAnswer::Unanswered => "hello stranger".to_owned(),
            OptionalAnswer::GivenUp => return Err(ToolError::new("the call was cancelled")),
        }))
    })
}

#[test]
fn a_question_of_a_server_is_answered_or_the_server_goes_on_without() {
    let check = |answer: Answer, expected: &str| {
        let world = World::new(asking(), &[plain("t")]);
        let mut person = Person::who_says([answer]);
        let said = match world.call_with("s_t", json!({}), &mut person) {
            Ok(content) => content.to_text(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, expected);
        assert!(matches!(person.asked[0].0, About::Tool(_)));
    };
    check(Answer::Given(json!("Jo")), "hello Jo");
    check(Answer::Rejected("no".to_owned()), "hello stranger");
    check(Answer::Unavailable, "hello stranger");
    check(Answer::TimedOut, "hello stranger");
    check(Answer::Cancel, "the call was cancelled");
}

/// J-016.
#[test]
fn an_answer_of_the_configuration_is_given_without_asking() {
    let config =
        "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nquestions.name.answer = \"Jo\"\n";
    let world = World::with(config, asking(), &[plain("t")]);
    let content = world.call_with("t", json!({}), &mut Nobody).unwrap();
    assert_eq!(content.to_text(), "hello Jo");
}

/// A server that dies with an open question does not leave it standing.
#[test]
fn a_question_is_withdrawn_when_nobody_wants_its_answer() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Slow(Arc<AtomicBool>);
    impl jig_engine::Asker for Slow {
        fn ask(&mut self, _: &jig_engine::Ask<'_>) -> Answer {
            // The server goes while the person thinks; the call is over before they answer.
            self.0.store(true, Ordering::SeqCst);
            Answer::Later
        }
    }
    let gone = Arc::new(AtomicBool::new(false));
    let is_gone = Arc::clone(&gone);
    let script = Script::new(move |_, door| {
        let put = door.put(Question::text("name", "Who?"), &|| {
            !is_gone.load(Ordering::SeqCst)
        });
        Ok(Content::text(format!("{put:?}")))
    });
    let config = "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nstateful = true\n";
    let world = World::with(config, script, &[plain("t")]);
    let spawned = jig_engine::Call::new("t", json!({"action": "spawn", "id": "h"}));
    let mut slow = Slow(gone);
    world.engine.call(spawned, &mut slow).unwrap();
    let report = crate::served::handles::until_stopped(&world, "t", "h", &mut slow);
    assert!(report.to_string().contains("GivenUp"), "{report}");
}

const SPAWNED: &str = "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nstateful = true\n";

/// Whichever way a call goes: the protocol has a word for it, and the server goes on as it likes.
#[test]
fn a_form_that_somebody_puts_away_is_told_to_the_server_and_ends_no_call() {
    let script = || {
        Script::new(|_, door| {
            let put = door.put(Question::text("name", "Who are you?"), &|| true);
            Ok(Content::text(format!("{put:?}, ended: {}", door.give_up())))
        })
    };
    let world = World::new(script(), &[plain("t")]);
    let mut person = Person::who_says([Answer::Cancel]);
    let content = world.call_with("s_t", json!({}), &mut person).unwrap();
    assert_eq!(content.to_text(), "GivenUp, ended: false");

    let world = World::with(SPAWNED, script(), &[plain("t")]);
    let mut person = Person::who_says([Answer::Cancel]);
    let said = spawned(&world, &mut person);
    assert!(said.contains("GivenUp, ended: false"), "{said}");
}

/// What comes of a handle, when it has stopped.
fn spawned(world: &World, asker: &mut dyn jig_engine::Asker) -> String {
    let spawn = jig_engine::Call::new("t", json!({"action": "spawn", "id": "h"}));
    match world.engine.call(spawn, asker).unwrap() {
        Reply::Handle(report) if report.state.status() == StateName::Stopped => report.to_string(),
        _ => crate::served::handles::until_stopped(world, "t", "h", asker).to_string(),
    }
}

/// Somebody who thinks until they hear that nobody wants their answer.
struct Thinking {
    is_asked: std::sync::Arc<std::sync::atomic::AtomicBool>,
    has_heard: bool,
}

impl jig_engine::Asker for Thinking {
    fn ask(&mut self, ask: &jig_engine::Ask<'_>) -> Answer {
        let (tell, told) = std::sync::mpsc::channel();
        let gone = ask.gone.expect("a question that can go");
        let _hook = gone.on_cancel(move || assert!(tell.send(()).is_ok()));
        self.is_asked
            .store(true, std::sync::atomic::Ordering::SeqCst);
        self.has_heard = told
            .recv_timeout(std::time::Duration::from_secs(60))
            .is_ok();
        Answer::Cancel
    }
}

/// They are not kept at a question that is not asked any more, and what they say ends nothing.
#[test]
fn whoever_is_asked_hears_that_a_question_was_taken_back() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    for (config, is_spawned) in [("", false), (SPAWNED, true)] {
        let is_asked = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_asked);
        let script = Script::new(move |_, door| {
            let is_wanted = || !seen.load(Ordering::SeqCst);
            let put = door.put(Question::text("name", "Who?"), &is_wanted);
            Ok(Content::text(format!("{put:?}, ended: {}", door.give_up())))
        });
        let world = World::with(config, script, &[plain("t")]);
        let mut person = Thinking {
            is_asked,
            has_heard: false,
        };
        let said = match is_spawned {
            false => world
                .call_with("s_t", json!({}), &mut person)
                .unwrap()
                .to_text(),
            true => spawned(&world, &mut person),
        };
        assert!(person.has_heard);
        assert!(said.contains("GivenUp, ended: false"), "{said}");
    }
}
