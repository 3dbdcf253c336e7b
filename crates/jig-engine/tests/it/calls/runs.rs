//! Who is asked before a tool runs: rules on arguments, and consent for the rest of a turn (S-080, J-023).

use jig_engine::{About, Answer, CallError, Engine, Nobody, Turn};
use serde_json::{Value, json};

use crate::calls::{Person, World, call};

const RULES: &str = r#"
[tools.fs_create_file]
run = [
    { arg = "/path", prefix = "src/", mode = "unattended" },
    { arg = "/path", prefix = "locked/", mode = "skip" },
    { arg = "/path", prefix = "docs/", mode = "ask" },
    { mode = "ask" },
]
[tools.fs_create_file.access]
fs = [{ path = ".", read = true, write = true }]
"#;

fn yes() -> Answer {
    Answer::Given(json!(true))
}

fn for_turn() -> Answer {
    Answer::GivenForTurn(json!(true))
}

fn create(engine: &Engine, path: &str, person: &mut Person) -> Result<String, CallError> {
    let arguments = json!({ "path": path, "content": "x" });
    call(engine, "fs_create_file", arguments, person)
}

#[test]
fn the_first_rule_that_matches_the_arguments_says_who_is_asked() {
    let world = World::new(&[]);
    let engine = world.engine(RULES);
    let check = |path: &str, asked: usize, created: bool| {
        let mut person = Person::who_says([yes()]);
        let result = create(&engine, path, &mut person);
        assert_eq!(person.asked.len(), asked, "{path}");
        assert_eq!(result.is_ok(), created, "{path}: {result:?}");
    };
    check("src/a.txt", 0, true);
    check("docs/a.txt", 1, true);
    check("a.txt", 1, true);
    check("srcs/a.txt", 1, true);
    check("locked/a.txt", 0, false);
    // No spelling gets around a rule.
    check("src/../b.txt", 1, true);
    check("./src/b.txt", 0, true);
    check("src/../locked/b.txt", 0, false);
    check("docs/../locked/./b.txt", 0, false);
}

/// A person is shown the beginning of what is long: nothing that is short hides behind it.
#[test]
fn what_is_short_is_shown_before_what_is_long() {
    let world = World::new(&[]);
    let engine = world.engine(
        r#"
        [tools.send]
        source = "local"
        command = "true"
        [tools.send.parameters]
        text = { type = "string", required = true }
        to = { type = "string", required = true }
        "#,
    );
    let mut person = Person::who_says([Answer::Given(json!(false))]);
    let text = "x".repeat(100_000);
    let arguments = json!({ "text": text, "to": "evil.example" });
    let _ = call(&engine, "send", arguments, &mut person);
    let context = &person.shown[0];
    assert!(
        context[..100].contains("evil.example"),
        "{}",
        &context[..100]
    );
    assert!(context.contains(&text));
}

/// A link below the prefix leads elsewhere: whoever put it there must not choose what runs unattended.
#[test]
fn no_link_gets_around_a_rule() {
    let world = World::new(&[
        ("src/a.txt", ""),
        ("docs/deep/a.txt", ""),
        ("locked/a.txt", ""),
    ]);
    world.link("src/up", "..");
    world.link("src/inner", ".");
    world.link("src/docs", "../docs/deep");
    world.link("src/locked", "../locked");
    world.link("src/nowhere", "../new.txt");
    world.link("src/loop", "loop");
    world.link("into", "src");
    let engine = world.engine(RULES);
    let check = |path: &str, asked: usize| {
        let mut person = Person::who_says([Answer::Given(json!(false))]);
        let _ = create(&engine, path, &mut person);
        assert_eq!(person.asked.len(), asked, "{path}");
    };
    // Nobody can tell where these lead, so that the strictest of the rules holds.
    let refused = |path: &str| {
        let mut person = Person::who_says([yes()]);
        let result = create(&engine, path, &mut person);
        assert!(matches!(result, Err(CallError::Skipped(_))), "{path}");
        assert_eq!(person.asked.len(), 0, "{path}");
    };
    check("src/plain.txt", 0);
    check("src/inner/b.txt", 0);
    check("src/up/escaped.txt", 1);
    check("src/inner/up/escaped.txt", 1);
    check("src/docs/escaped.txt", 1);
    // A link that leads below the prefix is not what was named.
    check("into/b.txt", 1);
    // What is never to run does not run through a link.
    refused("src/locked/b.txt");
    refused("src/nowhere");
    refused("src/loop/x");
    // Where `..` goes after a link is elsewhere for other programs.
    refused("src/docs/../escaped.txt");
    let padding = "./".repeat(20 << 10);
    refused(&format!("src/{padding}up/escaped.txt"));
    let climbs = "a/../".repeat(100);
    refused(&format!("src/{climbs}b.txt"));
    for folder in ["", "docs", "docs/deep", "locked"] {
        for name in ["escaped.txt", "new.txt", "b.txt", "x"] {
            let path = world.root.join(folder).join(name);
            assert!(!path.exists(), "{path}");
        }
    }
}

