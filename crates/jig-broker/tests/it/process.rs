//! Real programs.

use std::thread;
use std::time::{Duration, Instant};

use jig_broker::JudgedRequest;
use jig_proto::vfs::{ErrorKind, ProcessReply, ProcessRun, VfsReply, VfsRequest};

use crate::world::{World, both, kind};

fn run<'a>(program: &'a str, args: &[&'a str], envs: &[&'a str]) -> VfsRequest<'a> {
    let own = |texts: &[&'a str]| texts.iter().map(|text| (*text).into()).collect();
    VfsRequest::ProcessRun(ProcessRun {
        program: program.into(),
        args: own(args),
        envs: own(envs),
        cwd: None,
    })
}

fn shell(script: &str) -> VfsRequest<'_> {
    run("sh", &["-c", script], &[])
}

fn process(reply: VfsReply<'static>) -> ProcessReply<'static> {
    match reply {
        VfsReply::Process(reply) => reply,
        other => panic!("{other:?}"),
    }
}

#[test]
fn v080_v084_a_program_runs_in_the_workspace() {
    both(|world| {
        let world = world.with("a.txt", "content").command("sh", None, &[]);
        let script = "cat a.txt; echo oops >&2; printf new > b.txt; exit 3";
        let reply = process(world.ask(&shell(script)).unwrap());
        assert_eq!(
            (reply.stdout.as_ref(), reply.stderr.as_ref()),
            ("content", "oops\n")
        );
        assert_eq!(reply.exit_code, 3);
        assert!(!reply.truncated);
        assert_eq!(world.content("b.txt").as_deref(), Some("new"));
        let killed = process(world.ask(&shell("kill -9 $$")).unwrap());
        assert_eq!(killed.exit_code, 128 + 9);
    });
}

#[test]
fn v081_x47_program_and_arguments_are_judged() {
    let world = World::on_disk().command("echo", Some(&[&["a", "**"], &["b"]]), &[]);
    let check = |program: &str, args: &[&str], expected: Result<(), ErrorKind>| {
        let result = kind(world.ask(&run(program, args, &[]))).map(|_| ());
        assert_eq!(result, expected, "{program} {args:?}");
    };
    check("echo", &["a"], Ok(()));
    check("echo", &["a", "x", "y"], Ok(()));
    check("echo", &["b"], Ok(()));
    check("echo", &["b", "x"], Err(ErrorKind::DeniedByRule));
    check("echo", &[], Err(ErrorKind::DeniedByRule));
    check("sh", &["-c", "true"], Err(ErrorKind::ApprovalUnavailable));
    check("/bin/echo", &["a"], Err(ErrorKind::Escape));
    check("../echo", &["a"], Err(ErrorKind::Escape));
    check("", &[], Err(ErrorKind::InvalidParams));
    check("echo", &["a", "\0"], Err(ErrorKind::InvalidParams));
    let world = World::on_disk();
    assert_eq!(
        kind(world.ask(&shell("true"))),
        Err(ErrorKind::ApprovalUnavailable)
    );
}

#[test]
fn v082_v083_v085_only_variables_named_twice_are_passed_and_none_comes_back() {
    let world = World::on_disk()
        .env(&[
            ("GRANTED", "value-one"),
            ("UNASKED", "value-two"),
            ("UNGRANTED", "value-three"),
            ("LD_PRELOAD", "/tmp/evil.so"),
        ])
        .command("sh", None, &["GRANTED", "UNASKED", "MISSING"]);
    let script = "env; echo $GRANTED >&2; echo ${#GRANTED}";
    let envs = ["GRANTED", "UNGRANTED", "MISSING", "LD_PRELOAD"];
    let reply = process(world.ask(&run("sh", &["-c", script], &envs)).unwrap());
    assert!(
        reply.stdout.contains("GRANTED=[REDACTED]\n"),
        "{}",
        reply.stdout
    );
    assert!(
        reply.stdout.ends_with("9\n"),
        "the program has the value: {}",
        reply.stdout
    );
    assert_eq!(reply.stderr, "[REDACTED]\n");
    for absent in [
        "value-",
        "UNASKED",
        "UNGRANTED",
        "MISSING",
        "LD_PRELOAD",
        "CARGO",
    ] {
        assert!(!reply.stdout.contains(absent), "{absent}: {}", reply.stdout);
    }
    assert!(!format!("{:?}", world.log.entries()).contains("value-one"));
}

#[test]
fn x48_a_file_of_the_workspace_needs_execute_and_a_command_rule() {
    use std::os::unix::fs::PermissionsExt;
    let make = || {
        let world = World::on_disk().with("bin/hi", "#!/bin/sh\necho hi\n");
        let file = world.outside().join("ws/bin/hi");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        world
    };
    let request = run("./bin/hi", &[], &[]);
    let world = make().allow(".", "rx").command("./bin/hi", None, &[]);
    assert_eq!(process(world.ask(&request).unwrap()).stdout, "hi\n");
    let world = make().allow(".", "r").command("./bin/hi", None, &[]);
    assert_eq!(kind(world.ask(&request)), Err(ErrorKind::DeniedByRule));
    let world = make().allow(".", "rx").command("other", None, &[]);
    assert_eq!(
        kind(world.ask(&request)),
        Err(ErrorKind::ApprovalUnavailable)
    );
    let missing = run("./bin/none", &[], &[]);
    let world = make().allow(".", "rx").command("./bin/none", None, &[]);
    let error = world.ask(&missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!error.message.contains("/tmp"), "{error}");
}

#[test]
fn a_program_cannot_be_planted_on_the_search_path() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::on_disk().with("bin/planted", "#!/bin/sh\necho pwned\n");
    let bin = world.outside().join("ws/bin");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("planted"), mode).unwrap();
    let world = world.command("planted", None, &[]);
    let mut parts = world.parts();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    parts.process.env.insert("PATH".into(), path.into());
    let broker = jig_broker::Broker::new(parts);
    let result = crate::world::ask(&broker, &run("planted", &[], &[]));
    assert_eq!(kind(result), Err(ErrorKind::NotFound));
}

