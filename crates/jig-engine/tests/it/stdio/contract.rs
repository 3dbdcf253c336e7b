//! Appendix J, line by line, where a call shows it.

use jig_engine::CallError;
use serde_json::{Value, json};

use crate::stdio::{Person, World, chain};

const PARAMETER: &str = "parameters.x.type = 'string'\n";

#[test]
fn j001_one_process_per_call_in_the_workspace_with_little_around_it() {
    let world = World::new(
        "command = { program = 'pwd; echo $(cat | wc -c); env; ps -o pgid= -p $$ || true', shell = true }",
    );
    let text = world.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(world.root.as_str()));
    assert_eq!(lines.next(), Some("0"), "nothing to read");
    let variables: Vec<&str> = lines
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    for name in &variables {
        let known = [
            "PATH", "HOME", "USER", "LANG", "TERM", "PWD", "OLDPWD", "SHLVL", "_",
        ];
        assert!(
            known.contains(name) || name.starts_with("LC_"),
            "{name} is the host's"
        );
    }
}

#[test]
fn j002_j006_values_fill_words() {
    let world = World::new(
        "command = \"printf '[%s]' a{{tool.arguments.x}} {{tool.arguments.missing}} \
         {{tool.arguments.missing|default('')}} {{tool.arguments}}\"\nparameters.x.type = 'string'\n\
         parameters.missing.type = 'string'",
    );
    let text = world.call(json!({ "x": "b c'd\"e $HOME" })).unwrap();
    assert_eq!(text, "[ab c'd\"e $HOME][][][{\"x\":\"b c'd\\\"e $HOME\"}]");
}

#[test]
fn j003_j004_with_a_shell_values_stay_one_word() {
    let world = World::new(&format!(
        "{PARAMETER}command = {{ program = 'printf %s {{{{tool.arguments.x}}}} | tr a-z A-Z; printf \" [%s]\"', args = ['{{{{tool.arguments.x}}}}'], shell = true }}"
    ));
    for x in [
        "; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "' ; touch pwned '",
        "a\ntouch pwned",
    ] {
        let text = world.call(json!({ "x": x })).unwrap();
        assert_eq!(text, format!("{} [{x}]", x.to_uppercase()));
        assert!(!world.has("pwned"));
    }
}

#[test]
fn j005_j007_j008_j009_the_call_as_two_json_arguments() {
    let world = World::with(
        "command = \"python3 tool.py {{context}} {{tool}}\"\nparameters.x.type = 'string'\n\
         options.deep = { a = 1 }\nquestions.q.answer = 'known'\naccess.fs = [{ path = '.', read = true }]\n",
        &[(
            "tool.py",
            "import json, sys\nprint(json.dumps({'context': json.loads(sys.argv[1]), 'tool': json.loads(sys.argv[2])}))",
        )],
        |_| {},
    );
    let call: Value = serde_json::from_str(&world.call(json!({ "x": "v" })).unwrap()).unwrap();
    assert_eq!(
        call["tool"],
        json!({
            "name": "tool", "arguments": { "x": "v" }, "answers": { "q": "known" },
            "options": { "deep": { "a": 1 } },
        })
    );
    let context = &call["context"];
    assert_eq!(context["root"], world.root.as_str());
    assert_eq!(context["action"], "run");
    assert!(!context["workspace_id"].as_str().unwrap().is_empty());
    assert!(!context["conversation_id"].as_str().unwrap().is_empty());
    let rule = &context["access"]["fs"][0];
    assert_eq!(
        (
            &rule["lexical_path"],
            &rule["path"],
            &rule["read"],
            &rule["update"]
        ),
        (&json!("."), &json!("."), &json!(true), &json!(false))
    );
}

