//! What a program gets, and what of the host it does not get.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;

use jig_sandbox::{Enforcement, Exit, ProcessLimits, ProgramEnvironment, Stdio, spawn};

use super::*;

#[test]
fn exit_codes_and_signals_are_told() {
    #[track_caller]
    fn check(script: &str, expected: Exit, words: &str) {
        for containment in BOTH {
            let mut request = shell(script);
            request.containment = containment;
            let (exit, _, errors) = run(request);
            assert_eq!(exit, expected, "{errors}");
            assert_eq!(exit.to_string(), words);
        }
    }
    let killed = |signal| Exit::Killed {
        signal,
        core: false,
    };
    check("exit 0", Exit::Exited { code: 0 }, "exited with code 0");
    check("exit 3", Exit::Exited { code: 3 }, "exited with code 3");
    check(
        "exit 255",
        Exit::Exited { code: 255 },
        "exited with code 255",
    );
    check("kill -KILL $$", killed(9), "was killed by SIGKILL");
    // The limit of 0 keeps the memory image from being written.
    check("kill -SEGV $$", killed(11), "was killed by SIGSEGV");
}

/// V-082, J-001: nothing is inherited, and nothing is added.
#[test]
fn the_environment_is_what_was_given() {
    #[track_caller]
    fn check(pairs: &[(&str, &[u8])]) {
        for containment in BOTH {
            let mut request = request("/usr/bin/env", &["-0"]);
            request.env = pairs
                .iter()
                .map(|(name, value)| ((*name).into(), OsStr::from_bytes(value).to_owned()))
                .collect();
            request.containment = containment;
            let mut child = spawn(request).expect("it starts");
            let mut output = Vec::new();
            let mut stdout = child.stdout.take().expect("output is piped");
            stdout.read_to_end(&mut output).expect("pipes can be read");
            let mut expected = Vec::new();
            for (name, value) in pairs {
                expected.extend_from_slice(name.as_bytes());
                expected.push(b'=');
                expected.extend_from_slice(value);
                expected.push(0);
            }
            assert_eq!(output, expected);
        }
    }
    check(&[]);
    check(&[
        ("A", b"1"),
        ("B", b"two words"),
        ("EMPTY", b""),
        ("ODD", b"\xff=\n"),
    ]);
}

#[test]
fn names_are_found_on_the_childs_path() {
    let mut request = request("echo", &["found"]);
    request.env = ProgramEnvironment::from([("PATH".into(), "/nonexistent:/usr/bin:/bin".into())]);
    assert_eq!(run(request).1, "found\n");
}

#[test]
fn arguments_arrive_as_they_are() {
    let odd = OsString::from(OsStr::from_bytes(b"a b\t'\"$HOME\\\xff\n"));
    let mut request = request("/usr/bin/printf", &["%s|%s|"]);
    request.args.extend([odd.clone(), OsString::new()]);
    let mut child = spawn(request).expect("it starts");
    let mut output = Vec::new();
    child
        .stdout
        .take()
        .expect("output is piped")
        .read_to_end(&mut output)
        .expect("readable");
    assert_eq!(output, [odd.as_bytes(), b"||"].concat());
}

#[test]
fn the_working_directory_is_entered() {
    let mut request = request("/bin/pwd", &["-P"]);
    request.cwd = "/usr/..//usr".into();
    assert_eq!(run(request).1, "/usr\n");
}

#[test]
fn standard_streams_can_be_piped_null_or_given() {
    let mut request = request("/bin/cat", &[]);
    request.stdin = Stdio::Piped;
    let mut child = spawn(request).expect("it starts");
    let mut stdin = child.stdin.take().expect("input is piped");
    stdin.write_all(b"through").expect("it reads");
    drop(stdin);
    let mut text = String::new();
    child
        .stdout
        .take()
        .expect("output is piped")
        .read_to_string(&mut text)
        .expect("readable");
    assert_eq!(text, "through");
    assert!(child.wait().expect("waitable").is_success());

    let mut silent = shell("cat; echo out; echo err >&2");
    silent.stdout = Stdio::Null;
    silent.stderr = Stdio::Null;
    assert_eq!(
        run(silent),
        (Exit::Exited { code: 0 }, String::new(), String::new())
    );

    // The same pipe twice: the order of both streams is kept.
    let (mut reader, writer) = std::io::pipe().expect("pipes can be made");
    let mut joined = shell("echo one; echo two >&2; echo three");
    joined.stderr = Stdio::Given(
        writer
            .try_clone()
            .expect("descriptors can be copied")
            .into(),
    );
    joined.stdout = Stdio::Given(writer.into());
    let child = spawn(joined).expect("it starts");
    let mut text = String::new();
    reader
        .read_to_string(&mut text)
        .expect("the tool's ends are closed with it");
    assert_eq!(text, "one\ntwo\nthree\n");
    assert!(child.wait().expect("waitable").is_success());
}

