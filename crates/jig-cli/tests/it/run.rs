//! `jig run`: the command ends, prints and listens as if it ran alone, inside of what it may do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use camino::Utf8Path;
use insta::assert_snapshot;
use serde_json::json;

use super::parsed;
use super::workspace_user::{Desk, Ran, for_each_user};

#[test]
fn the_exit_code_is_that_of_the_command() {
    for_each_user(|desk| {
        for code in [0, 1, 2, 3, 77, 125, 127, 255] {
            let ran = desk.run(&["run", "--", "sh", "-c", &format!("exit {code}")]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""));
        }
    });
}

/// A signal that ends the command ends jig, so that whoever waits for jig sees the same.
#[test]
fn the_signal_is_that_of_the_command() {
    for_each_user(|desk| {
        for (name, number) in [
            ("TERM", 15),
            ("KILL", 9),
            ("INT", 2),
            ("HUP", 1),
            ("ABRT", 6),
        ] {
            let ran = desk.run(&["run", "--", "sh", "-c", &format!("kill -{name} $$")]);
            assert_eq!((ran.signal, ran.err.as_str()), (Some(number), ""), "{name}");
        }
    });
}

/// A command that runs with pipes to us, and has said that it is ready.
fn started(command: &mut Command) -> (Child, BufReader<ChildStdout>) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, output)
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .unwrap()
            .success()
    );
}

/// Ctrl-C ends the command and all that it left running, also what ignores the signal in a session of its
/// own. Everything in the tree holds the pipe, so its end is the end of them all.
#[test]
fn an_interrupt_ends_the_whole_tree() {
    for_each_user(|desk| {
        let script = "setsid sh -c \"trap '' INT TERM HUP; echo ready; sleep 600\" & wait";
        for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
            let (mut jig, mut output) = started(&mut desk.jig(&["run", "--", "sh", "-c", script]));
            send(signal, &jig);
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "");
            assert_eq!(jig.wait().unwrap().signal(), Some(number));
        }
    });
}

/// A command that handles a signal gets it, and goes on as it likes.
#[test]
fn signals_reach_the_command() {
    let desk = Desk::new();
    for signal in ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2"] {
        let script = format!(
            "trap 'echo got {signal}; exit 5' {signal}; echo ready; while :; do sleep 0.01; done"
        );
        let (mut jig, mut output) = started(&mut desk.jig(&["run", "--", "sh", "-c", &script]));
        send(&format!("-{signal}"), &jig);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, format!("got {signal}\n"));
        assert_eq!(jig.wait().unwrap().code(), Some(5));
    }
}

/// What a command leaves running ends with it.
#[test]
fn nothing_outlives_the_command() {
    for_each_user(|desk| {
        let script = "setsid sh -c \"trap '' TERM HUP; echo ready; sleep 600\" & read line; exit 4";
        let (mut jig, mut output) = started(&mut desk.jig(&["run", "--", "sh", "-c", script]));
        drop(jig.stdin.take());
        output.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(jig.wait().unwrap().code(), Some(4));
    });
}

/// Both streams are the command's own: every byte arrives, in both directions at once.
#[test]
fn large_binary_data_passes_unchanged() {
    for_each_user(|desk| {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let data: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .take(8 << 20)
        .collect();
        let mut command = desk.jig(&["run", "--", "cat"]);
        let mut jig = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut stdin, mut stdout) = (jig.stdin.take().unwrap(), jig.stdout.take().unwrap());
        let returned = thread::scope(|scope| {
            scope.spawn(|| {
                stdin.write_all(&data).unwrap();
                drop(stdin);
            });
            let mut returned = Vec::new();
            stdout.read_to_end(&mut returned).unwrap();
            returned
        });
        assert!(
            returned == data,
            "{} of {} bytes",
            returned.len(),
            data.len()
        );
        assert!(jig.wait().unwrap().success());
    });
}

/// Whoever has read enough ends the command as in any pipeline.
#[test]
fn a_closed_pipe_ends_the_command() {
    let desk = Desk::new();
    let (mut jig, output) = started(&mut desk.jig(&["run", "--", "yes", "ready"]));
    drop(output);
    assert_eq!(jig.wait().unwrap().signal(), Some(13));
}

