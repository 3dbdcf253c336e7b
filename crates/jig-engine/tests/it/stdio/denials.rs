//! What a failed call was refused, and that doing what it says helps.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;

use jig_engine::{CallError, Confinement};
use jig_proto::{Denial, ToolError};
use serde_json::json;
use toml::{Table, Value};

use crate::stdio::World;

/// A tool that runs a script and makes a mistake, in a workspace with a home beside it.
struct Mistake {
    settings: String,
    files: Vec<(String, String)>,
}

impl Mistake {
    /// `ROOT` in the script is the folder that holds the workspace `ws` and the home `home`.
    fn new(settings: &str) -> Self {
        Self {
            settings: settings.to_owned(),
            files: Vec::new(),
        }
    }

    fn file(mut self, path: &str, content: &str) -> Self {
        self.files.push((path.to_owned(), content.to_owned()));
        self
    }

    fn world(&self, script: &str) -> World {
        let script = Value::String(script.to_owned());
        let settings = format!(
            "command = {{ program = 'sh', args = ['-c', {script}] }}\n{}",
            self.settings
        );
        let files: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|(path, content)| (path.as_str(), content.as_str()))
            .collect();
        World::with(&settings, &files, |_| {})
    }
}

/// Sets the engine's home and search path, which lie beside the workspace.
fn settle(world: World) -> World {
    let folder = world.root.parent().unwrap().to_owned();
    std::fs::create_dir_all(folder.join("home")).unwrap();
    for entry in std::fs::read_dir(folder.join("home/bin"))
        .into_iter()
        .flatten()
    {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(entry.unwrap().path(), mode).unwrap();
    }
    world.reloaded(|engine| {
        let mut path = engine.confine.search_path.clone();
        path.push(format!(":{folder}/home/bin"));
        engine.confine = Confinement {
            home: Some(PathBuf::from(folder.join("home"))),
            state: Some(PathBuf::from(folder.join("state"))),
            search_path: path,
            ..engine.confine.clone()
        };
    })
}

/// The configuration with a hint pasted into it.
fn pasted(config: &str, hint: &str) -> String {
    let mut config: Table = config.parse().unwrap();
    let hint: Table = hint
        .parse()
        .unwrap_or_else(|error| panic!("{hint}: {error}"));
    merge(&mut config, hint, false);
    toml::to_string(&config).unwrap()
}

