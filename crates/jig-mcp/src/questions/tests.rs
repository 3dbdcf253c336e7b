use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;

use jig_config::QuestionTarget;
use jig_engine::About;
use jig_proto::Question;
use jig_testkit::{let_pass, until};
use serde_json::{Value, json};

use super::decisions::{NoAnswer, QuestionDecision};
use super::*;

fn run_question(arguments: &str) -> Question {
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

/// A call of a caller.
fn of(caller: &str) -> CallIdentity<'_> {
    CallIdentity {
        caller,
        hash: [1; 32],
        is_of_handle: false,
    }
}

fn yes() -> Answer {
    Answer::Given(json!(true))
}

fn memory() -> Arc<dyn Memory> {
    Arc::new(ForgetfulMemory::default())
}

fn never() -> CancelToken {
    CancelToken::new()
}

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(60);

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn names_of_questions() {
    let check = |text: &str, expected: Option<u64>| {
        let id: Option<QuestionId> = text.parse().ok();
        assert_eq!(id.map(|id| id.0), expected, "{text}");
        if let Some(id) = id {
            assert_eq!(id.to_string(), text);
        }
    };
    check("q_1", Some(1));
    check("q_18446744073709551615", Some(u64::MAX));
    for wrong in [
        "",
        "q_",
        "q_0",
        "q_01",
        "q_+1",
        "1",
        "h_1",
        "q_1 ",
        "q_18446744073709551616",
    ] {
        check(wrong, None);
    }
}

/// Of many who answer at once exactly one is told that theirs counts, and that one's is what comes.
#[test]
fn the_first_answer_wins() {
    let questions = Arc::new(Questions::new());
    for _ in 0..50 {
        let question = run_question("{}");
        let pending = questions.put(&of("stdio"), &ask(&question, About::Run));
        let id = pending.id();
        let winners: Vec<String> = thread::scope(|scope| {
            let answering = |number: u32| {
                let questions = Arc::clone(&questions);
                scope.spawn(move || {
                    let name = format!("p{number}");
                    let answer = Answer::Rejected(name.clone());
                    questions.answer(&id, answer, &name).is_ok().then_some(name)
                })
            };
            let threads: Vec<_> = (0..8).map(answering).collect();
            let won = threads.into_iter().map(|thread| thread.join().unwrap());
            won.flatten().collect()
        });
        let [winner] = &*winners else {
            panic!("{winners:?}");
        };
        let answer = pending.wait(LONG, &never(), None);
        assert_eq!(answer, Answer::Rejected(winner.clone()));
        let late = questions.answer(&id, yes(), "late");
        let by = winner.clone();
        assert_eq!(late, Err(Unanswerable::AlreadyAnswered { id, by }));
    }
}

