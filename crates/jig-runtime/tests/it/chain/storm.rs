//! Processes that open, close and die at random.

use std::process::exit;

use jig_tool::proxy::{ChildOptions, Client, OpenMode, Relay};
use rustix::process::Signal;

use crate::chain::roles::spawn;
use crate::chain::world::{World, until};

/// How many processes come and go.
const ROUNDS: u32 = 100;

/// How many of them are there at a time.
const AT_ONCE: usize = 4;

/// Plays a role of this file.
pub(crate) fn play(role: &str, client: &Client) {
    match role.split_once(' ') {
        None => storm(client),
        Some((_, seed)) => drop_of(seed.parse().unwrap(), client),
    }
}

fn storm(client: &Client) {
    let kept = client.open("kept", OpenMode::Write).unwrap();
    let relay = Relay::new(client.clone()).unwrap();
    let mut running = Vec::new();
    for round in 0..ROUNDS {
        let seed = round.wrapping_mul(2_654_435_761) >> 7;
        let child = spawn(&relay, &format!("drop {seed}"), ChildOptions::default());
        running.push(child);
        if running.len() == AT_ONCE {
            let mut oldest = running.remove(0);
            if seed.is_multiple_of(3) {
                oldest.kill().unwrap();
            }
            oldest.wait().unwrap();
        }
    }
    for mut child in running {
        child.wait().unwrap();
    }
    while !relay.clients().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(relay.files(), []);
    // Until somebody has looked at what is open now.
    client.write("out/over", b"").unwrap();
    while client.read("out/seen").is_err() {
        std::thread::yield_now();
    }
    drop(kept);
}

/// One of the processes, which may have a child of its own.
fn drop_of(seed: u32, client: &Client) {
    // Whatever is above it may be gone at any moment. It then fails, which is nothing to report.
    std::panic::set_hook(Box::new(|_| exit(2)));
    let mut files = Vec::new();
    for number in 0..seed % 7 {
        let path = format!("{}{number}", ["", "out/"][number as usize % 2]);
        files.push(client.open(&path, OpenMode::ReadWrite).unwrap());
    }
    let below = (seed % 11 == 5).then(|| {
        let relay = Relay::new(client.clone()).unwrap();
        spawn(
            &relay,
            &format!("drop {}", seed / 11),
            ChildOptions::default(),
        )
    });
    files.truncate((seed / 7 % 4) as usize);
    if let Some(mut below) = below.filter(|_| seed.is_multiple_of(2)) {
        below.wait().unwrap();
    }
    match seed / 28 % 4 {
        0 => {}
        1 => exit(1),
        2 => rustix::process::kill_process(rustix::process::getpid(), Signal::KILL).unwrap(),
        _ => drop(files),
    }
    // The rest, whatever it is, is left to whoever is above.
    exit(0)
}

#[test]
fn f088_processes_that_die_at_random_leave_nothing_open() {
    let mut world = World::new();
    world.start("storm");
    until("the storm is over", || {
        let exited = world.top().try_wait().unwrap();
        assert_eq!(exited, None, "the process at the top has failed");
        world.path("out/over").exists()
    });
    world.expect_open(&["kept"]);
    assert_eq!(world.manager.clients().len(), 1);
    std::fs::write(world.path("out/seen"), "").unwrap();
    assert!(world.top().wait().unwrap().success());
    world.expect_empty();
}