/// What `--read` and `--write` give: nothing else is there, and what is read-only stays as it is.
#[test]
fn paths_are_given_one_by_one() {
    for_each_user(|desk| {
        for file in ["src/a.txt", "out/b.txt", "other/c.txt"] {
            desk.workspace.write(file, "content\n");
        }
        let outside = desk.beside("outside");
        for name in ["read", "write", "hidden"] {
            std::fs::create_dir_all(outside.join(name)).unwrap();
            std::fs::write(outside.join(name).join("file"), "outside\n").unwrap();
        }
        let shell = |args: &[&str], script: &str| {
            let ran = desk.run(&[&["run"], args, &["--", "sh", "-c", script]].concat());
            assert!(ran.code.is_some_and(|code| code < 100), "{ran:?}");
            ran.out
        };
        let inside = ["--read", "src", "--write", "out"];
        for (script, expected) in [
            ("cat src/a.txt", "content\n"),
            ("echo x > src/a.txt", ""),
            ("rm src/a.txt || echo kept", "kept\n"),
            ("touch src/new || echo none", "none\n"),
            ("cat other/c.txt || echo hidden", "hidden\n"),
            (
                "echo x > out/b.txt; echo y > out/new.txt; cat out/*",
                "x\ny\n",
            ),
        ] {
            assert_eq!(shell(&inside, script), expected, "{script}");
        }
        // Below `/tmp`, which is private, what is not given may be a folder of memory.
        shell(&inside, "touch top.txt");
        assert_eq!(desk.read("src/a.txt"), "content\n");
        assert!(!desk.path("src/new").exists() && !desk.path("top.txt").exists());

        let (read, write) = (outside.join("read"), outside.join("write"));
        let given = ["--read", read.as_str(), "--write", write.as_str()];
        for (script, expected) in [
            (format!("cat {read}/file"), "outside\n"),
            (format!("echo x > {read}/file || echo kept"), "kept\n"),
            (format!("echo x > {write}/file && cat {write}/file"), "x\n"),
            (
                format!("cat {outside}/hidden/file || echo hidden"),
                "hidden\n",
            ),
            (
                "cat other/c.txt && touch other/d.txt".to_owned(),
                "content\n",
            ),
        ] {
            assert_eq!(shell(&given, &script), expected, "{script}");
        }
        // Without them, nothing outside is there.
        assert_eq!(
            shell(&[], &format!("ls {outside} || echo hidden")),
            "hidden\n"
        );
    });
}

/// `--policy` takes the rules of a tool.
#[test]
fn the_policy_of_a_tool_applies() {
    let config = "[tools.fmt]\nsource = 'local'\ncommand = 'true'\nsandbox.limits.time = '1s'\n\
        access.fs = [{ path = 'src', read = true }, { path = 'src/a.txt', read = true, write = true }]\naccess.env = [{ name = 'COLOUR', read = true }]\n";
    let desk = Desk::with(config);
    desk.workspace.write("src/a.txt", "a\n");
    desk.workspace.write("b.txt", "b\n");
    let script = "cat src/a.txt; echo changed > src/a.txt; touch src/new || echo none; cat b.txt || echo hidden; echo $COLOUR";
    let mut command = desk.jig(&["run", "--policy", "fmt", "--", "sh", "-c", script]);
    let output = command.env("COLOUR", "red").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "a\nnone\nhidden\nred\n",
        "{output:?}"
    );
    assert_eq!(desk.read("src/a.txt"), "changed\n");
    let ran = desk.run(&["run", "--policy", "fmt", "--", "sleep", "60"]);
    assert_eq!(ran.code, Some(124), "{ran:?}");
    // A predefined tool that only reads.
    let script = "cat b.txt; echo x >> b.txt || echo kept";
    assert_eq!(
        desk.ok(&["run", "--policy", "fs_read_file", "--", "sh", "-c", script]),
        "b\nkept\n"
    );
}

