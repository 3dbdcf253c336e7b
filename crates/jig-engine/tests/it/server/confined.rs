//! What a server may not do it cannot do, and hears why while it runs (X-17).

use std::io::Write as _;
use std::net::TcpListener;
use std::thread;

use crate::server::{World, until};

/// A server that may read `src`.
fn reader() -> World {
    let world = World::new("access.fs = [{ path = 'src', read = true }]\n");
    world
        .file("ws/src/a", "a")
        .file("ws/data/b", "b")
        .file("ws/.env", "TOKEN=x")
        .file("home/.npmrc", "registry=x")
        .file("home/.cache/thing/old", "old")
        .file("other/data", "data");
    world
}

#[test]
fn files_of_the_workspace() {
    let mut talk = reader().start();
    assert_eq!(talk.ask("read src/a"), "ok a");
    assert_eq!(talk.ask("list ."), "ok src");
    drop(talk);
    let denial = reader().helps("read data/b", "read", "data/b");
    assert_eq!(
        denial.hint.as_deref(),
        Some("[[mcp.servers.srv.access.fs]]\npath = \"data/b\"\nread = true\n")
    );
    assert_eq!(denial.grants, ["read on `src`"]);
    reader().helps("read .env", "read", ".env");
    reader().helps("append src/a", "update", "src/a");
    reader().helps("write src/new", "create", "src/new");
    reader().helps("mkdir src/deep", "create", "src/deep");
}

#[test]
fn files_outside_of_it() {
    let denial = reader().helps("read ROOT/other/data", "read", "ROOT/other/data");
    let hint = denial.hint.unwrap();
    assert!(
        hint.starts_with("[mcp.servers.srv.sandbox]\nsystem = ["),
        "{hint}"
    );
    reader().helps(
        "write ROOT/home/.cache/thing/new",
        "create",
        "~/.cache/thing/new",
    );
    reader().helps(
        "append ROOT/home/.cache/thing/old",
        "update",
        "~/.cache/thing/old",
    );
    // And nothing was written before the rule was there.
    let world = reader();
    let mut talk = world.start();
    let line = format!("write {}/other/new", world.folder);
    assert!(talk.ask(&line).starts_with("error "));
    assert!(!world.folder.join("other/new").exists());
}

#[test]
fn hosts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        // The one that is refused does not arrive.
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"hello\n").unwrap();
    });
    let line = format!("connect 127.0.0.1 {port}");
    let target = format!("localhost:{port}");
    World::new("").helps(&line, "connect", &target);
    served.join().unwrap();
}

/// A name that no rule speaks of is not looked up, with other rules and without any.
#[test]
fn names() {
    for settings in [
        "",
        "access.net = [{ host = 'example.org', allow = true }]\n",
    ] {
        let mut talk = World::new(settings).start();
        let mark = talk.process.mark();
        let answer = talk.ask("lookup denied.example");
        assert!(answer.starts_with("error "), "{answer}");
        let denials = talk.process.refused_since(&mark);
        let denial = denials.iter().find(|one| one.target == "denied.example");
        let hint = denial.and_then(|one| one.hint.as_deref());
        let expected = "[[mcp.servers.srv.access.net]]\nhost = \"denied.example\"\nallow = true\n";
        assert_eq!(hint, Some(expected), "{denials:#?}");
    }
}

#[test]
fn variables() {
    let world = || World::new("env = { SET = 'yes' }\n").variable("SERVICE_KEY", "s3cr3t-key");
    let mut talk = world().start();
    let variables = talk.ask("variables");
    assert!(variables.contains(" SET"), "{variables}");
    assert!(!variables.contains("SERVICE_KEY"), "{variables}");
    let mark = talk.process.mark();
    assert_eq!(
        talk.ask("variable SERVICE_KEY"),
        "error KeyError('SERVICE_KEY')"
    );
    // It said so in its result, which is somebody else's to read.
    assert_eq!(talk.process.refused_since(&mark), []);
    let denials = talk
        .process
        .refused_by_its_words("KeyError: 'SERVICE_KEY'", &[]);
    let [denial] = denials.as_slice() else {
        panic!("{denials:#?}");
    };
    let hint = "[[mcp.servers.srv.access.env]]\nname = \"SERVICE_KEY\"\nread = true\n";
    assert_eq!(denial.hint.as_deref(), Some(hint));
    drop(talk);

    // What it says on standard error is read here.
    let world = world();
    let denial = world.start_and_complain("SERVICE_KEY is not set");
    assert_eq!(denial.as_deref(), Some(hint));
    world.paste(hint);
    assert_eq!(world.start().ask("variable SERVICE_KEY"), "ok s3cr3t-key");
}

impl World {
    /// The first hint for a server that says this on standard error.
    fn start_and_complain(&self, said: &str) -> Option<String> {
        let mut talk = self.start();
        let mark = talk.process.mark();
        talk.ask(&format!("complain {said}"));
        let denials = talk.process.refused_since(&mark);
        denials.into_iter().next()?.hint
    }
}

