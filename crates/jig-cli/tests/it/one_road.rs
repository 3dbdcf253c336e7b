//! Every caller reaches a tool through `Engine::begin`, whose calls have ids that begin with `c` in the log.

use std::sync::{Arc, Mutex};

use jig_broker::{AuditEntry, AuditSink};
use jig_config::Sources;
use jig_engine::{Call, Engine, Nobody};
use jig_files::DiskFiles;
use serde_json::{Value as Json, json};

use super::log::lines;
use super::mcp_client::{Client, text};
use super::mcp_http::{ALICE, Server};
use super::servers_workspace::{entry, with_server};
use super::station::Hall;
use super::workspace_user::Desk;

/// The ids in the log of all lines about a tool, each once.
fn ids(desk: &Desk, tool: &str) -> Vec<String> {
    let lines = lines(desk, &["--tool", tool, "-n", "1000"]);
    let mut ids: Vec<String> = lines
        .iter()
        .map(|line| line["call"].as_str().expect("an id").to_owned())
        .collect();
    ids.dedup();
    ids
}

/// Checks that the log has so many calls of a tool, all of which came the one way.
#[track_caller]
fn check(desk: &Desk, tool: &str, expected: usize) {
    let ids = ids(desk, tool);
    assert_eq!(ids.len(), expected, "{ids:?}");
    assert!(ids.iter().all(|id| id.starts_with('c')), "{ids:?}");
}

#[test]
fn the_command_line_and_both_transports_make_one_kind_of_call() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "alpha");
    assert_eq!(desk.result(&["fs_read_file", "path=a.txt"]), "alpha");
    check(&desk, "fs_read_file", 1);

    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(json!({}));
    let read = client.call("fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&read), "alpha");
    check(&desk, "fs_read_file", 2);

    let server = Server::start(&desk.workspace, &[]);
    let read = server.call(ALICE, "fs_read_file", json!({ "path": "a.txt" }));
    assert_eq!(text(&read), "alpha");
    check(&desk, "fs_read_file", 3);
}

#[test]
fn the_station_makes_the_same_kind_of_call() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo"]);
    check(&desk, "echo", 1);
}

#[test]
fn a_tool_of_a_server_is_called_the_same_way_by_all() {
    with_server(&entry(""), |desk| {
        assert_eq!(desk.result(&["small_echo", "text=one"]), "one");
        check(desk, "small_echo", 1);
        let mut client = Client::of(desk.jig(&["mcp"]));
        client.initialize(json!({}));
        // The first call starts the server, the second finds it running.
        for (number, word) in ["two", "three"].into_iter().enumerate() {
            let said = client.call("small_echo", json!({ "text": word }));
            assert_eq!(text(&said), word, "{said}");
            check(desk, "small_echo", 2 + number);
        }
    });
}

/// Keeps the ids of calls.
#[derive(Debug, Default)]
struct Ids(Mutex<Vec<String>>);

impl AuditSink for Ids {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        self.0.lock().expect("no panic").push(entry.call.clone());
        Ok(())
    }
}

#[test]
fn an_embedding_program_makes_the_same_kind_of_call() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "alpha");
    let root = desk.path("");
    let config = jig_config::load(&Sources::new(&root)).expect("it is valid");
    let files = DiskFiles::open(&root).expect("it is there");
    let mut engine = Engine::new(Arc::new(config.config), Arc::new(files));
    let ids = Arc::new(Ids::default());
    engine.audit = Arc::clone(&ids) as Arc<dyn AuditSink>;
    let call = || Call::new("fs_read_file", Json::from_iter([("path", "a.txt")]));
    engine.call(call(), &mut Nobody).expect("it may be read");
    // A tool that is started past `Engine::call` has another kind of id.
    let started = engine.start(call()).expect("it starts");
    started.session.wait(u64::MAX, None);
    let ids = ids.0.lock().expect("no panic");
    let kinds: Vec<Option<char>> = ids.iter().map(|id| id.chars().next()).collect();
    assert_eq!(kinds, [Some('c'), Some('w')]);
}
