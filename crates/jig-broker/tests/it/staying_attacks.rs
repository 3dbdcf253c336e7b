//! What a program that stays cannot do, each with a twin that succeeds where nothing holds it.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use jig_proto::View;
use jig_proto::vfs::{ErrorKind, ProcessRun, ProcessStart, VfsRequest};
use jig_testkit::until;
use serde_json::json;

use crate::staying::{PATIENCE, Running, on_terminal, shell, start, try_start};
use crate::world::{World, kind};

/// On pipes, and on a terminal.
const FORMS: [fn(ProcessStart<'_>) -> ProcessStart<'_>; 2] = [|start| start, on_terminal];

/// Runs a script that stays to its end: how it ended, and what it printed.
fn outcome(world: &World, start: ProcessStart<'_>) -> (Option<i32>, String) {
    let mut program = Running::new(world, start);
    let output = program.until_end();
    (output.exit_code, program.seen)
}

#[test]
fn a_started_program_is_held_as_one_that_is_run() {
    let make = || {
        World::on_disk()
            .with(".env", "SECRET=1")
            .with("locked/file", "locked")
            .with("hidden/file", "hidden")
            .allow(".", "rcudx")
            .allow("locked", "r")
            .allow("hidden", "")
            .command("sh", None, &[])
    };
    for form in FORMS {
        for attack in [
            "cat .env",
            "mv .env other && cat other",
            "cat hidden/file",
            "rm -rf hidden",
            "echo x > locked/new",
            "(sleep 0.1; cat .env) & wait $!",
        ] {
            let (code, seen) = outcome(&make(), form(shell(attack)));
            assert_eq!(code, Some(0), "{attack} fails by itself: {seen}");
            let world = make().confined();
            let (code, seen) = outcome(&world, form(shell(attack)));
            assert_ne!(code, Some(0), "{attack} succeeded: {seen}");
            assert!(!seen.contains("SECRET"), "{attack}: {seen}");
            assert_eq!(
                world.content(".env").as_deref(),
                Some("SECRET=1"),
                "{attack}"
            );
            assert_eq!(
                world.content("hidden/file").as_deref(),
                Some("hidden"),
                "{attack}"
            );
        }
    }
}

#[test]
fn what_may_not_be_made_is_refused_or_moved_away_and_told() {
    let world = || {
        World::on_disk()
            .allow(".", "rcudx")
            .command("sh", None, &[])
            .confined()
    };
    let supervised = world();
    for form in FORMS {
        let (code, seen) = outcome(&supervised, form(shell("echo SECRET=1 > .env")));
        assert_ne!(code, Some(0));
        assert!(seen.contains("denied: create on `.env`"), "{seen}");
    }
    let world = world().unsupervised();
    for form in FORMS {
        let (code, seen) = outcome(&world, form(shell("echo SECRET=1 > .env; echo made")));
        assert_eq!(code, Some(0));
        assert!(seen.contains("jig: `.env` may not be made"), "{seen}");
        assert!(!world.outside().join("ws/.env").exists());
    }
    let entries = world.log.entries();
    let told = entries.iter().filter(|entry| entry.reason.contains(".env"));
    assert_eq!(told.count(), 2, "{entries:?}");
}

#[test]
fn a_started_program_has_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached >&3");
    let make = || World::on_disk().command("bash", None, &[]);
    for form in FORMS {
        let (code, seen) = outcome(&make(), form(start("bash", &["-c", &script])));
        assert_eq!(code, Some(0), "{seen}");
        let mut reached = String::new();
        listener
            .accept()
            .unwrap()
            .0
            .read_to_string(&mut reached)
            .unwrap();
        assert_eq!(reached, "reached\n");
        let world = make().confined();
        let (code, seen) = outcome(&world, form(start("bash", &["-c", &script])));
        assert_ne!(code, Some(0), "{seen}");
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

#[test]
fn x47_x48_a_start_is_no_way_around_the_rules_on_programs() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::on_disk()
        .with("bin/tool", "#!/bin/sh\necho hi\n")
        .with("bin/other", "#!/bin/sh\necho hi\n")
        .with_link("bin/link", "/bin/sh")
        .allow(".", "r")
        .allow("bin", "rx")
        .command("echo", Some(&[&["a", "**"], &["b"]]), &[])
        .command("bin/tool", None, &[]);
    for name in ["tool", "other"] {
        let file = world.outside().join("ws/bin").join(name);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (program, args) in [
        ("echo", vec!["a"]),
        ("echo", vec!["a", "x"]),
        ("echo", vec!["b"]),
        ("echo", vec!["b", "x"]),
        ("echo", vec![]),
        ("echo", vec!["a\0b"]),
        ("sh", vec!["-c", "true"]),
        ("bin/tool", vec![]),
        ("bin/other", vec![]),
        ("bin/link", vec![]),
        ("/bin/echo", vec!["a"]),
        ("../echo", vec!["a"]),
        ("no/such/file", vec![]),
        ("", vec![]),
        (".", vec![]),
    ] {
        let run = VfsRequest::ProcessRun(ProcessRun {
            program: program.into(),
            args: args.iter().map(|arg| (*arg).into()).collect(),
            envs: Vec::new(),
            cwd: None,
        });
        let run = kind(world.ask(&run)).map(|_| ());
        for form in FORMS {
            let started = try_start(&world.broker(), form(start(program, &args)));
            let started = started.map(|_| ()).map_err(|error| error.kind());
            assert_eq!(started, run, "{program} {args:?}");
        }
    }
}

#[test]
fn v082_v083_a_started_program_gets_only_variables_that_are_named_twice() {
    let variables = [("GRANTED", "value-one"), ("UNGRANTED", "value-two")];
    let make = |name: &str| {
        World::on_disk()
            .env(&variables)
            .command("env", None, &[name])
    };
    for form in FORMS {
        for confined in [false, true] {
            let mut world = make("GRANTED");
            if confined {
                world = world.confined();
            }
            let request = ProcessStart {
                envs: vec!["GRANTED".into(), "UNGRANTED".into(), "LD_PRELOAD".into()],
                ..form(start("env", &[]))
            };
            let (code, seen) = outcome(&world, request);
            assert_eq!(code, Some(0));
            assert!(seen.contains("GRANTED=[REDACTED]"), "{seen}");
            for absent in ["UNGRANTED", "value-", "LD_PRELOAD", "CARGO"] {
                assert!(!seen.contains(absent), "{absent}: {seen}");
            }
        }
    }
}

/// Whether some process has the file open.
fn is_held(file: &Path) -> bool {
    let file = file.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut descriptors = processes
        .filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok())
        .flat_map(Iterator::flatten);
    descriptors
        .any(|descriptor| std::fs::read_link(descriptor.path()).is_ok_and(|target| target == file))
}

/// Programs that hold the file `held` open and do not want to end.
const STUBBORN: [(&str, &str); 5] = [
    ("idle", "exec sleep 600 > held"),
    (
        "deaf",
        "trap '' TERM HUP INT; while :; do sleep 0.2; done > held",
    ),
    (
        "daemon",
        "(setsid sh -c 'trap \"\" TERM HUP; (sleep 600 > held) &' &) ; sleep 600",
    ),
    ("stopped", "exec > held; kill -STOP $$; sleep 600"),
    (
        "stopped below",
        "(setsid sh -c 'exec > held; kill -STOP $$; sleep 600' &) ; sleep 600",
    ),
];

#[test]
fn s063_no_program_outlives_its_broker() {
    for confined in [false, true] {
        for form in FORMS {
            for (name, script) in STUBBORN {
                for by_drop in [true, false] {
                    let mut world = World::on_disk().allow(".", "rcud").command("sh", None, &[]);
                    if confined {
                        world = world.confined();
                    }
                    world.limits.process_grace = Duration::from_millis(100);
                    let program = Running::new(&world, form(shell(script)));
                    let held = world.outside().join("ws/held");
                    until(name, || held.exists() && is_held(&held));
                    let begin = Instant::now();
                    match by_drop {
                        true => drop(program),
                        false => {
                            program.broker.end_processes();
                            let output = program.view(View::New);
                            assert!(!output.running, "{name}");
                            let again = try_start(&program.broker, shell("true"));
                            assert_eq!(again.unwrap_err().kind(), ErrorKind::Cancelled);
                        }
                    }
                    assert!(begin.elapsed() < PATIENCE, "{name}");
                    assert!(!is_held(&held), "{name} (confined: {confined}) lives on");
                }
            }
        }
    }
}

/// The twin: what one does who only ends the process that was started.
#[test]
fn a_daemon_outlives_those_who_end_only_what_they_started() {
    let folder = tempfile::tempdir().unwrap();
    // The daemon says who it is, so that it can be ended.
    let script = "(setsid sh -c 'echo $$ > pid; exec sleep 600 > held' &) ; exec sleep 600";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .spawn()
        .unwrap();
    let held = folder.path().join("held");
    until("daemon", || held.exists() && is_held(&held));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_held(&held));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("its end", || !is_held(&held));
}

