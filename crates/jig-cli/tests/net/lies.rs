//! Clients that say one name and mean another. What was looked up, what is said inside the connection and
//! where it really leads have to be the same.

use std::path::Path;

use super::fixture::http::Server;
use super::fixture::site::{Site, for_each_user, net, reach};

/// Both are allowed on the same port, so that only the lie is left to refuse.
fn both(server: &Server) -> String {
    let rules = reach(&["allowed.test", "other.test"], server.address);
    format!("{rules}sandbox.presets = ['python']\n")
}

fn put_names(site: &Site) {
    for name in ["allowed.test", "other.test", "denied.test"] {
        site.names.put(name, &["127.0.0.1"]);
    }
    site.write("tls.py", TLS);
    site.write("raw.py", RAW);
}

/// What a program does without any sandbox.
fn unconfined(site: &Site, words: &[&str]) -> String {
    let mut command = site.command(Path::new(words[0]));
    let output = command.args(&words[1..]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_name_inside_tls_is_the_name_that_was_looked_up() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        put_names(site);
        let names = ["allowed.test", "other.test", "denied.test"];
        let server = Server::secured(&site.authority.server(&names));
        let port = server.port().to_string();
        let tls = |name: &str| {
            let script = format!("python3 tls.py allowed.test {port} {name}");
            site.does(&both(&server), &script)
        };
        assert!(tls("allowed.test").ok().contains("GET / on allowed.test"));
        let seen = server.seen().len();
        // One that no rule allows, one that another rule allows, none at all.
        for name in ["denied.test", "other.test", "-"] {
            let called = tls(name);
            called.refused("connect", "allowed.test");
            assert_eq!(server.seen().len(), seen, "{name}");
        }
        // Without a sandbox nobody minds.
        let twin = unconfined(
            site,
            &["python3", "tls.py", "127.0.0.1", &port, "denied.test"],
        );
        assert!(twin.contains("GET / on denied.test"), "{twin}");
    });
}

/// The same by a client that sets the name by an option.
#[test]
fn openssl_with_another_name_is_refused() {
    for_each_user(|site| {
        if !site.has(&["openssl", "version"]) {
            return;
        }
        put_names(site);
        let names = ["allowed.test", "other.test", "denied.test"];
        let server = Server::secured(&site.authority.server(&names));
        let connect = |name: &str| {
            let port = server.port();
            let script = format!(
                "printf 'GET / HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client \
                 -quiet -CAfile ca.pem -verify_return_error -connect allowed.test:{port} -servername {name} \
                 -ign_eof 2>&1"
            );
            site.does(&both(&server), &script)
        };
        assert!(connect("allowed.test").says("GET / on allowed.test"));
        let called = connect("denied.test");
        assert!(!called.says("GET / on"), "{called}");
        called.refused("connect", "allowed.test");
        assert_eq!(server.seen().len(), 1);
    });
}

#[test]
fn the_host_of_a_request_is_the_name_that_was_looked_up() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        put_names(site);
        let server = Server::plain();
        let port = server.port();
        let fetch = |host: &str, name: &str| {
            format!(
                "curl --silent --show-error --fail-with-body --header 'Host: {host}' http://{name}:{port}/"
            )
        };
        let honest = format!("allowed.test:{port}");
        let called = site.does(&both(&server), &fetch(&honest, "allowed.test"));
        assert_eq!(called.ok(), format!("GET / on {honest}\n"));
        let seen = server.seen().len();
        for host in ["denied.test", "other.test", &format!("denied.test:{port}")] {
            let called = site.does(&both(&server), &fetch(host, "allowed.test"));
            called.refused("connect", "");
            assert_eq!(server.seen().len(), seen, "{host}");
        }
        let twin = fetch("denied.test", "127.0.0.1");
        let twin = unconfined(site, &["sh", "-c", &twin]);
        assert_eq!(twin, "GET / on denied.test\n");
    });
}

