//! Tools of the runtime `wasm`, as real components in real workspaces, through the engine.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{AuditEntry, AuditSink, CancelToken};
use jig_config::Sources;
use jig_engine::{About, Answer, Ask, Asker, Call, CallError, Engine, Nobody};
use jig_files::{DiskFiles, MemoryFiles, ProjectFiles};
use jig_proto::ProjectPath;
use jig_wasm::CacheDirs;
use serde_json::{Value, json};

/// A component that `cargo xtask guests` has built.
fn guest(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../target/guests/{name}.wasm",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}; run `cargo xtask guests`"))
}

/// Says what it was told to say, and remembers what it was asked.
struct Says(Value, Vec<String>);

impl Asker for Says {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let what = match ask.about {
            About::Access => "access",
            _ => "tool",
        };
        self.1.push(format!("{what}: {}", ask.question.text));
        Answer::Given(self.0.clone())
    }
}

/// Keeps the audit lines.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<String>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        let outcome = entry.outcome.as_deref().unwrap_or_default();
        let line = format!("{} {} {outcome}", entry.operation, entry.target);
        self.0.lock().unwrap().push(line);
        Ok(())
    }
}

const FILES: [(&str, &str); 4] = [
    ("src/main.rs", "fn main() {}\n"),
    ("src/private/key.txt", "hidden\n"),
    (".env", "SECRET=1\n"),
    ("notes.md", "notes\n"),
];

/// A workspace on the disk, and the same in memory.
struct World {
    folder: tempfile::TempDir,
    disk: Arc<dyn ProjectFiles>,
    memory: Arc<dyn ProjectFiles>,
    config: String,
}

impl World {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        let memory = MemoryFiles::new();
        let files = FILES
            .iter()
            .map(|(path, content)| (*path, content.as_bytes().to_vec()));
        let guests = ["test", "hostile"].map(|name| (name, guest(name)));
        let guests = guests.iter().map(|(name, bytes)| match *name {
            "test" => ("tools/test.wasm", bytes.clone()),
            _ => ("tools/hostile.wasm", bytes.clone()),
        });
        for (path, content) in files.chain(guests) {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), &content).unwrap();
            memory
                .put_file(&ProjectPath::normalize(path).unwrap(), content, false)
                .unwrap();
        }
        Self {
            disk: Arc::new(DiskFiles::open(&root).unwrap()),
            memory: Arc::new(memory),
            config: config.to_owned(),
            folder,
        }
    }

    fn root(&self) -> Utf8PathBuf {
        let root = Utf8Path::from_path(self.folder.path()).unwrap();
        root.canonicalize_utf8().unwrap()
    }

    fn engine(&self, files: &Arc<dyn ProjectFiles>) -> Engine {
        std::fs::write(self.root().join("jig.toml"), &self.config).unwrap();
        let loaded = jig_config::load(&Sources::new(self.root()));
        let loaded = loaded.unwrap_or_else(|errors| panic!("{}\n{errors}", self.config));
        let mut engine = Engine::new(Arc::new(loaded.config), Arc::clone(files));
        // Compiled once for all tests.
        let guests = Utf8PathBuf::from(format!(
            "{}/../../target/guests",
            env!("CARGO_MANIFEST_DIR")
        ));
        engine.wasm.cache = Some(CacheDirs {
            code: guests.join("cache").into(),
            key: guests.join("cache.key").into(),
        });
        engine
    }

    /// One engine for each kind of files.
    fn engines(&self) -> [Engine; 2] {
        [self.engine(&self.disk), self.engine(&self.memory)]
    }
}

/// What a call came to, as text.
fn outcome(engine: &Engine, arguments: Value) -> String {
    told(engine.call(Call::new("tool", arguments), &mut Nobody))
}

fn told(result: Result<jig_engine::Reply, CallError>) -> String {
    match result {
        Ok(reply) => reply.into_content().to_text(),
        Err(CallError::Tool(error)) => format!("error: {}", error.message),
        Err(error) => format!("failed: {error}"),
    }
}

const TEST: &str = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\nwasm = 'tools/test.wasm'\n\
                    parameters.path.type = 'string'\nparameters.path.required = true\n";

const HOSTILE: &str = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\nwasm = 'tools/hostile.wasm'\n\
                       parameters.action.type = 'string'\nparameters.action.required = true\n\
                       parameters.id.type = 'string'\nparameters.text.type = 'string'\n";

