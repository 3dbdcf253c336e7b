//! Tools that run programs by name: what their rules allow, what they deny, and what attacks come to.

use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{
    AuditDecision, CommandedProgram, Intruder, ProgramEnding, ProgramReach, ProgramStart,
    RunningProgram,
};
use jig_sandbox::{Enforce, Exit, Layers};
use jig_testkit::until;

use crate::world::{World, both};

/// What became of a tool.
struct Ran {
    stdout: String,
    stderr: String,
    exit: Exit,
    intruders: Vec<Intruder>,
}

/// A tool that runs, with its door.
struct Tool {
    program: RunningProgram,
    view: jig_files::FilesView,
}

impl Tool {
    fn start(world: &World, words: &[&str]) -> Self {
        let broker = world.broker();
        let view = world.files.materialize().unwrap();
        let command = CommandedProgram {
            program: words[0].into(),
            literals: words[1..].iter().map(Into::into).collect(),
            ..CommandedProgram::default()
        };
        let confined = broker.confine(&command, view.path(), ProgramReach::Workspace);
        let mut confined = confined.unwrap();
        broker.guard_commands(&mut confined).unwrap();
        let mut start = ProgramStart::confined(confined, view.path());
        start.request.args = words[1..].iter().map(Into::into).collect();
        let program = broker.start(start).unwrap();
        Self { program, view }
    }

