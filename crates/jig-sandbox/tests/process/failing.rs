//! What cannot be started is refused with its reason, and leaves nothing behind.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;

use jig_sandbox::{ProgramEnvironment, SpawnError};

use super::*;

/// The error in words, with its causes.
fn refusal(request: SpawnRequest) -> String {
    let error = spawn(request).expect_err("it cannot start");
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}

#[test]
fn each_refusal_has_its_reason() {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let file = |name: &str, text: &[u8], mode| {
        let path = directory.path().join(name);
        fs::write(&path, text).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
        path.to_str().expect("temporary names are text").to_owned()
    };
    let plain = file("plain", b"#!/bin/sh\n", 0o644);
    let garbage = file("garbage", b"\x7fELF nothing", 0o755);
    let text = file("text", b"no first line\n", 0o755);
    let orphan = file("orphan", b"#!/nonexistent/python -u\n", 0o755);
    let windows = file("windows", b"#!/bin/sh\r\n", 0o755);

    let cases = [
        (
            "/nonexistent/program",
            "program `/nonexistent/program` was not found".to_owned(),
        ),
        (
            &plain,
            format!("`{plain}` may not be executed: Permission denied (os error 13)"),
        ),
        (
            "/usr",
            "`/usr` may not be executed: Permission denied (os error 13)".to_owned(),
        ),
        (
            &garbage,
            format!("`{garbage}` is not a program that this machine can run"),
        ),
        (
            &text,
            format!("`{text}` is not a program that this machine can run"),
        ),
        (
            &orphan,
            format!("`{orphan}` needs the interpreter `/nonexistent/python`, which was not found"),
        ),
        (
            &windows,
            format!("`{windows}` needs the interpreter `/bin/sh\\r`, which was not found"),
        ),
    ];
    for (program, expected) in cases {
        for containment in BOTH {
            let mut request = request(program, &[]);
            request.containment = containment;
            assert_eq!(refusal(request), expected);
        }
    }

    let mut unknown = request("no-such-program", &[]);
    unknown.env = ProgramEnvironment::from([("PATH".into(), "/usr/bin:relative:/bin".into())]);
    assert_eq!(
        refusal(unknown),
        "program `no-such-program` was not found on PATH `/usr/bin:relative:/bin`"
    );
    let mut lost = request("sh", &[]);
    lost.env.clear();
    assert_eq!(
        refusal(lost),
        "program `sh` was not found, and there is no PATH to search"
    );

    // A forbidden file on the way does not end the search, but is remembered.
    let mut hidden = request("plain", &[]);
    let path = format!("{}:/bin", directory.path().display());
    hidden.env = ProgramEnvironment::from([("PATH".into(), path.into())]);
    assert_eq!(
        refusal(hidden),
        format!("`{plain}` may not be executed: Permission denied (os error 13)")
    );

    let mut homeless = request("/bin/true", &[]);
    homeless.cwd = "/nonexistent".into();
    assert_eq!(
        refusal(homeless),
        "the working directory `/nonexistent` of `/bin/true` cannot be entered: No such file or \
         directory (os error 2)"
    );
    let mut relative = request("/bin/true", &[]);
    relative.cwd = "somewhere".into();
    assert_eq!(
        refusal(relative),
        "the working directory `somewhere` of `/bin/true` cannot be entered: it is not an absolute path"
    );
    assert_eq!(
        refusal(request("/bin/true", &["fine", "a\0b"])),
        "argument 2 of `/bin/true` contains a NUL byte"
    );
    let mut odd = request("/bin/true", &[]);
    odd.env.insert("A=B".into(), "".into());
    assert_eq!(
        refusal(odd),
        "`A=B` cannot be the name of an environment variable of `/bin/true`"
    );
    let mut taken = request("/bin/true", &[]);
    let (one, _other) = std::io::pipe().expect("pipes can be made");
    taken.descriptors = vec![(1, one.into())];
    assert_eq!(
        refusal(taken),
        "descriptor 1 cannot be passed to `/bin/true`: the number is taken or negative"
    );
}

/// J-020: one argument of 128 KiB is the most, and the error says so.
#[test]
fn arguments_that_are_too_large_are_measured() {
    let most = 32 * rustix::param::page_size() - 1;
    let (exit, _, _) = run(request("/bin/true", &[&"x".repeat(most)]));
    assert!(exit.is_success());

    let mut request = request("/bin/true", &["short", &"x".repeat(most + 1)]);
    request.env = ProgramEnvironment::from([("NAME".into(), "value".into())]);
    let error = spawn(request).expect_err("it cannot start");
    let SpawnError::TooLarge { program, sizes } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(program, "/bin/true");
    let pointer = size_of::<usize>();
    assert_eq!(
        sizes.arguments,
        "/bin/true".len() + "short".len() + most + 1 + 3 * (1 + pointer)
    );
    assert_eq!(sizes.environment, "NAME=value".len() + 1 + pointer);
    assert_eq!((sizes.longest, sizes.longest_allowed), (most + 1, most));
    assert!(
        error
            .to_string()
            .contains(&format!("{} bytes where {most} are allowed", most + 1))
    );
}

fn limit(resource: libc::__rlimit_resource_t, value: u64) {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: libc::RLIM_INFINITY,
    };
    let mut old = limit;
    // SAFETY: both limits are live locals.
    unsafe {
        assert_eq!(libc::getrlimit(resource, &raw mut old), 0);
        old.rlim_cur = value.min(old.rlim_max);
        assert_eq!(libc::setrlimit(resource, &raw const old), 0);
    }
}

/// Root is not bound by this limit; the run as nobody is.
#[test]
fn a_user_without_processes_left_is_told() {
    // A zygote has the limits of the time when it was started.
    if rustix::process::geteuid().is_root()
        || launches_by_pool()
        || !is_alone("failing::a_user_without_processes_left_is_told")
    {
        return;
    }
    limit(libc::RLIMIT_NPROC, 1);
    for containment in BOTH {
        let mut request = shell("exit");
        request.containment = containment;
        let error = spawn(request).expect_err("it cannot start");
        assert!(matches!(error, SpawnError::NoProcess { .. }), "{error:?}");
    }
    assert!(!has_children());
}

/// Whichever descriptor is the first that cannot be had, nothing leaks.
#[test]
fn a_host_without_descriptors_left_leaks_none() {
    if !is_alone("failing::a_host_without_descriptors_left_leaks_none") {
        return;
    }
    if launches_by_pool() {
        return;
    }
    warm_up();
    let before = descriptors();
    let highest = before.len() as u64 + 1;
    let (mut failed, mut worked) = (0, 0);
    for most in highest..highest + 24 {
        limit(libc::RLIMIT_NOFILE, most);
        let mut request = shell("exit");
        request.stdin = jig_sandbox::Stdio::Piped;
        request.containment = BOTH[most as usize % 2];
        match spawn(request) {
            Ok(child) => {
                worked += 1;
                drop(child);
            }
            Err(error) => {
                failed += 1;
                assert!(
                    error
                        .source()
                        .is_some_and(|cause| cause.to_string().contains("24")
                            || cause.to_string().contains("22")),
                    "{error:?}"
                );
            }
        }
        limit(libc::RLIMIT_NOFILE, 1024);
        assert_eq!(descriptors(), before);
        assert!(!has_children());
    }
    assert!(failed >= 5 && worked >= 5, "{failed} {worked}");
}