#[test]
fn w040_w041_w071_x18_a_local_tool_is_selected_in_three_ways_and_reads_a_file() {
    for settings in [
        "wasm = 'tools/test.wasm'",
        "wasm = './tools/test.wasm'\nruntime = 'wasm'",
        "command = 'tools/test.wasm'",
        "command = 'tools/test.wasm'\nwasm = 'tools/test.wasm'",
        // W-042: the command is not what runs.
        "command = 'false'\nwasm = 'tools/test.wasm'",
    ] {
        for table in ["tools", "conversation.tools"] {
            let world = World::new(&format!(
                "[{table}.tool]\nsource = 'local'\nrun = 'unattended'\n{settings}\n\
                 parameters.path.type = 'string'\nparameters.path.required = true\n"
            ));
            for engine in world.engines() {
                let read = outcome(&engine, json!({ "path": "src/main.rs" }));
                assert_eq!(read, "fn main() {}\n", "{table} {settings}");
            }
        }
    }
}

#[test]
fn w025_w070_nothing_outside_the_workspace_is_reached() {
    let world = World::new(TEST);
    for engine in world.engines() {
        for path in [
            "/etc/passwd",
            "../../etc/passwd",
            "../../../../../../etc/passwd",
            "src/../../x",
        ] {
            let read = outcome(&engine, json!({ "path": path }));
            assert!(
                read.starts_with("error: Failed to read file: "),
                "{path}: {read}"
            );
        }
    }
}

#[test]
fn w060_w071_the_guests_own_errors_are_outcomes() {
    let world = World::new(TEST);
    for engine in world.engines() {
        let read = outcome(&engine, json!({ "path": "missing" }));
        assert!(
            read.starts_with("error: Failed to read file: No such file"),
            "{read}"
        );
        let error = engine
            .call(Call::new("tool", json!({})), &mut Nobody)
            .unwrap_err();
        assert!(matches!(error, CallError::Arguments { .. }), "{error}");
    }
}

#[test]
fn x19_rules_hold_for_each_path_and_a_denial_says_what_would_allow_it() {
    let rules = "[[tools.tool.access.fs]]\npath = 'src'\nread = true\n\
                 [[tools.tool.access.fs]]\npath = 'src/private'\nread = false\n";
    let world = World::new(&format!("{TEST}{rules}"));
    for engine in world.engines() {
        assert_eq!(
            outcome(&engine, json!({ "path": "src/main.rs" })),
            "fn main() {}\n"
        );
        for (path, hint) in [
            ("src/private/key.txt", "src/private/key.txt"),
            ("notes.md", "notes.md"),
        ] {
            let result = engine.call(Call::new("tool", json!({ "path": path })), &mut Nobody);
            let Err(CallError::Tool(error)) = result else {
                panic!("{path} was read");
            };
            assert!(
                error.message.contains("Permission denied"),
                "{}",
                error.message
            );
            let denial = error.denials.first().unwrap_or_else(|| panic!("{error:?}"));
            assert!(denial.to_string().contains(hint), "{denial}");
        }
    }
}

#[test]
fn what_no_rule_covers_is_asked() {
    let world = World::new(TEST);
    for engine in world.engines() {
        let mut asker = Says(json!("once"), Vec::new());
        let read = engine.call(Call::new("tool", json!({ "path": ".env" })), &mut asker);
        assert_eq!(told(read), "SECRET=1\n");
        assert_eq!(asker.1, ["access: Allow `tool` to read `.env`?"]);
        let refused = outcome(&engine, json!({ "path": ".env" }));
        assert!(refused.contains("Permission denied"), "{refused}");
    }
}

#[test]
fn every_open_leaves_one_line_in_the_log() {
    let world = World::new(TEST);
    for files in [&world.disk, &world.memory] {
        let sink = Arc::new(Kept::default());
        let mut engine = world.engine(files);
        engine.audit = sink.clone();
        outcome(&engine, json!({ "path": "src/main.rs" }));
        // The call has one line for its start and one for its end.
        let call = "call {\"path\":\"src/main.rs\"} ";
        assert_eq!(
            *sink.0.lock().unwrap(),
            [call, "fs.read src/main.rs ok", &format!("{call}ok")]
        );
    }
}

#[test]
fn w061_what_cannot_run_says_why() {
    let check = |settings: &str, file: Option<&[u8]>, expected: &str| {
        let world = World::new(&format!(
            "[tools.tool]\nsource = 'local'\nrun = 'unattended'\n{settings}"
        ));
        if let Some(bytes) = file {
            std::fs::write(world.root().join("tools/other.wasm"), bytes).unwrap();
        }
        let engine = world.engine(&world.disk);
        let said = outcome(&engine, json!({}));
        assert!(said.contains(expected), "{settings}: {said}");
    };
    check(
        "wasm = 'tools/none.wasm'",
        None,
        "Wasm binary not found: tools/none.wasm",
    );
    check(
        "wasm = 'tools'\nruntime = 'wasm'",
        None,
        "the component `tools` cannot be opened",
    );
    check(
        "wasm = 'tools/other.wasm'",
        Some(b"no component"),
        "Failed to compile Wasm component:",
    );
    check(
        "wasm = 'tools/other.wasm'",
        Some(b""),
        "Failed to compile Wasm component:",
    );
    // A core module, and nothing else.
    check(
        "wasm = 'tools/other.wasm'",
        Some(b"\0asm\x01\0\0\0"),
        "Failed to compile Wasm component:",
    );
}