/// A wait ends with an answer, with its time, or with the call; and then the question is off the board.
#[test]
fn waits_end() {
    let questions = Arc::new(Questions::new());
    let question = run_question("{}");
    let put = || questions.put(&of("stdio"), &ask(&question, About::Run));

    let pending = put();
    let id = pending.id();
    let answering = Arc::clone(&questions);
    let thread = thread::spawn(move || answering.answer(&id, yes(), "somebody"));
    assert_eq!(pending.wait(LONG, &never(), None), yes());
    assert_eq!(thread.join().unwrap(), Ok(()));

    let pending = put();
    let cancel = never();
    let by_other = cancel.clone();
    let thread = thread::spawn(move || by_other.cancel());
    assert_eq!(pending.wait(LONG, &cancel, None), Answer::Cancel);
    thread.join().unwrap();
    let late = questions.answer(&pending.id(), yes(), "late");
    assert_eq!(late, Err(Unanswerable::Gone(pending.id())));

    // Who asked does not want to know any more: nobody is to allow it for the next call either.
    let pending = put();
    let gone = never();
    let by_other = gone.clone();
    let thread = thread::spawn(move || by_other.cancel());
    let answer = pending.wait(LONG, &never(), Some(&gone));
    assert_eq!(answer, Answer::Unavailable);
    thread.join().unwrap();
    let late = questions.answer(&pending.id(), yes(), "late");
    assert_eq!(late, Err(Unanswerable::Gone(pending.id())));

    let pending = put();
    let id = pending.id();
    drop(pending);
    let late = questions.answer(&id, yes(), "late");
    assert_eq!(late, Err(Unanswerable::Gone(id)));

    // Nobody answered in time: a person may still allow it for the next call.
    let pending = put();
    assert_eq!(pending.wait(SHORT, &never(), None), Answer::TimedOut);
    let id = pending.id();
    drop(pending);
    assert_eq!(
        questions.refused(&of("stdio"), &ask(&question, About::Run)),
        id
    );
    assert_eq!(questions.answer(&id, yes(), "late"), Ok(()));
    let allowed = questions.allowed(&of("stdio"), &ask(&question, About::Run));
    assert_eq!(allowed, Some((yes(), "late".to_owned())));

    let unknown = QuestionId(999);
    let answered = questions.answer(&unknown, yes(), "x");
    assert_eq!(answered, Err(Unanswerable::Unknown(unknown)));
}

/// What was allowed after a refusal is used up by the same question of the same caller, and by no other.
#[test]
fn an_allowance_is_for_exactly_this() {
    let questions = Arc::new(Questions::new());
    let question = run_question("{\"path\": \"a\"}");
    let this = ask(&question, About::Run);
    let id = questions.refused(&of("stdio"), &this);
    // The same again is the same question.
    assert_eq!(questions.refused(&of("stdio"), &this), id);
    assert_eq!(questions.allowed(&of("stdio"), &this), None);
    questions.answer(&id, yes(), "me").unwrap();

    let other_arguments = run_question("{\"path\": \"b\"}");
    let mut other_text = question.clone();
    other_text.text.push('!');
    let others = [
        ("token 1", this),
        ("stdio", ask(&other_arguments, About::Run)),
        ("stdio", ask(&other_text, About::Run)),
        ("stdio", ask(&question, About::Result)),
        (
            "stdio",
            Ask {
                tool: "other",
                ..this
            },
        ),
    ];
    for (caller, other) in others {
        assert_eq!(
            questions.allowed(&of(caller), &other),
            None,
            "{caller} {other:?}"
        );
    }
    let allowed = questions.allowed(&of("stdio"), &this);
    assert_eq!(allowed.map(|(answer, _)| answer), Some(yes()));
    assert_eq!(questions.allowed(&of("stdio"), &this), None);
}

/// The policy numbers its questions: the number does not make another question of it.
#[test]
fn access_is_the_same_whatever_its_number() {
    let questions = Arc::new(Questions::new());
    let question =
        |id: &str| Question::select(id, "Allow `tool` to read `x`?", ["once", "turn", "no"]);
    let (one, two) = (question("access-1"), question("access-2"));
    let id = questions.refused(&of("stdio"), &ask(&one, About::Access));
    assert_eq!(
        questions.refused(&of("stdio"), &ask(&two, About::Access)),
        id
    );
    let tool = About::Tool(QuestionTarget::User);
    let id = questions.refused(&of("stdio"), &ask(&one, tool));
    assert_ne!(questions.refused(&of("stdio"), &ask(&two, tool)), id);
}

/// Refusals and allowances do not last.
#[test]
fn what_is_kept_grows_old() {
    // Long enough for a busy machine to do the next few lines.
    let kept = Duration::from_millis(1500);
    let times = KeptTimes {
        refused: kept,
        given: kept,
    };
    let questions = Arc::new(Questions::keeping(memory(), times));
    let question = run_question("{}");
    let this = ask(&question, About::Run);
    let id = questions.refused(&of("stdio"), &this);
    questions.answer(&id, yes(), "me").unwrap();
    let_pass(kept);
    assert_eq!(questions.allowed(&of("stdio"), &this), None);

    let id = questions.refused(&of("stdio"), &this);
    let_pass(kept);
    let late = questions.answer(&id, yes(), "me");
    assert_eq!(late, Err(Unanswerable::Gone(id)));
}

