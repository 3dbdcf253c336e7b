//! What the operating system holds tools to. Each attack has a twin that runs unconfined and succeeds.

use std::os::unix::fs::symlink;

use jig_engine::{CallError, Engine};
use jig_sandbox::Layers;
use serde_json::json;

use crate::stdio::{Person, World, chain};

/// A workspace whose tool runs any script that it is given, with files outside of it.
struct Attack {
    confined: World,
    free: World,
}

impl Attack {
    fn new(settings: &str) -> Self {
        let files = [
            (".env", "TOKEN=precious"),
            ("src/main.rs", "fn main() {}"),
            ("locked/a.txt", "locked"),
            ("../outside/secret.txt", "precious"),
        ];
        let command = "parameters.x.type = 'string'\ncommand = { program = 'sh', args = ['-c', '{{tool.arguments.x}}'] }\n";
        let settings = format!("{command}{settings}");
        let free = |engine: &mut Engine| engine.unconfined = true;
        Self {
            confined: World::with(&settings, &files, |_| {}),
            free: World::with(&settings, &files, free),
        }
    }

    /// The script prints `escaped` when it is free, and fails or prints something else when not.
    fn check(&self, script: &str) {
        let outcome = |world: &World| match world.call(json!({ "x": script })) {
            Ok(text) => text,
            Err(CallError::Tool(error)) => error.message,
            Err(error) => panic!("{}", chain(&error)),
        };
        let free = outcome(&self.free);
        assert!(
            free.contains("escaped"),
            "unconfined, `{script}` does it: {free}"
        );
        let confined = outcome(&self.confined);
        assert!(!confined.contains("escaped"), "`{script}`: {confined}");
    }

    /// The script works also when it is confined.
    fn works(&self, script: &str) -> String {
        let result = self.confined.call(json!({ "x": script }));
        result.unwrap_or_else(|error| panic!("`{script}`: {}", chain(&error)))
    }
}

#[test]
fn x62_a_hidden_file_is_not_read() {
    let attack = Attack::new("");
    attack.check("grep -q precious .env && echo escaped");
    attack.check("grep -rq precious . && echo escaped");
    attack.check("ln .env other; grep -q precious other && echo escaped");
    attack.check("mv .env moved && grep -q precious moved && echo escaped");
    let attack = Attack::new("");
    attack.check("echo changed > .env && echo escaped");
    // A rule that names it opens it.
    let world = World::with(
        "command = 'cat .env'\naccess.fs = [{ path = '.', read = true }, { path = '.env', read = true }]",
        &[(".env", "TOKEN=x")],
        |_| {},
    );
    assert_eq!(world.text(), "TOKEN=x");
}

#[test]
fn g121_x62_a_link_leads_nowhere() {
    let attack = Attack::new("");
    for world in [&attack.confined, &attack.free] {
        symlink("../outside/secret.txt", world.root.join("link")).unwrap();
        symlink("../outside", world.root.join("directory")).unwrap();
        let absolute = world.root.parent().unwrap().join("outside/secret.txt");
        symlink(absolute, world.root.join("absolute")).unwrap();
    }
    attack.check("grep -q precious link && echo escaped");
    attack.check("grep -q precious directory/secret.txt && echo escaped");
    attack.check("grep -q precious absolute && echo escaped");
    attack.check("ln -s ../outside/secret.txt mine; grep -q precious mine && echo escaped");
    attack.check("grep -q precious ../outside/secret.txt && echo escaped");
    attack.check("ls ../outside && echo escaped");
}

#[test]
fn x62_a_read_only_grant_is_read_only() {
    let attack = Attack::new("access.fs = [{ path = '.', read = true }]\n");
    for change in [
        "touch src/main.rs",
        "echo x >> src/main.rs",
        "rm src/main.rs",
        "mv src/main.rs src/other.rs",
        "touch new.txt",
        "mkdir new",
        "chmod 777 src/main.rs",
        "ln src/main.rs hard",
        "ln -s src/main.rs soft",
        "truncate -s 0 src/main.rs",
    ] {
        let attack = Attack::new("access.fs = [{ path = '.', read = true }]\n");
        attack.check(&format!("{change} && echo escaped"));
    }
    assert_eq!(attack.works("cat src/main.rs"), "fn main() {}");
}

#[test]
fn x62_a_nested_rule_holds() {
    let settings = "access.fs = [{ path = '.', read = true, write = true }, { path = 'locked', read = true }, { path = 'src', read = false }]\n";
    let attack = Attack::new(settings);
    attack.check("echo x > locked/a.txt && echo escaped");
    attack.check("mv locked other && echo x > other/a.txt && echo escaped");
    attack.check("cat src/main.rs && echo escaped");
    assert_eq!(
        attack.works("cat locked/a.txt; echo fine > mine; cat mine"),
        "lockedfine\n"
    );
}

