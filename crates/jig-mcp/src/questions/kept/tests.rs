//! What is kept for later servers, and what an agent or a tool can make of that.

use std::thread;

use jig_engine::{About, Ask};
use jig_proto::Question;
use jig_testkit::let_pass;
use serde_json::json;

use super::super::{CallIdentity, MOST_REFUSED, Questions};
use super::*;

fn memory() -> Arc<dyn Memory> {
    Arc::new(ForgetfulMemory::default())
}

fn server(memory: &Arc<dyn Memory>) -> Arc<Questions> {
    Arc::new(Questions::remembering(Arc::clone(memory)))
}

fn question(arguments: &str) -> Question {
    let mut question = Question::yes_no("run", "Run `tool`?");
    question.context = Some(arguments.to_owned());
    question
}

fn ask(question: &Question, about: About) -> Ask<'_> {
    Ask {
        tool: "tool",
        question,
        about,
        gone: None,
    }
}

/// A call; the number stands for its arguments, and for what its tool is and may do.
fn call(number: u8) -> CallIdentity<'static> {
    CallIdentity {
        caller: "stdio",
        hash: [number; 32],
        is_of_handle: false,
    }
}

fn yes() -> Answer {
    Answer::Given(json!(true))
}

/// Neither the server that was refused nor the one that is asked to answer has to live: what counts is the workspace.
#[test]
fn a_refusal_outlives_its_server() {
    let memory = memory();
    let question = question("{}");
    let this = ask(&question, About::Run);
    let id = server(&memory).refused(&call(1), &this);
    // The same call again, to another server, keeps the name; another one gets another.
    assert_eq!(server(&memory).refused(&call(1), &this), id);
    assert_ne!(server(&memory).refused(&call(2), &this), id);

    let left = Questions::left_in(Arc::clone(&memory));
    assert_eq!(left.listed().len(), 2);
    assert_eq!(left.answer(&id, yes(), "me"), Ok(()));
    let again = Questions::left_in(Arc::clone(&memory)).answer(&id, yes(), "me");
    assert_eq!(again, Err(Unanswerable::Gone(id)));

    let next = server(&memory);
    assert_eq!(
        next.allowed(&call(1), &this),
        Some((yes(), "me".to_owned()))
    );
    assert_eq!(next.allowed(&call(1), &this), None);
    assert_eq!(server(&memory).allowed(&call(1), &this), None);
}

/// Attack: an agent has something harmless allowed, and then makes a call that looks the same but is another, or whose
/// tool is another by then.
#[test]
fn an_allowance_is_for_no_other_call() {
    let memory = memory();
    let shown = question("{}");
    let this = ask(&shown, About::Run);
    let id = server(&memory).refused(&call(1), &this);
    Questions::left_in(Arc::clone(&memory))
        .answer(&id, yes(), "me")
        .unwrap();
    let next = server(&memory);
    let other_caller = CallIdentity {
        caller: "token 1",
        ..call(1)
    };
    let of_handle = CallIdentity {
        is_of_handle: true,
        ..call(1)
    };
    for other in [call(2), other_caller, of_handle] {
        assert_eq!(next.allowed(&other, &this), None, "{other:?}");
    }
    assert_eq!(next.allowed(&call(1), &ask(&shown, About::Access)), None);
    let other_text = question("{ }");
    assert_eq!(next.allowed(&call(1), &ask(&other_text, About::Run)), None);
    assert_eq!(
        next.allowed(&call(1), &this),
        Some((yes(), "me".to_owned()))
    );
}

/// Attack: `h_1` of the next server is another session than the one that somebody agreed to give a command. And what
/// is accepted for good, or was made by a run that is over, is asked anew.
#[test]
fn what_means_something_else_later_is_not_kept() {
    let question = question("{\"id\": \"h_1\"}");
    let of_handle = CallIdentity {
        is_of_handle: true,
        ..call(1)
    };
    let cases = [
        (of_handle, About::Run),
        (of_handle, About::Access),
        (call(1), About::Changes),
        (call(1), About::Result),
        (call(1), About::EditResult),
        (call(1), About::Server),
        (call(1), About::Definition),
    ];
    for (call, about) in cases {
        let memory = memory();
        let this = ask(&question, about);
        let one = server(&memory);
        let id = one.refused(&call, &this);
        let left = Questions::left_in(Arc::clone(&memory));
        assert!(left.answer(&id, yes(), "me").is_err(), "{about:?}");
        // In the same server it holds.
        assert_eq!(one.answer(&id, yes(), "me"), Ok(()), "{about:?}");
        assert_eq!(server(&memory).allowed(&call, &this), None, "{about:?}");
        let allowed = one.allowed(&call, &this);
        assert_eq!(allowed, Some((yes(), "me".to_owned())), "{about:?}");
    }
}

