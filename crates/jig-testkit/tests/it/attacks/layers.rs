//! What each layer is good for: with one left out, an attack that is held by all of them gets out.

use jig_sandbox::Layers;
use jig_testkit::{Attack, Confined};

use crate::attacks::has_namespaces;
use crate::attacks::run::{Manner, Suite, Tried};
use crate::attacks::stage::{User, on_stage};

/// Runs the named attacks under `layers`; each must escape, and be one that tier A holds.
fn check(suite: &Suite, layers: Layers, names: &[&str]) {
    check_as(suite, &Manner::new(layers), names);
}

fn check_as(suite: &Suite, manner: &Manner, names: &[&str]) {
    let layers = manner.layers;
    let wanted = |attack: &Attack| names.contains(&attack.name);
    let how = |suite: &Suite, attack: &Attack| suite.confined_as(attack, manner);
    // What must be shown is that it can escape, so once is enough.
    let all = suite.run(wanted, how, |_, outcome| !outcome.escaped());
    assert_eq!(all.len(), names.len(), "each name is in the table");
    for Tried {
        attack, outcome, ..
    } in all
    {
        println!("{:28} {outcome:?}", attack.name);
        assert_eq!(attack.tier_a, Confined::Held, "`{}`", attack.name);
        assert!(
            outcome.escaped(),
            "`{}` is held without {layers:?}: {outcome:?}",
            attack.name
        );
    }
}

#[test]
fn without_namespaces_something_escapes() {
    on_stage(
        "attacks::layers::without_namespaces_something_escapes",
        User::Current,
        |suite| {
            check(suite, Layers::TIER_B, WITHOUT_NAMESPACES);
        },
    );
}

#[test]
fn without_landlock_something_escapes() {
    on_stage(
        "attacks::layers::without_landlock_something_escapes",
        User::Current,
        |suite| {
            let layers = Layers {
                landlock: 0,
                ..Layers::ALL
            };
            if has_namespaces() {
                check(suite, layers, WITHOUT_LANDLOCK);
            }
        },
    );
}

#[test]
fn without_the_filter_something_escapes() {
    on_stage(
        "attacks::layers::without_the_filter_something_escapes",
        User::Current,
        |suite| {
            let layers = Layers {
                seccomp: false,
                ..Layers::ALL
            };
            if has_namespaces() {
                check(suite, layers, WITHOUT_FILTER);
            }
        },
    );
}

/// The filter alone keeps a tool from changing what its own terminal is.
#[test]
fn without_the_filter_a_terminal_is_open() {
    on_stage(
        "attacks::layers::without_the_filter_a_terminal_is_open",
        User::Current,
        |suite| {
            let layers = Layers {
                seccomp: false,
                ..Layers::ALL
            };
            let manner = Manner {
                on_terminal: true,
                ..Manner::new(layers)
            };
            if has_namespaces() {
                check_as(suite, &manner, &["tty-discipline-stdio"]);
            }
        },
    );
}

/// A gateway is worth as much as the network namespace that it is in: without one, the host's own listeners
/// are reached on the ports of the rules, and on all by UDP.
#[test]
fn without_namespaces_a_gateway_is_open() {
    on_stage(
        "attacks::layers::without_namespaces_a_gateway_is_open",
        User::Current,
        |suite| {
            let manner = Manner {
                gateway: true,
                ..Manner::new(Layers::TIER_B)
            };
            check_as(suite, &manner, &["tcp", "tcp-unspecified", "udp", "dns"]);
        },
    );
}

/// What Landlock and the filter leave open: metadata.
const WITHOUT_NAMESPACES: &[&str] = &[
    "denied-stat",
    "locked-utimes",
    "outside-chmod",
    "outside-utimes",
    "outside-readlink",
    // Living ones, as those of `fork-bomb`, would be ended for their memory.
    "zombies",
];

/// What mounts and the filter leave open: which change it is.
const WITHOUT_LANDLOCK: &[&str] = &[
    "update-only-create",
    "update-only-delete",
    "delete-only-write",
];

/// What namespaces and Landlock leave open: the rest of the kernel.
const WITHOUT_FILTER: &[&str] = &[
    "suid-chmod",
    "suid-open",
    "unshare-user",
    "memfd",
    "exec-memory",
    "ptrace-child",
    "personality",
    "tty-discipline",
    "no-filter",
];
