//! Who is asked what, while a handle runs.

use std::collections::VecDeque;

use jig_engine::{About, Answer, Ask};

use super::*;

/// Answers in this order, and notes what it was asked.
#[derive(Default)]
struct Person {
    answers: VecDeque<Answer>,
    asked: Vec<(About, String)>,
}

impl Person {
    fn who_says(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            asked: Vec::new(),
        }
    }

    fn questions(&self) -> Vec<&str> {
        self.asked.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        self.asked.push((ask.about, ask.question.text.clone()));
        self.answers.pop_front().unwrap_or(Answer::Unavailable)
    }
}

fn handled(reply: Result<Reply, CallError>) -> HandleReport {
    match reply {
        Ok(Reply::Handle(report)) => report,
        other => panic!("{other:?}"),
    }
}

const MODES: &str = r#"
[tools.careful]
source = "local"
stateful = true
command = "cat"
run = "ask"

[tools.strict]
source = "local"
stateful = true
command = "cat"
run = { spawn = "unattended", apply = "ask", abort = "skip" }

[tools.private]
source = "local"
stateful = true
command = { program = "sh", args = ["-c", "echo secret; sleep 600"] }
run = "unattended"
result = "ask"
"#;

#[test]
fn s080_run_modes_are_by_action() {
    let shop = Workshop::new(MODES, &[]);
    let yes = || Answer::Given(json!(true));
    let mut person = Person::who_says([yes()]);
    handled(shop.ask("careful", json!({"action": "spawn"}), &mut person));
    let apply = json!({"action": "apply", "id": "h_1", "input": "x\n"});
    handled(shop.ask("careful", apply, &mut person));
    handled(shop.ask(
        "careful",
        json!({"action": "fetch", "id": "h_1"}),
        &mut person,
    ));
    handled(shop.ask(
        "careful",
        json!({"action": "abort", "id": "h_1"}),
        &mut person,
    ));
    assert_eq!(person.questions(), ["Run `careful`?"]);

    let mut person = Person::who_says([yes()]);
    let spawned = handled(shop.ask("strict", json!({"action": "spawn"}), &mut person));
    let id = spawned.id.as_str();
    let apply = json!({"action": "apply", "id": id, "input": "x\n"});
    handled(shop.ask("strict", apply.clone(), &mut person));
    assert_eq!(person.questions(), ["Let `strict` do `apply`?"]);
    let nobody = shop.refusal("strict", apply);
    assert!(nobody.contains("nobody can be asked"), "{nobody}");
    let skipped = shop.refusal("strict", json!({"action": "abort", "id": id}));
    assert!(skipped.contains("skipped"), "{skipped}");
}

/// Consent for the turn is for the action that was asked about, by a rule on what it is given.
#[test]
fn s080_consent_for_the_turn_is_by_action_and_rule() {
    let shop = Workshop::new(
        r#"
        [tools.guarded]
        source = "local"
        stateful = true
        command = "cat"
        run = { spawn = "ask", apply = [{ arg = "/input", equals = "go\n", mode = "ask" }, { mode = "skip" }] }
        "#,
        &[],
    );
    let for_turn = || Answer::GivenForTurn(json!(true));
    let mut person = Person::who_says([for_turn(), for_turn()]);
    for _ in 0..2 {
        handled(shop.ask("guarded", json!({"action": "spawn"}), &mut person));
    }
    assert_eq!(person.questions(), ["Run `guarded`?"]);
    let apply = |input: &str| json!({"action": "apply", "id": "h_1", "input": input});
    for _ in 0..2 {
        handled(shop.ask("guarded", apply("go\n"), &mut person));
    }
    assert_eq!(person.asked.len(), 2);
    let skipped = shop.refusal("guarded", apply("stop\n"));
    assert!(skipped.contains("skipped"), "{skipped}");
}

#[test]
fn a_rejection_has_a_reason() {
    let shop = Workshop::new(MODES, &[]);
    let mut person = Person::who_says([Answer::Rejected("use the other one".to_owned())]);
    let refused = shop.ask("careful", json!({"action": "spawn"}), &mut person);
    let expected = "the run of `careful` was declined: use the other one";
    assert_eq!(refused.unwrap_err().to_string(), expected);
    assert!(shop.engine.handles.list().is_empty());
}