/// Rules are added behind those that exist; of all else the new one counts.
fn merge(into: &mut Table, from: Table, are_rules: bool) {
    for (key, value) in from {
        let are_rules = are_rules || key == "access";
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from, are_rules),
            (Some(Value::Array(into)), Value::Array(from)) if are_rules => into.extend(from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn failure(world: &World) -> ToolError {
    match world.call(json!({})) {
        Err(CallError::Tool(error)) => error,
        other => panic!("the script should fail: {other:?}"),
    }
}

/// As [`helps_seen`], and the same without watching: what the program says is enough.
#[track_caller]
fn helps(mistake: &Mistake, script: &str, operation: &str, target: &str) -> Denial {
    let denial = helps_seen(mistake, script, operation, target);
    if mistake.settings.contains(OBSERVED) {
        assert!(!denial.guessed, "{denial}");
        let unwatched = Mistake {
            settings: mistake.settings.replace(OBSERVED, ""),
            files: mistake.files.clone(),
        };
        let guessed = helps_seen(&unwatched, script, operation, target);
        assert!(guessed.guessed, "{guessed}");
        assert_eq!(guessed.why, denial.why);
    }
    denial
}

/// Runs the script, which fails; pastes the hint of the first denial; and runs it again.
#[track_caller]
fn helps_seen(mistake: &Mistake, script: &str, operation: &str, target: &str) -> Denial {
    let world = settle(mistake.world(&placed(script)));
    let error = failure(&world);
    let denial = error.denials.first();
    let denial = denial.unwrap_or_else(|| panic!("`{script}` is not explained: {error:#?}"));
    let folder = world.root.parent().unwrap();
    let told = denial.target.replace(folder.as_str(), "ROOT");
    assert_eq!(
        (denial.operation.as_str(), told.as_str()),
        (operation, target),
        "{error:#?}"
    );
    let hint = denial.hint.as_deref();
    let hint = hint.unwrap_or_else(|| panic!("`{script}` has no hint: {error:#?}"));
    assert_passes(world, hint, script);
    denial.clone()
}

#[track_caller]
fn assert_passes(world: World, hint: &str, script: &str) {
    let path = world.root.join("jig.toml");
    let config = pasted(&std::fs::read_to_string(&path).unwrap(), hint);
    std::fs::write(&path, &config).unwrap();
    let world = settle(world);
    match world.call(json!({})) {
        Ok(_) => {}
        Err(error) => panic!("`{script}` still fails with\n{config}\n{error:#?}"),
    }
}

/// The script finds its own folder by where it stands.
fn placed(script: &str) -> String {
    format!("ROOT=$(dirname \"$PWD\"); {script} && echo done")
}

const OBSERVED: &str = "sandbox.observe = true\n";

#[test]
fn what_the_rules_of_the_workspace_withhold() {
    let rules = |rules: &str| {
        Mistake::new(&format!("{OBSERVED}access.fs = [{rules}]\n"))
            .file("src/a", "a")
            .file("data/b", "b")
            .file(".env", "TOKEN=x")
    };
    let readable = rules("{ path = '.', read = true }");
    helps(
        &rules("{ path = 'src', read = true }"),
        "cat data/b",
        "read",
        "data/b",
    );
    let denial = helps(&readable, "echo more >> data/b", "update", "data/b");
    assert_eq!(denial.rule.as_deref(), Some("read on `.` (jig.toml:6)"));
    assert_eq!(denial.grants, ["read on `.`"]);
    helps(&readable, "echo new > data/new", "create", "data/new");
    helps(&readable, "mkdir data/deep", "create", "data/deep");
    helps(&readable, "rm data/b", "delete", "data/b");
    helps(&readable, "cat .env", "read", ".env");
    let unruled = Mistake::new(OBSERVED).file(".env", "TOKEN=x");
    helps(&unruled, "cat .env && echo kept > file", "read", ".env");
}

#[test]
fn programs_of_the_workspace() {
    let settings = format!("{OBSERVED}access.fs = [{{ path = '.', read = true }}]\n");
    let mistake = Mistake::new(&settings).file("../home/bin/frobnicate", "#!/bin/sh\necho frob\n");
    let mistake = mistake.file("run.sh", "#!/bin/sh\necho ran\n");
    let world = settle(mistake.world(&placed("./run.sh")));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.root.join("run.sh"), mode).unwrap();
    let error = failure(&world);
    let denial = error
        .denials
        .first()
        .unwrap_or_else(|| panic!("{error:#?}"));
    assert_eq!(
        (denial.operation.as_str(), denial.target.as_str()),
        ("execute", "run.sh")
    );
    assert_passes(world, denial.hint.as_deref().unwrap(), "./run.sh");

    helps(&mistake, "frobnicate", "run", "frobnicate");
}

#[test]
fn what_lies_outside_the_workspace() {
    let mistake = Mistake::new(OBSERVED)
        .file("../home/.npmrc", "registry=x\n")
        .file("../home/.cache/thing/old", "old\n")
        .file("../other/data", "data\n")
        .file("../home/.cargo/registry/index", "index\n")
        .file("../home/.rustup/toolchains/stable/bin/cargo", "");
    helps(&mistake, "cat ~/.npmrc", "read", "~/.npmrc");
    helps(&mistake, "cat $ROOT/other/data", "read", "ROOT/other/data");
    helps(&mistake, "ls $ROOT/other", "read", "ROOT/other");
    let written = helps(
        &mistake,
        "echo new > $ROOT/home/.cache/thing/new",
        "create",
        "~/.cache/thing/new",
    );
    let hint = "[tools.tool.sandbox]\nsystem = [{ path = \"~/.cache/thing\", write = true }]\n";
    assert_eq!(written.hint.as_deref(), Some(hint));
    helps(
        &mistake,
        "echo new >> $ROOT/home/.cache/thing/old",
        "update",
        "~/.cache/thing/old",
    );
    let preset = helps(
        &mistake,
        "cat ~/.cargo/registry/index",
        "read",
        "~/.cargo/registry/index",
    );
    assert_eq!(
        preset.hint.as_deref(),
        Some("[tools.tool.sandbox]\npresets = [\"rust\"]\n")
    );
}

#[test]
fn a_sensitive_path_outside_is_named_and_not_offered() {
    let mistake = Mistake::new(OBSERVED).file("../home/.ssh/id", "key\n");
    let error = failure(&settle(mistake.world(&placed("cat ~/.ssh/id"))));
    let [denial] = error.denials.as_slice() else {
        panic!("{error:#?}");
    };
    assert_eq!(denial.target, "~/.ssh/id");
    assert!(denial.why.contains("sensitive"), "{denial}");
    assert_eq!(denial.hint, None);
}

#[test]
fn a_socket_of_the_host_is_advised_about() {
    let connect = "python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])' $ROOT/run/s";
    let mistake = Mistake::new(OBSERVED).file("../run/x", "");
    let world = settle(mistake.world(&placed(connect)));
    let socket = world.root.parent().unwrap().join("run/s");
    let _listener = UnixListener::bind(&socket).unwrap();
    let error = failure(&world);
    let denial = error
        .denials
        .iter()
        .find(|denial| denial.operation == "connect");
    let denial = denial.unwrap_or_else(|| panic!("{error:#?}"));
    assert_eq!(denial.hint, None);
    let advised = format!("add \"{socket}\" to `sandbox.system`");
    assert!(
        denial.advice.as_deref().unwrap().ends_with(&advised),
        "{denial}"
    );
    let hint = format!("[tools.tool.sandbox]\nsystem = [\"{socket}\"]\n");
    assert_passes(world, &hint, connect);
}

#[test]
fn a_service_on_the_loopback_of_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"hello\n").unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    });
    let script = format!(
        "python3 -c 'import socket; s = socket.create_connection((\"127.0.0.1\", {port}), 10); assert s.recv(6) == b\"hello\\n\"'"
    );
    let target = format!("localhost:{port}");
    // Python does not say where nobody answered, so only watching tells.
    let denial = helps_seen(&Mistake::new(OBSERVED), &script, "connect", &target);
    let hint =
        format!("[[tools.tool.access.net]]\nhost = \"localhost\"\nport = {port}\nallow = true\n");
    assert_eq!(denial.hint.as_deref(), Some(hint.as_str()));
    served.join().unwrap();
}