#[test]
fn stopping_ends_the_whole_tree() {
    let mut world = World::on_disk().command("sh", None, &[]);
    world.limits.process_grace = Duration::from_millis(100);
    for (name, script) in STUBBORN {
        let program = Running::new(&world, shell(script));
        let held = world.outside().join("ws/held");
        until(name, || held.exists() && is_held(&held));
        assert!(!program.stop().running);
        assert!(!is_held(&held), "{name} lives on");
        std::fs::remove_file(held).unwrap();
    }
}

#[test]
fn a_broker_that_ends_does_not_wait_for_programs_that_are_to_be_killed() {
    let mut world = World::on_disk().command("sh", None, &[]);
    world.limits.process_grace = PATIENCE * 10;
    let script = "trap '' TERM HUP; echo ready; while :; do sleep 0.2; done";
    let mut program = Running::new(&world, shell(script));
    program.until("ready");
    let broker = program.broker.clone();
    let start = Instant::now();
    // One that is polite, and one that is not and hurries it.
    let polite = thread::spawn(move || broker.end_processes());
    program.broker.kill_processes();
    polite.join().unwrap();
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(program.view(View::New).signal, Some(9));
}

#[test]
fn a_start_that_is_under_way_does_not_outlive_its_broker() {
    use jig_broker::JudgedRequest;
    let mut cancelled = 0;
    // Until it was caught a few times.
    for _ in 0..200 {
        if cancelled == 3 {
            return;
        }
        let world = World::on_disk()
            .allow(".", "rcud")
            .command("sh", None, &[])
            .confined();
        let calls = world.outside().join("state/calls");
        let broker = world.broker();
        let request = VfsRequest::ProcessStart(shell("exec sleep 600 > held"));
        let JudgedRequest::Ready(work) = broker.judge(&request) else {
            panic!("it is allowed");
        };
        let starter = thread::spawn(move || work.perform());
        // It has its place and is about to start when the call is noted.
        let is_noted = || std::fs::read_dir(&calls).is_ok_and(|mut all| all.next().is_some());
        while !is_noted() && !starter.is_finished() {
            thread::yield_now();
        }
        drop(broker);
        // Too late, or ended again; in no case does it run.
        let outcome = match starter.join().unwrap() {
            Ok(_) => "ended",
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Cancelled);
                cancelled += 1;
                "cancelled"
            }
        };
        let entries = world.log.entries();
        let mut outcomes = entries.iter().filter_map(|entry| entry.outcome.as_deref());
        assert!(outcomes.any(|one| one == outcome), "{entries:?}");
        let held = world.outside().join("ws/held");
        assert!(!held.exists() || !is_held(&held));
    }
    panic!("only {cancelled} were under way");
}

