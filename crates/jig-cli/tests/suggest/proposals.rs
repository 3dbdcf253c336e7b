//! What is proposed, what is told instead, and how it ends.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::workspace_user::{Desk, for_each_user};
use crate::{Workspace, rules, suggested};

/// Secrets are told, and stand in no rule.
#[test]
fn what_is_sensitive_is_not_proposed() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write(".env", "TOKEN=1\n");
        workspace.write("plain.txt", "plain\n");
        std::fs::create_dir(workspace.home.join(".ssh")).unwrap();
        std::fs::write(workspace.home.join(".ssh/config"), "Host x\n").unwrap();
        let script = "cat plain.txt; cat .env ~/.ssh/config; true";
        let text = suggested(desk, &["--", "sh", "-c", script]);
        let given = rules(&text);
        assert!(given.contains("path = \"plain.txt\""), "{text}");
        let command = given
            .find("cat plain")
            .map(|at| given[at..].find('\n').unwrap() + at);
        let given = &given[command.unwrap()..];
        assert!(!given.contains(".env") && !given.contains(".ssh"), "{text}");
        assert!(
            text.contains("# - `.env`: it is on the list of sensitive paths"),
            "{text}"
        );
        assert!(
            text.contains("# - `~/.ssh/config`: it is on the list of sensitive paths"),
            "{text}"
        );
        // By their real path they are as closed, also to the run that sees almost everything.
        let direct = format!("cat {}/.ssh/config || echo closed", workspace.home);
        let ran = desk.run(&["suggest", "--", "sh", "-c", &direct]);
        assert!(
            ran.err.contains("closed\n") && !ran.err.contains("Host x"),
            "{ran:?}"
        );
        assert!(ran.out.contains("# - `~/.ssh/config`"), "{ran:?}");
    });
}

/// A file of the home is proposed if the command does not work without it, and only then.
#[test]
fn a_file_of_the_home_is_proposed_if_it_is_needed() {
    for_each_user(|desk| {
        std::fs::write(desk.workspace.home.join(".toolrc"), "setting\n").unwrap();
        let text = suggested(desk, &["--", "sh", "-c", "grep -q setting ~/.toolrc"]);
        assert!(rules(&text).contains("\"~/.toolrc\""), "{text}");
        let text = suggested(desk, &["--", "sh", "-c", "cat ~/.toolrc; true"]);
        assert!(!rules(&text).contains("system"), "{text}");
    });
}

/// A directory that holds credentials is not proposed for the rest of it.
#[test]
fn what_holds_secrets_is_not_proposed() {
    for_each_user(|desk| {
        let home = &desk.workspace.home;
        std::fs::create_dir_all(home.join(".docker")).unwrap();
        std::fs::write(home.join(".docker/config.json"), "{}").unwrap();
        std::fs::create_dir_all(home.join("shared")).unwrap();
        let script = format!("ls {home}/.docker {home}/shared; true");
        let text = suggested(desk, &["--", "sh", "-c", &script]);
        assert!(rules(&text).contains("\"~/shared\""), "{text}");
        assert!(!rules(&text).contains("\"~/.docker\""), "{text}");
        assert!(text.contains("# - `~/.docker`: it "), "{text}");
    });
}

/// A program outside the workspace that no toolchain holds is one entry, with its directory.
#[test]
fn a_program_of_the_home_is_proposed() {
    let desk = Desk::new();
    let bin = desk.workspace.home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("greet");
    std::fs::write(&program, "#!/bin/sh\necho hello\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut jig = desk.jig(&["suggest", "--", "sh", "-c", "greet"]);
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let output = jig.env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("{ path = \"~/bin\", execute = true }"),
        "{text}"
    );
}

/// Hosts are told, and proposed only by name.
#[test]
fn a_host_is_not_proposed_silently() {
    for_each_user(|desk| {
        if !desk.has(&["curl", "--version"]) {
            return;
        }
        let script = "curl -s http://host.invalid/; true";
        let text = suggested(desk, &["fetch", "--", "sh", "-c", script]);
        assert!(!rules(&text).contains("access.net"), "{text}");
        assert!(text.contains("# - `host.invalid`"), "{text}");
        assert!(text.contains("--net host.invalid"), "{text}");
        let text = suggested(desk, &["fetch", "--net", "host.invalid:8080", "--", "true"]);
        assert!(
            rules(&text)
                .contains("access.net]]\nhost = \"host.invalid\"\nport = 8080\nallow = true"),
            "{text}"
        );
    });
}

