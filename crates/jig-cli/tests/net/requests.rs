//! The forms that a request and its answer can have: what is written anew on the way is still the same.

use super::fixture::http::Server;
use super::fixture::site::{for_each_user, reach};

#[test]
fn bodies_arrive_whole_in_both_directions() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let url = format!("http://web.test:{}", server.port());
        site.names.put("web.test", &["127.0.0.1"]);
        let settings = reach(&["web.test"], server.address);
        // More than any buffer, so that curl waits for `100 Continue` as well.
        let script = |options: &str| {
            format!(
                "head --bytes 3000000 /dev/zero | tr '\\0' 'z' > body
                 curl --silent --show-error --fail-with-body --max-time 100 {options} {url}/some > answer &&
                 head --lines 1 answer && tail --lines +2 answer | cmp - body"
            )
        };
        for (method, options) in [
            ("POST", "--data-binary @body"),
            (
                "POST",
                "--data-binary @body --header 'Transfer-Encoding: chunked'",
            ),
            ("POST", "--data-binary @body --header 'Expect:'"),
            ("PUT", "--upload-file body"),
            ("PUT", "--http1.0 --upload-file body"),
        ] {
            let called = site.does(&settings, &script(options));
            let line = format!("{method} /some on web.test:{}\n", server.port());
            assert_eq!(called.ok(), line, "{options}");
        }
    });
}

#[test]
fn other_methods_and_headers_pass() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        let url = format!("http://web.test:{port}");
        site.names.put("web.test", &["127.0.0.1"]);
        let settings = reach(&["web.test"], server.address);
        let check = |words: &str, printed: &str| {
            let script = format!("curl --silent --show-error --max-time 100 {words}");
            assert_eq!(site.does(&settings, &script).ok(), printed, "{words}");
        };
        let status = "--output /dev/null --write-out '%{http_code} %{size_download}'";
        check(&format!("--head {status} {url}/large/1000"), "200 0");
        check(&format!("{status} {url}/to/elsewhere"), "302 0");
        check(&format!("{status} {url}/large/0"), "200 0");
        check(
            &format!("--request DELETE {url}/item"),
            &format!("DELETE /item on web.test:{port}\n"),
        );
        check(
            &format!("--request OPTIONS {url}/item"),
            &format!("OPTIONS /item on web.test:{port}\n"),
        );
        // Several by one client, that would use one connection for all of them if it could.
        check(
            &format!("{url}/a {url}/b {url}/chunked {url}/c"),
            &format!(
                "GET /a on web.test:{port}\nGET /b on web.test:{port}\none two three\nGET /c on web.test:{port}\n"
            ),
        );
    });
}

/// A connection that becomes a WebSocket is judged as one, and then both may say what they like.
#[test]
fn a_websocket_is_judged_and_then_left_alone() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let server = Server::plain();
        let port = server.port();
        site.names.put("web.test", &["127.0.0.1"]);
        site.write("upgrade.py", SOCKET);
        let settings = |scheme: &str| {
            let rules = ["web.test", "127.0.0.1"]
                .map(|host| format!("{{ host = '{host}', {scheme} port = {port}, allow = true }}"));
            let rules = rules.join(", ");
            format!("access.net = [{rules}]\nsandbox.presets = ['python']\n")
        };
        let script = format!("python3 upgrade.py {port}");
        for scheme in ["", "scheme = 'ws',"] {
            let called = site.does(&settings(scheme), &script);
            assert_eq!(called.ok(), "101 said\n", "{scheme}");
        }
        let seen = server.seen().len();
        let called = site.does(&settings("scheme = 'http',"), &script);
        called.refused("connect", "web.test");
        assert_eq!(server.seen().len(), seen);
    });
}

const SOCKET: &str = r#"
import socket, sys
port = int(sys.argv[1])
with socket.create_connection(("web.test", port), 60) as stream:
    stream.sendall(
        b"GET /socket HTTP/1.1\r\nHost: web.test:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" % port
    )
    file = stream.makefile("rb")
    status = file.readline().split()[1].decode()
    while file.readline().strip():
        pass
    if status != "101":
        sys.exit(status)
    stream.sendall(b"said")
    print(status, file.read(4).decode())
"#;

/// A tool may have many connections, but a great many of them do no harm to anybody else.
#[test]
fn many_clients_at_once_are_served() {
    for_each_user(|site| {
        if !site.has(&["curl", "--version"]) {
            return;
        }
        let server = Server::plain();
        let url = format!("http://web.test:{}", server.port());
        site.names.put("web.test", &["127.0.0.1"]);
        let script = format!(
            "seq 1 60 | xargs --max-procs 30 --max-args 1 sh -c \
             'curl --silent --show-error --fail-with-body --max-time 100 {url}/$0' | sort --unique | wc --lines"
        );
        let called = site.does(&reach(&["web.test"], server.address), &script);
        assert_eq!(called.ok().trim(), "60");
        assert_eq!(server.seen().len(), 60);
    });
}
