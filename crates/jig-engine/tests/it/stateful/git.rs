//! The predefined tool `git`, with a real git.

use std::process::Command;

use jig_engine::{About, Answer, Ask};

use super::*;

pub(super) fn git(root: &Utf8Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Somebody",
            "-c",
            "user.email=somebody@example.com",
        ])
        .args(args)
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", root)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with four commits, and three changes far apart in one file.
pub(super) fn repository() -> Workshop {
    repository_with("")
}

fn repository_with(more: &str) -> Workshop {
    let config = format!("[tools.git]\nrun = \"unattended\"\n{more}");
    let shop = Workshop::new(&config, &[]);
    let root = &shop.root;
    git(root, &["init", "--quiet", "--initial-branch=main"]);
    git(root, &["config", "user.name", "Somebody"]);
    git(root, &["config", "user.email", "somebody@example.com"]);
    let lines = |change: &dyn Fn(usize) -> Option<&'static str>| -> String {
        let line = |number| match change(number) {
            Some(text) => format!("{text}\n"),
            None => format!("{number}\n"),
        };
        (1..=60).map(line).collect()
    };
    std::fs::write(root.join("numbers"), lines(&|_| None)).unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "-m", "numbers"]);
    for name in ["one", "two", "three"] {
        std::fs::write(root.join(name), name).unwrap();
        git(root, &["add", "."]);
        git(root, &["commit", "--quiet", "-m", name]);
    }
    let changed = lines(&|number| match number {
        5 => Some("five"),
        7 => Some("seven"),
        30 => Some("thirty"),
        55 => Some("fifty-five"),
        _ => None,
    });
    std::fs::write(root.join("numbers"), changed).unwrap();
    shop
}

/// Applies an answer and waits until git asks again, or has stopped.
fn answer(shop: &Workshop, input: &str) -> (HandleReport, String) {
    let apply = json!({"action": "apply", "id": "h_1", "input": input});
    prompted(shop, shop.report("git", apply))
}

fn prompted(shop: &Workshop, mut report: HandleReport) -> (HandleReport, String) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut said = report.state.content().to_text();
    while report.state.status() == StateName::Running && !said.trim_end().ends_with("]?") {
        assert!(Instant::now() < deadline, "git goes on: {said}");
        let fetch = json!({"action": "fetch", "id": "h_1", "wait_ms": 1000});
        report = shop.report("git", fetch);
        said.push_str(&report.state.content().to_text());
    }
    (report, said)
}

#[test]
fn s010_to_s013_staging_hunk_by_hunk() {
    let shop = repository();
    let spawn = json!({"action": "spawn", "command": "stage", "args": ["--patch"]});
    let (report, said) = prompted(&shop, shop.report("git", spawn));
    assert_eq!(report.id.as_str(), "h_1");
    assert_eq!(report.state.status(), StateName::Running);
    assert!(said.starts_with("diff --git a/numbers b/numbers"), "{said}");
    assert!(said.contains("(1/3) Stage this hunk"), "{said}");

    // The first hunk is split in two; of those the first is staged, the other not.
    let (_, said) = answer(&shop, "s");
    assert!(
        said.contains("Split into 2 hunks.") && said.contains("(1/4)"),
        "{said}"
    );
    let (_, said) = answer(&shop, "y");
    assert!(said.contains("+seven") && said.contains("(2/4)"), "{said}");
    let (_, said) = answer(&shop, "n");
    assert!(said.contains("+thirty") && said.contains("(3/4)"), "{said}");
    let (_, said) = answer(&shop, "y");
    assert!(
        said.contains("+fifty-five") && said.contains("(4/4)"),
        "{said}"
    );
    let (stopped, _) = answer(&shop, "n");
    let staged = result(&stopped).unwrap();
    assert!(
        staged.starts_with("Staged:") && staged.contains("numbers"),
        "{staged}"
    );

    let index = git(&shop.root, &["show", ":numbers"]);
    let changed: Vec<&str> = index
        .lines()
        .filter(|line| line.parse::<u32>().is_err())
        .collect();
    assert_eq!(changed, ["five", "thirty"]);
}