#[test]
fn the_root_is_given_and_the_command_starts_where_jig_did() {
    let desk = Desk::new();
    desk.workspace
        .write("sub/hello", "#!/bin/sh\necho hello from $PWD\n");
    let runnable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(desk.path("sub/hello"), runnable).unwrap();
    let root = desk.workspace.root.as_str();
    let pwd = |folder: &str, args: &[&str]| {
        let mut command = desk.jig(&[&["run"], args].concat());
        if !args.contains(&"--") {
            command.args(["--", "pwd"]);
        }
        let output = command.current_dir(folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let sub = desk.path("sub");
    assert_eq!(
        pwd(desk.workspace.home.as_str(), &["--root", root]),
        format!("{root}\n")
    );
    assert_eq!(pwd(sub.as_str(), &["--root", root]), format!("{sub}\n"));
    assert_eq!(pwd(root, &[]), format!("{root}\n"));
    // A program by its path is meant from there too.
    assert_eq!(
        pwd(sub.as_str(), &["--root", root, "--", "./hello"]),
        format!("hello from {sub}\n")
    );
}

/// The variables of the host stay on the host; `--env` gives one, and what steers loaders and interpreters
/// only by its exact name.
#[test]
fn the_environment_of_the_host_stays_on_the_host() {
    for_each_user(|desk| {
        let variables = |args: &[&str]| {
            let script =
                "cat /proc/self/environ /proc/1/environ /proc/$PPID/environ 2>/dev/null; env";
            let mut command = desk.jig(&[&["run"], args, &["--", "sh", "-c", script]].concat());
            for name in CANARIES {
                command.env(name, "canary");
            }
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stdout).replace('\0', "\n")
        };
        let told = variables(&[]);
        assert!(!told.contains("canary"), "{told}");
        for line in told.lines() {
            let name = line.split_once('=').map_or(line, |(name, _)| name);
            let own = [
                "HOME", "LANG", "PATH", "TERM", "USER", "PWD", "OLDPWD", "SHLVL", "_",
            ];
            assert!(own.contains(&name) || name.starts_with("LC_"), "{line}");
        }
        assert!(!told.contains(desk.workspace.home.as_str()), "{told}");
        for (given, seen) in [
            ("API_TOKEN", &["API_TOKEN"][..]),
            ("API_*", &["API_TOKEN", "API_URL"]),
            ("LD_LIBRARY_PATH", &["LD_LIBRARY_PATH"]),
            ("LD_*", &[]),
            ("*", &["API_TOKEN", "API_URL"]),
            ("PYTHON*", &[]),
            ("NODE_OPTIONS", &["NODE_OPTIONS"]),
        ] {
            let told = variables(&["--env", given]);
            let mut found: Vec<&str> = told
                .lines()
                .filter_map(|line| line.strip_suffix("=canary"))
                .collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, seen, "--env {given}");
        }
    });
}

/// Secrets, and what makes a loader, a shell or an interpreter run code.
const CANARIES: [&str; 8] = [
    "API_TOKEN",
    "API_URL",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "BASH_ENV",
    "GIT_DIR",
];

/// What a failed command was refused is in the log as well, with what would allow it.
#[test]
fn refused_files_are_in_the_log() {
    for_each_user(|desk| {
        std::fs::write(desk.path(".env"), "KEY=1\n").unwrap();
        let ran = desk.run(&["run", "--", "cat", ".env"]);
        assert!(ran.err.contains("--read .env"), "{ran:?}");
        let log = desk.run(&["log", "--decision", "deny"]).out;
        // There is no tool that a rule could be added to.
        for part in ["sandbox.read", ".env", "run it with: --write . --read .env"] {
            assert!(log.contains(part), "{log}");
        }
        // One that went well did not need what it was refused.
        let before = log.lines().count();
        assert_eq!(
            desk.run(&["run", "--", "sh", "-c", "cat .env; true"]).code,
            Some(0)
        );
        let after = desk.run(&["log", "--decision", "deny"]).out.lines().count();
        assert_eq!(after, before);
    });
}

