//! A program in the sandbox that knows nothing of proxies, and the hosts that its rules name.

use std::net::TcpListener;

use jig_proto::vfs::{ProcessReply, ProcessRun, VfsReply, VfsRequest};

use crate::server::{Server, ok};
use crate::world::{World, ask};

/// A confined shell that may talk to the hosts of the rules.
fn world() -> World {
    World::on_disk()
        .allow(".", "rcudx")
        .command("bash", None, &[])
        .confined()
}

fn bash(world: &World, script: &str) -> ProcessReply<'static> {
    let request = VfsRequest::ProcessRun(ProcessRun {
        program: "bash".into(),
        args: vec!["-c".into(), script.into()],
        envs: Vec::new(),
        cwd: None,
    });
    match ask(&world.broker(), &request) {
        Ok(VfsReply::Process(reply)) => reply,
        other => panic!("{script}: {other:?}"),
    }
}

/// Requests a path of a host by the shell's own means, which resolve names as any program does.
fn get(host: &str, port: u16, path: &str) -> String {
    format!(
        "exec 3<>/dev/tcp/{host}/{port} && printf 'GET {path} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n' >&3 && cat <&3"
    )
}

#[test]
fn a_confined_program_reaches_what_its_rules_name_by_name() {
    let server = Server::answering(ok("from outside"));
    let port = server.port;
    let world = world()
        .net("api.test", port, true)
        .net("127.0.0.1", port, true);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let reply = bash(&world, &get("api.test", port, "/a"));
    assert!(reply.stdout.ends_with("from outside"), "{reply:?}");
    assert!(server.seen()[0].starts_with("GET /a HTTP/1.1\r\n"));
    let entries = world.log.entries();
    let connected = entries
        .iter()
        .find(|entry| entry.operation == "net.connect");
    assert_eq!(
        connected.unwrap().target,
        format!("http://api.test:{port}/a")
    );
}

#[test]
fn ipv6_is_as_good() {
    // Where the kernel has no IPv6 the sandbox has none, and names have one address.
    let has_v6 = std::fs::read_to_string("/proc/net/if_inet6").is_ok_and(|text| !text.is_empty());
    let server = Server::answering(ok("from outside"));
    let port = server.port;
    let world = world()
        .net("api.test", port, true)
        .net("127.0.0.1", port, true);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let address = bash(&world, "getent ahosts api.test | grep -c '^fd6a:'");
    assert_eq!(address.stdout.trim() != "0", has_v6, "{address:?}");
    let address = if has_v6 {
        "fd6a:6967:6e61:6d65::10"
    } else {
        "198.18.0.16"
    };
    let script = format!(
        "getent hosts api.test >/dev/null; {}",
        get("api.test", port, "/")
    );
    let script = script.replace("/dev/tcp/api.test/", &format!("/dev/tcp/{address}/"));
    let reply = bash(&world, &script);
    assert!(reply.stdout.ends_with("from outside"), "{reply:?}");
}

#[test]
fn the_machine_itself_is_reached_if_a_rule_names_it() {
    let server = Server::answering(ok("from this machine"));
    let port = server.port;
    let world = world().net("localhost", port, true);
    for host in ["localhost", "127.0.0.1"] {
        let reply = bash(&world, &get(host, port, "/"));
        assert!(
            reply.stdout.ends_with("from this machine"),
            "{host}: {reply:?}"
        );
    }
}

#[test]
fn all_else_leads_nowhere() {
    let server = Server::answering(ok("secret"));
    let hidden = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = hidden.local_addr().unwrap().port();
    let port = server.port;
    let world = world()
        .net("api.test", port, true)
        .net("private.test", port, true);
    world.names.put("api.test", &[&["192.0.2.1"]]);
    world.names.put("private.test", &[&["127.0.0.1"]]);
    world.names.put("evil.test", &[&["127.0.0.1"]]);
    let check = |script: &str, part: &str| {
        let reply = bash(&world, script);
        let text = format!("{}{}", reply.stdout, reply.stderr);
        assert!(!text.contains("secret"), "{script}: {text}");
        assert!(text.contains(part), "{script}: {text}");
    };
    // The twin: outside of the sandbox it is there.
    let mut open = World::on_disk()
        .allow(".", "rcudx")
        .command("bash", None, &[]);
    open.names = world.names.clone();
    assert!(
        bash(&open, &get("127.0.0.1", port, "/"))
            .stdout
            .ends_with("secret")
    );
    check(&get("evil.test", port, "/"), "evil.test");
    check(&get("private.test", port, "/"), "a loopback address");
    check(&get("127.0.0.1", port, "/"), "403 Forbidden");
    check(&get("127.0.0.1", other, "/"), "refused");
    check(&get("192.0.2.1", port, "/"), "unreachable");
    check(&get("198.18.0.99", port, "/"), "");
    assert_eq!(server.seen().len(), 1);
    let refused = world.log.entries();
    let refused = refused
        .iter()
        .filter(|entry| entry.operation == "net.lookup");
    let names: Vec<&str> = refused.map(|entry| entry.target.as_str()).collect();
    assert_eq!(names, ["evil.test"]);
}