/// The command's own end is passed on when it fails while it is watched, and nothing is written.
#[test]
fn a_command_that_fails_is_not_learned_from() {
    for_each_user(|desk| {
        desk.workspace.write("a.txt", "a\n");
        let args = [
            "suggest",
            "t",
            "--write",
            "--",
            "sh",
            "-c",
            "cat a.txt; exit 7",
        ];
        let ran = desk.run(&args);
        assert_eq!(ran.code, Some(7), "{ran:?}");
        assert!(ran.out.contains("the rules are incomplete"), "{ran:?}");
        assert!(ran.out.contains("path = \"a.txt\""), "{ran:?}");
        assert!(!desk.path("jig.toml").exists());
    });
}

/// Whatever the command does, the workspace stays as it is, and so does the home.
#[test]
fn nothing_that_it_does_stays() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write("a.txt", "a\n");
        workspace.write("folder/b.txt", "b\n");
        std::fs::write(workspace.home.join("c.txt"), "c\n").unwrap();
        let script = format!(
            "echo more >> a.txt; rm -r folder; mkdir new; echo x > new/x; \
             echo y > {home}/y; rm -f {home}/c.txt; true",
            home = workspace.home
        );
        let text = suggested(desk, &["--", "sh", "-c", &script]);
        assert!(
            text.contains("# - `~/c.txt`: it lies outside the workspace"),
            "{text}"
        );
        assert!(workspace.home.join("c.txt").exists());
        assert!(!workspace.home.join("y").exists());
        let layers = workspace.home.join(".local/state/jig/layers");
        let left: Vec<_> = std::fs::read_dir(layers).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

/// What removes and replaces names at the top needs the top; what lies there otherwise is kept from it.
#[test]
fn names_at_the_top_are_replaced() {
    for_each_user(|desk| {
        let workspace = &desk.workspace;
        workspace.write("lock", "1\n");
        workspace.write("kept.txt", "kept\n");
        workspace.write("folder/kept.txt", "kept\n");
        let script = "cat lock folder/kept.txt > lock.new && mv lock.new lock && echo done";
        suggested(desk, &["t", "--", "sh", "-c", script]);
        desk.ok(&["suggest", "t", "--write", "--", "sh", "-c", script]);
        crate::only_written(desk, "t", &["lock"]);
        for _ in 0..2 {
            desk.ok(&["call", "t", "--yes"]);
        }
        assert_eq!(desk.read("lock"), "1\nkept\nkept\n");
    });
}

/// Below `/tmp` a confined program has a directory of its own, in which changes are allowed altogether or not
/// at all. Rules are found there, too.
#[test]
fn a_workspace_in_tmp() {
    let mut desk = Desk::new();
    desk.workspace = Workspace::in_tmp();
    desk.workspace.write("in.txt", "1\n");
    desk.workspace.write("out/old.txt", "1\n");
    let text = suggested(&desk, &["--", "sh", "-c", "cat in.txt > out/new.txt"]);
    assert!(
        rules(&text).contains("path = \"in.txt\"\nread = true"),
        "{text}"
    );
}

/// A wider net catches more in fewer rules.
#[test]
fn the_width_decides_how_much_is_gathered() {
    let desk = Desk::new();
    for name in ["a", "b", "c"] {
        desk.workspace.write(&format!("src/{name}.txt"), "x\n");
    }
    let command = ["sh", "-c", "cat src/a.txt src/b.txt src/c.txt"];
    let with = |width: &str| {
        let mut args = vec!["--width", width, "--"];
        args.extend(command);
        rules(&suggested(&desk, &args))
    };
    let narrow = with("3");
    for name in ["a", "b", "c"] {
        assert!(
            narrow.contains(&format!("path = \"src/{name}.txt\"")),
            "{narrow}"
        );
    }
    let wide = with("2");
    assert!(wide.contains("path = \"src\"\nread = true"), "{wide}");
    assert!(!wide.contains("path = \"src/"), "{wide}");
}