#[test]
fn what_it_says_is_held_back_if_the_result_mode_says_so() {
    let shop = Workshop::new(MODES, &[]);
    let mut person = Person::who_says([Answer::Given(json!(false))]);
    let spawned = handled(shop.ask("private", json!({"action": "spawn"}), &mut person));
    // The caller learns what it needs to go on, and nothing that the tool said.
    assert_eq!(spawned.state.status(), StateName::Running);
    assert!(!spawned.to_string().contains("secret"), "{spawned}");
    assert_eq!(person.asked.len(), 1);

    let skip = MODES
        .replace("result = \"ask\"", "result = \"skip\"")
        .replace("sleep 600", "exit 3");
    let shop = Workshop::new(&skip, &[]);
    let mut told = vec![
        shop.report("private", json!({"action": "spawn"}))
            .to_string(),
    ];
    let id = "h_1".parse().unwrap();
    if let Some(session) = shop.engine.handles.session(&id) {
        session.wait(u64::MAX - 1, Some(Duration::from_secs(30)));
        // Input for a tool that has stopped gives its report, too.
        let apply = json!({"action": "apply", "id": "h_1", "input": "x"});
        let reply = shop.ask("private", apply, &mut Nobody);
        told.push(match reply {
            Ok(reply) => reply.into_content().to_text(),
            Err(error) => error.to_string(),
        });
    }
    assert!(told.iter().all(|text| !text.contains("secret")), "{told:?}");
    assert!(
        told.iter().any(|text| text.contains("\"exit_code\":3")),
        "{told:?}"
    );
}

#[test]
fn await_is_no_way_round_the_run_mode_of_fetch() {
    let config = r#"
[tools.closed]
source = "local"
stateful = true
command = { program = "sh", args = ["-c", "echo secret"] }
run = { spawn = "unattended", fetch = "skip" }
result = "unattended"

[tools.open]
source = "local"
stateful = true
command = { program = "sh", args = ["-c", "sleep 0.2; echo hello"] }
run = "unattended"
"#;
    let shop = Workshop::new(config, &[]);
    let opened = shop.report("open", json!({"action": "spawn"}));
    shop.report("closed", json!({"action": "spawn", "id": "closed"}));
    if opened.state.status() == StateName::Stopped {
        return;
    }
    let ids: Vec<String> = shop
        .engine
        .handles
        .list()
        .iter()
        .map(|one| one.id.to_string())
        .collect();
    let reply = shop
        .ask("await", json!({"ids": ids, "mode": "all"}), &mut Nobody)
        .unwrap();
    let text = reply.into_content().to_text();
    assert!(text.contains("hello") && !text.contains("secret"), "{text}");
}

#[test]
fn the_answers_of_one_tool_are_not_those_of_another() {
    let shop = asking();
    let mut person = Person::default();
    let report = spawned(&shop, "asking", &mut person);
    assert_eq!(report.state.status(), StateName::Waiting);
    // `answered` knows an answer to a question of this name; the handle is not its own.
    for call in [
        json!({"action": "fetch", "id": "h_1"}),
        json!({"action": "apply", "id": "h_1", "input": "x"}),
    ] {
        let refusal = shop.refusal("answered", call);
        assert!(refusal.contains("`asking`"), "{refusal}");
    }
    let still = shop.report("asking", json!({"action": "fetch", "id": "h_1"}));
    assert_eq!(still.state.status(), StateName::Waiting);
}

#[test]
fn a_question_can_be_left_open_for_later() {
    let shop = asking();
    let mut person = Person::who_says([Answer::Later]);
    let report = handled(shop.ask("writing", json!({"action": "spawn"}), &mut person));
    let id = report.id;
    let pending = jig_testkit::until_some("it asks", || shop.engine.handles.question(&id));
    // Meanwhile it is not the assistant's to answer.
    let mut person = Person::who_says([Answer::Later]);
    let apply = json!({"action": "apply", "id": "h_1", "input": "once"});
    let refused = shop.ask("writing", apply, &mut person);
    assert!(
        matches!(refused, Err(CallError::NotYours { .. })),
        "{refused:?}"
    );
    shop.engine
        .handles
        .answer(&id, pending.number, json!("once"))
        .unwrap();
    let (stopped, _) = shop.until("writing", "h_1", StateName::Stopped);
    assert_eq!(result(&stopped), Ok("written".to_owned()));
    follow::follow(
        "fetch `{id}` to see what came of it",
        &refused.unwrap_err().to_string(),
        "written",
    );
}

const ASKING: &str = r#"
[tools.asking]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 asking.py"

[tools.asking_a_person]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 asking.py"
questions.sure = { target = "user" }

