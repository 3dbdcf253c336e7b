//! A gateway: routes and sockets in namespaces, ports without.

use super::*;
use crate::profile::GatewayProfile;

fn gateway(ports: &[u16], addresses: &[&str]) -> Profile {
    let mut asked = profile("s rx /usr");
    asked.network = Network::Gateway(GatewayProfile {
        ports: ports.to_vec(),
        explained: Vec::new(),
        addresses: addresses.iter().map(|one| one.parse().unwrap()).collect(),
    });
    asked
}

/// The steps that a gateway adds to those of a profile without one.
#[track_caller]
fn check(ports: &[u16], addresses: &[&str], expected: &[&str]) {
    let asked = gateway(ports, addresses);
    let with = compiled("/usr/", &asked, Tier::A, 7).unwrap();
    let without = profile("s rx /usr");
    let without = compiled("/usr/", &without, Tier::A, 7).unwrap();
    // Keepers that were made ahead of time serve both.
    assert_eq!(
        (&with.base, with.landlock, &with.filter),
        (&without.base, without.landlock, &without.filter)
    );
    assert!(with.own_network);
    let (with, before) = (lines(&with.steps), lines(&without.steps));
    assert_eq!(with[..before.len()], before);
    assert_eq!(with[before.len()..], *expected);
}

const ALWAYS: &str = "sockets [Datagrams(198.18.0.1, 53), Datagrams(127.0.0.1, 53), Streams(53), \
                      Streams(3128)]";

#[test]
fn every_network_of_its_own_has_the_addresses_of_names() {
    let wanted = [
        "loopback?",
        "local 198.18.0.0/15?",
        "local fd6a:6967:6e61:6d65::/64?",
    ];
    let base = |asked: &Profile| {
        let steps = compiled("/usr/", asked, Tier::A, 7).unwrap().base;
        let steps = lines(&steps).into_iter();
        steps
            .filter(|line| wanted.contains(&line.as_str()))
            .collect::<Vec<_>>()
    };
    assert_eq!(base(&profile("s rx /usr")), wanted);
    assert_eq!(base(&gateway(&[80], &[])), wanted);
    let mut host = profile("s rx /usr");
    host.network = Network::Host;
    assert!(base(&host).is_empty());
}

#[test]
fn ports_and_addresses_become_sockets_and_routes() {
    check(&[], &[], &[ALWAYS]);
    check(&[53, 3128, 53, 0], &[], &[ALWAYS]);
    check(
        &[8080, 80, 80],
        &[],
        &[
            "sockets [Datagrams(198.18.0.1, 53), Datagrams(127.0.0.1, 53), Streams(53), Streams(80), \
           Streams(3128), Streams(8080)]",
        ],
    );
    check(
        &[],
        &["2001:db8::1", "203.0.113.9", "203.0.113.9"],
        &["local 203.0.113.9/32", "local 2001:db8::1/128?", ALWAYS],
    );
    // An address of IPv4 in IPv6 is one of IPv4.
    let mapped = "::ffff:203.0.113.9";
    check(&[], &[mapped], &["local 203.0.113.9/32", ALWAYS]);
    // What is the tool's own anyway, and what nobody can connect to.
    let own = ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"];
    check(&[], &own, &[ALWAYS]);
    let none = [
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
        "::ffff:127.0.0.1",
    ];
    check(&[], &none, &[ALWAYS]);
}

