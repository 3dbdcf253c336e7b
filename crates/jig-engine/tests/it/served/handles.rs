//! A server's tool as a handle: its progress is its output, its questions are a person's.

use std::time::{Duration, Instant};

use jig_broker::CancelToken;
use jig_engine::{Answer, Asker, Call, Nobody, Reply};
use jig_proto::{Content, HandleReport, Question, StateName, ToolError};
use jig_runtime::OptionalAnswer;
use serde_json::{Value, json};

use crate::served::{Person, Script, World, plain, yes};

const STATEFUL: &str = "[tools.t]\nsource = \"mcp.s\"\nrun = \"unattended\"\nstateful = true\n";

fn command(world: &World, arguments: Value) -> HandleReport {
    match world
        .engine
        .call(Call::new("t", arguments.clone()), &mut Nobody)
    {
        Ok(Reply::Handle(report)) => report,
        other => panic!("{arguments}: {other:?}"),
    }
}

/// Fetches until the handle has stopped.
pub(crate) fn until_stopped(
    world: &World,
    tool: &str,
    id: &str,
    asker: &mut dyn Asker,
) -> HandleReport {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let fetch = json!({"action": "fetch", "id": id, "wait_ms": 1000});
        let report = match world.engine.call(Call::new(tool, fetch), asker) {
            Ok(Reply::Handle(report)) => report,
            other => panic!("{other:?}"),
        };
        if report.state.status() == StateName::Stopped {
            return report;
        }
        assert!(Instant::now() < deadline, "{report}");
    }
}

#[test]
fn progress_is_what_a_handle_says_and_the_result_is_how_it_ends() {
    let script = Script::new(|_, door| {
        door.tell(Content::text("half way"));
        match door.put(Question::yes_no("on", "Go on?"), &|| true) {
            OptionalAnswer::Answered(_) => Ok(Content::text("there")),
            _ => Err(ToolError::new("not there")),
        }
    });
    let world = World::with(STATEFUL, script, &[plain("t")]);
    let mut person = Person::who_says([yes()]);
    let spawn = Call::new("t", json!({"action": "spawn", "id": "h"}));
    let reply = world.engine.call(spawn, &mut person).unwrap();
    let Reply::Handle(report) = reply else {
        panic!("a handle");
    };
    let mut said = report.to_string();
    if report.state.status() != StateName::Stopped {
        said.push_str(&until_stopped(&world, "t", "h", &mut Nobody).to_string());
    }
    assert!(
        said.contains("half way") && said.contains("there"),
        "{said}"
    );
    assert_eq!(
        person.asked.len(),
        1,
        "the person is asked, and not the model"
    );
    let lines = world.lines.take();
    let operations: Vec<&str> = lines.iter().map(|line| line.operation.as_str()).collect();
    assert_eq!(operations, ["spawn", "ask.tool", "mcp.call", "spawn"]);
}

/// The model that drives a handle does not answer what the server asks the person.
#[test]
fn a_model_cannot_answer_for_the_person() {
    let script = Script::new(|_, door| {
        let put = door.put(Question::yes_no("on", "Delete it all?"), &|| true);
        Ok(Content::text(format!("{put:?}")))
    });
    let world = World::with(STATEFUL, script, &[plain("t")]);
    struct Busy;
    impl Asker for Busy {
        fn ask(&mut self, _: &jig_engine::Ask<'_>) -> Answer {
            Answer::Later
        }
    }
    let spawn = Call::new("t", json!({"action": "spawn", "id": "h"}));
    world.engine.call(spawn, &mut Busy).unwrap();
    let apply = Call::new("t", json!({"action": "apply", "id": "h", "input": true}));
    let refused = world.engine.call(apply, &mut Busy).unwrap_err();
    assert!(
        refused.to_string().contains("not the assistant's to give"),
        "{refused}"
    );
    command(&world, json!({"action": "abort", "id": "h"}));
}

#[test]
fn a_handle_takes_no_input_and_ends_when_it_is_told_to() {
    let script = Script::new(|_, door| {
        let token = CancelToken::new();
        let (gone, over) = std::sync::mpsc::channel();
        let _hook = token.on_cancel(move || assert!(gone.send(()).is_ok()));
        door.cancel_by(&token);
        let is_over = over.recv_timeout(Duration::from_secs(60)).is_ok();
        door.no_cancel();
        Err(ToolError::new(format!(
            "cancelled: {is_over}, {}",
            door.give_up()
        )))
    });
    let world = World::with(STATEFUL, script, &[plain("t")]);
    command(&world, json!({"action": "spawn", "id": "h"}));
    let apply = Call::new("t", json!({"action": "apply", "id": "h", "input": "text"}));
    let refused = world.engine.call(apply, &mut Nobody).unwrap_err();
    assert!(refused.to_string().contains("input"), "{refused}");
    let ended = command(&world, json!({"action": "abort", "id": "h"}));
    let ended = match ended.state.status() {
        StateName::Stopped => ended,
        _ => until_stopped(&world, "t", "h", &mut Nobody),
    };
    assert!(
        ended.to_string().contains("cancelled: true, true"),
        "{ended}"
    );
    let line = world.lines.take().pop().unwrap();
    assert_eq!(line.outcome.as_deref(), Some("cancelled"));
}

#[test]
fn a_call_that_is_cancelled_gives_up_its_server() {
    let script = Script::new(|_, door| {
        let token = CancelToken::new();
        let (gone, over) = std::sync::mpsc::channel();
        let _hook = token.on_cancel(move || assert!(gone.send(()).is_ok()));
        door.cancel_by(&token);
        door.tell(Content::text("begun"));
        match over.recv_timeout(Duration::from_secs(60)) {
            Ok(()) => Err(ToolError::new("the call was cancelled")),
            Err(_) => Ok(Content::text("it went on")),
        }
    });
    let world = World::new(script, &[plain("t")]);
    // The call is given up as soon as it says that it has begun.
    struct Impatient(CancelToken);
    impl Asker for Impatient {
        fn ask(&mut self, _: &jig_engine::Ask<'_>) -> Answer {
            Answer::Unavailable
        }
        fn progress(&mut self, _: &str, text: &str) {
            assert_eq!(text, "begun");
            self.0.cancel();
        }
    }
    let cancel = CancelToken::new();
    let mut call = Call::new("s_t", json!({}));
    call.cancel = Some(cancel.clone());
    let error = world.engine.call(call, &mut Impatient(cancel)).unwrap_err();
    assert_eq!(error.to_string(), "the call was cancelled");
}
