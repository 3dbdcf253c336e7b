#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the files of a place with std::fs"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Instant;

use jig_config::{Config, Sources};
use jig_engine::Engine;
use jig_files::MemoryFiles;
use jig_mcp::{Loader, Options, SharedServer};
use serde_json::Value as Json;

use super::client::{AskReply, servers};
use super::*;

struct Memory;

impl Loader for Memory {
    fn load(&self) -> Result<Arc<Config>, String> {
        let loaded = jig_config::load(&Sources::new("/nowhere"));
        let loaded = loaded.map_err(|errors| errors.to_string())?;
        Ok(Arc::new(loaded.config))
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        Ok(Engine::new(
            Arc::clone(config),
            Arc::new(MemoryFiles::new()),
        ))
    }

    fn fingerprint(&self, _: &Config) -> u64 {
        0
    }

    fn workspace(&self) -> String {
        "/nowhere".to_owned()
    }
}

/// A state folder of its own, and a server.
struct Bench {
    folder: tempfile::TempDir,
    env: CommandEnvironment,
    shared: Arc<SharedServer>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = serde_json::from_value(json!({ "XDG_STATE_HOME": folder.path() })).unwrap();
        let shared = SharedServer::new(Box::new(Memory), Options::default()).unwrap();
        Self {
            folder,
            env,
            shared,
        }
    }

    fn listen(&self, root: &str) -> AskSocket {
        listen(self.shared.questions(), root.into(), &self.env).unwrap()
    }

    fn found(&self, root: Option<&str>) -> client::FoundServers {
        servers(root.map(Utf8Path::new), &self.env).unwrap()
    }

    fn files(&self) -> Vec<std::path::PathBuf> {
        let run = self.folder.path().join("jig/run");
        let entries = std::fs::read_dir(run).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn servers_are_found_and_gone() {
    let bench = Bench::new();
    assert_eq!(bench.found(None).servers.len(), 0);
    let one = bench.listen("/ws");
    let two = bench.listen("/ws");
    let other = bench.listen("/other");
    assert_eq!(bench.found(None).servers.len(), 3);
    assert_eq!(bench.found(Some("/ws")).servers.len(), 2);
    assert_eq!(bench.found(Some("/w")).servers.len(), 0);
    let mut found = bench.found(Some("/other")).servers;
    let server = &mut found[0];
    assert_eq!(server.welcome.workspace, "/other");
    assert_eq!(server.welcome.pid, std::process::id());
    assert!(matches!(
        server.ask(&json!({ "do": "list" })).unwrap(),
        AskReply::Ok(list) if list["questions"] == json!([])
    ));
    let AskReply::Error(refusal) = server.ask(&json!({ "do": "show", "id": "q_1" })).unwrap()
    else {
        panic!("there is no such question");
    };
    assert_eq!(refusal.kind, "unknown");
    for file in bench.files() {
        let mode = std::fs::symlink_metadata(&file)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    drop((one, two, other));
    assert_eq!(bench.found(None).servers.len(), 0);
    assert_eq!(bench.files().len(), 0);
}

/// Who cannot read the key is told nothing, and can answer nothing.
#[test]
fn without_the_key_nothing_is_told() {
    let bench = Bench::new();
    let _one = bench.listen("/ws");
    let place = StationPlace::servers(None, &bench.env)
        .unwrap()
        .pop()
        .unwrap();
    let key = place.key().unwrap().to_string();
    let wrong = key.replace(&key[..1], if key.starts_with('0') { "1" } else { "0" });
    let check = |key: &str, expected: &str| {
        let stream = place.connect_at_once().unwrap().unwrap();
        send(&stream, &json!({ "jig": VERSION, "key": key })).unwrap();
        // In one breath with the greeting. Who was turned away may find nobody there any more.
        let _ = send(&stream, &json!({ "do": "list" }));
        let mut lines = MessageReader::new(
            TimedConnection::new(&stream, Duration::from_secs(20)),
            1 << 20,
        );
        let answers: Vec<Json> = std::iter::from_fn(|| lines.message::<Json>().ok().flatten())
            .take(2)
            .collect();
        assert!(answers[0].to_string().contains(expected), "{answers:?}");
        assert_eq!(answers.len() == 2, expected == "workspace", "{answers:?}");
    };
    check(&key, "workspace");
    check(&wrong, "this is not the key of the server");
    check("", "this is not the key of the server");
}

/// A server that was stopped does not stop `jig approve`.
#[test]
fn who_does_not_answer_is_not_waited_for() {
    let bench = Bench::new();
    let _good = bench.listen("/ws");
    let place = StationPlace::make_server("/ws".into(), &bench.env, 900).unwrap();
    let claim = place.claim(PATIENCE).unwrap().unwrap();
    let (_listener, _) = claim.listen().unwrap();
    let start = Instant::now();
    let found = bench.found(None);
    assert!(start.elapsed() < PATIENCE * 10);
    assert_eq!((found.servers.len(), found.silent.len()), (1, 1));
}
