#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the files of a place with std::fs"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::thread;

use serde_json::json;

use super::*;
use crate::socket_directory::Claim;

/// A state folder of its own.
struct State {
    folder: tempfile::TempDir,
    env: CommandEnvironment,
}

impl State {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = serde_json::from_value(json!({ "XDG_STATE_HOME": folder.path() })).unwrap();
        Self { folder, env }
    }

    /// The names of all files at the places.
    fn files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.run()) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn run(&self) -> std::path::PathBuf {
        self.folder.path().join("jig/run")
    }

    fn publish(&self, root: &str, tables: Json) -> Registration {
        let snapshot = Arc::new(move || tables.clone());
        Registration::publish(root.into(), &self.env, snapshot).unwrap()
    }

    fn list(&self, root: Option<&str>) -> FoundProxies {
        list(root.map(Utf8Path::new), &self.env).unwrap()
    }

    /// A place at which somebody listens who is not one of ours.
    fn impostor(&self, number: u32) -> (Claim, UnixListener, StationKey) {
        let place = StationPlace::make_proxy("/ws".into(), &self.env, number).unwrap();
        let claim = place.claim(PATIENCE).unwrap().unwrap();
        let (listener, key) = claim.listen().unwrap();
        (claim, listener, key)
    }
}

fn tables() -> Json {
    json!({
        "command": ["agent", "--fast"],
        "clients": [{ "id": "c1", "pipe_id": "p", "open_files": [3], "connected_at": "t" }],
        "files": [{ "fileno": 3, "filename": "a", "mode": "r", "client_id": "c1", "opened_at": "t",
                    "is_top_level": true }],
        "quota": null,
    })
}

/// F-085, F-086: the tables come as they are, for as long as the proxy is there.
#[test]
fn f085_tables_are_found_and_gone() {
    let state = State::new();
    assert_eq!(state.list(None).proxies.len(), 0);
    let one = state.publish("/ws", tables());
    let two = state.publish("/ws", json!({}));
    let other = state.publish("/other", json!({}));
    let found = state.list(Some("/ws"));
    assert_eq!(found.silent, [""; 0]);
    assert_eq!(found.proxies.len(), 2);
    let proxy = &found.proxies[0];
    assert_eq!(Json::Object(proxy.tables.clone()), tables());
    assert_eq!(
        (proxy.workspace.as_str(), proxy.pid),
        ("/ws", std::process::id())
    );
    assert_eq!(state.list(None).proxies.len(), 3);
    assert_eq!(state.list(Some("/other")).proxies.len(), 1);
    assert_eq!(state.list(Some("/w")).proxies.len(), 0);
    drop((one, two, other));
    assert_eq!(state.list(None).proxies.len(), 0);
    assert_eq!(state.files(), [""; 0]);
}

#[test]
fn the_files_are_private() {
    let state = State::new();
    let _one = state.publish("/ws", json!({}));
    let mode = |path| {
        std::fs::symlink_metadata(path)
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(state.run()), 0o700);
    let files = state.files();
    assert_eq!(files.len(), 3);
    for file in files {
        assert_eq!(mode(state.run().join(&file)), 0o600, "{file}");
    }
}