#[test]
fn the_terminal_is_its_own_and_there_is_none_on_pipes() {
    let world = || {
        World::on_disk()
            .allow(".", "r")
            .command("sh", None, &[])
            .confined()
    };
    let (code, seen) = outcome(&world(), on_terminal(shell("echo own > /dev/tty")));
    assert_eq!((code, seen.trim_end()), (Some(0), "own"));
    for attack in [
        "echo x > /dev/tty",
        "test -t 0",
        "test -t 1",
        "ls /dev/pts/[0-9]*",
        "cat /proc/1/fd/0",
    ] {
        let (code, seen) = outcome(&world(), shell(attack));
        assert_ne!(code, Some(0), "{attack}: {seen}");
    }
    // Nothing of what the host has open is there.
    let script = "ls -l /proc/self/fd | grep -c pts; ls /dev/pts";
    let (_, seen) = outcome(&world(), on_terminal(shell(script)));
    assert!(seen.starts_with('3') || seen.starts_with('2'), "{seen}");
}

#[test]
fn reads_and_writes_at_once_do_not_lock_each_other() {
    let world = World::on_disk().command("cat", None, &[]);
    let mut cat = Running::new(&world, start("cat", &[]));
    let broker = &cat.broker;
    let process = cat.process;
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for line in 0..100 {
                    let input = json!({"line": format!("{writer}-{line}")});
                    let request = jig_proto::vfs::ProcessWrite { process, input };
                    crate::world::ask(broker, &VfsRequest::ProcessWrite(request)).unwrap();
                }
            });
        }
        for _ in 0..4 {
            scope.spawn(move || {
                for _ in 0..100 {
                    let read = jig_proto::vfs::ProcessRead {
                        fetch: jig_proto::Fetch {
                            view: View::All,
                            wait: Some(Duration::from_millis(1)),
                            ..jig_proto::Fetch::default()
                        },
                        ..jig_proto::vfs::ProcessRead::new(process)
                    };
                    crate::world::ask(broker, &VfsRequest::ProcessRead(read)).unwrap();
                }
            });
        }
        scope.spawn(move || {
            for _ in 0..100 {
                broker.input_has_come();
            }
        });
    });
    cat.write(json!({"end": true}));
    cat.until_end();
    let all = cat.view(View::All).content;
    assert_eq!(all.lines().count(), 400);
    for writer in 0..4 {
        let prefix = format!("{writer}-");
        let lines: Vec<&str> = all
            .lines()
            .filter_map(|line| line.strip_prefix(&prefix))
            .collect();
        let expected: Vec<String> = (0..100).map(|line| line.to_string()).collect();
        assert_eq!(lines, expected);
    }
}
