//! Tools that run away, flood, hang and hide. Each call comes to an end, in bounded time and memory.

use std::time::{Duration, Instant};

use jig_engine::Call;
use jig_runtime::ReachedLimit;
use serde_json::json;

use crate::stdio::World;

#[test]
fn a_tool_that_takes_too_long_is_ended() {
    let started = Instant::now();
    let world = World::new(
        "command = { program = 'echo out; echo err >&2; sleep 100', shell = true }\nsandbox.limits.time = '1s'",
    );
    let error = world.error();
    assert_eq!(error.message, "`tool` ran longer than 1s and was ended");
    assert_eq!(
        error.trace,
        [
            "stderr: err",
            "stdout: out",
            "`sandbox.limits.time` sets the limit"
        ]
    );
    assert!(!error.transient);
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn one_that_refuses_to_end_is_killed() {
    let mut world = World::new(
        "command = { program = \"trap '' TERM; while :; do sleep 0.05; done\", shell = true }\nsandbox.limits.time = '500ms'",
    );
    let engine = std::sync::Arc::get_mut(&mut world.engine).unwrap();
    engine.timing.kill_grace = Duration::from_millis(300);
    let started = Instant::now();
    assert_eq!(
        world.error().message,
        "`tool` ran longer than 500ms and was ended"
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_flood_is_ended() {
    for stream in ["1", "2"] {
        let world = World::new(&format!(
            "command = {{ program = 'yes flood >&{stream}', shell = true }}\nsandbox.limits.output = '1MiB'"
        ));
        let error = world.error();
        assert_eq!(
            error.message,
            "`tool` printed more than 1 MiB and was ended"
        );
    }
}

#[test]
fn the_limit_is_told_as_a_type_too() {
    let world = World::new("command = 'yes'\nsandbox.limits.output = '1KiB'");
    let session = world
        .engine
        .start(Call::new("tool", json!({})))
        .unwrap()
        .session;
    let mut seen = 0;
    while session.state().state.status() != jig_proto::StateName::Stopped {
        seen = session.wait(seen, None).number;
    }
    assert_eq!(session.reached(), [ReachedLimit::Output(1024)]);
}

#[test]
fn a_giant_line_is_cut_with_a_marker() {
    let world = World::python(
        "size_threshold = '1KiB'\n",
        "sys.stdout.write('ü' * 5_000_000)",
    );
    let text = world.text();
    assert!(text.starts_with("üüü"));
    assert!(
        text.contains("[truncated, 9766 KB → 1 KB]"),
        "{}",
        &text[text.len() - 60..]
    );
    assert!(text.len() < 1100);
    assert_eq!(text.chars().filter(|c| *c == '\u{fffd}').count(), 0);
}

#[test]
fn a_slow_drip_is_a_result() {
    let world = World::new(
        "command = { program = 'for i in 1 2 3 4 5; do printf $i; sleep 0.05; done', shell = true }",
    );
    assert_eq!(world.text(), "12345");
}

#[test]
fn a_tool_that_closes_its_output_is_waited_for() {
    let world = World::python(
        "sandbox.limits.time = '20s'",
        "os.close(1); os.close(2); time.sleep(0.5); open('ran', 'w').close(); os._exit(3)",
    );
    let error = world.error();
    assert!(
        error.message.contains("execution failed"),
        "{}",
        error.message
    );
    assert!(world.has("ran"));
    let world = World::new(
        "command = { program = 'exec >&- 2>&-; sleep 100', shell = true }\nsandbox.limits.time = '1s'",
    );
    assert_eq!(
        world.error().message,
        "`tool` ran longer than 1s and was ended"
    );
}

/// Whoever inherits the pipe of a tool does not hold up its result, and does not survive it.
#[test]
fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_us_up() {
    let script = r#"
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for _ in range(600):
            open("beat", "w").write(str(time.time()))
            time.sleep(0.05)
    os._exit(0)
while not os.path.exists("beat"): time.sleep(0.01)
print("done")
"#;
    let world = World::python("", script);
    let started = Instant::now();
    assert_eq!(world.text(), "done\n");
    assert!(started.elapsed() < Duration::from_secs(15));
    jig_testkit::until("it is gone", || {
        jig_testkit::working_in(world.root.as_std_path()).is_empty()
    });
}

#[test]
fn terminal_sequences_and_odd_bytes_do_not_reach_anybody() {
    let world = World::python(
        "",
        r#"sys.stdout.buffer.write(b"\x1b[31mred\x1b[0m \xff\xfe \x1b]0;title\x07tab\there\r\nbell\x07 gr\xc3\xbc\xc3\x9fe\x00\n")"#,
    );
    assert_eq!(world.text(), "red \u{fffd}\u{fffd} tab\there\nbell grüße\n");
    // An outcome is read before it is cleaned.
    let world = World::python(
        "",
        r#"print(json.dumps({"type": "error", "message": "\u001b[1mno\u001b[0m", "trace": ["a\u0007b"]}))"#,
    );
    let error = world.error();
    assert_eq!(
        (error.message.as_str(), &error.trace[..]),
        ("no", &["ab".to_owned()][..])
    );
}

#[test]
fn deep_json_is_text() {
    let world = World::python("", "print('{\"a\":' * 5000 + '1' + '}' * 5000)");
    assert!(world.text().starts_with("{\"a\":{\"a\":"));
}

#[test]
fn signals_are_told_in_words() {
    let world = World::python(
        "",
        "sys.stdout.write('half'); sys.stdout.flush(); os.kill(os.getpid(), 11); time.sleep(9)",
    );
    let error = world.error();
    assert_eq!(error.message, "`tool` was killed by SIGSEGV");
    assert_eq!(error.trace, ["stdout: half"]);
}
