use std::sync::mpsc;
use std::thread;

use crate::client::servers::ServerState;
use crate::testing::with_mcp_servers::ServersFixture;

const TIME: &str = "[mcp.servers.time]\ncommand = \"/no/such/time-server\"\n";
const BOTH: &str = "[mcp.servers.time]\ncommand = \"/no/such/time-server\"\n\
                    [mcp.servers.git]\ncommand = \"/no/such/git-server\"\n";

/// What was told before is listed, and nothing is started for it.
#[test]
fn known_tools_are_listed_without_a_start() {
    let behind = ServersFixture::new("", TIME);
    assert!(behind.shared.current().is_incomplete());
    behind.says("time", &[("now", "Tells the time.")]);
    behind.shared.refresh();
    // As the next process finds it.
    behind.shared.replace(behind.config()).unwrap();
    assert!(!behind.shared.current().is_incomplete());
    behind.shared.complete();
    assert_eq!(behind.listed(), ["time_now"]);
    let status = behind.servers().status();
    assert_eq!(status[0].state, ServerState::Idle, "{status:?}");
}

/// A server that cannot be asked is among the problems, and neither holds up the others nor later lists.
#[test]
fn one_that_fails_does_not_hold_up_the_rest() {
    let behind = ServersFixture::new("", BOTH);
    behind.says("git", &[("log", "Shows the log.")]);
    behind.shared.complete();
    assert_eq!(behind.listed(), ["git_log"]);
    let served = behind.shared.current();
    assert!(!served.is_incomplete());
    assert!(served.has_problems());
    let problems = served.gathered.as_ref().unwrap().problems().clone();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].0, "time");
    assert!(
        problems[0].1.contains("/no/such/time-server"),
        "{problems:?}"
    );
    let generation = behind.shared.current().generation;
    behind.shared.complete();
    behind.shared.gather_again();
    assert_eq!(behind.shared.current().generation, generation);
    // When it comes up after all, its tools are there, and nothing is wrong any more.
    behind.says("time", &[("now", "Tells the time.")]);
    behind.shared.refresh();
    assert_eq!(behind.listed(), ["time_now", "git_log"]);
    assert!(!behind.shared.current().has_problems());
}

/// Who was told a list is told that it has changed, and nobody else.
#[test]
fn changes_are_told_to_who_was_told_a_list() {
    let behind = ServersFixture::new("", TIME);
    let mut news = behind.shared.changes();
    behind.says("time", &[("now", "one")]);
    behind.shared.refresh();
    assert!(!news.has_changed().unwrap(), "nobody has seen a list");
    assert_eq!(behind.listed(), ["time_now"]);
    behind.shared.refresh();
    assert!(!news.has_changed().unwrap(), "nothing has changed");
    // A tool that is new is held, so that the list is as it was.
    behind.says("time", &[("now", "one"), ("zones", "two")]);
    behind.shared.refresh();
    assert!(!news.has_changed().unwrap(), "it is held");
    behind.servers().accept_server("time").unwrap();
    behind.shared.refresh();
    assert!(news.has_changed().unwrap());
    news.mark_unchanged();
    assert_eq!(behind.listed(), ["time_now", "time_zones"]);
    behind.says("time", &[]);
    behind.shared.refresh();
    assert!(news.has_changed().unwrap());
    assert_eq!(behind.listed(), <[&str; 0]>::default());
}

/// A configuration comes into force while servers are being asked: a rule that narrows does not wait for a
/// server that hangs.
#[test]
fn a_configuration_does_not_wait_for_servers() {
    let behind = ServersFixture::new("", TIME);
    behind.says("time", &[("now", "one")]);
    behind.shared.refresh();
    let gathering = behind.shared.gathering.lock().unwrap();
    let (done, ended) = mpsc::channel();
    thread::scope(|scope| {
        let behind = &behind;
        scope.spawn(move || {
            behind.rewrite(
                "[mcp.servers.time]\ncommand = \"/no/such/time-server\"\nenable = false\n",
            );
            done.send(()).unwrap();
        });
        ended
            .recv_timeout(std::time::Duration::from_secs(60))
            .unwrap();
    });
    drop(gathering);
    assert_eq!(behind.listed(), <[&str; 0]>::default());
}

/// Servers that went are off, and those that came are asked.
#[test]
fn servers_come_and_go_with_the_configuration() {
    let behind = ServersFixture::new("", TIME);
    behind.says("time", &[("now", "one")]);
    behind.shared.refresh();
    behind.shared.complete();
    behind.rewrite(BOTH);
    assert!(behind.shared.current().is_incomplete(), "`git` is new");
    assert_eq!(behind.listed(), ["time_now"]);
    behind.rewrite("");
    assert_eq!(behind.listed(), <[&str; 0]>::default());
    assert!(!behind.shared.current().is_incomplete());
    assert!(behind.servers().status().is_empty());
}

/// A server of the workspace is not asked before somebody accepted it, and is afterwards.
#[test]
fn a_server_of_the_workspace_is_not_asked() {
    let behind = ServersFixture::new(TIME, "");
    assert!(!behind.shared.current().is_incomplete());
    behind.shared.complete();
    let status = behind.servers().status();
    assert_eq!(status[0].state, ServerState::Waits, "{status:?}");
    assert!(!behind.shared.current().has_problems());
    behind.servers().accept_server("time").unwrap();
    behind.shared.refresh();
    assert!(behind.shared.current().is_incomplete());
    behind.shared.complete();
    assert!(behind.shared.current().has_problems(), "it was started");
}
