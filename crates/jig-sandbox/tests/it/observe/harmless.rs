//! That observing changes nothing for the observed.

use super::*;

/// Runs a script with and without an observer, in a workspace where it may not do everything; both must come to
/// the same. What was seen.
#[track_caller]
fn check(held: Held, script: &str) -> (Workspace, Ran) {
    let make = || Workspace::of("file secret/key kept/file directory/below");
    let plain_workspace = make();
    let mut plain = request(held, &plain_workspace, "/bin/sh", &["-c", script]);
    plain.observe = false;
    let mut child = spawn(plain).expect("it starts");
    let mut texts = [String::new(), String::new()];
    let pipes = [child.stdout.take(), child.stderr.take()];
    for (text, pipe) in texts.iter_mut().zip(pipes) {
        pipe.expect("it is piped")
            .read_to_string(text)
            .expect("it is text");
    }
    let exit = child.wait().expect("it can be waited for");
    assert!(child.observer.is_none() && child.unobserved.is_none());

    let workspace = make();
    let ran = run(request(held, &workspace, "/bin/sh", &["-c", script]));
    let told = |text: &str, workspace: &Workspace| {
        let path = workspace.path().display().to_string();
        text.replace(&path, "WORKSPACE")
    };
    assert_eq!(ran.exit, exit, "{script}: {}", ran.errors);
    assert_eq!(
        told(&ran.output, &workspace),
        told(&texts[0], &plain_workspace),
        "{script}"
    );
    assert_eq!(
        told(&ran.errors, &workspace),
        told(&texts[1], &plain_workspace),
        "{script}"
    );
    (workspace, ran)
}

/// nothing that is refused becomes allowed, and what was refused is named.
#[test]
fn what_is_refused_stays_refused_and_is_named() {
    if is_inside() || !all_ways_to_hold().contains(&Held::Confined) {
        return;
    }
    for (script, path, wanted) in [
        ("cat secret/key", "secret/key", Rights::READ),
        ("ls secret", "secret", Rights::READ),
        ("echo > secret/new", "secret/new", Rights::CREATE),
        ("rm secret/key", "secret/key", Rights::DELETE),
        ("echo > kept/file", "kept/file", Rights::UPDATE),
        ("echo > kept/new", "kept/new", Rights::CREATE),
        ("mkdir kept/new", "kept/new", Rights::CREATE),
        ("rm -f kept/file", "kept/file", Rights::DELETE),
        ("mv kept/file .", "kept/file", Rights::DELETE),
        ("mv file kept/new", "kept/new", Rights::CREATE),
        ("ln file kept/new", "kept/new", Rights::CREATE),
        ("ln -s file kept/new", "kept/new", Rights::CREATE),
        ("chmod 777 kept/file", "kept/file", Rights::UPDATE),
        ("touch kept/file", "kept/file", Rights::UPDATE),
        (
            "ln -s secret/key link && cat link",
            "secret/key",
            Rights::READ,
        ),
        (
            "cd kept && echo > ../kept/./new",
            "kept/new",
            Rights::CREATE,
        ),
        ("cat /root/.bashrc", "/root/.bashrc", Rights::READ),
        ("echo > /etc/new", "/etc/new", Rights::CREATE),
        (
            "test -f /home/someone/.npmrc",
            "/home/someone/.npmrc",
            Rights::READ,
        ),
        (
            "/var/lib/none/program",
            "/var/lib/none/program",
            Rights::EXECUTE,
        ),
    ] {
        let (workspace, ran) = check(Held::Confined, script);
        assert!(!ran.exit.is_success(), "{script} is refused");
        let seen = seen(&ran.observation, &workspace.join(path));
        let seen = seen.unwrap_or_else(|| panic!("{script}: {:?}", ran.observation.seen));
        assert!(seen.wanted.has(wanted), "{script}: {seen:?}");
    }
}

#[test]
fn what_is_allowed_stays_allowed() {
    if is_inside() {
        return;
    }
    for held in all_ways_to_hold() {
        for script in [
            "cat file; echo x > file; cat file; rm file; ls",
            "mkdir -p a/b/c; mv a/b d; ls -R .; rm -r a d",
            "mkfifo pipe; (echo through > pipe) & cat pipe; wait",
            "ln -s directory/below link; cat link; readlink link",
            "for n in 1 2 3 4 5; do (cat file; exit $n); echo $?; done",
            "exec 3< file; rm file; cat <&3",
            "sh -c 'sh -c \"echo deep\"' | cat | cat",
            "cat /dev/stdin < file; cat /proc/self/comm; echo x > /dev/null",
            "(sleep 0.01; echo late) & wait",
            "ulimit -n 64; cat file",
            // It has no descriptor more: neither the line of its keeper nor that at which the host listens.
            "ls /proc/self/fd || true",
            "trap 'echo caught' TERM; kill -TERM $$; cat file",
        ] {
            let (_, ran) = check(held, script);
            assert!(ran.exit.is_success(), "{held:?}: {script}: {}", ran.errors);
        }
    }
}

