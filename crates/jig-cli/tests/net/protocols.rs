//! Protocols in which the server speaks first, such as that of ssh.

use super::fixture::http::Server;
use super::fixture::lines::Lines;
use super::fixture::site::{Site, for_each_user, net, reach};

/// A rule with a port, and no word about what is spoken there.
#[test]
fn a_server_may_speak_first() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let lines = Lines::start("127.0.0.1:0", "welcome\n");
        site.names.put("lines.test", &["127.0.0.1"]);
        let called = site.does(
            &with_python(&reach(&["lines.test"], lines.address)),
            &talk(lines.port(), Begins::Server),
        );
        assert_eq!(called.ok(), "welcome\nheard hello\n");
        assert_eq!(lines.heard(), ["hello"]);
    });
}

#[test]
fn a_client_may_speak_first() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let lines = Lines::start("127.0.0.1:0", "");
        site.names.put("lines.test", &["127.0.0.1"]);
        let called = site.does(
            &with_python(&reach(&["lines.test"], lines.address)),
            &talk(lines.port(), Begins::Client),
        );
        assert_eq!(called.ok(), "heard hello\n");
    });
}

/// Where only the web is allowed, other protocols get nothing, also from a server that would speak first.
#[test]
fn a_rule_for_the_web_is_none_for_other_protocols() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let lines = Lines::start("127.0.0.1:0", "welcome\n");
        site.names.put("lines.test", &["127.0.0.1"]);
        let port = lines.port();
        for scheme in ["http", "https"] {
            let rules: Vec<String> = ["lines.test", "127.0.0.1"]
                .iter()
                .map(|host| {
                    format!(
                        "{{ host = '{host}', scheme = '{scheme}', port = {port}, allow = true }}"
                    )
                })
                .collect();
            let settings = format!("access.net = [{}]\n", rules.join(", "));
            // What is no HTTP and no TLS.
            let called = site.does(&with_python(&settings), &talk(port, Begins::Client));
            assert!(!called.says("heard"), "{called}");
            called.refused("connect", "lines.test");
            assert!(lines.heard().is_empty(), "{:?}", lines.heard());
        }
    });
}

/// A client that waits to be greeted where nobody may greet it is not left waiting, and is told why.
#[test]
fn a_client_that_waits_in_vain_is_refused() {
    let site = Site::new();
    if !site.has(&["python3", "--version"]) {
        return;
    }
    let lines = Lines::start("127.0.0.1:0", "welcome\n");
    site.names.put("lines.test", &["127.0.0.1"]);
    let rules = ["lines.test", "127.0.0.1"].map(|host| {
        let port = lines.port();
        format!("{{ host = '{host}', scheme = 'https', port = {port}, allow = true }}")
    });
    let settings = format!("access.net = [{}]\n", rules.join(", "));
    let called = site.does(&with_python(&settings), &talk(lines.port(), Begins::Server));
    assert!(!called.says("welcome"), "{called}");
    called.refused("connect", "lines.test");
}

#[test]
fn ssh_needs_a_rule_for_ssh() {
    for_each_user(|site| {
        if !site.has(&["ssh", "-V"]) {
            return;
        }
        // No key exchange follows, so ssh fails in either case; what counts is how far it came.
        let server = Lines::start("127.0.0.1:0", "SSH-2.0-fixture\r\n");
        let port = server.port();
        site.names.put("ssh.test", &["127.0.0.1"]);
        let script = format!(
            "ssh -v -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
             -o ConnectTimeout=60 -p {port} user@ssh.test true"
        );
        let rule = |host: &str, scheme: &str| {
            format!("{{ host = '{host}', scheme = '{scheme}', port = {port}, allow = true }}")
        };
        let settings = |scheme: &str| {
            let rules = ["ssh.test", "127.0.0.1"].map(|host| rule(host, scheme));
            format!("access.net = [{}]\n", rules.join(", "))
        };
        let called = site.does(&settings("https"), &script);
        assert!(
            called.0["isError"] == true && server.heard().is_empty(),
            "{called}"
        );
        let hint = called.refused("connect", "ssh.test");
        assert!(hint.contains(&format!("port = {port}")), "{hint}");

        let called = site.does(&settings("ssh"), &script);
        assert!(called.says("remote software version fixture"), "{called}");
        assert!(
            server.heard()[0].starts_with("SSH-2.0-"),
            "{:?}",
            server.heard()
        );
    });
}

/// Two programs of one tool hold connections open at the same time, and each gets what is its own.
#[test]
fn connections_do_not_mix() {
    for_each_user(|site| {
        if !site.has(&["python3", "--version"]) {
            return;
        }
        let (lines, web) = (Lines::start("127.0.0.1:0", "welcome\n"), Server::plain());
        for name in ["lines.test", "web.test"] {
            site.names.put(name, &["127.0.0.1"]);
        }
        let rules = net(&[
            ("lines.test", lines.port()),
            ("web.test", web.port()),
            ("127.0.0.1", lines.port()),
            ("127.0.0.1", web.port()),
        ]);
        let script = format!(
            "cat > many.py <<'END'
import concurrent.futures, socket, urllib.request
def talk(number):
    with socket.create_connection(('lines.test', {lines}), 60) as stream:
        file = stream.makefile('rw')
        assert file.readline() == 'welcome\\n'
        body = urllib.request.urlopen(f'http://web.test:{web}/{{number}}', timeout=60).read().decode()
        assert body == f'GET /{{number}} on web.test:{web}\\n', body
        for turn in range(5):
            file.write(f'{{number}} {{turn}}\\n')
            file.flush()
            assert file.readline() == f'heard {{number}} {{turn}}\\n'
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    list(pool.map(talk, range(40)))
print('done')
END
python3 many.py",
            lines = lines.port(),
            web = web.port(),
        );
        assert_eq!(site.does(&with_python(&rules), &script).ok(), "done\n");
        assert_eq!((lines.heard().len(), web.seen().len()), (200, 40));
    });
}

/// Says `hello` and reads a line; before that, where the server begins, reads what it says.
fn talk(port: u16, begins: Begins) -> String {
    let greeting = match begins {
        Begins::Server => "    print(file.readline(), end='')\n",
        Begins::Client => "",
    };
    format!(
        "cat > talk.py <<'END'
import socket
with socket.create_connection(('lines.test', {port}), 120) as stream:
    file = stream.makefile('rw')
{greeting}    file.write('hello\\n')
    file.flush()
    line = file.readline()
    print(line, end='')
    assert line
END
python3 talk.py"
    )
}

#[derive(Clone, Copy)]
enum Begins {
    Client,
    Server,
}

fn with_python(settings: &str) -> String {
    format!("{settings}sandbox.presets = ['python']\n")
}
