//! What must always work, whatever a program does: it is found, it is ended, it keeps to its limits, and the person's
//! terminal stays theirs.

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::parsed;
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user, is_root};

/// A handle that makes a file of configuration, at the top or in a folder in which the person then stands, is found
/// and ended all the same.
#[test]
fn a_handle_that_makes_a_configuration_can_be_ended() {
    for_each_user(|desk| {
        let config = desk.beside("own.toml");
        std::fs::write(&config, SPOILERS).unwrap();
        std::fs::create_dir(desk.path("sub")).unwrap();
        // A workspace without a file of configuration.
        std::fs::create_dir(desk.path(".git")).unwrap();
        let jig = |folder: &str, args: &[&str]| {
            let mut command = desk.jig(args);
            Ran::of(command.current_dir(desk.path(folder)).output().unwrap())
        };
        let spawn = |tool: &str| {
            let args = ["spawn", tool, "--config", config.as_str(), "--json"];
            let report = parsed(&desk.jig(&args).output().unwrap());
            report["id"].as_str().unwrap().to_owned()
        };
        for (tool, folder) in [("top", "."), ("nested", "sub")] {
            let id = spawn(tool);
            // It says when the file is there.
            let report = jig(".", &["fetch", &id, "--view", "all", "--wait", "20s"]);
            assert!(report.out.contains("made"), "{tool}: {report:?}");
            for command in [&["fetch", &id, "--view", "all"][..], &["ps"]] {
                let ran = jig(folder, command);
                assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
                assert!(ran.out.contains("made") || ran.out.contains(&id), "{ran:?}");
            }
            let ran = jig(folder, &["abort", &id]);
            assert_eq!(ran.code, Some(0), "{tool}: {ran:?}");
            let listed: Json = parsed(&desk.jig(&["ps", "--json"]).output().unwrap());
            assert_eq!(listed.as_array().map(Vec::len), Some(0), "{tool}: {listed}");
        }
        let _ = jig(".", &["abort", "--all"]);
    });
}

/// The twin: where nothing runs, nothing is found in the folders above either.
#[test]
fn where_nothing_runs_nothing_is_found() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("sub")).unwrap();
    desk.workspace.write("sub/jig.toml", "");
    let mut ps = desk.jig(&["ps"]);
    let ran = Ran::of(ps.current_dir(desk.path("sub")).output().unwrap());
    assert!(
        ran.err.contains("nothing runs in this workspace"),
        "{ran:?}"
    );
}

const SPOILERS: &str = r#"
[tools.'*']
run = "unattended"

[tools.top]
source = "local"
stateful = true
command = "sh -c 'echo broken > jig.toml; echo made; exec cat'"
access.fs = [{ path = ".", read = true, write = true }]

[tools.nested]
source = "local"
stateful = true
command = "sh -c 'echo broken > sub/jig.toml; echo made; exec cat'"
access.fs = [{ path = ".", read = true, write = true }]
"#;

/// A command under `jig run` that runs, and has said `ready`.
fn ready(desk: &Desk, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut jig = desk.jig(&["run", "--", "bash", "-c", script]);
    let mut jig = jig
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(jig.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (jig, said)
}

fn send(signal: &str, jig: &Child) {
    let pid = jig.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .unwrap()
            .success()
    );
}

const STUBBORN: &str = "trap 'echo heard' TERM HUP INT; echo ready; while :; do sleep 0.02; done";

/// A command that ignores SIGTERM or SIGHUP is killed when its grace is over; a second signal does it at once.
#[test]
fn a_command_that_ignores_its_end_is_ended() {
    let desk = Desk::new();
    for signal in ["-TERM", "-HUP"] {
        let (mut jig, _said) = ready(&desk, STUBBORN);
        send(signal, &jig);
        assert_eq!(jig.wait().unwrap().signal(), Some(9), "{signal}");
    }
    for second in ["-TERM", "-HUP", "-INT", "-QUIT"] {
        let (mut jig, mut said) = ready(&desk, STUBBORN);
        let start = Instant::now();
        send("-TERM", &jig);
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "heard\n");
        send(second, &jig);
        assert_eq!(jig.wait().unwrap().signal(), Some(9), "{second}");
        assert!(start.elapsed() < Duration::from_secs(5), "{second}");
    }
}

