//! Stateful tools of the VFS protocol: the same tool on both SDKs and inside jig.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jig_proto::{StateName, ToolState};
use jig_runtime::{ApplyError, AskedBy, BuiltinRuntime, Timing};
use serde_json::{Value, json};

use crate::live::support::{Case, Tool, until};

#[path = "../../../examples/stager/tool.rs"]
mod stager;

/// Who runs the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rust,
    Python,
    Builtin,
}

const ALL: [Kind; 3] = [Kind::Rust, Kind::Python, Kind::Builtin];

const BUILTIN: BuiltinRuntime = BuiltinRuntime {
    names: &["tool"],
    run: |_, host| Some(stager::stage(host)),
};

impl Kind {
    fn case(self, arguments: Value) -> Case {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sdk = source.join("../../sdk/python/src").canonicalize().unwrap();
        let script = format!(
            "import sys\nsys.path.insert(0, {:?})\n{}",
            sdk.to_str().unwrap(),
            include_str!("stager.py")
        );
        let case = match self {
            Self::Rust => Case::program(example("stager").to_str().unwrap(), &[]),
            Self::Python => Case::program("python3", &["-B", "-c", &script]),
            Self::Builtin => Case::program("none", &[]),
        };
        Case {
            arguments,
            system: vec![sdk],
            commands: Some(vec!["cat", "sleep"]),
            ..case
        }
    }

    fn start(self, case: Case) -> Tool {
        let files = [("hunks.txt", "one\ntwo\nthree\n")];
        let case = Case {
            files: files.to_vec(),
            ..case
        };
        match self {
            Self::Builtin => case.start_builtin(BUILTIN),
            _ => case.start_vfs(),
        }
    }

    fn stager(self) -> Tool {
        self.start(self.case(json!({})))
    }

    fn talker(self, program: &str) -> Tool {
        let tool = self.start(self.case(json!({ "talk": program })));
        tool.until_said("talk");
        tool
    }
}

/// The example of this name, which is built with the tests.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(name)
}

/// V-102, V-121 to V-127, V-193: spawn, look, apply, answer, and the result, over one channel.
#[test]
fn v193_a_stateful_tool_from_spawn_to_its_result() {
    for kind in ALL {
        let tool = kind.stager();
        // V-123: what it says is there, as it said it.
        tool.until_said("Stage this hunk? one");
        let first = tool.settled(0);
        assert_eq!(first, "Stage this hunk? one", "{kind:?}");
        let seq = tool.session.seq();

        // V-122: input. V-127: requests before the next state.
        tool.apply("many");
        tool.until_said("two");
        assert_eq!(tool.settled(seq), "Stage this hunk? two", "{kind:?}");
        assert!(tool.has("one.4"), "{kind:?}");
        let seq = tool.session.seq();

        // V-124: a question of the tool, and its answer.
        tool.apply("ask");
        let asked = tool.until_status(StateName::Waiting);
        assert_eq!(asked.asker, Some(AskedBy::Tool));
        let ToolState::Waiting { content, question } = &asked.state else {
            panic!("{asked:?}");
        };
        assert_eq!(content.to_text(), "About two.");
        assert_eq!(
            (question.id.as_str(), question.text.as_str()),
            ("sure", "Confirm?")
        );
        let late = tool.session.apply(asked.number - 1, true.into());
        assert!(
            matches!(late, Err(ApplyError::Changed)),
            "{kind:?}: {late:?}"
        );
        tool.session.apply(asked.number, true.into()).unwrap();
        tool.until_said("three");
        let said = tool.settled(seq);
        assert_eq!(said, "About two.\nStage this hunk? three", "{kind:?}");

        // V-125: the end.
        tool.apply("n");
        assert_eq!(tool.result().unwrap(), "Staged 2 hunks.", "{kind:?}");
        let after = tool.session.apply(99, "y".into());
        assert!(matches!(after, Err(ApplyError::NotRunning)));
    }
}