/// Once the tool closes a stream, nobody else holds it open: the keeper does not.
#[test]
fn a_stream_that_the_tool_closes_ends() {
    for containment in BOTH {
        let mut request = shell("exec >&- 2>&- <&-; exec sleep 300");
        request.stdin = Stdio::Piped;
        request.containment = containment;
        let mut child = spawn(request).expect("it starts");
        let mut text = String::new();
        child
            .stdout
            .take()
            .expect("piped")
            .read_to_string(&mut text)
            .expect("readable");
        child
            .stderr
            .take()
            .expect("piped")
            .read_to_string(&mut text)
            .expect("readable");
        assert_eq!(text, "");
        assert_eq!(child.try_wait().expect("waitable"), None);
    }
}

const LIST: &str = "for f in /proc/self/fd/*; do if [ -e $f ]; then echo ${f##*/}; fi; done";

/// The host has descriptors open that it forgot to close on `exec`, low and high.
#[test]
fn no_descriptor_is_inherited() {
    if !is_alone("basics::no_descriptor_is_inherited") {
        return;
    }
    // SAFETY: descriptors are copied and left open.
    let high = unsafe {
        for _ in 0..20 {
            assert!(libc::dup(2) >= 0);
        }
        libc::fcntl(2, libc::F_DUPFD, 500)
    };
    assert!(high >= 500);
    for containment in BOTH {
        let mut bare = shell(LIST);
        bare.containment = containment;
        assert_eq!(run(bare).1, "0\n1\n2\n");

        // One that is passed, but was not to be closed on `exec`, is there once.
        let (one, _other) = std::io::pipe().expect("pipes can be made");
        rustix::io::fcntl_setfd(&one, rustix::io::FdFlags::empty()).expect("it is ours");
        let mut passing = shell(LIST);
        passing.descriptors = vec![(7, one.into())];
        passing.containment = containment;
        assert_eq!(run(passing).1, "0\n1\n2\n7\n");

        // The keeper has three: the line, the host and its signals.
        let mut sleeper = shell("echo ready; exec sleep 300");
        sleeper.containment = containment;
        let mut child = spawn(sleeper).expect("it starts");
        await_ready(&mut child);
        if rustix::process::geteuid().is_root() {
            until("the keeper closes the others", || {
                let held = fs::read_dir(format!("/proc/{}/fd", child.id()));
                held.expect("root may look").count() == 3
            });
        }
    }
}

/// Numbers that overlap with the sources, in every order.
#[test]
fn descriptors_arrive_at_their_numbers() {
    let (first, mut first_end) = std::io::pipe().expect("pipes can be made");
    let (second, mut second_end) = std::io::pipe().expect("pipes can be made");
    first_end.write_all(b"first").expect("there is room");
    second_end.write_all(b"second").expect("there is room");
    drop((first_end, second_end));
    let (low, high) = (first.as_fd().as_raw_fd(), second.as_fd().as_raw_fd());
    assert!(low > 2 && high > 2);
    // Each takes the number that the other has in the host.
    let mut request = shell(&format!(
        "cat /proc/self/fd/{high}; echo; cat /proc/self/fd/{low}; echo; {LIST}"
    ));
    request.descriptors = vec![(high, first.into()), (low, second.into())];
    let (exit, output, errors) = run(request);
    assert!(exit.is_success(), "{errors}");
    let mut numbers = [0, 1, 2, low, high];
    numbers.sort_unstable();
    // The shell's glob sorts names, not numbers.
    let mut names = numbers.map(|number| number.to_string());
    names.sort_unstable();
    assert_eq!(output, format!("first\nsecond\n{}\n", names.join("\n")));
}