/// The same at a terminal, whose settings come back.
#[test]
fn a_command_at_a_terminal_that_ignores_its_end_is_ended() {
    let desk = Desk::new();
    let mut seat = Seat::new(&desk, &["run", "--", "bash", "-c", STUBBORN]);
    seat.sees_text("ready");
    let pid = seat.pid().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    let (status, screen) = seat.ends();
    assert_eq!(status.signal(), Some(9), "{screen}");
    assert!(
        screen.contains("still ran 5s after SIGTERM and was killed"),
        "{screen}"
    );
}

/// The twin: SIGINT is the command's own affair, however often it comes.
#[test]
fn a_command_may_go_on_after_sigint() {
    let desk = Desk::new();
    let script =
        "trap 'echo heard' INT; trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    let (mut jig, mut said) = ready(&desk, script);
    for _ in 0..2 {
        send("-INT", &jig);
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "heard\n");
    }
    send("-TERM", &jig);
    assert_eq!(jig.wait().unwrap().code(), Some(5));
}

const FLOODS: &str = r#"
[tools.small]
source = "local"
command = "true"
sandbox.limits.output = "64KiB"

[tools.roomy]
source = "local"
command = "true"
sandbox.limits.output = "1GiB"
"#;

/// What a policy says of output holds for a command that runs under it: on both streams together, and at a terminal.
#[test]
fn the_limit_on_output_holds() {
    for_each_user(|desk| {
        desk.workspace.write("jig.toml", FLOODS);
        let flood = "yes & yes >&2; wait";
        let ran = desk.run(&["run", "--policy", "small", "--", "sh", "-c", flood]);
        assert_eq!(ran.code, Some(124), "{}", ran.err.len());
        let told = "the command printed more than 64 KiB and was ended; allow more with --set \
                    tools.small.sandbox.limits.output=128KiB";
        assert!(ran.err.contains(told), "{:?}", ran.err.lines().last());
        let printed = ran.out.len() + ran.err.matches("y\n").count() * 2;
        assert!(printed <= 64 << 10, "{printed}");

        let mut seat = Seat::new(desk, &["run", "--policy", "small", "--", "yes"]);
        seat.sees("its end", |screen| {
            screen
                .replace('\n', "")
                .contains("printed more than 64 KiB")
        });
        let (status, _) = seat.ends();
        assert_eq!(status.code(), Some(124));
    });
}

/// The twin: what fits passes as it is, both streams apart; and without such a limit there is none.
#[test]
fn output_within_the_limit_passes() {
    let desk = Desk::with(FLOODS);
    let fits = "head -c 60000 /dev/zero | tr '\\0' x; echo aside >&2; cat; exit 3";
    let mut jig = desk.jig(&["run", "--policy", "small", "--", "sh", "-c", fits]);
    let ran = Ran::of(jig.output().unwrap());
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert_eq!((ran.out.len(), ran.err.as_str()), (60_000, "aside\n"));
    let free = desk.ok(&["run", "--", "sh", "-c", "head -c 200000 /dev/zero"]);
    assert_eq!(free.len(), 200_000);
    // Whoever reads it may go: the command hears of that.
    let mut pipe = desk.command("bash");
    let jig = env!("CARGO_BIN_EXE_jig");
    let line = format!("{jig} run --policy roomy -- yes | head -n 1; echo ${{PIPESTATUS[0]}}");
    let ran = Ran::of(pipe.args(["-c", &line]).output().unwrap());
    assert_eq!(ran.out, "y\n141\n", "{}", ran.err);
}

/// A command that gets the person's own terminal, because its output goes elsewhere, leaves it as it was; also in a
/// pipeline, where it cannot change the settings at all.
#[test]
fn the_users_terminal_stays_as_it_was_when_output_goes_elsewhere() {
    for_each_user(|desk| {
        let jig = desk.jig(&[]);
        let jig = jig.get_program().to_str().unwrap();
        for (to, streams) in [
            ("> out", "<&0"),
            ("2> out", "<&0"),
            ("< /dev/null > out", "<&2"),
        ] {
            let mut shell = desk.command("sh");
            let line = format!(
                "{jig} run -- sh -c 'stty -echo raw {streams}; echo done >&2' {to}; echo over"
            );
            shell.args(["-c", &line]);
            let mut seat = Seat::of(desk, &shell);
            seat.sees_text("over");
            until("the settings are back", || seat.is_as_before());
        }
        if desk.is_plain_user() {
            // The terminal of the test is another user's, and cannot be opened anew.
            return;
        }
        let mut shell = desk.command("sh");
        let line = format!("{jig} run -- sh -c 'stty -echo raw' | cat; echo over");
        shell.args(["-c", &line]);
        let mut seat = Seat::of(desk, &shell);
        seat.sees_text("over");
        assert!(seat.is_as_before());
    });
}

