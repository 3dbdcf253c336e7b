//! Rules about files, by trying what they allow and what they do not.

use super::*;

const READ: Rights = Rights::READ;
const WRITE: Rights = Rights::READ.with(Rights::WRITE);

/// A workspace and the rules for paths in it; the workspace itself is the empty path.
fn profile(workspace: &Workspace, rules: &[(&str, Rights)]) -> Profile {
    let mut profile = system();
    for (path, rights) in rules {
        let path = if path.is_empty() {
            workspace.path().to_owned()
        } else {
            workspace.join(path)
        };
        profile.paths.push(rule(path, *rights));
    }
    profile
}

/// Runs each line by itself in the workspace, and checks which of them succeed: a line that must not
/// begins with `!`.
#[track_caller]
fn check(workspace: &Workspace, profile: Profile, lines: &str) -> Status {
    let lines: Vec<&str> = lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let mut script = String::new();
    for line in &lines {
        let command = line.trim_start_matches('!');
        script.push_str(&format!(
            "if ( {command} ) >/dev/null 2>&1; then echo yes; else echo no; fi\n"
        ));
    }
    let ran = run(request(
        "/bin/sh",
        &["-c", &script],
        workspace.path(),
        profile,
    ));
    let answers: Vec<&str> = ran.output.lines().collect();
    assert_eq!(answers.len(), lines.len(), "{}{}", ran.output, ran.errors);
    let wrong: Vec<String> = lines
        .iter()
        .zip(answers)
        .filter(|(line, answer)| line.starts_with('!') == (*answer == "yes"))
        .map(|(line, answer)| format!("{line} -> {answer}"))
        .collect();
    assert_eq!(wrong, Vec::<String>::new(), "{}", ran.errors);
    ran.status
}

/// The twin: each refused line succeeds in a workspace like this one when nothing confines it.
#[track_caller]
fn check_twin(paths: &str, lines: &str) {
    let refused = lines
        .lines()
        .filter_map(|line| line.trim().strip_prefix('!'));
    for line in refused {
        let workspace = workspace_with_program(paths);
        let mut request = request("/bin/sh", &["-c", line], workspace.path(), system());
        request.profile = None;
        let ran = run(request);
        assert!(ran.exit.is_success(), "{line}: {}", ran.errors);
    }
}

/// What is called `prog` is one.
fn workspace_with_program(paths: &str) -> Workspace {
    let workspace = Workspace::of(paths);
    for path in paths
        .split_whitespace()
        .filter(|path| path.ends_with("prog"))
    {
        fs::copy("/bin/true", workspace.join(path)).expect("it is ours");
    }
    workspace
}

#[test]
fn the_rights_of_a_directory() {
    let cases = [
        (
            READ,
            "cat f; ls .",
            "echo x >> f; echo x > n; rm f; mkdir d; mv f g; truncate -s 0 f; ln f h",
        ),
        (
            READ.with(Rights::UPDATE),
            "cat f; echo x >> f; truncate -s 1 f",
            "echo x > n; rm f; mkdir d; mv f g; ln f h",
        ),
        (
            READ.with(Rights::DELETE),
            "cat f; rm s",
            "echo x > n; mkdir d; mv f g; echo x >> f",
        ),
        (
            READ.with(Rights::CREATE),
            "cat f; echo x > n; mkdir d; ln -s f l; mkfifo p",
            "rm f; mv f g",
        ),
        (
            WRITE,
            "cat f; echo x > n; mkdir d; mv f g; mv g f; rm n; ln f h; touch -d 2001-01-01 f; chmod 600 f",
            "./prog",
        ),
        (WRITE.with(Rights::EXECUTE), "./prog; echo x > n", ""),
        (READ.with(Rights::EXECUTE), "./prog", "echo x > n"),
        (Rights::WRITE, "echo x > n; rm n", "cat f; ls ."),
    ];
    for layers in tiers() {
        for (rights, can, cannot) in cases {
            let workspace = workspace_with_program("f s prog");
            let mut profile = profile(&workspace, &[("", rights)]);
            profile.layers = layers;
            let split = |text: &'static str| text.split("; ").filter(|line| !line.is_empty());
            let lines: Vec<String> = split(can)
                .map(str::to_owned)
                .chain(split(cannot).map(|line| format!("!{line}")))
                .collect();
            check(&workspace, profile, &lines.join("\n"));
            check_twin("f s prog", &lines.join("\n"));
        }
    }
}