#[test]
fn j011_outcomes() {
    let prints = |text: &str| {
        World::new(&format!(
            "command = {{ program = 'echo', args = ['''{text}'''] }}"
        ))
    };
    assert_eq!(
        prints(r#"{"type":"success","content":"done"}"#).text(),
        "done"
    );
    // The new form says the same.
    assert_eq!(
        prints(r#"{"type":"stopped","result":"done"}"#).text(),
        "done"
    );
    let error =
        prints(r#"{"type":"error","message":"no","trace":["io"],"transient":false}"#).error();
    assert_eq!(
        (error.message.as_str(), &error.trace[..], error.transient),
        ("no", &["io".to_owned()][..], false)
    );
}

#[test]
fn j013_x61_a_call_that_was_not_understood_is_an_error() {
    let world = World::python(
        "",
        "print('```json\\n' + json.dumps({'error': 'Unable to parse context', 'cause': 'eof'}, indent=2) + '\\n```')",
    );
    let error = world.error();
    assert_eq!(
        (error.message.as_str(), &error.trace[..]),
        ("Unable to parse context", &["eof".to_owned()][..])
    );
}

/// X-61: `touch`, `mkdir`, a formatter: nothing is printed because nothing went wrong.
#[test]
fn x61_a_program_that_prints_nothing_succeeded() {
    assert_eq!(World::new("command = 'true'").text(), "(no output)");
    let world = World::new("command = { program = 'echo noise >&2; exit 1', shell = true }");
    assert!(world.error().message.contains("noise"));
}

#[test]
fn j014_text_is_the_result_of_success_and_part_of_failure() {
    let world = World::new("command = { program = 'echo out; echo err >&2', shell = true }");
    assert_eq!(world.text(), "out\n");
    let world =
        World::new("command = { program = 'echo out; echo err >&2; exit 3', shell = true }");
    let error = world.error();
    let told: Value = serde_json::from_str(&error.message).unwrap();
    assert_eq!(
        told,
        json!({ "message": "Tool 'tool' execution failed.", "stderr": "err\n", "stdout": "out\n" })
    );
    assert_eq!(error.trace, ["`tool` exited with code 3"]);
}

#[test]
fn j015_what_an_assistant_is_told_of_an_error() {
    let told = |outcome: &str| {
        let world = World::new(&format!(
            "command = {{ program = 'echo', args = ['''{outcome}'''] }}"
        ));
        let error = world.call(json!({})).unwrap_err();
        serde_json::from_str::<Value>(&error.for_assistant()).unwrap()
    };
    assert_eq!(
        told(r#"{"type":"error","message":"busy","trace":["lock"],"transient":true}"#),
        json!({ "message": "busy", "trace": ["lock"] })
    );
    let lasting = r#"{"type":"error","message":"no","trace":["io"],"transient":false}"#;
    assert_eq!(
        told(lasting),
        serde_json::from_str::<Value>(lasting).unwrap()
    );
}

#[test]
fn j017_arguments_are_completed_and_checked_before_anything_starts() {
    let world = World::new(
        "command = { program = 'touch ran; printf %s', args = ['{{tool.arguments}}'], shell = true }\n\
         parameters.n = { type = 'integer', required = true }\nparameters.d = { type = 'string', default = 'def' }\n",
    );
    for wrong in [
        json!({}),
        json!({ "n": 1, "other": 2 }),
        json!({ "n": "x" }),
    ] {
        let error = world.call(wrong.clone()).unwrap_err();
        assert!(
            matches!(error, CallError::Arguments { .. }),
            "{wrong}: {error}"
        );
        assert!(!world.has("ran"), "{wrong}");
    }
    let text = world.call(json!({ "n": "3" })).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({ "n": 3, "d": "def" })
    );
}

#[test]
fn j018_errors_are_shown_to_whoever_watches_and_stay_out_of_a_result() {
    let world = World::new(
        "command = { program = 'echo working >&2; sleep 0.3; echo still >&2; sleep 0.3; echo \"{\\\"type\\\":\\\"success\\\",\\\"content\\\":\\\"done\\\"}\"', shell = true }",
    );
    let person = Person::default();
    assert_eq!(world.asked(json!({}), person.clone()).unwrap(), "done");
    let told = person.told.lock().unwrap().join("\n");
    assert!(told.contains("working") && told.contains("still"), "{told}");
}

#[test]
fn j019_cancelling_ends_the_whole_tree() {
    let world = World::new(
        "command = { program = \"trap '' TERM; (trap '' TERM; while :; do date +%s%N > alive; sleep 0.05; done) & echo $! > started; wait; sleep 100\", shell = true }",
    );
    let token = jig_broker::CancelToken::new();
    let mut call = jig_engine::Call::new("tool", json!({}));
    call.cancel = Some(token.clone());
    let engine = std::sync::Arc::clone(&world.engine);
    let running = std::thread::spawn(move || engine.call(call, &mut jig_engine::Nobody));
    jig_testkit::until("it is at work", || {
        world.has("alive") || running.is_finished()
    });
    assert!(!jig_testkit::working_in(world.root.as_std_path()).is_empty());
    token.cancel();
    let error = running.join().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the call was cancelled");
    jig_testkit::until("nobody is left", || {
        jig_testkit::working_in(world.root.as_std_path()).is_empty()
    });
}

#[test]
fn j021_a_tool_is_told_the_name_of_its_source() {
    let world = World::new("source = 'local.other'\ncommand = 'echo {{tool.name}}'");
    assert_eq!(world.text(), "other\n");
}

#[test]
fn j027_rules_never_compile_away() {
    let world = World::with(
        "command = 'cat {{tool.arguments.x}}'\nparameters.x.type = 'string'\n\
         access.fs = [{ path = 'nowhere', read = true }]",
        &[("secret.txt", "secret")],
        |_| {},
    );
    let error = world.call(json!({ "x": "secret.txt" })).unwrap_err();
    assert!(
        error.to_string().contains("\"stdout\":\"\""),
        "{}",
        chain(&error)
    );
}

#[test]
fn j028_a_policy_that_cannot_be_compiled_fails_the_call() {
    let world = World::with(
        "command = 'touch ran'\naccess.fs = [{ path = 'link', read = true }]",
        &[("a.txt", "")],
        |_| {},
    );
    std::os::unix::fs::symlink("/etc", world.root.join("link")).unwrap();
    let error = world.call(json!({})).unwrap_err();
    assert!(matches!(error, CallError::Policy { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("invalid access policy for tool 'tool'")
    );
    assert!(!world.has("ran"));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let world = World::new("command = 'no-such-program-at-all'");
    let error = world.call(json!({})).unwrap_err();
    assert!(
        chain(&error).contains("`no-such-program-at-all`"),
        "{}",
        chain(&error)
    );
}