#[test]
fn x45_a_file_that_is_replaced_is_noticed() {
    let world = World::new(TEST);
    let engine = world.engine(&world.disk);
    let read = || outcome(&engine, json!({ "path": "notes.md" }));
    assert_eq!(read(), "notes\n");
    let path = world.root().join("tools/test.wasm");
    std::fs::write(&path, guest("hostile")).unwrap();
    assert_eq!(read(), "error: Invalid arguments: `action` is missing");
    std::fs::write(path.with_extension("new"), guest("test")).unwrap();
    std::fs::rename(path.with_extension("new"), &path).unwrap();
    assert_eq!(read(), "notes\n");
}

#[test]
fn w013_a_question_is_answered_and_the_component_called_again() {
    let world = World::new(HOSTILE);
    for engine in world.engines() {
        let call = || {
            Call::new(
                "tool",
                json!({ "action": "ask", "id": "sure", "text": "Sure?" }),
            )
        };
        let mut asker = Says(json!(true), Vec::new());
        assert_eq!(told(engine.call(call(), &mut asker)), "true");
        assert_eq!(asker.1, ["tool: Sure?"]);
        // An answer that is known is not asked for.
        let known = Call {
            answers: [("sure".to_owned(), json!(false))].into_iter().collect(),
            ..call()
        };
        assert_eq!(told(engine.call(known, &mut Nobody)), "false");
        let refused = told(engine.call(call(), &mut Nobody));
        assert!(refused.starts_with("error: "), "{refused}");
    }
}

#[test]
fn w010_arguments_are_formatted_without_any_access() {
    let world = World::new(TEST);
    let engine = world.engine(&world.disk);
    // It knows nothing of the action, tries to read, and gets nowhere.
    let call = Call::new("tool", json!({ "path": "notes.md" }));
    assert_eq!(engine.format_arguments(&call).unwrap(), None);
    let world = World::new(HOSTILE);
    let engine = world.engine(&world.disk);
    let formatted = engine.format_arguments(&Call::new("tool", json!({ "action": "echo" })));
    let formatted: Value = serde_json::from_str(&formatted.unwrap().unwrap()).unwrap();
    assert_eq!(formatted["action"], "format-arguments");
}

#[test]
fn w011_x42_the_root_is_what_the_guest_sees() {
    let world = World::new(HOSTILE);
    for engine in world.engines() {
        let echoed: Value =
            serde_json::from_str(&outcome(&engine, json!({ "action": "echo" }))).unwrap();
        assert_eq!(echoed["root"], "/workspace");
        assert_eq!(echoed["action"], "run");
        assert_eq!(echoed["name"], "tool");
    }
}

#[test]
fn w062_x43_a_call_is_cancelled_in_the_middle_of_a_loop() {
    let world = World::new(HOSTILE);
    for action in ["spin", "sleep"] {
        let engine = world.engine(&world.disk);
        // Compiled before, so that it is the loop that is cancelled.
        outcome(&engine, json!({ "action": "echo" }));
        let cancel = CancelToken::new();
        let call = Call {
            cancel: Some(cancel.clone()),
            ..Call::new("tool", json!({ "action": action }))
        };
        let ended = Arc::new(Mutex::new(None));
        let result = thread::scope(|scope| {
            let running = scope.spawn(|| {
                let result = told(engine.call(call, &mut Nobody));
                *ended.lock().unwrap() = Some(Instant::now());
                result
            });
            // No event tells how far a loop has come.
            jig_testkit::let_pass(Duration::from_millis(200));
            let asked = Instant::now();
            cancel.cancel();
            let result = running.join().unwrap();
            let took = ended.lock().unwrap().unwrap().duration_since(asked);
            assert!(took < Duration::from_secs(5), "{action}: {took:?}");
            result
        });
        assert!(result.contains("cancel"), "{action}: {result}");
    }
}