#[test]
fn s031_called_without_an_action_it_asks_about_each_hunk() {
    struct Person(Vec<&'static str>, Vec<String>);
    impl Asker for Person {
        fn ask(&mut self, ask: &Ask<'_>) -> Answer {
            assert!(matches!(ask.about, About::Tool(_)), "{:?}", ask.about);
            self.1.push(ask.question.context.clone().unwrap());
            Answer::Given(json!(self.0.remove(0)))
        }
    }
    let shop = repository();
    let mut person = Person(vec!["n", "y", "n"], Vec::new());
    let reply = shop
        .ask("git", json!({"command": "stage"}), &mut person)
        .unwrap();
    let text = reply.into_content().to_text();
    assert!(text.starts_with("Staged:"), "{text}");
    assert!(person.1[1].contains("+thirty"), "{:?}", person.1);
    let index = git(&shop.root, &["show", ":numbers"]);
    assert!(index.contains("thirty") && !index.contains("five") && !index.contains("fifty"));
}

#[test]
fn an_interactive_rebase() {
    let shop = repository();
    git(&shop.root, &["checkout", "--quiet", "numbers"]);
    let spawn = json!({"action": "spawn", "command": "rebase", "args": ["HEAD~3"]});
    let mut report = shop.report("git", spawn);
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Waiting).0;
    }
    let ToolState::Waiting { question, .. } = &report.state else {
        panic!("{report:?}");
    };
    assert_eq!(question.id, "git-rebase-todo");
    let todo = question.context.clone().unwrap();
    let picks: Vec<&str> = todo
        .lines()
        .filter(|line| line.starts_with("pick "))
        .collect();
    assert_eq!(picks.len(), 3, "{todo}");
    // `two` is dropped, `three` is reworded and comes first.
    let hash = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let list = format!("reword {}\npick {}\n", hash(picks[2]), hash(picks[0]));
    let apply = json!({"action": "apply", "id": "h_1", "input": list});
    let mut report = shop.report("git", apply);
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Waiting).0;
    }
    let ToolState::Waiting { question, .. } = &report.state else {
        panic!("{report:?}");
    };
    assert_eq!(question.id, "COMMIT_EDITMSG");
    let apply = json!({"action": "apply", "id": "h_1", "input": "the third, first"});
    let mut report = shop.report("git", apply);
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Stopped).0;
    }
    let done = result(&report).unwrap();
    assert!(done.contains("Successfully rebased"), "{done}");
    let log = git(&shop.root, &["log", "--format=%s"]);
    assert_eq!(log, "one\nthe third, first\nnumbers\n");
}

#[test]
fn the_log_and_what_git_refuses() {
    let shop = repository();
    let log = shop.called("git", json!({"command": "log", "args": ["--format=%s"]}));
    assert_eq!(log.trim_end(), "three\ntwo\none\nnumbers");
    let refusal = shop.refusal("git", json!({"command": "log", "args": ["no-such-branch"]}));
    assert!(refusal.contains("exited with code 128"), "{refusal}");
    let refusal = shop.refusal("git", json!({"command": "push"}));
    assert!(refusal.contains("`command` must be one of"), "{refusal}");
}

/// What git runs is held as git is: a hook cannot read what the tool may not.
#[test]
fn what_git_starts_is_confined() {
    let shop = repository_with("options.exec = true\n");
    git(&shop.root, &["checkout", "--quiet", "numbers"]);
    std::fs::write(shop.root.join(".env"), "KEY=1").unwrap();
    let args = json!([
        "--exec",
        "cat .env > leaked; cat /etc/shadow > leaked2; true",
        "HEAD~1"
    ]);
    let spawn = json!({"action": "spawn", "command": "rebase", "args": args});
    let mut report = shop.report("git", spawn);
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Waiting).0;
    }
    assert_eq!(report.state.status(), StateName::Waiting);
    let apply = json!({"action": "apply", "id": "h_1", "input": ""});
    let report = shop.report("git", apply);
    if report.state.status() == StateName::Running {
        shop.until("git", "h_1", StateName::Stopped);
    }
    for leaked in ["leaked", "leaked2"] {
        let leaked = std::fs::read(shop.root.join(leaked)).unwrap_or_default();
        assert!(leaked.is_empty(), "{}", String::from_utf8_lossy(&leaked));
    }
}

/// Whoever agrees to a rebase does not agree to any program.
#[test]
fn a_rebase_runs_no_programs_unless_it_may() {
    let shop = repository();
    git(&shop.root, &["checkout", "--quiet", "numbers"]);
    let spawn = |args: Value| json!({"action": "spawn", "command": "rebase", "args": args});
    let report = shop.report("git", spawn(json!(["--exec", "touch made", "HEAD~1"])));
    let refused = match report.state.status() {
        StateName::Stopped => report,
        _ => shop.until("git", "h_1", StateName::Stopped).0,
    };
    assert!(
        result(&refused)
            .unwrap_err()
            .contains("may not run programs")
    );

    let report = shop.report("git", spawn(json!(["HEAD~1"])));
    let id = report.id.to_string();
    if report.state.status() == StateName::Running {
        shop.until("git", &id, StateName::Waiting);
    }
    let apply = json!({"action": "apply", "id": id, "input": "x touch made"});
    let report = shop.report("git", apply);
    let mut said = report.state.content().to_text();
    if report.state.status() == StateName::Running {
        said.push_str(&shop.until("git", &id, StateName::Waiting).1);
    }
    assert!(said.contains("may not run programs"), "{said}");
    let report = shop.report("git", json!({"action": "apply", "id": id, "input": ""}));
    if report.state.status() != StateName::Stopped {
        shop.until("git", &id, StateName::Stopped);
    }
    assert!(!shop.root.join("made").exists());
}