#[test]
fn x12_nothing_is_made_through_a_dangling_link() {
    let attack = Attack::new("");
    for world in [&attack.confined, &attack.free] {
        let outside = world.root.parent().unwrap().join("outside/new.txt");
        symlink(outside, world.root.join("dangling")).unwrap();
    }
    attack.check("echo x > dangling && echo escaped");
    assert!(!attack.confined.has("../outside/new.txt"));
    assert!(attack.free.has("../outside/new.txt"));
}

#[test]
fn there_is_no_network() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let attack = Attack::new("");
    attack.check(&format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 2); print(\"escaped\")'"
    ));
}

#[test]
fn a_rule_on_hosts_that_cannot_be_kept_is_not_ignored() {
    let fs = "command = 'echo ran'\naccess.fs = [{ path = '.', read = true }]\n";
    let settings = &format!("{fs}access.net = [{{ host = 'example.com', allow = true }}]\n");
    assert_eq!(World::new(settings).text(), "ran\n");
    // Without namespaces nobody can tell names apart.
    let without = |engine: &mut Engine| engine.confine.layers = Layers::TIER_B;
    let error = World::with(settings, &[], without)
        .call(json!({}))
        .unwrap_err();
    assert!(matches!(error, CallError::Unconfinable { .. }), "{error:?}");
    let told = error.to_string();
    for part in ["network namespace", "`jig doctor`", "best-effort"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let best_effort = format!("{settings}sandbox.enforce = 'best-effort'\n");
    let world = World::with(&best_effort, &[], without);
    let person = Person::default();
    assert_eq!(world.asked(json!({}), person.clone()).unwrap(), "ran\n");
    let warned = person.warned.lock().unwrap().join("\n");
    assert!(warned.contains("confinement of network"), "{warned}");
    // Rules that only deny are kept.
    let settings = &format!("{fs}access.net = [{{ host = 'example.com', allow = false }}]\n");
    assert_eq!(World::with(settings, &[], without).text(), "ran\n");
}

#[test]
fn warnings_are_told_once_in_a_turn() {
    let settings = "command = 'echo ran'\naccess.commands = {}\n";
    let world = World::new(settings);
    let person = Person::default();
    for _ in 0..3 {
        world.asked(json!({}), person.clone()).unwrap();
    }
    let warned = person.warned.lock().unwrap();
    let about = warned
        .iter()
        .filter(|text| text.contains("rules on programs"));
    assert_eq!(about.count(), 1, "{warned:?}");
}

#[test]
fn a_tool_that_is_held_to_everything_needs_no_warning() {
    let world = World::new("command = 'echo ran'\n");
    let person = Person::default();
    world.asked(json!({}), person.clone()).unwrap();
    assert_eq!(person.warned.lock().unwrap()[..], [""; 0]);
}

/// A tool must not write the rules that the next call of it is held to.
#[test]
fn configuration_that_a_tool_makes_is_refused_or_moved_away() {
    let state = tempfile::tempdir().unwrap();
    let place = state.path().to_owned();
    let settings = "parameters.x.type = 'string'\ncommand = { program = 'sh', args = ['-c', '{{tool.arguments.x}}'] }\n";
    let script = json!({ "x": "mkdir .jig && echo 'x = 1' > .jig/config.toml; echo done" });
    let world = World::with(settings, &[], |engine| {
        engine.confine.state = Some(place.clone());
    });
    let failing = json!({ "x": "mkdir .jig" });
    let told = world.call(failing).unwrap_err().to_string();
    assert!(!world.has(".jig"), "{told}");
    let world = World::with(settings, &[], |engine| {
        engine.confine.state = Some(place);
        engine.confine.layers.supervisor = false;
    });
    let error = world.call(script).unwrap_err();
    let CallError::Tool(error) = error else {
        panic!("{error:?}");
    };
    let told = format!("{}\n{}", error.message, error.trace.join("\n"));
    assert!(told.contains("`.jig` appeared"), "{told}");
    assert!(told.contains("moved to"), "{told}");
    assert!(told.contains("access.fs"), "{told}");
    assert!(told.contains("it said: done"), "{told}");
    assert!(!world.has(".jig/config.toml"));
    // What exists cannot be changed at all.
    let error = world
        .call(json!({ "x": "echo >> jig.toml && echo escaped" }))
        .unwrap_err();
    assert!(!error.to_string().contains("escaped"), "{error}");
}

/// DESIGN: the files that `command` names literally belong to the tool, those of a template do not.
#[test]
fn a_tool_reads_its_own_program_and_no_other() {
    let settings = "command = 'sh tool.sh {{tool.arguments.x}}'\nparameters.x.type = 'string'\n\
                    access.fs = [{ path = 'data', read = true }]\n";
    let files = [
        ("tool.sh", "cat \"$1\" 2>&1"),
        ("other.sh", "precious"),
        ("data/a.txt", "data"),
    ];
    let world = World::with(settings, &files, |_| {});
    assert_eq!(world.call(json!({ "x": "data/a.txt" })).unwrap(), "data");
    assert_eq!(world.call(json!({ "x": "tool.sh" })).unwrap(), files[0].1);
    let error = world.call(json!({ "x": "other.sh" })).unwrap_err();
    assert!(!error.to_string().contains("precious"), "{error}");
}

#[test]
fn the_environment_is_what_rules_grant() {
    let settings = "command = 'env'\naccess.env = [{ name = 'JIG_TEST_GRANTED', read = true }]\n";
    let world = World::with(settings, &[], |engine| {
        engine.env = [
            ("JIG_TEST_GRANTED", "seen-by-the-tool"),
            ("JIG_TEST_OTHER", "hidden-value"),
        ]
        .into_iter()
        .collect();
    });
    let text = world.text();
    // It has the value; whoever reads its result does not.
    assert!(text.contains("JIG_TEST_GRANTED=[REDACTED]"), "{text}");
    assert!(!text.contains("hidden-value"), "{text}");
    assert!(
        !text.contains("HOME=/root") && text.contains("HOME="),
        "{text}"
    );
}

#[test]
fn paths_outside_of_the_workspace_are_declared_apart() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("a.txt"), "from home").unwrap();
    std::fs::write(home.path().join("private.txt"), "precious").unwrap();
    let settings = "command = { program = 'sh', args = ['-c', '{{tool.arguments.x}}'] }\n\
                    parameters.x.type = 'string'\nsandbox.system = ['~/data']\n";
    let place = home.path().to_owned();
    let world = World::with(settings, &[], |engine| engine.confine.home = Some(place));
    let run = |script: String| match world.call(json!({ "x": script })) {
        Ok(text) => text,
        Err(error) => error.to_string(),
    };
    let place = home.path().display();
    assert_eq!(run(format!("cat {place}/data/a.txt")), "from home");
    let told = run(format!("cat {place}/private.txt"));
    assert!(!told.contains("precious"), "{told}");
    let told = run(format!("echo x > {place}/data/a.txt && echo escaped"));
    assert!(!told.contains("escaped"), "{told}");
}

