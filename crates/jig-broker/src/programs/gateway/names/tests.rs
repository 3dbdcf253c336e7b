use std::net::IpAddr;

use jig_sandbox::{GATEWAY_V4, GatewaySockets, NAMES_V4, NAMES_V6};

use super::{AddressMeaning, AddressPlan, GatewayNames, MAX_NAMES};

fn sandbox() -> AddressPlan {
    AddressPlan {
        v4: NAMES_V4.0,
        v6: Some(NAMES_V6.0),
        gateway: GATEWAY_V4,
    }
}

#[test]
fn a_name_keeps_its_addresses_and_they_mean_the_name() {
    let names = GatewayNames::new(sandbox());
    let first = names.addresses("a.test").unwrap();
    let second = names.addresses("b.test").unwrap();
    assert_eq!(first.0.to_string(), "198.18.0.16");
    assert_eq!(first.1.unwrap().to_string(), "fd6a:6967:6e61:6d65::10");
    assert_eq!(second.0.to_string(), "198.18.0.17");
    assert_eq!(names.addresses("a.test"), Some(first));
    let check = |address: &str, expected: AddressMeaning| {
        let address: IpAddr = address.parse().unwrap();
        assert_eq!(names.meaning(address), expected, "{address}");
    };
    check("198.18.0.16", AddressMeaning::Name("a.test".to_owned()));
    check(
        "::ffff:198.18.0.17",
        AddressMeaning::Name("b.test".to_owned()),
    );
    check(
        "fd6a:6967:6e61:6d65::10",
        AddressMeaning::Name("a.test".to_owned()),
    );
    check(
        "fd6a:6967:6e61:6d65::11",
        AddressMeaning::Name("b.test".to_owned()),
    );
    check("198.18.0.1", AddressMeaning::Gateway);
    check("::ffff:198.18.0.1", AddressMeaning::Gateway);
    check("198.18.0.0", AddressMeaning::Nothing);
    check("198.18.0.18", AddressMeaning::Nothing);
    check("198.19.255.255", AddressMeaning::Nothing);
    check("fd6a:6967:6e61:6d65::", AddressMeaning::Nothing);
    check(
        "fd6a:6967:6e61:6d65:ffff:ffff:ffff:ffff",
        AddressMeaning::Nothing,
    );
    check("fd6a:6967:6e61:6d66::10", AddressMeaning::Itself);
    check("198.20.0.0", AddressMeaning::Itself);
    check("198.17.255.255", AddressMeaning::Itself);
    check("127.0.0.1", AddressMeaning::Itself);
    check("::1", AddressMeaning::Itself);
}

#[test]
fn there_is_an_end_to_addresses() {
    let names = GatewayNames::new(sandbox());
    for number in 0..MAX_NAMES {
        assert!(names.addresses(&format!("{number}.test")).is_some());
    }
    assert_eq!(names.addresses("one-too-many.test"), None);
    let (last, _) = names.addresses(&format!("{}.test", MAX_NAMES - 1)).unwrap();
    assert_eq!(last.to_string(), "198.19.255.254");
}

#[test]
fn without_ipv6_names_have_no_such_addresses() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let sockets = GatewaySockets {
        lookups: Vec::new(),
        listeners: vec![(80, listener.into())],
    };
    let names = GatewayNames::new(AddressPlan::of(&sockets));
    let (v4, v6) = names.addresses("a.test").unwrap();
    assert_eq!((v4.to_string().as_str(), v6), ("198.18.0.16", None));
    let address = "fd6a:6967:6e61:6d65::10".parse::<IpAddr>().unwrap();
    assert_eq!(names.meaning(address), AddressMeaning::Itself);
}
