//! Plain programs on pipes.

use std::time::{Duration, Instant};

use jig_proto::{StateName, View};
use jig_runtime::{ApplyError, Delivery, ReachedLimit, Runtime as _, StdioRuntime};
use serde_json::json;

use crate::live::support::{Case, LIMIT};

/// S-024: what a program says first is there with the first look, and nobody waits for longer than that.
#[test]
fn s024_the_first_output_settles() {
    let tool = Case::script("echo ready; exec cat").start();
    let update = tool
        .session
        .settle(tool.session.state().number, 0, &Default::default());
    assert_eq!(update.state.status(), StateName::Running);
    let output = tool.look(View::New, 0);
    assert_eq!(output.text, "ready\n");
    assert_eq!(output.seq, tool.session.seq());
    assert_eq!((output.lost, output.left, output.terminal), (0, 0, None));
    assert!(tool.look(View::New, output.seq).text.is_empty());
}

/// S-033: input to a running program is what it reads; the forms of input are those of `jig_pty::Input`.
#[test]
fn s033_input_reaches_the_program() {
    let tool = Case::program("/bin/cat", &[]).start();
    tool.apply("no line end, ");
    tool.apply(json!({"line": "grüße"}));
    tool.apply(json!([{"text": "and "}, 7, true, {"line": ""}]));
    tool.until_said("no line end, grüße\nand 7true\n");
    tool.apply(json!({"end": true}));
    assert_eq!(tool.result().unwrap(), "exited with code 0");
    assert_eq!(tool.session.exit_code(), Some(0));
}

/// S-033: a shell on pipes is a session of commands.
#[test]
fn s033_bash_keeps_its_state_between_inputs() {
    let tool = Case::program("/bin/bash", &[]).start();
    tool.apply(json!({"line": "x=6; echo first"}));
    tool.until_said("first\n");
    let seq = tool.session.seq();
    tool.apply(json!({"line": "echo $((x * 7)); echo oops >&2"}));
    tool.until_said("oops\n");
    assert_eq!(tool.look(View::New, seq).text, "42\noops\n");
    tool.apply(json!({"line": "exit 3"}));
    let error = tool.result().unwrap_err();
    assert_eq!(error.message, "`tool` exited with code 3");
    assert_eq!(tool.session.exit_code(), Some(3));
}

/// S-033: a python program that asks line by line.
#[test]
fn s033_python_reads_lines() {
    let script = "name = input('name? '); print('hello', name, flush=True); input()";
    let tool = Case::program("python3", &["-c", script]).start();
    tool.until_said("name? ");
    tool.apply(json!({"line": "Ada"}));
    tool.until_said("hello Ada\n");
}

/// Wrong input is told at once, and the program hears nothing of it.
#[test]
fn s033_wrong_input_is_refused_at_once() {
    let tool = Case::program("/bin/cat", &[]).start();
    let seen = tool.session.state().number;
    let apply = |input| tool.session.apply(seen, input).unwrap_err();
    assert!(matches!(apply(json!({"lime": "x"})), ApplyError::Input(_)));
    assert!(matches!(apply(json!(null)), ApplyError::Input(_)));
    assert!(matches!(
        apply(json!({"key": "ctl-c"})),
        ApplyError::Input(_)
    ));
    assert!(matches!(apply(json!({"key": "up"})), ApplyError::Send(_)));
    let resize = json!({"resize": {"rows": 10, "cols": 10}});
    assert!(matches!(apply(resize), ApplyError::Send(_)));
    tool.apply(json!({"line": "x"}));
    assert_eq!(tool.until_said("x\n"), "x\n");
}

/// Keys that a terminal makes signals of are signals here too.
#[test]
fn s033_ctrl_c_is_a_signal() {
    let script = "trap 'echo caught' INT; echo up; while :; do sleep 0.05; done";
    let tool = Case::script(script).start();
    tool.until_said("up\n");
    tool.apply(json!({"key": "ctrl-c"}));
    tool.until_said("caught\n");
}

/// A program that does not read cannot be fed without end.
#[test]
fn input_that_nobody_reads_is_bounded() {
    let tool = Case::script("echo up; exec sleep 1000").start();
    tool.until_said("up");
    let seen = tool.session.state().number;
    let part = "x".repeat(256 * 1024);
    let full = (0..16).find_map(|_| tool.session.apply(seen, part.as_str().into()).err());
    assert!(matches!(full, Some(ApplyError::Send(_))), "{full:?}");
}

