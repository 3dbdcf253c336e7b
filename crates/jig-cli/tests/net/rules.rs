//! What a rule opens, and what it leaves closed.

use std::net::SocketAddr;
use std::thread;

use super::fixture::http::Server;
use super::fixture::lines::Lines;
use super::fixture::site::{Site, for_each_user, net, reach};

/// A rule on a host alone is about the web: 80 and 443, and nothing else of that host.
#[test]
fn a_rule_without_a_port_opens_80_and_443_alone() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let tls = site.authority.server(&["web.test"]);
        // Ports that others on this machine use, at an address that they do not.
        let address = |port: u16| SocketAddr::from(([127, 79, 83, 1], port));
        let servers = Server::at(address(80), None).and_then(|plain| {
            let secured = Server::at(address(443), Some(&tls))?;
            Ok((plain, secured, Server::at(address(8080), None)?))
        });
        let (plain, secured, other) = match servers {
            Ok(servers) => servers,
            Err(error) => {
                return jig_testkit::skipped_here(&format!(
                    "port 80 is not for this user: {error}"
                ));
            }
        };
        let ssh = Lines::start("127.79.83.1:22", "SSH-2.0-fixture\r\n");
        site.names.put("web.test", &["127.79.83.1"]);
        let settings = "access.net = [{ host = 'web.test', allow = true }, \
                        { host = '127.79.83.1', allow = true }]\n";
        let fetch = |url: &str| {
            format!(
                "curl --silent --show-error --fail-with-body --cacert ca.pem --max-time 5 {url}"
            )
        };
        for (url, server) in [
            ("http://web.test/", &plain),
            ("https://web.test/", &secured),
        ] {
            assert_eq!(site.does(settings, &fetch(url)).ok(), "GET / on web.test\n");
            assert_eq!(server.seen().len(), 1);
        }
        for url in [
            "http://web.test:8080/",
            "telnet://web.test:22/",
            "http://web.test:22/",
        ] {
            let called = site.does(settings, &fetch(url));
            // A connection that is closed without a word is the end of a session for telnet, and no failure.
            if !url.starts_with("telnet:") {
                assert_eq!(called.0["isError"], true, "{called}");
            }
            assert!(!called.says("Fixture"), "{called}");
        }
        assert_eq!(other.connections(), 0);
        assert!(ssh.heard().is_empty(), "{:?}", ssh.heard());
        // With the words of the web on a port of the web, but not its protocol.
        let script =
            "printf 'SSH-2.0-client\\r\\n' | curl --silent --max-time 60 telnet://web.test:80/";
        let called = site.does(settings, script);
        assert!(!called.says("Fixture"), "{called}");
    });
}

/// G-040: plain HTTP is judged by the whole URL.
#[test]
fn a_path_decides_on_plain_http() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        site.names.put("paths.test", &["127.0.0.1"]);
        let settings = paths(port);
        let fetch = |path: &str| {
            format!(
                "curl --silent --show-error --fail-with-body --path-as-is 'http://paths.test:{port}{path}'"
            )
        };
        for path in ["/public", "/public/", "/public/page?q=/private"] {
            let called = site.does(&settings, &fetch(path));
            assert_eq!(called.ok(), format!("GET {path} on paths.test:{port}\n"));
        }
        let seen = server.seen().len();
        for path in [
            "/",
            "/private",
            "/publicly",
            "/public/../private",
            "/public/%2e%2e/private",
            "/public/closed/page",
            "/public/%63losed/page",
        ] {
            let called = site.does(&settings, &fetch(path));
            called.refused("connect", "paths.test");
            assert_eq!(server.seen().len(), seen, "{path}: {:?}", server.seen());
        }
    });
}

/// The method decides on plain HTTP, under a rule on all names below a domain; none of them leads inside.
#[test]
fn a_method_decides_on_plain_http_x_68() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        for name in ["a.methods.test", "inside.other.test", "methods.test"] {
            site.names.put(name, &["127.0.0.1"]);
        }
        let on_domain = format!(
            "{{ host = '*.methods.test', port = {port}, methods = ['GET', 'HEAD'], allow = true }}"
        );
        let on_address = format!("{{ host = '127.0.0.1', port = {port}, allow = true }}");
        let fetch = |method: &str, name: &str| {
            format!("curl --silent --show-error --fail-with-body -X {method} http://{name}:{port}/")
        };
        let settings = format!("access.net = [{on_domain}, {on_address}]\n");
        let called = site.does(&settings, &fetch("GET", "a.methods.test"));
        assert_eq!(called.ok(), format!("GET / on a.methods.test:{port}\n"));
        let seen = server.seen().len();
        let called = site.does(&settings, &fetch("DELETE", "a.methods.test"));
        let hint = called.refused("connect", "a.methods.test");
        assert!(hint.contains("methods = [\"DELETE\"]"), "{hint}");
        let called = site.does(&settings, &fetch("GET", "methods.test"));
        assert_eq!(called.0["isError"], true, "{called}");
        // Every public host, and no address of this machine.
        let settings = format!("access.net = [{{ host = '*', port = {port}, allow = true }}]\n");
        let called = site.does(&settings, &fetch("GET", "inside.other.test"));
        called.refused("connect", "inside.other.test");
        assert!(called.says("no rule names that address"), "{called}");
        assert_eq!(server.seen().len(), seen, "{:?}", server.seen());
    });
}