#[test]
fn limits_are_offered_twice_as_high() {
    let limit = |limits: &str| Mistake::new(&format!("sandbox.limits = {{ {limits} }}\n"));
    let denial = helps(
        &limit("file_size = '1MiB'"),
        "head -c 1500000 /dev/zero > big",
        "use",
        "file size",
    );
    assert_eq!(
        denial.hint.as_deref(),
        Some("[tools.tool.sandbox.limits]\nfile_size = \"2MiB\"\n")
    );
    helps(
        &limit("output = '64KiB'"),
        "head -c 100000 /dev/zero | tr '\\0' x",
        "use",
        "output",
    );
    let denial = helps(&limit("time = '2s'"), "sleep 2.8", "use", "time");
    assert_eq!(
        denial.hint.as_deref(),
        Some("[tools.tool.sandbox.limits]\ntime = \"4s\"\n")
    );
}

#[test]
fn a_name_that_no_rule_allows_is_told_without_watching() {
    let settings = "access.net = [{ host = 'example.org', allow = true }]\n";
    let script = "python3 -c 'import socket; socket.getaddrinfo(\"denied.example\", 443)'";
    let error = failure(&settle(Mistake::new(settings).world(&placed(script))));
    let denial = error
        .denials
        .iter()
        .find(|denial| denial.target.starts_with("denied.example"));
    let denial = denial.unwrap_or_else(|| panic!("{error:#?}"));
    let hint = "[[tools.tool.access.net]]\nhost = \"denied.example\"\nallow = true\n";
    assert_eq!(denial.hint.as_deref(), Some(hint));
}

#[test]
fn a_tool_that_may_run_twice_is_run_again_to_say_why() {
    let settings = "repeatable = true\naccess.fs = [{ path = '.', read = true }, { path = 'log', write = true, read = true }]\n";
    let mistake = Mistake::new(settings)
        .file("log/runs", "")
        .file("data/b", "b");
    let script = "echo run >> log/runs; echo told; cat data/b && echo x > data/new";
    let world = settle(mistake.world(&placed(script)));
    let error = failure(&world);
    assert_eq!(
        std::fs::read_to_string(world.root.join("log/runs")).unwrap(),
        "run\nrun\n"
    );
    let [denial] = error.denials.as_slice() else {
        panic!("{error:#?}");
    };
    assert_eq!(
        (denial.operation.as_str(), denial.target.as_str()),
        ("create", "data/new")
    );
    // Only the first run has said something.
    assert_eq!(error.message.matches("told").count(), 1, "{error:#?}");
    let hint = denial.hint.clone().unwrap();
    assert_passes(world, &hint, script);

    // One that is not repeatable runs once, and one that succeeds does too.
    let once = Mistake::new(&settings.replace("repeatable = true\n", ""))
        .file("log/runs", "")
        .file("data/b", "b");
    let world = settle(once.world(&placed(script)));
    let denials = failure(&world).denials;
    assert!(denials.iter().all(|denial| denial.guessed), "{denials:#?}");
    assert_eq!(
        std::fs::read_to_string(world.root.join("log/runs")).unwrap(),
        "run\n"
    );
    let world = settle(mistake.world(&placed("echo run >> log/runs")));
    world.text();
    assert_eq!(
        std::fs::read_to_string(world.root.join("log/runs")).unwrap(),
        "run\n"
    );
}

