//! What is guarded does not come into being, by whichever call and whichever path.

use super::*;

/// Runs a script. Its last line must say that all of it failed as expected.
#[track_caller]
fn check(script: &str, refused: &[&str]) {
    let workspace = Workspace::new();
    let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
    let told: Vec<String> = ran
        .refused
        .names
        .iter()
        .map(|one| {
            let path = one.path.strip_prefix(workspace.path());
            path.expect("it is in the workspace").display().to_string()
        })
        .collect();
    assert_eq!(told, refused, "{script}: {}{}", ran.output, ran.errors);
    for name in refused {
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_err(),
            "{script}: `{name}` is there"
        );
    }

    // The twin: without the guard all of that comes into being.
    let workspace = Workspace::new();
    run(request(&workspace, false, "/bin/sh", &["-c", script]));
    for name in refused {
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_ok(),
            "{script}: `{name}` is not there without the guard"
        );
    }
}

#[test]
fn no_call_makes_a_guarded_name() {
    if is_elsewhere() {
        return;
    }
    for make in [
        "echo > .env",
        "mkdir .env",
        "mkfifo .env",
        "ln -s elsewhere .env",
        "echo > x; ln x .env",
        "echo > x; mv x .env",
        "mkdir x; mv x .env",
        "ln -s nowhere x; mv x .env",
        "perl -e 'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un(\".env\"))'",
        "perl -e 'use Fcntl; sysopen(F,\".env\",O_RDWR|O_CREAT|O_EXCL)'",
        "perl -e 'use Fcntl; sysopen(F,\".env\",O_RDONLY|O_CREAT)'",
    ] {
        check(make, &[".env"]);
    }
}

#[test]
fn no_path_leads_round_the_guard() {
    if is_elsewhere() {
        return;
    }
    for (script, name) in [
        ("echo > ./.env", ".env"),
        ("mkdir -p d/e; echo > d/e/../../.env", ".env"),
        ("echo > $PWD/.env.local", ".env.local"),
        ("mkdir -p d/e; echo > d/e/.env", "d/e/.env"),
        ("mkdir d; ln -s d l; echo > l/.env", "d/.env"),
        ("ln -s .env l; echo > l", ".env"),
        ("ln -s l2 l; ln -s $PWD/.env l2; echo > l", ".env"),
        ("mkdir d; ln -s ../.env d/l; echo > d/l", ".env"),
        ("echo > /proc/self/cwd/.env", ".env"),
        ("echo > /proc/thread-self/cwd/.env", ".env"),
        ("mkdir d; exec 5<d; echo > /proc/self/fd/5/.env", "d/.env"),
        ("mkdir d; exec 5<d; echo > /dev/fd/5/.env", "d/.env"),
        ("echo > /proc/self/root/$PWD/.env", ".env"),
        ("echo > /proc/$$/cwd/.env", ".env"),
        ("ln -s /proc/self/cwd/.env l; echo > l", ".env"),
        ("ln -s /proc/self/cwd l; echo > l/.env", ".env"),
        ("mkdir .git; echo > .git/config", ".git/config"),
        (
            "mkdir -p s/.git; echo > s/.git/x; mv s/.git/x s/.git/config",
            "s/.git/config",
        ),
        ("mkdir .git; cd .git; echo > config", ".git/config"),
        (
            "mkdir g; ln -s g .git; mkdir -p d/.git; echo > d/.git/config",
            "d/.git/config",
        ),
        ("echo > top", "top"),
        ("mkdir -p a/b; echo > a/b/c", "a/b/c"),
        ("echo > .ENV", ".ENV"),
        ("mkdir .Git; echo > '.Git/CONFIG. '", ".Git/CONFIG. "),
        ("mkdir -p d/.VSCode", "d/.VSCode"),
        ("mkdir r r/objects r/refs; echo > r/HEAD", "r/HEAD"),
        ("mkdir r r/objects; echo > r/HEAD; mkdir r/refs", "r/refs"),
        (
            "mkdir r r/refs; echo > r/HEAD; mkdir o; mv o r/objects",
            "r/objects",
        ),
        (
            "mkdir r r/refs; echo > r/HEAD; ln -s /tmp r/objects",
            "r/objects",
        ),
        ("mkdir r; echo > r/HEAD; echo > r/commondir", "r/commondir"),
        ("mkdir r r/objects r/refs; echo > h; mv h r/HEAD", "r/HEAD"),
        ("mkdir r r/objects r/refs; echo > h; ln h r/HEAD", "r/HEAD"),
    ] {
        let workspace = Workspace::new();
        let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_err(),
            "{script}: {}{}",
            ran.output,
            ran.errors
        );
        let workspace = Workspace::new();
        run(request(&workspace, false, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_ok(),
            "{script} without the guard"
        );
    }
}

