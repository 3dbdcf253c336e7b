use std::io::{Read as _, Write as _};

use super::world::World;
use crate::network::dns::{self, DnsAnswer, KIND_A, KIND_AAAA};

const KIND_HTTPS: u16 = 65;
const KIND_MX: u16 = 15;

#[test]
fn names_of_rules_have_addresses_and_others_do_not_exist() {
    let world = World::new()
        .allow("api.test", 80)
        .rule("bad.test", |rule| rule.allow = false)
        .open();
    let ask = |name: &str, kind: u16| {
        let answer = world.ask(&dns::write_query(9, name, kind).unwrap());
        dns::read_answer(&answer, 9, name, kind).unwrap()
    };
    let addresses = |texts: &[&str]| {
        DnsAnswer::Addresses(texts.iter().map(|text| text.parse().unwrap()).collect())
    };
    assert_eq!(ask("api.test", KIND_A), addresses(&["127.80.0.16"]));
    assert_eq!(ask("API.TeSt", KIND_A), addresses(&["127.80.0.16"]));
    assert_eq!(
        ask("api.test", KIND_AAAA),
        addresses(&["fd6a:6967:6e61:6d65::10"])
    );
    assert_eq!(ask("localhost", KIND_A), addresses(&["127.0.0.1"]));
    assert_eq!(ask("x.localhost", KIND_AAAA), addresses(&["::1"]));
    // The program's own machine has a name, too.
    assert_eq!(ask("jig", KIND_A), addresses(&["127.0.0.1"]));
    // The name exists, and nothing else is said of it: no keys for hiding names from us.
    assert_eq!(ask("api.test", KIND_HTTPS), addresses(&[]));
    assert_eq!(ask("api.test", KIND_MX), addresses(&[]));
    assert_eq!(world.gateway.denials(), []);
    for name in ["evil.test", "x.api.test", "bad.test", "127.0.0.1", "test"] {
        assert_eq!(ask(name, KIND_A), DnsAnswer::NoSuchName, "{name}");
        assert_eq!(ask(name, KIND_AAAA), DnsAnswer::NoSuchName, "{name}");
    }
    // Questions of other kinds are no wish to reach a host, nor are those about services.
    assert_eq!(ask("_http._tcp.other.test", KIND_A), DnsAnswer::NoSuchName);
    assert_eq!(ask("_ldap._tcp.other.test", 33), DnsAnswer::NoSuchName);
    let denials = world.gateway.denials();
    let told: Vec<(&str, u64)> = denials
        .iter()
        .map(|denial| (denial.target.as_str(), denial.count))
        .collect();
    let expected = ["evil.test", "x.api.test", "bad.test", "127.0.0.1", "test"];
    assert_eq!(told, expected.map(|name| (name, 1)));
    assert!(
        denials[0]
            .hint
            .as_ref()
            .unwrap()
            .contains("host = \"evil.test\""),
        "{}",
        denials[0]
    );
    assert_eq!(denials[0].operation, "look up");
    assert!(
        denials[2].rule.as_ref().unwrap().contains("(jig.toml:2)"),
        "{}",
        denials[2]
    );
    let lines = world.log.lines();
    assert_eq!(lines[0], "net.lookup evil.test deny -");
    assert_eq!(lines.len(), 5);
}

#[test]
fn lookups_work_over_tcp() {
    let world = World::new().allow("api.test", 80).open();
    for address in ["127.80.0.1", "127.0.0.1"] {
        let mut stream = world.connect_to(address, 53);
        for id in 1..4 {
            let query = dns::write_query(id, "api.test", KIND_A).unwrap();
            stream
                .write_all(&(query.len() as u16).to_be_bytes())
                .unwrap();
            stream.write_all(&query).unwrap();
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut answer = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut answer).unwrap();
            let said = dns::read_answer(&answer, id, "api.test", KIND_A).unwrap();
            assert_eq!(
                said,
                DnsAnswer::Addresses(vec!["127.80.0.16".parse().unwrap()])
            );
        }
    }
}

#[test]
fn refused_names_are_kept_within_bounds() {
    let world = World::new().allow("api.test", 80).open();
    for number in 0..1200 {
        assert_eq!(world.look_up(&format!("n{number}.test")), None);
    }
    assert_eq!(world.gateway.denials().len(), 100);
    let entries = world.log.entries();
    assert_eq!(entries.len(), 1000);
    assert!(
        entries[999]
            .reason
            .ends_with("further refusals are not written")
    );
    assert!(!entries[998].reason.contains("further"));
    // What is known is still counted, and what is allowed still works.
    world.look_up("n5.test");
    assert_eq!(world.gateway.denials()[5].count, 2);
    assert!(world.look_up("api.test").is_some());
}

#[test]
fn odd_names_are_told_as_they_are_and_do_not_exist() {
    let world = World::new().allow("api.test", 80).open();
    let mut query = dns::write_query(3, "apixtest", KIND_A).unwrap();
    // A dot inside a label is not the dot between two.
    query[16] = b'.';
    let answer = world.ask(&query);
    assert_eq!(answer[3] & 0xf, 3);
    assert_eq!(answer[12..], query[12..]);
    let mut query = dns::write_query(3, "a\u{7f}", KIND_A).unwrap();
    query[13] = 0x1b;
    world.ask(&query);
    let denials = world.gateway.denials();
    assert_eq!(denials[0].target, "api\\046test");
    assert_eq!(denials[1].target, "\\027\\127");
    assert!(denials.iter().all(|denial| denial.hint.is_none()));
}