/// A repository whose configuration names a program wherever git would run one on the way to a commit. Each
/// leaves a mark.
fn repository_with_programs() -> Workshop {
    let shop = repository();
    let root = &shop.root;
    std::fs::create_dir_all(root.join("marks")).unwrap();
    std::fs::write(root.join("marks/.gitignore"), "*\n").unwrap();
    let program = |path: &str, mark: &str, more: &str| {
        let path = root.join(path);
        std::fs::write(
            &path,
            format!("#!/bin/sh\ntouch {root}/marks/{mark}\n{more}\n"),
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    };
    std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
    ] {
        program(&format!(".git/hooks/{hook}"), hook, "");
    }
    program(".git/filter", "filter", "cat");
    program(".git/monitor", "monitor", "printf 'token\\0/\\0'");
    program(".git/sign", "sign", "exit 1");
    git(
        root,
        &[
            "config",
            "filter.mark.clean",
            &format!("sh {root}/.git/filter"),
        ],
    );
    git(root, &["config", "filter.mark.required", "true"]);
    git(
        root,
        &[
            "config",
            "core.fsmonitor",
            &format!("sh {root}/.git/monitor"),
        ],
    );
    std::fs::write(root.join(".gitattributes"), "one filter=mark\n").unwrap();
    git(root, &["add", "numbers"]);
    shop
}

pub(super) fn marks(shop: &Workshop) -> Vec<String> {
    let entries = std::fs::read_dir(shop.root.join("marks")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".gitignore").collect();
    names.sort();
    names
}

/// S-010: the third command of the example. What the configuration of the repository names is not run; git
/// itself would run it.
#[test]
fn s010_a_commit_runs_nothing_that_the_repository_names() {
    let shop = repository_with_programs();
    let root = shop.root.clone();
    let clear = || {
        for mark in marks(&shop) {
            std::fs::remove_file(root.join("marks").join(mark)).unwrap();
        }
        // A file as new as the index is looked into again, which runs its filter.
        std::fs::write(root.join("one"), "ONE").unwrap();
    };
    // The twin: plain git runs all of it.
    clear();
    git(&root, &["commit", "--quiet", "-m", "by hand"]);
    let all = marks(&shop);
    for expected in [
        "commit-msg",
        "monitor",
        "post-commit",
        "pre-commit",
        "prepare-commit-msg",
    ] {
        assert!(
            all.iter().any(|mark| mark == expected),
            "{expected}: {all:?}"
        );
    }
    git(&root, &["config", "commit.gpgSign", "true"]);
    git(
        &root,
        &["config", "gpg.program", &format!("{root}/.git/sign")],
    );
    std::fs::write(root.join("two"), "second").unwrap();
    git(&root, &["add", "two"]);
    clear();
    let call =
        json!({"command": "commit", "message": "it's done", "args": ["--author=Else <e@x.y>"]});
    let done = shop.called("git", call);
    assert!(
        done.contains("it's done") && done.contains("1 file changed"),
        "{done}"
    );
    assert_eq!(marks(&shop), [""; 0]);
    git(&root, &["config", "--unset", "core.fsmonitor"]);
    let log = git(&root, &["log", "-1", "--format=%s %an", "--name-only"]);
    assert_eq!(log, "it's done Else\n\ntwo\n");
    // What is not staged stays where it is.
    let status = git(&root, &["diff", "--name-only"]);
    assert!(status.contains("one"), "{status}");
}

/// Without a message it is asked for, where git would open an editor; more than what is staged is not taken.
#[test]
fn a_commit_asks_for_its_message() {
    let shop = repository();
    git(&shop.root, &["add", "numbers"]);
    let mut report = shop.report("git", json!({"action": "spawn", "command": "commit"}));
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Waiting).0;
    }
    let ToolState::Waiting { question, .. } = &report.state else {
        panic!("{report:?}");
    };
    assert_eq!(question.id, "COMMIT_EDITMSG");
    let apply = json!({"action": "apply", "id": "h_1", "input": "words for numbers"});
    let mut report = shop.report("git", apply);
    if report.state.status() == StateName::Running {
        report = shop.until("git", "h_1", StateName::Stopped).0;
    }
    let done = result(&report).unwrap();
    assert!(done.contains("words for numbers"), "{done}");
    assert_eq!(
        git(&shop.root, &["log", "-1", "--format=%s"]),
        "words for numbers\n"
    );

    let refusal = |call: Value| shop.refusal("git", call);
    let nothing = refusal(json!({"command": "commit", "message": "again"}));
    assert!(nothing.contains("nothing is staged"), "{nothing}");
    let all = refusal(json!({"command": "commit", "message": "all", "args": ["-a"]}));
    assert!(all.contains("it commits what is staged"), "{all}");
    let log = refusal(json!({"command": "log", "message": "x"}));
    assert!(
        log.contains("`message` is for the command `commit`"),
        "{log}"
    );
}