#[test]
fn output_is_bounded_and_says_so() {
    let mut world = World::on_disk().command("sh", None, &[]);
    world.limits.process_output_bytes = 1000;
    let script = "i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done";
    let reply = process(world.ask(&shell(script)).unwrap());
    assert!(reply.truncated);
    let marker = "\n... [truncated, 22000 bytes → 1000 bytes]";
    assert!(reply.stdout.ends_with(marker), "{}", &reply.stdout[990..]);
    assert_eq!(reply.stdout.len(), 1000 + marker.len());
}

#[test]
fn a_flood_is_ended() {
    let mut world = World::on_disk().command("yes", None, &[]);
    world.limits.process_flood_bytes = 10_000_000;
    world.limits.process_time = Duration::from_secs(60);
    let start = Instant::now();
    assert_eq!(
        kind(world.ask(&run("yes", &[], &[]))),
        Err(ErrorKind::TooLarge)
    );
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn v156_a_program_that_ignores_sigterm_is_killed_when_its_time_is_over() {
    let mut world = World::on_disk().command("sh", None, &[]);
    world.limits.process_time = Duration::from_millis(300);
    world.limits.process_grace = Duration::from_millis(200);
    let script =
        "trap '' TERM; (trap '' TERM; sleep 60) & echo $! > pid; while :; do sleep 1; done";
    let start = Instant::now();
    let error = world.ask(&shell(script)).unwrap_err();
    assert_eq!((error.code(), error.kind()), (-32004, ErrorKind::Timeout));
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn v157_cancelling_kills_the_whole_tree() {
    let world = World::on_disk().command("sh", None, &[]);
    let fifo = world.outside().join("ws/alive");
    let script = "trap '' TERM; (trap '' TERM; setsid sh -c 'sleep 60 > alive' & wait) & touch started; wait";
    let mut world = world;
    world.limits.process_grace = Duration::from_millis(100);
    let JudgedRequest::Ready(work) = world.broker().judge(&shell(script)) else {
        panic!("it is allowed");
    };
    let cancel = work.cancel_token();
    let thread = thread::spawn(move || work.perform());
    let started = world.outside().join("ws/started");
    let start = Instant::now();
    while !(started.exists() && fifo.exists()) {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "it never started"
        );
        thread::yield_now();
    }
    let start = Instant::now();
    cancel.cancel();
    assert_eq!(thread.join().unwrap().unwrap_err().code(), -32005);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    // Nobody holds the file any more: no process has it open.
    let holders = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|process| {
            let descriptors = std::fs::read_dir(process.path().join("fd"));
            descriptors
                .into_iter()
                .flatten()
                .flatten()
                .any(|descriptor| {
                    std::fs::read_link(descriptor.path()).is_ok_and(|target| target == fifo)
                })
        });
    assert_eq!(holders.count(), 0);
}

#[test]
fn programs_that_cannot_start_are_told_without_the_hosts_paths() {
    let world = World::on_disk().command("no-such-program-here", None, &[]);
    let error = world
        .ask(&run("no-such-program-here", &[], &[]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.message,
        "the program `no-such-program-here` was not found"
    );
}

#[test]
fn output_that_is_no_text_is_replaced() {
    let world = World::on_disk().command("printf", None, &[]);
    let reply = process(world.ask(&run("printf", &["\\377ok"], &[])).unwrap());
    assert_eq!(reply.stdout, "\u{fffd}ok");
}
