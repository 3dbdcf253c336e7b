//! What the processes of a chain do.

use std::io::{Read, Write};
use std::process::{Command, Stdio, exit};
use std::time::Duration;

use jig_tool::proxy::{ChildOptions, Client, OpenMode, Relay, RelayChild};

use crate::chain::{neighbours, storm};

/// The variable that says which role this program plays.
pub(crate) const ROLE: &str = "JIG_TEST_ROLE";

/// The variable that says where the workspace is, for processes that have to look behind the proxy.
pub(crate) const FOLDER: &str = "JIG_TEST_FOLDER";

/// The arguments by which this program comes to [`role`].
pub(crate) const ARGS: [&str; 4] = [
    "--exact",
    "chain::roles::role",
    "--nocapture",
    "--test-threads=1",
];

/// Where this program ends up when it is started in a role; nothing otherwise.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    if role == "late" {
        neighbours::late();
        exit(0)
    }
    let client = Client::inherited().unwrap();
    match role.as_str() {
        "shell" => tick(&client, "shell", Some("stage")),
        "stage" => tick(&client, "stage", Some("leaf")),
        "leaf" => tick(&client, "leaf", None),
        other => {
            if !neighbours::play(other, &client) {
                storm::play(other, &client);
            }
        }
    }
    // What is left is closed by the end of the process alone.
    exit(0)
}

/// This program in a role, as the child of a relay.
pub(crate) fn spawn(relay: &Relay, role: &str, options: ChildOptions) -> RelayChild {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(ARGS).env(ROLE, role);
    command.stdin(Stdio::null());
    relay.spawn(command, options).unwrap()
}

/// Keeps two files open, a real one and a virtual one, and works on both until the connection ends.
fn tick(client: &Client, name: &str, below: Option<&str>) {
    let mut real = client
        .open(&format!("out/{name}"), OpenMode::Write)
        .unwrap();
    writeln!(real, "{}", std::process::id()).unwrap();
    let mut scratch = client.open(name, OpenMode::ReadWrite).unwrap();
    let below = below.map(|role| {
        let relay = Relay::new(client.clone()).unwrap();
        let child = spawn(&relay, role, ChildOptions::default());
        (relay, child)
    });
    let mut works = || -> std::io::Result<()> {
        scratch.write_all(b"tick")?;
        // A further handle each time, so that there is always one that is being opened or closed.
        let mut again = client.open(name, OpenMode::Read)?;
        let mut start = [0; 4];
        again.read_exact(&mut start)?;
        assert_eq!(&start, b"tick");
        again.close()?;
        real.write_all(b".")
    };
    while works().is_ok() {
        jig_testkit::let_pass(Duration::from_millis(5));
    }
    drop(below);
}