#[test]
fn programs() {
    let world = World::new("");
    world.program("home/bin/frobnicate", "#!/bin/sh\necho frob\n");
    world.helps("run frobnicate", "run", "frobnicate");

    // Rules on programs: each asks at the door.
    let world = World::new("access.commands.echo = {}\n");
    let mut talk = world.start();
    assert_eq!(talk.ask("run echo hello"), "ok hello ");
    let mark = talk.process.mark();
    assert!(talk.ask("run ls").starts_with("error "));
    let denials = talk.process.refused_since(&mark);
    let denial = denials.iter().find(|one| one.target == "ls");
    assert!(denial.is_some(), "{denials:#?}");
}

/// What was refused is told from the moment that was asked for on, to each who asks, and logged once.
#[test]
fn refusals_are_told_to_whom_they_concern() {
    let world = reader();
    let mut talk = world.start();
    let targets = |denials: Vec<jig_proto::Denial>| -> Vec<String> {
        denials.into_iter().map(|denial| denial.target).collect()
    };
    let first = talk.process.mark();
    assert!(talk.ask("read data/b").starts_with("error "));
    let second = talk.process.mark();
    assert_eq!(targets(talk.process.refused_since(&second)), [""; 0]);
    assert!(talk.ask("read .env").starts_with("error "));
    assert_eq!(targets(talk.process.refused_since(&second)), [".env"]);
    assert_eq!(
        targets(talk.process.refused_since(&first)),
        ["data/b", ".env"]
    );
    for _ in 0..3 {
        assert!(talk.ask("read data/b").starts_with("error "));
        assert_eq!(
            targets(talk.process.refused_since(&second)),
            [".env", "data/b"]
        );
    }
    let third = talk.process.mark();
    assert_eq!(talk.ask("read src/a"), "ok a");
    assert_eq!(targets(talk.process.refused_since(&third)), [""; 0]);
    drop(talk);
    let logged = world.audit.lines();
    let count = |line: &str| logged.iter().filter(|one| *one == line).count();
    assert_eq!(count("mcp:srv sandbox.read data/b"), 1, "{logged:#?}");
    assert_eq!(count("mcp:srv sandbox.read .env"), 1, "{logged:#?}");
}

/// What it made itself in its own home is its own, also if the host has something of that name.
#[test]
fn what_it_made_before_is_not_told_as_hidden() {
    let world = reader();
    let mut talk = world.start();
    let home = "/home";
    let answer = talk.ask("variable HOME");
    let own = answer.strip_prefix("ok ").unwrap_or(home);
    assert_eq!(
        talk.ask(&format!("write {own}/.npmrc")),
        format!("ok {own}/.npmrc")
    );
    let mark = talk.process.mark();
    assert_eq!(talk.ask(&format!("read {own}/.npmrc")), "ok written");
    assert_eq!(talk.process.refused_since(&mark), []);
}

/// A server that dies for what it was refused: the whole of its life can be asked about, also afterwards.
#[test]
fn a_server_that_cannot_start_is_explained() {
    let world = reader();
    world.file(
        "server.py",
        "import sys\nopen('data/b')\nsys.stdin.read()\n",
    );
    let talk = world.start();
    until("it has ended", || talk.process.ended().is_some());
    assert_eq!(talk.process.ended().as_deref(), Some("exited with code 1"));
    let words = talk.process.last_words();
    assert!(words.contains("data/b"), "{words}");
    let denials = talk
        .process
        .refused_since(&jig_engine::ServerMark::default());
    assert!(
        denials.iter().any(|one| one.target == "data/b"),
        "{denials:#?}"
    );
}

/// Servers are started by whatever is on the search path: node, and scripts with a line that names it.
#[test]
fn node_starts() {
    let node = r"
        require('readline').createInterface({ input: process.stdin }).on('line', line => {
            const path = line.split(' ')[1];
            try { console.log('ok ' + require('fs').readFileSync(path)); }
            catch (error) { console.log('error ' + error.code); }
        });";
    let world = reader();
    world.file("server.js", node);
    let start = |command: String| {
        let settings = format!(
            "[mcp.servers.srv]\ncommand = {command}\naccess.fs = [{{ path = 'src', read = true }}]\n"
        );
        world.file("user.toml", &settings);
        let mut talk = world.start();
        assert_eq!(talk.ask("read src/a"), "ok a", "{settings}");
        let mark = talk.process.mark();
        assert!(talk.ask("read data/b").starts_with("error "));
        let denials = talk.process.refused_since(&mark);
        assert!(
            denials.iter().any(|one| one.target == "data/b"),
            "{denials:#?}"
        );
    };
    start(format!("['node', '{}/server.js']", world.folder));
    // As `npx` and what it installs are.
    let script = format!("#!/usr/bin/env node\n{node}");
    world.program("home/bin/node-server", &script);
    start("'node-server'".to_owned());
    start(format!("'{}/home/bin/node-server'", world.folder));
}
