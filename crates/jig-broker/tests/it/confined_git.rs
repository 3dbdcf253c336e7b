//! Git in the sandbox: what people do every day works, and what makes git run programs is out of reach.

use crate::confined::{output, shell};
use crate::world::World;

/// Runs git on the host, as the user would.
pub(crate) fn host_git(directory: &std::path::Path, args: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(args)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .env("GIT_AUTHOR_NAME", "Host")
        .env("GIT_AUTHOR_EMAIL", "host@example.org")
        .env("GIT_COMMITTER_NAME", "Host")
        .env("GIT_COMMITTER_EMAIL", "host@example.org")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn repository() -> World {
    let world = World::on_disk()
        .with("a.txt", "a\n")
        .allow(".", "rcudx")
        .command("sh", None, &[])
        .confined();
    let home = world.outside().join("home");
    let config =
        "[user]\n\tname = A Person\n\temail = person@example.org\n[core]\n\tpager = evil\n";
    std::fs::write(home.join(".gitconfig"), config).unwrap();
    let ws = world.outside().join("ws");
    host_git(&ws, &["init", "-q", "-b", "main"]);
    host_git(&ws, &["add", "."]);
    host_git(&ws, &["commit", "-q", "-m", "first"]);
    world
}

#[test]
fn commits_and_branches_work_without_a_remark() {
    let world = repository();
    let reply = shell(
        &world,
        "set -e; git status --short; echo b > b.txt; git add b.txt; git commit -q -m second; \
         git checkout -q -b topic; git mv a.txt c.txt; git commit -q -am third; git checkout -q main; \
         git merge -q topic; git log --format=%s -1 topic~1; git stash list; \
         git gc -q; git log --format='%an %ae %s'",
    );
    assert_eq!(
        (reply.exit_code, reply.stderr.as_ref()),
        (0, ""),
        "{}",
        reply.stdout
    );
    assert_eq!(
        reply.stdout,
        "second\nA Person person@example.org third\nA Person person@example.org second\n\
         Host host@example.org first\n"
    );
    let ws = world.outside().join("ws");
    assert_eq!(host_git(&ws, &["log", "--format=%s", "-1"]), "third\n");
    assert_eq!(host_git(&ws, &["status", "--short"]), "");
    host_git(&ws, &["fsck"]);
}

#[test]
fn what_makes_git_run_programs_cannot_be_changed() {
    let world = repository();
    let ws = world.outside().join("ws");
    let config = std::fs::read_to_string(ws.join(".git/config")).unwrap();
    for attack in [
        "git config core.fsmonitor evil",
        "echo x >> .git/config",
        "mv .git/config .git/old",
        "mv .git other",
        "echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks && mkdir .git/hooks",
        "cat .git/hooks/*",
    ] {
        assert_ne!(shell(&world, attack).exit_code, 0, "{attack}");
        assert_eq!(
            std::fs::read_to_string(ws.join(".git/config")).unwrap(),
            config,
            "{attack}"
        );
        assert!(!ws.join(".git/hooks/pre-commit").exists(), "{attack}");
    }
    // What is missing cannot be made. Where nobody supervises, it is found and moved away.
    let parts = "echo ../evil > .git/commondir; mkdir .git/modules";
    let hooks = "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit";
    let reply = shell(&world, parts);
    for path in [".git/commondir", ".git/modules"] {
        let denied = format!("denied: create on `{path}`");
        assert!(reply.stderr.contains(&denied), "{}", reply.stderr);
    }
    std::fs::remove_dir_all(ws.join(".git/hooks")).unwrap();
    let reply = shell(&world, hooks);
    assert!(
        reply.stderr.contains("denied: create on `.git/hooks`"),
        "{}",
        reply.stderr
    );
    let world = world.unsupervised();
    let reply = shell(&world, parts);
    assert!(
        reply.stderr.contains("`.git/commondir` may not be made"),
        "{}",
        reply.stderr
    );
    assert!(!ws.join(".git/commondir").exists() && !ws.join(".git/modules").exists());
    let reply = shell(&world, hooks);
    assert!(
        reply.stderr.contains("`.git/hooks` may not be made"),
        "{}",
        reply.stderr
    );
    assert!(!ws.join(".git/hooks").exists());
}

#[test]
fn a_repository_below_the_workspace_can_be_committed_in_but_not_configured() {
    let world = repository();
    let ws = world.outside().join("ws");
    host_git(&ws, &["init", "-q", "-b", "main", "vendor/lib"]);
    let config = std::fs::read_to_string(ws.join("vendor/lib/.git/config")).unwrap();
    let reply = shell(
        &world,
        "cd vendor/lib; echo x > x; git add x; git commit -qm x; git log --format=%s",
    );
    assert_eq!(
        (reply.exit_code, reply.stderr.as_ref()),
        (0, ""),
        "{}",
        reply.stdout
    );
    for attack in [
        "git -C vendor/lib config core.fsmonitor ./evil",
        "mv vendor/lib/.git vendor/lib/other",
        "echo x >> vendor/lib/.git/config",
    ] {
        assert_ne!(shell(&world, attack).exit_code, 0, "{attack}");
    }
    let attack = "echo ../../evil > vendor/lib/.git/commondir";
    let reply = shell(&world, attack);
    let denied = "denied: create on `vendor/lib/.git/commondir`";
    assert!(reply.stderr.contains(denied), "{}", reply.stderr);
    let world = world.unsupervised();
    let reply = shell(&world, attack);
    assert!(
        reply
            .stderr
            .contains("`vendor/lib/.git/commondir` may not be made"),
        "{}",
        reply.stderr
    );
    assert_eq!(
        std::fs::read_to_string(ws.join("vendor/lib/.git/config")).unwrap(),
        config
    );
    assert!(!ws.join("vendor/lib/.git/commondir").exists());
}

#[test]
fn the_preset_shows_the_users_configuration_and_lets_the_repository_be_configured() {
    let mut world = repository();
    world.guards = jig_policy::Guards::of_workspace().without_git();
    world.confine.as_mut().unwrap().presets = vec![jig_broker::Preset::Git];
    let folder = world.outside().canonicalize().unwrap();
    std::fs::create_dir_all(folder.join("home/.config/git")).unwrap();
    std::fs::write(folder.join("home/.config/git/ignore"), "*.log\n").unwrap();
    std::fs::write(
        folder.join("home/.config/git/credentials"),
        "https://u:secret@h",
    )
    .unwrap();
    let text = output(
        &world,
        "set -e; git config core.pager; git config remote.o.url x; touch a.log; git status --short; \
         git config user.name",
    );
    assert_eq!(text, "evil\nA Person\n");
    let config = std::fs::read_to_string(folder.join("ws/.git/config")).unwrap();
    assert!(config.contains("[remote \"o\"]"), "{config}");
    assert_ne!(shell(&world, "cat ~/.config/git/credentials").exit_code, 0);
    assert_ne!(
        shell(&world, "git config --global core.pager evil2").exit_code,
        0
    );
    // Hooks stay out of reach.
    assert_ne!(
        shell(&world, "echo evil > .git/hooks/pre-commit").exit_code,
        0
    );
}

#[test]
fn a_workspace_that_is_a_linked_worktree_can_be_committed_in() {
    let world = World::on_disk()
        .allow(".", "rcudx")
        .command("sh", None, &[])
        .confined();
    let folder = world.outside().canonicalize().unwrap();
    let main = folder.join("main");
    std::fs::create_dir(&main).unwrap();
    std::fs::write(main.join("a.txt"), "a\n").unwrap();
    host_git(&main, &["init", "-q", "-b", "main"]);
    host_git(&main, &["add", "."]);
    host_git(&main, &["commit", "-q", "-m", "first"]);
    std::fs::remove_dir(folder.join("ws")).unwrap();
    host_git(&main, &["worktree", "add", "-q", "../ws", "-b", "topic"]);
    std::fs::write(
        folder.join("home/.gitconfig"),
        "[user]\nname = P\nemail = p@example.org\n",
    )
    .unwrap();
    // The directory is another one now.
    let world = world.reopened();
    let text = output(
        &world,
        "set -e; echo b > b.txt; git add b.txt; git commit -q -m second; git log --format='%an %s'",
    );
    assert_eq!(text, "P second\nHost first\n");
    assert_eq!(
        host_git(&main, &["log", "--format=%s", "-1", "topic"]),
        "second\n"
    );
    // Neither the files of the main worktree nor the configuration are reached by that.
    for attack in [
        format!("cat {}/a.txt", main.display()),
        format!("echo x >> {}/.git/config", main.display()),
        format!("echo x > {}/.git/hooks/post-commit", main.display()),
        "git config core.fsmonitor evil".to_owned(),
    ] {
        assert_ne!(shell(&world, &attack).exit_code, 0, "{attack}");
    }
    // A forged link opens nothing: the repository knows another worktree.
    let other = World::on_disk()
        .with("x", "")
        .allow(".", "rcudx")
        .command("sh", None, &[])
        .confined();
    std::fs::copy(folder.join("ws/.git"), other.outside().join("ws/.git")).unwrap();
    assert_ne!(shell(&other, "git log").exit_code, 0);
    assert_ne!(
        shell(&other, &format!("ls {}/.git", main.display())).exit_code,
        0
    );
}
