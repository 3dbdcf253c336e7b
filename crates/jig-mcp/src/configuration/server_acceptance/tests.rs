use jig_engine::{About, Ask};
use jig_proto::Question;
use serde_json::json;

use super::*;
use crate::questions::CallIdentity;
use crate::questions::QuestionId;
use crate::testing::with_mcp_servers::{ServersFixture, until};

const TIME: &str = "[mcp.servers.time]\ncommand = \"/no/such/time-server\"\n";

/// Somebody serves.
struct Serving {
    behind: ServersFixture,
    _runtime: tokio::runtime::Runtime,
}

impl Serving {
    fn new(workspace: &str, own: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let behind = ServersFixture::new(workspace, own);
        begin(&behind.shared, runtime.handle());
        Self {
            behind,
            _runtime: runtime,
        }
    }

    fn question(&self) -> Option<QuestionId> {
        self.behind.shared.asked().get("time").copied()
    }

    /// The question about the server, when it is there.
    #[track_caller]
    fn asked(&self) -> QuestionId {
        until("there is a question", || self.question().is_some());
        self.question().unwrap()
    }

    fn answer(&self, id: QuestionId, yes: bool) {
        let answer = Answer::Given(Value::Bool(yes));
        self.behind
            .shared
            .questions
            .answer(&id, answer, "me")
            .unwrap();
    }

    #[track_caller]
    fn until_listed(&self, tools: &[&str]) {
        until("the tools are listed", || self.behind.listed() == tools);
    }
}

/// A server of the workspace stands on the board; a yes there is kept.
#[test]
fn a_server_is_accepted_on_the_board() {
    let serving = Serving::new(TIME, "");
    let id = serving.asked();
    let server = serving.behind.server("time");
    assert!(!serving.behind.servers().ledger.may_start(&server));
    let reports = serving.behind.reports();
    assert!(
        reports.contains(&format!("`jig approve {id}`")),
        "{reports}"
    );
    assert!(reports.contains("`jig servers accept time`"), "{reports}");
    serving.answer(id, true);
    until("it may be started", || {
        serving.behind.servers().ledger.may_start(&server)
    });
    until("the question is gone", || serving.question().is_none());
}

/// A no is not asked again, before there is something else.
#[test]
fn a_no_counts_until_there_is_something_else() {
    let serving = Serving::new("", TIME);
    serving.behind.says("time", &[("now", "one")]);
    serving.until_listed(&["time_now"]);
    serving.behind.says("time", &[("now", "two")]);
    let first = serving.asked();
    serving.answer(first, false);
    until("the question is gone", || serving.question().is_none());
    // The same once more, and something that has nothing to do with it.
    serving.behind.says("time", &[("now", "two")]);
    serving
        .behind
        .servers()
        .ledger
        .note_era(&serving.behind.server("time"), "2025");
    serving.behind.says("time", &[("now", "three")]);
    let second = serving.asked();
    assert_ne!(first, second);
    serving.answer(second, true);
    until("the question is gone", || serving.question().is_none());
    let served = || {
        let served = serving.behind.shared.current();
        let tool = served.catalogue().tool("time_now").cloned();
        tool.and_then(|tool| tool.description).unwrap_or_default()
    };
    until("what was accepted is listed", || served() == "three");
}

/// What changes while it is asked about is another question: the answer to the first accepts nothing.
#[test]
fn an_answer_counts_for_what_was_shown() {
    let serving = Serving::new("", TIME);
    serving.behind.says("time", &[("now", "one")]);
    serving.until_listed(&["time_now"]);
    serving.behind.says("time", &[("now", "two")]);
    let first = serving.asked();
    serving.behind.says("time", &[("now", "three")]);
    until("there is another question", || serving.asked() != first);
    let late = Answer::Given(Value::Bool(true));
    let questions = &serving.behind.shared.questions;
    assert!(questions.answer(&first, late, "me").is_err());
    let server = serving.behind.server("time");
    assert!(
        serving
            .behind
            .servers()
            .ledger
            .held(&server, "now")
            .is_some()
    );
}

/// What another jig accepts goes from the board, comes into force here, and lets the calls go on that wait for
/// it.
#[test]
fn what_is_accepted_elsewhere_goes_from_the_board() {
    let serving = Serving::new("", TIME);
    serving
        .behind
        .says("time", &[("now", "one"), ("zones", "two")]);
    serving.until_listed(&["time_now", "time_zones"]);
    serving
        .behind
        .says("time", &[("now", "other"), ("zones", "two")]);
    serving.asked();
    let question = Question::yes_no("definition", "Accept it?");
    let ask = |tool| Ask {
        tool,
        question: &question,
        about: About::Definition,
        gone: None,
    };
    let questions = &serving.behind.shared.questions;
    let agent = CallIdentity {
        caller: "agent",
        hash: [0; 32],
        is_of_handle: false,
    };
    let waits = questions.put(&agent, &ask("time_now"));
    let refused = questions.refused(&agent, &ask("time_now"));
    let elsewhere = Servers::new(Arc::clone(&serving.behind.memory), Arc::new(|_| {}));
    let engine = serving.behind.servers().engine().unwrap();
    elsewhere.attach(engine);
    let accepted = elsewhere.accept_server("time").unwrap();
    assert_eq!(accepted.tools, ["now"]);
    until("the question is gone", || serving.question().is_none());
    let cancel = jig_broker::CancelToken::new();
    let answer = waits.wait(Duration::from_secs(60), &cancel, None);
    // That is not a yes: whoever asked looks again at what there is to accept.
    assert_eq!(answer, Answer::Given(json!(null)));
    until("the refusal is gone", || {
        questions.answer(&refused, Answer::Cancel, "me").is_err()
    });
}

/// The pauses between attempts double, up to a limit, and begin anew after a success.
#[test]
fn pauses_double() {
    let mut retry = ServerRetry::default();
    assert_eq!(retry.at(false), None);
    let first = retry.at(true).unwrap();
    assert_eq!(retry.at(true), Some(first));
    for _ in 0..20 {
        retry.later();
    }
    assert_eq!(retry.pause, Some(LONGEST_RETRY));
    assert!(retry.at(true).unwrap() > first);
    assert_eq!(retry.at(false), None);
    retry.at(true);
    assert_eq!(retry.pause, Some(FIRST_RETRY));
}