/// An agent that tries everything costs no more than the bounds.
#[test]
fn everything_is_bounded() {
    let questions = Arc::new(Questions::new());
    let mut ids = Vec::new();
    for number in 0..MOST_REFUSED + 44 {
        let question = run_question(&number.to_string());
        ids.push(questions.refused(&of("stdio"), &ask(&question, About::Run)));
    }
    assert_eq!(questions.board().refused.len(), MOST_REFUSED);
    let first = questions.answer(&ids[0], yes(), "me");
    assert_eq!(first, Err(Unanswerable::Gone(ids[0])));
    for id in &ids[44..] {
        questions.answer(id, yes(), "me").unwrap();
    }
    assert_eq!(questions.kept.given(), MOST_GIVEN);

    let question = run_question("{}");
    let put = || questions.put(&of("stdio"), &ask(&question, About::Run));
    let open: Vec<StandingQuestion> = (0..MOST_OPEN).map(|_| put()).collect();
    let one_more = put();
    assert_eq!(one_more.wait(LONG, &never(), None), Answer::Unavailable);
    // The configuration can be asked about all the same.
    let config = questions.put_config("Sure?", "changes".to_owned());
    assert_eq!(questions.answer(&config.id(), yes(), "me"), Ok(()));
    drop(open);
    let again = put();
    assert_eq!(again.wait(SHORT, &never(), None), Answer::TimedOut);
    let board = questions.board();
    assert!(board.events.len() <= MOST_EVENTS);
    assert!(board.settled.len() <= MOST_SETTLED);
}

/// The turn of a caller takes with it whatever has to do with it, and nothing else.
#[test]
fn a_caller_is_forgotten() {
    let questions = Arc::new(Questions::new());
    let (one, two, three) = (run_question("1"), run_question("2"), run_question("3"));
    let mine = questions.put(&of("mine"), &ask(&one, About::Run));
    let other = questions.put(&of("other"), &ask(&one, About::Run));
    let refused = questions.refused(&of("mine"), &ask(&two, About::Run));
    let allowed = questions.refused(&of("mine"), &ask(&three, About::Run));
    questions.answer(&allowed, yes(), "me").unwrap();
    let handle = CallIdentity {
        is_of_handle: true,
        ..of("mine")
    };
    let of_handle = questions.refused(&handle, &ask(&two, About::Run));
    questions.forget("mine");
    assert_eq!(mine.wait(LONG, &never(), None), Answer::Cancel);
    assert_eq!(other.wait(SHORT, &never(), None), Answer::TimedOut);
    // What is about a handle of the turn goes with it.
    let late = questions.answer(&of_handle, yes(), "me");
    assert_eq!(late, Err(Unanswerable::Gone(of_handle)));
    // A person may come back later than an agent without one.
    assert_eq!(questions.answer(&refused, yes(), "me"), Ok(()));
    for question in [&two, &three] {
        let allowed = questions.allowed(&of("mine"), &ask(question, About::Run));
        assert!(allowed.is_some());
    }
}