/// The terminal of the host is out of reach, ignored signals are not ignored, and nothing is blocked.
#[test]
fn session_and_signals_are_fresh() {
    for containment in BOTH {
        let mut stat = request("/bin/cat", &["/proc/self/stat"]);
        stat.containment = containment;
        let (_, text, _) = run(stat);
        let (_, rest) = text.rsplit_once(") ").expect("the name is in parentheses");
        let fields: Vec<&str> = rest.split(' ').collect();
        let [group, session, terminal] = fields[2..5] else {
            panic!("{text}")
        };
        assert_eq!((group, terminal), (session, "0"));
        assert!(
            text.starts_with(&format!("{session} (")),
            "it leads its session: {text}"
        );

        let mut status = request("/bin/cat", &["/proc/self/status"]);
        status.containment = containment;
        let (_, text, _) = run(status);
        let own = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.expect("the kernel tells it").to_owned()
        };
        // Rust's own start ignores SIGPIPE, so that there is something to undo.
        assert_ne!(field(&own, "SigIgn:"), "SigIgn:\t0000000000000000");
        assert_eq!(field(&text, "SigIgn:"), "SigIgn:\t0000000000000000");
        assert_eq!(field(&text, "SigBlk:"), "SigBlk:\t0000000000000000");
        assert_eq!(field(&text, "Umask:"), field(&own, "Umask:"));
        assert_eq!(field(&text, "Uid:"), field(&own, "Uid:"));
        assert_eq!(field(&text, "Gid:"), field(&own, "Gid:"));
    }
}

#[test]
fn limits_are_set() {
    let mut request = shell("ulimit -n; ulimit -c; ulimit -f; ulimit -Hn");
    request.limits = ProcessLimits {
        descriptors: Some(64),
        file_size: Some(512 * 1024),
        core: Some(0),
        ..ProcessLimits::default()
    };
    assert_eq!(run(request).1, "64\n0\n1024\n64\n");

    // Above the host's own: the host's own.
    let mut request = shell("ulimit -Hn");
    request.limits.descriptors = Some(u64::MAX);
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let most = most.map_or("unlimited".to_owned(), |most| most.to_string());
    assert_eq!(run(request).1.trim(), most);
}

/// Files keep their owners: what the tool writes is the host's user's.
#[test]
fn files_keep_their_owners() {
    use std::os::unix::fs::MetadataExt;
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let mut request = shell("echo x > file; stat -c '%u %g' file");
    request.cwd = directory.path().to_owned();
    let (_, seen, errors) = run(request);
    let metadata = fs::metadata(directory.path().join("file")).expect("it was written");
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    assert_eq!(
        (metadata.uid(), metadata.gid()),
        (uid.as_raw(), gid.as_raw())
    );
    assert_eq!(seen, format!("{uid} {gid}\n"), "{errors}");
}

/// A root tool may do with the files of others what root may: its namespace has all users.
#[test]
fn root_keeps_its_rights_over_files() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    use std::os::unix::fs::{PermissionsExt, chown};
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("secret");
    fs::write(&file, "of another").expect("writable");
    chown(&file, Some(1234), Some(1234)).expect("root may");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("root may");
    let mut request = shell("cat secret; chown 5678 secret");
    request.cwd = directory.path().to_owned();
    assert_eq!(
        run(request),
        (Exit::Exited { code: 0 }, "of another".into(), String::new())
    );
}

#[test]
fn the_status_tells_what_is_enforced() {
    let child = spawn(shell("exit")).expect("it starts");
    let not_asked_for = Enforcement::NotEnforced {
        reason: "no confinement was asked for".to_owned(),
    };
    assert_eq!(child.status.files, not_asked_for);
    assert_eq!(child.status.network, not_asked_for);
    assert!(!child.status.is_complete());

    let mut request = shell("exit");
    request.containment = Containment::WithoutNamespaces;
    let child = spawn(request).expect("it starts");
    assert!(matches!(
        child.status.tree,
        Enforcement::PartlyEnforced { .. }
    ));
    assert!(matches!(
        child.status.processes,
        Enforcement::NotEnforced { .. }
    ));
}