/// V-122: whoever may send input can't answer in advance, whichever way the tool waits for the answer.
#[test]
fn v122_input_that_came_before_a_question_is_no_answer() {
    for kind in ALL {
        let tool = kind.stager();
        let ways = [
            ("one", "late ask"),
            ("two", "late answer"),
            ("three", "late apply"),
        ];
        for (hunk, way) in ways {
            tool.until_said(&format!("Stage this hunk? {hunk}"));
            tool.apply(way);
            tool.apply(false);
            std::fs::write(tool.folder.path().join(format!("{hunk}.go")), "").unwrap();
            let asked = tool.until_status(StateName::Waiting);
            tool.session.apply(asked.number, true.into()).unwrap();
        }
        assert_eq!(tool.result().unwrap(), "Staged 3 hunks.", "{kind:?}");
    }
}

/// V-120: the same tool without being driven is told so.
#[test]
fn v120_a_one_shot_call_is_not_stateful() {
    for kind in ALL {
        let case = Case {
            stateful: false,
            ..kind.case(json!({}))
        };
        let tool = kind.start(case);
        let result = tool.result().unwrap();
        assert_eq!(result, "Nothing is staged without being told.", "{kind:?}");
    }
}

/// Input comes while the tool waits for a program: the read ends, and the input goes on its way. Inputs that
/// come together all arrive.
#[test]
fn input_reaches_a_tool_that_waits_for_a_program() {
    for kind in ALL {
        let tool = kind.talker("cat");
        for turn in 0..3 {
            let start = Instant::now();
            tool.apply(json!({ "line": format!("first {turn}") }));
            tool.apply(json!({ "line": format!("second {turn}") }));
            tool.until_said(&format!("second {turn}"));
            // The read would have waited for minutes.
            assert!(start.elapsed() < Duration::from_secs(30), "{kind:?}");
        }
        let said = tool.said();
        assert!(
            said.contains("first 0") && said.contains("first 2"),
            "{said}"
        );
        tool.apply(json!({"end": true}));
        assert_eq!(tool.result().unwrap(), "It has ended.", "{kind:?}");
    }
}

/// S-063: the programs of a tool end with it, however it ends.
#[test]
fn s063_the_programs_of_a_tool_end_with_it() {
    for kind in ALL {
        let ways: [fn(&Tool); 2] = [|tool| tool.session.cancel(), |tool| tool.session.abort()];
        for end in ways {
            let case = Case {
                timing: Timing {
                    cancel_grace: Duration::from_secs(2),
                    ..Timing::default()
                },
                ..kind.case(json!({ "talk": "cat" }))
            };
            let tool = kind.start(case);
            tool.until_said("talk");
            tool.apply(json!({"line": "alive"}));
            tool.until_said("alive");
            end(&tool);
            tool.result().unwrap_err();
            let folder = tool.folder.path().to_str().unwrap().to_owned();
            until("its programs are gone", || working_in(&folder) == 0);
        }
    }
}

/// How many processes work in a folder.
fn working_in(folder: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let places = entries.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(folder)).count()
}

/// X-23: the clock runs only while the tool owes something: not before it was given anything, nor while it
/// waits for input after a state or for a program; but after an input that it does not answer.
#[test]
fn x23_an_idle_tool_is_not_hung() {
    let impatient = |case: Case| Case {
        timing: Timing {
            silence: Duration::from_millis(1500),
            kill_grace: Duration::from_millis(300),
            ..Timing::default()
        },
        ..case
    };
    let wordless = impatient(Case::script("read -r init; read -r more")).start_vfs();
    for kind in [Kind::Rust, Kind::Python] {
        let idle = kind.start(impatient(kind.case(json!({}))));
        idle.until_said("one");
        let reading = kind.start(impatient(kind.case(json!({ "talk": "cat" }))));
        reading.until_said("talk");
        let number = idle.session.state().number;
        let update = idle.session.wait(number, Some(Duration::from_secs(4)));
        assert_eq!(update.number, number, "{kind:?}: {update:?}");
        assert_eq!(
            reading.session.state().state.status(),
            StateName::Running,
            "{kind:?}"
        );
        idle.apply("y");
        idle.until_said("two");
        idle.apply("sulk");
        let error = idle.result().unwrap_err();
        assert!(error.message.contains("silent"), "{kind:?}: {error:?}");
    }
    assert_eq!(wordless.session.state().state.status(), StateName::Running);
    wordless.apply("more");
    wordless.result().unwrap_err();
}