/// A call that is not stateful takes no input while it runs.
#[test]
fn s031_a_one_shot_call_takes_no_input() {
    let case = Case {
        stateful: false,
        ..Case::script("read -r line; echo \"end $line\"")
    };
    let tool = case.start();
    let refused = tool.session.apply(1, "x".into());
    let is_late = matches!(refused, Err(ApplyError::NotTaken | ApplyError::NotRunning));
    assert!(is_late, "{refused:?}");
    assert_eq!(tool.result().unwrap(), "end \n");
}

/// X-61: the call is the first line, and the input stays open after it; also a call that is larger than what
/// may wait for a program.
#[test]
fn x61_the_call_comes_first_and_input_after_it() {
    let script = r#"read -r call; echo "${#call}"; read -r more; echo "more: $more""#;
    let large = "y".repeat(3 << 20);
    let case = Case {
        delivery: Delivery::Stdin,
        arguments: json!({ "text": large }),
        ..Case::program("/bin/bash", &["-c", script])
    };
    let tool = case.start();
    let said = tool.until("the length", |said| said.contains('\n'));
    assert!(
        said.trim().parse::<usize>().unwrap() > large.len(),
        "{said}"
    );
    tool.apply(json!({"line": "z"}));
    tool.until_said("more: z\n");
}