#[test]
fn rules_inside_others_give_and_take() {
    if !has_namespaces() {
        return;
    }
    let paths = "f .env .git/config out/f hidden/x hidden/pub/f one";
    let workspace = Workspace::of(paths);
    let profile = profile(
        &workspace,
        &[
            ("", WRITE),
            (".env", Rights::NONE),
            (".git", READ),
            ("hidden", Rights::NONE),
            ("hidden/pub", READ),
            ("one", READ.with(Rights::UPDATE)),
        ],
    );
    let lines = "cat f
         echo x > n
         !cat .env
         !echo x > .env
         !rm .env
         !mv .env other
         !chmod 644 .env
         !ln .env other
         cat .git/config
         !echo x >> .git/config
         !touch .git/new
         !rm .git/config
         !chmod 600 .git/config
         !touch -d 2001-01-01 .git/config
         !mv .git other
         !ls hidden
         !cat hidden/x
         !touch hidden/new
         !chmod 755 hidden
         cat hidden/pub/f
         ls hidden/pub
         !echo x >> hidden/pub/f
         echo x >> one
         !rm one
         !mv f one
         !mv one other";
    let status = check(&workspace, profile, lines);
    check_twin(paths, lines);
    assert_eq!(status.tier, Tier::A);
    assert_eq!(workspace.read(".env").as_deref(), Some(".env"));
    assert_eq!(
        workspace.read(".git/config").as_deref(),
        Some(".git/config")
    );
    assert_eq!(workspace.read("one").as_deref(), Some("onex\n"));
}

#[test]
fn more_can_be_allowed_inside_what_is_read_only() {
    if !has_namespaces() {
        return;
    }
    let paths = "f out/f out/keep/f bin/prog";
    let workspace = workspace_with_program(paths);
    let profile = profile(
        &workspace,
        &[
            ("", READ),
            ("out", WRITE),
            ("out/keep", READ),
            ("bin", READ.with(Rights::EXECUTE)),
        ],
    );
    let lines = "!echo x > f
         echo x > out/f
         touch out/new
         rm out/new
         cat out/keep/f
         !rm out/keep/f
         bin/prog
         !cp bin/prog out/prog && out/prog";
    check(&workspace, profile, lines);
    check_twin(paths, lines);
}

/// what is hidden stays hidden when a directory above it gets another name, in this call and
/// in the next.
#[test]
fn directories_above_what_is_hidden_keep_their_names() {
    if !has_namespaces() {
        return;
    }
    let paths = "a/b/secret a/other z";
    let workspace = Workspace::of(paths);
    let rules = [("", WRITE), ("a/b/secret", Rights::NONE)];
    let lines = "!mv a c
         !mv a/b c
         !mv a/b/secret c
         !rm -r a
         touch a/b/new
         mv a/b/new a/b/newer
         !cat a/b/secret";
    check(&workspace, profile(&workspace, &rules), lines);
    check_twin(paths, lines);
    assert_eq!(workspace.read("a/b/secret").as_deref(), Some("a/b/secret"));
}

/// What a mount hides has one name; the status tells of others.
#[test]
fn other_names_of_what_is_hidden_are_told() {
    if !has_namespaces() {
        return;
    }
    let workspace = Workspace::of("secret plain");
    fs::hard_link(workspace.join("secret"), workspace.join("other")).expect("it is ours");
    let rules = [
        ("", WRITE),
        ("secret", Rights::NONE),
        ("plain", Rights::NONE),
    ];
    let status = check(
        &workspace,
        profile(&workspace, &rules),
        "!cat secret\n!cat plain\ncat other",
    );
    let files = status.files.to_string();
    assert_eq!(files.matches("hard links").count(), 1, "{files}");
    assert!(files.contains("/secret` has other names"), "{files}");
}