#[test]
fn rules_see_the_defaults_of_arguments_that_are_missing() {
    let world = World::new(&[("src/a.txt", "")]);
    let engine = world.engine(
        r#"
        [tools.fs_list_files]
        run = [{ arg = "/path", equals = ".", mode = "ask" }, { mode = "unattended" }]
        "#,
    );
    let check = |arguments: Value, asked: usize| {
        let mut person = Person::who_says([yes()]);
        call(&engine, "fs_list_files", arguments.clone(), &mut person).unwrap();
        assert_eq!(person.asked.len(), asked, "{arguments}");
    };
    check(json!({}), 1);
    check(json!({ "path": "." }), 1);
    check(json!({ "path": "src" }), 0);
}

#[test]
fn consent_for_the_turn_holds_for_the_rule_that_asked() {
    let world = World::new(&[]);
    let engine = world.engine(RULES);
    let mut person = Person::who_says([for_turn(), yes(), yes()]);
    create(&engine, "docs/a.txt", &mut person).unwrap();
    create(&engine, "docs/b.txt", &mut person).unwrap();
    assert_eq!(person.asked.len(), 1);
    // Another rule has not been agreed to, and a plain yes is for one run.
    create(&engine, "a.txt", &mut person).unwrap();
    create(&engine, "b.txt", &mut person).unwrap();
    assert_eq!(person.asked.len(), 3);
    assert!(person.asked.iter().all(|(about, _)| *about == About::Run));
    let refused = create(&engine, "c.txt", &mut person).unwrap_err();
    assert!(matches!(refused, CallError::NobodyToAsk(_)), "{refused}");
    // What is never to run is not asked about, whatever was agreed to.
    let refused = create(&engine, "locked/a.txt", &mut person).unwrap_err();
    assert!(matches!(refused, CallError::Skipped(_)), "{refused}");
}

#[test]
fn a_no_for_the_turn_is_not_remembered_as_a_yes() {
    let world = World::new(&[]);
    let engine = world.engine(RULES);
    let mut person = Person::who_says([Answer::GivenForTurn(json!(false)), yes()]);
    let refused = create(&engine, "a.txt", &mut person).unwrap_err();
    assert!(matches!(refused, CallError::Declined { .. }), "{refused}");
    create(&engine, "a.txt", &mut person).unwrap();
    assert_eq!(person.asked.len(), 2);
}

/// What one caller agrees to is nothing to another, and nothing to the next turn of the same.
#[test]
fn consent_belongs_to_its_turn() {
    let world = World::new(&[]);
    let base = world.engine(RULES);
    let (mine, yours) = (Turn::default(), Turn::default());
    let mut person = Person::who_says([for_turn()]);
    create(&base.for_turn(&mine), "docs/a.txt", &mut person).unwrap();
    // The turn remembers, not the engine.
    create(&base.for_turn(&mine), "docs/b.txt", &mut person).unwrap();
    assert_eq!(person.asked.len(), 1);
    for other in [base.for_turn(&yours), base] {
        let refused = create(&other, "docs/c.txt", &mut Person::default()).unwrap_err();
        assert!(matches!(refused, CallError::NobodyToAsk(_)), "{refused}");
    }
}