/// S-040, S-041: an outcome as the whole output is the result, and not shown as output; other text is not.
#[test]
fn s040_a_printed_outcome_is_the_result() {
    let check = |printed: &str, shown: &str, expected: Result<&str, &str>| {
        let tool = Case::program("/bin/sh", &["-c", "printf '%s' \"$1\"", "sh", printed]).start();
        let result = tool.result().map_err(|error| error.message);
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(result, expected, "{printed}");
        assert_eq!(tool.said(), shown, "{printed}");
    };
    check(r#"{"type":"success","content":"done"}"#, "", Ok("done"));
    check(r#"{"type":"stopped","result":"done"}"#, "", Ok("done"));
    check(
        r#"{"type":"error","message":"no","trace":[],"transient":false}"#,
        "",
        Err("no"),
    );
    let ended = Ok("exited with code 0");
    check(r#"{"some":"json"}"#, r#"{"some":"json"}"#, ended);
    check("{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n", ended);
    check("text", "text", ended);
    check("", "", ended);
}

/// A program that goes on after an object, or takes its time with one, is shown all the same.
#[test]
fn objects_are_held_back_only_for_a_moment() {
    let tool = Case::script(r#"echo '{"event":"start"}'; exec cat"#).start();
    tool.until_said("{\"event\":\"start\"}\n");
    tool.apply(json!({"line": "x"}));
    tool.until_said("x\n");
}

/// S-034, S-036: a program that asks and ends is waiting; the answer runs it again. What answers another
/// question is refused.
#[test]
fn s036_an_answer_runs_the_program_again() {
    let question =
        r#"{"type":"needs_input","question":{"id":"sure","text":"Sure?","answer_type":"boolean"}}"#;
    let script = r#"
echo "run" >&2
case "$1" in *sure*) echo "it is $1"; exec cat ;; *) printf '%s' "$2" ;; esac"#;
    let case = Case::program("/bin/sh", &["-c", script, "sh"]);
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut plan = case.plan(folder.path());
    let command = plan.command.as_mut().unwrap();
    command
        .args
        .push(jig_runtime::CommandWord::parse("{{tool.answers}}"));
    command
        .args
        .push(jig_runtime::CommandWord::Literal(question.to_owned()));
    let session = StdioRuntime.start(plan).unwrap();
    let tool = crate::live::support::Tool { session, folder };

    let asked = tool.until_status(StateName::Waiting);
    assert_eq!(tool.said(), "run\n", "the question is no output");
    let early = tool.session.apply(asked.number - 1, true.into());
    assert!(matches!(early, Err(ApplyError::Changed)), "{early:?}");
    tool.session.apply(asked.number, true.into()).unwrap();
    assert_eq!(tool.session.state().state.status(), StateName::Running);
    // A second answer to the same question is no input.
    let late = tool.session.apply(asked.number, true.into());
    assert!(matches!(late, Err(ApplyError::Changed)), "{late:?}");
    tool.until_said("it is {\"sure\":true}\n");
    tool.apply(json!({"line": "and goes on"}));
    tool.until_said("and goes on\n");
}

/// A secret does not get through, in however many pieces it is printed; a prompt that only begins like one
/// is there when more comes, and others at once.
#[test]
fn secrets_are_left_out_of_the_stream() {
    let script = r#"
half=${TOKEN%????????}
printf 'value: %s' "$half"; sleep 0.3; printf '%s\n' "${TOKEN#$half}"
printf '\033[1m%s' "$half" >&2; sleep 0.1; printf '\033[0m%s\n' "${TOKEN#$half}" >&2
printf 'go on? '; read -r line; echo "$TOKEN"; exec cat"#;
    let case = Case {
        token: Some("sk-abcdefgh-0123456789"),
        ..Case::script(script)
    };
    let tool = case.start();
    let said = tool.until("both", |said| {
        said.contains("go on? ") && said.matches("[REDACTED]").count() == 2
    });
    assert!(said.contains("value: [REDACTED]\n"), "{said}");
    assert!(
        !said.contains("abcdefgh") && !said.contains("0123"),
        "{said}"
    );
    tool.apply(json!({"line": "yes"}));
    let said = tool.until("a third", |said| said.matches("[REDACTED]").count() == 3);
    assert!(!said.contains("sk-"), "{said}");
}

/// What a program draws is no content, also if the pieces break its sequences.
#[test]
fn control_sequences_are_left_out_of_the_stream() {
    let script = r#"
printf '\033[3'; sleep 0.1; printf '1mred\033'; sleep 0.1; printf '[0m\n10%%\r20%%\r'; sleep 0.1
printf '\nt\303'; sleep 0.1; printf '\274r \033]0;title'; sleep 0.1; printf '\007end\n'; exec cat"#;
    let tool = Case::script(script).start();
    assert_eq!(tool.until_said("end\n"), "red\n10%\n20%\ntür end\n");
}

/// A program that prints without end keeps nobody from looking, and its memory is bounded.
#[test]
fn a_flood_keeps_nobody_waiting() {
    let tool = Case::program("/usr/bin/yes", &["0123456789012345678901234567890"]).start();
    tool.until_said("0123");
    let number = tool.session.state().number;
    let mut seq = 0;
    for _ in 0..200 {
        let start = Instant::now();
        let update = tool.session.wait_news(number, seq, Some(LIMIT));
        let output = tool.look(View::New, seq);
        assert!(output.seq > seq, "{update:?}");
        assert!(output.text.len() <= 256 * 1024);
        seq = output.seq;
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    // Output is no change of state: who waits for that is not woken.
    let start = Instant::now();
    let update = tool.session.wait(number, Some(Duration::from_millis(300)));
    assert_eq!(update.number, number);
    assert!(start.elapsed() >= Duration::from_millis(300));
    // It never comes to rest, and is shown all the same.
    let start = Instant::now();
    tool.settled(seq);
    assert!(start.elapsed() < Duration::from_secs(30));
    let start = Instant::now();
    tool.session.abort();
    tool.result().unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// A burst with short gaps is one answer.
#[test]
fn s024_a_burst_settles_as_one() {
    let script = "read -r go; for i in 1 2 3 4 5; do echo $i; sleep 0.02; done; exec cat";
    let tool = Case::script(script).start();
    tool.apply(json!({"line": "go"}));
    assert_eq!(tool.settled(0), "1\n2\n3\n4\n5\n");
}

/// A limit that somebody declared holds for sessions too.
#[test]
fn declared_limits_end_a_session() {
    let check = |set: &dyn Fn(&mut jig_runtime::Plan), script: &str, expected: ReachedLimit| {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut plan = Case::script(script).plan(folder.path());
        set(&mut plan);
        let session = StdioRuntime.start(plan).unwrap();
        let tool = crate::live::support::Tool { session, folder };
        let error = tool.result().unwrap_err();
        assert!(error.message.contains(&expected.to_string()), "{error:?}");
        assert_eq!(tool.session.reached(), [expected]);
    };
    let output = |plan: &mut jig_runtime::Plan| plan.limits.output = Some(1 << 20);
    check(&output, "exec yes", ReachedLimit::Output(1 << 20));
    let second = Duration::from_millis(600);
    let time = |plan: &mut jig_runtime::Plan| plan.limits.time = Some(second);
    check(&time, "exec cat", ReachedLimit::Time(second));
}

/// What a session uses can be asked while it runs.
#[test]
fn usage_is_that_of_the_tree() {
    let tool = Case::script("sleep 1000 & sleep 1000 & wait").start();
    tool.until_status(StateName::Running);
    crate::live::support::until("three processes", || {
        tool.session.usage().is_some_and(|usage| usage.tasks >= 3)
    });
    assert!(tool.session.usage().unwrap().memory > 0);
    assert!(tool.session.pid().is_some());
    assert!(!tool.session.is_terminal());
    tool.session.abort();
    tool.result().unwrap_err();
    assert_eq!(tool.session.usage(), None);
    assert_eq!(tool.session.pid(), None);
}