/// Attack: many calls at once, to several servers, want to use one answer.
#[test]
fn an_answer_is_used_once_by_all_servers_together() {
    let memory = memory();
    let question = question("{}");
    let this = ask(&question, About::Run);
    for _ in 0..20 {
        let id = server(&memory).refused(&call(1), &this);
        Questions::left_in(Arc::clone(&memory))
            .answer(&id, yes(), "me")
            .unwrap();
        let used: Vec<bool> = thread::scope(|scope| {
            let using = |_| {
                let server = server(&memory);
                scope.spawn(move || server.allowed(&call(1), &this).is_some())
            };
            let threads: Vec<_> = (0..8).map(using).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(used.iter().filter(|used| **used).count(), 1);
    }
}

/// A memory that can be read and not be written any more.
struct FullMemory(Arc<dyn Memory>);

impl Memory for FullMemory {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name)
    }

    fn update(
        &self,
        _: &str,
        _: &mut crate::client::servers::ContentUpdate<'_>,
    ) -> Result<(), String> {
        Err("there is no space left".to_owned())
    }

    fn mark(&self, name: &str) -> u64 {
        self.0.mark(name)
    }
}

/// Attack: an answer that cannot be struck off would be used again and again. Refusals are still told apart, in the
/// process itself.
#[test]
fn without_space_nothing_is_allowed_twice() {
    let memory = memory();
    let question = question("{}");
    let this = ask(&question, About::Run);
    let id = server(&memory).refused(&call(1), &this);
    Questions::left_in(Arc::clone(&memory))
        .answer(&id, yes(), "me")
        .unwrap();
    let full: Arc<dyn Memory> = Arc::new(FullMemory(memory));
    let next = server(&full);
    assert_eq!(next.allowed(&call(1), &this), None);
    let other = next.refused(&call(2), &this);
    assert_eq!(next.answer(&other, yes(), "me"), Ok(()));
    assert_eq!(
        next.allowed(&call(2), &this),
        Some((yes(), "me".to_owned()))
    );
    assert_eq!(next.allowed(&call(2), &this), None);
    assert_eq!(next.allowed(&call(1), &this), None);
}

/// What is no record of ours counts as absent, however it was broken.
#[test]
fn odd_files_count_as_absent() {
    let question = question("{}");
    let this = ask(&question, About::Run);
    let deep = "[".repeat(100_000);
    let future = json!({
        "last": 7,
        "refused": [],
        "given": [{
            "fingerprint": Fingerprint::of(&call(1), &this).to_hex(),
            "answer": { "given": true },
            "by": "me",
            "at": u64::MAX,
        }],
    });
    for bytes in [
        "",
        "{}",
        "null",
        &deep,
        &future.to_string(),
        "{\"last\":-1}",
    ] {
        let memory = memory();
        memory
            .update(FILE, &mut |_| Some(bytes.as_bytes().to_vec()))
            .unwrap();
        let server = server(&memory);
        assert_eq!(server.allowed(&call(1), &this), None, "{bytes:.40}");
        let id = server.refused(&call(1), &this);
        assert_eq!(server.answer(&id, yes(), "me"), Ok(()), "{bytes:.40}");
    }
}

/// An agent that tries everything costs no more than the bounds, and neither refusals nor answers last.
#[test]
fn what_is_kept_is_bounded_and_grows_old() {
    let memory = memory();
    let servers = [server(&memory), server(&memory)];
    let long = "x".repeat(100_000);
    for number in 0..MOST_REFUSED + 20 {
        let question = question(&format!("{number}"));
        servers[number % 2].refused(&call(1), &ask(&question, About::Run));
    }
    let listed = Questions::left_in(Arc::clone(&memory)).listed().len();
    assert_eq!(listed, MOST_REFUSED);
    for number in 0..64 {
        let question = question(&format!("{number} {long}"));
        servers[number % 2].refused(&call(1), &ask(&question, About::Run));
    }
    let size = memory.get(FILE).unwrap().len();
    assert!(size < 2 * LARGEST, "{size}");

    let times = KeptTimes {
        refused: Duration::from_millis(50),
        given: Duration::from_millis(50),
    };
    let kept = KeptQuestions::new(memory, times);
    let_pass(Duration::from_millis(60));
    assert!(kept.refused().is_empty());
}