/// X-23: after an input the clock runs until the tool says where it stands. One that works for long says
/// `running`, and then takes as long as it likes; one that says nothing is hung.
#[test]
fn x23_a_tool_that_works_for_long_says_so() {
    let case = |script: &str| Case {
        timing: Timing {
            silence: Duration::from_millis(1500),
            kill_grace: Duration::from_millis(300),
            ..Timing::default()
        },
        ..Case::script(&format!("read -r init; read -r given; {script}"))
    };
    let state =
        |state: &str| format!(r#"echo '{{"jsonrpc":"2.0","method":"state","params":{state}}}'; "#);
    let working = state(r#"{"type":"running"}"#);
    let done = state(r#"{"type":"stopped","result":"done"}"#);
    let check = |script: &str, expected: Result<&str, &str>| {
        let tool = case(script).start_vfs();
        tool.apply("work");
        match (tool.result(), expected) {
            (Ok(result), Ok(expected)) => assert_eq!(result, expected, "{script}"),
            (Err(error), Err(expected)) => {
                assert!(error.message.contains(expected), "{script}: {error:?}");
                assert!(error.transient, "{script}: {error:?}");
            }
            (result, _) => panic!("{script}: {result:?}"),
        }
    };
    check(&format!("{working}sleep 4; {done}"), Ok("done"));
    check(&format!("sleep 600; {done}"), Err("silent"));
    // Input that it is given while it works starts the clock anew.
    let script = format!("{working}read -r more; sleep 600; {done}");
    let tool = case(&script).start_vfs();
    let number = tool.session.state().number;
    tool.apply("work");
    tool.session.wait(number, Some(Duration::from_secs(60)));
    tool.apply("more");
    let error = tool.result().unwrap_err();
    assert!(error.message.contains("silent"), "{error:?}");
}

/// S-033: what a tool inside jig cannot be given is refused, and what it was given reaches it.
#[test]
fn s033_a_tool_inside_jig_gets_all_that_was_taken_for_it() {
    const COUNT: BuiltinRuntime = BuiltinRuntime {
        names: &["tool"],
        run: |_, host| {
            host.state(ToolState::running("up")).unwrap();
            // It does not look for as long as the test wants.
            until("it may look", || host.exists("go").unwrap());
            let mut count = 0;
            while host.wait_apply().unwrap() != Value::Null {
                count += 1;
            }
            Some(Ok(jig_proto::Content::text(count.to_string())))
        },
    };
    let tool = Case::program("none", &[]).start_builtin(COUNT);
    tool.until_said("up");
    let number = tool.session.state().number;
    let give = |input: Value| tool.session.apply(number, input);
    let mut taken = 0;
    let refused = loop {
        match give(json!("x")) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
        assert!(taken < 100_000, "it is never full");
    };
    assert!(
        matches!(&refused, ApplyError::Send(_)) && refused.to_string().contains("bytes wait"),
        "{refused}"
    );
    assert!(taken >= 100, "{taken}");
    // A large one has no room either; and it does when those before it were taken.
    give(json!("x".repeat(2 << 20))).unwrap_err();
    std::fs::write(tool.folder.path().join("go"), "").unwrap();
    until("there is room again", || give(Value::Null).is_ok());
    assert_eq!(tool.result().unwrap(), taken.to_string());
}

/// S-034: input that came before a question is no answer to it. It is not lost: it is input afterwards.
#[test]
fn s034_input_of_a_tool_inside_jig_is_no_answer() {
    static GO: AtomicBool = AtomicBool::new(false);
    const ASK: BuiltinRuntime = BuiltinRuntime {
        names: &["tool"],
        run: |_, host| {
            host.state(ToolState::running("up")).unwrap();
            // It does not hear of the input before it asks.
            until("it may ask", || GO.load(Ordering::SeqCst));
            let question = jig_proto::Question::yes_no("sure", "Confirm?");
            let content = jig_proto::Content::EMPTY;
            host.state(ToolState::Waiting { content, question })
                .unwrap();
            let answer = host.wait_apply().unwrap();
            let input = host.wait_apply().unwrap();
            let told = format!("{answer} {input}");
            Some(Ok(jig_proto::Content::text(told)))
        },
    };
    let tool = Case::program("none", &[]).start_builtin(ASK);
    tool.until_said("up");
    tool.apply("early");
    GO.store(true, Ordering::SeqCst);
    let asked = tool.until_status(StateName::Waiting);
    tool.session.apply(asked.number, false.into()).unwrap();
    assert_eq!(tool.result().unwrap(), "false \"early\"");
}

/// S-027: only an answer ends the waiting. What the tool tells meanwhile is kept.
#[test]
fn s027_a_tool_cannot_take_its_question_back() {
    let script = r#"
read -r init
state() { printf '{"jsonrpc":"2.0","method":"state","params":%s}\n' "$1"; }
state '{"type":"waiting","question":{"id":"q","text":"Q?","answer_type":"boolean"}}'
state '{"type":"running","content":"I go on."}'
read -r answer
state '{"type":"stopped","result":"answered"}'"#;
    let tool = Case::script(script).start_vfs();
    let asked = tool.until_status(StateName::Waiting);
    tool.until_said("I go on.");
    assert_eq!(tool.session.state().number, asked.number);
    tool.session.apply(asked.number, true.into()).unwrap();
    assert_eq!(tool.result().unwrap(), "answered");
}

/// S-027, S-035: one that waits cannot begin to wait: another question is refused, the first one stays, and the tool is
/// told. The same question again is none.
#[test]
fn s027_waiting_does_not_become_waiting() {
    let script = r#"
read -r init
ask() { printf '{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","content":"%s","question":{"id":"%s","text":"%s?","answer_type":"boolean"}}}\n' "$2" "$1" "$1"; }
ask first one
ask first two
ask second three
read -r refusal
read -r answer
ask second four
read -r other
printf '{"jsonrpc":"2.0","method":"result","params":{"content":%s}}\n' "$(printf '%s %s %s' "$refusal" "$answer" "$other" | sed 's/["\\]/\\&/g; s/.*/"&"/')""#;
    let tool = Case::script(script).start_vfs();
    tool.until_said("three");
    let asked = tool.until_status(StateName::Waiting);
    let ToolState::Waiting { question, .. } = &asked.state else {
        panic!("{asked:?}");
    };
    assert_eq!(question.id, "first");
    tool.session.apply(asked.number, true.into()).unwrap();
    tool.until_said("four");
    let asked = tool.until_status(StateName::Waiting);
    let ToolState::Waiting { question, .. } = &asked.state else {
        panic!("{asked:?}");
    };
    assert_eq!(question.id, "second");
    tool.session.apply(asked.number, false.into()).unwrap();
    let told = tool.result().unwrap();
    assert!(
        told.contains("`second` is not asked: `first` is open") && told.contains("-32600"),
        "{told}"
    );
    assert!(told.contains(r#""question":"first""#) && told.contains(r#""question":"second""#));
}

/// S-027: the same for a tool inside jig.
#[test]
fn s027_a_tool_inside_jig_has_one_question() {
    const ASK: BuiltinRuntime = BuiltinRuntime {
        names: &["tool"],
        run: |_, host| {
            let ask = |host: &mut jig_tool::vfs::Host, id: &str| {
                let question = jig_proto::Question::yes_no(id, "Confirm?");
                host.state(ToolState::waiting(question))
            };
            ask(host, "first").unwrap();
            let refused = ask(host, "second").unwrap_err().to_string();
            let answer = host.wait_apply().unwrap();
            Some(Ok(format!("{answer} {refused}").into()))
        },
    };
    let tool = Case::program("none", &[]).start_builtin(ASK);
    let asked = tool.until_status(StateName::Waiting);
    tool.session.apply(asked.number, true.into()).unwrap();
    let told = tool.result().unwrap();
    assert!(
        told.starts_with("true ") && told.contains("`first` is open"),
        "{told}"
    );
}

/// V-027, S-036, X-16: a question among the blocks of a result is asked, in every spelling, and the tool is run again
/// with all answers so far. What stands beside the question is shown with it.
#[test]
fn v027_a_question_in_a_result_is_asked() {
    let script = r#"
read -r init
result() { printf '{"jsonrpc":"2.0","method":"result","params":{"content":%s}}\n' "$1"; }
case "$init" in
*'"answers":{"name":"Ada","sure":true}'*) result '"hello Ada"' ;;
*'"answers":{"name":"Ada"}'*)
    echo '{"jsonrpc":"2.0","method":"state","params":{"type":"stopped","result":[{"type":"question","question":{"id":"sure","text":"Sure?","answer_type":"Boolean"}}]}}' ;;
*) result '[{"type":"text","text":"About you."},{"type":"question","id":"name","text":"Who?","schema":{"type":"string"}}]' ;;
esac"#;
    for stateful in [false, true] {
        let case = Case {
            stateful,
            ..Case::script(script)
        };
        let tool = case.start_vfs();
        let asked = tool.until_status(StateName::Waiting);
        let ToolState::Waiting { content, question } = &asked.state else {
            panic!("{asked:?}");
        };
        assert_eq!(asked.asker, Some(AskedBy::Tool));
        assert_eq!(content.to_text(), "About you.");
        assert_eq!(
            (question.id.as_str(), question.text.as_str()),
            ("name", "Who?")
        );
        tool.session.apply(asked.number, "Ada".into()).unwrap();
        let asked = tool.until_status(StateName::Waiting);
        tool.session.apply(asked.number, true.into()).unwrap();
        assert_eq!(tool.result().unwrap(), "hello Ada", "stateful: {stateful}");
    }
}

/// V-027: a call that is given up while such a question is open ends, and so does one that nobody answers.
#[test]
fn v027_a_question_in_a_result_can_be_left_unanswered() {
    let script = r#"
read -r init
echo '{"jsonrpc":"2.0","method":"result","params":{"content":[{"type":"question","question":{"id":"q","text":"Who?","answer_type":"text"}}]}}'"#;
    let tool = Case::script(script).start_vfs();
    tool.until_status(StateName::Waiting);
    tool.session.cancel();
    assert!(tool.result().unwrap_err().message.contains("cancelled"));
    let tool = Case::script(script).start_vfs();
    let asked = tool.until_status(StateName::Waiting);
    let nobody = jig_broker::Unapproved::Unavailable;
    tool.session.decline(asked.number, nobody).unwrap();
    let error = tool.result().unwrap_err();
    assert_eq!(error.message, "the tool asks `Who?`, and nobody can answer");
}

/// V-125: a tool that has said its last word and lives on is ended soon: somebody waits for the end.
#[test]
fn v125_a_last_word_is_heard_soon() {
    let script = r#"
read -r init; trap '' TERM
echo '{"jsonrpc":"2.0","method":"state","params":{"type":"stopped","result":"done"}}'
while :; do sleep 600; done"#;
    let case = Case {
        timing: Timing {
            cancel_grace: Duration::from_secs(600),
            kill_grace: Duration::from_secs(600),
            ..Timing::default()
        },
        ..Case::script(script)
    };
    assert_eq!(case.start_vfs().result().unwrap(), "done");
}

/// S-067: the process is known as soon as there is a session, so that it can be noted.
#[test]
fn s067_the_process_is_known_from_the_start() {
    for _ in 0..20 {
        let tool = Case::script("exec cat").start();
        assert!(tool.session.pid().is_some());
    }
    let tool = Case::script("read -r init; read -r more").start_vfs();
    assert!(tool.session.pid().is_some());
}