/// Each limit says what it was, in one line.
#[test]
fn limits_are_told() {
    for_each_user(|desk| {
        for (args, script, code, told) in [
            (
                &["--time", "300ms"][..],
                "exec sleep 60",
                124,
                "jig: the command ran longer than 300ms and was ended; allow more with --time 1s\n",
            ),
            (
                &["--memory", "96MiB"],
                "for i in 1 2 3 4; do (head -c 40000000 /dev/zero; sleep 60) | tail -c 40000000 & done; wait",
                124,
                "jig: the command used more than 96 MiB of memory and was ended; allow more with --memory 192MiB\n",
            ),
            (
                &["--processes", "40"],
                "exec python3 -c 'import subprocess, time\nall = []\ntry:\n  while True: all.append(subprocess.Popen([\"sleep\", \"60\"]))\nexcept OSError: time.sleep(0.5)'",
                0,
                "jig: the command could not start more than 40 processes and threads; allow more with --processes 80\n",
            ),
            (
                &["--file-size", "1MiB"],
                "exec head -c 2000000 /dev/zero > big",
                128 + 25,
                "jig: the command could not write a file of more than 1 MiB; allow more with --file-size 2MiB\n",
            ),
            (
                &["--descriptors", "30"],
                "exec python3 -c 'import time, os\nwhile True:\n  try: os.open(\"/dev/null\", 0)\n  except OSError: break\ntime.sleep(0.5)'",
                0,
                "jig: the command could not open more than 30 files in one process; allow more with --descriptors 60\n",
            ),
        ] {
            let ran = desk.run(&[&["run"], args, &["--", "sh", "-c", script]].concat());
            let own: String = ran
                .err
                .lines()
                .filter(|line| line.starts_with("jig: ") && !line.contains(" in the background "))
                .map(|line| format!("{line}\n"))
                .collect();
            let end = ran.code.or(ran.signal.map(|signal| 128 + signal));
            assert_eq!((own.as_str(), end), (told, Some(code)), "{args:?} {ran:?}");
        }
        assert_eq!(std::fs::metadata(desk.path("big")).unwrap().len(), 1 << 20);
    });
}