/// For programs: the rules, the evidence in numbers, and what is not proposed.
#[test]
fn json_tells_all() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "a\n");
    desk.workspace.write(".env", "x\n");
    let args = [
        "suggest",
        "t",
        "--json",
        "--",
        "sh",
        "-c",
        "cat a.txt; cat .env; true",
    ];
    let output = desk.jig(&args).output().unwrap();
    let told = crate::parsed(&output);
    assert_eq!(told["outcome"], "enough", "{told:#}");
    assert_eq!(told["fs"][0]["path"], "a.txt", "{told:#}");
    assert_eq!(told["fs"][0]["capabilities"], serde_json::json!(["read"]));
    assert_eq!(told["fs"][0]["evidence"]["read"]["programs"][0], "cat");
    assert_eq!(told["withheld"][0]["what"], ".env");
    assert!(told["toml"].as_str().unwrap().contains("[tools.t]"));
}

/// Ctrl-C ends the command, and leaves nothing behind.
#[test]
fn an_interrupt_ends_it() {
    for_each_user(|desk| {
        let mut jig = desk.jig(&[
            "suggest",
            "--",
            "sh",
            "-c",
            "echo x > x; echo begun; sleep 600",
        ]);
        let mut jig = jig
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(jig.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("begun") {
            line.clear();
            assert_ne!(told.read_line(&mut line).unwrap(), 0, "it ended");
        }
        let id = rustix::process::Pid::from_child(&jig);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        let status = jig.wait().unwrap();
        assert!(!status.success(), "{status:?}");
        assert!(!desk.path("x").exists());
        let layers = desk.workspace.home.join(".local/state/jig/layers");
        let left: Vec<_> = std::fs::read_dir(layers).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

/// The names of programs and files are theirs to choose, and what is proposed may be pasted: none of them
/// becomes a line of the configuration.
#[test]
fn names_do_not_become_configuration() {
    let desk = Desk::new();
    let evil = "x\n[tools.evil]\nsource = \"local\"\ncommand = \"true\"\n#";
    desk.workspace.write(&format!(".env{evil}"), "secret\n");
    desk.workspace.write(&format!("open{evil}"), "plain\n");
    std::fs::create_dir(desk.path("bin")).unwrap();
    std::fs::copy("/bin/cat", desk.path(&format!("bin/cat{evil}"))).unwrap();
    let text = desk.ok(&[
        "suggest",
        "t",
        "--",
        "sh",
        "-c",
        "bin/cat* open*; cat .env*; true",
    ]);
    assert!(
        !text.lines().any(|line| line.trim() == "[tools.evil]"),
        "{text}"
    );
    // It is configuration all the same, and means what it should.
    desk.workspace.write("jig.toml", &text);
    let tools = desk.ok(&["tools", "--json"]);
    assert!(!tools.contains("\"evil\""), "{tools}");
    assert!(crate::allows(&desk, "t", "read", &format!("open{evil}")));
    assert!(!crate::allows(&desk, "t", "read", &format!(".env{evil}")));
}

/// What jig keeps, layers among it, is closed also to the run that sees almost everything.
#[test]
fn the_state_of_jig_is_closed() {
    for_each_user(|desk| {
        let state = desk.workspace.home.join(".local/state/jig");
        let script = format!(
            "ls {state} && echo seen; echo x > {state}/x && echo written; \
             find {home} -path '*upper*' | grep -q . && echo found; echo tried",
            home = desk.workspace.home
        );
        let ran = desk.run(&["suggest", "--", "sh", "-c", &script]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("\ntried\n"), "{ran:?}");
        for word in ["seen", "written", "found"] {
            assert!(!ran.err.contains(&format!("\n{word}\n")), "{word}: {ran:?}");
        }
        assert!(!state.join("x").exists());
        // Unconfined the same succeeds.
        let told = desk.unconfined(&["sh", "-c", &format!("ls {state} && echo seen")]);
        assert!(told.contains("seen\n"), "{told}");
    });
}