/// What a tool writes into its questions is bounded and steers nobody's terminal; what counts as the same
/// question is the whole of it.
#[test]
fn questions_are_shown_bounded_and_printable() {
    let questions = Arc::new(Questions::new());
    let mut question = Question::text("q", "Name?\u{1b}[2J\nsure");
    let long = "x".repeat(100_000);
    question.context = Some(long.clone() + "1");
    question.default = Some(json!("d".repeat(2 << 20)));
    let tool = About::Tool(QuestionTarget::User);
    let id = questions.refused(&of("a\u{7}"), &ask(&question, tool));
    let shown = {
        let board = questions.board();
        let (asked, state) = board.find(id.0).unwrap();
        Value::Object(asked.to_json(state))
    };
    assert_eq!(shown["text"], "Name?\\u{1b}[2J sure");
    assert_eq!(shown["caller"], "a\\u{7}");
    assert_eq!(shown["context"].as_str().unwrap().len(), 64 << 10);
    assert_eq!(shown["hidden_bytes"], 100_001 - (64 << 10));
    assert_eq!(shown["default"], Value::Null);
    assert_eq!(shown["needs_value"], true);
    // They differ in what is not shown.
    question.context = Some(long + "2");
    assert_ne!(questions.refused(&of("a\u{7}"), &ask(&question, tool)), id);
}

#[test]
fn decisions_become_answers() {
    let select = Question::select("q", "Which?", ["a", "b"]);
    let yes_no = Question::yes_no("q", "Sure?");
    let text = Question::text("q", "Name?");
    let tool = About::Tool(QuestionTarget::User);
    let decide =
        |question: &Question, about, decision, value: Option<Value>, reason: Option<&str>| {
            let asked = BoardQuestion::new(1, &of("stdio"), &ask(question, about));
            decisions::answer(&asked, decision, value, reason.map(str::to_owned))
        };
    use QuestionDecision::{Accept, Deny, Once, Turn};
    let given = |value: Value| Ok(Answer::Given(value));
    let turn = |value: Value| Ok(Answer::GivenForTurn(value));
    let check = |question: &Question,
                 about,
                 decision,
                 value: Option<Value>,
                 expected: Result<Answer, NoAnswer>| {
        assert_eq!(
            decide(question, about, decision, value.clone(), None),
            expected,
            "{about:?} {decision:?} {value:?}"
        );
    };
    check(&yes_no, About::Run, Once, None, given(json!(true)));
    check(&yes_no, About::Run, Turn, None, turn(json!(true)));
    check(&yes_no, About::Run, Deny, None, given(json!(false)));
    check(&select, About::Access, Once, None, given(json!("once")));
    check(&select, About::Access, Turn, None, given(json!("turn")));
    check(&select, About::Access, Deny, None, given(json!("no")));
    check(&yes_no, About::Result, Once, None, given(json!(true)));
    check(&yes_no, About::Changes, Deny, None, given(json!(false)));
    check(&text, tool, Once, Some(json!("x")), given(json!("x")));
    check(&text, tool, Turn, Some(json!("x")), turn(json!("x")));
    check(&select, tool, Once, Some(json!("b")), given(json!("b")));
    check(&yes_no, tool, Once, None, given(json!(true)));
    check(&yes_no, tool, Once, Some(json!(false)), given(json!(false)));
    check(
        &text,
        About::EditResult,
        Once,
        Some(json!("x")),
        given(json!("x")),
    );

    let id = || "q_1".to_owned();
    let other = |decisions| {
        Err(NoAnswer::OtherDecision {
            id: id(),
            decisions,
        })
    };
    check(&yes_no, About::Result, Turn, None, other(&["once", "deny"]));
    check(
        &yes_no,
        About::Run,
        Accept,
        None,
        other(&["once", "turn", "deny"]),
    );
    check(&text, tool, Once, None, Err(NoAnswer::NoValue(id())));
    check(
        &yes_no,
        About::Run,
        Once,
        Some(json!(false)),
        Err(NoAnswer::Value(id())),
    );
    let wants = |wants| Err(NoAnswer::OtherValue { id: id(), wants });
    check(&text, tool, Once, Some(json!(7)), wants("text"));
    check(
        &select,
        tool,
        Once,
        Some(json!("c")),
        wants("one of its options"),
    );
    check(
        &text,
        About::Arguments,
        Once,
        Some(json!([])),
        wants("an object"),
    );

    // A reason reaches the assistant.
    let why = decide(&yes_no, About::Run, Deny, None, Some("not now"));
    assert_eq!(why, Ok(Answer::Rejected("not now".to_owned())));
    // A configuration, a server and what it says are accepted by a word of their own.
    for topic in [
        QuestionTopic::Config,
        QuestionTopic::Server,
        QuestionTopic::Definition,
    ] {
        let asked = BoardQuestion::of_host(1, topic, "Sure?", "changes".to_owned());
        assert_eq!(decisions::answer(&asked, Accept, None, None), Ok(yes()));
        for decision in [Once, Turn] {
            let decided = decisions::answer(&asked, decision, None, None);
            assert_eq!(decided, other(&["accept", "deny"]));
        }
    }
}