/// The same lies, told slowly: the first letter, a pause, and then the rest. Nobody may take them for another
/// protocol, in which no names are said.
#[test]
fn a_lie_that_is_told_slowly_is_one() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        put_names(site);
        site.write("slow.py", SLOW);
        let names = ["allowed.test", "other.test", "denied.test"];
        let secured = Server::secured(&site.authority.server(&names));
        for (server, scheme) in [(Server::plain(), "http"), (secured, "https")] {
            let port = server.port();
            let settings = both(&server);
            let slowly = |name: &str| format!("python3 slow.py {scheme} {port} {name}");
            let [honest, denied, other] = ["allowed.test", "denied.test", "other.test"].map(slowly);
            site.tools(&[
                ("honest", &settings, &honest),
                ("denied", &settings, &denied),
                ("other", &settings, &other),
            ]);
            // Each takes its time, beside the others.
            let [honest, denied, other] = std::thread::scope(|scope| {
                ["honest", "denied", "other"]
                    .map(|tool| scope.spawn(move || site.call(tool)))
                    .map(|call| call.join().unwrap())
            });
            assert!(honest.says("GET / on allowed.test"), "{honest}");
            denied.refused("connect", "");
            other.refused("connect", "");
            assert_eq!(server.seen().len(), 1, "{scheme}");
        }
    });
}

/// Requests that two readers would read in two ways, or behind which a second one hides.
#[test]
fn nothing_is_smuggled_behind_a_request() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        put_names(site);
        let server = Server::plain();
        let host = format!("allowed.test:{}", server.port());
        let hidden = "GET /hidden HTTP/1.1\r\nHost: denied.test\r\n\r\n";
        let length = hidden.len();
        for request in [
            format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}"),
            format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n{hidden}"),
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n\
                 0\r\n\r\n{hidden}"
            ),
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nContent-Length: {length}\r\n\r\n{hidden}"
            ),
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n\
                 0\r\n\r\n{hidden}"
            ),
            format!("GET / HTTP/1.1\r\nHost: {host}\r\nHost: denied.test\r\n\r\n"),
            format!("GET /hidden HTTP/1.1\r\nHost: denied.test\r\nX: Host: {host}\r\n\r\n"),
            format!("GET http://denied.test/hidden HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            format!("GET /hidden HTTP/1.1\nHost: denied.test\r\nHost: {host}\r\n\r\n"),
            format!("GET /a\rGET /hidden HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        ] {
            site.write("request", &request);
            let script = format!("python3 raw.py allowed.test {} < request", server.port());
            let called = site.does(&both(&server), &script);
            let seen = server.seen();
            assert!(
                !seen
                    .iter()
                    .any(|seen| seen.contains("/hidden") || seen.contains("denied")),
                "{request:?}: {seen:?} {called}"
            );
        }
        // What stood before the hidden ones is not lost.
        assert_eq!(server.seen()[0], format!("GET / on {host}"));
    });
}

/// A name that leads elsewhere at the second look. Whoever owns it may change it at any time; what is judged
/// and what is connected to must be one and the same answer.
#[test]
fn a_name_that_changes_its_address_gains_nothing() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let allowed = Server::plain();
        let port = allowed.port();
        // Another service of this machine, on the same port of another address, which no rule names.
        let private = format!("127.0.0.2:{port}").parse().unwrap();
        let Ok(private) = Server::at(private, None) else {
            panic!("127.0.0.2:{port} is taken");
        };
        let fetch = format!(
            "for turn in 1 2 3 4 5 6; do curl --silent --max-time 60 http://changes.test:{port}/; done; false"
        );
        let settings = reach(&["changes.test"], allowed.address);
        let outside = "169.254.169.254";
        for answers in [
            &[&["127.0.0.1"][..], &["127.0.0.2"]][..],
            &[&["127.0.0.1"], &["127.0.0.1"], &["127.0.0.2"]],
            &[&["127.0.0.2"], &["127.0.0.1"]],
            &[
                &["127.0.0.1"],
                &["127.0.0.2"],
                &["127.0.0.1"],
                &["127.0.0.2"],
            ],
            // Both at once: the one that is allowed is enough, and the other is never tried.
            &[&["127.0.0.2", "127.0.0.1"]],
            &[&["127.0.0.2", "::ffff:127.0.0.2", "0.0.0.0", "::", outside]],
            &[&["127.0.0.1"], &[outside]],
        ] {
            site.names.put_in_turn("changes.test", answers);
            let called = site.does(&settings, &fetch);
            assert_eq!(private.connections(), 0, "{answers:?} {called}");
            // By the proxy the name is not even looked up by the client.
            site.names.put_in_turn("changes.test", answers);
            let by_proxy = fetch.replace("curl", "curl --proxy http://198.18.0.1:3128");
            let proxied = site.does(&settings, &by_proxy);
            assert_eq!(private.connections(), 0, "{answers:?} {proxied}");
            if answers
                .last()
                .is_some_and(|last| !last.contains(&"127.0.0.1"))
            {
                called.refused("connect", "changes.test");
            }
        }
        assert!(allowed.connections() > 0);
        // It is there: with a rule on its address it is reached.
        site.names.put("changes.test", &["127.0.0.2"]);
        let settings = reach(&["changes.test"], private.address);
        let fetch = format!("curl --silent --max-time 60 http://changes.test:{port}/");
        site.does(&settings, &fetch).ok();
        assert_eq!(private.connections(), 1);
    });
}

