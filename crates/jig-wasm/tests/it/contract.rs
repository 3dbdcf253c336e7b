//! The contract of tools that are components: `jp:tool@0.1.0`, W-010 to W-018.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files, and one that fails is a failed test"
)]

use std::path::Path;

use crate::common::{On, RUNTIME, Tried, access, guest, guest_path, until};
use jig_proto::{Action, ProjectPath, StateName, ToolState};
use jig_runtime::{AskedBy, ComponentSource, Mount};
use jig_wasm::{CacheDirs, Settings, WasmRuntime};
use serde_json::{Value, json};

fn echo(tried: Tried) -> Value {
    let done = tried.run();
    serde_json::from_str(done.text()).unwrap()
}

/// W-024: the workspace has one name for every component.
#[test]
fn w016_a_guest_is_told_where_why_and_with_what_it_is_called() {
    let told = echo(
        Tried::memory("hostile")
            .arguments(json!({"action": "echo", "x": [1, "é"]}))
            .known(json!({"sure": true})),
    );
    let expected = json!({
        "root": "/workspace",
        "action": "run",
        "name": "tool",
        "arguments": {"action": "echo", "x": [1, "é"]},
        "answers": "{\"sure\":true}",
    });
    assert_eq!(told, expected);
}

#[test]
fn w017_one_component_serves_several_tools_by_name() {
    let tried = Tried::memory("hostile").arguments(json!({"action": "echo"}));
    assert_eq!(echo(tried.implementation("second"))["name"], "second");
}

#[test]
fn w010_the_arguments_can_be_formatted() {
    let tried = Tried::memory("hostile").arguments(json!({"action": "echo"}));
    assert_eq!(
        echo(tried.action(Action::FormatArguments))["action"],
        "format-arguments"
    );
}

#[test]
fn w011_x42_the_root_is_where_the_guest_sees_its_first_mount() {
    let mount = Mount {
        guest: "/subjects".to_owned(),
        path: ProjectPath::normalize("kb").unwrap(),
        writable: false,
    };
    let tried = Tried::memory("hostile")
        .file("kb/a.md", "a")
        .arguments(json!({"action": "echo"}))
        .mounts(vec![mount]);
    assert_eq!(echo(tried)["root"], "/subjects");
}

#[test]
fn w012_w060_an_error_keeps_message_trace_and_whether_it_lasts() {
    for transient in [true, false] {
        let done = Tried::memory("hostile")
            .arguments(json!({
                "action": "fail", "message": "no", "trace": ["a", "", "b"], "transient": transient,
            }))
            .run();
        let error = done.error();
        assert_eq!(error.message, "no");
        assert_eq!(error.trace, ["a", "", "b"]);
        assert_eq!(error.transient, transient);
        assert!(error.denials.is_empty());
    }
}

#[test]
fn w015_a_result_is_text_whatever_it_looks_like() {
    for text in ["", "plain", "{\"type\":\"error\",\"message\":\"forged\"}"] {
        let done = Tried::memory("test")
            .file("a", text)
            .arguments(json!({"path": "a"}))
            .run();
        assert_eq!(done.text(), text);
    }
}

#[test]
fn w013_a_question_is_put_to_the_caller_and_the_guest_runs_again_with_the_answer() {
    let tried = Tried::memory("hostile").arguments(json!({
        "action": "ask", "ids": ["one", "two"], "text": "Which?", "answer_type": "text",
        "default": "\"x\"",
    }));
    let (session, _) = tried.start();
    let update = until(&session, StateName::Waiting);
    assert_eq!(update.asker, Some(AskedBy::Tool));
    let ToolState::Waiting { question, .. } = update.state else {
        panic!("{update:?}");
    };
    assert_eq!(
        (question.id.as_str(), question.text.as_str()),
        ("one", "Which?")
    );
    assert_eq!(question.schema, json!({"type": "string"}));
    assert_eq!(question.default, Some(json!("x")));
    drop(session);

    let done = tried.answer("first").answer("second").run();
    let answers: Value = serde_json::from_str(done.text()).unwrap();
    assert_eq!(answers, json!({"one": "first", "two": "second"}));
    assert_eq!(done.asked.len(), 2);
}

#[test]
fn w013_an_answer_that_is_known_is_not_asked_for() {
    let done = Tried::memory("hostile")
        .arguments(json!({"action": "ask", "id": "sure", "text": "Sure?"}))
        .known(json!({"sure": false}))
        .run();
    assert_eq!(done.text(), "false");
    assert!(done.asked.is_empty());
}