/// A client of the ask socket.
struct Client {
    lines: BufReader<UnixStream>,
    stream: UnixStream,
    served: Option<thread::JoinHandle<()>>,
}

impl Client {
    fn new(questions: &Arc<Questions>) -> Self {
        let (stream, theirs) = UnixStream::pair().unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let questions = Arc::clone(questions);
        let served = thread::spawn(move || {
            let reader = theirs.try_clone().unwrap();
            theirs
                .set_write_timeout(Some(Duration::from_millis(200)))
                .unwrap();
            questions.serve(reader, Closing(theirs));
        });
        Self {
            lines: BufReader::new(stream.try_clone().unwrap()),
            stream,
            served: Some(served),
        }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stream, "{line}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, request: Value) -> Value {
        self.send(&request.to_string());
        self.next()
    }

    fn watching(questions: &Arc<Questions>) -> Self {
        let mut client = Self::new(questions);
        assert_eq!(client.ask(json!({"do": "watch"}))["ok"], json!({}));
        client
    }

    fn close(mut self) {
        self.stream.shutdown(std::net::Shutdown::Both).unwrap();
        self.served.take().unwrap().join().unwrap();
    }
}

struct Closing(UnixStream);

impl std::io::Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

#[test]
fn requests_are_answered_once_each() {
    let questions = Arc::new(Questions::new());
    let question = run_question("{}");
    let pending = questions.put(&of("stdio"), &ask(&question, About::Run));
    let mut client = Client::new(&questions);
    let list = client.ask(json!({"do": "list", "request": 1}));
    assert_eq!(list["request"], 1);
    assert_eq!(list["ok"]["questions"][0]["id"], "q_1");
    assert_eq!(list["ok"]["questions"][0]["state"], "waiting");
    assert!(list["ok"]["questions"][0].get("context").is_none());
    let shown = client.ask(json!({"do": "show", "id": "q_1", "request": "two"}));
    assert_eq!(shown["request"], "two");
    assert_eq!(shown["ok"]["question"]["context"], "{}");
    let check = |client: &mut Client, request: Value, kind: &str| {
        let reply = client.ask(request.clone());
        assert_eq!(reply["error"]["kind"], kind, "{request}: {reply}");
    };
    check(&mut client, json!({"do": "show", "id": "q_2"}), "unknown");
    check(&mut client, json!({"do": "show", "id": "1"}), "unknown");
    check(&mut client, json!({"do": "dance"}), "not_understood");
    check(&mut client, json!([]), "not_understood");
    let answer = |decision: &str| json!({"do": "answer", "id": "q_1", "decision": decision});
    check(&mut client, answer("accept"), "no_answer");
    check(&mut client, answer("maybe"), "not_understood");
    let reply = client.ask(answer("once"));
    let expected = json!({"id": "q_1", "decision": "once", "state": "waiting"});
    assert_eq!(reply["ok"], expected);
    check(&mut client, answer("once"), "already_answered");
    assert_eq!(pending.wait(LONG, &never(), None), yes());
    // Watching is begun once.
    assert_eq!(client.ask(json!({"do": "watch"}))["ok"], json!({}));
    check(&mut client, json!({"do": "watch"}), "no_answer");
    client.close();
    assert!(!questions.has_listeners());
}