/// Without watching a program says itself which host it did not find.
#[test]
fn a_host_that_a_program_names_is_told_without_a_network() {
    let script = "python3 -c 'import urllib.request as r, sys; sys.exit(\"Could not resolve host: api.example\")'";
    let error = failure(&settle(Mistake::new("").world(&placed(script))));
    let [denial] = error.denials.as_slice() else {
        panic!("{error:#?}");
    };
    let told = (denial.operation.as_str(), denial.target.as_str());
    assert_eq!(told, ("look up", "api.example"));
    let hint = "[[tools.tool.access.net]]\nhost = \"api.example\"\nallow = true\n";
    assert_eq!((denial.hint.as_deref(), denial.guessed), (Some(hint), true));
}

#[test]
fn a_call_that_succeeds_tells_nothing_and_the_model_is_told_in_words() {
    let mistake = Mistake::new(&format!(
        "{OBSERVED}access.fs = [{{ path = '.', read = true }}]\n"
    ));
    let world = settle(mistake.world(&placed("{ echo x > new || true; }")));
    assert!(world.call(json!({})).is_ok());

    let world = settle(mistake.world(&placed("echo x > new")));
    let error = world.call(json!({})).unwrap_err();
    let told: serde_json::Value = serde_json::from_str(&error.for_assistant()).unwrap();
    assert_eq!(told["message"], "Tool 'tool' execution failed.");
    let words = told["denials"][0].as_str().unwrap();
    assert!(words.starts_with("create on `new`: "), "{words}");
    assert!(
        words.contains("to allow it, add:\n    [[tools.tool.access.fs]]\n    path = \".\"\n"),
        "{words}"
    );
}

#[test]
fn every_denial_has_a_line_in_the_log() {
    use jig_broker::{AuditEntry, AuditSink};
    use std::sync::{Arc, Mutex};

    #[derive(Debug, Default)]
    struct Log(Mutex<Vec<AuditEntry>>);
    impl AuditSink for Log {
        fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
            self.0.lock().unwrap().push(entry.clone());
            Ok(())
        }
    }
    let log = Arc::new(Log::default());
    let mistake = Mistake::new(&format!(
        "{OBSERVED}access.fs = [{{ path = '.', read = true }}]\nsandbox.limits = {{ time = '1s' }}\n"
    ));
    let sink = Arc::clone(&log);
    let world = settle(mistake.world(&placed("echo x > new; sleep 30")));
    let world = world.reloaded(move |engine| engine.audit = sink);
    let error = failure(&world);
    assert_eq!(error.denials.len(), 2, "{error:#?}");
    let entries = log.0.lock().unwrap();
    for denial in &error.denials {
        let operation = format!("sandbox.{}", denial.operation);
        let entry = entries.iter().find(|entry| entry.operation == operation);
        let entry = entry.unwrap_or_else(|| panic!("{operation}: {entries:#?}"));
        assert_eq!((&entry.target, &entry.hint), (&denial.target, &denial.hint));
    }
}

#[test]
fn a_call_that_was_given_up_is_not_run_again() {
    use jig_broker::CancelToken;
    use jig_engine::{Call, Nobody};

    let mistake = Mistake::new("repeatable = true\n");
    let world = settle(mistake.world("echo run >> runs; exec sleep 600"));
    let cancel = CancelToken::new();
    let mut call = Call::new("tool", json!({}));
    call.cancel = Some(cancel.clone());
    let engine = std::sync::Arc::clone(&world.engine);
    let called = thread::spawn(move || engine.call(call, &mut Nobody).map(|_| ()));
    jig_testkit::until("the tool has started", || world.has("runs"));
    cancel.cancel();
    let error = called.join().unwrap().unwrap_err();
    let CallError::Tool(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.denials, []);
    let runs = std::fs::read_to_string(world.root.join("runs")).unwrap();
    assert_eq!(runs, "run\n");
}
