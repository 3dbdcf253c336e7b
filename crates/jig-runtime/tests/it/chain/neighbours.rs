//! What siblings have of each other, and pipelines of them.

use std::io::{Read, Write};
use std::path::PathBuf;

use jig_tool::proxy::{
    ChildOptions, ChildStream, Client, LlmCmd, Op, OpenMode, ProxyConnectError, ProxyErrorCode,
    Relay,
};

use crate::chain::roles::{FOLDER, ROLE, spawn};
use crate::chain::world::{World, until};

/// Plays a role of this file; `false` if it is none.
pub(crate) fn play(role: &str, client: &Client) -> bool {
    match role {
        "siblings" => siblings(client),
        "owner" => {
            let mut file = client.open("kept", OpenMode::Write).unwrap();
            file.write_all(b"mine").unwrap();
            client.write("number", file.handle().to_string()).unwrap();
            // Until it is told to go.
            while client.read("go").is_err() {
                std::thread::yield_now();
            }
            file.write_all(b", still").unwrap();
        }
        "thief" => thief(client),
        "pipeline" => pipeline(client),
        "producer" => {
            let mut out = client.stdout().pipelined(8);
            for number in 0..2000 {
                writeln!(out, "line {number}").unwrap();
            }
            out.flush().unwrap();
        }
        "filter" => {
            let mut text = String::new();
            client.stdin().read_to_string(&mut text).unwrap();
            let mut out = client.stdout();
            for line in text.lines().filter(|line| line.ends_with("99")) {
                writeln!(out, "{}", line.to_uppercase()).unwrap();
            }
        }
        "streams" => {
            let relay = Relay::new(client.clone()).unwrap();
            spawn(&relay, "speaker", ChildOptions::INHERIT)
                .wait()
                .unwrap();
        }
        "speaker" => {
            let mut out = client.stdout();
            out.write_all(b"<spoken below>").unwrap();
            out.close().unwrap();
            client.stdout().write_all(b"<and again>").unwrap();
            // The standard input of the process in the middle is empty.
            assert_eq!(client.stdin().read(&mut [0; 10]).unwrap(), 0);
        }
        "holder" => {
            client.write("out/held", b"").unwrap();
            while client.read("out/seen").is_err() {
                std::thread::yield_now();
            }
        }
        _ => return false,
    }
    true
}

fn siblings(client: &Client) {
    // The handle before that of the owner.
    let _own = client.open("own", OpenMode::Write).unwrap();
    let relay = Relay::new(client.clone()).unwrap();
    let mut owner = spawn(&relay, "owner", ChildOptions::default());
    while client.read("number").unwrap_or_default().is_empty() {
        std::thread::yield_now();
    }
    assert!(
        spawn(&relay, "thief", ChildOptions::default())
            .wait()
            .unwrap()
            .success()
    );
    client.write("go", b"").unwrap();
    assert!(owner.wait().unwrap().success());
    let kept = client.read("kept").unwrap();
    let report = client.read("report").unwrap();
    client.write("out/kept", kept).unwrap();
    client.write("out/report", report).unwrap();
}

/// Tries what it can with a handle that is not its own, and with those of its parent and of the streams.
fn thief(client: &Client) {
    let stolen: u64 = String::from_utf8(client.read("number").unwrap())
        .unwrap()
        .parse()
        .unwrap();
    let mut report = String::new();
    for handle in [stolen, stolen - 1, stolen + 1, 1, 1 << 40] {
        let mut file = client.file(handle, OpenMode::Write);
        let written = file.write(b"stolen").map_err(|error| error.to_string());
        let read = file.read(&mut [0; 10]).map_err(|error| error.to_string());
        let closed = client.begin(&Op::Close { handle }).unwrap().wait();
        let codes = closed.map_err(|error| error.code().map(ProxyErrorCode::name));
        report += &format!("{} {} {codes:?}\n", written.is_err(), read.is_err());
        std::mem::forget(file);
    }
    let asked = client.llm(&LlmCmd {
        prompt: Some("x".to_owned()),
        files: vec![stolen],
        ..LlmCmd::default()
    });
    report += &format!(
        "{:?}\n",
        asked.unwrap_err().code().map(ProxyErrorCode::name)
    );
    client.write("report", report).unwrap();
}

/// One stage writes to a virtual file as its standard output, the next reads it as its standard input.
fn pipeline(client: &Client) {
    let relay = Relay::new(client.clone()).unwrap();
    let between = client.open("between", OpenMode::Write).unwrap();
    let options = ChildOptions {
        stdout: ChildStream::Handle(between.handle()),
        ..ChildOptions::default()
    };
    assert!(spawn(&relay, "producer", options).wait().unwrap().success());
    between.close().unwrap();
    let between = client.open("between", OpenMode::Read).unwrap();
    let result = client.open("out/result", OpenMode::Write).unwrap();
    let options = ChildOptions {
        stdin: ChildStream::Handle(between.handle()),
        stdout: ChildStream::Handle(result.handle()),
        ..ChildOptions::default()
    };
    assert!(spawn(&relay, "filter", options).wait().unwrap().success());
}

/// The role of a process that shares the connection of another; the other holds it until it has been seen.
pub(crate) fn late() {
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    until("the other process works", || {
        folder.join("out/held").exists()
    });
    let error = Client::inherited().unwrap_err();
    assert!(matches!(error, ProxyConnectError::InUse(3)), "{error}");
    std::fs::write(folder.join("out/seen"), "").unwrap();
    // It is free when the other has exited.
    let mut client = Client::inherited();
    until("the connection is free", || {
        if client.is_err() {
            client = Client::inherited();
        }
        client.is_ok()
    });
    client.unwrap().write("out/late", b"works").unwrap();
}

#[test]
fn two_processes_never_use_one_connection_at_a_time() {
    let mut world = World::new();
    let both =
        format!("exec 3<&0 0</dev/null; {ROLE}=late \"$0\" \"$@\" & \"$0\" \"$@\" && wait $!");
    world.start_by(&both, "holder");
    assert!(world.top().wait().unwrap().success());
    assert_eq!(world.content("out/late"), "works");
    world.expect_empty();
}

#[test]
fn x30_a_child_cannot_use_the_handles_of_others() {
    let mut world = World::new();
    world.start("siblings");
    assert!(world.top().wait().unwrap().success());
    let refused = "true true Err(Some(\"E_CLOSED\"))\n";
    let reserved = "true true Err(Some(\"E_PERM\"))\n";
    let expected = [
        refused,
        refused,
        refused,
        reserved,
        refused,
        "Some(\"E_PERM\")\n",
    ];
    assert_eq!(world.content("out/report"), expected.concat());
    assert_eq!(world.content("out/kept"), "mine, still");
    world.expect_empty();
}

#[test]
fn f073_stages_of_a_pipeline_pass_on_what_they_write() {
    let mut world = World::new();
    world.start("pipeline");
    assert!(world.top().wait().unwrap().success());
    let expected: String = (0..2000)
        .filter(|number| number % 100 == 99)
        .map(|number| format!("LINE {number}\n"))
        .collect();
    assert_eq!(world.content("out/result"), expected);
    world.expect_empty();
}

/// F-012: the streams of the process in the middle are those of its children.
#[test]
fn f012_a_child_speaks_through_the_streams_of_its_parent() {
    let mut world = World::new();
    world.start("streams");
    let mut said = String::new();
    let stdout = world.top().stdout.as_mut().unwrap();
    stdout.read_to_string(&mut said).unwrap();
    assert!(world.top().wait().unwrap().success());
    assert!(said.contains("<spoken below><and again>"), "{said}");
    world.expect_empty();
}