    fn finish(mut self) -> Ran {
        let read = |mut pipe: std::io::PipeReader| {
            thread::spawn(move || {
                let mut text = Vec::new();
                pipe.read_to_end(&mut text).unwrap();
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let stdout = read(self.program.streams.stdout.take().unwrap());
        let stderr = read(self.program.streams.stderr.take().unwrap());
        let exit = self.program.child().wait().unwrap();
        let intruders = self.program.finish(ProgramEnding::Unexplained).intruders;
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        assert!(self.view.close().is_complete());
        Ran {
            stdout,
            stderr,
            exit,
            intruders,
        }
    }
}

fn sh(world: &World, script: &str) -> Ran {
    Tool::start(world, &["sh", "-c", script]).finish()
}

/// The output of a script that has to succeed and say nothing else.
fn output(world: &World, script: &str) -> String {
    let ran = sh(world, script);
    assert!(ran.exit.is_success(), "{script}: {}", ran.stderr);
    assert_eq!(ran.stderr, "", "{script}");
    assert_eq!(ran.intruders, [], "{script}");
    ran.stdout
}

/// A tool in Python that talks to the door itself. `streams` are the three that it sends.
fn by_hand(world: &World, script: &str) -> Ran {
    let script = format!("{PREAMBLE}{script}");
    Tool::start(world, &["python3", "-c", &script]).finish()
}

const PREAMBLE: &str = r"
import array, os, socket, struct, sys, time
def knock():
    s = socket.socket(socket.AF_UNIX); s.connect('/run/jig/door'); s.settimeout(20); return s
def say(s, body, fds=(0, 1, 2), length=None):
    head = struct.pack('<I', len(body) if length is None else length)
    socket.send_fds(s, [head], fds) if fds else s.sendall(head)
    try: s.sendall(body)
    except BrokenPipeError: pass
def hear(s):
    got = b''
    while True:
        try: piece = s.recv(65536)
        except ConnectionResetError: break
        if not piece: break
        got += piece
    return (got[0], got[1], got[6:].decode()) if len(got) >= 6 else None
def body(*words): return b''.join(w + b'\0' for w in words)
def ask(*words, **more):
    s = knock(); say(s, body(*words), **more); return hear(s)
W = os.getcwd().encode()
";

fn world() -> World {
    World::on_disk()
        .with("a.txt", "content")
        .with("sub/b.txt", "below")
        .allow(".", "rcudx")
        .confined()
}

#[test]
fn a_program_that_a_rule_names_runs_with_the_callers_streams() {
    both(|world| {
        let world = world
            .with("a.txt", "content")
            .allow(".", "rcudx")
            .command("cat", None, &[])
            .command("sh", None, &[])
            .confined();
        assert_eq!(output(&world, "cat a.txt"), "content");
        assert_eq!(output(&world, "echo in | cat - a.txt"), "in\ncontent");
        assert_eq!(
            output(&world, "cat a.txt > new.txt; cat new.txt"),
            "content"
        );
        assert_eq!(output(&world, "sh -c 'echo x >&2' 2>&1"), "x\n");
        assert_eq!(output(&world, "sh -c 'exit 7'; echo $?"), "7\n");
        assert_eq!(
            output(&world, "cat < a.txt 2>/dev/null >&-; echo $?"),
            "1\n"
        );
        assert_eq!(
            output(&world, "x=$(cat a.txt) && echo \"<$x>\""),
            "<content>\n"
        );
        let killed = sh(&world, "sh -c 'kill -9 $$'; echo $?");
        assert_eq!(killed.stdout, "137\n");
        assert_eq!(world.content("new.txt").as_deref(), Some("content"));
    });
}

#[test]
fn only_programs_that_rules_name_are_found() {
    let world = world().command("cat", None, &[]);
    let ran = sh(&world, "ls; echo $?; command -v ls; echo $PATH");
    assert_eq!(ran.stdout, "127\n/run/jig/bin\n", "{}", ran.stderr);
    // Without rules on programs all are.
    let free = World::on_disk().allow(".", "rcudx").confined();
    assert!(output(&free, "command -v ls").ends_with("/ls\n"));
    // Rules that name none leave none.
    let mut none = World::on_disk().allow(".", "rcudx").confined();
    none.access.commands = Some(Vec::new());
    assert_eq!(sh(&none, "ls; echo $?").stdout, "127\n");
}

#[test]
fn a_login_shell_finds_the_same() {
    let world = world().command("cat", None, &[]);
    let tool = ["bash", "-lc", "command -v cat; cat a.txt; command -v ls"];
    let ran = Tool::start(&world, &tool).finish();
    assert_eq!(ran.stdout, "/run/jig/bin/cat\ncontent", "{}", ran.stderr);
}

#[test]
fn arguments_are_judged_and_a_denial_teaches() {
    let world = world().command("cat", Some(&[&["a.txt", "**"]]), &[]);
    assert_eq!(output(&world, "cat a.txt sub/b.txt"), "contentbelow");
    let ran = sh(&world, "cat sub/b.txt; echo $?");
    assert_eq!(ran.stdout, "126\n");
    let text = ran.stderr;
    assert!(
        text.starts_with("jig: `cat` was not run: access denied: "),
        "{text}"
    );
    assert!(text.contains("`cat sub/b.txt`"), "{text}");
    assert!(text.contains("jig.toml:90"), "{text}");
    assert!(
        text.contains("hint: [tools.editor.access.commands"),
        "{text}"
    );
    let entries = world.log.entries();
    let seen: Vec<(&str, AuditDecision, Option<&str>)> = entries
        .iter()
        .map(|entry| {
            assert_eq!(entry.operation, "process.run");
            (
                entry.target.as_str(),
                entry.decision,
                entry.outcome.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen[0],
        ("cat a.txt sub/b.txt", AuditDecision::Allow, Some("ok"))
    );
    assert!(
        seen[1..]
            .iter()
            .all(|(target, ..)| *target == "cat sub/b.txt")
    );
    assert!(
        matches!(seen.last(), Some((_, AuditDecision::Deny, _))),
        "{seen:?}"
    );
}

/// X-53: without namespaces there is no door, so the rules cannot be kept.
#[test]
fn without_a_door_no_program_is_found_or_nothing_starts() {
    let mut world = world().command("cat", None, &[]);
    let settings = world.confine.as_mut().unwrap();
    settings.layers = Layers::TIER_B;
    settings.enforce = Enforce::BestEffort;
    let ran = sh(&world, "cat a.txt; echo $?");
    assert_eq!(ran.stdout, "127\n", "{}", ran.stderr);
    world.confine.as_mut().unwrap().enforce = Enforce::Required;
    let broker = world.broker();
    let command = CommandedProgram {
        program: "sh".into(),
        literals: Vec::new(),
        ..CommandedProgram::default()
    };
    let view = world.files.materialize().unwrap();
    let confined = broker.confine(&command, view.path(), ProgramReach::Workspace);
    let mut confined = confined.unwrap();
    broker.guard_commands(&mut confined).unwrap();
    let start = ProgramStart::confined(confined, view.path());
    let refused = broker.start(start).unwrap_err().to_string();
    assert!(refused.contains("best-effort"), "{refused}");
}

#[test]
fn what_is_not_installed_is_not_found() {
    let world = world().command("no-such-program", None, &[]);
    let ran = sh(&world, "no-such-program; echo $?");
    assert_eq!(ran.stdout, "127\n");
    assert!(
        ran.stderr.contains("`no-such-program` was not found"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_program_starts_where_it_was_called_if_that_is_in_the_workspace() {
    let world = world().command("pwd", None, &[]).command("cat", None, &[]);
    assert_eq!(output(&world, "cd sub; cat b.txt"), "below");
    let root = output(&world, "pwd");
    let root = root.trim_end();
    // `command` and `env` would be programs; this is how to get past the builtin of the shell.
    let script = format!("cd sub; {BIN}/pwd; cd /tmp; {BIN}/pwd; cd /; {BIN}/pwd");
    assert_eq!(
        output(&world, &script),
        format!("{root}/sub\n{root}\n{root}\n")
    );
}

#[test]
fn only_the_program_gets_the_variables_of_its_rule() {
    let world = world()
        .env(&[("TOKEN_FOR_IT", "tok-12345"), ("OTHER", "other-12345")])
        .command("printenv", None, &["TOKEN_FOR_IT"]);
    let script = "echo \"[$TOKEN_FOR_IT$OTHER]\"; printenv TOKEN_FOR_IT; printenv OTHER; echo $?";
    assert_eq!(output(&world, script), "[]\ntok-12345\n1\n");
    // Whoever shows the tool's output knows what to take out of it.
    assert_eq!(
        world.secrets.scrub_text("tok-12345".to_owned()),
        "[REDACTED]"
    );
}

#[test]
fn a_program_is_held_to_the_tools_policy_and_has_no_door() {
    let world = World::on_disk()
        .with(".env", "SECRET=1")
        .with("locked/file", "locked")
        .allow(".", "rcudx")
        .allow("locked", "r")
        .command("sh", None, &[])
        .confined();
    let run = |script: &str| sh(&world, &format!("sh -c '{script}'"));
    for attack in [
        "cat .env",
        "echo x > locked/file",
        "cat /etc/shadow",
        "test -e /run/jig/door",
        "test -e /run/jig",
        "ls /run/jig/bin",
    ] {
        let ran = run(attack);
        assert!(!ran.exit.is_success(), "{attack}: {}", ran.stdout);
        assert!(!ran.stdout.contains("SECRET"), "{attack}");
    }
    assert_eq!(world.content("locked/file").as_deref(), Some("locked"));
    let path = run("echo $PATH").stdout;
    assert!(
        !path.contains("/run/jig") && path.contains("/bin"),
        "{path}"
    );
}

#[test]
fn nothing_can_be_put_where_programs_are_found() {
    let world = World::on_disk()
        .allow(".", "r")
        .command("cat", None, &[])
        .confined();
    for attack in [
        "echo x > /run/jig/bin/ls",
        ": > /run/jig/bin/cat",
        ": > /run/jig/shim",
        "/bin/rm -f /run/jig/bin/cat",
        "/bin/rm -f /run/jig/door",
        "/bin/mv /run/jig/bin /run/jig/other",
        "/bin/chmod 777 /run/jig/shim",
        "/bin/cp /bin/ls /run/jig/bin/ls",
        "/bin/ln -sf /bin/ls /run/jig/bin/ls",
        "/bin/mkdir /run/jig/bin/d",
    ] {
        let ran = sh(&world, attack);
        assert!(!ran.exit.is_success(), "{attack}");
        assert!(
            ran.stderr.contains("ead-only file system"),
            "{attack}: {}",
            ran.stderr
        );
    }
}

#[test]
fn the_interpreter_of_the_tools_own_script_is_found() {
    let script = "#!/usr/bin/env bash\ncat a.txt; echo $BASH_VERSION; command -v ls\n";
    let mut world = world().command("cat", None, &[]);
    world.put("tool.sh", script);
    let path = world.outside().join("ws/tool.sh");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
    let ran = Tool::start(&world, &["./tool.sh"]).finish();
    assert!(
        ran.stdout.starts_with("content"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        !ran.stdout.contains("/ls") && ran.stdout.len() > 10,
        "{}",
        ran.stdout
    );
}

#[test]
fn a_tool_that_talks_to_the_door_itself_gets_no_more() {
    let world = world().command("cat", Some(&[&["a.txt"]]), &[]).command(
        "sh",
        Some(&[&["-c", "exit 3"]]),
        &[],
    );
    let check = |script: &str, expected: &str| {
        let ran = by_hand(&world, &format!("print({script})"));
        assert!(
            ran.stdout.contains(expected),
            "{script}: {}{}",
            ran.stdout,
            ran.stderr
        );
    };
    check("ask(W, b'cat', b'a.txt')", "content(0, 0, '')");
    check("ask(W, b'sh', b'-c', b'exit 3')", "(0, 3, '')");
    // What no rule names, by whatever name.
    check("ask(W, b'ls')", "`ls` was not run: access denied");
    check("ask(W, b'ls')", "nobody can be asked here");
    check("ask(W, b'sh', b'-c', b'ls')", "(0, 126, ");
    check("ask(W, b'/bin/cat', b'a.txt')", "without slashes");
    check("ask(W, b'../../bin/cat', b'a.txt')", "without slashes");
    check("ask(W, b'..', b'a.txt')", "without slashes");
    check("ask(W, b'', b'a.txt')", "without slashes");
    // A NUL only ends an argument.
    check("ask(W, b'cat', b'a.txt\\0sub/b.txt')", "(0, 126, ");
    check("ask(W, b'cat', b'\\xff')", "not UTF-8");
    check("ask(b'relative', b'cat', b'a.txt')", "working directory");
    check("ask(W + b'/../..', b'cat', b'a.txt')", "working directory");
    // Outside of the workspace it starts in the workspace.
    check("ask(b'/etc', b'cat', b'a.txt')", "content(0, 0, '')");
    check("ask(W + b'/nowhere', b'cat', b'a.txt')", "(0, 126, ");
    check("ask()", "does not end");
    check("ask(W)", "names no program");
    check("ask(W, b'x' * 2000000)", "too large");
    check("ask(W, b'cat', length=2**32-1)", "too large");
    check("ask(W, b'cat', b'y' * 1000000)", "(0, 126, ");
}

#[test]
fn descriptors_that_are_no_streams_are_refused() {
    let world = world().command("cat", None, &[]);
    let check = |fds: &str, expected: &str| {
        let ran = by_hand(
            &world,
            &format!("print(ask(W, b'cat', b'a.txt', fds={fds}))"),
        );
        assert!(
            ran.stdout.contains(expected),
            "{fds}: {}{}",
            ran.stdout,
            ran.stderr
        );
    };
    check("(0, 1, 2)", "content(0, 0, '')");
    check("()", "do not come with the request");
    check("(0, 1)", "do not come with the request");
    check("(0, 1, 2, 2)", "more than the three");
    check("[0] * 50", "more than the three");
    check("[0] * 250", "more than the three");
    check(
        "(os.open('.', os.O_RDONLY), 1, 2)",
        "neither a file nor a pipe",
    );
    check(
        "(0, 1, os.open('/', os.O_RDONLY))",
        "neither a file nor a pipe",
    );
    check(
        "(os.open('a.txt', os.O_PATH), 1, 2)",
        "neither a file nor a pipe",
    );
    check(
        "(os.open('.', os.O_PATH), 1, 2)",
        "neither a file nor a pipe",
    );
    // As a shell would do it.
    let ran = sh(&world, "cat < .; echo $?");
    assert_eq!(ran.stdout, "126\n");
}

/// Whoever floods the door waits, or is sent away; others are served afterwards.
#[test]
fn a_flooded_door_stays_open_and_small() {
    if !jig_testkit::is_alone() {
        return;
    }
    let world = world().command("cat", None, &[]);
    let before = descriptors();
    let mut tool = Tool::start(
        &world,
        &[
            "python3",
            "-c",
            &format!(
                "{PREAMBLE}
held = [knock() for _ in range(180)]
time.sleep(0.5)
print('flooded', flush=True)
for s in held: s.close()
for _ in range(500): knock().close()
for _ in range(200): s = knock(); s.sendall(os.urandom(3000)); s.close()
print(ask(W, b'cat', b'a.txt'), flush=True)
held = [knock() for _ in range(64)]
print(ask(W, b'cat', b'a.txt'))
"
            ),
        ],
    );
    // The most that are open at any time, until the tool says that it has knocked.
    let mut stdout = tool.program.streams.stdout.take().unwrap();
    let has_knocked = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let mut most = 0;
            while !has_knocked.load(Ordering::SeqCst) {
                most = most.max(descriptors());
                jig_testkit::let_pass(Duration::from_millis(1));
            }
            most
        });
        let mut word = [0; 8];
        stdout.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"flooded\n");
        has_knocked.store(true, Ordering::SeqCst);
        counting.join().unwrap()
    });
    assert!(most < before + 140, "{most} {before}");
    tool.program.streams.stdout = Some(stdout);
    let ran = tool.finish();
    let expected = "content(0, 0, '')\ncontent(0, 0, '')\n";
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
}

#[test]
fn many_programs_at_once_all_run() {
    let world = world().command("cat", None, &[]);
    let script = "for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0; do cat a.txt & done; wait";
    assert_eq!(output(&world, script), "content".repeat(20));
}

#[test]
fn a_program_ends_with_its_shim() {
    let world = world().command("sleep", None, &[]);
    // The tool waits for a file that the test makes, because its input is empty.
    let script =
        "sleep 70001 & pid=$!; until test -e go; do :; done; kill -9 $pid; while :; do :; done";
    let tool = Tool::start(&world, &["bash", "-c", script]);
    until("it runs", || running("70001"));
    std::fs::write(world.outside().join("ws/go"), "").unwrap();
    until("it is gone", || !running("70001"));
    drop(tool);
}

#[test]
fn all_programs_end_with_the_tool() {
    let world = world().command("sleep", None, &[]);
    // The tool ends by itself, is killed, or is dropped while it runs.
    let ran = sh(&world, "sleep 70002 & sleep 0.5");
    assert!(ran.exit.is_success(), "{}", ran.stderr);
    assert!(!running("70002"));
    let tool = Tool::start(&world, &["sh", "-c", "sleep 70003"]);
    until("it runs", || running("70003"));
    tool.program.child().kill();
    tool.finish();
    assert!(!running("70003"));
    let tool = Tool::start(&world, &["sh", "-c", "sleep 70004; echo $?"]);
    until("it runs", || running("70004"));
    drop(tool);
    assert!(!running("70004"));
}

/// One whose input is the line itself, so that nobody sees it go, ends with the tool at the latest.
#[test]
fn a_program_that_holds_its_own_line_does_not_outlive_the_tool() {
    let world = world().command("cat", None, &[]);
    let start = Instant::now();
    let ran = by_hand(
        &world,
        "s = knock(); say(s, body(W, b'cat'), fds=(s.fileno(), 1, 2)); time.sleep(0.3); s.close(); print('over')",
    );
    assert_eq!(ran.stdout, "over\n", "{}", ran.stderr);
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// Whoever goes on talking is no shim.
#[test]
fn a_program_whose_caller_goes_on_talking_is_ended() {
    let world = world().command("sleep", None, &[]);
    let script = "s = knock(); say(s, body(W, b'sleep', b'70006')); time.sleep(0.3); s.sendall(b'x'); print(hear(s))";
    let ran = by_hand(&world, script);
    assert!(
        ran.stdout.contains("was ended"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn cargo_is_held_to_the_arguments_of_its_rule() {
    if !jig_testkit::has_program("cargo") {
        return;
    }
    let manifest =
        "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let mut world = World::on_disk()
        .with("Cargo.toml", manifest)
        .with("src/lib.rs", "pub fn f() {}\n")
        .allow(".", "rcudx")
        .command("cargo", Some(&[&["check", "**"]]), &[])
        .confined();
    world.confine.as_mut().unwrap().home = std::env::var_os("HOME").map(Into::into);
    let script = "cargo check --quiet --offline; echo $?; cargo build --offline; echo $?";
    let ran = Tool::start(&world, &["bash", "-lc", script]).finish();
    assert_eq!(ran.stdout, "0\n126\n", "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`cargo build --offline`"),
        "{}",
        ran.stderr
    );
}

/// The host of the next test, in a process of its own; else it is nothing.
#[test]
fn a_host_that_will_be_killed() {
    if std::env::var_os(HOST).is_some() {
        let world = world().command("sleep", None, &[]);
        Tool::start(&world, &["sh", "-c", "sleep 70005"]).finish();
    }
}

#[test]
fn all_programs_end_with_a_host_that_is_killed() {
    let mut host = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "door::a_host_that_will_be_killed"])
        .env(HOST, "1")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("it runs", || running("70005"));
    host.kill().unwrap();
    host.wait().unwrap();
    until("it is gone", || !running("70005"));
}

/// X-66: what a program would make where nothing may come into being is refused to it, or found where nobody
/// supervises: by its own sweep, or by that of the tool, whichever looks first.
#[test]
fn what_a_program_leaves_behind_is_told() {
    let world = || world().command("touch", None, &[]);
    let supervised = world();
    let ran = sh(&supervised, "touch .env; touch fine");
    assert_eq!(ran.intruders, []);
    assert!(
        ran.stderr.contains("denied: create on `.env`"),
        "{}",
        ran.stderr
    );
    assert_eq!(supervised.content("fine").as_deref(), Some(""));
    let world = world().unsupervised();
    let ran = sh(&world, "touch .env fine");
    let paths: Vec<&Path> = ran.intruders.iter().map(|one| one.path.as_path()).collect();
    assert_eq!(paths, [Path::new(".env")]);
    assert_eq!(world.content(".env"), None);
    assert_eq!(world.content("fine").as_deref(), Some(""));
}

/// Set in the process that is the host of a test.
const HOST: &str = "JIG_TEST_DOOR_HOST";

const BIN: &str = "/run/jig/bin";

/// Whether a `sleep` with this argument runs anywhere on the machine.
fn running(argument: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            let mut words = line.split(|byte| *byte == 0);
            // Its shim goes by the name alone.
            words.next().is_some_and(|name| name.ends_with(b"/sleep"))
                && words.next() == Some(argument.as_bytes())
        })
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_program_that_was_refused_a_host_is_told_so() {
    let world = World::on_disk()
        .allow(".", "rcudx")
        .net("example.org", 443, true)
        .command("python3", None, &[])
        .confined();
    let script = "python3 -c 'import socket; socket.getaddrinfo(\"denied.example\", 443)' >&2";
    let ran = sh(&world, script);
    let told = "jig: `python3`: denied: look up on `denied.example`: ";
    assert!(!ran.exit.is_success());
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("host = \"denied.example\""),
        "{}",
        ran.stderr
    );
}
