//! Which calls are commands, and what becomes of them.

use super::*;

#[test]
fn s003_s010_s033_spawn_look_send_stop() {
    let shop = Workshop::new(TOOLS, &[]);
    let spawned = shop.report("cat", json!({"action": "spawn"}));
    assert_eq!(spawned.id.as_str(), "h_1");
    assert_eq!(spawned.state.status(), StateName::Running);

    let applied = shop.report(
        "cat",
        json!({"action": "apply", "id": "h_1", "input": "hello\n"}),
    );
    assert_eq!(applied.state.status(), StateName::Running);
    let said = match applied.state.content().to_text() {
        said if said.is_empty() => shop.until_said("cat", "h_1", "hello"),
        said => said,
    };
    assert_eq!(said, "hello\n");

    let aborted = shop.report("cat", json!({"action": "abort", "id": "h_1"}));
    assert_eq!(aborted.state.status(), StateName::Stopped);
    assert!(result(&aborted).is_err());
    let gone = shop.refusal("cat", json!({"action": "fetch", "id": "h_1"}));
    assert!(gone.contains("h_1"), "{gone}");
}

#[test]
fn s013_s024_s025_a_tool_ends_by_itself() {
    let shop = Workshop::new(TOOLS, &[]);
    let check = |code: i32| {
        let spawned = shop.report("check", json!({"action": "spawn", "code": code}));
        let mut said = spawned.state.content().to_text();
        let stopped = match spawned.state.status() {
            StateName::Stopped => spawned,
            _ => {
                let (stopped, more) = shop.until("check", spawned.id.as_str(), StateName::Stopped);
                said.push_str(&more);
                stopped
            }
        };
        assert_eq!(said, "begun\ndone\n");
        assert_eq!(stopped.details.exit_code, Some(code));
        result(&stopped)
    };
    assert_eq!(check(0), Ok("exited with code 0".to_owned()));
    assert_eq!(check(3), Err("`check` exited with code 3".to_owned()));
}

/// S-062, X-20: whether the caller names a handle or not, the tool never sees the name, and what it says itself about
/// one changes nothing.
#[test]
fn s062_a_tool_does_not_know_its_handle() {
    let all = "env; cat /proc/self/cmdline | tr '\\0' '\\n'; echo '{{ tool }} {{ context }}'; echo end; exec sleep 600";
    // Without what would have to be escaped in JSON.
    let init = r#"read -r init
seen=$({ printf '%s' "$init"; env; } | tr -d '"\\\n')
echo '{"jsonrpc":"2.0","method":"state","params":{"type":"running","id":"h_77","content":"'"$seen"' end"}}'
read -r cancel"#;
    let config = format!(
        "[tools.plain]\nsource = 'local'\nrun = 'unattended'\nstateful = true\n\
         command = {{ program = 'sh', args = ['-c', {}] }}\n\
         [tools.mediated]\nsource = 'local'\nrun = 'unattended'\nstateful = true\nruntime = 'vfs'\n\
         command = {{ program = 'sh', args = ['-c', {}] }}\n",
        json!(all),
        json!(init),
    );
    let check = |tool: &str, named: Option<&str>| {
        let shop = Workshop::new(&config, &[]);
        let spawn = match named {
            Some(id) => json!({"action": "spawn", "id": id}),
            None => json!({"action": "spawn"}),
        };
        let spawned = shop.report(tool, spawn);
        let id = spawned.id.as_str().to_owned();
        assert_eq!(id, named.unwrap_or("h_1"));
        let mut said = spawned.state.content().to_text();
        if !said.contains("end") {
            said.push_str(&shop.until_said(tool, &id, "end"));
        }
        assert!(said.contains("PATH="), "{tool}: {said}");
        assert!(!said.contains(&id), "{tool}: {said}");
        let aborted = shop.report(tool, json!({"action": "abort", "id": id}));
        assert_eq!(aborted.id.as_str(), id);
    };
    for tool in ["plain", "mediated"] {
        check(tool, None);
        check(tool, Some("my-own-name"));
    }
}

#[test]
fn s014_s076_the_reply_is_json_text() {
    let shop = Workshop::new(TOOLS, &[]);
    let reply = shop.ask("background", json!({"action": "spawn"}), &mut Nobody);
    let text = reply.unwrap().into_content().to_text();
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["id"], "h_1");
    assert_eq!(read["state"], "running");
}