/// Programs with threads, garbage collectors and signal handlers of their own.
#[test]
fn large_programs_run() {
    if is_inside() {
        return;
    }
    for (program, script, expected) in [
        (
            "python3",
            "/usr/bin/python3 -c 'import json, threading, subprocess; print(subprocess.run([\"/bin/echo\", \"hello\"], capture_output=True).stdout)'",
            "b'hello\\n'\n",
        ),
        (
            "node",
            "node -e 'Promise.all([...Array(50)].map(() => require(\"fs\").promises.readFile(\"file\"))).then(all => console.log(all.length))'",
            "50\n",
        ),
        (
            "java",
            "java -Xint -version 2>&1 | grep -c 'Runtime Environment'",
            "1\n",
        ),
        (
            "gcc",
            "echo 'int main(void) { return 7; }' > a.c && gcc a.c -o a && ./a; echo $?",
            "7\n",
        ),
        (
            "git",
            "git init -q . && git add file && git -c user.name=a -c user.email=b commit -qm c && git log --format=%s",
            "c\n",
        ),
        ("perl", "perl -e 'print 6 * 7, \"\\n\"'", "42\n"),
    ] {
        if !Path::new("/usr/bin").join(program).exists() {
            continue;
        }
        for held in [Held::Confined, Held::Free] {
            if !all_ways_to_hold().contains(&held) {
                continue;
            }
            let workspace = Workspace::of("file");
            let mut request = request(held, &workspace, "/bin/sh", &["-c", script]);
            if held == Held::Free {
                request.env.insert("HOME".into(), workspace.path().into());
            }
            let ran = run(request);
            assert_eq!(ran.output, expected, "{held:?}: {program}: {}", ran.errors);
        }
    }
}

/// A handler that wants its calls to go on has them go on, and none is interrupted for being looked at.
#[test]
fn signals_interrupt_no_call() {
    const TEST: &str = "observe::harmless::signals_interrupt_no_call";
    if is_inside() {
        return open_files_under_alarms();
    }
    for held in all_ways_to_hold() {
        run_inside(held, TEST, &Workspace::of("file"));
    }
}

fn open_files_under_alarms() {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: the action is plain data, valid when zero, and the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        let every = libc::timeval {
            tv_sec: 0,
            tv_usec: 1000,
        };
        let timer = libc::itimerval {
            it_interval: every,
            it_value: every,
        };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
    for _ in 0..3000 {
        // Not by the library, which would try again.
        // SAFETY: the paths are live C strings.
        let fd = unsafe { libc::open(c"file".as_ptr(), libc::O_RDONLY) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        // SAFETY: it was just opened.
        unsafe { libc::close(fd) };
        fs::metadata("file").expect("it is there");
    }
}

/// Many threads ask at once, and each gets its own answer.
#[test]
fn threads_get_their_own_answers() {
    const TEST: &str = "observe::harmless::threads_get_their_own_answers";
    if is_inside() {
        let ask = |thread: usize| {
            move || {
                for number in 0..200 {
                    let name = format!("thread-{thread}-{number}");
                    fs::write(&name, &name).expect("it can be written");
                    assert_eq!(fs::read_to_string(&name).expect("it is there"), name);
                    fs::remove_file(&name).expect("it is there");
                    assert!(fs::metadata(&name).is_err());
                }
            }
        };
        let threads: Vec<_> = (0..8).map(|one| std::thread::spawn(ask(one))).collect();
        for thread in threads {
            thread.join().expect("it does not panic");
        }
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("");
        let ran = run_inside(held, TEST, &workspace);
        for name in ["thread-0-0", "thread-7-199"] {
            let seen = seen(&ran.observation, &workspace.join(name)).expect("it was used");
            let all = Rights::READ.with(Rights::CREATE).with(Rights::DELETE);
            assert_eq!((seen.wanted, seen.count), (all, 4));
        }
    }
}
