//! What could give the command of `jig proxy` more than was said: where jig stands, what the workspace brought
//! along, and what was left out.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread;

use serde_json::{Value as Json, json};

use super::proxy_client::ended;
use super::workspace_user::{Desk, Ran, for_each_user};

/// A workspace at `/`, as in many containers, holds `/proc`, and there the variables of jig itself with the key
/// of the model.
#[test]
fn a_workspace_at_the_top_of_the_disk_does_not_tell_the_variables_of_jig() {
    for_each_user(|desk| {
        let script = "
def attempt(path):
    try:
        return proxy.content(path)
    except Refused as refused:
        return refused.args[0]
tell([attempt(path) for path in ['/proc/self/environ', 'proc/self/environ', 'self/environ', '/proc/self/status']])";
        for (options, expected) in [
            (&["-C", "/"][..], ["E_ARG", "E_ARG", "E_NOENT", "E_ARG"]),
            (
                &["-C", "/", "-i", "/"],
                ["E_PERM", "E_PERM", "E_NOENT", "E_PERM"],
            ),
            (
                &["-C", "/", "-i", "/proc"],
                ["E_ARG", "E_ARG", "E_NOENT", "E_ARG"],
            ),
            (&["--root", "/proc"], ["E_ARG", "E_NOENT", "E_ARG", "E_ARG"]),
        ] {
            let mut jig = desk.proxy(options, script);
            let jig = jig.current_dir("/").env("OPENAI_API_KEY", "sk-of-jig");
            let ran = Ran::of(jig.output().unwrap());
            let told: Json = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
            assert_eq!(told, json!(expected), "{options:?}");
        }
    });
}

/// Whoever writes the files of a workspace does not choose what a command without a tool may do. Before, these
/// declarations let it change the workspace, and read beside it without asking.
#[test]
fn the_workspace_does_not_declare_what_jig_makes_up() {
    let desk = Desk::new();
    let beside = desk.beside("private");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("key"), "a key").unwrap();
    let private = beside.join("key");
    let private = private.as_str();
    for (name, command, named) in [
        ("jig-proxy", "proxy", "--tool"),
        ("jig-run", "run", "--policy"),
    ] {
        // Be it a whole tool or only a part of one.
        let tool = format!("[tools.{name}]\nsource = 'local'\ncommand = 'true'\n");
        let more = format!("[tools.{name}.sandbox]\nsystem = ['{beside}']\n");
        for config in [format!("{tool}{more}"), more] {
            desk.workspace.write("jig.toml", &config);
            let ran = desk.run(&[command, "--", "cat", private]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{ran:?}");
            let hint = format!("{named} {name}");
            assert!(
                ran.err.contains("jig.toml") && ran.err.contains(&hint),
                "{ran:?}"
            );
        }
        // Whoever names it has read it.
        desk.workspace.write(
            "jig.toml",
            format!("{tool}[tools.{name}.sandbox]\nsystem = ['{beside}']\n"),
        );
        let ran = desk.run(&[command, named, name, "--", "cat", private]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "a key"), "{ran:?}");
    }
}

/// `-o "$OUT"` with a variable that is not set gave the whole current folder away.
#[test]
fn an_empty_path_names_nothing() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "a");
    for (command, option) in [
        ("proxy", "-i"),
        ("proxy", "-o"),
        ("proxy", "--code"),
        ("proxy", "--root"),
        ("proxy", "--policy"),
        ("run", "--read"),
        ("run", "--write"),
    ] {
        let ran = desk.run(&[command, option, "", "--", "true"]);
        assert_eq!(ran.code, Some(2), "{command} {option}: {ran:?}");
        assert!(
            ran.err.contains("names nothing"),
            "{command} {option}: {ran:?}"
        );
    }
}

/// The hints of the default, which is the workspace and read-only, can be followed.
#[test]
fn what_is_refused_by_default_can_be_given() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "a");
    let script = "
try:
    proxy.close(proxy.open('a.txt', 'w'))
    tell('done')
except Refused as refused:
    tell(refused.args[1])";
    let told = desk.told_by(&[], script);
    let hint = told
        .as_str()
        .and_then(|told| told.rsplit_once("to allow it, add: "));
    let Some((_, options)) = hint else {
        panic!("{told}");
    };
    let options: Vec<&str> = options.split_whitespace().collect();
    assert_eq!(desk.told_by(&options, script), "done", "{options:?}");
}

/// The variable is set, and at the other end of the descriptor is somebody who says nothing.
#[test]
fn a_proxy_that_never_answers_is_not_waited_for() {
    let (theirs, _silent) = UnixStream::pair().unwrap();
    let ran = under(&Desk::new(), theirs, &["true"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.err.contains("no proxy answers there"), "{ran:?}");
}

/// Somebody serves the descriptor who has confined nobody. The command was started, and could do all that its
/// user can.
#[test]
fn a_command_that_nobody_confines_is_not_started() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    if !status.contains("NoNewPrivs:\t0") {
        return;
    }
    let (theirs, mut ours) = UnixStream::pair().unwrap();
    let server = thread::spawn(move || {
        let mut length = [0; 4];
        while ours.read_exact(&mut length).is_ok() {
            let mut body = vec![0; u32::from_be_bytes(length) as usize];
            ours.read_exact(&mut body).unwrap();
            let id = serde_json::from_slice::<Json>(&body).unwrap()["id"].take();
            let error = json!({ "code": "E_UNSUPPORTED", "message": "LLM not available" });
            let answer = json!({ "id": id, "ok": false, "error": error }).to_string();
            let length = u32::try_from(answer.len()).unwrap().to_be_bytes();
            ours.write_all(&length).unwrap();
            ours.write_all(answer.as_bytes()).unwrap();
        }
    });
    let desk = Desk::new();
    let ran = under(&desk, theirs, &["touch", "made"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.err.contains("env -u JIG_PROXY_FD"), "{ran:?}");
    assert!(!desk.path("made").exists());
    server.join().unwrap();
    // The way out: without the variable jig has a sandbox of its own for it.
    let mut jig = desk.command("env");
    jig.env("JIG_PROXY_FD", "3")
        .args(["-u", "JIG_PROXY_FD", env!("CARGO_BIN_EXE_jig"), "proxy"])
        .args(["--", "echo", "hello"]);
    let again = Ran::of(jig.output().unwrap());
    assert_eq!(again.out, "hello\n", "{again:?}");
    super::follow::follow(
        "to have jig confine it, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …; a program that serves processes which need no sandbox starts them itself (`Relay` of the SDK)",
        &ran.err,
        &again.err,
    );
}

/// `jig proxy -- COMMAND` with this as its descriptor 3.
fn under(desk: &Desk, descriptor: UnixStream, command: &[&str]) -> Ran {
    let mut shell = desk.command("/bin/sh");
    let built = env!("CARGO_BIN_EXE_jig");
    let script = "exec \"$0\" proxy -- \"$@\" 3<&0 </dev/null";
    let mut jig = shell
        .args(["-c", script, built])
        .args(command)
        .env("JIG_PROXY_FD", "3")
        .stdin(Stdio::from(OwnedFd::from(descriptor)))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What starts it keeps the descriptor, and the other end is not to wait for that.
    drop(shell);
    ended(&mut jig);
    Ran::of(jig.wait_with_output().unwrap())
}