[tools.asking_once]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 asking.py"
questions.sure = { target = "user", remember = true }

[tools.answered]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 asking.py"
questions.sure = { target = "user", answer = "by the file" }

[tools.writing]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 writing.py"
"#;

const HEAD: &str = r#"
import json, sys
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); sys.stdout.flush()
def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
def state(**params):
    send(method="state", params=params)
init = receive()
"#;

/// Asks one question, and ends with the answer.
const ASKS: &str = r#"
question = {"id": "sure", "text": "Sure?", "schema": {"type": "string"}}
state(type="waiting", content="Now then.", question=question)
while True:
    message = receive()
    if message["method"] == "apply":
        break
state(type="stopped", result="answer: " + str(message["params"]["input"]))
"#;

/// Wants to write a file, which no rule covers.
const WRITES: &str = r#"
send(id=1, method="fs.write", params={"path": "new.txt", "content": "text"})
answer = receive()
while answer.get("id") != 1:
    answer = receive()
state(type="stopped", result="written" if "result" in answer else "refused: " + answer["error"]["message"])
"#;

fn asking() -> Workshop {
    let (asks, writes) = (format!("{HEAD}{ASKS}"), format!("{HEAD}{WRITES}"));
    Workshop::new(ASKING, &[("asking.py", &asks), ("writing.py", &writes)])
}

/// Where the tool stands after it was spawned and is done with what it can do by itself.
fn spawned(shop: &Workshop, tool: &str, person: &mut Person) -> HandleReport {
    let mut report = handled(shop.ask(tool, json!({"action": "spawn"}), person));
    let deadline = Instant::now() + Duration::from_secs(60);
    while report.state.status() == StateName::Running {
        assert!(Instant::now() < deadline, "it goes on");
        let fetch = json!({"action": "fetch", "id": report.id, "wait_ms": 1000});
        report = handled(shop.ask(tool, fetch, person));
    }
    report
}

#[test]
fn s034_s075_v124_the_one_who_drives_it_answers() {
    let shop = asking();
    let mut person = Person::default();
    let waiting = spawned(&shop, "asking", &mut person);
    let ToolState::Waiting { question, content } = &waiting.state else {
        panic!("{waiting:?}");
    };
    assert_eq!(
        (question.id.as_str(), question.text.as_str()),
        ("sure", "Sure?")
    );
    assert_eq!(content.to_text(), "Now then.");
    let apply = json!({"action": "apply", "id": waiting.id, "input": "yes"});
    let applied = handled(shop.ask("asking", apply, &mut person));
    let stopped = match applied.state.status() {
        StateName::Stopped => applied,
        _ => shop.until("asking", "h_1", StateName::Stopped).0,
    };
    assert_eq!(result(&stopped), Ok("answer: yes".to_owned()));
    assert!(person.asked.is_empty());
}

#[test]
fn j016_a_question_for_a_person_goes_to_the_person() {
    let shop = asking();
    let mut person = Person::who_says([Answer::Given(json!("by hand"))]);
    let stopped = spawned(&shop, "asking_a_person", &mut person);
    assert_eq!(result(&stopped), Ok("answer: by hand".to_owned()));
    assert_eq!(person.questions(), ["Sure?"]);

    // The answer of an assistant does not count, whatever it is.
    let mut person = Person::default();
    let report = handled(shop.ask("asking_a_person", json!({"action": "spawn"}), &mut person));
    if report.state.status() == StateName::Waiting {
        let apply = json!({"action": "apply", "id": report.id, "input": "mine"});
        let refused = shop.ask("asking_a_person", apply, &mut person);
        assert!(refused.is_err(), "{refused:?}");
    }
}

#[test]
fn j016_known_answers_come_first_and_some_are_remembered() {
    let shop = asking();
    let mut person = Person::default();
    let stopped = spawned(&shop, "answered", &mut person);
    assert_eq!(result(&stopped), Ok("answer: by the file".to_owned()));
    assert!(person.asked.is_empty());

    let mut person = Person::who_says([Answer::Given(json!("first"))]);
    for _ in 0..3 {
        let stopped = spawned(&shop, "asking_once", &mut person);
        assert_eq!(result(&stopped), Ok("answer: first".to_owned()));
    }
    assert_eq!(person.asked.len(), 1);

    // Or the person says so.
    let mut person = Person::who_says([Answer::GivenForTurn(json!("always"))]);
    for _ in 0..2 {
        let stopped = spawned(&shop, "asking_a_person", &mut person);
        assert_eq!(result(&stopped), Ok("answer: always".to_owned()));
    }
    assert_eq!(person.asked.len(), 1);
}

