//! Rights in Landlock's terms.

use super::order_text::access;
use super::*;
use crate::profile::Network;
use crate::sys::linux::confine::landlock;

#[track_caller]
fn check(granted: &str, found: &HostPathState, abi: u32, expected: &str) {
    let translated = landlock::access(rights(granted), found, abi);
    assert_eq!(access(translated), expected);
}

#[test]
fn rights_are_translated_exactly() {
    let directory = HostPathState::Directory;
    check("r", &directory, 7, "read+list");
    check("x", &directory, 7, "execute");
    check("c", &directory, 7, "write+mkdir+reg+sock+fifo+sym+refer");
    check("u", &directory, 7, "write+truncate");
    check("d", &directory, 7, "rmdir+rm+refer");
    check(
        "rcudx",
        &directory,
        7,
        "execute+write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate",
    );
    check("-", &directory, 7, "");
}

#[test]
fn a_file_has_only_rights_of_files() {
    check(
        "rcudx",
        &HostPathState::File,
        7,
        "execute+write+read+truncate",
    );
    check("rcd", &HostPathState::File, 7, "read");
}

#[test]
fn a_version_gets_only_what_it_knows() {
    let directory = HostPathState::Directory;
    check(
        "cud",
        &directory,
        1,
        "write+rmdir+rm+mkdir+reg+sock+fifo+sym",
    );
    check(
        "cud",
        &directory,
        2,
        "write+rmdir+rm+mkdir+reg+sock+fifo+sym+refer",
    );
    check("u", &directory, 3, "write+truncate");
    check("rcudx", &directory, 0, "");
    for (abi, handled) in [
        (0, 0),
        (1, 0x1fff),
        (2, 0x3fff),
        (3, 0x7fff),
        (4, 0x7fff),
        (5, 0xffff),
        (8, 0xffff),
        (9, 0x1_ffff),
        (12, 0x1_ffff),
    ] {
        assert_eq!(landlock::handled(abi), handled, "ABI {abi}");
    }
}

/// In a network of its own a tool talks TCP to itself.
#[test]
fn tcp_is_refused_where_no_namespace_holds_it() {
    let net = |abi, own, network| landlock::ruleset(abi, own, network).handled_net;
    assert_eq!(net(7, true, &Network::None), 0);
    assert_eq!(net(7, false, &Network::None), 3);
    assert_eq!(net(3, false, &Network::None), 0);
    assert_eq!(net(7, false, &Network::Host), 0);
    assert_eq!(landlock::ruleset(5, true, &Network::None).scoped, 0);
    assert_eq!(landlock::ruleset(6, true, &Network::None).scoped, 3);
}

/// Each rule that grants more than those above it is given to Landlock, and no other.
#[test]
fn rules_are_given_to_landlock_once() {
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let tree = "/w/a/b/ /w/f /p/w/";
        let confinement = compiled(tree, &profile(text), Tier::A, 7).unwrap();
        let steps: Vec<String> = lines(&confinement.steps)
            .into_iter()
            .filter(|line| line.starts_with("allow") && line != "allow . list")
            .collect();
        assert_eq!(steps, expected);
    }
    check("d r /w\nd r /w/a", &["allow w read+list"]);
    check(
        "d rcud /w\nd r /w/a",
        &["allow w write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate"],
    );
    check(
        "d r /w\nd ru /w/a/b",
        &["allow w read+list", "allow w/a/b write+read+list+truncate"],
    );
    check(
        "d r /w\nd ru /w/f",
        &["allow w read+list", "allow w/f write+read+truncate"],
    );
    check("p /p\nd r /p/w", &[]);
    check(
        "p /p\nd rcudx /p/w",
        &["allow p/w execute+write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate"],
    );
}

#[test]
fn directories_on_the_way_are_listed_only_if_all_is_readable() {
    let listed = |text: &str| {
        let confinement = compiled("/w/", &profile(text), Tier::A, 7).unwrap();
        lines(&confinement.steps).contains(&"allow . list".to_owned())
    };
    assert!(listed("d r /w\nd - /x"));
    assert!(!listed("d cud /w"));
}