/// Calls that run at the same time in one workspace do not disturb each other.
#[test]
fn many_at_once() {
    for_each_user(|desk| {
        let script = "echo $0 > made-$0; sleep 0.2; cat made-*";
        let start = |number: usize| {
            let number = number.to_string();
            let mut jig = desk.jig(&["run", "--", "sh", "-c", script, &number]);
            jig.stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let running: Vec<Child> = (0..8).map(start).collect();
        for (number, jig) in running.into_iter().enumerate() {
            let ran = Ran::of(jig.wait_with_output().unwrap());
            let has_own = ran.out.lines().any(|line| line == number.to_string());
            assert!(
                has_own && ran.code == Some(0) && ran.err.is_empty(),
                "{ran:?}"
            );
        }
    });
}

/// 125, 126 and 127 are jig's own, as those of `env` and `timeout`.
#[test]
fn a_command_that_did_not_run_has_codes_of_its_own() {
    for_each_user(|desk| {
        desk.workspace.write("not-executable", "#!/bin/sh\n");
        desk.workspace.write("dir/file", "");
        for (words, code, told) in [
            (
                &["no-such-program-at-all"][..],
                127,
                "the program `no-such-program-at-all` was not found",
            ),
            (&["./missing"], 127, "/missing` was not found\nhint: "),
            (
                &["./not-executable"],
                126,
                "not-executable` may not be executed",
            ),
            (&["./dir"], 126, "may not be executed"),
            (
                &["--preset", "cobol", "--", "true"],
                125,
                "`cobol` is no choice",
            ),
            (
                &["--policy", "nothing", "--", "true"],
                125,
                "there is no tool `nothing`",
            ),
            (
                &["--read", "nowhere", "--", "true"],
                125,
                "there is no `nowhere`",
            ),
        ] {
            let ran = desk.run(&[&["run"], words].concat());
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert!(
                ran.err.starts_with("error: ") && ran.err.contains(told),
                "{ran:?}"
            );
            assert_eq!(ran.out, "");
        }
    });
}

#[test]
fn mistakes_are_explained() {
    let desk = Desk::with("[tools.fmt]\nsource = 'local'\ncommand = 'true'\n");
    for (name, args) in [
        ("unknown_preset", &["--preset", "rusty", "--", "true"][..]),
        ("unknown_tool", &["--policy", "fmtt", "--", "true"]),
        ("no_command", &[]),
        (
            "path_that_does_not_exist",
            &["--read", "srcc", "--", "true"],
        ),
        (
            "root_that_does_not_exist",
            &["--root", "nowhere", "--", "true"],
        ),
        ("time_that_is_none", &["--time", "soon", "--", "true"]),
        ("size_that_is_none", &["--memory", "lots", "--", "true"]),
        (
            "rules_beside_a_policy",
            &["--policy", "fmt", "--read", ".", "--", "true"],
        ),
        ("file_that_is_not_a_program", &["--", "./jig.toml"]),
    ] {
        assert_snapshot!(name, desk.told(&[&["run"], args].concat()));
    }
}

#[test]
fn a_dry_run_tells_and_does_nothing() {
    let desk = Desk::with(
        "[tools.fmt]\nsource = 'local'\ncommand = 'true'\n\
        access.fs = [{ path = 'src', read = true, update = true }, { path = 'src/locked', read = true }]\n",
    );
    desk.workspace.write("src/locked/file", "");
    desk.workspace.write(".env", "");
    let args = ["run", "--dry-run", "--time", "90s", "--memory", "64MiB"];
    let words = ["--", "touch", "made"];
    // What the machine itself offers differs from one to the next.
    let own = |text: String| {
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("  /") && !line.contains("program "));
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        let lines = lines.map(|line| {
            let mut words: Vec<String> = words(line);
            // How many there are is the table's business.
            if words.first().is_some_and(|first| first == "guarded") {
                "MANY".clone_into(&mut words[1]);
            }
            words.join(" ")
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(
        "dry_run_default",
        own(desk.told(&[&args[..], &words].concat()))
    );
    assert_snapshot!(
        "dry_run_of_a_tool",
        own(desk.told(&[&args[..], &["--policy", "fmt"], &words].concat()))
    );
    assert!(!desk.path("made").exists());

    let output = desk
        .jig(&[&["--json"], &args[..], &words].concat())
        .output()
        .unwrap();
    let told = parsed(&output);
    assert_eq!(told["command"], json!(["touch", "made"]));
    assert_eq!(told["cwd"], json!(desk.workspace.root));
    assert_eq!(told["profile"]["network"], "none");
    assert_eq!(
        (&told["limits"]["time_ms"], &told["limits"]["memory"]),
        (&json!(90_000), &json!(64 << 20))
    );
    let paths = told["profile"]["paths"].as_array().unwrap();
    let rights = |path: &Utf8Path| {
        let rule = paths
            .iter()
            .find(|rule| rule["path"] == path.as_str())
            .unwrap();
        rule["rights"].clone()
    };
    let all = json!(["read", "create", "update", "delete", "execute"]);
    assert_eq!(rights(&desk.workspace.root), all);
    assert_eq!(rights(&desk.path(".env")), json!([]));
    assert_eq!(rights("/usr".into()), json!(["read", "execute"]));
    assert!(!desk.path("made").exists());
}

/// Whoever holds a directory can look around from there, and change modes.
#[test]
fn a_directory_is_not_handed_over() {
    let workspace = crate::Workspace::new();
    let output = Command::new("sh")
        .args(["-c", "exec \"$0\" run -- true < /usr"])
        .arg(env!("CARGO_BIN_EXE_jig"))
        .current_dir(&workspace.root)
        .env("HOME", &workspace.home)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a directory"));
}

/// Rules on programs are held by stand-ins that only a tool's own calls have.
#[test]
fn rules_on_programs_are_not_dropped_silently() {
    let workspace = crate::Workspace::with(
        "[tools.build]\nsource = 'local'\ncommand = 'true'\naccess.commands.cargo.args = [['check']]\n",
    );
    let run = |more: &[&str]| {
        let args = [&["run", "--policy", "build"], more, &["--", "true"]].concat();
        let output = workspace.jig(&args).env("PATH", "/usr/bin:/bin").output();
        let output = output.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("its rules on programs"), "{told}");
        output.status.code()
    };
    assert_eq!(run(&[]), Some(125));
    assert_eq!(run(&["--best-effort"]), Some(0));
}