/// Somebody works in their home: the key that vouches for native code lies in the workspace, which a tool may
/// change. Whoever has it, or puts one of their own in its place, has their code run outside of everything.
#[test]
fn the_key_of_compiled_code_is_out_of_reach_also_in_the_workspace() {
    let world = World::new(STEPS);
    let root = world.root();
    std::fs::write(root.join("jig.toml"), &world.config).unwrap();
    let state = root.join(".local/state/jig");
    let sources = Sources {
        state: Some(state.clone()),
        ..Sources::new(root.clone())
    };
    let config = Arc::new(jig_config::load(&sources).unwrap().config);
    let mut engine = Engine::new(config, Arc::clone(&world.disk));
    engine.wasm.cache = Some(CacheDirs {
        code: root.join(".cache/jig/wasm").into(),
        key: state.join("wasm.key").into(),
    });
    let steps = json!([
        ["read", ".local/state/jig/wasm.key"],
        ["write", ".local/state/jig/wasm.key", "x"],
        ["remove", ".local/state/jig/wasm.key"],
        ["rename", ".local/state/jig/wasm.key", "key"],
        ["rename", ".local/state/jig", "jig"],
        ["rename", ".local/state", "state"],
        ["rename", ".local", "local"],
        ["mkdirs", "forged/state/jig"],
        ["write", "forged/state/jig/wasm.key", "x"],
        ["rename", "forged", ".local"],
        ["rename", "forged/state", ".local/state"],
        ["rename", "forged/state/jig", ".local/state/jig"],
        ["write", "notes.md", "x"],
    ]);
    let done = outcome(&engine, json!({ "action": "fs", "steps": steps }));
    let key =
        std::fs::read(state.join("wasm.key")).unwrap_or_else(|error| panic!("{error}: {done}"));
    assert_eq!(key.len(), 32, "{done}");
    let done: Vec<String> = serde_json::from_str(&done).unwrap();
    let worked: Vec<usize> = (0..done.len()).filter(|step| done[*step] == "ok").collect();
    // What is nobody's, and no more.
    assert_eq!(worked, [7, 8, 12], "{done:?}");
}

/// The same where nobody says that it is the state of jig: nothing is kept then.
#[test]
fn a_key_in_the_workspace_that_nothing_protects_is_not_used() {
    let world = World::new(STEPS);
    let mut engine = world.engine(&world.disk);
    let root = world.root();
    engine.wasm.cache = Some(CacheDirs {
        code: root.join("cache/wasm").into(),
        key: root.join("state/wasm.key").into(),
    });
    outcome(&engine, json!({ "action": "echo" }));
    assert!(!root.join("state").exists());
    assert!(!root.join("cache").exists());
    // By a link from elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let mut engine = world.engine(&world.disk);
    engine.wasm.cache = Some(CacheDirs {
        code: elsewhere.path().join("cache"),
        key: link.join("state/wasm.key"),
    });
    outcome(&engine, json!({ "action": "echo" }));
    assert!(!root.join("state").exists());
}

const STEPS: &str = "[tools.tool]\nsource = 'local'\nrun = 'unattended'\nwasm = 'tools/hostile.wasm'\n\
                     parameters.action.type = 'string'\nparameters.action.required = true\n\
                     parameters.steps.type = 'array'\nparameters.steps.items.type = 'array'\n";

#[test]
fn w021_x09_without_a_rule_a_local_component_changes_the_workspace() {
    let world = World::new(&format!("{HOSTILE}parameters.steps.type = 'array'\n"));
    for engine in world.engines() {
        let steps = json!([
            ["write", "/workspace/new.txt", "new"],
            ["read", "/workspace/new.txt"]
        ]);
        let done = outcome(&engine, json!({ "action": "fs", "steps": steps }));
        assert!(done.contains("new") && !done.contains("denied"), "{done}");
    }
    let written = std::fs::read_to_string(world.root().join("new.txt"));
    assert_eq!(written.unwrap(), "new");
}

#[test]
fn w031_a_builtin_that_jig_has_not_is_named() {
    let world = World::new("[tools.tool]\nsource = 'builtin.nothing'\nrun = 'unattended'\n");
    let said = outcome(&world.engine(&world.disk), json!({}));
    assert!(said.starts_with("failed: "), "{said}");
    let error = world
        .engine(&world.disk)
        .start(Call::new("tool", json!({})));
    let error = format!("{:?}", error.unwrap_err());
    assert!(error.contains("UnknownBuiltin(\"nothing\")"), "{error}");
}

#[test]
fn w003_w006_w007_one_crate_knows_the_engine_and_no_guest_does() {
    let root = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut known = Vec::new();
    for folder in ["crates", "tools", "guests"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let manifest = entry.unwrap().path().join("Cargo.toml");
            let Ok(text) = std::fs::read_to_string(&manifest) else {
                continue;
            };
            let names = |line: &str| line.starts_with("wasmtime") || line.starts_with("cranelift");
            if text.lines().any(names) {
                known.push(manifest.parent().unwrap().file_name().unwrap().to_owned());
            }
        }
    }
    assert_eq!(known, ["jig-wasm"]);
}
