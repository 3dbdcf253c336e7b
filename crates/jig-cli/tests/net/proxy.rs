//! The proxy, for programs that are happier with one.

use super::fixture::http::Server;
use super::fixture::site::{Site, for_each_user, reach};

#[test]
fn a_tool_that_wants_a_proxy_gets_one() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let (plain, secured) = servers(site);
        for (scheme, server) in [("http", &plain), ("https", &secured)] {
            let port = server.port();
            let url = format!("{scheme}://allowed.test:{port}/some");
            let script = format!("curl --silent --show-error --verbose --cacert ca.pem {url} 2>&1");
            let called = site.does(&settings(server), &script);
            let printed = called.ok();
            assert!(
                printed.contains(&format!("GET /some on allowed.test:{port}\n")),
                "{printed}"
            );
            // It really went by the proxy: one of the two is how curl asks one.
            let asked = [
                format!("CONNECT allowed.test:{port} HTTP/1.1"),
                format!("GET {url} HTTP/1.1"),
            ];
            assert!(
                asked.iter().any(|asked| printed.contains(asked)),
                "{printed}"
            );
        }
    });
}

/// Here the words of a refusal reach the client also for TLS, before it begins.
#[test]
fn the_proxy_refuses_in_words() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let (plain, secured) = servers(site);
        for (scheme, server) in [("http", &plain), ("https", &secured)] {
            let port = server.port();
            let url = format!("{scheme}://denied.test:{port}/");
            let script = format!(
                "curl --silent --show-error --verbose --fail-with-body --cacert ca.pem {url} 2>&1"
            );
            let called = site.does(&settings(server), &script);
            let hint = called.refused("", "denied.test");
            assert!(hint.contains("\"denied.test\""), "{hint}");
            assert!(called.says("403"), "{called}");
            assert_eq!(server.connections(), 0);
        }
    });
}

/// What is said to the proxy and what is said inside have to be one.
#[test]
fn a_lie_inside_a_tunnel_is_refused() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let (plain, secured) = servers(site);
        let (port, tls) = (plain.port(), secured.port());
        for (server, script) in [
            // A tunnel to an allowed host, and a request for another one in it.
            (
                &plain,
                format!(
                    "curl --silent --show-error --fail-with-body --proxytunnel --header 'Host: denied.test' \
                     http://allowed.test:{port}/"
                ),
            ),
            // An address that a name really has, and TLS for another one.
            (
                &secured,
                format!(
                    "curl --silent --show-error --cacert ca.pem --connect-to denied.test:{tls}:allowed.test:{tls} \
                     https://denied.test:{tls}/"
                ),
            ),
        ] {
            let called = site.does(&settings(server), &script);
            called.refused("connect", "");
            assert!(server.seen().is_empty(), "{script}: {:?}", server.seen());
        }
    });
}

/// Nobody who did not ask for it is given variables that change how programs behave.
#[test]
fn the_variables_are_there_only_if_wanted() {
    for_each_user(|site| {
        let (plain, _) = servers(site);
        let script = "env | grep -i proxy | sed 's/=.*//'; echo end";
        let printed = site.does(&settings(&plain), script).ok();
        for name in [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
        ] {
            assert!(
                printed.lines().any(|line| line == name),
                "{name}: {printed}"
            );
        }
        let without = reach(&["allowed.test"], plain.address);
        assert_eq!(site.does(&without, script).ok(), "end\n");
    });
}

fn servers(site: &Site) -> (Server, Server) {
    for name in ["allowed.test", "denied.test"] {
        site.names.put(name, &["127.0.0.1"]);
    }
    let tls = site.authority.server(&["allowed.test", "denied.test"]);
    (Server::plain(), Server::secured(&tls))
}

fn settings(server: &Server) -> String {
    let rules = reach(&["allowed.test"], server.address);
    format!("{rules}sandbox.proxy = true\n")
}