#[test]
fn w014_the_kinds_of_answers() {
    let check = |answer_type: &str, schema: Value| {
        let tried = Tried::memory("hostile").arguments(json!({
            "action": "ask", "id": "q", "text": "?", "answer_type": answer_type,
        }));
        let (session, _) = tried.start();
        let ToolState::Waiting { question, .. } = until(&session, StateName::Waiting).state else {
            panic!("it does not ask");
        };
        assert_eq!(question.schema, schema, "{answer_type}");
    };
    check("boolean", json!({"type": "boolean"}));
    check("text", json!({"type": "string"}));
    check(
        "{\"select\":{\"options\":[\"a\",\"b\"]}}",
        json!({"type": "string", "enum": ["a", "b"]}),
    );
    let done = Tried::memory("hostile")
        .arguments(json!({"action": "ask", "id": "q", "text": "?", "answer_type": "colour"}))
        .run();
    assert!(done.error().message.contains("asks what cannot be asked"));
}

#[test]
fn a_question_that_nobody_answers_ends_the_call_in_the_words_of_every_runtime() {
    let done = Tried::memory("hostile")
        .arguments(json!({"action": "ask", "id": "q", "text": "Sure?"}))
        .run();
    let message = &done.error().message;
    assert_eq!(message, "the tool asks `Sure?`, and nobody can answer");
}

#[test]
fn a_guest_that_never_stops_asking_is_given_up() {
    let ids: Vec<String> = (0..200).map(|number| format!("q{number}")).collect();
    let mut tried =
        Tried::memory("hostile").arguments(json!({"action": "ask", "ids": ids, "text": "?"}));
    for _ in 0..200 {
        tried = tried.answer(true);
    }
    let done = tried.run();
    assert!(
        done.error().message.contains("asked 100 questions"),
        "{:?}",
        done.error()
    );
}

#[test]
fn w071_a_tool_reads_a_file_and_says_why_it_cannot() {
    for on in On::ALL {
        let read = |path: &str| {
            let tried = Tried::on(on, "test").file("a/b.txt", "hello");
            tried.arguments(json!({"path": path})).run()
        };
        assert_eq!(read("a/b.txt").text(), "hello");
        let missing = read("nothing");
        assert!(missing.error().message.starts_with("Failed to read file: "));
        // W-070: nothing outside of what it sees.
        for outside in [
            "/etc/passwd",
            "../../etc/passwd",
            "../../../../../../etc/passwd",
        ] {
            let done = read(outside);
            assert!(
                done.error().message.starts_with("Failed to read file: "),
                "{outside}"
            );
        }
    }
}

#[test]
fn w001_w002_w045_the_same_component_gives_the_same_wherever_its_bytes_are() {
    let bytes = guest("test");
    let embedded: &'static [u8] = Box::leak(bytes.to_vec().into_boxed_slice());
    #[expect(
        clippy::disallowed_types,
        reason = "a test opens the file of a component"
    )]
    let file = std::fs::File::open(guest_path("test")).unwrap();
    let sources = [
        ComponentSource::Embedded(embedded),
        ComponentSource::Bytes(bytes),
        ComponentSource::File(file.into()),
    ];
    for source in sources {
        for (path, expected) in [("a", Ok("hello")), ("b", Err("Failed to read file"))] {
            let done = Tried::of(On::Disk, "tool", source.clone())
                .file("a", "hello")
                .arguments(json!({"path": path}))
                .run();
            match expected {
                Ok(text) => assert_eq!(done.text(), text),
                Err(words) => assert!(done.error().message.starts_with(words)),
            }
        }
    }
}

#[test]
fn nothing_of_one_call_is_seen_by_the_next() {
    for _ in 0..3 {
        let done = Tried::memory("hostile")
            .arguments(json!({"action": "remember"}))
            .run();
        assert_eq!(done.text(), "1");
    }
}

#[test]
fn a_panic_is_told_with_its_words() {
    let done = Tried::memory("hostile")
        .arguments(json!({"action": "panic", "message": "what a pity"}))
        .run();
    let error = done.error();
    assert!(
        error.message.starts_with("Wasm tool trapped: "),
        "{error:?}"
    );
    assert!(
        error.trace.iter().any(|line| line.contains("what a pity")),
        "{error:?}"
    );
}