/// The twin: it can still be read from.
#[test]
fn a_command_whose_output_goes_elsewhere_reads_the_terminal() {
    for_each_user(|desk| {
        let jig = desk.jig(&[]);
        let jig = jig.get_program().to_str().unwrap();
        for to in ["> out", "| cat > out"] {
            let mut shell = desk.command("sh");
            let line =
                format!("{jig} run -- sh -c 'echo ready >&2; read a; echo got $a' {to}; cat out");
            shell.args(["-c", &line]);
            let mut seat = Seat::of(desk, &shell);
            seat.sees_text("ready");
            seat.types("words\r");
            seat.sees_text("got words");
        }
    });
}

/// What is written to the private home is gone with the command: that is said.
#[test]
fn what_is_written_at_home_is_told() {
    for_each_user(|desk| {
        let ran = desk.run(&["run", "--", "sh", "-c", "echo x > ~/notes.txt"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.err
                .contains("`~/notes.txt` went with the command, whose home is private"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("--write"), "{}", ran.err);
        // Twins: what it keeps for itself, and what it writes where it stays.
        for script in [
            "mkdir -p ~/.cache/a && echo x > ~/.cache/a/b",
            "echo x > notes.txt",
            "echo x > ~/t && rm ~/t",
            "cat ~/nothing || true",
        ] {
            let ran = desk.run(&["run", "--write", ".", "--", "sh", "-c", script]);
            assert!(!ran.err.contains("went with"), "{script}: {}", ran.err);
        }
    });
}

/// A command that fills the disk is ended, by bytes and by files, and told how to allow more.
#[test]
fn a_command_that_fills_the_disk_is_ended() {
    let desk = Desk::new();
    let check = |limit: &str, more: &str, script: &str| {
        let set = format!("tools.jig-run.sandbox.limits.{limit}");
        let script = format!("{script}; echo filled; sleep 60");
        let ran = desk.run(&[
            "run", "--write", ".", "--set", &set, "--", "bash", "-c", &script,
        ]);
        assert_eq!(ran.code, Some(124), "{limit}: {ran:?}");
        assert!(
            ran.err.contains("was ended because"),
            "{limit}: {}",
            ran.err
        );
        let way_out = format!("allow more with --set tools.jig-run.sandbox.limits.{more}");
        assert!(ran.err.contains(&way_out), "{limit}: {}", ran.err);
    };
    check("disk=4MiB", "disk=8MiB", "head -c 64M /dev/zero > big");
    check("disk=4MiB", "disk=8MiB", "fallocate -l 64M big2");
    check(
        "files=100",
        "files=200",
        "mkdir many; for i in {1..5000}; do : > many/$i; done",
    );
}

/// The twin: what an honest command writes is far below.
#[test]
fn a_command_that_writes_a_little_is_not_ended() {
    let desk = Desk::new();
    let script = "head -c 1M /dev/zero > some; mkdir many; for i in {1..50}; do : > many/$i; done; sleep 0.5; echo done";
    let limits = [
        "--set",
        "tools.jig-run.sandbox.limits.disk=8GiB",
        "--set",
        "tools.jig-run.sandbox.limits.files=1000000",
    ];
    let args = [
        &["run", "--write", "."][..],
        &limits,
        &["--", "bash", "-c", script],
    ]
    .concat();
    assert_eq!(desk.ok(&args), "done\n");
}

/// What root has put beside the system's own and keeps from others, root's tools do not read either.
#[test]
fn roots_own_files_beside_the_system_are_withheld() {
    if !is_root() {
        return jig_testkit::skipped_here(
            "only root has files in `/usr/local` that others cannot read",
        );
    }
    let place = tempfile::tempdir_in("/usr/local/share").unwrap();
    let folder = place.path();
    std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    for (name, mode) in [("closed", 0o600), ("open", 0o644)] {
        std::fs::write(folder.join(name), "words\n").unwrap();
        std::fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
    }
    let desk = Desk::new();
    let read = |name: &str| {
        let path = folder.join(name);
        desk.run(&["run", "--", "cat", path.to_str().unwrap()])
    };
    let closed = read("closed");
    assert!(
        closed.code != Some(0) && closed.out.is_empty(),
        "{closed:?}"
    );
    assert_eq!(read("open").out, "words\n");
}