#[test]
fn limits_of_the_tree_are_told_in_words() {
    let world = World::python(
        "sandbox.limits.memory = '200MiB'\nsandbox.limits.time = '60s'\n",
        // Each of them alone stays below the limit.
        "for _ in range(5):\n  if os.fork() == 0:\n    x = bytearray(b'x') * (80 << 20); time.sleep(50)\ntime.sleep(50)",
    );
    assert_eq!(
        world.error().message,
        "`tool` used more than 200 MiB of memory and was ended"
    );

    let world = World::new(
        "command = { program = 'head -c 20000000 /dev/zero > big', shell = true }\nsandbox.limits.file_size = '1MiB'\n",
    );
    let error = world.error();
    let told = format!("{} {}", error.message, error.trace.join(" "));
    assert!(
        told.contains("could not write a file of more than 1 MiB"),
        "{told}"
    );
}

#[test]
fn a_limit_that_a_tool_survived_is_part_of_its_error() {
    let world = World::python(
        "sandbox.limits.processes = 50\n",
        "children = []\ntry:\n  for _ in range(1500):\n    pid = os.fork()\n    if pid == 0: time.sleep(5); os._exit(0)\nexcept OSError as error:\n  time.sleep(1)\n  sys.exit(str(error))\nprint('all')",
    );
    let error = world.error();
    let told = format!("{} {}", error.message, error.trace.join(" "));
    assert!(
        told.contains("could not start more than 50 processes"),
        "{told}"
    );
}

/// A workspace that is not on disk is worked on in a directory, and what was changed comes back.
#[test]
fn a_workspace_in_memory() {
    use jig_files::{MemoryFiles, ProjectFiles as _};
    use jig_proto::ProjectPath;
    let files = std::sync::Arc::new(MemoryFiles::new());
    let at = |path: &str| ProjectPath::normalize(path).unwrap();
    files.put_file(&at("a.txt"), "one\n", false).unwrap();
    files.put_file(&at(".env"), "precious\n", false).unwrap();
    let world = World::new(
        "command = { program = 'cat a.txt; cat .env; echo two > b.txt; pwd', shell = true }",
    );
    let config = std::sync::Arc::new(world.engine.config().clone());
    let engine = Engine::new(config, files.clone());
    let text = engine
        .call(
            jig_engine::Call::new("tool", json!({})),
            &mut jig_engine::Nobody,
        )
        .unwrap()
        .into_content()
        .to_text();
    assert!(
        text.starts_with("one\n") && !text.contains("precious"),
        "{text}"
    );
    let place = files.locate(&at("b.txt")).unwrap();
    assert_eq!(&files.read(&place, 100).unwrap()[..], b"two\n");
}