/// A snapshot is taken anew for each question, also for several at once.
#[test]
fn every_question_is_answered() {
    let state = State::new();
    let count = AtomicU32::new(0);
    let snapshot = Arc::new(move || json!({ "number": count.fetch_add(1, Ordering::SeqCst) }));
    let _one = Registration::publish("/ws".into(), &state.env, snapshot).unwrap();
    let mut seen: Vec<u64> = thread::scope(|scope| {
        let ask = || {
            state.list(None).proxies[0].tables["number"]
                .as_u64()
                .unwrap()
        };
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Who cannot read the key is told nothing.
#[test]
fn without_the_key_nothing_is_told() {
    let state = State::new();
    let _one = state.publish("/ws", json!({ "secret": "names of files" }));
    let place = StationPlace::proxies(None, &state.env)
        .unwrap()
        .pop()
        .unwrap();
    let key = place.key().unwrap().to_string();
    let wrong = key.replace(&key[..1], if key.starts_with('0') { "1" } else { "0" });
    let check = |key: &str, expected: &str| {
        let stream = place.connect_at_once().unwrap().unwrap();
        send(&stream, &json!({ "jig": VERSION, "key": key })).unwrap();
        let mut lines = MessageReader::new(
            TimedConnection::new(&stream, Duration::from_secs(20)),
            LONGEST_ANSWER,
        );
        let answer: Option<Json> = lines.message().unwrap();
        let answer = answer.unwrap_or_default().to_string();
        assert!(answer.contains(expected), "{answer}");
        assert_eq!(
            answer.contains("names of files"),
            key.len() == 64 && expected == "ok"
        );
    };
    check(&key, "ok");
    check(&wrong, "this is not the key of the proxy");
    check("", "this is not the key of the proxy");
    // Not even a line is read without end.
    let stream = place.connect_at_once().unwrap().unwrap();
    let endless = "x".repeat(LONGEST_HELLO * 4);
    let _ = (&stream).write_all(endless.as_bytes());
    let mut lines = MessageReader::new(
        TimedConnection::new(&stream, Duration::from_secs(20)),
        LONGEST_ANSWER,
    );
    match lines.message::<Json>() {
        Ok(Some(answer)) => assert!(answer.to_string().contains("too long"), "{answer}"),
        // What was not read makes the kernel reset the connection.
        Ok(None) => {}
        Err(error) => assert!(is_gone(&error), "{error}"),
    }
}

/// What a killed proxy left goes; what belongs to somebody stays, also if they do not listen.
#[test]
fn only_what_is_dead_is_removed() {
    let state = State::new();
    let living = state.publish("/ws", json!({}));
    let mine = state.files();
    // Dead at different moments of its life.
    for (number, endings) in [
        &[".proxy", ".proxy-key", ".proxy-lock"][..],
        &[".proxy-key", ".proxy-lock"],
        &[".proxy", ".proxy-lock"],
        &[".proxy-lock"],
    ]
    .iter()
    .enumerate()
    {
        for ending in *endings {
            let path = state
                .run()
                .join(format!("00000000000000ff-{number}-0{ending}"));
            match *ending {
                ".proxy" => drop(UnixListener::bind(path).unwrap()),
                _ => std::fs::write(path, "").unwrap(),
            }
        }
    }
    assert_eq!(state.files().len(), 11);
    // Somebody holds the place, and does not listen any more.
    let (claim, listener, _) = state.impostor(900);
    drop(listener);
    let found = state.list(None);
    assert_eq!((found.proxies.len(), found.silent), (1, Vec::new()));
    let left = state.files();
    assert_eq!(left.len(), 6, "{left:?}");
    assert!(mine.iter().all(|file| left.contains(file)), "{left:?}");
    drop(claim);
    drop(living);
    assert_eq!(state.files(), [""; 0]);
}

/// However a proxy misbehaves, `jig ps` ends soon, and shows the others.
#[test]
fn who_does_not_answer_is_not_waited_for() {
    let check = |expected: &str, misbehave: fn(&UnixListener)| {
        let state = State::new();
        let _good = state.publish("/ws", tables());
        let (_claim, listener, _) = state.impostor(901);
        let found = thread::scope(|scope| {
            scope.spawn(|| misbehave(&listener));
            let start = Instant::now();
            let found = state.list(None);
            // Generous: the machine may be busy. Without a limit it would be for ever.
            assert!(start.elapsed() < PATIENCE * 10, "{expected}");
            found
        });
        assert_eq!(found.proxies.len(), 1, "{expected}");
        match expected {
            "" => assert_eq!(found.silent, [""; 0]),
            text => assert!(found.silent[0].contains(text), "{:?}", found.silent),
        }
        assert!(found.silent.len() <= 1);
    };
    // It was stopped.
    check("does not answer", |_| {});
    // It drips, byte by byte, for ever.
    check("does not answer", |listener| {
        let (stream, _) = listener.accept().unwrap();
        while (&stream).write_all(b" ").is_ok() {
            jig_testkit::let_pass(Duration::from_millis(20));
        }
    });
    // It never ends its line.
    check("too long", |listener| {
        let (stream, _) = listener.accept().unwrap();
        while (&stream).write_all(&[b'x'; 8192]).is_ok() {}
    });
    check("cannot be asked", |listener| {
        let (stream, _) = listener.accept().unwrap();
        // Who closes before the question has come was never there.
        let _ = (&stream).read(&mut [0; 4096]);
        let _ = (&stream).write_all(b"{\"ok\":{\"workspace\":7}}\n");
    });
    check("cannot be asked", |listener| {
        let (stream, _) = listener.accept().unwrap();
        // Who closes before the question has come was never there.
        let _ = (&stream).read(&mut [0; 4096]);
        let _ = (&stream).write_all(b"nonsense\n");
    });
    // It goes just then.
    check("", |listener| {
        let (stream, _) = listener.accept().unwrap();
        let _ = (&stream).read(&mut [0; 4096]);
    });
}

/// A proxy that was stopped, and whose queue is full, would hold whoever waits for a place in it.
#[test]
fn a_full_queue_is_not_waited_for() {
    let state = State::new();
    let (_claim, listener, _) = state.impostor(902);
    rustix::net::listen(&listener, 0).unwrap();
    let place = || {
        StationPlace::proxies(None, &state.env)
            .unwrap()
            .pop()
            .unwrap()
    };
    let mut waiting = Vec::new();
    while let Ok(stream) = place().connect_at_once() {
        waiting.push(stream.unwrap());
        assert!(waiting.len() < 100, "the queue is never full");
    }
    let found = state.list(None);
    assert!(found.silent[0].contains("does not answer"), "{found:?}");
}

/// The files of clients may have long names, and there may be many.
#[test]
fn tables_are_bounded() {
    let check = |snapshot: Json, bytes: usize, expected: Json| {
        assert_eq!(Json::Object(bounded(snapshot, bytes)), expected);
    };
    let whole = json!({ "clients": [1, 2], "files": [3], "quota": { "used": 1.5 } });
    check(whole.clone(), 1000, whole);
    check(json!([1, 2]), 1000, json!({}));
    check(
        json!({ "clients": [1, 2, 3, 4], "files": ["long".repeat(10), 5], "quota": "q".repeat(10) }),
        6,
        json!({ "clients": [1, 2, 3], "files": [], "omitted": { "clients": 1, "files": 2 } }),
    );
    // As large as clients can make it.
    let row = json!({ "fileno": 3, "filename": "\u{1}".repeat(4096) });
    let state = State::new();
    let rows = vec![row; 1000];
    let _large = state.publish("/ws", json!({ "clients": [], "files": rows }));
    let found = state.list(None);
    assert_eq!(found.silent, [""; 0]);
    let tables = &found.proxies[0].tables;
    let kept = tables["files"].as_array().unwrap().len() as u64;
    let omitted = tables["omitted"]["files"].as_u64().unwrap();
    assert!(kept > 100, "{kept}");
    assert_eq!(kept + omitted, 1000);
}