/// what cannot be held is refused, unless less will do.
#[test]
fn without_namespaces_names_cannot_be_had() {
    let mut asked = gateway(&[443, 80, 443], &["203.0.113.9"]);
    assert_eq!(
        compiled("/usr/", &asked, Tier::B, 7),
        Err(ProfileError::NoNames)
    );
    asked.enforce = Enforce::BestEffort;
    let bare = compiled("/usr/", &asked, Tier::B, 4).unwrap();
    let ports: Vec<String> = lines(&bare.steps)
        .into_iter()
        .filter(|line| line.contains("port"))
        .collect();
    assert_eq!(ports, ["allow port 80 2", "allow port 443 2"]);
    assert!(!bare.own_network && bare.landlock.unwrap().handled_net == 3);
    // The filter is that of a tool that has the network of the host.
    let mut host = asked.clone();
    host.network = Network::Host;
    let host = compiled("/usr/", &host, Tier::B, 4).unwrap();
    assert_eq!(bare.filter, host.filter);
    // Where not even ports can be filtered there is no network: nothing is opened by a lack of means.
    let old = compiled("/usr/", &asked, Tier::B, 3).unwrap();
    let mut none = asked;
    none.network = Network::None;
    let none = compiled("/usr/", &none, Tier::B, 3).unwrap();
    assert_eq!((old.filter, old.steps), (none.filter, none.steps));
}

/// A gateway that only explains refusals opens nothing where it cannot be had, whatever less would do.
#[test]
fn without_namespaces_nothing_is_opened_to_explain_it() {
    let mut asked = gateway(&[], &[]);
    let Network::Gateway(own) = &mut asked.network else {
        panic!("it has a gateway");
    };
    own.explained = vec![22, 80, 443];
    let in_namespaces = compiled("/usr/", &asked, Tier::A, 7).unwrap();
    let sockets = lines(&in_namespaces.steps).pop().unwrap();
    assert!(sockets.contains("Streams(443)"), "{sockets}");
    for enforce in [Enforce::Required, Enforce::BestEffort] {
        for abi in [3, 7] {
            asked.enforce = enforce;
            let mut none = asked.clone();
            none.network = Network::None;
            let asked = compiled("/usr/", &asked, Tier::B, abi).unwrap();
            let none = compiled("/usr/", &none, Tier::B, abi).unwrap();
            assert_eq!((asked.filter, asked.steps), (none.filter, none.steps));
            assert_eq!(asked.landlock, none.landlock);
        }
    }
    // Nor are those ports open where rules name others.
    let mut other = gateway(&[8080], &[]);
    other.enforce = Enforce::BestEffort;
    let Network::Gateway(own) = &mut other.network else {
        panic!("it has a gateway");
    };
    own.explained = vec![22, 80, 443];
    let bare = compiled("/usr/", &other, Tier::B, 4).unwrap();
    let ports: Vec<String> = lines(&bare.steps)
        .into_iter()
        .filter(|line| line.contains("port"))
        .collect();
    assert_eq!(ports, ["allow port 8080 2"]);
}

#[test]
fn the_status_says_what_is_judged() {
    let network = |asked: &Profile, tier, abi| {
        let limits = ProcessLimits::default();
        let confinement = compiled("/usr/", asked, tier, abi).unwrap();
        let accepted = crate::sys::linux::order::ConfinementOutcome::default();
        status(asked, &limits, tier, &confinement, &accepted)
            .network
            .to_string()
    };
    let mut asked = gateway(&[80], &[]);
    assert_eq!(network(&asked, Tier::A, 7), "enforced");
    asked.enforce = Enforce::BestEffort;
    assert_eq!(network(&asked, Tier::A, 0), "enforced");
    assert_eq!(
        network(&asked, Tier::B, 4),
        "partly enforced: every address can be connected to on the ports of its rules, also those of this \
         machine, because names and addresses are judged only in a network namespace; UDP and the first \
         packet of TCP fast open are not filtered"
    );
    assert_eq!(
        network(&asked, Tier::B, 3),
        "partly enforced: there is no network at all, because this machine can filter neither names nor ports"
    );
    asked.layers.seccomp = false;
    assert_eq!(
        network(&asked, Tier::B, 3),
        "not enforced: it needs a network namespace, or Landlock that knows ports, and this machine does \
         not let it be used"
    );
    asked.layers.namespaces = false;
    assert!(network(&asked, Tier::A, 3).ends_with("the profile leaves it out"));
}
