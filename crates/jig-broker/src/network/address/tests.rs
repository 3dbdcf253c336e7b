use std::net::{IpAddr, UdpSocket};

use super::{is_own, special};

#[test]
fn only_addresses_of_the_public_internet_are_plain() {
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.216.34",
        "100.63.0.1",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450::1",
        "2001:4860::8888",
        "64:ff9b::8.8.8.8",
        "2002:808:808::",
    ];
    for text in public {
        assert_eq!(special(text.parse::<IpAddr>().unwrap()), None, "{text}");
    }
    let special_ones = [
        "0.0.0.0",
        "0.1.2.3",
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "239.1.1.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.2.1",
        "::",
        "::1",
        "::127.0.0.1",
        "fe80::1",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001::1",
        "2001:db8::1",
        "100::1",
        "5f00::1",
        "3fff::1",
    ];
    for text in special_ones {
        let address = text.parse::<IpAddr>().unwrap();
        assert!(special(address).is_some(), "{text}");
    }
    let mapped = "::ffff:127.0.0.1".parse::<IpAddr>().unwrap();
    assert_eq!(special(mapped.to_canonical()), Some("a loopback address"));
}

#[test]
fn addresses_of_this_machine_are_known() {
    let mut own: Vec<IpAddr> = vec!["127.0.0.1".parse().unwrap()];
    // Whatever it has besides; nothing is sent.
    for (from, to) in [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")] {
        let address = UdpSocket::bind(from).and_then(|socket| {
            socket.connect(to)?;
            socket.local_addr()
        });
        own.extend(address.map(|address| address.ip()));
    }
    for address in own {
        assert!(is_own(address), "{address}");
    }
    for text in ["198.51.100.7", "203.0.113.9", "2001:db8::7"] {
        assert!(!is_own(text.parse().unwrap()), "{text}");
    }
}