/// A program that may only be read does not run: not by itself, not through the loader, and not mapped.
#[test]
fn what_may_not_be_executed_is_not_loaded_either() {
    if !has_namespaces() {
        return;
    }
    let workspace = workspace_with_program("prog");
    let loader = "for ld in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do \
                  [ -e $ld ] && exec $ld ./prog; done";
    let refused = profile(&workspace, &[("", WRITE)]);
    let lines = format!("!./prog\n!{loader}\n!cp prog q && chmod 755 q && ./q");
    check(&workspace, refused, &lines);
    check_twin("prog", &lines);
    let allowed = profile(&workspace, &[("", WRITE.with(Rights::EXECUTE))]);
    check(&workspace, allowed, &format!("./prog\n{loader}"));
}

#[test]
fn only_what_is_shown_exists() {
    if !has_namespaces() {
        return;
    }
    let workspace = Workspace::of("f");
    let outside = Workspace::of("secret");
    let secret = outside.join("secret").display().to_string();
    let lines = format!(
        "!cat {secret}
         !ls {}
         ls /
         ls /home
         !ls /root
         !touch /new
         !mkdir /usr/new
         !touch /etc/new
         touch /tmp/new
         touch /home/tool/new
         touch /dev/shm/new
         ls /proc/self/fd
         !ls /proc/1/root/
         !cat /proc/1/environ
         !sh -c 'echo x > /proc/sys/kernel/core_pattern'
         !sh -c 'echo x > /proc/self/oom_score_adj'
         echo x > /dev/null
         head -c 1 /dev/urandom
         !test -e /dev/tty
         !test -e /dev/kmsg
         !test -e /sys/kernel
         test -e /sys/devices/system/cpu
         !chmod 600 /dev/null
         test \"$(hostname)\" = jig || test \"$(cat /proc/sys/kernel/hostname)\" = jig
         !test -e /run/docker.sock",
        outside.path().display()
    );
    check(&workspace, profile(&workspace, &[("", WRITE)]), &lines);
    // What was made in private places was made in memory.
    assert!(!Path::new("/home/tool").exists() || !Path::new("/home/tool/new").exists());
}

/// Each layer holds alone what it can: here the mounts, as if the kernel had no Landlock.
#[test]
fn mounts_hold_without_landlock() {
    if !has_namespaces() {
        return;
    }
    let workspace = Workspace::of("f secret kept/f");
    let mut asked = profile(
        &workspace,
        &[("", WRITE), ("secret", Rights::NONE), ("kept", READ)],
    );
    asked.layers.landlock = 0;
    let status = check(
        &workspace,
        asked,
        "echo x > f
         !cat secret
         !touch kept/new
         !touch /new
         !touch /usr/new
         !: >> /proc/sys/kernel/core_pattern
         !: >> /proc/sysrq-trigger
         !test -e /root",
    );
    assert_eq!(status.tier, Tier::None);
}

/// Under an old version of Landlock a file that may only be read cannot be emptied either, nor anything
/// else be done that a newer version refuses.
#[test]
fn old_versions_of_landlock_hold_the_same() {
    // Programs of the shell open a file for writing to empty it; the ways that read only need another.
    const LINES: &str = "cat f
         !truncate -s 0 f
         !: > f
         !perl -e 'sysopen(F, \"f\", 512) or exit 1'
         !perl -e 'truncate(\"f\", 0) or exit 1'
         !rm f
         !touch n
         echo x > d/f
         truncate -s 1 d/f
         touch d/n
         mv d/n d/m
         rm d/m";
    if Path::new("/usr/bin/perl").exists() {
        check_twin("f d/f", LINES);
    }
    for layers in tiers() {
        for landlock in 1..=7 {
            let workspace = Workspace::of("f d/f");
            let mut asked = profile(&workspace, &[("", READ), ("d", WRITE)]);
            asked.layers = Layers { landlock, ..layers };
            check(&workspace, asked, LINES);
            assert_eq!(
                workspace.read("f").as_deref(),
                Some("f"),
                "{landlock} {layers:?}"
            );
        }
    }
}

