//! A crash at each level: exactly what died, and what hangs below it, is closed.

use std::path::Path;
use std::process::Command;

use crate::chain::world::{World, until};

const ALL: [&str; 6] = [
    "out/shell",
    "shell",
    "out/stage",
    "stage",
    "out/leaf",
    "leaf",
];

/// A chain of three processes that all work.
struct Chain {
    world: World,
}

impl Chain {
    fn start() -> Self {
        let mut world = World::new();
        world.start("shell");
        let chain = Self { world };
        for name in ["shell", "stage", "leaf"] {
            chain.expect_progress(name);
        }
        until("all files are open", || {
            let open = chain.world.open_files();
            ALL.iter().all(|name| open.contains(*name))
        });
        chain
    }

    fn pid(&self, name: &str) -> String {
        let content = self.world.content(&format!("out/{name}"));
        content.lines().next().unwrap().to_owned()
    }

    fn kill(&self, name: &str) {
        let status = Command::new("kill")
            .args(["-KILL", &self.pid(name)])
            .status();
        assert!(status.unwrap().success());
    }

    fn expect_progress(&self, name: &str) {
        let path = format!("out/{name}");
        let before = self.world.content(&path).len();
        until(&format!("{name} goes on"), || {
            self.world.content(&path).len() > before + 20
        });
    }

    /// Waits until nothing of the dead is open. What works opens one file again and again, which has the name
    /// of one that stays open.
    fn expect_left(&self, left: &[&str], gone: &[&str]) {
        let files: Vec<&str> = ALL
            .into_iter()
            .filter(|name| left.contains(&name.trim_start_matches("out/")))
            .collect();
        self.world.expect_open(&files);
        for name in gone {
            let pid = self.pid(name);
            until(&format!("{name} has exited"), || {
                let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
                !Path::new(&format!("/proc/{pid}")).exists()
                    || status.is_ok_and(|status| status.contains(") Z "))
            });
        }
        for name in left {
            self.expect_progress(name);
        }
        // Nothing but what they have open, and at most the one that each opens for a moment.
        assert!(self.world.manager.files().len() <= 3 * left.len());
    }
}

#[test]
fn f084_a_leaf_that_dies_takes_only_its_own_files() {
    let chain = Chain::start();
    chain.kill("leaf");
    chain.expect_left(&["shell", "stage"], &["leaf"]);
    assert_eq!(chain.world.manager.clients().len(), 1);
}

#[test]
fn f084_a_stage_that_dies_takes_its_leaf_with_it() {
    let chain = Chain::start();
    chain.kill("stage");
    chain.expect_left(&["shell"], &["stage", "leaf"]);
}

#[test]
fn f083_a_shell_that_dies_takes_the_whole_tree() {
    let chain = Chain::start();
    chain.kill("shell");
    chain.world.client().wait();
    chain.expect_left(&[], &["stage", "leaf"]);
    chain.world.expect_empty();
    // F-088: what they have written is there.
    for name in ["shell", "stage", "leaf"] {
        assert!(
            chain
                .world
                .content(&format!("out/{name}"))
                .ends_with("....")
        );
    }
}

/// One after the other, from below.
#[test]
fn f083_each_level_dies_in_turn() {
    let chain = Chain::start();
    chain.kill("leaf");
    chain.expect_left(&["shell", "stage"], &["leaf"]);
    chain.kill("stage");
    chain.expect_left(&["shell"], &["stage"]);
    chain.kill("shell");
    chain.world.expect_empty();
}

/// The manager ends: every process of the chain learns it.
#[test]
fn f080_the_end_of_the_manager_reaches_the_leaf() {
    let chain = Chain::start();
    chain.world.manager.end();
    chain.expect_left(&[], &["stage", "leaf"]);
    chain.world.expect_empty();
}