/// A turn may outlive a configuration: somebody agreed to what the tool was then.
#[test]
fn consent_does_not_outlive_what_was_agreed_to() {
    let world = World::new(&[]);
    let turn = Turn::default();
    let engine = |config: &str| world.engine(config).for_turn(&turn);
    let mut person = Person::who_says([for_turn()]);
    create(&engine(RULES), "docs/a.txt", &mut person).unwrap();
    create(&engine(RULES), "docs/b.txt", &mut person).unwrap();
    // Now the third rule is about something else.
    let other = RULES.replace("docs/", "secrets/");
    let refused = create(&engine(&other), "secrets/a.txt", &mut person).unwrap_err();
    assert!(matches!(refused, CallError::NobodyToAsk(_)), "{refused}");

    let program = |command: &str| {
        format!(
            "[tools.t]\nsource = 'local'\nruntime = 'stdio'\nrun = 'ask'\ncommand = '{command}'"
        )
    };
    let mut person = Person::who_says([for_turn()]);
    let told = call(&engine(&program("echo one")), "t", json!({}), &mut person);
    assert!(told.unwrap().contains("one"));
    let refused = call(&engine(&program("echo two")), "t", json!({}), &mut person).unwrap_err();
    assert!(matches!(refused, CallError::NobodyToAsk(_)), "{refused}");
}

/// Whoever writes the arguments agrees to them; but what is never to run does not run for that.
#[test]
fn edited_arguments_are_the_word_of_who_edited_them() {
    let world = World::new(&[]);
    let engine = world.engine(&RULES.replace("{ mode = \"ask\" }", "{ mode = \"edit\" }"));
    let edited = |path: &str| Answer::Given(json!({ "path": path, "content": "x" }));
    let mut person = Person::who_says([edited("docs/a.txt")]);
    create(&engine, "a.txt", &mut person).unwrap();
    assert_eq!(person.asked.len(), 1);
    assert!(world.root.join("docs/a.txt").exists());
    let mut person = Person::who_says([edited("locked/a.txt")]);
    let refused = create(&engine, "a.txt", &mut person).unwrap_err();
    assert!(matches!(refused, CallError::Skipped(_)), "{refused}");
    assert!(!world.root.join("locked").exists());
}

#[test]
fn nobody_there_and_nobody_in_time_are_told_apart() {
    let world = World::new(&[]);
    let engine = world.engine("");
    let check = |answer: Answer, expected: &str| {
        let mut person = Person::who_says([answer]);
        let refused = create(&engine, "a.txt", &mut person).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    };
    check(
        Answer::Unavailable,
        "`fs_create_file` asks before it runs, and nobody can be asked here",
    );
    check(
        Answer::TimedOut,
        "`fs_create_file` asks before it runs, and nobody answered in time",
    );
    check(
        Answer::Rejected("not today".to_owned()),
        "the run of `fs_create_file` was declined: not today",
    );
}

/// Engines for several turns are one engine to the audit log.
#[test]
fn calls_of_all_turns_have_ids_of_their_own() {
    let world = World::new(&[("a.txt", "a")]);
    let lines = std::sync::Arc::new(crate::calls::Lines::default());
    let mut base = world.engine("");
    base.audit = lines.clone();
    let turns = [
        base.for_turn(&Turn::default()),
        base.for_turn(&Turn::default()),
    ];
    for engine in turns.iter().chain(&turns) {
        call(
            engine,
            "fs_read_file",
            json!({ "path": "a.txt" }),
            &mut Nobody,
        )
        .unwrap();
    }
    let entries = lines.0.lock().unwrap();
    let ids: std::collections::HashSet<&str> =
        entries.iter().map(|one| one.call.as_str()).collect();
    assert_eq!((entries.len(), ids.len()), (4, 4));
}
