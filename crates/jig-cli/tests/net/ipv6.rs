//! IPv6 is equal to IPv4, where the machine has it.

use super::fixture::http::Server;
use super::fixture::site::{Site, for_each_user, net, reach};

/// A server on the loopback of IPv6, unless there is none.
fn server(site: &Site) -> Option<Server> {
    if !site.has(&["curl", "--version"]) {
        return None;
    }
    let server = Server::at("[::1]:0".parse().unwrap(), None);
    let skipped =
        |error: &std::io::Error| jig_testkit::skipped_here(&format!("there is no IPv6: {error}"));
    server.inspect_err(skipped).ok()
}

/// A client may come by either protocol, whichever the real server has.
#[test]
fn a_server_on_ipv6_is_reached_by_name() {
    for_each_user(|site| {
        let Some(server) = server(site) else { return };
        let port = server.port();
        site.names.put("six.test", &["::1"]);
        let settings = reach(&["six.test"], server.address);
        for way in ["", "--ipv4", "--ipv6"] {
            let fetch = format!(
                "curl --silent --show-error --fail-with-body {way} http://six.test:{port}/"
            );
            let called = site.does(&settings, &fetch);
            assert_eq!(called.ok(), format!("GET / on six.test:{port}\n"), "{way}");
        }
        assert_eq!(server.seen().len(), 3);
    });
}

#[test]
fn a_server_on_ipv4_is_reached_over_ipv6() {
    for_each_user(|site| {
        if server(site).is_none() {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        site.names.put("four.test", &["127.0.0.1"]);
        let fetch =
            format!("curl --silent --show-error --fail-with-body --ipv6 http://four.test:{port}/");
        let called = site.does(&reach(&["four.test"], server.address), &fetch);
        assert_eq!(called.ok(), format!("GET / on four.test:{port}\n"));
    });
}

/// A rule that names an address, as a URL does.
#[test]
fn an_address_of_a_rule_is_reached_as_it_stands() {
    for_each_user(|site| {
        let Some(server) = server(site) else { return };
        let port = server.port();
        let fetch = format!("curl --silent --show-error --fail-with-body 'http://[::1]:{port}/'");
        let called = site.does(&net(&[("::1", port)]), &fetch);
        assert_eq!(called.ok(), format!("GET / on [::1]:{port}\n"));
        // The rule is on one of the two loopbacks, and opens no other.
        let called = site.does(&net(&[("127.0.0.1", port)]), &fetch);
        assert_eq!(called.0["isError"], true, "{called}");
        assert_eq!(server.connections(), 1);
    });
}

/// The first address of a name that has two does not answer.
#[test]
fn the_other_address_of_a_name_is_tried() {
    for_each_user(|site| {
        let Some(server) = server(site) else { return };
        let port = server.port();
        site.names.put("both.test", &["127.0.0.1", "::1"]);
        let rules = net(&[("both.test", port), ("127.0.0.1", port), ("::1", port)]);
        let fetch = format!("curl --silent --show-error --fail-with-body http://both.test:{port}/");
        site.does(&rules, &fetch).ok();
        assert_eq!(server.connections(), 1);
    });
}
