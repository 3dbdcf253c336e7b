//! Every attack of the table: free, it gets what it wants; confined, it gets nothing. And what each layer
//! is good for: without it, something gets out.
//!
//! Each test runs its part of the table in a process of its own, on a stage that is set for it: with a
//! controlling terminal, secrets in the environment, open descriptors, ignored signals. As root, all of
//! it runs once more as nobody.
#![expect(
    unsafe_code,
    reason = "the stage has a terminal and open descriptors, which are made by system calls"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "the tests run themselves and the attacks as plain processes, and print what came of them"
)]

mod layers;
mod profile;
mod report;
mod run;
mod stage;

use jig_sandbox::{Launch, Layers, Pool, Tier, assess, probe};
use jig_testkit::{Attack, Class, Confined, Outcome, Twin};

use report::Report;
use run::{Manner, Suite, is_privileged};
use stage::{User, on_stage};

/// Every attack succeeds when nothing confines it, so far as the machine and the user allow.
///
/// What must be shown is that it can succeed, so one success among a few tries is enough: the machine is
/// shared with everything else that runs, and limits of the user nobody are shared among all of these tests.
fn twins(suite: &Suite) {
    let mut report = Report::new("unconfined");
    let free = |attack: &Attack| !matches!(attack.twin, Twin::Never(_));
    let is_wrong = |attack: &Attack, outcome: &Outcome| {
        let must = match attack.twin {
            Twin::Anybody => true,
            Twin::Root => is_privileged(),
            Twin::Machine(_) | Twin::Never(_) => false,
        };
        must && !outcome.escaped()
    };
    for tried in suite.run(free, Suite::unconfined, is_wrong) {
        let is_wrong = is_wrong(tried.attack, &tried.outcome);
        report.line(&tried, is_wrong);
    }
    report.end();
}

/// Nothing gets out, and ordinary work works.
fn confined(
    suite: &Suite,
    name: &'static str,
    wanted: impl Fn(&Attack) -> bool,
    how: impl Fn(&Suite, &Attack) -> Outcome + Sync,
    expected: fn(&Attack) -> Confined,
) {
    let mut report = Report::new(name);
    let wanted =
        |attack: &Attack| wanted(attack) && !matches!(expected(attack), Confined::Never(_));
    let proves_nothing = |attack: &Attack, outcome: &Outcome| {
        expected(attack) == Confined::Held
            && attack.class != Class::Work
            && match outcome {
                Outcome::Escaped(_) | Outcome::Held(_) => false,
                Outcome::Silent(_) => true,
                // What cannot be tried in confinement, but can outside.
                Outcome::Untried(_) => matches!(attack.twin, Twin::Anybody | Twin::Root),
            }
    };
    // An escape is an escape, and work that fails has failed. Only what proves nothing is tried again.
    for tried in suite.run(wanted, how, proves_nothing) {
        let is_wrong = match (expected(tried.attack), tried.attack.class) {
            (Confined::Open(_) | Confined::Never(_), _) => false,
            (Confined::Held, Class::Work) => !tried.outcome.escaped(),
            (Confined::Held, _) => {
                tried.outcome.escaped() || proves_nothing(tried.attack, &tried.outcome)
            }
        };
        report.line(&tried, is_wrong);
    }
    report.end();
}

fn has_namespaces() -> bool {
    let has = assess(&probe()).tier == Tier::A;
    if !has {
        println!("this machine has no tier A, so there is nothing to try");
    }
    has
}

fn tier_a(suite: &Suite) {
    if has_namespaces() {
        let how = |suite: &Suite, attack: &Attack| suite.confined(attack, Layers::ALL);
        confined(suite, "tier A", |_| true, how, |attack| attack.tier_a);
    }
}

fn tier_b(suite: &Suite) {
    let how = |suite: &Suite, attack: &Attack| suite.confined(attack, Layers::TIER_B);
    confined(suite, "tier B", |_| true, how, |attack| attack.tier_b);
}

/// How a program is started makes no difference to what it can reach. What takes long is left out.
fn tier_a_from(suite: &Suite, name: &'static str, launch: &Launch) {
    let wanted = |attack: &Attack| !matches!(attack.class, Class::Limits | Class::Output);
    let manner = Manner {
        launch: launch.clone(),
        ..Manner::new(Layers::ALL)
    };
    let how = |suite: &Suite, attack: &Attack| suite.confined_as(attack, &manner);
    if has_namespaces() {
        confined(suite, name, wanted, how, |attack| attack.tier_a);
    }
}