/// A name that leads to the loopback, a private network or the metadata of a cloud needs a rule on the address.
#[test]
fn a_name_that_leads_inside_is_refused_and_the_address_is_told() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        let settings = net(&[("inside.test", port)]);
        let fetch =
            format!("curl --silent --show-error --fail-with-body http://inside.test:{port}/");
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
        ] {
            site.names.put("inside.test", &[address]);
            let called = site.does(&settings, &fetch);
            let hint = called.refused("connect", "inside.test");
            let told = address.trim_start_matches("::ffff:");
            assert!(called.says(told), "{address}: {called}");
            assert!(hint.contains(told), "{address}: {hint}");
        }
        assert_eq!(server.connections(), 0);
        // What it says helps: both rules together.
        site.names.put("inside.test", &["127.0.0.1"]);
        site.does(&reach(&["inside.test"], server.address), &fetch)
            .ok();
    });
}

/// Asks for `/` over TLS: `tls.py HOST PORT NAME`, where `-` is no name.
const TLS: &str = "
import socket, ssl, sys
host, port, name = sys.argv[1:]
context = ssl.create_default_context(cafile='ca.pem')
if name == '-':
    context.check_hostname, name = False, None
with socket.create_connection((host, int(port)), 60) as plain:
    with context.wrap_socket(plain, server_hostname=name) as stream:
        stream.sendall(f'GET / HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n'.encode())
        while piece := stream.recv(4096):
            print(piece.decode())
";

/// Sends the input as it is, and prints what comes back.
const RAW: &str = "
import socket, sys
host, port = sys.argv[1:]
with socket.create_connection((host, int(port)), 20) as stream:
    stream.sendall(sys.stdin.buffer.read())
    try:
        while piece := stream.recv(4096):
            print(piece.decode(errors='replace'))
    except OSError as error:
        print(error)
";

/// Asks `allowed.test` for `/` of another name: `slow.py SCHEME PORT NAME`.
const SLOW: &str = r#"
import socket, ssl, sys, time
scheme, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
request = f"GET / HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode()
stream = socket.create_connection(("allowed.test", port), 60)

def say(words):
    stream.sendall(words[:1])
    time.sleep(3)
    stream.sendall(words[1:])

def hear():
    came = stream.recv(65536)
    if not came:
        sys.exit("refused")
    return came

if scheme == "http":
    say(request)
    answer = hear()
    while came := stream.recv(65536):
        answer += came
    print(answer.decode())
    sys.exit(0 if b" 200 " in answer else 1)
context = ssl.create_default_context(cafile="ca.pem")
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
session = context.wrap_bio(incoming, outgoing, server_hostname=name)
is_first = True

def attempt(action):
    global is_first
    while True:
        try:
            done = action()
            stream.sendall(outgoing.read())
            return done
        except ssl.SSLWantReadError:
            words = outgoing.read()
            if words:
                say(words) if is_first else stream.sendall(words)
                is_first = False
            incoming.write(hear())

attempt(session.do_handshake)
attempt(lambda: session.write(request))
answer = b""
while b" on " not in answer:
    answer += attempt(lambda: session.read(4096))
print(answer.decode())
"#;