#[test]
fn watchers_are_told() {
    let questions = Arc::new(Questions::new());
    let (one, two) = (run_question("1"), run_question("2"));
    let before = questions.put(&of("stdio"), &ask(&one, About::Run));
    questions.refused(&of("stdio"), &ask(&two, About::Run));
    let mut client = Client::watching(&questions);
    assert!(questions.has_listeners());
    let told = client.next();
    assert_eq!(
        (&told["event"], &told["question"]["id"]),
        (&json!("question"), &json!("q_1"))
    );
    let told = client.next();
    assert_eq!(
        (&told["event"], &told["question"]["id"]),
        (&json!("refused"), &json!("q_2"))
    );
    questions.answer(&before.id(), yes(), "the client").unwrap();
    let told = client.next();
    let expected = json!({"event": "settled", "id": "q_1", "decision": "once", "by": "the client"});
    assert_eq!(told, expected);
    let gone = questions.put(&of("stdio"), &ask(&one, About::Run));
    assert_eq!(client.next()["question"]["id"], "q_3");
    drop(gone);
    assert_eq!(client.next(), json!({"event": "settled", "id": "q_3"}));
    client.close();
}

/// When the last watcher goes, what only they could answer is not parked: it is refused, and can be allowed.
#[test]
fn without_watchers_nobody_waits() {
    let questions = Arc::new(Questions::new());
    let question = run_question("{}");
    let this = ask(&question, About::Run);
    assert!(questions.put_to_watchers(&of("stdio"), &this).is_none());
    let (one, two) = (Client::watching(&questions), Client::watching(&questions));
    let pending = questions.put_to_watchers(&of("stdio"), &this).unwrap();
    let clients_own = questions.put(&of("stdio"), &this);
    one.close();
    assert_eq!(pending.poll(SHORT, &never()), None);
    two.close();
    assert_eq!(pending.wait(LONG, &never(), None), Answer::Unavailable);
    // This one the client was asked, too.
    assert_eq!(clients_own.poll(SHORT, &never()), None);
    let id = pending.id();
    drop(pending);
    assert_eq!(questions.refused(&of("stdio"), &this), id);
    questions.answer(&id, yes(), "me").unwrap();
    let allowed = questions.allowed(&of("stdio"), &this);
    assert_eq!(allowed.map(|(answer, _)| answer), Some(yes()));
}

/// A watcher that does not read is let go, and holds up nobody.
#[test]
fn a_watcher_that_does_not_read_is_dropped() {
    let questions = Arc::new(Questions::new());
    let client = Client::watching(&questions);
    let mut number = 0;
    until("it is let go", || {
        let question = run_question(&format!("{number} {}", "x".repeat(60_000)));
        let pending = questions.put(&of("stdio"), &ask(&question, About::Run));
        questions.answer(&pending.id(), yes(), "me").unwrap();
        let kept = questions.put(&of("stdio"), &ask(&question, About::Run));
        drop(kept);
        number += 1;
        !questions.has_listeners()
    });
    client.close();
}

/// Whatever comes in, lines are bounded, and nothing panics.
#[test]
fn hostile_lines_are_refused() {
    let questions = Arc::new(Questions::new());
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for line in ["", "{", "\u{1}", "{\"do\":\"list\"}}", &deep, "{\"do\":{}}"] {
        let mut client = Client::new(&questions);
        client.send(line);
        let reply = client.next();
        assert_eq!(reply["error"]["kind"], "not_understood", "{reply}");
        // It goes on.
        assert!(client.ask(json!({"do": "list"}))["ok"].is_object());
        client.close();
    }
    // A long name is not sent back.
    let mut client = Client::new(&questions);
    let long = "x".repeat(10_000);
    let reply = client.ask(json!({"do": "list", "request": long}));
    assert_eq!(reply["request"], Value::Null);
    // Without an end there is no line.
    let endless = vec![b'x'; 64 << 10];
    while client.stream.write_all(&endless).is_ok() {}
    client.served.take().unwrap().join().unwrap();
}