/// A terminal of its own opens no way to the user's, nor to other processes and devices, and ordinary work
/// goes on working. What a terminal has nothing to do with is left out.
fn with_terminal(suite: &Suite) {
    let wanted = |attack: &Attack| {
        matches!(
            attack.class,
            Class::Terminal
                | Class::Machine
                | Class::Inheritance
                | Class::Processes
                | Class::Privileges
                | Class::Survival
                | Class::Work
        )
    };
    let on_terminal = |layers| Manner {
        on_terminal: true,
        ..Manner::new(layers)
    };
    let b = on_terminal(Layers::TIER_B);
    let how = |suite: &Suite, attack: &Attack| suite.confined_as(attack, &b);
    confined(suite, "tier B, terminal", wanted, how, |attack| {
        attack.tier_b
    });
    if has_namespaces() {
        let a = on_terminal(Layers::ALL);
        let how = |suite: &Suite, attack: &Attack| suite.confined_as(attack, &a);
        confined(suite, "tier A, terminal", wanted, how, |attack| {
            attack.tier_a
        });
    }
}

/// A gateway leads to the host, and nowhere else. What a network has nothing to do with is left out.
fn with_gateway(suite: &Suite, name: &'static str, launch: &Launch) {
    let wanted = |attack: &Attack| {
        matches!(
            attack.class,
            Class::Network
                | Class::Mounts
                | Class::Privileges
                | Class::Processes
                | Class::Inheritance
                | Class::Work
        )
    };
    let manner = Manner {
        gateway: true,
        launch: launch.clone(),
        ..Manner::new(Layers::ALL)
    };
    let how = |suite: &Suite, attack: &Attack| suite.confined_as(attack, &manner);
    if has_namespaces() {
        confined(suite, name, wanted, how, |attack| attack.gateway);
    }
}

#[test]
fn attacks_succeed_unconfined() {
    on_stage("attacks::attacks_succeed_unconfined", User::Current, twins);
}

#[test]
fn attacks_succeed_unconfined_for_nobody() {
    on_stage(
        "attacks::attacks_succeed_unconfined_for_nobody",
        User::Nobody,
        twins,
    );
}

#[test]
fn tier_a_holds() {
    on_stage("attacks::tier_a_holds", User::Current, tier_a);
}

#[test]
fn tier_a_holds_for_nobody() {
    on_stage("attacks::tier_a_holds_for_nobody", User::Nobody, tier_a);
}

#[test]
fn tier_b_holds_what_it_claims() {
    on_stage(
        "attacks::tier_b_holds_what_it_claims",
        User::Current,
        tier_b,
    );
}

#[test]
fn tier_b_holds_what_it_claims_for_nobody() {
    on_stage(
        "attacks::tier_b_holds_what_it_claims_for_nobody",
        User::Nobody,
        tier_b,
    );
}

#[test]
fn a_terminal_opens_nothing() {
    on_stage(
        "attacks::a_terminal_opens_nothing",
        User::Current,
        with_terminal,
    );
}

#[test]
fn a_terminal_opens_nothing_for_nobody() {
    on_stage(
        "attacks::a_terminal_opens_nothing_for_nobody",
        User::Nobody,
        with_terminal,
    );
}

#[test]
fn tier_a_holds_from_the_launcher() {
    on_stage(
        "attacks::tier_a_holds_from_the_launcher",
        User::Current,
        |suite| {
            tier_a_from(suite, "tier A, launcher", &Launch::Launcher);
        },
    );
}

#[test]
fn tier_a_holds_from_a_pool() {
    on_stage(
        "attacks::tier_a_holds_from_a_pool",
        User::Current,
        |suite| {
            let pool = Pool::new(2).expect("a pool can be made where programs can be started");
            tier_a_from(suite, "tier A, pool", &Launch::Pool(pool));
        },
    );
}

#[test]
fn a_gateway_opens_nothing() {
    on_stage("attacks::a_gateway_opens_nothing", User::Current, |suite| {
        with_gateway(suite, "tier A, gateway", &Launch::Auto);
    });
}

#[test]
fn a_gateway_opens_nothing_for_nobody() {
    on_stage(
        "attacks::a_gateway_opens_nothing_for_nobody",
        User::Nobody,
        |suite| with_gateway(suite, "tier A, gateway", &Launch::Auto),
    );
}

#[test]
fn a_gateway_opens_nothing_from_a_pool() {
    on_stage(
        "attacks::a_gateway_opens_nothing_from_a_pool",
        User::Current,
        |suite| {
            let pool = Pool::new(2).expect("a pool can be made where programs can be started");
            with_gateway(suite, "tier A, gateway, pool", &Launch::Pool(pool));
        },
    );
}
