//! Nothing runs that nobody has accepted.

use std::sync::Arc;

use jig_engine::{About, Answer, Ask, Asker, CallError};
use jig_mcp::{ServerSelection, ServerState};
use serde_json::json;

use super::{LONG, World};

/// A person who accepts what they are asked about, and remembers it.
#[derive(Clone, Default)]
struct Accepting(Arc<std::sync::Mutex<Vec<About>>>);

impl Asker for Accepting {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        self.0.lock().unwrap().push(ask.about);
        Answer::Given(json!(true))
    }
}

#[test]
fn a_server_that_the_workspace_declares_is_not_started_unaccepted() {
    let mut world = World::new("well");
    let strange = "[mcp.servers.strange]\ncommand = ['python3', 'strange.py']\nrun = 'unattended'\n\
                   [tools.strange_echo]\nsource = 'mcp.strange.echo'\n";
    std::fs::write(world.root.join("jig.toml"), strange).unwrap();
    // It leaves a trace as soon as it runs, and is a whole server besides.
    let script = format!(
        "open('it-ran', 'w').close()\nimport sys\nsys.argv.append('strange')\n{}",
        include_str!("server.py")
    );
    std::fs::write(world.root.join("strange.py"), script).unwrap();
    world.starts("strange", "well");
    for which in [
        ServerSelection::Known,
        ServerSelection::Missing,
        ServerSelection::Fresh,
        ServerSelection::One("strange".to_owned()),
    ] {
        world.configure("", which);
        assert_eq!(world.status("strange").state, ServerState::Waits);
    }
    let refused = world.call("strange_echo", json!({ "text": "a" }));
    assert!(
        matches!(refused, Err(CallError::Held { .. })),
        "{refused:?}"
    );
    assert!(
        !world.root.join("it-ran").exists(),
        "a stranger's program ran"
    );
    // Accepted, it is called at once.
    let person = Accepting::default();
    let result = world.asked("strange_echo", json!({ "text": "a" }), None, person.clone());
    assert_eq!(result.recv_timeout(LONG).unwrap().unwrap(), "a");
    assert_eq!(*person.0.lock().unwrap(), [About::Server]);
    assert!(world.root.join("it-ran").exists());
}

#[test]
fn a_server_that_comes_back_with_other_definitions_is_held_before_it_is_called() {
    let mut world = World::new("well");
    world.restart("other-words", "");
    let refused = world.call("x_echo", json!({ "text": "a" }));
    assert!(
        matches!(refused, Err(CallError::Held { .. })),
        "{refused:?}"
    );
    // Other tools of it are what they were.
    assert!(world.text("x_pid", json!({})).parse::<u32>().is_ok());
    let person = Accepting::default();
    let result = world.asked("x_echo", json!({ "text": "a" }), None, person.clone());
    assert_eq!(result.recv_timeout(LONG).unwrap().unwrap(), "a");
    assert_eq!(*person.0.lock().unwrap(), [About::Definition]);
}

#[test]
fn what_holds_for_all_programs_counts_from_the_next_call_on() {
    let mut world = World::new("well");
    let pid = world.pid("x");
    let good = world.pid("good");
    world.configure(
        "[network]\nresolver = '127.0.0.1:9'\n",
        ServerSelection::Known,
    );
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    assert_ne!(world.pid("x"), pid, "it would go on as it was started");
    for pid in [pid, good] {
        jig_testkit::until("it has ended", || !super::is_alive(pid));
    }
}