#[test]
fn a_question_that_a_person_rejects_ends_the_tool_with_the_reason() {
    let shop = asking();
    let mut person = Person::who_says([Answer::Rejected("not on a Friday".to_owned())]);
    let stopped = spawned(&shop, "asking_a_person", &mut person);
    let error = result(&stopped).unwrap_err();
    assert!(error.contains("not on a Friday"), "{error}");
}

#[test]
fn the_policy_asks_a_person_and_never_the_assistant() {
    let shop = asking();
    let mut person = Person::who_says([Answer::Given(json!("once"))]);
    let stopped = spawned(&shop, "writing", &mut person);
    assert_eq!(result(&stopped), Ok("written".to_owned()));
    assert!(
        matches!(person.asked.as_slice(), [(About::Access, _)]),
        "{:?}",
        person.asked
    );
    std::fs::remove_file(shop.root.join("new.txt")).unwrap();

    // Nobody there: it is refused, and the assistant is never shown the question.
    let stopped = spawned(&shop, "writing", &mut Person::default());
    let said = result(&stopped).unwrap();
    assert!(said.starts_with("refused: "), "{said}");
    assert!(!shop.root.join("new.txt").exists());

    // Somebody says no, and why.
    let mut person = Person::who_says([Answer::Rejected("that file is mine".to_owned())]);
    let said = result(&spawned(&shop, "writing", &mut person)).unwrap();
    assert!(said.contains("that file is mine"), "{said}");
}

const EARLY: &str = r#"
[tools.heedful]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 heedful.py"
questions.sure = { target = "user" }

[tools.careless]
source = "local"
runtime = "vfs"
run = "unattended"
stateful = true
command = "python3 careless.py"
questions.sure = { target = "user" }
"#;

/// Keeps what it is given until there is a file `go`, and then asks.
const ASKS_LATE: &str = r#"
import time
given = []
state(type="running", content="begun")
number, found = 0, False
while not found:
    time.sleep(0.01)
    number += 1
    send(id=number, method="fs.exists", params={"path": "go"})
    while (message := receive()).get("id") != number:
        given.append(message)
    found = message["result"]["exists"]
question = {"id": "sure", "text": "Delete all?", "schema": {"type": "boolean"}}
state(type="waiting", question=question)
while not any(is_answer(message) for message in given):
    given.append(receive())
(answer,) = [message for message in given if is_answer(message)][:1]
others = [message["params"]["input"] for message in given if message is not answer]
state(type="stopped", result=json.dumps([answer["params"]["input"], others]))
"#;

/// The assistant can't say yes in advance: what it sends before the question is input, and the person is
/// asked all the same.
#[test]
fn v122_s034_input_that_came_before_a_question_is_no_answer() {
    let heeds = "def is_answer(message): return message['params'].get('question') == 'sure'";
    let heeds_not = "def is_answer(message): return message['method'] == 'apply'";
    let tool = |is_answer: &str| format!("{HEAD}{is_answer}{ASKS_LATE}");
    let files = [
        ("heedful.py", &*tool(heeds)),
        ("careless.py", &*tool(heeds_not)),
    ];
    let run = |tool: &str| {
        let shop = Workshop::new(EARLY, &files);
        let mut person = Person::who_says([Answer::Given(json!(false))]);
        handled(shop.ask(tool, json!({"action": "spawn", "id": "it"}), &mut person));
        let apply = json!({"action": "apply", "id": "it", "input": true});
        let report = handled(shop.ask(tool, apply, &mut person));
        assert_eq!(report.state.status(), StateName::Running, "{report:?}");
        std::fs::write(shop.root.join("go"), "").unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let stopped = loop {
            let fetch = json!({"action": "fetch", "id": "it", "wait_ms": 1000});
            let report = handled(shop.ask(tool, fetch, &mut person));
            if report.state.status() == StateName::Stopped {
                break report;
            }
            assert!(Instant::now() < deadline, "{tool} goes on: {report:?}");
        };
        let said: Value = serde_json::from_str(&result(&stopped).unwrap()).unwrap();
        (said, person)
    };
    let (said, person) = run("heedful");
    assert_eq!(said, json!([false, [true]]));
    assert_eq!(person.questions(), ["Delete all?"]);
    // A tool that does not look at `question` takes it, which shows that it was there before.
    let (said, _) = run("careless");
    assert_eq!(said, json!([true, []]));
}
