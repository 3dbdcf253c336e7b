//! What the layers in use come to.

use super::*;
use crate::process::{Enforcement, Status};
use crate::profile::Network;
use crate::sys::linux::order::ConfinementOutcome;

fn status_of(
    asked: &Profile,
    limits: &ProcessLimits,
    tier: Tier,
    abi: u32,
    tasks_limited: bool,
) -> Status {
    let host = &mut Tree::of("/w/a/ /x/");
    let confinement = compile_on(host, skeleton::before, asked, limits, tier, abi).unwrap();
    let accepted = ConfinementOutcome {
        tasks_limited,
        tasks_exact: tasks_limited,
        ..ConfinementOutcome::default()
    };
    status(asked, limits, tier, &confinement, &accepted)
}

#[track_caller]
fn check(asked: &Profile, tier: Tier, abi: u32, expected: [&str; 7]) -> Status {
    let status = status_of(asked, &ProcessLimits::default(), tier, abi, false);
    let text: Vec<String> = status
        .parts()
        .iter()
        .map(|(name, part)| format!("{name}: {part}"))
        .collect();
    assert_eq!(text, expected);
    status
}

const FULL: [&str; 7] = [
    "tree: enforced",
    "processes: enforced",
    "files: enforced",
    "network: enforced",
    "ipc: enforced",
    "privileges: enforced",
    "limits: enforced",
];

#[test]
fn in_namespaces_all_is_enforced() {
    let status = check(&profile("s rx /usr\nd rcud /w"), Tier::A, 9, FULL);
    assert_eq!(status.tier, Tier::A);
    assert!(status.is_complete());
    let mut network = profile("d r /w");
    network.network = Network::Host;
    check(&network, Tier::A, 9, FULL);
}

/// Before version 9, Landlock does not see who connects to a socket in a directory that is shown.
#[test]
fn sockets_in_what_is_shown_are_a_gap() {
    let mut expected = FULL;
    expected[4] = "ipc: partly enforced: a unix socket on which another process listens in `/w` or `/x` can \
                   be connected to";
    check(
        &profile("s rx /usr\nd r /w\nd r /x\nd - /w/a"),
        Tier::A,
        8,
        expected,
    );
    check(&profile("s rx /usr"), Tier::A, 7, FULL);
    let mut network = profile("");
    network.network = Network::Host;
    expected[4] = "ipc: partly enforced: abstract unix sockets of the host can be connected to";
    check(&network, Tier::A, 5, expected);
}

#[test]
fn without_namespaces_every_class_of_gap_is_named() {
    let status = check(
        &profile("d rx /w"),
        Tier::B,
        7,
        [
            "tree: partly enforced: a tool that starts processes faster than they are found can leave some \
         behind",
            "processes: partly enforced: which processes the machine has can be found out by their numbers",
            "files: partly enforced: modes, owners, times and attributes of all files that the user owns can be \
         changed; names that are guessed can be looked up anywhere, with size and times",
            "network: enforced",
            "ipc: enforced",
            "privileges: enforced",
            "limits: enforced",
        ],
    );
    assert_eq!(status.tier, Tier::B);
    check(
        &profile("d r /w"),
        Tier::B,
        2,
        [
            "tree: partly enforced: a tool that stops or kills its keeper, or that starts processes faster than \
         they are found, can leave some behind",
            "processes: partly enforced: signals reach other processes of the user; which processes the machine \
         has can be found out by their numbers",
            "files: partly enforced: modes, owners, times and attributes of all files that the user owns can be \
         changed; names that are guessed can be looked up anywhere, with size and times; a program that \
         may be run can load code from files that may only be read; devices in directories that may be read take commands",
            "network: enforced",
            "ipc: enforced",
            "privileges: enforced",
            "limits: enforced",
        ],
    );
}

#[test]
fn a_layer_that_is_left_out_is_missed() {
    let mut asked = profile("d rcud /w");
    asked.layers.seccomp = false;
    let status = status_of(&asked, &ProcessLimits::default(), Tier::A, 9, false);
    assert_eq!(status.tier, Tier::None);
    assert!(matches!(
        status.privileges,
        Enforcement::PartlyEnforced { .. }
    ));
    asked.layers = Layers {
        namespaces: false,
        landlock: 0,
        seccomp: false,
        supervisor: false,
    };
    asked.enforce = Enforce::BestEffort;
    let mut lacking = asked.clone();
    lacking.layers = Layers::ALL;
    let status = status_of(&lacking, &ProcessLimits::default(), Tier::B, 0, false);
    assert_eq!(
        status.files.to_string(),
        "not enforced: it needs Landlock, and this machine does not let it be used"
    );
    for (tier, why) in [
        (Tier::B, "the profile leaves it out"),
        (Tier::None, "this machine does not let it be used"),
    ] {
        let status = status_of(&asked, &ProcessLimits::default(), tier, 7, false);
        for part in [
            &status.files,
            &status.network,
            &status.ipc,
            &status.processes,
        ] {
            let Enforcement::NotEnforced { reason } = part else {
                panic!("{part}");
            };
            assert!(reason.ends_with(why), "{reason}");
        }
    }
}

#[test]
fn limits_on_the_tree() {
    let asked = profile("d r /w");
    let limits = |tier, tasks_limited, limits| {
        status_of(&asked, &limits, tier, 9, tasks_limited)
            .limits
            .to_string()
    };
    let tasks = ProcessLimits {
        tasks: Some(9),
        ..ProcessLimits::default()
    };
    assert_eq!(limits(Tier::A, true, tasks), "enforced");
    assert!(limits(Tier::A, false, tasks).contains("this kernel does not count them"));
    assert!(limits(Tier::B, false, tasks).contains("needs a process namespace"));
    let memory = ProcessLimits {
        memory: Some(9),
        ..ProcessLimits::default()
    };
    assert!(limits(Tier::A, true, memory).contains("from time to time"));
}

/// STYLE: each is one sentence without a period, to stand in a list.
#[test]
fn gaps_are_sentences_without_a_period() {
    let mut asked = profile("d rcud /w\ng - /w/a\ng - /w/gone\nd rc /x\np /p");
    asked.enforce = Enforce::BestEffort;
    for tier in [Tier::A, Tier::B, Tier::None] {
        for abi in 1..10 {
            let status = status_of(&asked, &ProcessLimits::ROOMY, tier, abi, false);
            for (_, part) in status.parts() {
                let sentences = match part {
                    Enforcement::Enforced => continue,
                    Enforcement::PartlyEnforced { gaps } => gaps.clone(),
                    Enforcement::NotEnforced { reason } => vec![reason.clone()],
                };
                for sentence in sentences {
                    assert!(
                        !sentence.ends_with('.') && !sentence.contains(". "),
                        "{sentence}"
                    );
                }
            }
        }
    }
}