/// A path that is hidden but does not exist is never made on the host; the status says so.
#[test]
fn nothing_is_made_for_what_is_missing() {
    for layers in tiers() {
        let workspace = Workspace::of("f");
        let mut profile = profile(&workspace, &[("", WRITE), (".env", Rights::NONE)]);
        profile.layers = layers;
        let ran = run(request("/bin/true", &[], workspace.path(), profile));
        assert!(ran.exit.is_success());
        assert_eq!(workspace.read(".env"), None);
        assert!(
            ran.status
                .files
                .to_string()
                .contains("`.env`".trim_matches('`'))
        );
        assert!(ran.status.files.to_string().contains("does not exist yet"));
    }
}

/// Without namespaces a rule that withholds inside another is held, and no name is made or removed beside it.
#[test]
fn what_is_withheld_inside_of_a_grant_is_held_by_names() {
    if tiers().is_empty() {
        return;
    }
    let workspace = Workspace::of(".env f d/f d/e/ deep/er/.env deep/f");
    let rules = [
        ("", WRITE),
        (".env", Rights::NONE),
        ("deep/er/.env", Rights::READ),
    ];
    let mut asked = profile(&workspace, &rules);
    asked.layers = Layers::TIER_B;
    let status = check(
        &workspace,
        asked,
        "ls
         ls deep/er
         cat f
         echo x > f
         echo x > d/n
         mv d/n d/e/
         rm -r d/e
         echo x > deep/f
         cat deep/er/.env
         !echo x > deep/er/.env
         !echo x > deep/er/n
         !mv deep/er d/
         !mv deep d/
         !ln deep/er/.env d/
         !cat .env
         !echo x > .env
         !ln .env d/n
         !mv .env d/n
         !mv d/f .env
         !rm .env
         !echo x > n
         !mv f n
         !rm f",
    );
    assert_eq!(status.tier, Tier::B);
    assert_eq!(workspace.read(".env").as_deref(), Some(".env"));
    assert!(status.unheld.is_empty(), "{:?}", status.unheld);
    let files = status.files.to_string();
    assert!(
        files.contains("nothing can be made, removed or renamed directly in"),
        "{files}"
    );
}

/// There is an end to names that are granted one by one: a tool could make any number of them.
#[test]
fn too_many_names_beside_something_withheld_are_refused() {
    if tiers().is_empty() {
        return;
    }
    let workspace = Workspace::of(".env");
    for number in 0..=10_000 {
        fs::write(workspace.join(&number.to_string()), "").expect("it is ours");
    }
    let mut asked = profile(&workspace, &[("", WRITE), (".env", Rights::NONE)]);
    asked.layers = Layers::TIER_B;
    let refused = try_run(request("/bin/true", &[], workspace.path(), asked.clone()));
    let Err(SpawnError::Confinement { reason, .. }) = refused else {
        panic!("it was started");
    };
    for part in [".env", "too many", "jig doctor"] {
        assert!(reason.contains(part), "{reason}");
    }
    asked.enforce = jig_sandbox::Enforce::BestEffort;
    let ran = run(request("/bin/true", &[], workspace.path(), asked));
    assert_eq!(ran.status.tier, Tier::B);
    let unheld = ran.status.unheld.join("; ");
    assert!(unheld.contains(".env` is open to"), "{unheld}");
}

/// Without namespaces: nothing of the host but what rules name, and no network.
#[test]
fn landlock_alone_hides_the_rest() {
    if tiers().is_empty() {
        return;
    }
    let workspace = Workspace::of("f");
    let outside = Workspace::of("secret");
    let mut asked = profile(&workspace, &[("", WRITE)]);
    asked.layers = Layers::TIER_B;
    let secret = outside.join("secret").display().to_string();
    let status = check(
        &workspace,
        asked,
        &format!(
            "cat f
             echo x > n
             !cat {secret}
             !echo x > {secret}
             !rm {secret}
             !ls /tmp
             !touch /tmp/new-from-a-test
             !ls /proc
             !cat /proc/1/cmdline
             cat /proc/meminfo
             echo x > /dev/null
             !cat /dev/kmsg
             !kill -0 1"
        ),
    );
    assert_eq!(status.tier, Tier::B);
    assert_eq!(outside.read("secret").as_deref(), Some("secret"));
}
