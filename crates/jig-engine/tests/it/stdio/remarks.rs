//! Mistakes of a run that nothing refused: the result says what happened.

use jig_engine::{Answer, Ask, Asker, Call, CallError};
use jig_proto::ToolError;
use serde_json::json;
use toml::Value;

use crate::stdio::World;

/// Listens for what a result does not say.
#[derive(Default)]
struct Listens(Vec<String>);

impl Asker for Listens {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        Answer::Unavailable
    }

    fn note(&mut self, _: &str, text: &str) {
        self.0.push(text.to_owned());
    }
}

fn world(script: &str, settings: &str) -> World {
    let script = Value::String(script.to_owned());
    World::new(&format!(
        "command = {{ program = 'sh', args = ['-c', {script}] }}\n{settings}"
    ))
}

fn failure(world: &World) -> ToolError {
    match world.call(json!({})) {
        Err(CallError::Tool(error)) => error,
        other => panic!("it should fail: {other:?}"),
    }
}

#[track_caller]
fn says(error: &ToolError, words: &str) {
    let is_said = error.trace.iter().any(|cause| cause.contains(words));
    assert!(is_said, "{error:#?}");
}

#[test]
fn a_process_in_the_background_is_named_when_it_is_ended() {
    let told = "`sleep` was still running in the background and was ended with the call";
    let hint = "hint: to wait for it, end the script with `wait`; to keep it longer than a call, set `stateful = true` for \
                the tool and spawn it";
    let expected = format!("{told}\n{hint}");
    // It is a copy of the shell at first.
    let leave = "sleep 300 > /dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done";
    let world_of_success = world(&format!("{leave}; echo started"), "");
    let mut listens = Listens::default();
    let reply = world_of_success
        .engine
        .call(Call::new("tool", json!({})), &mut listens);
    assert!(reply.is_ok(), "{reply:?}");
    assert_eq!(listens.0, [expected]);
    let error = failure(&world(&format!("{leave}; exit 3"), ""));
    says(&error, told);
    says(&error, hint);
    // One that is waited for is none.
    let mut listens = Listens::default();
    let waited = world("sleep 0.1 & wait; true | cat; echo done", "");
    let reply = waited
        .engine
        .call(Call::new("tool", json!({})), &mut listens);
    assert!(reply.is_ok(), "{reply:?}");
    assert_eq!(listens.0, Vec::<String>::new());
}

#[test]
fn a_server_that_nobody_can_reach_is_told_when_its_time_is_over() {
    let server = "exec python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 8123)); time.sleep(300)'";
    let error = failure(&world(server, "sandbox.limits = { time = '4s' }\n"));
    says(
        &error,
        "`tool` listens on port 8123 of a network of its own",
    );
    says(&error, "start both in one command: sh -c 'SERVER & CLIENT'");
    // The gateway of a tool with a network listens, too, and is not the tool.
    let rules =
        "sandbox.limits = { time = '2s' }\naccess.net = [{ host = 'a.example', allow = true }]\n";
    let error = failure(&world("exec sleep 300", rules));
    let listens = error.trace.iter().any(|cause| cause.contains("listens"));
    assert!(!listens, "{error:#?}");
}

#[test]
fn a_program_that_finds_nothing_to_read_is_told_why() {
    let error = failure(&world("python3 -c 'input(\"Name: \")'", ""));
    says(&error, "the standard input of `tool` is empty");
    says(
        &error,
        "hint: to answer it, set `stateful = true` for it, spawn it",
    );
    let error = failure(&world("echo no; exit 1", ""));
    assert!(
        !error.trace.iter().any(|cause| cause.contains("input")),
        "{error:#?}"
    );
}