/// The path of a request inside TLS cannot be seen: what would depend on it is refused, and that is said.
#[test]
fn a_path_that_cannot_be_seen_is_refused() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::secured(&site.authority.server(&["paths.test"]));
        let port = server.port();
        site.names.put("paths.test", &["127.0.0.1"]);
        let url = format!("https://paths.test:{port}/public/page");
        let fetch = format!("curl --silent --show-error --cacert ca.pem {url}");
        let called = site.does(&paths(port), &fetch);
        let hint = called.refused("connect", "paths.test");
        assert_eq!(hint, "", "there is no rule to add: {called}");
        assert!(called.says("TLS") && called.says("path"), "{called}");
        assert_eq!(server.connections(), 0);
        // Whoever writes such a rule is told before it is tried.
        let output = site.jig(&["config", "check"]).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert!(
            told.contains("path_prefix") && told.contains("TLS"),
            "{told}"
        );
    });
}

/// `/public` is allowed, but not `/public/closed`.
fn paths(port: u16) -> String {
    let rule = |host: &str, path: &str, allow: bool| {
        format!("{{ host = '{host}', port = {port}, path_prefix = '{path}', allow = {allow} }}")
    };
    format!(
        "access.net = [{}, {}, {{ host = '127.0.0.1', port = {port}, allow = true }}]\n",
        rule("paths.test", "/public", true),
        rule("paths.test", "/public/closed", false),
    )
}

/// A rule on the loopback means that of the host: its database, its development server.
#[test]
fn a_rule_on_the_loopback_reaches_a_service_of_the_host() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let (server, other) = (Server::plain(), Server::plain());
        let port = server.port();
        let fetch = |host: &str, port: u16| {
            format!("curl --silent --show-error --fail-with-body http://{host}:{port}/")
        };
        for rule in ["localhost", "127.0.0.1"] {
            let called = site.does(&net(&[(rule, port)]), &fetch(rule, port));
            assert_eq!(called.ok(), format!("GET / on {rule}:{port}\n"));
            // Only on that port.
            let called = site.does(&net(&[(rule, port)]), &fetch(rule, other.port()));
            assert_eq!(called.0["isError"], true, "{called}");
        }
        assert_eq!(other.connections(), 0);
        // And not without a rule.
        let seen = server.connections();
        let called = site.does("", &fetch("127.0.0.1", port));
        assert_eq!(called.0["isError"], true, "{called}");
        assert_eq!(server.connections(), seen);
    });
}

/// The private loopback is still there: a tool may serve itself, also on the port of a rule's neighbour.
#[test]
fn a_tool_may_still_talk_to_itself() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let server = Server::plain();
        site.write("self.py", SELF);
        let settings = format!(
            "{}sandbox.presets = ['python']\n",
            reach(&["allowed.test"], server.address)
        );
        assert_eq!(
            site.does(&settings, "python3 self.py").ok(),
            "own service\n"
        );
    });
}

/// What one may is no business of the other, also at the same time.
#[test]
fn two_tools_at_once_have_their_own_rules() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let (left, right) = (Server::plain(), Server::plain());
        for name in ["left.test", "right.test"] {
            site.names.put(name, &["127.0.0.1"]);
        }
        let script = |own: &Server, name: &str, other: &Server, denied: &str| {
            format!(
                "for turn in 1 2 3 4 5; do
                     curl --silent --fail-with-body http://{name}:{}/ || exit 3
                     curl --silent --fail-with-body http://{denied}:{}/ && exit 4
                 done; echo done",
                own.port(),
                other.port()
            )
        };
        site.tools(&[
            (
                "left",
                &reach(&["left.test"], left.address),
                &script(&left, "left.test", &right, "right.test"),
            ),
            (
                "right",
                &reach(&["right.test"], right.address),
                &script(&right, "right.test", &left, "left.test"),
            ),
        ]);
        thread::scope(|scope| {
            let tools = ["left", "right"].map(|tool| scope.spawn(move || site.call(tool)));
            for tool in tools {
                let printed = tool.join().unwrap().ok();
                assert!(printed.ends_with("done\n"), "{printed}");
            }
        });
        assert_eq!((left.seen().len(), right.seen().len()), (5, 5));
    });
}