#[test]
fn w061_what_cannot_run_says_why() {
    let check = |text: &str, expected: &[&str]| {
        let bytes = wat::parse_str(text).unwrap();
        let done = Tried::of(On::Memory, "x.wasm", ComponentSource::Bytes(bytes.into())).run();
        let message = &done.error().message;
        for words in expected {
            assert!(message.contains(words), "{words}: {message}");
        }
    };
    check(
        "(module)",
        &["Failed to compile Wasm component: ", "wasm32-wasip2"],
    );
    check(
        "(component)",
        &[
            "Failed to instantiate Wasm component: ",
            "`run`",
            "jp:tool/tool@0.1.0",
        ],
    );
    check(
        "(component (import \"some:where/else@1.0.0\" (instance (export \"f\" (func)))))",
        &[
            "Failed to instantiate Wasm component: ",
            "`some:where/else@1.0.0`",
        ],
    );
    check(
        "(component (import \"wasi:clocks/system-clock@0.3.0\" (instance (export \"f\" (func)))))",
        &["Failed to instantiate Wasm component: ", "WASI 0.3"],
    );
    check(
        "(component
           (core module $m (func (export \"run\")))
           (core instance $i (instantiate $m))
           (func (export \"run\") (canon lift (core func $i \"run\"))))",
        &[
            "Failed to instantiate Wasm component: ",
            "its `run` is not that of",
        ],
    );
}

#[test]
fn a_secret_that_the_guest_may_see_does_not_come_back() {
    let done = Tried::memory("hostile")
        .access(access("env = [{ name = \"TOKEN\", read = true }]"))
        .variable("TOKEN", "s3cret-value")
        .arguments(json!({"action": "environment"}))
        .run();
    // The guest has seen that there is one.
    assert!(done.text().contains("TOKEN"), "{}", done.text());
    assert!(!done.text().contains("s3cret-value"), "{}", done.text());
}

#[test]
fn a_runtime_without_a_cache_runs_and_a_call_needs_no_thread() {
    let runtime = WasmRuntime::new(Settings::default()).unwrap();
    let tried = Tried::memory("test")
        .file("a", "hello")
        .arguments(json!({"path": "a"}));
    let plan = tried.plan(&Default::default());
    let content = runtime.run_here(plan).unwrap();
    assert_eq!(content.to_text(), "hello");
    let asks = Tried::memory("hostile").arguments(json!({"action": "ask", "id": "q", "text": "?"}));
    let error = RUNTIME
        .run_here(asks.plan(&Default::default()))
        .unwrap_err();
    assert!(error.message.contains("nobody can answer"), "{error:?}");
}

#[test]
fn a_component_can_be_inspected_without_running() {
    let runtime = &*RUNTIME;
    let tried = Tried::memory("test");
    let seen = runtime.inspect(&tried.component()).unwrap();
    assert!(seen.is_tool && !seen.describes);
    assert_eq!(seen.size, guest("test").len() as u64);
    assert!(
        seen.exports.contains(&"run".to_owned()),
        "{:?}",
        seen.exports
    );
    assert!(seen.unknown.is_empty());
    let wants: Vec<&str> = seen.wants.iter().map(|want| want.name()).collect();
    assert!(
        wants.contains(&"files") && !wants.contains(&"http"),
        "{wants:?}"
    );
    let files = seen
        .imports
        .iter()
        .find(|one| one.interface.starts_with("wasi:filesystem/types"));
    assert!(
        files
            .unwrap()
            .functions
            .iter()
            .any(|name| name.contains("open-at"))
    );
    assert_eq!(seen.memories, Some(1));
    // One that is no tool can be inspected too.
    let other = "(component (import \"some:where/else@1.0.0\" (instance (export \"f\" (func)))))";
    let other = ComponentSource::Bytes(wat::parse_str(other).unwrap().into());
    let other = Tried::of(On::Memory, "other", other);
    let seen = runtime.inspect(&other.component()).unwrap();
    assert_eq!(seen.unknown, ["some:where/else@1.0.0"]);
    assert!(!seen.is_tool && !seen.imports[0].provided);
    assert!(runtime.prepare(&other.component()).is_err());
}

#[test]
fn w033_what_describes_nothing_is_told_apart() {
    let runtime = &*RUNTIME;
    let plain = Tried::memory("test");
    assert_eq!(runtime.describe(&plain.component()).unwrap(), None);
    assert_eq!(runtime.describe(&plain.component()).unwrap(), None);
}

/// A tool that describes itself: `body` is done first, then it says that it has one tool, whose parameters
/// are `parameters`.
fn described(body: &str, parameters: &str) -> Tried {
    let length = parameters.len();
    let parameters = parameters.replace('"', "\\\"");
    let describer = format!(
        "(core module $d
           (memory (export \"memory\") 1)
           (data (i32.const 100) \"greetSays hello.\")
           (data (i32.const 200) \"{parameters}\")
           (func (export \"describe\") (result i32)
             {body}
             ;; At 0 the list, of which the one element is at 16.
             (i32.store (i32.const 0) (i32.const 16))
             (i32.store (i32.const 4) (i32.const 1))
             (i32.store (i32.const 16) (i32.const 100))
             (i32.store (i32.const 20) (i32.const 5))
             (i32.store (i32.const 24) (i32.const 105))
             (i32.store (i32.const 28) (i32.const 11))
             (i32.store (i32.const 32) (i32.const 200))
             (i32.store (i32.const 36) (i32.const {length}))
             (i32.const 0)))
         (core instance $d (instantiate $d))
         (alias core export $d \"memory\" (core memory $d-memory))
         (type $r (record
           (field \"name\" string) (field \"description\" string) (field \"parameters\" string)))
         (export $description \"description\" (type $r))
         (func $describe (result (list $description))
           (canon lift (core func $d \"describe\") (memory $d-memory)))
         (instance $i (export \"describe\" (func $describe)))
         (export \"jig:tool/describe@0.1.0\" (instance $i))"
    );
    let text = include_str!("raw/tool.wat").replace("(; modules ;)", &describer);
    let bytes = wat::parse_str(text).unwrap();
    Tried::of(
        On::Memory,
        "described",
        ComponentSource::Bytes(bytes.into()),
    )
}

fn kept_in(folder: &Path) -> Settings {
    let mut settings = Settings::default();
    settings.cache = Some(CacheDirs {
        code: folder.join("code"),
        key: folder.join("key/wasm.key"),
    });
    settings
}

#[test]
fn a_component_describes_its_own_tools() {
    let folder = tempfile::tempdir().unwrap();
    let settings = kept_in(folder.path());
    let tried = described("", "{\"type\": \"object\"}");
    let component = tried.component();
    let runtime = WasmRuntime::new(settings.clone()).unwrap();
    assert!(runtime.inspect(&component).unwrap().describes);
    let described = runtime.describe(&component).unwrap().unwrap();
    let [one] = described.as_slice() else {
        panic!("{described:?}");
    };
    assert_eq!(
        (one.name.as_str(), one.description.as_str()),
        ("greet", "Says hello.")
    );
    assert_eq!(json!(one.parameters), json!({"type": "object"}));
    assert_eq!(runtime.describe(&component).unwrap().unwrap(), described);
    // It runs as every tool does.
    assert_eq!(tried.run().text(), "refused");
    // Another process knows without loading any code.
    let other = WasmRuntime::new(settings).unwrap();
    assert_eq!(other.describe(&component).unwrap().unwrap(), described);
    assert!(
        std::fs::read_dir(folder.path().join("code"))
            .unwrap()
            .count()
            == 2
    );
    for entry in std::fs::read_dir(folder.path().join("code")).unwrap() {
        std::fs::write(entry.unwrap().path(), "null").unwrap();
    }
    // A forged one is not believed.
    let other = WasmRuntime::new(kept_in(folder.path())).unwrap();
    assert_eq!(other.describe(&component).unwrap().unwrap(), described);
}

#[test]
fn a_component_that_describes_itself_wrongly_is_told() {
    let runtime = &*RUNTIME;
    let check = |tried: Tried, expected: &str| {
        let error = runtime.describe(&tried.component()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(described("", "[]"), "no JSON object");
    check(described("", "{"), "no JSON");
    check(
        described("unreachable", "{}"),
        "Wasm tool trapped: it gave up",
    );
    let bomb = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))";
    check(described(bomb, "{}"), "MiB of memory");
    check(described("(loop $again (br $again))", "{}"), "ran longer");
}

#[test]
fn an_instance_has_a_price() {
    let runtime = &*RUNTIME;
    let cost = runtime
        .instance(&Tried::memory("test").component())
        .unwrap();
    assert!(cost.memory >= 64 << 10, "{cost:?}");
}