/// S-070, S-071: a one-shot tool that asks is answered and runs again, and at no time there is a handle.
#[test]
fn s070_s071_a_question_of_a_one_shot_tool_makes_no_handle() {
    struct Watching<'a>(&'a Workshop, usize);
    impl Asker for Watching<'_> {
        fn ask(&mut self, _: &jig_engine::Ask<'_>) -> jig_engine::Answer {
            assert!(self.0.engine.handles.list().is_empty());
            self.1 += 1;
            jig_engine::Answer::Given(json!("Ada"))
        }
    }
    let script = r#"case '{{ tool.answers }}' in
*Ada*) echo hello Ada ;;
*) echo '{"type":"needs_input","question":{"id":"name","text":"Who?","answer_type":"Text"}}' ;;
esac"#;
    let config = format!(
        "[tools.greet]\nsource = 'local'\nrun = 'unattended'\nstateful = true\n\
         command = {{ program = 'sh', args = ['-c', {}] }}\n",
        json!(script)
    );
    let shop = Workshop::new(&config, &[]);
    let mut asker = Watching(&shop, 0);
    let reply = shop.ask("greet", json!({}), &mut asker).unwrap();
    assert_eq!(asker.1, 1);
    assert_eq!(reply.into_content().to_text(), "hello Ada\n");
    assert!(shop.engine.handles.list().is_empty());
}

#[test]
fn s001_s031_without_an_action_it_runs_to_its_end() {
    let shop = Workshop::new(TOOLS, &[]);
    assert_eq!(shop.called("check", json!({})), "begun\n");
    let failed = shop.refusal("check", json!({"code": 4}));
    assert!(failed.contains("execution failed"), "{failed}");
    assert!(shop.engine.handles.list().is_empty());
}

#[test]
fn s072_x21_an_argument_named_action_is_left_to_a_tool_that_is_not_stateful() {
    let shop = Workshop::new(TOOLS, &[]);
    let planned = shop.called("plan", json!({"action": "next"}));
    assert_eq!(planned, "planned next\n");
}

#[test]
fn s037_s038_only_declared_actions_are_dispatched() {
    let shop = Workshop::new(TOOLS, &[]);
    let check = |tool: &str, arguments: Value, expected: &str| {
        let refusal = shop.refusal(tool, arguments);
        assert!(refusal.contains(expected), "{refusal}");
    };
    shop.report("check", json!({"action": "spawn"}));
    shop.report("background", json!({"action": "spawn"}));
    let apply = json!({"action": "apply", "id": "h_1", "input": "x"});
    check("check", apply, "its actions are: spawn, fetch, abort");
    let abort = json!({"action": "abort", "id": "h_2"});
    check("background", abort, "its actions are: spawn, fetch");
    check(
        "cat",
        json!({"action": "stop"}),
        "\"stop\" is not an action",
    );
    check("cat", json!({"action": 1}), "`action` must be one of");
    check("cat", json!({"action": "fetch"}), "needs the argument `id`");
    check(
        "cat",
        json!({"action": "apply", "id": "h_1"}),
        "needs the argument `input`",
    );
    // A handle belongs to the tool that it was spawned from.
    check("cat", json!({"action": "fetch", "id": "h_2"}), "background");
}

#[test]
fn s051_the_arguments_of_spawn_are_checked() {
    let shop = Workshop::new(TOOLS, &[]);
    let refusal = shop.refusal("check", json!({"action": "spawn", "code": "many"}));
    assert!(refusal.contains("`code` must be integer"), "{refusal}");
    let refusal = shop.refusal("check", json!({"action": "spawn", "colour": 1}));
    assert!(refusal.contains("`colour` is not known"), "{refusal}");
    assert!(shop.engine.handles.list().is_empty());
}

#[test]
fn x20_ids_are_numbered_or_the_callers_own() {
    let shop = Workshop::new(TOOLS, &[]);
    let spawn = |arguments: Value| shop.report("cat", arguments).id.to_string();
    assert_eq!(spawn(json!({"action": "spawn"})), "h_1");
    assert_eq!(spawn(json!({"action": "spawn", "id": "build"})), "build");
    assert_eq!(spawn(json!({"action": "spawn", "id": "h_2"})), "h_2");
    assert_eq!(spawn(json!({"action": "spawn"})), "h_3");
    let taken = shop.refusal("cat", json!({"action": "spawn", "id": "build"}));
    assert!(taken.contains("build"), "{taken}");
    shop.report("cat", json!({"action": "abort", "id": "build"}));
    assert_eq!(spawn(json!({"action": "spawn", "id": "build"})), "build");
}