/// What a refusal proposes is enough, word for word.
#[test]
fn the_rule_that_is_proposed_makes_it_work() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        site.names.put("wanted.test", &["127.0.0.1"]);
        let fetch =
            format!("curl --silent --show-error --fail-with-body http://wanted.test:{port}/");
        // The address is known; the name is not. The port cannot be known from a name that is looked up, so
        // the second try has the rule on it that the first could not propose.
        let rule = format!("host = '127.0.0.1'\nport = {port}\nallow = true\n");
        let mut called = site.does(&format!("[[tools.tool.access.net]]\n{rule}"), &fetch);
        for _ in 0..2 {
            if called.0["isError"] == true {
                let hint = called.refused("", "wanted.test");
                let config = site.read("jig.toml");
                site.write("jig.toml", format!("{config}{hint}"));
                called = site.call("tool");
            }
        }
        assert_eq!(called.ok(), format!("GET / on wanted.test:{port}\n"));
    });
}

/// A person who sees neither JSON nor the log gets the same words, and the log has them for later.
#[test]
fn people_are_told_in_words() {
    let site = Site::new();
    if !site.has(&["curl", "--version"]) {
        return;
    }
    let server = Server::plain();
    site.tools(&[(
        "tool",
        &reach(&["allowed.test"], server.address),
        "curl --silent --show-error https://denied.test/",
    )]);
    let told = |args: &[&str]| {
        let output = site.jig(args).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for told in [told(&["call", "--no-interaction", "tool"]), told(&["log"])] {
        for words in [
            "denied.test",
            "no rule matches",
            "[[tools.tool.access.net]]",
            "host = \"denied.test\"",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
}

/// `jig run --net`: the same for a command without a tool.
#[test]
fn a_command_gets_the_hosts_that_it_is_given() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        for name in ["allowed.test", "denied.test"] {
            site.names.put(name, &["127.0.0.1"]);
        }
        site.tools(&[]);
        let run = |host: &str| fetch_by_run(site, host, port);
        let (ended_well, out, err) = run("allowed.test");
        assert!(ended_well, "{out}{err}");
        assert_eq!(out, format!("GET / on allowed.test:{port}\n"));
        let (ended_well, out, err) = run("denied.test");
        assert!(!ended_well && err.contains("denied.test"), "{out}{err}");
        assert_eq!(server.seen().len(), 1);
    });
}

fn fetch_by_run(site: &Site, host: &str, port: u16) -> (bool, String, String) {
    let name = format!("allowed.test:{port}");
    let address = format!("127.0.0.1:{port}");
    let url = format!("http://{host}:{port}/");
    let words = ["curl", "--silent", "--show-error", "--fail-with-body", &url];
    let args = ["run", "--net", &name, "--net", &address, "--"];
    let output = site.jig(&[&args[..], &words].concat()).output().unwrap();
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Where the system lets nobody make a network of its own, a rule on a name cannot be kept.
#[test]
fn without_namespaces_a_tool_with_rules_does_not_start() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) || !site.has(&["unshare", "--map-root-user", "true"]) {
            return;
        }
        let server = Server::plain();
        site.names.put("allowed.test", &["127.0.0.1"]);
        site.tools(&[(
            "tool",
            // Nothing else that would need namespaces.
            &format!(
                "{}access.fs = [{{ path = '.', read = true, execute = true }}]\n",
                reach(&["allowed.test"], server.address)
            ),
            &format!("curl --silent http://allowed.test:{}/", server.port()),
        )]);
        let jig = site.jig(&["call", "--no-interaction", "--json", "tool"]);
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
        let mut command = site.command("unshare".as_ref());
        command.args(["--map-root-user", "sh", "-c", script]);
        command.arg(jig.get_program()).args(jig.get_args());
        let output = command.output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert!(!output.status.success(), "{told}");
        assert!(told.contains("network"), "{told}");
        assert_eq!(server.connections(), 0);
    });
}

const SELF: &str = "
import socket, threading
with socket.create_server(('127.0.0.1', 0)) as listener:
    def serve():
        stream, _ = listener.accept()
        with stream:
            stream.sendall(b'own service')
    threading.Thread(target=serve).start()
    with socket.create_connection(listener.getsockname(), 60) as stream:
        print(stream.recv(64).decode())
";
