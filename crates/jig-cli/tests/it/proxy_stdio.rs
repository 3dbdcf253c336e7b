//! `jig proxy --stdio`: clients that somebody else has started, on standard input and output.

use base64_of::{decoded, encoded};
use serde_json::{Value as Json, json};

use super::proxy_client::Foreign;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// A file is read and written, and the end of the client is a normal end (F-080).
#[test]
fn a_foreign_client_is_served() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "hello");
        let mut client = Foreign::new(desk, &["-i", "in.txt", "-o", "out.txt"]);
        let input = client.open("in.txt", "r");
        let read = client.ask("read", &json!({ "h": input, "max": 4096 }));
        assert_eq!(decoded(&read["data"]), "hello");
        let read = client.ask("read", &json!({ "h": input }));
        assert_eq!(read, json!({ "data": "", "eof": true }));
        let output = client.open("out.txt", "w");
        let data = encoded("written");
        let answer = client.ask(
            "write",
            &json!({ "h": output, "data": data, "final": true }),
        );
        assert_eq!(answer, json!({ "written": 7 }));
        // X-36.
        for mode in ["w", "a", "rw"] {
            let answer = client.ask("open", &json!({ "path": "in.txt", "mode": mode }));
            assert_eq!(answer["code"], "E_PERM", "{answer}");
        }
        // F-011: the streams are the protocol's.
        for handle in [0, 1, 2] {
            let answer = client.ask("close", &json!({ "h": handle }));
            assert_eq!(answer["code"], "E_PERM", "{answer}");
        }
        assert_eq!(client.ask("QUOTA", &json!({}))["code"], "E_UNSUPPORTED");
        let llm = client.ask("LLMCMD", &json!({ "prompt": "hi" }));
        assert_eq!(llm["code"], "E_UNSUPPORTED");
        until("it is listed", || {
            let rows = desk.proxies();
            rows.len() == 1 && rows[0]["files"].as_array().unwrap().len() == 2
        });
        let (status, rest, notes) = client.end();
        assert_eq!(
            (status.code(), rest.as_str(), notes.as_str()),
            (Some(0), "", "")
        );
        assert_eq!(desk.read("out.txt"), "written");
        assert_eq!(desk.read("in.txt"), "hello");
        assert_eq!(desk.proxies(), Vec::<Json>::new());
    });
}

/// Existing clients ask for 8192 bytes (X-30b).
#[test]
fn long_reads_are_for_lenient_proxies() {
    let desk = Desk::new();
    desk.workspace.write("big", "x".repeat(9000));
    for (options, expected) in [
        (&["-i", "big"][..], json!("E_RANGE")),
        (&["--lenient", "-i", "big"], Json::Null),
    ] {
        let mut client = Foreign::new(&desk, options);
        let handle = client.open("big", "r");
        let answer = client.ask("read", &json!({ "h": handle, "max": 8192 }));
        assert_eq!(answer["code"], expected);
        if expected.is_null() {
            assert_eq!(decoded(&answer["data"]).len(), 4096);
        }
        assert_eq!(client.end().0.code(), Some(0));
    }
}

/// F-061…F-067: a client that speaks the text protocol.
#[test]
fn a_legacy_client_is_served() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "hello");
        let mut client = Foreign::new(desk, &["-i", "in.txt", "-o", "out.txt"]);
        let mut exchange = |said: &str, answer: &str| {
            client.send(said.as_bytes());
            let heard = client.receive(answer.len());
            assert_eq!(String::from_utf8_lossy(&heard), answer, "{said}");
        };
        exchange("OPEN in.txt r true\n", "OK 3\n");
        exchange("READ 3 4096\n", "OK 5\nhello");
        exchange("READ 3 4096\n", "OK 0\n");
        exchange("OPEN out.txt w true\n", "OK 4\n");
        exchange("WRITE 4 3\nabc", "OK 3\n");
        exchange("CLOSE\n", "ERROR CLOSE requires fileno\n");
        exchange("CLOSE abc\n", "ERROR invalid fileno: abc\n");
        exchange("\n", "ERROR empty request\n");
        exchange("INVALID\n", "ERROR unknown command: INVALID\n");
        exchange("OPEN\n", "ERROR OPEN requires filename and mode\n");
        exchange("LLM_CHAT true 0 1 2 0 2\nhi", "ERROR LLM not available\n");
        exchange("CLOSE 4\n", "OK\n");
        let (status, rest, notes) = client.end();
        assert_eq!(
            (status.code(), rest.as_str(), notes.as_str()),
            (Some(0), "", "")
        );
        assert_eq!(desk.read("out.txt"), "abc");
        // F-081: what could not be read is in the log, and the connection went on.
        let log = desk.ok(&["log", "--decision", "deny"]);
        for told in [
            "unknown command: INVALID",
            "OPEN requires filename and mode",
        ] {
            let told = format!("proxy.unread  c1  {told}");
            assert_eq!(log.matches(&told).count(), 1, "{log}");
        }
    });
}

/// A client that breaks the framing is answered, if it can be, and ended; jig says why, on standard error only.
#[test]
fn broken_framing_ends_with_1() {
    let desk = Desk::new();
    let too_long = (1_u32 << 21).to_be_bytes();
    let too_long = &too_long[..];
    for (sent, code) in [
        (too_long, "E_RANGE"),
        (b"{\"id\":\"1\",\"op\":\"open\"}\n", "E_ARG"),
        (b"\xff\xff\xff\xff", ""),
        (b"\x00\x00\x00\x10half a fra", ""),
    ] {
        let mut client = Foreign::new(&desk, &[]);
        client.send(sent);
        let (status, answer, notes) = client.end();
        let about = format!("{sent:?}: {answer} {notes}");
        assert_eq!(status.code(), Some(1), "{about}");
        assert!(answer.contains(code), "{about}");
        let start = "error: the client did not keep to the protocol";
        assert!(notes.starts_with(start), "{about}");
    }
}

/// A signal ends it as it would end any program, with nothing left to see.
#[test]
fn a_signal_ends_it() {
    use std::os::unix::process::ExitStatusExt as _;
    let desk = Desk::new();
    let mut client = Foreign::new(&desk, &["-o", "out.txt"]);
    let handle = client.open("out.txt", "w");
    client.ask("write", &json!({ "h": handle, "data": encoded("kept") }));
    let pid = i32::try_from(client.pid()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    client.wait();
    let (status, rest, notes) = client.end();
    assert_eq!((status.signal(), rest.as_str()), (Some(15), ""), "{notes}");
    assert_eq!(desk.read("out.txt"), "kept");
    assert_eq!(desk.proxies(), Vec::<Json>::new());
}

/// Base64 by the tools of the system: what the client understands is not what jig does.
mod base64_of {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use serde_json::Value as Json;

    pub(super) fn encoded(text: &str) -> String {
        run(&["-w", "0"], text)
    }

    pub(super) fn decoded(data: &Json) -> String {
        run(&["-d"], data.as_str().unwrap())
    }

    fn run(options: &[&str], input: &str) -> String {
        let mut base64 = Command::new("base64");
        base64
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut base64 = base64.spawn().unwrap();
        base64
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        String::from_utf8(base64.wait_with_output().unwrap().stdout).unwrap()
    }
}