/// A guarded name has several parts, and none of them is made last.
#[test]
fn no_directory_is_moved_so_that_a_guarded_name_is_complete() {
    if is_elsewhere() {
        return;
    }
    for (script, name) in [
        ("mkdir g; echo > g/config; mv g .git", ".git/config"),
        ("mkdir g; ln -s x g/config; mv g .git", ".git/config"),
        ("mkdir -p x/b; echo > x/b/c; mv x a", "a/b/c"),
        ("mkdir -p a x; echo > x/c; mv x a/b", "a/b/c"),
        ("mkdir g; echo > g/config; ln -s g .git", ".git/config"),
        (
            "mkdir g; echo > g/config; ln -s g l; mv l .git",
            ".git/config",
        ),
        (
            "mkdir g .git; echo > g/config; perl -e '$a=\"g\"; $b=\".git\"; syscall(316,-100,$a,-100,$b,2)==0 or print $!'",
            ".git/config",
        ),
        (
            "mkdir g .git; echo > g/config; perl -e '$a=\".git\"; $b=\"g\"; syscall(316,-100,$a,-100,$b,2)==0 or print $!'",
            ".git/config",
        ),
    ] {
        if script.contains("syscall") && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let workspace = Workspace::new();
        let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_err(),
            "{script}: {}{}",
            ran.output,
            ran.errors
        );
        assert!(
            !ran.refused.names.is_empty(),
            "{script}: {}{}",
            ran.output,
            ran.errors
        );
        let workspace = Workspace::new();
        run(request(&workspace, false, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_ok(),
            "{script} without the guard"
        );
    }
}

/// What may be in one place comes along to no other: a move becomes a copy, and of that each name is judged.
#[test]
fn what_is_free_somewhere_is_moved_nowhere_else() {
    if is_elsewhere() {
        return;
    }
    for (script, name) in [
        (
            "mkdir -p node_modules/a/.vscode; echo > node_modules/a/.vscode/x; mv node_modules/a a",
            "a/.vscode",
        ),
        (
            "mkdir -p node_modules/.vscode; echo > node_modules/.vscode/x; mv node_modules kept",
            "kept/.vscode",
        ),
        ("mkdir free; echo > free/.env; mv free kept", "kept/.env"),
        (
            "mkdir free; echo > free/.env; perl -e 'rename(\"free\", \"kept\")'",
            "kept/.env",
        ),
    ] {
        let workspace = Workspace::new();
        run(request(&workspace, true, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_err(),
            "{script}"
        );
        let workspace = Workspace::new();
        run(request(&workspace, false, "/bin/sh", &["-c", script]));
        assert!(
            fs::symlink_metadata(workspace.join(name)).is_ok(),
            "{script} without the guard"
        );
    }
}

/// What only looks like a guarded name comes into being, and so does one that is free.
#[test]
fn what_is_not_guarded_is_made() {
    if is_elsewhere() {
        return;
    }
    let script = "set -e; echo > env; echo > x.env; mkdir d; echo > d/top; mkdir .git; echo > .git/HEAD; \
        mkdir g; mv g d/.git; mkdir -p a/c; echo > a/c/b; mkdir free; echo > free/.env; echo > config; \
        echo > /tmp/.env; mkdir /tmp/.git; echo > /tmp/.git/config; mkdir q; mkdir q/.git; rmdir q/.git; mv q q2; \
        mkdir -p node_modules/a/.vscode; echo > node_modules/a/.vscode/x; mv node_modules/a node_modules/b; \
        mkdir -p .git/objects .git/refs; echo > h; mv h .git/HEAD; mkdir -p r/refs r/objects; mv r r2; echo > refs; \
        mkdir -p /tmp/r/refs /tmp/r/objects; echo > /tmp/r/HEAD";
    let workspace = Workspace::new();
    let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
    assert!(ran.exit.is_success(), "{}", ran.errors);
    assert!(ran.refused.names.is_empty(), "{:?}", ran.refused);
    assert!(workspace.join("free/.env").exists());
}

/// A guarded name that is there already is opened as ever, and nothing takes its place.
#[test]
fn what_is_there_is_used() {
    if is_elsewhere() {
        return;
    }
    let workspace = Workspace::new();
    fs::write(workspace.join(".env"), "kept").expect("it is ours");
    fs::set_permissions(workspace.join(".env"), fs::Permissions::from_mode(0o666))
        .expect("it is ours");
    let script = "cat .env; printf more >> .env; cat .env; set -C; echo > .env; mkdir .env; echo > x; mv -f x .env; \
        printf new >| .env; cat .env";
    let ran = run(request(&workspace, true, "/bin/sh", &["-c", script]));
    assert_eq!(ran.output, "keptkeptmorenew", "{}", ran.errors);
    assert_eq!(
        ran.refused.names.len(),
        1,
        "only moving onto it: {:?}",
        ran.refused
    );
}