#[test]
fn s002_s064_several_run_beside_each_other() {
    let shop = Workshop::new(TOOLS, &[]);
    for _ in 0..4 {
        shop.report("cat", json!({"action": "spawn"}));
    }
    for number in [3, 1, 4, 2] {
        let id = format!("h_{number}");
        let input = format!("to {number}\n");
        let report = shop.report("cat", json!({"action": "apply", "id": id, "input": input}));
        let mut said = report.state.content().to_text();
        if said.is_empty() {
            said = shop.until_said("cat", &id, "to");
        }
        assert_eq!(said, input);
    }
    // A call to another tool does not wait for them.
    assert_eq!(
        shop.called("plan", json!({"action": "prev"})),
        "planned prev\n"
    );
}

#[test]
fn s056_a_definition_can_declare_it_too() {
    let config = r#"
[tools.job]
source = "local"
run = "unattended"
command = "cat"
parameters.action = { type = "string", enum = ["spawn", "fetch", "abort"] }
"#;
    let shop = Workshop::new(config, &[]);
    let spawned = shop.report("job", json!({"action": "spawn"}));
    assert_eq!(spawned.state.status(), StateName::Running);
    let refusal = shop.refusal("job", json!({"action": "apply", "id": "h_1", "input": ""}));
    assert!(
        refusal.contains("its actions are: spawn, fetch, abort"),
        "{refusal}"
    );
}

#[test]
fn the_sandbox_holds_a_handle_as_it_holds_a_call() {
    let config = r#"
[tools.look]
source = "local"
run = "unattended"
stateful = true
command = { program = "sh", args = ["-c", "cat .env; cat secret; echo over; echo x > made"] }
access.fs = [{ path = ".", read = true }, { path = "secret" }]
"#;
    let files = [(".env", "KEY=1\n"), ("secret", "hidden\n")];
    let shop = Workshop::new(config, &files);
    let spawned = shop.report("look", json!({"action": "spawn"}));
    let mut said = spawned.state.content().to_text();
    if spawned.state.status() != StateName::Stopped {
        said.push_str(&shop.until("look", "h_1", StateName::Stopped).1);
    }
    assert!(said.contains("over"), "{said}");
    assert!(
        !said.contains("KEY=1") && !said.contains("hidden"),
        "{said}"
    );
    assert!(!shop.root.join("made").exists());
}

#[test]
fn s050_s055_what_a_model_is_told() {
    use jig_proto::SchemaForm;

    let shop = Workshop::new(TOOLS, &[]);
    let names = |form: SchemaForm| -> Vec<String> {
        let published = shop.engine.published(form).unwrap();
        published.into_iter().map(|one| one.name).collect()
    };
    let flat = names(SchemaForm::Flat);
    assert!(
        flat.contains(&"cat".to_owned()) && flat.contains(&"await".to_owned()),
        "{flat:?}"
    );
    let split = names(SchemaForm::Split);
    for name in [
        "check_spawn",
        "check_fetch",
        "check_abort",
        "background_fetch",
        "plan",
    ] {
        assert!(split.contains(&name.to_owned()), "{split:?}");
    }
    assert!(!split.contains(&"check_apply".to_owned()), "{split:?}");

    // What a split tool is called with is a command of the whole.
    let published = shop.engine.published(SchemaForm::Split).unwrap();
    let spawn = published
        .iter()
        .find(|one| one.name == "cat_spawn")
        .unwrap();
    let arguments = spawn.arguments(serde_json::Map::new());
    let report = shop.report(&spawn.tool, Value::Object(arguments));
    assert_eq!(report.state.status(), StateName::Running);
}

#[test]
fn s055_published_names_are_unique() {
    use jig_proto::SchemaForm;

    // A tool that has the name of a part of another.
    let config = format!("{TOOLS}\n[tools.cat_spawn]\nsource = \"local\"\ncommand = \"true\"\n");
    let shop = Workshop::new(&config, &[]);
    let published = shop.engine.published(SchemaForm::Split).unwrap();
    let named = |name: &str| published.iter().filter(|one| one.name == name).count();
    assert!(published.iter().all(|one| named(&one.name) == 1));
    let of = |name: &str| published.iter().find(|one| one.name == name).unwrap();
    assert_eq!(
        (
            of("cat_spawn").tool.as_str(),
            of("cat_spawn_2").tool.as_str()
        ),
        ("cat", "cat_spawn")
    );
}
